/* SPDX-License-Identifier: GPL-2.0-only */
/* Open a page in the user's browser. */
#ifndef _KT_TOOL_SHARED_BROWSER_H
#define _KT_TOOL_SHARED_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

#define BROWSER_PATH 256U /* bytes of a path made here */

pid_t browser_open(const char *path);
bool browser_failed(pid_t *pid);
bool browser_folder(char path[BROWSER_PATH]);
bool browser_open_url(const char *url, char file[BROWSER_PATH]);

#endif /* _KT_TOOL_SHARED_BROWSER_H */
