// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destroy sessions while triggers start them: their own triggers, those of
 * another session, and while the module is unloaded. The test is that the
 * module can be unloaded and that the kernel reports nothing.
 */
#include "kselftest_harness.h"

#include "kt_emit.h"
#include "kt_session.h"
#include "kt_trigger.h"

#define CPUS_MAX 16

/* Cause two switches, and leave time to the kernel's workers. */
static void sleep_shortly(uint64_t n)
{
	usleep(100);
}

FIXTURE(storm)
{
	int cpus, main;
	struct kt_load load[CPUS_MAX];
};

static int load_small_rings(void)
{
	return kt_insmod_ktape("profile=none size=64K");
}

FIXTURE_SETUP(storm)
{
	self->main = -1;
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	ASSERT_EQ(0, load_small_rings());
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, sleep_shortly));
}

FIXTURE_TEARDOWN(storm)
{
	kt_loads_stop(self->load, self->cpus);
	if (self->main >= 0)
		close(self->main);
	EXPECT_EQ(0, kt_rmmod_ktape());
}

/* Create a session that records switches. Return: its descriptor or -errno. */
static int new_switch_session(int fd, const char *name, uint32_t flags)
{
	int ret = kt_named(fd, name, KTAPE_MODE_OVERWRITE, 65536, 4096, flags);

	if (ret >= 0 && kt_profile_only(ret, KT_OPS(KTAPE_EV_SCHED_SWITCH))) {
		close(ret);
		return -EIO;
	}
	return ret;
}

/* Add a trigger that starts session @target at each switch. */
static int add_start(int fd, uint32_t target)
{
	const struct ktape_trigger t = { .opcode = KTAPE_EV_SCHED_SWITCH,
					 .actions = KTAPE_TRIGGER_START,
					 .target = target };

	return kt_trigger_add(fd, &t);
}

/* Add a trigger on silence. A work item looks for it, which may be pending at the end. */
static int add_quiet(int fd)
{
	const struct ktape_trigger t = { .opcode = KTAPE_EV_MARK,
					 .when = KTAPE_TRIGGER_QUIET,
					 .duration_ns = KTAPE_TRIGGER_QUIET_MIN };

	return kt_trigger_add(fd, &t);
}

/* Its own trigger starts the session while its last descriptor is closed. */
TEST_F_TIMEOUT(storm, own_trigger, 120)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	for (int i = 0; i < 20 / kt_scale() + 2; i++) {
		int fd = new_switch_session(self->main, "storm", 0);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, add_start(fd, KTAPE_TRIGGER_SELF));
		ASSERT_EQ(1, add_quiet(fd));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		usleep(2000 * i);
		close(fd);
	}
}

/* A trigger of another session starts the session while its last descriptor is closed. */
TEST_F_TIMEOUT(storm, trigger_of_another_session, 120)
{
	int a;

	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	a = new_switch_session(self->main, "starter", 0);
	ASSERT_LE(0, a);
	ASSERT_EQ(0, kt_control(a, KTAPE_IOC_START));
	for (int i = 0; i < 20 / kt_scale() + 2; i++) {
		int b = new_switch_session(self->main, "started", 0), id;
		struct ktape_layout l;

		ASSERT_LE(0, b);
		ASSERT_EQ(0, kt_layout(b, &l, NULL, 0));
		id = add_start(a, l.session);
		ASSERT_LE(0, id);
		usleep(2000 * i);
		close(b);
		ASSERT_EQ(0, kt_trigger_remove(a, id));
	}
	close(a);
}

/* Unload the module while lingering sessions start themselves and each other. */
TEST_F_TIMEOUT(storm, unload, 120)
{
	for (int i = 0; i < (kt_scale() > 1 ? 2 : 4); i++) {
		struct ktape_layout l;
		int fd = kt_open(O_RDWR), a, b;

		ASSERT_LE(0, fd);
		a = new_switch_session(fd, "a", KTAPE_CREATE_LINGER);
		b = new_switch_session(fd, "b", KTAPE_CREATE_LINGER);
		ASSERT_LE(0, a);
		ASSERT_LE(0, b);
		ASSERT_EQ(0, add_start(a, KTAPE_TRIGGER_SELF));
		ASSERT_EQ(0, kt_layout(b, &l, NULL, 0));
		ASSERT_EQ(1, add_start(a, l.session));
		ASSERT_EQ(0, add_start(b, KTAPE_TRIGGER_SELF));
		ASSERT_EQ(1, add_quiet(b));
		ASSERT_EQ(0, kt_layout(a, &l, NULL, 0));
		ASSERT_EQ(2, add_start(b, l.session));
		ASSERT_EQ(0, kt_control(a, KTAPE_IOC_START));
		close(a);
		close(b);
		close(fd);
		usleep(2000 * i);
		ASSERT_EQ(0, kt_rmmod_ktape());
		ASSERT_EQ(0, load_small_rings());
	}
}

TEST_HARNESS_MAIN
