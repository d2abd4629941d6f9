// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes control records, which say what the tracer itself did: starts and stops,
 * changes of profile and filters, exact counts, CPU hotplug, clock relations.
 *
 * Only its own CPU may write a ring, so control records are written by an
 * interrupt on each online CPU.  They do not depend on want bits (of each CPU: which sessions
 * record an event, event/cpu.h), because they mark the moments at which the want bits change.
 *
 * What is in dat20 and in the argument words of each record: uapi/ktape/events/control.h.
 *
 * CPUs that the session's CPU filter excludes are not interrupted.  Only while the
 * session's want bits are clear there, before a start and behind the grace period of
 * a stop, has such a CPU no writer of its own: then the controlling task writes the
 * records into its rings.  What happens in between, such as a change of the profile, is
 * not recorded there.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "event/event.h"
#include "filter/filter.h"
#include "internal.h"

/* Reasons in clock_sync records, see uapi/ktape/events/control.h.  3 (periodic) is not used. */
enum {
	SYNC_START = 0,
	SYNC_STOP = 1,
	SYNC_RESUME = 2,
	SYNC_CPU = 4,
};

/* What an order is about: each function that writes records knows which member it has. */
union kt_subject {
	const u64 *mask;		/* the profile to record */
	const u32 *args;		/* the argument words of a record */
	const struct kt_misses *misses; /* missed hits to record */
	atomic_t *failed; /* counts the rings that could not be flushed */
};

/**
 * struct kt_order - what the interrupt on each CPU has to write
 * @s: the session
 * @write: writes the records; runs on @cpu with interrupts disabled
 * @phase: enum ktape_phase, whether another CPU has rings, or the event of a record of
 *	three words
 * @reason: reason of clock_sync, or KT_LEDGER_*
 * @subject: what else @write needs
 * @filters: filters to record
 * @kinds: bit n: record the filter of enum ktape_filter_kind n
 *
 * Each @write uses only the members that it needs.
 */
struct kt_order {
	struct kt_session *s;
	void (*write)(const struct kt_order *order, unsigned int cpu);
	u32 phase;
	u32 reason;
	union kt_subject subject;
	const struct kt_filters *filters;
	u32 kinds;
};

/* Count and write a control record, if the CPU has rings in the session. */
static void control_write_record(struct kt_session *s, unsigned int cpu,
				 const struct kt_record *rec)
{
	struct kt_ring *r = kt_session_ring(s, cpu, KTAPE_RING_CONTROL);

	if (!r)
		return;
	kt_count(&r->page->emitted[rec->class]);
	kt_ring_write(r, rec);
}

/* Write a record of argument words.  @code: from KT_CODE(), without their number. */
static void control_write_args(struct kt_session *s, unsigned int cpu, u32 code,
			       u32 nargs, const u32 *args)
{
	const struct kt_record rec = {
		.code = code | KT_CODE(0, 0, 0, nargs),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = nargs,
		.args = args,
	};

	control_write_record(s, cpu, &rec);
}

static void control_write_sync(struct kt_session *s, unsigned int cpu, u32 reason)
{
	struct kt_moment m;
	u32 args[7];

	kt_clock_moment(&m);
	args[0] = (u32)m.mono;
	args[1] = (u32)(m.mono >> 32);
	args[2] = (u32)m.boot;
	args[3] = (u32)(m.boot >> 32);
	args[4] = (u32)m.real;
	args[5] = (u32)(m.real >> 32);
	/* The time of the record itself may be later than m.clock. */
	args[6] = (u32)m.clock;
	control_write_args(s, cpu,
			   KT_CODE(KTAPE_EV_CLOCK_SYNC,
				   kt_clock_stable() | reason << 1, 0, 0),
			   ARRAY_SIZE(args), args);
}

static void control_halt_rings(struct kt_session *s, unsigned int cpu)
{
	unsigned int kind;
	struct kt_ring *r;

	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
		r = kt_session_ring(s, cpu, kind);
		if (r)
			kt_ring_halt(r);
	}
}

/*
 * Record a start or a stop.  A start also measures what a record costs, so that each trace
 * says so; a stop sends later writers into the slow path, which refuses their records.
 */
static void control_write_session(const struct kt_order *order, unsigned int cpu)
{
	struct kt_ring *r;
	u32 args[] = { order->s->id, order->s->mode };

	control_write_args(order->s, cpu,
			   KT_CODE(KTAPE_EV_SESSION, order->phase, 0, 0),
			   ARRAY_SIZE(args), args);
	control_write_sync(order->s, cpu, order->reason);
	r = kt_session_ring(order->s, cpu, KTAPE_RING_EVENT);
	if (r && order->phase == KTAPE_PHASE_ON &&
	    kt_session_records_on(order->s, cpu))
		kt_cost_sample(r);
	/* All writers are done, see session_stop_running(). */
	if (order->phase == KTAPE_PHASE_OFF)
		control_halt_rings(order->s, cpu);
}

/*
 * Record which thread runs on this CPU.  Readers know it from the last recorded
 * switch, but the session may not have recorded every switch until now.  The thread is
 * unknown (tid -1) if the profile omits context records, and on a CPU that the filters have
 * come to exclude: no switch is recorded there from now on.
 */
static void control_write_context(struct kt_session *s, unsigned int cpu)
{
	struct kt_ring *r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
	bool known = !s->owner.no_context && kt_session_records_on(s, cpu);
	u32 tid = known ? current->pid : -1;
	struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_CONTEXT, known ? (u8)current->prio : 0,
				0, 1),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = 1,
		.args = &tid,
	};

	if (!r)
		return;
	kt_count(&r->page->emitted[rec.class]);
	kt_ring_write(r, &rec);
	kt_now_reported(s->id);
}

/*
 * Store the want bits and record the thread in one interrupt, so that no switch happens in
 * between.  The pass mask is closed before and computed again after the bits change, because
 * it is by the thread filters that were in force.
 */
static void control_write_want(const struct kt_order *order, unsigned int cpu)
{
	kt_now_forget();
	kt_want_apply(order->s, cpu);
	kt_now_renew();
	control_write_context(order->s, cpu);
}

/* Record that another CPU has got rings, or has none. */
static void control_write_other(const struct kt_order *order, unsigned int cpu)
{
	control_write_args(order->s, cpu,
			   KT_CODE(order->phase ? KTAPE_EV_CPU_WITH :
						  KTAPE_EV_CPU_WITHOUT,
				   0, 0, 0),
			   1, order->subject.args);
}

/*
 * Record which online CPUs have no rings.  They come before an on-marker, which
 * would otherwise claim that events of all CPUs are recorded from here on.
 */
static void control_write_all_without(struct kt_session *s, unsigned int cpu)
{
	unsigned int other;

	for_each_online_cpu(other)
		if (!kt_session_ring(s, other, KTAPE_RING_CONTROL))
			control_write_args(s, cpu,
					   KT_CODE(KTAPE_EV_CPU_WITHOUT, 0, 0, 0),
					   1, &other);
}

static void control_write_profile(const struct kt_order *order, unsigned int cpu)
{
	u32 generation = order->s->owner.generation;
	struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_PROFILE, order->phase, 1, 1),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = 1,
		.size = KTAPE_MASK_WORDS * sizeof(u64),
		.args = &generation,
		.blob = order->subject.mask,
	};

	if (order->phase == KTAPE_PHASE_ON)
		control_write_all_without(order->s, cpu);
	control_write_record(order->s, cpu, &rec);
}

static void control_write_filters(const struct kt_order *order, unsigned int cpu)
{
	u32 args[] = { order->s->owner.generation, 0 };
	u32 kinds, kind;

	for (kinds = order->kinds; kinds; kinds &= kinds - 1) {
		kind = __ffs(kinds);
		args[1] = order->filters->nr[kind];
		control_write_args(order->s, cpu,
				   KT_CODE(KTAPE_EV_FILTER,
					   kind | order->phase << 5, 0, 0),
				   ARRAY_SIZE(args), args);
	}
}

/*
 * Record the counts of one class of ring @r.  The counts of class control in the
 * control ring do not include this record.
 */
static void control_write_class(const struct kt_order *order,
				const struct kt_ring *r, unsigned int class)
{
	u64 counts[2 + KTAPE_LOST_REASONS];
	unsigned int i;
	struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_LEDGER,
				class | r->kind << 5 | order->reason << 8, 1, 0),
		.class = KTAPE_CLASS_CONTROL,
		.size = sizeof(counts),
		.blob = counts,
	};

	counts[0] = kt_count_read(&r->page->emitted[class]);
	counts[1] = kt_count_read(&r->page->filtered[class]);
	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		counts[2 + i] = kt_count_read(&r->page->lost[i][class]);
	control_write_record(order->s, r->cpu, &rec);
}

/*
 * Record all pending losses, then the counts of each class that has any.  The
 * class control of the control ring always comes last, so that readers know where
 * the ledger ends.
 */
static void control_write_ledger(const struct kt_order *order, unsigned int cpu)
{
	unsigned int kind, class;
	struct kt_ring *r;

	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
		r = kt_session_ring(order->s, cpu, kind);
		if (!r)
			return;
		kt_event_losses(r);
	}
	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
		r = kt_session_ring(order->s, cpu, kind);
		for (class = 0; class < KTAPE_CLASSES; ++class)
			if (kt_count_read(&r->page->emitted[class]) &&
			    !(kind == KTAPE_RING_CONTROL &&
			      class == KTAPE_CLASS_CONTROL))
				control_write_class(order, r, class);
	}
	control_write_class(order, r, KTAPE_CLASS_CONTROL);
}

static void control_write_miss(const struct kt_order *order, unsigned int cpu,
			       const struct kt_miss *miss)
{
	const struct kt_misses *l = order->subject.misses;
	const u32 args[] = {
		(u32)l->first,
		(u32)(l->first >> 32),
		(u32)l->last,
		(u32)(l->last >> 32),
		(u32)miss->count,
		(u32)(miss->count >> 32),
		min_t(u64, l->reading, U32_MAX),
	};

	control_write_args(order->s, cpu,
			   KT_CODE(KTAPE_EV_MISSED,
				   miss->opcode | miss->reason << 8, 0, 0),
			   ARRAY_SIZE(args), args);
}

/* Record missed hits.  Where no probe was attached, their count is not known, and 0. */
static void control_write_missed(const struct kt_order *order, unsigned int cpu)
{
	struct kt_miss failed = { .reason = KTAPE_MISSED_DETACHED };
	const struct kt_misses *l = order->subject.misses;
	unsigned int i;

	for (i = 0; i < l->nr; i++)
		control_write_miss(order, cpu, &l->miss[i]);
	for (i = 0; i < KTAPE_OP_PROBE; i++) {
		if (!kt_mask_has(l->failed, i))
			continue;
		failed.opcode = i;
		control_write_miss(order, cpu, &failed);
	}
}

static void control_write_cpu(const struct kt_order *order, unsigned int cpu)
{
	control_write_args(order->s, cpu,
			   KT_CODE(KTAPE_EV_CPU, order->phase, 0, 0), 1, &cpu);
	control_write_sync(order->s, cpu, order->reason);
}

static void control_write_resume(const struct kt_order *order, unsigned int cpu)
{
	control_write_sync(order->s, cpu, order->reason);
}

/* Write a record with three argument words. */
static void control_write_words(const struct kt_order *order, unsigned int cpu)
{
	control_write_args(order->s, cpu, KT_CODE(order->phase, 0, 0, 0), 3,
			   order->subject.args);
}

/* Write the ledger and close the open blocks, and count the rings that have no room. */
static void control_write_flush(const struct kt_order *order, unsigned int cpu)
{
	unsigned int kind;
	unsigned long at;
	struct kt_ring *r;

	r = kt_session_ring(order->s, cpu, KTAPE_RING_EVENT);
	at = r ? READ_ONCE(r->write) : 0;
	/*
	 * An empty block is not closed, and the counts have not changed: no ledger.  Where a
	 * block is just full, nothing is behind it yet, and only a ledger says that it is
	 * the last one; the flush opens an empty block.
	 */
	if (at && (at & (r->block_size - 1)) != KTAPE_BLOCK_HEADER)
		control_write_ledger(order, cpu);
	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
		r = kt_session_ring(order->s, cpu, kind);
		if (r && kt_ring_flush(r))
			atomic_inc(order->subject.failed);
	}
}

static void control_on_cpu(void *info)
{
	const struct kt_order *order = info;

	order->write(order, smp_processor_id());
}

/* CPUs that are interrupted.  Used with kt_session_lock. */
static struct cpumask chosen;

/* Choose the online CPUs that the session's filters or @former include. */
static void control_choose(const struct kt_session *s, const struct kt_filters *former)
{
	unsigned int cpu;

	lockdep_assert_held(&kt_session_lock);
	cpumask_clear(&chosen);
	for_each_online_cpu(cpu)
		if (kt_session_records_on(s, cpu) ||
		    kt_filters_record_on(former, cpu))
			cpumask_set_cpu(cpu, &chosen);
}

/* Call @write on every online CPU that the session includes. */
static void control_everywhere(struct kt_session *s,
			       void (*write)(const struct kt_order *order,
					     unsigned int cpu),
			       u32 phase, u32 reason, union kt_subject subject)
{
	struct kt_order order = {
		.s = s,
		.write = write,
		.phase = phase,
		.reason = reason,
		.subject = subject,
	};

	control_choose(s, kt_session_filters(s));
	on_each_cpu_mask(&chosen, control_on_cpu, &order, true);
}

/* What does not need a subject has this one. */
static const union kt_subject no_subject;

/**
 * kt_control_session() - mark start or stop on every online CPU
 * @s: the session
 * @phase: enum ktape_phase
 *
 * Context: process context with cpus_read_lock() and kt_session_lock, as for
 * all functions of this file.
 */
void kt_control_session(struct kt_session *s, u32 phase)
{
	control_everywhere(s, control_write_session, phase,
			   phase == KTAPE_PHASE_ON ? SYNC_START : SYNC_STOP,
			   no_subject);
}

/**
 * kt_control_want() - set and clear the want bits of a session on every CPU
 * @s: the session
 * @former: the filters that were in force before
 *
 * Each online CPU that the filters include, or did, changes its own want bits and records
 * which thread it runs, or that this is unknown, so that readers do not attribute events to
 * a thread that ran there before.  The others record no threads: their bits are set from
 * here.
 */
void kt_control_want(struct kt_session *s, const struct kt_filters *former)
{
	struct kt_order order = { .s = s, .write = control_write_want };
	static struct cpumask left; /* with kt_session_lock */
	unsigned int cpu, other;

	control_choose(s, former);
	cpumask_copy(&left, &chosen);
	/* CPUs that have and get the same want bits share one plan, see want.c. */
	for_each_cpu(cpu, &left) {
		kt_want_plan(s, cpu);
		cpumask_clear(&chosen);
		for_each_cpu(other, &left)
			if (kt_want_plan_fits(s, other))
				cpumask_set_cpu(other, &chosen);
		cpumask_andnot(&left, &left, &chosen);
		on_each_cpu_mask(&chosen, control_on_cpu, &order, true);
	}
	control_choose(s, former);
	for_each_possible_cpu(cpu)
		if (!cpumask_test_cpu(cpu, &chosen))
			kt_want_set(s, cpu);
}

/**
 * kt_control_profile() - mark a change of the profile on every online CPU
 * @s: the session
 * @phase: ON: all of @mask is recorded from here on; OFF: nothing else is from here on
 * @mask: the profile
 */
void kt_control_profile(struct kt_session *s, u32 phase, const u64 *mask)
{
	control_everywhere(s, control_write_profile, phase, 0,
			   (union kt_subject){ .mask = mask });
}

/**
 * kt_control_filters() - mark a change of filters on every online CPU
 * @s: the session
 * @phase: ON: they may reject events from here on; OFF: they no longer do
 * @f: the filters, for the number of their entries
 * @kinds: bit n: enum ktape_filter_kind n
 */
void kt_control_filters(struct kt_session *s, u32 phase,
			const struct kt_filters *f, u32 kinds)
{
	struct kt_order order = {
		.s = s,
		.write = control_write_filters,
		.phase = phase,
		.filters = f,
		.kinds = kinds,
	};

	control_choose(s, f);
	on_each_cpu_mask(&chosen, control_on_cpu, &order, true);
}

/**
 * kt_control_included() - record the profile on CPUs that filters begin to include
 * @s: the session
 * @former: the filters that were in force before
 *
 * Changes of the profile were not recorded there meanwhile.
 */
void kt_control_included(struct kt_session *s, const struct kt_filters *former)
{
	struct kt_order order = {
		.s = s,
		.write = control_write_profile,
		.phase = KTAPE_PHASE_ON,
		.subject.mask = s->recordable,
	};
	unsigned int cpu;

	control_choose(s, kt_session_filters(s));
	for_each_online_cpu(cpu)
		if (kt_filters_record_on(former, cpu))
			cpumask_clear_cpu(cpu, &chosen);
	on_each_cpu_mask(&chosen, control_on_cpu, &order, true);
}

/* Return an order to record the filters and the profile of a session. */
static struct kt_order control_order(struct kt_session *s, u32 phase)
{
	static const u64 nothing[KTAPE_MASK_WORDS];
	const struct kt_filters *f = kt_session_filters(s);

	return (struct kt_order){
		.s = s,
		.phase = phase,
		.subject.mask = phase == KTAPE_PHASE_ON ? s->recordable : nothing,
		.filters = f,
		.kinds = f ? f->kinds : 0,
	};
}

/**
 * kt_control_excluded() - mark a start or a stop on online CPUs that the session excludes
 * @s: the session; its want bits are clear there, and have been for a grace period
 * @phase: ON or OFF
 *
 * The records are written from here.  At a start the filters, of which one excludes the
 * CPU, come before the profile, as on all CPUs: no reader takes the CPU for one that
 * records.
 */
void kt_control_excluded(struct kt_session *s, u32 phase)
{
	const bool on = phase == KTAPE_PHASE_ON;
	struct kt_order order = control_order(s, phase);
	unsigned long flags;
	unsigned int cpu;

	lockdep_assert_held(&kt_session_lock);
	for_each_online_cpu(cpu) {
		if (kt_session_records_on(s, cpu))
			continue;
		local_irq_save(flags);
		if (!on)
			control_write_profile(&order, cpu);
		order.reason = on ? KT_LEDGER_START : KT_LEDGER_STOP;
		control_write_ledger(&order, cpu);
		order.reason = on ? SYNC_START : SYNC_STOP;
		control_write_session(&order, cpu);
		if (on) {
			control_write_filters(&order, cpu);
			control_write_profile(&order, cpu);
		}
		local_irq_restore(flags);
	}
}

/**
 * kt_control_ledger() - write the exact counts of every online CPU
 * @s: the session; only control records are written to its rings now
 * @moment: KT_LEDGER_*
 */
void kt_control_ledger(struct kt_session *s, u32 moment)
{
	control_everywhere(s, control_write_ledger, 0, moment, no_subject);
}

/* What a CPU writes that came online, in one interrupt. */
static void control_write_arrival(const struct kt_order *order, unsigned int cpu)
{
	control_write_cpu(order, cpu);
	control_write_context(order->s, cpu);
	control_write_filters(order, cpu);
	control_write_profile(order, cpu);
}

/* Prepare what a CPU writes that came online (ON) or goes offline. */
static struct kt_order control_cpu_order(struct kt_session *s, u32 phase)
{
	struct kt_order order = control_order(s, phase);

	order.write = phase == KTAPE_PHASE_ON ? control_write_arrival :
						control_write_cpu;
	order.reason = SYNC_CPU;
	return order;
}

/**
 * kt_control_cpu() - mark that a CPU came online or goes offline
 * @s: the session
 * @cpu: the CPU on which this runs
 * @online: true: it came online
 *
 * Context: on the CPU itself, process context.
 */
void kt_control_cpu(struct kt_session *s, unsigned int cpu, bool online)
{
	struct kt_order order =
		control_cpu_order(s, online ? KTAPE_PHASE_ON : KTAPE_PHASE_OFF);
	unsigned long flags;

	local_irq_save(flags);
	control_on_cpu(&order);
	local_irq_restore(flags);
}

/**
 * kt_control_join() - let an online CPU record that had no rings until now
 * @s: the session, which records and includes the CPU; it has given it its rings
 * @cpu: the CPU
 *
 * In the order of a start: want bits, a grace period, on-markers.  If the CPU goes offline
 * during the grace period, it is marked when it comes back, as each CPU that has rings.
 *
 * Context: as kt_session_synchronize().
 */
void kt_control_join(struct kt_session *s, unsigned int cpu)
{
	struct kt_order order = { .s = s, .write = control_write_want };

	lockdep_assert_held(&kt_session_lock);
	kt_want_plan(s, cpu);
	smp_call_function_single(cpu, control_on_cpu, &order, 1);
	cpumask_set_cpu(cpu, &s->joining);
	kt_session_synchronize(s);
	if (!cpumask_test_and_clear_cpu(cpu, &s->joining))
		return;
	/* The ends of pairs that came on this CPU before were not recorded. */
	kt_session_forget_pairs(s);
	order = control_cpu_order(s, KTAPE_PHASE_ON);
	smp_call_function_single(cpu, control_on_cpu, &order, 1);
}

/**
 * kt_control_other() - mark on every online CPU whether another CPU has rings
 * @s: the session
 * @cpu: the CPU
 * @with: true: it has got rings; false: it is not recorded
 *
 * Context: as for all functions of this file, or with the hotplug lock for writing.
 */
void kt_control_other(struct kt_session *s, unsigned int cpu, bool with)
{
	control_everywhere(s, control_write_other, with, 0,
			   (union kt_subject){ .args = &cpu });
}

/**
 * kt_control_resume() - record how the clocks relate on every online CPU
 * @s: the session
 */
void kt_control_resume(struct kt_session *s)
{
	control_everywhere(s, control_write_resume, 0, SYNC_RESUME, no_subject);
}

/**
 * kt_control_missed() - record missed hits on every online CPU
 * @s: the session
 * @misses: the hits
 *
 * Context: as kt_control_other().
 */
void kt_control_missed(struct kt_session *s, const struct kt_misses *misses)
{
	control_everywhere(s, control_write_missed, 0, 0,
			   (union kt_subject){ .misses = misses });
}

/**
 * kt_control_flush() - close the open blocks of every online CPU
 * @s: the session
 *
 * Return: 0, or -EAGAIN when a ring had no room for another block.
 */
int kt_control_flush(struct kt_session *s)
{
	atomic_t failed = ATOMIC_INIT(0);

	control_everywhere(s, control_write_flush, 0, KT_LEDGER_FLUSH,
			   (union kt_subject){ .failed = &failed });
	return atomic_read(&failed) ? -EAGAIN : 0;
}

/**
 * kt_control_words() - write a record of three words on every online CPU
 * @s: the session
 * @opcode: its event
 * @a0: first word
 * @a1: second word
 * @a2: third word
 */
void kt_control_words(struct kt_session *s, u32 opcode, u32 a0, u32 a1, u32 a2)
{
	const u32 args[] = { a0, a1, a2 };

	control_everywhere(s, control_write_words, opcode, 0,
			   (union kt_subject){ .args = args });
}
