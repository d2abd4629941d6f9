// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test `ktape verify --absent` with a thousand random questions about traces of
 * one workload. The workload is recorded in several ways that each leave
 * something out (kt_absent_scene.h), and each answer is compared with what
 * really happened: no answer PROVED may be wrong, and where everything was
 * recorded an absent event must be PROVED.
 */
#include "kselftest_harness.h"

#include "kt_absent_scene.h"

#define SCENES		2
/*
 * Number of questions; a quarter of them on a sanitizer kernel. Half of the
 * random questions are about all CPUs and are then asked again for each CPU.
 */
#define QUESTIONS	2200
#define COMMANDS	36	/* likewise */
#define TRIES		100000
#define VERDICTS	(KTAPE_ABSENT_LOST + 1)

/* The questions: an event, or an event with a value in one field. */
static const struct {
	uint32_t op;
	const char *field;
	uint32_t values;
} asked[] = {
	{ KTAPE_EV_MARK_VALUE, "id", KTA_IDS + 8 },
	{ KTAPE_EV_MARK_VALUE, NULL, 0 },
	{ KTAPE_EV_EXCEPTION, "severity", 8 },
	{ KTAPE_EV_SYS_ENTER, "nr", 350 },
	{ KTAPE_EV_SCHED_SWITCH, "next_tid", 1000 },
	{ KTAPE_EV_PROCESS_FORK, "child_tid", 1000 },
	{ KTAPE_EV_PROCESS_FORK, NULL, 0 },
	{ KTAPE_EV_SIGNAL_DELIVER, "sig", 64 },
};

#define ASKED	(sizeof(asked) / sizeof(asked[0]))

/**
 * struct sum - numbers of answers
 * @asked: questions
 * @verdict: answers by enum ktape_verdict
 * @way: answers by way of recording and verdict
 * @absent: questions about an absent event where everything was recorded
 * @proved: those of @absent that were answered PROVED
 * @wrong_proved: answers PROVED about an event that happened
 * @wrong_found: answers FOUND about an event that did not happen
 * @missed: answers other than FOUND where everything was recorded and the event
 *	happened
 * @damaged: traces with findings
 */
struct sum {
	uint32_t asked, verdict[VERDICTS], way[WAYS][VERDICTS];
	uint32_t absent, proved, wrong_proved, wrong_found, missed, damaged;
};

/* Choose an interval around an event, or a random one. */
static void think_of(struct scene *sc, struct ktape_absence *q)
{
	const struct kta_truth *t = &sc->truth;
	uint64_t span = sc->end - sc->begin;
	uint32_t what = kta_random(&sc->seed, ASKED);
	const struct kta_event *e = t->v;

	/*
	 * Choose by kind first: system calls come in bursts and are most of the
	 * events.
	 */
	for (int i = 0; i < TRIES; i++) {
		e = &t->v[kta_random(&sc->seed, t->nr)];
		if (e->op == asked[what].op && e->last < sc->end)
			break;
	}
	*q = (struct ktape_absence){
		.opcode = asked[what].op,
		.field = asked[what].field,
		.one_cpu = kta_random(&sc->seed, 2),
		.cpu = e->cpu,
	};
	if (q->field)
		q->value = kta_random(&sc->seed, 2) ?
				   kta_value(e) :
				   kta_random(&sc->seed, asked[what].values);
	if (kta_random(&sc->seed, 3) && e->last < sc->end) {
		q->from = e->first - kta_length(&sc->seed, span / 4);
		q->to = e->last + 1 + kta_length(&sc->seed, span / 4);
	} else {
		q->from = sc->begin + kta_length(&sc->seed, span);
		q->to = q->from + 1 + kta_length(&sc->seed, span);
	}
	if (!kta_random(&sc->seed, 8))
		q->cpu = kta_random(&sc->seed, sc->cpus);
}

static bool answers(const struct kta_event *e, const struct ktape_absence *q)
{
	return e->op == q->opcode && (!q->one_cpu || e->cpu == q->cpu) &&
	       (!q->field || kta_value(e) == q->value);
}

/* Return true if every such event was recorded in the interval of the question. */
static bool is_covered(const struct scene *sc, const struct trace *t,
		       const struct ktape_absence *q)
{
	if (!t->whole || q->from < sc->begin || q->to > sc->end)
		return false;
	for (int i = 0; i < sc->nr_gaps[t->way]; i++) {
		const struct gap *g = &sc->gap[t->way][i];

		if ((!g->op || g->op == q->opcode) && q->from <= g->to &&
		    g->from < q->to)
			return false;
	}
	return true;
}

static void print_wrong(const char *what, const struct scene *sc,
			const struct trace *t, const struct ktape_absence *q)
{
	unsigned int left = 4;	/* of possibly thousands */

	printf("# %s: %s, event %u %s=%llu, cpu %d, from %llu to %llu\n", what,
	       t->path, q->opcode, q->field ?: "any",
	       (unsigned long long)q->value, q->one_cpu ? (int)q->cpu : -1,
	       (unsigned long long)(q->from - sc->begin),
	       (unsigned long long)(q->to - sc->begin));
	for (size_t i = 0; i < sc->truth.nr && left; i++) {
		const struct kta_event *e = &sc->truth.v[i];

		if (!answers(e, q) || e->first >= q->to || e->last < q->from)
			continue;
		left--;
		printf("#   cpu %u, between %llu and %llu\n", e->cpu,
		       (unsigned long long)(e->first - sc->begin),
		       (unsigned long long)(e->last - sc->begin));
	}
}

static void judge(struct sum *sum, const struct scene *sc,
		  const struct trace *t, const struct ktape_absence *q,
		  unsigned int verdict)
{
	bool surely = false, maybe = false, covered = is_covered(sc, t, q);

	for (size_t i = 0; i < sc->truth.nr; i++) {
		const struct kta_event *e = &sc->truth.v[i];

		if (!answers(e, q))
			continue;
		surely |= e->first >= q->from && e->last < q->to;
		maybe |= e->last >= q->from && e->first < q->to;
	}
	sum->asked++;
	sum->verdict[verdict]++;
	sum->way[t->way][verdict]++;
	sum->absent += covered && !maybe;
	sum->proved += covered && !maybe && verdict == KTAPE_ABSENT_PROVED;
	if (verdict == KTAPE_ABSENT_PROVED && surely) {
		sum->wrong_proved++;
		print_wrong("PROVED", sc, t, q);
	}
	if (verdict == KTAPE_ABSENT_FOUND && !maybe) {
		sum->wrong_found++;
		print_wrong("FOUND", sc, t, q);
	}
	if (verdict != KTAPE_ABSENT_FOUND && surely && covered) {
		sum->missed++;
		print_wrong("not found", sc, t, q);
	}
}

static void take_finding(void *arg, const struct ktape_finding *f)
{
	const struct trace *t = arg;

	if (!f->note)
		printf("# %s: %s, cpu %u ring %u packet %llu: %s\n", t->path,
		       ktape_rule_name(f->rule), f->cpu, f->ring,
		       (unsigned long long)f->packet, f->text);
}

/*
 * Print new findings. A question about all CPUs is also asked for each CPU;
 * @on, unless NULL, gets these answers. Return: the verdict, or a negative
 * errno.
 */
static int ask(struct scene *sc, struct trace *t, const struct ktape_absence *q,
	       int *findings, unsigned int *on)
{
	const struct ktape_verify_options tell = { .finding = take_finding,
						   .arg = t };
	struct ktape_error error = {};
	struct ktape_verify *v;
	int ret = ktape_verify_open(t->path, *findings ? NULL : &tell, &v,
				    &error);

	if (ret) {
		printf("# %s: %s\n", t->path, error.text);
		return ret;
	}
	ret = ktape_verify_ask(v, q);
	if (!ret)
		ret = ktape_verify_run(v);
	*findings = ret;
	if (ret >= 0)
		ret = (int)ktape_verify_verdict(v, -1, NULL);
	for (int cpu = 0; on && cpu < sc->cpus && ret >= 0; cpu++)
		on[cpu] = ktape_verify_verdict(v, cpu, NULL);
	ktape_verify_close(v);
	return ret;
}

static void interview(struct sum *sum, struct scene *sc, struct trace *t,
		      int questions)
{
	uint32_t until = sum->asked + questions;
	unsigned int on[KTA_CPUS];
	struct ktape_absence q;
	int verdict, findings = 0;

	while (sum->asked < until && !sc->errors) {
		think_of(sc, &q);
		verdict = ask(sc, t, &q, &findings, on);
		must(sc, "verify", verdict);
		if (verdict < 0)
			break;
		judge(sum, sc, t, &q, verdict);
		if (q.one_cpu)
			continue;
		q.one_cpu = true;
		for (q.cpu = 0; (int)q.cpu < sc->cpus; q.cpu++)
			judge(sum, sc, t, &q, on[q.cpu]);
	}
	sum->damaged += findings != 0;
}

static void print_verdicts(const char *name, const uint32_t *n)
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

/* Scale a number: a sanitizer kernel gets a quarter. */
static uint32_t part(uint32_t n)
{
	return kt_scale() > 1 ? n / 4 : n;
}

/* Return true if a verdict was given too rarely to have been tested. */
static bool is_one_sided(const struct sum *sum)
{
	for (int i = 0; i < VERDICTS; i++)
		if (sum->verdict[i] < part(5))
			return true;
	return false;
}

TEST_F_TIMEOUT(absent, questions, 600)
{
	int scenes = kt_scale() > 1 ? 1 : SCENES;
	struct sum *sum = &self->sum;

	for (int i = 0; i < scenes; i++) {
		struct scene *sc = play(i + 1);

		ASSERT_EQ(0, sc->errors);
		printf("# %zu events, %d traces\n", sc->truth.nr,
		       sc->nr_traces);
		for (int j = 0; j < sc->nr_traces; j++)
			interview(sum, sc, &sc->trace[j],
				  part(QUESTIONS) / scenes / sc->nr_traces + 1);
		/* The questions are random, so the numbers vary. */
		for (int j = 0; j < 10 * sc->nr_traces && i == scenes - 1 &&
		     is_one_sided(sum); j++)
			interview(sum, sc, &sc->trace[j % sc->nr_traces], 12);
		EXPECT_EQ(0, sc->errors);
		forget(sc);
	}
	for (int i = 0; i < WAYS; i++)
		print_verdicts(ways[i].name, sum->way[i]);
	print_verdicts("all", sum->verdict);
	printf("# where all was recorded: %u absent, %u of them PROVED\n",
	       sum->absent, sum->proved);
	EXPECT_LE(part(QUESTIONS), sum->asked);
	EXPECT_EQ(0, sum->wrong_proved);
	EXPECT_EQ(0, sum->wrong_found);
	EXPECT_EQ(0, sum->missed);
	EXPECT_EQ(0, sum->damaged);
	/* Every verdict must occur. */
	EXPECT_LE(part(50), sum->absent);
	EXPECT_LE(sum->absent * 3 / 4, sum->proved);
	for (int i = 0; i < VERDICTS; i++) {
		EXPECT_LE(part(5), sum->verdict[i])
		{
			TH_LOG("verdict %d", i);
		}
	}
}

/* ---- the command ------------------------------------------------------------ */

/* Exit codes of ktape verify --absent. */
static const int codes[VERDICTS] = {
	[KTAPE_ABSENT_PROVED] = 0,   [KTAPE_ABSENT_FOUND] = 1,
	[KTAPE_ABSENT_NOT_ENABLED] = 3, [KTAPE_ABSENT_FILTERED] = 4,
	[KTAPE_ABSENT_LOST] = 5,
};

/*
 * Print @ticks as a time that the command line can express, not before @least,
 * and round @ticks to that time. Return: the time in ns.
 */
static int64_t say_time(const struct ktape_info *info, uint64_t *ticks,
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
static int command(const struct trace *t, struct ktape_absence *q)
{
	char from[32], to[32], cpu[16], event[64];
	char *args[] = { "ktape",	  "verify", "--absent", event,
			 "--from",	  from,	    "--to",	to,
			 (char *)t->path, NULL,	    NULL,	NULL };
	struct ktape_error error;
	struct ktape_trace *trace;
	int64_t ns;
	int status;
	pid_t pid;

	if (ktape_trace_open(t->path, NULL, &trace, &error))
		return -1;
	/* A few ticks may lie within 1 ns, which would be an empty interval. */
	ns = say_time(ktape_trace_info(trace), &q->from, INT64_MIN, from);
	say_time(ktape_trace_info(trace), &q->to, ns + 1, to);
	ktape_trace_close(trace);
	snprintf(event, sizeof(event), q->field ? "%s:%s=%llu" : "%s",
		 kts_shapes[q->opcode].name, q->field,
		 (unsigned long long)q->value);
	snprintf(cpu, sizeof(cpu), "-c%u", q->cpu);
	if (q->one_cpu)
		args[9] = cpu;
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		execvp("ktape", args);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The exit status of the command must match the library's verdict. */
TEST_F_TIMEOUT(absent, command, 300)
{
	struct scene *sc = play(4711);
	struct ktape_absence q;
	int said, verdict, findings = 0;

	ASSERT_EQ(0, sc->errors);
	for (uint32_t i = 0; i < part(COMMANDS); i++) {
		struct trace *t = &sc->trace[i % sc->nr_traces];

		think_of(sc, &q);
		said = command(t, &q);
		if (said == 127 && !getenv("KTAPE_KERNEL"))
			SKIP(break, "no ktape command");
		verdict = ask(sc, t, &q, &findings, NULL);
		ASSERT_LE(0, verdict);
		EXPECT_EQ(codes[verdict], said);
	}
	forget(sc);
}

TEST_HARNESS_MAIN
