// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts and times of lost events.
 *
 * For each class a ring keeps the number of losses, and the times of the first
 * and the last loss that no loss record reports yet (event/loss.c writes those
 * records).
 *
 * Writers of the owning CPU nest here too.  &kt_ring.losses is a generation
 * count: a writer that is interrupted by another loss sees it change and stores
 * a fresh time.  So no time is torn on 32-bit kernels, and the last time never
 * decreases.
 *
 * Also the time of what is not a record: kt_ring_time().
 */
#include "internal.h"

/**
 * kt_ring_time() - Read the clock as for a record of this ring
 * @r: the ring
 *
 * Context: as kt_ring_put().
 * Return: full time, never before a time that was taken earlier.
 */
u64 kt_ring_time(struct kt_ring *r)
{
	u32 lo, hi;

	kt_clock_read_halves(&lo, &hi);
	kt_ring_not_back(r, &lo, &hi);
	return (u64)hi << 32 | lo;
}

/**
 * kt_ring_lose() - Count a lost event and store the time of the loss
 * @r: the ring
 * @reason: enum ktape_lost
 * @class: its event class
 *
 * While @losing is nonzero no nested writer reports losses: the count is ahead
 * of the stored times, so the report would have one loss more than its
 * interval.
 *
 * Context: any, on the owning CPU with preemption disabled.
 */
noinline void kt_ring_lose(struct kt_ring *r, unsigned int reason, unsigned int class)
{
	struct kt_loss *l = &r->loss[class];
	unsigned long turn;
	u64 ts, first = 0;

	WRITE_ONCE(r->losing, READ_ONCE(r->losing) + 1);
	barrier();
	kt_count(&r->page->lost[reason][class]);
	do {
		turn = READ_ONCE(r->losses);
		barrier();
		ts = kt_ring_time(r);
		/* Later passes store the same time: the first store may be torn. */
		if (!first && !READ_ONCE(l->open))
			first = ts;
		if (first)
			WRITE_ONCE(l->first, first);
		WRITE_ONCE(l->last, ts);
		barrier();
		WRITE_ONCE(l->open, 1);
		barrier();
	} while (unlikely(READ_ONCE(r->losses) != turn));
	kt_local_inc(&r->losses);
	WRITE_ONCE(r->lossy, true);
	barrier();
	WRITE_ONCE(r->losing, READ_ONCE(r->losing) - 1);
}

static u64 class_lost(const struct kt_ring *r, unsigned int class)
{
	u64 total = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		total += kt_count_read(&r->page->lost[i][class]);
	return total;
}

/**
 * kt_ring_loss_take() - Take the unreported losses of a class
 * @r: the ring
 * @class: event class
 * @taken: receives their first and last time, and in @reported their number
 *
 * A loss of a nested writer falls into this interval, with its time and its count, or begins
 * the next one with both: the interval is closed and read again until no loss came meanwhile.
 *
 * Context: as kt_ring_lose(), with @reporting of the ring set.
 * Return: false if there are none.
 */
bool kt_ring_loss_take(struct kt_ring *r, unsigned int class, struct kt_loss *taken)
{
	struct kt_loss *l = &r->loss[class];
	unsigned long turn;
	u64 lost;

	if (!READ_ONCE(l->open))
		return false;
	taken->first = READ_ONCE(l->first);
	do {
		turn = READ_ONCE(r->losses);
		barrier();
		WRITE_ONCE(l->open, 0);
		barrier();
		taken->last = READ_ONCE(l->last);
		lost = class_lost(r, class);
		barrier();
	} while (unlikely(READ_ONCE(r->losses) != turn));
	taken->reported = lost - l->reported;
	taken->open = 1;
	l->reported = lost;
	return true;
}

/**
 * kt_ring_loss_back() - Put losses back that could not be reported
 * @r: the ring
 * @class: event class
 * @taken: from kt_ring_loss_take()
 *
 * Context: as kt_ring_loss_take().
 */
void kt_ring_loss_back(struct kt_ring *r, unsigned int class,
		       const struct kt_loss *taken)
{
	struct kt_loss *l = &r->loss[class];

	l->reported -= taken->reported;
	/* From here on a nested loss leaves @first alone. */
	WRITE_ONCE(l->open, 1);
	barrier();
	WRITE_ONCE(l->first, taken->first);
	WRITE_ONCE(r->lossy, true);
}

static u64 sum_classes(const u64 *counts)
{
	u64 total = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_CLASSES; i++)
		total += kt_count_read(&counts[i]);
	return total;
}

/**
 * kt_ring_lost() - Count events lost for one reason, over all classes
 * @page: control page of the ring
 * @reason: enum ktape_lost
 *
 * Return: the count. Context: any.
 */
u64 kt_ring_lost(const struct ktape_ring_page *page, unsigned int reason)
{
	return sum_classes(page->lost[reason]);
}

/**
 * kt_ring_emitted() - Count emitted events over all classes
 * @page: control page of the ring
 *
 * An emitted event is one that its session wants: recorded, filtered or lost.
 *
 * Return: the count. Context: any.
 */
u64 kt_ring_emitted(const struct ktape_ring_page *page)
{
	return sum_classes(page->emitted);
}

/**
 * kt_ring_filtered() - Count filtered events over all classes
 * @page: control page of the ring
 *
 * Return: the count. Context: any.
 */
u64 kt_ring_filtered(const struct ktape_ring_page *page)
{
	return sum_classes(page->filtered);
}
