/* SPDX-License-Identifier: GPL-2.0-only */
/* Several traces read as one by commands that read one trace. */
#ifndef _KT_TOOL_CONVERT_MERGE_H
#define _KT_TOOL_CONVERT_MERGE_H

struct input_options;
struct pieces;

/*
 * Make one trace of the operands: @in->path is the one to open with @o, "-" (standard input) if a
 * child process merges several.  pieces_end(), also for one that is all zeros, waits for the child
 * and returns its exit code; the child ends when all was read or the trace is closed.
 */
int pieces_begin(struct pieces *in, struct input_options *o, int nr,
		 char **operands);
int pieces_end(struct pieces *in);

#endif /* _KT_TOOL_CONVERT_MERGE_H */
