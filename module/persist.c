// SPDX-License-Identifier: GPL-2.0-only
/*
 * One session's rings in memory that survives a warm reset.
 *
 * The ring is the ring of all other sessions; only its memory is another.  Who
 * writes what in the region:
 *
 *   control page, blocks	the CPU that owns the ring, as everywhere
 *   checks, copy of the registry	the worker alone; checks also the panic
 *			handler, when the worker's CPU has stopped for good
 *   superblocks, tables	whoever sets the session up, before it records;
 *			their state: control, and the handlers
 *
 * A checksum is therefore beside its block and not in it.  It is taken once
 * commit has passed the block and counts only if tail has not: as for every
 * reader.  Where the worker and the panic handler meet, the check does not fit
 * its checksum, and the block is one without.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#ifdef KT_HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

#include "persist.h"
#include "registry.h"
#include "ring_mem.h"

#define LOOK_AGAIN	msecs_to_jiffies(100)
#define NAMES_EVERY	10	/* looks */
#define PANIC_BYTES	(32UL << 20)	/* of all rings, that a panic waits for */

static struct {
	struct kt_persist_config config;
	struct kt_region region;
	struct kt_slot *slots;
	unsigned int nr_slots;
	struct kt_session *session;	/* with kt_session_control */
	bool laid_out;			/* slots and region hold a session's */
	struct mutex work_lock;		/* of those who may sleep: checks, names */
	unsigned int looks;
	struct delayed_work work;
} persist;

/* The checksum of the closed block at @pos, unless it is overwritten. */
static void check_block(const struct kt_slot *slot, unsigned long pos)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long at = pos & (slot->size - 1);
	struct ktape_persist_check *c = &slot->checks[at >> slot->block_shift];
	const struct ktape_block *b = (void *)(slot->blocks + at);
	struct ktape_persist_check new = {
		.seq = (u64)(pos >> slot->block_shift) + 1,
	};
	u64 content = READ_ONCE(b->content_bits) / 8;

	if (content < KTAPE_BLOCK_HEADER || content > block_size)
		return;
	new.crc32c = ~kt_crc32c(~0U, (const void *)b, content);
	new.check = ~kt_crc32c(~0U, (const void *)&new,
			       offsetof(struct ktape_persist_check, check));
	/* Pairs with the write barrier after tail in make_room(). */
	smp_rmb();
	if (kt_before(pos, READ_ONCE(*kt_word(&slot->page->tail))))
		return;
	*c = new;
	kt_cache_clean(b, content);
	kt_cache_clean(c, sizeof(*c));
}

/*
 * Checksums for the closed blocks from @pos on, of at most @budget bytes.
 * Return: up to where there are some.
 */
static unsigned long check_slot(const struct kt_slot *slot, unsigned long pos,
				unsigned long *budget, bool may_sleep)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long commit, tail;

	/* Pairs with the release of commit in kt_ring_publish(). */
	commit = smp_load_acquire(kt_word(&slot->page->commit));
	tail = READ_ONCE(*kt_word(&slot->page->tail));
	if (kt_before(pos, tail))
		pos = tail;
	/* Closed is a block when the next one has something in it. */
	for (; kt_before(pos + block_size, commit); pos += block_size) {
		if (*budget < block_size)
			break;
		*budget -= block_size;
		check_block(slot, pos);
		if (may_sleep)
			cond_resched();
	}
	return pos;
}

/* Out of the caches: what is open, and what tells up to where it counts. */
static void clean_slot(const struct kt_slot *slot)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long commit = READ_ONCE(*kt_word(&slot->page->commit));
	unsigned long at = commit & (slot->size - 1) & ~(block_size - 1);

	kt_cache_clean(slot->blocks + at, commit & (block_size - 1));
	kt_cache_clean(slot->page, sizeof(*slot->page));
}

/* Bring the copy of the registry up to date. */
static void copy_names(void)
{
	struct ktape_object_entry *to, e;
	unsigned int i, nr;

	to = kt_layout_names(&persist.region, &nr);
	nr = min(nr, kt_registry_used());
	for (i = 0; i < nr; i++, to++) {
		cond_resched();
		if (!kt_registry_copy(i, &e) || !memcmp(to, &e, sizeof(e)))
			continue;
		WRITE_ONCE(to->seq, e.seq | 1);
		/* After a reset in between nobody takes half of it: odd first. */
		wmb();
		memcpy((char *)to + sizeof(e.seq), (char *)&e + sizeof(e.seq),
		       sizeof(e) - sizeof(e.seq));
		/* Even last; no reader runs meanwhile that this would pair with. */
		wmb();
		WRITE_ONCE(to->seq, e.seq);
		kt_cache_clean(to, sizeof(*to));
	}
}

/* All that can be done by those who may sleep. */
static void catch_up(bool names)
{
	unsigned long budget = ULONG_MAX;
	unsigned int i;

	lockdep_assert_held(&persist.work_lock);
	for (i = 0; i < persist.nr_slots; i++) {
		struct kt_slot *slot = &persist.slots[i];

		WRITE_ONCE(slot->checked,
			   check_slot(slot, slot->checked, &budget, true));
		clean_slot(slot);
	}
	if (names)
		copy_names();
}

static void work(struct work_struct *w)
{
	mutex_lock(&persist.work_lock);
	catch_up(!(persist.looks++ % NAMES_EVERY));
	mutex_unlock(&persist.work_lock);
	schedule_delayed_work(&persist.work, LOOK_AGAIN);
}

/*
 * No lock and no allocation, for the others may have stopped anywhere; and an
 * end, for who panics is to reboot.
 */
static int on_panic(struct notifier_block *nb, unsigned long event, void *data)
{
	unsigned long budget = PANIC_BYTES;
	unsigned int i;

	/* Pairs with the release in kt_persist_open(). */
	if (!smp_load_acquire(&persist.laid_out))
		return NOTIFY_DONE;
	kt_layout_state(&persist.region, KTAPE_PERSIST_PANIC);
	for (i = 0; i < persist.nr_slots; i++) {
		const struct kt_slot *slot = &persist.slots[i];

		clean_slot(slot);
		check_slot(slot, READ_ONCE(slot->checked), &budget, false);
	}
	return NOTIFY_DONE;
}

static int on_reboot(struct notifier_block *nb, unsigned long event, void *data)
{
	mutex_lock(&persist.work_lock);
	if (persist.laid_out) {
		kt_layout_state(&persist.region, KTAPE_PERSIST_REBOOT);
		catch_up(true);
	}
	mutex_unlock(&persist.work_lock);
	return NOTIFY_DONE;
}

/* The last ones: what other handlers record is there by then. */
static struct notifier_block panic_notifier = {
	.notifier_call = on_panic,
	.priority = INT_MIN,
};

static struct notifier_block reboot_notifier = {
	.notifier_call = on_reboot,
	.priority = INT_MIN,
};

/**
 * kt_persist_init() - take the region, and what is in it, from an earlier load
 * @config: which, and what will be written into it
 *
 * What is wrong is told in the log.
 *
 * Context: module load, before the first session.
 * Return: 0, also without a region; as kt_region_get(); -ENOMEM: no room for a
 * copy of what is in it.
 */
int kt_persist_init(const struct kt_persist_config *config)
{
	int ret;

	persist.config = *config;
	mutex_init(&persist.work_lock);
	INIT_DELAYED_WORK(&persist.work, work);
	if (!*config->where)
		return 0;
	ret = kt_region_get(&persist.region, config->where);
	if (ret)
		return ret;
	persist.nr_slots = kt_layout_rings();
	persist.slots =
		kcalloc(persist.nr_slots, sizeof(*persist.slots), GFP_KERNEL);
	ret = persist.slots ? 0 : -ENOMEM;
	if (!ret && !config->drop) {
		ret = kt_old_keep(&persist.region);
		if (ret)
			pr_err("persist=%s: no memory for a copy of the trace that is there; persist_drop=1 forgets it\n",
			       config->where);
	}
	if (ret)
		goto err;
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	ret = register_reboot_notifier(&reboot_notifier);
	if (!ret)
		return 0;
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
err:
	kt_old_drop();
	kfree(persist.slots);
	kt_region_put(&persist.region);
	return ret;
}

/**
 * kt_persist_exit() - give the region back
 *
 * Context: module unload, after the last session.
 */
void kt_persist_exit(void)
{
	if (!persist.region.base)
		return;
	unregister_reboot_notifier(&reboot_notifier);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	kt_old_drop();
	kfree(persist.slots);
	kt_region_put(&persist.region);
}

/**
 * kt_persist_size() - is there a region?
 *
 * Return: its bytes, or 0. Context: any.
 */
u64 kt_persist_size(void)
{
	return persist.region.base ? persist.region.size : 0;
}

/**
 * kt_persist_in_use() - has a session the region?
 *
 * Return: true or false. Context: any.
 */
bool kt_persist_in_use(void)
{
	return READ_ONCE(persist.session);
}

/**
 * kt_persist_open() - give the region to a session
 * @s: the session, new; receives its sizes
 * @c: what was asked for
 *
 * Context: process context with kt_session_control, may sleep.
 * Return: 0; -ENODEV: there is no region; -EBUSY: another session has it; as
 * kt_layout_fit() and kt_layout_write().
 */
int kt_persist_open(struct kt_session *s, const struct kt_session_config *c)
{
	int ret;

	if (!persist.region.base)
		return -ENODEV;
	if (persist.session)
		return -EBUSY;
	ret = kt_layout_fit(s, c, &persist.region, &persist.config);
	if (!ret)
		ret = kt_layout_write(s, &persist.region, &persist.config,
				      persist.slots);
	if (ret)
		return ret;
	WRITE_ONCE(persist.session, s);
	mutex_lock(&persist.work_lock);
	persist.looks = 1;
	copy_names();
	/* Pairs with the acquire in on_panic(): the slots come first. */
	smp_store_release(&persist.laid_out, true);
	mutex_unlock(&persist.work_lock);
	schedule_delayed_work(&persist.work, LOOK_AGAIN);
	return 0;
}

/**
 * kt_persist_close() - a session is over; what it recorded stays
 * @s: the session; nothing happens if it is not the one that has the region
 *
 * Context: process context with kt_session_control, may sleep; its rings have no
 * writer any more.
 */
void kt_persist_close(struct kt_session *s)
{
	if (persist.session != s)
		return;
	cancel_delayed_work_sync(&persist.work);
	mutex_lock(&persist.work_lock);
	catch_up(true);
	kt_layout_state(&persist.region, KTAPE_PERSIST_STOPPED);
	WRITE_ONCE(persist.laid_out, false);
	mutex_unlock(&persist.work_lock);
	WRITE_ONCE(persist.session, NULL);
}

/**
 * kt_persist_place() - where a ring of a session is to be
 * @s: the session; nothing happens if it is not the one that has the region
 * @spec: with cpu and kind; receives the memory
 *
 * Context: process context with kt_session_lock.
 */
void kt_persist_place(const struct kt_session *s, struct kt_ring_spec *spec)
{
	unsigned int i;

	if (s->mode != KTAPE_MODE_PERSISTENT)
		return;
	for (i = 0; i < persist.nr_slots; i++) {
		const struct kt_slot *slot = &persist.slots[i];

		if (slot->cpu == spec->cpu && slot->kind == spec->kind) {
			spec->page = slot->page;
			spec->blocks = slot->blocks;
		}
	}
}
