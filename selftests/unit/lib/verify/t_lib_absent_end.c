// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what is said of absence where a trace ends, and where its clock does.  A session that still
 * runs proves nothing after the last event of each CPU, and a full snapshot nothing after its end.
 * No trace proves anything of a CPU that has no rings, or that came online and has no packet.  A
 * clock that the kernel does not trust proves nothing at all.  Hits of a probe that were missed
 * prove nothing in their interval, and nothing is known of a probe behind the last one.  The
 * reason says so.
 */
#include "lib_absent.h"

#define ENDS \
	"the trace of a CPU ends before the range does: stop the session first, then save it"

static unsigned int check_absence_at_end(struct sim *s, unsigned int opcode,
					 uint64_t from, uint64_t to, int cpu,
					 const char **why)
{
	const struct ktape_absence q = {
		.opcode = opcode,
		.from = from,
		.to = to,
	};
	const struct absence a = absence_of(s, &q, cpu);

	if (why)
		*why = a.why;
	return a.verdict;
}

/* @cpu: a CPU, or -1 for all */
static unsigned int check_on(struct sim *s, uint64_t from, uint64_t to, int cpu,
			     const char **why)
{
	return check_absence_at_end(s, KTAPE_EV_SIGNAL_DELIVER, from, to, cpu, why);
}

static unsigned int absent_end_check(struct sim *s, uint64_t from, uint64_t to,
				     const char **why)
{
	return check_on(s, from, to, -1, why);
}

static struct sim *begin_session_to_end(void)
{
	struct sim *s = sim_new(5);

	sim_start(s);
	sim_work(s, 400);
	return s;
}

static void test_running(void)
{
	struct sim *s = begin_session_to_end();
	uint64_t middle = s->now - 500, end = s->now + 10;
	const char *why;

	sim_finish(s);
	check_equal(absent_end_check(s, middle - 10, end, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(!strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* After the stop the event was not enabled: that is the reason, not the end of the trace. */
static void test_absent_stopped(void)
{
	struct sim *s = begin_session_to_end();
	uint64_t from = s->now, stopped;
	const char *why;

	sim_work(s, 100);
	sim_stop(s);
	stopped = s->now;
	sim_finish(s);
	check_equal(absent_end_check(s, from, from + 100, &why),
		    KTAPE_ABSENT_PROVED);
	check_equal(absent_end_check(s, from, stopped + 1000, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* A stop before the end, in a session that runs again, is the reason as well. */
static void test_break(void)
{
	struct sim *s = begin_session_to_end();
	uint64_t from = s->now;
	const char *why;

	sim_stop(s);
	sim_work(s, 100);
	sim_start(s);
	sim_work(s, 400);
	sim_finish(s);
	check_equal(absent_end_check(s, from - 100, s->now + 10, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* A clock that is not trusted proves no absence, but an event that is there is found. */
static void test_absent_unstable_clock(void)
{
	struct sim *s = begin_session_to_end();
	uint64_t from = s->now, found;
	const char *why;

	sim_work(s, 100);
	found = s->now;
	sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
	sim_work(s, 100);
	sim_sync(s, 1, false);
	sim_stop(s);
	sim_finish(s);
	check_equal(absent_end_check(s, from, from + 100, &why), KTAPE_ABSENT_LOST);
	check(strstr(why, "does not trust the trace clock"), "\"%s\"", why);
	check_equal(absent_end_check(s, found, found + 1000, &why),
		    KTAPE_ABSENT_FOUND);
	sim_free(s);
}

/* The trace ends before the first packet of a CPU that came online for the first time. */
static void test_cpu_with(void)
{
	const uint32_t cpu = SIM_CPUS + 1;
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_CPU_WITH,
		.args = &cpu,
		.nargs = 1,
	};
	struct sim *s = begin_session_to_end();
	uint64_t at = s->now;
	const char *why;

	/* The first of the others that record it counts. */
	for (unsigned int i = SIM_CPUS; i-- > 0;) {
		sim_control(s, i, &rec);
		sim_work(s, 20);
	}
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	check_equal(absent_end_check(s, at - 500, at, NULL), KTAPE_ABSENT_PROVED);
	check_equal(absent_end_check(s, at - 500, at + 20, NULL), KTAPE_ABSENT_LOST);
	check_equal(absent_end_check(s, at + 500, at + 1000, &why),
		    KTAPE_ABSENT_LOST);
	check(strstr(why, "no packet of a CPU"), "\"%s\"", why);
	check_equal(check_on(s, at + 500, at + 1000, 0, NULL), KTAPE_ABSENT_PROVED);
	check_equal(check_on(s, at + 500, at + 1000, (int)cpu, NULL),
		    KTAPE_ABSENT_LOST);
	sim_free(s);
}

/*
 * A full snapshot: after its end the event rings have no more events, although
 * the off-markers are later.
 */
static void test_absent_frozen(void)
{
	struct sim *s = begin_session_to_end();
	uint64_t at = s->now;

	s->mode = KTAPE_MODE_SNAPSHOT;
	s->now += 5000;
	sim_stop_full(s, at);
	sim_finish(s);
	check_equal(check_on(s, at - 500, at, 0, NULL), KTAPE_ABSENT_PROVED);
	check_equal(check_on(s, at - 500, at + 1, 0, NULL),
		    KTAPE_ABSENT_NOT_ENABLED);
	check_equal(check_on(s, at + 100, at + 200, 0, NULL),
		    KTAPE_ABSENT_NOT_ENABLED);
	sim_free(s);
}

/* A CPU of which the trace has only the record that it has no rings. */
static void test_absent_without_rings(void)
{
	const uint32_t cpu = SIM_CPUS + 1;
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_CPU_WITHOUT,
		.args = &cpu,
		.nargs = 1,
	};
	struct sim *s = begin_session_to_end();
	uint64_t at = s->now;
	/* Of CPU 0 alone; below, of the CPU without rings alone. */
	struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = at + 500,
		.to = at + 1000,
		.one_cpu = true,
	};

	for (unsigned int i = 0; i < SIM_CPUS; i++)
		sim_control(s, i, &rec);
	sim_work(s, 100);
	sim_work(s, 200);
	sim_stop(s);
	sim_finish(s);
	check_equal(absent_end_check(s, at - 500, at, NULL), KTAPE_ABSENT_PROVED);
	check_equal(absent_end_check(s, at - 500, at + 500, NULL),
		    KTAPE_ABSENT_NOT_ENABLED);
	check_equal(absent_end_check(s, at + 500, at + 1000, NULL),
		    KTAPE_ABSENT_NOT_ENABLED);
	/* For the other CPUs the answer is known. */
	check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_PROVED);
	q.from = at - 500;
	q.to = at;
	q.cpu = cpu;
	check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_NOT_ENABLED);
	sim_free(s);
}

#define READING 10U /* ticks that reading the counts takes */

/* Record on every CPU what was missed of the probe of an event between two times. */
static void record_missed_hits(struct sim *s, unsigned int opcode,
			       unsigned int reason, uint64_t first,
			       uint64_t last, uint32_t count)
{
	const uint32_t args[] = {
		(uint32_t)first, (uint32_t)(first >> 32),
		(uint32_t)last,	 (uint32_t)(last >> 32),
		count,		 0,
		READING,
	};
	const struct ktape_record rec = {
		.opcode = KTAPE_EV_MISSED,
		.dat20 = opcode | reason << 8,
		.args = args,
		.nargs = ARRAY_SIZE(args),
	};

	for (unsigned int cpu = 0; cpu < SIM_CPUS; cpu++)
		sim_control(s, cpu, &rec);
}

#define PROBE (KTAPE_OP_PROBE + 3)
#define OTHER (KTAPE_OP_PROBE + 4)

static void test_absent_missed_hits(void)
{
	static const struct ktape_verify_missed expected[] = {
		{ PROBE, KTAPE_MISSED_BUSY, 2, 0, 0 },
		{ PROBE, KTAPE_MISSED_RETURNS, 44 + 5, 0, 0 },
		{ OTHER, KTAPE_MISSED_DETACHED, 0, 0, 0 },
	};
	struct sim *s = sim_new(5);
	uint64_t at[6], now = s->now + READING;
	struct ktape_verify_missed m;
	struct ktape_verify *v;
	const char *dir, *why;
	unsigned int i = 0;

	sim_change(s, PROBE, true);
	sim_change(s, OTHER, true);
	/* The counts of interval @i are from at[i] to @now; the next overlaps it by READING. */
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		at[i] = now - READING;
		if (!i)
			sim_start(s);
		sim_work(s, 100);
		now = s->now;
		/* Nothing, 44 and 2, nothing, 5, and the end. */
		if (i == 1 || i == 3)
			record_missed_hits(s, PROBE, KTAPE_MISSED_RETURNS,
					   at[i], now, i == 1 ? 44 : 5);
		if (i == 1)
			record_missed_hits(s, PROBE, KTAPE_MISSED_BUSY, at[i],
					   now, 2);
		if (!i || i == 2)
			record_missed_hits(s, PROBE, KTAPE_MISSED_BUSY, at[i],
					   now, 0);
		if (i < 4)
			record_missed_hits(s, OTHER,
					   i == 3 ? KTAPE_MISSED_DETACHED :
						    KTAPE_MISSED_BUSY,
					   at[i], now, 0);
	}
	sim_stop(s);
	sim_finish(s);
	check_equal(check_absence_at_end(s, PROBE, at[1] - 50, at[1], -1, NULL),
		    KTAPE_ABSENT_PROVED);
	check_equal(check_absence_at_end(s, PROBE, at[1] - 50, at[1] + 1, -1, &why),
		    KTAPE_ABSENT_LOST);
	check(strstr(why, "did not reach the tracer"), "\"%s\"", why);
	check_equal(check_absence_at_end(s, PROBE, at[1] + 50, at[1] + 60, 1, &why),
		    KTAPE_ABSENT_LOST);
	check(strstr(why, "did not reach the tracer"), "\"%s\"", why);
	check_equal(check_absence_at_end(s, PROBE, at[3] - 50, at[3], -1, NULL),
		    KTAPE_ABSENT_PROVED);
	check_equal(check_absence_at_end(s, PROBE, at[3] + 50, at[3] + 60, -1, NULL),
		    KTAPE_ABSENT_LOST);
	check_equal(check_absence_at_end(s, OTHER, at[1] + 50, at[3], -1, NULL),
		    KTAPE_ABSENT_PROVED);
	check_equal(check_absence_at_end(s, OTHER, at[3] + 50, at[3] + 60, -1, NULL),
		    KTAPE_ABSENT_LOST);
	/* Other events have nothing to do with it. */
	check_equal(absent_end_check(s, at[1], at[4], NULL), KTAPE_ABSENT_PROVED);

	dir = trace_folder();
	sim_save(s, dir, 0);
	if (ktape_verify_open(dir, NULL, &v, NULL))
		abort();
	check_equal(ktape_verify_run(v), 0);
	for (i = 0; ktape_verify_missed(v, i, &m); i++) {
		check(i < ARRAY_SIZE(expected) && m.event == expected[i].event &&
			      m.reason == expected[i].reason &&
			      m.count == expected[i].count,
		      "%u: %u %u %llu", i, m.event, m.reason,
		      (unsigned long long)m.count);
		check(m.first == (m.event == OTHER ? at[3] : at[1]) &&
			      m.first < m.last,
		      "%u: %llu to %llu", i, (unsigned long long)m.first,
		      (unsigned long long)m.last);
	}
	check_equal(i, ARRAY_SIZE(expected));
	ktape_verify_close(v);
	trace_remove(dir);
	sim_free(s);
}

/*
 * The last record of missed hits says nothing of the time after it.  Other events, and probes
 * that are not enabled, need no such record.
 */
static void test_unlooked(void)
{
	struct sim *s = sim_new(5);
	uint64_t begin, last;
	const char *why;

	sim_change(s, PROBE, true);
	sim_start(s);
	sim_work(s, 100);
	begin = s->now;
	sim_work(s, 100);
	last = s->now;
	record_missed_hits(s, PROBE, KTAPE_MISSED_BUSY, begin, last, 0);
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	/* What came while the counts were read may be in them or not. */
	check_equal(check_absence_at_end(s, PROBE, begin, last - READING, -1, NULL),
		    KTAPE_ABSENT_PROVED);
	check_equal(check_absence_at_end(s, PROBE, begin, last - READING + 1,
					 -1, &why),
		    KTAPE_ABSENT_LOST);
	check(strstr(why, "before it says which hits"), "\"%s\"", why);
	check_equal(check_absence_at_end(s, OTHER, begin, last - 10, -1, NULL),
		    KTAPE_ABSENT_NOT_ENABLED);
	check_equal(absent_end_check(s, begin, last + 10, NULL),
		    KTAPE_ABSENT_PROVED);
	sim_free(s);
}

/* The records of a time in between are lost: nothing is known of that time. */
static void test_not_looked(void)
{
	struct sim *s = sim_new(5);
	uint64_t begin, first, second;

	sim_change(s, PROBE, true);
	begin = s->now;
	sim_start(s);
	sim_work(s, 100);
	first = s->now;
	record_missed_hits(s, PROBE, KTAPE_MISSED_BUSY, begin, first, 0);
	sim_work(s, 100);
	second = s->now;
	sim_work(s, 100);
	record_missed_hits(s, PROBE, KTAPE_MISSED_BUSY, second, s->now, 0);
	sim_stop(s);
	sim_finish(s);
	check_equal(check_absence_at_end(s, PROBE, first - 20, first - 10, -1, NULL),
		    KTAPE_ABSENT_PROVED);
	check_equal(check_absence_at_end(s, PROBE, first, second - 10, -1, NULL),
		    KTAPE_ABSENT_LOST);
	check_equal(check_absence_at_end(s, PROBE, second + 10, second + 20, -1, NULL),
		    KTAPE_ABSENT_PROVED);
	sim_free(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a session that runs", test_running },
		{ "a session that has stopped", test_absent_stopped },
		{ "a session that was stopped meanwhile", test_break },
		{ "the end of a full snapshot", test_absent_frozen },
		{ "a CPU without rings", test_absent_without_rings },
		{ "a CPU that came online and has no packet", test_cpu_with },
		{ "a clock that the kernel does not trust",
		  test_absent_unstable_clock },
		{ "missed hits of a probe", test_absent_missed_hits },
		{ "the time after the last look at missed hits", test_unlooked },
		{ "a time between looks at missed hits", test_not_looked },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
