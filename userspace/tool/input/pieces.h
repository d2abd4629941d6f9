/* SPDX-License-Identifier: GPL-2.0-only */
/* Several traces, or the pieces of a log, read as one trace. */
#ifndef _KT_TOOL_INPUT_PIECES_H
#define _KT_TOOL_INPUT_PIECES_H

#include <sys/types.h>

/**
 * struct pieces - the traces that a subcommand reads as one
 * @path: what to open: the only trace, or "-" for all of them
 * @paths: all traces, a log folder as its pieces in their order
 * @nr: number of @paths
 * @child: process that merges them, 0 = none
 */
struct pieces {
	const char *path;
	char **paths;
	int nr;
	pid_t child;
};

int pieces_find(struct pieces *in, int nr, char **operands);
void pieces_release(struct pieces *in);

#endif /* _KT_TOOL_INPUT_PIECES_H */
