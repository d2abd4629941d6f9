// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which slot of the registry a new entry gets.
 *
 * A slot is fresh (never used), living or dead (its object no longer exists).  New entries
 * take fresh slots first.  Dead entries stay readable in a queue; when no slot is
 * fresh, the entry that died first gives its slot away.
 *
 * Living entries whose names programs and modules gave are in a queue of their own,
 * because they may take only a share of the table.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "ring/ring.h"
#include "internal.h"
#include "names.h"

#define NONE		KT_SLOT_NONE

/* Neighbours of a slot in its queue.  A slot is in one queue at most. */
struct kt_link {
	u32 next;
	u32 prev;
};

/* A queue of slots, the oldest first.  NONE = it is empty. */
struct kt_queue {
	u32 first;
	u32 last;
	u32 nr;
};

/* Protects all that follows.  Taken inside the lock of a chain (registry.c). */
static DEFINE_RAW_SPINLOCK(slot_lock);
static struct kt_link *links;
static struct kt_queue dead, given;
static u32 nr_slots;
static u32 fresh;	/* this slot and all above it were never used */
static u64 dropped, reused, evicted;

/* Called with slot_lock. */
static void slot_count(u64 *n)
{
	kt_wide_store(n, kt_wide_load(n) + 1);
}

static void queue_append(struct kt_queue *q, u32 slot)
{
	links[slot] = (struct kt_link){ NONE, q->last };
	if (q->last == NONE)
		q->first = slot;
	else
		links[q->last].next = slot;
	q->last = slot;
	q->nr++;
}

static void queue_remove(struct kt_queue *q, u32 slot)
{
	const struct kt_link *l = &links[slot];

	if (l->prev == NONE)
		q->first = l->next;
	else
		links[l->prev].next = l->next;
	if (l->next == NONE)
		q->last = l->prev;
	else
		links[l->next].prev = l->prev;
	q->nr--;
}

/**
 * kt_slots_init() - Make all slots fresh
 * @nr: number of slots
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_slots_init(u32 nr)
{
	dead = (struct kt_queue){ NONE, NONE };
	given = (struct kt_queue){ NONE, NONE };
	nr_slots = nr;
	links = kvcalloc(nr, sizeof(*links), GFP_KERNEL);
	return links ? 0 : -ENOMEM;
}

/**
 * kt_slots_exit() - Free what kt_slots_init() allocated
 *
 * Context: module unload.
 */
void kt_slots_exit(void)
{
	kvfree(links);
	links = NULL;
}

/**
 * kt_slot_take() - Take a slot for a new entry
 *
 * Context: interrupts off, with the lock of a chain.
 * Return: a fresh slot, else the slot of the entry that died first; KT_SLOT_NONE if
 * all entries live: then the new name is counted as dropped.
 */
u32 kt_slot_take(void)
{
	u32 slot;

	raw_spin_lock(&slot_lock);
	slot = dead.first;
	if (fresh < nr_slots) {
		slot = fresh;
		WRITE_ONCE(fresh, fresh + 1);
	} else if (slot == NONE) {
		slot_count(&dropped);
	} else {
		slot_count(&reused);
		queue_remove(&dead, slot);
	}
	raw_spin_unlock(&slot_lock);
	return slot;
}

/**
 * kt_slot_given() - Note that a program or module gave the name in a slot
 * @slot: slot of a living entry
 *
 * Context: as kt_slot_take().
 */
void kt_slot_given(u32 slot)
{
	raw_spin_lock(&slot_lock);
	queue_append(&given, slot);
	raw_spin_unlock(&slot_lock);
}

/**
 * kt_slot_release() - Give back the slot of an entry that becomes dead
 * @slot: slot of the entry, which is in no chain any more
 * @was_given: kt_slot_given() was called for it
 *
 * Context: as kt_slot_take().
 */
void kt_slot_release(u32 slot, bool was_given)
{
	raw_spin_lock(&slot_lock);
	if (was_given)
		queue_remove(&given, slot);
	queue_append(&dead, slot);
	raw_spin_unlock(&slot_lock);
}

/**
 * kt_slot_oldest_given() - Find the given name to evict, if they fill their share
 * @share: number of names that programs and modules may have given
 *
 * The caller must evict the entry that is returned: it is counted as evicted.
 *
 * Context: process context.
 * Return: slot of the name that was given first, KT_SLOT_NONE if there is room.
 */
u32 kt_slot_oldest_given(u32 share)
{
	unsigned long flags;
	u32 slot = NONE;

	raw_spin_lock_irqsave(&slot_lock, flags);
	if (given.nr >= share) {
		slot = given.first;
		slot_count(&evicted);
	}
	raw_spin_unlock_irqrestore(&slot_lock, flags);
	return slot;
}

/**
 * kt_registry_refuse() - Count a name as dropped that its caller refuses
 *
 * Context: process context.
 */
void kt_registry_refuse(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&slot_lock, flags);
	slot_count(&dropped);
	raw_spin_unlock_irqrestore(&slot_lock, flags);
}

/**
 * kt_registry_used() - Return how many slots were ever used
 *
 * Return: the number; all slots from it on are free. Context: any.
 */
unsigned int kt_registry_used(void)
{
	return READ_ONCE(fresh);
}

/**
 * kt_registry_dropped() - Return how many names found no room or were refused
 *
 * Return: the number since the module was loaded. Context: process context.
 */
u64 kt_registry_dropped(void)
{
	return kt_wide_load(&dropped);
}

/**
 * kt_registry_reused() - Return how many dead entries gave their slot away
 *
 * Return: the number since the module was loaded. Context: process context.
 */
u64 kt_registry_reused(void)
{
	return kt_wide_load(&reused);
}

/**
 * kt_registry_evicted() - Return how many given names made room for others
 *
 * Return: the number since the module was loaded. Context: process context.
 */
u64 kt_registry_evicted(void)
{
	return kt_wide_load(&evicted);
}
