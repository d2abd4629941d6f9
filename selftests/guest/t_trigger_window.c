// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said of a trigger's snapshot is true: how far the rings reach back, and
 * that it is done when it is told.
 */
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_session.h"
#include "kt_trigger.h"

#define RING		(64 << 10)
#define MINUTE_MS	60000ULL

FIXTURE(window) {
	int main, fd, notify;
};

FIXTURE_SETUP(window)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->notify = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ASSERT_LE(0, self->notify);
	self->fd = kt_named(self->main, "window", KTAPE_MODE_OVERWRITE, RING,
			    4096, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_MARK_VALUE)));
}

FIXTURE_TEARDOWN(window)
{
	close(self->fd);
	close(self->notify);
	close(self->main);
}

static int add_snapshot(FIXTURE_DATA(window) *self, uint64_t before_ms,
			uint64_t after_ms, uint32_t actions)
{
	const struct ktape_trigger t = {
		KT_OF_ID(9), .actions = KTAPE_TRIGGER_SNAPSHOT | actions,
		.eventfd = actions ? self->notify : 0,
		.before_ns = before_ms * 1000000,
		.after_ns = after_ms * 1000000,
	};

	return kt_trigger_add(self->fd, &t);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The session was started or cleared @since: no more than that can be held. */
static void is_short(struct __test_metadata *_metadata,
		     FIXTURE_DATA(window) *self, uint64_t since)
{
	struct ktape_trigger t;

	kt_marks(9, 1);
	ASSERT_TRUE(kt_soon(kt_is_stopped, self->fd));
	ASSERT_EQ(0, kt_trigger_tell(self->fd, 0, &t));
	EXPECT_EQ(KTAPE_TRIGGER_DONE | KTAPE_TRIGGER_SHORT, t.flags);
	EXPECT_LT(0, t.held_ns);
	EXPECT_GT(now_ns() - since, t.held_ns);
}

/* Rings that have all that there was, which is not that long. */
TEST_F(window, since_start)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	since = now_ns();
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	kt_marks(1, 10);
	is_short(_metadata, self, since);
	/* The time in which it was stopped is no time that it holds. */
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	kt_marks(1, 10);
	is_short(_metadata, self, since);
}

TEST_F(window, since_clear)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	kt_marks(1, 10);
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_CLEAR));
	kt_marks(1, 10);
	is_short(_metadata, self, since);
}

/* A block that was begun before the clear, of a ring that has gone round. */
TEST_F(window, within_a_block)
{
	uint64_t since;

	ASSERT_EQ(0, add_snapshot(self, MINUTE_MS, 0, 0));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	kt_marks(1, RING / 16);
	usleep(500000);
	since = now_ns();
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_CLEAR));
	is_short(_metadata, self, since);
}

static uint64_t signals(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t n = 0;

	if (poll(&p, 1, ms) != 1 || read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	return n;
}

/* When it is told, it is done; also without a time after. */
TEST_F_TIMEOUT(window, told_when_done, 60)
{
	struct ktape_trigger t;

	ASSERT_EQ(0, add_snapshot(self, 0, 0, KTAPE_TRIGGER_NOTIFY));
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
		kt_marks(9, 1);
		EXPECT_EQ(1, signals(self->notify, 5000 * kt_scale()));
		ASSERT_EQ(0, kt_trigger_tell(self->fd, 0, &t));
		EXPECT_EQ(KTAPE_TRIGGER_DONE, t.flags);
		EXPECT_FALSE(kt_is_running(self->fd));
	}
	EXPECT_EQ(0, signals(self->notify, 200 * kt_scale()));
}

/* One that stops its own session by itself as well is done at once. */
TEST_F(window, told_when_it_stops)
{
	struct ktape_trigger spec = { KT_OF_ID(9), .eventfd = self->notify,
				      .target = KTAPE_TRIGGER_SELF,
				      .actions = KTAPE_TRIGGER_SNAPSHOT |
						 KTAPE_TRIGGER_STOP |
						 KTAPE_TRIGGER_NOTIFY };
	struct ktape_trigger t;

	for (int i = 0; i < 3; i++) {
		/* The second one is to go on, and the third to reach back. */
		spec.after_ns = i == 1 ? MINUTE_MS * 1000000 : 0;
		spec.before_ns = i == 2 ? MINUTE_MS * 1000000 : 0;
		ASSERT_EQ(0, kt_trigger_add(self->fd, &spec));
		ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
		kt_marks(9, 1);
		EXPECT_EQ(1, signals(self->notify, 5000 * kt_scale()));
		EXPECT_FALSE(kt_is_running(self->fd));
		ASSERT_EQ(0, kt_trigger_tell(self->fd, 0, &t));
		EXPECT_EQ(KTAPE_TRIGGER_DONE | (i ? KTAPE_TRIGGER_SHORT : 0),
			  t.flags);
		EXPECT_EQ(1, t.fired);
		ASSERT_EQ(0, kt_trigger_remove(self->fd, 0));
	}
	EXPECT_EQ(0, signals(self->notify, 200 * kt_scale()));
}

/* Nor is what somebody else stopped told as done. */
TEST_F(window, not_told_otherwise)
{
	struct ktape_trigger t;

	ASSERT_EQ(0, add_snapshot(self, 0, 1000 * kt_scale(),
				  KTAPE_TRIGGER_NOTIFY));
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_START));
	kt_marks(9, 1);
	ASSERT_EQ(0, kt_command(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_trigger_tell(self->fd, 0, &t));
	EXPECT_EQ(1, t.fired);
	EXPECT_EQ(0, t.flags);
	EXPECT_EQ(0, signals(self->notify, 1500 * kt_scale()));
	ASSERT_EQ(0, kt_trigger_tell(self->fd, 0, &t));
	EXPECT_EQ(0, t.flags);
}

TEST_HARNESS_MAIN
