// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of wake-ups, switches, migrations, exec and names: each as
 * often as it was caused, about the right thread and by the right thread.
 * sched_switch is recorded with them, because kt_ev.tid needs it.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_events.h"

#define TIMES	    20
#define NICE_0_PRIO 120
#define FIFO	    10
#define FIFO_PRIO   (99 - FIFO)
#define OTHER_CPU   1

FIXTURE(wake)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(wake)
{
	self->tid = getpid();
	ASSERT_LE(2, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(wake)
{
	kt_events_free(&self->e);
}

/*
 * Count the records of @op about @tid with @dat20, written by thread @by
 * (0 = any).
 */
static int nr_of(const struct kt_events *e, uint32_t op, int32_t tid,
		 uint32_t dat20, int32_t by)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_with(e, &at, op, 0, tid)))
		n += v->dat20 == dat20 && (!by || v->tid == by);
	return n;
}

/* ---- a thread that sleeps and is woken ------------------------------------------- */

/* A thread that sleeps until it can read from @pipe; @fifo: it is SCHED_FIFO. */
struct sleeper {
	pthread_t thread;
	int pipe[2];
	int32_t tid;
	bool fifo;
};

static void *sleeper_main(void *arg)
{
	struct sched_param prio = { .sched_priority = FIFO };
	struct sleeper *s = arg;
	char byte;

	kt_pin(OTHER_CPU);
	s->fifo = !sched_setscheduler(0, SCHED_FIFO, &prio);
	__atomic_store_n(&s->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (int i = 0; i < TIMES; i++)
		if (read(s->pipe[0], &byte, 1) != 1)
			return s;
	return NULL;
}

/*
 * Number of sleeps of the sleeper. The kernel counts a sleep when nothing can
 * prevent it any more.
 */
static long count_sleeps_of(int32_t tid)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

static int start_sleeper(struct sleeper *s)
{
	memset(s, 0, sizeof(*s));
	if (pipe(s->pipe) || pthread_create(&s->thread, NULL, sleeper_main, s))
		return -1;
	while (!__atomic_load_n(&s->tid, __ATOMIC_ACQUIRE) ||
	       kt_thread_state(s->tid) != 'S')
		usleep(1000);
	/* The state is S slightly before the thread leaves the CPU. */
	usleep(20000 * kt_scale());
	return s->fifo ? 0 : -1;
}

/* Wake the sleeper TIMES times, each time after it has gone to sleep. */
static int wake_sleeper(struct sleeper *s)
{
	long before = count_sleeps_of(s->tid);
	void *ret;

	for (int i = 0; i < TIMES; i++) {
		while (i && count_sleeps_of(s->tid) < before + i)
			usleep(1000);
		if (write(s->pipe[1], "o", 1) != 1)
			return -1;
	}
	pthread_join(s->thread, &ret);
	close(s->pipe[0]);
	close(s->pipe[1]);
	return ret ? -1 : 0;
}

TEST_F_TIMEOUT(wake, waking_and_wakeup, 120)
{
	const uint32_t where = FIFO_PRIO | OTHER_CPU << 8;
	struct sleeper s;

	ASSERT_EQ(0, start_sleeper(&s));
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_WAKING,
						      KTAPE_EV_SCHED_WAKEUP,
						      KTAPE_EV_SCHED_SWITCH)));
	ASSERT_EQ(0, wake_sleeper(&s));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	/* We wake it. The target CPU may record the second event. */
	EXPECT_EQ(TIMES, nr_of(&self->e, KTAPE_EV_SCHED_WAKING, s.tid, where,
			       self->tid));
	EXPECT_EQ(TIMES, nr_of(&self->e, KTAPE_EV_SCHED_WAKEUP, s.tid, where, 0));
	EXPECT_EQ(TIMES, kt_count_with(&self->e, KTAPE_EV_SCHED_WAKING, 0, s.tid));
	EXPECT_EQ(TIMES, kt_count_with(&self->e, KTAPE_EV_SCHED_WAKEUP, 0, s.tid));
}

static bool is_dead(uint32_t state)
{
	return state == KTAPE_STATE_X || state == KTAPE_STATE_Z;
}

/* Return true if the thread has exited. */
static bool has_left(const struct kt_events *e, const void *arg)
{
	const struct kt_ev *v;
	size_t at = 0;

	while ((v = kt_next_with(e, &at, KTAPE_EV_SCHED_SWITCH, 0,
				 *(const int32_t *)arg)))
		if (is_dead(v->dat20 >> 16))
			return true;
	return false;
}

/*
 * The thread is switched in as often as it was woken, and switched out
 * sleeping, at the end dead.
 */
TEST_F_TIMEOUT(wake, switches, 120)
{
	int came = 0, asleep = 0, dead = 0, pushed = 0, odd = 0;
	const struct kt_ev *v;
	struct sleeper s;
	size_t at = 0;

	ASSERT_EQ(0, start_sleeper(&s));
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	ASSERT_EQ(0, wake_sleeper(&s));
	/* The last switch comes after the wake-up of the thread that joins it. */
	EXPECT_TRUE(kt_events_wait(&self->e, has_left, &s.tid));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_SCHED_SWITCH))) {
		uint32_t state = v->dat20 >> 16;

		if ((int32_t)v->arg[1] == s.tid) {
			odd += (v->dat20 >> 8 & 255) != FIFO_PRIO ||
			       v->cpu != OTHER_CPU;
			came++;
		}
		if ((int32_t)v->arg[0] != s.tid)
			continue;
		odd += (v->dat20 & 255) != FIFO_PRIO || v->cpu != OTHER_CPU;
		/*
		 * Other threads may preempt it, or it may wait for a lock of
		 * the process.
		 */
		if (state == KTAPE_STATE_S)
			asleep++;
		else if (is_dead(state))
			dead++;
		else
			pushed++;
	}
	EXPECT_EQ(0, odd);
	EXPECT_EQ(TIMES - 1, asleep);
	EXPECT_EQ(1, dead);
	EXPECT_EQ(TIMES + pushed, came);
}

/* ---- new processes ------------------------------------------------------------------ */

TEST_F(wake, wakeup_new)
{
	pid_t pid[TIMES];

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_WAKEUP_NEW,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(0);
		ASSERT_EQ(pid[i], waitpid(pid[i], NULL, 0));
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < TIMES; i++) {
		/* The new process starts on our CPU, to which it is pinned too. */
		EXPECT_EQ(1, nr_of(&self->e, KTAPE_EV_SCHED_WAKEUP_NEW, pid[i],
				   NICE_0_PRIO, self->tid));
		EXPECT_EQ(1, kt_count_with(&self->e, KTAPE_EV_SCHED_WAKEUP_NEW,
					   0, pid[i]));
	}
}

/* ---- moves --------------------------------------------------------------------------- */

/* Pin this thread to another CPU and back. */
TEST_F(wake, migrate_task)
{
	const struct kt_ev *v;
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_SCHED_MIGRATE_TASK)));
	for (int i = 0; i < 2 * TIMES; i++)
		ASSERT_EQ(0, kt_pin(i % 2 ? 0 : OTHER_CPU));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (uint32_t i = 0; i < 2 * TIMES; i++) {
		uint32_t to = i % 2 ? 0 : OTHER_CPU, from = OTHER_CPU - to;

		v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_MIGRATE_TASK, 0,
				 self->tid);
		ASSERT_NE(NULL, v);
		EXPECT_EQ(NICE_0_PRIO | to << 8, v->dat20);
		EXPECT_EQ(from, v->arg[1]);
	}
	EXPECT_EQ(NULL, kt_next_with(&self->e, &at, KTAPE_EV_SCHED_MIGRATE_TASK,
				     0, self->tid));
}

/* ---- programs -------------------------------------------------------------------------- */

static void exec_true(void)
{
	execl("/bin/busybox", "true", NULL);
	_exit(1);
}

static void *exec_thread(void *arg)
{
	*(volatile int32_t *)arg = syscall(SYS_gettid);
	exec_true();
	return NULL;
}

/*
 * Start a program in a child; if @tid is set, from a thread other than the
 * child's main thread.
 */
static pid_t exec_child(int32_t *tid)
{
	pid_t pid = fork();
	pthread_t t;

	if (pid)
		return pid;
	if (!tid)
		exec_true();
	if (pthread_create(&t, NULL, exec_thread, tid))
		_exit(1);
	for (;;)
		pause();
}

TEST_F_TIMEOUT(wake, exec, 120)
{
	int32_t *tid = mmap(NULL, TIMES * sizeof(*tid), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct kt_ev *v;
	pid_t pid[TIMES];
	int status;
	size_t at;

	ASSERT_NE(MAP_FAILED, (void *)tid);
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_PROCESS_EXEC,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++) {
		pid[i] = exec_child(i % 2 ? &tid[i] : NULL);
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		ASSERT_EQ(0, status);
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < TIMES; i++) {
		at = 0;
		v = kt_next_with(&self->e, &at, KTAPE_EV_PROCESS_EXEC, 0, pid[i]);
		ASSERT_NE(NULL, v);
		EXPECT_EQ(i % 2 ? tid[i] : pid[i], (int32_t)v->arg[1]);
		EXPECT_EQ(NULL, kt_next_with(&self->e, &at,
					     KTAPE_EV_PROCESS_EXEC, 0, pid[i]));
	}
}

/* ---- names ------------------------------------------------------------------------------- */

static int write_thread_comm(int32_t tid, unsigned int n)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	f = fopen(path, "w");
	if (!f)
		return -1;
	fprintf(f, "named-%u", n);
	return fclose(f);
}

/*
 * We rename ourselves and another thread; the record is about the renamed
 * thread.
 */
TEST_F_TIMEOUT(wake, rename, 120)
{
	const struct kt_ev *v;
	struct sleeper s;
	int nr[2] = {};
	size_t at = 0;

	ASSERT_EQ(0, start_sleeper(&s));
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_PROCESS_RENAME,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++) {
		kt_rename(i);
		ASSERT_EQ(0, write_thread_comm(s.tid, i));
	}
	ASSERT_EQ(0, wake_sleeper(&s));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_with(&self->e, &at, KTAPE_EV_PROCESS_RENAME, 1,
				 self->tid))) {
		EXPECT_EQ(self->tid, v->tid);
		nr[(int32_t)v->arg[0] == s.tid]++;
	}
	EXPECT_EQ(TIMES, nr[0]);
	EXPECT_EQ(TIMES, nr[1]);
}

TEST_HARNESS_MAIN
