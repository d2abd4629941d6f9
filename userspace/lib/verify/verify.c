// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Check a trace in one pass in order of time.
 *
 * Each packet header goes to the rules about streams (packet.c), each record to the
 * rules about events (ledger.c, marker.c, pair.c, call.c, name.c, absent.c).  Their
 * findings go to the caller.  The rules are listed in enum ktape_rule.
 *
 * A finding is a violation only if nothing in the trace explains it.  After a loss, a
 * filter or a marker, a rule discards its state and begins again.
 *
 * A recording that ends while its session records, because it is killed or goes on in
 * another piece, has read some rings further than others.  Events behind the end of a
 * control ring may lack their markers, and the last ledgers may count events that were not
 * read.  Neither is a violation, and neither proves anything.
 */
#include <limits.h>
#include <stdarg.h>

#include "stream/packet.h"
#include "verify/internal.h"
#include "verify/window.h"

#define PROGRESS	(1U << 20)	/* records between two calls of progress() */

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

/* Return the state of a CPU, allocated if needed; NULL if there is no memory. */
struct kt_vcpu *kt_verify_cpu(struct ktape_verify *v, uint32_t cpu)
{
	struct kt_vcpu *c;

	if (cpu >= KT_CPUS_MAX)
		return NULL;
	c = v->cpus[cpu];
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c) {
		v->failed = -ENOMEM;
		return NULL;
	}
	c->cpu = cpu;
	c->tid = -1;
	c->absent.until = v->question.from;
	v->cpus[cpu] = c;
	return c;
}

/* Return whether no record of a ring is left to be checked. */
bool kt_verify_exhausted(const struct ktape_verify *v, uint32_t cpu,
			 unsigned int ring)
{
	const struct ktape_trace *t = v->trace;

	for (size_t i = 0; i < t->nr_streams; i++) {
		const struct kt_stream *s = t->streams[i];

		if (s->cpu == cpu && s->kind == ring && s->in_heap)
			return false;
	}
	return true;
}

/* Count a finding and pass it to the caller.  A trial only remembers that there is one. */
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

/* Remember that the stream is damaged, so that it proves nothing. */
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
 * Tell that a part of the trace is missing: of a ring at its last packet, if @c is not NULL.
 */
void kt_verify_cut(struct ktape_verify *v, unsigned int rule,
		   const struct kt_vcpu *c, unsigned int ring, const char *format, ...)
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

/* Convert a problem that the reader of the trace reports to a finding. */
static void take_notice(void *arg, const struct ktape_notice *n)
{
	struct ktape_verify *v = arg;
	struct ktape_finding f = {
		.stream = n->stream,
		.cpu = n->cpu,
		.ring = n->ring,
		.offset = n->error.offset,
		.rule = KTAPE_RULE_FORM,
	};
	struct kt_vcpu *c = NULL;
	struct kt_vring *r = NULL;

	switch (n->kind) {
	case KTAPE_NOTICE_LOST:
		if (v->foreign)
			kt_foreign_lost(v, n);
		return;
	case KTAPE_NOTICE_ASSUMED:
		if (n->stream && v->foreign) {
			kt_foreign_back(v, n);
			return;
		}
		kt_verify_note(v, KTAPE_RULE_FORM, NULL, "%s", n->error.text);
		return;
	case KTAPE_NOTICE_LATE:
		kt_verify_note(
			v, KTAPE_RULE_CLOCK, NULL,
			"%llu events of a live stream arrived too late to be sorted",
			(unsigned long long)n->count);
		return;
	case KTAPE_NOTICE_TABLE:
		kt_verify_note(v, KTAPE_RULE_FORM, NULL, "%s", n->error.text);
		return;
	case KTAPE_NOTICE_METADATA:
		f.rule = KTAPE_RULE_CHECKSUM;
		if (f.offset == UINT64_MAX)	/* the place is not known */
			f.offset = 0;
		break;
	case KTAPE_NOTICE_CORRUPT:
		if (!strcmp(n->error.text, KT_BAD_CHECKSUM))
			f.rule = KTAPE_RULE_CHECKSUM;
		break;
	default:
		break;
	}
	if (n->stream && n->ring < KTAPE_RINGS_PER_CPU)
		c = kt_verify_cpu(v, n->cpu);
	if (c) {
		c->damaged = true;
		r = &c->ring[n->ring];
	} else {
		v->damaged |= !n->stream;
		v->names_lost = true;
	}
	if (r) {
		kt_ring_hole(r);
		f.packet = r->there ? r->seq + 1 : 0;
	}
	v->errors[f.rule]++;
	snprintf(f.text, sizeof(f.text), "%s", n->error.text);
	if (v->options.finding)
		v->options.finding(v->options.arg, &f);
}

int ktape_verify_open(const char *path,
		      const struct ktape_verify_options *options,
		      struct ktape_verify **verify, struct ktape_error *error)
{
	struct ktape_verify *v = calloc(1, sizeof(*v));
	struct ktape_trace how = {
		.options = { .notice = take_notice, .arg = v },
		.packet = kt_verify_packet,
		.packet_arg = v,
	};
	int err;

	if (!v)
		return -ENOMEM;
	if (options)
		v->options = *options;
	v->cpus = calloc(KT_CPUS_MAX, sizeof(struct kt_vcpu *));
	v->with = calloc(KT_CPUS_MAX, sizeof(*v->with));
	v->without = calloc(KT_CPUS_MAX, sizeof(*v->without));
	v->missed = calloc(KTAPE_OPCODES, sizeof(*v->missed));
	err = v->cpus && v->with && v->without && v->missed ?
		      kt_calls_new(&v->calls) :
		      -ENOMEM;
	if (!err)
		err = kt_seen_new(&v->seen);
	how.options.wake = options ? options->wake : 0;
	if (!err)
		err = kt_trace_open(path, &how, &v->trace, error);
	if (!err && v->trace->import &&
	    !ktape_trace_is_kernel(v->trace))
		err = kt_error(
			error, 0,
			"the trace is not in the native format, and formats of programs have nothing to check");
	if (!err && v->trace->import)
		err = kt_foreign_new(&v->foreign);
	if (err) {
		ktape_verify_close(v);
		return err;
	}
	v->rt = strstr(v->trace->info.release, "-rt");
	*verify = v;
	if (*v->trace->unsealed.text)
		kt_verify_cut(v, KTAPE_RULE_CHECKSUM, NULL, 0, "%s",
			      v->trace->unsealed.text);
	if (v->trace->single)
		kt_verify_note(
			v, KTAPE_RULE_FORM, NULL,
			"this is one stream of a trace: rules that need the other streams are not checked");
	if (v->trace->info.converted)
		kt_verify_note(
			v, KTAPE_RULE_LEDGER, NULL,
			"the trace was made by a conversion, which may have left events out: only checksum, form, sequence and time are checked");
	return 0;
}

const struct ktape_info *ktape_verify_info(const struct ktape_verify *verify)
{
	return &verify->trace->info;
}

/* Apply the rules about records before and after this one. */
static void take_record(struct ktape_verify *v, struct kt_vcpu *c,
			const struct ktape_event *e)
{
	kt_verify_recorded(v, c, e);
	/* Call this before @records is raised: a ledger counts the records before it. */
	kt_verify_marker(v, c, e);
}

/* Check, once per packet, whether the clock steps back in the rest of the packet. */
static bool is_stepped(struct kt_vring *r, const struct kt_stream *s)
{
	struct ktape_packet rest = s->packet;
	struct ktape_event e;

	if (r->looked)
		return r->steps;
	r->looked = true;
	r->steps = false;
	while (!r->steps && ktape_packet_next(&rest, &e, NULL) > 0)
		r->steps = kt_record_held(&e);
	return r->steps;
}

/*
 * Check the time of a record.  If the clock steps back inside a packet, records before
 * the step may be later than the packet's end, which was read after the step.  The step
 * itself is reported at the first record after it.
 */
static void check_time(struct ktape_verify *v, struct kt_vring *r,
		       const struct kt_stream *s, const struct ktape_event *e)
{
	bool held = kt_record_held(e);

	if (held && !r->held)
		kt_verify_wrong(
			v, KTAPE_RULE_TIME, s,
			"the trace clock went back: records from here on get the time of the record before, until the clock has caught up");
	r->held = held;
	if (e->ts > r->ts_end && e->opcode != KTAPE_TIME_EXTEND && !held &&
	    !is_stepped(r, s))
		kt_verify_wrong(v, KTAPE_RULE_TIME, s,
				"the record is later than the end of its packet");
}

/*
 * Apply the rules that concern one CPU to its event in @s.
 * Return: whether the calls of the event's thread can be judged.
 */
bool kt_verify_local(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct kt_stream *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *desc = ktape_event_desc(e->opcode);
	struct kt_vring *r = &c->ring[e->kind];
	bool judged = false;

	/*
	 * The thread in a packet header is checked at the packet's first record
	 * and not when the packet is loaded, because markers of the CPU that
	 * explain a change of threads may come in between.
	 */
	if (e->offset == KTAPE_BLOCK_HEADER)
		kt_verify_head(v, c, s);
	check_time(v, r, s, e);
	if (e->opcode == KTAPE_TIME_EXTEND)
		return false;
	if (e->opcode == KTAPE_EV_KERNEL_STACK && e->dat20 & KTAPE_STACK_CUT)
		c->stacks_cut++;
	if (!v->trace->info.converted)
		take_record(v, c, e);
	r->records++;
	v->records++;
	if (e->known && desc)
		r->class[desc->event_class].records++;
	else
		r->foreign = true;
	if (!v->trace->info.converted)
		judged = kt_verify_pairs(v, c, e);
	kt_absent_event(v, c, e);
	return judged;
}

static void take_event(struct ktape_verify *v, const struct ktape_event *e)
{
	struct kt_vcpu *c;

	if (!v->trace->info.converted && !v->foreign)
		kt_verify_names(v, e);
	if (e->kind >= KTAPE_RINGS_PER_CPU)
		return;
	c = kt_verify_cpu(v, e->cpu);
	if (!c)
		return;
	if (v->foreign) {
		kt_foreign_event(v, c, e);
		c->ring[e->kind].records++;
		v->records++;
		kt_absent_event(v, c, e);
		return;
	}
	if (kt_verify_local(v, c, v->trace->current, e))
		kt_verify_call(v, c, e);
}

/* Report call stacks that were longer than their records: their callers are not known. */
static void report_cut_stacks(struct ktape_verify *v)
{
	uint64_t cut = 0;

	for (unsigned int i = 0; i < KT_CPUS_MAX; i++)
		cut += v->cpus[i] ? v->cpus[i]->stacks_cut : 0;
	if (cut)
		kt_verify_note(
			v, KTAPE_RULE_FORM, NULL,
			"call stacks that were cut at their %d innermost frames: %llu",
			KTAPE_STACK_FRAMES, (unsigned long long)cut);
}

/* Apply the rules that need the whole trace. */
static void end_trace(struct ktape_verify *v)
{
	unsigned int ring;

	v->event = NULL;
	if (v->foreign) {
		kt_foreign_end(v);
		return;
	}
	report_cut_stacks(v);
	v->finished = kt_verify_finished(v);
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		struct kt_vcpu *c = v->cpus[i];

		for (ring = 0; c && ring < KTAPE_RINGS_PER_CPU; ring++) {
			kt_verify_bound(v, c, ring);
			kt_verify_owed(v, c, ring, true);
		}
	}
	kt_account_end(v);
	kt_calls_end(v);
	kt_seen_end(v);
	if (!v->trace->info.converted)
		kt_verify_ends(v);
	kt_parts_end(v);
	kt_missed_end(v);
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++)
		if (v->cpus[i] && v->asked)
			kt_absent_end(v, v->cpus[i]);
}

static int count_errors(const struct ktape_verify *v)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		total += v->errors[i];
	return (int)kt_min(total, INT_MAX);
}

int ktape_verify_run(struct ktape_verify *verify)
{
	struct ktape_verify *v = verify;
	bool files = !v->trace->live && !v->foreign;
	int ret = 0;

	if (files) {
		kt_windows_new(v);
		ret = kt_trace_begin(v->trace);
	}
	if (ret)
		return ret;
	while ((ret = kt_windows_pass(v)) >= 0 &&
	       (ret = ktape_trace_next(v->trace, &v->event)) > 0) {
		take_event(v, v->event);
		v->event = NULL;
		if (v->failed)
			return v->failed;
		if (!(v->records % PROGRESS) && v->options.progress &&
		    v->options.progress(v->options.arg, v->records) &&
		    !(v->trace->live && v->options.wake))
			return -EINTR;
	}
	/* If the sender ended the stream after the wake-up, the trace is complete. */
	if (!ret && v->trace->woken_at && !v->trace->input.eof)
		return -EINTR;
	if (!ret)
		end_trace(v);
	return ret ? ret : v->failed ? v->failed : count_errors(v);
}

uint64_t ktape_verify_count(const struct ktape_verify *verify,
			    unsigned int rule, uint64_t *notes)
{
	if (notes)
		*notes = rule < KTAPE_RULES ? verify->notes[rule] : 0;
	return rule < KTAPE_RULES ? verify->errors[rule] : 0;
}

/* Add the events that a ring has filtered and lost, as headers of packets say. */
static void add_told(const struct kt_vring *r, struct ktape_verify_cpu *cpu)
{
	cpu->lost += r->told;
	if (!r->based)
		return;
	cpu->filtered +=
		kt_max(r->head.filtered, r->ahead.filtered) - r->base.filtered;
	cpu->lost += kt_max(r->head.lost, r->ahead.lost) - r->base.lost;
}

static void add_ring(const struct ktape_verify *v, const struct kt_vcpu *c,
		     unsigned int ring, struct ktape_verify_cpu *cpu)
{
	const struct kt_vring *r = &c->ring[ring];
	struct ktape_verify_cpu told = { .cpu = 0 };
	struct kt_account a;

	kt_account_ring(v, c, ring, &a);
	add_told(r, &told);
	if (a.exact) {
		told.filtered = a.filtered;
		told.lost = a.lost;
	}
	cpu->packets += r->packets;
	cpu->records += r->records;
	cpu->filtered += told.filtered;
	cpu->lost += told.lost;
	cpu->missed += kt_ring_missed(r) + a.overwritten;
	cpu->cut += a.cut;
	cpu->counted &= a.exact;
	cpu->emitted += a.exact ? a.emitted :
				  r->records + told.filtered + told.lost +
					  kt_ring_missed(r) + a.overwritten + a.cut +
					  (a.lacking > 0 ? (uint64_t)a.lacking : 0);
}

/* Add what a ring lost by one reason. */
static uint64_t ring_reason(const struct kt_vring *r, unsigned int reason)
{
	uint64_t at_end = kt_max(r->head.reasons[reason], r->ahead.reasons[reason]);

	return r->told_reasons[reason] +
	       (r->based ? at_end - r->base.reasons[reason] : 0);
}

bool ktape_verify_lost(const struct ktape_verify *verify, uint32_t cpu,
		       uint64_t lost[KTAPE_LOST_REASONS])
{
	const struct kt_vcpu *c = cpu < KT_CPUS_MAX ? verify->cpus[cpu] : NULL;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		lost[i] = 0;
		for (unsigned int k = 0; c && k < KTAPE_RINGS_PER_CPU; k++)
			lost[i] += ring_reason(&c->ring[k], i);
	}
	return c;
}

bool ktape_verify_next_cpu(const struct ktape_verify *verify,
			   struct ktape_verify_cpu *cpu)
{
	uint32_t i = cpu->cpu;
	const struct kt_vcpu *c;
	uint64_t ticks;

	while (i < KT_CPUS_MAX && !verify->cpus[i])
		i++;
	memset(cpu, 0, sizeof(*cpu));
	cpu->cpu = i;
	if (i >= KT_CPUS_MAX)
		return false;
	c = verify->cpus[i];
	cpu->counted = true;
	for (unsigned int ring = 0; ring < KTAPE_RINGS_PER_CPU; ring++)
		add_ring(verify, c, ring, cpu);
	cpu->samples = c->samples;
	if (c->samples) {
		ticks = c->sampled / c->samples *
				(cpu->records + cpu->filtered + cpu->lost) +
			c->opening;
		cpu->tracer_ns = ktape_ticks_to_ns(&verify->trace->info, ticks);
	}
	return true;
}

void ktape_verify_close(struct ktape_verify *verify)
{
	if (!verify)
		return;
	for (unsigned int i = 0; verify->cpus && i < KT_CPUS_MAX; i++)
		free(verify->cpus[i]);
	free(verify->cpus);
	free(verify->with);
	free(verify->without);
	free(verify->missed);
	kt_windows_free(verify->windows);
	kt_calls_free(verify->calls);
	kt_foreign_free(verify->foreign);
	kt_seen_free(verify->seen);
	ktape_trace_close(verify->trace);
	free(verify);
}
