// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that an operation which waits for a grace period (of RCU) does not keep commands for
 * other sessions waiting, and that operations on the same session come one after the other.
 * The module kt_grace lets no grace period end meanwhile.
 */
#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_module.h"
#include "kt_session.h"

#define HOLD "/sys/module/kt_grace/parameters/hold"

FIXTURE(busy)
{
	int fd, other;
};

FIXTURE_SETUP(busy)
{
	ASSERT_LE(2, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	kt_rmmod("kt_grace");
	ASSERT_EQ(0, kt_insmod("/tests/kt_grace.ko", ""));
	kt_expedite(false);
	self->fd = kt_session(KTAPE_MODE_DISCARD, 65536, 4096,
			      KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(self->fd, 0);
	self->other = kt_session(KTAPE_MODE_DISCARD, 65536, 4096,
				 KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(self->other, 0);
}

FIXTURE_TEARDOWN(busy)
{
	kt_write_text(HOLD, "0");
	close(self->fd);
	close(self->other);
	kt_rmmod("kt_grace");
}

/* Return the state of kt_grace: 0 holds nothing, 1 is about to, 2 holds grace periods. */
static int read_hold(void)
{
	char text[8] = "";
	int fd = open(HOLD, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atoi(text);
}

/* Let no grace period end until 0 is written to HOLD, or kt_grace gives up. */
static bool hold_grace_periods(void)
{
	if (kt_write_text(HOLD, "1"))
		return false;
	while (read_hold() == 1)
		usleep(1000);
	return read_hold() == 2;
}

/* An operation in a thread of its own. */
struct call {
	int (*run)(int fd);
	int fd, ret;
	bool begun, done;
	pthread_t thread;
};

static void *call_main(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->begun, true, __ATOMIC_RELEASE);
	c->ret = c->run(c->fd);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static int start_call(struct call *c)
{
	int ret = pthread_create(&c->thread, NULL, call_main, c);

	while (!ret && !__atomic_load_n(&c->begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	/* Let it come as far as the grace period. */
	usleep(100000);
	return ret;
}

static bool is_done(const struct call *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

static int start_session(int fd)
{
	return kt_control(fd, KTAPE_IOC_START);
}

static int stop_session(int fd)
{
	return kt_control(fd, KTAPE_IOC_STOP);
}

static int profile_processes(int fd)
{
	return kt_profile_only(fd, KT_OPS(KTAPE_EV_PROCESS_RENAME,
					  KTAPE_EV_PROCESS_EXIT));
}

static int filter_self(int fd)
{
	return kt_filter_pid(fd, getpid(), KTAPE_PID_THREADS);
}

static int end_pid_filter(int fd)
{
	return kt_filter_off(fd, KTAPE_FILTER_PID);
}

static int (*const operations[])(int fd) = { start_session, profile_processes,
					     filter_self, end_pid_filter,
					     stop_session };

/* Each operation waits, and commands for another session do not. */
TEST_F_TIMEOUT(busy, others_go_on, 300)
{
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		struct call c = { .run = operations[i], .fd = self->fd };
		struct ktape_session_info all[8];
		struct ktape_profile p = { .op = KTAPE_PROFILE_GET };
		bool early, waited;

		ASSERT_TRUE(hold_grace_periods());
		ASSERT_EQ(0, start_call(&c));
		early = is_done(&c);
		EXPECT_LE(3, kt_list_sessions(self->other, all));
		EXPECT_EQ(0, kt_profile(self->other, &p));
		/* Had they waited, the thread of kt_grace would have given up. */
		waited = read_hold() != 2;
		ASSERT_EQ(0, kt_write_text(HOLD, "0"));
		pthread_join(c.thread, NULL);
		EXPECT_EQ(0, c.ret);
		EXPECT_FALSE(early);
		EXPECT_FALSE(waited)
		{
			TH_LOG("operation %zu kept others waiting", i);
		}
	}
}

/* Operations on one session during a start wait for its end, and then all take effect. */
TEST_F_TIMEOUT(busy, one_after_the_other, 300)
{
	struct call first = { .run = start_session, .fd = self->fd };
	struct call second = { .run = stop_session, .fd = self->fd };
	struct call third = { .run = filter_self, .fd = self->fd };
	struct kt_tally t;

	ASSERT_TRUE(hold_grace_periods());
	ASSERT_EQ(0, start_call(&first));
	ASSERT_EQ(0, start_call(&second));
	ASSERT_EQ(0, start_call(&third));
	EXPECT_FALSE(is_done(&first));
	EXPECT_FALSE(is_done(&second));
	EXPECT_FALSE(is_done(&third));
	ASSERT_EQ(0, kt_write_text(HOLD, "0"));
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	pthread_join(third.thread, NULL);
	EXPECT_EQ(0, first.ret);
	EXPECT_EQ(0, second.ret);
	EXPECT_EQ(0, third.ret);
	kt_stop_and_tally(&t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t.wrong);
	/* Each CPU has one start and one stop. */
	EXPECT_EQ(2 * kt_online_cpus(), t.op[KTAPE_EV_SESSION]);
}

TEST_HARNESS_MAIN
