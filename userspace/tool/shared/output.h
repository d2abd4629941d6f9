/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks that an output does not overwrite what the subcommand reads. */
#ifndef _KT_TOOL_SHARED_OUTPUT_H
#define _KT_TOOL_SHARED_OUTPUT_H

int output_check(const char *path, char *const *inputs, int nr);
int output_check_place(const char *path);

#endif /* _KT_TOOL_SHARED_OUTPUT_H */
