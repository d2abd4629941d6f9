// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes CTF packets for read(): from a block, from the records that an open block
 * has so far (a part), or from the registry (a checkpoint: all its entries).
 *
 * The copy of a block is walked record by record, because an open block has no end
 * time yet, and a part needs the full time at its begin.
 *
 * Other software may write into the memory of a persistent session, so a block may
 * be damaged.  No number in a block is used before it is checked.
 *
 * Each reader numbers its packets and counts its losses itself, because a block
 * may be delivered in several parts or may be overwritten before it is read.
 *
 * All of this file, and kt_dev_read() and kt_dev_llseek() of read.c, are for read() only:
 * 4.8 of the module's 128.8 kB of code (nm -S of the objects, 6.1), about 750 lines.  They
 * give a complete trace by cat, without a mapping, a library or the command: on a board to
 * which only the module was copied, and through a pipe or ssh.  The recorder maps the rings
 * and needs none of it.
 */
#include <linux/errno.h>

#include "names/names.h"
#include "internal.h"

/**
 * struct kt_walk - result of a walk over the records of a copied block
 * @ts: trace clock of the last record, all 64 bits
 * @ts_at: trace clock before the record at the offset asked for
 * @events: records from that offset on, without time extensions
 */
struct kt_walk {
	u64 ts;
	u64 ts_at;
	u64 events;
};

/*
 * Walk the records in [KTAPE_BLOCK_HEADER, @end) of a copied block.
 * Return: true if they fill that range exactly, and a record begins, or the last
 * one ends, at @from.
 */
static bool packet_walk_block(const void *buf, size_t from, size_t end,
			      struct kt_walk *w)
{
	const struct ktape_block *b = buf;
	size_t at = KTAPE_BLOCK_HEADER, length;
	bool reached = false;
	const u32 *word;

	w->ts = b->ts_begin;
	w->ts_at = b->ts_begin;
	w->events = 0;
	while (at < end) {
		word = buf + at;
		length = kt_record_length(word, end - at);
		if (!length)
			return false;
		if (at == from) {
			w->ts_at = w->ts;
			reached = true;
		}
		w->ts = kt_record_time(w->ts, word);
		if ((word[1] & 0xff) != KTAPE_TIME_EXTEND)
			w->events += at >= from;
		at += length;
	}
	if (at == from) {
		w->ts_at = w->ts;
		reached = true;
	}
	return reached;
}

/* Enter the present counts of the ring into the copy of an open block. */
static void packet_counts_now(struct ktape_block *b, const struct kt_ring *r)
{
	unsigned int i;

	b->emitted = kt_ring_emitted(r->page);
	b->filtered = kt_ring_filtered(r->page);
	b->discarded = 0;
	for (i = 0; i < KTAPE_LOST_REASONS; i++) {
		b->lost[i] = kt_ring_lost(r->page, i);
		b->discarded += b->lost[i];
	}
}

/* Return how many events were stored in the ring up to the end of a block. */
static u64 packet_stored(const struct ktape_block *b)
{
	return b->emitted - b->filtered - b->discarded;
}

/*
 * Enter the packet number and the losses as seen by this reader.
 *
 * The number of overwritten events is computed when the counts are @exact: at the
 * end of a block and after a stop.  At the end of a block it may still be wrong by an
 * event that an interrupted writer has counted but not stored.  It is computed anew
 * from the first packet on each time, so that such errors do not add up: what was stored up
 * to now, less @stored (before the first packet) and @records (delivered).  @stored is an
 * estimate if the first block of the ring was not delivered; the first exact counts (@based)
 * replace it, unless something was overwritten before them.
 */
static void packet_renumber(struct ktape_block *b, struct kt_cursor *c,
			    u64 events, bool exact)
{
	u64 now = packet_stored(b);
	u64 lost = b->discarded;

	if (!c->begun) {
		c->begun = true;
		c->discarded = b->seq == 1 ? 0 : lost;
		c->seq = b->seq - 1;
		c->stored = b->seq == 1 ? 0 : now - events;
		c->based = b->seq == 1;
		c->gap = false;
	}
	if (c->gap) {
		b->flags |= KTAPE_BLOCK_GAP;
		c->lapping = true;
	}
	c->gap = false;
	c->records += events;
	if (exact) {
		if (c->lapping || c->lapped)
			c->lapped = max_t(s64, now - c->stored - c->records, 0);
		else if (!c->based)
			c->stored = now - c->records;
		c->based = true;
		c->lapping = false;
	}
	b->seq = ++c->seq;
	/*
	 * The counts of a part are those at the time of the copy, which may be
	 * later than those in the header of the closed block.  Counts of a
	 * stream must not decrease.
	 */
	c->emitted = max(b->emitted, c->emitted);
	c->lost = max(lost - c->discarded + c->lapped, c->lost);
	b->emitted = c->emitted;
	b->discarded = c->lost;
}

/* Enter the length and the checksum of a finished packet. */
static void packet_seal(struct ktape_block *b, size_t length)
{
	b->content_bits = (u64)length * 8;
	b->packet_bits = (u64)length * 8;
	b->flags |= KTAPE_BLOCK_CRC;
	b->crc32c = 0;
	b->crc32c = ~kt_crc32c(~0U, (const void *)b, length);
}

/* Move @pos over data that was overwritten or cleared. */
static void packet_skip_lost(struct kt_ring *r, struct kt_cursor *c, u64 *pos)
{
	u64 oldest = kt_ring_oldest(r);

	if (!kt_position_before(*pos, oldest))
		return;
	if (c->begun)
		c->seq += ((oldest & ~((u64)r->block_size - 1)) -
			   (*pos & ~((u64)r->block_size - 1))) >>
			  r->block_shift;
	c->gap = true;
	*pos = oldest;
}

/* Return true if @b is the header that the writer stored for the block at @start. */
static bool packet_is_block_of(const struct kt_ring *r, u64 start,
			       const struct ktape_block *b)
{
	return b->magic == KTAPE_BLOCK_MAGIC && b->cpu == r->cpu &&
	       b->kind == r->kind && b->seq == (start >> r->block_shift) + 1;
}

/*
 * Copy the block that contains @pos.
 * Return: bytes of content; 0: the block was overwritten meanwhile; -EIO: the
 * block's header or the ring's tail is damaged.
 */
static ssize_t packet_copy_block(struct kt_ring *r, u64 pos, u64 commit,
				 void *buf, bool *closed)
{
	u64 start = pos & ~((u64)r->block_size - 1);
	const struct ktape_block *b;
	size_t content = min_t(u64, commit - start, r->block_size);

	b = r->base[(pos >> r->block_shift) & (r->nr_blocks - 1)];
	/* content_bits is valid once a record of the next block is published. */
	*closed = commit - start > r->block_size;
	if (*closed)
		/* data_race(): if a writer stores it now, it fails as below. */
		content = min_t(u64, data_race(READ_ONCE(b->content_bits)) / 8,
				r->block_size);
	/*
	 * data_race(): the writer does not wait for readers.  If it overwrote
	 * the block meanwhile, the copy is thrown away.
	 */
	data_race(memcpy(buf, b, content));
	/* Pairs with the write barrier after tail in ring_make_room(). */
	smp_rmb();
	if (kt_position_before(start, kt_ring_tail(r)))
		/* With a tail above commit, the caller would retry for ever. */
		return kt_position_before(pos, kt_ring_oldest(r)) ? 0 : -EIO;
	if (*closed && content < KTAPE_BLOCK_HEADER)
		return -EIO;
	return packet_is_block_of(r, start, buf) ? content : -EIO;
}

/* Return true if this reader got -EIO for the block at @start. */
static bool packet_damage_is_reported(const struct kt_cursor *c, u64 start)
{
	return c->damaged == start + 1;
}

/*
 * Report the damaged block at @start to the reader.  Only the memory of persistent
 * sessions is written by other software; damage anywhere else is a bug in this
 * module.
 * Return: -EIO.
 */
static int packet_report_damage(const struct kt_ring *r, struct kt_cursor *c,
				u64 start)
{
	WARN_ONCE(r->mode != KTAPE_MODE_PERSISTENT,
		  "ktape: the block at position %#llx of CPU %u, ring kind %u, is damaged\n",
		  start, r->cpu, r->kind);
	c->damaged = start + 1;
	return -EIO;
}

/* Move @pos over a damaged block, or to commit if the block is still open. */
static void packet_skip_damaged(const struct kt_ring *r, struct kt_cursor *c,
				u64 *pos, u64 commit)
{
	u64 start = *pos & ~((u64)r->block_size - 1);

	if (c->begun && *pos == start)
		c->seq++;
	c->gap = true;
	*pos = commit - start > r->block_size ? start + r->block_size : commit;
}

/*
 * Report damaged positions of a ring to the reader, once.  Nothing can be read
 * until the writer's next record stores a correct commit.
 * Return: -EIO; 0: this reader got -EIO before.
 */
static int packet_report_ring_damage(struct kt_cursor *c)
{
	if (c->ring_damaged)
		return 0;
	c->ring_damaged = true;
	c->gap = true;
	return -EIO;
}

/*
 * Make a packet without events after everything was delivered, if losses happened
 * after the last packet or were not known then.  The session has stopped.
 * Return: bytes in @buf; 0: there is nothing to report; -EIO: the last block is damaged,
 * which is reported once.
 */
static ssize_t packet_copy_end(struct kt_ring *r, struct kt_cursor *c, void *buf)
{
	u64 commit = kt_ring_commit(r), start;
	struct ktape_block now, *b = buf;
	struct kt_walk w;
	ssize_t content;
	u64 lapped = 0;
	bool closed;

	/* A snapshot that was restarted and has no records has no last block. */
	if (!c->begun || !kt_position_before(kt_ring_oldest(r), commit))
		return 0;
	packet_counts_now(&now, r);
	if (c->gap || c->lapping || c->lapped)
		lapped = max_t(s64, packet_stored(&now) - c->stored - c->records, 0);
	if (now.discarded - c->discarded + lapped <= c->lost)
		return 0;
	content = packet_copy_block(r, commit - 1, commit, buf, &closed);
	if (!content)
		return 0;
	if (content < 0 || !packet_walk_block(buf, content, content, &w)) {
		/* Report it once: with this, the next call has nothing to report. */
		c->lost = now.discarded - c->discarded + lapped;
		start = (commit - 1) & ~((u64)r->block_size - 1);
		return packet_damage_is_reported(c, start) ?
			       0 :
			       packet_report_damage(r, c, start);
	}
	packet_counts_now(b, r);
	b->ts_begin = w.ts;
	b->ts_end = w.ts;
	b->flags |= KTAPE_BLOCK_OPEN;
	b->context = c->gap ? KTAPE_CTX_UNKNOWN : KTAPE_CTX_CONTINUED;
	packet_renumber(b, c, 0, true);
	packet_seal(b, KTAPE_BLOCK_HEADER);
	return KTAPE_BLOCK_HEADER;
}

/**
 * kt_packet_copy() - make the next packet of a ring
 * @r: the ring
 * @c: the reader's cursor; its counts are updated
 * @pos: in: position of the cursor; out: position behind the packet
 * @buf: the packet, with room for a block
 * @parts: make packets of open blocks, too
 *
 * Context: process context.
 * Return: bytes in @buf; 0: no packet; -EIO: a block is damaged, and @pos is behind
 * it, or the positions of the ring are.  Each damage is reported once.
 */
ssize_t kt_packet_copy(struct kt_ring *r, struct kt_cursor *c, u64 *pos,
		       void *buf, bool parts)
{
	struct ktape_block *b = buf;
	ssize_t content, from;
	u64 commit, start;
	struct kt_walk w;
	bool closed, final;

	for (;;) {
		if (kt_ring_is_damaged(r))
			return packet_report_ring_damage(c);
		packet_skip_lost(r, c, pos);
		final = READ_ONCE(r->page->flags) & KTAPE_RING_FLAG_STOPPED;
		/*
		 * The flag is stored after the grace period and the last records
		 * in session_stop_running(): a commit loaded after it is final.
		 */
		smp_rmb();
		commit = kt_ring_commit(r);
		if (!kt_position_before(*pos, commit))
			return final ? packet_copy_end(r, c, buf) : 0;
		start = *pos & ~((u64)r->block_size - 1);
		if (!parts && commit - start <= r->block_size)
			return 0;
		if (packet_damage_is_reported(c, start)) {
			packet_skip_damaged(r, c, pos, commit);
			continue;
		}
		content = packet_copy_block(r, *pos, commit, buf, &closed);
		if (content < 0)
			goto damaged;
		if (!content)
			continue;
		from = max_t(ssize_t, *pos - start, KTAPE_BLOCK_HEADER);
		if (from < content || (closed && *pos == start))
			break;
		if (!closed)
			return 0;
		/* All its records were delivered as parts: go on with the next block. */
		*pos = start + r->block_size;
	}
	if (!packet_walk_block(buf, from, content, &w))
		goto damaged;
	*pos = closed ? start + r->block_size : commit;
	if (!closed) {
		packet_counts_now(b, r);
		b->ts_end = w.ts;
		b->flags |= KTAPE_BLOCK_OPEN;
	}
	if (from > KTAPE_BLOCK_HEADER) {
		b->ts_begin = w.ts_at;
		b->context = c->gap || !c->begun ? KTAPE_CTX_UNKNOWN :
						   KTAPE_CTX_CONTINUED;
		memmove(buf + KTAPE_BLOCK_HEADER, buf + from, content - from);
		content -= from - KTAPE_BLOCK_HEADER;
	}
	packet_renumber(b, c, w.events, closed || final);
	packet_seal(b, content);
	return content;
damaged:
	packet_skip_damaged(r, c, pos, commit);
	return packet_report_damage(r, c, start);
}

/* Bytes of a registry record before the name: 8 of any record, 7 arguments, size of the name. */
#define ENTRY_HEAD (8 + 7 * 4 + 4)

/* Append the record of a registry entry.  Return: its bytes. */
static size_t packet_put_entry(void *to, const struct ktape_object_entry *e, u64 ts)
{
	u32 size = strnlen(e->name, sizeof(e->name));
	u32 *word = to;

	word[0] = (u32)ts;
	word[1] = KT_CODE(KTAPE_EV_REGISTRY, e->type | (u32)(e->died != 0) << 8,
			  1, 7);
	word[2] = e->id;
	word[3] = e->param1;
	word[4] = e->param2;
	word[5] = (u32)e->born;
	word[6] = (u32)(e->born >> 32);
	word[7] = (u32)e->died;
	word[8] = (u32)(e->died >> 32);
	word[9] = size;
	memcpy(&word[10], e->name, size);
	return ALIGN(ENTRY_HEAD + size, KTAPE_RECORD_ALIGN);
}

/**
 * kt_packet_registry() - make the next packet of a registry checkpoint
 * @buf: the packet
 * @room: bytes of @buf, at least a page
 * @slot: in: first entry, 0 begins a checkpoint; out: next entry
 * @seq: in and out: number of the last packet
 *
 * Context: process context, may sleep.
 * Return: bytes in @buf; 0: no entry is left.
 */
size_t kt_packet_registry(void *buf, size_t room, unsigned int *slot, u64 *seq)
{
	const size_t largest = ENTRY_HEAD + KTAPE_NAME_SIZE;
	struct ktape_block *b = buf;
	size_t at = KTAPE_BLOCK_HEADER;
	struct ktape_object_entry e;
	struct kt_moment m;

	if (!*slot)
		kt_registry_refresh();
	if (*slot >= kt_registry_used())
		return 0;
	kt_clock_moment(&m);
	memset(buf, 0, room);
	b->magic = KTAPE_BLOCK_MAGIC;
	memcpy(b->uuid, kt_uuid, sizeof(b->uuid));
	b->instance = (u64)KTAPE_RING_REGISTRY << 32;
	b->kind = KTAPE_RING_REGISTRY;
	b->sync_clock = m.clock;
	b->sync_mono_ns = m.mono;
	b->ts_begin = m.clock;
	b->ts_end = m.clock;
	b->context = KTAPE_CTX_UNKNOWN;
	for (; *slot < kt_registry_used() && at + largest <= room; ++*slot)
		if (kt_registry_copy(*slot, &e))
			at += packet_put_entry(buf + at, &e, m.clock);
	if (at == KTAPE_BLOCK_HEADER)
		return 0;
	b->seq = ++*seq;
	packet_seal(b, at);
	return at;
}
