// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rule marker: the control records of a CPU must come in this order.
 *
 *	start:	ledger, session on, clocks, filters, profile on
 *	stop:	profile off, freeze of a full snapshot, ledger, session off
 */
#include "verify/call.h"
#include "verify/window.h"

/* Forget running threads and handlers: events may be missing around a marker. */
static void forget_marker_threads(struct ktape_verify *v, struct kt_vcpu *c)
{
	kt_verify_doubt(v, c, 0);
}

/* Check whether the control ring may have lost a marker. */
static bool is_lossy(const struct kt_vcpu *c)
{
	return c->ring[KTAPE_RING_CONTROL].doubt;
}

/* Forget that ledgers of a stop were compared: they do not count the records that follow. */
static void begin_records(struct kt_vcpu *c)
{
	for (unsigned int i = 0; i < KTAPE_RINGS_PER_CPU; i++)
		c->ring[i].stop_checked = false;
}

/* The session starts or stops on a CPU.  Both markers give its mode. */
static void take_session(struct ktape_verify *v, struct kt_vcpu *c,
			 const struct ktape_event *e)
{
	const struct kt_stream *s = v->trace->current;
	bool on = (e->dat20 & 3) == KTAPE_PHASE_ON;

	forget_marker_threads(v, c);
	v->waits = ktape_event_arg(e, 1) == KTAPE_MODE_DISCARD;
	v->persistent = ktape_event_arg(e, 1) == KTAPE_MODE_PERSISTENT;
	v->keeps = v->waits || ktape_event_arg(e, 1) == KTAPE_MODE_SNAPSHOT;
	if (on) {
		v->starts++;
		if (c->early)
			kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
					"the session starts, but events came before");
		c->early = false;
		if (c->state == KT_STATE_ON || c->state == KT_STATE_ENDING)
			kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
					"the session starts without having stopped");
		else if (c->state == KT_STATE_OFF ||
			 (c->state == KT_STATE_UNKNOWN && !is_lossy(c) &&
			  c->ring[KTAPE_RING_CONTROL].whole))
			kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
					"the session starts without a ledger");
		c->state = KT_STATE_ON;
		c->marked = false;
		begin_records(c);
		/* Begin without filters: markers of the filters in force follow. */
		c->filtered = true;
		c->filters = 0;
		kt_absent_filters(v, c, e->ts);
		return;
	}
	if (c->state == KT_STATE_OFF)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"the session stops without having started");
	else if (c->state == KT_STATE_ON && !is_lossy(c))
		kt_verify_wrong(
			v, KTAPE_RULE_MARKER, s,
			"the session stops without an off-marker of its profile");
	else if (c->state == KT_STATE_ENDING && !c->ledgered && !is_lossy(c))
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"the session stops without a ledger");
	/* Names of objects created before the next start are not recorded. */
	v->paused = true;
	c->state = KT_STATE_OFF;
	c->starts = v->starts;
	c->masked = false;
	c->filters = 0;
	kt_absent_filters(v, c, e->ts);
}

/* The profile changes: an on-marker lists what is enabled from now on, an off-marker what stays. */
static void take_marker_profile(struct ktape_verify *v, struct kt_vcpu *c,
				const struct ktape_event *e)
{
	const struct kt_stream *s = v->trace->current;
	uint64_t mask[KTAPE_MASK_WORDS], any = 0;
	bool on = (e->dat20 & 3) == KTAPE_PHASE_ON;

	if (!e->blob || e->blob_size < sizeof(mask)) {
		kt_verify_wrong(v, KTAPE_RULE_FORM, s,
				"a profile record has no mask");
		return;
	}
	for (unsigned int i = 0; i < KTAPE_MASK_WORDS; i++) {
		mask[i] = kt_get64((const uint8_t *)e->blob + i * 8);
		any |= mask[i];
		/* The mask of an off-marker lists the events that remain enabled. */
		if (!on)
			mask[i] &= c->mask[i];
	}
	forget_marker_threads(v, c);
	if (e->nargs) {
		c->generation = ktape_event_arg(e, 0);
		kt_parts_profile(v, c, e);
	}
	if (c->state == KT_STATE_OFF || c->state == KT_STATE_STARTING)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"a marker of the profile outside a session");
	if (!on && c->state == KT_STATE_ON && !c->marked)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"an off-marker of the profile without an on-marker");
	/*
	 * An off-marker narrows the profile, which must be known for this.  If
	 * markers of filters may be missing, the profile counts as not known.
	 */
	c->masked = c->filtered && (on || c->masked);
	kt_absent_profile(v, c, c->masked ? mask : NULL, e->ts);
	c->marked |= on;
	memcpy(c->mask, mask, sizeof(mask));
	v->calls_checked |= kt_call_records_both(c);
	if (on)
		c->state = KT_STATE_ON;
	else if (!any)
		c->state = KT_STATE_ENDING;
}

/* Bits 0 to 4 of dat20 are the kind of the filter, bits 5 and 6 its phase. */
static void take_marker_filter(struct ktape_verify *v, struct kt_vcpu *c,
			       const struct ktape_event *e)
{
	uint32_t bit = 1U << (e->dat20 & 31);

	forget_marker_threads(v, c);
	if (e->nargs)
		c->generation = ktape_event_arg(e, 0);
	if ((e->dat20 >> 5 & 3) == KTAPE_PHASE_ON)
		c->filters |= bit;
	else
		c->filters &= ~bit;
	kt_absent_filters(v, c, e->ts);
}

/* The CPU comes online, which counts as a start of the session there, or goes offline. */
static void take_cpu(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e)
{
	forget_marker_threads(v, c);
	kt_absent_profile(v, c, NULL, e->ts);
	c->masked = false;
	c->filtered = e->dat20 & 1;
	c->filters = 0;
	kt_absent_filters(v, c, e->ts);
	c->marked = e->dat20 & 1;
	begin_records(c);
	c->early = false;
	c->state = e->dat20 & 1 ? KT_STATE_ON : KT_STATE_OFFLINE;
}

/* A snapshot is full.  Every CPU with rings records this; it applies to all CPUs. */
static void take_freeze(struct ktape_verify *v, const struct kt_vcpu *c,
			const struct ktape_event *e)
{
	uint64_t time;

	if (e->nargs < 3) {
		kt_verify_wrong(v, KTAPE_RULE_FORM, v->trace->current,
				"a freeze record has no time");
		return;
	}
	time = kt_get64(e->args);
	if (c->state == KT_STATE_STARTING || c->state == KT_STATE_ON ||
	    c->state == KT_STATE_OFF || c->ledgered)
		kt_verify_wrong(
			v, KTAPE_RULE_MARKER, v->trace->current,
			"the snapshot is full, but no off-marker came before this record");
	if (time > e->ts)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, v->trace->current,
				"the freeze record gives a time later than its own");
	kt_absent_freeze(v, time);
}

/*
 * Another CPU comes online, with rings or without.  Each CPU with rings records this.  For a CPU
 * without rings it may do so repeatedly: the first time counts.
 */
static void take_other_cpu(struct ktape_verify *v, const struct ktape_event *e)
{
	uint64_t *since = e->opcode == KTAPE_EV_CPU_WITH ? v->with : v->without;
	uint32_t cpu = e->nargs ? ktape_event_arg(e, 0) : KT_CPUS_MAX;

	if (cpu >= KT_CPUS_MAX) {
		kt_verify_wrong(
			v, KTAPE_RULE_FORM, v->trace->current,
			"a record about the rings of another CPU has no valid CPU number");
		return;
	}
	if (since[cpu])
		return;
	since[cpu] = kt_max(e->ts, 1);
	if (since == v->without)
		kt_verify_note(v, KTAPE_RULE_MARKER, v->trace->current,
			       "CPU %u runs without rings: nothing of it is recorded",
			       cpu);
}

static void take_marker_sync(struct ktape_verify *v, const struct ktape_event *e)
{
	/* Bit 0: the kernel trusts the trace clock. */
	if (e->dat20 & 1 || v->unstable)
		return;
	v->unstable = true;
	/* This is a violation, because no other rule can find that times are wrong. */
	kt_verify_wrong(
		v, KTAPE_RULE_CLOCK, v->trace->current,
		"the kernel does not trust the trace clock: the order of events of different CPUs may be wrong");
}

/* Report the events that keep_late() kept: the session was not started again before them. */
static void check_late(struct ktape_verify *v, struct kt_vcpu *c)
{
	if (!c->late)
		return;
	kt_verify_wrong_at(v, &c->late_at,
			   "%llu events after the session's end, from here on",
			   (unsigned long long)c->late);
	c->late = 0;
	c->damaged = true;
}

static void take_marker_ledger(struct ktape_verify *v, struct kt_vcpu *c,
			       const struct ktape_event *e)
{
	if (!kt_verify_ledger(v, c, e))
		return;
	/*
	 * A start begins with its ledger, so the events that were kept came before the start.
	 * From a pipe this can be read only after these events.
	 */
	check_late(v, c);
	c->ledgered = false;
	c->state = KT_STATE_STARTING;
}

/* Check a control record. */
void kt_verify_marker(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e)
{
	/* Samples of the tracer's time are in the event ring, all other markers are not. */
	if (!e->known ||
	    e->kind != (e->opcode == KTAPE_EV_TRACER ? KTAPE_RING_EVENT :
						       KTAPE_RING_CONTROL))
		return;
	switch (e->opcode) {
	case KTAPE_EV_CLOCK_SYNC:
		take_marker_sync(v, e);
		break;
	case KTAPE_EV_PROFILE:
		take_marker_profile(v, c, e);
		break;
	case KTAPE_EV_CPU:
		take_cpu(v, c, e);
		break;
	case KTAPE_EV_LEDGER:
		take_marker_ledger(v, c, e);
		break;
	case KTAPE_EV_SESSION:
		take_session(v, c, e);
		break;
	case KTAPE_EV_FILTER:
		take_marker_filter(v, c, e);
		break;
	case KTAPE_EV_FREEZE:
		take_freeze(v, c, e);
		break;
	case KTAPE_EV_CPU_WITH:
	case KTAPE_EV_CPU_WITHOUT:
		take_other_cpu(v, e);
		break;
	case KTAPE_EV_LOSS:
		kt_verify_loss(v, c, e);
		break;
	case KTAPE_EV_MISSED:
		kt_verify_missed(v, e);
		break;
	case KTAPE_EV_TRACER:
		/* A sample in ticks (the first record has none), and ticks to open blocks. */
		c->samples += ktape_event_arg(e, 0) > 0;
		c->sampled += ktape_event_arg(e, 0);
		c->opening += ktape_event_arg(e, 2);
		break;
	default:
		break;
	}
}

/*
 * Return whether the session is stopped.  If other CPUs have started it since the stop on this
 * CPU, this CPU was offline then: its first events come before its record that it came online.
 */
static bool is_session_stopped(const struct ktape_verify *v, const struct kt_vcpu *c)
{
	return c->state == KT_STATE_OFF && c->starts == v->starts;
}

/*
 * Keep the place of an event after the session's stop, if the stop is the last record that the
 * trace has of the control ring.  Records of a new start may follow or may not have been
 * read, so check_late() reports the event only at a later start or at the end of the trace.
 */
static void keep_late(struct ktape_verify *v, struct kt_vcpu *c)
{
	if (v->trial) {
		kt_trial_spoil(v->trial);
		return;
	}
	if (!c->late++)
		c->late_at =
			kt_verify_place(v, KTAPE_RULE_MARKER, v->trace->current);
}

/* Check that an event is not recorded while the session is stopped. */
void kt_verify_recorded(struct ktape_verify *v, struct kt_vcpu *c,
			const struct ktape_event *e)
{
	bool last;

	if (c->state != KT_STATE_OFF)
		return;
	last = kt_verify_exhausted(v, c->cpu, KTAPE_RING_CONTROL);
	/* A start writes a context record before anything else. */
	c->restarted |= e->opcode == KTAPE_EV_CONTEXT && last;
	/* Smaller opcodes are of control records, which may follow a stop. */
	if (e->opcode < KTAPE_OP_EXCEPTION)
		return;
	if (!is_session_stopped(v, c))
		c->early = true;
	else if (last)
		keep_late(v, c);
	else
		kt_verify_wrong(v, KTAPE_RULE_MARKER, v->trace->current,
				"an event after the session's end");
}

/*
 * Return whether the trace has the end of the session.  A context record after the stop, or a
 * packet of a later profile than that of all markers, shows that the session was started again
 * and that the recording ended before the markers of that start were read.
 */
bool kt_verify_finished(const struct ktape_verify *v)
{
	uint32_t marked = 0, used = 0;
	bool stopped = false, restarted = false;

	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		const struct kt_vcpu *c = v->cpus[i];

		if (!c)
			continue;
		stopped |= is_session_stopped(v, c);
		restarted |= c->restarted;
		marked = kt_max(marked, c->generation);
		used = kt_max(used, c->ring[KTAPE_RING_EVENT].generation);
	}
	return stopped && !restarted && used <= marked;
}

/* Note from when on the events of a CPU may lack markers. */
static void note_unmarked(struct ktape_verify *v, const struct kt_vcpu *c)
{
	struct ktape_finding f = {
		.rule = KTAPE_RULE_MARKER,
		.stream = true,
		.cpu = c->cpu,
		.ring = KTAPE_RING_CONTROL,
		.packet = c->ring[KTAPE_RING_CONTROL].seq,
		.offset = c->ring[KTAPE_RING_CONTROL].offset,
		.ts = c->ring[KTAPE_RING_CONTROL].ts_end,
	};

	/*
	 * A recorder that is not killed ends the file with an open packet, perhaps an empty one.
	 * Without it the end of the file may be missing.
	 */
	f.cut = v->trace->nr_streams &&
		v->trace->streams[0]->source == KT_SOURCE_FILE &&
		!c->ring[KTAPE_RING_EVENT].recovered &&
		!c->ring[KTAPE_RING_CONTROL].open_end;
	if (c->masked && c->ring[KTAPE_RING_EVENT].ts_end > f.ts)
		kt_verify_note_at(
			v, &f,
			"the control ring ends before the event ring: pairs and switches of this CPU, and calls of all, are not checked behind this");
}

/* At the end of the trace, check that all CPUs have the end of the session, or none. */
void kt_verify_ends(struct ktape_verify *v)
{
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		struct kt_vcpu *c = v->cpus[i];

		if (!c)
			continue;
		if (!v->finished) {
			note_unmarked(v, c);
			continue;
		}
		check_late(v, c);
		if (!c->ring[KTAPE_RING_CONTROL].hole &&
		    c->state != KT_STATE_OFF && c->state != KT_STATE_OFFLINE &&
		    !c->ring[KTAPE_RING_CONTROL].gaps && !is_lossy(c))
			kt_verify_cpu_wrong(
				v, KTAPE_RULE_MARKER, c, KTAPE_RING_CONTROL,
				"the stream ends before the end of the session, which other CPUs have");
	}
	if (!v->finished)
		kt_verify_note(v, KTAPE_RULE_LEDGER, NULL,
			       "the trace ends while its session records: its last counters can only be checked to within the number of nested writers");
}
