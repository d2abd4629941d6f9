// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Copy packets out of a mapped ring.  An open block can be read in parts: each part
 * becomes a packet of its own, with the header that closing the block would write.
 */
#include "stream/packet.h"
#include "device/ring.h"

/* A copy of a block, or of the part that is published, in the caller's memory. */
struct copy {
	struct kt_ring *ring;
	uint8_t *data;
	uint64_t block; /* position of the block */
	uint64_t end;	/* bytes copied, including the header */
	unsigned int flags;
	bool closed;
};

/*
 * Copy the block.  @end becomes 0 if the header of a closed block has no valid size.
 * Return: 1, or 0 if the block was overwritten meanwhile.
 */
static int copy_block(struct copy *c)
{
	const struct kt_ring *r = c->ring;
	const uint8_t *from = r->data + c->block % r->data_size;
	uint64_t bits;

	memcpy(c->data, from, KTAPE_BLOCK_HEADER);
	if (c->closed) {
		bits = KT_HEAD64(c->data, content_bits);
		c->end = bits % 64 ? 0 : bits / 8;
		if (c->end > r->block_size || c->end < KTAPE_BLOCK_HEADER)
			c->end = 0;
	}
	if (c->end)
		memcpy(c->data + KTAPE_BLOCK_HEADER, from + KTAPE_BLOCK_HEADER,
		       c->end - KTAPE_BLOCK_HEADER);
	return kt_ring_intact(r, c->block);
}

/*
 * Skip the records of the copy that were delivered before or were cleared.
 * Return: offset of the remaining records, where @p is then.
 */
static uint64_t skip_delivered(struct copy *c, struct ktape_packet *p)
{
	struct kt_ring *r = c->ring;
	uint64_t from = r->pos - c->block;
	struct ktape_event event;

	if (from <= KTAPE_BLOCK_HEADER) {
		KT_HEAD_SET64(c->data, ts_begin, p->ts);
		return KTAPE_BLOCK_HEADER;
	}
	if (r->part) {
		p->at = kt_min(from, p->content);
		p->ts = r->ts;
		c->data[offsetof(struct ktape_block, context)] = KTAPE_CTX_CONTINUED;
	} else {
		while (p->at < from && ktape_packet_next(p, &event, NULL) > 0)
			;
		c->data[offsetof(struct ktape_block, context)] = KTAPE_CTX_UNKNOWN;
		/* Cleared records were counted, but are not in this packet. */
		r->gap = true;
	}
	KT_HEAD_SET64(c->data, ts_begin, p->ts);
	return p->at;
}

/* Fill the header members that the kernel writes when it closes a block. */
static void close_copied_head(struct copy *c, uint64_t ts)
{
	const struct ktape_ring_page *page = c->ring->page;
	size_t at = offsetof(struct ktape_block, lost);

	KT_HEAD_SET64(c->data, emitted, kt_ring_sum(c->ring, page->emitted));
	KT_HEAD_SET64(c->data, filtered, kt_ring_sum(c->ring, page->filtered));
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++, at += 8)
		kt_set64(c->data + at, kt_ring_sum(c->ring, page->lost[i]));
	KT_HEAD_SET64(c->data, discarded, kt_ring_end_lost(c->ring));
	KT_HEAD_SET64(c->data, ts_end, ts);
}

/*
 * Correct @missed at the end of the reading, by the counters of the control page.  They are exact
 * if the session is stopped; else what was recorded while they were read makes them differ.
 */
static void correct_missed(struct kt_ring *r)
{
	int64_t missed =
		(int64_t)(kt_ring_end_count(r) - r->base_count - r->records);

	if (r->base_known && missed > (int64_t)r->missed)
		r->missed = (uint64_t)missed;
}

/* Finish a packet: sequence number, losses, sizes, checksum.  Return: bytes. */
static int64_t finish_packet(struct copy *c, uint64_t len)
{
	struct kt_ring *r = c->ring;

	r->reported = kt_ring_discarded(r, KT_HEAD64(c->data, discarded));
	KT_HEAD_SET64(c->data, discarded, r->reported - r->reported_before);
	KT_HEAD_SET64(c->data, seq, r->seq);
	KT_HEAD_SET64(c->data, content_bits, len * 8);
	KT_HEAD_SET64(c->data, packet_bits, len * 8);
	KT_HEAD_SET32(c->data, flags,
		      (c->closed ? 0 : KTAPE_BLOCK_OPEN) |
			      (r->gap ? KTAPE_BLOCK_GAP : 0));
	kt_ring_note(r, c->data);
	ktape_packet_seal(c->data);
	r->gap = false;
	r->seq++;
	return (int64_t)len;
}

/*
 * Make a packet of the copy, and move the position behind it.
 * Return: bytes, 0 if it has no new records, or -EBADMSG if a record is damaged.
 */
static int64_t make_packet(struct ktape_reader *reader, struct copy *c)
{
	struct kt_ring *r = c->ring;
	struct ktape_packet p = {
		.data = c->data,
		.content = c->end,
		.at = KTAPE_BLOCK_HEADER,
		.ts = KT_HEAD64(c->data, ts_begin),
	};
	uint64_t from, records = 0;
	struct ktape_event event;
	int ret;

	/* The clock stepped back: time stands still until it has caught up. */
	if (r->ts_held)
		p.ts = kt_begin_held(p.ts, r->ts);
	from = skip_delivered(c, &p);
	while ((ret = ktape_packet_next(&p, &event, NULL)) > 0)
		records += event.opcode != KTAPE_TIME_EXTEND;
	r->pos = c->closed ? c->block + r->block_size : c->block + c->end;
	/* At the end of an open block that is full, the next one begins. */
	r->part = !c->closed && r->pos % r->block_size;
	if (ret < 0)
		return ret;
	r->ts_held = c->closed && p.ts > KT_HEAD64(c->data, ts_end);
	if (c->closed) {
		kt_ring_account(r, c->block, c->data, records);
		r->ts = kt_max(p.ts, KT_HEAD64(c->data, ts_end));
		KT_HEAD_SET64(c->data, ts_end, r->ts);
	} else {
		r->records += records;
		if (c->flags & KTAPE_READ_STOPPED)
			correct_missed(r);
		r->ts = p.ts;
		close_copied_head(c, r->ts);
	}
	reader->latest = kt_max(reader->latest, r->ts);
	if (from >= c->end)
		return 0;
	memmove(c->data + KTAPE_BLOCK_HEADER, c->data + from, c->end - from);
	return finish_packet(c, KTAPE_BLOCK_HEADER + c->end - from);
}

/* Return the time up to which events of the CPU of a control ring were read, or 0. */
static uint64_t events_end(const struct ktape_reader *reader,
			   const struct kt_ring *r)
{
	if (r->kind != KTAPE_RING_CONTROL)
		return 0;
	for (unsigned int i = 0; i < reader->nr_rings; i++)
		if (reader->rings[i]->kind == KTAPE_RING_EVENT &&
		    reader->rings[i]->cpu == r->cpu)
			return reader->rings[i]->ts;
	return 0;
}

/*
 * Return whether the last packet of a control ring ends before the events of its CPU that
 * were read: the ring has no further markers, but the trace does not say so.
 */
static bool is_behind_events(const struct ktape_reader *reader,
			     const struct kt_ring *r)
{
	return r->ts < events_end(reader, r);
}

/*
 * Make an empty packet, the last one of a ring, for losses that no packet has reported, and
 * for the time up to which a control ring was read.  If the ring was overwritten up to the
 * end of the reading, only this packet says so.
 * Return: bytes, or 0 if no such packet is needed.
 */
static int64_t make_last_packet(struct ktape_reader *reader, struct copy *c)
{
	struct kt_ring *r = c->ring;
	const struct ktape_features *f = ktape_device_features(reader->device);
	struct ktape_block head = {
		.cpu = r->cpu,
		.kind = r->kind,
		.context = KTAPE_CTX_CONTINUED,
	};
	struct ktape_builder b;
	bool lossy;

	correct_missed(r);
	lossy = r->gap || kt_ring_discarded(r, kt_ring_end_lost(r)) > r->reported;
	if (!lossy && !is_behind_events(reader, r))
		return 0;
	head.ts_begin =
		kt_max(r->ts, lossy ? reader->latest : events_end(reader, r));
	memcpy(head.uuid, f->uuid, sizeof(head.uuid));
	ktape_build_begin(&b, c->data, KTAPE_BLOCK_HEADER, &head);
	r->ts = head.ts_begin;
	close_copied_head(c, r->ts);
	return finish_packet(c, KTAPE_BLOCK_HEADER);
}

/* Do ktape_reader_read(), unless the rings are taken away meanwhile. */
static int64_t read_copied_packet(struct ktape_reader *reader, struct kt_ring *r,
				  unsigned int flags, void *packet)
{
	struct copy c = { .ring = r, .data = packet, .flags = flags };
	uint64_t commit;
	int64_t len;

	for (;;) {
		kt_ring_skip(r);
		commit = kt_ring_commit(r);
		if (r->pos >= commit)
			break;
		c.block = r->pos - r->pos % r->block_size;
		/* A full block is closed when the next one begins, which moves commit on. */
		c.closed = commit > c.block + r->block_size;
		if (!c.closed && !(flags & KTAPE_READ_OPEN))
			return 0;
		c.end = commit - c.block;
		if (!copy_block(&c))
			continue;
		if (!c.end) {
			r->pos = c.block + r->block_size;
			return -EBADMSG;
		}
		len = make_packet(reader, &c);
		if (len)
			return len;
	}
	/* While the session records, its counters do not exactly fit @limit: only gaps are sure. */
	if (flags & KTAPE_READ_STOPPED ||
	    (r->limited && (r->gap || is_behind_events(reader, r))))
		return make_last_packet(reader, &c);
	return 0;
}

int64_t ktape_reader_read(struct ktape_reader *reader, unsigned int ring,
			  unsigned int flags, void *packet, size_t size)
{
	struct kt_ring *r = kt_reader_ring(reader, ring), before;
	uint64_t latest = reader->latest;
	int64_t len = 0;

	if (!r)
		return -ENOENT;
	if (size < r->block_size)
		return -ENOBUFS;
	before = *r;
	if (!kt_reader_is_gone(reader))
		len = read_copied_packet(reader, r, flags, packet);
	if (!kt_reader_is_gone(reader))
		return len;
	*r = before;
	reader->latest = latest;
	return -ESTALE;
}
