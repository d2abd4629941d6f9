// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the registry, which grows while it is used.
 *
 * The table is a list of chunks.  A chunk is allocated once, never moved and freed at
 * unload, so slots and mapped pages stay where they are.  The table has room for as many
 * entries as a share of the machine's memory, or registry_max=, allows.
 *
 * Entries are made where nothing can be allocated: probes of fork and exit.  So
 * slot.c wakes a work item while a quarter of the slots is still free or has a dead
 * entry.  Names that come faster than the work item have no room.  They are counted
 * by reason, and the counts are entries themselves (KTAPE_OBJ_NO_ROOM), so that each
 * trace tells why a name is missing.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "names.h"

#define MEMORY_SHARE	64		/* the table may take this part of the memory */
#define ENTRIES_MAX	(1U << 22)	/* as many as there can be threads */
#define TRY_AGAIN	HZ		/* after the kernel had no memory */
#define TELL_AGAIN	max(HZ / 10, 1)	/* between two changes of the counts */

/* What an entry takes: in its chunk, and about one word of the hash table. */
#define ENTRY_BYTES	(sizeof(struct kt_chunk) / KT_CHUNK_SLOTS + sizeof(u32))
#define PAGE_SLOTS	((u32)(PAGE_SIZE / sizeof(struct ktape_object_entry)))

struct kt_chunk **kt_chunks;

static struct {
	struct mutex lock;		/* against another growth */
	u32 nr;				/* slots; written with lock */
	u32 max;			/* slots that there can be */
	bool failed;			/* the last growth found no memory */
	unsigned long failed_at;	/* jiffies then */
	bool woken;			/* the work item is on its way */
	bool closed;			/* the module is unloaded */
	struct irq_work irq;
	struct delayed_work work;
	u64 told[KTAPE_NO_ROOM_REASONS];
} table;

/* By reason; enum ktape_no_room. */
static const char *const reasons[KTAPE_NO_ROOM_REASONS] = {
	[KTAPE_NO_ROOM_LIMIT] = "limit",
	[KTAPE_NO_ROOM_MEMORY] = "memory",
	[KTAPE_NO_ROOM_LATE] = "late",
	[KTAPE_NO_ROOM_REFUSED] = "refused",
	[KTAPE_NO_ROOM_REGION] = "region",
};

/* Return how many entries the share of the memory has room for. */
static u32 table_share(void)
{
	u64 bytes = (u64)(totalram_pages() - totalhigh_pages()) * PAGE_SIZE;

	return min_t(u64, div_u64(bytes, MEMORY_SHARE * ENTRY_BYTES),
		     ENTRIES_MAX);
}

static bool table_rests(void)
{
	return READ_ONCE(table.failed) &&
	       time_before(jiffies, READ_ONCE(table.failed_at) + TRY_AGAIN);
}

/* Make the table have @nr slots, at most.  Return: 0 or -ENOMEM. */
static int table_extend(u32 nr)
{
	u32 at, end;

	lockdep_assert_held(&table.lock);
	while (table.nr < nr) {
		at = table.nr / KT_CHUNK_SLOTS;
		end = min((at + 1) * KT_CHUNK_SLOTS, nr);
		if (!kt_chunks[at])
			kt_chunks[at] = __vmalloc(sizeof(struct kt_chunk),
						  GFP_KERNEL | __GFP_ZERO |
							  __GFP_NORETRY |
							  __GFP_NOWARN);
		if (!kt_chunks[at])
			return -ENOMEM;
		/* Pairs with the acquire in kt_registry_entries(). */
		smp_store_release(&table.nr, end);
		kt_slots_add(end);
	}
	return 0;
}

/* Grow while too few slots are left for new entries. */
static void table_grow(void)
{
	u32 step;
	int ret;

	while (kt_slots_low() && table.nr < table.max) {
		if (table_rests())
			return;
		step = max(table.nr / 8, KT_CHUNK_SLOTS);
		ret = table_extend(min(round_up(table.nr + step, KT_CHUNK_SLOTS),
				       table.max));
		WRITE_ONCE(table.failed_at, jiffies);
		WRITE_ONCE(table.failed, ret);
		cond_resched();
	}
}

/* Bring the entries that count the names without room up to date. */
static void table_tell(void)
{
	unsigned int i;
	u64 count;

	lockdep_assert_held(&table.lock);
	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++) {
		count = kt_registry_no_room(i);
		if (!reasons[i] || count == table.told[i])
			continue;
		table.told[i] = count;
		kt_registry_set(KTAPE_OBJ_NO_ROOM, i, (u32)count,
				(u32)(count >> 32), reasons[i]);
	}
}

/* Did names come before the table had grown?  Then threads are looked for again. */
static bool table_was_late(void)
{
	static u64 before;
	u64 now = kt_registry_no_room(KTAPE_NO_ROOM_LATE) +
		  kt_registry_no_room(KTAPE_NO_ROOM_MEMORY);
	bool late = now != before;

	before = now;
	return late;
}

static void table_work(struct work_struct *work)
{
	bool late, again;

	/*
	 * Before slots are looked at: from here on a probe that finds too few of
	 * them wakes us again.  slot_lock, which both take, orders the two.
	 */
	WRITE_ONCE(table.woken, false);
	mutex_lock(&table.lock);
	table_grow();
	late = table_was_late();
	table_tell();
	again = kt_slots_low() && table.nr < table.max;
	mutex_unlock(&table.lock);
	if (late) {
		kt_registry_refresh();
		if (kt_slots_left())
			kt_symbols_refresh();
	}
	/* The kernel had no memory: do not wait until a name is lost. */
	if (again && !READ_ONCE(table.closed))
		queue_delayed_work(system_highpri_wq, &table.work, TRY_AGAIN);
}

/* Begin at once if the table can grow; else only counts are to be told. */
static void table_start_work(struct irq_work *work)
{
	bool grows = READ_ONCE(table.nr) < table.max && !table_rests();

	/* It may be waiting to try again. */
	mod_delayed_work(system_highpri_wq, &table.work,
			 grows ? 0 : TELL_AGAIN);
}

/**
 * kt_table_wake() - Have the table grow, or counts of names without room told
 *
 * Context: any but NMI.
 */
void kt_table_wake(void)
{
	if (READ_ONCE(table.woken) || READ_ONCE(table.closed))
		return;
	WRITE_ONCE(table.woken, true);
	irq_work_queue(&table.irq);
}

/**
 * kt_table_limit() - Can the table have more slots than now?
 *
 * Context: any.
 * Return: KTAPE_NO_ROOM_LATE if it can, else the reason why it cannot.
 */
enum ktape_no_room kt_table_limit(void)
{
	if (READ_ONCE(table.nr) >= table.max)
		return KTAPE_NO_ROOM_LIMIT;
	return READ_ONCE(table.failed) ? KTAPE_NO_ROOM_MEMORY :
					 KTAPE_NO_ROOM_LATE;
}

/**
 * kt_table_init() - Allocate the first chunks
 * @first: number of entries at first; rounded up to whole pages
 * @max: number of entries that there can be, 0 = a share of the memory
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_table_init(u32 first, u32 max)
{
	int ret;

	mutex_init(&table.lock);
	init_irq_work(&table.irq, table_start_work);
	INIT_DELAYED_WORK(&table.work, table_work);
	first = round_up(first, PAGE_SLOTS);
	table.max = max(round_up(max ?: table_share(), PAGE_SLOTS), first);
	kt_chunks = kvcalloc(DIV_ROUND_UP(table.max, KT_CHUNK_SLOTS),
			     sizeof(*kt_chunks), GFP_KERNEL);
	if (!kt_chunks)
		return -ENOMEM;
	mutex_lock(&table.lock);
	ret = table_extend(first);
	mutex_unlock(&table.lock);
	return ret;
}

/**
 * kt_table_exit() - Wait for the last growth, and free the table
 *
 * Context: module unload, when no probe is attached and no mapping exists.
 */
void kt_table_exit(void)
{
	u32 i;

	/* The work item may have woken itself before it saw this. */
	WRITE_ONCE(table.closed, true);
	cancel_delayed_work_sync(&table.work);
	irq_work_sync(&table.irq);
	cancel_delayed_work_sync(&table.work);
	for (i = 0; kt_chunks && i < DIV_ROUND_UP(table.max, KT_CHUNK_SLOTS); i++)
		vfree(kt_chunks[i]);
	kvfree(kt_chunks);
	kt_chunks = NULL;
	memset(&table, 0, sizeof(table));
}

/**
 * kt_registry_reserve() - Have room for entries that are about to be made
 * @entries: their number
 *
 * Context: process context, may sleep.
 */
void kt_registry_reserve(u32 entries)
{
	u32 want;

	mutex_lock(&table.lock);
	want = min_t(u64, (u64)kt_registry_used() + entries, table.max);
	if (want > table.nr)
		table_extend(min(round_up(want, KT_CHUNK_SLOTS), table.max));
	table_grow();
	mutex_unlock(&table.lock);
}

/**
 * kt_registry_tell_no_room() - Record the counts of names without room as they are now
 *
 * Context: process context, may sleep.
 */
void kt_registry_tell_no_room(void)
{
	mutex_lock(&table.lock);
	table_tell();
	mutex_unlock(&table.lock);
}

/**
 * kt_registry_count_no_room() - Make the entries that count names without room
 *
 * They are the first entries, because a full table has no room for them.
 *
 * Context: module load.
 */
void kt_registry_count_no_room(void)
{
	unsigned int i;

	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++)
		if (reasons[i])
			kt_registry_set(KTAPE_OBJ_NO_ROOM, i, 0, 0, reasons[i]);
}

/**
 * kt_registry_entries() - Return the number of slots in the table
 *
 * Return: the number, which only grows. Context: any.
 */
unsigned int kt_registry_entries(void)
{
	/* Pairs with the release in table_extend(): the chunks are there. */
	return smp_load_acquire(&table.nr);
}

/**
 * kt_registry_max() - Return the number of slots that the table can have
 *
 * Return: the number. Context: any.
 */
unsigned int kt_registry_max(void)
{
	return table.max;
}

/**
 * kt_registry_limit() - Return why the table does not grow now
 *
 * Return: enum ktape_no_room, 0 = it can grow. Context: any.
 */
unsigned int kt_registry_limit(void)
{
	enum ktape_no_room why = kt_table_limit();

	return why == KTAPE_NO_ROOM_LATE ? 0 : why;
}

/**
 * kt_registry_page_at() - Return a page of the table, for mapping it
 * @page: number of the page, from 0
 *
 * Context: any.
 * Return: the page, without taking a reference; NULL past the end of the table.
 */
struct page *kt_registry_page_at(unsigned long page)
{
	const struct kt_chunk *c;
	u32 slot;

	if (page >= kt_registry_entries() / PAGE_SLOTS)
		return NULL;
	slot = page * PAGE_SLOTS;
	c = kt_chunks[slot / KT_CHUNK_SLOTS];
	return vmalloc_to_page(&c->entry[slot % KT_CHUNK_SLOTS]);
}
