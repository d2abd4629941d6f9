// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on what records say that cannot be: counts, losses, pairs of events,
 * switches, system calls, times.
 */
#include "lib_verify.h"

/* Counts in headers that are wrong by more than contexts can nest. */
static void test_bound(void)
{
	static const int by[] = { 100, -100 };

	for (size_t i = 0; i < ARRAY_SIZE(by); i++) {
		struct sim *s = make_simple_session();
		struct ktape_block *h = (void *)s->ring[0].packets[2].data;

		h->emitted += (uint64_t)by[i];
		ktape_packet_seal(h);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_BOUND, KTAPE_RING_EVENT, 0);
		check_equal(result.finding[0].packet, 3);
		end_verified(s);
	}
}

/*
 * A loss that no loss record reports, and one that is reported twice: sim_stop() writes a record of
 * the losses by which @lost of a ring is larger than @reported.
 */
static void test_loss(void)
{
	for (int twice = 0; twice < 2; twice++) {
		struct sim *s = sim_new(5);

		sim_start(s);
		sim_work(s, 500);
		s->losing[1] = 1U << KTAPE_CLASS_SYSCALL;
		sim_work(s, 100);
		s->losing[1] = 0;
		sim_work(s, 500);
		if (twice)
			s->ring[2].reported[KTAPE_CLASS_SYSCALL]--;
		else
			s->ring[2].lost[KTAPE_CLASS_SYSCALL]++;
		if (!twice)
			s->ring[2].reported[KTAPE_CLASS_SYSCALL]++;
		if (!twice)
			s->ring[2].emitted[KTAPE_CLASS_SYSCALL]++;
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_LOSS, KTAPE_RING_CONTROL, 1);
		end_verified(s);
	}
}

/* Reported losses are counted and are no errors. */
static void test_lossy(void)
{
	struct sim *s = sim_new(6);

	sim_start(s);
	sim_work(s, 500);
	s->losing[0] = ~1U;
	sim_work(s, 300);
	s->losing[0] = 0;
	sim_work(s, 1000);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_whole_result(s);
	check_equal(result.lost, sim_sum(s->ring[0].lost));
	check(result.lost > 100, "too few");
	end_verified(s);
}

static void test_verify_pairs(void)
{
	static const struct {
		unsigned int opcode;
		uint32_t dat20;
		unsigned int words;
		uint32_t a, b;
		unsigned int rule;
	} odd[] = {
		{ KTAPE_EV_IRQ_HANDLER_ENTRY, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_IRQ_HANDLER_EXIT, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SOFTIRQ_ENTRY, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SOFTIRQ_EXIT, 5, 0, 0, 0, KTAPE_RULE_PAIR },
		{ KTAPE_EV_SCHED_SWITCH, 0, 2, 104, 105, KTAPE_RULE_SWITCH },
	};

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		struct sim *s = sim_new(7);

		sim_start(s);
		sim_work(s, 500);
		sim_event(s, 0, odd[i].opcode, odd[i].dat20, odd[i].words,
			  odd[i].a, odd[i].b);
		sim_work(s, 500);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		/* After a wrong switch the caller is another thread. */
		if (odd[i].rule == KTAPE_RULE_SWITCH)
			result.errors[KTAPE_RULE_PAIR] = 0;
		check_only(odd[i].rule, KTAPE_RING_EVENT, 0);
		check_equal(result.finding[0].rule, odd[i].rule);
		end_verified(s);
	}
}

/* A handler ends while another that interrupted it still runs. */
static void test_nesting(void)
{
	static const unsigned int begins[] = { KTAPE_EV_IRQ_HANDLER_ENTRY,
					       KTAPE_EV_SOFTIRQ_ENTRY };

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		struct sim *s = sim_new(7);

		sim_start(s);
		sim_work(s, 500);
		sim_event(s, 0, begins[i], 5, 0, 0, 0);
		sim_event(s, 0, begins[i], 6, 0, 0, 0);
		sim_event(s, 0, begins[i] + 1, 5, 0, 0, 0);
		sim_work(s, 500);
		sim_stop(s);
		sim_finish(s);
		save_and_verify(s, 0);
		check_only(KTAPE_RULE_PAIR, KTAPE_RING_EVENT, 0);
		check(strstr(result.finding[0].text, " 5 ends while 6 is running"),
		      "%s", result.finding[0].text);
		end_verified(s);
	}
}

/* A thread enters a call within a call. */
static void test_verify_calls(void)
{
	struct sim *s = sim_new(8);
	uint32_t bit;

	sim_start(s);
	sim_work(s, 500);
	bit = 1U << (s->tid[0] - 100);
	if (!(s->calling[0] & bit))
		sim_call(s, 0);
	sim_event(s, 0, KTAPE_EV_SYS_ENTER, 2, 0, 0, 0);
	sim_event(s, 0, KTAPE_EV_SYS_EXIT, 3, 2, 0, 0);
	sim_work(s, 500);
	sim_stop(s);
	sim_finish(s);
	save_and_verify(s, 0);
	check_only(KTAPE_RULE_PAIR, KTAPE_RING_EVENT, 0);
	/* A call within a call, and its exit with another number. */
	check(result.errors[KTAPE_RULE_PAIR] >= 2, "only %llu",
	      (unsigned long long)result.errors[KTAPE_RULE_PAIR]);
	end_verified(s);
}

static void test_times(void)
{
	struct sim *s = make_simple_session();
	struct ktape_block *h = (void *)s->ring[2].packets[4].data;

	h->ts_begin -= 5000;
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	check_equal(result.finding[0].packet, 5);
	check_equal(result.finding[0].cpu, 1);
	end_verified(s);
	/* A record whose time goes back is shown at its predecessor's time. */
	s = make_simple_session();
	h = (void *)s->ring[2].packets[4].data;
	memset(s->ring[2].packets[4].data + KTAPE_BLOCK_HEADER, 0, 4);
	ktape_packet_seal(h);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	end_verified(s);
	/* The end time of the packet precedes its later records. */
	s = make_simple_session();
	h = (void *)s->ring[2].packets[4].data;
	h->ts_end = h->ts_begin;
	ktape_packet_seal(s->ring[2].packets[4].data);
	save_and_verify(s, 0);
	check(result.errors[KTAPE_RULE_TIME] > 0, "%d wrong", result.ret);
	end_verified(s);
}

/* Set records and packet end from @from on back by @by. */
static void step_packet_back(unsigned char *data, size_t len, uint64_t from,
			     uint64_t by)
{
	struct ktape_block *h = (void *)data;
	struct ktape_packet p;
	struct ktape_event e;
	uint32_t low;

	check(!ktape_packet_open(&p, data, len, NULL, NULL), "no packet");
	while (ktape_packet_next(&p, &e, NULL) > 0) {
		low = (uint32_t)(e.ts - by);
		if (e.ts >= from)
			memcpy(data + e.offset, &low, sizeof(low));
	}
	if (h->ts_begin >= from)
		h->ts_begin -= by;
	h->ts_end -= by;
	ktape_packet_seal(data);
}

/*
 * The clock steps back by half of a block's time, in its last quarter, and catches up in the next
 * block: records of both have earlier times, and the step is reported once.
 */
static void test_step_between(void)
{
	struct sim *s = make_simple_session();
	struct sim_packet *of = &s->ring[2].packets[4];
	struct ktape_block *h = (void *)of[0].data;
	const uint64_t age = h->ts_end - h->ts_begin;
	const uint64_t from = h->ts_begin + age / 4 * 3;

	check_equal(h->ts_begin >> 32,
		    ((struct ktape_block *)of[1].data)->ts_end >> 32);
	step_packet_back(of[0].data, of[0].len, from, age / 2);
	step_packet_back(of[1].data, of[1].len, from, age / 2);
	save_and_verify(s, 0);
	check_equal(result.errors[KTAPE_RULE_TIME], 1);
	check_equal(result.errors[KTAPE_RULE_FORM], 0);
	check_equal(result.finding[0].packet, 5);
	check(strstr(result.finding[0].text, "the trace clock went back"), "%s",
	      result.finding[0].text);
	end_verified(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "counts beyond the bound", test_bound },
		{ "losses without a loss record", test_loss },
		{ "reported losses", test_lossy },
		{ "pairs and switches", test_verify_pairs },
		{ "handlers are nested", test_nesting },
		{ "calls", test_verify_calls },
		{ "times", test_times },
		{ "the clock steps back in one packet and catches up in another",
		  test_step_between },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
