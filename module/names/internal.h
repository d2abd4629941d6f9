/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the registry share: entries by key (registry.c), and which slot
 * of the table a new entry gets (slot.c).
 */
#ifndef _KT_NAMES_INTERNAL_H
#define _KT_NAMES_INTERNAL_H

#include <linux/limits.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

#include <ktape/abi.h>

/* ---- slots: slot.c --------------------------------------------------------- */

/* No slot: the end of a chain or queue, or no room. */
#define KT_SLOT_NONE	U32_MAX

int kt_slots_init(u32 nr);
void kt_slots_exit(void);
u32 kt_slot_take(void);
void kt_slot_given(u32 slot);
void kt_slot_release(u32 slot, bool was_given);
u32 kt_slot_oldest_given(u32 share);

/* ---- entries: registry.c --------------------------------------------------- */

/**
 * struct kt_key - what identifies an object
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter if it identifies objects of @type (param1_is_key()), else 0
 */
struct kt_key {
	u32 type;
	u32 id;
	u32 param1;
};

raw_spinlock_t *kt_entry_lock(struct kt_key k);
u32 kt_entry_find(struct kt_key k);
const struct ktape_object_entry *kt_entry_at(u32 slot);
void kt_entry_set(struct kt_key k, u64 born, u32 param1, u32 param2,
		  const char *name);
void kt_entry_set_param2(u32 slot, u32 param2);
void kt_entry_bury(u32 slot, u64 died);

#endif /* _KT_NAMES_INTERNAL_H */
