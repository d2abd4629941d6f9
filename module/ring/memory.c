// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates and frees rings, and finds their pages for mappings.
 *
 * The address of a record is its position plus a constant, so a block is
 * contiguous in the kernel's addresses.  It is one piece of memory if there is
 * such a piece, at its address in the direct map.  Otherwise it is put together
 * from smaller pieces, down to single pages, which are mapped in a row in
 * vmalloc space: all such blocks of a ring in one area.
 *
 * Each piece is split into single pages, each with its own reference count:
 * without the split, freeing the ring would return pages to the allocator that
 * a reader still maps.
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
#include <linux/vmalloc.h>

#include "internal.h"

static bool ring_is_in_region(const struct kt_ring *r)
{
	return r->mode == KTAPE_MODE_PERSISTENT;
}

/* Return the page at an address in a block or of the control page. */
static struct page *ring_page_of(const struct kt_ring *r, const void *at)
{
	unsigned long i = (unsigned long)at - (unsigned long)r->map;

	if (r->map && i >> PAGE_SHIFT < r->nr_pages)
		return r->pages[i >> PAGE_SHIFT];
	return virt_to_page(at);
}

/*
 * Return the flags for what only the kernel uses.  With these flags, as with those
 * for blocks, no process is killed for want of memory, in no cgroup either.
 */
static gfp_t ring_gfp(const struct kt_ring_spec *spec)
{
	gfp_t gfp = spec->account ? GFP_KERNEL_ACCOUNT : GFP_KERNEL;

	return gfp | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
}

/* Return the flags for pages that user space can map.  The caller adds those of the effort. */
static gfp_t block_gfp(const struct kt_ring_spec *spec)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;

	return spec->account ? gfp | KT_GFP_MAPPED_ACCOUNT : gfp;
}

/*
 * Allocate a zeroed table, for kvfree().  kvcalloc() takes a table of up to a page from the
 * slabs only.  On kernels that check slabs, a table of more than half a page then needs two
 * pages in a row, which may be missing.
 */
static void *ring_table(unsigned long nr, size_t size, gfp_t gfp)
{
	if (nr <= PAGE_SIZE / 2 / size)
		return kcalloc(nr, size, gfp);
	if (nr > SIZE_MAX / size)
		return NULL;
	return __vmalloc(nr * size, gfp | __GFP_ZERO);
}

/* Allocate a piece of memory and split it into pages. */
static struct page *piece_alloc(const struct kt_ring_spec *spec, gfp_t gfp,
				unsigned int order)
{
	struct page *page = alloc_pages_node(cpu_to_node(spec->cpu), gfp, order);

	if (page && order)
		split_page(page, order);
	return page;
}

/*
 * Return the flags for a whole block.  After some misses the kernel makes less effort to find one;
 * after many it is taken only if it is free: then only the single pages of block_alloc_pieces() are
 * worth reclaim.
 */
static gfp_t block_effort(const struct kt_ring_spec *spec, unsigned int order)
{
	gfp_t gfp = block_gfp(spec);

	if (!order || spec->misses < KT_MISSES_ALL_EFFORT)
		return gfp | __GFP_RETRY_MAYFAIL;
	if (spec->misses < KT_MISSES_SOME_EFFORT)
		return gfp | __GFP_NORETRY;
	return gfp & ~__GFP_RECLAIM;
}

/*
 * Allocate a block in pieces smaller than that of @order, the largest that are
 * free.  Return: 0, -ENOMEM, -EINTR; what was allocated is in r->pages.
 */
static int block_alloc_pieces(struct kt_ring *r, struct kt_ring_spec *spec,
			      unsigned int order)
{
	unsigned long end = r->nr_pages + (1UL << order);
	gfp_t gfp = block_gfp(spec);
	struct page *page;
	unsigned long i;

	for (order--; r->nr_pages < end;) {
		if (fatal_signal_pending(current))
			return -EINTR;
		while (order && r->nr_pages + (1UL << order) > end)
			order--;
		page = piece_alloc(spec,
				   order ? gfp & ~__GFP_RECLAIM :
					   gfp | __GFP_RETRY_MAYFAIL,
				   order);
		if (!page && !order)
			return -ENOMEM;
		if (!page) {
			order--;
			continue;
		}
		for (i = 0; i < 1UL << order; i++)
			r->pages[r->nr_pages++] = page + i;
		spec->had += PAGE_SIZE << order;
		cond_resched();
	}
	return 0;
}

/*
 * Allocate block @i.  The address of one in pieces is NULL until ring_map_pieces().
 * Return: 0, -ENOMEM, -EINTR.
 */
static int block_alloc(struct kt_ring *r, struct kt_ring_spec *spec, unsigned int i)
{
	unsigned int order = get_order(spec->block_size);
	struct page *page;

	if (spec->blocks) {
		r->base[i] = spec->blocks + (unsigned long)i * spec->block_size;
		return 0;
	}
	page = piece_alloc(spec, block_effort(spec, order), order);
	if (page) {
		r->base[i] = page_address(page);
		spec->had += spec->block_size;
		return 0;
	}
	if (!order)
		return -ENOMEM;
	spec->misses++;
	if (!r->pages)
		r->pages = ring_table(spec->size >> PAGE_SHIFT,
				      sizeof(*r->pages), ring_gfp(spec));
	return r->pages ? block_alloc_pieces(r, spec, order) : -ENOMEM;
}

/*
 * Map the blocks that are in pieces.  VM_MAP: the pages stay ours.
 * Return: 0, also if there are none; -ENOMEM.
 *
 * Writers in NMIs use these addresses.  Since 5.8 the kernel enters an area into
 * all page tables before vmap() returns, or resolves the fault in any context
 * (x86 of 32 bits, arm), as it has to for the memory of modules.
 */
static int ring_map_pieces(struct kt_ring *r, struct kt_ring_spec *spec)
{
	unsigned int i;
	char *at;

	if (!r->nr_pages)
		return 0;
	r->map = vmap(r->pages, r->nr_pages, VM_MAP, PAGE_KERNEL);
	if (!r->map) {
		/* Address space is what lacks, on 32 bits. */
		spec->had -= r->nr_pages << PAGE_SHIFT;
		return -ENOMEM;
	}
	for (i = 0, at = r->map; i < r->nr_blocks; i++) {
		if (r->base[i])
			continue;
		r->base[i] = at;
		at += r->block_size;
	}
	return 0;
}

/**
 * kt_ring_alloc() - Allocate a ring
 * @spec: description; @had receives how much could be allocated, and @misses grows by the
 *	blocks for which there was no whole piece
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
	gfp_t gfp = ring_gfp(spec);
	gfp_t mapped = block_gfp(spec) | __GFP_RETRY_MAYFAIL;
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
	r->blocks = ring_table(nr, sizeof(*r->blocks), gfp);
	r->base = ring_table(nr, sizeof(*r->base), gfp);
	r->page = spec->page ?: (void *)__get_free_page(mapped);
	if (!r->blocks || !r->base || !r->page)
		goto err;
	r->nr_blocks = nr;
	for (i = 0; i < nr; i++) {
		ret = block_alloc(r, spec, i);
		if (fatal_signal_pending(current))
			ret = -EINTR;
		if (ret)
			goto err;
		cond_resched();
	}
	ret = ring_map_pieces(r, spec);
	if (ret)
		goto err;
	config.page = r->page;
	config.blocks = r->blocks;
	config.base = r->base;
	kt_ring_init(r, &config);
	return r;
err:
	kt_ring_free(r);
	return ERR_PTR(ret);
}

/* Free the pages of the blocks that have an address. */
static void ring_free_blocks(struct kt_ring *r)
{
	unsigned long at;
	unsigned int i;

	for (i = 0; i < r->nr_blocks; i++) {
		for (at = 0; r->base[i] && at < r->block_size; at += PAGE_SIZE)
			put_page(ring_page_of(r, r->base[i] + at));
		cond_resched();
	}
}

/* Free the pieces of a ring that could not be completed. */
static void ring_free_pieces(struct kt_ring *r)
{
	unsigned long i;

	for (i = 0; i < r->nr_pages; i++) {
		put_page(r->pages[i]);
		cond_resched();
	}
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
	if (!r)
		return;
	/* Once pieces are mapped, their blocks have addresses: ring_free_blocks() frees them. */
	if (r->map)
		vunmap(r->map);
	else
		ring_free_pieces(r);
	if (!ring_is_in_region(r)) {
		ring_free_blocks(r);
		if (r->page)
			put_page(virt_to_page(r->page));
	}
	kvfree(r->pages);
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
	return ring_page_of(r, r->base[block] +
				       (((page - 1) % pages) << PAGE_SHIFT));
}

/**
 * kt_ring_in_pieces() - Return the bytes of the blocks that are in pieces
 * @r: the ring
 *
 * Context: any.
 * Return: bytes of blocks for which there was no whole piece of memory.
 */
unsigned long kt_ring_in_pieces(const struct kt_ring *r)
{
	return r->nr_pages << PAGE_SHIFT;
}
