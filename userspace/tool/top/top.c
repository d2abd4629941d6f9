// SPDX-License-Identifier: GPL-2.0-only
/* ktape top: show what threads and interrupts do, interval by interval. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/input/follow.h"
#include "tool/session/session.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/top/top.h"

#define DEFAULT_NS 1000000000ULL /* of --interval */

struct top_options {
	const char *input;
	bool follow;
	uint64_t interval;
	uint64_t count;
	const char *sort;
	const char *filter;
	uint64_t threads;
	bool lines;
	bool json;
	const char *session;
	const char *device;
};

#define OPT(member) offsetof(struct top_options, member)

static const struct kt_option options[] = {
	{ "input", 'i', KT_OPT_TEXT, OPT(input), "DIR|FILE|-",
	  "read a native trace instead of a session" },
	{ "follow", 'f', KT_OPT_FLAG, OPT(follow), NULL,
	  "with --input: read on while the trace grows" },
	{ "interval", 't', KT_OPT_TIME, OPT(interval), "TIME",
	  "length of an interval (default: 1s)" },
	{ "count", 'n', KT_OPT_NUMBER, OPT(count), "N",
	  "lines or JSON: end after N intervals" },
	{ "sort", 's', KT_OPT_TEXT, OPT(sort), "KEY",
	  "run, wait, longest, switches, tid or name" },
	{ "filter", 'g', KT_OPT_TEXT, OPT(filter), "TEXT",
	  "only threads with this in their name, or with this id" },
	{ "threads", 'k', KT_OPT_NUMBER, OPT(threads), "N",
	  "lines or JSON: threads of each interval (default: 0; JSON: all)" },
	{ "lines", 'l', KT_OPT_FLAG, OPT(lines), NULL,
	  "a line for each interval, also on a terminal" },
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL,
	  "a line of JSON for each interval" },
	SESSION_OPTION(struct top_options, session),
	{ "device", 0, KT_OPT_TEXT, OPT(device), "PATH",
	  "instead of " KTAPE_DEVICE_PATH },
	{ .name = NULL },
};

/**
 * struct top - a run of the command
 * @o: options
 * @order: which threads, and their order
 * @feed: what is read
 * @title: what is read, for users
 * @child: process that follows a file
 * @follows: there is one
 * @unwritten: errno of an interval that could not be printed, or 0
 */
struct top {
	struct top_options o;
	struct top_order order;
	struct top_feed_options feed;
	const char *title;
	pid_t child;
	bool follows;
	int unwritten;
};

/* Print an interval.  Return: 0, or -ECANCELED when no more are wanted. */
static int print_view(void *arg, struct top_view *v)
{
	struct top *t = arg;
	bool last = v->number >= t->o.count;

	if (t->o.json)
		top_print_json(stdout, v, &t->order, t->o.threads);
	else
		top_print_line(stdout, v, &t->order,
			       t->o.threads == NOT_GIVEN ? 0 : t->o.threads);
	top_view_free(v);
	if (fflush(stdout)) {
		t->unwritten = errno;
		return -ECANCELED;
	}
	return last ? -ECANCELED : 0;
}

/* Print lines until the trace or a signal ends.  Return: the exit code. */
static int print_lines(struct top *t)
{
	struct top_feed *feed;
	int ret;

	t->feed.wake = signals_pipe();
	if (t->feed.wake < 0)
		return fail("pipe: %s", strerror(-t->feed.wake));
	signals_catch();
	t->feed.take = print_view;
	t->feed.arg = t;
	ret = top_feed_open(&t->feed, &feed);
	if (ret)
		return ret;
	if (!t->o.json)
		top_print_head(stdout);
	ret = top_feed_read(feed);
	top_feed_close(feed);
	if (t->unwritten)
		return fail("standard output: %s", strerror(t->unwritten));
	if (ret && ret != -ECANCELED)
		return fail("cannot read the trace: %s", strerror(-ret));
	return finish_stdout();
}

static int check_top_options(struct top *t)
{
	struct top_options *o = &t->o;

	if (o->lines && o->json)
		return misuse(&command_top, "--lines and --json exclude each other");
	if (o->input && (o->session || o->device))
		return misuse(&command_top,
			      "--input and --session or --device exclude each other");
	if (o->follow && !o->input)
		return misuse(&command_top,
			      "--follow needs --input: sessions are followed anyway");
	if (!o->interval)
		return misuse(&command_top, "--interval: give at least 1ns");
	if (!o->count)
		return misuse(&command_top, "--count: give at least 1");
	if (o->sort && top_key_parse(o->sort, &t->order.key))
		return misuse(&command_top,
			      "--sort: \"%s\" is not run, wait, longest, switches, tid or name",
			      o->sort);
	if (o->filter && strlen(o->filter) >= sizeof(t->order.filter))
		return misuse(&command_top, "--filter: the text is too long");
	if (o->filter)
		strcpy(t->order.filter, o->filter);
	return 0;
}

/*
 * Choose the trace of --input.  With --follow a file or folder is read through a process that
 * copies it to standard input.  Return: 0 or the exit code.
 */
static int begin_trace_file(struct top *t)
{
	struct stat st;
	int ret;

	t->feed.input = t->o.input;
	t->title = t->o.input;
	if (!t->o.follow || !strcmp(t->o.input, "-") ||
	    (!stat(t->o.input, &st) && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return 0;
	ret = follow_begin(t->o.input, &t->child);
	t->follows = !ret;
	t->feed.input = "-";
	return ret;
}

/* Read a session through standard input: its descriptor has no path. */
static int begin_session(struct top *t)
{
	int ret = top_device_open(t->o.device, t->o.session, &t->feed.device);

	if (ret)
		return ret;
	if (!top_device_runs(t->feed.device))
		note("%s is stopped, so there will be no new events (ktape start)",
		     top_device_name(t->feed.device));
	if (dup2(top_device_input(t->feed.device), STDIN_FILENO) < 0)
		return fail("standard input: %s", strerror(errno));
	t->feed.input = "-";
	t->title = top_device_name(t->feed.device);
	return 0;
}

static bool wants_screen(const struct top_options *o)
{
	return !o->lines && !o->json && isatty(STDOUT_FILENO);
}

static int run_top(struct top *t)
{
	struct top_screen_options screen = { .order = t->order };
	int ret = t->o.input ? begin_trace_file(t) : begin_session(t);

	if (ret)
		return ret;
	t->feed.command = &command_top;
	t->feed.interval = t->o.interval;
	if (wants_screen(&t->o) && !KT_NCURSES)
		note("this ktape was built without ncurses: lines follow");
	if (!wants_screen(&t->o) || !KT_NCURSES)
		return print_lines(t);
	screen.title = t->title;
	screen.trace = t->o.input && strcmp(t->o.input, "-") ? t->o.input : NULL;
	screen.feed = t->feed;
	return top_screen(&screen);
}

static int cmd_top(int argc, char **argv)
{
	struct top t = {
		.o = { .interval = DEFAULT_NS, .count = NOT_GIVEN, .threads = NOT_GIVEN },
	};
	int first, ret, end;

	ret = kt_options(&command_top, argc, argv, &t.o, &first);
	if (ret >= 0)
		return ret;
	if (first < argc)
		return misuse(&command_top,
			      "too many operands: give a trace with --input");
	ret = check_top_options(&t);
	if (!ret)
		ret = run_top(&t);
	if (t.follows) {
		end = follow_end(t.child);
		ret = ret ? ret : end;
	}
	top_device_close(t.feed.device);
	return ret;
}

const struct kt_command command_top = {
	.name = "top",
	.operands = "",
	.help = "show live what threads and interrupts do",
	.more = "On a terminal this is a screen with keys: h shows them.\n",
	.options = options,
	.run = KT_RUN(cmd_top),
};
