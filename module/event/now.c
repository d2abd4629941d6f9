// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread that a CPU runs: which sessions its events pass, and what readers have to
 * know about it.
 *
 * struct kt_now has the pass mask.  It contains what the filters by thread, cgroup and uid
 * of all sessions say about the running thread, so that most events need only compare it
 * with their want bits.  What changes it:
 *
 *   a switch			kt_now_arrive() computes the mask of the incoming thread
 *   filters, starts		an interrupt on the CPU closes the mask (kt_now_forget())
 *   stops, former filters	after a grace period an interrupt computes the mask without
 *				them (kt_want_settle())
 *   a cgroup of a thread	the mask is closed on all CPUs (kt_now_close_all())
 *   a uid			no tracepoint reports it: the mask sends all events of sessions
 *				that filter by uid to event.c, which compares the uid
 *   a CPU that comes online	kt_now_prepare()
 *
 * A closed mask sends events to event.c, which calls kt_now_renew() to open it again.
 *
 * Readers know the running thread from the last recorded switch, or from a context
 * record.  A session that does not record a switch gets a context record in its
 * place.  With a thread filter that would be a record for each switch between threads
 * that do not pass, so such a session gets at most one, which says that the thread is
 * unknown.  The context record of the thread that runs then is pending: it is written
 * before the next event.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "internal.h"

/**
 * kt_now_report() - Write the context record of a thread in a set of sessions
 * @sessions: bit n: session n, which records
 * @tid: the thread, -1 = unknown
 * @prio: its priority
 *
 * Context: any, preemption disabled.
 */
void kt_now_report(unsigned long sessions, u32 tid, u32 prio)
{
	if (sessions)
		kt_put(KT_CODE(KTAPE_EV_CONTEXT, prio, 0, 1),
		       KT_PLACE_OF(KTAPE_CLASS_CONTROL, KTAPE_RING_EVENT), tid,
		       0, 0, sessions);
}

/**
 * kt_now_write_pending() - Write the pending context records of sessions
 * @sessions: bit n: an event of session n comes next; some have one pending
 *
 * If the thread is not known, the last context record says so, and the record stays
 * pending.  An NMI may write the record as well.
 *
 * Context: any, preemption disabled.
 */
noinline void notrace kt_now_write_pending(unsigned long sessions)
{
	/* Where a CPU filter lets no switch be recorded, the thread in kt_now may have ended. */
	struct task_struct *p = kt_event_sees_switches() ? kt_event_thread() :
							   current;
	unsigned long flags;

	if (!p)
		return;
	/*
	 * An interrupt may change the profile to one without context records, and write one
	 * that names no thread.  None that names this thread may come behind it, because no
	 * switch to another one would be recorded.
	 */
	raw_local_irq_save(flags);
	sessions &= kt_cpu_read(kt_now.pending);
	kt_now_report(sessions, p->pid, (u8)READ_ONCE(p->prio));
	this_cpu_and(kt_now.pending, ~(u8)sessions);
	/* The next switch needs a context record again. */
	kt_cpu_write(kt_now.steady, KT_NOT_STEADY);
	raw_local_irq_restore(flags);
}

/**
 * kt_now_reported() - Note that readers of a session know the running thread
 * @session: number of the session
 *
 * Context: on the CPU, interrupts disabled.
 */
void kt_now_reported(unsigned int session)
{
	kt_cpu_write(kt_now.steady, KT_NOT_STEADY);
	this_cpu_and(kt_now.pending, ~(u8)BIT(session));
}

/*
 * Store that nothing is known about the thread.  Until it is, all events are checked, in
 * sessions without a thread filter, too: another CPU cannot know which these are.
 */
static void now_close(struct kt_now *now)
{
	WRITE_ONCE(now->steady, KT_NOT_STEADY);
	WRITE_ONCE(now->mask, KT_MASK_CLOSED);
}

/**
 * kt_now_open() - Note that no session on a CPU has a thread filter
 * @c: the CPU, whose @selective is 0
 *
 * Context: on the CPU with interrupts disabled, or the CPU is not online.
 */
void kt_now_open(struct kt_cpu *c)
{
	WRITE_ONCE(c->now->steady, KT_NOT_STEADY);
	WRITE_ONCE(c->now->mask, KT_MASK_OPEN);
}

/**
 * kt_now_forget() - Forget the running thread and what it passes
 *
 * The filters may change now, and there may have been switches that the probe
 * did not see.
 *
 * Context: on the CPU, interrupts disabled.
 */
void kt_now_forget(void)
{
	struct kt_now *now = this_cpu_ptr(kt_cpus)->now;

	now_close(now);
	WRITE_ONCE(now->thread, 0);
}

/**
 * kt_now_close_all() - Close the masks of all CPUs that filter by cgroup
 *
 * A thread has got another cgroup, and may run on any CPU, where the mask would
 * hold until the next switch.
 *
 * Context: any, preemption disabled.
 */
void kt_now_close_all(void)
{
	struct kt_cpu *c;
	unsigned int cpu;

	kt_match_renew();
	/*
	 * A CPU that has checked the thread before the epoch changed either sees
	 * the new one after it has stored its mask, or stored it before what
	 * follows.  Pairs with the barrier in now_confirm().
	 */
	smp_mb();
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(kt_cpus, cpu);
		if (READ_ONCE(c->by_cgroup))
			now_close(c->now);
	}
}

/**
 * kt_now_prepare() - Do kt_now_forget() for a CPU that comes online
 * @cpu: the CPU, which does not run yet
 *
 * Readers may know the thread that ran last before the CPU went offline.
 *
 * Context: process context.
 */
void kt_now_prepare(unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);

	now_close(c->now);
	WRITE_ONCE(c->now->thread, 0);
	WRITE_ONCE(c->now->pending, c->selective & c->want[KTAPE_EV_CONTEXT]);
	if (!c->selective)
		kt_now_open(c);
}

/* Close the mask if a thread has got another cgroup since the match was found. */
static void now_confirm(struct kt_cpu *c, const struct kt_kept *match)
{
	/* Pairs with the barrier in kt_now_close_all(). */
	smp_mb();
	if ((unsigned long)atomic_long_read(&kt_match_epoch) != match->epoch)
		now_close(c->now);
}

/* Return @steady of struct kt_now for a thread that passes in the sessions @pass. */
static u32 now_steady(const struct kt_cpu *c, u32 pass, u32 pending)
{
	const u32 want = READ_ONCE(c->want[KTAPE_EV_SCHED_SWITCH]);
	const u32 contexts = READ_ONCE(c->want[KTAPE_EV_CONTEXT]);
	const u32 recorded = want & pass;

	if (want & KT_WANT_CHECK || READ_ONCE(c->by_uid))
		return KT_NOT_STEADY;
	/*
	 * The record of a switch makes a pending context record unnecessary.  A session that
	 * wants context records and does not record the switch needs one, unless one is
	 * pending and the thread does not pass.
	 */
	if (recorded & pending || contexts & ~(recorded | (pending & ~pass)))
		return KT_NOT_STEADY;
	return pass;
}

/**
 * kt_now_arrive() - Note the thread that runs now, and compute the pass mask
 * @c: this CPU
 * @next: the thread
 * @match: from kt_match_get() for the thread
 *
 * Context: interrupts disabled.
 */
void kt_now_arrive(struct kt_cpu *c, struct task_struct *next,
		   const struct kt_kept *match)
{
	const u32 selective = READ_ONCE(c->selective);
	const u32 pass = (match->pass | ~selective) & KT_MASK_SESSIONS;
	const u32 by_uid = READ_ONCE(c->by_uid);
	const u32 check = selective & (~pass | READ_ONCE(c->now->pending) | by_uid);
	const u32 mask = check | KT_MASK_ALWAYS | pass << KT_MASK_PASS_SHIFT |
			 (selective & ~pass & ~by_uid) << KT_MASK_FILTERED_SHIFT;
	/* If it is the same, another CPU may be closing it: leave that alone. */
	const bool change = READ_ONCE(c->now->mask) != mask;
	u32 pending;

	/* An NMI finds no mask that is that of another thread. */
	if (change)
		WRITE_ONCE(c->now->mask, KT_MASK_CLOSED);
	barrier();
	WRITE_ONCE(c->now->uid, match->uid);
	WRITE_ONCE(c->now->thread, (unsigned long)next + KT_ARRIVED);
	barrier();
	if (change)
		WRITE_ONCE(c->now->mask, mask);
	do {
		pending = READ_ONCE(c->now->pending);
		WRITE_ONCE(c->now->steady, now_steady(c, match->pass, pending));
		barrier(); /* an NMI may have written a pending record */
	} while (READ_ONCE(c->now->pending) != pending);
	if (READ_ONCE(c->by_cgroup))
		now_confirm(c, match);
}

/**
 * kt_now_renew() - Compute the pass mask of the running thread again
 *
 * The thread has changed its uid, some thread has changed its cgroup, or the sessions
 * with filters have changed.  Nothing happens while a switch is being recorded.
 *
 * Context: any but NMI, preemption disabled.
 */
noinline void notrace kt_now_renew(void)
{
	struct kt_cpu *c;
	struct kt_kept match;
	struct task_struct *p;
	unsigned long flags, thread;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(kt_cpus);
	thread = READ_ONCE(c->now->thread);
	if (!READ_ONCE(c->selective)) {
		kt_now_open(c);
	} else if (thread & KT_ARRIVED && kt_event_sees_switches()) {
		p = (void *)(thread - KT_ARRIVED);
		kt_match_get(p, READ_ONCE(c->by_uid), &match);
		kt_now_arrive(c, p, &match);
	}
	raw_local_irq_restore(flags);
}
