// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape dump: format events as lines, many events at a time in several threads.
 *
 * One thread reads the events in order of time into a batch, because that is little work.
 * A batch is divided into parts, which threads format, each with a view of the names and
 * a buffer of its own.  The lines are the same as those of one thread, because no names
 * are added while a batch is filled (ktape_trace_renames()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/pool.h"
#include "util/put.h"

#include "color.h"
#include "dump.h"

#define MESSAGE_ROOM	(8U * KTAPE_MESSAGE_MAX)
#define SOURCE_ROOM	16U
#define JOBS_MAX	16U
#define EVENTS_EACH \
	4096U /* events of a part: longer work than waking a thread */
#define LINES_EACH	(EVENTS_EACH * 96U)	/* bytes of lines, at first */
#define BYTES_EACH	(EVENTS_EACH * 32U)	/* of their arguments */

/* Events of a batch that one thread formats. */
struct part {
	struct lines lines;
	struct ktape_registry *names;
	size_t from;
	size_t to;
	int error;
};

/**
 * struct batch - events that are formatted together
 * @registry: names of the trace
 * @pool: threads
 * @parts: one for each thread
 * @nr_parts: entries of @parts
 * @used: entries of @parts that have lines
 * @events: the events; their arguments are in @bytes
 * @nr: entries of @events
 * @bytes: arguments and blobs
 * @len: bytes used of @bytes
 * @room: bytes of @bytes
 */
struct batch {
	const struct ktape_registry *registry;
	struct kt_pool *pool;
	struct part *parts;
	unsigned int nr_parts;
	unsigned int used;
	struct ktape_event *events;
	size_t nr;
	uint8_t *bytes;
	size_t len;
	size_t room;
};

static int make_room(struct lines *l, size_t need)
{
	size_t cap = kt_max(l->cap * 2, l->len + need);
	char *more;

	if (l->cap - l->len >= need)
		return 0;
	more = realloc(l->buf, cap);
	if (!more)
		return -ENOMEM;
	l->buf = more;
	l->cap = cap;
	return 0;
}

/* Add the member "source", the event in its own format, before the closing brace. */
static char *put_source(char *p, const char *source, size_t len)
{
	p = kt_put_str(p - 2, ",\"source\":");
	p = kt_put_mem(p, source, len);
	return kt_put_mem(p, "}\n", 2);
}

/**
 * lines_add() - add the line of an event
 * @l: lines; the buffer grows as needed
 * @e: the event
 * @source: the event in its own format, for JSON; NULL: none
 * @source_len: bytes of @source
 *
 * Return: 0 or -ENOMEM.
 */
int lines_add(struct lines *l, const struct ktape_event *e, const char *source,
	      size_t source_len)
{
	size_t len;
	char *p;
	int err;

	err = make_room(l, ktape_format_bound(e) + MESSAGE_ROOM + source_len +
				   SOURCE_ROOM + COLOR_ROOM);
	if (err)
		return err;
	p = l->buf + l->len;
	len = l->json ? ktape_format_json(l->info, l->names, e, p) :
			ktape_format_text(l->info, l->names, e, p);
	if (l->formats)
		len = formats_append(l->formats, e, l->json, p, len);
	if (l->color)
		len = color_event(p, len, l->names, e);
	p += len;
	if (source)
		p = put_source(p, source, source_len);
	l->len = (size_t)(p - l->buf);
	return 0;
}

/**
 * batch_new() - prepare to format events in several threads
 * @jobs: number of threads, at least 1
 * @like: how lines are formatted; its buffer is not used
 * @batch: set on success, to NULL if there would be one thread; release with batch_free()
 *
 * Return: 0; -ENOMEM, then one thread can still make each line at once.
 */
int batch_new(unsigned int jobs, const struct lines *like, struct batch **batch)
{
	unsigned int nr = kt_min(jobs, JOBS_MAX);
	struct batch *b;

	*batch = NULL;
	if (nr < 2)
		return 0;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->registry = like->names;
	b->nr_parts = nr;
	b->room = (size_t)nr * BYTES_EACH;
	b->parts = calloc(nr, sizeof(*b->parts));
	b->events = malloc((size_t)nr * EVENTS_EACH * sizeof(*b->events));
	b->bytes = malloc(b->room);
	if (!b->parts || !b->events || !b->bytes) {
		batch_free(b);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nr; i++) {
		b->parts[i].lines = *like;
		b->parts[i].lines.buf = NULL;
		b->parts[i].lines.cap = 0;
		b->parts[i].lines.len = 0;
	}
	*batch = b;
	return 0;
}

/**
 * batch_add() - add an event
 * @b: the batch
 * @e: the event, which is copied
 *
 * Return: 0; -EAGAIN if there is no room for it, so that the batch has to be formatted
 * first; or -ENOMEM.
 */
int batch_add(struct batch *b, const struct ktape_event *e)
{
	const size_t args = e->nargs * 4U, need = args + e->blob_size;
	struct ktape_event *copy = &b->events[b->nr];
	uint8_t *more;

	if (b->nr == (size_t)b->nr_parts * EVENTS_EACH ||
	    (b->room - b->len < need && b->nr))
		return -EAGAIN;
	if (b->room < need) {
		more = realloc(b->bytes, need);
		if (!more)
			return -ENOMEM;
		b->bytes = more;
		b->room = need;
	}
	*copy = *e;
	copy->args = memcpy(b->bytes + b->len, e->args, args);
	if (e->blob)
		copy->blob =
			memcpy(b->bytes + b->len + args, e->blob, e->blob_size);
	b->len += need;
	b->nr++;
	return 0;
}

static void format_part(void *arg, size_t i)
{
	struct batch *b = arg;
	struct part *part = &b->parts[i];

	for (size_t n = part->from; n < part->to && !part->error; n++)
		part->error = lines_add(&part->lines, &b->events[n], NULL, 0);
}

/*
 * Divide the events among @parts parts.  Buffers begin here, because memory that another
 * thread takes first is in a heap of its own, of 64 MiB of addresses.
 * Return: 0 or -ENOMEM.
 */
static int divide(struct batch *b, size_t parts)
{
	size_t from = 0;
	int err;

	for (size_t i = 0; i < parts; i++) {
		struct part *part = &b->parts[i];

		part->lines.len = 0;
		err = ktape_registry_view(b->registry, &part->names);
		if (!err)
			err = make_room(&part->lines, LINES_EACH);
		if (err)
			return err;
		part->lines.names = part->names;
		part->from = from;
		from = b->nr * (i + 1) / parts;
		part->to = from;
	}
	return 0;
}

static void drop_buffers(struct batch *b)
{
	for (unsigned int i = 0; i < b->nr_parts; i++) {
		free(b->parts[i].lines.buf);
		b->parts[i].lines.buf = NULL;
		b->parts[i].lines.cap = 0;
	}
}

/**
 * batch_format() - make the lines of all events, and take them out of the batch
 * @b: the batch; batch_lines() has its lines until the next call
 *
 * Return: 0 or -ENOMEM.
 */
int batch_format(struct batch *b)
{
	/* A few events need no other thread. */
	size_t parts = (b->nr + EVENTS_EACH - 1) / EVENTS_EACH;
	int err = 0;

	b->used = 0;
	if (parts > 1 && !b->pool && kt_pool_new(b->nr_parts, &b->pool))
		parts = 1;
	/* With less memory there are fewer parts. */
	while (parts && (err = divide(b, parts)) && parts > 1) {
		drop_buffers(b);
		parts /= 2;
	}
	if (err)
		return err;
	if (parts > 1)
		kt_pool_run(b->pool, format_part, b, parts);
	else if (parts)
		format_part(b, 0);
	/* What follows a line that could not be made is not shown. */
	while (b->used < parts && !err)
		err = b->parts[b->used++].error;
	b->nr = 0;
	b->len = 0;
	return err;
}

/**
 * batch_lines() - return lines that were formatted
 * @b: the batch
 * @i: number of the part, from 0
 *
 * Return: the lines; NULL if there is no such part.
 */
const struct lines *batch_lines(const struct batch *b, unsigned int i)
{
	return i < b->used ? &b->parts[i].lines : NULL;
}

/**
 * batch_free() - end the threads and free a batch
 * @b: the batch, or NULL
 */
void batch_free(struct batch *b)
{
	if (!b)
		return;
	kt_pool_free(b->pool);
	for (unsigned int i = 0; b->parts && i < b->nr_parts; i++) {
		ktape_registry_free(b->parts[i].names);
		free(b->parts[i].lines.buf);
	}
	free(b->parts);
	free(b->events);
	free(b->bytes);
	free(b);
}
