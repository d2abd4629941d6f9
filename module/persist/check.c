// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checksums of blocks in the region, and what is written back from the caches.
 *
 * A checksum is beside its block and not in it, whose words are the writer's.  It
 * is taken once commit has passed the block and counts only if tail has not: as
 * for every reader.  Where the worker and the panic handler meet, the check does
 * not fit its checksum, and the block is one without.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>

#include "persist.h"

/* The checksum of the closed block at @pos, unless it is overwritten. */
static void check_block(const struct kt_slot *slot, unsigned long pos)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long at = pos & (slot->size - 1);
	struct ktape_persist_check *c = &slot->checks[at >> slot->block_shift];
	const struct ktape_block *b = (void *)(slot->blocks + at);
	struct ktape_persist_check new = {
		.seq = (u64)(pos >> slot->block_shift) + 1,
	};
	u64 content = READ_ONCE(b->content_bits) / 8;

	if (content < KTAPE_BLOCK_HEADER || content > block_size)
		return;
	new.crc32c = ~kt_crc32c(~0U, (const void *)b, content);
	kt_cache_clean(b, content);
	/* In memory, too, there is no checksum before what it is of. */
	wmb();
	new.check = ~kt_crc32c(~0U, (const void *)&new,
			       offsetof(struct ktape_persist_check, check));
	/* Pairs with the write barrier after tail in make_room(). */
	smp_rmb();
	if (kt_before(pos, READ_ONCE(*kt_word(&slot->page->tail))))
		return;
	*c = new;
	kt_cache_clean(c, sizeof(*c));
}

/**
 * kt_slot_commit() - up to where a ring has something
 * @slot: the ring
 *
 * Context: any.
 * Return: the position.
 */
unsigned long kt_slot_commit(const struct kt_slot *slot)
{
	/* Pairs with the release of commit in kt_ring_publish(). */
	return smp_load_acquire(kt_word(&slot->page->commit));
}

/**
 * kt_slot_check() - compute checksums of closed blocks
 * @slot: the ring
 * @pos: from which position on
 * @commit: up to which it has something
 * @budget: bytes that may be looked at; what was is taken off
 * @may_sleep: whether to let others run
 *
 * Context: any, as @may_sleep says.
 * Return: the position up to which there are some.
 */
unsigned long kt_slot_check(const struct kt_slot *slot, unsigned long pos,
			    unsigned long commit, unsigned long *budget,
			    bool may_sleep)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long tail = READ_ONCE(*kt_word(&slot->page->tail));

	if (kt_before(pos, tail))
		pos = tail;
	if (kt_before(commit, pos))
		return pos;
	/* Positions are in the region: no endless loop if these are wrong. */
	if (commit - pos > slot->size)
		pos = (commit - slot->size) & ~(block_size - 1);
	/* Closed is a block when the next one has something in it. */
	for (; kt_before(pos + block_size, commit); pos += block_size) {
		if (*budget < block_size)
			break;
		*budget -= block_size;
		check_block(slot, pos);
		if (may_sleep)
			cond_resched();
	}
	return pos;
}

/**
 * kt_slot_clean() - write a ring back from the caches, its control page last
 * @slot: the ring
 * @from: from which position on
 * @commit: up to which
 *
 * Context: any.
 */
void kt_slot_clean(const struct kt_slot *slot, unsigned long from,
		   unsigned long commit)
{
	unsigned long at, part;

	if (commit - from > slot->size)
		from = commit - slot->size;
	for (; from != commit; from += part) {
		at = from & (slot->size - 1);
		part = min(commit - from, slot->size - at);
		kt_cache_clean(slot->blocks + at, part);
	}
	/* Memory has what counts before the page that makes it count. */
	wmb();
	kt_cache_clean(slot->page, sizeof(*slot->page));
}
