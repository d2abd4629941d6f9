// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read a rig's ring (a ring with a writer that numbers its records: rig.h) as a program
 * would, by the protocol of uapi/ktape/abi.h, and check every byte.
 */
#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NOWHERE 1ULL /* a position at which no block begins */

__attribute__((format(printf, 2, 3))) static bool
reader_wrong(struct reader *rd, const char *format, ...)
{
	va_list args;

	if (rd->error[0])
		return false;
	va_start(args, format);
	vsnprintf(rd->error, sizeof(rd->error), format, args);
	va_end(args);
	return false;
}

/*
 * Load a position as a program does from a mapped control page: on 32-bit kernels
 * from two words.
 */
static u64 load_page_position(const struct rig *rig, const u64 *position)
{
	return kt_position(kt_upper_word(&rig->page->commit), position);
}

static u64 oldest_readable(const struct rig *rig)
{
	u64 tail = load_page_position(rig, &rig->page->tail);
	u64 floor = kt_wide_load(&rig->page->floor);

	return kt_position_before(tail, floor) ? floor : tail;
}

static void forget_sequences(struct reader *rd)
{
	memset(rd->known, 0, sizeof(rd->known));
}

/**
 * reader_start() - begin to read an empty ring
 * @rd: zeroed, or used before
 * @rig: the ring
 */
void reader_start(struct reader *rd, const struct rig *rig)
{
	unsigned char *copy = rd->copy;

	memset(rd, 0, sizeof(*rd));
	rd->copy = copy;
	if (!copy && posix_memalign((void **)&rd->copy, 64, rig->block_size))
		abort();
	rd->rig = rig;
	rd->position = oldest_readable(rig);
	rd->commit = rd->position;
	rd->block = NOWHERE;
	rd->end.position = NOWHERE;
	memset(rd->known, 1, sizeof(rd->known));
}

void reader_free(struct reader *rd)
{
	free(rd->copy);
	rd->copy = NULL;
}

static bool check_header(struct reader *rd, const struct ktape_block *b, u64 start)
{
	const struct rig *rig = rd->rig;
	unsigned int shift = rig->ring.block_shift;

	/* The members hold what rig.c puts in. */
	if (b->magic != KTAPE_BLOCK_MAGIC || b->stream_id || b->reserved0 ||
	    b->flags || b->crc32c || b->reserved1 || b->reserved2 ||
	    b->cpu != 3 || b->kind != KTAPE_RING_EVENT || b->instance != 3 ||
	    b->packet_bits != rig->block_size * 8 || b->seq != (start >> shift) + 1 ||
	    b->sync_clock != b->ts_begin || b->sync_mono_ns != ~b->ts_begin ||
	    b->uuid[15] != 0x5a || b->prio != 120 || b->tid != -1)
		return reader_wrong(rd, "block %#llx: header (magic %x seq %llu)",
				    start, b->magic, b->seq);
	if (rd->end.position == start && b->ts_begin != rd->end.time)
		return reader_wrong(
			rd, "block %#llx begins at %#llx, the one before ended at %#llx",
			start, b->ts_begin, rd->end.time);
	if (rd->block == start && kt_position_before(rd->time, b->ts_begin))
		return reader_wrong(rd, "block %#llx: its begin changed", start);
	return true;
}

/* Check the closing members; they are valid only in blocks before commit. */
static bool check_closing(struct reader *rd, const struct ktape_block *b,
			  u64 start, u64 limit)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += b->lost[i];
	if (limit < KTAPE_BLOCK_HEADER || limit > rd->rig->block_size ||
	    limit % KTAPE_RECORD_ALIGN || limit < rd->position - start ||
	    b->ts_end < b->ts_begin || b->discarded != lost || b->filtered)
		return reader_wrong(
			rd, "block %#llx: closing members (%llu bytes, ends at %#llx)",
			start, limit, b->ts_end);
	if (rd->end.position == start &&
	    (b->emitted < rd->end.emitted || b->discarded < rd->end.discarded))
		return reader_wrong(
			rd, "block %#llx: counts went back (emitted %llu after %llu, discarded %llu after %llu)",
			start, b->emitted, rd->end.emitted, b->discarded,
			rd->end.discarded);
	rd->end.position = start + rd->rig->block_size;
	rd->end.emitted = b->emitted;
	rd->end.discarded = b->discarded;
	rd->end.time = b->ts_end;
	rd->closed++;
	return true;
}

/* Return the bytes of the record at @rec, 0 if it is malformed. */
static u64 size_of_record(const u32 *rec, u64 room)
{
	u32 nargs = rec[1] >> 29;
	u64 size = 8 + nargs * 4;

	if (rec[1] >> 28 & 1) {
		if (size + 4 > room)
			return 0;
		size += 4 + (u64)rec[2 + nargs];
	}
	size = ALIGN(size, KTAPE_RECORD_ALIGN);
	return size <= room ? size : 0;
}

/*
 * Return true if the blob matches its context (task, softirq, irq, NMI: 2 bits) and
 * record number and the padding is zero.
 */
static bool blob_holds(const u32 *rec, u32 nargs, u32 context, u32 seq)
{
	u32 size = rig_blob_size(context, seq), i;
	u32 whole = ALIGN(nargs * 4 + 4 + size, 8) - nargs * 4 - 4;
	const unsigned char *byte = (const unsigned char *)&rec[3 + nargs];

	if (rec[2 + nargs] != size)
		return false;
	for (i = 0; i < whole; i++) {
		u32 word = i < size ? rig_hash(context, seq, 100 + i / 4) : 0;

		if (byte[i] != (word >> i % 4 * 8 & 0xff))
			return false;
	}
	return true;
}

/*
 * Decode the number of a record. Salts and shapes are those of rig.h; the low 18 bits
 * of dat20 are the number itself (shape 0) or a hash. Return: true if the record is
 * intact.
 */
static bool record_seq(const u32 *rec, unsigned int shape, u32 context,
		       u32 next, u32 *seq)
{
	u32 tag = rec[1] >> 8 & 0x3ffff, nargs = shape & 7, i;

	if (shape == 0) { /* 18 bits: the nearest number after @next */
		*seq = next + ((tag - next) & 0x3ffff);
		return true;
	}
	*seq = rec[2];
	if (tag != (rig_hash(context, *seq, shape) & 0x3ffff))
		return false;
	for (i = 1; i < nargs; i++)
		if (rec[2 + i] != rig_hash(context, *seq, i))
			return false;
	if (shape >= RIG_BLOB)
		return blob_holds(rec, nargs, context, *seq);
	/* An odd number of words is padded with 0. */
	return !(nargs & 1) || !rec[2 + nargs];
}

static bool reader_check_record(struct reader *rd, const u32 *rec)
{
	u32 opcode = rec[1] & 0xff, shape = opcode - RIG_OPCODE;
	u32 context = rec[1] >> 26 & 3, nargs = rec[1] >> 29;
	u32 seq, gap;

	/* RIG_BLOB alone, a blob without arguments, is never written. */
	if (shape >= RIG_SHAPES || shape == RIG_BLOB || nargs != (shape & 7) ||
	    (rec[1] >> 28 & 1) != (shape >= RIG_BLOB))
		return reader_wrong(rd, "torn record: code %#x", rec[1]);
	if (shape == 0 && !rd->known[context])
		return true;
	if (!record_seq(rec, shape, context, rd->next[context], &seq))
		return reader_wrong(rd, "torn record: code %#x, context %u, number %u",
				    rec[1], context, rec[2]);
	if (rd->known[context]) {
		gap = seq - rd->next[context];
		if (gap > 1U << 31 || (gap && rd->strict))
			return reader_wrong(rd, "context %u: number %u where %u was due",
					    context, seq, rd->next[context]);
		rd->missing += gap;
	}
	rd->known[context] = true;
	rd->next[context] = seq + 1;
	return true;
}

static bool check_extend(struct reader *rd, const u32 *rec)
{
	u64 time = (u64)rec[3] << 32 | rec[2];

	if (rec[1] != KT_CODE(KTAPE_TIME_EXTEND, 0, 0, 4) || rec[0] != rec[2] ||
	    rec[4] || rec[5])
		return reader_wrong(rd, "torn time extension");
	if (time < rd->time)
		return reader_wrong(rd, "time extension back to %#llx from %#llx",
				    time, rd->time);
	rd->time = time;
	rd->extends++;
	return true;
}

static bool check_records(struct reader *rd, u64 from, u64 limit)
{
	while (from < limit) {
		const u32 *rec = (const u32 *)(rd->copy + from);
		u64 size = size_of_record(rec, limit - from);
		/* The ring writes a time extension before the low half wraps. */
		u64 time = (rd->time & ~0xffffffffULL) | rec[0];

		if (!size)
			return reader_wrong(rd, "record does not fit: code %#x",
					    rec[1]);
		from += size;
		if ((rec[1] & 0xff) == KTAPE_TIME_EXTEND) {
			if (!check_extend(rd, rec))
				return false;
			continue;
		}
		/* The clock may have stepped back: then the record keeps the time before. */
		if (rd->steps)
			time = kt_record_time(rd->time, rec);
		if (time < rd->time)
			return reader_wrong(rd, "time went back to %#llx from %#llx",
					    time, rd->time);
		rd->time = time;
		if (!reader_check_record(rd, rec))
			return false;
		rd->records++;
		if (rd->on_record)
			rd->on_record(rd, rec, time);
	}
	return true;
}

static void skip_to(struct reader *rd, u64 position)
{
	rd->skipped += position - rd->position;
	rd->position = position;
	forget_sequences(rd);
}

/* Read on in one block. Return: false after an error. */
static bool read_block(struct reader *rd, u64 commit)
{
	const struct rig *rig = rd->rig;
	u64 bs = rig->block_size, start = rd->position & ~(bs - 1);
	u64 from = rd->position - start, limit, tail;
	const unsigned char *block =
		rig->base[(start >> rig->ring.block_shift) & (rig->nr_blocks - 1)];
	const struct ktape_block *b = (const void *)rd->copy;
	bool closed = kt_position_before(start + bs, commit);

	limit = closed ? bs : commit - start;
	if (from < KTAPE_BLOCK_HEADER)
		from = KTAPE_BLOCK_HEADER;
	memcpy(rd->copy, block, KTAPE_BLOCK_HEADER);
	if (limit > from)
		memcpy(rd->copy + from, block + from, limit - from);
	/* Look at tail again: what it has passed was overwritten during the copy. */
	smp_rmb();
	tail = oldest_readable(rig);
	if (kt_position_before(start, tail)) {
		rd->rejected++;
		skip_to(rd, tail);
		return true;
	}
	if (!check_header(rd, b, start))
		return false;
	if (rd->block != start || rd->position == start) {
		rd->time = b->ts_begin;
		rd->block = start;
	}
	if (closed) {
		limit = b->content_bits / 8;
		if (!check_closing(rd, b, start, limit))
			return false;
	}
	if (!check_records(rd, from, limit))
		return false;
	if (closed && rd->time > b->ts_end)
		return reader_wrong(
			rd, "block %#llx ends at %#llx, before its last record",
			start, b->ts_end);
	rd->position = closed ? start + bs : commit;
	return true;
}

/**
 * reader_poll() - read and check all new records
 * @rd: the reader
 *
 * Return: false after an error, now or before.
 */
bool reader_poll(struct reader *rd)
{
	u64 commit = load_page_position(rd->rig, &rd->rig->page->commit);
	u64 tail = oldest_readable(rd->rig);

	if (rd->error[0])
		return false;
	if (kt_position_before(commit, rd->commit))
		return reader_wrong(rd, "commit went back from %#llx to %#llx",
				    rd->commit, commit);
	rd->commit = commit;
	if (kt_position_before(rd->position, tail))
		skip_to(rd, tail);
	while (kt_position_before(rd->position, commit))
		if (!read_block(rd, commit))
			return false;
	return true;
}

/**
 * reader_walk() - read and check everything that the ring holds
 * @rd: the reader; its counts continue, its position starts again
 *
 * Return: false if anything was wrong.
 */
bool reader_walk(struct reader *rd)
{
	forget_sequences(rd);
	rd->position = oldest_readable(rd->rig);
	rd->block = NOWHERE;
	rd->end.position = NOWHERE;
	return reader_poll(rd);
}
