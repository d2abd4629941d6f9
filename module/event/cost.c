// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time that the CPUs spend in the tracer, sampled.
 *
 * The way of an event is not touched: now and then, when a block was opened, the
 * CPU times a record that goes the same way, and that record tells the time of
 * the one before.  Opening a block is timed each time.
 */
#include <linux/irqflags.h>

#include "event.h"
#include "cost.h"

#define SAMPLES_A_SECOND	10

/**
 * struct kt_cost - what one CPU has seen
 * @total: since the module was loaded
 * @told_at: when the last record was written
 * @event: ticks that it took
 * @opened: @total.opened then
 * @opening: @total.opening_ticks then
 *
 * Written by the CPU alone.  A context that comes in between may spoil a count
 * by its own share: these are samples.
 */
struct kt_cost {
	struct ktape_cost total;
	u64 told_at;
	u32 event;
	u64 opened;
	u64 opening;
};

static DEFINE_PER_CPU(struct kt_cost, costs);

/**
 * kt_cost_sample() - time an event on this CPU
 * @r: event ring of a session that records, where the record goes: in control
 *	rings, and in sessions that record little, many of them would push out
 *	what is to be kept
 *
 * Context: any, preemption disabled.
 */
void kt_cost_sample(struct kt_ring *r)
{
	struct kt_cost *c = this_cpu_ptr(&costs);
	unsigned long flags;
	u32 opened, opening;
	u64 start, ticks;

	local_irq_save(flags);
	opened = c->total.opened - c->opened;
	opening = c->total.opening_ticks - c->opening;
	c->opened = c->total.opened;
	c->opening = c->total.opening_ticks;
	start = kt_clock();
	/* Set before: the record may open a block itself. */
	WRITE_ONCE(c->told_at, start);
	kt_count(&r->page->emitted[KTAPE_CLASS_CONTROL]);
	kt_ring_put(r, KT_CODE(KTAPE_EV_TRACER, 0, 0, 3), KTAPE_CLASS_CONTROL,
		    3, c->event, opened, opening);
	ticks = kt_clock() - start;
	c->event = min_t(u64, ticks, U32_MAX);
	c->total.samples++;
	c->total.event_ticks += c->event;
	local_irq_restore(flags);
}

/**
 * kt_cost_opened() - a block was opened
 * @r: its ring
 * @since: when that began
 *
 * Context: the writer's, preemption disabled.
 */
void kt_cost_opened(struct kt_ring *r, u64 since)
{
	struct kt_cost *c = this_cpu_ptr(&costs);
	u64 now = kt_clock();

	c->total.opened++;
	/* The ring's time may be a little ahead of a clock that steps back. */
	if (now > since)
		c->total.opening_ticks += now - since;
	if (r->kind == KTAPE_RING_EVENT && r->cpu == raw_smp_processor_id() &&
	    now - READ_ONCE(c->told_at) > kt_clock_hz() / SAMPLES_A_SECOND)
		kt_cost_sample(r);
}

/**
 * kt_cost_tell() - what one CPU has seen
 * @cost: its CPU is possible; receives the counts
 *
 * Context: any.
 */
void kt_cost_tell(struct ktape_cost *cost)
{
	const struct kt_cost *c = per_cpu_ptr(&costs, cost->cpu);

	cost->samples = c->total.samples;
	cost->event_ticks = c->total.event_ticks;
	cost->opened = c->total.opened;
	cost->opening_ticks = c->total.opening_ticks;
}
