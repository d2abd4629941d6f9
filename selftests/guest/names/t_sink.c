// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test sinks, functions of other modules that ktape calls with each event that they want:
 * they get all of these, whatever sessions record; a sink that emits an event for each event calls
 * itself only DEPTH deep, and one that gives names is refused; modules with a sink can be unloaded
 * at any time, whether they unregister it or not, and ktape cannot be before them.
 */
#include "kselftest_harness.h"

#include "kt_emit.h"
#include "kt_probe.h"

/*
 * Modules with a sink. SINK's wants marks and exceptions; the module does not unregister it with
 * forget=1, and fails to load with fail=1. ECHO's emits a mark with id 0xec40 for each mark, also
 * for its own. NAMER's tries to give a name to marker 0x4a3e; the module itself names 0x4a3f.
 */
#define SINK	 "/tests/ktape_sink.ko"
#define ECHO	 "/tests/ktape_echo.ko"
#define NAMER	 "/tests/ktape_namer.ko"
#define CPUS_MAX 64
#define DEPTH	 8 /* to which sinks may nest, as in module/emit/sink.c */

static struct kt_emit_recs seen;
static int marks;

static int sink_seen(const char *module)
{
	return kt_parameter(module, "seen");
}

static void mark_and_pause(uint64_t n)
{
	ktape_mark(marks, 1, "mark");
	if (n % 64 == 0)
		kt_pause();
}

static bool naps;

/*
 * Calls at full speed, or with pauses: emulated CPUs that are all busy share
 * one host CPU in long turns.
 */
static void mark_at_a_speed(uint64_t n)
{
	if (n % 32 == 0 && __atomic_load_n(&naps, __ATOMIC_RELAXED))
		usleep(1);
	mark_and_pause(n);
}

/*
 * Let the steps of loading and unloading follow each other closely or not: with expedited
 * grace periods and pauses of the threads that emit, or without both.
 */
static void hurry_loading(bool on)
{
	kt_expedite(on);
	__atomic_store_n(&naps, on, __ATOMIC_RELAXED);
}

/* Session 0 records only switches, so only the sink wants what programs emit. */
FIXTURE(sink)
{
	int dev;
	int cpus;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_SETUP(sink)
{
	self->cpus = kt_online_cpus();
	ASSERT_GE(CPUS_MAX, self->cpus);
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	ASSERT_EQ(0, kt_profile_only(self->dev, KT_OPS(KTAPE_EV_SCHED_SWITCH)));
	marks = ktape_mark_open();
	ASSERT_LE(0, marks);
}

FIXTURE_TEARDOWN(sink)
{
	kt_expedite(false);
	close(marks);
	close(self->dev);
}

/* Two of the four events are wanted. */
TEST_F_TIMEOUT(sink, gets_what_it_wants, 120)
{
	ASSERT_EQ(0, kt_insmod(SINK, ""));
	EXPECT_EQ(0, sink_seen("ktape_sink"));
	for (int i = 0; i < 10; i++) {
		EXPECT_EQ(0, ktape_mark(marks, 1, NULL));
		EXPECT_EQ(0, Trace0(marks, 0, KTAPE_EXC_CODE(1, 1)));
		EXPECT_EQ(0, ktape_begin(marks, 1, NULL));
		EXPECT_EQ(0, ktape_value(marks, 1, 1, NULL));
	}
	EXPECT_EQ(20, sink_seen("ktape_sink"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
}

TEST_F_TIMEOUT(sink, misses_nothing_on_any_cpu, 120)
{
	const int each = 2000 / kt_scale();

	ASSERT_EQ(0, kt_insmod(SINK, ""));
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, each, mark_and_pause));
	kt_loads_wait(self->load, self->cpus);
	EXPECT_EQ(each * self->cpus, sink_seen("ktape_sink"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
}

TEST_F_TIMEOUT(sink, beside_a_session, 120)
{
	const int each = 500 / kt_scale();
	int fd = kt_emit_session(1 << 20);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_insmod(SINK, ""));
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, each, mark_and_pause));
	kt_loads_wait(self->load, self->cpus);
	EXPECT_EQ(each * self->cpus, sink_seen("ktape_sink"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
	ASSERT_EQ(0, kt_loads_start(self->load, 1, each, mark_and_pause));
	kt_loads_wait(self->load, 1);
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	EXPECT_STREQ("", seen.error);
	EXPECT_EQ(each * (self->cpus + 1), kt_emit_count(&seen, KTAPE_EV_MARK, 1));
	close(fd);
}

TEST_F_TIMEOUT(sink, ktape_cannot_be_unloaded, 120)
{
	ASSERT_EQ(0, kt_insmod(SINK, ""));
	close(self->dev);
	close(marks);
	EXPECT_EQ(-EWOULDBLOCK, kt_rmmod("ktape"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
	self->dev = -1;
	marks = -1;
}

/*
 * Load and unload with and without unregistering first, while all CPUs emit at
 * either speed.
 */
TEST_F_TIMEOUT(sink, load_and_unload_under_load, 120)
{
	const int turns = 8 / kt_scale() + 2;

	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, mark_at_a_speed));
	for (int i = 0; i < turns; i++) {
		/* Loading takes long while all CPUs are busy: twice is enough. */
		hurry_loading(i >= 2);
		EXPECT_EQ(0, kt_insmod(SINK, i % 2 ? "forget=1" : ""));
		usleep(20000);
		for (int n = 0; n < 1000 && !sink_seen("ktape_sink"); n++)
			usleep(20000);
		EXPECT_LT(0, sink_seen("ktape_sink"));
		hurry_loading(i / 2 % 2);
		EXPECT_EQ(0, kt_rmmod("ktape_sink"));
	}
	kt_loads_stop(self->load, self->cpus);
}

/* Sinks of modules that did not unregister free their slots: there are 8. */
TEST_F_TIMEOUT(sink, slots_are_freed, 120)
{
	kt_expedite(true);
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, kt_insmod(SINK, "forget=1"));
		ASSERT_EQ(0, kt_rmmod("ktape_sink"));
	}
	ASSERT_EQ(0, kt_insmod(SINK, ""));
	EXPECT_EQ(0, ktape_mark(marks, 1, NULL));
	EXPECT_EQ(1, sink_seen("ktape_sink"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
}

/* A module that cannot be loaded after all takes its sink along, while CPUs emit. */
TEST_F_TIMEOUT(sink, init_fails_under_load, 120)
{
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, mark_at_a_speed));
	hurry_loading(true);
	for (int i = 0; i < 10; i++)
		ASSERT_EQ(-ENODEV, kt_insmod(SINK, "fail=1"));
	kt_loads_stop(self->load, self->cpus);
	ASSERT_EQ(0, kt_insmod(SINK, ""));
	EXPECT_EQ(0, ktape_mark(marks, 1, NULL));
	EXPECT_EQ(1, sink_seen("ktape_sink"));
	EXPECT_EQ(0, kt_rmmod("ktape_sink"));
}

/* Each mark calls the sink until it has nested DEPTH times, and each echo is recorded. */
TEST_F_TIMEOUT(sink, recursion_ends, 120)
{
	int fd = kt_emit_session(1 << 20);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, kt_insmod(ECHO, ""));
	EXPECT_EQ(0, ktape_mark(marks, 1, NULL));
	EXPECT_EQ(DEPTH, sink_seen("ktape_echo"));
	EXPECT_EQ(0, ktape_mark(marks, 1, NULL));
	EXPECT_EQ(2 * DEPTH, sink_seen("ktape_echo"));
	EXPECT_EQ(0, kt_rmmod("ktape_echo"));
	ASSERT_EQ(0, kt_emit_collect(fd, &seen));
	EXPECT_EQ(2, kt_emit_count(&seen, KTAPE_EV_MARK, 1));
	EXPECT_EQ(2 * DEPTH, kt_emit_count(&seen, KTAPE_EV_MARK, 0xec40));
	close(fd);
}

/*
 * A sink is called for names with the locks held that naming takes: of the table of
 * names that programs gave, and of the registry.  Fork, exit and exec also change names.
 */
TEST_F_TIMEOUT(sink, cannot_name, 120)
{
	struct ktape_object_entry e = {};
	struct kt_map registry;
	int before;

	ASSERT_EQ(0, kt_map_ring(self->dev, -1, KTAPE_RING_REGISTRY, &registry));
	ASSERT_EQ(0, kt_insmod(NAMER, ""));
	/*
	 * The sink tries three calls each time, all of which are refused.  It is called for a
	 * name that the module gives when it is loaded, then for one of a program, for those
	 * of the kernel, and for a marker, which takes no lock.
	 */
	EXPECT_LE(3, kt_parameter("ktape_namer", "refused"));
	before = kt_parameter("ktape_namer", "refused");
	EXPECT_EQ(0, ktape_name_marker(marks, 0x4a40, "by a program"));
	EXPECT_LE(before + 3, kt_parameter("ktape_namer", "refused"));
	before = kt_parameter("ktape_namer", "refused");
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		ASSERT_EQ(child, waitpid(child, NULL, 0));
	}
	EXPECT_LE(before + 40 * 3, kt_parameter("ktape_namer", "refused"));
	before = kt_parameter("ktape_namer", "refused");
	EXPECT_EQ(0, ktape_mark(marks, 1, "mark"));
	EXPECT_LE(before + 3, kt_parameter("ktape_namer", "refused"));
	EXPECT_EQ(0, kt_parameter("ktape_namer", "others"));
	EXPECT_FALSE(kt_object(&registry, KTAPE_OBJ_MARKER, 0x4a3e, &e));
	EXPECT_TRUE(kt_object(&registry, KTAPE_OBJ_MARKER, 0x4a3f, &e));
	EXPECT_TRUE(kt_object(&registry, KTAPE_OBJ_MARKER, 0x4a40, &e));
	kt_unmap_ring(&registry);
	EXPECT_EQ(0, ktape_name_marker(marks, 0x4a40, ""));
	EXPECT_EQ(0, kt_rmmod("ktape_namer"));
}

TEST_HARNESS_MAIN
