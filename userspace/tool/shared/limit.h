/* SPDX-License-Identifier: GPL-2.0-only */
/* How many files ktape may have open. */
#ifndef _KT_TOOL_SHARED_LIMIT_H
#define _KT_TOOL_SHARED_LIMIT_H

/* Allow as many as the hard limit: a trace has a file for each ring. */
void raise_files_limit(void);

/* Set back the limit that ktape was run with, for a program that it runs. */
void restore_files_limit(void);

#endif /* _KT_TOOL_SHARED_LIMIT_H */
