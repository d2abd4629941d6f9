// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the exceptions of the pid filter, its entries with KTAPE_PID_EXCEPT: alone
 * they let all other threads pass, beside other entries (includes) they exclude
 * some of the threads that these include, and they cover threads and children, too.
 */
#include <linux/sched.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "kt_cue.h"

#define SESSIONS  8 /* KT_SESSIONS of module/event/event.h */
#define EXCEPT	  KTAPE_PID_EXCEPT
#define THREADS	  KTAPE_PID_THREADS
#define CHILDREN  KTAPE_PID_CHILDREN
#define HEIRS	  (B(CHILD) | B(CHILDS_THREAD) | B(GRANDCHILD))
#define EVERYBODY (B(MAIN) | B(THREAD) | HEIRS)

FIXTURE(except)
{
	int fd;
	struct cue c[ACTORS];
	pid_t child;
};

FIXTURE_SETUP(except)
{
	self->fd = -1;
	for (int a = 0; a < ACTORS; a++)
		ASSERT_EQ(0, cue_init(&self->c[a], a));
	ASSERT_EQ(0, cue_thread(&self->c[THREAD]));
}

FIXTURE_TEARDOWN(except)
{
	cue_end(&self->c[THREAD]);
	close(self->fd);
}

/* Start the child and its family, and wait until all run. Return: the child's pid, or -1. */
static pid_t start_family(struct cue *c)
{
	pid_t pid = fork_family(c), tid;

	for (int a = CHILD; a < ACTORS; a++)
		if (a != CHILDS_THREAD &&
		    read(c[a].from[0], &tid, sizeof(tid)) != sizeof(tid))
			return -1;
	return pid;
}

static void end_family(struct cue *c, pid_t pid)
{
	for (int a = ACTORS - 1; a >= CHILD; a--)
		cue_end(&c[a]);
	waitpid(pid, NULL, 0);
}

/* An entry of the filter: the actor that it names, and its flags. */
struct entry {
	enum actor who;
	uint32_t flags;
};

/* Set the filter with these entries and the actors' current tids. */
static int set_exceptions(FIXTURE_DATA(except) * self, const struct entry *e,
			  uint32_t nr)
{
	struct ktape_filter_pid pids[4];

	for (uint32_t i = 0; i < nr; i++) {
		pids[i].pid = e[i].who == MAIN	 ? getpid() :
			      e[i].who == THREAD ? self->c[THREAD].tid :
						   self->child;
		pids[i].flags = e[i].flags;
	}
	return kt_filter_set(self->fd, KTAPE_FILTER_PID, pids, nr);
}

static int let_everybody_act(FIXTURE_DATA(except) * self)
{
	make_actor_calls(MAIN);
	for (int a = THREAD; a < ACTORS; a++)
		if (a != LATE && cue_act(&self->c[a]))
			return -1;
	return 0;
}

/*
 * Return the actors that were recorded. Of each actor all calls must be
 * recorded, or none.
 */
static unsigned int recorded_actors(struct __test_metadata *_metadata, int fd)
{
	uint64_t n[ACTORS] = {};
	unsigned int got = 0;
	struct kt_tally t;

	kt_stop_and_tally(&t, fd, count_actor_calls, n);
	EXPECT_EQ(0, t.wrong);
	for (int a = 0; a < ACTORS; a++) {
		EXPECT_TRUE(n[a] == 0 || n[a] == CALLS)
		{
			TH_LOG("actor %d: %llu", a, (unsigned long long)n[a]);
		}
		got |= n[a] ? B(a) : 0;
	}
	return got;
}

TEST_F_TIMEOUT(except, truth_table, 120)
{
	static const struct {
		bool late; /* the family is started after the filter is set */
		uint32_t nr;
		struct entry e[2];
		unsigned int pass;
	} vector[] = {
		/* Excludes alone: all threads but these are recorded. */
		{ false, 1, { { MAIN, EXCEPT } }, EVERYBODY & ~B(MAIN) },
		{ false, 1, { { THREAD, EXCEPT } }, EVERYBODY & ~B(THREAD) },
		{ false, 1, { { MAIN, EXCEPT | THREADS } }, HEIRS },
		{ false, 1, { { MAIN, EXCEPT | CHILDREN } }, B(THREAD) },
		{ true, 1, { { MAIN, EXCEPT | CHILDREN } }, B(THREAD) },
		{ true, 1, { { MAIN, EXCEPT } }, EVERYBODY & ~B(MAIN) },
		{ false,
		  2,
		  { { MAIN, EXCEPT }, { CHILD, EXCEPT } },
		  EVERYBODY & ~B(MAIN) & ~B(CHILD) },
		/* Includes and excludes together. */
		{ false, 2, { { MAIN, THREADS }, { THREAD, EXCEPT } }, B(MAIN) },
		{ false, 2, { { THREAD, EXCEPT }, { MAIN, THREADS } }, B(MAIN) },
		{ true, 2, { { MAIN, CHILDREN }, { MAIN, EXCEPT } }, HEIRS },
		{ false,
		  2,
		  { { MAIN, CHILDREN }, { CHILD, EXCEPT } },
		  B(MAIN) | B(CHILDS_THREAD) | B(GRANDCHILD) },
		{ false,
		  2,
		  { { MAIN, CHILDREN }, { CHILD, EXCEPT | THREADS } },
		  B(MAIN) | B(GRANDCHILD) },
		{ false, 2, { { MAIN, 0 }, { MAIN, EXCEPT } }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_LE(0, self->fd);
		if (!vector[i].late)
			self->child = start_family(self->c);
		ASSERT_EQ(0, set_exceptions(self, vector[i].e, vector[i].nr));
		if (vector[i].late)
			self->child = start_family(self->c);
		ASSERT_LT(0, self->child);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, let_everybody_act(self));
		EXPECT_EQ(vector[i].pass, recorded_actors(_metadata, self->fd))
		{
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_PID).collisions);
		end_family(self->c, self->child);
		close(self->fd);
		self->fd = -1;
	}
}

/*
 * While it records, replace includes by excludes, excludes by other excludes,
 * and turn the filter off.
 */
TEST_F(except, replaced)
{
	const struct entry e[] = { { MAIN, 0 }, { THREAD, EXCEPT }, { MAIN, EXCEPT } };
	unsigned int pass[ARRAY_SIZE(e)] = { B(MAIN), B(MAIN), B(THREAD) };

	for (size_t i = 0; i < ARRAY_SIZE(e); i++) {
		self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		for (size_t j = 0; j <= i; j++)
			ASSERT_EQ(0, set_exceptions(self, &e[j], 1));
		make_actor_calls(MAIN);
		ASSERT_EQ(0, cue_act(&self->c[THREAD]));
		ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
		make_actor_calls(LATE);
		EXPECT_EQ(pass[i] | B(LATE), recorded_actors(_metadata, self->fd))
		{
			TH_LOG("step %zu", i);
		}
		close(self->fd);
		self->fd = -1;
	}
}

/*
 * An event about two threads passes if one of them passes: a signal to
 * ourselves does not, a signal to a child does.
 */
TEST_F(except, the_other_thread)
{
	const struct entry e = { MAIN, EXCEPT };
	uint64_t n[2] = {};
	struct kt_tally t;
	pid_t pid;

	signal(SIGUSR1, kt_on_alarm);
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SIGNAL_GENERATE));
	ASSERT_LE(0, self->fd);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	ASSERT_EQ(0, set_exceptions(self, &e, 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < CALLS; i++) {
		kill(pid, SIGUSR1);
		kill(getpid(), SIGUSR1);
	}
	kt_stop_and_tally(&t, self->fd, count_actor_signals, n);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(0, n[0]);
	EXPECT_EQ(CALLS, n[1]);
	EXPECT_LE(CALLS, t.filtered[KTAPE_CLASS_SIGNAL]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- several sessions ---------------------------------------------------- */

/*
 * Each session has two sets of threads. The session whose filter is set last
 * gets its new sets beside those of all other sessions.
 */
TEST_F_TIMEOUT(except, sets_of_all_sessions, 120)
{
	const struct entry e[] = { { MAIN, THREADS }, { THREAD, EXCEPT } };
	int fd[SESSIONS] = { kt_open(O_RDWR) };

	ASSERT_LE(0, fd[0]);
	for (int i = 1; i < SESSIONS; i++) {
		fd[i] = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_LE(0, fd[i]);
	}
	for (int i = 1; i <= SESSIONS + 1; i++) {
		self->fd = fd[i % SESSIONS];
		ASSERT_EQ(0, set_exceptions(self, e, ARRAY_SIZE(e)));
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	make_actor_calls(MAIN);
	ASSERT_EQ(0, cue_act(&self->c[THREAD]));
	EXPECT_EQ(B(MAIN), recorded_actors(_metadata, self->fd));
	EXPECT_EQ(0, kt_filter_off(fd[0], KTAPE_FILTER_PID));
	for (int i = 0; i < SESSIONS; i++)
		close(fd[i]);
	self->fd = -1;
}

static pid_t clone_sleeper(pid_t nr)
{
	pid_t tid[1] = { nr };
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = nr ? (uintptr_t)tid : 0,
		.set_tid_size = nr ? 1 : 0,
	};
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (!pid)
		for (;;)
			pause();
	return pid;
}

/*
 * The thread of a filter has ended, and a new thread, which another session follows,
 * has its tid: the first filter must not name the new thread.
 */
TEST_F(except, reused_tid)
{
	pid_t pid = clone_sleeper(0);
	int fd;

	ASSERT_LT(0, pid);
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_EQ(0, kt_filter_pid(self->fd, pid, 0));
	EXPECT_EQ(pid, kt_filter_tid(self->fd));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(pid, clone_sleeper(pid));
	ASSERT_EQ(0, kt_filter_pid(fd, pid, 0));
	EXPECT_EQ(pid, kt_filter_tid(fd));
	EXPECT_EQ(0, kt_filter_tid(self->fd));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

TEST_HARNESS_MAIN
