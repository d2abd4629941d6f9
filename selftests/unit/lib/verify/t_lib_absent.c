// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask thousands of questions whether an event was absent and compare the
 * answers with what really happened: no PROVED may be wrong, whatever was lost,
 * filtered, disabled or damaged.
 */
#include "lib_sim_work.h"

#define SCENES	  60U
#define QUESTIONS 50U /* per scene */
#define ROUNDS	  40U

/*
 * Events that are asked for, with a value of @field below @values, or with any (NULL): a rare one
 * of the event ring, a rare one of the control ring, a frequent one.
 */
static const struct {
	unsigned int opcode;
	const char *field;
	unsigned int values;
} asked[] = {
	{ KTAPE_EV_SIGNAL_DELIVER, "sig", 8 },
	{ KTAPE_EV_EXCEPTION, "severity", 8 },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, "irq", 16 },
	{ KTAPE_EV_SIGNAL_DELIVER, NULL, 0 },
};

/*
 * Numbers of questions: answered, refused, answered with each verdict; then those with a wrong
 * answer.  @missed_found: the event was recorded, and the verdict is not FOUND.
 */
static struct {
	unsigned int asked, refused, others[5];
	unsigned int wrong_proved, wrong_found, missed_found;
} sum;

/* Change losses, filters and profiles, with a rare event now and then. */
static struct sim *make_absent_session(uint64_t seed)
{
	struct sim *s = sim_new(seed);

	sim_start(s);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		unsigned int cpu = sim_random(s, SIM_CPUS);

		sim_work(s, 20 + sim_random(s, 60));
		if (sim_random(s, 2))
			sim_event(s, cpu, KTAPE_EV_SIGNAL_DELIVER,
				  1 + sim_random(s, 7), 3, 0, 0);
		if (sim_random(s, 2))
			sim_event(s, cpu, KTAPE_EV_EXCEPTION, sim_random(s, 8),
				  1, 0x100, 0);
		switch (sim_random(s, 24)) {
		case 0:
			s->losing[cpu] ^= 1U << KTAPE_CLASS_SIGNAL;
			break;
		case 1:
			/* All classes but control: s->blind loses that one's. */
			s->losing[cpu] ^= ~1U;
			break;
		case 2:
			sim_filter(s, KTAPE_FILTER_SIGNAL,
				   !(s->filter >> KTAPE_FILTER_SIGNAL & 1));
			break;
		case 3:
			sim_filter(s, KTAPE_FILTER_PID,
				   !(s->filter >> KTAPE_FILTER_PID & 1));
			break;
		case 4:
			sim_change(s, KTAPE_EV_SIGNAL_DELIVER, false);
			break;
		case 5:
		case 6:
			sim_change(s, KTAPE_EV_SIGNAL_DELIVER, true);
			break;
		case 7:
			sim_stop(s);
			sim_work(s, 10);
			sim_event(s, cpu, KTAPE_EV_SIGNAL_DELIVER, 3, 3, 0, 0);
			sim_start(s);
			break;
		case 8:
			/*
			 * Not in all scenes, because nothing can be proved
			 * after it.
			 */
			s->blind = seed % 4 == 1;
			break;
		case 9:
			s->blind = false;
			break;
		default:
			/*
			 * Mostly continue unchanged, with fewer and fewer
			 * losses.
			 */
			if (!sim_random(s, 3))
				s->losing[cpu] = 0;
			break;
		}
	}
	if (seed % 5)
		sim_stop(s);
	sim_finish(s);
	return s;
}

/* Damage one scene in three; its answers must still be true. */
static void damage(struct sim *s, uint64_t seed)
{
	unsigned int ring = sim_random(s, SIM_RINGS);
	struct sim_ring *r = &s->ring[ring];

	if (seed % 3 || r->nr < 3)
		return;
	switch (sim_random(s, 5)) {
	case 0:
		sim_remove(s, ring, 1 + sim_random(s, r->nr - 2));
		break;
	case 1:
		sim_remove(s, ring, r->nr - 1);
		break;
	case 2:
		sim_take(s, ring,
			 ring & 1 ? KTAPE_EV_EXCEPTION : KTAPE_EV_SIGNAL_DELIVER,
			 0, 0);
		break;
	case 3:
		sim_come_late(s);
		break;
	default:
		/* The recorder started late: earlier events are not there. */
		sim_remove(s, ring, 0);
		break;
	}
}

/* Return true if @t is an event that @q asks for, whatever became of it. */
static bool answers(const struct sim_truth *t, const struct ktape_absence *q)
{
	/* The field's bits in dat20: severity has 3, sig 7, irq 18. */
	uint32_t mask = q->opcode == KTAPE_EV_EXCEPTION	     ? 7 :
			q->opcode == KTAPE_EV_SIGNAL_DELIVER ? 0x7f :
							       0x3ffff;

	return t->opcode == q->opcode && t->ts >= q->from && t->ts < q->to &&
	       (!q->one_cpu || t->cpu == q->cpu) &&
	       (!q->field || (t->dat20 & mask) == q->value);
}

/* Count a verdict.  A damaged trace may lack the record, and need not say FOUND. */
static void absent_check(const struct sim *s, const struct ktape_absence *q,
			 unsigned int verdict, bool damaged)
{
	unsigned int happened = 0, recorded = 0;

	for (unsigned int i = 0; i < s->nr_truth; i++) {
		happened += answers(&s->truth[i], q);
		recorded += answers(&s->truth[i], q) &&
			    s->truth[i].fate == SIM_RECORDED;
	}
	sum.asked++;
	sum.others[verdict]++;
	sum.wrong_proved += verdict == KTAPE_ABSENT_PROVED && happened;
	sum.wrong_found += verdict == KTAPE_ABSENT_FOUND && !recorded;
	sum.missed_found += verdict != KTAPE_ABSENT_FOUND && recorded && !damaged;
}

static void ask_random_absence(struct sim *s, const char *dir, bool damaged)
{
	unsigned int what = sim_random(s, ARRAY_SIZE(asked));
	uint64_t begin = 1000000 /* as sim_new() sets it */, span = s->now - begin;
	struct ktape_absence q = {
		.opcode = asked[what].opcode,
		.field = asked[what].field,
		.one_cpu = sim_random(s, 2),
		.cpu = sim_random(s, SIM_CPUS),
	};
	struct ktape_error error;
	struct ktape_verify *v;

	if (q.field)
		q.value = sim_random(s, asked[what].values);
	/* Now and then a value of more than 20 bits, which has to be refused. */
	if (q.field && !sim_random(s, 16))
		q.value += 1ULL << (20 + sim_random(s, 44));
	q.from = begin + sim_random(s, (uint32_t)span);
	q.to = q.from + 1 +
	       sim_random(s, (uint32_t)span / (sim_random(s, 3) ? 20 : 3));
	if (ktape_verify_open(dir, NULL, &v, &error))
		abort();
	if (q.value >> 20) {
		check_equal((unsigned int)-ktape_verify_ask(v, &q), ERANGE);
		sum.refused++;
		ktape_verify_close(v);
		return;
	}
	if (ktape_verify_ask(v, &q) || ktape_verify_run(v) < 0)
		abort();
	absent_check(s, &q, ktape_verify_verdict(v, -1, NULL), damaged);
	ktape_verify_close(v);
}

static void test_questions(void)
{
	const char *dir = trace_folder();

	for (uint64_t seed = 1; seed <= SCENES; seed++) {
		struct sim *s = make_absent_session(seed);

		damage(s, seed);
		sim_save(s, dir, 0);
		for (unsigned int i = 0; i < QUESTIONS; i++)
			ask_random_absence(s, dir, seed % 3 == 0);
		sim_free(s);
	}
	trace_remove(dir);
	tap_note("%u asked, %u PROVED, %u FOUND, %u NOT-ENABLED, %u FILTERED, %u LOST",
		 sum.asked, sum.others[0], sum.others[1], sum.others[2],
		 sum.others[3], sum.others[4]);
	check_equal(sum.asked + sum.refused, SCENES * QUESTIONS);
	check(sum.refused > 20, "%u values that the field cannot have", sum.refused);
	check_equal(sum.wrong_proved, 0);
	check_equal(sum.wrong_found, 0);
	check_equal(sum.missed_found, 0);
	/* Every verdict must occur. */
	check(sum.others[KTAPE_ABSENT_PROVED] >= 50, "%u proved",
	      sum.others[KTAPE_ABSENT_PROVED]);
	for (unsigned int i = 0; i < 5; i++)
		check(sum.others[i] >= 10, "verdict %u: %u times", i,
		      sum.others[i]);
}

static int wrong; /* findings of the last check by result_of() */

/* Check a trace with a question.  Return: the verdict for all CPUs that it asks for. */
static unsigned int result_of(const char *dir, const struct ktape_absence *q)
{
	struct ktape_error error;
	struct ktape_verify *v;
	unsigned int said;

	if (ktape_verify_open(dir, NULL, &v, &error) || ktape_verify_ask(v, q))
		abort();
	wrong = ktape_verify_run(v);
	if (wrong < 0)
		abort();
	said = ktape_verify_verdict(v, -1, NULL);
	ktape_verify_close(v);
	return said;
}

static unsigned int result_on(struct sim *s, const struct ktape_absence *q)
{
	const char *dir = trace_folder();
	unsigned int said;

	sim_save(s, dir, 0);
	said = result_of(dir, q);
	trace_remove(dir);
	return said;
}

/* Ask for a signal between two times, on CPU 0. */
static unsigned int verdict(struct sim *s, uint64_t from, uint64_t to)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
		.one_cpu = true,
	};

	return result_on(s, &q);
}

/* Ask the same on any CPU. */
static unsigned int result_any(struct sim *s, uint64_t from, uint64_t to)
{
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = from,
		.to = to,
	};

	return result_on(s, &q);
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
	check_equal(verdict(s, from, s->now - 5000), KTAPE_ABSENT_LOST);
	check_equal(verdict(s, from - 500, from), KTAPE_ABSENT_PROVED);
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
	check_equal(verdict(s, from, from + 2000), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check_equal(verdict(s, from, from + 100), KTAPE_ABSENT_LOST);
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
	check_equal(verdict(s, from - 100, from + 10), KTAPE_ABSENT_LOST);
	check_equal(verdict(s, at - 100, at), KTAPE_ABSENT_PROVED);
	check_equal(verdict(s, at, at + 1), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check(verdict(s, at, at + 1) != KTAPE_ABSENT_PROVED,
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
		check_equal(verdict(s, at, at + 1), KTAPE_ABSENT_LOST);
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
	check_equal(verdict(s, at, off - 10), KTAPE_ABSENT_FOUND);
	sim_remove(s, 0, s->ring[0].nr - 1);
	check(verdict(s, at, off - 10) != KTAPE_ABSENT_PROVED,
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
		check(verdict(s, at, at + 1) != KTAPE_ABSENT_PROVED,
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
			check(verdict(s, t->ts, t->ts + 1) != KTAPE_ABSENT_PROVED,
			      "PROVED although the event was filtered");
	}
	check(verdict(s, from + 5000, from + 5001) != KTAPE_ABSENT_PROVED,
	      "PROVED although the filters are unknown");
	sim_free(s);
}

/*
 * A full snapshot: after its end the event rings have no more events, although
 * the off-markers are later.
 */
static void test_absent_frozen(void)
{
	struct sim *s = begin_absent_session();
	uint64_t at = s->now;

	s->mode = KTAPE_MODE_SNAPSHOT;
	s->now += 5000;
	sim_stop_full(s, at);
	sim_finish(s);
	check_equal(verdict(s, at - 500, at), KTAPE_ABSENT_PROVED);
	check_equal(verdict(s, at - 500, at + 1), KTAPE_ABSENT_NOT_ENABLED);
	check_equal(verdict(s, at + 100, at + 200), KTAPE_ABSENT_NOT_ENABLED);
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

		s->listed = listed;
		sim_event(s, 1, KTAPE_EV_SIGNAL_DELIVER, 9, 3, 0, 0);
		q.to = s->now;
		end_absent_session(s);
		check_equal(result_on(s, &q), KTAPE_ABSENT_FOUND);
		for (unsigned int ring = 2; ring < SIM_RINGS; ring++)
			while (s->ring[ring].nr)
				sim_remove(s, ring, 0);
		check_equal(result_on(s, &q),
			    listed ? KTAPE_ABSENT_LOST : KTAPE_ABSENT_PROVED);
		check_equal(wrong, 0);
		q.one_cpu = true;
		check_equal(result_on(s, &q), KTAPE_ABSENT_PROVED);
		q.cpu = 1;
		check(result_on(s, &q) != KTAPE_ABSENT_PROVED,
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
	check_equal(result_of(from, &q), KTAPE_ABSENT_FOUND);
	check_equal(wrong, 0);
	check_equal(result_of(to, &q), KTAPE_ABSENT_LOST);
	check_equal(wrong, 0);
	check_equal(result_of(again, &q), KTAPE_ABSENT_LOST);
	trace_remove(from);
	trace_remove(to);
	trace_remove(again);
	sim_free(s);
}

/* A number that does not fit in its field may be any number. */
static void test_large(void)
{
	struct sim *s = begin_absent_session();
	struct ktape_absence q = {
		.opcode = KTAPE_EV_SYS_ENTER,
		.field = "nr",
		.value = 77,
		.from = s->now,
		.one_cpu = true,
	};

	/* Bit 18, large: nr is all ones, and the argument has the whole number. */
	sim_event(s, 0, KTAPE_EV_SYS_ENTER, 0xffff | 1U << 18, 1, 1000077, 0);
	sim_event(s, 0, KTAPE_EV_SYS_EXIT, 0xffff | 1U << 18, 2, 0, 0);
	q.to = s->now;
	end_absent_session(s);
	check_equal(result_on(s, &q), KTAPE_ABSENT_LOST);
	q.from = q.to;
	q.to++;
	check_equal(result_on(s, &q), KTAPE_ABSENT_PROVED);
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
	struct sim *s = begin_absent_session();
	uint64_t at = s->now;
	const struct ktape_absence q = {
		.opcode = KTAPE_EV_SIGNAL_DELIVER,
		.from = at - 500,
		.to = at,
		.one_cpu = true,
		.cpu = cpu,
	};

	for (unsigned int i = 0; i < SIM_CPUS; i++)
		sim_control(s, i, &rec);
	sim_work(s, 100);
	end_absent_session(s);
	check_equal(result_any(s, at - 500, at), KTAPE_ABSENT_PROVED);
	check_equal(result_any(s, at - 500, at + 500), KTAPE_ABSENT_NOT_ENABLED);
	check_equal(result_any(s, at + 500, at + 1000), KTAPE_ABSENT_NOT_ENABLED);
	/* For the other CPUs the answer is known. */
	check_equal(verdict(s, at + 500, at + 1000), KTAPE_ABSENT_PROVED);
	check_equal(result_on(s, &q), KTAPE_ABSENT_NOT_ENABLED);
	sim_free(s);
}

/* Questions that a trace cannot answer are refused. */
static void test_absent_refused(void)
{
	const char *dir = trace_folder();
	struct sim *s = make_absent_session(1);
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
		{ "thousands of questions", test_questions },
		{ "lost events", test_lost },
		{ "events in a removed packet", test_absent_removed },
		{ "a late reader", test_absent_late_reader },
		{ "a late reader of losses", test_late_loss },
		{ "a start after a stop", test_restart },
		{ "a filter whose marker was lost", test_lost_filter },
		{ "a filter whose marker is missing", test_unseen_filter },
		{ "the end of a full snapshot", test_absent_frozen },
		{ "a missing CPU", test_missing_cpu },
		{ "a converted trace", test_converted },
		{ "a number that is too large", test_large },
		{ "a CPU without rings", test_absent_without_rings },
		{ "refused questions", test_absent_refused },
		{ "ticks of a time", test_ticks },
		{ "ticks of slow clocks", test_clocks },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
