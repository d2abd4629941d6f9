// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape try: record a few seconds, write a page to look at, and print the three
 * longest times.  The module is loaded if need be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"
#include "util/nanoseconds.h"

#include "tool/record/record.h"
#include "tool/report/report.h"
#include "tool/session/session.h"
#include "tool/shared/color.h"
#include "tool/shared/duration.h"
#include "tool/shared/loss.h"
#include "tool/shared/message.h"
#include "tool/shared/output.h"
#include "tool/shared/self.h"
#include "tool/shared/terminal.h"
#include "tool/shared/text.h"

#define USUAL_TIME   5000000000ULL	     /* ns */
#define USUAL_EVENTS "default,syscall,block" /* what the findings need */

struct try_options {
	const char *output;
	const char *events;
	uint64_t time;
	const char *device;
	struct text_options text;
};

#define OPT(member) offsetof(struct try_options, member)

static const struct kt_option options[] = {
	{ "duration", 'd', KT_OPT_TIME, OPT(time), "TIME",
	  "record for this time (default: 5s)" },
	{ "events", 'e', KT_OPT_TEXT, OPT(events), "LIST",
	  "events, classes, globs (default: " USUAL_EVENTS ")" },
	{ "output", 'o', KT_OPT_TEXT, OPT(output), "FILE.html",
	  "page to write (default: ktape-HOST-DATE.html)" },
	{ "device", 0, KT_OPT_TEXT, OPT(device), "PATH",
	  "instead of " KTAPE_DEVICE_PATH },
	COLOR_OPTION(struct try_options, text),
	{ .name = NULL },
};

/*
 * Load the module, if the usual device is wanted and missing, and this is root: the one that is
 * installed, else ktape.ko in the current folder.
 */
static void load_module(const char *device)
{
	char *const modprobe[] = { (char *)"modprobe", (char *)"-q",
				   (char *)"ktape", NULL };
	char *const insmod[] = { (char *)"insmod", (char *)"./ktape.ko", NULL };

	if (device || !access(KTAPE_DEVICE_PATH, F_OK) || geteuid())
		return;
	if (run_program("modprobe", modprobe) && !access("ktape.ko", R_OK))
		run_program("insmod", insmod);
	if (!access(KTAPE_DEVICE_PATH, F_OK))
		note("loaded the module ktape");
}

/* Open the device once, so that a failure is explained before anything is written. */
static int check_device(const char *path)
{
	struct ktape_device *device;

	if (open_device(path, true, &device))
		return EXIT_FAILED;
	ktape_device_close(device);
	return EXIT_OK;
}

/*
 * Record into the folder @trace, by ktape record.  A signal ends only the recording: the findings
 * and the page then have what was recorded until then.  Return: its exit status.
 */
static int record_trace(const struct try_options *o, const char *trace)
{
	char time_text[32];
	char *argv[14] = { (char *)"ktape", (char *)"record", (char *)"-q",
			   (char *)"-d",    time_text,	      (char *)"-o",
			   (char *)trace,   (char *)"-e",     (char *)o->events };
	size_t n = 9; /* arguments so far */
	int ret;

	snprintf(time_text, sizeof(time_text), "%lluns",
		 (unsigned long long)o->time);
	if (o->device) {
		argv[n++] = (char *)"--device";
		argv[n++] = (char *)o->device;
	}
	ret = run_self_until_signal(argv);
	if (ret == -EINTR)
		return fail("a signal ended ktape record before it began");
	return ret < 0 ? fail("cannot run ktape record: %s", strerror(-ret)) : ret;
}

/* ---- findings --------------------------------------------------------------------- */

static void thread_text(char *to, size_t size, const struct stats_trace *s,
			int32_t tid)
{
	const struct ktape_linux_thread *t;
	char shown[STATS_NAME];

	snprintf(to, size, tid < 0 ? "an unknown thread" : "thread %d", tid);
	for (size_t i = 0;
	     tid > 0 && (t = ktape_linux_thread(s->linux_stats, i)); i++) {
		if (t->tid == tid)
			snprintf(to, size, "%s%s (%d)%s", role_begin(ROLE_THREAD),
				 stats_name(shown, t->name), tid, role_end());
	}
}

/* Print when and where the largest value of a series was. */
static void print_moment(const struct stats_trace *s,
			 const struct ktape_series *series)
{
	int64_t end = ktape_mono_ns(s->info, series->max_ts);
	int64_t begin = end - (int64_t)series->max;

	printf("     at %lld.%09lld on CPU %s%u%s\n",
	       (long long)(begin / NS_PER_S), (long long)llabs(begin % NS_PER_S),
	       role_begin(ROLE_CPU), series->max_cpu, role_end());
}

/* Return true for a system call that takes long because it waits for something. */
static bool is_wait(const struct ktape_series *s)
{
	static const char *const names[] = {
		"accept",	   "accept4",	   "clock_nanosleep",
		"epoll_pwait",	   "epoll_pwait2", "epoll_wait",
		"futex",	   "io_getevents", "io_uring_enter",
		"nanosleep",	   "pause",	   "poll",
		"ppoll",	   "pselect6",	   "restart_syscall",
		"recvfrom",	   "recvmsg",	   "rt_sigsuspend",
		"rt_sigtimedwait", "select",	   "wait4",
		"waitid",
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(names); i++) {
		if (s->kind == KTAPE_SERIES_SYSCALL && !strcmp(s->name, names[i]))
			return true;
	}
	return false;
}

/*
 * Find the series of @kinds with the largest value: among those of all values of a kind if @whole,
 * else among the single ones.  System calls that wait are left out.
 */
static const struct ktape_series *largest_series(const struct stats_trace *s,
						 const uint32_t *kinds,
						 size_t nr, bool whole)
{
	const struct ktape_series *best = NULL, *p;

	for (size_t i = 0; (p = ktape_linux_series(s->linux_stats, i)); i++) {
		bool wanted = false;

		for (size_t k = 0; k < nr; k++)
			wanted |= p->kind == kinds[k] && !is_wait(p);
		if (wanted && p->count && whole == (p->key == KTAPE_SERIES_ALL) &&
		    (!best || p->max > best->max))
			best = p;
	}
	return best;
}

/* Print the longest wait for a CPU.  Return: number of findings, as print_longest(). */
static int print_wait(const struct stats_trace *s)
{
	static const uint32_t kinds[] = { KTAPE_SERIES_RUN_QUEUE };
	const struct ktape_series *p = largest_series(s, kinds, 1, true);
	const struct ktape_linux_instead *w =
		ktape_linux_longest_wait(s->linux_stats);
	char who[STATS_NAME + 32], other[STATS_NAME + 32], waited[DURATION_ROOM];
	char ran[DURATION_ROOM];

	if (!p || !w)
		return 0;
	thread_text(who, sizeof(who), s, w->tid);
	thread_text(other, sizeof(other), s, w->other);
	duration_text(waited, p->max, p->unit);
	duration_text(ran, w->ns, "ns");
	printf("  longest wait for a CPU: %s waited %s; ", who, waited);
	if (w->other)
		printf("%s ran there for %s of it\n", other, ran);
	else
		printf("the CPU was idle for %s of it\n", ran);
	print_moment(s, p);
	return 1;
}

/*
 * What a series is about, in words: what it is called, and the number that other tools
 * show for it if that is not its name.
 */
static const struct {
	const char *what;
	const char *number;
} words[KTAPE_SERIES_KINDS] = {
	[KTAPE_SERIES_IRQ] = { "device interrupt", "irq" },
	[KTAPE_SERIES_SOFTIRQ] = { "soft interrupt", NULL },
	[KTAPE_SERIES_IPI] = { "inter-processor interrupt", NULL },
	[KTAPE_SERIES_TICK] = { "timer interrupt", "vector" },
	[KTAPE_SERIES_SYSCALL] = { "system call", NULL },
	[KTAPE_SERIES_BLOCK] = { "disk request on", NULL },
	[KTAPE_SERIES_WORK] = { "work item", NULL },
	[KTAPE_SERIES_TIMER] = { "timer", NULL },
	[KTAPE_SERIES_HRTIMER] = { "high-resolution timer", NULL },
};

/* Print what a series is about, such as "timer interrupt (vector 236)". */
static void print_subject(const struct ktape_series *p)
{
	bool nameless = !p->name[strspn(p->name, "0123456789")];
	char shown[STATS_NAME];

	fputs(words[p->kind].what, stdout);
	if (!nameless || !words[p->kind].number)
		printf(" %s", stats_name(shown, p->name));
	if (words[p->kind].number)
		printf(" (%s %" PRIu64 ")", words[p->kind].number, p->key);
}

/* Print the largest value of some kinds of series.  Return: 1, or 0 if there is none. */
static int print_longest(const struct stats_trace *s, const char *what,
			 const uint32_t *kinds, size_t nr)
{
	const struct ktape_series *p = largest_series(s, kinds, nr, false);
	char took[DURATION_ROOM], who[STATS_NAME + 32];

	if (!p)
		return 0;
	duration_text(took, p->max, p->unit);
	thread_text(who, sizeof(who), s, p->max_tid);
	printf("  longest %s: ", what);
	print_subject(p);
	printf(" took %s", took);
	if (p->kind == KTAPE_SERIES_SYSCALL)
		printf(" in %s", who);
	putchar('\n');
	print_moment(s, p);
	return 1;
}

static void print_findings(const struct stats_trace *s)
{
	static const uint32_t irqs[] = { KTAPE_SERIES_IRQ, KTAPE_SERIES_SOFTIRQ,
					 KTAPE_SERIES_IPI, KTAPE_SERIES_TICK };
	static const uint32_t calls[] = { KTAPE_SERIES_SYSCALL, KTAPE_SERIES_BLOCK };
	static const uint32_t others[] = { KTAPE_SERIES_WORK, KTAPE_SERIES_HRTIMER,
					   KTAPE_SERIES_TIMER };
	char span[DURATION_ROOM], lost[LOSS_TEXT];
	int nr;

	duration_text(span, ktape_linux_span(s->linux_stats), "ns");
	printf("%s%s recorded; what stands out (times are CLOCK_MONOTONIC):%s\n",
	       role_begin(ROLE_HEAD), span, role_end());
	nr = print_wait(s);
	nr += print_longest(s, "interrupt", irqs, KT_ARRAY_SIZE(irqs));
	nr += print_longest(s, "system call or disk request", calls,
			    KT_ARRAY_SIZE(calls));
	if (nr < 3)
		nr += print_longest(s, "callback", others, KT_ARRAY_SIZE(others));
	if (!nr)
		puts("  nothing: no thread waited, and no interrupt was recorded");
	if (s->losses.gaps)
		note_loss("%s: longer times are possible",
			  losses_text(lost, &s->losses, "were lost"));
	note_overwritten(NULL, &s->losses);
}

static void take_try_notice(void *arg, const struct ktape_notice *n)
{
	struct stats_trace *s = arg;

	if (n->kind != KTAPE_NOTICE_LOST)
		return;
	losses_add(&s->losses, n);
	if (s->linux_stats)
		ktape_linux_notice(s->linux_stats, n);
}

static int measure_for_try(const char *trace)
{
	struct stats_trace s = { .path = trace };
	const struct ktape_trace_options how = {
		.notice = take_try_notice,
		.arg = &s,
		.flags = KTAPE_TRACE_SORTED,
	};
	struct ktape_error error = { .text = "" };
	int ret = ktape_trace_open(trace, &how, &s.trace, &error);

	if (!ret) {
		s.info = ktape_trace_info(s.trace);
		ret = ktape_linux_new(s.info, ktape_trace_registry(s.trace),
				      &s.linux_stats);
	}
	if (!ret)
		ret = stats_measure(&s);
	if (!ret)
		print_findings(&s);
	stats_close(&s);
	return ret ? fail("%s: %s", trace,
			  *error.text ? error.text : strerror(-ret)) :
		     EXIT_OK;
}

static int try_page(const struct try_options *o, const char *page)
{
	char *trace = page_trace_path(page);
	int ret;

	if (!trace)
		return fail("%s", strerror(ENOMEM));
	ret = output_check_place(page);
	if (!ret)
		ret = record_trace(o, trace);
	if (!ret)
		ret = measure_for_try(trace);
	if (!ret)
		ret = page_write(page, trace);
	if (!ret) {
		fputs("page: ", stdout);
		put_shown(stdout, page);
		puts("   (open it in a browser)");
	}
	free(trace);
	return ret ? ret : finish_stdout();
}

static int cmd_try(int argc, char **argv)
{
	struct try_options o = { .events = USUAL_EVENTS, .time = USUAL_TIME };
	char *usual = NULL;
	int first, ret;

	ret = kt_options(&command_try, argc, argv, &o, &first);
	if (ret >= 0)
		return ret;
	if (argc != first)
		return misuse(&command_try, "try takes no operands");
	if (!page_can_write())
		return fail("format html is not built in: use ktape record -d 5s -o DIR, and convert the trace on another machine");
	if (o.output && !page_is_name(o.output))
		return misuse(&command_try, "-o needs a name that ends in .html");
	ret = color_start(&command_try, &o.text);
	if (ret)
		return ret;
	load_module(o.device);
	ret = check_device(o.device);
	if (ret)
		return ret;
	if (!o.output)
		usual = page_usual_name();
	ret = o.output || usual ? try_page(&o, o.output ? o.output : usual) :
				  fail("%s", strerror(ENOMEM));
	free(usual);
	return ret;
}

const struct kt_command command_try = {
	.name = "try",
	.operands = "",
	.help = "record 5 seconds, print what stands out, write a page",
	.options = options,
	.run = KT_RUN(cmd_try),
};
