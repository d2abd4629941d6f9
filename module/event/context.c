// SPDX-License-Identifier: GPL-2.0-only
/*
 * Thread and context of the first record of a block, for its header.
 *
 * Readers attribute later records by the context switches that they find in the
 * block.
 *
 * Between the record of sched_switch and the switch itself, current is still
 * the outgoing task, but readers attribute records to the incoming one.  struct
 * kt_now and struct kt_coming make headers agree with that.
 */
#include <linux/hardirq.h>
#include <linux/sched.h>

#include "internal.h"

DEFINE_PER_CPU(unsigned int, kt_breakpoints);

/*
 * Get the context that runs on this CPU.  in_nmi() counts a probe's breakpoint
 * as an NMI, and hardirq_count() counts an NMI as an interrupt.  Subtract both,
 * to get the context that the breakpoint interrupted.
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

/*
 * Store the incoming task.  An NMI may read the structure at any time, so
 * @leaves is NULL while the other members change.
 */
static void coming_store(const struct kt_coming *to)
{
	struct kt_coming *c = &this_cpu_ptr(kt_cpus)->coming;

	WRITE_ONCE(c->leaves, NULL);
	barrier();
	c->tid = to->tid;
	c->prio = to->prio;
	barrier();
	WRITE_ONCE(c->leaves, to->leaves);
}

/**
 * kt_coming_set() - Attribute records to the incoming task of a switch
 * @tid: thread id of the incoming task, -1 = unknown
 * @prio: its priority
 *
 * Context: between the record of a switch and the switch, interrupts off.
 * Return: previous state, for kt_coming_back().
 */
struct kt_coming kt_coming_set(s32 tid, u8 prio)
{
	const struct kt_coming to = { current, tid, prio };
	struct kt_coming old = this_cpu_ptr(kt_cpus)->coming;

	coming_store(&to);
	return old;
}

/**
 * kt_coming_back() - Restore the state before kt_coming_set()
 * @old: returned by kt_coming_set()
 *
 * Context: as kt_coming_set().
 */
void kt_coming_back(const struct kt_coming *old)
{
	coming_store(old);
}

/**
 * kt_context_unknown() - Say that the thread of a block is not known
 * @block: header of a block that is being opened
 *
 * Context: any.
 */
void kt_context_unknown(struct ktape_block *block)
{
	block->tid = -1;
	block->prio = 0;
	block->context = KTAPE_CTX_UNKNOWN;
}

/*
 * Name the thread of the first record, as far as that is known.  That of a switch is
 * the outgoing one, and of a context record it does not matter: it names the next one.
 * If no session records switches or context records, struct kt_now is not kept up to
 * date.
 */
static void context_fill_thread(struct ktape_block *block,
				const struct kt_record *rec)
{
	const u8 opcode = rec ? rec->code & (KTAPE_OPCODES - 1) : 0;
	struct task_struct *p = current;

	if (opcode != KTAPE_EV_SCHED_SWITCH && opcode != KTAPE_EV_CONTEXT &&
	    kt_event_sees_switches())
		p = kt_event_thread();
	if (!p) {
		kt_context_unknown(block);
		return;
	}
	block->tid = p->pid;
	/* Another CPU may change it: either value is right. */
	block->prio = (u8)READ_ONCE(p->prio);
}

/**
 * kt_context_fill() - Fill in thread and context of a block
 * @block: header of a block that is being opened
 * @rec: its first record, NULL = none
 *
 * Context: any, preemption disabled.
 */
void kt_context_fill(struct ktape_block *block, const struct kt_record *rec)
{
	struct kt_coming *c = &this_cpu_ptr(kt_cpus)->coming;
	const struct task_struct *leaves = READ_ONCE(c->leaves);

	barrier();	/* tid and prio were stored before leaves */
	block->context = context_now();
	if (likely(leaves != current)) {
		/* The switch has happened. */
		if (leaves)
			WRITE_ONCE(c->leaves, NULL);
		context_fill_thread(block, rec);
		return;
	}
	block->tid = c->tid;
	block->prio = c->prio;
	if (c->tid < 0)
		block->context = KTAPE_CTX_UNKNOWN;
}
