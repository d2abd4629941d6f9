// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of emitting from the kernel and from user space, and of an
 * event that a filter drops. Prints one line each:
 *
 *   cost name=N insns=I base=B per=P
 *
 * insns: instructions for P events; base: the same loop without them; both are
 * medians of slices.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ktape/filter.h>
#include <ktape_mark.h>
#include "bench_guest.h"

#define ROUNDS	     400
#define LIVES	     4 /* processes per slice, between two ticks */
#define RUN	     "/sys/module/kt_bench/parameters/run"
#define TRACE_MARKER "/sys/kernel/tracing/trace_marker"
#define BIT(opcode)  (1ULL << (KTAPE_EV_##opcode % 64))

static int run_fd, mark_fd, marker_fd;
static uint64_t all[KTAPE_MASK_WORDS] = {
	BIT(EXCEPTION) | BIT(MARK) | BIT(MARK_VALUE) | BIT(USER_EVENT),
};

/* ---- loops ------------------------------------------------------------ */

static void kernel_loop(const char *form, unsigned int rounds)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%s %u", form, rounds);

	if (write(run_fd, text, length) != length)
		die("write %s", RUN);
}

#define KERNEL_LOOP(form)                              \
	static void kernel_##form(unsigned int rounds) \
	{                                              \
		kernel_loop(#form, rounds);            \
	}
KERNEL_LOOP(nothing)
KERNEL_LOOP(mark)
KERNEL_LOOP(text)
KERNEL_LOOP(value)
KERNEL_LOOP(exception)
KERNEL_LOOP(user)

static void user_nothing(unsigned int rounds)
{
	while (rounds--)
		__asm__ volatile("");
}

static void user_getppid(unsigned int rounds)
{
	while (rounds--)
		syscall(SYS_getppid);
}

static void user_kill(unsigned int rounds)
{
	while (rounds--)
		kill(getpid(), SIGCHLD);
}

static void user_mark(unsigned int rounds)
{
	while (rounds--)
		ktape_mark(mark_fd, 1, NULL);
}

static void user_text(unsigned int rounds)
{
	while (rounds--)
		ktape_mark(mark_fd, 1, "sixteen letters.");
}

/* Start processes that execute a program and exit. */
static void user_lives(unsigned int rounds)
{
	pid_t pid;

	while (rounds--) {
		pid = vfork();
		if (!pid) {
			execl("/proc/self/exe", "bench_guest", "end", NULL);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			die("start a program");
	}
}

static void user_exception(unsigned int rounds)
{
	while (rounds--)
		Trace3(mark_fd, _TRACE_SW_SEVERITY0, KTAPE_EXC_CODE(0x1234, 1),
		       1, 2, 3);
}

static void user_trace_marker(unsigned int rounds)
{
	while (rounds--)
		if (write(marker_fd, "sixteen letters.", 16) != 16)
			die("write " TRACE_MARKER);
}

/* ---- what is measured ------------------------------------------------- */

/**
 * struct cost - one measurement
 * @name: its name in the output
 * @run: loop with the events
 * @base: loop without them; NULL: @run before the session
 * @per: events per round
 * @mask: profile of the session, or NULL for no session
 * @kind: filter that drops the events; KTAPE_FILTER_KINDS = none
 * @entries: entries of that filter
 * @nr: number of entries
 */
struct cost {
	const char *name;
	void (*run)(unsigned int rounds);
	void (*base)(unsigned int rounds);
	unsigned int per;
	const uint64_t *mask;
	unsigned int kind;
	const void *entries;
	unsigned int nr;
};

static const uint64_t syscalls[KTAPE_MASK_WORDS] = {
	BIT(SYS_ENTER) | BIT(SYS_EXIT),
};
static const uint64_t enters[KTAPE_MASK_WORDS] = { BIT(SYS_ENTER) };
static const uint64_t signals[KTAPE_MASK_WORDS] = {
	[KTAPE_EV_SIGNAL_GENERATE / 64] = BIT(SIGNAL_GENERATE),
};
static const uint64_t exceptions[KTAPE_MASK_WORDS] = { BIT(EXCEPTION) };

static const uint64_t no_bits[KTAPE_FILTER_SYSCALL_WORDS];
static const struct ktape_filter_pid other_pid = { .pid = 1 };
static const uint32_t other_uid = 4242, severe = 2;
static const struct ktape_filter_gate gate = {
	.gate = KTAPE_GATE_SYSCALL,
	.ns = 3600ULL * 1000000000,
};
static const struct ktape_filter_rate rate = {
	.opcode = KTAPE_EV_SYS_ENTER,
	.per_second = 1,
};
static int32_t other_cgroup;

#define NONE KTAPE_FILTER_KINDS, NULL, 0

static const struct cost costs[] = {
	{ "kernel mark, nobody listens", kernel_mark, kernel_nothing, 1, NULL, NONE },
	{ "kernel mark", kernel_mark, kernel_nothing, 1, all, NONE },
	{ "kernel mark, 16 bytes", kernel_text, kernel_nothing, 1, all, NONE },
	{ "kernel value", kernel_value, kernel_nothing, 1, all, NONE },
	{ "kernel exception, 3 arguments", kernel_exception, kernel_nothing, 1,
	  all, NONE },
	{ "kernel user event, 2 arguments", kernel_user, kernel_nothing, 1, all,
	  NONE },
	{ "user: getppid, nothing recorded", user_getppid, user_nothing, 1,
	  NULL, NONE },
	{ "user mark, nobody listens", user_mark, user_nothing, 1, NULL, NONE },
	{ "user mark", user_mark, user_nothing, 1, all, NONE },
	{ "user mark, 16 bytes", user_text, user_nothing, 1, all, NONE },
	{ "user exception, 3 arguments", user_exception, user_nothing, 1, all, NONE },
	{ "user: ftrace trace_marker, 16 bytes", user_trace_marker,
	  user_nothing, 1, NULL, NONE },
	{ "syscall event, recorded", user_getppid, NULL, 2, syscalls, NONE },
	{ "rejected: cpu", user_getppid, NULL, 2, syscalls, KTAPE_FILTER_CPU,
	  no_bits, 1 },
	{ "rejected: syscall", user_getppid, NULL, 2, syscalls,
	  KTAPE_FILTER_SYSCALL, no_bits, KTAPE_FILTER_SYSCALL_WORDS },
	{ "rejected: signal", user_kill, NULL, 1, signals, KTAPE_FILTER_SIGNAL,
	  no_bits, 1 },
	{ "rejected: pid", user_getppid, NULL, 2, syscalls, KTAPE_FILTER_PID,
	  &other_pid, 1 },
	{ "rejected: cgroup", user_getppid, NULL, 2, syscalls,
	  KTAPE_FILTER_CGROUP, &other_cgroup, 1 },
	{ "rejected: uid", user_getppid, NULL, 2, syscalls, KTAPE_FILTER_UID,
	  &other_uid, 1 },
	{ "rejected: severity", kernel_exception, kernel_nothing, 1, exceptions,
	  KTAPE_FILTER_SEVERITY, &severe, 1 },
	{ "rejected: gate", user_getppid, NULL, 2, syscalls, KTAPE_FILTER_GATE,
	  &gate, 1 },
	{ "rejected: rate", user_getppid, NULL, 1, enters, KTAPE_FILTER_RATE,
	  &rate, 1 },
};

static int compare_instructions(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median_of(void (*run)(unsigned int rounds), unsigned int rounds)
{
	uint64_t slice[SLICES];

	run(rounds);
	for (unsigned int i = 0; i < SLICES; i++)
		slice[i] = slice_insns(run, rounds);
	qsort(slice, SLICES, sizeof(slice[0]), compare_instructions);
	return slice[SLICES / 2];
}

static uint64_t median(void (*run)(unsigned int rounds))
{
	return median_of(run, ROUNDS);
}

/*
 * Check that the measured events are the intended ones: a wrong number is worse
 * than none.
 */
static void check_cost_counts(const struct cost *c)
{
	struct ktape_stats stats = { .size = sizeof(stats) };
	uint64_t emitted = 0, filtered = 0, lost = 0;

	for (stats.kind = 0; stats.kind < KTAPE_RINGS_PER_CPU; stats.kind++) {
		ktape_counts(&stats);
		for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
			if (i == KTAPE_CLASS_CONTROL)
				continue;
			emitted += stats.emitted[i];
			filtered += stats.filtered[i];
			lost += stats.lost[KTAPE_LOST_RATE][i];
		}
	}
	/* A CPU that the filter excludes does not even want the events. */
	if (c->kind == KTAPE_FILTER_CPU ?
		    emitted :
		    emitted < (uint64_t)SLICES * ROUNDS * c->per)
		die("\"%s\" emitted %lu", c->name, emitted);
	/* A few may pass: the rate filter lets one event a second pass. */
	if (c->kind != KTAPE_FILTER_KINDS && filtered + lost + SLICES * 10 < emitted)
		die("\"%s\" recorded %lu", c->name, emitted - filtered - lost);
}

static void measure_cost(const struct cost *c)
{
	uint64_t insns, base;
	int fd;

	base = median(c->base ? c->base : c->run);
	if (!c->mask) {
		insns = median(c->run);
	} else {
		fd = ktape_session(c->mask);
		if (c->kind != KTAPE_FILTER_KINDS)
			ktape_filter(fd, c->kind, c->entries, c->nr);
		ktape_start();
		insns = median(c->run);
		check_cost_counts(c);
		close(fd);
		settle_system(); /* wait until the probes are detached */
	}
	printf("cost name=%s insns=%lu base=%lu per=%u\n", c->name, insns, base,
	       ROUNDS * c->per);
	fflush(stdout);
}

void measure_costs(const char *bench_ko)
{
	uint64_t lives;

	write_setting("/sys/kernel/tracing/tracing_on", "1");
	settle_system();
	lives = median_of(user_lives, LIVES);
	/* The registry follows names even while nothing is recorded. */
	ktape_load();
	settle_system();
	printf("cost name=user: fork, exec, exit, nothing recorded insns=%lu base=%lu per=%u\n",
	       median_of(user_lives, LIVES), lives, LIVES);
	must_insmod(bench_ko, "");
	run_fd = open(RUN, O_WRONLY | O_CLOEXEC);
	mark_fd = ktape_mark_open();
	marker_fd = open(TRACE_MARKER, O_WRONLY | O_CLOEXEC);
	mkdir(CGROUP, 0755);
	other_cgroup = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (other_cgroup < 0 || run_fd < 0 || mark_fd < 0 || marker_fd < 0)
		die("open the mark device or kt_bench");
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		measure_cost(&costs[i]);
	close(run_fd);
	close(mark_fd);
	must_rmmod("kt_bench");
	must_rmmod("ktape");
}
