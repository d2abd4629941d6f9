// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of waiting for children, freeing tasks, priority inheritance and
 * run time: each as often as it was caused, with the right threads, priorities and sums.
 */
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_events.h"
#include "now.h"

#define TIMES	    20
#define NICE_0_PRIO 120
#define FIFO	    10
#define FIFO_PRIO   (99 - FIFO)

FIXTURE(sched)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(sched)
{
	self->tid = getpid();
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(sched)
{
	kt_events_free(&self->e);
}

/* ---- processes -------------------------------------------------------------- */

static pid_t child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid;
}

/* Wait for one child, or for any. */
TEST_F(sched, process_wait)
{
	const struct kt_ev *v;
	pid_t pid[TIMES];
	size_t at = 0;
	int any = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_PROCESS_WAIT,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++) {
		pid[i] = child();
		ASSERT_EQ(pid[i], waitpid(i % 2 ? pid[i] : -1, NULL, 0));
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < TIMES; i++)
		EXPECT_EQ(i % 2, kt_count_with(&self->e, KTAPE_EV_SCHED_PROCESS_WAIT,
					       0, pid[i]));
	while ((v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_PROCESS_WAIT, 0, 0)))
		any += v->tid == self->tid;
	EXPECT_EQ(TIMES / 2, any);
}

static void *store_own_tid(void *arg)
{
	*(int32_t *)arg = syscall(SYS_gettid);
	return NULL;
}

/* Return true if each child's task was freed. */
static bool are_freed(const struct kt_events *e, const void *arg)
{
	const int32_t *tid = arg;
	int nr = 0;

	for (int i = 0; i < 2 * TIMES; i++)
		nr += !!kt_count_with(e, KTAPE_EV_PROCESS_FREE, 0, tid[i]);
	return nr == 2 * TIMES;
}

/* Each task is freed once, after its exit. A thread belongs to our process. */
TEST_F_TIMEOUT(sched, process_free, 120)
{
	int32_t tid[2 * TIMES];
	const struct kt_ev *v;
	pthread_t t;
	size_t at;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_PROCESS_EXIT,
						      KTAPE_EV_PROCESS_FREE)));
	for (int i = 0; i < TIMES; i++) {
		tid[i] = child();
		ASSERT_EQ(tid[i], waitpid(tid[i], NULL, 0));
		ASSERT_EQ(0, pthread_create(&t, NULL, store_own_tid,
					    &tid[TIMES + i]));
		pthread_join(t, NULL);
	}
	/* RCU callbacks free the tasks. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	EXPECT_TRUE(kt_events_wait(&self->e, are_freed, tid));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < 2 * TIMES; i++) {
		uint64_t exited;

		at = 0;
		v = kt_next_with(&self->e, &at, KTAPE_EV_PROCESS_EXIT, 0, tid[i]);
		ASSERT_NE(NULL, v);
		exited = v->ts;
		at = 0;
		v = kt_next_with(&self->e, &at, KTAPE_EV_PROCESS_FREE, 0, tid[i]);
		ASSERT_NE(NULL, v);
		EXPECT_LT(exited, v->ts);
		EXPECT_EQ(i < TIMES ? tid[i] : self->tid, (int32_t)v->arg[1]);
		EXPECT_EQ(NULL, kt_next_with(&self->e, &at,
					     KTAPE_EV_PROCESS_FREE, 0, tid[i]));
	}
}

/* ---- inherited priority ------------------------------------------------------ */

/* A thread that waits for @futex when it is told to by @go; @fifo: it is SCHED_FIFO. */
struct waiter {
	pthread_t thread;
	int32_t tid;
	uint32_t *futex;
	sem_t *go;
	bool fifo;
};

static long lock_pi(uint32_t *futex)
{
	return syscall(SYS_futex, futex, FUTEX_LOCK_PI_PRIVATE, 0, NULL);
}

static long unlock_pi(uint32_t *futex)
{
	return syscall(SYS_futex, futex, FUTEX_UNLOCK_PI_PRIVATE, 0);
}

static void *wait_for_owner(void *arg)
{
	struct sched_param prio = { .sched_priority = FIFO };
	struct waiter *w = arg;

	kt_pin(1);
	w->fifo = !sched_setscheduler(0, SCHED_FIFO, &prio);
	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (int i = 0; i < TIMES; i++) {
		sem_wait(w->go);
		lock_pi(w->futex);
		unlock_pi(w->futex);
	}
	return NULL;
}

/* The owner inherits the waiter's priority and loses it again, once per wait. */
TEST_F_TIMEOUT(sched, pi_setprio, 120)
{
	uint32_t futex = 0;
	struct waiter w = { .futex = &futex };
	const struct kt_ev *v;
	size_t at = 0;
	sem_t go;

	sem_init(&go, 0, 0);
	w.go = &go;
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_PI_SETPRIO)));
	ASSERT_EQ(0, pthread_create(&w.thread, NULL, wait_for_owner, &w));
	while (!__atomic_load_n(&w.tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, lock_pi(&futex));
		sem_post(&go);
		while (!(__atomic_load_n(&futex, __ATOMIC_ACQUIRE) & FUTEX_WAITERS) ||
		       kt_thread_state(w.tid) != 'S')
			usleep(1000);
		ASSERT_EQ(0, unlock_pi(&futex));
		/* Wait until the new owner, the waiter, has unlocked, too. */
		while (__atomic_load_n(&futex, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	pthread_join(w.thread, NULL);
	ASSERT_TRUE(w.fifo);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < TIMES; i++) {
		v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_PI_SETPRIO, 0,
				 self->tid);
		ASSERT_NE(NULL, v);
		EXPECT_EQ(NICE_0_PRIO | FIFO_PRIO << 8, v->dat20);
		EXPECT_EQ(w.tid, (int32_t)v->arg[1]);
		v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_PI_SETPRIO, 0,
				 self->tid);
		ASSERT_NE(NULL, v);
		EXPECT_EQ(FIFO_PRIO | NICE_0_PRIO << 8, v->dat20);
		EXPECT_EQ(0, v->arg[1]);
	}
	EXPECT_EQ(2 * TIMES, kt_count_with(&self->e, KTAPE_EV_SCHED_PI_SETPRIO,
					   0, self->tid));
	EXPECT_EQ(0, kt_count_with(&self->e, KTAPE_EV_SCHED_PI_SETPRIO, 0, w.tid));
}

/* ---- time that a thread ran -------------------------------------------------- */

/* Return true if @sum is the sum of some consecutive parts. */
static bool adds_up(const uint64_t *part, int nr, uint64_t sum)
{
	for (int i = 0; i < nr; i++) {
		uint64_t n = 0;

		for (int j = i; j < nr && n < sum; j++) {
			n += part[j];
			if (n == sum)
				return true;
		}
	}
	return false;
}

/*
 * Reading a thread's CPU clock updates its run time, so the run times recorded
 * between two readings add up to their difference, to the nanosecond.
 */
TEST_F(sched, stat_runtime)
{
	static uint64_t part[10000];
	uint64_t before, first, last, after, sum = 0;
	const struct kt_ev *v;
	size_t at = 0;
	int nr = 0;

	before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_STAT_RUNTIME)));
	first = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < TIMES; i++) {
		kt_getppids(1000);
		usleep(1000);
	}
	last = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	ASSERT_EQ(0, kt_control(self->e.fd, KTAPE_IOC_STOP));
	after = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_STAT_RUNTIME, 0,
				 self->tid)) &&
	       nr < 10000) {
		part[nr] = kt_u64(&v->arg[1]);
		sum += part[nr++];
	}
	EXPECT_LT(TIMES, nr);
	EXPECT_LE(last - first, sum);
	EXPECT_LE(sum, after - before);
	EXPECT_TRUE(adds_up(part, nr, last - first))
	{
		TH_LOG("%llu ns in %d parts",
		       (unsigned long long)(last - first), nr);
	}
}

TEST_HARNESS_MAIN
