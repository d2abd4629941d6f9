/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of a session: their data, and the verdict on an event.
 *
 * Not here: parsing what user space asks for (session/filters.c), and recording
 * what passes (event/event.c).
 *
 * A filter slows down only the opcodes that it applies to: they leave the fast
 * route (KT_ROUTE_MANY in event/event.h).
 */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include <ktape/filter.h>

#include "ring/ring.h"

/* Number of sessions that can exist at a time. */
#define KT_SESSIONS		8

struct cgroup;
struct kt_gates;
struct kt_rates;
struct task_struct;

/**
 * struct kt_filters - all filters of a session, replaced as a whole
 * @kinds: bit n: enum ktape_filter_kind n is in force
 * @pid_set: set of threads that pass, from kt_track_open(); 0 = all threads
 *	pass
 * @pid_except: set of threads that do not pass; 0 = none
 * @severity: lowest level of an exception that passes
 * @applies: bit n: a filter applies to opcode n, or a stack follows it
 * @stacks: bit n: a call stack follows event n
 * @softirqs: bit n: softirq vector n passes
 * @signals: bit n - 1: signal n passes
 * @syscalls: bit n: system call n passes; bit 512 + n: n of the 32-bit table
 * @irqs: bit n: interrupt n passes
 * @uids: real uids, in the initial user name space
 * @cgroups: cgroups, each with a reference
 * @gates: duration gates and their open pairs; NULL = none
 * @rates: rate limits and their windows; NULL = none
 * @nr: number of entries of each kind
 * @cpus: CPUs that record; the want bits of the others are clear, except for
 *	the events of pairs that a gate or a trigger measures
 * @pids: entries of the pid filter, in the initial pid name space
 *
 * A control path makes a changed copy and publishes it by RCU; probes read it
 * with preemption disabled.  The copy shares the pointers of the kinds that did
 * not change; the data of the changed kind are freed.
 */
struct kt_filters {
	u32 kinds;
	u32 pid_set;
	u32 pid_except;
	u16 severity;
	u64 applies[KTAPE_MASK_WORDS];
	u64 stacks[KTAPE_MASK_WORDS];
	u64 softirqs;
	u64 signals;
	u64 syscalls[KTAPE_FILTER_SYSCALL_WORDS];
	u64 irqs[KTAPE_FILTER_IRQ_WORDS];
	uid_t uids[KTAPE_FILTER_UIDS];
	struct cgroup *cgroups[KTAPE_FILTER_CGROUPS];
	struct kt_gates *gates;
	struct kt_rates *rates;
	u16 nr[KTAPE_FILTER_KINDS];
	unsigned long *cpus;
	struct ktape_filter_pid *pids;
};

/**
 * struct kt_span - a span record that replaces a pair of events
 * @rec: the record
 * @args: its argument words
 */
struct kt_span {
	struct kt_record rec;
	u32 args[4];
};

/**
 * enum kt_verdict - verdict of a filter on an event
 * @KT_PASS: record the event as it is
 * @KT_HOLD: do not record the event
 * @KT_SPAN: the event ends a pair; record the span of the pair instead
 */
enum kt_verdict {
	KT_PASS,
	KT_HOLD,
	KT_SPAN,
};

/* Filters of each session, NULL = none.  Written under kt_session_control. */
extern struct kt_filters __rcu *kt_filters[KT_SESSIONS];

enum kt_verdict kt_filter_pass(const struct kt_filters *f, struct kt_ring *r,
			       const struct kt_record *rec,
			       struct task_struct *other, struct kt_span *span);
bool kt_filter_pass_rate(const struct kt_filters *f, struct kt_ring *r,
			 const struct kt_record *rec);
void kt_filter_applies(struct kt_filters *f);
void kt_filter_thread_exits(const struct task_struct *p);

static inline bool kt_filter_in_force(const struct kt_filters *f,
				      unsigned int kind)
{
	return f->kinds & BIT(kind);
}

/* Does a call stack follow the event? */
static inline bool kt_filter_has_stack(const struct kt_filters *f,
				       const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);

	return IS_ENABLED(CONFIG_STACKTRACE) &&
	       kt_filter_in_force(f, KTAPE_FILTER_STACK) &&
	       f->stacks[opcode / 64] >> (opcode % 64) & 1;
}

/* ---- duration gates: gate.c ---------------------------------------------- */

struct kt_gates *kt_gates_alloc(const struct ktape_filter_gate *entries,
				u32 nr);
void kt_gates_free(struct kt_gates *gates);
void kt_gates_entries(const struct kt_gates *gates,
		      struct ktape_filter_gate *to);
u64 kt_gates_collisions(const struct kt_gates *gates);
bool kt_gates_have(const struct kt_gates *gates, u32 opcode);
u32 kt_gates_end_of(u32 opcode);
enum kt_verdict kt_gates_pass(struct kt_gates *gates,
			      const struct kt_record *rec,
			      struct kt_span *span);
void kt_gates_held(struct kt_gates *t, const struct kt_record *rec);
void kt_gates_renew(struct kt_gates *t);

static inline void kt_filters_renew_gates(const struct kt_filters *f)
{
	if (f && kt_filter_in_force(f, KTAPE_FILTER_GATE))
		kt_gates_renew(f->gates);
}

void kt_gates_thread_exits(struct kt_gates *gates, const struct task_struct *p);

/* ---- rate limits: filter.c ------------------------------------------------ */

struct kt_rates *kt_rates_alloc(const struct ktape_filter_rate *entries,
				u32 nr);
void kt_rates_free(struct kt_rates *rates);
void kt_rates_entries(const struct kt_rates *rates,
		      struct ktape_filter_rate *to);
bool kt_rates_have(const struct kt_rates *rates, u32 opcode);
bool kt_rates_pass(const struct kt_rates *rates, u32 opcode);

/* ---- threads that filters follow: track.c -------------------------------- */

/*
 * A set of followed threads is one bit.  The pid filter of a session has up to
 * two sets: threads that pass, and exceptions.  A new filter is built in sets
 * of its own while the old one is still in force.
 */
int kt_track_init(void);
void kt_track_exit(void);
u32 kt_track_open(void);
int kt_track_add(u32 set, s32 nr, u32 flags, s32 *global);
s32 kt_track_number(u32 sets, s32 global);
void kt_track_walk(u32 set);
void kt_track_close(u32 set);
u64 kt_track_missed(u32 set);
u32 kt_track_sets(const struct task_struct *p);
void kt_track_fork(const struct task_struct *parent,
		   const struct task_struct *child);
void kt_track_free(const struct task_struct *p);
void kt_threads_walk(void (*look)(struct task_struct *p, void *arg), void *arg);

#endif /* _KT_FILTER_H */
