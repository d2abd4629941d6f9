// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trigger on silence is carried out by a work item, which may be delayed at any place.
 * Here the module kt_stall delays it between finding the silence and firing (in
 * nsecs_to_jiffies(), which it calls there), and meanwhile the silence ends: the session is
 * started again, or an event matches.
 */
#include <time.h>

#include "kselftest_harness.h"

#include "kt_module.h"
#include "kt_session.h"
#include "kt_trigger.h"
#include "now.h"

#define STALL	   "/sys/module/kt_stall/parameters/stall"
#define SILENCE_MS (1000 * kt_scale())
#define TRIES	   10

FIXTURE(quiet)
{
	int fd;
};

FIXTURE_SETUP(quiet)
{
	const struct ktape_trigger t = {
		KT_OF_ID(7),
		.when = KTAPE_TRIGGER_QUIET,
		.duration_ns = SILENCE_MS * 1000000ULL,
	};

	kt_rmmod("kt_stall");
	self->fd = -1;
	if (kt_insmod("/tests/kt_stall.ko", ""))
		SKIP(return, "no kt_stall.ko, or it cannot probe nsecs_to_jiffies()");
	self->fd = kt_session(0, 65536, 0, KT_OPS(KTAPE_EV_MARK_VALUE));
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_trigger_add(self->fd, &t));
}

FIXTURE_TEARDOWN(quiet)
{
	close(self->fd);
	kt_rmmod("kt_stall");
}

/* The parameter of kt_stall is 1 while it waits for the work item, and 2 while it delays it. */
static bool is_stalled(int unused)
{
	char text[8] = "";
	int f = open(STALL, O_RDONLY | O_CLOEXEC);
	bool is = f >= 0 && read(f, text, sizeof(text) - 1) > 0 && text[0] == '2';

	(void)unused;
	close(f);
	return is;
}

static bool has_fired(int fd)
{
	return kt_trigger_fired(fd, 0);
}

static int stop_and_start(int fd)
{
	return kt_control(fd, KTAPE_IOC_STOP) ?: kt_control(fd, KTAPE_IOC_START);
}

static int mark_matching(int fd)
{
	(void)fd;
	kt_write_values(7, 1);
	return 0;
}

/*
 * Stall the work item when it has found the silence, call @end, and let it go on.
 * A new silence may begin then, and must not last before the trigger is looked at.
 * Return: how often the trigger fired; -EAGAIN: the machine was too slow to tell; another
 * negative errno: a step failed.
 */
static int count_firings_after(int fd, int (*end)(int fd))
{
	uint64_t from;
	int fired;

	if (kt_control(fd, KTAPE_IOC_START) || kt_write_text(STALL, "1") ||
	    !kt_wait_until(is_stalled, 0))
		return -EIO;
	from = now_ns();
	if (end(fd) || kt_write_text(STALL, "0"))
		return -EIO;
	/* Half of the silence: a wrong firing has time to come, and a new silence is not over. */
	while (!has_fired(fd) && now_ns() - from < SILENCE_MS * 500000ULL)
		usleep(10000);
	fired = kt_trigger_fired(fd, 0);
	if (now_ns() - from >= SILENCE_MS * 900000ULL)
		fired = -EAGAIN;
	return kt_control(fd, KTAPE_IOC_STOP) ?: fired;
}

/* Repeat that until the machine is fast enough. */
static int retry_count_firings(int fd, int (*end)(int fd))
{
	int fired = -EAGAIN;

	for (int i = 0; i < TRIES && fired == -EAGAIN; i++)
		fired = count_firings_after(fd, end);
	return fired;
}

TEST_F_TIMEOUT(quiet, not_after_a_restart, 300)
{
	EXPECT_EQ(0, retry_count_firings(self->fd, stop_and_start));
}

TEST_F_TIMEOUT(quiet, not_after_a_match, 300)
{
	EXPECT_EQ(0, retry_count_firings(self->fd, mark_matching));
}

static int cause_nothing(int fd)
{
	(void)fd;
	return 0;
}

/* If nothing ends the silence, the delayed work item fires. */
TEST_F_TIMEOUT(quiet, after_all, 300)
{
	EXPECT_EQ(1, retry_count_firings(self->fd, cause_nothing));
}

TEST_HARNESS_MAIN
