/* SPDX-License-Identifier: GPL-2.0-only */
/* ktape top: the terminal's state, and signals as bytes of a pipe. */
#ifndef _KT_TOOL_TOP_TTY_H
#define _KT_TOOL_TOP_TTY_H

#include <stdbool.h>

/*
 * After top_tty_open(), poll the descriptors of keys and of signals.  top_tty_next_signal() returns
 * 0 when there is no more: for one that top_tty_ends() the command, end; for SIGTSTP call
 * top_tty_stop(), for others that were caught top_tty_redraw().  top_tty_close() is last, also
 * if opening has failed.
 */
int top_tty_open(void);
int top_tty_keys(void);
int top_tty_signals(void);
int top_tty_next_signal(void);
bool top_tty_ends(int number);
void top_tty_stop(void);
void top_tty_redraw(void);
void top_tty_close(void);

#endif /* _KT_TOOL_TOP_TTY_H */
