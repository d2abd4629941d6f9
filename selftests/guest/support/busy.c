// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command while each CPU has other work to do. selftests/guest/suite runs each test so
 * if KTAPE_BUSY=N is set.
 *
 * usage: busy TASKS COMMAND [ARGUMENT...]
 *	TASKS: number of tasks for each CPU that could always run
 */
#include "kt_busy.h"

int main(int argc, char **argv)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), tasks, status;
	struct kt_busy busy;
	pid_t pid;

	if (argc < 3 || (tasks = atoi(argv[1])) <= 0 || tasks * cpus > KT_BUSY_MAX) {
		fprintf(stderr, "usage: busy TASKS COMMAND [ARGUMENT...]\n");
		return 2;
	}
	/*
	 * Tests count getppid(), which the busy tasks call otherwise: these call one that
	 * no test counts.
	 */
	kt_busy_call = SYS_getgroups;
	if (kt_busy_start(&busy, tasks * cpus)) {
		perror("busy: fork");
		return 1;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		perror("busy: fork");
		status = 1 << 8;
	}
	kt_busy_stop(&busy);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
