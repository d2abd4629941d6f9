/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ticks to nanoseconds again and again: exact, and without a division. */
#ifndef _KT_CLOCK_H
#define _KT_CLOCK_H

#include <ktape.h>

#define KT_NS_PER_S	1000000000ULL
#define KT_FREQ_FAST	(1ULL << 34)	/* a second of it in ns fits 64 bits */

/**
 * struct kt_clock - a frequency that was prepared
 * @freq: in Hz; 0: none
 * @inverse: 2^64 / @freq, rounded down; 0: too fast a clock for that
 */
struct kt_clock {
	uint64_t freq;
	uint64_t inverse;
};

static inline void kt_clock_set(struct kt_clock *clock, uint64_t freq)
{
	clock->freq = freq;
	clock->inverse = freq && freq <= KT_FREQ_FAST ? UINT64_MAX / freq : 0;
}

/*
 * @n / @clock->freq: the product with the rounded inverse is it, or one less.
 */
static inline uint64_t kt_clock_divide(const struct kt_clock *clock, uint64_t n,
				       uint64_t *rest)
{
	uint64_t q = (uint64_t)((unsigned __int128)n * clock->inverse >> 64);

	*rest = n - q * clock->freq;
	if (*rest >= clock->freq) {
		*rest -= clock->freq;
		q++;
	}
	return q;
}

/* What ktape_ticks_to_ns() tells of a trace with this frequency. */
static inline uint64_t kt_clock_ns(struct kt_clock *clock,
				   const struct ktape_info *info,
				   uint64_t ticks)
{
	uint64_t seconds, rest;

	if (clock->freq != info->freq)
		kt_clock_set(clock, info->freq);
	if (!clock->inverse)
		return ktape_ticks_to_ns(info, ticks);
	seconds = kt_clock_divide(clock, ticks, &rest);
	return seconds * KT_NS_PER_S +
	       kt_clock_divide(clock, rest * KT_NS_PER_S, &rest);
}

#endif /* _KT_CLOCK_H */
