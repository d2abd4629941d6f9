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

#include "ring.h"

struct cgroup;
struct task_struct;

/**
 * struct kt_filters - all filters of a session, replaced as a whole
 * @kinds: bit n: enum ktape_filter_kind n is in force
 * @session: number of the session
 * @applies: bit n: opcode n has to be looked at
 * @syscalls: bit n: system call n passes, 512 + n: of the 32-bit table
 * @irqs: bit n: interrupt n passes
 * @softirqs: bit n: vector n passes
 * @signals: bit n - 1: signal n passes
 * @severity: exceptions below this level are held back
 * @nr_uids: entries of @uids
 * @uids: real uids as of the initial user name space
 * @nr_cgroups: entries of @cgroups
 * @cgroups: each with a reference
 * @stacks: bit n: event n is followed by a call stack
 *
 * Changed by control as a copy; read in probes, with preemption disabled.
 */
struct kt_filters {
	u32 kinds;
	u32 session;
	u64 applies[KTAPE_MASK_WORDS];
	u64 syscalls[KTAPE_FILTER_SYSCALL_WORDS];
	u64 irqs[KTAPE_FILTER_IRQ_WORDS];
	u64 softirqs;
	u64 signals;
	u32 severity;
	u32 nr_uids;
	u32 uids[KTAPE_FILTER_UIDS];
	u32 nr_cgroups;
	struct cgroup *cgroups[KTAPE_FILTER_CGROUPS];
	u64 stacks[KTAPE_MASK_WORDS];
};

/* Per session, NULL: none.  Written with kt_session_control. */
extern struct kt_filters __rcu *kt_filters[];

bool kt_filter_pass(const struct kt_filters *f, struct kt_ring *r,
		    const struct kt_record *rec, struct task_struct *other);
void kt_filter_passed(const struct kt_filters *f, struct kt_ring *r,
		      const struct kt_record *rec);

#endif /* _KT_FILTER_H */
