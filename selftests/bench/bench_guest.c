// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run workloads in a guest in which one instruction takes 1 ns of the cycle
 * counter, with one tracer after the other, and print a line for each:
 *
 *   bench set=S mode=M rep=N insns=I events=E total=T bytes=B
 *
 * insns: instructions of the workload in all contexts; events: events recorded
 * meanwhile; total, bytes: events and their bytes in the buffer at the end. A
 * count that a mode does not have is 0.
 *
 * A line "clock cycles=0" comes first if ktape did not trust the counter. The
 * lines of bench_costs.c follow.
 *
 * usage: bench_guest KTAPE.KO FLOOR.KO BENCH.KO REPETITIONS FOLDER
 *   FOLDER receives the event packets of ktape's last run of each set.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench_guest.h"

/* ---- what is recorded ------------------------------------------------- */

#define BIT(opcode) (1ULL << (KTAPE_EV_##opcode % 64))

static const struct set sets[] = {
	{
		.name = "switch",
		.run = run_switch,
		.rounds = 100,
		.mask = { BIT(SCHED_SWITCH) },
		.tracepoints = "sched_switch",
		.ftrace = "sched:sched_switch",
	},
	{
		.name = "syscall",
		.run = run_getppid,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER) | BIT(SYS_EXIT) },
		.tracepoints = "sys_enter,sys_exit",
		.ftrace = "raw_syscalls:*",
	},
	{
		.name = "enter",
		.run = run_getppid,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER) },
		.tracepoints = "sys_enter",
		.ftrace = "raw_syscalls:sys_enter",
		.brief = true,
	},
	{
		.name = "wide",
		.run = run_getppid,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER_WIDE) },
		.tracepoints = "sys_enter",
		.ftrace = "raw_syscalls:sys_enter",
		.brief = true,
	},
	{
		.name = "mix",
		.run = run_mix,
		.rounds = 2,
		.mask = { BIT(SCHED_SWITCH) | BIT(SCHED_WAKING) | BIT(SCHED_WAKEUP) |
			  BIT(SCHED_WAKEUP_NEW) | BIT(SCHED_MIGRATE_TASK) |
			  BIT(IRQ_HANDLER_ENTRY) | BIT(IRQ_HANDLER_EXIT) |
			  BIT(SOFTIRQ_RAISE) | BIT(SOFTIRQ_ENTRY) |
			  BIT(SOFTIRQ_EXIT) | BIT(SYS_ENTER) | BIT(SYS_EXIT) },
		.tracepoints = "sched_switch,sched_waking,sched_wakeup,"
			       "sched_wakeup_new,sched_migrate_task,"
			       "irq_handler_entry,irq_handler_exit,"
			       "softirq_raise,softirq_entry,softirq_exit,"
			       "sys_enter,sys_exit",
		.ftrace = "sched:sched_switch sched:sched_waking "
			  "sched:sched_wakeup sched:sched_wakeup_new "
			  "sched:sched_migrate_task irq:irq_handler_entry "
			  "irq:irq_handler_exit irq:softirq_raise "
			  "irq:softirq_entry irq:softirq_exit raw_syscalls:*",
	},
};

/* ---- measuring -------------------------------------------------------- */

/*
 * A slice fits between two ticks, which would only add noise. Before the slice
 * let threads run that SCHED_FIFO has held up, because the scheduler takes
 * longer while a thread waits. Each of the two reads of the count in a slice
 * may cause events itself, @own of them, which do not count.
 */
static void run_slices(const struct set *set, const struct mode *mode,
		       struct result *result)
{
	uint64_t before, own, begin;

	for (int i = 0; i < SLICES; i++) {
		rest_between_ticks();
		before = mode->events();
		own = mode->events() - before;
		before += 2 * own;
		begin = __rdtsc();
		set->run(set->rounds);
		result->insns += __rdtsc() - begin;
		result->events += mode->events() - before;
	}
}

static void measure_mode(const struct set *set, const struct mode *mode, int rep)
{
	struct result result = {};

	mode->on(set);
	settle_system();
	set->run(set->rounds);
	run_slices(set, mode, &result);
	mode->off(set, &result);
	if (!ktape_has_cycles)
		printf("clock cycles=0\n");
	printf("bench set=%s mode=%s rep=%d insns=%lu events=%lu total=%lu "
	       "bytes=%lu\n",
	       set->name, mode->name, rep, result.insns, result.events,
	       result.total, result.bytes);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	/* One of the processes that bench_costs.c starts. */
	if (argc == 2)
		return 0;
	if (argc != 6) {
		fprintf(stderr, "usage: bench_guest KTAPE.KO FLOOR.KO BENCH.KO "
				"REPETITIONS FOLDER\n");
		return 2;
	}
	ktape_ko = argv[1];
	floor_ko = argv[2];
	folder = argv[5];
	write_setting("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	be_first();
	prepare_load();
	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
		for (int rep = 0; rep < atoi(argv[4]); rep++)
			for (const struct mode *m = modes; m->name; m++)
				if (!m->more || !sets[s].brief)
					measure_mode(&sets[s], m, rep);
	measure_costs(argv[3]);
	return 0;
}
