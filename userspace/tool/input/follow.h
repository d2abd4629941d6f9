/* SPDX-License-Identifier: GPL-2.0-only */
/* Read a trace that grows. */
#ifndef _KT_TOOL_INPUT_FOLLOW_H
#define _KT_TOOL_INPUT_FOLLOW_H

#include <sys/types.h>

/* A child process reads the trace: open "-" instead of @path.  follow_end() ends the child. */
int follow_begin(const char *path, pid_t *child);
int follow_end(pid_t child);

#endif /* _KT_TOOL_INPUT_FOLLOW_H */
