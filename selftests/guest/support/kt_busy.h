/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keep the CPUs busy: processes of several kinds, each of which could always run. They
 * end with the process that started them.
 */
#ifndef _KT_BUSY_H
#define _KT_BUSY_H

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "kt.h"
#include "lcg.h"

#define KT_BUSY_MAX   512
#define KT_BUSY_PAGES 16 /* of one mapping */

/* Compute for a while that differs from time to time: up to 2^20 rounds. */
static inline void kt_busy_compute(uint64_t *seed)
{
	for (uint32_t i = lcg_next(seed) >> 11; i; i--)
		__asm__ volatile("");
}

static inline void kt_busy_nothing(void)
{
}

/* The system call of kt_busy_calls(); busy.c sets another. */
static long kt_busy_call = SYS_getppid;

static inline void kt_busy_calls(void)
{
	for (int i = 0; i < 10; i++)
		syscall(kt_busy_call, 0, NULL);
}

static inline void kt_busy_yield(void)
{
	sched_yield();
}

static inline void kt_busy_child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static inline void kt_busy_memory(void)
{
	const size_t len = KT_BUSY_PAGES * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (size_t at = 0; p != MAP_FAILED && at < len; at += 4096)
		((volatile char *)p)[at] = 1;
	if (p != MAP_FAILED)
		munmap(p, len);
}

static inline void kt_busy_pipe(void)
{
	char text[64] = "";
	int fd[2];

	if (pipe(fd))
		return;
	if (write(fd[1], text, sizeof(text)) > 0 &&
	    read(fd[0], text, sizeof(text)) < 0)
		text[0] = 1;
	close(fd[0]);
	close(fd[1]);
}

/* Ask for a signal, whose handler does nothing. */
static inline void kt_busy_timer(void)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 500 } };

	setitimer(ITIMER_REAL, &soon, NULL);
}

static inline void kt_busy_affinity(void)
{
	static int cpu;

	cpu = (cpu + 1) % sysconf(_SC_NPROCESSORS_CONF);
	kt_pin(cpu);
}

/* Kinds that stand twice are twice as frequent. */
static void (*const kt_busy_kinds[])(void) = {
	kt_busy_nothing, kt_busy_calls,	   kt_busy_child, kt_busy_nothing,
	kt_busy_memory,	 kt_busy_yield,	   kt_busy_pipe,  kt_busy_timer,
	kt_busy_calls,	 kt_busy_affinity,
};

#define KT_BUSY_KINDS (sizeof(kt_busy_kinds) / sizeof(kt_busy_kinds[0]))

static inline void __attribute__((noreturn)) kt_busy_main(int which, pid_t parent)
{
	struct sigaction sa = { .sa_handler = kt_on_alarm };
	uint64_t seed = which;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGALRM, &sa, NULL);
	if (getppid() != parent)
		_exit(0);
	for (;;) {
		kt_busy_compute(&seed);
		kt_busy_kinds[which % KT_BUSY_KINDS]();
	}
}

/**
 * struct kt_busy - processes that keep the CPUs busy
 * @nr: number of processes
 * @pid: the processes
 */
struct kt_busy {
	int nr;
	pid_t pid[KT_BUSY_MAX];
};

static inline void kt_busy_stop(struct kt_busy *b)
{
	for (int i = 0; i < b->nr; i++)
		kill(b->pid[i], SIGKILL);
	for (int i = 0; i < b->nr; i++)
		waitpid(b->pid[i], NULL, 0);
	b->nr = 0;
}

/*
 * Start @nr processes, at most KT_BUSY_MAX. Return: 0 or a negative errno, and then there are
 * none.
 */
static inline int kt_busy_start(struct kt_busy *b, int nr)
{
	pid_t self = getpid();

	for (b->nr = 0; b->nr < nr && b->nr < KT_BUSY_MAX; b->nr++) {
		pid_t pid = fork();

		if (!pid)
			kt_busy_main(b->nr, self);
		if (pid < 0) {
			int err = -errno;

			kt_busy_stop(b);
			return err;
		}
		b->pid[b->nr] = pid;
	}
	return 0;
}

#endif /* _KT_BUSY_H */
