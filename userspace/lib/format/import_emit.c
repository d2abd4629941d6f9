// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a format calls while it reads: records, names, losses, damage, notes.  Records
 * wait in queues until import.c delivers them.
 */
#include <stdarg.h>

#include "import.h"

#define BAD_SHOWN	20	/* damaged places that get a notice each */
#define FIFO_MIN	4096U
#define FIFO_KEPT	(64U << 10)	/* bytes that an empty queue keeps */

/* Head of a record in a queue; its arguments, blob, extra and raw bytes follow. */
struct entry {
	uint64_t ts;
	uint32_t size;		/* bytes with all that follows */
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
	if (!buf)	/* keep the larger one */
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

static int fifo_put(struct kt_import *s, const struct kt_foreign *f)
{
	struct entry e = {
		.ts = f->ts, .cpu = f->cpu, .tid = f->tid, .dat20 = f->dat20,
		.kind = f->kind, .opcode = f->opcode, .nargs = f->nargs,
		.has_blob = f->blob, .blob_size = f->blob ? f->blob_size : 0,
		.extra_size = f->extra ? f->extra_size : 0,
		.raw_size = f->raw ? f->raw_size : 0,
	};
	size_t blob = kt_align(e.blob_size, 4), extra = kt_align(e.extra_size, 4), size;
	struct kt_fifo *fifo = fifo_of(s, f->cpu);
	uint8_t *p;
	int err;

	if (!fifo)
		return -ENOMEM;
	if (s->window && fifo->begun && f->ts < fifo->last_ts)
		return kt_import_fail(s, s->in->offset,
				      "Trace event time stamps for core %u are out of order",
				      f->cpu);
	size = kt_align(sizeof(e) + f->nargs * 4U + blob + extra + e.raw_size,
			8);
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
	s->held += size;
	return fifo->queued ? 0 : kt_fifo_queue(s, fifo);
}

/* Return the time of the first record in a queue. */
uint64_t kt_fifo_ts(const struct kt_fifo *fifo)
{
	struct entry e;

	memcpy(&e, fifo->buf + fifo->head, sizeof(e));
	return e.ts;
}

/* Make the first record of a queue the trace's event. */
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

/* Make room for the time of the last record of a CPU.  Return: 0 or -ENOMEM. */
static int grow_latest(struct kt_import *s, uint32_t cpu)
{
	uint64_t *more;

	if (cpu < s->nr_latest)
		return 0;
	more = realloc(s->latest, (cpu + 1ULL) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->nr_latest, 0, (cpu + 1 - s->nr_latest) * sizeof(*more));
	s->latest = more;
	s->nr_latest = cpu + 1;
	return 0;
}

/*
 * Deliver a record of a kernel.  If its CPU's time has gone back, it gets the time of the
 * record before, as in a native trace: whoever sorts records or counts times may rely on
 * their order.
 */
static int put_in_order(struct kt_import *s, const struct kt_foreign *f)
{
	struct kt_foreign held = *f;
	uint64_t *latest;
	int err = grow_latest(s, f->cpu);

	if (err)
		return err;
	latest = &s->latest[f->cpu];
	if (f->ts < *latest) {
		const struct kt_back step = {
			.cpu = f->cpu, .ts = *latest, .by = *latest - f->ts,
			.events = 1, .steps = 1, .offset = s->in->offset,
		};

		if (f->opcode != KT_IMPORT_LOST && f->kind == KTAPE_RING_EVENT)
			kt_import_back(s, &step);
		held.ts = *latest;
	}
	*latest = held.ts;
	return fifo_put(s, &held);
}

/**
 * kt_import_emit() - deliver a record
 * @s: the trace
 * @f: the record
 *
 * Return: 0, or negative errno for next() to return.
 */
int kt_import_emit(struct kt_import *s, const struct kt_foreign *f)
{
	if (f->cpu >= KT_CPUS_MAX)
		return kt_import_fail(s, s->in->offset,
				      "CPU number %u is out of range", f->cpu);
	if (s->learning)
		return 0;
	return s->codec->kernel ? put_in_order(s, f) : fifo_put(s, f);
}

/**
 * kt_import_name() - deliver the name of an object
 * @s: the trace
 * @at: time, CPU and raw bytes of the record; the rest is overwritten.  NULL: enter
 *	the name into the registry without a record
 * @n: the object and its name
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
		.blob_size = (uint32_t)kt_min(n->len, kt_name_max(n->type)),
		.dat20 = n->type, .opcode = KTAPE_EV_REGISTRY,
		.kind = KTAPE_RING_REGISTRY, .known = true,
	};
	int err;

	kt_set32(words, n->id);
	kt_set32(words + 4, n->param1);
	kt_set32(words + 8, n->param2);
	kt_set64(words + 12, n->born);
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
	at->args[3] = (uint32_t)n->born;
	at->args[4] = (uint32_t)(n->born >> 32);
	at->blob = n->name;
	at->blob_size = e.blob_size;
	s->cut_names += !s->learning && n->type == KTAPE_OBJ_USER_EVENT &&
			e.blob_size < n->len;
	return kt_import_emit(s, at);
}

static void notify(struct kt_import *s, const struct ktape_notice *n)
{
	const struct ktape_trace_options *o = s->trace_options;

	if (o->notice && !s->learning)
		o->notice(o->arg, n);
}

/**
 * kt_import_lost() - deliver a gap: events of a CPU were lost
 * @s: the trace
 * @cpu: CPU that lost them
 * @count: number of lost events, 0 = unknown
 * @from: time of the last event before the gap
 * @to: time of the next event after it
 *
 * The notice waits in the queue like a record, so that it keeps its place among them.
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

/* Notify of the loss that the current record stands for. */
void kt_import_notify_lost(struct kt_import *s)
{
	const uint8_t *words = s->event.args;
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST, .stream = true,
		.cpu = s->event.cpu, .ring = KTAPE_RING_EVENT,
		.count = kt_get64(words), .from = kt_get64(words + 8),
		.to = s->event.ts,
	};

	notify(s, &n);
}

/**
 * kt_import_bad() - notify of a damaged place that is left out
 * @s: the trace
 * @offset: offset of the place in the input
 * @format: what is wrong there
 *
 * Each of the first BAD_SHOWN places gets a notice; one notice at the end counts all others.
 */
void kt_import_bad(struct kt_import *s, uint64_t offset, const char *format,
		   ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };
	va_list args;

	if (!s->learning && s->bad++ >= BAD_SHOWN)
		return;
	n.error.offset = offset;
	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	notify(s, &n);
}

/* At the end of the input: notify of the damaged places that got no notice. */
void kt_import_notify_bad(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT };

	if (s->bad <= BAD_SHOWN)
		return;
	n.error.offset = s->in->offset;
	snprintf(n.error.text, sizeof(n.error.text),
		 "%llu more damaged places up to here",
		 (unsigned long long)(s->bad - BAD_SHOWN));
	n.count = s->bad - BAD_SHOWN;
	s->bad = 0;
	notify(s, &n);
}

/**
 * kt_import_back() - keep in mind that events got a later time, because time went back
 * @s: the trace
 * @step: the events; steps is 0 if they are of a step that was given before
 */
void kt_import_back(struct kt_import *s, const struct kt_back *step)
{
	struct kt_back *b = &s->back;
	uint64_t steps = b->steps, events = b->events;

	if (s->learning)
		return;
	if (!steps)
		*b = *step;
	b->steps = steps + step->steps;
	b->events = events + step->events;
}

/**
 * kt_import_times() - notify that times of events contradict other times
 * @s: the trace
 * @at: the first of them: @cpu, @ts, @by, @offset and @place; and @events, how many they are
 * @format: what is wrong, for a text behind @place
 *
 * ktape verify counts this as a wrong time, others only tell it.
 */
void kt_import_times(struct kt_import *s, const struct kt_back *at, const char *format, ...)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_ASSUMED, .stream = true, .cpu = at->cpu,
		.ring = KTAPE_RING_EVENT, .from = at->ts - at->by, .to = at->ts,
		.count = at->events,
	};
	size_t len;
	va_list args;

	n.error.offset = at->offset;
	snprintf(n.error.text, sizeof(n.error.text), "%s%s", at->place, *at->place ? ": " : "");
	len = strlen(n.error.text);
	va_start(args, format);
	vsnprintf(n.error.text + len, sizeof(n.error.text) - len, format, args);
	va_end(args);
	notify(s, &n);
}

/* At the end of the input: notify of steps back in time. */
void kt_import_notify_back(struct kt_import *s)
{
	const struct kt_back b = s->back;

	s->back = (struct kt_back){ .steps = 0 };
	if (b.steps)
		kt_import_times(s, &b, "time goes back %llu times, first on cpu%u at byte %llu by %llu ns: %llu events get the time before it",
				(unsigned long long)b.steps, b.cpu, (unsigned long long)b.offset,
				(unsigned long long)ktape_ticks_to_ns(s->info, b.by),
				(unsigned long long)b.events);
}

/**
 * kt_import_truncated() - notify that the input begins or ends in the middle of a frame
 * @s: the trace
 * @error: offset, and what is incomplete
 */
void kt_import_truncated(struct kt_import *s, const struct ktape_error *error)
{
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_TRUNCATED, .error = *error,
	};

	notify(s, &n);
}

/**
 * kt_import_joined() - notify that the input begins in the middle of a frame
 * @s: the trace
 * @offset: offset of that frame in the input
 * @cpu: CPU that the missing events are counted for
 *
 * The reader has joined a stream that was already running: this is no damage.  Also
 * delivers a gap of an unknown number of events.
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
 * kt_import_none() - notify that not one frame of the input was valid
 * @s: the trace, at the end of its input
 */
void kt_import_none(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };

	kt_error(&n.error, s->begin,
		 "no frame of %s is valid; if the input has another format, name it with --from",
		 s->format->name);
	notify(s, &n);
}

/**
 * kt_import_note() - notify of an assumption about what the input does not say
 * @s: the trace
 * @format: what is assumed
 */
void kt_import_note(struct kt_import *s, const char *format, ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_ASSUMED };
	va_list args;

	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	notify(s, &n);
}

/**
 * kt_import_beside() - say what the input has beside the content of a trace
 * @s: the trace
 * @format: what it is, and how much
 *
 * Only ktape verify tells it, at its end.
 */
void kt_import_beside(struct kt_import *s, const char *format, ...)
{
	size_t len = strlen(s->beside);
	va_list args;

	/* Each line ends with a newline: without room for it, there is none for a line. */
	if (s->learning || len >= sizeof(s->beside) - 2)
		return;
	va_start(args, format);
	vsnprintf(s->beside + len, sizeof(s->beside) - len - 1, format, args);
	va_end(args);
	strcat(s->beside, "\n");
}

/**
 * kt_import_fail() - set the reason why open() or next() fails
 * @s: the trace
 * @offset: offset of the place in the input
 * @format: what is wrong there
 *
 * Return: -EBADMSG, for the caller to return.
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
