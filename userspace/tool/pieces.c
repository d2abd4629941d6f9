// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read several traces as one.  A log folder of "ktape record -l" stands for its pieces.
 * A child process merges them as ktape convert does, and writes the result into a pipe,
 * which is the standard input of the subcommand.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "pieces.h"

#define FIXED	8	/* arguments of the child beside options and traces */

static int add_path(struct pieces *in, const char *path)
{
	char **more = realloc(in->paths, ((size_t)in->nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	in->paths = more;
	more[in->nr] = strdup(path);
	if (!more[in->nr])
		return -ENOMEM;
	in->nr++;
	return 0;
}

/* Is there a piece of a log at this path?  Return: 1, 0, or -ENOMEM. */
static int is_piece(const char *path)
{
	char *pattern;
	int err = log_of_piece(path, &pattern);

	if (err)
		return err == -ENOMEM ? err : 0;
	free(pattern);
	return 1;
}

/*
 * Add the pieces in a folder, in the order of their names, which is that of time.
 * Return: 0 or negative errno; no piece is added if it is no log folder.
 */
static int add_pieces(struct pieces *in, const char *folder)
{
	struct dirent **list;
	int nr = scandir(folder, &list, NULL, alphasort), err = 0;

	if (nr < 0)
		return errno == ENOTDIR || errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < nr; i++) {
		char *path = NULL;
		int piece = 0;

		if (!err && *list[i]->d_name != '.' &&
		    asprintf(&path, "%s/%s", folder, list[i]->d_name) < 0)
			err = -ENOMEM;
		else if (!err && path)
			piece = is_piece(path);
		if (piece)
			err = piece < 0 ? piece : add_path(in, path);
		free(path);
		free(list[i]);
	}
	free(list);
	return err;
}

/* Is the path a folder that is no piece itself?  Return: 1, 0, or -ENOMEM. */
static int may_be_log(const char *path)
{
	struct stat st;
	int piece;

	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		return 0;
	piece = is_piece(path);
	return piece < 0 ? piece : !piece;
}

/**
 * pieces_find() - list the traces of the operands
 * @in: filled; pieces_release() frees it in any case
 * @nr: number of operands
 * @operands: traces, or log folders
 *
 * Return: 0 or the exit code.
 */
int pieces_find(struct pieces *in, int nr, char **operands)
{
	int err = 0;

	*in = (struct pieces){ .nr = 0 };
	for (int i = 0; i < nr && !err; i++) {
		int before = in->nr, log = may_be_log(operands[i]);

		if (log)
			err = log < 0 ? log : add_pieces(in, operands[i]);
		if (!err && in->nr == before)
			err = add_path(in, operands[i]);
	}
	return err ? fail("%s", strerror(-err)) : 0;
}

/* Write all traces as one to the pipe.  Does not return. */
static void merge(const struct pieces *in, const struct input_options *o, int to)
{
	char **argv = calloc(FIXED + 2 * (size_t)o->more.nr + (size_t)in->nr, sizeof(*argv));
	static char name[] = "convert", out[] = "-qo-", native[] = "--to=native", last[] = "--";
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
 * Return: the exit code of merging them.
 */
int pieces_end(struct pieces *in)
{
	int status = 0, ret = EXIT_OK;

	if (in->child > 0) {
		/* It ends when its pipe has no reader. */
		close(STDIN_FILENO);
		if (waitpid(in->child, &status, 0) != in->child || !WIFEXITED(status))
			ret = EXIT_FAILED;
		else
			ret = WEXITSTATUS(status);
	}
	pieces_release(in);
	return ret;
}

/**
 * pieces_release() - free the list of traces
 * @in: the list
 */
void pieces_release(struct pieces *in)
{
	for (int i = 0; i < in->nr; i++)
		free(in->paths[i]);
	free(in->paths);
	*in = (struct pieces){ .nr = 0 };
}
