// SPDX-License-Identifier: GPL-2.0-only
/*
 * Record increasing numbers with one thread per CPU and print the progress:
 * "mirror CPU NUMBER" is printed after NUMBER was recorded. The script `persist`
 * crashes the guest meanwhile, and compares the numbers in the memory that
 * survives with the printed ones.
 *
 * usage: mirror FILE	(where to print: a serial line)
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape_mark.h>

#define CPUS	 64
#define MARKER	 1000 /* id of CPU 0's value markers; CPU n has 1000 + n */
#define PAUSE_US 20000

static atomic_llong recorded[CPUS];

static void *count_main(void *arg)
{
	const long cpu = (long)arg;
	int fd = ktape_mark_open();
	cpu_set_t set;
	long long n;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (fd < 0 || sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "mirror: cpu %ld: %d\n", cpu, fd);
		exit(1);
	}
	for (n = 1; !ktape_value(fd, MARKER + (uint32_t)cpu, n, NULL); n++)
		atomic_store(&recorded[cpu], n);
	fprintf(stderr, "mirror: cpu %ld ends at %lld\n", cpu, n);
	exit(1);
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;
	pthread_t thread;
	char line[64];
	int fd, len;

	fd = argc == 2 ? open(argv[1], O_WRONLY | O_NOCTTY) : -1;
	if (fd < 0 || cpus > CPUS)
		return 2;
	for (cpu = 0; cpu < cpus; cpu++)
		if (pthread_create(&thread, NULL, count_main, (void *)cpu))
			return 2;
	for (;;) {
		usleep(PAUSE_US);
		for (cpu = 0; cpu < cpus; cpu++) {
			len = snprintf(line, sizeof(line), "mirror %ld %lld\n",
				       cpu, atomic_load(&recorded[cpu]));
			if (write(fd, line, (size_t)len) != len)
				return 1;
		}
	}
}
