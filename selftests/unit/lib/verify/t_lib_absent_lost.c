// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test that absence is not proved by a trace that lacks something, one cause at a time: an event
 * was lost, its packet or its CPU's files are missing, the reader came late, the ledger is that of
 * an earlier stop, the marker of a filter is missing, or a conversion left events out.
 */
#include "lib_absent.h"

/* Ask for a signal between two times, on CPU 0. */
static unsigned int signal_absence(struct sim *s, uint64_t from, uint64_t to)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
		.one_cpu = true,
	};

	return absence_of(s, &q, -1).verdict;
}

static void signal_now(struct sim *s)
{
	sim_event(s, 0, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
}

/* End the packets of CPU 0 here, so that they can be removed. */
static void cut_cpu0_packets(struct sim *s)
{
	sim_close(s, &s->ring[0], sim_sum(s->ring[0].emitted), false);
	sim_close(s, &s->ring[1], sim_sum(s->ring[1].emitted), false);
}

static void end_absent_session(struct sim *s)
{
	sim_work(s, 200);
	sim_stop(s);
	sim_finish(s);
}

static struct sim *begin_absent_session(void)
{
	struct sim *s = sim_new(3);

	sim_start(s);
	sim_work(s, 200);
	return s;
}

/* A signal that was lost within the interval, with no signal left in it. */
static void test_lost(void)
{
	struct sim *s = begin_absent_session();
	uint64_t from = s->now;

	sim_work(s, 100);
	s->losing[0] = 1U << KTAPE_CLASS_SIGNAL;
	signal_now(s);
	s->losing[0] = 0;
	end_absent_session(s);
	/* Up to a time at which the session still ran. */
	check_equal(signal_absence(s, from, s->now - 5000), KTAPE_ABSENT_LOST);
	check_equal(signal_absence(s, from - 500, from), KTAPE_ABSENT_PROVED);
	sim_free(s);
}

/*
 * The last packet, which had the signal, is missing: only the ledger shows
 * that.
 */
static void test_absent_removed(void)
{
	struct sim *s = begin_absent_session();
	uint64_t from;

	cut_cpu0_packets(s);
	from = s->now;
	sim_work(s, 20);
	signal_now(s);
	sim_work(s, 5);
	sim_stop(s);
	sim_finish(s);
	check_equal(signal_absence(s, from, from + 2000), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check_equal(signal_absence(s, from, from + 100), KTAPE_ABSENT_LOST);
	sim_free(s);
}

/*
 * A reader started late: nothing is known before its first packet, and without
 * a beginning the ledger does not show that the last packet is missing.
 */
static void test_absent_late_reader(void)
{
	struct sim *s = begin_absent_session();
	uint64_t at, from = s->now;

	signal_now(s);
	cut_cpu0_packets(s);
	sim_work(s, 200);
	cut_cpu0_packets(s);
	sim_work(s, 20);
	at = s->now;
	signal_now(s);
	sim_work(s, 5);
	sim_stop(s);
	sim_finish(s);
	sim_remove(s, 0, 0);
	check_equal(signal_absence(s, from - 100, from + 10), KTAPE_ABSENT_LOST);
	check_equal(signal_absence(s, at - 100, at), KTAPE_ABSENT_PROVED);
	check_equal(signal_absence(s, at, at + 1), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check(signal_absence(s, at, at + 1) != KTAPE_ABSENT_PROVED,
	      "proved without its last packet");
	sim_free(s);
}

/*
 * The oldest packet of each ring is overwritten, and the session goes on, so that no record
 * reports a loss in the last packet.  @later: that is the third packet, else the second.
 */
static void test_late_loss(void)
{
	for (unsigned int later = 0; later < 2; later++) {
		struct sim *s = begin_absent_session();
		uint64_t at;

		cut_cpu0_packets(s);
		sim_work(s, 200);
		if (later)
			cut_cpu0_packets(s);
		sim_work(s, 30);
		at = s->now;
		s->losing[0] = 1U << KTAPE_CLASS_SIGNAL;
		signal_now(s);
		s->losing[0] = 0;
		sim_work(s, 20);
		sim_finish(s);
		sim_come_late(s);
		check_equal(signal_absence(s, at, at + 1), KTAPE_ABSENT_LOST);
		sim_free(s);
	}
}

/* The ledger of an earlier stop does not cover events after a later start. */
static void test_restart(void)
{
	struct sim *s = begin_absent_session();
	uint64_t at, off;

	sim_stop(s);
	sim_start(s);
	sim_work(s, 200);
	cut_cpu0_packets(s);
	sim_work(s, 20);
	at = s->now;
	signal_now(s);
	sim_work(s, 5);
	cut_cpu0_packets(s);
	off = s->now;
	sim_change(s, KTAPE_EV_SIGNAL_DELIVER, false);
	sim_finish(s);
	check_equal(signal_absence(s, at, off - 10), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check(signal_absence(s, at, off - 10) != KTAPE_ABSENT_PROVED,
	      "proved by an earlier ledger");
	sim_free(s);
}

/*
 * Filter signals without a marker, until a signal was filtered. Return: its
 * time.
 */
static uint64_t hold_back(struct sim *s)
{
	uint64_t at = 0;

	/* CPU 0 loses its marker.  CPU 1 writes none: no question is about its signals. */
	s->filter |= 1U << KTAPE_FILTER_SIGNAL;
	s->ring[1].emitted[KTAPE_CLASS_CONTROL]++;
	s->ring[1].lost[KTAPE_CLASS_CONTROL]++;
	s->ring[1].first[KTAPE_CLASS_CONTROL] = s->now;
	s->ring[1].last[KTAPE_CLASS_CONTROL] = s->now;
	s->now += 20;
	while (!at) {
		sim_work(s, 2);
		signal_now(s);
		if (s->truth[s->nr_truth - 1].fate == SIM_FILTERED)
			at = s->truth[s->nr_truth - 1].ts;
	}
	return at;
}

/*
 * The control ring lost a filter's marker; the next marker is a profile's.  Bits of @how: packets
 * of CPU 0 end before the loss (1) or after it (4), the session stops at the end (2).
 */
static void test_lost_filter(void)
{
	for (unsigned int how = 0; how < 8; how++) {
		struct sim *s = begin_absent_session();
		uint64_t at;

		if (how & 1)
			cut_cpu0_packets(s);
		sim_sync(s, 0, true);
		at = hold_back(s);
		if (how & 4)
			cut_cpu0_packets(s);
		sim_work(s, 3);
		sim_change(s, KTAPE_EV_SIGNAL_DELIVER, false);
		sim_change(s, KTAPE_EV_SIGNAL_DELIVER, true);
		sim_work(s, 100);
		if (how & 2)
			sim_stop(s);
		sim_finish(s);
		check(signal_absence(s, at, at + 1) != KTAPE_ABSENT_PROVED,
		      "way %u: PROVED although a filter dropped the event", how);
		sim_free(s);
	}
}

/* A filter's marker was overwritten, and a later marker is a profile's. */
static void test_unseen_filter(void)
{
	struct sim *s = begin_absent_session();
	uint64_t from;

	cut_cpu0_packets(s);
	sim_filter(s, KTAPE_FILTER_SIGNAL, true);
	cut_cpu0_packets(s);
	sim_sync(s, 0, true);
	cut_cpu0_packets(s);
	sim_change(s, KTAPE_EV_SIGNAL_DELIVER, false);
	sim_change(s, KTAPE_EV_SIGNAL_DELIVER, true);
	from = s->now;
	for (unsigned int i = 0; i < 20; i++)
		signal_now(s);
	end_absent_session(s);
	/* As when a reader reports that it was too late for the second packet. */
	sim_remove(s, 1, 1);
	for (unsigned int i = 1; i < s->ring[1].nr; i++) {
		struct ktape_block *h = (void *)s->ring[1].packets[i].data;

		h->flags |= i == 1 ? KTAPE_BLOCK_GAP : 0;
		h->discarded++;
		ktape_packet_seal(h);
	}
	for (unsigned int i = 0; i < s->nr_truth; i++) {
		const struct sim_truth *t = &s->truth[i];

		if (t->fate == SIM_FILTERED)
			check(signal_absence(s, t->ts, t->ts + 1) !=
				      KTAPE_ABSENT_PROVED,
			      "PROVED although the event was filtered");
	}
	check(signal_absence(s, from + 5000, from + 5001) != KTAPE_ABSENT_PROVED,
	      "PROVED although the filters are unknown");
	sim_free(s);
}

/* The files of a CPU are missing: only the metadata can reveal that. */
static void test_missing_cpu(void)
{
	for (unsigned int listed = 0; listed < 2; listed++) {
		struct sim *s = begin_absent_session();
		struct ktape_absence q = {
			.opcode = KTAPE_EV_SIGNAL_DELIVER,
			.from = s->now,
		};
		struct absence a;

		s->listed = listed;
		sim_event(s, 1, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
		q.to = s->now;
		end_absent_session(s);
		check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_FOUND);
		for (unsigned int ring = 2; ring < SIM_RINGS; ring++)
			while (s->ring[ring].nr)
				sim_remove(s, ring, 0);
		a = absence_of(s, &q, -1);
		check_equal(a.verdict,
			    listed ? KTAPE_ABSENT_LOST : KTAPE_ABSENT_PROVED);
		check_equal(a.findings, 0);
		q.one_cpu = true;
		check_equal(absence_of(s, &q, -1).verdict, KTAPE_ABSENT_PROVED);
		q.cpu = 1;
		check(absence_of(s, &q, -1).verdict != KTAPE_ABSENT_PROVED,
		      "PROVED where the trace has nothing");
		sim_free(s);
	}
}

/* The native form of a trace, without its signals. */
static void convert_without_signals(const char *from, const char *to)
{
	struct ktape_sink_options how = { .format = "native", .path = to };
	const struct ktape_event *e;
	struct ktape_sink *sink;
	struct ktape_trace *t;

	if (ktape_trace_open(from, NULL, &t, NULL))
		abort();
	how.info = ktape_trace_info(t);
	how.registry = ktape_trace_registry(t);
	how.metadata = ktape_trace_metadata(t, &how.metadata_len);
	if (ktape_sink_open(&how, &sink, NULL))
		abort();
	while (ktape_trace_next(t, &e) > 0)
		if (e->opcode != KTAPE_EV_SIGNAL_DELIVER &&
		    ktape_sink_event(sink, e))
			abort();
	if (ktape_sink_finish(sink))
		abort();
	ktape_sink_close(sink);
	ktape_trace_close(t);
}

/* A converted trace has markers, but possibly not the events they refer to. */
static void test_converted(void)
{
	struct sim *s = begin_absent_session();
	char from[300], to[300], again[300];
	struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = s->now,
	};
	struct absence a;

	sim_event(s, 1, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
	q.to = s->now;
	/* Some packets of the converted trace. */
	sim_work(s, 20000);
	end_absent_session(s);
	snprintf(from, sizeof(from), "%s", trace_folder());
	snprintf(to, sizeof(to), "%s", trace_folder());
	snprintf(again, sizeof(again), "%s", trace_folder());
	sim_save(s, from, 0);
	convert_without_signals(from, to);
	convert_without_signals(to, again);
	a = absence_in(from, &q, -1);
	check_equal(a.verdict, KTAPE_ABSENT_FOUND);
	check_equal(a.findings, 0);
	a = absence_in(to, &q, -1);
	check_equal(a.verdict, KTAPE_ABSENT_LOST);
	check_equal(a.findings, 0);
	check_equal(absence_in(again, &q, -1).verdict, KTAPE_ABSENT_LOST);
	trace_remove(from);
	trace_remove(to);
	trace_remove(again);
	sim_free(s);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "lost events", test_lost },
		{ "events in a removed packet", test_absent_removed },
		{ "a late reader", test_absent_late_reader },
		{ "a late reader of losses", test_late_loss },
		{ "a start after a stop", test_restart },
		{ "a filter whose marker was lost", test_lost_filter },
		{ "a filter whose marker is missing", test_unseen_filter },
		{ "a missing CPU", test_missing_cpu },
		{ "a converted trace", test_converted },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
