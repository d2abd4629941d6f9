// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of context switches where the probe of sched_switch cannot store them alone:
 * sessions have thread filters, context records take the place of switches, or the event
 * has to be checked.
 */
#include <linux/sched.h>

#include "internal.h"

/*
 * Which sessions does the outgoing thread of a switch pass?  It still is current.  Where a
 * filter is by uid, the mask may be of the uid that the thread had before.
 */
static u32 switch_pass_of(struct kt_cpu *c, struct task_struct *prev)
{
	const u32 mask = READ_ONCE(c->now->mask);
	struct kt_kept match;

	if (!(mask & KT_MASK_UNKNOWN) && !READ_ONCE(c->by_uid))
		return mask >> KT_MASK_PASS_SHIFT;
	kt_match_get(prev, READ_ONCE(c->by_uid), &match);
	return match.pass;
}

/* Store the record in the sessions in which one of the threads passes.  Return: these. */
static u32 switch_put(struct kt_cpu *c, u32 code, struct task_struct *prev,
		      struct task_struct *next, u32 pass)
{
	const u32 want = READ_ONCE(c->want[KTAPE_EV_SCHED_SWITCH]);
	const u32 args[] = { prev->pid, next->pid };
	const struct kt_record rec = {
		.code = code,
		.class = KT_CLASS_OF_SCHED_SWITCH,
		.nargs = ARRAY_SIZE(args),
		.args = args,
	};
	u32 filtered;

	/* The outgoing thread still is current, which is checked in any case: name the other. */
	if (want & KT_WANT_CHECK)
		return kt_event_record_of(KT_EVENT_RING_SCHED_SWITCH, &rec, next);
	filtered = want & KT_MASK_SESSIONS & ~pass;
	pass &= want & KT_MASK_SESSIONS;
	if (filtered)
		kt_count_filtered(kt_cpus, KT_PLACE(SCHED_SWITCH), filtered);
	if (pass)
		kt_put(code, KT_PLACE(SCHED_SWITCH), args[0], args[1], 0, pass);
	return pass;
}

/**
 * kt_switch_record() - Record a switch in all sessions, whatever they need
 * @code: from KT_CODE() for sched_switch
 * @prev: the outgoing thread
 * @next: the incoming thread
 *
 * From kt_switch_begin() on an NMI takes the thread for unknown, because it cannot know
 * whether the records that are stored here come before its own or after.  That ends when the
 * incoming thread is noted as arrived: in kt_now_arrive(), together with its pass mask, or, if
 * no session has a thread filter, in kt_switch_end().
 *
 * Context: the probe of sched_switch.
 */
noinline void notrace kt_switch_record(u32 code, struct task_struct *prev,
				       struct task_struct *next)
{
	struct kt_cpu *c = this_cpu_ptr(kt_cpus);
	const u32 selective = READ_ONCE(c->selective);
	u32 recorded, contexts, unknown, pass = KT_MASK_SESSIONS;
	struct kt_kept match;

	if (selective) {
		kt_match_get(next, READ_ONCE(c->by_uid), &match);
		pass = match.pass;
	}
	kt_switch_begin(next);
	recorded = switch_put(c, code, prev, next,
			      selective ? pass | switch_pass_of(c, prev) : pass);
	contexts = READ_ONCE(c->want[KTAPE_EV_CONTEXT]) & ~recorded;
	/* Readers of these sessions learn nothing about threads that do not pass. */
	unknown = contexts & selective & ~pass;
	contexts &= ~unknown;
	/* Where a context record is pending, readers do not know the thread anyway. */
	unknown &= ~READ_ONCE(c->now->pending);
	kt_now_report(contexts, next->pid, (u8)next->prio);
	kt_now_report(unknown, -1, 0);
	if (!selective) {
		kt_now_open(c);
		kt_switch_end();
		return;
	}
	WRITE_ONCE(c->now->pending, (READ_ONCE(c->now->pending) | unknown) &
					    ~(contexts | recorded));
	kt_now_arrive(c, next, &match);
}
