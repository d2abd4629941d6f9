/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals for subcommands that wait or take long: end in order, remove temporary files.
 *
 * signals_pipe(), if a descriptor is polled, comes before signals_catch(); from then on the first
 * signal of a kind sets signals_came() and makes the descriptor readable, the second one ends the
 * process.  signals_sweep(), for an output, may come before or after.
 */
#ifndef _KT_TOOL_SHARED_SIGNALS_H
#define _KT_TOOL_SHARED_SIGNALS_H

#include <stdbool.h>

int signals_pipe(void);
void signals_catch(void);
int signals_sweep(const char *path);
bool signals_came(void);

#endif /* _KT_TOOL_SHARED_SIGNALS_H */
