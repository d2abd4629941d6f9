// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify` on a recording that ended while its session recorded: its rings end
 * at different moments.  A control ring that was read further than the event ring has
 * ledgers of events that are not in the trace; an event ring that was read further lacks
 * the markers of its last events.  Neither is a violation, and neither proves anything.
 */
#include "lib_verify.h"

#define EVENTS		0U	/* rings of CPU 0 */
#define CONTROL		1U

/* From now on the ring writes to another packet. */
static void cut_here(struct sim *s, unsigned int ring)
{
	sim_close(s, &s->ring[ring], sim_sum(s->ring[ring].emitted), false);
}

/* Remove the packets of a ring after the first @nr. */
static void end_after(struct sim *s, unsigned int ring, unsigned int nr)
{
	check(s->ring[ring].nr > nr, "ring %u has %u packets", ring, s->ring[ring].nr);
	while (s->ring[ring].nr > nr)
		sim_remove(s, ring, nr);
}

static void hear(struct sim *s, unsigned int signals)
{
	while (signals--)
		sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 1, 1, 1, 2);
}

/* Stop and start again after events of CPU 0 that its event ring does not have. */
static struct sim *restarted(unsigned int lacking, bool ends)
{
	struct sim *s = sim_new(21);
	unsigned int nr;

	sim_start(s);
	sim_work(s, 100);
	hear(s, 1);
	cut_here(s, EVENTS);
	nr = s->ring[EVENTS].nr;
	hear(s, lacking);
	sim_stop(s);
	sim_start(s);
	hear(s, 1);
	if (ends)
		sim_stop(s);
	sim_finish(s);
	end_after(s, EVENTS, nr);
	return s;
}

static void test_ledger(void)
{
	struct sim *s = restarted(3, false);

	save(s, 0);
	check_equal(result.ret, 0);
	/* One says that the session still records, the other what is missing. */
	check_equal(result.notes[KTAPE_RULE_LEDGER], 2);
	done(s);
}

/* A record more than there were events is wrong in any case. */
static void test_too_many(void)
{
	struct sim *s = sim_new(21);
	uint64_t *emitted = &s->ring[EVENTS].emitted[KTAPE_CLASS_SIGNAL];

	sim_start(s);
	hear(s, 2);
	--*emitted;
	sim_stop(s);
	++*emitted;
	sim_start(s);
	sim_finish(s);
	save(s, 0);
	check(result.errors[KTAPE_RULE_LEDGER], "nothing is wrong");
	done(s);
}

/* The trace has the end of the session: the events are missing. */
static void test_finished(void)
{
	struct sim *s = restarted(3, true);

	save(s, 0);
	check_only(KTAPE_RULE_LEDGER, KTAPE_RING_EVENT, 0);
	done(s);
}

/* What the control ring has of a CPU that was offline. */
enum marker {
	NONE,
	THERE,
	BEHIND_ITS_END
};

static void change_cpu(struct sim *s, bool online)
{
	const struct ktape_record rec = { .opcode = KTAPE_EV_CPU, .dat20 = online };

	sim_control(s, 0, &rec);
}

/* CPU 0 goes offline and comes online with a thread. */
static void offline(int32_t first, enum marker marker)
{
	struct sim *s = sim_new(22);
	unsigned int nr;

	sim_start(s);
	sim_work(s, 100);
	sim_switch(s, 0);
	cut_here(s, CONTROL);
	nr = s->ring[CONTROL].nr;
	if (marker != NONE) {
		change_cpu(s, false);
		change_cpu(s, true);
		sim_profile_on(s, 0, KTAPE_PHASE_ON, s->mask);
	}
	sim_event(s, 0, KTAPE_EV_SCHED_SWITCH, 0, 2, (uint32_t)first, 101);
	s->tid[0] = 101;
	if (marker == NONE)
		sim_sync(s, 0, true);
	sim_finish(s);
	if (marker == BEHIND_ITS_END)
		end_after(s, CONTROL, nr);
	save(s, 0);
	if (marker == THERE)
		check_whole(s);
	done(s);
}

static void test_offline(void)
{
	offline(0, BEHIND_ITS_END);
	check_equal(result.ret, 0);
	offline(0, THERE);
}

/* Only a CPU that comes online begins with its idle thread. */
static void test_another_thread(void)
{
	offline(99, BEHIND_ITS_END);
	check_only(KTAPE_RULE_SWITCH, KTAPE_RING_EVENT, 0);
}

/* The control ring goes on, without a marker. */
static void test_no_marker(void)
{
	offline(0, NONE);
	check_only(KTAPE_RULE_SWITCH, KTAPE_RING_EVENT, 0);
}

/* Ask whether CPU 0 delivered a signal in a span in which it delivered three. */
static unsigned int ask(struct sim *s, uint64_t from, uint64_t to)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
		.one_cpu = true,
	};
	struct ktape_verify *v;
	unsigned int verdict;

	folder = trace_folder();
	sim_save(s, folder, 0);
	if (ktape_verify_open(folder, NULL, &v, NULL) || ktape_verify_ask(v, &q) ||
	    ktape_verify_run(v) < 0)
		abort();
	verdict = ktape_verify_verdict(v, -1, NULL);
	ktape_verify_close(v);
	return verdict;
}

static void test_absent(void)
{
	/* The control ring of CPU 0 has the second start, or only that of CPU 1 has it. */
	for (unsigned int has = 0; has < 2; has++) {
		struct sim *s = sim_new(23);
		unsigned int events, control;
		uint64_t from;

		sim_start(s);
		sim_work(s, 100);
		hear(s, 1);
		cut_here(s, EVENTS);
		events = s->ring[EVENTS].nr;
		from = s->now + 1;
		hear(s, 3);
		sim_stop(s);
		cut_here(s, CONTROL);
		control = s->ring[CONTROL].nr;
		sim_start(s);
		sim_finish(s);
		end_after(s, EVENTS, events);
		if (!has)
			end_after(s, CONTROL, control);
		check_equal(ask(s, from, from + 2), KTAPE_ABSENT_NOT_ENABLED);
		done(s);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "a control ring that was read further than the event ring", test_ledger },
		{ "a ledger with fewer events than there are", test_too_many },
		{ "the same in a trace with the end of its session", test_finished },
		{ "an event ring that was read further, and its CPU came online", test_offline },
		{ "another thread than the idle one", test_another_thread },
		{ "a control ring that goes on without a marker", test_no_marker },
		{ "events behind the end of the ring are not proved absent", test_absent },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
