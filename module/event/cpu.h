/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each CPU keeps for its events.
 *
 * Static per-CPU data of all modules shares a small area, 8 KiB on most machines,
 * so nearly everything is in struct kt_cpu, which init allocates.  Static is only
 * what a hot event would otherwise need one more instruction for.  scripts/lint
 * holds the size of the module's static part.
 *
 * The probes of hot events get the address of struct kt_cpu from their tracepoint,
 * as its data: no instruction more than with a static variable.  All other code
 * loads kt_cpus.
 */
#ifndef _KT_EVENT_CPU_H
#define _KT_EVENT_CPU_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <ktape/abi.h>
#include <ktape/cost.h>

#include "filter/filter.h"
#include "ring/ring.h"

struct task_struct;

/*
 * Index of the ring for names.  In a discard session this is the control ring,
 * which is not overwritten before its consumer has read it.  In other sessions
 * it is the event ring: names are as frequent as new processes and would push
 * exceptions out of the control ring.
 */
#define KT_RING_NAMES		KTAPE_RINGS_PER_CPU
#define KT_RING_KINDS		(KT_RING_NAMES + 1)

/*
 * Route of an event that no session or several sessions record, or to which a
 * filter, a trigger or a sink applies.
 */
#define KT_ROUTE_MANY		KT_SESSIONS

/*
 * First of the routes, one a session, of events to which only the session's pid and
 * cgroup filters apply: their rings are NULL unless the running thread passes.
 */
#define KT_ROUTE_JUDGED		(KT_SESSIONS + 1)

/*
 * Routes of sched_switch: several sessions without filters record it; no session and
 * no sink does, and no filter needs it, so that context records take its place; and
 * the first of those, one a session, if the pid and cgroup filters of one session are
 * all that matters.
 */
#define KT_ROUTE_IN		(2 * KT_SESSIONS + 1)
#define KT_ROUTE_TELL		(KT_ROUTE_IN + 1)
#define KT_ROUTE_SWITCH		(KT_ROUTE_TELL + 1)
#define KT_ROUTES		(KT_ROUTE_SWITCH + KT_SESSIONS)

/*
 * In struct kt_cpu.brief and .watch, besides KT_VERDICT_VARIES and one bit a session:
 * thread filters apply; only kt_event_switch() does all that a switch needs; a filter
 * by cgroup is in force.
 */
#define KT_JUDGED		BIT(31)	/* the sign, see kt_event_many() */
#define KT_WATCH_SLOW		BIT(KT_SESSIONS + 1)
#define KT_WATCH_CGROUPS	BIT(KT_SESSIONS + 2)

/* struct kt_now.pass: no verdict on the running thread is known. */
#define KT_NOT_JUDGED		BIT(KT_SESSIONS)

/* struct kt_now.thread: the record of the switch to the thread is stored. */
#define KT_ARRIVED		1UL

/**
 * struct kt_now - the thread that a CPU runs, and what its sessions need to know
 * @thread: the thread of the next record, with KT_ARRIVED; without it, its switch
 *	is being recorded; 0: no switch has been seen since the probe of
 *	sched_switch was attached, so it is current
 * @pass: bit n: session n has no thread filter, or @thread passes
 * @uid: uid of the thread when @pass was found
 * @owed: bit n: readers of session n do not know which thread runs; its context
 *	record comes with the next event of the session
 * @held: bit n: @thread does not pass in session n
 * @ready: bit n: session n has a thread filter, @thread passes, and nothing is owed
 * @all_ready: @pass, if @ready has all sessions that care about switches; else
 *	KT_NOT_JUDGED
 * @all_quiet: @pass, if @held has all of them, and a switch to another thread that
 *	does not pass is only to be counted; else KT_NOT_JUDGED
 *
 * The owning CPU changes it, all but @owed and @all_quiet with interrupts disabled, and
 * another one if the owner is not online yet.  Any CPU may close it, that is store that
 * nothing is known: see kt_switch_close_all().
 */
struct kt_now {
	unsigned long thread;
	u32 pass;
	u32 uid;
	u32 all_ready;
	u32 all_quiet;
	u8 owed;
	u8 held;
	u8 ready;
};

/**
 * struct kt_coming - incoming task of a context switch, where struct kt_now does not
 * say it: for the call stack of the switch, and if the record of the switch was lost
 * @leaves: outgoing task; NULL = no such switch, records belong to current
 * @tid: thread id of the incoming task, -1 = unknown
 * @prio: priority of the incoming task
 */
struct kt_coming {
	const struct task_struct *leaves;
	s32 tid;
	u8 prio;
};

/**
 * struct kt_cost - time that one CPU spent in the tracer
 * @total: counts since the module was loaded
 * @sampled_at: trace clock of the last sample
 * @event: ticks that the last sample took
 * @opened: lower word of @total.opened at the last sample
 * @opening: lower word of @total.opening_ticks at the last sample
 *
 * Written by this CPU only.  The time of a nested writer may count in that of
 * the interrupted writer as well: the values are estimates.  32-bit kernels may
 * tear @sampled_at if a nested writer loads it; then a sample is taken too early
 * or too late.
 */
struct kt_cost {
	struct ktape_cost total;
	u64 sampled_at;
	u32 event;
	u32 opened;
	u32 opening;
};

/**
 * struct kt_cpu - per-CPU state that each event reads
 * @route: per opcode the only session that records it, or KT_ROUTE_*
 * @want: per opcode, bit n: session n records it
 * @now: kt_now of this CPU
 * @watch: bit n: session n records switches or context records;
 *	KT_VERDICT_VARIES and KT_WATCH_* of all sessions
 * @selective: bit n: session n has a thread filter, and @now is kept up to date
 *	for it
 * @switch_session: the only session that records sched_switch, or KT_ROUTE_MANY
 * @brief: per opcode @want, with KT_VERDICT_VARIES and KT_JUDGED of the thread
 *	filters, if no other filter, no trigger and no sink apply to the event in
 *	any of the sessions; else 0
 * @ring: per ring kind (KT_RING_NAMES included) and route; stored before any
 *	want bit of the session is set; NULL for KT_ROUTE_MANY
 * @rings: the same in one row, see KT_PLACE_OF()
 * @held: for KT_ROUTE_JUDGED the pages that count events which the session's filter
 *	holds back, if the running thread does not pass; as @ring
 * @held_pages: the same in one row
 * @kept: verdicts on threads, see kt_verdict_place()
 * @coming: incoming task of a switch whose record was lost, or has a call stack
 * @cost: the tracer's own time
 *
 * The ways of events, @route to @held_pages, follow from @want and the sessions'
 * filters.  @route saves the search for the bit in the usual case: one session, and
 * no filter, trigger or sink for the event.  @brief leads to the shorter ways of
 * brief.c.  One load of it says both which sessions record the event and that
 * nothing else is to be asked.
 */
struct kt_cpu {
	u8 route[KTAPE_OPCODES];
	u8 want[KTAPE_OPCODES];
	struct kt_now *now;
	u32 watch;
	u8 selective;
	u8 switch_session;
	u32 brief[KTAPE_OPCODES];
	union {
		struct kt_ring *ring[KT_RING_KINDS][KT_ROUTES];
		struct kt_ring *rings[KT_RING_KINDS * KT_ROUTES];
	};
	union {
		struct ktape_ring_page *held[KT_RING_KINDS][KT_ROUTES];
		struct ktape_ring_page *held_pages[KT_RING_KINDS * KT_ROUTES];
	};
	struct kt_kept kept[KT_KEPT];
	struct kt_coming coming;
	struct kt_cost cost;
};

/* Of all possible CPUs: those that come later have theirs. */
extern struct kt_cpu __percpu *kt_cpus;

/* Static, because the probe of sched_switch would have to save the address of kt_cpus. */
DECLARE_PER_CPU(struct kt_now, kt_now);

/* Nesting depth of this CPU in breakpoint handlers of run-time probes. */
DECLARE_PER_CPU(unsigned int, kt_breakpoints);

int kt_cpus_init(void);
void kt_cpus_exit(void);

/*
 * kt_cpus as the data of a probe, and back.  By way of a number, because pointers to
 * per-CPU data are in an address space of their own for newer compilers.
 */
static inline void *kt_cpus_data(void)
{
	return (void *)(__force unsigned long)kt_cpus;
}

static __always_inline struct kt_cpu __percpu *kt_cpus_of(void *data)
{
	return (struct kt_cpu __percpu *)(__force unsigned long)data;
}

#endif /* _KT_EVENT_CPU_H */
