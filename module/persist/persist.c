// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of one session in memory that survives a warm reset, in the half of
 * the region that the load before has not used.  Where the memory comes from is
 * region.c, where its parts are layout.c.
 *
 * The rings are ordinary rings in special memory.  Writers of the region:
 *
 *   control pages, blocks	the CPU that owns the ring, as in all sessions
 *   checks			persist_catch_up(): the worker, reboot handler and
 *				kt_persist_close(); in a panic the panic handler, after
 *				the worker's CPU was stopped
 *   copy of the registry	kt_persist_lay_out(), then persist_catch_up()
 *   superblocks, tables	kt_persist_lay_out(), before the session records;
 *				persist_wipe_old() wipes superblocks of earlier loads
 *   state of superblocks	kt_persist_close(), panic and reboot handlers
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

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

#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

#define LOOK_AGAIN  msecs_to_jiffies(100)
#define NAMES_EVERY 10 /* runs of the worker per copy of the registry */
#define PANIC_BYTES (32UL << 20) /* blocks of all rings checked in a panic */

static struct {
	struct kt_persist_config config;
	struct kt_region region;
	struct kt_region half;	/* half for sessions of this load */
	struct kt_region other; /* half with the trace of an earlier load */
	u32 sequence;		/* for the superblock of this load */
	struct kt_layout layout;
	struct kt_persist_sizes sizes; /* of the session that has the region */
	struct mutex lock;	       /* protects the next four */
	bool used;		       /* half has had a session of this load */
	bool other_there;	       /* other has a trace */
	bool hibernates;	       /* the system prepares for hibernation */
	bool taken;		       /* a session has the region */
	bool laid_out;		       /* layout and half describe a session */
	struct mutex work_lock; /* protects checks, copy of names, rounds, laid_out */
	unsigned int rounds; /* runs of the worker for the session */
	struct delayed_work work;
} persist;

/* Bring the copy of the registry up to date. */
static void persist_copy_names(void)
{
	struct ktape_object_entry *to = persist.layout.names, e;
	const unsigned int used = kt_registry_used();
	unsigned int i, nr = min(persist.layout.nr_names, used);

	kt_registry_set_left_out(KTAPE_NO_ROOM_REGION, used - nr);
	for (i = 0; i < nr; i++, to++) {
		cond_resched();
		if (!kt_registry_copy(i, &e) || !memcmp(to, &e, sizeof(e)))
			continue;
		WRITE_ONCE(to->seq, e.seq | 1);
		/* Odd before the content: after a reset recovery skips the entry. */
		wmb();
		memcpy((char *)to + sizeof(e.seq), (char *)&e + sizeof(e.seq),
		       sizeof(e) - sizeof(e.seq));
		/* Content before even.  Readers are after a reset: nothing pairs. */
		wmb();
		WRITE_ONCE(to->seq, e.seq);
		kt_cache_clean(to, sizeof(*to));
	}
}

/* Compute checksums and write caches back; with @names, copy the registry, too. */
static void persist_catch_up(bool names)
{
	unsigned long budget = ULONG_MAX;
	u64 commit, to;
	unsigned int i;

	lockdep_assert_held(&persist.work_lock);
	for (i = 0; i < persist.layout.nr_slots; i++) {
		struct kt_persist_slot *slot = &persist.layout.slots[i];

		commit = kt_slot_commit(slot);
		to = kt_slot_check(slot, kt_slot_checked(slot, commit), commit,
				   &budget, true);
		WRITE_ONCE(slot->checked, (unsigned long)to);
		/* What is below slot->checked was written back before. */
		kt_slot_clean(slot, to, commit);
	}
	if (names)
		persist_copy_names();
}

static void persist_work(struct work_struct *work)
{
	mutex_lock(&persist.work_lock);
	persist_catch_up(!(persist.rounds++ % NAMES_EVERY));
	mutex_unlock(&persist.work_lock);
	schedule_delayed_work(&persist.work, LOOK_AGAIN);
}

/*
 * Record in the region that the kernel panicked, and compute missing checksums.
 *
 * Takes no lock and allocates nothing, because the other CPUs may have been stopped
 * while holding any lock.  Checks a limited number of bytes, so that the reboot
 * after a panic is not delayed for long.
 */
static int persist_on_panic(struct notifier_block *nb, unsigned long event,
			    void *data)
{
	unsigned long budget = PANIC_BYTES;
	u64 from, commit;
	unsigned int i;

	/* Pairs with the release in kt_persist_lay_out(). */
	if (!smp_load_acquire(&persist.laid_out))
		return NOTIFY_DONE;
	kt_layout_state(&persist.half, KTAPE_PERSIST_PANIC);
	for (i = 0; i < persist.layout.nr_slots; i++) {
		const struct kt_persist_slot *slot = &persist.layout.slots[i];

		commit = kt_slot_commit(slot);
		from = kt_slot_checked(slot, commit);
		kt_slot_clean(slot, from, commit);
		kt_slot_check(slot, from, commit, &budget, false);
	}
	return NOTIFY_DONE;
}

static int persist_on_reboot(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	mutex_lock(&persist.work_lock);
	if (persist.laid_out) {
		kt_layout_state(&persist.half, KTAPE_PERSIST_REBOOT);
		persist_catch_up(true);
	}
	mutex_unlock(&persist.work_lock);
	return NOTIFY_DONE;
}

/* Priority INT_MIN: run last, so that events of other handlers are covered. */
static struct notifier_block panic_notifier = {
	.notifier_call = persist_on_panic,
	.priority = INT_MIN,
};

static struct notifier_block reboot_notifier = {
	.notifier_call = persist_on_reboot,
	.priority = INT_MIN,
};

/*
 * Choose the half without a trace, or else the one with the older trace.  So the
 * trace of the load before this one stays in memory until the next load.
 */
static void persist_choose_half(void)
{
	u32 sequence[KT_HALVES] = {};
	bool there[KT_HALVES];
	struct kt_region half;
	unsigned int i, use;

	for (i = 0; i < KT_HALVES; i++) {
		half = kt_region_half(&persist.region, i);
		there[i] = kt_layout_is_there(&half, &sequence[i]);
	}
	use = there[0] && (!there[1] || (s32)(sequence[1] - sequence[0]) < 0);
	persist.half = kt_region_half(&persist.region, use);
	persist.other = kt_region_half(&persist.region, !use);
	persist.other_there = there[!use];
	persist.sequence = there[!use] ? sequence[!use] + 1 : 1;
	persist.used = false;
}

/* Wipe the superblocks of all earlier loads. */
static void persist_wipe_old(void)
{
	/*
	 * Older versions of this module laid out the region as a whole.  Once this load uses its
	 * half, the superblocks there are its own.
	 */
	if (!persist.used)
		kt_layout_wipe(&persist.region);
	kt_layout_wipe(&persist.other);
	if (!persist.used)
		kt_layout_wipe(&persist.half);
	persist.other_there = false;
}

/*
 * Map the region, choose the half for this load, and copy the traces of earlier loads, or
 * discard them.  Return: 0, as kt_region_get(), or -ENOMEM; then persist_free_region() follows.
 */
static int persist_find_region(void)
{
	const struct kt_persist_config *config = &persist.config;
	int ret = kt_region_get(&persist.region, config->where);

	if (ret)
		return ret;
	persist.layout.nr_slots = kt_layout_rings();
	persist.layout.slots = kcalloc(persist.layout.nr_slots,
				       sizeof(*persist.layout.slots), GFP_KERNEL);
	if (!persist.layout.slots)
		return -ENOMEM;
	persist_choose_half();
	if (config->drop) {
		persist_wipe_old();
		persist_choose_half();
		return 0;
	}
	ret = kt_old_keep(&persist.region);
	if (ret)
		pr_err("persist=%s: not enough memory to copy the trace found there: load with persist_drop=1 to discard it\n",
		       config->where);
	return ret;
}

static void persist_free_region(void)
{
	kt_old_drop();
	kfree(persist.layout.slots);
	kt_region_put(&persist.region);
}

/**
 * kt_persist_init() - find the region and copy the traces of earlier loads
 * @config: which memory, and what will be written into it
 *
 * The log says what is wrong.
 *
 * Context: module load, before the first session.
 * Return: 0, also if no region is configured; as kt_region_get(); -ENOMEM: no
 * memory for the copy.
 */
int kt_persist_init(const struct kt_persist_config *config)
{
	int ret;

	persist.config = *config;
	mutex_init(&persist.lock);
	mutex_init(&persist.work_lock);
	INIT_DELAYED_WORK(&persist.work, persist_work);
	if (!*config->where)
		return 0;
	ret = persist_find_region();
	if (ret)
		goto err;
	if (!IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API))
		pr_warn("persist=%s: this kernel cannot write caches back: a reset may lose the end of a trace, or all of it\n",
			config->where);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	ret = register_reboot_notifier(&reboot_notifier);
	if (!ret)
		return 0;
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
err:
	persist_free_region();
	return ret;
}

/**
 * kt_persist_exit() - release the region
 *
 * Context: module unload, after the last session.
 */
void kt_persist_exit(void)
{
	if (!persist.region.base)
		return;
	unregister_reboot_notifier(&reboot_notifier);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	persist_free_region();
}

/**
 * kt_persist_size() - return the size of the region
 *
 * Return: bytes; 0: there is no region. Context: any.
 */
u64 kt_persist_size(void)
{
	return persist.region.base ? persist.region.size : 0;
}

/**
 * kt_persist_in_use() - check whether a session has the region
 *
 * Return: true if a session has it. Context: any.
 */
bool kt_persist_in_use(void)
{
	return READ_ONCE(persist.taken);
}

/**
 * kt_persist_forget() - discard the traces of earlier loads
 *
 * Frees the copy and wipes the superblocks in the region.  A trace of this load
 * stays.
 *
 * Context: process context, may sleep.
 * Return: as kt_old_forget().
 */
int kt_persist_forget(void)
{
	int ret = kt_old_forget();

	if (ret)
		return ret;
	mutex_lock(&persist.lock);
	persist_wipe_old();
	mutex_unlock(&persist.lock);
	return 0;
}

/**
 * kt_persist_hibernate() - forbid sessions in the region before a hibernation
 *
 * The kernel that resumes the image may overwrite the region, but a ring relies on
 * what it wrote there.  So the system must not hibernate while a session has the
 * region.
 *
 * Context: process context, may sleep.
 * Return: 0: no session gets the region until kt_persist_hibernated(); -EBUSY: a
 * session has it, and the log says so.
 */
int kt_persist_hibernate(void)
{
	int ret = 0;

	mutex_lock(&persist.lock);
	if (persist.taken) {
		pr_warn("hibernation refused: a persistent session exists; destroy it or unload the module first\n");
		ret = -EBUSY;
	} else {
		persist.hibernates = true;
	}
	mutex_unlock(&persist.lock);
	return ret;
}

/**
 * kt_persist_hibernated() - allow sessions in the region after a hibernation
 *
 * Also called when the hibernation was abandoned.
 *
 * Context: process context, may sleep.
 */
void kt_persist_hibernated(void)
{
	mutex_lock(&persist.lock);
	persist.hibernates = false;
	/* The region may have changed meanwhile. */
	if (persist.region.base && !persist.used)
		persist_choose_half();
	mutex_unlock(&persist.lock);
}

/**
 * kt_persist_take() - reserve the region for a session
 * @sizes: in: the request; out: sizes that fit
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV: there is no region; -EBUSY: another session has it, or the
 * system hibernates; as kt_layout_fit().
 */
int kt_persist_take(struct kt_persist_sizes *sizes)
{
	int ret = -EBUSY;

	if (!persist.region.base)
		return -ENODEV;
	mutex_lock(&persist.lock);
	if (persist.taken || persist.hibernates)
		goto out;
	ret = kt_layout_fit(sizes, &persist.half, &persist.config);
	if (ret)
		goto out;
	/*
	 * Without a trace in the other half, a leftover superblock of the whole
	 * region could describe memory of this half.
	 */
	if (!persist.other_there)
		persist_wipe_old();
	persist.sizes = *sizes;
	persist.used = true;
	WRITE_ONCE(persist.taken, true);
out:
	mutex_unlock(&persist.lock);
	return ret;
}

/**
 * kt_persist_lay_out() - prepare the region for the session that has it
 *
 * Zeroing a large region takes long.  No lock is needed: the caller's session has
 * the region for itself.
 *
 * Context: process context, may sleep.
 * Return: 0; as kt_layout_write().
 */
int kt_persist_lay_out(void)
{
	int ret = kt_layout_write(&persist.sizes, &persist.half, &persist.config,
				  persist.sequence, &persist.layout);

	if (ret)
		return ret;
	mutex_lock(&persist.work_lock);
	/* The names are copied here, so the worker's first run leaves them out. */
	persist.rounds = 1;
	persist_copy_names();
	/* Pairs with the acquire in persist_on_panic(): the slots come first. */
	smp_store_release(&persist.laid_out, true);
	mutex_unlock(&persist.work_lock);
	schedule_delayed_work(&persist.work, LOOK_AGAIN);
	return 0;
}

/**
 * kt_persist_close() - give the region back, with what the session recorded
 *
 * The caller's session has the region, and its rings have no writer any more.
 *
 * Context: process context, may sleep.
 */
void kt_persist_close(void)
{
	mutex_lock(&persist.lock);
	cancel_delayed_work_sync(&persist.work);
	mutex_lock(&persist.work_lock);
	/* If kt_persist_lay_out() failed, there is no superblock to update. */
	if (persist.laid_out) {
		persist_catch_up(true);
		kt_layout_state(&persist.half, KTAPE_PERSIST_STOPPED);
	}
	WRITE_ONCE(persist.laid_out, false);
	mutex_unlock(&persist.work_lock);
	kt_registry_set_left_out(KTAPE_NO_ROOM_REGION, 0);
	WRITE_ONCE(persist.taken, false);
	mutex_unlock(&persist.lock);
}

/**
 * kt_persist_place() - choose the memory of a ring
 * @spec: in: cpu and kind; out: page and blocks
 *
 * Context: process context, after kt_persist_lay_out().
 */
void kt_persist_place(struct kt_ring_spec *spec)
{
	unsigned int i;

	for (i = 0; i < persist.layout.nr_slots; i++) {
		const struct kt_persist_slot *slot = &persist.layout.slots[i];

		if (slot->cpu == spec->cpu && slot->kind == spec->kind) {
			spec->page = slot->page;
			spec->blocks = slot->blocks;
		}
	}
}
