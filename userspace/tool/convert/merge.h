/* SPDX-License-Identifier: GPL-2.0-only */
/* Several traces read as one by commands that read one trace. */
#ifndef _KT_TOOL_CONVERT_MERGE_H
#define _KT_TOOL_CONVERT_MERGE_H

struct input_options;
struct pieces;

int pieces_begin(struct pieces *in, struct input_options *o, int nr,
		 char **operands);
int pieces_end(struct pieces *in);

#endif /* _KT_TOOL_CONVERT_MERGE_H */
