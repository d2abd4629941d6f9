// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what can be asked about absence: which questions are refused, a number that no field can
 * hold, and the times of a question, which ktape verify converts to ticks of the trace.
 */
#include "lib_absent.h"

/* A number that does not fit in its field may be any number. */
static void test_large(void)
{
	struct sim *s = sim_new(3);
	struct ktape_absence q = {
		.opcode = KTAPE_EV_SYS_ENTER,
		.field = "nr",
		.value = 77,
		.one_cpu = true,
	};

	sim_start(s);
	sim_work(s, 200);
	q.from = s->now;
	/* Bit 18, large: nr is all ones, and the argument has the whole number. */
	sim_event(s, 0, KTAPE_EV_SYS_ENTER, 0xffff | 1U << 18, 1, 1000077, 0);
	sim_event(s, 0, KTAPE_EV_SYS_EXIT, 0xffff | 1U << 18, 2, 0, 0);
	q.to = s->now;
	sim_work(s, 200);
	sim_stop(s);
	sim_finish(s);
	check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_LOST);
	q.from = q.to;
	q.to++;
	check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_PROVED);
	sim_free(s);
}

/* Questions that a trace cannot answer are refused. */
static void test_absent_refused(void)
{
	const char *dir = trace_folder();
	struct sim *s = sim_new(1);
	struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = 1,
		.to = 2,
	};
	struct ktape_absence bad[5] = { q, q, q, q, q };
	/* Event, field, a value that is too large for it, from, to, and no CPU. */
	const struct ktape_absence large[] = {
		{ KTAPE_EV_SIGNAL_DELIVER, "sig", 128, 1, 2, false, 0 },
		{ KTAPE_EV_SIGNAL_DELIVER, "sig", UINT64_MAX, 1, 2, false, 0 },
		{ KTAPE_EV_SYS_ENTER, "nr", 65536, 1, 2, false, 0 },
		{ KTAPE_EV_PROCESS_FREE, "tid", 1ULL << 31, 1, 2, false, 0 },
		{ KTAPE_EV_WORKQUEUE_QUEUE_WORK, "work", 1ULL << 32, 1, 2, false, 0 },
	};
	struct ktape_error error;
	struct ktape_verify *v;

	sim_start(s);
	sim_work(s, 100);
	sim_stop(s);
	sim_finish(s);
	sim_save(s, dir, 0);
	/* No event has TRACE_OPCODE, nor 100000; the ledger is control; an interval is empty. */
	bad[0].opcode = TRACE_OPCODE;
	bad[1].opcode = KTAPE_EV_LEDGER;
	bad[2].field = "no_such";
	bad[3].to = 1;
	bad[4].opcode = 100000;
	check_equal(ktape_verify_open(dir, NULL, &v, &error), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_equal((unsigned int)-ktape_verify_ask(v, &bad[i]), EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(large); i++)
		check_equal((unsigned int)-ktape_verify_ask(v, &large[i]), ERANGE);
	/* A tid is signed, so -1 fits.  A check takes one question only. */
	q.field = "tid";
	q.opcode = KTAPE_EV_PROCESS_FREE;
	q.value = (uint64_t)-1;
	check_equal(ktape_verify_ask(v, &q), 0);
	check_equal((unsigned int)-ktape_verify_ask(v, &q), EINVAL);
	ktape_verify_close(v);
	sim_free(s);
	trace_remove(dir);
}

/* Converting a time to ticks and back must never round up. */
static void test_ticks(void)
{
	struct ktape_info info = trace_info;
	uint64_t ts;

	info.freq = 2399987654;
	info.mono_offset_ns = 123456789;
	info.offset_s = 1700000000;
	for (uint64_t i = 1; i < 1000; i++) {
		ts = i * 123456789123ULL;
		check(ktape_mono_ticks(&info, ktape_mono_ns(&info, ts)) <= ts,
		      "too late");
		check_equal(ktape_mono_ns(&info,
					  ktape_mono_ticks(
						  &info, ktape_mono_ns(&info, ts))),
			    ktape_mono_ns(&info, ts));
		check_equal(ktape_epoch_ns(&info,
					   ktape_epoch_ticks(
						   &info, ktape_epoch_ns(&info, ts))),
			    ktape_epoch_ns(&info, ts));
	}
}

/* Also with slow clocks, with several ns per tick. */
static void test_clocks(void)
{
	static const uint64_t hz[] = {
		10000000,  19200000,  24000000,	  62500000,   100000000,
		250000000, 500000000, 1000000000, 2400000000,
	};
	struct ktape_info info = trace_info;

	info.mono_offset_ns = 5;
	info.offset_s = 1700000000;
	for (size_t i = 0; i < ARRAY_SIZE(hz); i++) {
		uint64_t ts = hz[i] * 1000;

		info.freq = hz[i];
		info.offset = i;
		check_equal(ktape_mono_ticks(&info, ktape_mono_ns(&info, ts)), ts);
		check_equal(ktape_epoch_ticks(&info, ktape_epoch_ns(&info, ts)), ts);
		check(ktape_mono_ticks(&info, INT64_MAX) > ts, "%zu: no end", i);
		check_equal(ktape_mono_ticks(&info, 0), 0);
		check_equal(ktape_epoch_ticks(&info, 0), 0);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a number that is too large", test_large },
		{ "refused questions", test_absent_refused },
		{ "ticks of a time", test_ticks },
		{ "ticks of slow clocks", test_clocks },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
