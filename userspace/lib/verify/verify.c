// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Is a trace what it says?  One pass in order of time: each packet's head goes
 * to the rules about streams, each record to those about events, and what they
 * find to the caller.
 */
#include <limits.h>
#include <stdarg.h>

#include "stream/packet.h"
#include "verify/internal.h"

#define PROGRESS	(1U << 20)	/* records */

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

/* Return: the CPU, or NULL when there is no memory. */
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

static void report(struct ktape_verify *v, struct ktape_finding *f,
		   const char *format, va_list args)
{
	if (f->note)
		v->notes[f->rule]++;
	else
		v->errors[f->rule]++;
	vsnprintf(f->text, sizeof(f->text), format, args);
	if (v->options.finding)
		v->options.finding(v->options.arg, f);
}

/* Where are we?  In a record of the stream, or at the head of its packet. */
static void place(const struct ktape_verify *v, const struct kt_stream *s,
		  struct ktape_finding *f)
{
	const struct ktape_event *e = v->event;

	if (!s)
		return;
	f->stream = true;
	f->cpu = s->cpu;
	f->ring = s->kind;
	f->packet = s->seq;
	f->offset = s->offset;
	f->ts = s->packet.ts;
	if (!e || s != v->trace->current)
		return;
	f->offset += e->offset;
	f->ts = e->ts;
}

static void damage(struct ktape_verify *v, const struct kt_stream *s)
{
	if (!s || s->kind > KTAPE_RING_CONTROL || s->cpu >= KT_CPUS_MAX)
		v->damaged |= !s;
	else if (v->cpus[s->cpu])
		v->cpus[s->cpu]->damaged = true;
}

void kt_verify_wrong(struct ktape_verify *v, unsigned int rule,
		     const struct kt_stream *s, const char *format, ...)
{
	struct ktape_finding f = { .rule = rule };
	va_list args;

	place(v, s, &f);
	/* Names and partners missing say nothing about what was recorded. */
	if (rule != KTAPE_RULE_NAME)
		damage(v, s);
	va_start(args, format);
	report(v, &f, format, args);
	va_end(args);
}

void kt_verify_note(struct ktape_verify *v, unsigned int rule,
		    const struct kt_stream *s, const char *format, ...)
{
	struct ktape_finding f = { .rule = rule, .note = true };
	va_list args;

	place(v, s, &f);
	va_start(args, format);
	report(v, &f, format, args);
	va_end(args);
}

/* About a whole stream, or of a packet that is behind us. */
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
	report(v, &f, format, args);
	va_end(args);
}

/* What the reader tells of bytes that it cannot read. */
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
		return;
	case KTAPE_NOTICE_LATE:
		kt_verify_note(
			v, KTAPE_RULE_CLOCK, NULL,
			"%llu events of a live stream came too late to be put in order",
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
	v->without = calloc(KT_CPUS_MAX, sizeof(*v->without));
	err = v->cpus && v->without ? kt_calls_new(&v->calls) : -ENOMEM;
	if (!err)
		err = kt_seen_new(&v->seen);
	how.options.wake = options ? options->wake : 0;
	if (!err)
		err = kt_trace_open(path, &how, &v->trace, error);
	if (!err && v->trace->import)
		err = kt_error(
			error, 0,
			"it is of another format, and promises nothing that could be judged");
	if (err) {
		ktape_verify_close(v);
		return err;
	}
	v->rt = strstr(v->trace->info.release, "-rt");
	*verify = v;
	if (*v->trace->unsealed.text)
		kt_verify_note(v, KTAPE_RULE_CHECKSUM, NULL, "%s",
			       v->trace->unsealed.text);
	if (v->trace->single)
		kt_verify_note(
			v, KTAPE_RULE_FORM, NULL,
			"one stream of a trace: what the others have to do with it is not judged");
	if (v->trace->info.converted)
		kt_verify_note(
			v, KTAPE_RULE_LEDGER, NULL,
			"made by a conversion, which may have left events out: of its rules checksum, form, sequence and time are judged");
	return 0;
}

const struct ktape_info *ktape_verify_info(const struct ktape_verify *verify)
{
	return &verify->trace->info;
}

/* What a record says of those before and behind it. */
static void take_record(struct ktape_verify *v, struct kt_vcpu *c,
			const struct ktape_event *e)
{
	kt_verify_recorded(v, c, e);
	/* A ledger counts what was before it. */
	kt_verify_marker(v, c, e);
}

/* Does the clock go back in what is left of a packet?  Looked for once. */
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
 * Records before a step back of the clock may be later than the end of their packet,
 * which was read after it; those after it are told of where they begin.
 */
static void check_time(struct ktape_verify *v, struct kt_vring *r,
		       const struct ktape_event *e)
{
	const struct kt_stream *s = v->trace->current;
	bool held = kt_record_held(e);

	if (held && !r->held)
		kt_verify_wrong(
			v, KTAPE_RULE_TIME, s,
			"the trace clock went back: from here on records are shown at the time of the one before, until it has come there again");
	r->held = held;
	if (e->ts > r->ts_end && e->opcode != KTAPE_TIME_EXTEND && !held &&
	    !is_stepped(r, s))
		kt_verify_wrong(v, KTAPE_RULE_TIME, s,
				"the record is later than its packet's end");
}

static void take_event(struct ktape_verify *v, const struct ktape_event *e)
{
	const struct ktape_event_desc *desc = ktape_event_desc(e->opcode);
	struct kt_vcpu *c;
	struct kt_vring *r;

	if (!v->trace->info.converted)
		kt_verify_names(v, e);
	if (e->kind >= KTAPE_RINGS_PER_CPU)
		return;
	c = kt_verify_cpu(v, e->cpu);
	if (!c)
		return;
	r = &c->ring[e->kind];
	/*
	 * A packet is loaded as soon as the one before it is used up.  Its head
	 * is judged only here, because markers of its CPU that explain another
	 * thread may come in between.
	 */
	if (e->offset == KTAPE_BLOCK_HEADER)
		kt_verify_head(v, c, v->trace->current);
	check_time(v, r, e);
	if (e->opcode == KTAPE_TIME_EXTEND)
		return;
	if (!v->trace->info.converted)
		take_record(v, c, e);
	r->records++;
	v->records++;
	if (e->known && desc)
		r->class[desc->event_class].records++;
	else
		r->foreign = true;
	if (!v->trace->info.converted)
		kt_verify_pairs(v, c, e);
	kt_absent_event(v, c, e);
}

/* The CPUs that the metadata has, and of which there is nothing. */
static void tell_missing(struct ktape_verify *v)
{
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		if (kt_verify_lacks(v, i))
			kt_verify_note(
				v, KTAPE_RULE_FORM, NULL,
				"there is nothing of CPU %u, which the metadata has",
				i);
	}
}

static void end(struct ktape_verify *v)
{
	unsigned int ring;

	v->event = NULL;
	tell_missing(v);
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		struct kt_vcpu *c = v->cpus[i];

		for (ring = 0; c && ring < KTAPE_RINGS_PER_CPU; ring++) {
			kt_verify_bound(v, c, ring);
			kt_verify_owed(v, c, ring, true);
		}
	}
	kt_calls_end(v);
	kt_seen_end(v);
	if (!v->trace->info.converted)
		kt_verify_ends(v);
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++)
		if (v->cpus[i] && v->asked)
			kt_absent_end(v, v->cpus[i]);
}

static int errors(const struct ktape_verify *v)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_RULES; i++)
		total += v->errors[i];
	return (int)kt_min(total, INT_MAX);
}

int ktape_verify_run(struct ktape_verify *verify)
{
	struct ktape_verify *v = verify;
	int ret = v->trace->live ? 0 : kt_trace_begin(v->trace);

	if (ret)
		return ret;
	while ((ret = ktape_trace_next(v->trace, &v->event)) > 0) {
		take_event(v, v->event);
		v->event = NULL;
		if (v->failed)
			return v->failed;
		if (!(v->records % PROGRESS) && v->options.progress &&
		    v->options.progress(v->options.arg, v->records) &&
		    !(v->trace->live && v->options.wake))
			return -EINTR;
	}
	/* Who sends may have ended meanwhile: then all of it is there. */
	if (!ret && v->trace->woken_at && !v->trace->input.eof)
		return -EINTR;
	if (!ret)
		end(v);
	return ret ? ret : v->failed ? v->failed : errors(v);
}

uint64_t ktape_verify_count(const struct ktape_verify *verify,
			    unsigned int rule, uint64_t *notes)
{
	if (notes)
		*notes = rule < KTAPE_RULES ? verify->notes[rule] : 0;
	return rule < KTAPE_RULES ? verify->errors[rule] : 0;
}

static void add_ring(const struct kt_vring *r, struct ktape_verify_cpu *cpu)
{
	cpu->packets += r->packets;
	cpu->records += r->records;
	cpu->missed += kt_ring_missed(r);
	if (!r->based)
		return;
	cpu->filtered +=
		kt_max(r->head.filtered, r->ahead.filtered) - r->base.filtered;
	cpu->lost += kt_max(r->head.lost, r->ahead.lost) - r->base.lost;
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
	add_ring(&c->ring[KTAPE_RING_EVENT], cpu);
	add_ring(&c->ring[KTAPE_RING_CONTROL], cpu);
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
	free(verify->without);
	kt_calls_free(verify->calls);
	kt_seen_free(verify->seen);
	ktape_trace_close(verify->trace);
	free(verify);
}
