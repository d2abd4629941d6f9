// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a mapped ring that goes on being written.
 *
 * The writer stores commit with release after a record and moves tail on before
 * it reuses a block.  A reader loads commit with acquire, copies, and after a
 * read barrier looks at tail: what lies below it by then was overwritten during
 * the copy and is thrown away.
 */
#include "device/ring.h"

/* Blocks behind one whose counts are looked at as well. */
#define AHEAD	4

/* A position of the kernel's; with 32 bits it is the nearest to ours. */
uint64_t kt_ring_widen(const struct kt_ring *r, uint64_t word)
{
	if (!r->pos32)
		return word;
	return r->pos + (uint64_t)(int64_t)(int32_t)((uint32_t)word -
						     (uint32_t)r->pos);
}

/* A position as the kernel has it. */
uint64_t kt_ring_word(const struct kt_ring *r, uint64_t pos)
{
	return r->pos32 ? (uint32_t)pos : pos;
}

/* A position in the control page. */
static uint64_t load(const struct kt_ring *r, const __u64 *word)
{
	if (!r->pos32)
		return __atomic_load_n(word, __ATOMIC_ACQUIRE);
	return kt_ring_widen(r, __atomic_load_n((const uint32_t *)word,
						__ATOMIC_ACQUIRE));
}

/* How far it may be read now. */
uint64_t kt_ring_commit(const struct kt_ring *r)
{
	uint64_t commit;

	/* Pairs with the release of flags: then commit is where it ends. */
	if (r->held && !(__atomic_load_n(&r->page->flags, __ATOMIC_ACQUIRE) &
			 KTAPE_RING_FLAG_STOPPED))
		return r->pos;
	/* Pairs with the release in the writer's publication. */
	commit = load(r, &r->page->commit);
	return r->limited ? kt_min(commit, r->limit) : commit;
}

/*
 * With 32 bits the nearest to a floor of long ago may lie ahead of us: it counts
 * when it is new, and not beyond what is there.
 */
static uint64_t lowest(struct kt_ring *r)
{
	uint64_t tail = load(r, &r->page->tail);
	uint64_t floor = load(r, &r->page->floor);

	if (r->pos32 && r->floor_seen && r->floor == (uint32_t)floor)
		return tail;
	r->floor = (uint32_t)floor;
	r->floor_seen = true;
	if (r->pos32 && floor > load(r, &r->page->commit))
		return tail;
	return kt_max(tail, floor);
}

/* Is what was copied from this block what the ring held? */
bool kt_ring_intact(const struct kt_ring *r, uint64_t block)
{
	/* Pairs with the barrier between moving tail on and writing. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return load(r, &r->page->tail) <= block;
}

uint64_t kt_ring_sum(const __u64 *counts)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		sum += __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
	return sum;
}

uint64_t kt_ring_page_lost(const struct kt_ring *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		sum += kt_ring_sum(r->page->lost[i]);
	return sum;
}

/* Records that the ring took; exact while the session is stopped. */
static uint64_t page_count(const struct kt_ring *r)
{
	return kt_ring_sum(r->page->emitted) - kt_ring_sum(r->page->filtered) -
	       kt_ring_page_lost(r);
}

/* What comes from now on is not read, and not counted either. */
void kt_ring_end_here(struct kt_ring *r)
{
	r->limit = kt_ring_commit(r);
	r->limit_count = page_count(r);
	r->limit_lost = kt_ring_page_lost(r);
	r->limited = true;
}

/* Records that the ring took, up to where reading ends. */
uint64_t kt_ring_end_count(const struct kt_ring *r)
{
	return r->limited ? r->limit_count : page_count(r);
}

/* Events that it lost up to there. */
uint64_t kt_ring_end_lost(const struct kt_ring *r)
{
	return r->limited ? r->limit_lost : kt_ring_page_lost(r);
}

/* Records in the open block that were not delivered. */
static uint64_t open_records(const struct kt_ring *r, uint64_t from,
			     uint64_t commit)
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
 * Records on their way to us, about: none if there is nothing to read.  As long
 * as no block was closed, only the open one tells how many are ours.
 */
uint64_t kt_ring_pending(const struct kt_ring *r)
{
	uint64_t commit = load(r, &r->page->commit);
	uint64_t from = kt_max(r->pos, load(r, &r->page->tail));
	int64_t count;

	if (r->limited)
		commit = kt_min(commit, r->limit);
	if (!r->pos32)
		from = kt_max(from, load(r, &r->page->floor));
	from = kt_max(from, from - from % r->block_size + KTAPE_BLOCK_HEADER);
	if (from >= commit)
		return 0;
	if (!r->base_known)
		return open_records(r, from, commit);
	count = (int64_t)(kt_ring_end_count(r) - r->base_count - r->records -
			  r->missed);
	return kt_min(count > 0 ? (uint64_t)count : 0, (commit - from) / 8);
}

/* Records that the ring had taken when a block was closed. */
static uint64_t head_count(const uint8_t *head)
{
	uint64_t count = KT_HEAD64(head, emitted) - KT_HEAD64(head, filtered);

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		count -= KT_HEAD64(head, lost[i]);
	return count;
}

/* Start at the oldest data. */
void kt_ring_begin(struct kt_ring *r)
{
	/* The first may not seem to lie before zero. */
	if (r->pos32)
		r->pos = (uint32_t)load(r, &r->page->tail);
	r->pos = lowest(r);
	r->seq = r->pos / r->block_size + 1;
	if (r->pos) {
		r->base_lost = kt_ring_page_lost(r);
		r->base_emitted = kt_ring_sum(r->page->emitted);
		r->base_filtered = kt_ring_sum(r->page->filtered);
		return;
	}
	r->base_known = true;
}

/* Leave behind what was overwritten or cleared. */
void kt_ring_skip(struct kt_ring *r)
{
	uint64_t low = lowest(r);

	if (low <= r->pos)
		return;
	r->seq += low / r->block_size - r->pos / r->block_size;
	r->pos = low;
	r->part = false;
	r->gap = true;
}

static bool has_sound_content(const struct kt_ring *r, const uint8_t *head)
{
	uint64_t bits = KT_HEAD64(head, content_bits);

	return KT_HEAD32(head, magic) == KTAPE_BLOCK_MAGIC && bits % 64 == 0 &&
	       bits >= KTAPE_BLOCK_HEADER * 8 && bits / 8 <= r->block_size;
}

/*
 * Records that the ring had taken up to the end of the @block with that @head.  What
 * an interrupt found counted and not stored when it closed the block is too much:
 * it is in a block behind it, so that one or another of those tells less.  What is
 * too little instead, as counts are not taken at one moment, a session that has
 * stopped puts right.
 */
static uint64_t taken_until(const struct kt_ring *r, uint64_t block,
			    const uint8_t *head)
{
	uint64_t behind = 0, commit = kt_ring_commit(r);
	uint64_t least = head_count(head);
	uint8_t next[KTAPE_BLOCK_HEADER];
	const uint8_t *data;

	for (unsigned int i = 0; i < AHEAD; i++) {
		block += r->block_size;
		if (commit <= block + r->block_size)
			break;
		data = r->data + block % r->data_size;
		memcpy(next, data, sizeof(next));
		if (has_sound_content(r, next))
			behind += kt_records_count(
				data, KTAPE_BLOCK_HEADER,
				KT_HEAD64(next, content_bits) / 8);
		if (!kt_ring_intact(r, block) || !has_sound_content(r, next))
			break;
		least = kt_min(least, head_count(next) - behind);
	}
	return least;
}

/* A closed block with @records records not delivered before goes out. */
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

/* Losses that a packet tells when the ring's own are @lost. */
uint64_t kt_ring_discarded(const struct kt_ring *r, uint64_t lost)
{
	uint64_t own = lost > r->base_lost ? lost - r->base_lost : 0;

	return kt_max(r->told, own + r->missed);
}

/* Number the first page's head, tell losses, compute the checksum. */
static void patch(struct kt_ring *r, uint8_t *first, size_t page_size,
		  const uint8_t *block)
{
	uint64_t content = KT_HEAD64(first, content_bits) / 8;
	uint64_t here = kt_min(content, page_size);

	r->told = kt_ring_discarded(r, KT_HEAD64(first, discarded));
	KT_HEAD_SET64(first, discarded, r->told - r->told_before);
	KT_HEAD_SET64(first, seq, r->seq);
	KT_HEAD_SET64(first, packet_bits, (uint64_t)r->block_size * 8);
	KT_HEAD_SET32(first, flags,
		      KTAPE_BLOCK_CRC | (r->gap ? KTAPE_BLOCK_GAP : 0));
	KT_HEAD_SET32(first, crc32c,
		      kt_packet_crc(first, here, block + here, content - here));
	r->gap = false;
	r->seq++;
}

/*
 * The next closed block, where it is; only its first page is copied, and comes
 * out as it is to be saved.  Whether the rest stayed intact is to be asked when
 * it was used.
 *
 * Return: 1, 0 if there is none, -EAGAIN if it has to be copied by
 * ktape_reader_read(), -EBADMSG.
 */
int kt_ring_view(struct ktape_reader *reader, struct kt_ring *r, void *first,
		 size_t page_size, struct kt_view *view)
{
	const uint8_t *block;
	uint64_t records = 0;
	bool sound;

	do {
		kt_ring_skip(r);
		if (r->pos % r->block_size)
			return -EAGAIN;
		if (kt_ring_commit(r) <= r->pos + r->block_size)
			return 0;
		block = r->data + r->pos % r->data_size;
		memcpy(first, block, page_size);
		sound = has_sound_content(r, first);
		if (sound)
			records = kt_records_count(
				block, KTAPE_BLOCK_HEADER,
				KT_HEAD64(first, content_bits) / 8);
	} while (!kt_ring_intact(r, r->pos));
	if (!sound)
		return -EBADMSG;

	view->block = r->pos;
	view->rest = block + page_size;
	view->rest_len = r->block_size - page_size;
	view->records = records;
	kt_ring_account(r, r->pos, first, records);
	patch(r, first, page_size, block);
	r->ts = KT_HEAD64(first, ts_end);
	reader->latest = kt_max(reader->latest, r->ts);
	r->part = false;
	r->pos += r->block_size;
	return 1;
}

/* The block of a view was overwritten before it was saved. */
void kt_ring_unview(struct kt_ring *r, const struct kt_view *view)
{
	r->records -= view->records;
	r->missed += view->records;
}
