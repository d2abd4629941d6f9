/* SPDX-License-Identifier: GPL-2.0-only */
/* What the ring's own files, and its unit tests, share. */
#ifndef _KT_RING_INTERNAL_H
#define _KT_RING_INTERNAL_H

#include "ring.h"

/**
 * struct kt_ring_config - what a ring is made of
 * @block_size: power of two of at least 4096
 * @nr_blocks: power of two of at least 4
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @start: first position, a multiple of the ring's size (tests of wrapping)
 * @page: zeroed control page
 * @blocks: room for @nr_blocks descriptors
 * @base: addresses of the @nr_blocks blocks
 * @ops: functions that the ring calls
 * @owner: for @ops
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

void kt_ring_init(struct kt_ring *r, const struct kt_ring_config *config);
u64 kt_ring_time(struct kt_ring *r);

/* A writer saw a time before @latest, which was taken before.  Any context. */
void kt_clock_stepped_back(u64 latest);

#endif /* _KT_RING_INTERNAL_H */
