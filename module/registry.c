// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry: who is thread 1234, and what is marker 7?
 *
 * A fixed table that readers map.  Entries are written in task context under
 * one lock and read without it: seq is odd while an entry changes, as in
 * uapi/ktape/abi.h.  Each change is a record as well (KT_RING_NAMES), so that a
 * saved trace is a checkpoint plus the changes.
 *
 * Entries of dead objects keep their names until the table is full; then the
 * one that died first is used again.
 */
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "event.h"
#include "registry.h"
#include "threads.h"

#define NONE		U32_MAX

/* All of it is protected by lock, but for the entries that readers see. */
static struct {
	raw_spinlock_t lock;
	struct ktape_object_entry *entries;
	u32 *next;		/* of an entry in its hash chain or its queue */
	u32 nr;
	u32 fresh;		/* entries from here on were never used */
	u32 dead_first;		/* queue of dead entries, oldest first */
	u32 dead_last;
	u32 *chain;		/* by hash of type and id */
	u32 chain_bits;
	u64 dropped;		/* names that found no room */
	u64 reused;		/* entries of the dead that were used again */
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

	raw_spin_lock_init(&reg.lock);
	reg.nr = size / sizeof(*reg.entries);
	reg.dead_first = NONE;
	reg.dead_last = NONE;
	reg.chain_bits = ilog2(roundup_pow_of_two(reg.nr));
	reg.entries = vzalloc(size);
	reg.next = kvcalloc(reg.nr, sizeof(*reg.next), GFP_KERNEL);
	reg.chain = kvcalloc(1U << reg.chain_bits, sizeof(*reg.chain),
			     GFP_KERNEL);
	if (!reg.entries || !reg.next || !reg.chain) {
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
	kvfree(reg.chain);
	reg.entries = NULL;
	reg.next = NULL;
	reg.chain = NULL;
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

static struct kt_key key_of(u32 type, u32 id, u32 param1)
{
	return (struct kt_key){ type, id, param1_is_key(type) ? param1 : 0 };
}

static u32 *chain_of(struct kt_key k)
{
	return &reg.chain[hash_32(k.id ^ k.type << 24 ^ k.param1 << 12,
				  reg.chain_bits)];
}

static bool has_key(const struct ktape_object_entry *e, struct kt_key k)
{
	return e->id == k.id && e->type == k.type &&
	       (!param1_is_key(k.type) || e->param1 == k.param1);
}

static u32 find(struct kt_key k)
{
	u32 slot = *chain_of(k);

	while (slot != NONE && !has_key(&reg.entries[slot], k))
		slot = reg.next[slot];
	return slot;
}

static u32 find_thread(pid_t tid)
{
	return find(key_of(KTAPE_OBJ_THREAD, tid, 0));
}

static void unchain(u32 slot)
{
	const struct ktape_object_entry *e = &reg.entries[slot];
	u32 *link = chain_of(key_of(e->type, e->id, e->param1));

	while (*link != slot)
		link = &reg.next[*link];
	*link = reg.next[slot];
}

/* A free entry, or the one that has been dead for longest. */
static u32 take_slot(void)
{
	u32 slot = reg.dead_first;

	if (reg.fresh < reg.nr)
		return reg.fresh++;
	if (slot == NONE) {
		reg.dropped++;
		return NONE;
	}
	reg.reused++;
	reg.dead_first = reg.next[slot];
	if (reg.dead_first == NONE)
		reg.dead_last = NONE;
	return slot;
}

static void begin_write(struct ktape_object_entry *e)
{
	WRITE_ONCE(e->seq, e->seq + 1);
	/* Pairs with the read barriers of readers: seq is odd before the rest. */
	smp_wmb();
}

static void end_write(struct ktape_object_entry *e)
{
	/* Pairs with the read barriers of readers: seq is even after the rest. */
	smp_wmb();
	WRITE_ONCE(e->seq, e->seq + 1);
}

static void announce(const struct ktape_object_entry *e)
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

	kt_event_record(KT_RING_NAMES, &rec);
}

static u32 thread_param(const struct task_struct *p)
{
	return (u8)p->prio | (p->policy & 0xff) << 8 |
	       !!(p->flags & PF_KTHREAD) << 16;
}

static void set_name(struct ktape_object_entry *e, const char *name)
{
	memset(e->name, 0, sizeof(e->name));
	memcpy(e->name, name, strnlen(name, sizeof(e->name) - 1));
}

/*
 * The entry of a key for writing, made if it is not there yet.
 * Return: the entry between begin_write() and end_write(), or NULL.
 */
static struct ktape_object_entry *open_entry(struct kt_key k, u64 born)
{
	struct ktape_object_entry *e;
	u32 slot = find(k);

	if (slot != NONE) {
		begin_write(&reg.entries[slot]);
		return &reg.entries[slot];
	}
	slot = take_slot();
	if (slot == NONE)
		return NULL;
	e = &reg.entries[slot];
	begin_write(e);
	e->type = k.type;
	e->id = k.id;
	e->born = born;
	e->died = 0;
	reg.next[slot] = *chain_of(k);
	*chain_of(k) = slot;
	return e;
}

/* What is known already is no news. */
static bool is_same(struct kt_key k, u32 param1, u32 param2, const char *name)
{
	const struct ktape_object_entry *e;
	u32 slot = find(k);

	if (slot == NONE)
		return false;
	e = &reg.entries[slot];
	return e->param1 == param1 && e->param2 == param2 &&
	       !strncmp(e->name, name, sizeof(e->name) - 1);
}

static void set_entry(struct kt_key k, u64 born, u32 param1, u32 param2,
		      const char *name)
{
	struct ktape_object_entry *e;

	if (is_same(k, param1, param2, name))
		return;
	e = open_entry(k, born);
	if (!e)
		return;
	e->param1 = param1;
	e->param2 = param2;
	set_name(e, name);
	end_write(e);
	announce(e);
}

/* It is gone; its name stays until the entry is needed. */
static void bury(u32 slot)
{
	struct ktape_object_entry *e = &reg.entries[slot];

	unchain(slot);
	begin_write(e);
	e->died = kt_clock();
	end_write(e);
	reg.next[slot] = NONE;
	if (reg.dead_last == NONE)
		reg.dead_first = slot;
	else
		reg.next[reg.dead_last] = slot;
	reg.dead_last = slot;
	announce(e);
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
	struct kt_key k = key_of(type, id, param1);
	unsigned long flags;

	raw_spin_lock_irqsave(&reg.lock, flags);
	set_entry(k, kt_clock(), param1, param2, name);
	raw_spin_unlock_irqrestore(&reg.lock, flags);
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
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(&reg.lock, flags);
	slot = find(key_of(type, id, param1));
	if (slot != NONE)
		bury(slot);
	raw_spin_unlock_irqrestore(&reg.lock, flags);
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
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(&reg.lock, flags);
	slot = find(key_of(type, id, param1));
	raw_spin_unlock_irqrestore(&reg.lock, flags);
	return slot != NONE;
}

/**
 * kt_registry_named() - is there a living object of this name?
 * @type: enum ktape_object, one that param1 does not tell apart
 * @id: within the type
 * @name: the name
 *
 * Context: task context.
 * Return: true or false.
 */
bool kt_registry_named(u32 type, u32 id, const char *name)
{
	unsigned long flags;
	bool named;
	u32 slot;

	raw_spin_lock_irqsave(&reg.lock, flags);
	slot = find(key_of(type, id, 0));
	named = slot != NONE && !strncmp(reg.entries[slot].name, name,
					 sizeof(reg.entries[slot].name));
	raw_spin_unlock_irqrestore(&reg.lock, flags);
	return named;
}

static void add_thread(struct task_struct *p, const char *name, u64 born)
{
	/* It has ended; exit set the flag before it took our lock. */
	if (p->flags & PF_EXITING && find_thread(p->pid) == NONE)
		return;
	set_entry(key_of(KTAPE_OBJ_THREAD, p->pid, 0), born, p->tgid,
		  thread_param(p), name);
}

/**
 * kt_registry_thread() - a thread is new or has a new name
 * @p: the thread
 * @name: its name, at most TASK_COMM_LEN with the NUL
 *
 * Context: task context, preemption disabled.
 */
void kt_registry_thread(struct task_struct *p, const char *name)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&reg.lock, flags);
	add_thread(p, name, kt_clock());
	raw_spin_unlock_irqrestore(&reg.lock, flags);
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
	unsigned long flags;
	u32 slot;

	raw_spin_lock_irqsave(&reg.lock, flags);
	slot = find_thread(tid);
	if (slot != NONE && reg.entries[slot].param1 == tgid)
		bury(slot);
	raw_spin_unlock_irqrestore(&reg.lock, flags);
}

/* The name of another thread may change under us: take bytes, end them. */
static void read_comm(char *to, const struct task_struct *p)
{
	memcpy(to, p->comm, TASK_COMM_LEN);
	to[TASK_COMM_LEN - 1] = '\0';
}

static void walk_one(struct task_struct *p, void *unused)
{
	char name[TASK_COMM_LEN];
	unsigned long flags;

	read_comm(name, p);
	raw_spin_lock_irqsave(&reg.lock, flags);
	/* What a probe entered meanwhile is newer than what we read. */
	if (find_thread(p->pid) == NONE)
		add_thread(p, name, 0);
	raw_spin_unlock_irqrestore(&reg.lock, flags);
}

/**
 * kt_registry_walk() - enter the threads that are there
 *
 * The probes that keep the table are attached by now: a thread that ends
 * meanwhile is not entered, or its entry ends with it.
 *
 * Context: process context, may sleep.
 */
void kt_registry_walk(void)
{
	walk_one(&init_task, NULL);
	kt_threads_walk(walk_one, NULL);
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
 * kt_registry_used() - entries that were ever used
 *
 * Return: number of entries, those in use are below it. Context: any.
 */
unsigned int kt_registry_used(void)
{
	return READ_ONCE(reg.fresh);
}

/**
 * kt_registry_dropped() - names that found no room
 *
 * Return: how many since the module was loaded. Context: any.
 */
u64 kt_registry_dropped(void)
{
	return READ_ONCE(reg.dropped);
}

/**
 * kt_registry_reused() - entries of dead objects that were used again
 *
 * Return: how many since the module was loaded. Context: any.
 */
u64 kt_registry_reused(void)
{
	return READ_ONCE(reg.reused);
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
	unsigned long flags;

	raw_spin_lock_irqsave(&reg.lock, flags);
	*to = reg.entries[slot];
	raw_spin_unlock_irqrestore(&reg.lock, flags);
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
