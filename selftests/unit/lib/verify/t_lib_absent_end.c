// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what is said of absence where a trace ends, and where its clock does: a session
 * that still runs proves nothing after the last event of each CPU, nor of a CPU that came
 * online and has no packet, and a clock that the kernel does not trust proves nothing at
 * all.  The reason says so.
 */
#include "lib_sim_work.h"

#define ENDS "the trace of a CPU ends before the range does: stop the session first, then save it"

/* @cpu: a CPU, or -1 for all */
static unsigned int judge_on(struct sim *s, uint64_t from, uint64_t to, int cpu,
			     const char **why)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
	};
	const char *dir = trace_folder();
	struct ktape_verify *v;
	unsigned int verdict;

	sim_save(s, dir, 0);
	if (ktape_verify_open(dir, NULL, &v, NULL) || ktape_verify_ask(v, &q) ||
	    ktape_verify_run(v) < 0)
		abort();
	verdict = ktape_verify_verdict(v, cpu, why);
	ktape_verify_close(v);
	trace_remove(dir);
	return verdict;
}

static unsigned int judge(struct sim *s, uint64_t from, uint64_t to,
			  const char **why)
{
	return judge_on(s, from, to, -1, why);
}

static struct sim *begin(void)
{
	struct sim *s = sim_new(5);

	sim_start(s);
	sim_work(s, 400);
	return s;
}

static void test_running(void)
{
	struct sim *s = begin();
	uint64_t middle = s->now - 500, end = s->now + 10;
	const char *why;

	sim_finish(s);
	check_equal(judge(s, middle - 10, end, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(!strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* After the stop it was not enabled, which has nothing to do with the end. */
static void test_stopped(void)
{
	struct sim *s = begin();
	uint64_t from = s->now, stopped;
	const char *why;

	sim_work(s, 100);
	sim_stop(s);
	stopped = s->now;
	sim_finish(s);
	check_equal(judge(s, from, from + 100, &why), KTAPE_ABSENT_PROVED);
	check_equal(judge(s, from, stopped + 1000, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* Nor has a break before the end, in a session that runs again. */
static void test_break(void)
{
	struct sim *s = begin();
	uint64_t from = s->now;
	const char *why;

	sim_stop(s);
	sim_work(s, 100);
	sim_start(s);
	sim_work(s, 400);
	sim_finish(s);
	check_equal(judge(s, from - 100, s->now + 10, &why),
		    KTAPE_ABSENT_NOT_ENABLED);
	check(strcmp(why, ENDS), "\"%s\"", why);
	sim_free(s);
}

/* Something was there all the same. */
static void test_unstable(void)
{
	struct sim *s = begin();
	uint64_t from = s->now, found;
	const char *why;

	sim_work(s, 100);
	found = s->now;
	sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
	sim_work(s, 100);
	sim_sync(s, 1, false);
	sim_stop(s);
	sim_finish(s);
	check_equal(judge(s, from, from + 100, &why), KTAPE_ABSENT_LOST);
	check(strstr(why, "does not trust the trace clock"), "\"%s\"", why);
	check_equal(judge(s, found, found + 1000, &why), KTAPE_ABSENT_FOUND);
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
	struct sim *s = begin();
	uint64_t at = s->now;
	const char *why;

	/* The first of the others that record it counts. */
	for (unsigned int i = SIM_CPUS; i-- > 0; ) {
		sim_control(s, i, &rec);
		sim_work(s, 20);
	}
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	check_equal(judge(s, at - 500, at, NULL), KTAPE_ABSENT_PROVED);
	check_equal(judge(s, at - 500, at + 20, NULL), KTAPE_ABSENT_LOST);
	check_equal(judge(s, at + 500, at + 1000, &why), KTAPE_ABSENT_LOST);
	check(strstr(why, "no packet of a CPU"), "\"%s\"", why);
	check_equal(judge_on(s, at + 500, at + 1000, 0, NULL), KTAPE_ABSENT_PROVED);
	check_equal(judge_on(s, at + 500, at + 1000, (int)cpu, NULL), KTAPE_ABSENT_LOST);
	sim_free(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a session that runs", test_running },
		{ "a session that has stopped", test_stopped },
		{ "a session that was stopped meanwhile", test_break },
		{ "a CPU that came online and has no packet", test_cpu_with },
		{ "a clock that the kernel does not trust", test_unstable },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
