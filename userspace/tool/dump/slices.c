// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape dump: choose events and format them in several threads.
 *
 * The trace is read in slices of time (lib/trace/slice.c).  Each slice has lines of its own,
 * which the main thread writes, in order.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <ktape.h>

#include "util/file.h"

#include "tool/dump/dump.h"

#define TEXT_EACH 96U	      /* bytes of a line of text, about */
#define JSON_EACH 224U	      /* bytes of a line of JSON, about */
#define LINE_ROOM (64U << 10) /* for the longest line, in most cases */

/**
 * struct made - what was made of a slice
 * @lines: its lines; the buffer stays for later slices
 * @seen: times and CPUs of its events
 * @nr: number of lines
 */
struct made {
	struct lines lines;
	struct range seen;
	uint64_t nr;
};

static int prepare_lines_slice(void *arg, struct kt_slice *slice)
{
	const struct dump *d = arg;
	size_t each = d->o.json ? JSON_EACH : TEXT_EACH;
	struct made *m = slice->own;

	if (!m) {
		m = calloc(1, sizeof(*m));
		if (!m)
			return -ENOMEM;
		slice->own = m;
		m->lines = d->out;
		m->lines.buf = NULL;
		m->lines.cap = 0;
	}
	m->lines.len = 0;
	m->nr = 0;
	return lines_make_room(&m->lines, slice->records * each + LINE_ROOM);
}

static int make_lines(void *arg, struct kt_slice *slice)
{
	const struct dump *d = arg;
	struct made *m = slice->own;
	const struct ktape_event *e;
	struct lines lines;
	uint64_t nr = 0;
	int ret, err = 0;

	if (!m)
		return -ENOMEM;
	/* A copy, because what threads write should not be in the same cache line. */
	lines = m->lines;
	lines.names = ktape_trace_registry(slice->trace);
	lines.len = 0;
	range_empty(&m->seen);
	while (!err && (ret = ktape_trace_next(slice->trace, &e)) > 0) {
		if (!dump_wants(d, &m->seen, lines.names, e))
			continue;
		/* Only native traces are sliced, whose events have no other source. */
		err = lines_add(&lines, e, NULL, 0);
		nr++;
	}
	m->lines = lines;
	m->nr = nr;
	return err ? err : ret;
}

/* Write the lines of a slice.  Return: 0, or 1: no further slice is needed. */
static int take_lines(void *arg, struct kt_slice *slice)
{
	struct made *m = slice->own;
	struct dump *d = arg;

	dump_flush(d);
	if (m->lines.len && !d->error)
		d->error = kt_write_all(STDOUT_FILENO, m->lines.buf, m->lines.len);
	range_join(&d->range, &m->seen);
	d->lines += m->nr;
	return d->error ? 1 : 0;
}

static uint64_t lines_left(void *arg)
{
	const struct dump *d = arg;

	return d->o.count - d->lines;
}

static void release_lines_slice(void *arg, struct kt_slice *slice)
{
	struct made *m = slice->own;

	(void)arg;
	if (m)
		free(m->lines.buf);
	free(m);
	slice->own = NULL;
}

/**
 * dump_slices_new() - prepare to make lines in several threads
 * @d: the dump, whose trace is open and whose lines are prepared; one thread makes the
 *	lines if there is not enough memory for two
 */
void dump_slices_new(struct dump *d)
{
	const struct kt_slices_how how = {
		.jobs = (unsigned int)kt_min(d->o.jobs, KT_SLICE_JOBS),
		.arg = d,
		.prepare = prepare_lines_slice,
		.work = make_lines,
		.take = take_lines,
		.most = lines_left,
		.release = release_lines_slice,
	};

	if (kt_slices_new(d->trace, &how, &d->slices))
		d->slices = NULL;
}
