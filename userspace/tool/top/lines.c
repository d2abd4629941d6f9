// SPDX-License-Identifier: GPL-2.0-only
/* ktape top: an interval as a line of text, or as a line of JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"
#include "util/put.h"

#include "tool/report/report.h"
#include "tool/shared/duration.h"
#include "tool/top/top.h"

#define P99 (TOP_SHARES - 1) /* the last percentile of top_shares */

/**
 * top_print_head() - print the names of the columns
 * @out: where to print them
 */
void top_print_head(FILE *out)
{
	fprintf(out, "%16s %9s %7s %7s %7s %11s %9s %11s %11s %7s\n", "time",
		"length", "cpu", "irq", "softirq", "events/s", "lost",
		"run queue", "wake-up", "tracer");
}

/*
 * Print the 99th percentile of a kind, or "-" if it has no values.  If lost events make it
 * uncertain, "~" follows, or "?" if it has no upper bound.
 */
static void print_p99(FILE *out, const struct top_view *v, unsigned int kind)
{
	const struct ktape_quantile *q = &v->shares[kind][P99];
	char text[DURATION_ROOM] = "-", mark = ' ';

	if (v->series[kind].count) {
		duration_column(text, q->value, "ns");
		if (q->high != q->value || q->low != q->value)
			mark = q->high == UINT64_MAX ? '?' : '~';
	}
	fprintf(out, " %10s%c", text, mark);
}

static void print_thread_line(FILE *out, const struct top_view *v,
			      const struct ktape_linux_thread *t)
{
	char name[STATS_NAME], run[DURATION_ROOM], wait[DURATION_ROOM];
	char longest[DURATION_ROOM];

	duration_text(run, t->run, "ns");
	duration_text(wait, t->wait, "ns");
	duration_text(longest, t->wait_max, "ns");
	fprintf(out,
		"%16d %s %6.2f%% ran %s, waited %s, longest %s, %" PRIu64
		" switches\n",
		t->tid, stats_column(name, t->name, STATS_COLUMN),
		top_percent(t->run, v->span), run, wait, longest, t->switches);
}

/**
 * top_print_line() - print an interval, and threads below it
 * @out: where to print it
 * @v: the interval
 * @o: which threads, and their order
 * @threads: most threads
 */
void top_print_line(FILE *out, const struct top_view *v,
		    const struct top_order *o, uint64_t threads)
{
	const struct ktape_linux_thread **list;
	char lost[32], length[DURATION_ROOM], tracer[16] = "-";
	size_t nr;

	snprintf(lost, sizeof(lost), "%" PRIu64 "%s", v->lost,
		 v->unknown ? "+?" : "");
	duration_text(length, v->span, "ns");
	if (v->cost.known)
		snprintf(tracer, sizeof(tracer), "%.2f%%",
			 top_percent(v->cost.ns, v->span * v->nr_cpus));
	fprintf(out, "%6lld.%09lld %9s %6.2f%% %6.2f%% %6.2f%% %11.0f %9s",
		(long long)(v->from / NS_PER_S),
		(long long)llabs(v->from % NS_PER_S), length,
		100 * top_share_of(v, TOP_CPU), 100 * top_share_of(v, TOP_IRQ),
		100 * top_share_of(v, TOP_SOFTIRQ),
		v->curves[TOP_EVENTS][v->nr_points - 1], lost);
	print_p99(out, v, KTAPE_SERIES_RUN_QUEUE);
	print_p99(out, v, KTAPE_SERIES_WAKEUP);
	fprintf(out, " %7s\n", tracer);
	list = threads ? calloc(v->nr_threads + 1, sizeof(*list)) : NULL;
	nr = list ? top_order_apply(o, v, list) : 0;
	for (size_t i = 0; i < nr && i < threads; i++)
		print_thread_line(out, v, list[i]);
	free(list);
}

/* ---- JSON: members are named as those of ktape stats ------------------------------- */

static void put_name_json(FILE *out, const char *text)
{
	char line[STATS_NAME_MAX * 6 + 2 + KT_PUT_OVER];
	const char *end = kt_put_json(line, text, strnlen(text, STATS_NAME_MAX));

	fwrite(line, 1, (size_t)(end - line), out);
}

static void json_classes(FILE *out, const struct top_view *v)
{
	const char *comma = "";

	fputs(",\"classes\":{", out);
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct ktape_class_desc *d = ktape_class_desc(i);

		if (!d || !v->classes[i])
			continue;
		fprintf(out, "%s\"%s\":%" PRIu64, comma, d->name, v->classes[i]);
		comma = ",";
	}
	fputs("}", out);
}

static void put_cpus_json(FILE *out, const struct top_view *v)
{
	fputs(",\"cpus\":[", out);
	for (size_t i = 0; i < v->nr_cpus; i++) {
		const struct ktape_linux_cpu *c = &v->cpus[i];

		fprintf(out,
			"%s{\"cpu\":%u,\"run_ns\":%" PRIu64
			",\"idle_ns\":%" PRIu64 ",\"irq_ns\":%" PRIu64
			",\"softirq_ns\":%" PRIu64 ",\"unknown_ns\":%" PRIu64
			",\"switches\":%" PRIu64 ",\"lost\":%" PRIu64 "}",
			i ? "," : "", c->cpu, c->run, c->idle, c->irq,
			c->softirq, c->unknown, c->switches, c->lost);
	}
	fputs("]", out);
}

static void put_threads_json(FILE *out, const struct top_view *v,
			     const struct top_order *o, uint64_t threads)
{
	const struct ktape_linux_thread **list;
	size_t nr;

	list = calloc(v->nr_threads + 1, sizeof(*list));
	nr = list ? top_order_apply(o, v, list) : 0;
	fputs(",\"threads\":[", out);
	for (size_t i = 0; i < nr && i < threads; i++) {
		const struct ktape_linux_thread *t = list[i];

		fprintf(out, "%s{\"tid\":%d,\"tgid\":", i ? "," : "", t->tid);
		stats_put_tgid(out, t);
		fputs(",\"name\":", out);
		put_name_json(out, t->name);
		fprintf(out,
			",\"run_ns\":%" PRIu64 ",\"wait_ns\":%" PRIu64
			",\"wait_max_ns\":%" PRIu64 ",\"waits\":%" PRIu64
			",\"switches\":%" PRIu64 "}",
			t->run, t->wait, t->wait_max, t->waits, t->switches);
	}
	fputs("]", out);
	free(list);
}

/* Write the percentiles of a kind. */
static void put_shares_json(FILE *out, const struct ktape_quantile *shares)
{
	for (size_t q = 0; q < TOP_SHARES; q++)
		fprintf(out, ",\"%s\":%" PRIu64, top_shares[q].name,
			shares[q].value);
}

static void put_series_json(FILE *out, const struct top_view *v)
{
	const char *comma = "";

	fputs(",\"series\":[", out);
	for (size_t i = 0; i < v->nr_series; i++) {
		const struct ktape_series *s = &v->series[i];

		if (!s->count && !s->uncertain)
			continue;
		fprintf(out, "%s{\"kind\":\"%s\",\"key\":", comma,
			ktape_series_name(s->kind));
		comma = ",";
		if (s->key == KTAPE_SERIES_ALL)
			fputs("null", out);
		else
			fprintf(out, "%" PRIu64, s->key);
		fputs(",\"name\":", out);
		put_name_json(out, s->name);
		fprintf(out,
			",\"unit\":\"%s\",\"count\":%" PRIu64 ",\"sum\":%" PRIu64
			",\"uncertain\":%" PRIu64 ",\"max\":%" PRIu64,
			s->unit, s->count, s->sum, s->uncertain, s->max);
		/* The series of all values of a kind come first, in the order of kinds. */
		if (s->key == KTAPE_SERIES_ALL && s->count)
			put_shares_json(out, v->shares[i]);
		fputs("}", out);
	}
	fputs("]", out);
}

/**
 * top_print_json() - print an interval as a JSON object in one line
 * @out: where to print it
 * @v: the interval
 * @o: which threads, and their order
 * @threads: most threads
 */
void top_print_json(FILE *out, const struct top_view *v,
		    const struct top_order *o, uint64_t threads)
{
	fprintf(out,
		"{\"number\":%" PRIu64 ",\"from_ns\":\"%" PRId64
		"\",\"span_ns\":%" PRIu64 ",\"events\":%" PRIu64 ",\"lost\":%" PRIu64
		",\"lost_total\":%" PRIu64 ",\"uncounted\":%s,\"tracer_ns\":",
		v->number, v->from, v->span, v->events, v->lost, v->lost_total,
		v->unknown ? "true" : "false");
	if (v->cost.known)
		fprintf(out, "%" PRIu64, v->cost.ns);
	else
		fputs("null", out);
	json_classes(out, v);
	put_cpus_json(out, v);
	put_threads_json(out, v, o, threads);
	put_series_json(out, v);
	fprintf(out, ",\"more_threads\":%" PRIu64 "}\n", v->more_threads);
}
