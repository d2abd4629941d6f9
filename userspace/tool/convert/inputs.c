// SPDX-License-Identifier: GPL-2.0-only
/* ktape convert: merge the inputs into one stream and select events of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"
#include "util/wide.h"

#include "tool/convert/convert.h"
#include "tool/shared/event_list.h"
#include "tool/shared/message.h"

/**
 * convert_prepare() - parse the options that select events
 * @c: the conversion
 *
 * Return: 0 or the exit code.
 */
int convert_prepare(struct convert *c)
{
	const char *bad = c->o.events;
	int ret;

	memset(c->mask, 0xff, sizeof(c->mask));
	if (bad && ktape_mask_parse_shown(bad, c->mask, &bad))
		return unknown_event(c->command, bad);
	ret = moment_parse(c->command, "from-time", c->o.from_time, &c->range.from);
	if (!ret)
		ret = moment_parse(c->command, "to-time", c->o.to_time,
				   &c->range.to);
	if (ret)
		return ret;
	/* cut.c keeps what is still running before --from-time. */
	if (c->range.from.given && cut_begin(&c->cut))
		return fail("%s", strerror(ENOMEM));
	return 0;
}

/**
 * convert_join() - choose the clock and the registry (names of objects) of the output
 * @c: conversion whose inputs are open
 *
 * The output has the clock of the first input.  By that clock, --from-time has to be before
 * --to-time; the CPUs that the inputs had are noted in @c->range.
 *
 * Return: 0 or the exit code.
 */
int convert_join(struct convert *c)
{
	int err;

	c->info = c->inputs[0].info;
	err = range_check_order(c->command, &c->range, c->info);
	if (err)
		return err;
	for (size_t i = 0; i < c->nr_inputs; i++)
		range_add_info(&c->range, c->inputs[i].info);
	if (c->nr_inputs == 1) {
		c->registry = ktape_trace_registry(c->inputs[0].trace);
		return 0;
	}
	err = ktape_registry_new(c->info->freq, &c->own_registry);
	if (err)
		return fail("%s", strerror(-err));
	c->registry = c->own_registry;
	return 0;
}

static bool same_clock(const struct ktape_info *a, const struct ktape_info *b)
{
	return a == b || (a->freq == b->freq && a->offset_s == b->offset_s &&
			  a->offset == b->offset);
}

/**
 * convert_ts() - convert a time of an input to the clock of the output
 * @c: the conversion
 * @in: the input
 * @ts: time on the clock of @in, in ticks
 *
 * Return: ticks of the output's clock; 0 if the time is before its zero, or too far from it.
 */
uint64_t convert_ts(const struct convert *c, const struct convert_input *in,
		    uint64_t ts)
{
	const struct ktape_info *to = c->info;
	int64_t ns;
	uint64_t ticks;

	if (!to || same_clock(to, in->info))
		return ts;
	/* Hostile metadata may have offsets of more than 292 years. */
	if (__builtin_mul_overflow(to->offset_s, (int64_t)NS_PER_S, &ns) ||
	    __builtin_sub_overflow(ktape_epoch_ns(in->info, ts), ns, &ns) || ns < 0)
		return 0;
	ticks = kt_mul_div((uint64_t)ns, to->freq, NS_PER_S);
	return ticks < to->offset ? 0 : ticks - to->offset;
}

static int load_next_event(struct convert *c, struct convert_input *in)
{
	int ret = ktape_trace_next(in->trace, &in->event);

	in->begun = true;
	if (ret <= 0)
		in->event = NULL;
	else
		in->ts = convert_ts(c, in, in->event->ts);
	if (ret > 0 && c->own_registry) {
		struct ktape_event e = *in->event;

		e.ts = in->ts;
		ret = ktape_registry_add(c->own_registry, &e);
	}
	return ret < 0 ? ret : 0;
}

static int next_of_inputs(struct convert *c, const struct ktape_event **event)
{
	struct convert_input *best = NULL;
	int err;

	for (size_t i = 0; i < c->nr_inputs; i++) {
		struct convert_input *in = &c->inputs[i];

		if (!in->begun || in == c->current) {
			err = load_next_event(c, in);
			if (err)
				return err;
		}
		if (in->event && (!best || in->ts < best->ts))
			best = in;
	}
	c->current = best;
	if (!best)
		return 0;
	*event = best->event;
	if (best->ts != best->event->ts) {
		c->moved = *best->event;
		c->moved.ts = best->ts;
		*event = &c->moved;
	}
	return 1;
}

/**
 * convert_next() - return the next event of all inputs, by time
 * @c: the conversion
 * @event: set to the event, which is valid until the next call
 *
 * Return: 1, 0 at the end, or negative errno.
 */
int convert_next(struct convert *c, const struct ktape_event **event)
{
	/* A single input has the clock and the registry of the output. */
	if (c->nr_inputs == 1)
		return ktape_trace_next(c->inputs[0].trace, event);
	return next_of_inputs(c, event);
}

static bool is_of_pid(const struct convert *c, int32_t tid, uint64_t ts)
{
	const struct ktape_object_info *o;

	if (tid < 0)
		return false;
	if ((uint32_t)tid == c->o.pid)
		return true;
	o = ktape_registry_thread(c->registry, tid, ts);
	/* The first parameter of a thread is its process id. */
	return o && o->param1 == c->o.pid;
}

/* Return true if --pid selects an event.  A switch belongs to both of its threads. */
static bool is_wanted_thread(const struct convert *c, const struct ktape_event *e)
{
	if (c->o.pid == UINT64_MAX || is_of_pid(c, e->tid, e->ts))
		return true;
	/* prev_tid, next_tid; another number of arguments is a damaged record. */
	return e->opcode == KTAPE_EV_SCHED_SWITCH && e->nargs == 2 &&
	       is_of_pid(c, (int32_t)ktape_event_arg(e, 1), e->ts);
}

static bool is_event_wanted(const struct convert *c, const struct ktape_event *e)
{
	if (!kt_mask_has(c->mask, e->opcode))
		return false;
	if (c->o.cpu != UINT64_MAX && e->cpu != c->o.cpu)
		return false;
	return is_wanted_thread(c, e);
}

static int put_converted_event(struct convert *c, const struct ktape_event *e)
{
	int err = page_event(&c->page, e); /* statistics for format html */

	return err ? err : ktape_sink_event(c->sink, e);
}

/*
 * Write a name (see is_name()), which is never left out.  @inside: its time is selected.
 * If the selection leaves out the events around it, write it to the registry stream: in
 * the ring of a CPU it would imply that its thread ran there.
 */
static int write_name(struct convert *c, const struct ktape_event *e, bool inside)
{
	struct ktape_event name = *e;

	c->events++;
	if (inside && is_event_wanted(c, e))
		return put_converted_event(c, e);
	name.kind = KTAPE_RING_REGISTRY;
	name.cpu = 0;
	name.tid = -1;
	return put_converted_event(c, &name);
}

/* Return true if an event is a name or describes events that are selected. */
static bool is_name(const struct convert *c, const struct ktape_event *e)
{
	return e->opcode == KTAPE_EV_REGISTRY ||
	       (kt_mask_has(c->mask, e->opcode) && ktape_event_is_metadata(e));
}

static int write_one_event(struct convert *c, const struct ktape_event *e)
{
	if (is_name(c, e))
		return write_name(c, e, true);
	if (!is_event_wanted(c, e))
		return 0;
	c->events++;
	return put_converted_event(c, e);
}

/* Handle an event outside of the selected times: only names are written. */
static int write_unselected(struct convert *c, const struct ktape_event *e)
{
	return e->opcode == KTAPE_EV_REGISTRY ? write_name(c, e, false) : 0;
}

/**
 * convert_wants_gap() - does a gap overlap the selected times and CPU?
 * @c: the conversion
 * @n: the report of missing events, with times on the clock of the output
 *
 * Return: true if it does.
 */
bool convert_wants_gap(const struct convert *c, const struct ktape_notice *n)
{
	if (c->o.cpu != UINT64_MAX && n->cpu != c->o.cpu)
		return false;
	if (c->range.from.given && moment_is_after(&c->range.from, c->info, n->to))
		return false;
	return !c->range.to.given ||
	       moment_is_after(&c->range.to, c->info, n->from);
}

/**
 * convert_check() - check that the inputs had the selected times and CPU
 * @c: conversion whose inputs were read to their end
 *
 * Return: 0 or the exit code.
 */
int convert_check(const struct convert *c)
{
	if (c->o.cpu != UINT64_MAX && !range_has_cpu(&c->range, c->o.cpu))
		return range_refuse_cpu(&c->range, c->o.cpu);
	return range_check_times(&c->range, c->info);
}

/**
 * convert_event() - write an event, if it is selected
 * @c: the conversion
 * @e: the event
 *
 * Names are written from outside the selected times, too, and what comes before --from-time
 * updates @c->cut.  The first event at or after that time writes the state in @c->cut and frees it.
 *
 * Return: 0 or negative errno.
 */
int convert_event(struct convert *c, const struct ktape_event *e)
{
	int err = 0;

	range_add(&c->range, e);
	if (c->range.to.given && !moment_is_after(&c->range.to, c->info, e->ts))
		return write_unselected(c, e);
	if (c->cut && moment_is_after(&c->range.from, c->info, e->ts)) {
		err = write_unselected(c, e);
		return err ? err : cut_learn(c->cut, e);
	}
	/* At the first selected event: what is still running begins at --from-time. */
	if (c->cut) {
		err = cut_write(c->cut, c, e, write_one_event);
		cut_free(c->cut);
		c->cut = NULL;
	}
	return err ? err : write_one_event(c, e);
}

/**
 * convert_release() - close the inputs and free the rest
 * @c: the conversion, whose output, slices and @c->to_name the caller has freed or frees
 */
void convert_release(struct convert *c)
{
	for (size_t i = 0; i < c->nr_inputs; i++)
		ktape_trace_close(c->inputs[i].trace);
	free(c->inputs);
	page_release(&c->page);
	ktape_registry_free(c->own_registry);
	cut_free(c->cut);
	free(c->partial);
}
