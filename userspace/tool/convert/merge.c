// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read several traces as one.  A child process merges them as ktape convert does, and writes
 * the result into a pipe, which is the standard input of the subcommand.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/convert/convert.h"
#include "tool/convert/merge.h"
#include "tool/input/pieces.h"
#include "tool/shared/message.h"

/* Arguments besides options and traces: convert, -qo-, --to=native, --from, -- and NULL. */
#define OTHER_ARGS 6

/* Write all traces as one to the pipe.  Does not return. */
static void merge(const struct pieces *in, const struct input_options *o, int to)
{
	char **argv = calloc(OTHER_ARGS + (size_t)o->more.nr + (size_t)in->nr,
			     sizeof(*argv));
	static char name[] = "convert", out[] = "-qo-",
		    native[] = "--to=native", last[] = "--";
	char *option;
	int n = 0;

	/* End with the parent, even if a signal kills the parent. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (!argv || dup2(to, STDOUT_FILENO) < 0)
		_exit(fail("%s", strerror(errno)));
	argv[n++] = name;
	argv[n++] = out;
	argv[n++] = native;
	for (unsigned int i = 0; i < o->more.nr; i++) {
		if (asprintf(&option, "--%s=%s", o->more.items[i].option->name,
			     o->more.items[i].text) < 0)
			_exit(fail("%s", strerror(ENOMEM)));
		argv[n++] = option;
	}
	if (o->from) {
		if (asprintf(&option, "--from=%s", o->from) < 0)
			_exit(fail("%s", strerror(ENOMEM)));
		argv[n++] = option;
	}
	argv[n++] = last;
	for (int i = 0; i < in->nr; i++)
		argv[n++] = in->paths[i];
	_exit(command_convert.run(n, argv));
}

static int begin_merge(struct pieces *in, const struct input_options *o)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return fail("pipe: %s", strerror(errno));
	fflush(NULL);
	in->child = fork();
	if (in->child < 0)
		return fail("fork: %s", strerror(errno));
	if (!in->child) {
		close(ends[0]);
		merge(in, o, ends[1]);
	}
	close(ends[1]);
	if (dup2(ends[0], STDIN_FILENO) < 0)
		return fail("pipe: %s", strerror(errno));
	close(ends[0]);
	return 0;
}

/**
 * pieces_begin() - make one trace of the operands
 * @in: filled
 * @o: how to read them; cleared if they are merged, because the result is native
 * @nr: number of operands
 * @operands: traces, or log folders
 *
 * Return: 0 or the exit code.
 */
int pieces_begin(struct pieces *in, struct input_options *o, int nr, char **operands)
{
	int ret = pieces_find(in, nr, operands);

	if (!ret && in->nr > 1) {
		ret = begin_merge(in, o);
		o->from = NULL;
		o->more.nr = 0;
		in->path = "-";
	} else if (!ret) {
		in->path = in->paths[0];
	}
	if (ret)
		pieces_release(in);
	return ret;
}

/**
 * pieces_end() - end reading the traces
 * @in: from pieces_begin()
 *
 * Return: the exit code of merging them; 0 if there was nothing to merge.
 */
int pieces_end(struct pieces *in)
{
	int status = 0, ret = EXIT_OK;

	if (in->child > 0) {
		/* It ends when its pipe has no reader. */
		close(STDIN_FILENO);
		if (waitpid(in->child, &status, 0) != in->child ||
		    !WIFEXITED(status))
			ret = EXIT_FAILED;
		else
			ret = WEXITSTATUS(status);
	}
	pieces_release(in);
	return ret;
}
