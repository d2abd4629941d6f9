// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records an event in the rings of all sessions that want it, with filters,
 * stacks, triggers and sinks, and records of any shape.  The fast path for one
 * session is in event.h, the ways between the two are in brief.c.  Context
 * switches are in switch.c.
 *
 * Also the callbacks of a session's rings (struct kt_ring_ops), which fill in
 * block headers and have readers woken.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "internal.h"

u8 kt_uuid[16];

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
 * The caller then has all sessions update their routes.
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
	/* A block that the stack opens belongs to the incoming task. */
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
	enum kt_result verdict = kt_filter_pass(f, r, rec, who, &span);

	if (unlikely(verdict == KT_SPAN))
		record_span(f, r, &span.rec);
	return verdict == KT_PASS;
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
 * Are readers of a session with a thread filter to be told first which thread
 * runs?  A switch says that itself, and nobody asks whose the control records are.
 */
static __always_inline bool event_is_owed(unsigned int session,
					  const struct kt_record *rec)
{
	const u8 opcode = rec->code & (KTAPE_OPCODES - 1);

	return kt_cpu_read(kt_now.owed) & BIT(session) &&
	       opcode >= KTAPE_OP_EXCEPTION && opcode != KTAPE_EV_SCHED_SWITCH;
}

/*
 * Record an event in one session if its filters let it pass.
 * Return: whether the event passed.
 */
static __always_inline bool event_put(unsigned int session, struct kt_ring *r,
				      const struct kt_record *rec,
				      struct task_struct *other)
{
	const struct kt_filters *f = rcu_dereference_sched(kt_filters[session]);
	const struct kt_triggers *t =
		rcu_dereference_sched(kt_triggers[session]);

	kt_count(&r->page->emitted[rec->class]);
	if (unlikely(f) && !event_passes(f, r, rec, other)) {
		kt_triggers_held(t, rec);
		return false;
	}
	if (unlikely(kt_nmi_unsafe())) {
		kt_ring_lose(r, KTAPE_LOST_NESTED, rec->class);
		return false;
	}
	if (unlikely(f) && event_is_owed(session, rec))
		kt_switch_pay(BIT(session));
	if (unlikely(f) && kt_filter_has_stack(f, rec))
		record_with_stack(f, r, rec);
	else
		kt_ring_write(r, rec);
	if (unlikely(t) &&
	    kt_triggers_look_at(t, rec->code & (KTAPE_OPCODES - 1)))
		kt_trigger_look(t, session, rec);
	return true;
}

/* Record an event in the sessions of @want.  Return: those in which it passed. */
static unsigned long event_put_all(u32 kind, const struct kt_record *rec,
				   struct task_struct *other, unsigned int want)
{
	const struct kt_cpu *cpu = this_cpu_ptr(kt_cpus);
	unsigned long passed = 0;

	for (; want; want &= want - 1)
		if (event_put(__ffs(want), cpu->ring[kind][__ffs(want)], rec,
			      other))
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
bool kt_event_record_in(unsigned int session, u32 kind,
			const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	const unsigned int want =
		kt_cpu_read(kt_cpus->want[opcode]) & BIT(session);

	event_put_all(kind, rec, NULL, want);
	return want;
}

/**
 * kt_event_record_of() - Record an event of any shape about another task
 * @kind: enum ktape_ring_kind, or KT_RING_NAMES
 * @rec: the record
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: any, preemption disabled.
 * Return: the sessions whose filters it passed.
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

	WRITE_ONCE(log_sessions,
		   allowed ? to | BIT(session) : to & ~BIT(session));
}

/**
 * kt_event_record_log() - Record a text of the kernel's log
 * @rec: the record
 *
 * Such texts have kernel addresses, registers and memory.  A session that may not
 * record them counts them as filtered.
 *
 * Context: any, preemption disabled.
 */
void kt_event_record_log(const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	const struct kt_cpu *cpu = this_cpu_ptr(kt_cpus);
	unsigned long want = kt_cpu_read(kt_cpus->want[opcode]);
	unsigned long held = want & ~READ_ONCE(log_sessions);
	struct ktape_ring_page *page;

	event_put_all(KTAPE_RING_EVENT, rec, NULL, want & ~held);
	for (; held; held &= held - 1) {
		page = cpu->ring[KTAPE_RING_EVENT][__ffs(held)]->page;
		kt_count(&page->emitted[rec->class]);
		kt_count(&page->filtered[rec->class]);
	}
	if (unlikely(kt_sink_wants(opcode)))
		sink_call(rec);
}

/**
 * kt_event_checked() - Do kt_event_many() for any sessions, filters and sinks
 * @code: from KT_CODE()
 * @place: from KT_PLACE()
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Context: as kt_event().
 */
noinline void notrace kt_event_checked(u32 code, u32 place, u32 a0, u32 a1,
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
	kt_event_at(kt_cpus, code, place, 0, 0, 0, 0, other, false);
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
	kt_event_at(kt_cpus, code, place, 1, a0, 0, 0, other, false);
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
void notrace kt_event2(u32 code, u32 place, u32 a0, u32 a1,
		       struct task_struct *other)
{
	kt_event_at(kt_cpus, code, place, 2, a0, a1, 0, other, false);
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
	kt_event_at(kt_cpus, code, place, 3, a0, a1, a2, other, false);
}

/*
 * Handle the loss of a record for which no block could be opened.  A lost
 * context switch leaves the incoming thread unknown until current has changed:
 * without this, records until then would be attributed to the outgoing thread.
 */
static void owner_parked(struct kt_ring *r, const struct kt_record *rec)
{
	const u8 opcode = rec->code & (KTAPE_OPCODES - 1);

	if (opcode == KTAPE_EV_SCHED_SWITCH || opcode == KTAPE_EV_CONTEXT)
		kt_coming_set(-1, 0);
}

/* Fill in the header of a block that is being opened. */
static void owner_opening(struct kt_ring *r, struct ktape_block *block,
			  const struct kt_record *rec)
{
	struct kt_owner *owner = r->owner;
	unsigned long flags;

	memcpy(block->uuid, kt_uuid, sizeof(block->uuid));
	/* Read both clocks at one moment, but for NMIs. */
	local_irq_save(flags);
	block->sync_clock = kt_clock();
	block->sync_mono_ns = ktime_get_mono_fast_ns();
	local_irq_restore(flags);
	block->generation = READ_ONCE(owner->generation);
	/*
	 * Without context records the thread would be valid for the first record
	 * only: report it as unknown.  If one is owed, it comes next.  And here
	 * runs another thread than on a CPU whose ring is written from afar.
	 */
	if (READ_ONCE(owner->no_context) || r->cpu != raw_smp_processor_id() ||
	    kt_cpu_read(kt_now.owed) & BIT(owner->session)) {
		kt_context_unknown(block);
		return;
	}
	kt_context_fill(block, rec);
}

/*
 * Report losses and wake readers after a block was opened.
 *
 * Losses are reported now because the ring has room again, but not at each
 * block, because loss records would push exceptions out of the control ring.
 * irq_work wakes the readers (wake.c), because a writer may hold the scheduler's locks.
 */
static void owner_opened(struct kt_ring *r, u64 since)
{
	struct kt_owner *owner = r->owner;

	if (unlikely(READ_ONCE(r->lossy)))
		kt_event_losses_soon(r);
	if (since)
		kt_cost_opened(r, since);
	kt_clock_check();
	/*
	 * The commit is published before waiting is read.  Pairs with the
	 * barrier between incrementing waiting and reading commit in
	 * read_wait() and kt_dev_poll().
	 */
	smp_mb();
	if (atomic_read(&owner->waiting))
		irq_work_queue(&owner->wake);
}

/* Stop the session outside the writer: its snapshot is full. */
static void owner_filled(struct kt_ring *r)
{
	struct kt_owner *owner = r->owner;

	if (READ_ONCE(owner->filled_queued))
		return;
	WRITE_ONCE(owner->filled_queued, true);
	irq_work_queue(&owner->filled);
}

const struct kt_ring_ops kt_event_ring_ops = {
	.opening = owner_opening,
	.opened = owner_opened,
	.filled = owner_filled,
	.parked = owner_parked,
};
