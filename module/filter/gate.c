// SPDX-License-Identifier: GPL-2.0-only
/*
 * Duration gates: a pair of events (begin and end) is recorded only if it took
 * long enough, as one span record.
 *
 * The first event of a pair is stored in a table of open pairs and counted as
 * filtered.  The second event removes the pair from the table, and becomes a
 * span or is filtered too.
 *
 * A pair that finds no free slot is recorded as two events.  A second event
 * whose first one is not in the table is recorded too: the first one came
 * before the gate was set, or found no slot, or a new thread returns from a
 * system call that it did not enter.
 *
 * The end of a pair may never be seen, because the session stops, or a filter
 * or its profile (the set of events that it records) changes.  Each such change
 * begins a new epoch: a pair of an earlier epoch has no end, and its slot may
 * be reused.
 *
 * A pair is opened and closed in one context: by the same thread, or on the
 * same CPU.  No other context uses its key, but any context on any CPU may
 * reuse the slot of a pair of an earlier epoch.  So a context must be sure that
 * a slot still holds the pair that it has found:
 *
 *   slot->seq has a number that is new for each use of the slot, and the state
 *   of the slot.  A context loads seq, then checks key and epoch, then claims
 *   the slot by a cmpxchg from the loaded seq.  If that succeeds, no other
 *   context has claimed the slot in between, and key and epoch are those seen.
 *
 * The lookup takes no lock and has no retry: a failed claim has changed
 * nothing, and only the claimer writes to a claimed slot.  On 32-bit kernels,
 * where seq has 32 bits, a claim would be wrong only if 2^30 uses of one slot
 * lay between the load and the cmpxchg.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "filter.h"

/*
 * 4096 slots of 32 bytes are 128 KiB for each session.  A thread that sleeps in a system call
 * holds one.  Pairs that find none are only recorded as two events, so PROBES is small: it
 * bounds the search, which each event of a pair does.
 */
#define SLOT_BITS 12
#define SLOTS	  (1U << SLOT_BITS)
#define PROBES	  8U /* slots in which a key may be stored */
#define KEY_SHIFT 3  /* bits of the gate's number, low in a key */
#define IRQ_BITS  18 /* bits of an interrupt's number, in dat20 */

/* State of a slot, in the low bits of its seq. */
enum {
	SLOT_FREE,    /* a new pair may claim it */
	SLOT_OPEN,    /* holds a pair; of an earlier epoch: may be claimed */
	SLOT_CLAIMED, /* a context is changing it, other contexts skip it */
};

#define SLOT_STATE 3UL
#define SLOT_USE   4UL /* lowest bit of the number of uses */

/**
 * struct kt_gate_slot - an open pair
 * @seq: number of uses, and state of the slot; stored last
 * @key: identity of the pair, from gate_key()
 * @start: trace clock of its first event
 * @epoch: epoch in which the pair began
 * @dat20: the 20 bits of data in the code of its first event: here the number of an
 *	interrupt, softirq or system call
 *
 * All but @seq is written by the context that has claimed the slot.
 */
struct kt_gate_slot {
	unsigned long seq;
	unsigned long key;
	u64 start;
	u32 epoch;
	u32 dat20;
};

/**
 * struct kt_gates - gates of a session and their open pairs
 * @ticks: per gate the shortest pair that passes, in ticks; 0 = no gate
 * @nr: number of @entry
 * @entry: the gates as user space gave them
 * @collisions: pairs that found no slot
 * @epoch: current epoch
 * @slot: hash table of open pairs
 */
struct kt_gates {
	u64 ticks[KTAPE_GATES];
	u32 nr;
	struct ktape_filter_gate entry[KTAPE_GATES];
	atomic_long_t collisions;
	u32 epoch;
	struct kt_gate_slot slot[SLOTS];
};

/* What identifies a pair among those of its gate. */
enum {
	BY_THREAD,	/* thread, system call event */
	BY_THREAD_WIDE, /* thread, system call event with all six arguments */
	BY_IRQ,		/* CPU and the number in dat20 */
	BY_OBJECT, /* first argument word: the token of the object's address */
};

#define FROM_BLOB \
	0xff /* value of @first: copy from the bytes after the arguments */

/**
 * struct kt_gate_event - an event of a pair
 * @gate: enum ktape_gate + 1; 0 = the event belongs to no pair
 * @by: what identifies its pair
 * @span: second event: opcode of the span; first event: 0
 * @first: first argument word to copy into the span, or FROM_BLOB
 * @nr: number of words to copy
 */
struct kt_gate_event {
	u8 gate;
	u8 by;
	u8 span;
	u8 first;
	u8 nr;
};

#define BEGIN(NAME, by)                            \
	{                                          \
		KTAPE_GATE_##NAME + 1, by, 0, 0, 0 \
	}
#define END(NAME, by, SPAN, first, nr)                                \
	{                                                             \
		KTAPE_GATE_##NAME + 1, by, KTAPE_EV_##SPAN, first, nr \
	}

static const struct kt_gate_event gate_events[KTAPE_OPCODES] = {
	[KTAPE_EV_SYS_ENTER] = BEGIN(SYSCALL, BY_THREAD),
	[KTAPE_EV_SYS_EXIT] = END(SYSCALL, BY_THREAD, SYS_SPAN, 0, 2),
	[KTAPE_EV_SYS_ENTER_WIDE] = BEGIN(SYSCALL, BY_THREAD_WIDE),
	[KTAPE_EV_SYS_EXIT_WIDE] =
		END(SYSCALL, BY_THREAD_WIDE, SYS_SPAN, FROM_BLOB, 2),
	[KTAPE_EV_IRQ_HANDLER_ENTRY] = BEGIN(IRQ, BY_IRQ),
	[KTAPE_EV_IRQ_HANDLER_EXIT] = END(IRQ, BY_IRQ, IRQ_SPAN, 0, 0),
	[KTAPE_EV_SOFTIRQ_ENTRY] = BEGIN(SOFTIRQ, BY_IRQ),
	[KTAPE_EV_SOFTIRQ_EXIT] = END(SOFTIRQ, BY_IRQ, SOFTIRQ_SPAN, 0, 0),
	[KTAPE_EV_TIMER_EXPIRE_ENTRY] = BEGIN(TIMER, BY_OBJECT),
	[KTAPE_EV_TIMER_EXPIRE_EXIT] = END(TIMER, BY_OBJECT, TIMER_SPAN, 0, 1),
	[KTAPE_EV_HRTIMER_EXPIRE_ENTRY] = BEGIN(HRTIMER, BY_OBJECT),
	[KTAPE_EV_HRTIMER_EXPIRE_EXIT] = END(HRTIMER, BY_OBJECT, HRTIMER_SPAN, 0, 1),
	[KTAPE_EV_WORKQUEUE_EXECUTE_START] = BEGIN(WORK, BY_OBJECT),
	/* The span names the function, not the work item. */
	[KTAPE_EV_WORKQUEUE_EXECUTE_END] = END(WORK, BY_OBJECT, WORK_SPAN, 1, 1),
};

/* A profile may record both forms of a system call: each has its own pair. */
static unsigned long gate_thread_key(const struct task_struct *p, unsigned int by)
{
	BUILD_BUG_ON(KTAPE_GATES + 1 >= 1 << KEY_SHIFT);
	BUILD_BUG_ON(__alignof__(struct task_struct) < 1 << KEY_SHIFT);
	return (unsigned long)p |
	       (by == BY_THREAD ? KTAPE_GATE_SYSCALL + 1 : KTAPE_GATES + 1);
}

static bool gate_is_call(const struct kt_gate_event *e)
{
	return e->by == BY_THREAD || e->by == BY_THREAD_WIDE;
}

static unsigned long gate_key(const struct kt_gate_event *e,
			      const struct kt_record *rec)
{
	unsigned long what;

	if (gate_is_call(e))
		return gate_thread_key(current, e->by);
	if (e->by == BY_IRQ)
		what = (unsigned long)smp_processor_id() << IRQ_BITS |
		       (rec->code >> 8 & ((1U << IRQ_BITS) - 1));
	else
		what = rec->args[0];
	return what << KEY_SHIFT | e->gate;
}

static struct kt_gate_slot *gate_slot_at(struct kt_gates *t, unsigned long key,
					 unsigned int i)
{
	return &t->slot[(hash_long(key, SLOT_BITS) + i) % SLOTS];
}

/*
 * Load seq before key and epoch: a later claim with this seq then proves that
 * both belong to the same use of the slot.
 */
static unsigned long gate_load_seq(const struct kt_gate_slot *slot)
{
	/* Pairs with the release in gate_release_slot(). */
	return smp_load_acquire(&slot->seq);
}

static bool gate_is_open(unsigned long seq)
{
	return (seq & SLOT_STATE) == SLOT_OPEN;
}

/* Claim a slot if nothing happened to it since @seq was loaded. */
static bool gate_claim_slot(struct kt_gate_slot *slot, unsigned long seq)
{
	/*
	 * Fully ordered.  Pairs with the release in gate_release_slot(): the
	 * loads before belong to @seq, and the claimer's stores come after.
	 */
	return cmpxchg(&slot->seq, seq, (seq & ~SLOT_STATE) | SLOT_CLAIMED) == seq;
}

/* Give back a slot that the caller has claimed. */
static void gate_release_slot(struct kt_gate_slot *slot, unsigned long state)
{
	/* Only this context stores seq, but claims of others try to. */
	unsigned long use = (READ_ONCE(slot->seq) & ~SLOT_STATE) + SLOT_USE;

	/* Pairs with gate_load_seq() and with the cmpxchg() in gate_claim_slot(). */
	smp_store_release(&slot->seq, use | state);
}

/* Find and claim the slot of an open pair.  Return: the slot or NULL. */
static struct kt_gate_slot *gate_claim_pair(struct kt_gates *t, unsigned long key)
{
	struct kt_gate_slot *slot;
	unsigned long seq;
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		slot = gate_slot_at(t, key, i);
		/* Most slots hold another pair: skip them without a barrier. */
		if (READ_ONCE(slot->key) != key)
			continue;
		seq = gate_load_seq(slot);
		if (gate_is_open(seq) && READ_ONCE(slot->key) == key &&
		    gate_claim_slot(slot, seq))
			return slot;
	}
	return NULL;
}

/* Claim a slot for a new pair.  Return: the slot or NULL. */
static struct kt_gate_slot *gate_claim_room(struct kt_gates *t, unsigned long key)
{
	struct kt_gate_slot *slot;
	unsigned long seq;
	unsigned int i;

	for (i = 0; i < PROBES; i++) {
		slot = gate_slot_at(t, key, i);
		seq = gate_load_seq(slot);
		if ((seq & SLOT_STATE) == SLOT_CLAIMED ||
		    (gate_is_open(seq) &&
		     READ_ONCE(slot->epoch) == READ_ONCE(t->epoch)))
			continue;
		if (gate_claim_slot(slot, seq))
			return slot;
	}
	return NULL;
}

/* Store the first event of a pair.  Return: false if no slot was free. */
static bool gate_begin_pair(struct kt_gates *t, unsigned long key, u32 dat20)
{
	/* An open pair of this key had no end: reuse its slot. */
	struct kt_gate_slot *slot = gate_claim_pair(t, key) ?:
					    gate_claim_room(t, key);

	if (!slot) {
		atomic_long_inc(&t->collisions);
		return false;
	}
	WRITE_ONCE(slot->key, key);
	slot->start = kt_clock();
	slot->dat20 = dat20;
	WRITE_ONCE(slot->epoch, READ_ONCE(t->epoch));
	gate_release_slot(slot, SLOT_OPEN);
	return true;
}

#define SYSCALL_NR 0xffffU /* number in dat20; all bits set = unknown */

/*
 * Does an event with @dat20 end the pair whose first event had @begun?  The
 * return from a signal handler has lost its system call number: set @dat20 to
 * @begun.
 */
static bool gate_is_end_of(const struct kt_gate_event *e, u32 begun, u32 *dat20)
{
	u32 nr = *dat20 & SYSCALL_NR;

	if (!gate_is_call(e) || nr == (begun & SYSCALL_NR))
		return true;
	if (nr != SYSCALL_NR)
		return false;
	*dat20 = begun;
	return true;
}

/*
 * Remove a pair from the table.  @start receives the time of its first event; @dat20, that of
 * this event, becomes that of the first one where gate_is_end_of() says so.
 * Return: true if this event ends that pair; false: there was none, or one of an earlier epoch
 * or of another system call.
 */
static bool gate_end_pair(struct kt_gates *t, const struct kt_gate_event *e,
			  unsigned long key, u64 *start, u32 *dat20)
{
	struct kt_gate_slot *slot = gate_claim_pair(t, key);
	u32 epoch, begun;

	if (!slot)
		return false;
	*start = slot->start;
	begun = slot->dat20;
	epoch = slot->epoch;
	gate_release_slot(slot, SLOT_FREE);
	return epoch == READ_ONCE(t->epoch) && gate_is_end_of(e, begun, dat20);
}

/*
 * Make the span of a pair: the words of the second event @rec that gate_events[] names, and
 * the time of the first one.  @span is not to be copied: its record points into it.
 */
static void gate_make_span(const struct kt_gate_event *e,
			   const struct kt_record *rec, u64 start, u32 dat20,
			   struct kt_span *span)
{
	const u32 *from = e->first == FROM_BLOB ? rec->blob : rec->args + e->first;
	unsigned int nargs = e->nr + 2, i;

	for (i = 0; i < e->nr; i++)
		span->args[i] = from[i];
	span->args[i++] = (u32)start;
	span->args[i] = (u32)(start >> 32);
	span->rec = (struct kt_record){
		.code = KT_CODE(e->span, dat20, 0, nargs),
		.class = rec->class,
		.nargs = nargs,
		.args = span->args,
	};
}

/**
 * kt_gates_pass() - Apply the gates to an event
 * @t: the session's gates
 * @rec: the event, of a pair or not
 * @span: with KT_SPAN receives the record that replaces the event
 *
 * Context: any, preemption disabled.
 * Return: enum kt_result.
 */
enum kt_result kt_gates_pass(struct kt_gates *t, const struct kt_record *rec,
			     struct kt_span *span)
{
	const struct kt_gate_event *e =
		&gate_events[rec->code & (KTAPE_OPCODES - 1)];
	u32 dat20 = rec->code >> 8 & KTAPE_DAT20_MASK;
	unsigned long key;
	u64 start, now;

	if (!e->gate || !t->ticks[e->gate - 1])
		return KT_PASS;
	key = gate_key(e, rec);
	if (!e->span)
		return gate_begin_pair(t, key, dat20) ? KT_FILTERED : KT_PASS;
	if (!gate_end_pair(t, e, key, &start, &dat20))
		return KT_PASS;
	now = kt_clock();
	/* Signed, as the clocks of two CPUs may differ a little. */
	if ((s64)(now - start) < (s64)t->ticks[e->gate - 1])
		return KT_FILTERED;
	gate_make_span(e, rec, start, dat20, span);
	return KT_SPAN;
}

static void gate_forget_pair(struct kt_gates *t, unsigned long key)
{
	struct kt_gate_slot *slot = gate_claim_pair(t, key);

	if (slot)
		gate_release_slot(slot, SLOT_FREE);
}

/**
 * kt_gates_rejected() - Forget the pair of an event that another filter holds
 * back
 * @t: the session's gates
 * @rec: the event
 *
 * Context: any, preemption disabled.
 */
void kt_gates_rejected(struct kt_gates *t, const struct kt_record *rec)
{
	const struct kt_gate_event *e =
		&gate_events[rec->code & (KTAPE_OPCODES - 1)];

	if (e->gate && t->ticks[e->gate - 1])
		gate_forget_pair(t, gate_key(e, rec));
}

/**
 * kt_gates_renew() - Begin a new epoch: pairs that are open now have no end
 * @t: the gates
 *
 * Context: process context under kt_session_control.
 */
void kt_gates_renew(struct kt_gates *t)
{
	WRITE_ONCE(t->epoch, t->epoch + 1);
}

/**
 * kt_gates_thread_exits() - Forget the open system call of an exiting thread
 * @t: the gates
 * @p: the thread, current
 *
 * Context: any, preemption disabled.
 */
void kt_gates_thread_exits(struct kt_gates *t, const struct task_struct *p)
{
	gate_forget_pair(t, gate_thread_key(p, BY_THREAD));
	gate_forget_pair(t, gate_thread_key(p, BY_THREAD_WIDE));
}

/**
 * kt_gates_have() - Check whether an event belongs to a pair with a gate in force
 * @t: the gates
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_gates_have(const struct kt_gates *t, u32 opcode)
{
	const struct kt_gate_event *e = &gate_events[opcode];

	return e->gate && t->ticks[e->gate - 1];
}

/**
 * kt_gates_end_of() - Get the event that a span replaces
 * @opcode: opcode of any event
 *
 * Context: any.
 * Return: the second event of the pair if @opcode is a span, else @opcode.
 */
u32 kt_gates_end_of(u32 opcode)
{
	u32 i;

	/* 0 is no event, but the @span of all that end no pair. */
	for (i = 0; i < KTAPE_OPCODES && opcode; i++)
		if (gate_events[i].span == opcode)
			return i;
	return opcode;
}

/**
 * kt_gates_collisions() - Count the pairs that found no slot
 * @t: the gates
 *
 * Context: any.
 * Return: the count.
 */
u64 kt_gates_collisions(const struct kt_gates *t)
{
	return (unsigned long)atomic_long_read(&t->collisions);
}

static u64 gate_ticks(u64 ns)
{
	u64 hz = kt_clock_hz();
	u32 rest;
	u64 seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	/* At least one, because 0 means that there is no gate. */
	return (seconds * hz + div_u64(rest * hz, NSEC_PER_SEC)) ?: 1;
}

/**
 * kt_gates_alloc() - Allocate gates without open pairs
 * @entries: the gates, each at most once, with durations of at most an hour
 * @nr: number of @entries, at most KTAPE_GATES
 *
 * Context: process context, may sleep.
 * Return: the gates or NULL.
 */
struct kt_gates *kt_gates_alloc(const struct ktape_filter_gate *entries, u32 nr)
{
	struct kt_gates *t = kvzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!t)
		return NULL;
	t->nr = nr;
	for (i = 0; i < nr; i++) {
		t->entry[i] = entries[i];
		t->ticks[entries[i].gate] = gate_ticks(entries[i].ns);
	}
	return t;
}

/**
 * kt_gates_free() - Free gates
 * @t: not in use by any CPU, may be NULL
 *
 * Context: process context.
 */
void kt_gates_free(struct kt_gates *t)
{
	kvfree(t);
}

/**
 * kt_gates_entries() - Copy the gates as user space gave them
 * @t: the gates
 * @to: room for @t->nr entries
 *
 * Context: any.
 */
void kt_gates_entries(const struct kt_gates *t, struct ktape_filter_gate *to)
{
	memcpy(to, t->entry, t->nr * sizeof(*to));
}
