// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape serve: a conversion that writes nothing for long does not end the answer.
 *
 * The clock of the process is this file's: it goes on by minutes while the conversion, which
 * this file stands for, is asked for its next part.  So nothing waits for time.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tool/serve/serve.h"

#include "tap.h"

#define SILENT_S 3600
#define PARTS	 3U

static long ahead; /* seconds that the clock is ahead */
static unsigned int begun, parts, ended;

/* libmicrohttpd asks this one, too. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
	int ret = (int)syscall(SYS_clock_gettime, clock, t);

	t->tv_sec += __atomic_load_n(&ahead, __ATOMIC_RELAXED);
	return ret;
}

static void be_silent(void)
{
	__atomic_add_fetch(&ahead, SILENT_S, __ATOMIC_RELAXED);
}

/* ---- what serve/http.c calls -------------------------------------------------- */

int serve_child_start(const char *const words[SERVE_WORDS], int trace,
		      int client, bool events, struct serve_child **child)
{
	(void)words;
	(void)trace;
	(void)client;
	(void)events;
	*child = NULL;
	return 0;
}

int serve_child_wait_begun(struct serve_child *c)
{
	(void)c;
	be_silent();
	begun++;
	return 0;
}

ssize_t serve_child_read(struct serve_child *c, char *to, size_t size)
{
	(void)c;
	(void)size;
	be_silent();
	if (parts == PARTS)
		return 0;
	*to = (char)('a' + parts++);
	return 1;
}

void serve_child_end(struct serve_child *c)
{
	(void)c;
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELEASE);
}

void serve_child_end_all(void)
{
}

int serve_open(const struct serve *s, const char *name, bool *is_dir)
{
	(void)s;
	(void)name;
	*is_dir = false;
	return dup(0);
}

int serve_page_index(const struct serve *s, char **text, size_t *len)
{
	(void)s;
	(void)text;
	(void)len;
	return -1;
}

int serve_page_trace(const struct serve *s, const char *kind, const char *name,
		     char **text, size_t *len)
{
	(void)kind;
	(void)name;
	return serve_page_index(s, text, len);
}

const char *serve_page_file(const char *name, const char **type)
{
	(void)name;
	(void)type;
	return NULL;
}

int serve_page_converter(void)
{
	return -1;
}

/* ---- the client ------------------------------------------------------------------ */

/* Ask for a conversion, and read until the server closes the connection. */
static size_t ask_for_csv(uint16_t port, char *answer, size_t room)
{
	static const char request[] =
		"GET /csv/t HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t len = 0;
	ssize_t n;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    write(fd, request, sizeof(request) - 1) < 0)
		abort();
	while ((n = read(fd, answer + len, room - len)) > 0)
		len += (size_t)n;
	close(fd);
	return len;
}

static void test_silent(void)
{
	struct serve s = { .address = "127.0.0.1" };
	struct serve_http *http;
	char answer[4096] = "";
	const char *body;
	size_t len;

	check(!serve_mhd_load(), "no libmicrohttpd");
	check_equal(serve_http_start(&s, &http), 0);
	len = ask_for_csv(s.port, answer, sizeof(answer) - 1);
	serve_http_stop(http);
	check(strstr(answer, " 200 "), "%zu bytes: %s", len, answer);
	body = strstr(answer, "\r\n\r\n");
	/* Each part is a chunk of its own; the last one, of no bytes, says that it is whole. */
	check(body && strstr(body, "a\r\n") && strstr(body, "b\r\n") &&
		      strstr(body, "c\r\n") && strstr(body, "0\r\n\r\n"),
	      "the answer was cut: %s", answer);
	check_equal(begun, 1);
	check_equal(parts, PARTS);
	check_equal(ended, 1);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a conversion that is silent for hours", test_silent },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
