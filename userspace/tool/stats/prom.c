// SPDX-License-Identifier: GPL-2.0-only
/*
 * ktape stats --prom: Linux statistics as metrics of Prometheus, in its text format.
 *
 * The statistics of the library are those of an interval.  They are added up here, because
 * metrics only grow, and a session may run for months: what the library keeps of threads
 * and single interrupts is released with each interval.  The file is written under a
 * temporary name and renamed, so that node_exporter never reads a part of it.
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
#include "util/stage.h"

#include "tool/stats/prom.h"

#define MODE_FILE 0644
#define POWERS \
	65U /* ranges of values: 0, 1, 2 to 3, 4 to 7 ..., one for each number of bits */

/* Ranges that get a bucket: up to 2^n of the unit.  They never change. */
#define NS_FIRST     10U /* 1.024 us */
#define NS_LAST	     34U /* 17.2 s */
#define JIFFIES_LAST 12U

/* Sums of a kind of series. */
struct kind {
	uint64_t count;
	uint64_t sum;
	uint64_t uncertain;
	uint64_t errors;
	uint64_t powers[POWERS];
};

/**
 * struct prom - metrics that are collected
 * @path: file that is written
 * @info: metadata of the trace
 * @kinds: sums by enum ktape_series_kind
 * @cpus: sums by CPU
 * @nr_cpus: entries of @cpus
 * @writes: times that the file was written, with those that failed
 */
struct prom {
	const char *path;
	const struct ktape_info *info;
	struct kind kinds[KTAPE_SERIES_KINDS];
	struct ktape_linux_cpu *cpus;
	uint32_t nr_cpus;
	uint64_t writes;
};

/* Help texts of the histograms. */
static const char *const helps[KTAPE_SERIES_KINDS] = {
	[KTAPE_SERIES_RUN_QUEUE] = "Wait of a runnable thread for a CPU.",
	[KTAPE_SERIES_WAKEUP] = "Time from a wake-up to running.",
	[KTAPE_SERIES_IRQ] = "Duration of interrupt handlers.",
	[KTAPE_SERIES_IPI] = "Duration of interrupts from other CPUs.",
	[KTAPE_SERIES_TICK] = "Duration of the local timer interrupt.",
	[KTAPE_SERIES_SOFTIRQ] = "Duration of soft interrupts.",
	[KTAPE_SERIES_SOFTIRQ_WAIT] =
		"Time from raising a soft interrupt to its start.",
	[KTAPE_SERIES_SYSCALL] = "Duration of system calls.",
	[KTAPE_SERIES_WORK] = "Duration of work items.",
	[KTAPE_SERIES_WORK_WAIT] = "Time from queueing a work item to its start.",
	[KTAPE_SERIES_TIMER] = "Duration of timer callbacks.",
	[KTAPE_SERIES_TIMER_LATE] = "Lateness of timers, in jiffies.",
	[KTAPE_SERIES_HRTIMER] = "Duration of high-resolution timer callbacks.",
	[KTAPE_SERIES_HRTIMER_LATE] = "Lateness of high-resolution timers.",
	[KTAPE_SERIES_BLOCK] = "Time of block requests in their device.",
	[KTAPE_SERIES_BLOCK_WAIT] = "Wait of block requests for their device.",
};

/* What the time of a CPU was spent in. */
static const struct {
	const char *name;
	size_t offset;
} modes[] = {
	{ "thread", offsetof(struct ktape_linux_cpu, run) },
	{ "idle", offsetof(struct ktape_linux_cpu, idle) },
	{ "irq", offsetof(struct ktape_linux_cpu, irq) },
	{ "softirq", offsetof(struct ktape_linux_cpu, softirq) },
	{ "unknown", offsetof(struct ktape_linux_cpu, unknown) },
};

static const struct {
	const char *name;
	const char *help;
	size_t offset;
} counts[] = {
	{ "switches", "Thread switches.",
	  offsetof(struct ktape_linux_cpu, switches) },
	{ "lost_events", "Events that were lost, as far as counted.",
	  offsetof(struct ktape_linux_cpu, lost) },
	{ "gaps", "Places where events were lost.",
	  offsetof(struct ktape_linux_cpu, gaps) },
	{ "uncounted_gaps", "Places where an unknown number of events was lost.",
	  offsetof(struct ktape_linux_cpu, uncounted) },
	{ "overwritten_events",
	  "Events that were overwritten before the trace begins, as far as counted.",
	  offsetof(struct ktape_linux_cpu, overwritten) },
};

static uint64_t member(const struct ktape_linux_cpu *c, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)c + offset, sizeof(value));
	return value;
}

/**
 * prom_new() - begin collecting
 * @path: file that is written
 * @info: metadata of the trace; must stay valid
 *
 * Return: the metrics, or NULL: there is no memory.
 */
struct prom *prom_new(const char *path, const struct ktape_info *info)
{
	struct prom *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->path = path;
	p->info = info;
	return p;
}

/**
 * prom_free() - end collecting
 * @p: the metrics, or NULL
 */
void prom_free(struct prom *p)
{
	if (p)
		free(p->cpus);
	free(p);
}

/* ---- sums ---------------------------------------------------------------------------- */

static int add_cpu_metrics(struct prom *p, const struct ktape_linux_cpu *c)
{
	struct ktape_linux_cpu *more, *to;

	if (c->cpu >= p->nr_cpus) {
		more = realloc(p->cpus, (c->cpu + 1ULL) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		p->cpus = more;
		memset(&more[p->nr_cpus], 0,
		       (c->cpu + 1 - p->nr_cpus) * sizeof(*more));
		p->nr_cpus = c->cpu + 1;
	}
	to = &p->cpus[c->cpu];
	to->seen |= c->seen;
	to->run += c->run;
	to->idle += c->idle;
	to->irq += c->irq;
	to->softirq += c->softirq;
	to->unknown += c->unknown;
	to->switches += c->switches;
	to->lost += c->lost;
	to->gaps += c->gaps;
	to->uncounted += c->uncounted;
	to->overwritten += c->overwritten;
	return 0;
}

/**
 * prom_add() - add an interval
 * @p: the metrics
 * @l: statistics of the interval, finished
 *
 * Return: 0 or -ENOMEM.
 */
int prom_add(struct prom *p, const struct ktape_linux *l)
{
	const struct ktape_linux_cpu *c;
	int err = 0;

	/* The first series are those of all values of each kind. */
	for (size_t i = 0; i < KTAPE_SERIES_KINDS; i++) {
		const struct ktape_series *s = ktape_linux_series(l, i);
		struct kind *k = &p->kinds[s->kind];

		k->count += s->count;
		k->sum += s->sum;
		k->uncertain += s->uncertain;
		k->errors += s->errors;
		for (unsigned int n = 0; s->count && n < POWERS; n++)
			k->powers[n] += ktape_linux_bucket(l, i, n);
	}
	for (uint32_t i = 0; (c = ktape_linux_cpu(l, i)) && !err; i++)
		err = add_cpu_metrics(p, c);
	return err;
}

/* ---- text ----------------------------------------------------------------------------- */

static void put_metric_head(FILE *f, const char *name, const char *type,
			    const char *help)
{
	fprintf(f, "# HELP ktape_%s %s\n# TYPE ktape_%s %s\n", name, help, name,
		type);
}

/* Put nanoseconds as seconds, exactly. */
static void put_seconds(FILE *f, uint64_t ns)
{
	fprintf(f, "%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

static void put_bucket(FILE *f, const char *name, bool seconds, uint64_t le,
		       uint64_t count)
{
	fprintf(f, "ktape_%s_bucket{le=\"", name);
	if (seconds)
		put_seconds(f, le);
	else
		fprintf(f, "%" PRIu64, le);
	fprintf(f, "\"} %" PRIu64 "\n", count);
}

static void put_histogram(FILE *f, unsigned int kind, const struct kind *k)
{
	const bool seconds = kind != KTAPE_SERIES_TIMER_LATE;
	unsigned int first = seconds ? NS_FIRST : 0;
	unsigned int last = seconds ? NS_LAST : JIFFIES_LAST;
	uint64_t below = 0;
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", ktape_series_name(kind),
		 seconds ? "seconds" : "jiffies");
	put_metric_head(f, name, "histogram", helps[kind]);
	/*
	 * A value of n bits is below 2^n.  So a value of exactly 2^n is in the next bucket,
	 * although "le" means up to 2^n: the library counts by number of bits.
	 */
	for (unsigned int n = 0; n <= last; n++) {
		below += k->powers[n];
		if (n >= first)
			put_bucket(f, name, seconds, (uint64_t)1 << n, below);
	}
	fprintf(f, "ktape_%s_bucket{le=\"+Inf\"} %" PRIu64 "\nktape_%s_sum ",
		name, k->count, name);
	if (seconds)
		put_seconds(f, k->sum);
	else
		fprintf(f, "%" PRIu64, k->sum);
	fprintf(f, "\nktape_%s_count %" PRIu64 "\n", name, k->count);
}

static void put_cpu_metrics(FILE *f, const struct prom *p)
{
	char name[64];

	put_metric_head(f, "cpu_seconds_total", "counter",
			"Time of a CPU in threads, interrupts and idle.");
	for (uint32_t cpu = 0; cpu < p->nr_cpus; cpu++) {
		for (size_t i = 0;
		     p->cpus[cpu].seen && i < KT_ARRAY_SIZE(modes); i++) {
			fprintf(f, "ktape_cpu_seconds_total{cpu=\"%u\",mode=\"%s\"} ",
				cpu, modes[i].name);
			put_seconds(f, member(&p->cpus[cpu], modes[i].offset));
			fputc('\n', f);
		}
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(counts); i++) {
		snprintf(name, sizeof(name), "%s_total", counts[i].name);
		put_metric_head(f, name, "counter", counts[i].help);
		for (uint32_t cpu = 0; cpu < p->nr_cpus; cpu++) {
			if (p->cpus[cpu].seen || p->cpus[cpu].gaps)
				fprintf(f, "ktape_%s{cpu=\"%u\"} %" PRIu64 "\n",
					name, cpu,
					member(&p->cpus[cpu], counts[i].offset));
		}
	}
}

/* Put a text as the value of a label. */
static void put_metric_label(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', f);
		if (*text == '\n')
			fputs("\\n", f);
		else
			fputc(*text, f);
	}
}

static void put_metrics(FILE *f, const struct prom *p)
{
	put_metric_head(f, "info", "gauge", "What is measured.");
	fprintf(f, "ktape_info{version=\"" KTAPE_VERSION "\",host=\"");
	put_metric_label(f, p->info->hostname);
	fprintf(f, "\",release=\"");
	put_metric_label(f, p->info->release);
	fprintf(f, "\"} 1\n");
	put_metric_head(f, "written_timestamp_seconds", "gauge",
			"When the metrics were written.");
	fprintf(f, "ktape_written_timestamp_seconds %lld\n", (long long)time(NULL));
	put_metric_head(f, "writes_total", "counter",
			"How often the metrics were written.");
	fprintf(f, "ktape_writes_total %" PRIu64 "\n", p->writes);
	put_cpu_metrics(f, p);
	for (unsigned int i = 0; i < KTAPE_SERIES_KINDS; i++)
		put_histogram(f, i, &p->kinds[i]);
	put_metric_head(
		f, "uncertain_total", "counter",
		"Intervals that are in no histogram, because events were lost inside them.");
	for (unsigned int i = 0; i < KTAPE_SERIES_KINDS; i++)
		fprintf(f, "ktape_uncertain_total{kind=\"%s\"} %" PRIu64 "\n",
			ktape_series_name(i), p->kinds[i].uncertain);
	put_metric_head(f, "syscall_errors_total", "counter",
			"System calls that returned an error.");
	fprintf(f, "ktape_syscall_errors_total %" PRIu64 "\n",
		p->kinds[KTAPE_SERIES_SYSCALL].errors);
}

/**
 * prom_write() - write the file
 * @p: the metrics
 *
 * Return: 0 or negative errno; after an error the earlier file is unchanged.
 */
int prom_write(struct prom *p)
{
	struct kt_stage stage = KT_STAGE_NONE;
	int fd = kt_stage_private(&stage, p->path, MODE_FILE), err = 0;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	p->writes++;
	if (!f) {
		err = fd < 0 ? fd : -ENOMEM;
		if (fd >= 0)
			close(fd);
		kt_stage_drop(&stage);
		return err;
	}
	put_metrics(f, p);
	if (fflush(f) || ferror(f))
		err = errno ? -errno : -EIO;
	if (fclose(f) && !err)
		err = -errno;
	if (!err)
		err = kt_stage_commit(&stage);
	kt_stage_drop(&stage);
	return err;
}
