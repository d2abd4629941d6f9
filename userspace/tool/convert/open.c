// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape convert --open: open the page in a browser.
 *
 * Without -o the page is in a folder that only the user can read.  The browser may load
 * it at any time, so it stays until a signal ends ktape, and is then removed.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/convert/convert.h"
#include "tool/shared/browser.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/text.h"

#define PAGE_NAME "/trace.html"
#define CHECK_MS  200 /* between two checks of the browser */

/* The temporary folder, or "" if the page has the name of -o; the page in it. */
static struct {
	char folder[BROWSER_PATH];
	char path[BROWSER_PATH + sizeof(PAGE_NAME)];
} page;

/**
 * convert_open_begin() - check the options of a page to be opened, and choose its path
 * @c: the conversion; --to and -o are set if they are not given
 *
 * Return: 0 or the exit code.
 */
int convert_open_begin(struct convert *c)
{
	struct convert_options *o = &c->o;

	if (!o->to)
		o->to = "html";
	if (strcmp(o->to, "html") && strncmp(o->to, "html:", 5))
		return misuse(c->command,
			      "--open: a browser shows only the format html");
	if (!ktape_codec_find("html"))
		return fail("format html is not built in");
	if (o->out && !strcmp(o->out, "-"))
		return misuse(c->command,
			      "--open needs a file, not standard output");
	if (o->out)
		return 0;
	if (!browser_folder(page.folder)) {
		*page.folder = '\0';
		return EXIT_FAILED;
	}
	snprintf(page.path, sizeof(page.path), "%s" PAGE_NAME, page.folder);
	o->out = page.path;
	return 0;
}

/* Return true if a user can read where the page is, and end the command by Ctrl-C. */
static bool has_terminal(void)
{
	return isatty(STDIN_FILENO) &&
	       (isatty(STDOUT_FILENO) || isatty(STDERR_FILENO));
}

/*
 * Wait until a signal comes.  Without a browser and a terminal, no user knows where the page is,
 * so no signal would come.
 * Return: 0, or the exit code if no user can see the page.
 */
static int wait_for_signal(int wake, pid_t browser)
{
	struct pollfd p = { .fd = wake, .events = POLLIN };
	bool none = !browser;

	while (!signals_came()) {
		none |= browser_failed(&browser);
		if (none && !has_terminal())
			return fail("without a browser and a terminal nobody sees the page: -o FILE keeps it");
		poll(&p, 1, browser ? CHECK_MS : -1);
	}
	return 0;
}

/**
 * convert_open_end() - open the page, and wait if it is a temporary one
 * @o: options
 * @wake: readable once a signal came
 * @ret: exit code of the conversion
 *
 * A temporary page is shown also if the trace is damaged, which is a failure in @ret.  A page
 * with the name of -o is shown only after a success: it may be that of an earlier conversion.
 *
 * Return: @ret, or EXIT_FAILED.
 */
int convert_open_end(const struct convert_options *o, int wake, int ret)
{
	bool made = *page.folder ? !access(o->out, R_OK) : ret == EXIT_OK;

	if (made && !signals_came()) {
		pid_t browser = browser_open(o->out);

		if (*page.folder) {
			int none;

			put_shown(stdout, o->out);
			puts("   (Ctrl-C removes it)");
			fflush(stdout);
			none = wait_for_signal(wake, browser);
			ret = ret ? ret : none;
		}
	}
	if (!*page.folder)
		return ret;
	unlink(page.path);
	if (rmdir(page.folder))
		return fail("%s: cannot be removed: %s", page.folder,
			    strerror(errno));
	return ret;
}
