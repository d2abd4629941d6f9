/* SPDX-License-Identifier: GPL-2.0-only */
/* Several traces, or the pieces of a log, read as one trace. */
#ifndef _KT_TOOL_INPUT_PIECES_H
#define _KT_TOOL_INPUT_PIECES_H

#include <sys/types.h>

/**
 * struct pieces - the traces that a subcommand reads as one
 * @path: what to open, set by pieces_begin() (tool/convert/merge.h): the only trace, or "-":
 *	standard input is then the pipe to which @child writes all of them as one
 * @paths: all traces, a log folder as its pieces in their order
 * @nr: number of @paths
 * @child: process that merges them, started by pieces_begin(); 0 = none
 */
struct pieces {
	const char *path;
	char **paths;
	int nr;
	pid_t child;
};

/* Fills @paths and @nr only; a command that reads one trace calls pieces_begin() instead. */
int pieces_find(struct pieces *in, int nr, char **operands);
void pieces_release(struct pieces *in);

#endif /* _KT_TOOL_INPUT_PIECES_H */
