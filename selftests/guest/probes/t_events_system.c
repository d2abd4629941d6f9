// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the events of the log, modules, CPU hotplug, idle and power: each is recorded as
 * often as the test or kt_fire.ko has caused it, with the right fields.
 */
#include <sys/resource.h>

#include "kselftest_harness.h"

#include "kt_fire.h"

#define TIMES	 5
#define TEXT_MAX 1024

FIXTURE(system)
{
	struct kt_hits h;
	int fire;
};

FIXTURE_SETUP(system)
{
	self->fire = kt_fire_load();
	ASSERT_EQ(0, self->fire);
}

FIXTURE_TEARDOWN(system)
{
	kt_hits_free(&self->h);
	if (!self->fire)
		kt_rmmod("kt_fire");
}

/* ---- log -------------------------------------------------------------------- */

TEST_F_TIMEOUT(system, console, 200)
{
	int kmsg = open("/dev/kmsg", O_WRONLY), fd, nr = 0;
	char line[100];

	ASSERT_GE(kmsg, 0);
	fd = kt_start_recording(KT_OPS(KTAPE_EV_CONSOLE));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++) {
		/* The level is high enough for a console with loglevel "quiet". */
		snprintf(line, sizeof(line), "<1>kt-line %d of %d\n", i, getpid());
		ASSERT_EQ(strlen(line), write(kmsg, line, strlen(line)));
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		const char *at = strstr(hit->text, "kt-line");

		if (!at)
			continue;
		snprintf(line, sizeof(line), "kt-line %d of %d", nr, getpid());
		EXPECT_STREQ(line, at);
		EXPECT_EQ(0, hit->dat20);
		EXPECT_EQ(strlen(hit->text), hit->size);
		nr++;
	}
	EXPECT_EQ(TIMES, nr);
	close(kmsg);
}

TEST_F_TIMEOUT(system, console_line_truncated, 200)
{
	int fd = kt_start_recording(KT_OPS(KTAPE_EV_CONSOLE)), nr = 0;

	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, kt_fire("console", TIMES));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		if (strncmp(hit->text, "kt-long", 7))
			continue;
		EXPECT_EQ(1, hit->dat20);
		EXPECT_EQ(TEXT_MAX, hit->size);
		EXPECT_EQ('x', hit->text[TEXT_MAX - 1]);
		nr++;
	}
	EXPECT_EQ(TIMES, nr);
}

/* ---- modules ------------------------------------------------------------------ */

#define TAINT_OOT (1U << 12)

TEST_F_TIMEOUT(system, modules, 200)
{
	int fd, loads = 0, frees = 0;

	fd = kt_start_recording(KT_OPS(KTAPE_EV_MODULE_LOAD, KTAPE_EV_MODULE_FREE));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < TIMES; i++) {
		ASSERT_EQ(0, kt_rmmod("kt_fire"));
		ASSERT_EQ(0, kt_fire_load());
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(2 * TIMES, self->h.nr);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		EXPECT_STREQ("kt_fire", hit->text);
		EXPECT_EQ(strlen("kt_fire"), hit->size);
		if (hit->op == KTAPE_EV_MODULE_LOAD) {
			EXPECT_NE(0, hit->args[0] & TAINT_OOT);
			loads++;
		} else {
			frees++;
		}
	}
	EXPECT_EQ(TIMES, loads);
	EXPECT_EQ(TIMES, frees);
}

TEST_F_TIMEOUT(system, module_uses, 200)
{
	char name[KTAPE_NAME_SIZE];
	int fd, gets = 0, puts = 0;

	fd = kt_start_recording(KT_OPS(KTAPE_EV_MODULE_GET, KTAPE_EV_MODULE_PUT));
	ASSERT_GE(fd, 0);
	EXPECT_EQ(0, kt_fire("use", TIMES));
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		bool get = hit->op == KTAPE_EV_MODULE_GET;

		if (strcmp(hit->text, "kt_fire"))
			continue;
		ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
						 hit->args[0], name));
		/*
		 * With sanitizers the compiler splits the function that emits
		 * the event.
		 */
		if (get || kt_scale() == 1 || strcmp(name, "module_put"))
			EXPECT_STREQ("fire_use", name);
		/* A loaded module counts as one use of itself. */
		EXPECT_EQ(get ? 2 : 1, hit->args[1]);
		gets += get;
		puts += !get;
	}
	EXPECT_EQ(TIMES, gets);
	EXPECT_EQ(TIMES, puts);
}

/* ---- CPUs that come and go ------------------------------------------------------ */

#define GOES 3 /* which CPU */

/*
 * Each hotplug step begins and ends, the same number of times in every round.
 * Three steps are ktape's own.
 */
TEST_F_TIMEOUT(system, cpuhp, 200)
{
	const int rounds = TIMES / kt_scale() ?: 1;
	int fd, enters = 0, exits = 0, ours = 0;
	char name[KTAPE_NAME_SIZE];

	if (kt_online_cpus() <= GOES)
		SKIP(return, "needs %d CPUs", GOES + 1);
	fd = kt_start_recording(KT_OPS(KTAPE_EV_CPUHP_ENTER, KTAPE_EV_CPUHP_EXIT));
	ASSERT_GE(fd, 0);
	for (int i = 0; i < rounds; i++) {
		ASSERT_EQ(0, kt_set_online(GOES, false));
		ASSERT_EQ(0, kt_set_online(GOES, true));
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	EXPECT_EQ(0, self->h.lost);
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];

		EXPECT_EQ(GOES, hit->dat20);
		if (hit->op == KTAPE_EV_CPUHP_EXIT) {
			EXPECT_EQ(0, hit->args[2]);
			exits++;
			continue;
		}
		enters++;
		ASSERT_EQ(0, kt_wait_object_name(KTAPE_OBJ_FUNCTION,
						 hit->args[2], name));
		ours += !strcmp(name, "rings_cpu_prepare") ||
			!strcmp(name, "rings_cpu_online") ||
			!strcmp(name, "rings_cpu_offline");
	}
	TH_LOG("%d enters, %d exits, %d ours", enters, exits, ours);
	EXPECT_EQ(3 * rounds, ours);
	EXPECT_EQ(enters, exits);
	EXPECT_EQ(0, enters % rounds);
	EXPECT_GT(enters / rounds, 20);
}

/* ---- idle ------------------------------------------------------------------------ */

#define QUIET  2 /* which CPU */
#define SLEEPS 50
#define MORE   5 /* margin for another thread that uses the CPU meanwhile */
#define AWAKE  255

/*
 * Count our sleeps, without those where this thread was preempted until the
 * time had passed.
 */
static long count_own_sleeps(void)
{
	struct rusage use;

	return getrusage(RUSAGE_THREAD, &use) ? -1 : use.ru_nvcsw;
}

/*
 * Idle entry and exit alternate on a CPU, and are at least as many as its
 * thread's sleeps.
 */
TEST_F_TIMEOUT(system, cpu_idle, 200)
{
	int fd, nr = 0, wrong = 0;
	uint32_t last = 0;
	long before;

	if (kt_is_busy())
		SKIP(return, "no CPU is idle");
	ASSERT_EQ(0, kt_pin(QUIET));
	fd = kt_start_recording(KT_OPS(KTAPE_EV_CPU_IDLE));
	ASSERT_GE(fd, 0);
	before = count_own_sleeps();
	for (int i = 0; i < 100 * SLEEPS; i++) {
		usleep(3000);
		if (count_own_sleeps() >= before + SLEEPS + MORE)
			break;
	}
	ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
	for (int i = 0; i < self->h.nr; i++) {
		const struct kt_hit *hit = &self->h.hit[i];
		uint32_t state = hit->dat20 & 255;

		EXPECT_EQ(hit->cpu, hit->dat20 >> 8);
		if (hit->cpu != QUIET)
			continue;
		wrong += nr++ && (state == AWAKE) == (last == AWAKE);
		last = state;
	}
	TH_LOG("%d times of %d records", nr, self->h.nr);
	EXPECT_EQ(0, wrong);
	EXPECT_GE(nr, 2 * SLEEPS - 2);
	EXPECT_EQ(0, self->h.lost);
}

/* ---- power, by the helper ---------------------------------------------------------- */

/**
 * struct want - records that one call of the helper causes
 * @fire: command for the helper
 * @op: opcode
 * @times: number of records per call
 * @dat20: 20-bit data
 * @arg: first argument word, 0 = any
 * @text: text, NULL = none
 */
static const struct want {
	const char *fire;
	uint32_t op;
	int times;
	uint32_t dat20, arg;
	const char *text;
} wants[] = {
	/* State 2, not deep enough (below), CPU 3. */
	{ "idle_miss", KTAPE_EV_CPU_IDLE_MISS, 1, 2 | 1 << 7 | 3 << 8 },
	{ "frequency", KTAPE_EV_CPU_FREQUENCY, 1, 2, 1234567 },
	{ "suspend", KTAPE_EV_SUSPEND_RESUME, 1, 1, -7, "kt-step" },
	/*
	 * The helper gets and puts a device: RPM_GET_PUT (4). Between the two, after resuming, the
	 * kernel checks whether it is idle: RPM_ASYNC (1).
	 */
	{ "rpm", KTAPE_EV_RPM_RESUME, 1, 0, 4, "kt-fire.0" },
	{ "rpm", KTAPE_EV_RPM_IDLE, 1, 0, 1, "kt-fire.0" },
	{ "rpm", KTAPE_EV_RPM_IDLE, 1, 0, 4, "kt-fire.0" },
	{ "rpm", KTAPE_EV_RPM_SUSPEND, 1, 0, 0, "kt-fire.0" },
	{ "rpm", KTAPE_EV_RPM_RETURN_INT, 4, 0, 0, "kt-fire.0" },
	{ "wakeup", KTAPE_EV_WAKEUP_SOURCE_ACTIVATE, 1, 0, 0, "kt-fire" },
	{ "wakeup", KTAPE_EV_WAKEUP_SOURCE_DEACTIVATE, 1, 0, 0, "kt-fire" },
};

static bool on_debian(void)
{
	const char *kernel = getenv("KTAPE_KERNEL");

	return kernel && strcmp(kernel, "debug") && strcmp(kernel, "race");
}

static int count_wanted(const struct kt_hits *h, const struct want *w)
{
	int nr = 0;

	for (int i = 0; i < h->nr; i++) {
		const struct kt_hit *hit = &h->hit[i];

		if (hit->dat20 != w->dat20 || strcmp(hit->text, w->text ?: ""))
			continue;
		if (w->text && hit->size != (int)strlen(w->text))
			continue;
		if (w->arg && hit->args[0] != w->arg)
			continue;
		nr++;
	}
	return nr;
}

TEST_F_TIMEOUT(system, power, 200)
{
	for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
		const struct want *w = &wants[i];
		int fd = kt_start_recording(KT_OPS(w->op)), ret;

		ASSERT_GE(fd, 0);
		ret = kt_fire(w->fire, TIMES);
		ASSERT_EQ(0, kt_stop_and_take_hits(&self->h, fd));
		if (w->op == KTAPE_EV_CPU_IDLE_MISS &&
		    !kt_tracefs_has("power/cpu_idle_miss", "name")) {
			EXPECT_NE(KTAPE_EVENT_AVAILABLE, kt_event_state(w->op));
			TH_LOG("the kernel has no cpu_idle_miss");
			continue;
		}
		/* Debian's kernels have all other events. */
		if (!on_debian() &&
		    (ret == -ENOENT ||
		     kt_event_state(w->op) != KTAPE_EVENT_AVAILABLE)) {
			TH_LOG("%s: not in this kernel", w->fire);
			continue;
		}
		EXPECT_EQ(0, ret);
		EXPECT_EQ(TIMES * w->times, count_wanted(&self->h, w));
		TH_LOG("%s: %d records of opcode %u", w->fire, self->h.nr, w->op);
		kt_hits_free(&self->h);
	}
}

TEST_HARNESS_MAIN
