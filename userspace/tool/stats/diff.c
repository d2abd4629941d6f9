// SPDX-License-Identifier: GPL-2.0-only
/* ktape diff: compare the Linux statistics of two traces, A and B. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/input/input.h"
#include "tool/report/report.h"
#include "tool/shared/duration.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/terminal.h"
#include "tool/stats/stats.h"

struct diff_options {
	bool json;
	struct kt_opt_list conditions;
	struct input_options in;
	struct text_options text;
};

#define OPT(member) offsetof(struct diff_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "a JSON object" },
	{ "fail-if", 'F', KT_OPT_LIST, OPT(conditions), "CONDITION",
	  "exit with 3 if it holds for B: 'irq.p99 > +10%'" },
	{ "from", 'f', KT_OPT_TEXT, OPT(in.from), "FORMAT[:KEY=VALUE,...]",
	  "format of the inputs (default: detected)" },
	INPUT_OPTIONS(OPT(in.more)),
	COLOR_OPTION(struct diff_options, text),
	PAGER_OPTION(struct diff_options, text),
	{ .name = NULL },
};

/*
 * Find the series of the same kind and name.  @at is set to its index; if there is none, to the
 * number of series.
 */
static const struct ktape_series *find_series(const struct ktape_linux *l,
					      const struct ktape_series *like,
					      size_t *at)
{
	const struct ktape_series *s;

	/* Compare names: the ids of functions differ between recordings. */
	for (*at = 0; (s = ktape_linux_series(l, *at)); (*at)++) {
		if (s->kind == like->kind && !strcmp(s->name, like->name) &&
		    (s->key == KTAPE_SERIES_ALL) == (like->key == KTAPE_SERIES_ALL))
			return s;
	}
	return NULL;
}

/* Print a percentile of a series, or "-" if it has no values or is none. */
static void print_one(const struct ktape_linux *l, size_t i, uint32_t millionth)
{
	const struct ktape_series *s = ktape_linux_series(l, i);
	struct ktape_quantile v = { .value = 0 };
	char text[DURATION_ROOM] = "-";

	if (s && s->count) {
		ktape_linux_quantile(l, i, millionth, &v);
		duration_column(text, v.value, s->unit);
	}
	printf(" %11s", text);
}

/* Print a series of both traces.  Every second percentile, p50 and p99, fits into the line. */
static void print_row(const struct ktape_linux *a, size_t at_a,
		      const struct ktape_linux *b, size_t at_b)
{
	const struct ktape_series *sa = ktape_linux_series(a, at_a);
	const struct ktape_series *sb = ktape_linux_series(b, at_b);
	const struct ktape_series *s = sa ? sa : sb;
	char name[STATS_NAME];

	if ((!sa || !sa->count) && (!sb || !sb->count))
		return;
	printf("%-13s %s %10" PRIu64 " %10" PRIu64, ktape_series_name(s->kind),
	       stats_column(name, s->key == KTAPE_SERIES_ALL ? "" : s->name,
			    STATS_COLUMN),
	       sa ? sa->count : 0, sb ? sb->count : 0);
	for (size_t q = 0; q < STATS_SHARES; q += 2) {
		print_one(a, at_a, stats_shares[q].millionth);
		print_one(b, at_b, stats_shares[q].millionth);
	}
	putchar('\n');
}

static void print_diff_text(const struct ktape_linux *a, const struct ktape_linux *b)
{
	const struct ktape_series *s;
	size_t other;
	char text[2][DURATION_ROOM];

	duration_text(text[0], ktape_linux_span(a), "ns");
	duration_text(text[1], ktape_linux_span(b), "ns");
	printf("A: %s, B: %s\n\n", text[0], text[1]);
	stats_head("%-28s %10s %10s", "", "times A", "times B");
	for (size_t q = 0; q < STATS_SHARES; q += 2)
		stats_head(" %9s A %9s B", stats_shares[q].name,
			   stats_shares[q].name);
	putchar('\n');
	for (size_t i = 0; (s = ktape_linux_series(a, i)); i++) {
		find_series(b, s, &other);
		print_row(a, i, b, other);
	}
	for (size_t i = 0; (s = ktape_linux_series(b, i)); i++) {
		if (!find_series(a, s, &other))
			print_row(a, other, b, i);
	}
}

static void take_diff_notice(void *arg, const struct ktape_notice *n)
{
	struct stats_trace *s = arg;

	if (n->kind == KTAPE_NOTICE_LOST) {
		losses_add(&s->losses, n);
		if (s->linux_stats)
			ktape_linux_notice(s->linux_stats, n);
		return;
	}
	s->damaged |= is_damage(n);
	if (n->kind != KTAPE_NOTICE_LATE)
		report_input_damage(s->path, n);
}

static int measure_for_diff(struct stats_trace *s, const struct diff_options *o,
			    const char *path)
{
	struct ktape_trace_options how = {
		.notice = take_diff_notice,
		.arg = s,
		.flags = KTAPE_TRACE_SORTED,
	};
	char text[LOSS_TEXT];
	int ret;

	s->path = path;
	ret = input_open(&command_diff, &o->in, path, &how, &s->trace);
	if (ret)
		return ret;
	s->info = ktape_trace_info(s->trace);
	ret = ktape_linux_new(s->info, ktape_trace_registry(s->trace),
			      &s->linux_stats);
	if (!ret)
		ret = stats_measure(s);
	if (ret)
		return fail("%s: %s", path, read_error(ret));
	if (stats_report_bounds(s, path))
		s->damaged = true;
	if (s->losses.gaps)
		note_loss("%s: %s", path,
			  losses_text(text, &s->losses, "were lost"));
	note_overwritten(path, &s->losses);
	return 0;
}

static int print_diff(struct stats_trace traces[2], const struct diff_options *o)
{
	int ret, code = stats_evaluate(&o->conditions, &traces[0], &traces[1]);

	if (o->json) {
		printf("{\"a\":{");
		stats_put_json(stdout, &traces[0]);
		printf("},\n\"b\":{");
		stats_put_json(stdout, &traces[1]);
		puts("}}");
	} else {
		pager_start(&o->text);
		print_diff_text(traces[0].linux_stats, traces[1].linux_stats);
	}
	ret = finish_stdout();
	if (ret)
		return ret;
	return traces[0].damaged || traces[1].damaged ? EXIT_FAILED : code;
}

static int cmd_diff(int argc, char **argv)
{
	struct diff_options o = { .json = false };
	struct stats_trace traces[2] = { 0 };
	int first, ret;

	ret = kt_options(&command_diff, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc - first != 2)
		return misuse(&command_diff, "give exactly two traces to compare");
	ret = color_start(&command_diff, &o.text);
	if (!ret)
		ret = stats_check_conditions(&command_diff, &o.conditions, true);
	if (!ret)
		ret = input_check(&o.in, "-", argv + first, 2);
	for (int i = 0; i < 2 && !ret; i++)
		ret = measure_for_diff(&traces[i], &o, argv[first + i]);
	if (!ret)
		ret = print_diff(traces, &o);
	stats_close(&traces[0]);
	stats_close(&traces[1]);
	return ret;
}

const struct kt_command command_diff = {
	.name = "diff",
	.operands = "A B",
	.help = "compare the times and latencies of two traces",
	.more = "exit status: 0 ok, 1 failed or an input is damaged, 2 usage error,\n  3 a condition holds,\n  4 a trace has too few values to decide a condition\n",
	.options = options,
	.run = KT_RUN(cmd_diff),
};
