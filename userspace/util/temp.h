/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of outputs that are not whole yet. */
#ifndef _KT_TEMP_H
#define _KT_TEMP_H

#include <stdbool.h>

/* Readers of a folder skip names with a dot. */
#define KT_TEMP_PREFIX	".ktape-"
#define KT_TEMP_NAME	32U

void kt_temp_name(char name[KT_TEMP_NAME], unsigned int nr);
bool kt_temp_is_name(const char *name);
void kt_temp_sweep(const char *folder);

#endif /* _KT_TEMP_H */
