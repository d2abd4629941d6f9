// SPDX-License-Identifier: GPL-2.0-only
/* Write the Linux statistics of a trace as JSON, for stats, diff and convert. */
#include <inttypes.h>
#include <stdio.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/report/report.h"
#include "tool/shared/text.h"

#define BITS 64 /* bucket n of a histogram has the values of n bits: 0 to 64 */

const struct stats_share stats_shares[STATS_SHARES] = {
	{ "p50", 500000 },
	{ "p90", 900000 },
	{ "p99", 990000 },
	{ "p99.9", 999000 },
};

/**
 * stats_put_ns() - write a time of a clock
 * @f: where to write
 * @ns: the time, in ns
 *
 * It is a string, because JavaScript and others read numbers as doubles, which are not
 * exact from 104 days on.  Intervals are numbers.
 */
void stats_put_ns(FILE *f, int64_t ns)
{
	fprintf(f, "\"%" PRId64 "\"", ns);
}

/**
 * stats_put_tgid() - write the process of a thread
 * @f: where to write
 * @t: the thread
 *
 * It is null if the trace does not say it: 0 is the process of the idle threads.
 */
void stats_put_tgid(FILE *f, const struct ktape_linux_thread *t)
{
	if (t->tgid || !t->tid)
		fprintf(f, "%u", t->tgid);
	else
		fprintf(f, "null");
}

static void put_linux_cpus(FILE *f, const struct ktape_linux *l)
{
	const struct ktape_linux_cpu *c;

	fprintf(f, "\"cpus\":[");
	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)); i++)
		fprintf(f,
			"%s\n {\"cpu\":%u,\"run_ns\":%" PRIu64
			",\"idle_ns\":%" PRIu64 ",\"irq_ns\":%" PRIu64
			",\"softirq_ns\":%" PRIu64 ",\"unknown_ns\":%" PRIu64
			",\"switches\":%" PRIu64 ",\"lost\":%" PRIu64
			",\"gaps\":%" PRIu64 ",\"uncounted_gaps\":%" PRIu64
			",\"overwritten\":%" PRIu64 ",\"late\":%s}",
			i ? "," : "", c->cpu, c->run, c->idle, c->irq,
			c->softirq, c->unknown, c->switches, c->lost, c->gaps,
			c->uncounted, c->overwritten, c->late ? "true" : "false");
	fprintf(f, "],\n");
}

static void put_linux_threads(FILE *f, const struct ktape_linux *l)
{
	const struct ktape_linux_thread *t;

	fprintf(f, "\"threads\":[");
	for (size_t i = 0; (t = ktape_linux_thread(l, i)); i++) {
		fprintf(f, "%s\n {\"tid\":%d,\"tgid\":", i ? "," : "", t->tid);
		stats_put_tgid(f, t);
		fprintf(f, ",\"name\":");
		write_json_text(f, t->name);
		fprintf(f,
			",\"run_ns\":%" PRIu64 ",\"wait_ns\":%" PRIu64
			",\"wait_max_ns\":%" PRIu64 ",\"waits\":%" PRIu64
			",\"switches\":%" PRIu64 "}",
			t->run, t->wait, t->wait_max, t->waits, t->switches);
	}
	fprintf(f, "],\n");
}

static void put_linux_shares(FILE *f, const struct ktape_linux *l, size_t i,
			     const struct ktape_info *info)
{
	const struct ktape_series *s = ktape_linux_series(l, i);
	struct ktape_quantile v[STATS_SHARES];

	fprintf(f, ",\"min\":%" PRIu64 ",\"max\":%" PRIu64 ",\"mean\":%" PRIu64,
		s->min, s->max, s->sum / s->count);
	fprintf(f, ",\"max_end_ns\":");
	stats_put_ns(f, ktape_mono_ns(info, s->max_ts));
	fprintf(f, ",\"max_cpu\":%u,\"max_tid\":%d", s->max_cpu, s->max_tid);
	for (size_t q = 0; q < STATS_SHARES; q++) {
		ktape_linux_quantile(l, i, stats_shares[q].millionth, &v[q]);
		fprintf(f, ",\"%s\":%" PRIu64, stats_shares[q].name, v[q].value);
	}
	fprintf(f, ",\"bounds\":{");
	for (size_t q = 0; q < STATS_SHARES; q++) {
		fprintf(f, "%s\"%s\":[%" PRIu64 ",", q ? "," : "",
			stats_shares[q].name, v[q].low);
		if (v[q].high == UINT64_MAX)
			fprintf(f, "null]");
		else
			fprintf(f, "%" PRIu64 "]", v[q].high);
	}
	fprintf(f, "},\"histogram\":[");
	for (unsigned int b = 0, n = 0; b <= BITS; b++) {
		uint64_t count = ktape_linux_bucket(l, i, b);

		if (count)
			fprintf(f, "%s[%" PRIu64 ",%" PRIu64 "]", n++ ? "," : "",
				b ? (uint64_t)1 << (b - 1) : 0, count);
	}
	fputc(']', f);
}

static void put_linux_series(FILE *f, const struct ktape_linux *l,
			     const struct ktape_info *info)
{
	const struct ktape_series *s;
	bool first = true;

	fprintf(f, "\"series\":[");
	for (size_t i = 0; (s = ktape_linux_series(l, i)); i++) {
		fprintf(f, "%s\n {\"kind\":\"%s\",\"key\":", first ? "" : ",",
			ktape_series_name(s->kind));
		first = false;
		if (s->key == KTAPE_SERIES_ALL)
			fprintf(f, "null");
		else
			fprintf(f, "%" PRIu64, s->key);
		fprintf(f, ",\"name\":");
		write_json_text(f, s->name);
		fprintf(f,
			",\"unit\":\"%s\",\"count\":%" PRIu64
			",\"sum\":%" PRIu64 ",\"uncertain\":%" PRIu64,
			s->unit, s->count, s->sum, s->uncertain);
		if (s->kind == KTAPE_SERIES_SYSCALL)
			fprintf(f, ",\"errors\":%" PRIu64 ",\"last_error\":%d",
				s->errors, s->error);
		if (s->count)
			put_linux_shares(f, l, i, info);
		fputc('}', f);
	}
	fprintf(f, "],\n");
}

/* Write which threads ran while others waited for their CPU; other -1: not known. */
static void json_instead(FILE *f, const struct ktape_linux *l)
{
	const struct ktape_linux_instead *p;

	fprintf(f, "\"instead\":[");
	for (size_t i = 0; (p = ktape_linux_instead(l, i)); i++)
		fprintf(f,
			"%s\n {\"tid\":%d,\"other\":%d,\"ns\":%" PRIu64
			",\"waits\":%" PRIu64 "}",
			i ? "," : "", p->tid, p->other, p->ns, p->count);
	fprintf(f, "]");
}

/**
 * stats_put_json() - write the members of the JSON object, without its braces
 * @f: where to write
 * @s: trace that was measured
 */
void stats_put_json(FILE *f, const struct stats_trace *s)
{
	const struct ktape_linux *l = s->linux_stats;

	fprintf(f,
		"\"span_ns\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"gaps\":%" PRIu64
		",\"uncounted\":%s"
		",\"missed_hits\":%" PRIu64 ",\"missed_uncounted\":%s,\n",
		ktape_linux_span(l), s->losses.count, s->losses.gaps,
		s->losses.unknown ? "true" : "false", s->missed.count,
		s->missed.unknown ? "true" : "false");
	put_linux_cpus(f, l);
	put_linux_threads(f, l);
	put_linux_series(f, l, s->info);
	json_instead(f, l);
}
