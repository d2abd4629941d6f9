/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a ring: control page, blocks, descriptors. */
#ifndef _KT_RING_MEM_H
#define _KT_RING_MEM_H

#include "ring.h"

struct page;

/**
 * struct kt_ring_spec - what kind of ring is wanted
 * @size: bytes of all blocks, a power of two
 * @block_size: bytes of a block, a power of two of at least a page
 * @mode: enum ktape_mode
 * @cpu: owning CPU
 * @kind: enum ktape_ring_kind
 * @account: charge the memory to the caller's cgroup; what can be mapped, which is
 *	nearly all of it, from Linux 5.11 on
 * @page: persistent mode: zeroed control page, which stays the caller's
 * @blocks: persistent mode: all blocks in a row, likewise
 * @owner: for kt_ring_opened()
 * @had: out: bytes of @size for which there was memory
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
	void *owner;
	unsigned long had;
};

struct kt_ring *kt_ring_alloc(struct kt_ring_spec *spec);
void kt_ring_free(struct kt_ring *r);
struct page *kt_ring_page_at(const struct kt_ring *r, unsigned long page);

#endif /* _KT_RING_MEM_H */
