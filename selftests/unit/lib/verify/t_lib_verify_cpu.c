// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on CPUs that are offline when the session starts: they record from
 * before the record that they came online, and have no start of the session.
 */
#include "lib_verify.h"

/* Start the session on CPU 0 alone, as if all others were offline. */
static void start_on_0(struct sim *s)
{
	sim_ledger(s, 0, 1); /* of a start */
	s->running = true;
	sim_context(s, 0);
	sim_phase(s, 0, KTAPE_PHASE_ON);
	sim_profile_on(s, 0, KTAPE_PHASE_ON, s->mask);
}

/* Stop on all CPUs, start on CPU 0; CPU 1 was taken offline in between. */
static struct sim *offline_at_start(void)
{
	struct sim *s = sim_new(13);

	sim_start(s);
	sim_work(s, 300);
	sim_stop(s);
	start_on_0(s);
	sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 1, 2);
	return s;
}

/* Record an event on CPU 1, whose markers may still be missing. */
static void signal_cpu1(struct sim *s)
{
	sim_event(s, 1, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 3, 4);
}

static void test_comes_online(void)
{
	struct sim *s = offline_at_start();

	signal_cpu1(s);
	sim_online(s, 1, true);
	sim_profile_on(s, 1, KTAPE_PHASE_ON, s->mask);
	signal_cpu1(s);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	end_verified(s);
}

/* The trace is a snapshot: the session records, and CPU 1 is offline or coming online. */
static void test_verify_cpu_snapshot(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct sim *s = offline_at_start();

		if (i)
			signal_cpu1(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_whole_result(s);
		end_verified(s);
	}
}

/* A CPU that was online at the start must not have recorded before it. */
static void test_before_the_start(void)
{
	struct sim *s = offline_at_start();

	signal_cpu1(s);
	sim_ledger(s, 1, 1);
	sim_phase(s, 1, KTAPE_PHASE_ON);
	sim_profile_on(s, 1, KTAPE_PHASE_ON, s->mask);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_CONTROL, 1);
	check_equal(result.errors[KTAPE_RULE_MARKER], 1);
	end_verified(s);
}

/* Nor may it have stopped again without a start. */
static void test_never_online(void)
{
	struct sim *s = offline_at_start();

	signal_cpu1(s);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_CONTROL, 1);
	end_verified(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a CPU comes online in a session that was started meanwhile",
		  test_comes_online },
		{ "a snapshot before that", test_verify_cpu_snapshot },
		{ "events before the start of the session", test_before_the_start },
		{ "the end of a session that did not start", test_never_online },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
