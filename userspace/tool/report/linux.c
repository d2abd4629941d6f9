// SPDX-License-Identifier: GPL-2.0-only
/* Print the Linux statistics of a trace as text, for stats; measure it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/put.h"

#include "tool/report/report.h"
#include "tool/shared/color.h"
#include "tool/shared/duration.h"

#define SHOWN 20 /* entries of a kind that are shown without --all */
#define BITS  64 /* bucket n of a histogram has the values of n bits: 0 to 64 */
#define BAR   40 /* characters of the longest bar of a histogram */

/* Read the whole trace into the statistics.  Return: 0 or negative errno. */
int stats_measure(struct stats_trace *s)
{
	const struct ktape_event *e;
	int ret = 0;

	while (!ret && (ret = ktape_trace_next(s->trace, &e)) > 0) {
		missed_add(&s->missed, e);
		ret = ktape_linux_take(s->linux_stats, e);
	}
	return ret ? ret : ktape_linux_finish(s->linux_stats);
}

/**
 * stats_report_bounds() - print what did not fit into bounded memory
 * @s: trace that was measured
 * @path: path of the trace, or NULL
 *
 * Return: true if the numbers are incomplete.
 */
bool stats_report_bounds(const struct stats_trace *s, const char *path)
{
	const char *what;
	uint64_t count;
	unsigned int i = 0;

	for (; (count = ktape_linux_left_out(s->linux_stats, i, &what)); i++)
		report_left_out(path, what, count);
	report_names_left_out(path, ktape_trace_registry(s->trace));
	return i;
}

void stats_close(struct stats_trace *s)
{
	ktape_linux_free(s->linux_stats);
	ktape_trace_close(s->trace);
}

/**
 * stats_name() - escape a name for a terminal
 * @shown: set to the escaped name
 * @name: name of a trace, which may have any bytes
 *
 * Return: @shown.
 */
const char *stats_name(char shown[STATS_NAME], const char *name)
{
	*kt_put_escaped(shown, name, strnlen(name, STATS_NAME_MAX)) = '\0';
	return shown;
}

/*
 * Return the bytes of the first character or escape, and set its width.  Bytes 10xxxxxx go on a
 * character of UTF-8, which has a width of 1.
 */
static size_t escaped_length(const char *text, unsigned int *columns)
{
	size_t n = 1;

	if (*text == '\\')
		n = text[1] == 'x' ? 4 : 2;
	*columns = (unsigned int)n;
	while (((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/**
 * stats_column() - escape a name and pad or cut it to a column
 * @shown: set to the name, with no character or escape cut in two
 * @name: name of a trace
 * @columns: width of the column
 *
 * Return: @shown.
 */
const char *stats_column(char shown[STATS_NAME], const char *name,
			 unsigned int columns)
{
	unsigned int width;
	char *at = shown;
	size_t n;

	stats_name(shown, name);
	for (; *at; at += n, columns -= width) {
		n = escaped_length(at, &width);
		if (width > columns)
			break;
	}
	memset(at, ' ', columns);
	at[columns] = '\0';
	return shown;
}

/**
 * stats_head() - print the heading of a table
 * @format: as in printf(3); begins with a line's end if one comes before the heading
 */
void stats_head(const char *format, ...)
{
	va_list args;

	if (*format == '\n')
		putchar(*format++);
	fputs(role_begin(ROLE_HEAD), stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fputs(role_end(), stdout);
}

static void print_linux_time(uint64_t ns)
{
	char text[DURATION_ROOM];

	printf(" %11s", duration_column(text, ns, "ns"));
}

/* Print a thread's number and name. */
static void print_linux_thread(int32_t tid, const char *name)
{
	char shown[STATS_NAME];

	printf("%9d %s%-16s%s", tid, role_begin(ROLE_THREAD),
	       stats_name(shown, name), role_end());
}

static double percent_of(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0.0;
}

/* Print how many events a CPU had overwritten before the trace begins; "?": not known. */
static void print_overwritten(const struct ktape_linux_cpu *c)
{
	const char *begin = c->late ? role_begin(ROLE_LOSS) : "";
	const char *end = c->late ? role_end() : "";

	if (c->late && !c->overwritten)
		printf(" %s%11s%s", begin, "?", end);
	else
		printf(" %s%11" PRIu64 "%s", begin, c->overwritten, end);
}

/* "+?" behind the lost events: there were others, whose number is not known. */
static void print_linux_cpus(const struct ktape_linux *l)
{
	uint64_t span = ktape_linux_span(l);
	const struct ktape_linux_cpu *c;
	bool late = false;

	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)); i++)
		late |= c->late;
	stats_head("%-8s %8s %8s %8s %8s %8s %10s %8s%s\n", "CPU", "threads",
		   "idle", "irq", "softirq", "unknown", "switches", "lost",
		   late ? " overwritten" : "");
	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)); i++) {
		printf("%s%-8u%s %7.2f%% %7.2f%% %7.2f%% %7.2f%% %7.2f%% %10" PRIu64
		       " %s%8" PRIu64 "%s%s",
		       role_begin(ROLE_CPU), c->cpu, role_end(),
		       percent_of(c->run, span), percent_of(c->idle, span),
		       percent_of(c->irq, span), percent_of(c->softirq, span),
		       percent_of(c->unknown, span), c->switches,
		       c->lost || c->uncounted ? role_begin(ROLE_LOSS) : "",
		       c->lost, c->uncounted ? "+?" : "",
		       c->lost || c->uncounted ? role_end() : "");
		if (late)
			print_overwritten(c);
		putchar('\n');
	}
}

static void print_threads(const struct ktape_linux *l, bool all)
{
	uint64_t span = ktape_linux_span(l);
	const struct ktape_linux_thread *t;

	stats_head("\n%9s %-16s %11s %8s %9s %11s %11s\n", "thread", "name",
		   "run", "", "switches", "waited", "longest");
	for (size_t i = 0; (t = ktape_linux_thread(l, i)); i++) {
		if (!all && i >= SHOWN) {
			puts("          ...");
			break;
		}
		print_linux_thread(t->tid, t->name);
		print_linux_time(t->run);
		printf(" %7.2f%% %9" PRIu64, percent_of(t->run, span), t->switches);
		print_linux_time(t->wait);
		print_linux_time(t->wait_max);
		putchar('\n');
	}
}

static void print_shares(const struct ktape_linux *l, size_t i)
{
	const struct ktape_series *s = ktape_linux_series(l, i);
	char text[DURATION_ROOM], mark;

	for (size_t q = 0; q < STATS_SHARES; q++) {
		struct ktape_quantile v;

		ktape_linux_quantile(l, i, stats_shares[q].millionth, &v);
		/* Lost events make it uncertain: '~' up to a bound, '?' without one. */
		mark = ' ';
		if (v.low != v.value || v.high != v.value)
			mark = v.high == UINT64_MAX ? '?' : '~';
		printf(" %10s%c", duration_column(text, v.value, s->unit), mark);
	}
	printf(" %10s", duration_column(text, s->max, s->unit));
	if (s->errors)
		printf("  %" PRIu64 " errors", s->errors);
	if (s->uncertain)
		printf("  %" PRIu64 " uncertain", s->uncertain);
	putchar('\n');
}

static void print_histogram(const struct ktape_linux *l, size_t i)
{
	uint64_t most = 0, n;
	char text[DURATION_ROOM];

	for (unsigned int b = 0; b <= BITS; b++)
		most = kt_max(most, ktape_linux_bucket(l, i, b));
	for (unsigned int b = 0; b <= BITS; b++) {
		n = ktape_linux_bucket(l, i, b);
		if (!n)
			continue;
		duration_column(text, b ? 1ULL << (b - 1) : 0,
				ktape_linux_series(l, i)->unit);
		printf("%28s %10" PRIu64 " ", text, n);
		for (uint64_t bar = (n * BAR + most - 1) / most; bar--;)
			putchar('#');
		putchar('\n');
	}
}

static void print_series(const struct ktape_linux *l, const struct stats_show *how)
{
	const struct ktape_series *s;
	unsigned int kind = KTAPE_SERIES_KINDS, shown = 0;
	char name[STATS_NAME];

	stats_head("\n%-28s %10s", "latencies and durations", "times");
	for (size_t q = 0; q < STATS_SHARES; q++)
		stats_head(" %10s ", stats_shares[q].name);
	stats_head(" %10s\n", "max");
	for (size_t i = 0; (s = ktape_linux_series(l, i)); i++) {
		if (!s->count && !s->uncertain)
			continue;
		shown = s->kind == kind ? shown + 1 : 1;
		kind = s->kind;
		if (s->key != KTAPE_SERIES_ALL && shown > SHOWN && !how->all)
			continue;
		printf("%-13s %s %10" PRIu64, ktape_series_name(s->kind),
		       stats_column(name, s->key == KTAPE_SERIES_ALL ? "" : s->name,
				    STATS_COLUMN),
		       s->count);
		if (s->count)
			print_shares(l, i);
		else
			printf("  %" PRIu64 " uncertain\n", s->uncertain);
		if (how->histogram && s->count)
			print_histogram(l, i);
	}
}

static const char *thread_name(const struct ktape_linux *l, int32_t tid)
{
	const struct ktape_linux_thread *t;

	for (size_t i = 0; (t = ktape_linux_thread(l, i)); i++) {
		if (t->tid == tid)
			return tid ? t->name : "(idle)";
	}
	return tid ? "" : "(idle)";
}

/* Print which threads ran while others waited for their CPU. */
static void print_instead(const struct ktape_linux *l, bool all)
{
	const struct ktape_linux_instead *p;
	char shown[STATS_NAME];

	for (size_t i = 0; (p = ktape_linux_instead(l, i)); i++) {
		if (!i)
			stats_head("\n%9s %-16s %11s %8s   %s\n", "waiting",
				   "name", "time", "waits", "ran instead");
		if (!all && i >= SHOWN) {
			puts("          ...");
			break;
		}
		print_linux_thread(p->tid, thread_name(l, p->tid));
		print_linux_time(p->ns);
		printf(" %8" PRIu64 "   ", p->count);
		if (p->other < 0)
			puts("?");
		else
			printf("%d %s%s%s\n", p->other, role_begin(ROLE_THREAD),
			       stats_name(shown, thread_name(l, p->other)),
			       role_end());
	}
}

void stats_print(const struct stats_trace *s, const struct stats_show *how)
{
	const struct ktape_linux *l = s->linux_stats;
	char text[DURATION_ROOM];

	if (how->json) {
		putchar('{');
		stats_put_json(stdout, s);
		puts("}");
		return;
	}
	printf("%s\n\n", duration_text(text, ktape_linux_span(l), "ns"));
	print_linux_cpus(l);
	print_threads(l, how->all);
	print_series(l, how);
	print_instead(l, how->all);
}
