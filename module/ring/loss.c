// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was counted, over all classes, and when events were lost: of each class the
 * first and the last one that no record has told of yet.
 *
 * Contexts of the owning CPU nest here as everywhere.  Whoever comes in between
 * moves losses on, and whom it interrupted begins again with a later time: no
 * time is torn on 32-bit kernels, and last never goes back.
 */
#include "internal.h"

/**
 * kt_ring_lose() - count an event that is not recorded, and remember when
 * @r: the ring
 * @reason: enum ktape_lost
 * @class: its event class
 *
 * A nested context does not tell of losses while the count is there and the time
 * is not: it would tell of one more than its interval has.
 *
 * Context: any, on the owning CPU with preemption disabled.
 */
noinline void kt_ring_lose(struct kt_ring *r, unsigned int reason,
			   unsigned int class)
{
	struct kt_loss *l = &r->loss[class];
	unsigned long turn;
	u64 ts;

	WRITE_ONCE(r->losing, r->losing + 1);
	barrier();
	kt_count(&r->page->lost[reason][class]);
	do {
		turn = READ_ONCE(r->losses);
		barrier();
		ts = kt_ring_time(r);
		if (!READ_ONCE(l->open))
			WRITE_ONCE(l->first, ts);
		WRITE_ONCE(l->last, ts);
		barrier();
		WRITE_ONCE(l->open, 1);
		barrier();
	} while (unlikely(READ_ONCE(r->losses) != turn));
	kt_local_inc(&r->losses);
	WRITE_ONCE(r->lossy, true);
	barrier();
	WRITE_ONCE(r->losing, r->losing - 1);
}

static u64 class_lost(const struct kt_ring *r, unsigned int class)
{
	u64 total = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		total += READ_ONCE(r->page->lost[i][class]);
	return total;
}

/**
 * kt_ring_loss_take() - take the losses that were not told
 * @r: the ring
 * @class: of which class
 * @taken: receives their first and last time, and in @told how many they are
 *
 * What a nested context loses meanwhile lies in this interval or begins the
 * next one.
 *
 * Context: as kt_ring_lose(), with @r->telling.
 * Return: false if there are none.
 */
bool kt_ring_loss_take(struct kt_ring *r, unsigned int class,
		       struct kt_loss *taken)
{
	struct kt_loss *l = &r->loss[class];

	if (!READ_ONCE(l->open))
		return false;
	taken->first = READ_ONCE(l->first);
	WRITE_ONCE(l->open, 0);
	barrier();
	taken->last = READ_ONCE(l->last);
	taken->told = class_lost(r, class) - l->told;
	taken->open = 1;
	l->told += taken->told;
	return true;
}

/**
 * kt_ring_loss_back() - they could not be told
 * @r: the ring
 * @class: of which class
 * @taken: what was taken
 *
 * Context: as kt_ring_loss_take().
 */
void kt_ring_loss_back(struct kt_ring *r, unsigned int class,
		       const struct kt_loss *taken)
{
	struct kt_loss *l = &r->loss[class];

	l->told -= taken->told;
	/* Nested losses leave first alone from here on. */
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
		total += READ_ONCE(counts[i]);
	return total;
}

/**
 * kt_ring_lost() - events lost for one reason, over all classes
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
 * kt_ring_emitted() - events that had their bit set, over all classes
 * @page: control page of the ring
 *
 * Return: the count. Context: any.
 */
u64 kt_ring_emitted(const struct ktape_ring_page *page)
{
	return sum_classes(page->emitted);
}

/**
 * kt_ring_filtered() - events held back by filters, over all classes
 * @page: control page of the ring
 *
 * Return: the count. Context: any.
 */
u64 kt_ring_filtered(const struct ktape_ring_page *page)
{
	return sum_classes(page->filtered);
}
