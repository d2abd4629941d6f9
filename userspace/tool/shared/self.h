/* SPDX-License-Identifier: GPL-2.0-only */
/* Run this command again in a new process; record a trace and make a page (HTML) of it. */
#ifndef _KT_TOOL_SHARED_SELF_H
#define _KT_TOOL_SHARED_SELF_H

#include <stdbool.h>

#define SELF_PATH 4096

bool page_can_write(void);
bool page_is_name(const char *path);
char *page_trace_path(const char *page);
char *page_usual_name(void);
int page_remove_trace(const char *path);
int page_write(const char *page, const char *trace);
int self_path(char path[SELF_PATH]);
int run_self(char *const argv[]);
int run_self_until_signal(char *const argv[]);
int run_program(const char *path, char *const argv[]);

#endif /* _KT_TOOL_SHARED_SELF_H */
