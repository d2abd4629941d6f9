// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse and evaluate the conditions of --fail-if:
 *
 *	condition  = metric operator value
 *	metric     = kind [ "[" name "]" ] "." what | "lost" | "gaps" | "overwritten"
 *	what       = count sum min mean max errors uncertain p50 p90 p99 p99.9
 *	operator   = > >= < <= == !=
 *	value      = number [ ns us ms s ]  or, of two traces, + number %
 *
 * Values of timer_late are numbers of jiffies, which take no unit.
 *
 * With two traces (ktape diff) a condition is about the second one; +N% means N percent more
 * than the value of the first.  Random variation could make a comparison of few values hold, so
 * it is made only if each trace has a minimum number of values; else a message says "undecided".
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/report/report.h"
#include "tool/shared/duration.h"
#include "tool/shared/message.h"
#include "tool/stats/stats.h"

#define METRIC_MAX 128

enum compare { GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, EQUAL, UNEQUAL };

/* A parsed condition.  @percent: @value is percent more than the other trace's. */
struct condition {
	char metric[METRIC_MAX];
	enum compare compare;
	double value;
	bool percent;
};

static const struct {
	const char *text;
	enum compare compare;
} operators[] = {
	{ ">=", GREATER_EQUAL }, { "<=", LESS_EQUAL }, { "==", EQUAL },
	{ "!=", UNEQUAL },	 { ">", GREATER },     { "<", LESS },
};

/*
 * How many values a comparison needs, because values vary by chance: at least LEAST_VALUES, and
 * for a percentile so many that LEAST_BEYOND exceed it on average.  The least and the largest
 * value need as many as the 99th percentile, although one value decides each.
 */
#define LEAST_VALUES  100
#define LEAST_BEYOND  10
#define LEAST_EXTREME 1000

static const char *const whats[] = { "count", "sum",	"min",	    "mean",
				     "max",   "errors", "uncertain" };

/* ---- metrics -------------------------------------------------------------------------- */

/* Split a metric KIND[NAME].WHAT.  Return: false if @metric has another form. */
static bool split_metric(const char *metric, unsigned int *kind, char *name,
			 const char **what)
{
	size_t len = strcspn(metric, "[.");
	const char *end = metric + len;

	for (*kind = 0; *kind < KTAPE_SERIES_KINDS; (*kind)++) {
		const char *text = ktape_series_name(*kind);

		if (strlen(text) == len && !memcmp(text, metric, len))
			break;
	}
	*name = '\0';
	if (*end == '[') {
		const char *close = strchr(end, ']');

		if (!close || close - end > METRIC_MAX / 2)
			return false;
		memcpy(name, end + 1, (size_t)(close - end) - 1);
		name[close - end - 1] = '\0';
		end = close + 1;
	}
	*what = end + 1;
	return *kind < KTAPE_SERIES_KINDS && *end == '.';
}

static bool is_statistic(const char *what)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(whats); i++) {
		if (!strcmp(whats[i], what))
			return true;
	}
	for (size_t i = 0; i < STATS_SHARES; i++) {
		if (!strcmp(stats_shares[i].name, what))
			return true;
	}
	return false;
}

/* Is the metric about what is missing? */
static bool is_lost(const char *metric)
{
	return !strcmp(metric, "lost") || !strcmp(metric, "gaps") ||
	       !strcmp(metric, "overwritten");
}

static bool is_metric(const char *metric)
{
	char name[METRIC_MAX];
	unsigned int kind;
	const char *what;

	if (is_lost(metric))
		return true;
	return split_metric(metric, &kind, name, &what) && is_statistic(what);
}

/*
 * Take a statistic that is not a percentile.  @always: a series without values has it, too.
 * Return: false if @s does not have it.
 */
static bool metric_of(const struct ktape_series *s, const char *what, double *value)
{
	const struct {
		const char *name;
		double value;
		bool always;
	} values[] = {
		{ "count", (double)s->count, true },
		{ "sum", (double)s->sum, true },
		{ "errors", (double)s->errors, true },
		{ "uncertain", (double)s->uncertain, true },
		{ "min", (double)s->min, false },
		{ "max", (double)s->max, false },
		{ "mean", s->count ? (double)s->sum / (double)s->count : 0, false },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(values); i++) {
		if (strcmp(values[i].name, what))
			continue;
		*value = values[i].value;
		return values[i].always || s->count;
	}
	return false;
}

/* Count the overwritten events.  If the number is not known, there is at least one. */
static uint64_t overwritten_of(const struct ktape_linux_cpu *c)
{
	return c->overwritten ? c->overwritten : c->late;
}

/* Sum up a metric that is_lost() holds for.  @metric: its first letter. */
static bool lost_value(const struct ktape_linux *l, char metric, double *value)
{
	const struct ktape_linux_cpu *c;

	*value = 0;
	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)); i++)
		*value += (double)(metric == 'g' ? c->gaps :
				   metric == 'o' ? overwritten_of(c) :
						   c->lost);
	return true;
}

/*
 * Find the series of a metric, and what of it is meant.
 * Return: NULL: the trace has none.
 */
static const struct ktape_series *series_of(const struct ktape_linux *l,
					    const char *metric, size_t *at,
					    const char **what)
{
	const struct ktape_series *s;
	char name[METRIC_MAX];
	unsigned int kind;

	if (!split_metric(metric, &kind, name, what))
		return NULL;
	for (*at = 0; (s = ktape_linux_series(l, *at)); (*at)++) {
		if (s->kind == kind &&
		    (*name ? s->key != KTAPE_SERIES_ALL && !strcmp(s->name, name) :
			     s->key == KTAPE_SERIES_ALL))
			break;
	}
	return s;
}

/**
 * stats_value() - look up the value of a metric
 * @l: statistics
 * @metric: name of the metric; is_metric() holds for it
 * @value: set to the value
 * @bounds: set to the range that lost events leave open, whose upper end is UINT64_MAX if there
 *	is none; all 0 if the metric is not a percentile
 *
 * Return: false: the trace has nothing to measure it with.
 */
static bool stats_value(const struct ktape_linux *l, const char *metric,
			double *value, struct ktape_quantile *bounds)
{
	const struct ktape_series *s;
	const char *what;
	size_t i;

	memset(bounds, 0, sizeof(*bounds));
	if (is_lost(metric))
		return lost_value(l, *metric, value);
	s = series_of(l, metric, &i, &what);
	if (!s)
		return false;
	for (size_t q = 0; q < STATS_SHARES && s->count; q++) {
		if (strcmp(stats_shares[q].name, what))
			continue;
		ktape_linux_quantile(l, i, stats_shares[q].millionth, bounds);
		*value = (double)bounds->value;
		return true;
	}
	return metric_of(s, what, value);
}

/* ---- conditions -------------------------------------------------------------------------- */

static const char *skip_condition_blanks(const char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

static bool take_unit(const char *p, struct condition *c)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{ "", 1 },     { "ns", 1 },  { "us", 1e3 },
		{ "ms", 1e6 }, { "s", 1e9 },
	};
	size_t len;

	p = skip_condition_blanks(p);
	for (len = strlen(p); len && isspace((unsigned char)p[len - 1]);)
		len--;
	if (len == 1 && *p == '%')
		return c->percent;
	for (size_t i = 0; i < KT_ARRAY_SIZE(units); i++) {
		if (strlen(units[i].name) != len || memcmp(units[i].name, p, len))
			continue;
		c->value *= units[i].ns;
		return !c->percent;
	}
	return false;
}

static bool is_in_jiffies(const char *metric)
{
	char name[METRIC_MAX];
	unsigned int kind;
	const char *what;

	return split_metric(metric, &kind, name, &what) &&
	       kind == KTAPE_SERIES_TIMER_LATE;
}

/* Parse a condition.  Return: NULL, or what is wrong with it. */
static const char *parse_condition(const char *text, struct condition *c)
{
	const char *p = skip_condition_blanks(text), *start = p;
	size_t i = 0, len;
	char *end;

	memset(c, 0, sizeof(*c));
	p += strcspn(p, "<>=!");
	for (len = (size_t)(p - start);
	     len && isspace((unsigned char)start[len - 1]);)
		len--;
	if (len >= METRIC_MAX)
		return "the metric is too long";
	memcpy(c->metric, start, len);
	if (!is_metric(c->metric))
		return "it does not begin with a metric, such as irq.p99 or lost";
	while (i < KT_ARRAY_SIZE(operators) &&
	       strncmp(p, operators[i].text, strlen(operators[i].text)))
		i++;
	if (i == KT_ARRAY_SIZE(operators))
		return "the operator is missing: use >, >=, <, <=, == or !=";
	c->compare = operators[i].compare;
	p = skip_condition_blanks(p + strlen(operators[i].text));
	c->percent = *p == '+';
	p += c->percent;
	if (!isdigit((unsigned char)*p))
		return "the value is not a number";
	c->value = strtod(p, &end);
	if (!c->percent && is_in_jiffies(c->metric) && *skip_condition_blanks(end))
		return "timer_late is in jiffies: give the number without a unit";
	return take_unit(end, c) ? NULL : "the unit has to be ns, us, ms or s";
}

static bool comparison_holds(enum compare compare, double a, double b)
{
	switch (compare) {
	case GREATER:
		return a > b;
	case GREATER_EQUAL:
		return a >= b;
	case LESS:
		return a < b;
	case LESS_EQUAL:
		return a <= b;
	case EQUAL:
		/* As a == b, without the warning of -Wfloat-equal. */
		return a >= b && a <= b;
	default:
		return a < b || a > b;
	}
}

/**
 * stats_check_conditions() - check the syntax of conditions
 * @command: the subcommand
 * @conditions: the conditions
 * @two: two traces are compared
 *
 * Return: 0 or the exit code.
 */
int stats_check_conditions(const struct kt_command *command,
			   const struct kt_opt_list *conditions, bool two)
{
	struct condition c;

	for (unsigned int i = 0; i < conditions->nr; i++) {
		const char *text = conditions->items[i].text;
		const char *wrong = parse_condition(text, &c);

		if (!wrong && c.percent && !two)
			wrong = "+N% compares two traces: use ktape diff";
		if (wrong)
			return misuse(command, "--fail-if '%s': %s", text, wrong);
	}
	return 0;
}

/*
 * Return true if lost events may have changed the result: those of B (@bounds), not those of A.
 * Only percentiles have bounds.
 */
static bool is_undecided(const struct condition *c, double limit, bool holds,
			 const struct ktape_quantile *bounds)
{
	double high = bounds->high == UINT64_MAX ? 1e300 : (double)bounds->high;

	if (!bounds->value && !bounds->high)
		return false;
	return comparison_holds(c->compare, (double)bounds->low, limit) != holds ||
	       comparison_holds(c->compare, high, limit) != holds;
}

/* Explain that "lost" does not include what a flight recorder has overwritten. */
static void note_not_lost(const char *text, const struct condition *c,
			  const struct stats_trace *s)
{
	double value;

	if (!is_lost(c->metric) || *c->metric == 'o' ||
	    !lost_value(s->linux_stats, 'o', &value) || value < 1)
		return;
	note("%s: events that were overwritten before the trace begins do not count as lost (see the metric overwritten)",
	     text);
}

/* How many values @what needs in each of two traces. */
static uint64_t least_values(const char *what)
{
	uint64_t beyond;

	if (!strcmp(what, "min") || !strcmp(what, "max"))
		return LEAST_EXTREME;
	for (size_t q = 0; q < STATS_SHARES; q++) {
		if (strcmp(stats_shares[q].name, what))
			continue;
		beyond = 1000000 - stats_shares[q].millionth;
		beyond = LEAST_BEYOND * 1000000ULL / beyond;
		return beyond > LEAST_VALUES ? beyond : LEAST_VALUES;
	}
	return LEAST_VALUES;
}

/* Return true if both traces have enough values for a comparison; otherwise say so. */
static bool has_enough(const char *text, const char *metric,
		       const struct stats_trace *a, const struct stats_trace *b)
{
	const struct ktape_series *sa, *sb;
	uint64_t nr_a, nr_b, least;
	const char *what;
	size_t at;

	if (is_lost(metric))
		return true;
	sa = series_of(a->linux_stats, metric, &at, &what);
	sb = series_of(b->linux_stats, metric, &at, &what);
	nr_a = sa ? sa->count : 0;
	nr_b = sb ? sb->count : 0;
	least = least_values(what);
	if (nr_a >= least && nr_b >= least)
		return true;
	note("%s: undecided: A has %" PRIu64 " values, B has %" PRIu64
	     ", and %s needs %" PRIu64 " in each: record longer",
	     text, nr_a, nr_b, what, least);
	return false;
}

/* Return the unit of the value of a metric, "ns" or "jiffies", or NULL: it is a number. */
static const char *unit_of_metric(const struct ktape_linux *l, const char *metric)
{
	const struct ktape_series *s;
	const char *what;
	size_t at;

	s = is_lost(metric) ? NULL : series_of(l, metric, &at, &what);
	if (!s || !strcmp(what, "count") || !strcmp(what, "errors") ||
	    !strcmp(what, "uncertain"))
		return NULL;
	return s->unit;
}

/* Evaluate a condition and print what it gave.  Return: the exit code for it alone. */
static int evaluate_condition(const char *text, const struct stats_trace *a,
			      const struct stats_trace *b)
{
	struct ktape_quantile bounds, other;
	double value, limit, before = 0;
	char shown[DURATION_ROOM];
	struct condition c;
	const char *unit;
	bool holds;

	parse_condition(text, &c);
	limit = c.value;
	if (c.percent && !has_enough(text, c.metric, a, b))
		return EXIT_UNDECIDED;
	if (!stats_value(b->linux_stats, c.metric, &value, &bounds)) {
		note("%s: the trace has nothing to measure it with", c.metric);
		return EXIT_OK;
	}
	if (c.percent) {
		stats_value(a->linux_stats, c.metric, &before, &other);
		limit = before * (1 + c.value / 100);
	}
	holds = comparison_holds(c.compare, value, limit);
	unit = unit_of_metric(b->linux_stats, c.metric);
	if (holds && unit && !strcmp(unit, "ns"))
		note("%s: condition holds, the value is %.15g ns (%s)", text,
		     value, duration_text(shown, (uint64_t)value, unit));
	else if (holds)
		note("%s: condition holds, the value is %.15g%s%s", text, value,
		     unit ? " " : "", unit ? unit : "");
	if (is_undecided(&c, limit, holds, &bounds))
		note("%s: lost events may have changed the result", text);
	note_not_lost(text, &c, b);
	return holds ? EXIT_HOLDS : EXIT_OK;
}

/* Return true if one of the conditions compares two traces. */
static bool compares(const struct kt_opt_list *conditions)
{
	struct condition c;

	for (unsigned int i = 0; i < conditions->nr; i++) {
		if (!parse_condition(conditions->items[i].text, &c) && c.percent)
			return true;
	}
	return false;
}

/**
 * stats_evaluate() - evaluate conditions
 * @conditions: conditions that passed stats_check_conditions()
 * @a: trace to compare with, or NULL
 * @b: trace that the conditions are about
 *
 * Return: the exit code: a condition that holds comes before an undecided one.
 */
int stats_evaluate(const struct kt_opt_list *conditions,
		   const struct stats_trace *a, const struct stats_trace *b)
{
	int one, code = EXIT_OK;

	for (unsigned int i = 0; i < conditions->nr; i++) {
		one = evaluate_condition(conditions->items[i].text, a, b);
		if (code == EXIT_OK || one == EXIT_HOLDS)
			code = one;
	}
	if (compares(conditions))
		note("+N%% compares one value of A with one of B and does not know chance: "
		     "two recordings of the same work differ, too");
	return code;
}
