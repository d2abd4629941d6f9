// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape top: draw the screen.
 *
 *	title				what is read, loss, cost of recording
 *	CPUs				a bar each, as many as a third of the screen holds
 *	curves				events, CPU, interrupts, latencies
 *	threads				the rest
 *	last line			keys, a question, or a message
 */
#include <inttypes.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/report/report.h"
#include "tool/shared/duration.h"
#include "tool/top/draw.h"

#define TEXT_MAX 1024
#define LABEL	 10		    /* columns of the label of a curve */
#define CURVE	 40		    /* most columns of a curve */
#define BAR	 30		    /* columns of a CPU's bar */
#define STEPS	 8		    /* heights of a character of a curve */
#define NAMES	 3		    /* interrupts or classes that are named */
#define NAME	 (STATS_COLUMN + 4) /* columns of a thread's name */
#define OTHER \
	3 /* lines besides CPUs, curves and threads: title, heading, last line */

/* Add a text, cut at the right edge; bytes that are no characters become "?". */
static void add_text(int y, int x, const char *text)
{
	wchar_t wide[TEXT_MAX];
	mbstate_t state = { 0 };
	int room = COLS - x;
	size_t n = 0;

	if (y < 0 || y >= LINES)
		return;
	while (*text && n < TEXT_MAX - 1) {
		wchar_t c;
		size_t len = mbrtowc(&c, text, strlen(text), &state);

		/* -2, -1: a character that is incomplete or invalid. */
		if (len >= (size_t)-2 || wcwidth(c) < 0) {
			memset(&state, 0, sizeof(state));
			c = L'?';
			len = 1;
		}
		text += len;
		room -= wcwidth(c);
		if (room < 0)
			break;
		wide[n++] = c;
	}
	mvaddnwstr(y, x, wide, (int)n);
}

__attribute__((format(printf, 3, 4))) static void put_at(int y, int x,
							 const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	add_text(y, x, text);
}

/* Add a text as a bar over the whole width. */
static void put_bar(int y, const char *text)
{
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	add_text(y, 0, text);
	attroff(A_REVERSE);
}

/* ---- title and CPUs ----------------------------------------------------------------- */

static void draw_title(const struct top_state *s)
{
	const struct top_view *v = s->view;
	char text[TEXT_MAX], length[DURATION_ROOM] = "";
	char cost[32] = "", filter[80] = "";

	if (!v) {
		snprintf(text, sizeof(text), "ktape top  %s  %s", s->title,
			 s->ended ? "the trace has no events" :
				    "waiting for events");
		put_bar(0, text);
		return;
	}
	duration_text(length, v->span, "ns");
	if (v->cost.known)
		snprintf(cost, sizeof(cost), "  tracer %.2f%%",
			 top_percent(v->cost.ns, v->span * v->nr_cpus));
	if (*s->order.filter)
		snprintf(filter, sizeof(filter), " of \"%s\"", s->order.filter);
	snprintf(text, sizeof(text),
		 "ktape top  %s%s%s  #%" PRIu64 " %s  by %s%s  lost %" PRIu64
		 "%s, %" PRIu64 " in all%s",
		 s->title, s->paused ? "  PAUSED" : "", s->ended ? "  ENDED" : "",
		 v->number, length, top_keys[s->order.key], filter, v->lost,
		 v->unknown ? "+?" : "", v->lost_total, cost);
	put_bar(0, text);
}

static void draw_cpu(int y, const struct top_view *v,
		     const struct ktape_linux_cpu *c)
{
	const struct {
		uint64_t ns;
		char mark;
	} parts[] = { { c->run, '|' }, { c->softirq, 's' }, { c->irq, 'i' } };
	char bar[BAR + 1];
	unsigned int at = 0;

	memset(bar, ' ', BAR);
	bar[BAR] = '\0';
	for (size_t i = 0; i < KT_ARRAY_SIZE(parts) && v->span; i++) {
		double cells = (double)parts[i].ns * BAR / (double)v->span;

		for (; cells >= 0.5 && at < BAR; cells--)
			bar[at++] = parts[i].mark;
	}
	put_at(y, 0, "CPU %-4u [%s] %6.2f%% irq %6.2f%% softirq %6.2f%% %s",
	       c->cpu, bar, top_percent(c->run, v->span),
	       top_percent(c->irq, v->span), top_percent(c->softirq, v->span),
	       c->unknown ? "partly unknown" : "");
}

/* Return the lines that CPUs take. */
static int cpu_lines(const struct top_view *v)
{
	size_t most = (size_t)(LINES > 3 ? LINES / 3 : 1);

	return (int)kt_min(v->nr_cpus, most);
}

static int draw_cpus(int y, const struct top_view *v)
{
	int lines = cpu_lines(v);

	for (int i = 0; i < lines; i++) {
		if (i == lines - 1 && v->nr_cpus > (size_t)lines)
			put_at(y + i, 0, "and %zu more CPUs",
			       v->nr_cpus - (size_t)i);
		else
			draw_cpu(y + i, v, &v->cpus[i]);
	}
	return y + lines;
}

/* ---- curves --------------------------------------------------------------------------- */

/* Draw the newest points of a curve, scaled to the largest one. */
static void draw_curve(int y, const struct top_state *s, enum top_curve curve)
{
	static const char *const blocks[STEPS + 1] = { " ", "▁", "▂", "▃", "▄",
						       "▅", "▆", "▇", "█" };
	static const char *const plain[STEPS + 1] = { " ", ".", ":", "-", "=",
						      "+", "*", "#", "@" };
	const double *points = s->view->curves[curve];
	unsigned int nr = s->view->nr_points, shown = kt_min(nr, CURVE);
	double most = 0;

	for (unsigned int i = nr - shown; i < nr; i++)
		most = points[i] > most ? points[i] : most;
	for (unsigned int i = 0; i < shown; i++) {
		double value = points[nr - shown + i];
		unsigned int step = 0;

		if (most > 0 && value > 0)
			step = 1 + (unsigned int)(value / most * (STEPS - 1));
		add_text(y, (int)(LABEL + CURVE - shown + i),
			 s->blocks ? blocks[step] : plain[step]);
	}
}

static void add_text_part(char text[TEXT_MAX], const char *name, double share)
{
	size_t len = strlen(text);

	snprintf(text + len, TEXT_MAX - len, "  %s %.1f%%", name, share);
}

/* Write the classes that have most events. */
static void name_classes(const struct top_view *v, char text[TEXT_MAX])
{
	bool named[KTAPE_CLASSES] = { false };

	for (unsigned int k = 0; k < NAMES; k++) {
		unsigned int best = KTAPE_CLASSES;

		for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
			if (!named[i] && v->classes[i] &&
			    (best == KTAPE_CLASSES ||
			     v->classes[i] > v->classes[best]))
				best = i;
		}
		if (best == KTAPE_CLASSES)
			return;
		named[best] = true;
		add_text_part(text, ktape_class_desc(best)->name,
			      top_percent(v->classes[best], v->events));
	}
}

/*
 * Write the interrupts of a kind that took most time: they are sorted by it.  They stand behind the
 * first KTAPE_SERIES_KINDS series, which have all values of a kind each.
 */
static void name_series(const struct top_view *v, unsigned int kind,
			char text[TEXT_MAX])
{
	unsigned int named = 0;

	for (size_t i = KTAPE_SERIES_KINDS; i < v->nr_series && named < NAMES; i++) {
		const struct ktape_series *s = &v->series[i];
		char name[STATS_NAME];

		if (s->kind != kind)
			continue;
		add_text_part(text, stats_name(name, s->name),
			      top_percent(s->sum, v->span * v->nr_cpus));
		named++;
	}
}

/* Write the percentiles of a latency, in place of the text so far. */
static void name_latency(const struct top_view *v, unsigned int kind,
			 char text[TEXT_MAX])
{
	size_t len = 0;
	char time[DURATION_ROOM];

	if (!v->series[kind].count) {
		snprintf(text, TEXT_MAX, "no values");
		return;
	}
	for (size_t i = 0; i < TOP_SHARES; i++) {
		const struct ktape_quantile *q = &v->shares[kind][i];

		duration_text(time, q->value, "ns");
		len += (size_t)snprintf(text + len, TEXT_MAX - len, "%s %s%s  ",
					top_shares[i].name, time,
					q->high != q->value ? "?" : "");
	}
	duration_text(time, v->series[kind].max, "ns");
	snprintf(text + len, TEXT_MAX - len, "max %s", time);
}

static void describe_curve(const struct top_view *v, enum top_curve curve,
			   char text[TEXT_MAX])
{
	double newest = v->curves[curve][v->nr_points - 1];

	snprintf(text, TEXT_MAX, curve == TOP_EVENTS ? "%.0f/s" : "%.2f%%",
		 curve == TOP_EVENTS ? newest : 100 * newest);
	switch (curve) {
	case TOP_EVENTS:
		name_classes(v, text);
		break;
	case TOP_IRQ:
		name_series(v, KTAPE_SERIES_IRQ, text);
		break;
	case TOP_SOFTIRQ:
		name_series(v, KTAPE_SERIES_SOFTIRQ, text);
		break;
	case TOP_RUN_QUEUE:
		name_latency(v, KTAPE_SERIES_RUN_QUEUE, text);
		break;
	case TOP_WAKEUP:
		name_latency(v, KTAPE_SERIES_WAKEUP, text);
		break;
	default:
		break;
	}
}

static int draw_curves(int y, const struct top_state *s)
{
	static const char *const labels[TOP_CURVES] = {
		[TOP_EVENTS] = "events",
		[TOP_CPU] = "cpu",
		[TOP_IRQ] = "irq",
		[TOP_SOFTIRQ] = "softirq",
		[TOP_RUN_QUEUE] = "run queue",
		[TOP_WAKEUP] = "wake-up",
	};
	char text[TEXT_MAX];

	for (unsigned int i = 0; i < TOP_CURVES; i++, y++) {
		put_at(y, 0, "%s", labels[i]);
		draw_curve(y, s, i);
		describe_curve(s->view, i, text);
		add_text(y, LABEL + CURVE + 1, text);
	}
	return y;
}

/* ---- threads -------------------------------------------------------------------------- */

/**
 * top_draw_rows() - return how many threads fit on the screen
 * @s: what is shown
 *
 * Return: number of lines.
 */
unsigned int top_draw_rows(const struct top_state *s)
{
	int rows = LINES - OTHER - (int)TOP_CURVES;

	if (s->view)
		rows -= cpu_lines(s->view);
	return rows > 0 ? (unsigned int)rows : 0;
}

static void draw_thread(int y, const struct top_view *v,
			const struct ktape_linux_thread *t)
{
	char name[STATS_NAME], run[DURATION_ROOM], wait[DURATION_ROOM];
	char longest[DURATION_ROOM], process[16] = "?";

	if (t->tgid)
		snprintf(process, sizeof(process), "%u", t->tgid);
	duration_column(run, t->run, "ns");
	duration_column(wait, t->wait, "ns");
	duration_column(longest, t->wait_max, "ns");
	put_at(y, 0, "%9d %9s %s %7.2f%% %11s %11s %11s %9" PRIu64, t->tid,
	       process, stats_column(name, t->name, NAME),
	       top_percent(t->run, v->span), run, wait, longest, t->switches);
}

static void draw_threads(int y, const struct top_state *s)
{
	unsigned int rows = top_draw_rows(s);
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%9s %9s %-*s %8s %11s %11s %11s %9s",
		 "thread", "process", NAME, "name", "cpu", "run", "waited",
		 "longest", "switches");
	put_bar(y++, text);
	for (size_t i = s->first; i < s->nr && i < s->first + rows; i++)
		draw_thread(y++, s->view, s->list[i]);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static void draw_help(void)
{
	static const char *const lines[] = {
		"q        end",
		"s        sort by the next of run, wait, longest, switches, tid, name",
		"/        filter by a part of the name, or by a thread or process id",
		"p space  pause, and go on",
		"P        set the events that the session records",
		"S        save what is in the rings: a trace in a new directory",
		"H        write a page: ktape-HOST-DATE.html",
		"arrows   scroll; also page up, page down, home, end",
		"h ?      this help, and back",
		"",
		"bars     | threads, s soft interrupts, i interrupts",
		"curves   the last intervals; latencies are 99th percentiles",
		"?        behind a time: lost events make it uncertain",
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(lines); i++)
		put_at((int)i + 2, 2, "%s", lines[i]);
}

static void draw_last(const struct top_state *s)
{
	static const char *const questions[] = {
		[TOP_ASK_FILTER] = "filter (empty: all): ",
		[TOP_ASK_PROFILE] = "events to record (empty: unchanged): ",
	};

	if (s->prompt != TOP_ASK_NOTHING)
		put_at(LINES - 1, 0, "%s%s_", questions[s->prompt], s->typed);
	else if (*s->said)
		put_at(LINES - 1, 0, "%s", s->said);
	else
		put_at(LINES - 1, 0,
		       "q end  s sort  / filter  p pause  P profile  S snapshot  H html  h help");
}

/**
 * top_draw() - draw the screen
 * @s: what is shown
 */
void top_draw(struct top_state *s)
{
	int y = 1;

	erase();
	draw_title(s);
	if (s->help) {
		draw_help();
	} else if (s->view) {
		y = draw_cpus(y, s->view);
		y = draw_curves(y, s);
		draw_threads(y, s);
	}
	move(LINES - 1, 0);
	clrtoeol();
	draw_last(s);
	refresh();
}
