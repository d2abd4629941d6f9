// SPDX-License-Identifier: LGPL-2.1-or-later
/* Histograms: exact up to 63, then buckets of at most 1/32 of the value. */
#include "stats/hist.h"

#define EXACT	  (2 * KT_HIST_STEPS)
#define STEP_BITS 5

static unsigned int bucket_of(uint64_t v)
{
	unsigned int shift;

	if (v < EXACT)
		return (unsigned int)v;
	shift = 63 - (unsigned int)__builtin_clzll(v) - STEP_BITS;
	return (shift + 1) * KT_HIST_STEPS +
	       (unsigned int)((v >> shift) - KT_HIST_STEPS);
}

/**
 * kt_hist_upper() - Return the largest value of a bucket
 * @bucket: index of the bucket
 *
 * Return: the value.
 */
uint64_t kt_hist_upper(unsigned int bucket)
{
	unsigned int shift = bucket / KT_HIST_STEPS - 1;
	uint64_t first = bucket % KT_HIST_STEPS + KT_HIST_STEPS;

	if (bucket < EXACT)
		return bucket;
	return ((first + 1) << shift) - 1;
}

/**
 * kt_hist_add() - Add a value
 * @h: the histogram
 * @value: the value
 */
void kt_hist_add(struct kt_hist *h, uint64_t value)
{
	h->min = h->count ? kt_min(h->min, value) : value;
	h->max = kt_max(h->max, value);
	h->sum += value;
	h->count++;
	h->buckets[bucket_of(value)]++;
}

/**
 * kt_hist_rank() - Return the value at a rank
 * @h: a histogram with at least one value
 * @rank: from 1 (smallest value) to @h->count
 *
 * Return: the value, rounded up by at most 1/32, but not above the largest value.
 */
uint64_t kt_hist_rank(const struct kt_hist *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; i < KT_HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen >= rank && h->buckets[i])
			return kt_max(h->min, kt_min(h->max, kt_hist_upper(i)));
	}
	return h->max;
}
