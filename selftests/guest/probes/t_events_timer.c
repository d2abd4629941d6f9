// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of interval timers, hrtimers, the timer wheel, the tick and
 * work items: each as often as it was caused, in order, with its times and functions.
 */
#include <time.h>

#include "kselftest_harness.h"

#include "kt_events.h"
#include "now.h"

#define TIMES 20

FIXTURE(timers)
{
	struct kt_events e;
	int32_t tid;
};

static volatile sig_atomic_t expired;

static void on_expiry(int sig)
{
	expired++;
}

FIXTURE_SETUP(timers)
{
	struct sigaction sa = { .sa_handler = on_expiry };

	self->tid = getpid();
	expired = 0;
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGVTALRM, &sa, NULL);
	sigaction(SIGPROF, &sa, NULL);
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(timers)
{
	kt_events_free(&self->e);
}

/* ---- setitimer() -------------------------------------------------------------- */

/*
 * Return what call @i sets the timer to: a distant time, a different one each time, or, at every
 * fourth call, nothing, which disarms it.
 */
static struct itimerval value_of(int i)
{
	const struct itimerval off = {};

	if (i % 4 == 3)
		return off;
	return (struct itimerval){ .it_value = { 1000 + i, 10 * i },
				   .it_interval = { i % 3, 7 } };
}

static uint64_t ns_of(struct timeval t)
{
	return t.tv_sec * NS_PER_S + t.tv_usec * 1000ULL;
}

TEST_F(timers, itimer_state)
{
	const struct kt_ev *v;
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_ITIMER_STATE,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < 3 * TIMES; i++) {
		struct itimerval value = value_of(i);

		ASSERT_EQ(0, setitimer(i % 3, &value, NULL));
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (int i = 0; i < 3 * TIMES; i++) {
		struct itimerval value = value_of(i);
		uint64_t first = ns_of(value.it_value);

		do {
			v = kt_next_event(&self->e, &at, KTAPE_EV_ITIMER_STATE);
			ASSERT_NE(NULL, v);
		} while (v->tid != self->tid);
		EXPECT_EQ(i % 3, v->dat20);
		EXPECT_EQ(first, kt_u64(&v->arg[2]));
		EXPECT_EQ(ns_of(value.it_interval), kt_u64(&v->arg[4]));
		/*
		 * The expiry of a CPU timer records the CPU time; that of the
		 * real timer does not.
		 */
		if (i % 3 == ITIMER_REAL || !first) {
			EXPECT_EQ(0, kt_u64(v->arg));
		} else {
			EXPECT_LT(first, kt_u64(v->arg));
		}
	}
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_ITIMER_STATE)))
		EXPECT_NE(self->tid, v->tid);
}

/* One timer after the other: the number of expiries is the number of signals. */
TEST_F_TIMEOUT(timers, itimer_expire, 120)
{
	const struct kt_ev *v;
	int nr[3] = {};
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_ITIMER_EXPIRE)));
	for (int i = 0; i < 3 * TIMES; i++) {
		struct itimerval soon = { .it_value = { 0, 1000 } };

		ASSERT_EQ(0, setitimer(i % 3, &soon, NULL));
		while (expired <= i)
			if (i % 3 == ITIMER_REAL)
				usleep(1000);
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_with(&self->e, &at, KTAPE_EV_ITIMER_EXPIRE, 0,
				 self->tid))) {
		ASSERT_LT(v->dat20, 3);
		nr[v->dat20]++;
	}
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(TIMES, nr[i]);
}

/* ---- high-resolution timers ----------------------------------------------------- */

struct nap {
	uint64_t before, after; /* limits of its expiry */
};

/* Sleep for a time, or until a time. */
static struct nap time_nap(bool absolute, uint64_t ns)
{
	struct nap n = { .before = clock_ns(CLOCK_MONOTONIC) + ns };
	uint64_t until = absolute ? n.before : ns;
	const struct timespec t = { until / NS_PER_S, until % NS_PER_S };

	clock_nanosleep(CLOCK_MONOTONIC, absolute ? TIMER_ABSTIME : 0, &t, NULL);
	n.after = absolute ? n.before : clock_ns(CLOCK_MONOTONIC);
	return n;
}

/* Arm for a distant time, then disarm. */
TEST_F(timers, cancel)
{
	const struct itimerval off = {};
	const struct kt_ev *v;
	uint32_t token = 0;
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_HRTIMER_START,
						      KTAPE_EV_HRTIMER_CANCEL,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++) {
		const struct itimerval far = { .it_value = { 100000, i } };

		ASSERT_EQ(0, setitimer(ITIMER_REAL, &far, NULL));
		ASSERT_EQ(0, setitimer(ITIMER_REAL, &off, NULL));
	}
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while (!token) {
		v = kt_next_event(&self->e, &at, KTAPE_EV_HRTIMER_START);
		ASSERT_NE(NULL, v);
		if (v->tid == self->tid && kt_u64(&v->arg[1]) > 100000 * NS_PER_S)
			token = v->arg[0];
	}
	EXPECT_EQ(TIMES, kt_count_with(&self->e, KTAPE_EV_HRTIMER_START, 0, token));
	EXPECT_EQ(TIMES, kt_count_with(&self->e, KTAPE_EV_HRTIMER_CANCEL, 0, token));
}

FIXTURE(naps)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_VARIANT(naps)
{
	bool absolute;
};

FIXTURE_VARIANT_ADD(naps, relative){ false };
FIXTURE_VARIANT_ADD(naps, absolute){ true };

FIXTURE_SETUP(naps)
{
	self->tid = getpid();
	ASSERT_EQ(0, kt_pin(0));
}

FIXTURE_TEARDOWN(naps)
{
	kt_events_free(&self->e);
}

/* Return the next record of @tid from *@at on, or NULL. */
static const struct kt_ev *next_of(struct kt_events *e, size_t *at, int opcode,
				   int32_t tid)
{
	const struct kt_ev *v;

	do {
		v = kt_next_event(e, at, opcode);
	} while (v && v->tid != tid);
	return v;
}

/* Return true if the kernel has a function of this name. */
static bool has_function(const char *name)
{
	char line[256], found[128];
	FILE *f = fopen("/proc/kallsyms", "r");
	bool has = false;

	while (f && !has && fgets(line, sizeof(line), f))
		has = sscanf(line, "%*s %*s %127s", found) == 1 &&
		      !strcmp(found, name);
	if (f)
		fclose(f);
	return has;
}

/*
 * Return true if the timer is the one of sleep @n. The tick's timer is armed in
 * the context of this thread, too.
 */
static bool is_of_nap(const struct kt_ev *v, const struct nap *n)
{
	uint64_t expires = kt_u64(&v->arg[1]);

	return n->before <= expires && expires <= n->after;
}

/*
 * Return true if it is the timer of a sleep. The tick's timer may have the same
 * expiry.
 */
static bool wakes(const struct kt_events *e, size_t at, uint32_t token)
{
	const struct kt_ev *v =
		kt_next_with(e, &at, KTAPE_EV_HRTIMER_EXPIRE_ENTRY, 0, token);

	return v && kt_is_symbol(e, v->arg[1], "hrtimer_wakeup");
}

/*
 * Check the whole life of a sleep's timer. It is on our kernel stack, so it is
 * ours. Kernels with object debugging initialise such timers by a function
 * without the event.
 */
TEST_F_TIMEOUT(naps, nanosleep, 120)
{
	const uint32_t mode = !variant->absolute;
	bool reported;
	int op;
	uint32_t tokens[TIMES];
	const struct kt_ev *v;
	struct nap naps[TIMES];
	size_t at = 0, after;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_HRTIMER_INIT,
						      KTAPE_EV_HRTIMER_START,
						      KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
						      KTAPE_EV_HRTIMER_EXPIRE_EXIT,
						      KTAPE_EV_HRTIMER_CANCEL,
						      KTAPE_EV_SCHED_SWITCH)));
	for (int i = 0; i < TIMES; i++)
		naps[i] = time_nap(variant->absolute, 1000000 + i);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	reported = next_of(&self->e, &at, KTAPE_EV_HRTIMER_INIT, self->tid);
	EXPECT_EQ(!reported, has_function("hrtimer_init_sleeper_on_stack"));
	op = reported ? KTAPE_EV_HRTIMER_INIT : KTAPE_EV_HRTIMER_START;
	at = 0;
	for (int i = 0; i < TIMES; i++) {
		uint32_t token;

		after = at;
		do {
			v = next_of(&self->e, &after, op, self->tid);
			ASSERT_NE(NULL, v);
		} while (!reported && (!is_of_nap(v, &naps[i]) ||
				       !wakes(&self->e, after, v->arg[0])));
		if (reported)
			EXPECT_EQ(CLOCK_MONOTONIC | mode << 5, v->dat20);
		token = v->arg[0];
		v = kt_next_with(&self->e, &at, KTAPE_EV_HRTIMER_START, 0, token);
		ASSERT_NE(NULL, v);
		EXPECT_EQ(mode, v->dat20);
		EXPECT_EQ(self->tid, v->tid);
		EXPECT_EQ(true, is_of_nap(v, &naps[i]));
		/* The next sleep may begin before this timer's function ends. */
		after = at;
		v = kt_next_with(&self->e, &after,
				 KTAPE_EV_HRTIMER_EXPIRE_ENTRY, 0, token);
		ASSERT_NE(NULL, v);
		EXPECT_STREQ("hrtimer_wakeup", kt_symbol(&self->e, v->arg[1]));
		/* How late it is, in ns. */
		EXPECT_LE(0, (int32_t)v->arg[2]);
		v = kt_next_with(&self->e, &after, KTAPE_EV_HRTIMER_EXPIRE_EXIT,
				 0, token);
		ASSERT_NE(NULL, v);
		tokens[i] = token;
	}
	/* The opcodes follow each other: init, start, expire entry and exit, cancel. */
	for (; op < KTAPE_EV_HRTIMER_CANCEL; op++)
		EXPECT_EQ(TIMES, kt_count_any(&self->e, op, tokens, TIMES));
	EXPECT_EQ(0, kt_count_any(&self->e, KTAPE_EV_HRTIMER_CANCEL, tokens, TIMES));
}

/* ---- the wheel ------------------------------------------------------------------- */

FIXTURE(wheel)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(wheel)
{
	self->tid = getpid();
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(wheel)
{
	kt_events_free(&self->e);
}

/* Find the helper module's timer by its function. */
static uint32_t timer_of(const struct kt_events *e)
{
	const struct kt_ev *v;
	size_t at = 0;

	while ((v = kt_next_event(e, &at, KTAPE_EV_TIMER_START)))
		if (kt_is_symbol(e, v->arg[1], "kt_cause_timer_fn"))
			return v->arg[0];
	return 0;
}

/* Per round: initialised, armed twice, disarmed twice, expired. */
TEST_F_TIMEOUT(wheel, timer, 120)
{
	static const struct {
		unsigned int op;
		int times;
	} expected[] = {
		{ KTAPE_EV_TIMER_INIT, 1 },
		{ KTAPE_EV_TIMER_START, 2 },
		{ KTAPE_EV_TIMER_CANCEL, 2 },
		{ KTAPE_EV_TIMER_EXPIRE_ENTRY, 1 },
		{ KTAPE_EV_TIMER_EXPIRE_EXIT, 1 },
	};
	const struct kt_ev *v;
	uint32_t token, fn = 0;
	int near[2] = {};
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_TIMER_INIT,
						      KTAPE_EV_TIMER_START,
						      KTAPE_EV_TIMER_EXPIRE_ENTRY,
						      KTAPE_EV_TIMER_EXPIRE_EXIT,
						      KTAPE_EV_TIMER_CANCEL)));
	ASSERT_EQ(0, kt_cause("timer", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	token = timer_of(&self->e);
	ASSERT_NE(0, token);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		EXPECT_EQ(expected[i].times * TIMES,
			  kt_count_with(&self->e, expected[i].op, 0, token));
	for (int i = 0; i < 2 * TIMES; i++) {
		/* SHORT_JIFFIES and LONG_JIFFIES of modules/kt_cause.c */
		int in = i % 2 ? 2 : 10000;

		v = kt_next_with(&self->e, &at, KTAPE_EV_TIMER_START, 0, token);
		ASSERT_NE(NULL, v);
		/*
		 * Any number of jiffies may pass in between if this thread is
		 * preempted.
		 */
		EXPECT_LE((int32_t)v->arg[2], in);
		near[i % 2] += (int32_t)v->arg[2] >= in - 1;
		/* On our CPU, without flags. */
		EXPECT_EQ(0, v->dat20);
		if (i % 2 == 0)
			continue;
		v = kt_next_with(&self->e, &at, KTAPE_EV_TIMER_EXPIRE_ENTRY, 0,
				 token);
		ASSERT_NE(NULL, v);
		fn = v->arg[1];
		EXPECT_STREQ("kt_cause_timer_fn", kt_symbol(&self->e, fn));
		/* How late it is, in jiffies. */
		EXPECT_LE(0, (int32_t)v->arg[2]);
	}
	EXPECT_LE(TIMES / 2, near[0]);
	EXPECT_LE(TIMES / 2, near[1]);
	/*
	 * The function's name is in the registry by now: a new stream begins
	 * with it.
	 */
	kt_events_free(&self->e);
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_TIMER_INIT)));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	EXPECT_TRUE(kt_stream_names(&self->e, fn, "kt_cause_timer_fn"));
}

/* Our sleeps stop the tick of a CPU, unless it is busy otherwise. */
TEST_F_TIMEOUT(wheel, tick_stop, 120)
{
	const struct kt_ev *v;
	int stopped = 0;
	size_t at = 0;

	if (kt_is_busy())
		SKIP(return, "no CPU is idle");
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_TICK_STOP)));
	for (int i = 0; i < TIMES; i++)
		time_nap(false, 50000000);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_TICK_STOP))) {
		/*
		 * Each attempt either stops the tick or records what prevents
		 * that.
		 */
		EXPECT_EQ(v->dat20 & 1, !(v->dat20 >> 1));
		stopped += v->cpu == 0 && v->dat20 == 1;
	}
	EXPECT_LE(TIMES / 2, stopped);
	TH_LOG("%d stops in %d naps", stopped, TIMES);
}

/* A CPU becomes idle and busy alternately. */
TEST_F_TIMEOUT(wheel, timer_base_idle, 120)
{
	int last[KTS_CPUS], nr = 0;
	const struct kt_ev *v;
	size_t at = 0;

	if (!kt_available(KTAPE_EV_TIMER_BASE_IDLE))
		SKIP(return, "the kernel has no timer_base_idle");
	if (kt_is_busy())
		SKIP(return, "no CPU is idle");
	for (int i = 0; i < KTS_CPUS; i++)
		last[i] = -1;
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_TIMER_BASE_IDLE)));
	for (int i = 0; i < TIMES; i++)
		time_nap(false, 50000000);
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_TIMER_BASE_IDLE))) {
		uint32_t cpu = v->dat20 >> 1;

		ASSERT_LT(cpu, (uint32_t)kt_online_cpus());
		EXPECT_NE(last[cpu], (int)(v->dat20 & 1));
		last[cpu] = v->dat20 & 1;
		nr += cpu == 0;
	}
	EXPECT_LE(TIMES / 2, nr);
}

/* ---- work ------------------------------------------------------------------------ */

FIXTURE(work)
{
	struct kt_events e;
};

FIXTURE_VARIANT(work)
{
	const char *cause;
	uint32_t cpu; /* for which it is queued; 65535: any */
};

/* clang-format off */
FIXTURE_VARIANT_ADD(work, anywhere) { "work", 65535 };
FIXTURE_VARIANT_ADD(work, on_cpu_1) { "work_on", 1 };
/* clang-format on */

FIXTURE_SETUP(work)
{
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(work)
{
	kt_events_free(&self->e);
}

/* Queued, activated, started, done: TIMES times, in this order, for the same work item. */
TEST_F_TIMEOUT(work, items, 120)
{
	const struct kt_ev *v;
	uint32_t token = 0;
	size_t at = 0;

	ASSERT_EQ(0, kt_events_start(&self->e,
				     KT_OPS(KTAPE_EV_WORKQUEUE_QUEUE_WORK,
					    KTAPE_EV_WORKQUEUE_ACTIVATE_WORK,
					    KTAPE_EV_WORKQUEUE_EXECUTE_START,
					    KTAPE_EV_WORKQUEUE_EXECUTE_END)));
	ASSERT_EQ(0, kt_cause(variant->cause, TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while (!token) {
		v = kt_next_event(&self->e, &at, KTAPE_EV_WORKQUEUE_QUEUE_WORK);
		ASSERT_NE(NULL, v);
		if (kt_is_symbol(&self->e, v->arg[1], "kt_cause_work_fn"))
			token = v->arg[0];
	}
	at = 0;
	for (int i = 0; i < 4 * TIMES; i++) {
		static const uint32_t op[] = {
			KTAPE_EV_WORKQUEUE_QUEUE_WORK,
			KTAPE_EV_WORKQUEUE_ACTIVATE_WORK,
			KTAPE_EV_WORKQUEUE_EXECUTE_START,
			KTAPE_EV_WORKQUEUE_EXECUTE_END,
		};

		v = kt_next_with(&self->e, &at, op[i % 4], 0, token);
		ASSERT_NE(NULL, v);
		/* The record of activating it has no function. */
		if (i % 4 != 1) {
			EXPECT_STREQ("kt_cause_work_fn",
				     kt_symbol(&self->e, v->arg[1]));
		}
		EXPECT_EQ(i % 4 ? 0 : variant->cpu, v->dat20);
		if (i % 4 >= 2) {
			EXPECT_EQ(variant->cpu == 1, v->cpu);
		}
		EXPECT_EQ(TIMES, kt_count_with(&self->e, op[i % 4], 0, token));
	}
}

KT_CAUSE_MAIN
