// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry: who is thread 1234, and what is marker 7?
 *
 * A fixed table that readers map.  Entries are written in task context under
 * the lock of their hash chain and read without it: seq is odd while an entry
 * changes, as in uapi/ktape/abi.h.  Each change is a record as well
 * (KT_RING_NAMES), so that a saved trace is a checkpoint plus the changes.
 *
 * Entries of dead objects keep their names until the table is full; then the
 * one that died first is used again.  Names that programs and modules make up
 * have half of the table: the oldest of them goes when one more comes.
 *
 * All processes that fork or end come here: what they have in common is the lock
 * of slot.c, which is held for a few instructions.
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

/* Protects the chains whose number modulo LOCKS it has, and what is in them. */
struct kt_chain_lock {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp;

static struct {
	struct ktape_object_entry *entries;
	u32 *next;		/* of an entry in its hash chain */
	u32 *era_of;		/* of an entry's last change */
	atomic_t era;
	u32 nr;
	u32 *chain;		/* by hash of type and id */
	u32 chain_bits;
	struct kt_chain_lock locks[LOCKS];
} reg;

/**
 * kt_registry_init() - make the table
 * @entries: how many; rounded up to whole pages
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
 * kt_registry_exit() - free the table
 *
 * Context: module unload; no probe and no mapping is left.
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
 * struct kt_key - what tells an object from all others
 * @type: enum ktape_object
 * @id: within the type
 * @param1: of a type whose ids are counted by CPU; zero for others
 */
struct kt_key {
	u32 type;
	u32 id;
	u32 param1;
};

/* An interrupt routine is one of its CPU, a cgroup's number has 64 bits. */
static bool param1_is_key(u32 type)
{
	return type == KTAPE_OBJ_ISR || type == KTAPE_OBJ_CGROUP ||
	       type == KTAPE_OBJ_SYSCALL;
}

static struct kt_key object_key(u32 type, u32 id, u32 param1)
{
	return (struct kt_key){ type, id, param1_is_key(type) ? param1 : 0 };
}

/* What is neither the kernel's nor a probe's. */
static bool key_is_made(struct kt_key k)
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

/* To one session, or to all that want it. */
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

static void entry_announce(u32 slot)
{
	entry_record(&reg.entries[slot], KT_SESSIONS);
	/*
	 * Pairs with kt_registry_era(): if a session's want bit was gone, the
	 * era is the one that it will ask for.
	 */
	smp_rmb();
	WRITE_ONCE(reg.era_of[slot], atomic_read(&reg.era));
}

static u32 thread_param(const struct task_struct *p)
{
	/* Not one that was inherited for a while. */
	return (u8)p->normal_prio | (p->policy & 0xff) << 8 |
	       !!(p->flags & PF_KTHREAD) << 16;
}

static void entry_set_name(struct ktape_object_entry *e, const char *name)
{
	memset(e->name, 0, sizeof(e->name));
	memcpy(e->name, name, strnlen(name, sizeof(e->name) - 1));
}

/*
 * The entry of a key for writing, made if it is not there yet.
 * Return: the entry between entry_begin_write() and entry_end_write(), or NULL.
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

/* What is known already is no news. */
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
	if (is_new && key_is_made(k))
		kt_slot_made(e - reg.entries);
	entry_announce(e - reg.entries);
}

static struct kt_key entry_key(u32 slot)
{
	const struct ktape_object_entry *e = &reg.entries[slot];

	return object_key(e->type, e->id, e->param1);
}

/* It is gone; its name stays until the entry is needed. */
static void entry_bury(u32 slot, u64 died)
{
	struct ktape_object_entry *e = &reg.entries[slot];

	entry_unchain(slot);
	entry_begin_write(e);
	e->died = max(died, e->born);
	entry_end_write(e);
	entry_announce(slot);
	/* From here on it may be another one's. */
	kt_slot_give(slot, key_is_made(entry_key(slot)));
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
 * Make room for one more name of programs and modules.  Two that come at the
 * same time may do so for one another, and be one too many.
 */
static void registry_make_room(void)
{
	u32 slot = kt_slot_oldest_made(reg.nr / 2);
	struct kt_key k;

	if (slot == NONE)
		return;
	/* If it goes meanwhile the slot may be another one's, and maybe no name. */
	k = entry_key(slot);
	if (key_is_made(k))
		registry_bury(k);
}

/**
 * kt_registry_set() - an object is new, or has a new name or parameters
 * @type: enum ktape_object
 * @id: within the type
 * @param1: by type
 * @param2: by type
 * @name: its name; what is longer than an entry has room for is cut
 *
 * Context: task context.
 */
void kt_registry_set(u32 type, u32 id, u32 param1, u32 param2,
		     const char *name)
{
	struct kt_key k = object_key(type, id, param1);
	raw_spinlock_t *lock = registry_lock_of(k);
	unsigned long flags;

	if (key_is_made(k) && !kt_registry_has(type, id, param1))
		registry_make_room();
	raw_spin_lock_irqsave(lock, flags);
	entry_set(k, kt_clock(), param1, param2, name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_replace() - an object has this name, maybe in place of another one
 * @type: enum ktape_object
 * @id: within the type
 * @param1: by type
 * @param2: by type
 * @name: its name, empty if it has none any more
 * @since: trace clock when that was seen
 *
 * What had another name is gone since then.
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
 * kt_registry_gone() - an object is gone
 * @type: enum ktape_object
 * @id: within the type
 * @param1: of a type whose ids are counted by CPU
 *
 * Context: task context.
 */
void kt_registry_gone(u32 type, u32 id, u32 param1)
{
	registry_bury(object_key(type, id, param1));
}

/**
 * kt_registry_has() - is there a living object?
 * @type: enum ktape_object
 * @id: within the type
 * @param1: of a type whose ids are counted by CPU
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
 * When a thread came that is older than the module, as well as it is known: time
 * that the trace clock does not count, as in suspend, is taken for time of life.
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
 * kt_registry_thread() - a thread is new or has a new name
 * @p: the thread
 * @name: its name, of any length; exec tells that of the file, of which the kernel
 *	keeps TASK_COMM_LEN - 1 bytes
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
	/* Not one that has ended; exit set the flag before it took our lock. */
	if (!(p->flags & PF_EXITING) || registry_find_thread(p->pid) != NONE)
		thread_enter(p, p->pid, comm, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_thread_exit() - a thread ends, or gives up its number
 * @tid: its number
 * @tgid: its process; the number may be another one's by now
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

/* The name of another thread may change under us: take bytes, end them. */
static void thread_read_comm(char *to, const struct task_struct *p)
{
	memcpy(to, p->comm, TASK_COMM_LEN);
	to[TASK_COMM_LEN - 1] = '\0';
}

static void thread_walk_one(struct task_struct *p, void *now)
{
	/* An exec takes it from the leader: the lock is that of one number. */
	const pid_t tid = READ_ONCE(p->pid);
	raw_spinlock_t *lock = registry_lock_of_thread(tid);
	char name[TASK_COMM_LEN];
	unsigned long flags;
	u32 slot;

	thread_read_comm(name, p);
	raw_spin_lock_irqsave(lock, flags);
	/* What a probe entered meanwhile is newer than what we read. */
	if (registry_find_thread(tid) == NONE) {
		thread_enter(p, tid, name, thread_born(p, now));
		slot = registry_find_thread(tid);
		/*
		 * Its exit, which set the flag before it took our lock, may have
		 * been there and found nothing.  It still runs, or is talked of.
		 */
		if (p->flags & PF_EXITING && slot != NONE)
			entry_bury(slot, kt_clock());
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_walk() - enter the threads that are there
 *
 * The probes that keep the table are attached by now: the entry of a thread that
 * ends meanwhile ends with it, or at once.
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

/* Priority and policy change without a word. */
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
 * kt_registry_refresh() - tell what threads are by now
 *
 * Context: process context, may sleep.
 */
void kt_registry_refresh(void)
{
	kt_threads_walk(thread_refresh_one, NULL);
}

/**
 * kt_registry_era() - what changes from now on is news to a session
 *
 * Context: any, before the session's want bits are cleared.
 * Return: a number for kt_registry_tell().
 */
u32 kt_registry_era(void)
{
	/* Pairs with entry_announce(): fully ordered, so it comes before the bits. */
	return atomic_inc_return(&reg.era);
}

/* What became of an entry, unless there is a newer one of its kind and number. */
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
	/* With its lock a living one does not change, a dead one may be reused. */
	if (living == slot)
		entry_record(&reg.entries[slot], session);
	else if (living == NONE && e.died)
		entry_record(&e, session);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_tell() - tell a session what changed while it did not record
 * @session: its number; it records by now
 * @since: from kt_registry_era(), when it stopped
 *
 * Context: process context, may sleep; the session stays.
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
 * kt_registry_entries() - capacity of the table
 *
 * Return: number of entries. Context: any.
 */
unsigned int kt_registry_entries(void)
{
	return reg.nr;
}

/**
 * kt_registry_copy() - take a consistent copy of one entry
 * @slot: below kt_registry_entries()
 * @to: where to
 *
 * Context: process context.
 * Return: whether the entry is in use.
 */
bool kt_registry_copy(unsigned int slot, struct ktape_object_entry *to)
{
	const struct ktape_object_entry *e = &reg.entries[slot];
	u32 seq;

	/* Who writes has interrupts off, so this ends. */
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
 * kt_registry_page_at() - find a page of the table
 * @page: which
 *
 * Context: any.
 * Return: the page without a reference, or NULL past the end.
 */
struct page *kt_registry_page_at(unsigned long page)
{
	if (page >= ((unsigned long)reg.nr * sizeof(*reg.entries)) >> PAGE_SHIFT)
		return NULL;
	return vmalloc_to_page((char *)reg.entries + (page << PAGE_SHIFT));
}
