/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporary names of outputs that are not complete yet; see temp.c. */
#ifndef _KT_TEMP_H
#define _KT_TEMP_H

#include <signal.h>
#include <stdbool.h>

/* Readers of a trace directory skip names that begin with a dot. */
#define KT_TEMP_PREFIX ".ktape-"
#define KT_TEMP_NAME   32U

bool kt_temp_is_name(const char *name);
int kt_temp_file(int folder, char name[KT_TEMP_NAME], unsigned int mode);
int kt_temp_folder(int folder, char name[KT_TEMP_NAME]);
void kt_temp_forget(int folder, const char *name);
void kt_temp_hold(sigset_t *before);
void kt_temp_sweep(void);

#endif /* _KT_TEMP_H */
