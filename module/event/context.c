// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a ring does when it opens a block, or cannot (struct kt_ring_ops): the thread and
 * context of the block's first record go into its header, and readers are woken.
 *
 * Readers attribute later records by the context switches that they find in the
 * block.
 *
 * Between the record of sched_switch and the switch itself, current is still
 * the outgoing task, but readers attribute records to the incoming one.  struct
 * kt_now and struct kt_coming make headers agree with that.
 */
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "internal.h"

u8 kt_uuid[16];

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

/* Say that the thread of a block is not known. */
static void context_unknown(struct ktape_block *block)
{
	block->tid = -1;
	block->prio = 0;
	block->context = KTAPE_CTX_UNKNOWN;
}

/*
 * Name the thread of the first record, as far as that is known.  The thread of a switch is
 * the outgoing one, which is current.  For a context record it does not matter, because that
 * record names a thread.  If no session records switches or context records, struct kt_now
 * is not kept up to date.
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
		context_unknown(block);
		return;
	}
	block->tid = p->pid;
	/* Another CPU may change it: either value is right. */
	block->prio = (u8)READ_ONCE(p->prio);
}

/* Fill in thread and context of a block.  @rec: its first record, NULL = none. */
static void context_fill(struct ktape_block *block, const struct kt_record *rec)
{
	struct kt_coming *c = &this_cpu_ptr(kt_cpus)->coming;
	const struct task_struct *leaves = READ_ONCE(c->leaves);

	barrier(); /* tid and prio were stored before leaves */
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

/*
 * Handle the loss of a record for which no block could be opened.  A lost
 * context switch leaves the incoming thread unknown until current has changed:
 * without this, records until then would be attributed to the outgoing thread.
 */
static void owner_parked(struct kt_ring *r, const struct kt_record *rec)
{
	const u8 opcode = rec->code & (KTAPE_OPCODES - 1);

	if (opcode == KTAPE_EV_SCHED_SWITCH || opcode == KTAPE_EV_CONTEXT)
		kt_coming_set(-1, 0);
}

/* Fill in the header of a block that is being opened. */
static void owner_opening(struct kt_ring *r, struct ktape_block *block,
			  const struct kt_record *rec)
{
	struct kt_owner *owner = r->owner;
	unsigned long flags;

	memcpy(block->uuid, kt_uuid, sizeof(block->uuid));
	/* Read both clocks at one moment, but for NMIs. */
	local_irq_save(flags);
	block->sync_clock = kt_clock();
	block->sync_mono_ns = ktime_get_mono_fast_ns();
	local_irq_restore(flags);
	block->generation = READ_ONCE(owner->generation);
	/*
	 * Without context records the thread would be valid for the first record
	 * only: report it as unknown.  A pending one comes next and names the thread.
	 * For a ring of another CPU, the thread that runs here is the wrong one.
	 */
	if (READ_ONCE(owner->no_context) || r->cpu != raw_smp_processor_id() ||
	    kt_cpu_read(kt_now.pending) & BIT(owner->session)) {
		context_unknown(block);
		return;
	}
	context_fill(block, rec);
}

/*
 * Report losses and wake readers after a block was opened.
 *
 * Losses are reported now because the ring has room again, but not at each
 * block, because loss records would push exceptions out of the control ring.
 * irq_work wakes the readers (wake.c), because a writer may hold the scheduler's locks.
 */
static void owner_opened(struct kt_ring *r, u64 since)
{
	struct kt_owner *owner = r->owner;

	if (unlikely(READ_ONCE(r->lossy)))
		kt_event_losses_soon(r);
	if (since)
		kt_cost_opened(r, since);
	kt_clock_check();
	/*
	 * The commit is published before waiting is read.  Pairs with the
	 * barrier between incrementing waiting and reading commit in
	 * read_wait() and kt_dev_poll().
	 */
	smp_mb();
	if (atomic_read(&owner->waiting))
		irq_work_queue(&owner->wake);
}

/* Stop the session outside the writer: its snapshot is full. */
static void owner_filled(struct kt_ring *r)
{
	struct kt_owner *owner = r->owner;

	if (READ_ONCE(owner->filled_queued))
		return;
	WRITE_ONCE(owner->filled_queued, true);
	irq_work_queue(&owner->filled);
}

const struct kt_ring_ops kt_event_ring_ops = {
	.opening = owner_opening,
	.opened = owner_opened,
	.filled = owner_filled,
	.parked = owner_parked,
};
