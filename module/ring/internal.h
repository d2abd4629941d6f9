/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of this folder and the ring's unit tests share. */
#ifndef _KT_RING_INTERNAL_H
#define _KT_RING_INTERNAL_H

#include "ring.h"

/**
 * struct kt_ring_config - description of a ring whose memory is allocated
 * @block_size: power of two of at least 4096
 * @nr_blocks: power of two of at least 4
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @start: first position, a multiple of the ring's size; 0 but in tests of
 *	wrapping
 * @page: zeroed control page
 * @blocks: @nr_blocks descriptors
 * @base: addresses of the @nr_blocks blocks
 * @ops: callbacks of the layer that uses the ring
 * @owner: argument of @ops
 */
struct kt_ring_config {
	unsigned long block_size;
	unsigned int nr_blocks;
	unsigned int mode;
	unsigned int cpu;
	unsigned int kind;
	unsigned long start;
	struct ktape_ring_page *page;
	struct kt_desc *blocks;
	void **base;
	const struct kt_ring_ops *ops;
	void *owner;
};

/* loss.c */
u64 kt_ring_time(struct kt_ring *r);

/* ring.c */
void __cold kt_ring_init(struct kt_ring *r, const struct kt_ring_config *config);

/* clock.c */
void kt_clock_stepped_back(u64 latest);

/* Read both halves of the trace clock. */
static __always_inline void kt_clock_read_halves(u32 *lo, u32 *hi)
{
	if (kt_clock_by_call())
		kt_clock_halves(lo, hi, true);
	else
		kt_clock_halves(lo, hi, false);
}

#endif /* _KT_RING_INTERNAL_H */
