// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks whether an event passes the filters of a session.
 *
 * A table gives for each opcode the kind of its bitmap (interrupts, softirqs,
 * signals or system calls) and the width of its number in dat20.  The filters
 * are applied in this order: CPU, bitmap, thread, severity, duration gate
 * (gate.c), rate limit.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uidgid.h>

#include <ktape/abi.h>

#include "filter.h"

struct kt_filters __rcu *kt_filters[KT_SESSIONS];

#define SYSCALL_COMPAT	     (1U << 16) /* dat20: the 32-bit table */
#define SYSCALL_COMPAT_FIRST 512U	/* bitmap: first bit of that table */
#define SYSCALL_NONE	     0xffffU	/* dat20: the number is unknown */
#define SEVERITY_LEVEL	     3U		/* dat20: without the hardware bit */

/**
 * struct kt_number - the number in an event's dat20 that selects a bitmap's bit
 * @kind: kind of the bitmap, enum ktape_filter_kind
 * @bits: width in dat20, from bit 0; 0 = no bitmap applies to the event
 */
struct kt_number {
	u8 kind;
	u8 bits;
};

static const struct kt_number filter_numbers[KTAPE_OPCODES] = {
	[KTAPE_EV_SYS_ENTER] = { KTAPE_FILTER_SYSCALL, 16 },
	[KTAPE_EV_SYS_EXIT] = { KTAPE_FILTER_SYSCALL, 16 },
	[KTAPE_EV_SYS_ENTER_WIDE] = { KTAPE_FILTER_SYSCALL, 16 },
	[KTAPE_EV_SYS_EXIT_WIDE] = { KTAPE_FILTER_SYSCALL, 16 },
	[KTAPE_EV_SYS_PATH] = { KTAPE_FILTER_SYSCALL, 16 },
	[KTAPE_EV_IRQ_HANDLER_ENTRY] = { KTAPE_FILTER_IRQ, 18 },
	[KTAPE_EV_IRQ_HANDLER_EXIT] = { KTAPE_FILTER_IRQ, 18 },
	[KTAPE_EV_SOFTIRQ_RAISE] = { KTAPE_FILTER_SOFTIRQ, 8 },
	[KTAPE_EV_SOFTIRQ_ENTRY] = { KTAPE_FILTER_SOFTIRQ, 8 },
	[KTAPE_EV_SOFTIRQ_EXIT] = { KTAPE_FILTER_SOFTIRQ, 8 },
	[KTAPE_EV_SIGNAL_GENERATE] = { KTAPE_FILTER_SIGNAL, 7 },
	[KTAPE_EV_SIGNAL_DELIVER] = { KTAPE_FILTER_SIGNAL, 7 },
};

/* Return true if the bit of @n is set.  Numbers beyond the bitmap pass. */
static bool map_has(const u64 *map, unsigned int words, unsigned int n)
{
	return n >= words * 64 || map[n / 64] >> (n % 64) & 1;
}

static bool filter_pass_syscall(const struct kt_filters *f, u32 dat20, u32 nr)
{
	/*
	 * Not in a system call, or a return from a signal handler, which has
	 * lost the number.
	 */
	if (nr == SYSCALL_NONE)
		return false;
	if (nr >= SYSCALL_COMPAT_FIRST)
		return true;
	if (dat20 & SYSCALL_COMPAT)
		nr += SYSCALL_COMPAT_FIRST;
	return map_has(f->syscalls, ARRAY_SIZE(f->syscalls), nr);
}

static bool filter_pass_number(const struct kt_filters *f, u32 opcode, u32 dat20)
{
	const struct kt_number *n = &filter_numbers[opcode];
	u32 nr = dat20 & (BIT(n->bits) - 1);

	if (!n->bits || !kt_filter_in_force(f, n->kind))
		return true;
	switch (n->kind) {
	case KTAPE_FILTER_SYSCALL:
		return filter_pass_syscall(f, dat20, nr);
	case KTAPE_FILTER_IRQ:
		return map_has(f->irqs, ARRAY_SIZE(f->irqs), nr);
	case KTAPE_FILTER_SOFTIRQ:
		return map_has(&f->softirqs, 1, nr);
	default: /* signals: bit n - 1 is signal n */
		return map_has(&f->signals, 1, nr - 1);
	}
}

static bool filter_pass_uid(const struct kt_filters *f, u32 uid)
{
	unsigned int i;

	for (i = 0; i < f->nr[KTAPE_FILTER_UID]; i++)
		if (f->uids[i] == uid)
			return true;
	return false;
}

static bool filter_pass_cgroup(const struct kt_filters *f, struct cgroup *cgroup)
{
	unsigned int i;

	for (i = 0; i < f->nr[KTAPE_FILTER_CGROUP]; i++)
		if (kt_cgroup_is_in(cgroup, f->cgroups[i]))
			return true;
	return false;
}

static bool filter_pass_pid(const struct kt_filters *f, const struct task_struct *p)
{
	u32 sets = kt_track_sets(p);

	return (!f->pid_set || sets & f->pid_set) && !(sets & f->pid_except);
}

/**
 * kt_filter_pass_thread() - Check the pid, uid and cgroup filters for a thread
 * @f: the session's filters
 * @p: the thread
 * @cgroup: from kt_thread_cgroup()
 * @uid: from kt_thread_uid()
 *
 * Context: as kt_filter_pass().
 * Return: true or false.
 */
bool kt_filter_pass_thread(const struct kt_filters *f, const struct task_struct *p,
			   struct cgroup *cgroup, u32 uid)
{
	if (kt_filter_in_force(f, KTAPE_FILTER_PID) && !filter_pass_pid(f, p))
		return false;
	if (kt_filter_in_force(f, KTAPE_FILTER_UID) && !filter_pass_uid(f, uid))
		return false;
	return !kt_filter_in_force(f, KTAPE_FILTER_CGROUP) ||
	       filter_pass_cgroup(f, cgroup);
}

static bool filter_pass_thread(const struct kt_filters *f, struct task_struct *p)
{
	return kt_filter_pass_thread(f, p, kt_thread_cgroup(p), kt_thread_uid(p));
}

/**
 * kt_filter_pass_rate() - Count one more event against its rate limit
 * @f: the session's filters
 * @r: the session's ring, which counts an event above the limit as lost
 * @rec: the event
 *
 * Context: as kt_filter_pass().
 * Return: true if the event may be recorded.
 */
bool kt_filter_pass_rate(const struct kt_filters *f, struct kt_ring *r,
			 const struct kt_record *rec)
{
	if (!kt_filter_in_force(f, KTAPE_FILTER_RATE) ||
	    kt_rates_pass(f->rates, rec->code & (KTAPE_OPCODES - 1)))
		return true;
	kt_ring_lose(r, KTAPE_LOST_RATE, rec->class);
	return false;
}

/*
 * Does the CPU filter let this CPU record?  Only the events of pairs that a
 * gate or a trigger measures need this check: they are wanted on every CPU,
 * because a thread may migrate between the two.
 */
static bool filter_pass_cpu(const struct kt_filters *f)
{
	return !kt_filter_in_force(f, KTAPE_FILTER_CPU) ||
	       test_bit(smp_processor_id(), f->cpus);
}

/* Apply the filters that keep no state. */
static bool filter_pass_stateless(const struct kt_filters *f, u32 opcode,
				  u32 dat20, const struct kt_threads *who)
{
	if (!filter_pass_number(f, opcode, dat20))
		return false;
	if (f->kinds & KT_THREAD_KINDS && !filter_pass_thread(f, who->own) &&
	    !(who->other && filter_pass_thread(f, who->other)))
		return false;
	return opcode != KTAPE_EV_EXCEPTION ||
	       !kt_filter_in_force(f, KTAPE_FILTER_SEVERITY) ||
	       (dat20 & SEVERITY_LEVEL) >= f->severity;
}

/**
 * kt_filter_pass() - Check whether an event is recorded
 * @f: the session's filters
 * @r: the session's ring, for its counts
 * @rec: the event
 * @who: its threads; the event passes the thread filters if one of the two does
 * @span: with KT_SPAN receives the record to write instead; the caller must
 *	still call kt_filter_pass_rate() for it.  May be NULL if no gate is in force
 *
 * Control records (opcodes below KTAPE_OP_EXCEPTION) always pass.  In an
 * interrupt, the event belongs to the interrupted thread.
 *
 * Context: any, preemption disabled.
 * Return: enum kt_result; with KT_FILTERED the event was counted as filtered, or
 * as lost to a rate limit.
 */
enum kt_result kt_filter_pass(const struct kt_filters *f, struct kt_ring *r,
			      const struct kt_record *rec,
			      const struct kt_threads *who, struct kt_span *span)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	const u32 dat20 = rec->code >> 8 & KTAPE_DAT20_MASK;
	enum kt_result result = KT_PASS;

	if (!(f->applies[opcode / 64] >> (opcode % 64) & 1) &&
	    (opcode < KTAPE_OP_EXCEPTION || filter_pass_cpu(f)))
		return KT_PASS;
	if (!filter_pass_cpu(f) || !filter_pass_stateless(f, opcode, dat20, who)) {
		result = KT_FILTERED;
		if (kt_filter_in_force(f, KTAPE_FILTER_GATE))
			kt_gates_rejected(f->gates, rec);
	} else if (kt_filter_in_force(f, KTAPE_FILTER_GATE)) {
		result = kt_gates_pass(f->gates, rec, span);
	}
	if (likely(result == KT_PASS))
		return kt_filter_pass_rate(f, r, rec) ? KT_PASS : KT_FILTERED;
	if (result == KT_FILTERED)
		kt_count(&r->page->filtered[rec->class]);
	return result;
}

/* Opcodes that are events. */
static const bool filter_is_event[KTAPE_OPCODES] = {
/* clang-format off */
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	[opcode] = true,
/* clang-format on */
#include <ktape/events.h>
};

/* Return true if a filter other than those by thread applies, or a stack follows. */
static bool filter_applies_beyond(const struct kt_filters *f, unsigned int opcode)
{
	const struct kt_number *n = &filter_numbers[opcode];

	if (n->bits && kt_filter_in_force(f, n->kind))
		return true;
	if (opcode == KTAPE_EV_EXCEPTION &&
	    kt_filter_in_force(f, KTAPE_FILTER_SEVERITY))
		return true;
	if (kt_filter_in_force(f, KTAPE_FILTER_GATE) &&
	    kt_gates_have(f->gates, opcode))
		return true;
	if (kt_filter_in_force(f, KTAPE_FILTER_RATE) &&
	    kt_rates_have(f->rates, opcode))
		return true;
	return kt_filter_in_force(f, KTAPE_FILTER_STACK) &&
	       f->stacks[opcode / 64] >> (opcode % 64) & 1;
}

/**
 * kt_filter_applies() - Compute the opcodes to which a filter applies
 * @f: the filters, not in force yet; its @applies and @beyond receive the result
 *
 * No filter applies to control records: without context records a reader would
 * not know which thread runs.
 *
 * Context: any.
 */
void kt_filter_applies(struct kt_filters *f)
{
	unsigned int i;

	memset(f->beyond, 0, sizeof(f->beyond));
	memset(f->applies, 0, sizeof(f->applies));
	for (i = KTAPE_OP_EXCEPTION; i < KTAPE_TIME_EXTEND; i++) {
		if (!filter_is_event[i])
			continue;
		if (filter_applies_beyond(f, i))
			f->beyond[i / 64] |= BIT_ULL(i % 64);
		if (f->kinds & KT_THREAD_KINDS)
			f->applies[i / 64] |= BIT_ULL(i % 64);
		f->applies[i / 64] |= f->beyond[i / 64] & BIT_ULL(i % 64);
	}
}

/**
 * kt_filter_thread_exits() - Forget the open pairs of an exiting thread
 * @p: current, which may exit within a system call
 *
 * Context: the probe of sched_process_exit, preemption disabled.
 */
void kt_filter_thread_exits(const struct task_struct *p)
{
	const struct kt_filters *f;
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++) {
		f = rcu_dereference_sched(kt_filters[i]);
		if (f && kt_filter_in_force(f, KTAPE_FILTER_GATE))
			kt_gates_thread_exits(f->gates, p);
	}
}

/* ---- rate limits --------------------------------------------------------- */

/*
 * Rate limits: a number of events per second and CPU.
 *
 * A second begins with the first event after the previous second ended.  The
 * writer of that event stores the start of the new second, then resets the
 * count.  A writer that nests between these two steps increments the old count:
 * its event is refused, or recorded and forgotten by the reset.  So at a change
 * of seconds the limit may be exceeded by as many events as contexts nest.
 */
#define TICKS_SHIFT 10 /* so that times of 32 bits last for minutes */

/**
 * struct kt_rate_window - current second of one limit on one CPU
 * @start: start of the second, in units of 1 << TICKS_SHIFT ticks
 * @count: events since @start
 */
struct kt_rate_window {
	unsigned long start;
	local_t count;
};

/**
 * struct kt_rates - rate limits of a session
 * @nr: number of limits
 * @second: length of a second, in units of 1 << TICKS_SHIFT ticks
 * @entry: the limits as user space gave them
 * @of: per opcode the index of its limit + 1; 0 = none
 * @windows: @nr windows on each CPU
 */
struct kt_rates {
	u32 nr;
	unsigned long second;
	struct ktape_filter_rate entry[KTAPE_FILTER_RATES];
	u8 of[KTAPE_OPCODES];
	struct kt_rate_window __percpu *windows;
};

/**
 * kt_rates_have() - Check whether an event has a limit
 * @rates: the limits
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_rates_have(const struct kt_rates *rates, u32 opcode)
{
	return rates->of[opcode];
}

/**
 * kt_rates_pass() - Count an event and check whether it is within its limit
 * @rates: the limits
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
bool kt_rates_pass(const struct kt_rates *rates, u32 opcode)
{
	unsigned long now = (unsigned long)(kt_clock() >> TICKS_SHIFT), start;
	unsigned int i = rates->of[opcode];
	struct kt_rate_window *w;

	if (!i)
		return true;
	w = this_cpu_ptr(rates->windows) + i - 1;
	start = READ_ONCE(w->start);
	/* A time before @start by less than a second counts in this second. */
	if (now - start + rates->second >= 2 * rates->second &&
	    kt_try_cmpxchg_local(&w->start, &start, now))
		local_set(&w->count, 0);
	/* The count cannot wrap within a second. */
	return (unsigned long)local_inc_return(&w->count) <=
	       rates->entry[i - 1].per_second;
}

/**
 * kt_rates_alloc() - Allocate rate limits
 * @entries: the limits; opcodes that exist, each at most once
 * @nr: number of @entries, at most KTAPE_FILTER_RATES
 *
 * Context: process context, may sleep.
 * Return: the limits or NULL.
 */
struct kt_rates *kt_rates_alloc(const struct ktape_filter_rate *entries, u32 nr)
{
	struct kt_rates *rates = kzalloc(sizeof(*rates), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!rates)
		return NULL;
	rates->windows = __alloc_percpu(nr * sizeof(struct kt_rate_window),
					__alignof__(struct kt_rate_window));
	if (!rates->windows) {
		kfree(rates);
		return NULL;
	}
	rates->nr = nr;
	rates->second = (unsigned long)(kt_clock_hz() >> TICKS_SHIFT);
	for (i = 0; i < nr; i++) {
		rates->entry[i] = entries[i];
		rates->of[entries[i].opcode] = i + 1;
	}
	return rates;
}

/**
 * kt_rates_free() - Free rate limits
 * @rates: not in use by any CPU, may be NULL
 *
 * Context: process context.
 */
void kt_rates_free(struct kt_rates *rates)
{
	if (rates)
		free_percpu(rates->windows);
	kfree(rates);
}

/**
 * kt_rates_entries() - Copy the limits as user space gave them
 * @rates: the limits
 * @to: room for @rates->nr entries
 *
 * Context: any.
 */
void kt_rates_entries(const struct kt_rates *rates, struct ktape_filter_rate *to)
{
	memcpy(to, rates->entry, rates->nr * sizeof(*to));
}
