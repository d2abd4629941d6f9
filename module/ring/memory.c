// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates and frees rings, and finds their pages for mappings.
 *
 * A block is contiguous in the direct map, so that the address of a record is
 * its position plus a constant.  The block is split into single pages, each
 * with its own reference count: without the split, freeing the ring would
 * return pages to the allocator that a reader still maps.
 *
 * The rings of a persistent session lie in memory that the caller gives and
 * that may have no struct pages.  That memory is neither freed nor mapped here.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "internal.h"

static void block_free(void *base, unsigned long size)
{
	unsigned long i;

	for (i = 0; base && i < size; i += PAGE_SIZE)
		put_page(virt_to_page(base + i));
}

static bool ring_is_in_region(const struct kt_ring *r)
{
	return r->mode == KTAPE_MODE_PERSISTENT;
}

static void *block_alloc(const struct kt_ring_spec *spec, unsigned int i)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_NORETRY;
	unsigned int order = get_order(spec->block_size);
	struct page *page;

	if (spec->blocks)
		return spec->blocks + (unsigned long)i * spec->block_size;
	if (spec->account)
		gfp |= KT_GFP_MAPPED_ACCOUNT;
	page = alloc_pages_node(cpu_to_node(spec->cpu), gfp, order);
	if (!page)
		return NULL;
	if (order)
		split_page(page, order);
	return page_address(page);
}

/**
 * kt_ring_alloc() - Allocate a ring
 * @spec: description; @had receives how much could be allocated
 *
 * Zeroing gigabytes takes seconds: do not call this with a contended lock held.
 *
 * Context: process context, may sleep.
 * Return: the ring, or ERR_PTR of -ENOMEM, or of -EINTR if the caller was
 * killed.
 */
struct kt_ring *kt_ring_alloc(struct kt_ring_spec *spec)
{
	unsigned int nr = spec->size / spec->block_size;
	struct kt_ring_config config = {
		.block_size = spec->block_size,
		.nr_blocks = nr,
		.mode = spec->mode,
		.cpu = spec->cpu,
		.kind = spec->kind,
		.ops = spec->ops,
		.owner = spec->owner,
	};
	gfp_t gfp = spec->account ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;
	gfp_t mapped = GFP_KERNEL | (spec->account ? KT_GFP_MAPPED_ACCOUNT : 0);
	int node = cpu_to_node(spec->cpu);
	int ret = -ENOMEM;
	struct kt_ring *r;
	unsigned int i;

	spec->had = 0;
	r = kzalloc_node(sizeof(*r), gfp, node);
	if (!r)
		return ERR_PTR(-ENOMEM);
	r->block_size = spec->block_size;
	r->mode = spec->mode;
	r->blocks = kvcalloc(nr, sizeof(*r->blocks), gfp);
	r->base = kvcalloc(nr, sizeof(*r->base), gfp);
	r->page = spec->page ?: (void *)get_zeroed_page(mapped);
	if (!r->blocks || !r->base || !r->page)
		goto err;
	r->nr_blocks = nr;
	for (i = 0; i < nr; i++) {
		r->base[i] = block_alloc(spec, i);
		if (fatal_signal_pending(current))
			ret = -EINTR;
		if (!r->base[i] || ret == -EINTR)
			goto err;
		spec->had += spec->block_size;
		cond_resched();
	}
	config.page = r->page;
	config.blocks = r->blocks;
	config.base = r->base;
	kt_ring_init(r, &config);
	return r;
err:
	kt_ring_free(r);
	return ERR_PTR(ret);
}

/**
 * kt_ring_free() - Free a ring
 * @r: the ring, or NULL
 *
 * Pages that are still mapped live on until they are unmapped.
 *
 * Context: process context; no writer is left, and no new mapping is possible.
 */
void kt_ring_free(struct kt_ring *r)
{
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < r->nr_blocks && !ring_is_in_region(r); i++) {
		block_free(r->base[i], r->block_size);
		cond_resched();
	}
	if (r->page && !ring_is_in_region(r))
		put_page(virt_to_page(r->page));
	kvfree(r->base);
	kvfree(r->blocks);
	kfree(r);
}

/**
 * kt_ring_page_at() - Find a page of a ring's mapping
 * @r: the ring
 * @page: page number in the mapping: 0 is the control page, the blocks follow
 *
 * Context: any.
 * Return: the page without a reference, or NULL past the end and in persistent
 * mode.
 */
struct page *kt_ring_page_at(const struct kt_ring *r, unsigned long page)
{
	unsigned long pages = r->block_size >> PAGE_SHIFT;
	unsigned long block;

	if (ring_is_in_region(r))
		return NULL;
	if (!page)
		return virt_to_page(r->page);
	block = (page - 1) / pages;
	if (block >= r->nr_blocks)
		return NULL;
	return virt_to_page(r->base[block] +
			    (((page - 1) % pages) << PAGE_SHIFT));
}
