// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test triggers on long pairs of begin and end, here of calls that read a pipe: the
 * begin of one call and the end of the next must not be taken for one long call,
 * whatever hid the events in between: the profile, a filter, a rate limit.
 */
#include <poll.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_trigger.h"
#include "now.h"

#define RING	(1U << 20)
#define CONTROL (256U << 10)
#define LONG_MS 300
#define TRIES	8

/**
 * struct reader - a thread that reads bytes one by one
 * @thread: the thread
 * @cpu: CPU that it is pinned to
 * @tid: its thread id, 0 until it runs
 * @done: bytes read so far
 * @reads: bytes after which it ends
 * @pipe: pipe that it reads
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

/* Wait until the reader waits for the byte after @done. */
static void wait_for_reader(struct reader *r, int done)
{
	while (!__atomic_load_n(&r->tid, __ATOMIC_ACQUIRE) ||
	       __atomic_load_n(&r->done, __ATOMIC_ACQUIRE) < done ||
	       !kt_is_asleep(r->tid))
		usleep(5000);
}

/* Write the byte for which the reader waits. */
static void give_byte(struct reader *r)
{
	if (write(r->pipe[1], "x", 1) != 1)
		abort();
}

FIXTURE(longer)
{
	int fd, id;
	struct reader r;
};

/* Trigger on calls of this number that take this long. */
static int add_longer(int fd, unsigned int nr, uint64_t ms)
{
	const struct ktape_trigger t = {
		.when = KTAPE_TRIGGER_LONGER,
		.opcode = KTAPE_EV_SYS_SPAN,
		.duration_ns = ms * 1000000,
		.nr_compares = 1,
		.compare = { { KTAPE_COMPARE_DAT20, 0, 16, KTAPE_COMPARE_EQ, nr } },
	};

	return kt_trigger_add(fd, &t);
}

FIXTURE_SETUP(longer)
{
	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	ASSERT_EQ(0, kt_pin(0));
	self->r.cpu = 1;
	self->r.reads = 2;
	ASSERT_EQ(0, pipe(self->r.pipe));
	self->fd = kt_session_for_threads(
		RING, CONTROL, KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	ASSERT_LE(0, self->fd);
	self->id = add_longer(self->fd, SYS_read, LONG_MS);
	ASSERT_EQ(0, self->id);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, pthread_create(&self->r.thread, NULL, reader_main, &self->r));
	wait_for_reader(&self->r, 0);
}

FIXTURE_TEARDOWN(longer)
{
	close(self->fd);
	close(self->r.pipe[0]);
	close(self->r.pipe[1]);
}

/*
 * End the first call and let the second one become long. A test may hide what is recorded
 * here: the end of the first and the begin of the second.
 */
static void end_first_call(FIXTURE_DATA(longer) * self)
{
	give_byte(&self->r);
	wait_for_reader(&self->r, 1);
	usleep(LONG_MS * 1000);
}

/* End the last call and the reader. Return: number of firings. */
static uint32_t end_reader(FIXTURE_DATA(longer) * self)
{
	give_byte(&self->r);
	pthread_join(self->r.thread, NULL);
	return kt_trigger_fired(self->fd, self->id);
}

/* Nothing is hidden: the second call was long. */
TEST_F(longer, fires)
{
	end_first_call(self);
	EXPECT_LE(1, end_reader(self));
}

/* The end of the first call and the begin of the second one are not in the profile. */
TEST_F(longer, profile)
{
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	end_first_call(self);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER,
						      KTAPE_EV_SYS_EXIT)));
	EXPECT_EQ(0, end_reader(self));
}

/* They do not pass the thread filter. */
TEST_F(longer, filter)
{
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	end_first_call(self);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_PID));
	EXPECT_EQ(0, end_reader(self));
}

/* They are of an excluded CPU. */
TEST_F(longer, cpu_filter)
{
	const uint64_t first = 1;

	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CPU, &first, 1));
	end_first_call(self);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_CPU));
	EXPECT_EQ(0, end_reader(self));
}

static int include_only_cpu_1(int fd)
{
	const uint64_t second = 2;

	return kt_filter_set(fd, KTAPE_FILTER_CPU, &second, 1);
}

static int move_reader(const struct reader *r, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(r->tid, sizeof(set), &set) ? -errno : 0;
}

/*
 * Begin a call on CPU 1 and end it on CPU 0; begin a long call on CPU 0 and end
 * it on CPU 1. Return: number of firings.
 */
static uint32_t move_during_calls(FIXTURE_DATA(longer) * self)
{
	uint32_t before;
	int wrong;

	__atomic_store_n(&self->r.reads, 3, __ATOMIC_RELEASE);
	/* The first call began before the filter or the trigger was set. */
	give_byte(&self->r);
	wait_for_reader(&self->r, 1);
	before = kt_trigger_fired(self->fd, self->id);
	wrong = move_reader(&self->r, 0);
	give_byte(&self->r);
	wait_for_reader(&self->r, 2);
	usleep(LONG_MS * 1000);
	wrong |= move_reader(&self->r, 1);
	return wrong ? ~0U : end_reader(self) - before;
}

/* Return the number of events of CPU 0 that passed the filter, and that were @filtered. */
static uint64_t count_passed(int fd, uint64_t *filtered)
{
	struct ktape_stats st;

	if (kt_stats(fd, 0, KTAPE_RING_EVENT, &st))
		abort();
	*filtered = st.filtered[KTAPE_CLASS_SYSCALL];
	return st.emitted[KTAPE_CLASS_SYSCALL] - *filtered;
}

/*
 * Check with a reader that moves between an excluded CPU and another one: the
 * trigger does not fire, no event of CPU 0 passes, and filtered events are counted. For such
 * a trigger the events of excluded CPUs are looked at, to know which calls have ended.
 */
static void check_moving_reader(struct __test_metadata *_metadata,
				FIXTURE_DATA(longer) * self)
{
	struct kt_tally *t = calloc(1, sizeof(*t));
	uint64_t before, held, held_now;

	before = count_passed(self->fd, &held);
	EXPECT_EQ(0, move_during_calls(self));
	EXPECT_EQ(before, count_passed(self->fd, &held_now));
	EXPECT_LT(held, held_now);
	/* The ledger has these counts. */
	kt_stop_and_tally(t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t->wrong);
	free(t);
}

TEST_F(longer, moves)
{
	ASSERT_EQ(0, include_only_cpu_1(self->fd));
	check_moving_reader(_metadata, self);
}

/* The filter is set before the trigger, and before START. */
TEST_F(longer, moves_first_filter)
{
	ASSERT_EQ(0, kt_trigger_remove(self->fd, self->id));
	ASSERT_EQ(0, include_only_cpu_1(self->fd));
	self->id = add_longer(self->fd, SYS_read, LONG_MS);
	ASSERT_LE(0, self->id);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	check_moving_reader(_metadata, self);
}

/* On a CPU that is not excluded it fires. */
TEST_F(longer, stays)
{
	ASSERT_EQ(0, include_only_cpu_1(self->fd));
	end_first_call(self);
	EXPECT_LE(1, end_reader(self));
}

/* Without the trigger, events of an excluded CPU are no longer looked at. */
TEST_F(longer, no_more)
{
	struct ktape_stats before, after;

	ASSERT_EQ(0, include_only_cpu_1(self->fd));
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

static void sleep_by_syscall(long ns)
{
	const struct timespec t = { ns / NS_PER_S, ns % NS_PER_S };

	syscall(SYS_nanosleep, &t, NULL);
}

/*
 * The rate limits pass one begin and one end per second. The end of poll() uses
 * up one limit, so the end of the short sleep is dropped. The begin of the
 * short sleep uses up the other limit, so the begin of the long sleep is
 * dropped. The begin and the end that remain would look like one long pair.
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
	/*
	 * If the machine was paused in between, the limits may have started
	 * anew.
	 */
	for (int i = 0; i < TRIES && away > 0.5; i++) {
		before = kt_trigger_fired(self->fd, id);
		since = now_s();
		poll(NULL, 0, 1500);
		sleep_by_syscall(1);
		sleep_by_syscall(1500000000);
		away = now_s() - since - 3;
		if (away <= 0.5) {
			EXPECT_EQ(before, kt_trigger_fired(self->fd, id));
		}
	}
	EXPECT_GE(0.5, away);
}

/* A gate would filter the pair, so such a trigger excludes a gate of that kind. */
TEST_F(longer, or_gate)
{
	const struct ktape_filter_gate syscalls = { KTAPE_GATE_SYSCALL, 0, 1 };
	const struct ktape_filter_gate both[] = { { KTAPE_GATE_IRQ, 0, 1 },
						  { KTAPE_GATE_SYSCALL, 0, 1 } };

	EXPECT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 1));
	EXPECT_EQ(-EBUSY, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 2));
	EXPECT_EQ(-EBUSY, kt_filter_set(self->fd, KTAPE_FILTER_GATE, &syscalls, 1));
	EXPECT_EQ(1, kt_filter_get(self->fd, KTAPE_FILTER_GATE).nr);
	end_first_call(self);
	EXPECT_LE(1, end_reader(self));
	ASSERT_EQ(0, kt_trigger_remove(self->fd, self->id));
	EXPECT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_GATE, both, 2));
	EXPECT_EQ(-EBUSY, add_longer(self->fd, SYS_read, 1));
}

TEST_HARNESS_MAIN
