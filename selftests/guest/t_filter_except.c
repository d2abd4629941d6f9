// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions of the filter by thread: alone they let all others pass, beside
 * names they take some of these away, and they have threads and children too.
 */
#include <linux/sched.h>
#include <sys/syscall.h>

#include "kselftest_harness.h"

#include "kt_cue.h"

#define SESSIONS	8	/* KT_SESSIONS of module/event/event.h */
#define EXCEPT		KTAPE_PID_EXCEPT
#define THREADS		KTAPE_PID_THREADS
#define CHILDREN	KTAPE_PID_CHILDREN
#define HEIRS		(B(CHILD) | B(CHILDS_THREAD) | B(GRANDCHILD))
#define EVERYBODY	(B(MAIN) | B(THREAD) | HEIRS)

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

/* The child and what belongs to it; its number is known then. */
static pid_t found_family(struct cue *c)
{
	pid_t pid = family(c), tid;

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

/* One entry: the actor that it names, 0 for the end of them. */
struct entry {
	enum actor who;
	uint32_t flags;
};

/* The filter of these entries, with the numbers that the actors have now. */
static int set(FIXTURE_DATA(except) *self, const struct entry *e, uint32_t nr)
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

static int everybody(FIXTURE_DATA(except) *self)
{
	act(MAIN);
	for (int a = THREAD; a < ACTORS; a++)
		if (a != LATE && cue_act(&self->c[a]))
			return -1;
	return 0;
}

/* Which actors were recorded; all of their calls or none. */
static unsigned int recorded(struct __test_metadata *_metadata, int fd)
{
	uint64_t n[ACTORS] = {};
	unsigned int got = 0;
	struct kt_take t;

	kt_take(&t, fd, count, n);
	EXPECT_EQ(0, t.wrong);
	for (int a = 0; a < ACTORS; a++) {
		EXPECT_TRUE(n[a] == 0 || n[a] == CALLS) {
			TH_LOG("actor %d: %llu", a, (unsigned long long)n[a]);
		}
		got |= n[a] ? B(a) : 0;
	}
	return got;
}

TEST_F_TIMEOUT(except, truth_table, 120)
{
	static const struct {
		bool late;	/* the family comes after the filter */
		uint32_t nr;
		struct entry e[2];
		unsigned int pass;
	} vector[] = {
		/* Alone: all but these. */
		{ false, 1, { { MAIN, EXCEPT } }, EVERYBODY & ~B(MAIN) },
		{ false, 1, { { THREAD, EXCEPT } }, EVERYBODY & ~B(THREAD) },
		{ false, 1, { { MAIN, EXCEPT | THREADS } }, HEIRS },
		{ false, 1, { { MAIN, EXCEPT | CHILDREN } }, B(THREAD) },
		{ true, 1, { { MAIN, EXCEPT | CHILDREN } }, B(THREAD) },
		{ true, 1, { { MAIN, EXCEPT } }, EVERYBODY & ~B(MAIN) },
		{ false, 2, { { MAIN, EXCEPT }, { CHILD, EXCEPT } },
		  EVERYBODY & ~B(MAIN) & ~B(CHILD) },
		/* Beside others: these but not those. */
		{ false, 2, { { MAIN, THREADS }, { THREAD, EXCEPT } }, B(MAIN) },
		{ false, 2, { { THREAD, EXCEPT }, { MAIN, THREADS } }, B(MAIN) },
		{ true, 2, { { MAIN, CHILDREN }, { MAIN, EXCEPT } }, HEIRS },
		{ false, 2, { { MAIN, CHILDREN }, { CHILD, EXCEPT } },
		  B(MAIN) | B(CHILDS_THREAD) | B(GRANDCHILD) },
		{ false, 2,
		  { { MAIN, CHILDREN }, { CHILD, EXCEPT | THREADS } },
		  B(MAIN) | B(GRANDCHILD) },
		{ false, 2, { { MAIN, 0 }, { MAIN, EXCEPT } }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vector); i++) {
		self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_LE(0, self->fd);
		if (!vector[i].late)
			self->child = found_family(self->c);
		ASSERT_EQ(0, set(self, vector[i].e, vector[i].nr));
		if (vector[i].late)
			self->child = found_family(self->c);
		ASSERT_LT(0, self->child);
		ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, everybody(self));
		EXPECT_EQ(vector[i].pass, recorded(_metadata, self->fd)) {
			TH_LOG("vector %zu", i);
		}
		EXPECT_EQ(0, kt_filter_get(self->fd,
					   KTAPE_FILTER_PID).collisions);
		end_family(self->c, self->child);
		close(self->fd);
		self->fd = -1;
	}
}

/* In place of names, of other exceptions, and until off, while it records. */
TEST_F(except, replaced)
{
	const struct entry e[] = { { MAIN, 0 }, { THREAD, EXCEPT },
				   { MAIN, EXCEPT } };
	unsigned int pass[ARRAY_SIZE(e)] = { B(MAIN), B(MAIN), B(THREAD) };

	for (size_t i = 0; i < ARRAY_SIZE(e); i++) {
		self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
		ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
		for (size_t j = 0; j <= i; j++)
			ASSERT_EQ(0, set(self, &e[j], 1));
		act(MAIN);
		ASSERT_EQ(0, cue_act(&self->c[THREAD]));
		ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
		act(LATE);
		EXPECT_EQ(pass[i] | B(LATE), recorded(_metadata, self->fd)) {
			TH_LOG("step %zu", i);
		}
		close(self->fd);
		self->fd = -1;
	}
}

static void count_signals(const struct kt_rec *r, struct kt_take *t)
{
	uint64_t *n = t->arg;

	if (r->op == KTAPE_EV_SIGNAL_GENERATE && (r->dat20 & 127) == SIGUSR1)
		n[(pid_t)r->args[0] != getpid()]++;
}

/* Of two threads one has to pass: ours to ourselves does not, to a child does. */
TEST_F(except, the_other_thread)
{
	const struct entry e = { MAIN, EXCEPT };
	uint64_t n[2] = {};
	struct kt_take t;
	pid_t pid;

	signal(SIGUSR1, kt_on_alarm);
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SIGNAL_GENERATE));
	ASSERT_LE(0, self->fd);
	pid = fork();
	if (!pid)
		for (;;)
			pause();
	ASSERT_EQ(0, set(self, &e, 1));
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < CALLS; i++) {
		kill(pid, SIGUSR1);
		kill(getpid(), SIGUSR1);
	}
	kt_take(&t, self->fd, count_signals, n);
	EXPECT_EQ(0, t.wrong);
	EXPECT_EQ(0, n[0]);
	EXPECT_EQ(CALLS, n[1]);
	EXPECT_LE(CALLS, t.filtered[KTAPE_CLASS_SIGNAL]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* ---- several sessions ---------------------------------------------------- */

/*
 * Each has two sets of threads.  The one whose filter is set last gets its new
 * ones beside those of all.
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
		ASSERT_EQ(0, set(self, e, ARRAY_SIZE(e)));
	}
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	act(MAIN);
	ASSERT_EQ(0, cue_act(&self->c[THREAD]));
	EXPECT_EQ(B(MAIN), recorded(_metadata, self->fd));
	EXPECT_EQ(0, kt_filter_off(fd[0], KTAPE_FILTER_PID));
	for (int i = 0; i < SESSIONS; i++)
		close(fd[i]);
	self->fd = -1;
}

static pid_t sleeper(pid_t nr)
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

static pid_t told(int fd)
{
	struct ktape_filter_pid p = { .pid = -1 };
	struct ktape_filter f = { .op = KTAPE_FILTER_GET,
				  .kind = KTAPE_FILTER_PID, .nr = 1,
				  .entries = (uintptr_t)&p };

	return kt_filter(fd, &f) ? -1 : p.pid;
}

/* The number is another thread's by now, and another session follows that. */
TEST_F(except, number_of_another)
{
	pid_t pid = sleeper(0);
	int fd;

	ASSERT_LT(0, pid);
	self->fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_EQ(0, kt_filter_pid(self->fd, pid, 0));
	EXPECT_EQ(pid, told(self->fd));
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	ASSERT_EQ(pid, sleeper(pid));
	ASSERT_EQ(0, kt_filter_pid(fd, pid, 0));
	EXPECT_EQ(pid, told(fd));
	EXPECT_EQ(0, told(self->fd));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
}

TEST_HARNESS_MAIN
