// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify --absent` with over 2000 random questions about traces of one
 * workload. The workload is recorded in several ways that each leave
 * something out (kt_absent_scene.h), and each answer is compared with what
 * really happened: no answer PROVED or FOUND may be wrong, and of the questions
 * about an absent event where everything was recorded, three quarters must be
 * PROVED.
 */
#include "kselftest_harness.h"

#include "kt_absent_scene.h"
#include "kt_spawn.h"

#define SCENES 2
/*
 * Number of questions; a quarter of them on a sanitizer kernel. Half of the
 * random questions are about all CPUs and are then asked again for each CPU.
 */
#define QUESTIONS 2200
#define COMMANDS  36 /* likewise */

/**
 * struct sum - numbers of answers
 * @all: all answers
 * @way: answers by way of recording
 */
struct sum {
	struct kta_sum all, way[WAYS];
};

/* Ask questions about a trace, and add the answers to those of its way. */
static void ask_about_trace(struct sum *sum, struct scene *sc,
			    struct kta_trace *t, int questions)
{
	if (!sc->ref.errors)
		scene_must(sc, "verify",
			   kta_ask_questions(&sum->way[t->way], &sc->ref, t,
					     questions));
}

/* Add up the answers of all ways: struct kta_sum has members of uint32_t only. */
static void sum_all_ways(struct sum *sum)
{
	const int nr = sizeof(sum->all) / sizeof(uint32_t);

	memset(&sum->all, 0, sizeof(sum->all));
	for (int i = 0; i < WAYS * nr; i++)
		((uint32_t *)&sum->all)[i % nr] += ((uint32_t *)sum->way)[i];
}

static void print_answers(const char *name, const uint32_t *n)
{
	printf("# %-10s %4u PROVED, %4u FOUND, %4u NOT-ENABLED, %4u FILTERED, %4u LOST\n",
	       name, n[KTAPE_ABSENT_PROVED], n[KTAPE_ABSENT_FOUND],
	       n[KTAPE_ABSENT_NOT_ENABLED], n[KTAPE_ABSENT_FILTERED],
	       n[KTAPE_ABSENT_LOST]);
}

FIXTURE(absent)
{
	struct sum sum;
};

FIXTURE_SETUP(absent)
{
	memset(&self->sum, 0, sizeof(self->sum));
}

FIXTURE_TEARDOWN(absent)
{
}

/* Return @n, or a quarter of it on a sanitizer kernel. */
static uint32_t scale_down(uint32_t n)
{
	return kt_scale() > 1 ? n / 4 : n;
}

/* Return true if one of the answers was given too rarely to have been tested. */
static bool is_an_answer_rare(struct sum *sum)
{
	sum_all_ways(sum);
	for (int i = 0; i < KTA_ANSWERS; i++)
		if (sum->all.answers[i] < scale_down(5))
			return true;
	return false;
}

TEST_F_TIMEOUT(absent, questions, 3600)
{
	int scenes = kt_scale() > 1 ? 1 : SCENES;
	struct sum *sum = &self->sum;

	for (int i = 0; i < scenes; i++) {
		struct scene *sc = play_scene(i + 1);

		ASSERT_EQ(0, sc->ref.errors);
		printf("# %zu events, %d traces\n", sc->ref.truth.nr, sc->nr_traces);
		for (int j = 0; j < sc->nr_traces; j++)
			ask_about_trace(
				sum, sc, &sc->trace[j],
				scale_down(QUESTIONS) / scenes / sc->nr_traces + 1);
		/* The questions are random, so the numbers vary. */
		for (int j = 0; j < 10 * sc->nr_traces && i == scenes - 1 &&
				is_an_answer_rare(sum);
		     j++)
			ask_about_trace(sum, sc, &sc->trace[j % sc->nr_traces], 12);
		EXPECT_EQ(0, sc->ref.errors);
		remove_scene(sc);
	}
	sum_all_ways(sum);
	for (int i = 0; i < WAYS; i++)
		print_answers(ways[i].name, sum->way[i].answers);
	print_answers("all", sum->all.answers);
	printf("# where all was recorded: %u absent, %u of them PROVED\n",
	       sum->all.absent, sum->all.proved);
	EXPECT_LE(scale_down(QUESTIONS), sum->all.asked);
	EXPECT_EQ(0, sum->all.wrong_proved);
	EXPECT_EQ(0, sum->all.wrong_found);
	EXPECT_EQ(0, sum->all.missed);
	EXPECT_EQ(0, sum->all.damaged);
	/* Every answer must occur. */
	EXPECT_LE(scale_down(50), sum->all.absent);
	EXPECT_LE(sum->all.absent * 3 / 4, sum->all.proved);
	for (int i = 0; i < KTA_ANSWERS; i++) {
		EXPECT_LE(scale_down(5), sum->all.answers[i])
		{
			TH_LOG("verdict %d", i);
		}
	}
}

/* ---- the command ------------------------------------------------------------ */

/* Exit codes of ktape verify --absent. */
static const int codes[KTA_ANSWERS] = {
	[KTAPE_ABSENT_PROVED] = 0,	[KTAPE_ABSENT_FOUND] = 1,
	[KTAPE_ABSENT_NOT_ENABLED] = 3, [KTAPE_ABSENT_FILTERED] = 4,
	[KTAPE_ABSENT_LOST] = 5,
};

/*
 * Format *@ticks as a time that the command line can express, not before @least,
 * and round *@ticks to that time. Return: the time in ns.
 */
static int64_t format_time(const struct ktape_info *info, uint64_t *ticks,
			   int64_t least, char text[32])
{
	int64_t ns = ktape_mono_ns(info, *ticks);

	if (ns < least)
		ns = least;
	*ticks = ktape_mono_ticks(info, ns);
	snprintf(text, 32, "%lld.%09lld", (long long)ns / 1000000000,
		 (long long)ns % 1000000000);
	return ns;
}

/* Run `ktape verify --absent`. Return: its exit status, or -1. */
static int run_verify_absent(const struct kta_trace *t, struct ktape_absence *q)
{
	char from[32], to[32], cpu[16], event[64];
	char *args[] = { "ktape",	  "verify", "--absent", event,
			 "--from",	  from,	    "--to",	to,
			 (char *)t->path, NULL,	    NULL,	NULL };
	struct ktape_error error;
	struct ktape_trace *trace;
	int64_t ns;
	int null, ret;

	if (ktape_trace_open(t->path, NULL, &trace, &error))
		return -1;
	/* A few ticks may lie within 1 ns, which would be an empty interval. */
	ns = format_time(ktape_trace_info(trace), &q->from, INT64_MIN, from);
	format_time(ktape_trace_info(trace), &q->to, ns + 1, to);
	ktape_trace_close(trace);
	snprintf(event, sizeof(event), q->field ? "%s:%s=%llu" : "%s",
		 kts_shapes[q->opcode].name, q->field,
		 (unsigned long long)q->value);
	snprintf(cpu, sizeof(cpu), "-c%u", q->cpu);
	if (q->one_cpu)
		args[9] = cpu;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	ret = kt_run(args, null, null);
	close(null);
	return ret;
}

/* The exit status of the command must be that of the library's answer. */
TEST_F_TIMEOUT(absent, command, 3600)
{
	struct scene *sc = play_scene(4711);
	struct ktape_absence q;
	int said, answer, findings = 0;

	ASSERT_EQ(0, sc->ref.errors);
	for (uint32_t i = 0; i < scale_down(COMMANDS); i++) {
		struct kta_trace *t = &sc->trace[i % sc->nr_traces];

		kta_choose_question(&sc->ref, t, &q);
		said = run_verify_absent(t, &q);
		if (said == 127 && !getenv("KTAPE_KERNEL"))
			SKIP(break, "no ktape command");
		answer = kta_ask(&sc->ref, t, &q, &findings, NULL);
		ASSERT_LE(0, answer);
		EXPECT_EQ(codes[answer], said);
	}
	remove_scene(sc);
}

TEST_HARNESS_MAIN
