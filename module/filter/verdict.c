// SPDX-License-Identifier: GPL-2.0-only
/* Finds which sessions' thread filters a thread passes, and keeps the verdicts. */
#include <linux/irqflags.h>
#include <linux/preempt.h>

#include "filter.h"

/*
 * Written with interrupts disabled.  An NMI only reads, and finds no thread while an
 * entry changes.
 */
static struct kt_kept __percpu *kept __read_mostly;

DEFINE_PER_CPU(unsigned int, kt_verdicts);

/**
 * kt_verdict_init() - Set where verdicts are kept
 * @places: KT_KEPT of each CPU, all zeroes
 *
 * Context: module load.
 */
void kt_verdict_init(struct kt_kept __percpu *places)
{
	kept = places;
}

/*
 * The verdict is on one cgroup and one uid, whatever the thread changes meanwhile,
 * and on the filters and followed threads of this epoch or a later one.
 */
static void verdict_find(struct task_struct *p, struct kt_kept *to)
{
	const struct kt_filters *f;
	struct cgroup *cgroup;
	unsigned int i;

	to->task = p;
	/* Pairs with the release in kt_verdict_renew(): the cgroup is loaded later. */
	to->epoch = atomic_long_read_acquire(&kt_verdict_epoch);
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

/* Keep a verdict.  An NMI finds no thread in the meantime. */
static void verdict_keep(const struct kt_kept *from)
{
	struct kt_kept *k = kt_verdict_place(kept, from->task);

	raw_cpu_inc(kt_verdicts);
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
 * kt_verdict_get() - Get the verdict on a thread
 * @p: the thread
 * @varies: KT_VERDICT_VARIES, or 0
 * @to: receives the verdict, which is also kept
 *
 * Context: any, preemption disabled.
 */
void kt_verdict_get(struct task_struct *p, unsigned int varies,
		    struct kt_kept *to)
{
	const struct kt_kept *k;
	unsigned long flags;

	raw_local_irq_save(flags);
	k = kt_verdict_place(kept, p);
	if (kt_verdict_is_kept(k, p, varies)) {
		*to = *k;
	} else {
		verdict_find(p, to);
		if (!in_nmi())
			verdict_keep(to);
	}
	raw_local_irq_restore(flags);
}
