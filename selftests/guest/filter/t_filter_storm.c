// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follow a process and its children through a storm of short-lived processes,
 * while a second storm runs: the trace has everything of the first storm and
 * nothing of the second.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"

#define PROCESSES 5000
#define OTHERS	  5 /* processes of the first storm per one of the second */
#define AT_ONCE	  16
#define RING	  (16U << 20)
#define CONTROL	  (2U << 20) /* each process writes a name */
#define PIDS	  (4 << 20)  /* thread numbers are below this */
#define CALLS	  3	     /* calls of each process of the first storm */
#define EXECS	  10	     /* one of so many processes calls execve() */
#define FORKS	  7	     /* one of so many processes has a child */
#define WANTED	  (1 << 1)
#define GONE	  (1 << 2)

#define OURS   SYS_getppid
#define THEIRS SYS_getuid
#define CHILD  "KT_STORM_CHILD"

static void repeat_syscall(long nr)
{
	for (int i = 0; i < CALLS; i++)
		syscall(nr);
}

/* The program to execute: this one. */
__attribute__((constructor)) static void child_main(void)
{
	if (!getenv(CHILD))
		return;
	repeat_syscall(OURS);
	syscall(SYS_exit_group, 0);
}

static void run_our_child(int n)
{
	char *argv[] = { "child", NULL }, *envp[] = { CHILD "=1", NULL };
	pid_t pid;

	repeat_syscall(OURS);
	if (n % FORKS == 0) {
		pid = kt_fork_plainly();
		repeat_syscall(OURS);
		if (pid)
			waitpid(pid, NULL, 0);
	}
	if (n % EXECS == 0)
		execve("/proc/self/exe", argv, envp);
	syscall(SYS_exit_group, 0);
}

static void run_their_child(int n)
{
	repeat_syscall(THEIRS);
	syscall(SYS_exit_group, n & 1);
}

static void fork_children(int n, void (*child)(int n))
{
	int alive = 0;

	for (int i = 0; i < n; i++) {
		if (!kt_fork_plainly())
			child(i);
		if (++alive == AT_ONCE)
			for (; alive; alive--)
				wait(NULL);
	}
	for (; alive; alive--)
		wait(NULL);
}

/**
 * struct storm_trace - what the trace has
 * @state: per thread: WANTED from its fork by a followed thread on, GONE from its exit on
 * @mother: the process in the filter
 * @strange: records of threads that are not followed
 * @enter: sys_enter records by call number
 * @exit: sys_exit records by call number
 */
struct storm_trace {
	unsigned char state[PIDS];
	pid_t mother;
	uint64_t strange, enter[512], exit[512];
};

/*
 * First walk: note who was forked. The rings of the CPUs are walked one after
 * another, so other events of a thread may come before its fork.
 */
static void note_forked(const struct kt_rec *r, struct kt_tally *t)
{
	struct storm_trace *s = t->arg;

	if (r->op == KTAPE_EV_PROCESS_FORK)
		s->state[r->args[1]] |= WANTED;
}

/* Second walk: check that each event is of a forked thread, and count calls. */
static void check_storm_event(const struct kt_rec *r, struct kt_tally *t)
{
	uint32_t nr = r->dat20 & 511, tid = r->args[0];
	struct storm_trace *s = t->arg;

	switch (r->op) {
	case KTAPE_EV_PROCESS_FORK:
		s->strange += (pid_t)tid != s->mother && !s->state[tid];
		break;
	case KTAPE_EV_PROCESS_EXIT:
		s->strange += s->state[tid] != WANTED;
		s->state[tid] |= GONE;
		break;
	case KTAPE_EV_PROCESS_EXEC:
		s->strange += !s->state[tid];
		break;
	case KTAPE_EV_SYS_ENTER:
		s->enter[nr]++;
		break;
	case KTAPE_EV_SYS_EXIT:
		s->exit[nr]++;
		break;
	}
}

/* Return how many of the numbers 0 to n - 1 are divisible by @of. */
static uint64_t count_divisible(uint64_t n, uint64_t of)
{
	return (n + of - 1) / of;
}

FIXTURE(storm)
{
	int fd;
	struct storm_trace *trace;
};

FIXTURE_SETUP(storm)
{
	self->fd = kt_session_for_threads(
		RING, CONTROL,
		KT_OPS(KTAPE_EV_PROCESS_FORK, KTAPE_EV_PROCESS_EXEC,
		       KTAPE_EV_PROCESS_EXIT, KTAPE_EV_SYS_ENTER,
		       KTAPE_EV_SYS_EXIT));
	ASSERT_LE(0, self->fd);
	self->trace = calloc(1, sizeof(*self->trace));
}

FIXTURE_TEARDOWN(storm)
{
	kill(self->trace->mother, SIGKILL);
	close(self->fd);
	free(self->trace);
}

/*
 * Run the first process of a storm: wait for a byte, make the storm, and stay
 * alive, because its exit is not counted.
 */
static pid_t fork_mother(int n, int go, int done)
{
	pid_t pid = fork();
	char byte;

	if (pid)
		return pid;
	if (read(go, &byte, 1) != 1)
		_exit(1);
	fork_children(n, run_our_child);
	if (write(done, &byte, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

TEST_F_TIMEOUT(storm, exactly_the_followed_processes, 300)
{
	int n = PROCESSES / (kt_scale() > 1 ? 20 : 1), fd = self->fd, go[2],
	    done[2], status;
	struct storm_trace *s = self->trace;
	uint64_t execs, forks;
	struct kt_tally t;
	pid_t other;
	char byte;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, pipe(done));
	s->mother = fork_mother(n, go[0], done[1]);
	ASSERT_EQ(0, kt_filter_pid(fd, s->mother, KTAPE_PID_CHILDREN));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	other = fork();
	if (!other) {
		fork_children(n / OTHERS, run_their_child);
		_exit(0);
	}
	ASSERT_EQ(1, write(go[1], "x", 1));
	ASSERT_EQ(other, waitpid(other, &status, 0));
	ASSERT_EQ(1, read(done[0], &byte, 1));
	kt_stop_and_tally(&t, fd, note_forked, s);
	EXPECT_EQ(0, t.wrong);
	kt_stop_and_tally(&t, fd, check_storm_event, s);
	/* A child that forked before execve() calls it in both processes. */
	execs = count_divisible(n, EXECS) + count_divisible(n, EXECS * FORKS);
	forks = n + count_divisible(n, FORKS);
	TH_LOG("%llu forks, %llu execs, %llu exits, %llu calls; %llu filtered",
	       (unsigned long long)t.op[KTAPE_EV_PROCESS_FORK],
	       (unsigned long long)t.op[KTAPE_EV_PROCESS_EXEC],
	       (unsigned long long)t.op[KTAPE_EV_PROCESS_EXIT],
	       (unsigned long long)s->enter[OURS],
	       (unsigned long long)(t.filtered[KTAPE_CLASS_PROCESS] +
				    t.filtered[KTAPE_CLASS_SYSCALL]));
	EXPECT_EQ(0, s->strange);
	EXPECT_EQ(forks, t.op[KTAPE_EV_PROCESS_FORK]);
	EXPECT_EQ(forks, t.op[KTAPE_EV_PROCESS_EXIT]);
	EXPECT_EQ(execs, t.op[KTAPE_EV_PROCESS_EXEC]);
	EXPECT_EQ(forks, s->enter[SYS_clone]);
	EXPECT_EQ((1 + KT_CHILD_RETURNS) * forks, s->exit[SYS_clone]);
	EXPECT_EQ(forks, s->enter[SYS_exit_group]);
	EXPECT_EQ(execs, s->enter[SYS_execve]);
	/*
	 * Count each call once, again after a fork on both sides, and once
	 * after execve().
	 */
	EXPECT_EQ(CALLS * (n + 2 * count_divisible(n, FORKS) + execs),
		  s->enter[OURS]);
	EXPECT_EQ(s->enter[OURS], s->exit[OURS]);
	EXPECT_EQ(0, s->enter[THEIRS] + s->exit[THEIRS]);
	EXPECT_LE((uint64_t)2 * CALLS * (n / OTHERS),
		  t.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_LE((uint64_t)2 * (n / OTHERS), t.filtered[KTAPE_CLASS_PROCESS]);
	EXPECT_EQ(0, kt_filter_get(fd, KTAPE_FILTER_PID).collisions);
}

TEST_HARNESS_MAIN
