// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads that pid filters follow: the threads that a filter names and, if
 * the filter asks for them, the other threads of their processes and their
 * children.
 *
 * The key of an entry is the task_struct of the thread, not its number: the
 * number may be given to another thread before the last event of the first one.
 *
 * Opening, closing and walking are serialized by track_mutex: a session does that
 * without kt_session_control.
 *
 * The table is open-addressed.  It is read without a lock and changed under
 * track_lock.  Only threads that live are looked up, but kt_track_close() may
 * remove an entry during a lookup.  So kt_track_sets() checks the thread again,
 * and functions that change an entry look it up again under track_lock.
 *
 * States of a slot:
 *
 *   free	task == NULL: ends a search
 *   gone	task == GONE: a search continues; the slot becomes free when the
 *	next one is free, because then no search passes over it
 *   used	task is a thread
 *
 * A new member of a set is entered first, then all threads are walked, with a
 * grace period in between: a child whose fork did not see the new member is in
 * the list of threads when the walk begins.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include <ktape/filter.h>

#include "filter.h"

#define SETS	       32	  /* bits of a set, see kt_track_open() */
#define SLOTS	       (1U << 15) /* for all sets together */
#define SLOTS_USED_MAX (SLOTS / 4 * 3)
#define CHUNK	       1024U /* slots checked before others may run */
#define GONE	       ((const struct task_struct *)1UL)

/**
 * struct kt_track - a slot of the table
 * @task: the thread, NULL or GONE; stored last, with release
 * @in: sets that the thread is in
 * @threads: sets to which the other threads of its process are added
 * @children: sets to which the processes that it forks are added
 */
struct kt_track {
	const struct task_struct *task;
	u32 in;
	u32 threads;
	u32 children;
};

static DEFINE_MUTEX(track_mutex);
static DEFINE_RAW_SPINLOCK(track_lock);
static struct kt_track *table;
static unsigned int used; /* slots in state used or gone */
static u32 live;	  /* open sets, to which forks add threads */
static atomic_long_t missed[SETS];

/* Epoch of the matches in match.c.  Here, because a change of the followed threads ends it. */
atomic_long_t kt_match_epoch;

static unsigned int track_slot(const struct task_struct *p)
{
	return hash_ptr(p, ilog2(SLOTS));
}

static struct kt_track *track_find(const struct task_struct *p)
{
	/* Pairs with the release in kt_track_init(). */
	struct kt_track *t = smp_load_acquire(&table);
	const struct task_struct *task;
	unsigned int i, n;

	if (!t)
		return NULL;
	for (i = track_slot(p), n = 0; n < SLOTS; i = (i + 1) % SLOTS, n++) {
		/* Pairs with the release in track_enter(). */
		task = smp_load_acquire(&t[i].task);
		if (task == p)
			return &t[i];
		if (!task)
			break;
	}
	return NULL;
}

/*
 * Find a slot for a thread that has none.
 * Return: the slot, or NULL if the table is full.
 */
static struct kt_track *track_place(const struct task_struct *p)
{
	unsigned int i = track_slot(p);

	while (table[i].task && table[i].task != GONE)
		i = (i + 1) % SLOTS;
	if (!table[i].task) {
		if (used >= SLOTS_USED_MAX)
			return NULL;
		used++;
	}
	return &table[i];
}

static void track_note_missed(u32 sets)
{
	for (; sets; sets &= sets - 1)
		atomic_long_inc(&missed[__ffs(sets)]);
}

/* Add a thread to the sets in @in.  Return: false if the table is full. */
static bool track_enter(const struct task_struct *p, u32 in, u32 threads, u32 children)
{
	struct kt_track *t = track_find(p);

	lockdep_assert_held(&track_lock);
	if (t) {
		WRITE_ONCE(t->threads, t->threads | threads);
		WRITE_ONCE(t->children, t->children | children);
		WRITE_ONCE(t->in, t->in | in);
		kt_match_renew();
		return true;
	}
	t = track_place(p);
	if (!t) {
		track_note_missed(in);
		return false;
	}
	/*
	 * Order the store of GONE in track_leave() before the new sets, so that
	 * a reader that loads the new sets no longer sees the former thread.
	 * Pairs with smp_rmb() in kt_track_sets().
	 */
	smp_wmb();
	WRITE_ONCE(t->threads, threads);
	WRITE_ONCE(t->children, children);
	WRITE_ONCE(t->in, in);
	/* Pairs with the acquire in track_find(): the sets are stored. */
	smp_store_release(&t->task, p);
	kt_match_renew();
	return true;
}

/* Remove an entry, and free the slots that no search passes over any more. */
static void track_leave(struct kt_track *t)
{
	unsigned int i = t - table;

	lockdep_assert_held(&track_lock);
	WRITE_ONCE(t->in, 0);
	WRITE_ONCE(t->task, GONE);
	kt_match_renew();
	if (table[(i + 1) % SLOTS].task)
		return;
	for (; table[i].task == GONE; i = (i - 1) % SLOTS) {
		WRITE_ONCE(table[i].task, NULL);
		used--;
	}
}

/**
 * kt_track_sets() - Get the sets that a thread is in
 * @p: a thread that lives
 *
 * Context: any, with preemption disabled or within RCU: otherwise the task_struct of @p may
 * be freed and become that of another thread.
 * Return: one bit for each set.
 */
u32 kt_track_sets(const struct task_struct *p)
{
	const struct kt_track *t;
	u32 in;

	do {
		t = track_find(p);
		if (!t)
			return 0;
		in = READ_ONCE(t->in);
		/* Pairs with smp_wmb() in track_enter(): @in is that of @p. */
		smp_rmb();
	} while (READ_ONCE(t->task) != p);
	return in;
}

/**
 * kt_track_fork() - Follow a new thread if the entry of its parent asks for it
 * @parent: the thread that forks
 * @child: the new thread, which has not run yet
 *
 * A child process is followed with all its threads.
 *
 * Context: the probe of task_newtask, or of sched_process_fork where that is missing.
 */
void kt_track_fork(const struct task_struct *parent, const struct task_struct *child)
{
	const struct kt_track *t = track_find(parent);
	unsigned long flags;
	u32 in = 0, children = 0;

	if (likely(!t))
		return;
	raw_spin_lock_irqsave(&track_lock, flags);
	/* kt_track_close() may have removed the entry: look it up again. */
	t = track_find(parent);
	if (t && child->tgid == parent->tgid) {
		in = t->in & t->threads & live;
		children = t->children & in;
	} else if (t) {
		in = t->in & t->children & live;
		children = in;
	}
	if (in)
		track_enter(child, in, in, children);
	raw_spin_unlock_irqrestore(&track_lock, flags);
}

/**
 * kt_track_free() - Remove the entry of a thread whose task_struct is freed
 * @p: the thread
 *
 * Context: the probe of sched_process_free.
 */
void kt_track_free(const struct task_struct *p)
{
	struct kt_track *t = track_find(p);
	unsigned long flags;

	if (likely(!t))
		return;
	raw_spin_lock_irqsave(&track_lock, flags);
	/* kt_track_close() may have removed the entry: look it up again. */
	t = track_find(p);
	if (t)
		track_leave(t);
	raw_spin_unlock_irqrestore(&track_lock, flags);
}

/**
 * kt_track_init() - Allocate the table, once
 *
 * Lookups work without the table and find nothing.  kt_track_open(), kt_track_add(),
 * kt_track_walk() and kt_track_close() must not be called before this has succeeded.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kt_track_init(void)
{
	struct kt_track *t;

	mutex_lock(&track_mutex);
	t = table;
	if (!t) {
		t = kvcalloc(SLOTS, sizeof(*t), GFP_KERNEL);
		/* Pairs with the acquire in track_find(). */
		smp_store_release(&table, t);
	}
	mutex_unlock(&track_mutex);
	return t ? 0 : -ENOMEM;
}

/**
 * kt_track_exit() - Free the table
 *
 * Context: module unload, after the last probe.
 */
void kt_track_exit(void)
{
	kvfree(table);
	table = NULL;
}

/**
 * kt_track_open() - Open an empty set
 *
 * Context: process context, may sleep.
 * Return: the set, one bit; close it with kt_track_close().  0: a bug, all sets are open.
 */
u32 kt_track_open(void)
{
	unsigned long flags;
	u32 set = 0;

	mutex_lock(&track_mutex);
	/* They suffice: each of 8 sessions has at most four, two old and two new ones. */
	if (!WARN_ON_ONCE(live == ~0U)) {
		set = BIT(ffz(live));
		atomic_long_set(&missed[__ffs(set)], 0);
		raw_spin_lock_irqsave(&track_lock, flags);
		live |= set;
		raw_spin_unlock_irqrestore(&track_lock, flags);
	}
	mutex_unlock(&track_mutex);
	return set;
}

/**
 * kt_track_add() - Add a thread to a set
 * @set: one bit
 * @nr: number of the thread in the caller's pid name space
 * @flags: KTAPE_PID_*
 * @global: receives its number in the initial pid name space
 *
 * kt_track_walk() then adds the threads and children that @flags asks for.
 *
 * Context: process context.
 * Return: 0, also if the table is full: then the thread is counted as missed; -ESRCH if there
 * is no such thread.
 */
int kt_track_add(u32 set, s32 nr, u32 flags, s32 *global)
{
	struct task_struct *p;
	unsigned long irq;

	/* The task_struct is not freed within this section. */
	rcu_read_lock();
	p = pid_task(find_vpid(nr), PIDTYPE_PID);
	if (p) {
		*global = p->pid;
		raw_spin_lock_irqsave(&track_lock, irq);
		track_enter(p, set, flags & KTAPE_PID_THREADS ? set : 0,
			    flags & KTAPE_PID_CHILDREN ? set : 0);
		raw_spin_unlock_irqrestore(&track_lock, irq);
	}
	rcu_read_unlock();
	return p ? 0 : -ESRCH;
}

/**
 * kt_track_number() - Get a followed thread's number in the caller's name space
 * @sets: the thread must be in one of these sets
 * @global: its number in the initial pid name space
 *
 * Context: process context.
 * Return: its number in the caller's pid name space; 0 if it has no number
 * there or has exited.
 */
s32 kt_track_number(u32 sets, s32 global)
{
	struct task_struct *p;
	struct pid *pid;
	s32 nr = 0;

	rcu_read_lock();
	pid = find_pid_ns(global, &init_pid_ns);
	p = pid_task(pid, PIDTYPE_PID);
	/* The number may have been given to another thread. */
	if (p && kt_track_sets(p) & sets)
		nr = pid_vnr(pid);
	rcu_read_unlock();
	return nr;
}

#define WALK_STEP 256U /* threads visited in one section */

/**
 * kt_threads_walk() - Call a function for all threads but the idle ones
 * @visit: called for each thread, within an RCU read section
 * @arg: argument of @visit
 *
 * The walk is cut into short RCU sections.  Each section continues at a pid
 * number, because a thread at which the walk paused may be freed meanwhile.
 * Each thread that exists during the whole walk is visited.  A thread that starts
 * meanwhile is missed if the walk has passed its number.
 *
 * Context: process context, may sleep.
 */
void kt_threads_walk(void (*visit)(struct task_struct *p, void *arg), void *arg)
{
	struct task_struct *p;
	struct pid *pid;
	unsigned int i;
	int nr = 1;

	do {
		pid = NULL;
		rcu_read_lock();
		for (i = 0; i < WALK_STEP; i++, nr++) {
			pid = idr_get_next(&init_pid_ns.idr, &nr);
			if (!pid)
				break;
			p = pid_task(pid, PIDTYPE_PID);
			if (p)
				visit(p, arg);
		}
		rcu_read_unlock();
		cond_resched();
	} while (pid);
}

/* One walk over all threads: the set, and whether a thread was added to it. */
struct track_round {
	u32 set;
	bool taken;
};

/*
 * Without track_lock: a fork may add bits meanwhile.  The entry stays that of the
 * same thread, because a walk runs within RCU and under track_mutex.
 */
static u32 track_threads(const struct kt_track *t, u32 set)
{
	return t ? READ_ONCE(t->in) & READ_ONCE(t->threads) & set : 0;
}

static u32 track_children(const struct kt_track *t, u32 set)
{
	return t ? READ_ONCE(t->in) & READ_ONCE(t->children) & set : 0;
}

/* Add a thread to the set, unless its entry says the same already. */
static void track_take(const struct task_struct *p, u32 threads, u32 children,
		       struct track_round *round)
{
	const struct kt_track *t = track_find(p);
	unsigned long flags;

	if (track_threads(t, round->set) == threads &&
	    (track_children(t, round->set) | children) ==
		    track_children(t, round->set))
		return;
	raw_spin_lock_irqsave(&track_lock, flags);
	round->taken |= track_enter(p, round->set, threads, children);
	raw_spin_unlock_irqrestore(&track_lock, flags);
}

/*
 * Add a thread to the set if its process or its parent is followed.  The entry
 * of the leader says whether all threads of the process are followed, so the
 * walk need not compare each thread with all others.
 */
static void track_visit(struct task_struct *p, void *arg)
{
	struct track_round *round = arg;
	const u32 set = round->set;
	const struct task_struct *leader = READ_ONCE(p->group_leader);
	const struct kt_track *t = track_find(p);

	if (track_threads(t, set))
		track_take(leader, set, track_children(t, set), round);
	t = track_find(leader);
	if (track_threads(t, set))
		track_take(p, set, track_children(t, set), round);
	if (track_children(track_find(rcu_dereference(p->real_parent)), set))
		track_take(p, set, set, round);
}

/**
 * kt_track_walk() - Add the existing threads and children of a set's members
 * @set: one bit; its first members were added by kt_track_add()
 *
 * Walk until a walk adds no thread, or the table was full: then the set has a hole
 * anyway, which kt_track_missed() reports.  A walk misses a child that starts with a
 * number which the walk has passed, if the child's parent is not followed yet.
 * But then the same walk adds that parent, or an older ancestor, so another
 * walk follows.
 *
 * A child whose parent has exited has another parent and is not found.
 *
 * Context: process context, may sleep.
 */
void kt_track_walk(u32 set)
{
	struct track_round round = { .set = set };

	do {
		round.taken = false;
		/* Wait for forks whose probe did not see the members. */
		synchronize_rcu();
		mutex_lock(&track_mutex);
		kt_threads_walk(track_visit, &round);
		mutex_unlock(&track_mutex);
	} while (round.taken && !kt_track_missed(set));
}

/* Remove the thread of a slot from a set. */
static void track_drop(struct kt_track *t, u32 set)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&track_lock, flags);
	WRITE_ONCE(t->threads, t->threads & ~set);
	WRITE_ONCE(t->children, t->children & ~set);
	if (t->in & ~set)
		WRITE_ONCE(t->in, t->in & ~set);
	else if (t->in)
		track_leave(t);
	raw_spin_unlock_irqrestore(&track_lock, flags);
}

/**
 * kt_track_close() - Remove all threads from a set, and close it
 * @set: one bit, not used by any filter
 *
 * Holds track_lock for one thread at a time.  Goes through the table from its end, because a
 * slot becomes free at once if the next one is.
 *
 * Context: process context, may sleep.
 */
void kt_track_close(u32 set)
{
	unsigned long flags;
	unsigned int i;

	mutex_lock(&track_mutex);
	/* From here on no fork adds threads to the set. */
	raw_spin_lock_irqsave(&track_lock, flags);
	live &= ~set;
	raw_spin_unlock_irqrestore(&track_lock, flags);
	for (i = SLOTS; i-- > 0;) {
		if (READ_ONCE(table[i].in) & set)
			track_drop(&table[i], set);
		if (!(i % CHUNK))
			cond_resched();
	}
	mutex_unlock(&track_mutex);
}

/**
 * kt_track_missed() - Count the threads that could not be followed
 * @set: one bit
 *
 * Context: any.
 * Return: how often the table was full.
 */
u64 kt_track_missed(u32 set)
{
	return (unsigned long)atomic_long_read(&missed[__ffs(set)]);
}
