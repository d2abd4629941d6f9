// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emit events of all kinds from all CPUs continuously, leaving some time to
 * other processes. For shell tests.
 *
 * usage: emit [SECONDS]	(default: until it is killed)
 *
 * Each CPU makes at least TURNS turns, so a slow machine takes longer. With 0
 * seconds there are only these.
 */
#include <sys/wait.h>

#include "kt_load.h"

#define CPUS_MAX 64
#define TURNS	 100 /* minimum, each with 3 or more sched events */

static void turn(uint64_t n)
{
	kt_getppids(50);
	sched_yield();
	if (n % 64 == 0) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	if (n % 16 == 0)
		kt_rename(n);
	usleep(2000);
}

/* Do not wait for ever: the CPU may be offline. */
static void wait_for_turns(const struct kt_load *load)
{
	for (int n = 0; n < 10000; n++) {
		if (__atomic_load_n(&load->done, __ATOMIC_RELAXED) >= TURNS)
			break;
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	static struct kt_load load[CPUS_MAX];
	int cpus = kt_online_cpus();

	if (cpus > CPUS_MAX || kt_loads_start(load, cpus, 0, turn))
		return 1;
	if (argc > 1) {
		sleep(strtol(argv[1], NULL, 10));
		for (int i = 0; i < cpus; i++)
			wait_for_turns(&load[i]);
		kt_loads_stop(load, cpus);
	} else {
		kt_loads_wait(load, cpus);
	}
	return 0;
}
