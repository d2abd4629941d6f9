// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Pages of ftrace's ring buffer, which trace-cmd copies: records one by one.
 *
 *	page	| time 64 | commit | record | record | ... |
 *	commit	= bytes in use, bits 0-26; bit 31: events were overwritten before this page;
 *		  bit 30: their number is behind the last record
 *	record	| type 5, delta 27 | ... |
 *		type 1-28: 4 * type bytes; 0: the length is in the next word; 29: padding;
 *		30: the next word and delta extend the time; 31: they are the time
 *
 * With compression a CPU has chunks of whole pages: count 32, then for each chunk its
 * compressed size, its size, and the bytes.
 *
 * The functions kt_tp_*() (format/tracepoint.h) are those that the readers of all Linux
 * tracers share.
 */
#include "util/nanoseconds.h"
#include "util/wide.h"

#include "internal.h"

#define TYPE_LENGTH   28U
#define TYPE_PADDING  29U
#define TYPE_EXTEND   30U
#define TYPE_STAMP    31U
#define DELTA_BITS    27U
#define COMMIT_MASK   ((1U << 27) - 1)
#define MISSED	      (1U << 31)
#define MISSED_STORED (1U << 30)
#define STAMP_HIGH \
	(0xf8ULL << 56) /* bits that an absolute time does not have */
#define CHUNK_MAX \
	(256U << 20) /* bytes that a chunk may have: far more than trace-cmd writes */

/* Return ts * mult >> shift, of a product of 96 bits. */
static uint64_t scale_ticks(uint64_t ts, uint32_t mult, uint32_t shift)
{
	uint64_t low = (ts & UINT32_MAX) * mult, high = (ts >> 32) * mult;

	if (shift <= 32)
		return (high << (32 - shift)) + (low >> shift);
	return (high + (low >> 32)) >> (shift - 32);
}

/* Convert the time of a record to ns. */
uint64_t tc_time(const struct tc *t, uint64_t ts)
{
	if (t->mult)
		ts = scale_ticks(ts, t->mult, t->tsc_shift);
	else if (t->hz)
		ts = kt_mul_div(ts, NS_PER_S, t->hz);
	return ts + (uint64_t)t->offset_ns;
}

/* ---- chunks and pages ------------------------------------------------------------------ */

/*
 * Make room for @size bytes of a CPU's page or chunk.  All CPUs together get TC_BUFFERED_MAX,
 * because a damaged file can claim any size.
 */
static int make_page_room(struct kt_import *s, struct tc_cpu *c, size_t size)
{
	struct tc *t = s->state;
	uint8_t *more;

	if (c->chunk_cap >= size)
		return 0;
	t->buffered += size - c->chunk_cap;
	if (t->buffered > TC_BUFFERED_MAX)
		return kt_import_fail(s, c->offset,
				      "the chunks of all CPUs need more than %llu MB",
				      TC_BUFFERED_MAX >> 20);
	more = realloc(c->chunk, size);
	if (!more)
		return -ENOMEM;
	c->chunk = more;
	c->chunk_cap = size;
	return 0;
}

/*
 * Leave out the rest of the CPU, and report it as lost.
 * Return: 0, as at the CPU's end, or negative errno.
 */
static int give_up(struct kt_import *s, struct tc_cpu *c, uint64_t offset,
		   const char *why)
{
	struct tc *t = s->state;

	kt_import_bad(s, offset, "CPU %u: %s", c->cpu, why);
	c->offset = c->end;
	c->chunks = 0;
	c->chunk_at = c->chunk_len = 0;
	return kt_tp_lost(&t->tp, c->cpu, 0, tc_time(t, c->time),
			  tc_time(t, c->time));
}

/* Unpack the next chunk.  Return: 1, 0 at the end, or negative errno. */
static int next_chunk(struct kt_import *s, struct tc_cpu *c)
{
	uint8_t head[8], *packed;
	uint64_t from = c->offset;
	uint32_t size, unpacked;
	ssize_t got;
	int err;

	if (!c->chunks || c->offset >= c->end)
		return 0;
	got = kt_pread_all(c->file->fd, head, sizeof(head), c->offset);
	if (got < 0)
		return (int)got;
	size = kt_load32(head, c->form->big);
	unpacked = kt_load32(head + 4, c->form->big);
	if (got < (ssize_t)sizeof(head) || size > CHUNK_MAX ||
	    unpacked > CHUNK_MAX || size > c->file->size - c->offset - 8)
		return give_up(s, c, from,
			       "the size of a compressed chunk is wrong");
	packed = malloc(size ? size : 1);
	err = packed ? make_page_room(s, c, unpacked) : -ENOMEM;
	got = err ? err : kt_pread_all(c->file->fd, packed, size, c->offset + 8);
	if (got < 0) {
		free(packed);
		return (int)got;
	}
	err = tc_unpack(s->state, c->chunk, unpacked, packed, (size_t)got);
	free(packed);
	if (err == -EBADMSG)
		return give_up(s, c, from, "a compressed chunk is damaged");
	if (err)
		return err;
	c->page_offset = c->offset;
	c->offset += 8 + size;
	c->chunks--;
	c->chunk_len = unpacked;
	c->chunk_at = 0;
	return 1;
}

/* Read the next page.  Return: 1, 0 at the end, or negative errno. */
static int read_page(struct kt_import *s, struct tc_cpu *c)
{
	int err = make_page_room(s, c, c->page_size);
	ssize_t got;

	if (err || c->offset >= c->end)
		return err;
	got = kt_pread_all(c->file->fd, c->chunk, c->page_size, c->offset);
	if (got < 0)
		return (int)got;
	c->page_offset = c->offset;
	c->offset += c->page_size;
	c->chunk_len = (size_t)got;
	c->chunk_at = 0;
	return got > 0;
}

/*
 * If events were overwritten before the page, deliver that as a loss.  Their number, if the page
 * has it, is added to @c->missed.
 */
static int report_page_missed(struct kt_import *s, struct tc_cpu *c,
			      uint64_t commit, uint64_t before)
{
	uint64_t count = 0, offset = c->form->data + c->used;
	uint64_t now = kt_load64(c->page, c->form->big);
	struct tc *t = s->state;

	if (!(commit & MISSED))
		return 0;
	if (commit & MISSED_STORED && offset + c->form->long_size <= c->page_size)
		count = c->form->long_size == 8 ?
				kt_load64(c->page + offset, c->form->big) :
				kt_load32(c->page + offset, c->form->big);
	c->missed += count;
	before = c->begun ? tc_time(t, before) : 0;
	return kt_tp_lost(&t->tp, c->cpu, count, before, tc_time(t, now));
}

/* Begin the next page.  Return: 1, 0 at the end, or negative errno. */
static int next_page(struct kt_import *s, struct tc_cpu *c)
{
	uint64_t before = c->time, commit;
	int ret = 1, err;

	if (c->chunk_at >= c->chunk_len)
		ret = c->packed ? next_chunk(s, c) : read_page(s, c);
	if (ret <= 0)
		return ret;
	if (c->chunk_len - c->chunk_at < c->page_size)
		return give_up(s, c, c->page_offset, "the last page is cut off");
	c->page = c->chunk + c->chunk_at;
	c->chunk_at += c->page_size;
	commit = c->form->long_size == 8 ?
			 kt_load64(c->page + c->form->commit, c->form->big) :
			 kt_load32(c->page + c->form->commit, c->form->big);
	c->at = 0;
	c->used = (uint32_t)(commit & COMMIT_MASK);
	if (c->used > c->page_size - c->form->data) {
		struct tc *t = s->state;

		c->used = 0;
		/* Its events are missing: which thread runs is not known. */
		kt_tp_forget(&t->tp, c->cpu);
		kt_import_bad(s, c->page_offset,
			      "CPU %u: a page has more bytes than it can hold",
			      c->cpu);
		return 1;
	}
	err = report_page_missed(s, c, commit, before);
	c->time = kt_load64(c->page, c->form->big);
	return err ? err : 1;
}

/* ---- records ------------------------------------------------------------------------------ */

/* Complete an absolute time, which has 59 bits, by the highest bits of the time before it. */
static uint64_t whole_stamp(uint64_t before, uint64_t time)
{
	return time | (before & STAMP_HIGH);
}

/*
 * Take the record at @c->at.
 * Return: 1 for an event, 0 for padding or time, -EBADMSG if it goes beyond the page.
 */
static int take_page_record(struct tc_cpu *c)
{
	const uint8_t *p = c->page + c->form->data + c->at;
	uint32_t left = c->used - c->at, word, type, delta, length;

	if (left < 4)
		return -EBADMSG;
	word = kt_load32(p, c->form->big);
	type = c->form->big ? word >> DELTA_BITS : word & 31;
	delta = c->form->big ? word & ((1U << DELTA_BITS) - 1) : word >> 5;
	if (type && type <= TYPE_LENGTH) {
		c->time += delta;
		c->data = p + 4;
		c->len = type * 4;
		c->at += 4 + c->len;
		return c->at > c->used ? -EBADMSG : 1;
	}
	if (type == TYPE_PADDING && !delta) { /* the rest of the page */
		c->at = c->used;
		return 0;
	}
	if (left < 8)
		return -EBADMSG;
	length = kt_load32(p + 4, c->form->big);
	switch (type) {
	case 0:
		length &= ~3U;
		if (length < 4 || length > left - 4)
			return -EBADMSG;
		c->time += delta;
		c->data = p + 8;
		c->len = length - 4;
		c->at += 4 + length;
		return 1;
	case TYPE_PADDING:
		if (length > left - 4)
			return -EBADMSG;
		c->time += delta;
		c->at += 4 + (length ? length : 4);
		return 0;
	case TYPE_EXTEND:
		c->time += (uint64_t)length << DELTA_BITS | delta;
		break;
	case TYPE_STAMP:
		c->time = whole_stamp(c->time,
				      (uint64_t)length << DELTA_BITS | delta);
		break;
	}
	c->at += 8;
	return 0;
}

/**
 * tc_next() - find the next event of a CPU
 * @s: the trace
 * @c: the CPU; @c->data, @c->len and the time of @c->next_event, in units of the trace clock,
 *	are set
 *
 * Return: 1, 0 at the end, or negative errno.
 */
int tc_next(struct kt_import *s, struct tc_cpu *c)
{
	int ret;

	for (;;) {
		if (!c->page || c->at >= c->used) {
			ret = next_page(s, c);
			if (ret <= 0)
				return ret;
			continue;
		}
		ret = take_page_record(c);
		if (ret == -EBADMSG) {
			kt_import_bad(s, c->page_offset,
				      "CPU %u: a record goes beyond its page",
				      c->cpu);
			c->at = c->used;
			continue;
		}
		if (ret)
			break;
	}
	c->next_event.ts = c->time;
	if (!c->begun)
		c->first = c->time;
	c->begun = true;
	return 1;
}
