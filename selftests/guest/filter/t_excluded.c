// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that CPUs which a CPU filter excludes are not interrupted by what a session does,
 * and that their rings have markers and ledgers nevertheless.
 */
#include <dirent.h>

#include "kselftest_harness.h"

#include "kt_bracket.h"
#include "kt_filter.h"

#define TRIES 30
#define BLOCK 4096
#define RING  (64 * BLOCK)

/* Events of both sessions: the test's own needs no probe that the other one does not hold. */
static const unsigned char ops[] = { KTAPE_EV_PROCESS_RENAME, KTAPE_EV_SCHED_SWITCH,
				     KTAPE_EV_SYS_ENTER, 0 };

/* Interrupts that CPUs send to others, as /proc/interrupts names them. */
static const char *const kinds[] = { "Function call interrupts",
				     "IRQ work interrupts" };

FIXTURE(excluded)
{
	int keeper, fd;
	struct bracket b[ARRAY_SIZE(kinds)];
	struct counts least[ARRAY_SIZE(kinds)];
};

/*
 * Let the kernel thread that drives RCU's grace periods run on CPU 0 only, if @here, or
 * anywhere.  Waking it on another CPU may be one of the interrupts that are counted.
 */
static void pin_rcu(bool here)
{
	DIR *all = opendir("/proc");
	struct dirent *d;
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < (here ? 1 : kt_online_cpus()); cpu++)
		CPU_SET(cpu, &set);
	while (all && (d = readdir(all))) {
		char path[300], name[32] = "";
		int fd;

		snprintf(path, sizeof(path), "/proc/%s/comm", d->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (read(fd, name, sizeof(name) - 1) > 0 &&
		    (!strcmp(name, "rcu_preempt\n") || !strcmp(name, "rcu_sched\n")))
			sched_setaffinity(atoi(d->d_name), sizeof(set), &set);
		close(fd);
	}
	if (all)
		closedir(all);
}

/*
 * Attaching a probe changes the kernel's code, for which the kernel interrupts all
 * CPUs.  Another session keeps the probes attached.
 */
FIXTURE_SETUP(excluded)
{
	const uint64_t first = 1;

	ASSERT_LE(2, kt_online_cpus());
	ASSERT_GE(CPUS, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	pin_rcu(true);
	self->keeper = kt_session(KTAPE_MODE_OVERWRITE, RING, BLOCK, ops);
	ASSERT_GE(self->keeper, 0);
	ASSERT_EQ(0, kt_control(self->keeper, KTAPE_IOC_START));
	self->fd = kt_session(KTAPE_MODE_DISCARD, RING, BLOCK, ops);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CPU, &first, 1));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		self->b[i] = (struct bracket){ "/proc/interrupts", kinds[i] };
		memset(&self->least[i], 0xff, sizeof(self->least[i]));
	}
}

FIXTURE_TEARDOWN(excluded)
{
	close(self->fd);
	close(self->keeper);
	pin_rcu(false);
}

/* Keep in @least how many interrupts each CPU got, if it never got fewer. */
static void note_least(const struct bracket *b, struct counts *least)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
			uint64_t nr = b[i].at[1].nr[cpu] - b[i].at[0].nr[cpu];

			if (nr < least[i].nr[cpu])
				least[i].nr[cpu] = nr;
		}
}

static int change_call_profile(int fd, uint32_t op)
{
	struct ktape_profile p = { .op = op };

	kt_ops_add(p.mask, KTAPE_EV_SYS_ENTER);
	return kt_profile(fd, &p);
}

static int change_filter(int fd)
{
	const uint64_t some[2] = { 3, 5 };

	return kt_filter_set(fd, KTAPE_FILTER_SYSCALL, some, 2) ?:
		       kt_filter_off(fd, KTAPE_FILTER_SYSCALL);
}

/* Nobody reads the rings, so a flush may find one full. */
static bool flush_unread(int fd)
{
	int ret = kt_control(fd, KTAPE_IOC_FLUSH);

	return !ret || ret == -EAGAIN;
}

/* Do with a session what concerns its CPUs: start, flush, change profile and filter, stop. */
static void run_excluded_session(int fd)
{
	if (kt_control(fd, KTAPE_IOC_CLEAR) || kt_control(fd, KTAPE_IOC_START) ||
	    !flush_unread(fd) || change_call_profile(fd, KTAPE_PROFILE_ANDNOT) ||
	    change_call_profile(fd, KTAPE_PROFILE_OR) || change_filter(fd) ||
	    !flush_unread(fd) || kt_control(fd, KTAPE_IOC_STOP))
		abort();
}

/*
 * Run the session several times, and note the least number of interrupts.  The kernel
 * sends some for its own purposes, too, but not each time, as a session would.
 */
static void find_least_interrupts(int fd, struct bracket *b, struct counts *least)
{
	for (int t = 0; t < TRIES; t++) {
		bracket_read(b, ARRAY_SIZE(kinds), 0);
		run_excluded_session(fd);
		bracket_read(b, ARRAY_SIZE(kinds), 1);
		note_least(b, least);
	}
}

TEST_F_TIMEOUT(excluded, no_interrupt, 300)
{
	find_least_interrupts(self->fd, self->b, self->least);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (int cpu = 1; cpu < kt_online_cpus(); cpu++) {
			EXPECT_EQ(0, self->least[i].nr[cpu])
			{
				TH_LOG("%s, CPU %d", kinds[i], cpu);
			}
		}
}

/* The same with all CPUs: this shows that the counters do count such interrupts. */
TEST_F_TIMEOUT(excluded, included_cpus_are_interrupted, 300)
{
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_CPU));
	find_least_interrupts(self->fd, self->b, self->least);
	/* A run has nine ioctls, and nearly each of them interrupts these CPUs. */
	for (int cpu = 1; cpu < kt_online_cpus(); cpu++)
		EXPECT_LE(8, self->least[0].nr[cpu]);
}

/* Control records of one CPU; @wrong: they are not in order. */
struct marks {
	unsigned int starts, stops, filters, profiles, ledgers;
	bool wrong;
};

static void count_control_record(const struct kt_rec *r, void *arg)
{
	struct marks *m = arg;
	bool on = (r->dat20 & 3) == KTAPE_PHASE_ON;

	if (r->op == KTAPE_EV_SESSION) {
		m->starts += on;
		m->stops += !on;
		m->wrong |= m->stops > m->starts;
	}
	m->filters += r->op == KTAPE_EV_FILTER;
	/* Without the marker of the CPU filter before it, the profile would seem to hold here. */
	m->wrong |= r->op == KTAPE_EV_PROFILE && !m->filters;
	m->profiles += r->op == KTAPE_EV_PROFILE;
	m->ledgers += r->op == KTAPE_EV_LEDGER;
}

/* Counts of an excluded CPU, its ledger and its markers agree. */
TEST_F(excluded, markers)
{
	struct kt_tally t;

	run_excluded_session(self->fd);
	kt_stop_and_tally(&t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t.wrong);
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		struct marks m = {};
		struct kt_map map;

		ASSERT_EQ(0, kt_map_ring(self->fd, cpu, KTAPE_RING_CONTROL, &map));
		EXPECT_LE(0, kt_walk(&map, count_control_record, &m));
		kt_unmap_ring(&map);
		EXPECT_FALSE(m.wrong);
		EXPECT_EQ(1, m.starts);
		EXPECT_EQ(1, m.stops);
		EXPECT_LE(2, m.ledgers);
		/*
		 * The filter at START, the profile at START and at STOP; CPU 0 has those of the
		 * changes meanwhile as well.
		 */
		EXPECT_EQ(cpu ? 1 : 3, m.filters);
		EXPECT_EQ(cpu ? 2 : 4, m.profiles);
	}
}

/* A CPU that is included again has the profile of that time. */
TEST_F(excluded, included_later)
{
	struct marks m = {};
	struct kt_map map;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, change_call_profile(self->fd, KTAPE_PROFILE_ANDNOT));
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_CPU));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(self->fd, 1, KTAPE_RING_CONTROL, &map));
	EXPECT_LE(0, kt_walk(&map, count_control_record, &m));
	kt_unmap_ring(&map);
	EXPECT_FALSE(m.wrong);
	/* The filter at START and its end; the profile at START, when it is included, at STOP. */
	EXPECT_EQ(2, m.filters);
	EXPECT_EQ(3, m.profiles);
}

/* Switches of a CPU, and whether its last record names the running thread. */
struct ran {
	long switches;
	bool known;
};

static void note_running_thread(const struct kt_rec *r, void *arg)
{
	struct ran *s = arg;

	s->switches += r->op == KTAPE_EV_SCHED_SWITCH;
	if (r->op == KTAPE_EV_SCHED_SWITCH)
		s->known = true;
	if (r->op == KTAPE_EV_CONTEXT)
		s->known = (int32_t)r->args[0] >= 0;
}

/*
 * When a CPU is excluded, its last record says that the running thread is unknown, because
 * others run there meanwhile without a record.
 */
TEST_F(excluded, excluded_later)
{
	const uint64_t first = 1;
	struct ran ran = {};
	struct kt_map map;

	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_CPU));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < TRIES; i++) {
		ASSERT_EQ(0, kt_pin(1));
		ASSERT_EQ(0, kt_pin(0));
	}
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CPU, &first, 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_map_ring(self->fd, 1, KTAPE_RING_EVENT, &map));
	EXPECT_LT(0, kt_walk(&map, note_running_thread, &ran));
	kt_unmap_ring(&map);
	EXPECT_LE(TRIES, ran.switches);
	EXPECT_FALSE(ran.known);
}

TEST_HARNESS_MAIN
