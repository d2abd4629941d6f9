// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does an event fire a trigger?
 *
 * The check takes no lock and runs in the context of the event.  The records of
 * a firing are written here, behind the event.  All other actions may sleep:
 * @irq of the trigger starts session/trigger.c, which carries them out.
 */
#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/log2.h>

#include "internal.h"

struct kt_triggers __rcu *kt_triggers[KT_SESSIONS];

/* Up to this number each firing is recorded, then those at powers of two. */
#define RECORDED_EACH 16

/*
 * Events of each pair and its span, by gate.  A gate replaces the two events of a pair that
 * lasted long by one, the span (uapi/ktape/filter.h); a LONGER trigger finds such pairs with
 * the same code.
 */
static const struct {
	u8 begin, end, span;
} pairs[] = {
#define PAIR(begin, end, span)                                    \
	{                                                         \
		KTAPE_EV_##begin, KTAPE_EV_##end, KTAPE_EV_##span \
	}
	[KTAPE_GATE_SYSCALL] = PAIR(SYS_ENTER, SYS_EXIT, SYS_SPAN),
	[KTAPE_GATE_IRQ] = PAIR(IRQ_HANDLER_ENTRY, IRQ_HANDLER_EXIT, IRQ_SPAN),
	[KTAPE_GATE_SOFTIRQ] = PAIR(SOFTIRQ_ENTRY, SOFTIRQ_EXIT, SOFTIRQ_SPAN),
	[KTAPE_GATE_TIMER] = PAIR(TIMER_EXPIRE_ENTRY, TIMER_EXPIRE_EXIT, TIMER_SPAN),
	[KTAPE_GATE_HRTIMER] =
		PAIR(HRTIMER_EXPIRE_ENTRY, HRTIMER_EXPIRE_EXIT, HRTIMER_SPAN),
	[KTAPE_GATE_WORK] =
		PAIR(WORKQUEUE_EXECUTE_START, WORKQUEUE_EXECUTE_END, WORK_SPAN),
#undef PAIR
};

/**
 * kt_trigger_gate_of() - Get the gate that measures a pair
 * @span: opcode of the pair's span
 *
 * Context: any.
 * Return: enum ktape_gate, or -EINVAL if @span is no span.
 */
int kt_trigger_gate_of(u32 span)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		if (span && pairs[i].span == span)
			return i;
	return -EINVAL;
}

/**
 * kt_trigger_mask() - Add the events that a trigger checks to a mask
 * @spec: the trigger, checked
 * @mask: bit n: opcode n
 *
 * Context: any.
 */
void kt_trigger_mask(const struct ktape_trigger *spec, u64 *mask)
{
	int gate;

	if (spec->when != KTAPE_TRIGGER_LONGER) {
		mask[spec->opcode / 64] |= BIT_ULL(spec->opcode % 64);
		return;
	}
	gate = kt_trigger_gate_of(spec->opcode);
	mask[pairs[gate].begin / 64] |= BIT_ULL(pairs[gate].begin % 64);
	mask[pairs[gate].end / 64] |= BIT_ULL(pairs[gate].end % 64);
}

/*
 * Extract the value from a record that a trigger compares.
 * Return: false if the record does not have the words of that value.
 */
static bool compare_part(const struct ktape_trigger_compare *c,
			 const struct kt_record *rec, u64 *value)
{
	u64 v;

	if (c->word == KTAPE_COMPARE_DAT20) {
		v = rec->code >> 8 & KTAPE_DAT20_MASK;
	} else {
		if (c->word + (c->width > 32) >= rec->nargs)
			return false;
		v = rec->args[c->word];
		if (c->width > 32)
			v |= (u64)rec->args[c->word + 1] << 32;
	}
	v >>= c->shift;
	if (c->op & KTAPE_COMPARE_SIGNED)
		v = sign_extend64(v, c->width - 1);
	else if (c->width < 64)
		v &= BIT_ULL(c->width) - 1;
	*value = v;
	return true;
}

static bool compare_holds(const struct ktape_trigger_compare *c, u64 v)
{
	bool less = c->op & KTAPE_COMPARE_SIGNED ? (s64)v < (s64)c->value :
						   v < c->value;

	switch (c->op & ~KTAPE_COMPARE_SIGNED) {
	case KTAPE_COMPARE_EQ:
		return v == c->value;
	case KTAPE_COMPARE_NE:
		return v != c->value;
	case KTAPE_COMPARE_LT:
		return less;
	case KTAPE_COMPARE_LE:
		return less || v == c->value;
	case KTAPE_COMPARE_GT:
		return !less && v != c->value;
	case KTAPE_COMPARE_GE:
		return !less;
	default: /* KTAPE_COMPARE_ANY */
		return v & c->value;
	}
}

static bool trigger_matches(const struct kt_trigger *t, const struct kt_record *rec)
{
	unsigned int i;
	u64 v;

	for (i = 0; i < t->spec.nr_compares; i++)
		if (!compare_part(&t->spec.compare[i], rec, &v) ||
		    !compare_holds(&t->spec.compare[i], v))
			return false;
	return true;
}

static bool trigger_is_long(struct kt_trigger *t, const struct kt_record *rec)
{
	struct kt_span span;

	return kt_gates_pass(t->gates, rec, &span) == KT_SPAN &&
	       trigger_matches(t, &span.rec);
}

/*
 * Write a record past the want bits and triggers, so that it fires no trigger
 * itself.
 */
static void trigger_write(unsigned int session, u32 kind, const struct kt_record *rec)
{
	struct kt_ring *r = this_cpu_ptr(kt_cpus)->ring[kind][session];

	if (!r)
		return;
	/* A QUIET trigger fires without an event, which would have written it before. */
	if (kt_cpu_read(kt_now.pending) & BIT(session))
		kt_now_write_pending(BIT(session));
	kt_count(&r->page->emitted[rec->class]);
	kt_ring_write(r, rec);
}

/*
 * Record a firing.  A trigger that fires all the time must not push exceptions
 * out of the control ring, so not every firing is recorded; the records carry
 * the number of firings.
 */
static void trigger_record(struct kt_trigger *t, unsigned int session)
{
	const u32 args[] = { t->spec.opcode, atomic_read(&t->fired) };
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_TRIGGER, t->spec.id | t->spec.when << 5,
				0, ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = ARRAY_SIZE(args),
		.args = args,
	};

	if (args[1] > RECORDED_EACH && !is_power_of_2(args[1]))
		return;
	trigger_write(session, KT_EVENT_RING_TRIGGER, &rec);
}

static void trigger_mark(const struct kt_trigger *t, unsigned int session)
{
	static const char nothing[1]; /* the message: not NULL, because a mark has a blob */
	const u32 args[] = { t->spec.mark };
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_MARK, 0, 1, ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_USER,
		.nargs = ARRAY_SIZE(args),
		.args = args,
		.blob = nothing,
	};

	trigger_write(session, KT_EVENT_RING_MARK, &rec);
}

/**
 * kt_trigger_fire() - Fire a trigger, if its limit is not reached
 * @t: the trigger
 * @session: number of its session, which records
 *
 * Context: any, preemption disabled.
 */
void kt_trigger_fire(struct kt_trigger *t, unsigned int session)
{
	if (t->spec.limit && !atomic_add_unless(&t->fired, 1, (int)t->spec.limit))
		return;
	if (!t->spec.limit)
		atomic_inc(&t->fired);
	/* If two CPUs fire at the same moment, either time will do. */
	atomic64_set(&t->last, (s64)kt_clock());
	trigger_record(t, session);
	if (t->spec.actions & KTAPE_TRIGGER_MARK)
		trigger_mark(t, session);
	if (!(t->spec.actions & ~KTAPE_TRIGGER_MARK))
		return;
	/*
	 * Queue one interrupt at a time: an event of that interrupt may fire
	 * this trigger again and would queue the next one, without end.
	 */
	if (atomic_inc_return(&t->pending) == 1)
		irq_work_queue(&t->irq);
}

/* Count the event if it matches, and fire at every nth match. */
static void trigger_check(struct kt_trigger *t, unsigned int session,
			  const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	u32 nth = t->spec.nth;

	if (t->spec.when == KTAPE_TRIGGER_LONGER) {
		if (!trigger_is_long(t, rec))
			return;
	} else if (opcode != t->spec.opcode || !trigger_matches(t, rec)) {
		return;
	}
	if (t->spec.when == KTAPE_TRIGGER_QUIET)
		WRITE_ONCE(t->seen, jiffies);
	/* session/armed.c fires a QUIET trigger, when no event matches. */
	if ((u32)atomic_inc_return(&t->matches) % nth ||
	    t->spec.when == KTAPE_TRIGGER_QUIET)
		return;
	kt_trigger_fire(t, session);
}

/**
 * kt_triggers_check() - Check whether a recorded event fires triggers of a session
 * @all: the triggers, one of which checks the event
 * @session: number of the session
 * @rec: the event
 *
 * Context: any, preemption disabled.
 */
void kt_triggers_check(const struct kt_triggers *all, unsigned int session,
		       const struct kt_record *rec)
{
	unsigned int i;

	for (i = 0; i < all->nr; i++)
		trigger_check(all->trigger[i], session, rec);
}

/**
 * kt_triggers_skip() - Forget the pair of an event that does not pass
 * @all: the triggers of the session, or NULL
 * @rec: the event, which a filter rejected or a rate limit lost
 *
 * Otherwise the end of a later pair could be taken for the end of this one.
 *
 * Context: any, preemption disabled.
 */
void kt_triggers_skip(const struct kt_triggers *all, const struct kt_record *rec)
{
	unsigned int i;

	if (!all || !kt_triggers_want(all, rec->code & (KTAPE_OPCODES - 1)))
		return;
	for (i = 0; i < all->nr; i++)
		if (all->trigger[i]->gates)
			kt_gates_rejected(all->trigger[i]->gates, rec);
}

/**
 * kt_triggers_renew_gates() - Forget the pairs that are open now
 * @all: the triggers of a session, or NULL
 *
 * Context: process context under kt_session_control.
 */
void kt_triggers_renew_gates(const struct kt_triggers *all)
{
	unsigned int i;

	for (i = 0; all && i < all->nr; i++)
		if (all->trigger[i]->gates)
			kt_gates_renew(all->trigger[i]->gates);
}

/**
 * kt_triggers_follow() - Does a trigger measure a pair that a gate filters?
 * @all: the triggers of a session, or NULL
 * @gates: gates of the session's filters
 *
 * Context: process context under kt_session_control.
 * Return: true or false.
 */
bool kt_triggers_follow(const struct kt_triggers *all, const struct kt_gates *gates)
{
	const struct kt_trigger *t;
	unsigned int i;

	for (i = 0; all && i < all->nr; i++) {
		t = all->trigger[i];
		if (t->gates &&
		    kt_gates_have(gates, kt_gates_end_of(t->spec.opcode)))
			return true;
	}
	return false;
}

/**
 * kt_triggers_pair() - Does an event belong to a pair that a trigger measures?
 * @all: the triggers of a session, or NULL
 * @opcode: below KTAPE_OPCODES
 *
 * Context: under kt_session_lock, or in an interrupt on behalf of its holder.
 * Return: true or false.
 */
bool kt_triggers_pair(const struct kt_triggers *all, u32 opcode)
{
	unsigned int i;

	/* Gates handle the wide forms of a system call, triggers do not. */
	if (!all || !kt_triggers_want(all, opcode))
		return false;
	for (i = 0; i < all->nr; i++)
		if (all->trigger[i]->gates &&
		    kt_gates_have(all->trigger[i]->gates, opcode))
			return true;
	return false;
}

/**
 * kt_trigger_thread_exits() - Forget the open pairs of an exiting thread
 * @p: current, which may exit within a system call
 *
 * Context: the probe of sched_process_exit, preemption disabled.
 */
void kt_trigger_thread_exits(const struct task_struct *p)
{
	const struct kt_triggers *all;
	unsigned int i, j;

	for (i = 0; i < KT_SESSIONS; i++) {
		all = rcu_dereference_sched(kt_triggers[i]);
		for (j = 0; all && j < all->nr; j++)
			if (all->trigger[j]->gates)
				kt_gates_thread_exits(all->trigger[j]->gates, p);
	}
}
