/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ask random questions about traces, and compare the answers with the reference: no
 * answer PROVED or FOUND may be wrong.
 */
#ifndef _KT_ABSENT_ASK_H
#define _KT_ABSENT_ASK_H

#include <ktape.h>

#include "kt_absent.h"

#define KTA_TRIES   100000 /* to find an event of the kind that is asked about */
#define KTA_ANSWERS (KTAPE_ABSENT_LOST + 1)

/* The questions: an event, or an event with a value below @values in one field. */
static const struct {
	uint32_t op;
	const char *field;
	uint32_t values;
} kta_asked[] = {
	{ KTAPE_EV_MARK_VALUE, "id", KTA_IDS + 8 },
	{ KTAPE_EV_MARK_VALUE, NULL, 0 },
	{ KTAPE_EV_EXCEPTION, "severity", 8 },
	{ KTAPE_EV_SYS_ENTER, "nr", 350 },
	{ KTAPE_EV_SCHED_SWITCH, "next_tid", 1000 },
	{ KTAPE_EV_PROCESS_FORK, "child_tid", 1000 },
	{ KTAPE_EV_PROCESS_FORK, NULL, 0 },
	{ KTAPE_EV_SIGNAL_DELIVER, "sig", 64 },
};

#define KTA_ASKED (sizeof(kta_asked) / sizeof(kta_asked[0]))

/**
 * struct kta_ref - what really happened
 * @seed: state of the random number generator
 * @begin: trace clock when all sessions recorded
 * @end: trace clock when the first session was stopped
 * @cpus: number of CPUs
 * @errors: number of failed steps
 * @truth: the events
 */
struct kta_ref {
	uint64_t seed, begin, end;
	int cpus, errors;
	struct kta_truth truth;
};

/**
 * struct kta_gap - an interval in which an event may be absent from a trace
 * @from: begin, in ticks of the trace clock
 * @to: end, in the same unit; UINT64_MAX while the gap is open
 * @op: opcode, 0 = any
 * @why: number of the reason, for kta_close_gap()
 */
struct kta_gap {
	uint64_t from, to;
	uint32_t op, why;
};

/**
 * struct kta_gaps - the gaps of a session
 * @nr: number of entries in @v
 * @v: the gaps
 */
struct kta_gaps {
	int nr;
	struct kta_gap v[64];
};

/**
 * struct kta_trace - a recorded trace
 * @path: its path
 * @way: how it was recorded
 * @whole: complete except for @gaps
 * @from: trace clock at its begin, or when all sessions recorded
 * @to: trace clock at its end, or when the first session was stopped
 * @gaps: gaps of its session
 */
struct kta_trace {
	char path[60];
	int way;
	bool whole;
	uint64_t from, to;
	const struct kta_gaps *gaps;
};

/**
 * struct kta_sum - numbers of answers
 * @asked: questions
 * @answers: how often each was given, by enum ktape_verdict
 * @absent: questions about an absent event where everything was recorded
 * @proved: those of @absent that were answered PROVED
 * @wrong_proved: answers PROVED about an event that happened
 * @wrong_found: answers FOUND about an event that did not happen
 * @missed: answers other than FOUND where everything was recorded and the event
 *	happened
 * @damaged: traces with findings
 */
struct kta_sum {
	uint32_t asked, answers[KTA_ANSWERS];
	uint32_t absent, proved, wrong_proved, wrong_found, missed, damaged;
};

/* Return the gap, or NULL if there are too many, which is an error. */
static inline struct kta_gap *kta_open_gap(struct kta_ref *ref, struct kta_gaps *g,
					   uint32_t op, uint32_t why)
{
	if (g->nr == sizeof(g->v) / sizeof(g->v[0])) {
		ref->errors++;
		printf("# too many gaps\n");
		return NULL;
	}
	g->v[g->nr] = (struct kta_gap){ kt_now(), UINT64_MAX, op, why };
	return &g->v[g->nr++];
}

static inline void kta_close_gap(struct kta_gaps *g, uint32_t why)
{
	for (int i = 0; i < g->nr; i++)
		if (g->v[i].to == UINT64_MAX && g->v[i].why == why)
			g->v[i].to = kt_now();
}

/*
 * Find out from when to when a trace has events that can be asked about. Return: 0 or a
 * negative errno.
 */
static inline int kta_span_of(const struct kta_ref *ref, struct kta_trace *t)
{
	uint64_t from = UINT64_MAX, to = 0;
	struct ktape_trace *trace;
	const struct ktape_event *e;
	int ret = ktape_trace_open(t->path, NULL, &trace, NULL);

	if (ret)
		return ret;
	while ((ret = ktape_trace_next(trace, &e)) > 0) {
		if (!memchr(kta_ops, (int)e->opcode, sizeof(kta_ops) - 1) ||
		    e->ts < ref->begin || e->ts >= ref->end)
			continue;
		from = e->ts < from ? e->ts : from;
		to = e->ts >= to ? e->ts + 1 : to;
	}
	ktape_trace_close(trace);
	/* With almost nothing in it, ask about everything. */
	t->from = from + 100 < to ? from : ref->begin;
	t->to = from + 100 < to ? to : ref->end;
	return ret;
}

/*
 * Choose a question about a trace: which event, with which value of a field, on which CPU or on
 * any, and when: in an interval around such an event, or in a random one.
 */
static inline void kta_choose_question(struct kta_ref *ref,
				       const struct kta_trace *trace,
				       struct ktape_absence *q)
{
	const struct kta_truth *t = &ref->truth;
	uint64_t span = trace->to - trace->from;
	uint32_t what = lcg_below(&ref->seed, KTA_ASKED);
	const struct kta_event *e = t->v;
	bool found = false;

	/*
	 * Choose by kind first: system calls come in bursts and are most of the
	 * events.
	 */
	for (int i = 0; i < KTA_TRIES && !found; i++) {
		e = &t->v[lcg_below(&ref->seed, t->nr)];
		found = e->op == kta_asked[what].op && e->last < trace->to &&
			e->first >= trace->from;
	}
	*q = (struct ktape_absence){
		.opcode = kta_asked[what].op,
		.field = kta_asked[what].field,
		.one_cpu = lcg_below(&ref->seed, 2),
		.cpu = e->cpu,
	};
	if (q->field)
		q->value = found && lcg_below(&ref->seed, 2) ?
				   kta_value(e) :
				   lcg_below(&ref->seed, kta_asked[what].values);
	if (lcg_below(&ref->seed, 3) && found) {
		q->from = e->first - kta_length(&ref->seed, span / 4);
		q->to = e->last + 1 + kta_length(&ref->seed, span / 4);
	} else {
		q->from = trace->from + kta_length(&ref->seed, span);
		q->to = q->from + 1 + kta_length(&ref->seed, span);
	}
	if (!lcg_below(&ref->seed, 8))
		q->cpu = lcg_below(&ref->seed, ref->cpus);
}

static inline bool kta_is_asked_for(const struct kta_event *e,
				    const struct ktape_absence *q)
{
	return e->op == q->opcode && (!q->one_cpu || e->cpu == q->cpu) &&
	       (!q->field || kta_value(e) == q->value);
}

/* Return true if every such event was recorded in the interval of the question. */
static inline bool kta_is_covered(const struct kta_ref *ref,
				  const struct kta_trace *t,
				  const struct ktape_absence *q)
{
	if (!t->whole || q->from < ref->begin || q->to > ref->end)
		return false;
	for (int i = 0; i < t->gaps->nr; i++) {
		const struct kta_gap *g = &t->gaps->v[i];

		if ((!g->op || g->op == q->opcode) && q->from <= g->to &&
		    g->from < q->to)
			return false;
	}
	return true;
}

static inline void kta_print_wrong(const char *what, const struct kta_ref *ref,
				   const struct kta_trace *t,
				   const struct ktape_absence *q)
{
	unsigned int left = 4; /* of possibly thousands */

	printf("# %s: %s, event %u %s=%llu, cpu %d, from %llu to %llu\n", what,
	       t->path, q->opcode, q->field ?: "any",
	       (unsigned long long)q->value, q->one_cpu ? (int)q->cpu : -1,
	       (unsigned long long)(q->from - ref->begin),
	       (unsigned long long)(q->to - ref->begin));
	for (size_t i = 0; i < ref->truth.nr && left; i++) {
		const struct kta_event *e = &ref->truth.v[i];

		if (!kta_is_asked_for(e, q) || e->first >= q->to || e->last < q->from)
			continue;
		left--;
		printf("#   cpu %u, between %llu and %llu\n", e->cpu,
		       (unsigned long long)(e->first - ref->begin),
		       (unsigned long long)(e->last - ref->begin));
	}
}

/*
 * Compare the answer to one question with the reference, and count it. An event that the
 * two sessions of the reference date partly outside of the interval may have happened in it.
 */
static inline void kta_count_answer(struct kta_sum *sum, const struct kta_ref *ref,
				    const struct kta_trace *t,
				    const struct ktape_absence *q,
				    unsigned int answer)
{
	bool surely = false, maybe = false, covered = kta_is_covered(ref, t, q);

	for (size_t i = 0; i < ref->truth.nr; i++) {
		const struct kta_event *e = &ref->truth.v[i];

		if (!kta_is_asked_for(e, q))
			continue;
		surely |= e->first >= q->from && e->last < q->to;
		maybe |= e->last >= q->from && e->first < q->to;
	}
	sum->asked++;
	sum->answers[answer]++;
	sum->absent += covered && !maybe;
	sum->proved += covered && !maybe && answer == KTAPE_ABSENT_PROVED;
	if (answer == KTAPE_ABSENT_PROVED && surely) {
		sum->wrong_proved++;
		kta_print_wrong("PROVED", ref, t, q);
	}
	if (answer == KTAPE_ABSENT_FOUND && !maybe) {
		sum->wrong_found++;
		kta_print_wrong("FOUND", ref, t, q);
	}
	if (answer != KTAPE_ABSENT_FOUND && surely && covered) {
		sum->missed++;
		kta_print_wrong("not found", ref, t, q);
	}
}

/* Print a finding, unless it only is a note. */
static inline void kta_print_finding(void *arg, const struct ktape_finding *f)
{
	const struct kta_trace *t = arg;

	if (!f->note)
		printf("# %s: %s, cpu %u ring %u packet %llu: %s\n", t->path,
		       ktape_rule_name(f->rule), f->cpu, f->ring,
		       (unsigned long long)f->packet, f->text);
}

/*
 * Check a trace and, unless @q is NULL, ask whether an event is absent. *@findings is 0 at the
 * first call for a trace, and gets the number of findings or, once it is open, the error. They
 * are printed if it was 0: not again at each question. A question about all CPUs is also asked for
 * each CPU; @on, unless NULL, gets these answers. Return: the answer, 0 without a question, or a
 * negative errno.
 */
static inline int kta_ask(const struct kta_ref *ref, struct kta_trace *t,
			  const struct ktape_absence *q, int *findings,
			  unsigned int *on)
{
	const struct ktape_verify_options tell = { .finding = kta_print_finding,
						   .arg = t };
	struct ktape_error error = {};
	struct ktape_verify *v;
	int ret = ktape_verify_open(t->path, *findings ? NULL : &tell, &v, &error);

	if (ret) {
		printf("# %s: %s\n", t->path, error.text);
		return ret;
	}
	if (q)
		ret = ktape_verify_ask(v, q);
	if (!ret)
		ret = ktape_verify_run(v);
	*findings = ret;
	if (ret >= 0)
		ret = q ? (int)ktape_verify_verdict(v, -1, NULL) : 0;
	for (int cpu = 0; q && on && cpu < ref->cpus && ret >= 0; cpu++)
		on[cpu] = ktape_verify_verdict(v, cpu, NULL);
	ktape_verify_close(v);
	return ret;
}

/*
 * Ask @questions random questions about a trace, or a few more. Return: 0, or the negative
 * errno of a trace that cannot be read.
 */
static inline int kta_ask_questions(struct kta_sum *sum, struct kta_ref *ref,
				    struct kta_trace *t, int questions)
{
	uint32_t until = sum->asked + questions;
	unsigned int on[KTA_CPUS];
	struct ktape_absence q;
	int answer, findings = 0;

	while (sum->asked < until) {
		kta_choose_question(ref, t, &q);
		answer = kta_ask(ref, t, &q, &findings, on);
		if (answer < 0)
			return answer;
		kta_count_answer(sum, ref, t, &q, answer);
		if (q.one_cpu)
			continue;
		q.one_cpu = true;
		for (q.cpu = 0; (int)q.cpu < ref->cpus; q.cpu++)
			kta_count_answer(sum, ref, t, &q, on[q.cpu]);
	}
	sum->damaged += findings != 0;
	return 0;
}

#endif /* _KT_ABSENT_ASK_H */
