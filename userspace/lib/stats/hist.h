/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often values came: exact up to 63, then 32 steps to each power of two. */
#ifndef _KT_HIST_H
#define _KT_HIST_H

#include "stream/packet.h"

#define KT_HIST_STEPS	32U
#define KT_HIST_BUCKETS	(60U * KT_HIST_STEPS)

/**
 * struct kt_hist - values that came
 * @count: how many
 * @sum: of all
 * @min: the least, if there are any
 * @max: the largest
 * @buckets: how many in each step
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
