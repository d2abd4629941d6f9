// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which threads are followed.
 *
 * The key is the thread's task_struct: a number may be given to another thread
 * before the first one's last event.  The table is open-addressed and read
 * without a lock.  Entries are changed with track_lock; whoever looks a thread
 * up knows that it lives, so the entry that it looks for does not go meanwhile.
 *
 *   free	task NULL: ends a search
 *   gone	task GONE: a search goes on; becomes free when the next one is free,
 *		because then nobody's search leads over it
 *   used	sets that it is in; of these, those whose threads and whose children
 *		are taken as well
 *
 * A new member is entered before the walk over all threads, and a grace period
 * lies in between: a fork whose probe did not see the member has its child in
 * the list by then.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>

#include <ktape/filter.h>

#include "filter.h"

#define SETS		32
#define SLOTS		(1U << 15)
#define SLOTS_USED_MAX	(SLOTS / 4 * 3)
#define CHUNK		1024U		/* slots looked at with the lock held */
#define GONE		((const struct task_struct *)1UL)

/**
 * struct kt_track - a slot of the table
 * @task: whose, NULL or GONE; stored last, with release
 * @in: sets that it is in
 * @threads: sets for which new threads of its process are taken
 * @children: sets for which the processes that it forks are taken
 */
struct kt_track {
	const struct task_struct *task;
	u32 in;
	u32 threads;
	u32 children;
};

static DEFINE_RAW_SPINLOCK(track_lock);
static struct kt_track *table;
static unsigned int used;	/* slots that are not free */
static u32 live;		/* sets that are passed on */
static atomic_long_t missed[SETS];

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

/* The slot for a thread that has none yet. */
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

/* With track_lock.  Return: false if there is no room. */
static bool track_enter(const struct task_struct *p, u32 in, u32 threads,
			u32 children)
{
	struct kt_track *t = track_find(p);

	lockdep_assert_held(&track_lock);
	if (t) {
		t->threads |= threads;
		t->children |= children;
		WRITE_ONCE(t->in, t->in | in);
		return true;
	}
	t = track_place(p);
	if (!t) {
		track_note_missed(in);
		return false;
	}
	/*
	 * The slot is nobody's before it has sets of another one.  Pairs with
	 * smp_rmb() in kt_track_sets().
	 */
	smp_wmb();
	t->threads = threads;
	t->children = children;
	WRITE_ONCE(t->in, in);
	/* Pairs with the acquire in track_find(): the sets come first. */
	smp_store_release(&t->task, p);
	return true;
}

/* With track_lock. */
static void track_leave(struct kt_track *t)
{
	unsigned int i = t - table;

	lockdep_assert_held(&track_lock);
	t->in = 0;
	WRITE_ONCE(t->task, GONE);
	if (table[(i + 1) % SLOTS].task)
		return;
	for (; table[i].task == GONE; i = (i - 1) % SLOTS) {
		WRITE_ONCE(table[i].task, NULL);
		used--;
	}
}

/**
 * kt_track_sets() - in which sets is a thread?
 * @p: a thread that lives
 *
 * Context: any, preemption disabled.
 * Return: a bit for each of them.
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
		/* Pairs with smp_wmb() in track_enter(): the sets are those of @p. */
		smp_rmb();
	} while (READ_ONCE(t->task) != p);
	return in;
}

/**
 * kt_track_fork() - a thread was made: is it to be followed?
 * @parent: its maker
 * @child: the thread, which has not run yet
 *
 * The children of a process are taken with all their threads.
 *
 * Context: the probe of sched_process_fork.
 */
void kt_track_fork(const struct task_struct *parent,
		   const struct task_struct *child)
{
	const struct kt_track *t = track_find(parent);
	unsigned long flags;
	u32 in = 0, children = 0;

	if (likely(!t))
		return;
	raw_spin_lock_irqsave(&track_lock, flags);
	/* kt_track_close() may have been here. */
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
 * kt_track_free() - the last that is left of a thread goes
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
	/* kt_track_close() may have been here. */
	t = track_find(p);
	if (t)
		track_leave(t);
	raw_spin_unlock_irqrestore(&track_lock, flags);
}

/**
 * kt_track_init() - make the table, if it is not there
 *
 * Context: process context with kt_session_control, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kt_track_init(void)
{
	struct kt_track *t;

	if (table)
		return 0;
	t = kvcalloc(SLOTS, sizeof(*t), GFP_KERNEL);
	if (!t)
		return -ENOMEM;
	/* Pairs with the acquire in track_find(). */
	smp_store_release(&table, t);
	return 0;
}

/**
 * kt_track_exit() - free the table
 *
 * Context: module unload, after the last probe.
 */
void kt_track_exit(void)
{
	kvfree(table);
	table = NULL;
}

/**
 * kt_track_open() - begin to follow threads in a set in which nobody is
 *
 * Context: process context with kt_session_control.
 * Return: the set, one bit; to be given to kt_track_close().
 */
u32 kt_track_open(void)
{
	unsigned int n = ffz(live);
	unsigned long flags;

	/* A session has two, and two more while it changes its filter. */
	if (WARN_ON_ONCE(n >= SETS))
		return 0;
	atomic_long_set(&missed[n], 0);
	raw_spin_lock_irqsave(&track_lock, flags);
	live |= BIT(n);
	raw_spin_unlock_irqrestore(&track_lock, flags);
	return BIT(n);
}

/**
 * kt_track_add() - put a thread into a set
 * @set: one bit
 * @nr: its number in the caller's pid name space
 * @flags: KTAPE_PID_*
 * @global: receives its number in the initial one
 *
 * What @flags ask for is found by kt_track_walk().
 *
 * Context: process context with kt_session_control.
 * Return: 0; -ESRCH: there is no such thread.
 */
int kt_track_add(u32 set, s32 nr, u32 flags, s32 *global)
{
	struct task_struct *p;
	unsigned long irq;

	/* Its probe of sched_process_free waits for this section. */
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
 * kt_track_number() - the number of a thread that is followed
 * @sets: it has to be in one of these
 * @global: its number in the initial pid name space
 *
 * Context: process context.
 * Return: its number in the caller's pid name space; 0: it has none there, or
 * it is gone.
 */
s32 kt_track_number(u32 sets, s32 global)
{
	struct task_struct *p;
	struct pid *pid;
	s32 nr = 0;

	rcu_read_lock();
	pid = find_pid_ns(global, &init_pid_ns);
	p = pid_task(pid, PIDTYPE_PID);
	/* By now it may be the number of another one. */
	if (p && kt_track_sets(p) & sets)
		nr = pid_vnr(pid);
	rcu_read_unlock();
	return nr;
}

#define WALK_STEP	256U	/* threads looked at in one section */

/**
 * kt_threads_walk() - look at all threads but the idle ones
 * @look: called for each, within a read section of RCU
 * @arg: for @look
 *
 * The walk takes short sections.  The place where it goes on is a number, which
 * nobody can take away, in contrast to a thread in a list.  Who is there at the
 * begin and at the end is seen; who comes meanwhile may have a number that was
 * passed already.
 *
 * Context: process context, may sleep.
 */
void kt_threads_walk(void (*look)(struct task_struct *p, void *arg), void *arg)
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
				look(p, arg);
		}
		rcu_read_unlock();
		cond_resched();
	} while (pid);
}

/* A round of the walk: for which set, and was anybody new? */
struct track_round {
	u32 set;
	bool taken;
};

static u32 track_threads(const struct kt_track *t, u32 set)
{
	return t ? t->in & t->threads & set : 0;
}

static u32 track_children(const struct kt_track *t, u32 set)
{
	return t ? t->in & t->children & set : 0;
}

/* Put a thread into the set, if it is not there with all of this. */
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
 * The leader tells for all threads of its process whether they are followed: so
 * a thread needs no look at all the others.
 */
static void track_look(struct task_struct *p, void *arg)
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
 * kt_track_walk() - find the threads and children that are there
 * @set: one bit, with the members of whom they are
 *
 * A walk may pass a child that comes while it goes on, if its maker is not
 * followed yet.  But then the maker, or one before it that was there already, is
 * found by that walk, and another one follows.
 *
 * A child whose parent has gone is nobody's child any more and is not found.
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_track_walk(u32 set)
{
	struct track_round round = { .set = set };

	do {
		round.taken = false;
		/* Forks that did not see the members can be found now. */
		synchronize_rcu();
		kt_threads_walk(track_look, &round);
	} while (round.taken && !kt_track_missed(set));
}

/**
 * kt_track_close() - nobody is in a set any more
 * @set: one bit, no filter uses it
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_track_close(u32 set)
{
	unsigned int i, end;
	unsigned long flags;

	/* From here on it is not passed on to slots that were looked at. */
	raw_spin_lock_irqsave(&track_lock, flags);
	live &= ~set;
	raw_spin_unlock_irqrestore(&track_lock, flags);
	for (i = 0; i < SLOTS; cond_resched()) {
		raw_spin_lock_irqsave(&track_lock, flags);
		for (end = i + CHUNK; i < end; i++) {
			if (!(table[i].in & set))
				continue;
			WRITE_ONCE(table[i].in, table[i].in & ~set);
			table[i].threads &= ~set;
			table[i].children &= ~set;
			if (!table[i].in)
				track_leave(&table[i]);
		}
		raw_spin_unlock_irqrestore(&track_lock, flags);
	}
}

/**
 * kt_track_missed() - how many threads could not be followed
 * @set: one bit
 *
 * Context: any.
 * Return: how often the table was full.
 */
u64 kt_track_missed(u32 set)
{
	return atomic_long_read(&missed[__ffs(set)]);
}
