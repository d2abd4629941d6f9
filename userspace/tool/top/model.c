// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape top: turn the events of a trace into intervals.
 *
 * Intervals have the time of the trace.  The library measures (lib/stats/); an interval is
 * a copy of its results, after which the library begins the next interval.  A pause of
 * several intervals is one long interval, so that pauses cost nothing: the interval in which
 * the pause begins ends as usual, the next one has the rest of the pause.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "stream/clock.h"
#include "util/bits.h"

#include "tool/top/top.h"

const struct top_share top_shares[TOP_SHARES] = {
	{ "p50", 500000 },
	{ "p90", 900000 },
	{ "p99", 990000 },
};

#define LOSSES_MAX 4096U /* losses that wait for their intervals */

/**
 * struct top_model - the intervals of a trace
 * @info: metadata of the trace
 * @linux_stats: what the interval has
 * @interval: length of an interval, in ticks
 * @begun: there was an event
 * @start: begin of the interval, in ticks
 * @end: end of the interval, in ticks; UINT64_MAX: the end of the trace
 * @number: intervals so far
 * @events: events of the interval
 * @classes: of these, each class
 * @lost: lost events of the interval
 * @lost_total: lost events of all intervals
 * @unknown: losses of the interval have no count
 * @late: a ring was overwritten: older control records do not begin the intervals
 * @losses: losses, or parts of them, that are later than the interval
 * @nr_losses: entries of @losses
 * @curves: points of the last intervals, that of interval n at (n - 1) % TOP_HISTORY
 * @take: takes the intervals
 * @arg: its first argument
 */
struct top_model {
	const struct ktape_info *info;
	struct ktape_linux *linux_stats;
	uint64_t interval;
	bool begun;
	uint64_t start;
	uint64_t end;
	uint64_t number;
	uint64_t events;
	uint64_t classes[KTAPE_CLASSES];
	uint64_t lost;
	uint64_t lost_total;
	bool unknown;
	bool late;
	struct ktape_notice *losses;
	size_t nr_losses;
	double curves[TOP_CURVES][TOP_HISTORY];
	top_take *take;
	void *arg;
};

/**
 * top_model_new() - begin with the first interval
 * @info: metadata of the trace; must stay valid
 * @names: names of the trace; must stay valid
 * @interval: length of an interval, in ns
 * @take: called for each interval
 * @arg: its first argument
 * @model: set to the model
 *
 * Return: 0 or -ENOMEM.
 */
int top_model_new(const struct ktape_info *info,
		  const struct ktape_registry *names, uint64_t interval,
		  top_take *take, void *arg, struct top_model **model)
{
	struct top_model *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->info = info;
	m->take = take;
	m->arg = arg;
	m->interval = kt_max(kt_mul_div(interval, info->freq, NS_PER_S), 1);
	if (ktape_linux_new(info, names, &m->linux_stats)) {
		free(m);
		return -ENOMEM;
	}
	*model = m;
	return 0;
}

/* Copy the results of the library.  Return: 0 or -ENOMEM. */
static int copy_results(const struct ktape_linux *l, struct top_view *v)
{
	const struct ktape_linux_thread *t;
	const struct ktape_linux_cpu *c;
	const struct ktape_series *s;
	size_t threads = 0;

	while (ktape_linux_cpu(l, (uint32_t)v->nr_cpus))
		v->nr_cpus++;
	while (ktape_linux_thread(l, threads))
		threads++;
	v->nr_threads = kt_min(threads, TOP_THREADS);
	v->more_threads = threads - v->nr_threads;
	while (v->nr_series < KTAPE_SERIES_KINDS + TOP_SERIES &&
	       ktape_linux_series(l, v->nr_series))
		v->nr_series++;
	v->cpus = calloc(v->nr_cpus + 1, sizeof(*v->cpus));
	v->threads = calloc(v->nr_threads + 1, sizeof(*v->threads));
	v->series = calloc(v->nr_series + 1, sizeof(*v->series));
	if (!v->cpus || !v->threads || !v->series)
		return -ENOMEM;
	for (size_t i = 0; (c = ktape_linux_cpu(l, (uint32_t)i)); i++)
		v->cpus[i] = *c;
	for (size_t i = 0; i < v->nr_threads; i++) {
		t = ktape_linux_thread(l, i);
		v->threads[i] = *t;
	}
	for (size_t i = 0; i < v->nr_series; i++) {
		s = ktape_linux_series(l, i);
		v->series[i] = *s;
	}
	return 0;
}

static void copy_shares(const struct ktape_linux *l, struct top_view *v)
{
	for (size_t kind = 0; kind < KTAPE_SERIES_KINDS; kind++) {
		if (!v->series[kind].count)
			continue;
		for (size_t q = 0; q < TOP_SHARES; q++)
			ktape_linux_quantile(l, kind, top_shares[q].millionth,
					     &v->shares[kind][q]);
	}
}

/**
 * top_share_of() - return which part of all CPUs' time something took
 * @v: the interval
 * @curve: TOP_CPU, TOP_IRQ or TOP_SOFTIRQ; TOP_CPU includes the others
 *
 * Return: 0 to 1.
 */
double top_share_of(const struct top_view *v, enum top_curve curve)
{
	uint64_t all = 0, part = 0;

	for (size_t i = 0; i < v->nr_cpus; i++) {
		const struct ktape_linux_cpu *c = &v->cpus[i];

		all += v->span;
		if (curve != TOP_SOFTIRQ)
			part += c->irq;
		if (curve != TOP_IRQ)
			part += c->softirq;
		if (curve == TOP_CPU)
			part += c->run;
	}
	return all ? (double)part / (double)all : 0;
}

/* Add the interval to the curves, and copy them in order. */
static void add_points(struct top_model *m, struct top_view *v)
{
	size_t at = (m->number - 1) % TOP_HISTORY, first;
	const struct ktape_quantile *run_queue =
		&v->shares[KTAPE_SERIES_RUN_QUEUE][TOP_SHARES - 1];
	const struct ktape_quantile *wakeup =
		&v->shares[KTAPE_SERIES_WAKEUP][TOP_SHARES - 1];
	const double points[TOP_CURVES] = {
		[TOP_EVENTS] =
			v->span ? (double)v->events * 1e9 / (double)v->span : 0,
		[TOP_CPU] = top_share_of(v, TOP_CPU),
		[TOP_IRQ] = top_share_of(v, TOP_IRQ),
		[TOP_SOFTIRQ] = top_share_of(v, TOP_SOFTIRQ),
		[TOP_RUN_QUEUE] = (double)run_queue->value,
		[TOP_WAKEUP] = (double)wakeup->value,
	};

	v->nr_points = (unsigned int)kt_min(m->number, TOP_HISTORY);
	first = m->number < TOP_HISTORY ? 0 : at + 1;
	for (unsigned int c = 0; c < TOP_CURVES; c++) {
		m->curves[c][at] = points[c];
		for (unsigned int i = 0; i < v->nr_points; i++)
			v->curves[c][i] = m->curves[c][(first + i) % TOP_HISTORY];
	}
}

/*
 * Add the part of a loss that is in the interval.  The number of lost events is known at
 * its end only.  Return: true if the rest, from then on @n, is later.
 */
static bool add_loss(struct top_model *m, struct ktape_notice *n)
{
	bool late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	struct ktape_notice part = *n;
	bool rest = m->end != UINT64_MAX && n->to >= m->end;

	if (!m->begun || (rest && n->from >= m->end))
		return true;
	if (rest) {
		part.to = n->from = m->end;
		part.count = part.packets = part.overwritten = 0;
		/* In each interval, any number of events may have been overwritten. */
		part.continued &= !late;
		n->continued = !late;
	}
	m->lost += part.count;
	m->lost_total += part.count;
	m->unknown |= !part.count && !late;
	ktape_linux_notice(m->linux_stats, &part);
	return rest;
}

/* Begin an interval that ends at a time, with what is known of its losses. */
static void set_interval_end(struct top_model *m, uint64_t end)
{
	size_t kept = 0;

	m->end = end;
	for (size_t i = 0; i < m->nr_losses; i++) {
		if (add_loss(m, &m->losses[i]))
			m->losses[kept++] = m->losses[i];
	}
	m->nr_losses = kept;
}

static void set_usual_end(struct top_model *m)
{
	uint64_t end;

	if (__builtin_add_overflow(m->start, m->interval, &end))
		end = UINT64_MAX;
	set_interval_end(m, end);
}

/*
 * End the interval at a time, or at the last event if that is later, and begin the next one.
 * Return: 0 or negative errno.
 */
static int close_interval(struct top_model *m, uint64_t ts)
{
	struct top_view *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	err = ktape_linux_advance(m->linux_stats, ts);
	if (!err)
		err = ktape_linux_finish(m->linux_stats);
	if (!err)
		err = copy_results(m->linux_stats, v);
	if (err) {
		top_view_free(v);
		return err;
	}
	v->number = ++m->number;
	v->from = ktape_mono_ns(m->info, m->start);
	v->span = ktape_linux_span(m->linux_stats);
	v->events = m->events;
	v->lost = m->lost;
	v->lost_total = m->lost_total;
	v->unknown = m->unknown;
	memcpy(v->classes, m->classes, sizeof(v->classes));
	copy_shares(m->linux_stats, v);
	add_points(m, v);
	ktape_linux_restart(m->linux_stats);
	memset(m->classes, 0, sizeof(m->classes));
	m->events = 0;
	m->lost = 0;
	m->unknown = false;
	m->start = ts;
	return m->take(m->arg, v);
}

/* Begin or end intervals so that a time is inside the current one. */
static int reach_time(struct top_model *m, uint64_t ts)
{
	int err = 0;

	if (!m->begun) {
		m->begun = true;
		m->start = ts;
		set_usual_end(m);
	}
	if (ts < m->end || m->end == UINT64_MAX)
		return 0;
	err = close_interval(m, m->end);
	set_usual_end(m);
	if (err || ts < m->end || m->end == UINT64_MAX)
		return err;
	/* A pause: the interval has all of it. */
	set_interval_end(m, m->start + (ts - m->start) / m->interval * m->interval);
	err = close_interval(m, m->end);
	set_usual_end(m);
	return err;
}

/**
 * top_model_event() - add an event
 * @m: the model
 * @e: the event, in order of time
 *
 * Return: 0, -ENOMEM, or the error of the callback.
 */
int top_model_event(struct top_model *m, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	int err;

	/* Names have the times of their objects, not of the moment. */
	if (e->kind == KTAPE_RING_REGISTRY || e->opcode == KTAPE_EV_REGISTRY)
		return 0;
	if (!m->begun && m->late && e->kind == KTAPE_RING_CONTROL)
		return 0;
	err = reach_time(m, e->ts);
	if (err)
		return err;
	m->events++;
	if (d && d->event_class < KTAPE_CLASSES)
		m->classes[d->event_class]++;
	return ktape_linux_take(m->linux_stats, e);
}

/**
 * top_model_notice() - add a loss
 * @m: the model
 * @n: kinds other than KTAPE_NOTICE_LOST are ignored
 *
 * A packet reports a loss before its events are read.  The loss goes to every interval that it
 * overlaps, and the lost events count in the last of these.
 */
void top_model_notice(struct top_model *m, const struct ktape_notice *n)
{
	struct ktape_notice rest = *n;

	m->late |= n->kind == KTAPE_NOTICE_LOST &&
		   n->reasons & KTAPE_NOTICE_OVERWRITTEN;
	if (n->kind != KTAPE_NOTICE_LOST || !add_loss(m, &rest))
		return;
	if (!m->losses)
		m->losses = calloc(LOSSES_MAX, sizeof(*m->losses));
	if (m->losses && m->nr_losses < LOSSES_MAX) {
		m->losses[m->nr_losses++] = rest;
		return;
	}
	/* Far too many: all at once, in the wrong place. */
	m->lost += rest.count;
	m->lost_total += rest.count;
	m->unknown |= !rest.count && !(rest.reasons & KTAPE_NOTICE_OVERWRITTEN);
	ktape_linux_notice(m->linux_stats, &rest);
}

/**
 * top_model_end() - end the last interval where the trace ends
 * @m: the model
 *
 * Return: as top_model_event().
 */
int top_model_end(struct top_model *m)
{
	set_interval_end(m, UINT64_MAX);
	/* The start is before the last event, at which the interval then ends. */
	return m->begun ? close_interval(m, m->start) : 0;
}

/**
 * top_model_free() - free the model
 * @m: the model, or NULL
 */
void top_model_free(struct top_model *m)
{
	if (!m)
		return;
	ktape_linux_free(m->linux_stats);
	free(m->losses);
	free(m);
}

/**
 * top_view_free() - free an interval
 * @v: the interval, or NULL
 */
void top_view_free(struct top_view *v)
{
	if (!v)
		return;
	free(v->cpus);
	free(v->threads);
	free(v->series);
	free(v);
}
