// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several sessions with different thread filters record the same threads, which take
 * turns on one CPU.  Each thread makes calls with a number of its own and counts them, so
 * each session must have exactly the calls of the threads that pass its filter.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_trigger.h"

#define CPU	1
#define RING	(8UL << 20)
#define CALLS	(6000 / kt_scale())
#define CHANGES (60 / kt_scale() + 4)
#define NOBODY	65534

/* Threads, and the calls that no other process in the guest makes meanwhile. */
enum { FIRST, SECOND, OTHER_UID, THREADS };

static const int number[THREADS] = { SYS_getppid, SYS_getpgid, SYS_getsid };

/* Sessions, and the threads that pass their filters. Those of CHANGED change all the time. */
enum { ALL, ONLY_FIRST, ONLY_UID, ONLY_SECOND, NOT_FIRST, CHANGED, SESSIONS };

static const unsigned char passes[SESSIONS][THREADS] = {
	[ALL] = { 1, 1, 1 },	   [ONLY_FIRST] = { 1, 0, 0 },
	[ONLY_UID] = { 0, 0, 1 },  [ONLY_SECOND] = { 0, 1, 0 },
	[NOT_FIRST] = { 0, 1, 1 },
};

/* What the threads and the test tell each other. */
struct shared {
	int go;			/* 1: call; 2: end after at least CALLS calls */
	uint64_t made[THREADS]; /* calls of each thread */
};

FIXTURE(sessions)
{
	struct shared *shared;
	pid_t pid[THREADS];
	pid_t woken;
	int wake[2];
	int fd[SESSIONS];
	struct kt_tally t;
};

FIXTURE_VARIANT(sessions)
{
	unsigned char ops[3];
};

/* clang-format off */
FIXTURE_VARIANT_ADD(sessions, calls)
{
	.ops = { KTAPE_EV_SYS_ENTER },
};
FIXTURE_VARIANT_ADD(sessions, calls_and_switches)
{
	.ops = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SCHED_SWITCH },
};
/* A waking is also about the woken thread, which may pass where the running one does not. */
FIXTURE_VARIANT_ADD(sessions, calls_and_wakings)
{
	.ops = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SCHED_WAKING },
};
/* clang-format on */

static void make_shared_calls(struct shared *s, int i, int wake)
{
	kt_pin(CPU);
	/* Only the real uid, which is the one that the filter compares. */
	if (i == OTHER_UID && syscall(SYS_setresuid, NOBODY, 0, 0))
		_exit(1);
	while (!__atomic_load_n(&s->go, __ATOMIC_ACQUIRE))
		sched_yield();
	while (s->made[i] < (uint64_t)CALLS ||
	       __atomic_load_n(&s->go, __ATOMIC_ACQUIRE) == 1) {
		syscall(number[i], 0);
		s->made[i]++;
		if (!(s->made[i] % 3))
			sched_yield();
		else if (!(s->made[i] % 5) && write(wake, "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* A thread that no filter names: it sleeps, and those that call wake it. */
static void sleep_on_pipe(int from)
{
	char c;

	while (read(from, &c, 1) == 1)
		;
	_exit(1);
}

/*
 * Unlike kt_session(), with context records: where a session has neither these nor switches, a
 * CPU does not keep whether the running thread passes, but checks each event by itself.
 */
static int session_with_context(const unsigned char *ops)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };
	int fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));

	for (; *ops; ops++)
		kt_ops_add(p.mask, *ops);
	return fd < 0 || kt_profile(fd, &p) ? -1 : fd;
}

static int set_filters(FIXTURE_DATA(sessions) * self)
{
	const uint32_t uid = NOBODY;

	return kt_filter_pid(self->fd[ONLY_FIRST], self->pid[FIRST], 0) ?:
		       kt_filter_pid(self->fd[ONLY_SECOND], self->pid[SECOND], 0) ?:
		       kt_filter_pid(self->fd[NOT_FIRST], self->pid[FIRST], KTAPE_PID_EXCEPT) ?:
		       kt_filter_set(self->fd[ONLY_UID], KTAPE_FILTER_UID, &uid, 1);
}

FIXTURE_SETUP(sessions)
{
	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
	kt_pin(0);
	ASSERT_EQ(0, pipe(self->wake));
	self->woken = fork();
	if (!self->woken)
		sleep_on_pipe(self->wake[0]);
	ASSERT_LT(0, self->woken);
	for (int i = 0; i < THREADS; i++) {
		self->pid[i] = fork();
		if (!self->pid[i])
			make_shared_calls(self->shared, i, self->wake[1]);
		ASSERT_LT(0, self->pid[i]);
	}
	for (int i = 0; i < SESSIONS; i++) {
		self->fd[i] = session_with_context(variant->ops);
		ASSERT_LE(0, self->fd[i]);
	}
	ASSERT_EQ(0, set_filters(self));
}

FIXTURE_TEARDOWN(sessions)
{
	for (int i = 0; i < THREADS; i++)
		kill(self->pid[i], SIGKILL);
	kill(self->woken, SIGKILL);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < SESSIONS; i++)
		close(self->fd[i]);
	close(self->wake[0]);
	close(self->wake[1]);
	munmap(self->shared, sizeof(*self->shared));
}

static void set_workers_go(FIXTURE_DATA(sessions) * self, int how)
{
	__atomic_store_n(&self->shared->go, how, __ATOMIC_RELEASE);
}

static bool end_workers(FIXTURE_DATA(sessions) * self)
{
	bool good = true;
	int status;

	set_workers_go(self, 2);
	for (int i = 0; i < THREADS; i++)
		good &= waitpid(self->pid[i], &status, 0) == self->pid[i] && !status;
	return good;
}

/* What a session has: calls, and wakings of the thread that sleeps. */
struct counts {
	uint64_t calls[THREADS];
	uint64_t wakings;
	pid_t woken;
};

static void count_calls_and_wakings(const struct kt_rec *r, struct kt_tally *t)
{
	struct counts *c = t->arg;

	for (int i = 0; i < THREADS; i++)
		c->calls[i] += r->op == KTAPE_EV_SYS_ENTER &&
			       r->dat20 == (uint32_t)number[i];
	c->wakings += r->op == KTAPE_EV_SCHED_WAKING &&
		      r->args[0] == (uint32_t)c->woken;
}

static struct counts check_session_calls(struct __test_metadata *_metadata,
					 FIXTURE_DATA(sessions) * self, int session)
{
	struct counts c = { .woken = self->woken };
	struct ktape_stats st;

	kt_stop_and_tally(&self->t, self->fd[session], count_calls_and_wakings, &c);
	EXPECT_EQ(0, self->t.wrong);
	/* The control ring has no events of threads. */
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		EXPECT_EQ(0, kt_stats(self->fd[session], cpu,
				      KTAPE_RING_CONTROL, &st));
		EXPECT_EQ(0, st.emitted[KTAPE_CLASS_SCHED])
		{
			TH_LOG("session %d, cpu %d", session, cpu);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		EXPECT_EQ(passes[session][i] ? self->shared->made[i] : 0,
			  c.calls[i])
		{
			TH_LOG("session %d, thread %d", session, i);
		}
	}
	return c;
}

/* The thread that sleeps passes in two sessions, whichever thread wakes it. */
static void check_all_sessions(struct __test_metadata *_metadata,
			       FIXTURE_DATA(sessions) * self)
{
	struct counts all = check_session_calls(_metadata, self, ALL), c;

	for (int i = ALL + 1; i < CHANGED; i++) {
		c = check_session_calls(_metadata, self, i);
		if (i == NOT_FIRST) {
			EXPECT_EQ(all.wakings, c.wakings);
		} else {
			EXPECT_GE(all.wakings, c.wakings);
		}
	}
}

TEST_F_TIMEOUT(sessions, each_has_its_threads, 300)
{
	for (int i = 0; i < CHANGED; i++)
		ASSERT_EQ(0, kt_control(self->fd[i], KTAPE_IOC_START));
	set_workers_go(self, 1);
	ASSERT_TRUE(end_workers(self));
	check_all_sessions(_metadata, self);
}

/* Change what a session records, while the same threads run. */
static int change_session(int fd, pid_t pid, int how)
{
	const struct ktape_trigger t = { .opcode = KTAPE_EV_SYS_ENTER,
					 .nth = 1 << 30 };
	const uint32_t uid = NOBODY;
	int id;

	switch (how % 8) {
	case 0:
		return kt_control(fd, KTAPE_IOC_START);
	case 1:
		return kt_filter_pid(fd, pid, 0);
	case 2:
		return kt_profile_ops(fd, KTAPE_PROFILE_ANDNOT,
				      KTAPE_EV_SYS_ENTER, 0, 0);
	case 3:
		return kt_profile_ops(fd, KTAPE_PROFILE_OR, KTAPE_EV_SYS_ENTER,
				      0, 0);
	case 4:
		return kt_filter_set(fd, KTAPE_FILTER_UID, &uid, 1);
	case 5:
		id = kt_trigger_add(fd, &t);
		return id < 0 ? id : kt_trigger_remove(fd, id);
	case 6:
		return kt_filter_off(fd, KTAPE_FILTER_PID) ?:
			       kt_filter_off(fd, KTAPE_FILTER_UID);
	default:
		return kt_control(fd, KTAPE_IOC_STOP);
	}
}

TEST_F_TIMEOUT(sessions, changes_of_one_do_not_matter_to_others, 300)
{
	for (int i = 0; i < CHANGED; i++)
		ASSERT_EQ(0, kt_control(self->fd[i], KTAPE_IOC_START));
	set_workers_go(self, 1);
	for (int i = 0; i < CHANGES; i++) {
		ASSERT_EQ(0, change_session(self->fd[CHANGED],
					    self->pid[i % THREADS], i))
		{
			TH_LOG("change %d", i % 8);
		}
	}
	ASSERT_TRUE(end_workers(self));
	check_all_sessions(_metadata, self);
	kt_stop_and_tally(&self->t, self->fd[CHANGED], NULL, NULL);
	EXPECT_EQ(0, self->t.wrong);
}

/* The filters are set again and again, to the same values: no call may slip in between. */
TEST_F_TIMEOUT(sessions, filters_are_renewed, 300)
{
	for (int i = 0; i < CHANGED; i++)
		ASSERT_EQ(0, kt_control(self->fd[i], KTAPE_IOC_START));
	set_workers_go(self, 1);
	for (int i = 0; i < CHANGES / 4; i++)
		ASSERT_EQ(0, set_filters(self));
	ASSERT_TRUE(end_workers(self));
	check_all_sessions(_metadata, self);
}

TEST_HARNESS_MAIN
