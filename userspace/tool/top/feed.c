// SPDX-License-Identifier: GPL-2.0-only
/* ktape top: read a trace, and hand over its intervals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "tool/input/input.h"
#include "tool/shared/signals.h"
#include "tool/top/top.h"

#define WINDOW (16ULL << 20) /* most bytes that are held back for sorting */

/**
 * struct top_feed - a trace that is read
 * @o: options
 * @trace: the trace
 * @model: its intervals
 * @stop: the caller wants no more intervals
 */
struct top_feed {
	struct top_feed_options o;
	struct ktape_trace *trace;
	struct top_model *model;
	bool stop;
};

static void take_feed_notice(void *arg, const struct ktape_notice *n)
{
	struct top_feed *f = arg;

	if (n->kind == KTAPE_NOTICE_LOST && f->model)
		top_model_notice(f->model, n);
}

static int take_feed_view(void *arg, struct top_view *v)
{
	struct top_feed *f = arg;

	if (f->o.device)
		top_device_cost(f->o.device, &v->cost);
	return f->o.take(f->o.arg, v);
}

static int begin_model(struct top_feed *f)
{
	if (ktape_trace_format(f->trace))
		return fail("%s: this is a trace in the format %s, but only native traces have times of Linux (see ktape stats)",
			    f->o.input, ktape_trace_format(f->trace));
	if (top_model_new(ktape_trace_info(f->trace), ktape_trace_registry(f->trace),
			  f->o.interval, take_feed_view, f, &f->model))
		return fail("%s", strerror(ENOMEM));
	return 0;
}

/**
 * top_feed_open() - open a trace, or print why it cannot be opened
 * @o: options
 * @feed: set to the feed
 *
 * Return: 0 or the exit code.
 */
int top_feed_open(const struct top_feed_options *o, struct top_feed **feed)
{
	const struct input_options in = { .from = NULL };
	struct top_feed *f = calloc(1, sizeof(*f));
	struct ktape_trace_options how = {
		.notice = take_feed_notice,
		.arg = f,
		.wake = o->wake,
		.window = WINDOW,
	};
	int ret;

	if (!f)
		return fail("%s", strerror(ENOMEM));
	f->o = *o;
	ret = input_open(o->command, &in, o->input, &how, &f->trace);
	if (!ret)
		ret = begin_model(f);
	if (ret) {
		top_feed_close(f);
		return ret;
	}
	*feed = f;
	return 0;
}

/**
 * top_feed_read() - read the trace to its end
 * @f: the feed
 *
 * After a signal (signals.h) the trace ends as well.
 *
 * Return: 0, negative errno, or the error of the callback.
 */
int top_feed_read(struct top_feed *f)
{
	const struct ktape_event *e;
	int ret = 0;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED) &&
	       !signals_came() && (ret = ktape_trace_next(f->trace, &e)) > 0) {
		ret = top_model_event(f->model, e);
		if (ret)
			return ret;
	}
	return ret ? ret : top_model_end(f->model);
}

/**
 * top_feed_stop() - make top_feed_read() return at the next event
 * @f: the feed
 *
 * The caller also has to make the descriptor @wake readable, because there may be no
 * next event.
 */
void top_feed_stop(struct top_feed *f)
{
	__atomic_store_n(&f->stop, true, __ATOMIC_RELAXED);
}

/**
 * top_feed_close() - close the trace
 * @f: the feed, or NULL
 */
void top_feed_close(struct top_feed *f)
{
	if (!f)
		return;
	top_model_free(f->model);
	ktape_trace_close(f->trace);
	free(f);
}
