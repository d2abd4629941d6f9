/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convert ticks to nanoseconds exactly, but without a division for each event. */
#ifndef _KT_CLOCK_H
#define _KT_CLOCK_H

#include <ktape.h>

#include "util/nanoseconds.h"
#include "util/wide.h"

#define KT_DATED_FROM \
	(1000000000LL * 1000000000LL) /* 2001, in ns since the epoch */
#define KT_FREQ_FAST (1ULL << 34) /* one second in ns times this fits 64 bits */

/**
 * struct kt_clock - a clock frequency with its inverse
 * @freq: frequency in Hz, 0 = not set
 * @inverse: (2^64 - 1) / @freq, rounded down; 0 = @freq is above KT_FREQ_FAST
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
 * Divide @n by the frequency.  Multiplying with the rounded inverse gives the
 * quotient or one less.  It is one less if the remainder is not below the frequency.
 */
static inline uint64_t kt_clock_divide(const struct kt_clock *clock, uint64_t n,
				       uint64_t *rest)
{
	uint64_t q = kt_mul_high(n, clock->inverse);

	*rest = n - q * clock->freq;
	if (*rest >= clock->freq) {
		*rest -= clock->freq;
		q++;
	}
	return q;
}

/* Convert ticks to nanoseconds, with the result of ktape_ticks_to_ns(). */
static inline uint64_t kt_clock_ns(struct kt_clock *clock,
				   const struct ktape_info *info, uint64_t ticks)
{
	uint64_t seconds, rest;

	if (clock->freq != info->freq)
		kt_clock_set(clock, info->freq);
	if (!clock->inverse)
		return ktape_ticks_to_ns(info, ticks);
	seconds = kt_clock_divide(clock, ticks, &rest);
	return seconds * NS_PER_S + kt_clock_divide(clock, rest * NS_PER_S, &rest);
}

/*
 * Check whether ktape_epoch_ns() of the time @ts of a trace is a date.  Traces of the module and
 * of recorders of Linux say how their clock is related to UTC.  Real-time kernels and some
 * recorders have only a counter, whose times count from its begin.  A clock without an origin may
 * count from 1970 itself, hence @ts.
 *
 * An origin before 2001 is that of a machine without a clock of its own, or an offset between
 * counters that another tracer has written.  If the trace says the release of its kernel, the
 * origin is taken for the former.
 */
static inline bool kt_is_dated(const struct ktape_info *info, uint64_t ts)
{
	return ktape_epoch_ns(info, ts) >= KT_DATED_FROM ||
	       (*info->release &&
		(info->offset_s || info->offset || info->real_offset_ns));
}

#endif /* _KT_CLOCK_H */
