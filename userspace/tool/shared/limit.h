/* SPDX-License-Identifier: GPL-2.0-only */
/* How many files ktape may have open. */
#ifndef _KT_TOOL_SHARED_LIMIT_H
#define _KT_TOOL_SHARED_LIMIT_H

void raise_files_limit(void);
void restore_files_limit(void);

#endif /* _KT_TOOL_SHARED_LIMIT_H */
