// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workloads of benchmarks in a guest, and their slices: parts that fit between two ticks.
 *
 * The guest runs under QEMU with icount, where a tick of the TSC is an instruction.
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

#include "bench_load.h"

#define DATAGRAM 64
#define NAP_NS	 100000

#define TICK_NS 4000000L /* HZ is 250 */

/* Longer than the module takes to detach the probes of the last run. */
#define SETTLE_NS 1500000000L

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

void write_setting(const char *path, const char *text)
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

static int ping[2], pong[2];
static int udp_in, udp_out;
static struct sockaddr_in udp_addr;

void be_first(void)
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

	if (pipe(ping) || pipe(pong) || pthread_create(&thread, NULL, partner, NULL))
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
void run_switch(unsigned int rounds)
{
	char byte = 'x';

	while (rounds--)
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			die("ping-pong");
}

void run_getppid(unsigned int rounds)
{
	while (rounds--)
		syscall(SYS_getppid);
}

void run_udp_datagrams(unsigned int rounds)
{
	char packet[DATAGRAM] = "";

	while (rounds--)
		if (sendto(udp_out, packet, sizeof(packet), 0,
			   (struct sockaddr *)&udp_addr,
			   sizeof(udp_addr)) != sizeof(packet) ||
		    recv(udp_in, packet, sizeof(packet), 0) != sizeof(packet))
			die("udp");
}

void run_mix(unsigned int rounds)
{
	while (rounds--) {
		run_switch(20);
		run_getppid(40);
		run_udp_datagrams(4);
		sleep_ns(NAP_NS);
		sleep_ns(NAP_NS);
	}
}

void prepare_load(void)
{
	make_partner();
	make_sockets();
}

void rest_between_ticks(void)
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

void settle_system(void)
{
	sleep_ns(SETTLE_NS);
}

uint64_t slice_insns(void (*run)(unsigned int rounds), unsigned int rounds)
{
	uint64_t begin;

	rest_between_ticks();
	begin = __rdtsc();
	run(rounds);
	return __rdtsc() - begin;
}
