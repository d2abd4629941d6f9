// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape convert: select and write events in several threads, in formats in which what is
 * written of an event depends on no other one.
 *
 * The input is read in slices of time (lib/trace/slice.c).  Each slice has a copy of the
 * conversion, whose output is in memory.  The main thread appends it to the output, in
 * order.
 */
#include <errno.h>
#include <stdlib.h>

#include <ktape.h>

#include "format/writer.h"

#include "tool/convert/convert.h"
#include "tool/shared/signals.h"

static int prepare_part(void *arg, struct kt_slice *slice)
{
	const struct convert *c = arg;
	struct convert *mine = slice->own;
	int err;

	if (mine)
		return 0;
	mine = malloc(sizeof(*mine));
	if (!mine)
		return -ENOMEM;
	*mine = *c;
	err = kt_sink_part_new(c->sink, &mine->sink);
	if (err) {
		free(mine);
		return err;
	}
	slice->own = mine;
	return 0;
}

static int write_events(void *arg, struct kt_slice *slice)
{
	struct convert *mine = slice->own;
	const struct ktape_event *e;
	int ret, err = 0;

	(void)arg;
	/* Slices come after the cut. */
	mine->cut = NULL;
	range_empty(&mine->range);
	mine->events = 0;
	mine->registry = ktape_trace_registry(slice->trace);
	kt_sink_part_begin(mine->sink, mine->registry);
	while (!err && (ret = ktape_trace_next(slice->trace, &e)) > 0)
		err = convert_event(mine, e);
	return err ? err : ret;
}

/* Append the output of a slice.  Return: 0, 1: no further slice is needed, or negative errno. */
static int take_output(void *arg, struct kt_slice *slice)
{
	const struct convert *mine = slice->own;
	struct convert *c = arg;
	int err = kt_sink_part_take(c->sink, mine->sink);

	range_join(&c->range, &mine->range);
	c->events += mine->events;
	convert_progress(c);
	if (err)
		return err;
	return signals_came() || c->error;
}

/* All events are wanted. */
static uint64_t most(void *arg)
{
	(void)arg;
	return UINT64_MAX;
}

static void release_part(void *arg, struct kt_slice *slice)
{
	struct convert *mine = slice->own;

	(void)arg;
	if (mine)
		ktape_sink_close(mine->sink);
	free(mine);
	slice->own = NULL;
}

/**
 * convert_slices_new() - prepare to convert in several threads
 * @c: the conversion, whose inputs and output are open; one thread does it if the format,
 *	the input or the memory do not allow more
 */
void convert_slices_new(struct convert *c)
{
	const struct kt_slices_how how = {
		.jobs = (unsigned int)kt_min(c->o.jobs, KT_SLICE_JOBS),
		.arg = c,
		.prepare = prepare_part,
		.work = write_events,
		.take = take_output,
		.most = most,
		.release = release_part,
	};

	if (c->nr_inputs != 1 || !kt_sink_is_alone(c->sink) ||
	    kt_slices_new(c->inputs[0].trace, &how, &c->slices))
		c->slices = NULL;
}
