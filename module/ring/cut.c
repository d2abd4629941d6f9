// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cuts a ring of a full snapshot, so that all rings of the snapshot end at the
 * same moment.  The search for the position of that moment goes from the newest
 * block backwards.  No writer may run.
 */
#include "ring.h"

static const struct ktape_block *cut_block_at(const struct kt_ring *r,
					      unsigned long start)
{
	return r->base[(start >> r->block_shift) & (r->nr_blocks - 1)];
}

/* Return the bytes in use in a block, header included. */
static unsigned long cut_block_content(const struct kt_ring *r, unsigned long start)
{
	unsigned long left = *kt_word(&r->page->commit) - start;

	/* content_bits is valid once the next block has a published record. */
	if (left <= r->block_size)
		return left;
	return (unsigned long)(cut_block_at(r, start)->content_bits / 8);
}

/*
 * Count the records that a cut removes from a block.
 * Return: position of the first removed record, or the end of the content.
 */
static unsigned long cut_count_from(struct kt_cut *c)
{
	const struct ktape_block *b = cut_block_at(c->ring, c->start);
	unsigned long end = cut_block_content(c->ring, c->start);
	unsigned long at = KTAPE_BLOCK_HEADER, found = end;
	u64 ts = b->ts_begin;
	const u32 *word;
	size_t length;
	u8 opcode;

	for (; at < end; at += length) {
		word = (const void *)((const char *)b + at);
		length = kt_record_length(word, end - at);
		if (!length)
			break;
		opcode = (u8)word[1];
		ts = kt_record_time(ts, word);
		if (ts < c->time || kt_before(c->start + at, c->oldest))
			continue;
		if (found == end)
			found = at;
		if (opcode != KTAPE_TIME_EXTEND)
			c->events[opcode]++;
	}
	return c->start + found;
}

/**
 * kt_cut_begin() - Begin the search for the position at which a ring is cut
 * @c: the search, zeroed
 * @r: the ring
 * @oldest: position of the ring's oldest data
 * @time: records of this time and later are to be removed
 *
 * Context: any; no writer.
 */
void kt_cut_begin(struct kt_cut *c, struct kt_ring *r, unsigned long oldest, u64 time)
{
	c->ring = r;
	c->time = time;
	c->oldest = oldest;
	c->position = *kt_word(&r->page->commit);
	c->start = (c->position - 1) & ~(r->block_size - 1);
}

/**
 * kt_cut_step() - Search one more block
 * @c: from kt_cut_begin()
 *
 * Context: as kt_cut_begin().
 * Return: true: call again; false: the ring is to be cut at @c->position.
 */
bool kt_cut_step(struct kt_cut *c)
{
	if (!kt_before(c->oldest, c->position))
		return false;
	c->position = cut_count_from(c);
	if (cut_block_at(c->ring, c->start)->ts_begin < c->time)
		return false;
	/* The whole block is removed, with its header. */
	c->position = kt_before(c->start, c->oldest) ? c->oldest : c->start;
	c->start -= c->ring->block_size;
	return true;
}

/*
 * Return the write position with all 64 bits: more than 2^32 bytes may have been written since
 * the last cut, with which it is compared (@above).
 */
static u64 cut_write_position(const struct kt_ring *r)
{
	return kt_wide_of(r->upper, r->write);
}

/**
 * kt_ring_cut() - Move the end of a ring back to an earlier position
 * @r: the ring
 * @position: from a finished search with kt_cut_step(): a record's start, the end of
 *	a block's last record, or that of the oldest data, if all are removed
 *
 * Afterwards the ring is halted (kt_ring_halt()), and no record counts as one that found no
 * room.
 *
 * Context: on the owning CPU, or with no writer left; no reader yet.
 */
void kt_ring_cut(struct kt_ring *r, unsigned long position)
{
	u64 write = cut_write_position(r);

	if (kt_position_before(r->above, write))
		r->above = write;
	r->write = position;
	r->committed = position;
	/* Pairs with the acquire of commit in every reader. */
	smp_store_release(kt_word(&r->page->commit), position);
	/* The cut may have removed a time extension: force a new one. */
	r->ts_hi = ~0U;
	r->filling = KT_ROOM;
	kt_ring_halt(r);
}

/**
 * kt_ring_renew() - Empty a cut ring and move it above all positions that were
 * published
 * @r: the ring
 *
 * Otherwise a reader's position from before the cut could point into the middle
 * of a new record.  Nothing happens if no cut has moved the ring below such a position.
 *
 * Context: with no writer left.
 */
void kt_ring_renew(struct kt_ring *r)
{
	u64 to = ALIGN(r->above, (u64)r->block_size);

	if (!kt_position_before(cut_write_position(r), r->above))
		return;
	r->upper = kt_upper_of(r->upper, (unsigned long)to);
	kt_upper_advance(kt_upper_word(&r->page->commit), r->upper);
	/* A reader that sees the new commit also sees the new floor. */
	kt_ring_set_floor(r, to);
	r->write = (unsigned long)to;
	r->committed = r->write;
	if (to >= r->size)
		r->lapped = 1;
	/* Pairs with the acquire of commit in every reader. */
	smp_store_release(kt_word(&r->page->commit), r->write);
	kt_ring_halt(r);
}
