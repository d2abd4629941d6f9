/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of rings: allocated, freed, found for mappings.  memory.c */
#ifndef _KT_RING_MEMORY_H
#define _KT_RING_MEMORY_H

#include <linux/types.h>

struct kt_ring;
struct kt_ring_ops;
struct page;

/*
 * With fewer misses (&kt_ring_spec.misses) than KT_MISSES_ALL_EFFORT the kernel makes all
 * effort to find a whole piece of memory: many rounds of reclaim and compaction for each
 * failure.  With fewer than KT_MISSES_SOME_EFFORT it makes one round.  Otherwise only what is
 * free is taken.
 */
#define KT_MISSES_ALL_EFFORT  4
#define KT_MISSES_SOME_EFFORT 32

/**
 * struct kt_ring_spec - description of a ring to allocate
 * @size: bytes of all blocks, a power of two
 * @block_size: bytes of a block, a power of two of at least a page
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @account: charge the memory to the caller's cgroup; pages that can be mapped,
 *	which are nearly all of it, are charged from Linux 5.11 on
 * @page: persistent mode: zeroed control page, owned by the caller
 * @blocks: persistent mode: all blocks in a row, owned by the caller
 * @ops: callbacks of the layer that uses the ring
 * @owner: argument of @ops
 * @misses: in and out: blocks, also of other rings, for which there was no whole piece
 *	of memory; the more, the less effort is made to find one
 * @had: output: bytes of @size that could be allocated
 */
struct kt_ring_spec {
	unsigned long size;
	unsigned long block_size;
	unsigned int mode;
	unsigned int cpu;
	unsigned int kind;
	bool account;
	void *page;
	char *blocks;
	const struct kt_ring_ops *ops;
	void *owner;
	unsigned int misses;
	unsigned long had;
};

struct kt_ring *kt_ring_alloc(struct kt_ring_spec *spec);
void kt_ring_free(struct kt_ring *r);
struct page *kt_ring_page_at(const struct kt_ring *r, unsigned long page);
unsigned long kt_ring_in_pieces(const struct kt_ring *r);

#endif /* _KT_RING_MEMORY_H */
