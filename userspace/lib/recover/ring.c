// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Recover one ring: find its valid blocks, and the valid records of each.
 *
 * If the positions in the control page are valid, the blocks in [tail, commit) are
 * taken.  The block that contains commit was being written, all others were closed.
 * If the positions are not valid, only blocks with a right checksum are taken, in the
 * order of their sequence numbers.
 */
#include "util/crc32c.h"
#include "util/words.h"
#include "stream/packet.h"
#include "recover/internal.h"

/**
 * struct ring - a ring that is being recovered
 * @rec: the recovery
 * @d: entry of the ring in the table, validated
 * @out: result for the caller
 * @page: control page
 * @checks: checksums of the blocks
 * @pos32: the ring is of a 32-bit kernel, see util/words.h
 * @low: oldest position that was neither cleared nor overwritten
 * @commit: position after the last published record
 * @block: buffer for a block
 * @begun: a packet was delivered
 * @gap: blocks were left out since the last packet
 * @ts: end time of the last packet, in ticks
 * @held: the last record of the last packet was later than the packet's end, because
 *	the clock stepped back
 * @base_lost: events lost before the first packet
 * @base_count: records written before the first packet
 * @records: records delivered
 * @missed: records of blocks that were left out
 * @reported: losses that the packets have reported so far
 */
struct ring {
	struct kt_recovery *rec;
	const struct ktape_persist_ring *d;
	struct ktape_recover_ring *out;
	struct ktape_ring_page page;
	struct ktape_persist_check *checks;
	bool pos32;
	uint64_t low;
	uint64_t commit;
	uint8_t *block;
	bool begun;
	bool gap;
	uint64_t ts;
	bool held;
	uint64_t base_lost;
	uint64_t base_count;
	uint64_t records;
	uint64_t missed;
	uint64_t reported;
};

/**
 * struct ring_block - a block that is to be recovered
 * @pos: position in the ring
 * @seq: sequence number that the block must have
 * @at: offset in the region
 * @limit: bytes that were published
 * @from: bytes at the beginning that were cleared
 * @closed: the block was closed, because the next one was begun
 * @checked: the block has a checksum, and the checksum is right
 */
struct ring_block {
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

/* Report and count a block that is left out.  Return: false. */
static bool leave_block_out(struct ring *r, const struct ring_block *p,
			    const char *why)
{
	kt_recover_report(r->rec, p->at, "cpu %u, %s ring, block %llu: %s",
			  r->d->cpu,
			  r->d->kind == KTAPE_RING_EVENT ? "event" : "control",
			  (unsigned long long)p->seq, why);
	r->out->discarded++;
	r->gap = true;
	return false;
}

/* Check whether the block's entry in the table of checksums is valid. */
static bool has_check(const struct ring *r, const struct ring_block *p, uint32_t *crc)
{
	uint32_t slot = (uint32_t)(p->pos / r->d->block_size) &
			(r->d->nr_blocks - 1);
	const uint8_t *c = (const uint8_t *)&r->checks[slot];

	*crc = kt_get32(c + offsetof(struct ktape_persist_check, crc32c));
	return kt_get64(c) == p->seq &&
	       kt_crc32c(0, c, offsetof(struct ktape_persist_check, check)) ==
		       kt_get32(c + offsetof(struct ktape_persist_check, check));
}

/*
 * Read the rest of a block.  Called only if its header is valid, to save time.
 * Return: 1, 0 if it is left out, or negative errno.
 */
static int load_rest(struct ring *r, const struct ring_block *p)
{
	int err = kt_recover_read(r->rec, p->at + KTAPE_BLOCK_HEADER,
				  r->block + KTAPE_BLOCK_HEADER,
				  p->limit - KTAPE_BLOCK_HEADER);

	if (err == -EBADMSG)
		return leave_block_out(r, p, "not in the input");
	return err ? err : 1;
}

/*
 * Read a block and check its header.  @limit of a closed block becomes the length of its content.
 * Return: 1, 0 if it is left out, or negative errno.
 */
static int load_block(struct ring *r, struct ring_block *p)
{
	const struct kt_recovery *rec = r->rec;
	const uint8_t *b = r->block;
	uint64_t bits;
	int err;

	memset(r->block, 0, KTAPE_BLOCK_HEADER);
	err = kt_recover_read(rec, p->at, r->block,
			      kt_min(p->limit, KTAPE_BLOCK_HEADER));
	if (err)
		return err == -EBADMSG ?
			       leave_block_out(r, p, "not in the input") :
			       err;
	if (p->limit < KTAPE_BLOCK_HEADER || KT_HEAD32(b, magic) != KTAPE_BLOCK_MAGIC)
		return leave_block_out(r, p, "no packet header");
	if (memcmp(b + offsetof(struct ktape_block, uuid), rec->super.uuid, 16))
		return leave_block_out(r, p, "belongs to another trace");
	if (KT_HEAD64(b, seq) != p->seq)
		return leave_block_out(r, p, "wrong sequence number");
	if (KT_HEAD32(b, cpu) != r->d->cpu || KT_HEAD32(b, kind) != r->d->kind)
		return leave_block_out(r, p, "belongs to another ring");
	if (!p->closed)
		return load_rest(r, p);
	bits = KT_HEAD64(b, content_bits);
	if (bits % 64 || bits / 8 < KTAPE_BLOCK_HEADER || bits / 8 > p->limit)
		return leave_block_out(r, p, "invalid length");
	p->limit = bits / 8;
	return load_rest(r, p);
}

/*
 * Check the checksum of a closed block, if it has one, and set @checked if it is right.
 * Return: false if it is wrong; then the block is left out.
 */
static bool check_block(struct ring *r, struct ring_block *p)
{
	uint32_t crc;

	if (!p->closed || !has_check(r, p, &crc))
		return true;
	p->checked = kt_crc32c(0, r->block, p->limit) == crc;
	return p->checked || leave_block_out(r, p, "wrong checksum");
}

/* Return a value of the control page; @of has its upper word. */
static uint64_t page_value(const struct ring *r, __u64 value, __u64 of)
{
	return kt_wide_of(le64toh(value), le64toh(of), r->pos32);
}

static uint64_t sum_classes(const struct ring *r, const __u64 *counts)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		total += page_value(r, counts[i], counts[i]);
	return total;
}

/* Fill the header members that the kernel writes when it closes a block. */
static void close_recovered_head(struct ring *r, uint64_t ts)
{
	size_t at = offsetof(struct ktape_block, lost);
	uint64_t lost, all = 0;

	KT_HEAD_SET64(r->block, emitted, sum_classes(r, r->page.emitted));
	KT_HEAD_SET64(r->block, filtered, sum_classes(r, r->page.filtered));
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++, at += 8) {
		lost = sum_classes(r, r->page.lost[i]);
		kt_set64(r->block + at, lost);
		all += lost;
	}
	KT_HEAD_SET64(r->block, discarded, all);
	KT_HEAD_SET64(r->block, ts_end, ts);
}

/* Return the number of records written when a block was closed, from its header. */
static uint64_t recovered_head_count(const uint8_t *head)
{
	uint64_t count = KT_HEAD64(head, emitted) - KT_HEAD64(head, filtered);

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		count -= KT_HEAD64(head, lost[i]);
	return count;
}

/* Return the losses since the start of the trace, including blocks left out. */
static uint64_t count_losses(struct ring *r, const struct ring_block *p,
			     uint64_t records)
{
	uint64_t lost = KT_HEAD64(r->block, discarded);
	uint64_t count = recovered_head_count(r->block);
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
	/* Without a checksum, do not trust the counter: a later block repeats it. */
	if (p->closed && !p->checked)
		lost = 0;
	r->reported = kt_max(r->reported, lost + r->missed);
	return r->reported;
}

/* Result of reading the records of a block. */
struct walk {
	uint64_t from;	  /* offset of the first record not cleared */
	uint64_t from_ts; /* time of the record before it */
	uint64_t end;	  /* offset after the last valid record */
	uint64_t ts;	  /* time of the last valid record */
	uint64_t events;  /* records that are not time extensions */
	bool whole;	  /* all records are valid */
	bool steps;	  /* the clock steps back between two records */
};

/* Read the records of a block up to the first invalid one.  Return: 0, or error of its header. */
static int walk_records(struct ring *r, const struct ring_block *p, struct walk *w)
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

/* Remove the cleared records from the block. */
static void drop_cleared(struct ring *r, struct walk *w)
{
	uint64_t skip = w->from - KTAPE_BLOCK_HEADER;

	if (!skip)
		return;
	memmove(r->block + KTAPE_BLOCK_HEADER, r->block + w->from, w->end - w->from);
	w->end -= skip;
	KT_HEAD_SET64(r->block, ts_begin, w->from_ts);
	r->block[offsetof(struct ktape_block, context)] = KTAPE_CTX_UNKNOWN;
}

/* Complete the header and deliver the block as a packet. */
static int deliver_block(struct ring *r, const struct ring_block *p, struct walk *w)
{
	uint8_t *b = r->block;
	bool cleared = w->from > KTAPE_BLOCK_HEADER;
	uint32_t flags = 0;

	r->held = p->closed && w->ts > KT_HEAD64(b, ts_end);
	drop_cleared(r, w);
	if (!p->closed)
		close_recovered_head(r, w->ts);
	flags |= p->closed ? 0 : KTAPE_BLOCK_OPEN;
	flags |= p->checked ? 0 : KTAPE_BLOCK_UNCHECKED;
	flags |= cleared || (r->begun && r->gap) ? KTAPE_BLOCK_GAP : 0;
	KT_HEAD_SET64(b, discarded, count_losses(r, p, w->events));
	KT_HEAD_SET64(b, ts_end,
		      kt_max(w->ts,
			     w->whole && p->closed ? KT_HEAD64(b, ts_end) : 0));
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

/* Count a block in the result, and report an invalid record in it. */
static void count_block(struct ring *r, const struct ring_block *p,
			const struct walk *w)
{
	r->out->checked += p->checked;
	r->out->unchecked += p->closed && !p->checked;
	r->out->open += !p->closed;
	if (w->whole)
		return;
	r->out->cut++;
	kt_recover_report(
		r->rec, p->at + w->end,
		"cpu %u, %s ring, block %llu: the record here is not valid; only the records before it are kept",
		r->d->cpu, r->d->kind == KTAPE_RING_EVENT ? "event" : "control",
		(unsigned long long)p->seq);
}

/* Check whether the block ends later than the next block, if checked, begins. */
static bool is_beyond_next(struct ring *r, const struct ring_block *p)
{
	uint64_t block_size = r->d->block_size;
	struct ring_block next = {
		.pos = p->pos + block_size,
		.seq = (p->pos + block_size) / block_size + 1,
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

/* Recover one block.  Return: 0 or negative errno. */
static int recover_block(struct ring *r, struct ring_block *p)
{
	struct walk w;
	int ret = load_block(r, p);

	if (ret <= 0)
		return ret;
	if (!check_block(r, p))
		return 0;
	if (r->held)
		KT_HEAD_SET64(r->block, ts_begin,
			      kt_begin_held(KT_HEAD64(r->block, ts_begin), r->ts));
	if (walk_records(r, p, &w))
		return leave_block_out(r, p, "invalid packet header");
	if (KT_HEAD64(r->block, ts_begin) < r->ts)
		return leave_block_out(
			r, p, "begins before the end of the previous block");
	if (p->closed && !p->checked &&
	    ((w.ts > KT_HEAD64(r->block, ts_end) && !w.steps) ||
	     is_beyond_next(r, p)))
		return leave_block_out(
			r, p,
			"the times of its records do not match its header or the next block");
	/* The kernel never seals invalid records: this block is forged. */
	if (!w.whole && p->checked)
		return leave_block_out(r, p, "right checksum, but invalid records");
	if (!w.whole && w.end <= kt_max(w.from, KTAPE_BLOCK_HEADER))
		return leave_block_out(r, p, "its first record is not valid");
	if (p->from && w.end == w.from)
		return 0;
	count_block(r, p, &w);
	return deliver_block(r, p, &w);
}

/* Check tail, floor and commit of the control page, and set @low and @commit. */
static bool has_range(struct ring *r)
{
	uint64_t size = ring_size(r), used, tail, floor;

	r->commit = page_value(r, r->page.commit, r->page.commit);
	tail = page_value(r, r->page.tail, r->page.commit);
	floor = page_value(r, r->page.floor, r->page.floor);
	used = r->commit - tail;
	if (used > size || tail % r->d->block_size || r->commit % 8)
		return false;
	/* Use the later position, unless floor is damaged. */
	r->low = r->commit - floor < used ? floor : tail;
	return r->low % 8 == 0;
}

/* Recover the blocks between @low and @commit. */
static int recover_range(struct ring *r)
{
	uint64_t block_size = r->d->block_size;
	uint64_t pos = r->low & ~(block_size - 1);
	uint64_t left = r->commit - pos;
	int err = 0;

	for (; left && !err; pos += block_size) {
		struct ring_block p = {
			.pos = pos,
			.seq = pos / block_size + 1,
			.at = r->d->blocks + pos % ring_size(r),
			.limit = kt_min(left, block_size),
			.closed = left > block_size,
		};

		/* In the first block only: @low is not after a later @pos, so this wraps around. */
		if (r->low - pos < block_size)
			p.from = r->low - pos;
		err = recover_block(r, &p);
		if (!err)
			err = kt_recover_progress(r->rec, p.limit);
		left -= kt_min(left, block_size);
	}
	return err;
}

/* Check whether a newer block has replaced the block that a checksum is for. */
static bool is_overwritten(const struct ring *r, uint64_t seq, uint64_t at)
{
	uint8_t head[KTAPE_BLOCK_HEADER];

	return !kt_recover_read(r->rec, at, head, sizeof(head)) &&
	       KT_HEAD32(head, magic) == KTAPE_BLOCK_MAGIC &&
	       !memcmp(head + offsetof(struct ktape_block, uuid),
		       r->rec->super.uuid, 16) &&
	       KT_HEAD64(head, seq) > seq;
}

static int compare_seq(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Recover the blocks with a checksum, because the positions are not valid. */
static int recover_checked(struct ring *r)
{
	uint64_t *seqs = calloc(r->d->nr_blocks, sizeof(*seqs));
	uint32_t nr = 0, crc;
	int err = seqs ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < r->d->nr_blocks && !err; i++) {
		uint64_t seq = kt_get64(&r->checks[i].seq);
		const struct ring_block p = {
			.seq = seq,
			.pos = (seq - 1) * r->d->block_size,
		};

		/* The slot of a checksum follows from the sequence number. */
		if (seq && ((seq - 1) & (r->d->nr_blocks - 1)) == i &&
		    has_check(r, &p, &crc) &&
		    !is_overwritten(r, seq, r->d->blocks + p.pos % ring_size(r)))
			seqs[nr++] = seq;
	}
	if (!err)
		qsort(seqs, nr, sizeof(*seqs), compare_seq);
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct ring_block p = {
			.seq = seqs[i],
			.pos = (seqs[i] - 1) * r->d->block_size,
			.limit = r->d->block_size,
			.closed = true,
		};

		p.at = r->d->blocks + p.pos % ring_size(r);
		r->gap |= r->begun && seqs[i] != seqs[i - 1] + 1;
		err = recover_block(r, &p);
		if (!err)
			err = kt_recover_progress(r->rec, p.limit);
	}
	free(seqs);
	return err;
}

static int recover_blocks(struct ring *r)
{
	if (has_range(r))
		return recover_range(r);
	kt_recover_report(
		r->rec, r->d->page,
		"cpu %u, %s ring: the positions in its control page are not valid; only blocks with a checksum are taken",
		r->d->cpu, r->d->kind == KTAPE_RING_EVENT ? "event" : "control");
	r->out->discarded++;
	return recover_checked(r);
}

/*
 * Recover a ring.
 * Return: 1, 0 if nothing was ever recorded in the ring, or negative errno.
 */
int kt_recover_ring(struct kt_recovery *rec, const struct ktape_persist_ring *desc,
		    struct ktape_recover_ring *result)
{
	struct ring r = { .rec = rec, .d = desc, .out = result };
	size_t bytes = desc->nr_blocks * sizeof(*r.checks);
	uint64_t found;
	int err;

	result->cpu = desc->cpu;
	result->kind = desc->kind;
	result->capacity = desc->nr_blocks;
	r.pos32 = rec->super.pos_bits == 32;
	r.checks = malloc(bytes);
	r.block = malloc(desc->block_size);
	err = r.checks && r.block ? 0 : -ENOMEM;
	if (!err)
		err = kt_recover_read(rec, desc->page, &r.page, sizeof(r.page));
	if (!err)
		err = kt_recover_read(rec, desc->checks, r.checks, bytes);
	if (!err) {
		err = recover_blocks(&r);
	} else if (err == -EBADMSG) {
		kt_recover_report(rec, desc->page,
				  "cpu %u, %s ring: not in the input", desc->cpu,
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
