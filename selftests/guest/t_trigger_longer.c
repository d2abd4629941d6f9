// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers that wait for a long pair are not deceived by two halves of different
 * pairs, whatever hid what was between them: the profile, a filter, a limit.
 */
#include <poll.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_trigger.h"

#define RING		(1U << 20)
#define CONTROL		(256U << 10)
#define LONG_MS		300
#define TRIES		8

/**
 * struct reader - a thread that reads bytes one by one
 * @thread: the thread
 * @cpu: where
 * @tid: its number, 0 until it runs
 * @done: how many it has read
 * @reads: after how many it ends
 * @pipe: where from
 */
struct reader {
	pthread_t thread;
	int cpu, tid, done, reads, pipe[2];
};

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	char c;

	if (kt_pin(r->cpu))
		return NULL;
	__atomic_store_n(&r->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (r->done < __atomic_load_n(&r->reads, __ATOMIC_ACQUIRE) &&
	       syscall(SYS_read, r->pipe[0], &c, 1) == 1)
		__atomic_store_n(&r->done, r->done + 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Until it waits for the byte after @done. */
static void wait_for(struct reader *r, int done)
{
	while (!__atomic_load_n(&r->tid, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) < done ||
	       !kt_is_asleep(r->tid))
		usleep(5000);
}

static void give(struct reader *r)
{
	if (write(r->pipe[1], "x", 1) != 1)
		abort();
}

FIXTURE(longer)
{
	int fd, id;
	struct reader r;
};

/* Calls of this number that take so long. */
static int add_longer(int fd, unsigned int nr, uint64_t ms)
{
	const struct ktape_trigger t = {
		.when = KTAPE_TRIGGER_LONGER,
		.opcode = KTAPE_EV_SYS_SPAN,
		.duration_ns = ms * 1000000,
		.nr_compares = 1,
		.compare = { { KTAPE_COMPARE_DAT20, 0, 16, KTAPE_COMPARE_EQ,
			       nr } },
	};

	return kt_trigger_add(fd, &t);
}

FIXTURE_SETUP(longer)
{
	if (kt_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	ASSERT_EQ(0, kt_pin(0));
	self->r.cpu = 1;
	self->r.reads = 2;
	ASSERT_EQ(0, pipe(self->r.pipe));
	self->fd = kt_session_names(
		RING, CONTROL, KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	ASSERT_LE(0, self->fd);
	self->id = add_longer(self->fd, SYS_read, LONG_MS);
	ASSERT_EQ(0, self->id);
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0,
		  pthread_create(&self->r.thread, NULL, reader_main, &self->r));
	wait_for(&self->r, 0);
}

FIXTURE_TEARDOWN(longer)
{
	close(self->fd);
	close(self->r.pipe[0]);
	close(self->r.pipe[1]);
}

/* The end of the first and the begin of the second one go unseen: here. */
static void change_over(FIXTURE_DATA(longer) * self)
{
	give(&self->r);
	wait_for(&self->r, 1);
	usleep(LONG_MS * 1000);
}

static uint32_t end(FIXTURE_DATA(longer) * self)
{
	give(&self->r);
	pthread_join(self->r.thread, NULL);
	return kt_trigger_fired(self->fd, self->id);
}

/* Nothing hides anything: the second one was long. */
TEST_F(longer, fires)
{
	change_over(self);
	EXPECT_LE(1, end(self));
}

TEST_F(longer, profile)
{
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	change_over(self);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	EXPECT_EQ(0, end(self));
}

TEST_F(longer, filter)
{
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	change_over(self);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
	EXPECT_EQ(0, end(self));
}

/* Of a CPU that is left out nobody even asks. */
TEST_F(longer, cpu_filter)
{
	const uint64_t first = 1;

	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CPU, &first, 1));
	change_over(self);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_CPU));
	EXPECT_EQ(0, end(self));
}

static int only_cpu_1(int fd)
{
	const uint64_t second = 2;

	return kt_filter_set(fd, KTAPE_FILTER_CPU, &second, 1);
}

static int move(const struct reader *r, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(r->tid, sizeof(set), &set) ? -errno : 0;
}

/*
 * Begins a call on CPU 1, ends it on CPU 0, begins another one there, a long one,
 * and ends that on CPU 1 again.  Return: how often it fired for that.
 */
static uint32_t moves(FIXTURE_DATA(longer) * self)
{
	uint32_t before;
	int wrong;

	__atomic_store_n(&self->r.reads, 3, __ATOMIC_RELEASE);
	/* The first one began before the filter was there, or the trigger. */
	give(&self->r);
	wait_for(&self->r, 1);
	before = kt_trigger_fired(self->fd, self->id);
	wrong = move(&self->r, 0);
	give(&self->r);
	wait_for(&self->r, 2);
	usleep(LONG_MS * 1000);
	wrong |= move(&self->r, 1);
	return wrong ? ~0U : end(self) - before;
}

/* Calls on CPU 0 that passed so far, of those that were looked at. */
static uint64_t passed(int fd, uint64_t *filtered)
{
	struct ktape_stats st;

	if (kt_stats(fd, 0, KTAPE_RING_EVENT, &st))
		abort();
	*filtered = st.filtered[KTAPE_CLASS_SYSCALL];
	return st.emitted[KTAPE_CLASS_SYSCALL] - *filtered;
}

/* It does not fire, nothing of CPU 0 passes, and what was held back is counted. */
static void is_not_deceived(struct __test_metadata *_metadata,
			    FIXTURE_DATA(longer) * self)
{
	struct kt_take *t = calloc(1, sizeof(*t));
	uint64_t before, held, held_now;

	before = passed(self->fd, &held);
	EXPECT_EQ(0, moves(self));
	EXPECT_EQ(before, passed(self->fd, &held_now));
	EXPECT_LT(held, held_now);
	/* Of these numbers the ledger knows. */
	kt_take(t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t->wrong);
	free(t);
}

TEST_F(longer, moves)
{
	ASSERT_EQ(0, only_cpu_1(self->fd));
	is_not_deceived(_metadata, self);
}

/* The filter is there when the trigger comes, and when the session starts. */
TEST_F(longer, moves_first_filter)
{
	ASSERT_EQ(0, kt_trigger_remove(self->fd, self->id));
	ASSERT_EQ(0, only_cpu_1(self->fd));
	self->id = add_longer(self->fd, SYS_read, LONG_MS);
	ASSERT_LE(0, self->id);
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	is_not_deceived(_metadata, self);
}

/* On a CPU that is not left out it fires as ever. */
TEST_F(longer, stays)
{
	ASSERT_EQ(0, only_cpu_1(self->fd));
	change_over(self);
	EXPECT_LE(1, end(self));
}

/* Without its trigger a CPU that is left out is not looked at any more. */
TEST_F(longer, no_more)
{
	struct ktape_stats before, after;

	ASSERT_EQ(0, only_cpu_1(self->fd));
	ASSERT_EQ(0, kt_trigger_remove(self->fd, self->id));
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &before));
	kt_getppids(100);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &after));
	EXPECT_LT(0, before.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(before.filtered[KTAPE_CLASS_SYSCALL],
		  after.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(before.emitted[KTAPE_CLASS_SYSCALL],
		  after.emitted[KTAPE_CLASS_SYSCALL]);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void nap(long ns)
{
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };

	syscall(SYS_nanosleep, &t, NULL);
}

/*
 * One begin and one end pass in a second.  What ends at first takes the place of
 * the first nap's end, and its begin that of the next one's, which is long.
 */
TEST_F_TIMEOUT(longer, limit, 120)
{
	const struct ktape_filter_rate limits[] = {
		{ KTAPE_EV_SYS_ENTER, 1 },
		{ KTAPE_EV_SYS_EXIT, 1 },
	};
	double since, away = 1;
	uint32_t before;
	int id;

	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_RATE, limits, 2));
	id = add_longer(self->fd, SYS_nanosleep, 1200);
	ASSERT_LE(0, id);
	/* If the machine was away in between, limits may have begun anew. */
	for (int i = 0; i < TRIES && away > 0.5; i++) {
		before = kt_trigger_fired(self->fd, id);
		since = seconds();
		poll(NULL, 0, 1500);
		nap(1);
		nap(1500000000);
		away = seconds() - since - 3;
		if (away <= 0.5) {
			EXPECT_EQ(before, kt_trigger_fired(self->fd, id));
		}
	}
	EXPECT_GE(0.5, away);
}

/* A gate would hide the pair, whichever of the two comes first. */
TEST_F(longer, or_gate)
{
	const struct ktape_filter_gate syscalls = { KTAPE_GATE_SYSCALL, 0, 1 };
	const struct ktape_filter_gate both[] = {
		{ KTAPE_GATE_IRQ, 0, 1 }, { KTAPE_GATE_SYSCALL, 0, 1 }
	};

	EXPECT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 1));
	EXPECT_EQ(-EBUSY, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 2));
	EXPECT_EQ(-EBUSY,
		  kt_filter_set(self->fd, KTAPE_FILTER_GATE, &syscalls, 1));
	EXPECT_EQ(1, kt_filter_get(self->fd, KTAPE_FILTER_GATE).nr);
	change_over(self);
	EXPECT_LE(1, end(self));
	ASSERT_EQ(0, kt_trigger_remove(self->fd, self->id));
	EXPECT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 2));
	EXPECT_EQ(-EBUSY, add_longer(self->fd, SYS_read, 1));
}

TEST_HARNESS_MAIN
