// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queues of records that wait to be delivered, one for each CPU, and the heap of those queues
 * that is ordered by their first records.
 */
#include "reader.h"

#define FIFO_MIN  4096U	      /* bytes allocated for a new queue */
#define FIFO_KEPT (64U << 10) /* bytes that an empty queue keeps */

/* Head of a record in a queue; its arguments, blob, extra and raw bytes follow. */
struct entry {
	uint64_t ts;
	uint32_t size; /* bytes with all that follows */
	uint32_t cpu;
	int32_t tid;
	uint32_t dat20;
	uint32_t blob_size;
	uint32_t extra_size;
	uint32_t raw_size;
	uint8_t kind;
	uint8_t opcode;
	uint8_t nargs;
	bool has_blob;
};

/* Make room for @need bytes at the end of a queue.  Return: 0 or -ENOMEM. */
static int grow_fifo(struct kt_fifo *fifo, size_t need)
{
	size_t cap = fifo->cap ? fifo->cap : FIFO_MIN;
	uint8_t *buf;

	if (fifo->head && fifo->head >= fifo->len / 2) {
		memmove(fifo->buf, fifo->buf + fifo->head, fifo->len - fifo->head);
		fifo->len -= fifo->head;
		fifo->head = 0;
	}
	if (fifo->cap - fifo->len >= need)
		return 0;
	while (cap - fifo->len < need)
		cap *= 2;
	buf = realloc(fifo->buf, cap);
	if (!buf)
		return -ENOMEM;
	fifo->buf = buf;
	fifo->cap = cap;
	return 0;
}

/*
 * Shrink a queue that is mostly empty.  The window bounds the records in all queues, but
 * over time each queue may hold a whole window: if buffers were never shrunk, memory
 * would grow to the window times the number of CPUs.
 */
void kt_fifo_shrink(struct kt_fifo *fifo)
{
	size_t there = fifo->len - fifo->head;
	uint8_t *buf;

	if (fifo->cap <= FIFO_KEPT || there > fifo->cap / 8)
		return;
	memmove(fifo->buf, fifo->buf + fifo->head, there);
	fifo->head = 0;
	fifo->len = there;
	buf = realloc(fifo->buf, fifo->cap / 4);
	if (!buf) /* keep the larger one */
		return;
	fifo->buf = buf;
	fifo->cap /= 4;
}

/* Return the queue for records of a CPU; without a window there is one for all. */
static struct kt_fifo *fifo_of(struct kt_import *s, uint32_t cpu)
{
	size_t nr = s->window ? (size_t)cpu + 1 : 1;
	struct kt_fifo *more;

	if (nr <= s->nr_fifos)
		return &s->fifos[nr - 1];
	more = realloc(s->fifos, nr * sizeof(*more));
	if (!more)
		return NULL;
	memset(more + s->nr_fifos, 0, (nr - s->nr_fifos) * sizeof(*more));
	s->fifos = more;
	s->nr_fifos = nr;
	return &more[nr - 1];
}

/*
 * Put a record into the queue of its CPU.
 * Return: 0, -ENOMEM, or with a window -EBADMSG if it is earlier than the one before.
 */
int kt_fifo_put(struct kt_import *s, const struct kt_delivery *f)
{
	struct entry e = {
		.ts = f->ts,
		.cpu = f->cpu,
		.tid = f->tid,
		.dat20 = f->dat20,
		.kind = f->kind,
		.opcode = f->opcode,
		.nargs = f->nargs,
		.has_blob = f->blob,
		.blob_size = f->blob ? f->blob_size : 0,
		.extra_size = f->extra ? f->extra_size : 0,
		.raw_size = f->raw ? f->raw_size : 0,
	};
	size_t blob = kt_align(e.blob_size, 4),
	       extra = kt_align(e.extra_size, 4), size;
	struct kt_fifo *fifo = fifo_of(s, f->cpu);
	uint8_t *p;
	int err;

	if (!fifo)
		return -ENOMEM;
	if (s->window && fifo->begun && f->ts < fifo->last_ts)
		return kt_import_fail(
			s, s->in->offset,
			"Trace event time stamps for core %u are out of order",
			f->cpu);
	size = kt_align(sizeof(e) + f->nargs * 4U + blob + extra + e.raw_size, 8);
	e.size = (uint32_t)size;
	err = grow_fifo(fifo, size);
	if (err)
		return err;
	p = fifo->buf + fifo->len;
	memset(p, 0, size);
	memcpy(p, &e, sizeof(e));
	p += sizeof(e);
	for (unsigned int i = 0; i < f->nargs; i++, p += 4)
		kt_set32(p, f->args[i]);
	if (e.blob_size)
		memcpy(p, f->blob, e.blob_size);
	if (e.extra_size)
		memcpy(p + blob, f->extra, e.extra_size);
	if (e.raw_size)
		memcpy(p + blob + extra, f->raw, e.raw_size);
	fifo->len += size;
	fifo->last_ts = f->ts;
	fifo->begun = true;
	s->queued += size;
	return fifo->queued ? 0 : kt_fifo_enter_heap(s, fifo);
}

/* Return the time of the first record in a queue. */
uint64_t kt_fifo_ts(const struct kt_fifo *fifo)
{
	struct entry e;

	memcpy(&e, fifo->buf + fifo->head, sizeof(e));
	return e.ts;
}

/*
 * Make the first record of a queue the trace's event.  The event points into the queue: the record
 * stays there, and nothing may be put, until drop_current() (reader.c) removes it by @s->current
 * and @s->taken.
 */
void kt_fifo_take(struct kt_import *s, struct kt_fifo *fifo)
{
	const uint8_t *p = fifo->buf + fifo->head;
	struct entry e;

	memcpy(&e, p, sizeof(e));
	p += sizeof(e);
	s->event = (struct ktape_event){
		.ts = e.ts,
		.args = p,
		.blob_size = e.blob_size,
		.dat20 = e.dat20,
		.cpu = e.cpu,
		.tid = e.tid,
		.kind = e.kind,
		.opcode = e.opcode,
		.nargs = e.nargs,
		.known = true,
	};
	p += e.nargs * 4U;
	/* The size that the record would have in a native trace. */
	s->event.size = 8 + e.nargs * 4U;
	if (e.has_blob) {
		s->event.blob = p;
		s->event.size += 4 + e.blob_size;
	}
	s->event.size = (uint32_t)kt_align(s->event.size, KTAPE_RECORD_ALIGN);
	p += kt_align(e.blob_size, 4);
	if (e.extra_size) {
		s->event.extra = p;
		s->event.extra_size = e.extra_size;
	}
	s->raw = p + kt_align(e.extra_size, 4);
	s->raw_size = e.raw_size;
	s->current = fifo;
	s->taken = e.size;
}

/* Order two queues by their first record; at equal times the lower CPU comes first. */
static bool is_before(const struct kt_import *s, uint32_t a, uint32_t b)
{
	uint64_t ts_a = kt_fifo_ts(&s->fifos[a]);
	uint64_t ts_b = kt_fifo_ts(&s->fifos[b]);

	return ts_a != ts_b ? ts_a < ts_b : a < b;
}

/* Put a queue that has records, and is not in the heap, into it.  Return: 0 or -ENOMEM. */
int kt_fifo_enter_heap(struct kt_import *s, struct kt_fifo *fifo)
{
	uint32_t nr = (uint32_t)(fifo - s->fifos), *more;
	size_t at = s->nr_heap;

	if (at == s->heap_room) {
		more = realloc(s->heap, (at * 2 + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->heap = more;
		s->heap_room = at * 2 + 1;
	}
	s->nr_heap++;
	for (; at && is_before(s, nr, s->heap[(at - 1) / 2]); at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = nr;
	fifo->queued = true;
	return 0;
}

/* Remove the queue with the earliest first record from the heap; NULL if it is empty. */
struct kt_fifo *kt_fifo_take_earliest(struct kt_import *s)
{
	uint32_t first, last;
	size_t at = 0, child;

	if (!s->nr_heap)
		return NULL;
	first = s->heap[0];
	last = s->heap[--s->nr_heap];
	while ((child = at * 2 + 1) < s->nr_heap) {
		if (child + 1 < s->nr_heap &&
		    is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], last))
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
	s->fifos[first].queued = false;
	return &s->fifos[first];
}
