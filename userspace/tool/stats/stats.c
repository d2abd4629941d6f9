// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape stats: statistics of a trace: of Linux (report/linux.c) or, for traces of a real-time
 * system, those of TraceX, the trace viewer of ThreadX, which are printed here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/convert/merge.h"
#include "tool/input/input.h"
#include "tool/input/pieces.h"
#include "tool/report/report.h"
#include "tool/session/session.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/signals.h"
#include "tool/shared/terminal.h"
#include "tool/stats/live.h"
#include "tool/stats/stats.h"

#define EVERY_NS 15000000000ULL /* default of --every */
#define WINDOW	 (16ULL << 20) /* bytes of a live trace held back for sorting */

struct stats_options {
	bool json;
	bool events;
	bool services;
	bool rtos;
	bool linux_too;
	bool all;
	bool histogram;
	const char *prom;
	uint64_t every;
	const char *session;
	struct kt_opt_list conditions;
	struct input_options in;
	struct text_options text;
};

#define OPT(member) offsetof(struct stats_options, member)

static const struct kt_option options[] = {
	{ "json", 'j', KT_OPT_FLAG, OPT(json), NULL, "as a JSON object" },
	{ "linux", 'l', KT_OPT_FLAG, OPT(linux_too), NULL,
	  "times and latencies of Linux (default if native)" },
	{ "rtos", 'r', KT_OPT_FLAG, OPT(rtos), NULL,
	  "the analyses of TraceX (default for all others)" },
	{ "all", 'a', KT_OPT_FLAG, OPT(all), NULL,
	  "linux: show all, not only the largest" },
	{ "histogram", 'H', KT_OPT_FLAG, OPT(histogram), NULL,
	  "linux: show histograms" },
	{ "fail-if", 'F', KT_OPT_LIST, OPT(conditions), "CONDITION",
	  "linux: exit with 3 if it holds: 'irq.p99 > 50us'" },
	{ "prom", 0, KT_OPT_TEXT, OPT(prom), "FILE",
	  "linux: write metrics for Prometheus; without a trace, of a session" },
	{ "every", 0, KT_OPT_TIME, OPT(every), "TIME",
	  "with --prom: write while reading, this often (default: 15s)" },
	SESSION_OPTION(struct stats_options, session),
	{ "services", 's', KT_OPT_FLAG, OPT(services), NULL,
	  "rtos: also show the services of each thread" },
	{ "events", 'e', KT_OPT_FLAG, OPT(events), NULL,
	  "rtos: show the events, with what ran after each" },
	{ "from", 'f', KT_OPT_TEXT, OPT(in.from), "FORMAT[:KEY=VALUE,...]",
	  "format of the input (default: detected)" },
	INPUT_OPTIONS(OPT(in.more)),
	COLOR_OPTION(struct stats_options, text),
	PAGER_OPTION(struct stats_options, text),
	{ .name = NULL },
};

/**
 * struct stats - statistics of a trace
 * @o: options
 * @rtos: those of an RTOS, if not of Linux
 * @t: the trace, with the Linux statistics
 * @live: metrics that are written while the trace is read
 */
struct stats {
	struct stats_options o;
	struct stats_rtos rtos;
	struct stats_trace t;
	struct stats_live live;
};

typedef unsigned long long ull;

static void take_stats_notice(void *arg, const struct ktape_notice *n)
{
	struct stats *s = arg;

	if (n->kind == KTAPE_NOTICE_LOST) {
		losses_add(&s->t.losses, n);
		if (s->t.linux_stats)
			ktape_linux_notice(s->t.linux_stats, n);
		stats_rtos_notice(&s->rtos, n);
		return;
	}
	s->t.damaged |= is_damage(n);
	if (n->kind != KTAPE_NOTICE_LATE)
		report_input_damage(s->t.path, n);
}

static int print_stats_json(const struct stats *s)
{
	int err;

	putchar('{');
	err = stats_put_rtos(stdout, &s->rtos, s->o.services);
	puts("}");
	return err;
}

/* ---- text ------------------------------------------------------------------------------ */

static void print_share(const char *name, uint64_t ticks, uint64_t all)
{
	char shown[STATS_NAME];

	printf("%20llu %6.2f%%  %s\n", (ull)ticks,
	       all ? 100.0 * (double)ticks / (double)all : 0.0,
	       stats_name(shown, name));
}

static int print_popular(const struct stats *s, int64_t thread)
{
	struct ktape_rtos_count *counts;
	char text[STATS_NAME_MAX], shown[STATS_NAME];
	size_t nr;
	int err = ktape_rtos_popular(s->rtos.rtos, thread, &counts, &nr);

	for (size_t i = 0; !err && i < nr; i++) {
		stats_service(&s->rtos, counts[i].id, text);
		printf("%12llu  %s\n", (ull)counts[i].count,
		       stats_name(shown, text));
	}
	if (!err)
		free(counts);
	return err;
}

static void print_totals(const struct stats *s)
{
	const struct ktape_rtos_totals *c = ktape_rtos_totals(s->rtos.rtos);
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "threads", c->threads },
		{ "events", c->events },
		{ "ticks", c->max_ticks },
		{ "context switches", c->context_switches },
		{ "preemptions", c->preemptions },
		{ "time slices", c->time_slices },
		{ "suspensions", c->suspensions },
		{ "resumptions", c->resumptions },
		{ "interrupts", c->interrupts },
		{ "nested interrupts", c->nested_interrupts },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(rows); i++)
		printf("%-24s %12llu\n", rows[i].name, (ull)rows[i].value);
	if (!c->mutex_calls) {
		printf("%-24s %12s  the trace has no calls of mutexes\n",
		       "priority inversions", "not known");
		return;
	}
	printf("%-24s %12llu\n", "priority inversions", (ull)c->inversions);
	printf("%-24s %12llu\n", "of these without bound", (ull)c->bad_inversions);
	if (c->open_inversions)
		printf("%-24s %12llu\n", "of these without end",
		       (ull)c->open_inversions);
	if (c->untracked)
		printf("%-24s %12llu\n", "of these not followed", (ull)c->untracked);
}

/* Print the size of a stack and how much of it was never used, if an event had a stack pointer. */
static void print_stack(const struct ktape_rtos_thread *t)
{
	char shown[STATS_NAME];

	stats_name(shown, t->name);
	if (t->stack_min == t->stack_size)
		printf("%12u %12s  %s\n", t->stack_size, "?", shown);
	else
		printf("%12u %12u  %s\n", t->stack_size, t->stack_min, shown);
}

static int print_stats_text(const struct stats *s)
{
	const struct ktape_rtos_totals *c = ktape_rtos_totals(s->rtos.rtos);
	const struct ktape_rtos_thread *t;
	char shown[STATS_NAME];
	bool stacks = false;
	int err;

	print_totals(s);
	stats_head("\n%20s %7s  thread\n", "ticks", "");
	for (size_t i = 0; (t = ktape_rtos_thread(s->rtos.rtos, i)); i++) {
		print_share(t->name, t->ticks, c->max_ticks);
		stacks |= t->stack_size != 0;
	}
	print_share("(idle)", c->idle_ticks, c->max_ticks);
	print_share("(interrupts)", c->interrupt_ticks, c->max_ticks);
	if (stacks)
		stats_head("\n%12s %12s  thread\n", "stack", "never used");
	for (size_t i = 0; stacks && (t = ktape_rtos_thread(s->rtos.rtos, i)); i++)
		print_stack(t);
	stats_head("\n%12s  service\n", "times");
	err = print_popular(s, -1);
	for (size_t i = 0;
	     !err && s->o.services && (t = ktape_rtos_thread(s->rtos.rtos, i));
	     i++) {
		stats_head("\n%12s  service of %s\n", "times",
			   stats_name(shown, t->name));
		err = print_popular(s, t->address);
	}
	stats_print_responses(&s->rtos);
	return err;
}

/* ---- events ------------------------------------------------------------------------------ */

/* Print all events of an RTOS as TraceX has them, one a line, for --events. */
static void print_events(const struct stats *s)
{
	const struct ktape_rtos_event *e;

	for (uint64_t i = 0; (e = ktape_rtos_event(s->rtos.rtos, i)); i++)
		printf("%llu ctx=%08x id=%u prio=%x ts=%08x rel=%llu i1=%08x i2=%08x i3=%08x i4=%08x next=%08x pinv=%llu bad=%llu%s\n",
		       (ull)i, e->context, e->id, e->prio, e->stamp,
		       (ull)e->ticks, e->info[0], e->info[1], e->info[2],
		       e->info[3], e->next, (ull)e->inversion, (ull)e->bad,
		       e->flags & KTAPE_RTOS_OPEN ? " open" : "");
}

/*
 * Print what was left out.  Return: true if statistics are incomplete; names and response times
 * that were left out do not count.
 */
static bool report_bounds(const struct stats *s)
{
	const char *what;
	uint64_t count;
	bool any = false;

	if (s->t.linux_stats)
		any = stats_report_bounds(&s->t, NULL);
	for (unsigned int i = 0;
	     s->rtos.rtos && (count = ktape_rtos_left_out(s->rtos.rtos, i, &what));
	     i++) {
		report_left_out(NULL, what, count);
		any = true;
	}
	count = s->rtos.responses ? ktape_responses_left_out(s->rtos.responses) : 0;
	if (count)
		note("%llu events were left out: too many objects and signals",
		     (ull)count);
	if (!s->t.linux_stats)
		report_names_left_out(NULL, ktape_trace_registry(s->t.trace));
	return any;
}

static int print_stats(const struct stats *s)
{
	const struct stats_show how = { s->o.json, s->o.all, s->o.histogram };
	char text[LOSS_TEXT];
	int err = 0;

	if (!s->o.json)
		pager_start(&s->o.text);
	if (s->t.linux_stats)
		stats_print(&s->t, &how);
	else if (s->o.events)
		print_events(s);
	else
		err = s->o.json ? print_stats_json(s) : print_stats_text(s);
	if (s->t.losses.gaps)
		note_loss("%s, so counts are too low",
			  losses_text(text, &s->t.losses, "were lost"));
	note_overwritten(NULL, &s->t.losses);
	if (s->t.missed.count || s->t.missed.unknown)
		note_loss("%s%llu hits of probes did not reach the tracer, so their counts are too low (see ktape verify)",
			  s->t.missed.unknown ? "at least " : "",
			  (ull)s->t.missed.count);
	return err;
}

static int measure_rtos(struct stats *s)
{
	const struct ktape_event *e;
	int ret = stats_rtos_begin(&s->rtos, ktape_trace_info(s->t.trace),
				   ktape_trace_registry(s->t.trace));

	while (!ret && (ret = ktape_trace_next(s->t.trace, &e)) > 0)
		ret = stats_rtos_event(&s->rtos, e);
	return ret ? ret : ktape_rtos_finish(s->rtos.rtos);
}

static int measure_linux(struct stats *s)
{
	int ret;

	s->t.info = ktape_trace_info(s->t.trace);
	ret = ktape_linux_new(s->t.info, ktape_trace_registry(s->t.trace),
			      &s->t.linux_stats);

	return ret ? ret : stats_measure(&s->t);
}

static int make_stats(struct stats *s, bool rtos)
{
	const struct ktape_info *info = ktape_trace_info(s->t.trace);
	int ret, code = EXIT_OK;

	if (info->counts)
		return fail("%s: its clock %s does not count time, so there are no durations (option freq= of --from is the counts in a second)",
			    s->t.path, info->clock);
	ret = rtos ? measure_rtos(s) : measure_linux(s);

	if (!ret)
		ret = print_stats(s);
	if (ret)
		return fail("%s: %s", s->t.path, read_error(ret));
	if (report_bounds(s))
		s->t.damaged = true;
	if (!rtos)
		code = stats_evaluate(&s->o.conditions, NULL, &s->t);
	ret = finish_stdout();
	return ret ? ret : s->t.damaged ? EXIT_FAILED : code;
}

/*
 * Check the options, and set the kind of statistics if one of them chooses it.  It is called
 * before the trace is open, to refuse options early, and after, with the trace's kind in @rtos.
 * Return: 0 or the exit code.
 */
static int check_stats_options(const struct stats_options *o, bool *rtos)
{
	bool only_linux = o->conditions.nr || o->all || o->histogram || o->prom;
	bool only_rtos = o->services || o->events;
	bool shown = o->json || o->all || o->histogram || o->conditions.nr;

	if ((o->rtos || only_rtos) && (o->linux_too || only_linux))
		return misuse(&command_stats,
			      "options of --linux and of --rtos exclude each other");
	if (o->prom ? shown : o->every != EVERY_NS || o->session)
		return misuse(&command_stats,
			      o->prom ? "--prom only writes its file: leave out what is shown" :
					"--every and --session need --prom");
	if (o->rtos || only_rtos)
		*rtos = true;
	else if (o->linux_too || only_linux)
		*rtos = false;
	return stats_check_conditions(&command_stats, &o->conditions, false);
}

/* Write the metrics until the trace ends.  Return: the exit code. */
static int make_metrics(struct stats *s)
{
	int ret = stats_live_measure(&s->live, s->o.prom);
	char text[LOSS_TEXT];

	if (ret)
		return fail("%s: %s", s->live.error ? s->o.prom : s->t.path,
			    s->live.error ? strerror(-ret) : read_error(ret));
	if (s->t.losses.gaps)
		note("%s: see ktape_uncertain_total",
		     losses_text(text, &s->t.losses, "were lost"));
	note_overwritten(NULL, &s->t.losses);
	return s->t.damaged ? EXIT_FAILED : EXIT_OK;
}

static void write_live(void *arg)
{
	struct stats *s = arg;

	stats_live_write_due(&s->live);
}

/* Prepare to read a live trace or session.  Return: 0 or the exit code. */
static int begin_metrics(struct stats *s, struct ktape_trace_options *how)
{
	s->live.t = &s->t;
	s->live.every = s->o.every;
	how->idle = write_live;
	how->window = WINDOW;
	how->wake = signals_pipe();
	if (how->wake < 0)
		return fail("pipe: %s", strerror(-how->wake));
	signals_catch();
	return 0;
}

/* Open the trace and measure it.  Return: the exit code. */
static int run_stats(struct stats *s, char **path)
{
	struct ktape_trace_options how = {
		.notice = take_stats_notice,
		.arg = s,
		.flags = KTAPE_TRACE_SORTED,
	};
	bool rtos;
	int ret = color_start(&command_stats, &s->o.text);

	if (!ret)
		ret = check_stats_options(&s->o, &rtos);
	s->t.path = *path;
	if (!ret)
		ret = input_check(&s->o.in, s->o.prom ? s->o.prom : "-", path, 1);
	if (!ret && s->o.prom)
		ret = begin_metrics(s, &how);
	if (!ret)
		ret = input_open(&command_stats, &s->o.in, *path, &how, &s->t.trace);
	if (ret)
		return ret;
	rtos = !ktape_trace_is_kernel(s->t.trace);
	ret = check_stats_options(&s->o, &rtos);
	if (ret)
		return ret;
	return s->o.prom ? make_metrics(s) : make_stats(s, rtos);
}

static int cmd_stats(int argc, char **argv)
{
	struct stats s = { .o = { .every = EVERY_NS } };
	struct ktape_device *device = NULL;
	char dash[] = "-", *input = dash;
	struct pieces in = { .nr = 0 };
	int first, ret, end;

	ret = kt_options(&command_stats, argc, argv, &s.o, &first);
	if (ret >= 0)
		return ret;
	if (argc == first && !s.o.prom)
		return misuse(&command_stats,
			      "give a trace, or several pieces of a log");
	if (argc - first > 1 && s.o.prom)
		return misuse(&command_stats, "--prom is of one trace");
	if (s.o.session && argc > first)
		return misuse(&command_stats,
			      "a trace and --session exclude each other");
	if (argc > first + 1 || (argc > first && !s.o.prom))
		ret = pieces_begin(&in, &s.o.in, argc - first, argv + first);
	else
		ret = argc > first ? 0 : stats_live_session(s.o.session, &device);
	/* A session is read as "-": stats_live_session() has made it the standard input. */
	if (in.path)
		input = (char *)in.path;
	else if (argc > first)
		input = argv[first];
	if (!ret)
		ret = run_stats(&s, &input);
	/* The trace first: it has the pipe open into which a child may still be writing. */
	stats_close(&s.t);
	end = pieces_end(&in);
	ret = ret ? ret : end;
	stats_rtos_release(&s.rtos);
	ktape_device_close(device);
	return ret;
}

const struct kt_command command_stats = {
	.name = "stats",
	.operands = "[DIR|FILE|-...]",
	.help = "show statistics of threads, interrupts and services",
	.more = "exit status: 0 ok, 1 failed or the input is damaged, 2 usage error,\n  3 a condition holds\n",
	.options = options,
	.run = KT_RUN(cmd_stats),
};
