// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ask thousands of random questions whether an event was absent, and compare the answers with
 * what really happened: no PROVED may be wrong, whatever was lost, filtered, disabled or
 * damaged.  Single causes: t_lib_absent_lost.c, t_lib_absent_end.c.
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

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "thousands of questions", test_questions },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
