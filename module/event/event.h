/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a probe to the rings of the sessions that want the event.
 *
 * Each CPU has one want byte an opcode, one bit a session.  Recording, profile,
 * stop and CPU mask of all sessions are in these bits and nowhere else on the
 * way of an event.
 */
#ifndef _KT_EVENT_H
#define _KT_EVENT_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include <ktape/cost.h>
#include <ktape/trigger.h>

#include "filter/filter.h"
#include "ring/ring.h"

/* Class of each opcode and ring of each class, as constants. */
enum {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	KT_RING_OF_##NAME = KTAPE_RING_##ring,
#include <ktape/events.h>
};

enum {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	KT_CLASS_OF_##NAME = KTAPE_CLASS_##CLASS,
#include <ktape/events.h>
};

enum {
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	KT_EVENT_RING_##NAME = KT_RING_OF_##CLASS,
#include <ktape/events.h>
};

/*
 * Where names go besides the rings: in a discard session the control ring, which
 * waits for its reader; else the event ring, because names come as often as
 * processes do and would push exceptions out of the control ring.
 */
#define KT_RING_NAMES		KTAPE_RINGS_PER_CPU
#define KT_RING_KINDS		(KT_RING_NAMES + 1)

/* Route of an event that no or several sessions record, filter or pass on. */
#define KT_ROUTE_MANY		KT_SESSIONS

/**
 * struct kt_cpu - what an event needs to know of its CPU
 * @route: per opcode: the only session that records it, or KT_ROUTE_MANY
 * @want: per opcode, bit n set: session n records it
 * @ring: per kind, KT_RING_NAMES included, and session; set before any want bit
 *	of that session.  That of KT_ROUTE_MANY is always NULL
 *
 * @route says nothing that @want does not: it spares the usual case, one session
 * without filters and no sink, the search for the bit.
 */
struct kt_cpu {
	u8 route[KTAPE_OPCODES];
	u8 want[KTAPE_OPCODES];
	struct kt_ring *ring[KT_RING_KINDS][KT_SESSIONS + 1];
};

DECLARE_PER_CPU_ALIGNED(struct kt_cpu, kt_cpus);

/**
 * struct kt_owner - what the rings of a session know of it
 * @session: its number
 * @generation: of its profile
 * @no_context: it is not recorded which thread runs
 * @waiting: readers that want to be woken
 * @wait: where they wait
 * @wake: wakes them outside the writer's context
 * @filled: ends a full snapshot outside the writer's context
 * @filled_told: it was queued
 */
struct kt_owner {
	u32 session;
	u32 generation;
	bool no_context;
	atomic_t waiting;
	wait_queue_head_t wait;
	struct irq_work wake;
	struct irq_work filled;
	bool filled_told;
};

/**
 * struct kt_coming - whose the records are while current is still another thread
 * @leaves: the thread that is current, or NULL: records are current's
 * @tid: of the thread whose they are, -1 if that is not known
 * @prio: its priority
 *
 * From the record of a switch to the switch itself.
 */
struct kt_coming {
	const struct task_struct *leaves;
	s32 tid;
	u8 prio;
};

/* Handlers of breakpoints of run-time probes that this CPU is in. */
DECLARE_PER_CPU(unsigned int, kt_breakpoints);

extern u8 kt_uuid[16];

/* For the rings of sessions, whose owner is a struct kt_owner. */
extern const struct kt_ring_ops kt_event_ring_ops;

void kt_owner_init(struct kt_owner *owner);
void kt_owner_exit(struct kt_owner *owner);
void kt_event_many(u32 code, u32 class, u32 kind, u32 a0, u32 a1, u32 a2);
void kt_event_other(u32 code, u32 class, u32 kind, u32 a0, u32 a1, u32 a2,
		    struct task_struct *other);
void kt_event_record(u32 kind, const struct kt_record *rec);
void kt_event_record_in(unsigned int session, u32 kind,
			const struct kt_record *rec);
void kt_event_record_of(u32 kind, const struct kt_record *rec,
			struct task_struct *other);
void kt_event_losses(struct kt_ring *r);
struct kt_coming kt_coming_set(s32 tid, u8 prio);
void kt_coming_back(const struct kt_coming *old);
bool kt_event_opcode_exists(unsigned int opcode);
const char *kt_event_name(unsigned int opcode);
unsigned int kt_event_class(unsigned int opcode);

/* ---- sinks: see emit/sink.c ------------------------------------------------ */

/* Bit n: a sink wants opcode n. */
extern u64 kt_sink_mask[KTAPE_MASK_WORDS];

void kt_sink_mask_set(const u64 *mask);
void kt_sink_set(void (*call)(const struct kt_record *rec));

/**
 * kt_sink_wants() - Does any sink want this event?
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
static __always_inline bool kt_sink_wants(unsigned int opcode)
{
	return READ_ONCE(kt_sink_mask[opcode / 64]) >> (opcode % 64) & 1;
}

/**
 * kt_event() - record an event with up to three argument words, inlined
 * @opcode: constant
 * @class: constant, its class
 * @kind: constant, enum ktape_ring_kind
 * @dat20: 20 bits
 * @nargs: constant, 0 to 3
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a thread that the event is about besides the one that runs, or NULL
 *
 * Each use is a copy of some 200 bytes of text.  Only the events of the
 * scheduler, of interrupts, of soft interrupts and of system calls are frequent
 * enough to be worth that; all others call kt_event0() to kt_event3().
 *
 * Reading the ring's pointer depends on the route by address, which orders it
 * after the route.  Pairs with the barrier in kt_want_set().
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_event(const u32 opcode, const u32 class,
				     const u32 kind, u32 dat20,
				     const u32 nargs, u32 a0, u32 a1, u32 a2,
				     struct task_struct *other)
{
	unsigned long route = kt_cpu_read(kt_cpus.route[opcode]);
	struct kt_ring *r = kt_cpu_read(kt_cpus.ring[kind][route]);
	u32 code = KT_CODE(opcode, dat20, 0, nargs);

	if (unlikely(!r || kt_nmi_unsafe())) {
		if (__builtin_constant_p(other))
			kt_event_many(code, class, kind, a0, a1, a2);
		else
			kt_event_other(code, class, kind, a0, a1, a2, other);
		return;
	}
	kt_count(&r->page->emitted[class]);
	kt_ring_put(r, code, class, nargs, a0, a1, a2);
}

/* Class and ring of an event in one word, for kt_event0() to kt_event3(). */
#define KT_PLACE(NAME)		(KT_CLASS_OF_##NAME | KT_EVENT_RING_##NAME << 8)

void kt_event0(u32 code, u32 place, struct task_struct *other);
void kt_event1(u32 code, u32 place, u32 a0, struct task_struct *other);
void kt_event2(u32 code, u32 place, u32 a0, u32 a1, struct task_struct *other);
void kt_event3(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
	       struct task_struct *other);

/* Record an event with 0 to 3 argument words by a call. */
#define KT_EVENT0(NAME, dat20) \
	kt_event0(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 0), KT_PLACE(NAME), NULL)
#define KT_EVENT1(NAME, dat20, a0)	KT_EVENT1_OF(NAME, NULL, dat20, a0)
#define KT_EVENT2(NAME, dat20, a0, a1)	KT_EVENT2_OF(NAME, NULL, dat20, a0, a1)
#define KT_EVENT3(NAME, dat20, a0, a1, a2) \
	KT_EVENT3_OF(NAME, NULL, dat20, a0, a1, a2)

/* The same of events about another thread than the one that runs. */
#define KT_EVENT1_OF(NAME, other, dat20, a0)				\
	kt_event1(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 1), KT_PLACE(NAME), \
		  a0, other)
#define KT_EVENT2_OF(NAME, other, dat20, a0, a1)			\
	kt_event2(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 2), KT_PLACE(NAME), \
		  a0, a1, other)
#define KT_EVENT3_OF(NAME, other, dat20, a0, a1, a2)			\
	kt_event3(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 3), KT_PLACE(NAME), \
		  a0, a1, a2, other)

/* The same inlined, for events that are frequent: see kt_event(). */
#define KT_EVENT_INLINE(NAME, dat20, nargs, a0, a1, a2, other)		\
	kt_event(KTAPE_EV_##NAME, KT_CLASS_OF_##NAME,			\
		 KT_EVENT_RING_##NAME, dat20, nargs, a0, a1, a2, other)

#define KT_INLINE0(NAME, dat20) \
	KT_EVENT_INLINE(NAME, dat20, 0, 0, 0, 0, NULL)
#define KT_INLINE1(NAME, dat20, a0) \
	KT_EVENT_INLINE(NAME, dat20, 1, a0, 0, 0, NULL)
#define KT_INLINE2(NAME, dat20, a0, a1) \
	KT_EVENT_INLINE(NAME, dat20, 2, a0, a1, 0, NULL)
#define KT_INLINE1_OF(NAME, other, dat20, a0) \
	KT_EVENT_INLINE(NAME, dat20, 1, a0, 0, 0, other)
#define KT_INLINE2_OF(NAME, other, dat20, a0, a1) \
	KT_EVENT_INLINE(NAME, dat20, 2, a0, a1, 0, other)
#define KT_INLINE3_OF(NAME, other, dat20, a0, a1, a2) \
	KT_EVENT_INLINE(NAME, dat20, 3, a0, a1, a2, other)

/*
 * Events with more argument words, or with a blob (bytes at data; NULL and 0 if
 * the event has none).  They take a little longer.
 */
#define KT_EVENT_LONG(NAME, dat20, words, data, bytes)			\
do {									\
	const struct kt_record __rec = {				\
		.code = KT_CODE(KTAPE_EV_##NAME, dat20, !!(data),	\
				ARRAY_SIZE(words)),			\
		.class = KT_CLASS_OF_##NAME,				\
		.nargs = ARRAY_SIZE(words),				\
		.size = bytes,						\
		.args = words,						\
		.blob = data,						\
	};								\
									\
	kt_event_record(KT_EVENT_RING_##NAME, &__rec);			\
} while (0)

/**
 * kt_wanted() - Does any session or sink want this event on this CPU?
 * @opcode: of an event
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
static __always_inline bool kt_wanted(u32 opcode)
{
	return kt_cpu_read(kt_cpus.want[opcode]) || kt_sink_wants(opcode);
}

#define KT_WANTED(NAME)		kt_wanted(KTAPE_EV_##NAME)

/* ---- triggers: trigger.c --------------------------------------------------- */

/*
 * An opcode that a trigger of a session looks at has no fast route, as if a
 * filter applied to it; nobody else notices.
 */

/**
 * struct kt_trigger - a condition, and what happened
 * @spec: what was asked for, constant
 * @gates: LONGER: pairs that have begun
 * @matches: since the session's start
 * @fired: likewise
 * @pending: firings on which nobody has acted; the first one queues @irq
 * @seen: QUIET: jiffies of the last match
 * @last: trace clock of the last firing
 * @irq: gets out of the writer's context
 */
struct kt_trigger {
	struct ktape_trigger spec;
	struct kt_gates *gates;
	atomic_t matches;
	atomic_t fired;
	atomic_t pending;
	unsigned long seen;
	u64 last;
	struct irq_work irq;
};

/**
 * struct kt_triggers - those of a session, replaced as a whole
 * @mask: opcodes that any of them looks at
 * @nr: how many
 * @trigger: these
 */
struct kt_triggers {
	u64 mask[KTAPE_MASK_WORDS];
	unsigned int nr;
	struct kt_trigger *trigger[KTAPE_TRIGGERS];
};

/* Per session, NULL: none.  Written with kt_session_control. */
extern struct kt_triggers __rcu *kt_triggers[KT_SESSIONS];

static inline bool kt_triggers_look_at(const struct kt_triggers *all,
				       unsigned int opcode)
{
	return all->mask[opcode / 64] >> (opcode % 64) & 1;
}

void kt_triggers_renew_gates(const struct kt_triggers *all);
bool kt_triggers_follow(const struct kt_triggers *all,
			const struct kt_gates *gates);
bool kt_triggers_pair(const struct kt_triggers *all, u32 opcode);
void kt_trigger_fire(struct kt_trigger *t, unsigned int session);
int kt_trigger_gate_of(u32 span);
void kt_trigger_mask(const struct ktape_trigger *spec, u64 *mask);
void kt_trigger_thread_exits(const struct task_struct *p);

/* ---- call stacks: stack.c -------------------------------------------------- */

#ifdef CONFIG_STACKTRACE
void kt_stack_leave_out(const void *function);
void kt_stack_module(const struct module *mod);
#else
static inline void kt_stack_leave_out(const void *function)
{
}

static inline void kt_stack_module(const struct module *mod)
{
}
#endif

/* ---- the tracer's own time: loss.c ----------------------------------------- */

void kt_cost_sample(struct kt_ring *r);
void kt_cost_tell(struct ktape_cost *cost);

/* ---- tokens: token.c ------------------------------------------------------- */

/*
 * Addresses as 32-bit tokens.  Records tell objects and functions apart without
 * telling where they are: a token is a keyed hash of the address, with a new key
 * at each load.  It keeps addresses out of traces that are passed around; it is
 * no cipher.
 */

/* Places for code addresses whose symbols are still to be looked up. */
#define KT_SYMBOLS_PENDING	256

/*
 * Places for code addresses whose symbols were looked up.  The low bits of the
 * token select the place; an address that finds it taken is stored near it.
 */
#define KT_SYMBOLS_SEEN		16384


extern u64 kt_token_key[3];
extern unsigned long kt_symbols_seen[KT_SYMBOLS_SEEN];

void kt_token_init(struct irq_work *on_pending);
u32 kt_token_func(unsigned long address);
unsigned long kt_symbol_take(unsigned int place);
unsigned long *kt_symbol_place(u32 token, unsigned long address);

/**
 * kt_token() - an object's address as a token
 * @p: address, may be NULL
 *
 * Context: any.
 * Return: the token, 0 for NULL only.
 */
static __always_inline u32 kt_token(const void *p)
{
	u64 x = (unsigned long)p ^ kt_token_key[0];
	u32 token;

	x *= kt_token_key[1];
	x ^= x >> 32;
	x *= kt_token_key[2];
	token = (u32)(x >> 32);
	return p ? token ?: 1 : 0;
}

/*
 * The kernel's part of the address space, tags in the uppermost byte included,
 * without its last megabyte: that holds nothing, but errors and small negative
 * numbers read as addresses in it.
 */
#ifdef CONFIG_64BIT
#define KT_KERNEL_FROM		(0xfUL << 60)
#else
#define KT_KERNEL_FROM		TASK_SIZE
#endif
#define KT_KERNEL_TO		(-1UL << 20)

/**
 * kt_is_kernel_address() - may a number be the address of something in the kernel?
 * @value: the number
 *
 * Context: any.
 * Return: true or false.
 */
static __always_inline bool kt_is_kernel_address(unsigned long value)
{
	return value >= KT_KERNEL_FROM && value < KT_KERNEL_TO;
}

#endif /* _KT_EVENT_H */
