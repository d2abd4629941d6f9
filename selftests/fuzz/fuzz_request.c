// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target: a request to ktape serve: method, Host and path, each ended by a line
 * feed.  The functions of libmicrohttpd and the conversions are replaced; the folder is a
 * real one.
 *
 * Whatever is asked for, only the trace in the folder may be opened and converted, and nothing
 * at all without the token, by another method than GET and HEAD, or with a Host that a web site
 * can have.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/serve/serve.h"
#include "tool/serve/mhd.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static MHD_AccessHandlerCallback handler;
static const char *host;
static unsigned int status;
static unsigned int conversions; /* begun for this request, and files that it gets as they are */
static ino_t trace; /* the one that may be opened */

struct MHD_Response {
	void *data;
	int fd;
	MHD_ContentReaderFreeCallback end;
	void *arg;
	bool has_policy;
};

/* ---- libmicrohttpd ----------------------------------------------------------- */

struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port,
				    MHD_AcceptPolicyCallback apc, void *apc_arg,
				    MHD_AccessHandlerCallback dh, void *dh_arg, ...)
{
	(void)flags;
	(void)port;
	(void)apc;
	(void)apc_arg;
	(void)dh_arg;
	handler = dh;
	return (struct MHD_Daemon *)&handler;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
	(void)daemon;
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon,
						enum MHD_DaemonInfoType type, ...)
{
	(void)daemon;
	(void)type;
	return NULL;
}

static struct MHD_Response *response(void)
{
	struct MHD_Response *r = calloc(1, sizeof(*r));

	assert(r);
	r->fd = -1;
	return r;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
						     enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = response();

	/* Read all of it: a wrong size is found. */
	assert(!size || !memchr(buffer, 0, size));
	if (mode == MHD_RESPMEM_MUST_FREE)
		r->data = buffer;
	return r;
}

struct MHD_Response *
MHD_create_response_from_callback(uint64_t size, size_t block,
				  MHD_ContentReaderCallback read, void *arg,
				  MHD_ContentReaderFreeCallback end)
{
	struct MHD_Response *r = response();

	(void)size;
	(void)block;
	(void)read;
	r->end = end;
	r->arg = arg;
	return r;
}

static void check_opened(int fd)
{
	struct stat st;

	assert(!fstat(fd, &st) && st.st_ino == trace);
}

struct MHD_Response *MHD_create_response_from_fd64(uint64_t size, int fd)
{
	struct MHD_Response *r = response();

	(void)size;
	check_opened(fd);
	conversions++;
	r->fd = fd;
	return r;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *r,
					const char *name, const char *value)
{
	assert(!strpbrk(name, "\r\n") && !strpbrk(value, "\r\n"));
	r->has_policy |= !strcmp(name, "Content-Security-Policy");
	return MHD_YES;
}

const char *MHD_get_response_header(struct MHD_Response *r, const char *name)
{
	return !strcmp(name, "Content-Security-Policy") && r->has_policy ? "" : NULL;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *c, unsigned int code,
				   struct MHD_Response *r)
{
	(void)c;
	assert(r->has_policy);
	status = code;
	return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *r)
{
	if (r->end)
		r->end(r->arg);
	if (r->fd >= 0)
		close(r->fd);
	free(r->data);
	free(r);
}

enum MHD_Result MHD_set_connection_option(struct MHD_Connection *c,
					  enum MHD_CONNECTION_OPTION option, ...)
{
	(void)c;
	assert(option == MHD_CONNECTION_OPTION_TIMEOUT);
	return MHD_YES;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *c,
					enum MHD_ValueKind kind, const char *key)
{
	(void)c;
	(void)kind;
	return strcmp(key, "Host") ? NULL : host;
}

const union MHD_ConnectionInfo *
MHD_get_connection_info(struct MHD_Connection *c,
			enum MHD_ConnectionInfoType type, ...)
{
	(void)c;
	(void)type;
	return NULL;
}

#define STANDS_FOR(name) .name = MHD_##name,
struct serve_mhd mhd = { SERVE_MHD(STANDS_FOR) };

struct serve_peer *serve_peer_enter(int fd, const struct sockaddr *from)
{
	(void)fd;
	(void)from;
	return NULL;
}

void serve_peer_note_token(struct serve_peer *p)
{
	(void)p;
}

void serve_peer_leave(struct serve_peer *p)
{
	(void)p;
}

/* ---- conversions --------------------------------------------------------------- */

struct serve_child {
	int unused;
};

int serve_child_start(const char *const words[SERVE_WORDS], int fd, int client,
		      bool events, struct serve_child **child)
{
	(void)client;
	(void)events;
	assert(words[0]);
	check_opened(fd);
	conversions++;
	*child = malloc(sizeof(**child));
	assert(*child);
	return 0;
}

/* The first conversion of a request begins well, a second one would not. */
int serve_child_wait_begun(struct serve_child *c)
{
	(void)c;
	return conversions % 2 ? 0 : -EBADMSG;
}

ssize_t serve_child_read(struct serve_child *c, char *to, size_t size)
{
	(void)c;
	(void)to;
	(void)size;
	return 0;
}

void serve_child_end(struct serve_child *c)
{
	free(c);
}

void serve_child_end_all(void)
{
}

/* ---- the target ------------------------------------------------------------------ */

/*
 * Make a folder with a trace, a hidden file, and links that lead out of it, one of them to a file
 * beside it.  Return: its descriptor.
 */
static int make_served_folder(void)
{
	char path[] = "ktape-fuzz.XXXXXX";
	static const uint8_t magic[] = { 0x57, 0x1d, 0xd1, 0x75 };
	struct stat st;
	int top, dir, fd;

	assert(mkdtemp(path));
	top = open(path, O_RDONLY | O_DIRECTORY);
	assert(top >= 0 && !mkdirat(top, "d", 0700));
	dir = openat(top, "d", O_RDONLY | O_DIRECTORY);
	assert(!mkdirat(dir, "e", 0700));
	close(openat(top, "secret.kt", O_WRONLY | O_CREAT, 0600));
	close(openat(dir, ".hidden.kt", O_WRONLY | O_CREAT, 0600));
	assert(!symlinkat("../secret.kt", dir, "link.kt"));
	assert(!symlinkat("..", dir, "up"));
	fd = openat(dir, "e/a.kt", O_WRONLY | O_CREAT, 0600);
	assert(write(fd, magic, sizeof(magic)) == sizeof(magic));
	assert(!fstat(fd, &st));
	trace = st.st_ino;
	close(fd);
	close(top);
	return dir;
}

/* Is a Host "localhost" or numbers?  A web site can have any other name. */
static bool may_be_ours(const char *name)
{
	static const char form[] =
		"^(localhost|[0-9]+(\\.[0-9]+){3}|\\[[0-9a-f:.]+\\])(:[0-9]*)?$";
	static bool compiled;
	static regex_t ours;

	if (!compiled)
		assert(!regcomp(&ours, form, REG_EXTENDED | REG_ICASE | REG_NOSUB));
	compiled = true;
	return !regexec(&ours, name, 0, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct serve s = { .address = "127.0.0.1", .token = TOKEN };
	char *text = malloc(len + 1), *method = text, *url;
	static struct serve_http *http;
	void *state = NULL;
	size_t no_body = 0;
	unsigned int calls = 0;

	assert(text);
	if (!handler) {
		s.root = make_served_folder();
		assert(!serve_http_start(&s, &http));
	}
	memcpy(text, data, len);
	text[len] = '\0';
	host = strchr(text, '\n');
	url = host ? strchr(host + 1, '\n') : NULL;
	if (!url) {
		free(text);
		return 0;
	}
	*strchr(text, '\n') = '\0';
	*url++ = '\0';
	host++;
	/* libmicrohttpd accepts no path without it. */
	if (*url == '/') {
		/* The input's last bit chooses the port: on 9001 pages of Perfetto may ask. */
		s.port = len && data[len - 1] & 1 ? 9001 : 8000;
		status = 0;
		conversions = 0;
		/* libmicrohttpd calls it for the head, and again if it has not answered then. */
		do {
			assert(handler(&s, NULL, url, method, "HTTP/1.1", NULL,
				       &no_body, &state) == MHD_YES);
		} while (!status && ++calls < 2);
		assert(status);
		if (strncmp(url + 1, TOKEN "/", sizeof(TOKEN)) ||
		    (strcmp(method, "GET") && strcmp(method, "HEAD")))
			assert(!conversions && status != MHD_HTTP_OK);
		/* Not even the two answers that need no token on port 9001: to OPTIONS and /status. */
		if (!may_be_ours(host))
			assert(!conversions && status == MHD_HTTP_FORBIDDEN);
	}
	free(text);
	return 0;
}
