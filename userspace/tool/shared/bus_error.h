/* SPDX-License-Identifier: GPL-2.0-only */
/* SIGBUS of rings that were taken away, in every subcommand that maps rings. */
#ifndef _KT_TOOL_SHARED_BUS_ERROR_H
#define _KT_TOOL_SHARED_BUS_ERROR_H

#include <signal.h>
#include <stdbool.h>

/*
 * main() calls bus_error_catch().  A handler of SIGBUS that replaces it asks bus_error_is_ours()
 * first: if it is, the reader of the rings knows now, and the handler returns.
 */
bool bus_error_is_ours(const siginfo_t *info);
void bus_error_catch(void);

#endif /* _KT_TOOL_SHARED_BUS_ERROR_H */
