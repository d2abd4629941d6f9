// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which thread and which context do the records of a block belong to?
 *
 * The header of a block says it for the first record; from there on readers
 * follow the records of switches.
 */
#include <linux/hardirq.h>
#include <linux/sched.h>

#include "internal.h"

DEFINE_PER_CPU(unsigned int, kt_breakpoints);

/*
 * The kernel takes the breakpoint of a probe for an NMI, and an NMI for an
 * interrupt as well.  What it came in upon is the context.
 */
static u8 context_now(void)
{
	const unsigned int nmis = in_nmi() / NMI_OFFSET;

	if (nmis > raw_cpu_read(kt_breakpoints))
		return KTAPE_CTX_NMI;
	if (hardirq_count() / HARDIRQ_OFFSET > nmis)
		return KTAPE_CTX_IRQ;
	if (in_serving_softirq())
		return KTAPE_CTX_SOFTIRQ;
	if (system_state < SYSTEM_RUNNING)
		return KTAPE_CTX_INIT;
	return KTAPE_CTX_TASK;
}

static DEFINE_PER_CPU(struct kt_coming, coming);

/* An NMI may look at any time. */
static void coming_store(const struct kt_coming *to)
{
	struct kt_coming *c = this_cpu_ptr(&coming);

	WRITE_ONCE(c->leaves, NULL);
	barrier();
	c->tid = to->tid;
	c->prio = to->prio;
	barrier();
	WRITE_ONCE(c->leaves, to->leaves);
}

/**
 * kt_coming_set() - records from now on are of a thread that is about to run
 * @tid: the thread
 * @prio: its priority
 *
 * Context: between the record of a switch and the switch, interrupts off.
 * Return: for kt_coming_back().
 */
struct kt_coming kt_coming_set(s32 tid, u8 prio)
{
	const struct kt_coming to = { current, tid, prio };
	struct kt_coming old = *this_cpu_ptr(&coming);

	coming_store(&to);
	return old;
}

/**
 * kt_coming_back() - end of kt_coming_set()
 * @old: what it returned
 *
 * Context: as kt_coming_set().
 */
void kt_coming_back(const struct kt_coming *old)
{
	coming_store(old);
}

/**
 * kt_context_fill() - Fill in whose the records of a block are
 * @block: header of a block that is being opened
 *
 * Context: the writer's.
 */
void kt_context_fill(struct ktape_block *block)
{
	struct kt_coming *c = this_cpu_ptr(&coming);
	const struct task_struct *leaves = READ_ONCE(c->leaves);

	barrier();	/* the rest was written before it */
	block->tid = current->pid;
	block->prio = (u8)current->prio;
	block->context = context_now();
	if (likely(!leaves))
		return;
	if (leaves != current) {
		WRITE_ONCE(c->leaves, NULL);
		return;
	}
	block->tid = c->tid;
	block->prio = c->prio;
	if (c->tid < 0)
		block->context = KTAPE_CTX_UNKNOWN;
}
