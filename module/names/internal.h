/* SPDX-License-Identifier: GPL-2.0-only */
/* What registry.c and slot.c share: free, dead and made-up entries. */
#ifndef _KT_NAMES_INTERNAL_H
#define _KT_NAMES_INTERNAL_H

#include <linux/limits.h>
#include <linux/types.h>

#define KT_SLOT_NONE	U32_MAX

int kt_slots_init(u32 nr);
void kt_slots_exit(void);
u32 kt_slot_take(void);
void kt_slot_made(u32 slot);
void kt_slot_give(u32 slot, bool was_made);
u32 kt_slot_oldest_made(u32 share);

#endif /* _KT_NAMES_INTERNAL_H */
