// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ktape command: find the subcommand in the table (commands.c) and run it.
 *
 * "ktape NAME" is in FOLDER/NAME.c, except clear and destroy, which are in control/stop.c.
 * Each fills a struct kt_command (shared/opt.h).  What one command needs besides is in the same
 * folder, and the folder's header, FOLDER/FOLDER.h, says in which order to read it.  host/ is a
 * program of its own, for building.
 *
 *	control/	the module and its sessions: start, stop, status, trigger, probe, ...
 *	record/		record, snapshot, recover, try: commands that make a trace
 *	ship/		ship: pieces of a log to where they are queried
 *	dump/		dump
 *	convert/	convert, bundle; traces merged into one
 *	stats/		stats, diff
 *	top/		top
 *	verify/		verify
 *	serial/		send and receive, over a serial line
 *	serve/		serve
 *	completion/	completion
 *
 * What several commands use, each folder uses only those below it:
 *
 *	report/		statistics of a trace as text and as JSON
 *	input/		traces to read, several as one, times and CPUs
 *	log/		names of the pieces of a log
 *	session/	the device, sessions by name, their filters
 *	shared/		options, messages, the terminal, signals (opt.h says how to read it)
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/near.h"

#include "tool/commands.h"
#include "tool/shared/bus_error.h"
#include "tool/shared/limit.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"

static void print_commands(FILE *out)
{
	const struct kt_command *c;

	fputs("usage: ktape COMMAND [options] [operands]\n"
	      "Record and read traces of the ktape kernel module.\n\n",
	      out);
	for (unsigned int i = 0; (c = kt_command(i)); i++)
		fprintf(out, "  %-10s %s\n", c->name, c->help);
	fputs("  help       " KT_HELP_OF_HELP "\n\n"
	      "ktape COMMAND --help shows the options of a command.\n"
	      "exit status: 0 ok, 1 failed, 2 usage error\n",
	      out);
}

static int refuse_command(const char *name)
{
	struct kt_near n = { .word = name, .len = strlen(name) };
	const struct kt_command *c;

	for (unsigned int i = 0; (c = kt_command(i)); i++)
		kt_near_try(&n, c->name);
	kt_near_try(&n, "help");
	if (n.best)
		fail("unknown command \"%s\": did you mean \"%s\"? (see ktape help)",
		     name, n.best);
	else
		fail("unknown command \"%s\" (see ktape help)", name);
	return EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
	const struct kt_command *c = argc > 2 ? kt_command_find(argv[2]) : NULL;
	char option[] = "--help";
	char *args[] = { argv[0], option, NULL };

	if (c)
		return c->run(2, args);
	if (argc > 2)
		return refuse_command(argv[2]);
	print_commands(stdout);
	return finish_stdout();
}

static bool is_any(const char *text, const char *a, const char *b)
{
	return !strcmp(text, a) || !strcmp(text, b);
}

/*
 * Undo what the caller may have set up.  A closed standard descriptor would be reused
 * for a file of a trace.  SIGXFSZ would kill ktape at a file size limit.  An ignored
 * SIGCHLD would hide the end of a recorded command.  Also prepare for bus errors in mapped files,
 * and for many open files.
 */
static int prepare_process(void)
{
	static const int modes[] = { O_WRONLY, O_RDONLY, O_RDWR };

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		/*
		 * Open input and output in the wrong direction, so that using them fails.
		 * Messages to standard error only get lost.
		 */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
			return -errno;
	}
	signal(SIGCHLD, SIG_DFL);
	signal(SIGXFSZ, SIG_IGN);
	bus_error_catch();
	raise_files_limit();
	return 0;
}

int main(int argc, char **argv)
{
	const struct kt_command *c;
	int ret;

	kt_commands_set(kt_commands);
	if (prepare_process())
		return EXIT_FAILED;
	if (argc < 2) {
		print_commands(stderr);
		return EXIT_USAGE;
	}
	c = kt_command_find(strcmp(argv[1], "--version") ? argv[1] : "version");
	if (c) {
		ret = c->run(argc - 1, argv + 1);
		pager_finish();
		return ret;
	}
	if (is_any(argv[1], "help", "--help") || !strcmp(argv[1], "-h"))
		return run_help(argc, argv);
	return refuse_command(argv[1]);
}
