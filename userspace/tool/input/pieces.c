// SPDX-License-Identifier: GPL-2.0-only
/*
 * List the traces that a subcommand reads as one.  A log folder of "ktape record -l" stands
 * for its pieces.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/input/pieces.h"
#include "tool/log/log.h"
#include "tool/shared/message.h"

static int add_piece_path(struct pieces *in, const char *path)
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
static int is_piece_of_log(const char *path)
{
	char *pattern;
	int err = log_of_piece(path, &pattern);

	if (err)
		return err == -ENOMEM ? err : 0;
	free(pattern);
	return 1;
}

/*
 * Add the pieces in a folder, in the order of their names, which is that of time for usual names.
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
			piece = is_piece_of_log(path);
		if (piece)
			err = piece < 0 ? piece : add_piece_path(in, path);
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
	piece = is_piece_of_log(path);
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
			err = add_piece_path(in, operands[i]);
	}
	return err ? fail("%s", strerror(-err)) : 0;
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
