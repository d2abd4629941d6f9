/* SPDX-License-Identifier: GPL-2.0-only */
/* The end by a signal: what is under way is brought to its end. */
#ifndef _TOOL_SIGNALS_H
#define _TOOL_SIGNALS_H

#include <stdbool.h>

int signals_pipe(void);
void signals_catch(void);
int signals_sweep(const char *path);
bool signals_came(void);

#endif /* _TOOL_SIGNALS_H */
