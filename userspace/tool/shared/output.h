/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that an output does not overwrite what the subcommand reads. */
#ifndef _KT_TOOL_SHARED_OUTPUT_H
#define _KT_TOOL_SHARED_OUTPUT_H

/* Refuse an output that is one of the inputs or a part of it.  Return: 0 or the exit code. */
int output_check(const char *path, char *const *inputs, int nr);

/* Refuse a trace or page inside the folder of a trace.  Return: 0 or the exit code. */
int output_check_place(const char *path);

#endif /* _KT_TOOL_SHARED_OUTPUT_H */
