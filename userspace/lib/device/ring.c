// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a mapped ring while the kernel writes to it.
 *
 *	writer (module/ring)			reader (here)
 *	write records				load commit (acquire)
 *	store commit (release)			copy the block
 *						read barrier
 *	advance tail				load tail
 *	barrier					tail > block: the block was overwritten
 *	overwrite the oldest block		during the copy; discard the copy
 *
 * This file hands out closed blocks without copying all of them (kt_ring_view) and
 * keeps the counts of lost and missed records.  copy.c copies packets, also from open
 * blocks.
 */
#include "util/words.h"
#include "device/ring.h"

/* Number of later blocks whose counters correct those of a block: see taken_until(). */
#define AHEAD 4

/* Load commit or tail from the control page. */
static uint64_t load_position(const struct kt_ring *r, const __u64 *word)
{
	return kt_wide_load(word, &r->page->commit, r->pos32);
}

/* Load the position of the last clear. */
static uint64_t load_floor(const struct kt_ring *r)
{
	return kt_wide_load(&r->page->floor, &r->page->floor, r->pos32);
}

/* Return whether the session is stopped: then no record is written. */
bool kt_ring_is_stopped(const struct kt_ring *r)
{
	/* Pairs with the release of flags: after a load of STOPPED, commit is final. */
	return kt_wide_load(&r->page->flags, &r->page->flags, false) &
	       KTAPE_RING_FLAG_STOPPED;
}

/* Return a word that changes when all consumers of the session have read more. */
uint64_t kt_ring_consumed(const struct kt_ring *r)
{
	return kt_wide_load(&r->page->consumer, &r->page->consumer, false);
}

/* Return the position up to which the ring may be read now. */
uint64_t kt_ring_commit(const struct kt_ring *r)
{
	uint64_t commit;

	/* The ring of a snapshot, which may yet be cut: nothing is read before the stop. */
	if (r->held && !kt_ring_is_stopped(r))
		return r->pos;
	/* Pairs with the release in the writer's publication. */
	commit = load_position(r, &r->page->commit);
	if (r->capped)
		commit = kt_min(commit, r->cap);
	return r->limited ? kt_min(commit, r->limit) : commit;
}

/* Return the oldest readable position: the later one of tail and floor. */
static uint64_t oldest_position(const struct kt_ring *r)
{
	return kt_max(load_position(r, &r->page->tail), load_floor(r));
}

/* Return the oldest block that was not overwritten while the caller was copying. */
uint64_t kt_ring_tail(const struct kt_ring *r)
{
	/* Pairs with the barrier between advancing tail and overwriting. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load_position(r, &r->page->tail);
}

/* Check, after copying from a block, that the block was not overwritten meanwhile. */
bool kt_ring_intact(const struct kt_ring *r, uint64_t block)
{
	return kt_ring_tail(r) <= block;
}

/* Return the sum of a counter over all classes. */
uint64_t kt_ring_sum(const struct kt_ring *r, const __u64 *counts)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		sum += kt_wide_load(&counts[i], &counts[i], r->pos32);
	return sum;
}

/* Return the number of events that the ring has lost, for all reasons. */
uint64_t kt_ring_page_lost(const struct kt_ring *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		sum += kt_ring_sum(r, r->page->lost[i]);
	return sum;
}

/* Return the number of records written; exact only while the session is stopped. */
static uint64_t page_count(const struct kt_ring *r)
{
	return kt_ring_sum(r, r->page->emitted) -
	       kt_ring_sum(r, r->page->filtered) - kt_ring_page_lost(r);
}

/* End the reading at the current commit position: later records are not delivered. */
void kt_ring_end_here(struct kt_ring *r)
{
	r->limit = kt_ring_commit(r);
	r->limit_count = page_count(r);
	r->limit_lost = kt_ring_page_lost(r);
	r->limited = true;
}

/* Return the number of records written up to the end of the reading. */
uint64_t kt_ring_end_count(const struct kt_ring *r)
{
	return r->limited ? r->limit_count : page_count(r);
}

/* Return the number of events lost up to the end of the reading. */
uint64_t kt_ring_end_lost(const struct kt_ring *r)
{
	return r->limited ? r->limit_lost : kt_ring_page_lost(r);
}

/* Count the records in the open block that were not delivered. */
static uint64_t open_records(const struct kt_ring *r, uint64_t from, uint64_t commit)
{
	uint64_t block = (commit - 1) - (commit - 1) % r->block_size, n;

	from = kt_max(from, block + KTAPE_BLOCK_HEADER);
	if (from >= commit)
		return 0;
	n = kt_records_count(r->data + block % r->data_size, from - block,
			     commit - block);
	return kt_ring_intact(r, block) ? n : 0;
}

/*
 * Estimate the number of records that are still to be read; 0 if there are none.
 * Before the first closed block was read, only the records of the open block can be
 * counted, because the base count is not known.
 */
uint64_t kt_ring_pending(const struct kt_ring *r)
{
	uint64_t commit = load_position(r, &r->page->commit);
	uint64_t from = kt_max(r->pos, load_position(r, &r->page->tail));
	int64_t count;

	if (r->limited)
		commit = kt_min(commit, r->limit);
	from = kt_max(from, load_floor(r));
	from = kt_max(from, from - from % r->block_size + KTAPE_BLOCK_HEADER);
	if (from >= commit)
		return 0;
	if (!r->base_known)
		return open_records(r, from, commit);
	count = (int64_t)(kt_ring_end_count(r) - r->base_count - r->records -
			  r->missed);
	/* The smallest record has 8 bytes. */
	return kt_min(count > 0 ? (uint64_t)count : 0, (commit - from) / 8);
}

/*
 * Return the number of records that were gone before this reader began.  If it has read no
 * closed block, only the end of the reading shows.
 */
uint64_t kt_ring_records_before(const struct kt_ring *r)
{
	int64_t count = (int64_t)r->base_count;

	if (!r->base_known && r->limited)
		count = (int64_t)(r->limit_count - r->records - r->missed);
	return count > 0 ? (uint64_t)count : 0;
}

/* Return the number of records written when a block was closed, from its header. */
static uint64_t ring_head_count(const uint8_t *head)
{
	uint64_t count = KT_HEAD64(head, emitted) - KT_HEAD64(head, filtered);

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		count -= KT_HEAD64(head, lost[i]);
	return count;
}

/*
 * Begin reading at the oldest data.  If the ring is @new, made after the reader began, all
 * of its events belong to this reader, and those that are gone are missed.
 */
void kt_ring_begin(struct kt_ring *r, bool new)
{
	r->pos = oldest_position(r);
	r->seq = r->pos / r->block_size + 1;
	r->gap = new && r->pos;
	if (r->pos && !new) {
		r->base_lost = kt_ring_page_lost(r);
		r->base_emitted = kt_ring_sum(r, r->page->emitted);
		r->base_filtered = kt_ring_sum(r, r->page->filtered);
		r->seen_lost = r->base_lost;
		r->seen_emitted = r->base_emitted;
		r->seen_filtered = r->base_filtered;
		return;
	}
	r->base_known = true;
}

/* Skip data that was overwritten or cleared. */
void kt_ring_skip(struct kt_ring *r)
{
	uint64_t low = oldest_position(r);

	if (low <= r->pos)
		return;
	r->seq += low / r->block_size - r->pos / r->block_size;
	r->pos = low;
	r->part = false;
	r->gap = true;
}

static bool has_valid_head(const struct kt_ring *r, const uint8_t *head)
{
	uint64_t bits = KT_HEAD64(head, content_bits);

	return KT_HEAD32(head, magic) == KTAPE_BLOCK_MAGIC && bits % 64 == 0 &&
	       bits >= KTAPE_BLOCK_HEADER * 8 && bits / 8 <= r->block_size;
}

/*
 * Return the number of records written up to the end of @block, whose header is @head.
 *
 * The header's count may be too large: if an interrupt closed the block, it included
 * records that the interrupted writer had counted but not stored yet.  These are in a
 * later block, whose count minus its records is then smaller; so the minimum over the
 * next AHEAD blocks is taken.  The count may also be too small, because the counters
 * are not read at one moment; copy.c corrects this when the session has stopped.
 */
static uint64_t taken_until(const struct kt_ring *r, uint64_t block,
			    const uint8_t *head)
{
	uint64_t behind = 0, commit = kt_ring_commit(r);
	uint64_t least = ring_head_count(head);
	uint8_t next[KTAPE_BLOCK_HEADER];
	const uint8_t *data;

	for (unsigned int i = 0; i < AHEAD; i++) {
		block += r->block_size;
		if (commit <= block + r->block_size)
			break;
		data = r->data + block % r->data_size;
		memcpy(next, data, sizeof(next));
		if (has_valid_head(r, next))
			behind += kt_records_count(data, KTAPE_BLOCK_HEADER,
						   KT_HEAD64(next, content_bits) / 8);
		if (!kt_ring_intact(r, block) || !has_valid_head(r, next))
			break;
		least = kt_min(least, ring_head_count(next) - behind);
	}
	return least;
}

/*
 * Note the counts in the header of a packet.  They are what remains known when the rings
 * are taken away.
 */
void kt_ring_note(struct kt_ring *r, const uint8_t *head)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		lost += KT_HEAD64(head, lost[i]);
		r->seen_lost_by[i] = KT_HEAD64(head, lost[i]);
	}
	r->seen_closed = !(KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN);
	r->seen_lost = kt_max(r->seen_lost, lost);
	r->last_emitted = KT_HEAD64(head, emitted);
	r->last_filtered = KT_HEAD64(head, filtered);
	r->seen_emitted = kt_max(r->seen_emitted, r->last_emitted);
	r->seen_filtered = kt_max(r->seen_filtered, r->last_filtered);
}

/*
 * Account for a closed block that is delivered, with @records new records.  The first one sets
 * the base count; behind a gap, the counts of the block tell how many records were missed.
 */
void kt_ring_account(struct kt_ring *r, uint64_t block, const uint8_t *head,
		     uint64_t records)
{
	uint64_t taken;
	int64_t missed;

	r->records += records;
	if (r->base_known && !r->gap)
		return;
	taken = taken_until(r, block, head);
	if (!r->base_known) {
		r->base_known = true;
		r->base_count = taken - r->records;
	}
	missed = (int64_t)(taken - r->base_count - r->records);
	if (missed > (int64_t)r->missed)
		r->missed = (uint64_t)missed;
}

/* Return the losses for a packet header, given the ring's own @lost counter. */
uint64_t kt_ring_discarded(const struct kt_ring *r, uint64_t lost)
{
	uint64_t own = lost > r->base_lost ? lost - r->base_lost : 0;

	return kt_max(r->reported, own + r->missed);
}

/*
 * Set sequence number, losses, flags and checksum in the copy of a block's header, and go on to
 * the next sequence number.  A piece of a log counts losses from its own begin.
 */
static void patch_head(struct kt_ring *r, uint8_t *first, size_t page_size,
		       const uint8_t *block)
{
	uint64_t content = KT_HEAD64(first, content_bits) / 8;
	uint64_t here = kt_min(content, page_size);

	r->reported = kt_ring_discarded(r, KT_HEAD64(first, discarded));
	KT_HEAD_SET64(first, discarded, r->reported - r->reported_before);
	KT_HEAD_SET64(first, seq, r->seq);
	KT_HEAD_SET64(first, packet_bits, (uint64_t)r->block_size * 8);
	KT_HEAD_SET32(first, flags,
		      KTAPE_BLOCK_CRC | (r->gap ? KTAPE_BLOCK_GAP : 0));
	kt_ring_note(r, first);
	KT_HEAD_SET32(first, crc32c,
		      kt_packet_crc(first, here, block + here, content - here));
	r->gap = false;
	r->seq++;
}

/* Do kt_ring_view(), unless the rings are taken away meanwhile. */
static int view_block(struct ktape_reader *reader, struct kt_ring *r,
		      void *first, size_t page_size, struct kt_view *view)
{
	const uint8_t *block;
	uint64_t records = 0;
	bool valid;

	do {
		kt_ring_skip(r);
		if (r->pos % r->block_size)
			return -EAGAIN;
		/* Commit at the very end of a block: it is full, but still open. */
		if (kt_ring_commit(r) <= r->pos + r->block_size)
			return 0;
		block = r->data + r->pos % r->data_size;
		memcpy(first, block, page_size);
		valid = has_valid_head(r, first);
		if (valid)
			records = kt_records_count(block, KTAPE_BLOCK_HEADER,
						   KT_HEAD64(first, content_bits) /
							   8);
	} while (!kt_ring_intact(r, r->pos));
	if (!valid)
		return -EBADMSG;

	view->block = r->pos;
	view->rest = block + page_size;
	view->rest_len = r->block_size - page_size;
	view->records = records;
	kt_ring_account(r, r->pos, first, records);
	patch_head(r, first, page_size, block);
	r->ts = KT_HEAD64(first, ts_end);
	reader->latest = kt_max(reader->latest, r->ts);
	r->part = false;
	r->pos += r->block_size;
	return 1;
}

/*
 * Return the next closed block in the mapping, without copying all of it.  Only the
 * first page is copied; its header is patched for the trace.  After using the rest, the
 * caller must check with kt_ring_intact() that it was not overwritten.
 *
 * Return: 1, 0 if there is no closed block, -EAGAIN if the block was partly delivered
 * so that ktape_reader_read() must copy it, -EBADMSG if the block is damaged, at
 * which the position stays, -ESTALE if the ring was taken away.
 */
int kt_ring_view(struct ktape_reader *reader, struct kt_ring *r, void *first,
		 size_t page_size, struct kt_view *view)
{
	const struct kt_ring before = *r;
	uint64_t latest = reader->latest;
	int ret = kt_reader_is_gone(reader) ?
			  0 :
			  view_block(reader, r, first, page_size, view);

	if (!kt_reader_is_gone(reader))
		return ret;
	*r = before;
	reader->latest = latest;
	return -ESTALE;
}

/*
 * The block of kt_ring_view() was overwritten before the caller saved it: its records count as
 * missed.  The position stays behind it.
 */
void kt_ring_unview(struct kt_ring *r, const struct kt_view *view)
{
	r->records -= view->records;
	r->missed += view->records;
}
