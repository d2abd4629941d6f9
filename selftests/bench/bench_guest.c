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
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench_guest.h"

#define DATAGRAM	64
#define NAP_NS		100000

#define TICK_NS		4000000L

/* Longer than the module takes to detach the probes of the last run. */
#define SETTLE_NS	1500000000L

void die(const char *format, ...)
{
	int error = errno;
	va_list args;

	va_start(args, format);
	printf("not ok bench ");
	vprintf(format, args);
	va_end(args);
	printf(": %s\n", strerror(error));
	exit(1);
}

void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);
	size_t length = strlen(text);

	if (fd < 0 || write(fd, text, length) != (ssize_t)length)
		die("write %s", path);
	close(fd);
}

static void sleep_ns(long ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	nanosleep(&ts, NULL);
}

/* ---- workloads -------------------------------------------------------- */

static int ping[2], pong[2];
static int udp_in, udp_out;
static struct sockaddr_in udp_addr;

static void be_first(void)
{
	struct sched_param param = { .sched_priority = 10 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) ||
	    sched_setscheduler(0, SCHED_FIFO, &param) ||
	    mlockall(MCL_CURRENT | MCL_FUTURE))
		die("become SCHED_FIFO on CPU 0");
}

/* Answer each byte with a byte. */
static void *partner(void *unused)
{
	char byte;

	while (read(ping[0], &byte, 1) == 1)
		if (write(pong[1], &byte, 1) != 1)
			break;
	return unused;
}

/*
 * A thread, not a process: the time of a switch between address spaces depends
 * on which of the CPU's few ASIDs the two have.
 */
static void make_partner(void)
{
	pthread_t thread;

	if (pipe(ping) || pipe(pong) ||
	    pthread_create(&thread, NULL, partner, NULL))
		die("make a partner");
}

static void make_sockets(void)
{
	socklen_t length = sizeof(udp_addr);

	udp_addr.sin_family = AF_INET;
	udp_addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	udp_in = socket(AF_INET, SOCK_DGRAM, 0);
	udp_out = socket(AF_INET, SOCK_DGRAM, 0);
	if (udp_in < 0 || udp_out < 0 ||
	    bind(udp_in, (struct sockaddr *)&udp_addr, length) ||
	    getsockname(udp_in, (struct sockaddr *)&udp_addr, &length))
		die("socket");
}

/* Two switches per round: both threads run on the same CPU. */
static void run_switch(unsigned int rounds)
{
	char byte = 'x';

	while (rounds--)
		if (write(ping[1], &byte, 1) != 1 ||
		    read(pong[0], &byte, 1) != 1)
			die("ping-pong");
}

static void run_syscall(unsigned int rounds)
{
	while (rounds--)
		syscall(SYS_getppid);
}

static void run_udp(unsigned int rounds)
{
	char packet[DATAGRAM] = "";

	while (rounds--)
		if (sendto(udp_out, packet, sizeof(packet), 0,
			   (struct sockaddr *)&udp_addr,
			   sizeof(udp_addr)) != sizeof(packet) ||
		    recv(udp_in, packet, sizeof(packet), 0) != sizeof(packet))
			die("udp");
}

static void run_mix(unsigned int rounds)
{
	while (rounds--) {
		run_switch(20);
		run_syscall(40);
		run_udp(4);
		sleep_ns(NAP_NS);
		sleep_ns(NAP_NS);
	}
}

/* ---- what is recorded ------------------------------------------------- */

#define BIT(opcode)	(1ULL << (KTAPE_EV_##opcode % 64))

static const struct set sets[] = {
	{
		.name = "switch",
		.run = run_switch,
		.rounds = 100,
		.mask = { BIT(SCHED_SWITCH) },
		.tracepoints = "sched_switch",
		.ftrace = "sched:sched_switch",
	}, {
		.name = "syscall",
		.run = run_syscall,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER) | BIT(SYS_EXIT) },
		.tracepoints = "sys_enter,sys_exit",
		.ftrace = "raw_syscalls:*",
	}, {
		.name = "enter",
		.run = run_syscall,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER) },
		.tracepoints = "sys_enter",
		.ftrace = "raw_syscalls:sys_enter",
		.brief = true,
	}, {
		.name = "wide",
		.run = run_syscall,
		.rounds = 1000,
		.mask = { BIT(SYS_ENTER_WIDE) },
		.tracepoints = "sys_enter",
		.ftrace = "raw_syscalls:sys_enter",
		.brief = true,
	}, {
		.name = "mix",
		.run = run_mix,
		.rounds = 2,
		.mask = { BIT(SCHED_SWITCH) | BIT(SCHED_WAKING) |
			  BIT(SCHED_WAKEUP) | BIT(SCHED_WAKEUP_NEW) |
			  BIT(SCHED_MIGRATE_TASK) | BIT(IRQ_HANDLER_ENTRY) |
			  BIT(IRQ_HANDLER_EXIT) | BIT(SOFTIRQ_RAISE) |
			  BIT(SOFTIRQ_ENTRY) | BIT(SOFTIRQ_EXIT) |
			  BIT(SYS_ENTER) | BIT(SYS_EXIT) },
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

/* Sleep until shortly after a tick. */
static void rest(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += 2 * TICK_NS;
	ts.tv_nsec += TICK_NS / 8 - ts.tv_nsec % TICK_NS;
	if (ts.tv_nsec >= 1000000000) {
		ts.tv_nsec -= 1000000000;
		ts.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

void settle(void)
{
	sleep_ns(SETTLE_NS);
}

uint64_t slice_insns(void (*run)(unsigned int rounds), unsigned int rounds)
{
	uint64_t begin;

	rest();
	begin = __rdtsc();
	run(rounds);
	return __rdtsc() - begin;
}

/*
 * A slice fits between two ticks, which would only add noise. Before the slice
 * let threads run that SCHED_FIFO has held up, because the scheduler takes
 * longer while a thread waits.
 */
static void run_slices(const struct set *set, const struct mode *mode,
		       struct result *result)
{
	uint64_t before, own, begin;

	for (int i = 0; i < SLICES; i++) {
		rest();
		before = mode->events();
		own = mode->events() - before;
		before += 2 * own;
		begin = __rdtsc();
		set->run(set->rounds);
		result->insns += __rdtsc() - begin;
		result->events += mode->events() - before;
	}
}

static void measure(const struct set *set, const struct mode *mode, int rep)
{
	struct result result = {};

	mode->on(set);
	settle();
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
	put_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	be_first();
	make_partner();
	make_sockets();
	for (size_t s = 0; s < sizeof(sets) / sizeof(sets[0]); s++)
		for (int rep = 0; rep < atoi(argv[4]); rep++)
			for (const struct mode *m = modes; m->name; m++)
				if (!m->more || !sets[s].brief)
					measure(&sets[s], m, rep);
	measure_costs(argv[3]);
	return 0;
}
