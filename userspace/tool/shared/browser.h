/* SPDX-License-Identifier: GPL-2.0-only */
/* Open a page in the user's browser. */
#ifndef _KT_TOOL_SHARED_BROWSER_H
#define _KT_TOOL_SHARED_BROWSER_H

#include <stdbool.h>
#include <sys/types.h>

#define BROWSER_PATH 256U /* bytes of a path made here */

/* Return the process that opens a file, for browser_failed() until that has set it to 0. */
pid_t browser_open(const char *path);
bool browser_failed(pid_t *pid);

/* For a folder or address that only the user can read; false, after a message, if that fails. */
bool browser_folder(char path[BROWSER_PATH]);
bool browser_open_url(const char *url, char file[BROWSER_PATH]);

#endif /* _KT_TOOL_SHARED_BROWSER_H */
