// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that every change of a filter writes its marker to the control ring of every CPU that
 * the CPU filter does not exclude.
 */
#include "kselftest_harness.h"

#include "kt_filter.h"

#define MARKERS 64

/* A filter or profile record; a profile's has no @kind and @entries. */
struct marker {
	uint32_t op, kind, phase, generation, entries;
};

/* Those of each CPU, and their numbers. */
struct markers {
	int n[KTS_CPUS];
	struct marker m[KTS_CPUS][MARKERS];
};

static void keep_filter_marker(const struct kt_rec *r, struct kt_tally *t)
{
	struct markers *all = t->arg;
	struct marker *m = &all->m[t->cpu][all->n[t->cpu]];

	if (r->op != KTAPE_EV_FILTER && r->op != KTAPE_EV_PROFILE)
		return;
	if (all->n[t->cpu] == MARKERS - 1 ||
	    r->nargs != (r->op == KTAPE_EV_FILTER ? 2U : 1U)) {
		t->wrong++;
		return;
	}
	m->op = r->op;
	m->generation = r->args[0];
	if (r->op == KTAPE_EV_FILTER) {
		m->kind = r->dat20 & 31;
		m->phase = r->dat20 >> 5;
		m->entries = r->args[1];
	} else {
		m->phase = r->dat20;
	}
	all->n[t->cpu]++;
}

FIXTURE(markers)
{
	int fd;
	struct markers *all;
	struct kt_tally t;
};

FIXTURE_SETUP(markers)
{
	self->fd = kt_session(0, 1 << 20, 0, KT_OPS(KTAPE_EV_PROCESS_FORK));
	ASSERT_LE(0, self->fd);
	self->all = calloc(1, sizeof(*self->all));
}

FIXTURE_TEARDOWN(markers)
{
	free(self->all);
	close(self->fd);
}

static const uint64_t map[KTAPE_FILTER_IRQ_WORDS] = { 1 };
static const uint32_t uids[] = { 0, 1, 2 };
static const uint32_t severity = 2;
static const struct ktape_filter_gate gates[] = {
	{ KTAPE_GATE_IRQ, 0, 1 },
	{ KTAPE_GATE_WORK, 0, 1 },
};
static const struct ktape_filter_rate rate = { KTAPE_EV_SCHED_SWITCH, 5 };
static const struct ktape_filter_pid pid = { 1, 0 };

/* All kinds but STACK, of which at_start has the empty filter. */
static const struct {
	uint32_t kind, nr;
	const void *entries;
} kinds[] = {
	{ KTAPE_FILTER_CPU, 1, map },
	{ KTAPE_FILTER_SYSCALL, 16, map },
	{ KTAPE_FILTER_IRQ, 64, map },
	{ KTAPE_FILTER_SOFTIRQ, 1, map },
	{ KTAPE_FILTER_SIGNAL, 1, map },
	{ KTAPE_FILTER_PID, 1, &pid },
	{ KTAPE_FILTER_CGROUP, 0, NULL },
	{ KTAPE_FILTER_UID, 3, uids },
	{ KTAPE_FILTER_SEVERITY, 1, &severity },
	{ KTAPE_FILTER_GATE, 2, gates },
	{ KTAPE_FILTER_RATE, 1, &rate },
};
#define KINDS ARRAY_SIZE(kinds)

static int set_kind_filter(int fd, size_t i)
{
	return kt_filter_set(fd, kinds[i].kind, kinds[i].entries, kinds[i].nr);
}

/* Compare marker *@at of a CPU with that of kinds[@i], and advance *@at. */
static bool is_next_marker(const struct markers *all, int cpu, int *at,
			   size_t i, uint32_t phase, uint32_t generation)
{
	const struct marker *m = &all->m[cpu][(*at)++];

	if (m->op == KTAPE_EV_FILTER && m->kind == kinds[i].kind &&
	    m->phase == phase && m->entries == kinds[i].nr &&
	    m->generation == generation)
		return true;
	printf("# cpu %d marker %d: op %u kind %u phase %u entries %u generation %u, not kind %u phase %u generation %u\n",
	       cpu, *at - 1, m->op, m->kind, m->phase, m->entries,
	       m->generation, kinds[i].kind, phase, generation);
	return false;
}

/*
 * The CPU filter includes CPU 0 only.  The other CPUs get no marker while it is in force,
 * and the profile when they are included again.
 */
TEST_F_TIMEOUT(markers, each_kind, 120)
{
	/* START takes the next generation, and the first filter the one after it. */
	uint32_t first = kt_filter_get(self->fd, 0).generation + 2;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (size_t i = KINDS; i-- > 0;) {
		ASSERT_EQ(0, set_kind_filter(self->fd, i));
		/* Setting the same filter again is a change too. */
		ASSERT_EQ(0, set_kind_filter(self->fd, i));
	}
	for (size_t i = KINDS; i-- > 0;) {
		ASSERT_EQ(0, kt_filter_off(self->fd, kinds[i].kind));
		/* Removing a filter that is not set is no change. */
		ASSERT_EQ(0, kt_filter_off(self->fd, kinds[i].kind));
	}
	kt_stop_and_tally(&self->t, self->fd, keep_filter_marker, self->all);
	EXPECT_EQ(0, self->t.wrong);
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		uint32_t generation = first;
		int at = 1;

		/*
		 * CPU 0: the profile at START and STOP, and for each kind two on-markers and
		 * an off-marker. The others: the CPU filter, kinds[0], is set last, so they
		 * lack its second on-marker and the off-markers of the other kinds; when it is
		 * removed, also last, they get the profile, and its off-marker.
		 */
		ASSERT_EQ(cpu ? 2 * KINDS + 3 : 3 * KINDS + 2, self->all->n[cpu]);
		EXPECT_EQ(KTAPE_EV_PROFILE, self->all->m[cpu][0].op);
		for (size_t i = KINDS; i-- > 0; generation += 2) {
			EXPECT_TRUE(is_next_marker(self->all, cpu, &at, i,
						   KTAPE_PHASE_ON, generation));
			if (!cpu || kinds[i].kind != KTAPE_FILTER_CPU)
				EXPECT_TRUE(is_next_marker(self->all, cpu, &at,
							   i, KTAPE_PHASE_ON,
							   generation + 1));
		}
		for (size_t i = KINDS; i-- > 0; generation++) {
			if (cpu && kinds[i].kind == KTAPE_FILTER_CPU)
				EXPECT_EQ(KTAPE_EV_PROFILE,
					  self->all->m[cpu][at++].op);
			if (!cpu || kinds[i].kind == KTAPE_FILTER_CPU)
				EXPECT_TRUE(is_next_marker(self->all, cpu, &at,
							   i, KTAPE_PHASE_OFF,
							   generation));
		}
		EXPECT_EQ(KTAPE_EV_PROFILE, self->all->m[cpu][at].op);
	}
}

/* Filters of a stopped session are written at START, before the profile. */
TEST_F_TIMEOUT(markers, at_start, 60)
{
	uint32_t generation;

	/* Without an entry it is no filter, and has no marker. */
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_STACK, map, 0));
	for (size_t i = 0; i < KINDS; i++)
		ASSERT_EQ(0, set_kind_filter(self->fd, i));
	ASSERT_EQ(0, kt_filter_off(self->fd, kinds[1].kind));
	generation = kt_filter_get(self->fd, 0).generation + 1;
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_stop_and_tally(&self->t, self->fd, keep_filter_marker, self->all);
	EXPECT_EQ(0, self->t.wrong);
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		int at = 0;

		ASSERT_EQ(KINDS - 1 + 2, self->all->n[cpu]);
		for (size_t i = 0; i < KINDS; i++)
			if (i != 1)
				EXPECT_TRUE(is_next_marker(self->all, cpu, &at,
							   i, KTAPE_PHASE_ON,
							   generation));
		EXPECT_EQ(KTAPE_EV_PROFILE, self->all->m[cpu][at].op);
	}
}

/* A CPU that comes back online writes the filters in force. */
TEST_F_TIMEOUT(markers, cpu_comes_online, 120)
{
	int cpu = kt_online_cpus() - 1, at = 0;
	uint32_t generation;

	ASSERT_LT(0, cpu);
	ASSERT_EQ(0, set_kind_filter(self->fd, 1));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_set_online(cpu, false));
	ASSERT_EQ(0, set_kind_filter(self->fd, 7));
	ASSERT_EQ(0, kt_set_online(cpu, true));
	generation = kt_filter_get(self->fd, 0).generation;
	kt_stop_and_tally(&self->t, self->fd, keep_filter_marker, self->all);
	EXPECT_EQ(0, self->t.wrong);
	/* Filter 1 and the profile at START; both filters and the profile; the profile at STOP. */
	ASSERT_EQ(6, self->all->n[cpu]);
	EXPECT_TRUE(is_next_marker(self->all, cpu, &at, 1, KTAPE_PHASE_ON,
				   generation - 1));
	EXPECT_EQ(KTAPE_EV_PROFILE, self->all->m[cpu][at++].op);
	EXPECT_TRUE(is_next_marker(self->all, cpu, &at, 1, KTAPE_PHASE_ON,
				   generation));
	EXPECT_TRUE(is_next_marker(self->all, cpu, &at, 7, KTAPE_PHASE_ON,
				   generation));
	EXPECT_EQ(KTAPE_EV_PROFILE, self->all->m[cpu][at++].op);
}

TEST_HARNESS_MAIN
