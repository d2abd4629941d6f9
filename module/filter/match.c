// SPDX-License-Identifier: GPL-2.0-only
/* Finds which sessions' thread filters a thread passes, and keeps these matches. */
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "filter.h"

/*
 * Written with interrupts disabled.  An NMI only reads, and finds no thread while an
 * entry changes.
 */
static struct kt_kept __percpu *kept __read_mostly;

/**
 * kt_match_init() - Set where matches are kept
 * @places: KT_KEPT of each CPU, all zeroes
 *
 * Context: module load.
 */
void kt_match_init(struct kt_kept __percpu *places)
{
	kept = places;
}

/*
 * The match is of one cgroup and one uid, whatever the thread changes meanwhile,
 * and on the filters and followed threads of this epoch or a later one.  Each change of those
 * begins an epoch (kt_match_renew()), and a match of an earlier one no longer counts.
 */
static void match_find(struct task_struct *p, struct kt_kept *to)
{
	const struct kt_filters *f;
	struct cgroup *cgroup;
	unsigned int i;

	to->task = p;
	/* Pairs with the release in kt_match_renew(): the cgroup is loaded later. */
	to->epoch = atomic_long_read_acquire(&kt_match_epoch);
	cgroup = kt_thread_cgroup(p);
	to->cgroup = cgroup;
	to->uid = kt_thread_uid(p);
	to->pass = 0;
	for (i = 0; i < KT_SESSIONS; i++) {
		f = rcu_dereference_sched(kt_filters[i]);
		if (!f || kt_filter_pass_thread(f, p, cgroup, to->uid))
			to->pass |= BIT(i);
	}
}

/* Keep a match.  An NMI finds no thread in the meantime. */
static void match_keep(const struct kt_kept *from)
{
	struct kt_kept *k = kt_match_place(kept, from->task);

	WRITE_ONCE(k->task, NULL);
	barrier();
	WRITE_ONCE(k->epoch, from->epoch);
	WRITE_ONCE(k->cgroup, from->cgroup);
	WRITE_ONCE(k->uid, from->uid);
	WRITE_ONCE(k->pass, from->pass);
	barrier();
	WRITE_ONCE(k->task, from->task);
}

/**
 * kt_match_get() - Get the match of a thread
 * @p: the thread
 * @by_uid: a filter by uid is in force
 * @to: receives the match, which is also kept
 *
 * Context: any, preemption disabled.
 */
void kt_match_get(struct task_struct *p, bool by_uid, struct kt_kept *to)
{
	const struct kt_kept *k;
	unsigned long flags;

	raw_local_irq_save(flags);
	k = kt_match_place(kept, p);
	if (kt_match_is_kept(k, p, by_uid)) {
		*to = *k;
	} else {
		match_find(p, to);
		if (!in_nmi())
			match_keep(to);
	}
	raw_local_irq_restore(flags);
}
