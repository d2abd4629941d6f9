// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of uninterruptible sleep: each has its caller, outside the
 * scheduler.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_events.h"

#define TIMES 20

#define OPS KT_OPS(KTAPE_EV_SCHED_BLOCKED, KTAPE_EV_SCHED_SWITCH)

FIXTURE(blocked)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(blocked)
{
	self->tid = getpid();
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(blocked)
{
	kt_events_free(&self->e);
}

/* Count the sleeps with caller @caller of thread @tid; 0 stands for any thread. */
static int blocked_by(const struct kt_events *e, const char *caller,
		      int32_t tid, bool io)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_SCHED_BLOCKED)))
		n += kt_is_symbol(e, v->arg[1], caller) && v->dat20 == io &&
		     (!tid || (int32_t)v->arg[0] == tid);
	return n;
}

/* A sleep that waits for no I/O; dat20 says so. */
TEST_F(blocked, sleep)
{
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	ASSERT_EQ(0, kt_cause("sleep", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(TIMES, blocked_by(&self->e, "msleep", self->tid, false));
	EXPECT_EQ(0, blocked_by(&self->e, "msleep", self->tid, true));
}

TEST_F(blocked, io)
{
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	ASSERT_EQ(0, kt_cause("io_sleep", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(TIMES, blocked_by(&self->e, "kt_cause_io_sleep", self->tid, true));
	EXPECT_EQ(0, blocked_by(&self->e, "kt_cause_io_sleep", self->tid, false));
}

/* Sleeps of another thread, in the functions of a mutex. */
TEST_F_TIMEOUT(blocked, mutex, 120)
{
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	ASSERT_EQ(0, kt_cause("mutex", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_EQ(TIMES, blocked_by(&self->e, "kt_cause_mutex_fn", 0, false));
	EXPECT_EQ(0, blocked_by(&self->e, "kt_cause_mutex_fn", self->tid, false));
	EXPECT_EQ(TIMES, blocked_by(&self->e, "msleep", self->tid, false));
}

static char functions[4096][64];
static int nr_functions;

/* The scheduler's functions, from the sorted list of the kernel's symbols. */
static int read_functions(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[256], name[64];
	bool in = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*x %*c %63s", name) != 1)
			continue;
		if (!strcmp(name, "__sched_text_end"))
			break;
		if (in && nr_functions < 4096)
			strcpy(functions[nr_functions++], name);
		in |= !strcmp(name, "__sched_text_start");
	}
	if (f)
		fclose(f);
	return nr_functions;
}

static bool in_scheduler(const char *symbol)
{
	for (int i = 0; i < nr_functions; i++)
		if (!strcmp(functions[i], symbol))
			return true;
	return false;
}

static __attribute__((noinline)) pid_t vforked(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return pid;
}

/*
 * Between the first and the last of our sleeps, each switch away from a thread in
 * uninterruptible sleep has its record, and the caller is never a function of the
 * scheduler, which sleeps on behalf of its caller.
 */
TEST_F_TIMEOUT(blocked, complete, 120)
{
	size_t at = 0, first = 0, last = 0;
	int switches = 0, records = 0;
	const struct kt_ev *v;
	pid_t pid;

	ASSERT_LT(0, read_functions());
	ASSERT_TRUE(in_scheduler("schedule"));
	ASSERT_EQ(0, kt_events_start(&self->e, OPS));
	ASSERT_EQ(0, kt_cause("sleep", 1));
	for (int i = 0; i < TIMES; i++) {
		pid = vforked();
		waitpid(pid, NULL, 0);
	}
	/*
	 * A child may have ended before it is waited for; the sleeps below
	 * always happen.
	 */
	ASSERT_EQ(0, kt_cause("mutex", TIMES));
	ASSERT_EQ(0, kt_cause("work", 5));
	ASSERT_EQ(0, kt_cause("sleep", 1));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_with(&self->e, &at, KTAPE_EV_SCHED_BLOCKED, 0,
				 self->tid))) {
		if (!kt_is_symbol(&self->e, v->arg[1], "msleep"))
			continue;
		first = first ? first : at;
		last = at;
	}
	ASSERT_LT(first, last);
	for (at = first; at < last; at++) {
		v = &self->e.v[at];
		if (v->op == KTAPE_EV_SCHED_SWITCH && (int32_t)v->arg[0] == self->tid)
			switches += v->dat20 >> 16 == KTAPE_STATE_D;
		if (v->op != KTAPE_EV_SCHED_BLOCKED)
			continue;
		records += (int32_t)v->arg[0] == self->tid;
		EXPECT_STRNE("", kt_symbol(&self->e, v->arg[1]));
		EXPECT_FALSE(in_scheduler(kt_symbol(&self->e, v->arg[1])))
		{
			TH_LOG("%s", kt_symbol(&self->e, v->arg[1]));
		}
	}
	EXPECT_LT(TIMES, records);
	/* A record and its switch may be on both sides of the first or the last of these events. */
	EXPECT_LE(records, switches + 1);
	EXPECT_LE(switches, records + 1);
	TH_LOG("%d sleeps", records);
}

KT_CAUSE_MAIN
