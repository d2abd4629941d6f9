// SPDX-License-Identifier: GPL-2.0-only
/* Loss records: when a ring lost events, and how many. */
#include "event.h"

static struct kt_ring *control_ring(const struct kt_ring *r)
{
	const struct kt_owner *owner = r->owner;

	return per_cpu_ptr(&kt_cpus, r->cpu)
		->ring[KTAPE_RING_CONTROL][owner->session];
}

/* Return: 0, or 1 + the reason for which the record itself was lost. */
static int tell(struct kt_ring *to, const struct kt_ring *r, unsigned int class,
		const struct kt_loss *loss)
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
	struct kt_ring *to = control_ring(r);
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
		full = tell(to, r, class, &loss);
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
