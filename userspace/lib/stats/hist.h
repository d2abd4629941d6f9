/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Histograms: exact up to 63, then 32 buckets for each power of two.
 *
 * All statistics use them, so read hist.c first.  Then the three kinds of traces, which do not
 * call each other: Linux (linux.h), an RTOS (rtos.h) and RKH (rkh.c, one file).
 */
#ifndef _KT_HIST_H
#define _KT_HIST_H

#include "stream/packet.h"

#define KT_HIST_STEPS	32U
#define KT_HIST_BUCKETS (60U * KT_HIST_STEPS) /* enough for 64 bits */

/**
 * struct kt_hist - a histogram
 * @count: number of values
 * @sum: sum of all values
 * @min: smallest value, valid if @count is not 0
 * @max: largest value
 * @buckets: number of values in each bucket
 */
struct kt_hist {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint64_t buckets[KT_HIST_BUCKETS];
};

void kt_hist_add(struct kt_hist *h, uint64_t value);
uint64_t kt_hist_rank(const struct kt_hist *h, uint64_t rank);
uint64_t kt_hist_upper(unsigned int bucket);

#endif /* _KT_HIST_H */
