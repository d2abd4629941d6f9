// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Hits of probes that did not reach the tracer.  No ring counts them, so they are in
 * none of the counts of rule ledger.
 *
 * The tracer reads the kernel's counts of missed hits now and then.  Each time, every CPU
 * writes the same record: what was missed on all CPUs since the last reading.  If hits were
 * missed in such an interval, the event may have occurred in it.  After the last interval
 * nothing is known.
 */
#include "util/nanoseconds.h"

#include "verify/internal.h"

static bool is_probe(unsigned int opcode)
{
	return opcode >= KTAPE_OP_PROBE && opcode < KTAPE_TIME_EXTEND;
}

/* Record that the event in question may have occurred between two times, on any CPU. */
static void doubt_answer(struct ktape_verify *v, uint64_t from, uint64_t to)
{
	v->unseen |= v->asked && from < v->question.to && to >= v->question.from;
}

static void add_hits(struct kt_vmissed *m, unsigned int event, unsigned int reason,
		     uint64_t first, uint64_t last, uint64_t count)
{
	struct ktape_verify_missed *sum = &m->sum[reason];

	/* Every CPU has recorded this interval. */
	if (m->reported_to[reason] >= last)
		return;
	if (!m->reported_to[reason])
		sum->first = first;
	m->reported_to[reason] = last;
	sum->event = event;
	sum->reason = reason;
	sum->count += count;
	sum->last = last;
}

/* Read a record of missed hits. */
void kt_verify_missed(struct ktape_verify *v, const struct ktape_event *e)
{
	unsigned int event = e->dat20 & 0xff, reason = e->dat20 >> 8 & 15;
	uint64_t first, last, count, reading;
	struct kt_vmissed *m = &v->missed[event];
	const uint8_t *p = e->args;

	if (reason >= KTAPE_MISSED_REASONS || e->nargs != 7) {
		kt_verify_wrong(v, KTAPE_RULE_FORM, v->trace->current,
				"a record of missed hits with an invalid reason");
		return;
	}
	first = kt_get64(p);
	last = kt_get64(p + 8);
	count = kt_get64(p + 16);
	reading = ktape_event_arg(e, 6);
	if (first > last) {
		kt_verify_wrong(
			v, KTAPE_RULE_LOSS, v->trace->current,
			"a record of missed hits whose interval ends before it begins");
		return;
	}
	/*
	 * Each interval begins where the one before was known to end: when reading the counts
	 * began, which took @reading ticks up to its @last.
	 */
	if (v->asked && event == v->question.opcode && m->known && first > m->known)
		doubt_answer(v, m->known, first);
	m->known = kt_max(m->known, last - kt_min(reading, last));
	/* A probe that was not attached has missed all hits; nobody counted them. */
	if (!count && reason != KTAPE_MISSED_DETACHED)
		return;
	add_hits(m, event, reason, first, last, count);
	if (v->asked && event == v->question.opcode)
		doubt_answer(v, first, last);
}

/* At the end of the trace: no record says whether hits were missed after the last time. */
static void doubt_end(struct ktape_verify *v)
{
	const struct kt_vmissed *m = &v->missed[v->question.opcode];

	if (!v->asked || !is_probe(v->question.opcode) || v->foreign)
		return;
	v->unlooked = m->known < v->question.to;
}

static const char *const reasons[] = {
	[KTAPE_MISSED_BUSY] = "the kernel was running another probe",
	[KTAPE_MISSED_RETURNS] = "too many calls of the function were open",
	[KTAPE_MISSED_REFUSED] =
		"the tracer was reading its clock, or RCU was not watching",
	[KTAPE_MISSED_DETACHED] =
		"the probe was not attached, because its module was unloaded or attaching it failed",
};

static void note_hits(struct ktape_verify *v, const struct ktape_verify_missed *m)
{
	const struct ktape_event_desc *desc = ktape_event_desc(m->event);
	int64_t first = ktape_mono_ns(&v->trace->info, m->first);
	int64_t last = ktape_mono_ns(&v->trace->info, m->last);
	char count[24] = "all";

	if (m->count)
		snprintf(count, sizeof(count), "%llu", (unsigned long long)m->count);
	kt_verify_note(
		v, KTAPE_RULE_LOSS, NULL,
		"%s: %s hits from %lld.%09lld to %lld.%09lld did not reach the tracer: %s",
		desc ? desc->name : "an unknown event", count,
		(long long)(first / NS_PER_S),
		(long long)llabs(first % NS_PER_S), (long long)(last / NS_PER_S),
		(long long)llabs(last % NS_PER_S), reasons[m->reason]);
}

/* At the end of the trace, report which hits were missed. */
void kt_missed_end(struct ktape_verify *v)
{
	struct ktape_verify_missed missed;

	for (unsigned int i = 0; ktape_verify_missed(v, i, &missed); i++)
		note_hits(v, &missed);
	doubt_end(v);
}

/*
 * Return whether the probe of the event in question fires on returns.  Such a probe must have
 * been armed when the function was entered, so the return of an earlier call is no event.
 */
bool kt_question_is_return(const struct ktape_verify *v)
{
	const struct ktape_object_info *o;

	if (!is_probe(v->question.opcode))
		return false;
	o = ktape_registry_object(v->trace->registry, KTAPE_OBJ_PROBE,
				  v->question.opcode, 0, v->question.from);
	return o && o->param1;
}

bool ktape_verify_missed(const struct ktape_verify *verify, unsigned int nr,
			 struct ktape_verify_missed *missed)
{
	for (unsigned int i = 0; i < KTAPE_OPCODES * KTAPE_MISSED_REASONS; i++) {
		const struct kt_vmissed *m =
			&verify->missed[i / KTAPE_MISSED_REASONS];
		unsigned int reason = i % KTAPE_MISSED_REASONS;

		if (!m->reported_to[reason] || nr--)
			continue;
		*missed = m->sum[reason];
		return true;
	}
	return false;
}
