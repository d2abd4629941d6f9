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
 * If a recorder ends or begins another piece while its session records, it has read some
 * rings further than others.  Then markers of events after the end of a control ring may be
 * missing, and the last ledgers may count events that were not read.  Neither is a violation,
 * and nothing is concluded from it.
 */
#include <limits.h>

#include "stream/packet.h"
#include "verify/internal.h"
#include "verify/window.h"

/* Records between two calls of progress(); in windows it is called after each. */
#define PROGRESS (1U << 20)

/* Convert a problem that the reader of the trace reports to a finding. */
static void take_verify_notice(void *arg, const struct ktape_notice *n)
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
		/* In a native trace, kt_verify_packet() sees the counters that say so. */
		if (v->foreign)
			kt_foreign_lost(v, n);
		return;
	case KTAPE_NOTICE_ASSUMED:
		/* With a stream: its times go back.  Without: what the format does not say. */
		if (n->stream && v->foreign) {
			kt_foreign_back(v, n);
			return;
		}
		kt_verify_note(v, KTAPE_RULE_FORM, NULL, "%s", n->error.text);
		return;
	case KTAPE_NOTICE_LATE:
		kt_verify_note(v, KTAPE_RULE_CLOCK, NULL,
			       "%llu events of a live stream arrived too late to be sorted",
			       (unsigned long long)n->count);
		return;
	case KTAPE_NOTICE_TABLE:
		kt_verify_note(v, KTAPE_RULE_FORM, NULL, "%s", n->error.text);
		return;
	case KTAPE_NOTICE_METADATA:
		f.rule = KTAPE_RULE_CHECKSUM;
		if (f.offset == UINT64_MAX) /* the place is not known */
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
		/* The stream of names is damaged, or a file that may have had some. */
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

int ktape_verify_open(const char *path, const struct ktape_verify_options *options,
		      struct ktape_verify **verify, struct ktape_error *error)
{
	struct ktape_verify *v = calloc(1, sizeof(*v));
	struct ktape_trace how = {
		.options = { .notice = take_verify_notice, .arg = v },
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
		err = kt_checked_names_new(&v->checked);
	how.options.wake = options ? options->wake : 0;
	if (!err)
		err = kt_trace_open(path, &how, &v->trace, error);
	if (!err && v->trace->import && !ktape_trace_is_kernel(v->trace))
		err = kt_error(error, 0,
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
		kt_verify_note(v, KTAPE_RULE_FORM, NULL,
			       "this is one stream of a trace: rules that need the other streams are not checked");
	if (v->trace->info.converted)
		kt_verify_note(v, KTAPE_RULE_LEDGER, NULL,
			       "the trace was made by a conversion, which may have left events out: only checksum, form, sequence and time are checked");
	return 0;
}

const struct ktape_info *ktape_verify_info(const struct ktape_verify *verify)
{
	return &verify->trace->info;
}

/* Apply the rules to an event; its packet header was checked when the packet was loaded. */
static void take_verify_event(struct ktape_verify *v, const struct ktape_event *e)
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
		kt_verify_note(v, KTAPE_RULE_FORM, NULL,
			       "call stacks that were cut at their %d innermost frames: %llu",
			       KTAPE_STACK_FRAMES, (unsigned long long)cut);
}

/* Apply the rules that need all of the trace, at its end. */
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
			kt_verify_counters(v, c, ring);
			kt_verify_unaccounted(v, c, ring, true);
		}
	}
	kt_account_end(v);
	kt_calls_end(v);
	kt_checked_names_end(v);
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
	/* Windows take what they can check without doubt; the events after that come singly. */
	while ((ret = kt_windows_pass(v)) >= 0 &&
	       (ret = ktape_trace_next(v->trace, &v->event)) > 0) {
		take_verify_event(v, v->event);
		v->event = NULL;
		if (v->failed)
			return v->failed;
		/* A live trace with a wake descriptor is read on, to a pause of its sender. */
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
	kt_checked_names_free(verify->checked);
	ktape_trace_close(verify->trace);
	free(verify);
}
