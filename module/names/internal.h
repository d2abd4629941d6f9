/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What registry.c and slot.c share: which slot of the table a new entry gets, and
 * which entry has to go for it.
 */
#ifndef _KT_NAMES_INTERNAL_H
#define _KT_NAMES_INTERNAL_H

#include <linux/limits.h>
#include <linux/types.h>

#define KT_SLOT_NONE	U32_MAX

int kt_slots_init(u32 nr);
void kt_slots_exit(void);
u32 kt_slot_take(void);
void kt_slot_given(u32 slot);
void kt_slot_release(u32 slot, bool was_given);
u32 kt_slot_oldest_given(u32 share);

#endif /* _KT_NAMES_INTERNAL_H */
