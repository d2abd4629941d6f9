/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporary names of outputs that are not complete yet; see temp.c.
 *
 * A name that kt_temp_file() or kt_temp_folder() has made is in a table of the process until
 * kt_temp_forget().  kt_temp_sweep(), for a handler of signals that end the program, removes
 * what is in the table.  So forget a name after the output was renamed or removed, and before
 * the folder is closed.
 *
 * kt_temp_file(), of permissions @mode, and kt_temp_folder() set @name to the name that they have
 * made in @folder, and return a descriptor, which the caller closes, or a negative errno.
 * kt_temp_hold() blocks all signals, so that none comes between two steps, for example a rename
 * and kt_temp_forget(); the caller restores the mask @before by sigprocmask(2).
 */
#ifndef _KT_TEMP_H
#define _KT_TEMP_H

#include <signal.h>
#include <stdbool.h>

/* Readers of a trace directory skip names that begin with a dot. */
#define KT_TEMP_PREFIX ".ktape-"
#define KT_TEMP_NAME   32U /* bytes of a temporary name, NUL included */

bool kt_temp_is_name(const char *name);
int kt_temp_file(int folder, char name[KT_TEMP_NAME], unsigned int mode);
int kt_temp_folder(int folder, char name[KT_TEMP_NAME]);
void kt_temp_forget(int folder, const char *name);
void kt_temp_hold(sigset_t *before);
void kt_temp_sweep(void);

#endif /* _KT_TEMP_H */
