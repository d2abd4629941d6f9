// SPDX-License-Identifier: LGPL-2.1-or-later
/* What codecs make of foreign bytes: records, names, losses, complaints. */
#include <stdarg.h>

#include "import.h"

#define BAD_TOLD	20	/* damages told one by one */
#define FIFO_MIN	4096U
#define FIFO_KEPT	(64U << 10)	/* room that an empty queue keeps */

/* A record that waits; behind it are arguments, blob and raw bytes. */
struct entry {
	uint64_t ts;
	uint32_t size;		/* of all of it */
	uint32_t cpu;
	int32_t tid;
	uint32_t dat20;
	uint32_t blob_size;
	uint32_t raw_size;
	uint8_t kind;
	uint8_t opcode;
	uint8_t nargs;
	bool has_blob;
};

static int fifo_room(struct kt_fifo *fifo, size_t need)
{
	size_t cap = fifo->cap ? fifo->cap : FIFO_MIN;
	uint8_t *buf;

	if (fifo->head && fifo->head >= fifo->len / 2) {
		memmove(fifo->buf, fifo->buf + fifo->head,
			fifo->len - fifo->head);
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
 * Give back what a queue needed once and does not need now: the window bounds what
 * all queues hold together, and each CPU may have had all of it for a while.
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
	if (!buf)	/* it stays as large as it was */
		return;
	fifo->buf = buf;
	fifo->cap /= 4;
}

/* The queue of a CPU, or the only one. */
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

int kt_fifo_put(struct kt_import *s, const struct kt_foreign *f)
{
	struct entry e = {
		.ts = f->ts, .cpu = f->cpu, .tid = f->tid, .dat20 = f->dat20,
		.kind = f->kind, .opcode = f->opcode, .nargs = f->nargs,
		.has_blob = f->blob, .blob_size = f->blob ? f->blob_size : 0,
		.raw_size = f->raw ? f->raw_size : 0,
	};
	size_t blob = kt_align(e.blob_size, 4), size;
	struct kt_fifo *fifo = fifo_of(s, f->cpu);
	uint8_t *p;
	int err;

	if (!fifo)
		return -ENOMEM;
	if (s->window && fifo->begun && f->ts < fifo->last_ts)
		return kt_import_fail(s, s->in->offset,
				      "Trace event time stamps for core %u are out of order",
				      f->cpu);
	size = kt_align(sizeof(e) + f->nargs * 4U + blob + e.raw_size, 8);
	e.size = (uint32_t)size;
	err = fifo_room(fifo, size);
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
	if (e.raw_size)
		memcpy(p + blob, f->raw, e.raw_size);
	fifo->len += size;
	fifo->last_ts = f->ts;
	fifo->begun = true;
	s->held += size;
	return fifo->queued ? 0 : kt_fifo_queue(s, fifo);
}

/* Time of the first one in the queue. */
uint64_t kt_fifo_ts(const struct kt_fifo *fifo)
{
	struct entry e;

	memcpy(&e, fifo->buf + fifo->head, sizeof(e));
	return e.ts;
}

/* The first one becomes the source's event. */
void kt_fifo_take(struct kt_import *s, struct kt_fifo *fifo)
{
	const uint8_t *p = fifo->buf + fifo->head;
	struct entry e;

	memcpy(&e, p, sizeof(e));
	p += sizeof(e);
	s->event = (struct ktape_event){
		.ts = e.ts, .args = p, .blob_size = e.blob_size,
		.dat20 = e.dat20, .cpu = e.cpu, .tid = e.tid, .kind = e.kind,
		.opcode = e.opcode, .nargs = e.nargs, .known = true,
	};
	p += e.nargs * 4U;
	s->event.size = 8 + e.nargs * 4U;
	if (e.has_blob) {
		s->event.blob = p;
		s->event.size += 4 + e.blob_size;
	}
	s->event.size = (uint32_t)kt_align(s->event.size, KTAPE_RECORD_ALIGN);
	s->raw = p + kt_align(e.blob_size, 4);
	s->raw_size = e.raw_size;
	s->current = fifo;
	s->taken = e.size;
}

/**
 * kt_import_emit() - deliver a record
 * @s: the trace
 * @f: the record; its CPU is less than KT_CPUS_MAX
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_import_emit(struct kt_import *s, const struct kt_foreign *f)
{
	if (f->cpu >= KT_CPUS_MAX)
		return kt_import_fail(s, s->in->offset,
				      "CPU number %u is out of range", f->cpu);
	return s->learning ? 0 : kt_fifo_put(s, f);
}

/**
 * kt_import_name() - deliver a record that names an object
 * @s: the trace
 * @at: time, CPU and raw bytes; the rest is overwritten.  NULL: the name is
 *	known from here on and there is no record
 * @n: the object
 *
 * Return: as kt_import_emit().
 */
int kt_import_name(struct kt_import *s, struct kt_foreign *at,
		   const struct kt_named *n)
{
	const uint64_t ts = at ? at->ts : 0;
	uint8_t words[7 * 4] = { 0 };
	struct ktape_event e = {
		.ts = ts, .args = words, .nargs = 7, .blob = n->name,
		.blob_size = (uint32_t)kt_min(n->len, KTAPE_NAME_SIZE),
		.dat20 = n->type, .opcode = KTAPE_EV_REGISTRY,
		.kind = KTAPE_RING_REGISTRY, .known = true,
	};
	int err;

	kt_set32(words, n->id);
	kt_set32(words + 4, n->param1);
	kt_set32(words + 8, n->param2);
	if (s->learning || (!at && !s->learned)) {
		err = ktape_registry_add(s->registry, &e);
		if (err)
			return err;
	}
	if (!at)
		return 0;
	at->kind = KTAPE_RING_REGISTRY;
	at->opcode = KTAPE_EV_REGISTRY;
	at->tid = -1;
	at->dat20 = n->type;
	at->nargs = 7;
	memset(at->args, 0, sizeof(at->args));
	at->args[0] = n->id;
	at->args[1] = n->param1;
	at->args[2] = n->param2;
	at->blob = n->name;
	at->blob_size = e.blob_size;
	return kt_import_emit(s, at);
}

static void tell(struct kt_import *s, const struct ktape_notice *n)
{
	const struct ktape_trace_options *o = s->trace_options;

	if (o->notice && !s->learning)
		o->notice(o->arg, n);
}

/**
 * kt_import_lost() - tell that events are missing
 * @s: the trace
 * @cpu: where
 * @count: how many, 0: not known
 * @from: time
 * @to: time: that of the next event there
 *
 * It is told in its place among the records.
 *
 * Return: as kt_import_emit().
 */
int kt_import_lost(struct kt_import *s, uint32_t cpu, uint64_t count,
		   uint64_t from, uint64_t to)
{
	const struct kt_foreign f = {
		.ts = to, .cpu = cpu, .opcode = KT_IMPORT_LOST, .nargs = 4,
		.args = {
			(uint32_t)count, (uint32_t)(count >> 32),
			(uint32_t)from, (uint32_t)(from >> 32),
		},
	};

	return kt_import_emit(s, &f);
}

/* The record that was taken is a loss. */
void kt_import_tell_lost(struct kt_import *s)
{
	const uint8_t *words = s->event.args;
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST, .stream = true,
		.cpu = s->event.cpu, .ring = KTAPE_RING_EVENT,
		.count = kt_get64(words), .from = kt_get64(words + 8),
		.to = s->event.ts,
	};

	tell(s, &n);
}

/**
 * kt_import_bad() - tell that a piece could not be read and was left out
 * @s: the trace
 * @offset: where in the input
 * @format: what is wrong
 */
void kt_import_bad(struct kt_import *s, uint64_t offset, const char *format,
		   ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };
	va_list args;

	if (!s->learning && s->bad++ >= BAD_TOLD)
		return;
	n.error.offset = offset;
	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	tell(s, &n);
}

/* At the end: what was not told one by one. */
void kt_import_tell_bad(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT };

	if (s->bad <= BAD_TOLD)
		return;
	n.error.offset = s->in->offset;
	snprintf(n.error.text, sizeof(n.error.text),
		 "%llu more damaged places up to here",
		 (unsigned long long)(s->bad - BAD_TOLD));
	n.count = s->bad - BAD_TOLD;
	s->bad = 0;
	tell(s, &n);
}

/**
 * kt_import_truncated() - tell that the input begins or ends in the middle of something
 * @s: the trace
 * @error: where and what
 */
void kt_import_truncated(struct kt_import *s, const struct ktape_error *error)
{
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_TRUNCATED, .error = *error,
	};

	tell(s, &n);
}

/**
 * kt_import_joined() - tell that the input begins in the middle of a frame
 * @s: the trace
 * @offset: where in the input the frame ends or is given up
 * @cpu: where events before it may have been
 *
 * Nobody knows how many events are missing in front of it.
 *
 * Return: as kt_import_emit().
 */
int kt_import_joined(struct kt_import *s, uint64_t offset, uint32_t cpu)
{
	struct ktape_error error;

	kt_error(&error, offset,
		 "the input begins in the middle of a frame: what came before is missing");
	kt_import_truncated(s, &error);
	return kt_import_lost(s, cpu, 0, 0, 0);
}

/**
 * kt_import_none() - tell that nothing of the input is of the format
 * @s: the trace, at its end
 */
void kt_import_none(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };

	kt_error(&n.error, s->begin,
		 "no frame of %s is valid: is the input of another format (--from)?",
		 s->format->name);
	tell(s, &n);
}

/**
 * kt_import_note() - tell what had to be assumed
 * @s: the trace
 * @format: what
 */
void kt_import_note(struct kt_import *s, const char *format, ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_ASSUMED };
	va_list args;

	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	tell(s, &n);
}

/**
 * kt_import_fail() - say why it cannot go on
 * @s: the trace
 * @offset: where in the input
 * @format: what is wrong
 *
 * Return: -EBADMSG, to be returned.
 */
int kt_import_fail(struct kt_import *s, uint64_t offset, const char *format,
		   ...)
{
	va_list args;

	s->error.offset = offset;
	va_start(args, format);
	vsnprintf(s->error.text, sizeof(s->error.text), format, args);
	va_end(args);
	return -EBADMSG;
}
