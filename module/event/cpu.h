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
#define KT_RING_NAMES KTAPE_RINGS_PER_CPU
#define KT_RING_KINDS (KT_RING_NAMES + 1)

/*
 * Bits of struct kt_cpu.want above those of the sessions:
 *
 *   KT_WANT_CHECK	a filter by more than the thread applies to the event in one of the
 *			sessions, or a trigger, a call stack or a sink: only
 *			event_check() does all that is needed
 *   KT_WANT_SWITCH	of sched_switch only: a switch changes the pass mask, or context
 *			records are needed: only kt_switch_record() does that
 *   KT_WANT_NONE	no session wants the event; not of control records
 *   KT_WANT_MANY	several sessions do; not of control records
 *
 * Because of the last two, an event without any of these bits has one ring: nothing else
 * has to be compared with zero.  Bit KT_SESSIONS + 2 is left to KT_MASK_UNKNOWN,
 * because want bits are compared with the mask.
 */
#define KT_WANT_CHECK  BIT(KT_SESSIONS)
#define KT_WANT_SWITCH BIT(KT_SESSIONS + 1)
#define KT_WANT_NONE   BIT(KT_SESSIONS + 3)
#define KT_WANT_MANY   BIT(KT_SESSIONS + 4)

/* Number of possible sets of sessions. */
#define KT_ALONE (1U << KT_SESSIONS)

/*
 * The pass mask of a CPU, struct kt_now.mask.  An event is recorded in its one session at
 * once if its want bits have none of the mask's lower bits set, and in its sessions if
 * KT_WANT_MANY alone is set in both.
 *
 *   bit n		session n may not record an event of the running thread at once
 *   KT_MASK_ALWAYS	always set: an event whose want bits have one of these has not one
 *			session, or is to be checked
 *   KT_MASK_UNKNOWN	it is not known what the thread passes
 *   bit 16 + n		session n has no thread filter, or the thread passes
 *   bit 24 + n		the thread does not pass, whatever its uid is
 */
#define KT_MASK_ALWAYS \
	(KT_WANT_CHECK | KT_WANT_SWITCH | KT_WANT_NONE | KT_WANT_MANY)
#define KT_MASK_UNKNOWN	       BIT(KT_SESSIONS + 2)
#define KT_MASK_PASS_SHIFT     16
#define KT_MASK_FILTERED_SHIFT 24
#define KT_MASK_SESSIONS       (BIT(KT_SESSIONS) - 1)
/* No session has a thread filter. */
#define KT_MASK_OPEN   (KT_MASK_ALWAYS | KT_MASK_SESSIONS << KT_MASK_PASS_SHIFT)
#define KT_MASK_CLOSED (KT_MASK_ALWAYS | KT_MASK_SESSIONS | KT_MASK_UNKNOWN)

/* struct kt_now.steady: no switch is steady, see kt_switch_is_steady(). */
#define KT_NOT_STEADY BIT(KT_SESSIONS)

/* struct kt_now.thread: the record of the switch to the thread is stored. */
#define KT_ARRIVED 1UL

/**
 * struct kt_now - the thread that a CPU runs, and what its sessions need to know
 * @thread: the thread of the next record, with KT_ARRIVED; without it, its switch
 *	is being recorded; 0: no switch has been seen since the probe of
 *	sched_switch was attached, so it is current
 * @mask: the pass mask of @thread, see KT_MASK_ALWAYS
 * @uid: uid of the thread when @mask was computed
 * @steady: a switch to a thread that passes in the sessions of these bits changes
 *	neither @mask nor @pending, and needs no context record; or KT_NOT_STEADY
 * @pending: bit n: readers of session n do not know which thread runs; its context
 *	record is written before the next event of the session
 *
 * The owning CPU changes it with interrupts disabled, and another one if the owner is not
 * online yet.  An NMI changes only @pending and @steady.  Any CPU may store that nothing
 * is known: see kt_now_close_all().
 */
struct kt_now {
	unsigned long thread;
	unsigned long mask;
	u32 uid;
	u32 steady;
	u8 pending;
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
 * @want: per opcode, bit n: session n records it; and KT_WANT_*.  A long, because it
 *	is an index, and the compiler would have to extend a shorter one
 * @now: kt_now of this CPU
 * @selective: bit n: session n has a thread filter, and @now is kept up to date
 *	for it; or it had one, and events may still have its want bits of that time
 * @by_uid: those of @selective that filter by uid, or did.  A thread may change its uid
 *	at any time, and no tracepoint reports it
 * @by_cgroup: those of @selective that filter by cgroup, or did
 * @planned: those of @selective that have a filter now; used with kt_session_lock
 * @alone: per ring kind and set of sessions, the ring if it is one session; else NULL.
 *	Saves the search for the bit in the usual case
 * @alone_row: the same in one row, see KT_PLACE_OF()
 * @ring: per ring kind (KT_RING_NAMES included) and session; stored before any
 *	want bit of the session is set
 * @rings: the same in one row
 * @kept: results of thread filters, see kt_match_place()
 * @coming: incoming task of a switch whose record was lost, or has a call stack
 * @cost: the tracer's own time
 */
struct kt_cpu {
	unsigned long want[KTAPE_OPCODES];
	struct kt_now *now;
	u8 selective;
	u8 by_uid;
	u8 by_cgroup;
	u8 planned;
	union {
		struct kt_ring *alone[KTAPE_RINGS_PER_CPU][KT_ALONE];
		struct kt_ring *alone_row[KTAPE_RINGS_PER_CPU * KT_ALONE];
	};
	union {
		struct kt_ring *ring[KT_RING_KINDS][KT_SESSIONS];
		struct kt_ring *rings[KT_RING_KINDS * KT_SESSIONS];
	};
	struct kt_kept kept[KT_KEPT];
	struct kt_coming coming;
	struct kt_cost cost;
};

/* Allocated for all possible CPUs, so a CPU that comes online later has its own. */
extern struct kt_cpu __percpu *kt_cpus;

/* Static: otherwise the probe of sched_switch would have to save the address of kt_cpus. */
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
