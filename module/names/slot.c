// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which entries of the registry are free, and in which order they died.
 *
 * An entry is fresh, living or dead.  A dead one keeps its place in a queue until
 * no fresh one is left; then the first of the queue is used again.  Living ones
 * whose names programs and modules made up are in a queue as well.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "internal.h"
#include "names.h"

#define NONE		KT_SLOT_NONE

/* Place of an entry in the only queue in which it is. */
struct kt_link {
	u32 next;
	u32 prev;
};

/* Oldest first. */
struct kt_queue {
	u32 first;
	u32 last;
	u32 nr;
};

/* Protects all of this; inside the lock of a chain. */
static DEFINE_RAW_SPINLOCK(slot_lock);
static struct kt_link *links;
static struct kt_queue dead, made;
static u32 nr_slots;
static u32 fresh;	/* entries from here on were never used */
static u64 dropped, reused, evicted;

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
 * kt_slots_init() - all entries are fresh
 * @nr: how many there are
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_slots_init(u32 nr)
{
	dead = (struct kt_queue){ NONE, NONE };
	made = (struct kt_queue){ NONE, NONE };
	nr_slots = nr;
	links = kvcalloc(nr, sizeof(*links), GFP_KERNEL);
	return links ? 0 : -ENOMEM;
}

/**
 * kt_slots_exit() - free what kt_slots_init() made
 *
 * Context: module unload.
 */
void kt_slots_exit(void)
{
	kvfree(links);
	links = NULL;
}

/**
 * kt_slot_take() - an entry to be used
 *
 * Context: interrupts off, with the lock of a chain.
 * Return: a fresh one, or the one that has been dead for longest, or
 * KT_SLOT_NONE: all live, and a name is dropped.
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
		WRITE_ONCE(dropped, dropped + 1);
	} else {
		WRITE_ONCE(reused, reused + 1);
		queue_remove(&dead, slot);
	}
	raw_spin_unlock(&slot_lock);
	return slot;
}

/**
 * kt_slot_made() - the name was made up by a program or module
 * @slot: of an entry that lives
 *
 * Context: as kt_slot_take().
 */
void kt_slot_made(u32 slot)
{
	raw_spin_lock(&slot_lock);
	queue_append(&made, slot);
	raw_spin_unlock(&slot_lock);
}

/**
 * kt_slot_give() - an entry is dead
 * @slot: nobody finds it any more
 * @was_made: kt_slot_made() was called
 *
 * Context: as kt_slot_take().
 */
void kt_slot_give(u32 slot, bool was_made)
{
	raw_spin_lock(&slot_lock);
	if (was_made)
		queue_remove(&made, slot);
	queue_append(&dead, slot);
	raw_spin_unlock(&slot_lock);
}

/**
 * kt_slot_oldest_made() - have programs and modules their share?
 * @share: how many names they may have
 *
 * The one that is told is to go; that is counted.
 *
 * Context: process context.
 * Return: the oldest of their entries, or KT_SLOT_NONE: there is room.
 */
u32 kt_slot_oldest_made(u32 share)
{
	unsigned long flags;
	u32 slot = NONE;

	raw_spin_lock_irqsave(&slot_lock, flags);
	if (made.nr >= share) {
		slot = made.first;
		WRITE_ONCE(evicted, evicted + 1);
	}
	raw_spin_unlock_irqrestore(&slot_lock, flags);
	return slot;
}

/**
 * kt_registry_refuse() - count a name that was refused
 *
 * Context: process context.
 */
void kt_registry_refuse(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&slot_lock, flags);
	WRITE_ONCE(dropped, dropped + 1);
	raw_spin_unlock_irqrestore(&slot_lock, flags);
}

/**
 * kt_registry_used() - entries that were ever used
 *
 * Return: number of entries, those in use are below it. Context: any.
 */
unsigned int kt_registry_used(void)
{
	return READ_ONCE(fresh);
}

/**
 * kt_registry_dropped() - names that found no room, or were refused
 *
 * Return: how many since the module was loaded. Context: any.
 */
u64 kt_registry_dropped(void)
{
	return READ_ONCE(dropped);
}

/**
 * kt_registry_reused() - entries of dead objects that were used again
 *
 * Return: how many since the module was loaded. Context: any.
 */
u64 kt_registry_reused(void)
{
	return READ_ONCE(reused);
}

/**
 * kt_registry_evicted() - names of programs and modules that made room for others
 *
 * Return: how many since the module was loaded. Context: any.
 */
u64 kt_registry_evicted(void)
{
	return READ_ONCE(evicted);
}
