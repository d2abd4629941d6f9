// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in which the tracer tells of itself: when a ring lost events and how
 * many, and how long an event takes.
 *
 * The way of an event is not timed: now and then, when a block was opened, the
 * CPU times a record that goes the same way, and that record tells the time of
 * the one before.  Opening a block is timed each time.
 */
#include <linux/irqflags.h>

#include "internal.h"

static struct kt_ring *loss_control_ring(const struct kt_ring *r)
{
	const struct kt_owner *owner = r->owner;

	return per_cpu_ptr(&kt_cpus, r->cpu)
		->ring[KTAPE_RING_CONTROL][owner->session];
}

/* Return: 0, or 1 + the reason for which the record itself was lost. */
static int loss_write(struct kt_ring *to, const struct kt_ring *r,
		      unsigned int class, const struct kt_loss *loss)
{
	const u32 args[] = {
		(u32)loss->first,
		(u32)(loss->first >> 32),
		(u32)loss->last,
		(u32)(loss->last >> 32),
		(u32)loss->told,
		(u32)(loss->told >> 32),
	};
	const struct kt_record rec = {
		.code = KT_CODE(KTAPE_EV_LOSS, class | r->kind << 5, 0,
				ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_CONTROL,
		.nargs = ARRAY_SIZE(args),
		.args = args,
	};

	kt_count(&to->page->emitted[rec.class]);
	return kt_ring_write(to, &rec);
}

/**
 * kt_event_losses() - tell of the losses of a ring that were not told yet
 * @r: the ring
 *
 * A record that the control ring cannot take is a loss itself; what it was to
 * tell is told later, at the latest when the session stops.
 *
 * Context: any, on the owning CPU with preemption disabled.
 */
void kt_event_losses(struct kt_ring *r)
{
	struct kt_ring *to = loss_control_ring(r);
	struct kt_loss loss;
	unsigned int class;
	bool full = false;

	/* A context that nests finds telling set, or is done before we set it. */
	if (!READ_ONCE(r->lossy) || READ_ONCE(r->telling) ||
	    READ_ONCE(r->losing) || !to)
		return;
	WRITE_ONCE(r->telling, true);
	WRITE_ONCE(r->lossy, false);
	r->told_at = kt_clock();
	barrier();
	for (class = 0; class < KTAPE_CLASSES && !full; class++) {
		if (!kt_ring_loss_take(r, class, &loss))
			continue;
		full = loss_write(to, r, class, &loss);
		if (full)
			kt_ring_loss_back(r, class, &loss);
	}
	barrier();
	WRITE_ONCE(r->telling, false);
}

/**
 * kt_event_losses_soon() - kt_event_losses(), if that was not done just now
 * @r: the ring
 *
 * What is left untold is told later with a longer interval: a ring that loses
 * all the time would fill the control ring otherwise.
 *
 * Context: as kt_event_losses().
 */
void kt_event_losses_soon(struct kt_ring *r)
{
	u64 now = kt_clock();

	if (!r->told_at || now < r->told_at || now - r->told_at > kt_clock_hz())
		kt_event_losses(r);
}

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
