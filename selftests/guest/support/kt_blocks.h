/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Collect blocks from a mapping or from read(), and compare the blocks of two
 * readers.
 */
#ifndef _KT_BLOCKS_H
#define _KT_BLOCKS_H

#include <stddef.h>

#include "grow.h"
#include "kt_ring.h"

/**
 * struct kt_block - a block as one reader received it
 * @cpu: CPU of its ring
 * @kind: kind of its ring
 * @block: trace clock when it was opened, unique in its ring
 * @whole: nothing of the block is missing: it is closed, or the last one of a stopped session
 * @len: bytes at @bytes
 * @bytes: header and records
 */
struct kt_block {
	uint32_t cpu, kind;
	uint64_t block;
	bool whole;
	size_t len;
	char *bytes;
};

struct kt_blocks {
	struct kt_block *v;
	size_t nr, room;
};

static inline struct kt_block *kt_block_new(struct kt_blocks *g, const void *head)
{
	const struct ktape_block *b = head;

	GROW(g->v, g->nr, g->room);
	g->v[g->nr] = (struct kt_block){ .cpu = b->cpu,
					 .kind = b->kind,
					 .block = b->sync_clock };
	return &g->v[g->nr++];
}

static inline void kt_block_add(struct kt_block *got, const void *bytes, size_t n)
{
	got->bytes = grow_to(got->bytes, got->len + n);
	memcpy(got->bytes + got->len, bytes, n);
	got->len += n;
}

static inline void kt_blocks_free(struct kt_blocks *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->v[i].bytes);
	free(g->v);
	memset(g, 0, sizeof(*g));
}

/* ---- from a mapping ------------------------------------------------------ */

/*
 * Copy the block at @pos, up to @commit, then check whether a writer has
 * overwritten it meanwhile. Return: bytes of content, 0 if it was overwritten.
 */
static inline size_t kt_copy_block(const struct kt_map *m, uint64_t pos,
				   uint64_t commit, void *to)
{
	const char *from = m->data + pos % m->e.data_size;
	uint64_t size = m->e.block_size, n = commit - pos;

	/*
	 * The writer sets content_bits when it closes the block, so it is valid
	 * once commit is in a later block.
	 */
	if (n > size)
		n = ((const struct ktape_block *)from)->content_bits / 8;
	if (n > size)
		n = size; /* may be torn; the check of tail finds out */
	memcpy(to, from, n);
	/* Pairs with the writer's barrier between tail and the first store. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return kt_load(&m->page->tail) > pos ? 0 : n;
}

/*
 * Collect the blocks from *@pos on, including the open block if @last: then
 * the session is stopped. Return: bytes that were overwritten before they were
 * copied.
 */
static inline uint64_t kt_take_blocks(const struct kt_map *m, uint64_t *pos,
				      bool last, struct kt_blocks *g)
{
	uint64_t size = m->e.block_size, lapped = 0, commit, tail;
	char *copy = malloc(size);
	struct kt_block *got;
	size_t n;

	for (;;) {
		tail = kt_load(&m->page->tail);
		commit = kt_load(&m->page->commit);
		if (*pos < tail) {
			lapped += tail - *pos;
			*pos = tail;
		}
		if (*pos >= commit || (!last && commit - *pos <= size))
			break;
		n = kt_copy_block(m, *pos, commit, copy);
		if (!n)
			continue;
		got = kt_block_new(g, copy);
		kt_block_add(got, copy, n);
		got->whole = true;
		*pos += size;
	}
	free(copy);
	return lapped;
}

/* ---- from read() --------------------------------------------------------- */

/*
 * Add a packet of read() to @g, for the callback @packet of struct kts (kt_stream.h). A part
 * that continues a block is appended to what is there of that block.
 */
static inline void kt_take_packet(const struct ktape_block *b, struct kt_blocks *g)
{
	size_t n = b->content_bits / 8;
	struct kt_block *got = NULL;

	if (b->kind >= KTAPE_RINGS_PER_CPU)
		return;
	for (size_t i = g->nr; b->context == KTAPE_CTX_CONTINUED && i-- > 0;)
		if (g->v[i].cpu == b->cpu && g->v[i].kind == b->kind) {
			got = &g->v[i];
			break;
		}
	if (got && got->block == b->sync_clock) {
		kt_block_add(got, (const char *)b + KTAPE_BLOCK_HEADER,
			     n - KTAPE_BLOCK_HEADER);
	} else {
		got = kt_block_new(g, b);
		kt_block_add(got, b, n);
	}
	got->whole = !(b->flags & KTAPE_BLOCK_OPEN);
}

/* ---- comparing ------------------------------------------------------------ */

static inline int kt_block_order(const void *a, const void *b)
{
	const struct kt_block *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

static inline void kt_blocks_sort(struct kt_blocks *g)
{
	qsort(g->v, g->nr, sizeof(*g->v), kt_block_order);
}

/*
 * Compare two block headers by the members that are the same for every reader. The counts
 * of events and the end of the block depend on when the reader came.
 */
static inline bool kt_same_head(const void *a, const void *b)
{
	const struct ktape_block *x = a, *y = b;
	size_t fixed = offsetof(struct ktape_block, emitted);

	return !memcmp(x, y, fixed) && x->generation == y->generation &&
	       x->tid == y->tid && x->prio == y->prio &&
	       x->context == y->context && x->ts_begin == y->ts_begin;
}

/*
 * Compare the blocks that both sorted lists hold: complete blocks to the last
 * byte, others up to the shorter length. Return: number of blocks that are
 * complete in both lists, or -1 - i if block i of @a differs.
 */
static inline long kt_blocks_compare(const struct kt_blocks *a,
				     const struct kt_blocks *b)
{
	long same = 0;

	for (size_t i = 0, j = 0; i < a->nr && j < b->nr;) {
		const struct kt_block *x = &a->v[i], *y = &b->v[j];
		int order = kt_block_order(x, y);
		size_t n = x->len < y->len ? x->len : y->len;

		if (order) {
			i += order < 0;
			j += order > 0;
			continue;
		}
		if (!kt_same_head(x->bytes, y->bytes) ||
		    memcmp(x->bytes + KTAPE_BLOCK_HEADER,
			   y->bytes + KTAPE_BLOCK_HEADER, n - KTAPE_BLOCK_HEADER) ||
		    (x->whole && y->whole && x->len != y->len))
			return -1 - (long)i;
		same += x->whole && y->whole;
		i++;
		j++;
	}
	return same;
}

#endif /* _KT_BLOCKS_H */
