// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enters threads into the registry: those that exist when the module is loaded, new
 * ones, and new names; marks those that end as dead.
 *
 * A thread's entry has its tid as id, its process as first parameter, its priority,
 * policy and kind as second.  A thread whose cgroup changes has a second entry, with a key
 * and so a lock of its own.  Cgroups of other threads are not entered, because each would
 * take a second slot.
 * The probes in probes/task.c and probes/system.c call these functions.  The probes are
 * attached before kt_registry_walk() enters the threads that exist, so no thread is
 * missed.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "filter/filter.h"
#include "internal.h"
#include "names.h"
#include "ring/ring.h"

#define NONE KT_SLOT_NONE

static struct kt_key thread_key(pid_t tid)
{
	return (struct kt_key){ .type = KTAPE_OBJ_THREAD, .id = tid };
}

static u32 thread_find(pid_t tid)
{
	return kt_entry_find(thread_key(tid));
}

static raw_spinlock_t *thread_lock_of(pid_t tid)
{
	return kt_entry_lock(thread_key(tid));
}

/* Return the second parameter: priority, policy, and 1 for a kernel thread. */
static u32 thread_param(const struct task_struct *p)
{
	/*
	 * The normal priority, not one that is inherited for a while.
	 * data_race(): the kernel changes them without a mark.  A change that is
	 * missed here is found by the next refresh, and PF_KTHREAD never changes.
	 */
	return data_race((u8)p->normal_prio | (p->policy & 0xff) << 8 |
			 !!(p->flags & PF_KTHREAD) << 16);
}

/*
 * Estimate the trace clock at the birth of a thread that is older than the module.
 * It is too early by the time that the trace clock stood still, as in suspend.
 */
static u64 thread_born(const struct task_struct *p, const struct kt_moment *now)
{
	u64 ticks = kt_clock_from_ns(now->boot - min(now->boot, p->start_boottime));

	return now->clock > ticks ? now->clock - ticks : 1;
}

/* Enter a thread or its new name.  @born: for a new entry; an old one keeps its own. */
static void thread_enter(struct task_struct *p, pid_t tid, const char *name, u64 born)
{
	kt_entry_set(thread_key(tid), born, p->tgid, thread_param(p), name);
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
	raw_spinlock_t *lock = thread_lock_of(p->pid);
	char comm[TASK_COMM_LEN] = "";
	unsigned long flags;

	memcpy(comm, name, strnlen(name, TASK_COMM_LEN - 1));
	raw_spin_lock_irqsave(lock, flags);
	/*
	 * Do not enter a thread whose exit probe has run.  do_exit() sets PF_EXITING
	 * before it calls that probe, which then takes this lock.  data_race(): other
	 * flags may change now.
	 */
	if (!data_race(p->flags & PF_EXITING) || thread_find(p->pid) != NONE)
		thread_enter(p, p->pid, comm, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_thread_cgroup() - Enter the cgroup that a thread gets
 * @p: the thread
 * @id: number of the cgroup
 * @name: the end of its path, as far as an entry has room for it
 *
 * Context: task context, preemption disabled.
 */
void kt_registry_thread_cgroup(struct task_struct *p, u64 id, const char *name)
{
	const struct kt_key k = { .type = KTAPE_OBJ_TASK_CGROUP, .id = p->pid };
	raw_spinlock_t *lock = kt_entry_lock(k);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	/*
	 * As in kt_registry_thread(), but an entry that an exiting thread has stays as it is:
	 * the exit probe has marked it as dead, or will.
	 */
	if (!data_race(p->flags & PF_EXITING))
		kt_entry_set(k, kt_clock(), (u32)id, (u32)(id >> 32), name);
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_thread_exit() - Mark the entries of a thread as dead
 * @tid: thread id that ends, or that the thread gives up in exec
 * @tgid: its process; if the entry has another, a new thread has the tid already
 *
 * Context: task context, preemption disabled.
 */
void kt_registry_thread_exit(pid_t tid, pid_t tgid)
{
	raw_spinlock_t *lock = thread_lock_of(tid);
	unsigned long flags;
	bool found;
	u32 slot;

	raw_spin_lock_irqsave(lock, flags);
	slot = thread_find(tid);
	found = slot != NONE && kt_entry_at(slot)->param1 == tgid;
	if (found)
		kt_entry_bury(slot, kt_clock());
	raw_spin_unlock_irqrestore(lock, flags);
	if (found)
		kt_registry_gone(KTAPE_OBJ_TASK_CGROUP, tid, 0);
}

/* Copy the name of a thread that may be changing it: always end it with NUL. */
static void thread_read_comm(char *to, const struct task_struct *p)
{
	/* data_race(): the probe of the change enters the new name. */
	data_race(memcpy(to, p->comm, TASK_COMM_LEN));
	to[TASK_COMM_LEN - 1] = '\0';
}

/* Enter one thread that existed before the module was loaded. */
static void thread_walk_one(struct task_struct *p, void *now)
{
	/* Read once: an exec may change it, and the lock is that of one tid. */
	const pid_t tid = READ_ONCE(p->pid);
	raw_spinlock_t *lock = thread_lock_of(tid);
	char name[TASK_COMM_LEN];
	unsigned long flags;
	u32 slot;

	thread_read_comm(name, p);
	raw_spin_lock_irqsave(lock, flags);
	/* An entry that a probe has made meanwhile is newer: keep it. */
	if (thread_find(tid) == NONE) {
		thread_enter(p, tid, name, thread_born(p, now));
		slot = thread_find(tid);
		/*
		 * The exit probe may have run before the thread was entered, after
		 * do_exit() had set PF_EXITING, and have found no entry.  Mark the
		 * entry as dead; later events may still refer to its tid.
		 * data_race(): other flags may change now.
		 */
		if (data_race(p->flags & PF_EXITING) && slot != NONE)
			kt_entry_bury(slot, kt_clock());
	}
	raw_spin_unlock_irqrestore(lock, flags);
}

static void thread_count_one(struct task_struct *p, void *count)
{
	++*(u32 *)count;
}

/**
 * kt_threads_count() - Count the threads that exist
 *
 * Context: process context, may sleep.
 * Return: their number.
 */
u32 kt_threads_count(void)
{
	u32 count = 0;

	kt_threads_walk(thread_count_one, &count);
	return count;
}

/**
 * kt_threads_enter() - Enter the threads that exist: see kt_registry_walk()
 *
 * Context: process context, may sleep.
 */
void kt_threads_enter(void)
{
	struct kt_moment now;

	kt_clock_moment(&now);
	thread_walk_one(&init_task, &now); /* the walk leaves it out */
	kt_threads_walk(thread_walk_one, &now);
}

/*
 * Update priority and policy of one thread: no tracepoint reports their change.  Enter
 * one for which there was no room when it began.
 */
static void thread_refresh_one(struct task_struct *p, void *now)
{
	const pid_t tid = READ_ONCE(p->pid);
	raw_spinlock_t *lock = thread_lock_of(tid);
	char name[TASK_COMM_LEN];
	unsigned long flags;
	u32 slot;

	thread_read_comm(name, p);
	raw_spin_lock_irqsave(lock, flags);
	slot = thread_find(tid);
	/*
	 * As in kt_registry_thread(): the probe of its exit, or of an exec that
	 * gives it another tid, will mark the entry as dead.
	 */
	if (slot == NONE && !data_race(p->flags & PF_EXITING) &&
	    READ_ONCE(p->pid) == tid && kt_slots_left())
		thread_enter(p, tid, name, thread_born(p, now));
	else if (slot != NONE && kt_entry_at(slot)->param1 == p->tgid &&
		 kt_entry_at(slot)->param2 != thread_param(p))
		kt_entry_set_param2(slot, thread_param(p));
	raw_spin_unlock_irqrestore(lock, flags);
}

/**
 * kt_registry_refresh() - Update priority and policy of all threads
 *
 * Threads that had no room for a name get one if there is room now.
 *
 * Context: process context, may sleep.
 */
void kt_registry_refresh(void)
{
	struct kt_moment now;

	kt_clock_moment(&now);
	kt_threads_walk(thread_refresh_one, &now);
}
