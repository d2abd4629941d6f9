// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recovering one ring: which blocks count, and how much of each.
 *
 * Positions are those of the control page.  What lies in [tail, commit) counts;
 * the block that commit points into was being filled, all others were closed.
 * If the two make no sense, only blocks that prove themselves by their checksum
 * are taken, in the order of their numbers.
 */
#include "util/crc32c.h"
#include "stream/packet.h"
#include "recover/internal.h"

/**
 * struct ring - a ring that is being recovered
 * @rec: of which
 * @d: where it is
 * @out: what came of it
 * @page: its control page
 * @checks: checksums of blocks
 * @mask: of positions
 * @low: what lies before was cleared or overwritten
 * @commit: what lies behind was not published
 * @block: a block
 * @begun: a packet was delivered
 * @gap: blocks were left out since
 * @pos: of the last packet
 * @seq: its number; with 32 bits those of blocks begin anew
 * @ts: its end
 * @held: its records ended later than it did: the clock stepped back in it
 * @base_lost: losses before the first packet
 * @base_count: records before it
 * @records: delivered
 * @missed: records of blocks that were left out
 * @told: losses that the last packet tells
 */
struct ring {
	struct kt_recovery *rec;
	const struct ktape_persist_ring *d;
	struct ktape_recover_ring *out;
	struct ktape_ring_page page;
	struct ktape_persist_check *checks;
	uint64_t mask;
	uint64_t low;
	uint64_t commit;
	uint8_t *block;
	bool begun;
	bool gap;
	uint64_t pos;
	uint64_t seq;
	uint64_t ts;
	bool held;
	uint64_t base_lost;
	uint64_t base_count;
	uint64_t records;
	uint64_t missed;
	uint64_t told;
};

/**
 * struct piece - a block that is looked at
 * @pos: its position
 * @seq: its number
 * @at: its offset in the region
 * @limit: bytes of it that were published
 * @from: bytes of it that were cleared
 * @closed: the next one was begun
 * @checked: it has a checksum, which is right
 */
struct piece {
	uint64_t pos;
	uint64_t seq;
	uint64_t at;
	uint64_t limit;
	uint64_t from;
	bool closed;
	bool checked;
};

static uint64_t ring_size(const struct ring *r)
{
	return (uint64_t)r->d->block_size * r->d->nr_blocks;
}

/* Return: @p is left out, for a reason. */
static bool leave_out(struct ring *r, const struct piece *p, const char *why)
{
	kt_recover_tell(r->rec, p->at, "cpu %u, %s ring, block %llu: %s",
			r->d->cpu,
			r->d->kind == KTAPE_RING_EVENT ? "event" : "control",
			(unsigned long long)p->seq, why);
	r->out->discarded++;
	r->gap = true;
	return false;
}

static bool has_check(const struct ring *r, const struct piece *p,
		      uint32_t *crc)
{
	uint32_t slot = (uint32_t)(p->pos / r->d->block_size) &
			(r->d->nr_blocks - 1);
	const uint8_t *c = (const uint8_t *)&r->checks[slot];

	*crc = kt_get32(c + offsetof(struct ktape_persist_check, crc32c));
	return kt_get64(c) == p->seq &&
	       kt_crc32c(0, c, offsetof(struct ktape_persist_check, check)) ==
		       kt_get32(c +
				offsetof(struct ktape_persist_check, check));
}

/* Only of a block whose head is right: whoever lies shall not keep us busy. */
static int load_rest(struct ring *r, const struct piece *p)
{
	int err = kt_recover_read(r->rec, p->at + KTAPE_BLOCK_HEADER,
				  r->block + KTAPE_BLOCK_HEADER,
				  p->limit - KTAPE_BLOCK_HEADER);

	if (err == -EBADMSG)
		return leave_out(r, p, "it is not there");
	return err ? err : 1;
}

/* Read a block and judge its head.  Return: 1, 0 if it is left out, or error. */
static int load(struct ring *r, struct piece *p)
{
	const struct kt_recovery *rec = r->rec;
	const uint8_t *b = r->block;
	uint64_t bits;
	int err;

	memset(r->block, 0, KTAPE_BLOCK_HEADER);
	err = kt_recover_read(rec, p->at, r->block,
			      kt_min(p->limit, KTAPE_BLOCK_HEADER));
	if (err)
		return err == -EBADMSG ? leave_out(r, p, "it is not there") :
					 err;
	if (p->limit < KTAPE_BLOCK_HEADER ||
	    KT_HEAD32(b, magic) != KTAPE_BLOCK_MAGIC)
		return leave_out(r, p, "it has no head");
	if (memcmp(b + offsetof(struct ktape_block, uuid), rec->super.uuid, 16))
		return leave_out(r, p, "it is of another trace");
	if (KT_HEAD64(b, seq) != p->seq)
		return leave_out(r, p, "it has another number");
	if (KT_HEAD32(b, cpu) != r->d->cpu || KT_HEAD32(b, kind) != r->d->kind)
		return leave_out(r, p, "it is of another ring");
	if (!p->closed)
		return load_rest(r, p);
	bits = KT_HEAD64(b, content_bits);
	if (bits % 64 || bits / 8 < KTAPE_BLOCK_HEADER || bits / 8 > p->limit)
		return leave_out(r, p, "its length is wrong");
	p->limit = bits / 8;
	return load_rest(r, p);
}

/* Return: false if its checksum is wrong. */
static bool check(struct ring *r, struct piece *p)
{
	uint32_t crc;

	if (!p->closed || !has_check(r, p, &crc))
		return true;
	p->checked = kt_crc32c(0, r->block, p->limit) == crc;
	return p->checked || leave_out(r, p, "its checksum is wrong");
}

static uint64_t sum(const struct ring *r, const __u64 *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += le64toh(counts[i]) & r->mask;
	return total;
}

/* Members that closing writes, for a block that was being filled. */
static void close_head(struct ring *r, uint64_t ts)
{
	size_t at = offsetof(struct ktape_block, lost);
	uint64_t lost, all = 0;

	KT_HEAD_SET64(r->block, emitted, sum(r, r->page.emitted));
	KT_HEAD_SET64(r->block, filtered, sum(r, r->page.filtered));
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++, at += 8) {
		lost = sum(r, r->page.lost[i]);
		kt_set64(r->block + at, lost);
		all += lost;
	}
	KT_HEAD_SET64(r->block, discarded, all);
	KT_HEAD_SET64(r->block, ts_end, ts);
}

/* Records that the ring had taken when the block was closed. */
static uint64_t taken(const uint8_t *head)
{
	uint64_t count = KT_HEAD64(head, emitted) - KT_HEAD64(head, filtered);

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		count -= KT_HEAD64(head, lost[i]);
	return count;
}

/* What is lost since the trace begins, with what was left out. */
static uint64_t tell_losses(struct ring *r, const struct piece *p,
			    uint64_t records)
{
	uint64_t lost = KT_HEAD64(r->block, discarded);
	uint64_t count = taken(r->block);
	int64_t missed;

	if (!r->begun && p->seq != 1) {
		r->base_lost = lost;
		r->base_count = count - records;
	}
	r->records += records;
	missed = (int64_t)(count - r->base_count - r->records);
	if (p->checked && r->gap && missed > (int64_t)r->missed)
		r->missed = (uint64_t)missed;
	lost = lost > r->base_lost ? lost - r->base_lost : 0;
	/* The next block that can be believed tells it too. */
	if (p->closed && !p->checked)
		lost = 0;
	r->told = kt_max(r->told, lost + r->missed);
	return r->told;
}

/* What a walk over the records finds. */
struct walk {
	uint64_t from;		/* the first record that counts */
	uint64_t from_ts;	/* time before it */
	uint64_t end;		/* of the last one */
	uint64_t ts;		/* of the last one */
	uint64_t events;
	bool whole;		/* they fill the block */
	bool steps;		/* the clock goes back in them */
};

static int walk(struct ring *r, const struct piece *p, struct walk *w)
{
	struct ktape_packet packet;
	struct ktape_event e;
	int ret;

	KT_HEAD_SET64(r->block, content_bits, p->limit * 8);
	KT_HEAD_SET64(r->block, packet_bits, p->limit * 8);
	ret = kt_packet_begin(&packet, r->block, p->limit, NULL, NULL);
	if (ret)
		return ret;
	memset(w, 0, sizeof(*w));
	w->from = KTAPE_BLOCK_HEADER;
	w->from_ts = packet.ts;
	w->ts = packet.ts;
	for (;;) {
		w->end = packet.at;
		ret = ktape_packet_next(&packet, &e, NULL);
		if (ret <= 0)
			break;
		w->ts = e.ts;
		w->steps |= kt_record_held(&e);
		if (e.offset < p->from) {
			w->from = packet.at;
			w->from_ts = e.ts;
		} else {
			w->events += e.opcode != KTAPE_TIME_EXTEND;
		}
	}
	w->whole = !ret;
	return 0;
}

/* Without what was cleared. */
static void drop_cleared(struct ring *r, struct walk *w)
{
	uint64_t skip = w->from - KTAPE_BLOCK_HEADER;

	if (!skip)
		return;
	memmove(r->block + KTAPE_BLOCK_HEADER, r->block + w->from,
		w->end - w->from);
	w->end -= skip;
	KT_HEAD_SET64(r->block, ts_begin, w->from_ts);
	r->block[offsetof(struct ktape_block, context)] = KTAPE_CTX_UNKNOWN;
}

static int deliver(struct ring *r, const struct piece *p, struct walk *w)
{
	uint8_t *b = r->block;
	bool cleared = w->from > KTAPE_BLOCK_HEADER;
	uint32_t flags = 0;

	r->held = p->closed && w->ts > KT_HEAD64(b, ts_end);
	drop_cleared(r, w);
	if (!p->closed)
		close_head(r, w->ts);
	flags |= p->closed ? 0 : KTAPE_BLOCK_OPEN;
	flags |= p->checked ? 0 : KTAPE_BLOCK_UNCHECKED;
	flags |= cleared || (r->begun && r->gap) ? KTAPE_BLOCK_GAP : 0;
	KT_HEAD_SET64(b, discarded, tell_losses(r, p, w->events));
	KT_HEAD_SET64(b, ts_end,
		      kt_max(w->ts,
			     w->whole && p->closed ? KT_HEAD64(b, ts_end) : 0));
	if (r->begun)
		r->seq += ((p->pos - r->pos) & r->mask) / r->d->block_size;
	else
		r->seq = p->seq;
	r->pos = p->pos;
	KT_HEAD_SET64(b, seq, r->seq);
	KT_HEAD_SET64(b, instance, (uint64_t)r->d->kind << 32 | r->d->cpu);
	KT_HEAD_SET32(b, stream_id, 0);
	KT_HEAD_SET32(b, flags, flags);
	KT_HEAD_SET64(b, content_bits, w->end * 8);
	KT_HEAD_SET64(b, packet_bits, w->end * 8);
	ktape_packet_seal(b);

	if (!r->out->events)
		r->out->first_ts = KT_HEAD64(b, ts_begin);
	r->out->last_ts = w->ts;
	r->out->events += w->events;
	r->ts = KT_HEAD64(b, ts_end);
	r->rec->last_ts = kt_max(r->rec->last_ts, r->ts);
	r->begun = true;
	r->gap = !w->whole;
	return r->rec->out->packet(r->rec->out->arg, b, w->end);
}

static void count(struct ring *r, const struct piece *p, const struct walk *w)
{
	r->out->checked += p->checked;
	r->out->unchecked += p->closed && !p->checked;
	r->out->open += !p->closed;
	if (w->whole)
		return;
	r->out->cut++;
	kt_recover_tell(
		r->rec, p->at + w->end,
		"cpu %u, %s ring, block %llu: taken up to here, where a record is not sound",
		r->d->cpu, r->d->kind == KTAPE_RING_EVENT ? "event" : "control",
		(unsigned long long)p->seq);
}

/* A block that proves itself says until when the one ahead of it can last. */
static bool is_beyond_next(struct ring *r, const struct piece *p)
{
	uint64_t block_size = r->d->block_size;
	struct piece next = {
		.pos = (p->pos + block_size) & r->mask,
		.seq = ((p->pos + block_size) & r->mask) / block_size + 1,
	};
	uint8_t head[KTAPE_BLOCK_HEADER];
	uint32_t crc;

	if (!has_check(r, &next, &crc) ||
	    kt_recover_read(r->rec, r->d->blocks + next.pos % ring_size(r),
			    head, sizeof(head)))
		return false;
	return KT_HEAD64(head, seq) == next.seq &&
	       KT_HEAD64(head, ts_begin) < KT_HEAD64(r->block, ts_end);
}

/* One block.  Return: 0 or negative errno. */
static int take(struct ring *r, struct piece *p)
{
	struct walk w;
	int ret = load(r, p);

	if (ret <= 0)
		return ret;
	if (!check(r, p))
		return 0;
	if (r->held)
		KT_HEAD_SET64(r->block, ts_begin,
			      kt_begin_held(KT_HEAD64(r->block, ts_begin),
					    r->ts));
	if (walk(r, p, &w))
		return leave_out(r, p, "its head makes no sense");
	if (KT_HEAD64(r->block, ts_begin) < r->ts)
		return leave_out(
			r, p, "its time is before that of the one ahead of it");
	if (p->closed && !p->checked &&
	    ((w.ts > KT_HEAD64(r->block, ts_end) && !w.steps) ||
	     is_beyond_next(r, p)))
		return leave_out(r, p, "its times make no sense");
	/* A right checksum over wrong records is nobody's honest work. */
	if (!w.whole && p->checked)
		return leave_out(r, p, "its records are not sound");
	if (!w.whole && w.end <= kt_max(w.from, KTAPE_BLOCK_HEADER))
		return leave_out(r, p, "its first record is not sound");
	if (p->from && w.end == w.from)
		return 0;
	count(r, p, &w);
	return deliver(r, p, &w);
}

/* Do tail, floor and commit make sense?  Sets @low and @commit. */
static bool has_range(struct ring *r)
{
	uint64_t size = ring_size(r), used, tail, floor;

	r->commit = le64toh(r->page.commit) & r->mask;
	tail = le64toh(r->page.tail) & r->mask;
	floor = le64toh(r->page.floor) & r->mask;
	used = (r->commit - tail) & r->mask;
	if (used > size || tail % r->d->block_size || r->commit % 8)
		return false;
	/* The nearer one; a floor of long ago may have wrapped with 32 bits. */
	r->low = ((r->commit - floor) & r->mask) < used ? floor : tail;
	return r->low % 8 == 0;
}

static int take_range(struct ring *r)
{
	uint64_t block_size = r->d->block_size;
	uint64_t pos = r->low & ~(block_size - 1);
	uint64_t left = ((r->commit - pos) & r->mask);
	int err = 0;

	for (; left && !err; pos = (pos + block_size) & r->mask) {
		struct piece p = {
			.pos = pos,
			.seq = pos / block_size + 1,
			.at = r->d->blocks + pos % ring_size(r),
			.limit = kt_min(left, block_size),
			.closed = left > block_size,
		};

		if (r->low - pos < block_size)
			p.from = r->low - pos;
		err = take(r, &p);
		if (!err)
			err = kt_recover_progress(r->rec, p.limit);
		left -= kt_min(left, block_size);
	}
	return err;
}

/* Is the block that a checksum is of overwritten, by all that can be seen? */
static bool is_overwritten(const struct ring *r, uint64_t seq, uint64_t at)
{
	uint8_t head[KTAPE_BLOCK_HEADER];

	return !kt_recover_read(r->rec, at, head, sizeof(head)) &&
	       KT_HEAD32(head, magic) == KTAPE_BLOCK_MAGIC &&
	       !memcmp(head + offsetof(struct ktape_block, uuid),
		       r->rec->super.uuid, 16) &&
	       KT_HEAD64(head, seq) > seq;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Without a range: what proves itself. */
static int take_checked(struct ring *r)
{
	uint64_t *seqs = calloc(r->d->nr_blocks, sizeof(*seqs));
	uint32_t nr = 0, crc;
	int err = seqs ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < r->d->nr_blocks && !err; i++) {
		uint64_t seq = kt_get64(&r->checks[i].seq);
		const struct piece p = {
			.seq = seq,
			.pos = (seq - 1) * r->d->block_size,
		};

		/* The check of a number belongs into the slot of the number. */
		if (seq && ((seq - 1) & (r->d->nr_blocks - 1)) == i &&
		    has_check(r, &p, &crc) &&
		    !is_overwritten(r, seq,
				    r->d->blocks + p.pos % ring_size(r)))
			seqs[nr++] = seq;
	}
	if (!err)
		qsort(seqs, nr, sizeof(*seqs), by_number);
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct piece p = {
			.seq = seqs[i],
			.pos = (seqs[i] - 1) * r->d->block_size,
			.limit = r->d->block_size,
			.closed = true,
		};

		p.at = r->d->blocks + p.pos % ring_size(r);
		r->gap |= r->begun && seqs[i] != seqs[i - 1] + 1;
		err = take(r, &p);
		if (!err)
			err = kt_recover_progress(r->rec, p.limit);
	}
	free(seqs);
	return err;
}

static int take_all(struct ring *r)
{
	if (has_range(r))
		return take_range(r);
	kt_recover_tell(
		r->rec, r->d->page,
		"cpu %u, %s ring: its control page makes no sense: only blocks with a checksum are taken",
		r->d->cpu,
		r->d->kind == KTAPE_RING_EVENT ? "event" : "control");
	r->out->discarded++;
	return take_checked(r);
}

/*
 * Recover a ring.
 * Return: 1, 0 if nothing was ever in it, or negative errno.
 */
int kt_recover_ring(struct kt_recovery *rec,
		    const struct ktape_persist_ring *desc,
		    struct ktape_recover_ring *result)
{
	struct ring r = { .rec = rec, .d = desc, .out = result };
	size_t bytes = desc->nr_blocks * sizeof(*r.checks);
	uint64_t found;
	int err;

	result->cpu = desc->cpu;
	result->kind = desc->kind;
	result->capacity = desc->nr_blocks;
	r.mask = rec->super.pos_bits == 32 ? UINT32_MAX : UINT64_MAX;
	r.checks = malloc(bytes);
	r.block = malloc(desc->block_size);
	err = r.checks && r.block ? 0 : -ENOMEM;
	if (!err)
		err = kt_recover_read(rec, desc->page, &r.page, sizeof(r.page));
	if (!err)
		err = kt_recover_read(rec, desc->checks, r.checks, bytes);
	if (!err) {
		err = take_all(&r);
	} else if (err == -EBADMSG) {
		kt_recover_tell(rec, desc->page,
				"cpu %u, %s ring: it is not there", desc->cpu,
				desc->kind == KTAPE_RING_EVENT ? "event" :
								 "control");
		result->discarded++;
		err = 0;
	}
	free(r.block);
	free(r.checks);
	found = result->checked + result->unchecked + result->open +
		result->discarded;
	return err ? err : found > 0;
}
