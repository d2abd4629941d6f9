// SPDX-License-Identifier: GPL-2.0-only
/* Test what ktape top says when it ends while a page is being written. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "tool/convert/page.h"
#include "tool/shared/self.h"
#include "tool/top/top.h"

/* ---- the rest of the command, which these tests do not need ------------------------- */

int self_path(char path[SELF_PATH])
{
	*path = '\0';
	return -ENOENT;
}

bool page_can_write(void)
{
	return true;
}

char *page_usual_name(void)
{
	return NULL;
}

char *page_trace_path(const char *page)
{
	(void)page;
	return NULL;
}

static unsigned int removed;

int page_remove_trace(const char *path)
{
	removed += !strcmp(path, "saved");
	return 0;
}

bool top_device_save(struct top_device *d, const char *dir, char *said, size_t size)
{
	(void)d;
	(void)dir;
	(void)said;
	(void)size;
	return false;
}

/* ---- tests -------------------------------------------------------------------------- */

/* End with a page whose process has ended with @code, or runs if @code is negative. */
static void end_with(int code, char *said, size_t size)
{
	struct top_page p = { .errors = -1,
			      .name = strdup("page.html"),
			      .saved = strdup("saved") };
	siginfo_t info;

	p.pid = fork();
	if (!p.pid) {
		while (code < 0)
			pause();
		_exit(code);
	}
	if (p.pid < 0 ||
	    (code >= 0 && waitid(P_PID, (id_t)p.pid, &info, WEXITED | WNOWAIT)))
		abort();
	removed = 0;
	check(top_page_end(&p, said, size), "no page");
	check_equal(removed, 1);
	check_equal(p.pid, 0);
}

static void end_with_page(void)
{
	char said[80] = "";

	end_with(0, said, sizeof(said));
	check(!strcmp(said, "page.html is written"), "says: %s", said);
}

static void failed(void)
{
	char said[80] = "";

	end_with(1, said, sizeof(said));
	check(strstr(said, "is not written"), "says: %s", said);
}

static void end_without_page(void)
{
	char said[80] = "";

	end_with(-1, said, sizeof(said));
	check(strstr(said, "is not written"), "says: %s", said);
}

/* A process that ends without a message, as when it is killed. */
static void end_without_message(void)
{
	struct top_page p = { .name = strdup("page.html") };
	char said[80] = "";
	int ends[2];

	if (pipe(ends))
		abort();
	p.errors = ends[0];
	p.pid = fork();
	if (!p.pid)
		_exit(1);
	close(ends[1]);
	if (p.pid < 0)
		abort();
	top_page_read(&p, said, sizeof(said));
	check(!strcmp(said, "page.html is not written: ktape convert failed"),
	      "says: %s", said);
	check_equal(p.pid, 0);
}

static void none(void)
{
	struct top_page p = { .errors = -1 };
	char said[80] = "";

	check(!top_page_end(&p, said, sizeof(said)), "a page");
	check(!*said, "says: %s", said);
}

static const struct tap_test tests[] = {
	{ "no page", none },
	{ "a page that was complete before the signal", end_with_page },
	{ "a page that could not be written", failed },
	{ "a page that is not complete", end_without_page },
	{ "a process that fails without a message", end_without_message },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
