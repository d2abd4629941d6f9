// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decides which sessions record an event, and records it in them.
 *
 * What the want bits and the pass mask say at once is in event.h: one session records the
 * event or filters it, or several record it.  kt_event_many() decides about everything else,
 * and put.c stores the event.  Where a filter checks more than the thread, or a trigger, a
 * stack or a sink (a function of another module) needs the event, it becomes a record in
 * memory, and each session checks that.
 */
#include <linux/sched.h>

#include "internal.h"

u64 kt_sink_mask[KTAPE_MASK_WORDS];
static void (*sink_call)(const struct kt_record *rec);

static const struct {
	const char *name;
	u8 class;
} events[KTAPE_OPCODES] = {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	[opcode] = { #name, KTAPE_CLASS_##CLASS },
#include <ktape/events.h>
};

/**
 * kt_event_opcode_exists() - Is there an event with this opcode?
 * @opcode: any number
 *
 * Return: true or false. Context: any.
 */
bool kt_event_opcode_exists(unsigned int opcode)
{
	return opcode < KTAPE_OPCODES && events[opcode].name;
}

/**
 * kt_event_name() - Get the name of an event
 * @opcode: any number
 *
 * Return: the name, or NULL. Context: any.
 */
const char *kt_event_name(unsigned int opcode)
{
	return opcode < KTAPE_OPCODES ? events[opcode].name : NULL;
}

/**
 * kt_event_class() - Get the class of an event
 * @opcode: of an event that exists
 *
 * Return: enum ktape_class. Context: any.
 */
unsigned int kt_event_class(unsigned int opcode)
{
	return events[opcode].class;
}

/**
 * kt_sink_set() - Set the function that is called for events that sinks want
 * @call: called with preemption disabled in any context
 *
 * Context: module load, before the first kt_sink_mask_set().
 */
void kt_sink_set(void (*call)(const struct kt_record *rec))
{
	sink_call = call;
}

/**
 * kt_sink_mask_set() - Set the events that sinks want
 * @mask: bit n: opcode n
 *
 * The caller then has all CPUs update their want bits.
 *
 * Context: process context; the caller serializes.
 */
void kt_sink_mask_set(const u64 *mask)
{
	unsigned int i;

	for (i = 0; i < KTAPE_MASK_WORDS; i++)
		WRITE_ONCE(kt_sink_mask[i], mask[i]);
}

/*
 * Record an event that passed the filters, and the call stack that follows it.
 * The stack has a rate limit of its own.  A lost event has no stack.
 */
static void record_with_stack(const struct kt_filters *f, struct kt_ring *r,
			      const struct kt_record *rec)
{
	const struct kt_record stack = { .code = KTAPE_EV_KERNEL_STACK,
					 .class = KTAPE_CLASS_STACK };
	const bool is_switch = (rec->code & (KTAPE_OPCODES - 1)) ==
			       KTAPE_EV_SCHED_SWITCH;
	struct kt_coming old;

	if (kt_ring_write(r, rec) || !kt_filter_has_stack(f, rec))
		return;
	kt_count(&r->page->emitted[KTAPE_CLASS_STACK]);
	if (!kt_filter_pass_rate(f, r, &stack))
		return;
	/* A block that the stack opens belongs to the incoming task, next_tid and next_prio. */
	if (is_switch)
		old = kt_coming_set(rec->args[1], rec->code >> 16 & 0xff);
	kt_stack_record(r, rec);
	if (is_switch)
		kt_coming_back(&old);
}

/*
 * Record the span of a pair.  It needs no count as emitted, because the event
 * that it replaces was counted.
 */
static void record_span(const struct kt_filters *f, struct kt_ring *r,
			const struct kt_record *rec)
{
	if (!kt_filter_pass_rate(f, r, rec))
		return;
	if (unlikely(kt_nmi_unsafe())) {
		kt_ring_lose(r, KTAPE_LOST_NESTED, rec->class);
		return;
	}
	record_with_stack(f, r, rec);
}

/*
 * Is an event of a session with gates to be recorded?  A span that replaces the
 * event is recorded here.  Only gates need room for a span on the stack.
 */
static noinline bool event_passes_gates(const struct kt_filters *f,
					struct kt_ring *r,
					const struct kt_record *rec,
					const struct kt_threads *who)
{
	struct kt_span span;
	enum kt_result result = kt_filter_pass(f, r, rec, who, &span);

	if (unlikely(result == KT_SPAN))
		record_span(f, r, &span.rec);
	return result == KT_PASS;
}

/*
 * Get the thread that an event belongs to.  sched_blocked comes after the record of
 * the switch, but is about the outgoing thread.
 */
static struct task_struct *event_owner(const struct kt_record *rec)
{
	struct task_struct *p = NULL;

	if ((u8)rec->code != KTAPE_EV_SCHED_BLOCKED && kt_event_sees_switches())
		p = kt_event_thread();
	return p ?: current;
}

/* Is an event to be recorded as it is?  If not, it has been counted, or its span recorded. */
static noinline bool event_passes(const struct kt_filters *f, struct kt_ring *r,
				  const struct kt_record *rec,
				  struct task_struct *other)
{
	const struct kt_threads who = { event_owner(rec), other };

	if (kt_filter_in_force(f, KTAPE_FILTER_GATE))
		return event_passes_gates(f, r, rec, &who);
	return kt_filter_pass(f, r, rec, &who, NULL) == KT_PASS;
}

/*
 * Must a context record come first?  Not before sched_switch, which names the thread,
 * nor before control records, which have none.  Only sessions with filters have one pending.
 */
static __always_inline bool event_needs_context(unsigned int session,
						const struct kt_record *rec)
{
	const u8 opcode = rec->code & (KTAPE_OPCODES - 1);

	return kt_cpu_read(kt_now.pending) & BIT(session) &&
	       opcode >= KTAPE_OP_EXCEPTION && opcode != KTAPE_EV_SCHED_SWITCH;
}

/*
 * Record an event in one session if its filters let it pass.
 * Return: whether the event passed: not if a filter or a rate limit held it back, if a span
 * replaced it, or if an NMI must not write to a ring.  One for which the ring has no room has
 * passed.
 */
static __always_inline bool event_put(unsigned int session, struct kt_ring *r,
				      const struct kt_record *rec,
				      struct task_struct *other)
{
	const struct kt_filters *f = rcu_dereference_sched(kt_filters[session]);
	const struct kt_triggers *t = rcu_dereference_sched(kt_triggers[session]);

	kt_count(&r->page->emitted[rec->class]);
	if (unlikely(f) && !event_passes(f, r, rec, other)) {
		kt_triggers_skip(t, rec);
		return false;
	}
	if (unlikely(kt_nmi_unsafe())) {
		kt_ring_lose(r, KTAPE_LOST_NESTED, rec->class);
		return false;
	}
	if (unlikely(f) && event_needs_context(session, rec))
		kt_now_write_pending(BIT(session));
	if (unlikely(f) && kt_filter_has_stack(f, rec))
		record_with_stack(f, r, rec);
	else
		kt_ring_write(r, rec);
	if (unlikely(t) && kt_triggers_want(t, rec->code & (KTAPE_OPCODES - 1)))
		kt_triggers_check(t, session, rec);
	return true;
}

/* Record an event in the sessions of @want.  Return: those in which it passed. */
static unsigned long event_put_all(u32 kind, const struct kt_record *rec,
				   struct task_struct *other, unsigned int want)
{
	const struct kt_cpu *cpu = this_cpu_ptr(kt_cpus);
	unsigned long passed = 0;

	for (want &= KT_MASK_SESSIONS; want; want &= want - 1)
		if (event_put(__ffs(want), cpu->ring[kind][__ffs(want)], rec, other))
			passed |= BIT(__ffs(want));
	return passed;
}

/**
 * kt_event_record_in() - Record an event of any shape in one session
 * @session: number of a session that records and cannot be freed meanwhile
 * @kind: as kt_event_record()
 * @rec: the record; dropped if the session does not want the event
 *
 * Context: as kt_event_record().
 * Return: whether the session wants the event on this CPU.
 */
bool kt_event_record_in(unsigned int session, u32 kind, const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	const unsigned int want = kt_cpu_read(kt_cpus->want[opcode]) & BIT(session);

	event_put_all(kind, rec, NULL, want);
	return want;
}

/**
 * kt_event_record_of() - Record an event of any shape about another task
 * @kind: enum ktape_ring_kind, or KT_RING_NAMES
 * @rec: the record
 * @other: a task that the event is about besides current, or NULL
 *
 * Also calls the sinks, if one wants the event.
 *
 * Context: any, preemption disabled.
 * Return: the sessions in which it passed, see event_put().
 */
unsigned long kt_event_record_of(u32 kind, const struct kt_record *rec,
				 struct task_struct *other)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	unsigned long passed = event_put_all(kind, rec, other,
					     kt_cpu_read(kt_cpus->want[opcode]));

	if (unlikely(kt_sink_wants(opcode)))
		sink_call(rec);
	return passed;
}

/* Bit n: session n may record the kernel's log. */
static unsigned long log_sessions;

/**
 * kt_log_allow() - Say whether a session may record the kernel's log
 * @session: its number; it wants no event, and none that had the number does
 * @allowed: it may
 *
 * Context: with kt_session_lock.
 */
void kt_log_allow(unsigned int session, bool allowed)
{
	unsigned long to = READ_ONCE(log_sessions);

	WRITE_ONCE(log_sessions, allowed ? to | BIT(session) : to & ~BIT(session));
}

/**
 * kt_event_record_log() - Record a text of the kernel's log
 * @rec: the record
 *
 * Such texts have kernel addresses, registers and memory.  A session that may not
 * record them counts them as filtered.  Sinks get them: they are kernel code.
 *
 * Context: any, preemption disabled.
 */
void kt_event_record_log(const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	unsigned long want = kt_cpu_read(kt_cpus->want[opcode]);
	unsigned long refused = want & KT_MASK_SESSIONS & ~READ_ONCE(log_sessions);

	event_put_all(KTAPE_RING_EVENT, rec, NULL, want & ~refused);
	if (refused)
		kt_count_filtered(kt_cpus,
				  KT_PLACE_OF(rec->class, KTAPE_RING_EVENT),
				  refused);
	if (unlikely(kt_sink_wants(opcode)))
		sink_call(rec);
}

/* Do kt_event_many() for any sessions, filters and sinks. */
static noinline void notrace event_check(u32 code, u32 place, u32 a0, u32 a1,
					 u32 a2, struct task_struct *other)
{
	const u32 args[] = { a0, a1, a2 };
	const struct kt_record rec = {
		.code = code,
		.class = KT_PLACE_CLASS(place),
		.nargs = code >> 29,
		.args = args,
	};

	kt_event_record_of(KT_PLACE_KIND(place), &rec, other);
}

/* Compute the pass mask again, for later events, and check this event without it. */
static noinline void notrace event_renew(u32 code, u32 place, u32 a0, u32 a1,
					 u32 a2, struct task_struct *other)
{
	if (!in_nmi())
		kt_now_renew();
	event_check(code, place, a0, a1, a2, other);
}

/*
 * Return the last argument of event_put_some(): of the sessions @want those of @pass in the
 * lower bits, the others above.  One word, so that all arguments fit into registers.
 */
static __always_inline unsigned long some_of(u32 want, u32 pass)
{
	return (want & pass & KT_MASK_SESSIONS) |
	       (want & ~pass & KT_MASK_SESSIONS) << KT_SESSIONS;
}

/*
 * Store an event in some sessions, after the context records that are pending there, and
 * count it as filtered in others.  @some: from some_of().  The want bits are not loaded again: a
 * session that has started meanwhile does not filter the event.
 */
static noinline void notrace event_put_some(u32 code, u32 place, u32 a0, u32 a1,
					    u32 a2, unsigned long some)
{
	const unsigned long filtered = some >> KT_SESSIONS;
	const unsigned long pass = some & KT_MASK_SESSIONS;

	if (filtered)
		kt_count_filtered(kt_cpus, place, filtered);
	if (!pass)
		return;
	if (pass & kt_cpu_read(kt_now.pending))
		kt_now_write_pending(pass);
	kt_put(code, place, a0, a1, a2, pass);
}

/* Do kt_event_many() for an event that passes, too, where @other does. */
static noinline void notrace event_by_both(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, struct task_struct *other)
{
	const u32 want = kt_cpu_read(kt_cpus->want[(u8)code]);
	const u32 mask = kt_cpu_read(kt_now.mask);
	struct kt_kept match;

	/* Either may have changed since kt_event_many() loaded it. */
	if (unlikely(mask & KT_MASK_UNKNOWN || want & KT_WANT_CHECK))
		return event_check(code, place, a0, a1, a2, other);
	kt_match_get(other, kt_cpu_read(kt_cpus->by_uid), &match);
	event_put_some(code, place, a0, a1, a2,
		       some_of(want, mask >> KT_MASK_PASS_SHIFT | match.pass));
}

/*
 * Return the pass mask if it is that of the running thread, by the uid that it has; else
 * a closed mask.
 */
static __always_inline u32 event_mask(u32 want)
{
	const unsigned long thread = kt_cpu_read(kt_now.thread);

	if (!(thread & KT_ARRIVED) ||
	    (want & kt_cpu_read(kt_cpus->by_uid) &&
	     kt_thread_uid((void *)(thread - KT_ARRIVED)) != kt_cpu_read(kt_now.uid)))
		return KT_MASK_CLOSED;
	/*
	 * Load it last.  An event of an interrupt may compute mask and uid anew: a mask
	 * that was loaded before would be one by the former uid.
	 */
	return kt_cpu_read(kt_now.mask);
}

/* Do kt_event_many() where thread filters apply. */
static noinline void notrace event_by_mask(u32 code, u32 place, u32 a0, u32 a1,
					   u32 a2, struct task_struct *other)
{
	const u32 want = kt_cpu_read(kt_cpus->want[(u8)code]);
	const u32 mask = event_mask(want);
	const u32 sessions = want & KT_MASK_SESSIONS;
	const u32 pass = sessions & (mask >> KT_MASK_PASS_SHIFT);

	/* want may have changed since kt_event_many() loaded it. */
	if (mask & KT_MASK_UNKNOWN || want & KT_WANT_CHECK)
		return event_renew(code, place, a0, a1, a2, other);
	if (pass == sessions) {
		if (pass && !(pass & kt_cpu_read(kt_now.pending)))
			return kt_put(code, place, a0, a1, a2, pass);
	} else if (other) {
		return event_by_both(code, place, a0, a1, a2, other);
	}
	event_put_some(code, place, a0, a1, a2, some_of(sessions, pass));
}

/**
 * kt_event_many() - Do kt_event() for any number of sessions
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
noinline void notrace kt_event_many(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
				    struct task_struct *other)
{
	const u32 want = kt_cpu_read(kt_cpus->want[(u8)code]);
	const u32 mask = kt_cpu_read(kt_now.mask);

	BUILD_BUG_ON(KTAPE_OPCODES != 256); /* (u8)code is the opcode */
	if (kt_nmi_unsafe() || want & KT_WANT_CHECK)
		return event_check(code, place, a0, a1, a2, other);
	if (want & KT_WANT_NONE)
		return;
	/* A session's bit in the mask: its thread filter may hold the event back. */
	if (want & mask & ~KT_WANT_MANY)
		return event_by_mask(code, place, a0, a1, a2, other);
	kt_put(code, place, a0, a1, a2, want & KT_MASK_SESSIONS);
}

/**
 * kt_event0() - Record an event without argument words
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
void notrace kt_event0(u32 code, u32 place, struct task_struct *other)
{
	kt_event_at(kt_cpus, code, place, 0, 0, 0, 0, other);
}

/**
 * kt_event1() - Record an event with one argument word
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
void notrace kt_event1(u32 code, u32 place, u32 a0, struct task_struct *other)
{
	kt_event_at(kt_cpus, code, place, 1, a0, 0, 0, other);
}

/**
 * kt_event2() - Record an event with two argument words
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
void notrace kt_event2(u32 code, u32 place, u32 a0, u32 a1, struct task_struct *other)
{
	kt_event_at(kt_cpus, code, place, 2, a0, a1, 0, other);
}

/**
 * kt_event3() - Record an event with three argument words
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
void notrace kt_event3(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
		       struct task_struct *other)
{
	kt_event_at(kt_cpus, code, place, 3, a0, a1, a2, other);
}
