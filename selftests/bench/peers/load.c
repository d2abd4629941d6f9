// SPDX-License-Identifier: GPL-2.0-only
/*
 * The work that is traced. Appends a line to the file $RESULT.
 *
 *   load slices SET	SCHED_FIFO slices of a set's workload between two ticks:
 *			"slices set=S insns=I events=E"; events are those that ftrace
 *			has counted meanwhile
 *   load mix N		N rounds of everything, at normal priority:
 *			"mix rounds=N events=E"
 *   load burst N		N getppid on each CPU, SCHED_FIFO: no reader runs meanwhile
 *   load calls N		the same at normal priority:
 *			"burst cpus=C calls=N"
 *   load mark NAME	"mark name=NAME ns=T idle=I available=K": the time, how much of it
 *			CPU 0 had nothing to do, and KiB that can be allocated
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "../bench_load.h"

#define STATS  "/sys/kernel/tracing/per_cpu/cpu0/stats"
#define TIMERS "/proc/timer_list"
#define MEMORY "/proc/meminfo"
#define ZONES  "/proc/zoneinfo"

struct work {
	const char *set;
	void (*run)(unsigned int rounds);
	unsigned int rounds;
};

/* Calls with six arguments that do nothing else: there is no such file. */
static void run_wide(unsigned int rounds)
{
	while (rounds--)
		syscall(SYS_splice, -1, NULL, -1, NULL, 4096UL, 0);
}

static const struct work works[] = {
	{ "switch", run_switch, 100 },
	{ "waking", run_switch, 100 },
	{ "syscall", run_getppid, 1000 },
	{ "wide", run_wide, 1000 },
	{ "softirq", run_udp_datagrams, 60 },
	{ "A", run_mix, 2 },
	{ "B", run_mix, 2 },
	{ "C", run_mix, 2 },
};

static FILE *result;

static unsigned long argument_number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (!*text || *end)
		die("\"%s\" is no number", text);
	return n;
}

/* Sum the numbers of the lines that match one of the formats, up to a line. */
static uint64_t sum_matching_lines(const char *path, const char *const *formats,
				   const char *last)
{
	unsigned long n, total = 0;
	char line[256];
	FILE *f = fopen(path, "r");

	if (!f)
		die("open %s", path);
	while (fgets(line, sizeof(line), f) && !(last && strstr(line, last)))
		for (unsigned int i = 0; formats[i]; i++)
			if (sscanf(line, formats[i], &n) == 1)
				total += n;
	fclose(f);
	return total;
}

/* Events in ftrace's ring, those overwritten and those read. */
static uint64_t counted(void)
{
	static const char *const formats[] = {
		"entries: %lu",
		"overrun: %lu",
		"read events: %lu",
		NULL,
	};

	return sum_matching_lines(STATS, formats, NULL);
}

/*
 * What is recorded of counting itself does not count: after the first of these counts, that is
 * what two of them record.  A tick of the guest's TSC is an instruction (QEMU's icount).
 */
static void run_load_slices(const char *set)
{
	const struct work *w = works;
	uint64_t before, own, begin, insns = 0, events = 0;

	while (strcmp(w->set, set))
		if (++w == works + sizeof(works) / sizeof(works[0]))
			die("no set %s", set);
	be_first();
	prepare_load();
	settle_system();
	w->run(w->rounds);
	for (int i = 0; i < SLICES; i++) {
		rest_between_ticks();
		before = counted();
		own = counted() - before;
		before += 2 * own;
		begin = __rdtsc();
		w->run(w->rounds);
		insns += __rdtsc() - begin;
		events += counted() - before;
	}
	fprintf(result, "slices set=%s insns=%lu events=%lu\n", set, insns, events);
}

static void mix(const char *rounds)
{
	uint64_t before, own;

	prepare_load();
	/* As in run_load_slices(). */
	before = counted();
	own = counted() - before;
	before += 2 * own;
	run_mix(argument_number(rounds));
	fprintf(result, "mix rounds=%s events=%lu\n", rounds, counted() - before);
}

static pthread_barrier_t together;
static unsigned long calls;

static void *call_getppid(void *unused)
{
	pthread_barrier_wait(&together);
	for (unsigned long i = 0; i < calls; i++)
		syscall(SYS_getppid);
	pthread_barrier_wait(&together);
	return unused;
}

static void run_call_burst(const char *count, int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set;

	calls = argument_number(count);
	if (pthread_barrier_init(&together, NULL, cpus + 1) ||
	    pthread_attr_init(&attr) ||
	    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) ||
	    pthread_attr_setschedpolicy(&attr, policy) ||
	    pthread_attr_setschedparam(&attr, &param))
		die("prepare threads");
	for (long cpu = 0; cpu < cpus; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (pthread_attr_setaffinity_np(&attr, sizeof(set), &set) ||
		    pthread_create(&thread, &attr, call_getppid, NULL))
			die("start a thread on CPU %ld", cpu);
	}
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	fprintf(result, "burst cpus=%ld calls=%lu\n", cpus, calls);
}

static uint64_t idle(void)
{
	static const char *const formats[] = {
		" .idle_sleeptime : %lu",
		" .iowait_sleeptime : %lu",
		NULL,
	};

	return sum_matching_lines(TIMERS, formats, "cpu: 1");
}

/* The kernel's number does not have the free pages that CPUs keep for themselves. */
static uint64_t available(void)
{
	static const char *const memory[] = { "MemAvailable: %lu", NULL };
	static const char *const pages[] = { " count: %lu", NULL };

	return sum_matching_lines(MEMORY, memory, NULL) +
	       sum_matching_lines(ZONES, pages, NULL) * 4;
}

static void print_mark(const char *name)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	fprintf(result, "mark name=%s ns=%lu idle=%lu available=%lu\n", name,
		ts.tv_sec * 1000000000UL + ts.tv_nsec, idle(), available());
}

int main(int argc, char **argv)
{
	const char *path = getenv("RESULT");

	result = fopen(path ? path : "/dev/stdout", "a");
	if (!result)
		die("open %s", path);
	if (argc != 3)
		die("usage: load slices|mix|burst|calls|mark WHAT");
	if (!strcmp(argv[1], "slices"))
		run_load_slices(argv[2]);
	else if (!strcmp(argv[1], "mix"))
		mix(argv[2]);
	else if (!strcmp(argv[1], "burst"))
		run_call_burst(argv[2], SCHED_FIFO);
	else if (!strcmp(argv[1], "calls"))
		run_call_burst(argv[2], SCHED_OTHER);
	else if (!strcmp(argv[1], "mark"))
		print_mark(argv[2]);
	else
		die("load %s", argv[1]);
	if (fclose(result))
		die("write %s", path);
	return 0;
}
