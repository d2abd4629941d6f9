/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session's filters are, and how an event passes them.
 *
 * Events of a session without filters never come here: only opcodes to which a
 * filter applies take the way for several sessions (KT_ROUTE_MANY).
 */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include <linux/bitmap.h>
#include <linux/rcupdate.h>

#include <ktape/filter.h>

#include "ring/ring.h"

/* Sessions at a time. */
#define KT_SESSIONS		8

struct cgroup;
struct kt_gates;
struct kt_rates;
struct task_struct;

/**
 * struct kt_filters - all filters of a session, replaced as a whole
 * @kinds: bit n: enum ktape_filter_kind n is in force
 * @pid_set: the set of followed threads that pass, see kt_track_open(); 0: all do
 * @pid_except: the set of those that do not; 0: none
 * @severity: exceptions below this level are held back
 * @applies: bit n: opcode n has to be looked at
 * @stacks: bit n: event n is followed by a call stack
 * @softirqs: bit n: vector n passes
 * @signals: bit n - 1: signal n passes
 * @syscalls: bit n: system call n passes, 512 + n: of the 32-bit table
 * @irqs: bit n: interrupt n passes
 * @uids: real uids as of the initial user name space
 * @cgroups: each with a reference
 * @gates: gates and pairs that have begun; NULL: none
 * @rates: limits and what has passed
 * @nr: per kind how many entries it was given
 * @cpus: CPUs that record, a part of the want bits
 * @pids: the entries of the pid filter as of the initial name space
 *
 * Changed by control as a copy; read in probes, with preemption disabled.  A
 * copy shares what the pointers lead to; a kind's goes when the kind is changed.
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
 * struct kt_span - a span record that takes a pair's place
 * @rec: the record
 * @args: its arguments
 */
struct kt_span {
	struct kt_record rec;
	u32 args[4];
};

/**
 * enum kt_verdict - what a filter says of an event
 * @KT_PASS: record the event as it is
 * @KT_HOLD: do not record the event
 * @KT_SPAN: record the span of the pair that the event ends in its place
 */
enum kt_verdict {
	KT_PASS,
	KT_HOLD,
	KT_SPAN,
};

/* Per session, NULL: none.  Written with kt_session_control. */
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

/* Is a call stack to follow the event? */
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
void kt_gates_tell(const struct kt_gates *gates, struct ktape_filter_gate *to);
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

/* ---- rate limits ---------------------------------------------------------- */

struct kt_rates *kt_rates_alloc(const struct ktape_filter_rate *entries,
				u32 nr);
void kt_rates_free(struct kt_rates *rates);
void kt_rates_tell(const struct kt_rates *rates, struct ktape_filter_rate *to);
bool kt_rates_have(const struct kt_rates *rates, u32 opcode);
bool kt_rates_pass(const struct kt_rates *rates, u32 opcode);

/* ---- threads that filters follow: track.c -------------------------------- */

/*
 * A set of followed threads, with their threads and children, is one bit.  A
 * filter has up to two, and beside those of all sessions there is room for those
 * of one filter more, so that it can take another's place at one moment.
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
