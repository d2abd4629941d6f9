// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records about the tracer itself: when a ring lost events and how many, and
 * how long recording an event takes.
 *
 * The path of an ordinary event has no time measurement.  At most
 * SAMPLES_A_SECOND times a second, after a CPU opened a block, it records a
 * tracer event on that path and measures it; the record has the time of the
 * previous measurement.  Opening a block is measured each time.
 */
#include <linux/irqflags.h>

#include "internal.h"

static struct kt_ring *loss_control_ring(const struct kt_ring *r)
{
	const struct kt_owner *owner = r->owner;

	return per_cpu_ptr(kt_cpus, r->cpu)->ring[KTAPE_RING_CONTROL][owner->session];
}

/*
 * Write a loss record.
 * Return: 0, or 1 + the reason for which that record was lost itself.
 */
static int loss_write(struct kt_ring *to, const struct kt_ring *r,
		      unsigned int class, const struct kt_loss *loss)
{
	const u32 args[] = {
		(u32)loss->first,    (u32)(loss->first >> 32),
		(u32)loss->last,     (u32)(loss->last >> 32),
		(u32)loss->reported, (u32)(loss->reported >> 32),
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
 * kt_event_losses() - Report the losses of a ring that no record reports yet
 * @r: the ring
 *
 * A loss record that the control ring cannot take counts as lost itself.  The
 * losses in it are reported later, at the latest when the session stops.
 *
 * Context: any, on the owning CPU with preemption disabled, or while that has no writer.
 */
void kt_event_losses(struct kt_ring *r)
{
	struct kt_ring *to = loss_control_ring(r);
	struct kt_loss loss;
	unsigned int class;
	bool full = false;

	/*
	 * No atomic needed: a writer that nests before @reporting is set has
	 * finished by then, and a later one sees it set.  @losing: an interrupted writer
	 * has counted a loss, but not stored its time yet.
	 */
	if (!READ_ONCE(r->lossy) || READ_ONCE(r->reporting) ||
	    READ_ONCE(r->losing) || !to)
		return;
	WRITE_ONCE(r->reporting, true);
	WRITE_ONCE(r->lossy, false);
	WRITE_ONCE(r->reported_at, kt_clock());
	barrier();
	for (class = 0; class < KTAPE_CLASSES && !full; ++class) {
		if (!kt_ring_loss_take(r, class, &loss))
			continue;
		full = loss_write(to, r, class, &loss);
		if (full)
			kt_ring_loss_back(r, class, &loss);
	}
	barrier();
	WRITE_ONCE(r->reporting, false);
}

/**
 * kt_event_losses_soon() - Report losses, but at most once a second
 * @r: the ring
 *
 * Without the limit a ring that loses events all the time would fill the
 * control ring.  A later report covers the whole interval.
 *
 * Context: as kt_event_losses().
 */
void kt_event_losses_soon(struct kt_ring *r)
{
	u64 now = kt_clock(), before = READ_ONCE(r->reported_at);

	if (!before || now < before || now - before > kt_clock_hz())
		kt_event_losses(r);
}

#define SAMPLES_A_SECOND 10
#define COST_MAX	 ((1U << 29) - 1) /* ticks: the most for kt_count_add() */

/**
 * kt_cost_sample() - Time one record on this CPU
 * @r: event ring that has just opened a block, or whose session starts: in a
 *	control ring or a quiet ring these records would push out other records
 *
 * Context: any, preemption disabled.
 */
void kt_cost_sample(struct kt_ring *r)
{
	struct kt_cost *c = &this_cpu_ptr(kt_cpus)->cost;
	unsigned long flags;
	u32 opened, opening;
	u64 start, ticks;

	local_irq_save(flags);
	opened = (u32)c->total.opened - c->opened;
	opening = (u32)c->total.opening_ticks - c->opening;
	c->opened += opened;
	c->opening += opening;
	start = kt_clock();
	/* Store it first: if the record opens a block, this is called again. */
	WRITE_ONCE(c->sampled_at, start);
	kt_count(&r->page->emitted[KTAPE_CLASS_CONTROL]);
	kt_ring_put(r, KT_CODE(KTAPE_EV_TRACER, 0, 0, 3), KTAPE_CLASS_CONTROL,
		    3, c->event, opened, opening);
	ticks = kt_clock() - start;
	c->event = min_t(u64, ticks, COST_MAX);
	kt_count(&c->total.samples);
	kt_count_add(&c->total.event_ticks, c->event);
	local_irq_restore(flags);
}

/**
 * kt_cost_opened() - Count the opening of a block
 * @r: the ring
 * @since: trace clock when the writer began to open it
 *
 * Takes a sample if one is due, in an event ring, but not in one of another CPU, into which a
 * controlling task writes.
 *
 * Context: that of the writer, preemption disabled.
 */
void kt_cost_opened(struct kt_ring *r, u64 since)
{
	struct kt_cost *c = &this_cpu_ptr(kt_cpus)->cost;
	u64 now = kt_clock();

	kt_count(&c->total.opened);
	/* @since may be ahead of a clock that steps back by a little. */
	if (now > since)
		kt_count_add(&c->total.opening_ticks,
			     min_t(u64, now - since, COST_MAX));
	if (r->kind == KTAPE_RING_EVENT && r->cpu == raw_smp_processor_id() &&
	    now - READ_ONCE(c->sampled_at) > kt_clock_hz() / SAMPLES_A_SECOND)
		kt_cost_sample(r);
}

/**
 * kt_cost_read() - Get the counts of one CPU
 * @cost: its @cpu is a possible CPU; receives the counts
 *
 * Context: any.
 */
void kt_cost_read(struct ktape_cost *cost)
{
	const struct kt_cost *c = &per_cpu_ptr(kt_cpus, cost->cpu)->cost;

	cost->samples = kt_count_read(&c->total.samples);
	cost->event_ticks = kt_count_read(&c->total.event_ticks);
	cost->opened = kt_count_read(&c->total.opened);
	cost->opening_ticks = kt_count_read(&c->total.opening_ticks);
}
