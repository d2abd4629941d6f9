/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the registry share.  They are listed in names.h. */
#ifndef _KT_NAMES_INTERNAL_H
#define _KT_NAMES_INTERNAL_H

#include <linux/irq_work.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

/* ---- memory: table.c ------------------------------------------------------- */

/* Slots of a chunk: whole pages of entries. */
#define KT_CHUNK_SLOTS                                                 \
	((u32)(PAGE_SIZE / sizeof(struct ktape_object_entry) > 1024 ?  \
		       PAGE_SIZE / sizeof(struct ktape_object_entry) : \
		       1024))

/* Slots of a page of entries. */
#define KT_PAGE_SLOTS ((u32)(PAGE_SIZE / sizeof(struct ktape_object_entry)))

/* Neighbours of a slot in its queue.  A slot is in one queue at most. */
struct kt_link {
	u32 next;
	u32 prev;
};

/**
 * struct kt_chunk - a part of the table
 * @entry: the entries; readers map their pages
 * @link: by slot: neighbours in the queue of the slot
 * @next: by slot: next slot in the hash chain, or KT_SLOT_NONE
 * @era_of: by slot: era of the entry's last change, see kt_registry_begin_era()
 */
struct kt_chunk {
	struct ktape_object_entry entry[KT_CHUNK_SLOTS];
	struct kt_link link[KT_CHUNK_SLOTS];
	u32 next[KT_CHUNK_SLOTS];
	u32 era_of[KT_CHUNK_SLOTS];
};

/* By slot / KT_CHUNK_SLOTS; entries and slots below kt_registry_entries() exist. */
extern struct kt_chunk **kt_chunks;

/**
 * struct kt_table - the table of all chunks
 * @lock: serialises growth
 * @nr: number of slots; written with @lock
 * @max: number of slots that there can be
 * @failed: the last growth found no memory
 * @failed_at: jiffies at which it ended
 * @woken: @work is on its way
 * @closed: the module is unloaded
 * @irq: starts @work from any context
 * @work: lets the table grow
 */
struct kt_table {
	struct mutex lock;
	u32 nr;
	u32 max;
	bool failed;
	unsigned long failed_at;
	bool woken;
	bool closed;
	struct irq_work irq;
	struct delayed_work work;
};

extern struct kt_table kt_table;

void kt_table_wake(void);
enum ktape_no_room kt_table_limit(void);

static inline struct ktape_object_entry *kt_slot_entry(u32 slot)
{
	return &kt_chunks[slot / KT_CHUNK_SLOTS]->entry[slot % KT_CHUNK_SLOTS];
}

static inline struct kt_link *kt_slot_link(u32 slot)
{
	return &kt_chunks[slot / KT_CHUNK_SLOTS]->link[slot % KT_CHUNK_SLOTS];
}

static inline u32 *kt_slot_next(u32 slot)
{
	return &kt_chunks[slot / KT_CHUNK_SLOTS]->next[slot % KT_CHUNK_SLOTS];
}

static inline u32 *kt_slot_era(u32 slot)
{
	return &kt_chunks[slot / KT_CHUNK_SLOTS]->era_of[slot % KT_CHUNK_SLOTS];
}

/* ---- slots: slot.c --------------------------------------------------------- */

/* No slot: the end of a chain or queue, or no room. */
#define KT_SLOT_NONE U32_MAX

void kt_slots_init(void);
void kt_slots_add(u32 nr);
bool kt_slots_low(void);
bool kt_slots_left(void);
u32 kt_slot_take(void);
void kt_slot_given(u32 slot);
void kt_slot_release(u32 slot, bool was_given);
u32 kt_slot_oldest_given(u32 share);

/* ---- entries: registry.c --------------------------------------------------- */

size_t kt_chains_bytes(unsigned int entries);
int kt_chains_init(unsigned int entries);
void kt_chains_exit(void);

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

/* ---- threads: threads.c ----------------------------------------------------- */

u32 kt_threads_count(void);
void kt_threads_enter(void);

#endif /* _KT_NAMES_INTERNAL_H */
