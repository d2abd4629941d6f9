// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry: a table of names, because records only have numbers (thread 1234,
 * marker 7).
 *
 * Readers map the table.  Its size is fixed.  Entries are written in task context
 * under the lock of their hash chain and read without a lock: seq is odd while an
 * entry changes, as uapi/ktape/abi.h describes.  Each change is also recorded
 * (KT_RING_NAMES), so a saved trace has one copy of the table, the checkpoint, and
 * the changes since.
 *
 * The entry of an object that is gone ("dead") keeps its name until its slot is
 * needed: events that were recorded before may refer to it.  Names that programs
 * and modules give ("given") may fill half of the table; one more evicts the oldest.
 *
 * Each fork and exit comes here.  CPUs contend only for the lock of slot.c, which
 * is held for a few instructions, and rarely for that of a chain.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "event/event.h"
#include "filter/filter.h"
#include "internal.h"
#include "names.h"

#define NONE		KT_SLOT_NONE
#define LOCKS		64U

/* Protects the chains with its number modulo LOCKS, and the entries in them. */
struct kt_chain_lock {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp;

static struct {
	struct ktape_object_entry *entries;
	u32 *next;		/* by slot: next slot in the hash chain, or NONE */
	u32 *era_of;		/* by slot: era of the entry's last change */
	atomic_t era;		/* grows when a session stops recording */
	u32 nr;			/* slots in the table */
	u32 *chain;		/* by hash of the key: first slot, or NONE */
	u32 chain_bits;
	struct kt_chain_lock locks[LOCKS];
} reg;

/**
 * kt_registry_init() - Allocate the table
 * @entries: number of entries; rounded up to whole pages
 *
 * Context: module load.
 * Return: 0 or -ENOMEM.
 */
int kt_registry_init(unsigned int entries)
{
	size_t size = PAGE_ALIGN(array_size(entries, sizeof(*reg.entries)));
	unsigned int i;

	for (i = 0; i < LOCKS; i++)
		raw_spin_lock_init(&reg.locks[i].lock);
	reg.nr = size / sizeof(*reg.entries);
	reg.chain_bits = ilog2(roundup_pow_of_two(reg.nr));
	reg.entries = vzalloc(size);
	reg.next = kvcalloc(reg.nr, sizeof(*reg.next), GFP_KERNEL);
	reg.era_of = kvcalloc(reg.nr, sizeof(*reg.era_of), GFP_KERNEL);
	reg.chain = kvcalloc(1U << reg.chain_bits, sizeof(*reg.chain),
			     GFP_KERNEL);
	if (!reg.entries || !reg.next || !reg.era_of || !reg.chain ||
	    kt_slots_init(reg.nr)) {
		kt_registry_exit();
		return -ENOMEM;
	}
	for (i = 0; i < 1U << reg.chain_bits; i++)
		reg.chain[i] = NONE;
	return 0;
}

/**
 * kt_registry_exit() - Free the table
 *
 * Context: module unload, when no probe is attached and no mapping exists.
 */
void kt_registry_exit(void)
{
	vfree(reg.entries);
	kvfree(reg.next);
	kvfree(reg.era_of);
	kvfree(reg.chain);
	kt_slots_exit();
	memset(&reg, 0, sizeof(reg));
}

/**
 * struct kt_key - what identifies an object
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter if param1_is_key(@type), else 0
 */
struct kt_key {
	u32 type;
	u32 id;
	u32 param1;
};

/*
 * Does param1 identify objects of this type, besides the id?  An interrupt
 * routine's is its CPU, a cgroup's the upper half of its number, a system call's
 * its table.
 */
static bool param1_is_key(u32 type)
{
	return type == KTAPE_OBJ_ISR || type == KTAPE_OBJ_CGROUP ||
	       type == KTAPE_OBJ_SYSCALL;
}

static struct kt_key object_key(u32 type, u32 id, u32 param1)
{
	return (struct kt_key){ type, id, param1_is_key(type) ? param1 : 0 };
}

/* Is the name given by a program or module, not found in the kernel? */
static bool key_is_given(struct kt_key k)
{
	switch (k.type) {
	case KTAPE_OBJ_MARKER:
	case KTAPE_OBJ_VALUE:
	case KTAPE_OBJ_ISR:
	case KTAPE_OBJ_USER_EVENT:
		return true;
	case KTAPE_OBJ_EXCEPTION:
		return k.id < KTAPE_MAJOR_KERNEL;
	default:
		return k.type >= KTAPE_OBJ_USER;
	}
}

static u32 registry_chain_number(struct kt_key k)
{
	return hash_32(k.id ^ k.type << 24 ^ k.param1 << 12, reg.chain_bits);
}

static u32 *registry_chain(struct kt_key k)
{
	return &reg.chain[registry_chain_number(k)];
}

static raw_spinlock_t *registry_lock_of(struct kt_key k)
{
	return &reg.locks[registry_chain_number(k) % LOCKS].lock;
}

static bool entry_has_key(const struct ktape_object_entry *e, struct kt_key k)
{
	return e->id == k.id && e->type == k.type &&
	       (!param1_is_key(k.type) || e->param1 == k.param1);
}

static u32 registry_find(struct kt_key k)
{
	u32 slot = *registry_chain(k);

	while (slot != NONE && !entry_has_key(&reg.entries[slot], k))
		slot = reg.next[slot];
	return slot;
}

static u32 registry_find_thread(pid_t tid)
{
	return registry_find(object_key(KTAPE_OBJ_THREAD, tid, 0));
}

static raw_spinlock_t *registry_lock_of_thread(pid_t tid)
{
	return registry_lock_of(object_key(KTAPE_OBJ_THREAD, tid, 0));
}

static void entry_unchain(u32 slot)
{
	const struct ktape_object_entry *e = &reg.entries[slot];
	u32 *link = registry_chain(object_key(e->type, e->id, e->param1));

	while (*link != slot)
		link = &reg.next[*link];
	*link = reg.next[slot];
}

static void entry_begin_write(struct ktape_object_entry *e)
{
	WRITE_ONCE(e->seq, e->seq + 1);
	/* Pairs with the read barriers of readers: seq is odd before the rest. */
	smp_wmb();
}

static void entry_end_write(struct ktape_object_entry *e)
{
	/* Pairs with the read barriers of readers: seq is even after the rest. */
	smp_wmb();
	WRITE_ONCE(e->seq, e->seq + 1);
}

/* Record an entry in one session; with KT_SESSIONS in all that want it. */
static void entry_record(const struct ktape_object_entry *e,
			 unsigned int session)
{
	const u32 args[] = {
		e->id, e->param1, e->param2,
		(u32)e->born, (u32)(e->born >> 32),
		(u32)e->died, (u32)(e->died >> 32),
	};
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_REGISTRY,
				e->type | (u32)(e->died != 0) << 8, 1,
				ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = ARRAY_SIZE(args),
		.size = strnlen(e->name, sizeof(e->name)),
		.args = args,
		.blob = e->name,
	};

	if (session < KT_SESSIONS)
		kt_event_record_in(session, KT_RING_NAMES, &rec);
	else
		kt_event_record(KT_RING_NAMES, &rec);
}

/* Record the change of an entry, and note its era. */
static void entry_announce(u32 slot)
{
	entry_record(&reg.entries[slot], KT_SESSIONS);
	/*
	 * Pairs with kt_registry_era(): if the want bit of a session was clear
	 * above, the era loaded below is at least the one that this session
	 * passes to kt_registry_tell() later.
	 */
	smp_rmb();
	WRITE_ONCE(reg.era_of[slot], atomic_read(&reg.era));
}

static u32 thread_param(const struct task_struct *p)
{
	/* The normal priority, not one that is inherited for a while. */
	return (u8)p->normal_prio | (p->policy & 0xff) << 8 |
	       !!(p->flags & PF_KTHREAD) << 16;
}

static void entry_set_name(struct ktape_object_entry *e, const char *name)
{
	memset(e->name, 0, sizeof(e->name));
	memcpy(e->name, name, strnlen(name, sizeof(e->name) - 1));
}

/*
 * Find the entry of a key or create it, and begin to write it.
 * Return: the entry, for entry_end_write(); NULL if the table has no room.
 */
static struct ktape_object_entry *entry_open(struct kt_key k, u64 born)
{
	struct ktape_object_entry *e;
	u32 slot = registry_find(k);

	if (slot != NONE) {
		entry_begin_write(&reg.entries[slot]);
		return &reg.entries[slot];
	}
	slot = kt_slot_take();
	if (slot == NONE)
		return NULL;
	e = &reg.entries[slot];
	entry_begin_write(e);
	e->type = k.type;
	e->id = k.id;
	e->born = born;
	e->died = 0;
	reg.next[slot] = *registry_chain(k);
	*registry_chain(k) = slot;
	return e;
}

/* Does the entry of a key exist with these parameters and name? */
static bool entry_is_same(struct kt_key k, u32 param1, u32 param2,
			  const char *name)
{
	const struct ktape_object_entry *e;
	u32 slot = registry_find(k);

	if (slot == NONE)
		return false;
	e = &reg.entries[slot];
	return e->param1 == param1 && e->param2 == param2 &&
	       !strncmp(e->name, name, sizeof(e->name) - 1);
}

static void entry_set(struct kt_key k, u64 born, u32 param1, u32 param2,
		      const char *name)
{
	const bool is_new = registry_find(k) == NONE;
	struct ktape_object_entry *e;

	if (entry_is_same(k, param1, param2, name))
		return;
	e = entry_open(k, born);
	if (!e)
		return;
	e->param1 = param1;
	e->param2 = param2;
	entry_set_name(e, name);
	entry_end_write(e);
	if (is_new && key_is_given(k))
		kt_slot_given(e - reg.entries);
	entry_announce(e - reg.entries);
}

static struct kt_key entry_key(u32 slot)
{
	const struct ktape_object_entry *e = &reg.entries[slot];

	return object_key(e->type, e->id, e->param1);
}

/* Mark an entry as dead.  It stays readable until its slot is needed. */
static void entry_bury(u32 slot, u64 died)
{
	struct ktape_object_entry *e = &reg.entries[slot];

	entry_unchain(slot);
	entry_begin_write(e);
	e->died = max(died, e->born);
	entry_end_write(e);
	entry_announce(slot);
	/* From here on another object may take the slot. */
	kt_slot_release(slot, key_is_given(entry_key(slot)));
}

static void registry_bury(struct kt_key k)
{
	raw_spinlock_t *lock = registry_lock_of(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = registry_find(k);
	if (slot != NONE)
		entry_bury(slot, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/*
 * Evict the oldest given name if programs and modules fill their share.  The share
 * is not exact: two callers may both see room for one name and add two.
 */
static void registry_make_room(void)
{
	u32 slot = kt_slot_oldest_given(reg.nr / 2);
	struct kt_key k;

	if (slot == NONE)
		return;
	/* Without a lock: another object may have the slot by now, so ask again. */
	k = entry_key(slot);
	if (key_is_given(k))
		registry_bury(k);
}

/**
 * kt_registry_set() - Enter an object, or its new name and parameters
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: its name, cut to what an entry has room for
 *
 * Context: task context.
 */
void kt_registry_set(u32 type, u32 id, u32 param1, u32 param2,
		     const char *name)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = registry_lock_of(k);
	unsigned long flags;

	if (key_is_given(k) && !kt_registry_has(type, id, param1))
		registry_make_room();
	raw_spin_lock_irqsave(lock, flags);
	entry_set(k, kt_clock(), param1, param2, name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_replace() - Enter an object, bury the one that had its number before
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter, by type
 * @param2: second parameter, by type
 * @name: its name, empty if no object has the number any more
 * @since: trace clock when a probe found the name
 *
 * An entry with another name or other parameters is of an object that was gone at
 * @since.
 *
 * Context: task context.
 */
void kt_registry_replace(u32 type, u32 id, u32 param1, u32 param2,
			 const char *name, u64 since)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = registry_lock_of(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = registry_find(k);
	if (slot != NONE && !entry_is_same(k, param1, param2, name))
		entry_bury(slot, since);
	if (*name)
		entry_set(k, since, param1, param2, name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_gone() - Mark the entry of an object that is gone as dead
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter; ignored unless it identifies objects of this type
 *
 * Context: task context.
 */
void kt_registry_gone(u32 type, u32 id, u32 param1)
{
	registry_bury(object_key(type, id, param1));
}

/**
 * kt_registry_has() - Say whether an object has a living entry
 * @type: enum ktape_object
 * @id: number of the object within its type
 * @param1: first parameter; ignored unless it identifies objects of this type
 *
 * Context: task context.
 * Return: true or false.
 */
bool kt_registry_has(u32 type, u32 id, u32 param1)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = registry_lock_of(k);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = registry_find(k);
	raw_spin_unlock_irqrestore(lock, flags);
	return slot != NONE;
}

/*
 * Estimate the trace clock at the birth of a thread that is older than the module.
 * It is too early by the time that the trace clock stood still, as in suspend.
 */
static u64 thread_born(const struct task_struct *p, const struct kt_moment *now)
{
	u64 age = now->boot - min(now->boot, p->start_boottime), ticks;
	u32 rest;

	ticks = div_u64_rem(age, NSEC_PER_SEC, &rest) * kt_clock_hz();
	ticks += div_u64(rest * kt_clock_hz(), NSEC_PER_SEC);
	return now->clock > ticks ? now->clock - ticks : 1;
}

static void thread_enter(struct task_struct *p, pid_t tid, const char *name,
			 u64 born)
{
	entry_set(object_key(KTAPE_OBJ_THREAD, tid, 0), born, p->tgid,
		  thread_param(p), name);
}

/**
 * kt_registry_thread() - Enter a new thread, or a thread's new name
 * @p: the thread
 * @name: its name, cut to TASK_COMM_LEN - 1 bytes as the kernel does; exec passes
 *	the whole name of the file
 *
 * Context: task context, preemption disabled.
 */
void kt_registry_thread(struct task_struct *p, const char *name)
{
	raw_spinlock_t *lock = registry_lock_of_thread(p->pid);
	char comm[TASK_COMM_LEN] = "";
	unsigned long flags;

	memcpy(comm, name, strnlen(name, TASK_COMM_LEN - 1));
	raw_spin_lock_irqsave(lock, flags);
	/*
	 * Do not enter a thread whose exit probe has run: that set PF_EXITING
	 * before it took the lock.
	 */
	if (!(p->flags & PF_EXITING) || registry_find_thread(p->pid) != NONE)
		thread_enter(p, p->pid, comm, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_thread_exit() - Mark the entry of a thread as dead
 * @tid: thread id that ends, or that the thread gives up in exec
 * @tgid: its process; if the entry has another, a new thread has the tid already
 *
 * Context: task context, preemption disabled.
 */
void kt_registry_thread_exit(pid_t tid, pid_t tgid)
{
	raw_spinlock_t *lock = registry_lock_of_thread(tid);
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = registry_find_thread(tid);
	if (slot != NONE && reg.entries[slot].param1 == tgid)
		entry_bury(slot, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/* Copy the name of a thread that may be changing it: always end it with NUL. */
static void thread_read_comm(char *to, const struct task_struct *p)
{
	memcpy(to, p->comm, TASK_COMM_LEN);
	to[TASK_COMM_LEN - 1] = '\0';
}

/* Enter one thread that existed before the module was loaded. */
static void thread_walk_one(struct task_struct *p, void *now)
{
	/* Read once: an exec may change it, and the lock is that of one tid. */
	const pid_t tid = READ_ONCE(p->pid);
	raw_spinlock_t *lock = registry_lock_of_thread(tid);
	char name[TASK_COMM_LEN];
	unsigned long flags;
	u32 slot;

	thread_read_comm(name, p);
	raw_spin_lock_irqsave(lock, flags);
	/* An entry that a probe has made meanwhile is newer: keep it. */
	if (registry_find_thread(tid) == NONE) {
		thread_enter(p, tid, name, thread_born(p, now));
		slot = registry_find_thread(tid);
		/*
		 * The exit probe may have run before the thread was entered: it
		 * set PF_EXITING and found no entry.  Mark the entry as dead;
		 * later events may still refer to its tid.
		 */
		if (p->flags & PF_EXITING && slot != NONE)
			entry_bury(slot, kt_clock());
	}
	raw_spin_unlock_irqrestore(lock, flags);
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
	struct kt_moment now;

	kt_clock_moment(&now);
	thread_walk_one(&init_task, &now);
	kt_threads_walk(thread_walk_one, &now);
}

/* Update priority and policy of one thread: no tracepoint reports their change. */
static void thread_refresh_one(struct task_struct *p, void *unused)
{
	const pid_t tid = READ_ONCE(p->pid);
	raw_spinlock_t *lock = registry_lock_of_thread(tid);
	struct ktape_object_entry *e;
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = registry_find_thread(tid);
	e = &reg.entries[slot];
	if (slot != NONE && e->param1 == p->tgid &&
	    e->param2 != thread_param(p)) {
		entry_begin_write(e);
		e->param2 = thread_param(p);
		entry_end_write(e);
		entry_announce(slot);
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_refresh() - Update priority and policy of all threads
 *
 * Context: process context, may sleep.
 */
void kt_registry_refresh(void)
{
	kt_threads_walk(thread_refresh_one, NULL);
}

/**
 * kt_registry_era() - Begin a new era, because a session stops recording
 *
 * Each change of an entry notes its era, so kt_registry_tell() can find the changes
 * that the session did not record.
 *
 * Context: any, before the session's want bits are cleared.
 * Return: the era, for kt_registry_tell().
 */
u32 kt_registry_era(void)
{
	/* Fully ordered: before the want bits.  Pairs with entry_announce(). */
	return atomic_inc_return(&reg.era);
}

/*
 * Record an entry in one session as it is now, living or dead.  Skip a dead entry
 * if another object has its key by now: the living entry is recorded instead.
 */
static void entry_tell(u32 slot, unsigned int session)
{
	struct ktape_object_entry e;
	raw_spinlock_t *lock;
	unsigned long flags;
	struct kt_key k;
	u32 living;

	if (!kt_registry_copy(slot, &e))
		return;
	k = object_key(e.type, e.id, e.param1);
	lock = registry_lock_of(k);
	raw_spin_lock_irqsave(lock, flags);
	living = registry_find(k);
	/* The lock keeps a living entry; a dead one may change, so use the copy. */
	if (living == slot)
		entry_record(&reg.entries[slot], session);
	else if (living == NONE && e.died)
		entry_record(&e, session);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_tell() - Record in a session what changed while it was stopped
 * @session: number of the session, which records again
 * @since: what kt_registry_era() returned when the session stopped
 *
 * Context: process context, may sleep; the caller keeps the session alive.
 */
void kt_registry_tell(unsigned int session, u32 since)
{
	u32 slot;

	for (slot = 0; slot < reg.nr; slot++) {
		if ((s32)(READ_ONCE(reg.era_of[slot]) - since) >= 0)
			entry_tell(slot, session);
		cond_resched();
	}
}

/**
 * kt_registry_entries() - Return the capacity of the table
 *
 * Return: the number of slots. Context: any.
 */
unsigned int kt_registry_entries(void)
{
	return reg.nr;
}

/**
 * kt_registry_copy() - Take a consistent copy of one entry
 * @slot: slot of the entry, below kt_registry_entries()
 * @to: receives the copy
 *
 * Context: process context.
 * Return: false if the slot was never used, else true.
 */
bool kt_registry_copy(unsigned int slot, struct ktape_object_entry *to)
{
	const struct ktape_object_entry *e = &reg.entries[slot];
	u32 seq;

	/* Writers have interrupts off and are quick, so this loop ends. */
	do {
		seq = READ_ONCE(e->seq);
		/* Pairs with the barrier in entry_end_write(): seq comes first. */
		smp_rmb();
		*to = *e;
		/* Pairs with the barrier in entry_begin_write(): seq comes last. */
		smp_rmb();
	} while (seq & 1 || READ_ONCE(e->seq) != seq);
	return to->type != KTAPE_OBJ_FREE;
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
	if (page >= ((unsigned long)reg.nr * sizeof(*reg.entries)) >> PAGE_SHIFT)
		return NULL;
	return vmalloc_to_page((char *)reg.entries + (page << PAGE_SHIFT));
}
