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
#include <linux/spinlock.h>
#include <linux/string.h>

#include "ring/ring.h"
#include "internal.h"
#include "names.h"

#define NONE KT_SLOT_NONE

/* A queue of slots, the oldest first.  NONE = it is empty. */
struct kt_queue {
	u32 first;
	u32 last;
	u32 nr;
};

/* Protects all that follows.  Taken inside the lock of a chain (registry.c). */
static DEFINE_RAW_SPINLOCK(slot_lock);
static struct kt_queue dead, given;
static u32 nr_slots;
static u32 fresh; /* this slot and all above it were never used */
static u64 no_room[KTAPE_NO_ROOM_REASONS], reused, evicted;

/* Called with slot_lock. */
static void slot_count(u64 *n)
{
	kt_wide_store(n, kt_wide_load(n) + 1);
}

static void queue_append(struct kt_queue *q, u32 slot)
{
	*kt_slot_link(slot) = (struct kt_link){ NONE, q->last };
	if (q->last == NONE)
		q->first = slot;
	else
		kt_slot_link(q->last)->next = slot;
	q->last = slot;
	q->nr++;
}

static void queue_remove(struct kt_queue *q, u32 slot)
{
	const struct kt_link *l = kt_slot_link(slot);

	if (l->prev == NONE)
		q->first = l->next;
	else
		kt_slot_link(l->prev)->next = l->next;
	if (l->next == NONE)
		q->last = l->prev;
	else
		kt_slot_link(l->next)->prev = l->prev;
	q->nr--;
}

/**
 * kt_slots_init() - Begin without slots
 *
 * Context: module load.
 */
void kt_slots_init(void)
{
	dead = (struct kt_queue){ NONE, NONE };
	given = (struct kt_queue){ NONE, NONE };
	nr_slots = 0;
	fresh = 0;
	memset(no_room, 0, sizeof(no_room));
	reused = 0;
	evicted = 0;
}

/**
 * kt_slots_add() - Add fresh slots, whose memory is there
 * @nr: number of slots from now on
 *
 * Context: process context.
 */
void kt_slots_add(u32 nr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&slot_lock, flags);
	nr_slots = nr;
	raw_spin_unlock_irqrestore(&slot_lock, flags);
}

/*
 * Are fewer slots left for new entries than a quarter of all?  Those of dead entries count
 * as left, so that the table does not grow because many objects come and go.
 */
static bool slots_are_few(void)
{
	return nr_slots - fresh + dead.nr < nr_slots / 4;
}

/**
 * kt_slots_low() - Check whether the table has to grow
 *
 * Context: process context.
 * Return: whether few slots are left for new entries.
 */
bool kt_slots_low(void)
{
	unsigned long flags;
	bool few;

	raw_spin_lock_irqsave(&slot_lock, flags);
	few = slots_are_few();
	raw_spin_unlock_irqrestore(&slot_lock, flags);
	return few;
}

/**
 * kt_slots_left() - Check whether there is a slot for a new entry
 *
 * Context: task context; nothing takes slot_lock in an interrupt.
 * Return: true or false; another entry may take the slot at any time.
 */
bool kt_slots_left(void)
{
	bool left;

	raw_spin_lock(&slot_lock);
	left = fresh < nr_slots || dead.nr;
	raw_spin_unlock(&slot_lock);
	return left;
}

/**
 * kt_slot_take() - Take a slot for a new entry
 *
 * If few are left, the table is going to grow.
 *
 * Context: interrupts off, with the lock of a chain.
 * Return: a fresh slot, else the slot of the entry that died first; KT_SLOT_NONE if
 * all entries live: then the new name is counted as one without room.
 */
u32 kt_slot_take(void)
{
	bool few;
	u32 slot;

	raw_spin_lock(&slot_lock);
	slot = dead.first;
	if (fresh < nr_slots) {
		slot = fresh;
		/* Pairs with the acquire in kt_registry_used(). */
		smp_store_release(&fresh, fresh + 1);
	} else if (slot == NONE) {
		slot_count(&no_room[kt_table_limit()]);
	} else {
		slot_count(&reused);
		queue_remove(&dead, slot);
	}
	few = slots_are_few();
	raw_spin_unlock(&slot_lock);
	/* LATE: the table can grow.  With NONE it may only have to record a count. */
	if (slot == NONE || (few && kt_table_limit() == KTAPE_NO_ROOM_LATE))
		kt_table_wake();
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
 * The caller must evict the entry that is returned: it is counted as evicted here.  It stays
 * counted if the entry has died before the caller could do that.
 *
 * Context: task context.
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
 * kt_registry_refuse() - Count a name that its caller refuses
 *
 * Context: task context.
 */
void kt_registry_refuse(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&slot_lock, flags);
	slot_count(&no_room[KTAPE_NO_ROOM_REFUSED]);
	raw_spin_unlock_irqrestore(&slot_lock, flags);
	kt_table_wake();
}

/**
 * kt_registry_set_left_out() - Set how many names have no room in a copy of the registry
 * @reason: enum ktape_no_room
 * @count: their number, which replaces the former one
 *
 * Context: process context.
 */
void kt_registry_set_left_out(unsigned int reason, u64 count)
{
	unsigned long flags;
	bool changed;

	raw_spin_lock_irqsave(&slot_lock, flags);
	changed = kt_wide_load(&no_room[reason]) != count;
	if (changed)
		kt_wide_store(&no_room[reason], count);
	raw_spin_unlock_irqrestore(&slot_lock, flags);
	if (changed)
		kt_table_wake();
}

/**
 * kt_registry_used() - Return how many slots were ever used
 *
 * Return: the number; all slots from it on are free. Context: any.
 */
unsigned int kt_registry_used(void)
{
	/* Pairs with the release in kt_slot_take(): the chunk of a slot is there. */
	return smp_load_acquire(&fresh);
}

/**
 * kt_registry_no_room() - Return how many names had no room for a reason
 * @reason: enum ktape_no_room
 *
 * Return: the number since the module was loaded. Context: process context.
 */
u64 kt_registry_no_room(unsigned int reason)
{
	return kt_wide_load(&no_room[reason]);
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
