/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of objects that probes come across, entered later. */
#ifndef _KT_NAMES_H
#define _KT_NAMES_H

#include <linux/types.h>

void kt_names_init(void);
void kt_names_exit(void);
bool kt_name_note(u32 type, u32 id, const char *name);

#endif /* _KT_NAMES_H */
