// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on sessions that are not the usual ones: without names, with an unstable
 * clock, frozen, overwritten, with CPUs without rings, or without the records of their end.
 */
#include "lib_verify.h"

static void test_verify_nameless(void)
{
	struct sim *s = make_simple_session();

	save_and_verify(s, 2); /* the last two threads have no name; their numbers begin with 10 */
	check_equal(result.errors[KTAPE_RULE_NAME], 2);
	check(strstr(result.finding[0].text, "10"), "%s", result.finding[0].text);
	check_equal(result.ret, 2);
	end_verified(s);
}

static void test_verify_unstable_clock(void)
{
	struct sim *s = sim_new(9);

	sim_start(s);
	sim_work(s, 500);
	sim_sync(s, 1, false);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 1);
	check_equal(result.errors[KTAPE_RULE_CLOCK], 1);
	end_verified(s);
}

/* A full snapshot and an evicted reader are no errors. */
static void test_verify_frozen(void)
{
	struct sim *s = sim_new(11);

	s->mode = KTAPE_MODE_SNAPSHOT;
	sim_start(s);
	sim_work(s, 500);
	/* Reader 1 of process 100 had not moved for 10 ms. */
	sim_words(s, KTAPE_EV_EVICT, 1, 100, 10);
	s->now += 5000;
	sim_stop_full(s, s->now - 5000);
	sim_finish(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	end_verified(s);

	/* A session that is no snapshot cannot be full. */
	s = sim_new(11);
	sim_start(s);
	sim_words(s, KTAPE_EV_FREEZE, 0, 0, 0);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_MARKER, KTAPE_RING_CONTROL, 0);
	end_verified(s);
}

/* A CPU without memory for its rings gives one note. */
static void test_verify_without_rings(void)
{
	struct sim *s = sim_new(12);
	const uint32_t cpus[] = { SIM_CPUS, UINT32_MAX };
	struct ktape_record rec = { .opcode = KTAPE_EV_CPU_WITHOUT,
				    .args = cpus,
				    .nargs = 1 };

	sim_start(s);
	sim_work(s, 100);
	for (unsigned int i = 0; i < 6; i++)
		sim_control(s, i % SIM_CPUS, &rec);
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	check_equal(result.notes[KTAPE_RULE_MARKER], 1);
	end_verified(s);

	/* The same for one that came online with rings, and is not in the trace. */
	s = sim_new(12);
	sim_start(s);
	rec.opcode = KTAPE_EV_CPU_WITH;
	for (unsigned int i = 0; i < SIM_CPUS; i++)
		sim_control(s, i, &rec);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	check_equal(result.notes[KTAPE_RULE_MARKER], 0);
	check_equal(result.notes[KTAPE_RULE_FORM], 1);
	end_verified(s);

	/* The number of no CPU. */
	s = sim_new(12);
	sim_start(s);
	rec.args = &cpus[1];
	sim_control(s, 0, &rec);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_FORM, KTAPE_RING_CONTROL, 0);
	end_verified(s);
}

/* A control ring without room for the end of its session reports a loss. */
static void test_lossy_end(void)
{
	struct sim *s = make_simple_session();
	struct sim_ring *r = &s->ring[3];
	struct ktape_block *h;

	while (sim_take(s, 3, KTAPE_EV_SESSION, 3, KTAPE_PHASE_OFF))
		;
	save_and_verify(s, 0);
	check(result.ret, "the missing end is not detected");
	trace_remove(folder);
	h = (void *)r->packets[r->nr - 1].data;
	h->emitted--;
	h->lost[KTAPE_LOST_FULL]++;
	h->discarded++;
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check_equal(result.ret, 0);
	end_verified(s);
}

/*
 * A snapshot of a session that was stopped and started: of one ring the reader has found
 * nothing any more, or only a few records.
 */
static void test_verify_overwritten(void)
{
	for (unsigned int left = 0; left < 2; left++) {
		struct sim *s = sim_new(15);
		struct sim_ring *r = &s->ring[2];
		struct ktape_block *h;

		s->mode = KTAPE_MODE_OVERWRITE;
		sim_start(s);
		sim_work(s, SIMPLE_STEPS / 2);
		sim_stop(s);
		sim_start(s);
		sim_work(s, SIMPLE_STEPS / 2);
		sim_finish(s);
		while (r->nr > 1 + left)
			sim_remove(s, 2, 0);
		h = (void *)r->packets[0].data;
		check(h->seq > 1, "the ring has one packet only");
		h->flags |= KTAPE_BLOCK_GAP;
		if (!left)
			h->content_bits = h->packet_bits = KTAPE_BLOCK_HEADER * 8;
		if (!left)
			r->packets[0].len = KTAPE_BLOCK_HEADER;
		ktape_packet_seal(h);
		save_and_verify(s, 0);
		check(!result.ret, "%s", result.finding[0].text);
		/* That the session still records, and not that anything is missing. */
		check_equal(result.notes[KTAPE_RULE_LEDGER], 1);
		end_verified(s);
	}
}

/* What a reader of a running session has missed is later than the last ledger. */
static void test_missed_since(void)
{
	struct sim *s = sim_new(16);
	struct sim_ring *r = &s->ring[2];
	uint64_t gone;
	unsigned int i;

	sim_start(s);
	sim_work(s, 300);
	sim_stop(s);
	sim_start(s);
	sim_work(s, SIMPLE_STEPS);
	sim_finish(s);
	i = r->nr - 3;
	gone = ((struct ktape_block *)r->packets[i].data)->emitted -
	       ((struct ktape_block *)r->packets[i - 1].data)->emitted;
	/* The packet behind it takes its place: with one less, that is the last but one. */
	sim_remove(s, 2, i);
	for (; i < r->nr; i++) {
		struct ktape_block *h = (void *)r->packets[i].data;

		h->flags |= i == r->nr - 2 ? KTAPE_BLOCK_GAP : 0;
		h->discarded += gone;
		ktape_packet_seal(h);
	}
	save_and_verify(s, 0);
	check(!result.ret, "%s", result.finding[0].text);
	end_verified(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "threads without a name", test_verify_nameless },
		{ "an unstable clock", test_verify_unstable_clock },
		{ "a full snapshot", test_verify_frozen },
		{ "a CPU without rings", test_verify_without_rings },
		{ "a lost end of the session", test_lossy_end },
		{ "a snapshot of an overwritten ring", test_verify_overwritten },
		{ "records missed after the last ledger", test_missed_since },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
