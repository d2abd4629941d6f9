// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets the registry grow while it is used, and begins and ends it.
 *
 * Entries are made where nothing can be allocated: probes of fork and exit.  So
 * slot.c wakes a work item as soon as less than a quarter of the slots is free or has a
 * dead entry.  Names that come faster than the work item have no room.  They are counted
 * by reason, and the counts are entries themselves (KTAPE_OBJ_NO_ROOM), so that each
 * trace says why a name is missing.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "internal.h"
#include "names.h"

#define MEMORY_SHARE 64		     /* the table may take 1/64 of the memory */
#define ENTRIES_MAX  (1U << 22)	     /* as many as there can be threads */
#define TRY_AGAIN    HZ		     /* after the kernel had no memory */
#define REPORT_AGAIN max(HZ / 10, 1) /* between two changes of the counts */

/* What an entry takes: in its chunk, and about one word of the hash table. */
#define ENTRY_BYTES (sizeof(struct kt_chunk) / KT_CHUNK_SLOTS + sizeof(u32))

/* The counts of names without room that the entries have. */
static u64 reported[KTAPE_NO_ROOM_REASONS];

/* By reason; enum ktape_no_room. */
static const char *const reasons[KTAPE_NO_ROOM_REASONS] = {
	[KTAPE_NO_ROOM_LIMIT] = "limit",   [KTAPE_NO_ROOM_MEMORY] = "memory",
	[KTAPE_NO_ROOM_LATE] = "late",	   [KTAPE_NO_ROOM_REFUSED] = "refused",
	[KTAPE_NO_ROOM_REGION] = "region",
};

/* Return how many entries the share of the memory has room for. */
static u32 table_share(void)
{
	u64 bytes = (u64)(totalram_pages() - totalhigh_pages()) * PAGE_SIZE;

	return min_t(u64, div_u64(bytes, MEMORY_SHARE * ENTRY_BYTES), ENTRIES_MAX);
}

/* Return true if the kernel had no memory a moment ago, so that the table waits. */
static bool table_rests(void)
{
	return READ_ONCE(kt_table.failed) &&
	       time_before(jiffies, READ_ONCE(kt_table.failed_at) + TRY_AGAIN);
}

/* Let the table grow to @nr slots.  Return: 0; -ENOMEM: it has fewer. */
static int table_extend(u32 nr)
{
	u32 at, end;

	lockdep_assert_held(&kt_table.lock);
	while (kt_table.nr < nr) {
		at = kt_table.nr / KT_CHUNK_SLOTS;
		end = min((at + 1) * KT_CHUNK_SLOTS, nr);
		if (!kt_chunks[at])
			kt_chunks[at] =
				__vmalloc(sizeof(struct kt_chunk),
					  GFP_KERNEL | __GFP_ZERO |
						  __GFP_NORETRY | __GFP_NOWARN);
		if (!kt_chunks[at])
			return -ENOMEM;
		/* Pairs with the acquire in kt_registry_entries(). */
		smp_store_release(&kt_table.nr, end);
		kt_slots_add(end);
	}
	return 0;
}

/* Grow while too few slots are left for new entries. */
static void table_grow(void)
{
	u32 step;
	int ret;

	while (kt_slots_low() && kt_table.nr < kt_table.max) {
		if (table_rests())
			return;
		step = max(kt_table.nr / 8, KT_CHUNK_SLOTS);
		ret = table_extend(min(round_up(kt_table.nr + step, KT_CHUNK_SLOTS),
				       kt_table.max));
		WRITE_ONCE(kt_table.failed_at, jiffies);
		WRITE_ONCE(kt_table.failed, ret);
		cond_resched();
	}
}

/* Bring the entries that count the names without room up to date. */
static void table_report(void)
{
	unsigned int i;
	u64 count;

	lockdep_assert_held(&kt_table.lock);
	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++) {
		count = kt_registry_no_room(i);
		if (!reasons[i] || count == reported[i])
			continue;
		reported[i] = count;
		kt_registry_set(KTAPE_OBJ_NO_ROOM, i, (u32)count,
				(u32)(count >> 32), reasons[i]);
	}
}

/*
 * Return true if names came before the table had grown, or while there was no memory for
 * that, since the last call: then check all threads again.
 */
static bool table_was_late(void)
{
	static u64 before;
	u64 now = kt_registry_no_room(KTAPE_NO_ROOM_LATE) +
		  kt_registry_no_room(KTAPE_NO_ROOM_MEMORY);
	bool late = now != before;

	before = now;
	return late;
}

/*
 * Let the table grow, and record the counts of names without room.  If names came too early,
 * enter now what exists and lacks one.
 */
static void table_work(struct work_struct *work)
{
	bool late, again;

	/*
	 * Before slots are checked: from here on a probe that finds too few of
	 * them wakes us again.  slot_lock, which both take, orders the two.
	 */
	WRITE_ONCE(kt_table.woken, false);
	mutex_lock(&kt_table.lock);
	table_grow();
	late = table_was_late();
	table_report();
	again = kt_slots_low() && kt_table.nr < kt_table.max;
	mutex_unlock(&kt_table.lock);
	if (late) {
		kt_registry_refresh();
		/* In a full table, symbols would be looked up again in vain. */
		if (kt_slots_left())
			kt_symbols_refresh();
	}
	/* The kernel had no memory: do not wait until a name is lost. */
	if (again && !READ_ONCE(kt_table.closed))
		queue_delayed_work(system_highpri_wq, &kt_table.work, TRY_AGAIN);
}

/* Begin at once if the table can grow; else only counts are to be recorded. */
static void table_start_work(struct irq_work *work)
{
	bool grows = READ_ONCE(kt_table.nr) < kt_table.max && !table_rests();

	/* The work item may be waiting to try again: let it begin earlier. */
	mod_delayed_work(system_highpri_wq, &kt_table.work,
			 grows ? 0 : REPORT_AGAIN);
}

/* Allocate the first chunks: as kt_registry_init(). */
static int table_init(u32 first, u32 max)
{
	int ret;

	mutex_init(&kt_table.lock);
	init_irq_work(&kt_table.irq, table_start_work);
	INIT_DELAYED_WORK(&kt_table.work, table_work);
	first = round_up(first, KT_PAGE_SLOTS);
	kt_table.max = max(round_up(max ?: table_share(), KT_PAGE_SLOTS), first);
	kt_chunks = kvcalloc(DIV_ROUND_UP(kt_table.max, KT_CHUNK_SLOTS),
			     sizeof(*kt_chunks), GFP_KERNEL);
	if (!kt_chunks)
		return -ENOMEM;
	mutex_lock(&kt_table.lock);
	ret = table_extend(first);
	mutex_unlock(&kt_table.lock);
	return ret;
}

/* Wait for the last growth, and free the table. */
static void table_exit(void)
{
	u32 i;

	/* The work item may have woken itself before it saw this. */
	WRITE_ONCE(kt_table.closed, true);
	cancel_delayed_work_sync(&kt_table.work);
	irq_work_sync(&kt_table.irq);
	cancel_delayed_work_sync(&kt_table.work);
	for (i = 0; kt_chunks && i < DIV_ROUND_UP(kt_table.max, KT_CHUNK_SLOTS); i++)
		vfree(kt_chunks[i]);
	kvfree(kt_chunks);
	kt_chunks = NULL;
	memset(&kt_table, 0, sizeof(kt_table));
	memset(reported, 0, sizeof(reported));
}

/**
 * kt_registry_reserve() - Have room for entries that are about to be made
 * @entries: their number
 *
 * Without memory for them the table has fewer, and names that find no room are counted.
 *
 * Context: process context, may sleep.
 */
void kt_registry_reserve(u32 entries)
{
	u32 want;

	mutex_lock(&kt_table.lock);
	want = min_t(u64, (u64)kt_registry_used() + entries, kt_table.max);
	if (want > kt_table.nr)
		table_extend(min(round_up(want, KT_CHUNK_SLOTS), kt_table.max));
	table_grow();
	mutex_unlock(&kt_table.lock);
}

/**
 * kt_registry_report_no_room() - Record the counts of names without room as they are now
 *
 * Context: process context, may sleep.
 */
void kt_registry_report_no_room(void)
{
	mutex_lock(&kt_table.lock);
	table_report();
	mutex_unlock(&kt_table.lock);
}

/**
 * kt_registry_walk() - Enter the threads that exist
 *
 * Call it after kt_probe_init(): then threads that are created or end meanwhile are
 * entered or marked as dead by the probes.
 *
 * Context: process context, may sleep.
 */
void kt_registry_walk(void)
{
	kt_registry_reserve(kt_threads_count());
	kt_threads_enter();
}

/*
 * Make the entries that count names without room.  They are the first entries, because a
 * full table has no room for them.
 */
static void table_count_no_room(void)
{
	unsigned int i;

	for (i = 0; i < KTAPE_NO_ROOM_REASONS; i++)
		if (reasons[i])
			kt_registry_set(KTAPE_OBJ_NO_ROOM, i, 0, 0, reasons[i]);
}

/**
 * kt_registry_init() - Allocate the table
 * @entries: number of entries at first; rounded up to whole pages
 * @max: number of entries that there can be, 0 = a share of the memory
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_registry_init(unsigned int entries, unsigned int max)
{
	int ret;

	kt_slots_init();
	ret = table_init(entries, max);
	if (!ret)
		ret = kt_chains_init(entries);
	if (!ret) {
		table_count_no_room();
		return 0;
	}
	pr_err("registry=%u needs %zu bytes for the entries, and registry_max=%u %zu for their table: use a smaller registry= or registry_max=\n",
	       entries, entries * sizeof(struct ktape_object_entry),
	       kt_table.max, kt_chains_bytes(entries));
	kt_registry_exit();
	return ret;
}

/**
 * kt_registry_exit() - Free the table
 *
 * Context: module unload, when no probe is attached and no mapping exists.
 */
void kt_registry_exit(void)
{
	table_exit();
	/* The work item used them. */
	kt_symbols_free();
	kt_chains_exit();
}
