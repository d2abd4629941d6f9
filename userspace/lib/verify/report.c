// SPDX-License-Identifier: LGPL-2.1-or-later
/* Findings: count them, and pass them to the caller with their places. */
#include <stdarg.h>

#include "verify/window.h"

static const char *const rules[KTAPE_RULES] = {
	[KTAPE_RULE_CHECKSUM] = "checksum", [KTAPE_RULE_FORM] = "form",
	[KTAPE_RULE_SEQUENCE] = "sequence", [KTAPE_RULE_TIME] = "time",
	[KTAPE_RULE_LEDGER] = "ledger",	    [KTAPE_RULE_BOUND] = "bound",
	[KTAPE_RULE_LOSS] = "loss",	    [KTAPE_RULE_MARKER] = "marker",
	[KTAPE_RULE_PAIR] = "pair",	    [KTAPE_RULE_SWITCH] = "switch",
	[KTAPE_RULE_NAME] = "name",	    [KTAPE_RULE_CLOCK] = "clock",
};

const char *ktape_rule_name(unsigned int rule)
{
	return rule < KTAPE_RULES ? rules[rule] : NULL;
}

/* Count a finding and pass it to the caller; in a trial only note that there is one. */
static void report_finding(struct ktape_verify *v, struct ktape_finding *f,
			   const char *format, va_list args)
{
	if (v->trial) {
		kt_trial_spoil(v->trial);
		return;
	}
	if (f->note)
		v->notes[f->rule]++;
	else
		v->errors[f->rule]++;
	v->cuts += f->cut;
	if (f->cut && f->stream && v->cpus[f->cpu])
		v->cpus[f->cpu]->cut_off = true;
	vsnprintf(f->text, sizeof(f->text), format, args);
	if (v->options.finding)
		v->options.finding(v->options.arg, f);
}

/* Return the place of a finding: the current record of the stream, or its packet. */
struct ktape_finding kt_verify_place(const struct ktape_verify *v,
				     unsigned int rule, const struct kt_stream *s)
{
	struct ktape_finding f = { .rule = rule };
	const struct ktape_event *e = v->event;

	if (!s)
		return f;
	f.stream = true;
	f.cpu = s->cpu;
	f.ring = s->kind;
	f.packet = s->seq;
	f.offset = s->offset;
	f.ts = s->packet.ts;
	if (!e || s != v->trace->current)
		return f;
	f.offset += e->offset;
	f.ts = e->ts;
	return f;
}

/*
 * Remember that the stream is damaged, so that it proves nothing of its CPU; NULL is the whole
 * trace.  The stream of names proves nothing of any CPU anyway.
 */
static void mark_damaged(struct ktape_verify *v, const struct kt_stream *s)
{
	if (v->trial)
		return;
	if (!s || s->kind > KTAPE_RING_CONTROL || s->cpu >= KT_CPUS_MAX)
		v->damaged |= !s;
	else if (v->cpus[s->cpu])
		v->cpus[s->cpu]->damaged = true;
}

/* Report a violation at the current place in a stream. */
void kt_verify_wrong(struct ktape_verify *v, unsigned int rule,
		     const struct kt_stream *s, const char *format, ...)
{
	struct ktape_finding f = kt_verify_place(v, rule, s);
	va_list args;

	/* A missing name does not mean that an event is missing. */
	if (rule != KTAPE_RULE_NAME)
		mark_damaged(v, s);
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/*
 * Report a violation at the current event.  A trace of another tracer has no packets, and
 * nothing contradicts what happened during a loss, which is not known.
 */
void kt_verify_event_wrong(struct ktape_verify *v, unsigned int rule,
			   const char *format, ...)
{
	const struct kt_stream *s = v->foreign ? NULL : v->trace->current;
	struct ktape_finding f = kt_verify_place(v, rule, s);
	const struct ktape_event *e = v->event;
	va_list args;

	if (!v->foreign) {
		mark_damaged(v, s);
	} else {
		if (rule != KTAPE_RULE_TIME && e->ts <= v->cpus[e->cpu]->doubt_until)
			return;
		f.stream = true;
		f.cpu = e->cpu;
		f.ts = e->ts;
		f.ring = KTAPE_RING_EVENT;
	}
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/* Report a note at the current place in a stream. */
void kt_verify_note(struct ktape_verify *v, unsigned int rule,
		    const struct kt_stream *s, const char *format, ...)
{
	struct ktape_finding f = kt_verify_place(v, rule, s);
	va_list args;

	f.note = true;
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/*
 * Report that a part of the trace is missing: of a ring at its last packet, if @c is not NULL.
 */
void kt_verify_cut(struct ktape_verify *v, unsigned int rule,
		   const struct kt_vcpu *c, unsigned int ring,
		   const char *format, ...)
{
	struct ktape_finding f = { .rule = rule, .note = true, .cut = true };
	va_list args;

	if (c) {
		f.stream = true;
		f.cpu = c->cpu;
		f.ring = ring;
		f.packet = c->ring[ring].seq;
		f.offset = c->ring[ring].offset;
		f.ts = c->ring[ring].ts_end;
	}
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/* Report a violation at a place that kt_verify_place() returned; nothing is marked damaged. */
void kt_verify_wrong_at(struct ktape_verify *v, const struct ktape_finding *at,
			const char *format, ...)
{
	struct ktape_finding f = *at;
	va_list args;

	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/* Report a note at a place that kt_verify_place() returned. */
void kt_verify_note_at(struct ktape_verify *v, const struct ktape_finding *at,
		       const char *format, ...)
{
	struct ktape_finding f = *at;
	va_list args;

	f.note = true;
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}

/* Report a violation of a whole stream or of its last packet. */
void kt_verify_cpu_wrong(struct ktape_verify *v, unsigned int rule,
			 struct kt_vcpu *c, unsigned int ring,
			 const char *format, ...)
{
	struct ktape_finding f = {
		.rule = rule,
		.stream = true,
		.cpu = c->cpu,
		.ring = ring,
		.packet = c->ring[ring].seq,
		.offset = c->ring[ring].offset,
		.ts = c->ring[ring].ts_end,
	};
	va_list args;

	c->damaged = true;
	va_start(args, format);
	report_finding(v, &f, format, args);
	va_end(args);
}
