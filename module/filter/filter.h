/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of a session: their data, and which events pass them.
 *
 * Not here: parsing what user space asks for (session/filters.c), and recording
 * what passes (event/event.c).
 *
 * Read the files in this order.  Each one calls only files above it: gate.c (duration
 * gates), track.c (threads that pid filters follow), filter.c (whether an event passes),
 * match.c (which sessions' filters a thread passes).
 *
 * A filter slows down only the opcodes that it applies to: they leave the fast
 * path (struct kt_cpu.want in event/cpu.h).
 */
#ifndef _KT_FILTER_H
#define _KT_FILTER_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include <ktape/filter.h>

#include "ring/ring.h"

/* Number of sessions that can exist at a time. */
#define KT_SESSIONS 8

struct kt_gates;
struct kt_rates;

/**
 * struct kt_filters - all filters of a session, replaced as a whole
 * @kinds: bit n: enum ktape_filter_kind n is in force
 * @pid_set: set of threads that pass, from kt_track_open(); 0 = all threads
 *	pass
 * @pid_except: set of threads that do not pass; 0 = none
 * @severity: lowest level of an exception that passes
 * @applies: bit n: a filter applies to opcode n, or a stack follows it
 * @beyond: bit n: a filter other than those by thread applies to opcode n, or a
 *	stack follows it
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
	u64 beyond[KTAPE_MASK_WORDS];
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

/* Filters that check only the thread of an event. */
#define KT_THREAD_KINDS \
	(BIT(KTAPE_FILTER_PID) | BIT(KTAPE_FILTER_CGROUP) | BIT(KTAPE_FILTER_UID))

/**
 * struct kt_threads - the threads of an event
 * @own: the thread that the event belongs to
 * @other: a thread that it is about besides, or NULL
 */
struct kt_threads {
	struct task_struct *own;
	struct task_struct *other;
};

/**
 * struct kt_span - a span record that replaces a pair of events
 * @rec: the record
 * @args: its argument words: at most two of the second event, and the time of the first
 */
struct kt_span {
	struct kt_record rec;
	u32 args[4];
};

/**
 * enum kt_result - what the filters of a session say about an event
 * @KT_PASS: record the event as it is
 * @KT_FILTERED: do not record the event
 * @KT_SPAN: the event ends a pair; record the span of the pair instead
 */
enum kt_result {
	KT_PASS,
	KT_FILTERED,
	KT_SPAN,
};

/* Filters of each session, NULL = none.  Written under kt_session_control. */
extern struct kt_filters __rcu *kt_filters[KT_SESSIONS];

enum kt_result kt_filter_pass(const struct kt_filters *f, struct kt_ring *r,
			      const struct kt_record *rec,
			      const struct kt_threads *who, struct kt_span *span);
bool kt_filter_pass_thread(const struct kt_filters *f, const struct task_struct *p,
			   struct cgroup *cgroup, u32 uid);
bool kt_filter_pass_rate(const struct kt_filters *f, struct kt_ring *r,
			 const struct kt_record *rec);
void __cold kt_filter_applies(struct kt_filters *f);
void kt_filter_thread_exits(const struct task_struct *p);

static inline bool kt_filter_in_force(const struct kt_filters *f, unsigned int kind)
{
	return f->kinds & BIT(kind);
}

/* Return true if a call stack follows the event. */
static inline bool kt_filter_has_stack(const struct kt_filters *f,
				       const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);

	return IS_ENABLED(CONFIG_STACKTRACE) &&
	       kt_filter_in_force(f, KTAPE_FILTER_STACK) &&
	       f->stacks[opcode / 64] >> (opcode % 64) & 1;
}

/* ---- duration gates: gate.c ---------------------------------------------- */

struct kt_gates *kt_gates_alloc(const struct ktape_filter_gate *entries, u32 nr);
void kt_gates_free(struct kt_gates *gates);
void kt_gates_entries(const struct kt_gates *gates, struct ktape_filter_gate *to);
u64 kt_gates_collisions(const struct kt_gates *gates);
bool kt_gates_have(const struct kt_gates *gates, u32 opcode);
u32 kt_gates_end_of(u32 opcode);
enum kt_result kt_gates_pass(struct kt_gates *gates,
			     const struct kt_record *rec, struct kt_span *span);
void kt_gates_rejected(struct kt_gates *t, const struct kt_record *rec);
void kt_gates_renew(struct kt_gates *t);

static inline void kt_filters_renew_gates(const struct kt_filters *f)
{
	if (f && kt_filter_in_force(f, KTAPE_FILTER_GATE))
		kt_gates_renew(f->gates);
}

void kt_gates_thread_exits(struct kt_gates *gates, const struct task_struct *p);

/* ---- rate limits: filter.c ------------------------------------------------ */

struct kt_rates *kt_rates_alloc(const struct ktape_filter_rate *entries, u32 nr);
void __cold kt_rates_free(struct kt_rates *rates);
void __cold kt_rates_entries(const struct kt_rates *rates,
			     struct ktape_filter_rate *to);
bool kt_rates_have(const struct kt_rates *rates, u32 opcode);
bool kt_rates_pass(const struct kt_rates *rates, u32 opcode);

/* ---- filters by thread: match.c -------------------------------------------- */

/*
 * Which sessions' pid, cgroup and uid filters does a thread pass?  The answer is
 * the same for all events of the thread, so each CPU keeps those of some threads.
 *
 * What makes a kept match invalid:
 *
 *   filters change		the epoch changes when they are published
 *   a thread is followed or	the epoch changes; a thread that was followed is
 *   not followed any more	removed before its task_struct is freed, so a new
 *				thread at the same address has another epoch
 *   the thread changes cgroup	the cgroup is compared, and the epoch changes; a
 *				cgroup that is made has another epoch than one
 *				that was at the same address
 *   another thread is at the	its cgroup and uid are compared, too
 *   same address
 *   the thread changes uid	the uid is compared if such a filter is in force
 */

/* Matches that a CPU keeps; two threads may share a place. */
#define KT_KEPT 32U

/**
 * struct kt_kept - a match: which sessions' thread filters a thread passes
 * @task: the thread; NULL = none
 * @epoch: kt_match_epoch before the match was found
 * @cgroup: the thread's cgroup; only compared
 * @uid: real uid of the thread
 * @pass: bit n: session n has no such filter, or the thread passes
 * @unused: not used
 *
 * Its size is a power of two on kernels of 32 bits, too: see kt_match_place().
 */
struct kt_kept {
	const struct task_struct *task;
	unsigned long epoch;
	const struct cgroup *cgroup;
	u32 uid;
	u32 pass;
#ifndef CONFIG_64BIT
	u32 unused[3];
#endif
};

/* Changes after each change of filters, of followed threads and of cgroups. */
extern atomic_long_t kt_match_epoch;

void kt_match_init(struct kt_kept __percpu *places);
void kt_match_get(struct task_struct *p, bool by_uid, struct kt_kept *to);

/* Invalidate all kept matches, after a change and before its grace period. */
static inline void kt_match_renew(void)
{
	/* Pairs with the acquire in match_find(): the change is seen. */
	(void)atomic_long_inc_return_release(&kt_match_epoch);
}

/* The cgroup that filters compare.  RCU keeps it. */
static __always_inline struct cgroup *kt_thread_cgroup(struct task_struct *p)
{
#ifdef CONFIG_CGROUPS
	return task_dfl_cgroup(p);
#else
	return NULL;
#endif
}

/* Return true if it is @top, or below it. */
static __always_inline bool kt_cgroup_is_in(struct cgroup *cgroup, struct cgroup *top)
{
#ifdef CONFIG_CGROUPS
	return cgroup_is_descendant(cgroup, top);
#else
	return false;
#endif
}

/* The uid that filters compare, in the initial user name space. */
static __always_inline u32 kt_thread_uid(const struct task_struct *p)
{
	return __kuid_val(rcu_dereference_sched(p->real_cred)->uid);
}

/*
 * The place of a thread's match on this CPU, by the last bits of its number: threads
 * that were made one after the other have different ones.  The offset in bytes takes
 * two instructions.
 */
static __always_inline struct kt_kept *
kt_match_place(struct kt_kept __percpu *kept, const struct task_struct *p)
{
	const u32 offset = (u32)p->pid * (u32)sizeof(struct kt_kept) &
			   (KT_KEPT - 1) * sizeof(struct kt_kept);

	BUILD_BUG_ON_NOT_POWER_OF_2(sizeof(struct kt_kept));
	return raw_cpu_ptr(
		(struct kt_kept __percpu *)((char __percpu *)kept + offset));
}

/**
 * kt_match_is_kept() - Is the match of a thread kept and valid?
 * @k: the place of the thread
 * @p: the thread
 * @by_uid: a filter by uid is in force
 *
 * Context: with interrupts disabled.
 * Return: true or false.
 */
static __always_inline bool kt_match_is_kept(const struct kt_kept *k,
					     struct task_struct *p, bool by_uid)
{
	return k->task == p &&
	       k->epoch == (unsigned long)atomic_long_read(&kt_match_epoch) &&
	       k->cgroup == kt_thread_cgroup(p) &&
	       (!by_uid || k->uid == kt_thread_uid(p));
}

/**
 * kt_match_peek() - Get the match of a thread with interrupts enabled, if it is kept
 * @kept: the places of all matches
 * @p: the thread
 * @pass: receives @pass of struct kt_kept
 *
 * For filters by pid and cgroup.
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
static __always_inline bool kt_match_peek(struct kt_kept __percpu *kept,
					  struct task_struct *p, u32 *pass)
{
	const struct kt_kept *k = kt_match_place(kept, p);

	/* data_race(): an interrupt may replace the match; that is seen below. */
	if (!data_race(kt_match_is_kept(k, p, false)))
		return false;
	*pass = READ_ONCE(k->pass);
	barrier(); /* match_keep() stores the thread last */
	return READ_ONCE(k->task) == p;
}

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
void kt_threads_walk(void (*visit)(struct task_struct *p, void *arg), void *arg);

#endif /* _KT_FILTER_H */
