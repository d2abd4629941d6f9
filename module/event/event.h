/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a probe to the rings of the sessions that want the event.
 *
 * Each CPU has one word per opcode, with one want bit per session.  On the way
 * of an event these bits alone say which sessions record it: a start, a stop, a
 * profile and a CPU filter take effect by changing them.  The pass mask of the CPU
 * says which of these sessions filter the running thread.
 *
 * Not here: the probes (probes/), and the setting of the want bits
 * (kt_want_apply() in session/want.c).
 *
 * Read the files in this order.  Each one calls only files above it: cpu.c (what each CPU
 * keeps), token.c (tokens of addresses), put.c (stores an event), now.c (the running thread),
 * loss.c, wake.c and context.c (what a ring does when it opens a block), trigger.c, stack.c
 * (call stacks), event.c (which sessions record an event), switch.c (context switches).
 */
#ifndef _KT_EVENT_H
#define _KT_EVENT_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <ktape/cost.h>
#include <ktape/trigger.h>

#include "cpu.h"
#include "filter/filter.h"
#include "ring/ring.h"

struct module;
struct task_struct;

/* As constants: ring of each class, class of each event, ring of each event. */
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

/**
 * struct kt_owner - a session as its rings see it
 * @session: number of the session
 * @generation: number of its starts and of changes of its profile and filters
 * @no_context: the session does not record which thread runs
 * @waiting: number of readers that wait in read() or poll()
 * @wait: queue of those readers
 * @wake: wakes the first readers outside the writer's context
 * @wake_rest: wakes the others
 * @filled: ends a full snapshot outside the writer's context
 * @filled_queued: @filled was queued since the session was started
 */
struct kt_owner {
	u32 session;
	u32 generation;
	bool no_context;
	atomic_t waiting;
	wait_queue_head_t wait;
	struct irq_work wake;
	struct work_struct wake_rest;
	struct irq_work filled;
	bool filled_queued;
};

/* Identifies this load of the module, in the header of each block. */
extern u8 kt_uuid[16];

/* For rings whose owner is a struct kt_owner. */
extern const struct kt_ring_ops kt_event_ring_ops;

void kt_owner_init(struct kt_owner *owner);
void kt_owner_exit(struct kt_owner *owner);
void kt_owner_wake(struct kt_owner *owner);
void kt_event_many(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
		   struct task_struct *other);
void kt_put(u32 code, u32 place, u32 a0, u32 a1, u32 a2, unsigned long sessions);
void kt_put0(u32 code, u32 place, unsigned long sessions);
void kt_put1(u32 code, u32 place, u32 a0, unsigned long sessions);
void kt_put2(u32 code, u32 place, u32 a0, u32 a1, unsigned long sessions);
void kt_put3(u32 code, u32 place, u32 a0, u32 a1, u32 a2, unsigned long sessions);
bool kt_event_record_in(unsigned int session, u32 kind, const struct kt_record *rec);
void kt_log_allow(unsigned int session, bool allowed);
void kt_event_record_log(const struct kt_record *rec);
unsigned long kt_event_record_of(u32 kind, const struct kt_record *rec,
				 struct task_struct *other);
void kt_event_losses(struct kt_ring *r);
/* Between the two, a block that is opened names the incoming thread of a switch: context.c. */
struct kt_coming kt_coming_set(s32 tid, u8 prio);
void kt_coming_back(const struct kt_coming *old);
bool kt_event_opcode_exists(unsigned int opcode);
const char *kt_event_name(unsigned int opcode);
unsigned int kt_event_class(unsigned int opcode);

/* Record an event of any shape.  Preemption disabled. */
static inline void kt_event_record(u32 kind, const struct kt_record *rec)
{
	kt_event_record_of(kind, rec, NULL);
}

/* ---- sinks: see emit/sink.c ------------------------------------------------ */

/* Bit n: a sink, a function of another module that is called for records, wants opcode n. */
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

/*
 * Class of an event, and the kind of its ring, in one word: with it, the arguments of
 * kt_event_many() fit into registers.
 */
#define KT_PLACE_OF(class, kind) ((class) | (kind) << 8)
#define KT_PLACE_CLASS(place)	 ((place)&0xff)
#define KT_PLACE_KIND(place)	 ((place) >> 8)
#define KT_PLACE(NAME)		 KT_PLACE_OF(KT_CLASS_OF_##NAME, KT_EVENT_RING_##NAME)

/* Get the ring of one session, the only one of @want. */
static __always_inline struct kt_ring *kt_ring_alone(struct kt_cpu __percpu *cpus,
						     u32 place, unsigned long want)
{
	return kt_cpu_read(cpus->alone_row[KT_PLACE_KIND(place) * KT_ALONE + want]);
}

/* Count an event as filtered in one session. */
static __always_inline void kt_count_filtered_in(struct kt_ring *r, u32 place)
{
	struct ktape_ring_page *page = r->page;

	kt_count(&page->emitted[KT_PLACE_CLASS(place)]);
	kt_count(&page->filtered[KT_PLACE_CLASS(place)]);
}

/* kt_put() for a constant number of argument words. */
static __always_inline void kt_put_words(u32 code, u32 place, const u32 nargs,
					 u32 a0, u32 a1, u32 a2,
					 unsigned long sessions)
{
	if (nargs == 0)
		kt_put0(code, place, sessions);
	else if (nargs == 1)
		kt_put1(code, place, a0, sessions);
	else if (nargs == 2)
		kt_put2(code, place, a0, a1, sessions);
	else
		kt_put3(code, place, a0, a1, a2, sessions);
}

/*
 * Is an event filtered in the one session that wants it?  False if @want has a KT_WANT_* bit:
 * shifted, the mask has bits of sessions only.
 */
static __always_inline bool kt_event_is_filtered(struct kt_cpu __percpu *cpus,
						 unsigned long want,
						 unsigned long mask,
						 struct task_struct *other)
{
	u32 pass = 0;

	if (want & ~(mask >> KT_MASK_FILTERED_SHIFT))
		return false;
	/* No session of @want filters by uid: see KT_MASK_FILTERED_SHIFT. */
	if (other && !kt_match_peek(cpus->kept, other, &pass))
		return false;
	return !(want & pass);
}

/*
 * kt_event(), with opcode and dat20, and class and kind, in one word each.
 *
 * In this order: one session records the event; an NMI that must not write to a ring; several
 * sessions record it (KT_WANT_MANY alone is set in both); one session filters it; anything else.
 *
 * The pass mask always has the KT_WANT_* flags (event/cpu.h).  So an event whose want bits have
 * no bit in common with it has one session, and no filter of that holds it back.
 */
static __always_inline void kt_event_at(struct kt_cpu __percpu *cpus, u32 code,
					u32 place, const u32 nargs, u32 a0,
					u32 a1, u32 a2, struct task_struct *other)
{
	const unsigned long want =
		kt_cpu_read(cpus->want[code & (KTAPE_OPCODES - 1)]);
	const unsigned long mask = kt_cpu_read(kt_now.mask);
	struct kt_ring *r;

	if (likely(!(want & mask || kt_nmi_unsafe()))) {
		r = kt_ring_alone(cpus, place, want);
		kt_count(&r->page->emitted[KT_PLACE_CLASS(place)]);
		kt_ring_put(r, code, KT_PLACE_CLASS(place), nargs, a0, a1, a2);
	} else if (kt_nmi_unsafe()) {
		kt_event_many(code, place, a0, a1, a2, other);
	} else if (!(want & (mask ^ KT_WANT_MANY))) {
		kt_put_words(code, place, nargs, a0, a1, a2,
			     want & KT_MASK_SESSIONS);
	} else if (kt_event_is_filtered(cpus, want, mask, other)) {
		kt_count_filtered_in(kt_ring_alone(cpus, place, want), place);
	} else {
		kt_event_many(code, place, a0, a1, a2, other);
	}
}

/* Count an event as filtered in a set of sessions, at least one. */
static __always_inline void kt_count_filtered(struct kt_cpu __percpu *cpus,
					      u32 place, unsigned long sessions)
{
	struct kt_ring *r;

	do {
		r = kt_cpu_read(
			cpus->rings[KT_PLACE_KIND(place) * KT_SESSIONS + __ffs(sessions)]);
		kt_count(&r->page->emitted[KT_PLACE_CLASS(place)]);
		kt_count(&r->page->filtered[KT_PLACE_CLASS(place)]);
		sessions &= sessions - 1;
	} while (sessions);
}

/**
 * kt_event_ring() - Get the ring of an event if one session records it
 * @opcode: the event
 * @kind: enum ktape_ring_kind
 *
 * The caller counts the event and stores its record.  As for kt_event(), the address
 * of the ring's pointer is computed from the want bits.
 *
 * Context: any, preemption disabled.
 * Return: the ring; NULL: only kt_event_record() does all that is needed.
 */
static __always_inline struct kt_ring *kt_event_ring(u32 opcode, u32 kind)
{
	unsigned long want = kt_cpu_read(kt_cpus->want[opcode]);

	if (want & kt_cpu_read(kt_now.mask) || kt_nmi_unsafe())
		return NULL;
	return kt_cpu_read(kt_cpus->alone[kind][want]);
}

/**
 * kt_event() - Record an event with up to three argument words, inlined
 * @cpus: kt_cpus
 * @opcode: constant
 * @class: constant, its class
 * @kind: constant, enum ktape_ring_kind
 * @dat20: 20 bits
 * @nargs: constant, 0 to 3
 * @a0: argument word
 * @a1: argument word
 * @a2: argument word
 * @other: a task that the event is about besides current, or NULL
 *
 * Each use inlines about 200 bytes of code.  Only the events of the scheduler,
 * of interrupts, of softirqs and of system calls are frequent enough to be
 * worth that; all others call kt_event0() to kt_event3().
 *
 * The address of the ring's pointer is computed from the want bits, which orders
 * the two loads.  Pairs with the barrier in kt_want_apply().
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_event(struct kt_cpu __percpu *cpus, const u32 opcode,
				     const u32 class, const u32 kind, u32 dat20,
				     const u32 nargs, u32 a0, u32 a1, u32 a2,
				     struct task_struct *other)
{
	/* Thread filters do not apply to control records, and the mask says nothing. */
	BUILD_BUG_ON(opcode < KTAPE_OP_EXCEPTION);
	kt_event_at(cpus, KT_CODE(opcode, dat20, 0, nargs),
		    KT_PLACE_OF(class, kind), nargs, a0, a1, a2, other);
}

/* ---- the running thread, and context switches: now.c, switch.c ------------- */

void kt_now_forget(void);
void kt_now_renew(void);
void kt_now_close_all(void);
void kt_now_prepare(unsigned int cpu);
void kt_now_reported(unsigned int session);
void kt_switch_record(u32 code, struct task_struct *prev, struct task_struct *next);

/*
 * Between the record of sched_switch and the switch itself current is still the
 * outgoing thread, but records already belong to the incoming one.  An NMI or a
 * run-time probe may record there, and needs to know the thread for the header of
 * a block and for the filters.  While the record is being stored it cannot know on
 * which side of it its own record will be: the thread is unknown.
 *
 * kt_now_arrive() stores the thread as arrived, too, and so takes the place of kt_switch_end().
 */
static __always_inline void kt_switch_begin(struct task_struct *next)
{
	kt_cpu_write(kt_now.thread, (unsigned long)next);
	barrier(); /* before the record is stored */
}

static __always_inline void kt_switch_end(void)
{
	barrier(); /* after the record was stored */
	/* Sets KT_ARRIVED in one instruction. */
	raw_cpu_inc(kt_now.thread);
}

/* Is struct kt_now.thread kept up to date?  Preemption disabled. */
static __always_inline bool kt_event_sees_switches(void)
{
	/* A sink alone does not count: its start has not set @thread to 0. */
	return kt_cpu_read(kt_cpus->want[KTAPE_EV_SCHED_SWITCH]) & KT_MASK_SESSIONS ||
	       kt_cpu_read(kt_cpus->want[KTAPE_EV_CONTEXT]);
}

/**
 * kt_event_thread() - Get the thread that the next record belongs to
 *
 * Context: any, preemption disabled, if kt_event_sees_switches().
 * Return: the thread, NULL = not known.
 */
static __always_inline struct task_struct *kt_event_thread(void)
{
	unsigned long thread = kt_cpu_read(kt_now.thread);

	if (!thread)
		return current;
	return thread & KT_ARRIVED ? (void *)(thread - KT_ARRIVED) : NULL;
}

/* Record a switch in one ring. */
static __always_inline void kt_switch_put(struct kt_ring *r, u32 code,
					  struct task_struct *prev,
					  struct task_struct *next)
{
	kt_switch_begin(next);
	kt_count(&r->page->emitted[KT_CLASS_OF_SCHED_SWITCH]);
	kt_ring_put(r, code, KT_CLASS_OF_SCHED_SWITCH, 2, prev->pid, next->pid, 0);
	kt_switch_end();
}

/**
 * kt_switch_is_steady() - Does a switch change neither the pass mask nor anything else?
 * @cpus: kt_cpus
 * @next: the incoming thread
 * @pass: receives the sessions that it passes, which are those of the outgoing thread
 *
 * Inlined, because this decides alone in the most frequent cases: all sessions with a
 * thread filter record both threads, or none of them.
 *
 * Context: the probe of sched_switch.
 * Return: true; false: only kt_switch_record() does all that is needed.
 */
static __always_inline bool kt_switch_is_steady(struct kt_cpu __percpu *cpus,
						struct task_struct *next, u32 *pass)
{
	const struct kt_kept *k = kt_match_place(cpus->kept, next);

	if (unlikely(!kt_match_is_kept(k, next, 0)))
		return false;
	*pass = k->pass;
	return *pass == kt_cpu_read(kt_now.steady);
}

/* ---- events by a call ------------------------------------------------------ */

void kt_event0(u32 code, u32 place, struct task_struct *other);
void kt_event1(u32 code, u32 place, u32 a0, struct task_struct *other);
void kt_event2(u32 code, u32 place, u32 a0, u32 a1, struct task_struct *other);
void kt_event3(u32 code, u32 place, u32 a0, u32 a1, u32 a2,
	       struct task_struct *other);

/* Record an event with 0 to 3 argument words by a call. */
#define KT_EVENT0(NAME, dat20) \
	kt_event0(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 0), KT_PLACE(NAME), NULL)
#define KT_EVENT1(NAME, dat20, a0)     KT_EVENT1_OF(NAME, NULL, dat20, a0)
#define KT_EVENT2(NAME, dat20, a0, a1) KT_EVENT2_OF(NAME, NULL, dat20, a0, a1)
#define KT_EVENT3(NAME, dat20, a0, a1, a2) \
	KT_EVENT3_OF(NAME, NULL, dat20, a0, a1, a2)

/* The same for events that are about another task besides current. */
#define KT_EVENT1_OF(NAME, other, dat20, a0) \
	kt_event1(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 1), KT_PLACE(NAME), a0, other)
#define KT_EVENT2_OF(NAME, other, dat20, a0, a1)                             \
	kt_event2(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 2), KT_PLACE(NAME), a0, \
		  a1, other)
#define KT_EVENT3_OF(NAME, other, dat20, a0, a1, a2)                         \
	kt_event3(KT_CODE(KTAPE_EV_##NAME, dat20, 0, 3), KT_PLACE(NAME), a0, \
		  a1, a2, other)

/* The same inlined, for frequent events: see kt_event().  @data is the probe's. */
#define KT_EVENT_INLINE(data, NAME, dat20, nargs, a0, a1, a2, other)    \
	kt_event(kt_cpus_of(data), KTAPE_EV_##NAME, KT_CLASS_OF_##NAME, \
		 KT_EVENT_RING_##NAME, dat20, nargs, a0, a1, a2, other)

#define KT_INLINE0(data, NAME, dat20) \
	KT_EVENT_INLINE(data, NAME, dat20, 0, 0, 0, 0, NULL)
#define KT_INLINE2(data, NAME, dat20, a0, a1) \
	KT_EVENT_INLINE(data, NAME, dat20, 2, a0, a1, 0, NULL)
#define KT_INLINE1_OF(data, NAME, other, dat20, a0) \
	KT_EVENT_INLINE(data, NAME, dat20, 1, a0, 0, 0, other)

/*
 * Record an event with an array of up to 7 argument words, and with a blob
 * (bytes at data; NULL and 0 = none).
 */
#define KT_EVENT_LONG(NAME, dat20, words, data, bytes)                    \
	do {                                                              \
		const struct kt_record __rec = {                          \
			.code = KT_CODE(KTAPE_EV_##NAME, dat20, !!(data), \
					ARRAY_SIZE(words)),               \
			.class = KT_CLASS_OF_##NAME,                      \
			.nargs = ARRAY_SIZE(words),                       \
			.size = bytes,                                    \
			.args = words,                                    \
			.blob = data,                                     \
		};                                                        \
		kt_event_record(KT_EVENT_RING_##NAME, &__rec);            \
	} while (0)

/*
 * Does any session or sink want this event on this CPU?  Preemption disabled.  A
 * macro, because gcc lays out callers of an inline function worse.
 */
#define kt_wanted(opcode)                                      \
	(kt_cpu_read(kt_cpus->want[opcode]) & ~KT_WANT_NONE || \
	 kt_sink_wants(opcode))

#define KT_WANTED(NAME) kt_wanted(KTAPE_EV_##NAME)

/* ---- triggers: trigger.c --------------------------------------------------- */

/*
 * Events that a trigger checks leave the fast path (KT_WANT_CHECK), like those that a
 * filter by more than the thread checks.  Other opcodes are not affected.
 */

/**
 * struct kt_trigger - a condition on events, and how often it was met
 * @spec: the trigger as user space gave it, with its id and an @nth of at least 1; constant
 * @gates: KTAPE_TRIGGER_LONGER: open pairs; else NULL
 * @matches: matching events since the session was started
 * @fired: firings since the session was started
 * @pending: firings that @irq has not handled yet; the first one queues @irq
 * @seen: KTAPE_TRIGGER_QUIET: jiffies of the last match
 * @last: trace clock of the last firing
 * @irq: handles firings outside the writer's context
 */
struct kt_trigger {
	struct ktape_trigger spec;
	struct kt_gates *gates;
	atomic_t matches;
	atomic_t fired;
	atomic_t pending;
	unsigned long seen;
	atomic64_t last;
	struct irq_work irq;
};

/**
 * struct kt_triggers - triggers of a session, replaced as a whole
 * @mask: bit n: a trigger checks opcode n
 * @nr: number of @trigger
 * @trigger: the triggers
 */
struct kt_triggers {
	u64 mask[KTAPE_MASK_WORDS];
	unsigned int nr;
	struct kt_trigger *trigger[KTAPE_TRIGGERS];
};

/* Triggers of each session, NULL = none.  Written under kt_session_control. */
extern struct kt_triggers __rcu *kt_triggers[KT_SESSIONS];

static inline bool kt_triggers_want(const struct kt_triggers *all, unsigned int opcode)
{
	return all->mask[opcode / 64] >> (opcode % 64) & 1;
}

void kt_triggers_renew_gates(const struct kt_triggers *all);
bool kt_triggers_follow(const struct kt_triggers *all, const struct kt_gates *gates);
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
void kt_cost_read(struct ktape_cost *cost);

/* ---- tokens: token.c ------------------------------------------------------- */

/*
 * Tokens replace addresses in records: objects and functions have different
 * tokens, but a trace does not show where they are.  A token is a keyed 32-bit
 * hash of the address, with a new key at each load.  It is not meant to resist
 * a determined attacker.
 */

/* Places for code addresses whose symbols are still to be looked up. */
#define KT_SYMBOLS_PENDING 256

/*
 * Places for code addresses whose symbols were looked up.  The low bits of the
 * token select the place; if it is taken, the address goes to a place near it.
 */
#define KT_SYMBOLS_FEW	8 /* until the first session records */
#define KT_SYMBOLS_MANY 16384

/**
 * struct kt_symbols - the table of these places
 * @mask: number of places, less one
 * @places: addresses, 0 = free
 */
struct kt_symbols {
	u32 mask;
	unsigned long *places;
};

extern u64 kt_token_key[3];
extern struct kt_symbols kt_symbols;

void kt_token_init(struct irq_work *on_pending);
u32 kt_token_func(unsigned long address);
unsigned long kt_symbol_take(unsigned int place);
unsigned long *kt_symbol_place(u32 token, unsigned long address);

/**
 * kt_token() - Make the token of an address
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

/**
 * kt_token_page() - Make the token of a page of memory
 * @pfn: number of its page frame
 *
 * Frame numbers tell where the kernel and its structures are in the direct map.
 *
 * Context: any.
 * Return: the token, 0 for page 0 only.
 */
static __always_inline u32 kt_token_page(unsigned long pfn)
{
	return kt_token((const void *)pfn);
}

/*
 * The kernel's part of the address space, including addresses with a tag in the
 * top byte.  The last megabyte is left out: nothing is mapped there, and error
 * codes and small negative numbers look like addresses in it.
 */
#ifdef CONFIG_64BIT
#define KT_KERNEL_FROM (0xfUL << 60)
#else
#define KT_KERNEL_FROM TASK_SIZE
#endif
#define KT_KERNEL_TO (-1UL << 20)

/**
 * kt_is_kernel_address() - Can a number be a kernel address?
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
