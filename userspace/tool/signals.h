/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signals for subcommands that wait or take long: end in order, remove temporary files; bus
 * errors of rings that were taken away.
 */
#ifndef _TOOL_SIGNALS_H
#define _TOOL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

int signals_pipe(void);
void signals_catch(void);
int signals_sweep(const char *path);
bool signals_came(void);
bool signals_bus_error(const siginfo_t *info);
void signals_bus(void);

#endif /* _TOOL_SIGNALS_H */
