// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prove that an event did not occur on a CPU in a time range.  The proof needs that
 *
 *	- markers say that the event was enabled during the whole range,
 *	- no filter that could block it was in force in the range,
 *	- nothing was lost in the range that could have been the event,
 *	- no hit of its probe was missed in the range (missed.c),
 *	- the streams of the CPU obey all rules, and
 *	- the kernel trusted the clock, because otherwise the range itself is uncertain.
 */
#include "util/nanoseconds.h"

#include "verify/internal.h"

/* Check whether a time span overlaps the range of the question. */
static bool is_in_range(const struct ktape_verify *v, uint64_t from, uint64_t to)
{
	return v->asked && from < v->question.to && to >= v->question.from;
}

static bool is_asked(const struct ktape_verify *v, const struct kt_vcpu *c)
{
	return v->asked && (!v->question.one_cpu || v->question.cpu == c->cpu);
}

/* Check whether a record is the event: 1, 0, or -1 if it cannot be decoded. */
static int match_event(const struct ktape_verify *v, const struct ktape_event *e)
{
	uint64_t value;

	if (e->opcode != v->question.opcode)
		return 0;
	if (!v->question.field)
		return 1;
	/* The call's number does not fit into the field: it may be the one in question. */
	if (!strcmp(v->question.field, "nr") &&
	    !ktape_event_field(e, "large", &value) && value)
		return -1;
	if (ktape_event_field(e, v->question.field, &value))
		return -1;
	return value == v->question.value;
}

/* Check whether an event is the event in question. */
void kt_absent_event(struct ktape_verify *v, struct kt_vcpu *c,
		     const struct ktape_event *e)
{
	struct kt_vabsent *a = &c->absent;
	int match;

	if (!is_asked(v, c))
		return;
	if (e->kind == v->ring)
		a->last = kt_max(a->last, e->ts);
	if (e->ts < v->question.from || e->ts >= v->question.to)
		return;
	match = match_event(v, e);
	a->found |= match > 0;
	a->lost |= match < 0;
}

/* All events of a ring up to @ts were checked, and none is the event in question. */
void kt_absent_last(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, uint64_t ts)
{
	if (is_asked(v, c) && ring == v->ring)
		c->absent.last = kt_max(c->absent.last, ts);
}

/* The event was enabled from @from to @to: extend the time without a break. */
static void cover_time(struct kt_vabsent *a, uint64_t from, uint64_t to)
{
	if (from <= a->until)
		a->until = kt_max(a->until, to);
}

/* Markers from @from on may be missing, so it is not known whether the event was enabled. */
void kt_absent_unknown(struct ktape_verify *v, struct kt_vcpu *c, uint64_t from)
{
	struct kt_vabsent *a = &c->absent;

	if (!is_asked(v, c))
		return;
	if (a->on)
		cover_time(a, a->since, from);
	a->on = false;
	if (a->until > from)
		a->until = kt_max(v->question.from, from);
}

/*
 * Events of @class, or of any class if negative, were lost between two times.  A loss
 * in the control ring may include markers.
 */
void kt_absent_lost(struct ktape_verify *v, struct kt_vcpu *c,
		    unsigned int ring, int class, uint64_t from, uint64_t to)
{
	struct kt_vabsent *a = &c->absent;

	if (!is_asked(v, c))
		return;
	if (ring == KTAPE_RING_CONTROL &&
	    (class < 0 || class == KTAPE_CLASS_CONTROL)) {
		kt_absent_unknown(v, c, from);
		if (is_in_range(v, from, to))
			a->lost = true;
	}
	if (ring == v->ring && (class < 0 || (unsigned int)class == v->class) &&
	    is_in_range(v, from, to))
		a->lost = true;
}

/* The ring lost events; later loss records report their class and time. */
void kt_absent_ring_lost(struct ktape_verify *v, struct kt_vcpu *c,
			 unsigned int ring, uint64_t from, uint64_t to)
{
	if (!is_asked(v, c))
		return;
	/* Before the loss record, the lost events may include markers. */
	if (ring == KTAPE_RING_CONTROL)
		kt_absent_unknown(v, c, from);
	if (ring == v->ring && is_in_range(v, from, to))
		c->absent.ring_lost = true;
}

/* The profile of the CPU changes to @mask, NULL = not known from @ts on. */
void kt_absent_profile(struct ktape_verify *v, struct kt_vcpu *c,
		       const uint64_t *mask, uint64_t ts)
{
	struct kt_vabsent *a = &c->absent;
	bool on = mask && kt_mask_has(mask, v->question.opcode);

	if (!is_asked(v, c))
		return;
	if (a->on)
		cover_time(a, a->since, ts);
	/* An on-marker is valid from here on, not from an earlier on-marker. */
	if (on && !a->on)
		a->since = ts;
	a->on = on;
}

/*
 * A full snapshot froze the event rings of all CPUs at @ts.  The freeze record
 * comes after the off-markers, which are later than @ts: according to them, the event
 * was enabled until then.
 */
void kt_absent_freeze(struct ktape_verify *v, uint64_t ts)
{
	if (!v->asked || v->ring != KTAPE_RING_EVENT)
		return;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		struct kt_vcpu *c = v->cpus[i];
		struct kt_vabsent *a = c ? &c->absent : NULL;

		if (!a)
			continue;
		/* Markers behind the end of the control ring were not read. */
		if (a->on)
			cover_time(a, a->since,
				   kt_min(ts, c->ring[KTAPE_RING_CONTROL].ts_end));
		a->on = false;
		if (a->until > ts)
			a->until = kt_max(v->question.from, ts);
	}
}

/* Check whether one of the filters in force can block the event; an unknown kind can. */
static bool may_hold_back(const struct ktape_verify *v, uint32_t filters)
{
	static const uint32_t of_all =
		1U << KTAPE_FILTER_CPU | 1U << KTAPE_FILTER_PID |
		1U << KTAPE_FILTER_CGROUP | 1U << KTAPE_FILTER_UID;
	static const struct {
		uint8_t kind;
		uint8_t class;
	} of_class[] = {
		{ KTAPE_FILTER_SYSCALL, KTAPE_CLASS_SYSCALL },
		{ KTAPE_FILTER_IRQ, KTAPE_CLASS_IRQ },
		{ KTAPE_FILTER_SOFTIRQ, KTAPE_CLASS_SOFTIRQ },
		{ KTAPE_FILTER_SIGNAL, KTAPE_CLASS_SIGNAL },
		{ KTAPE_FILTER_SEVERITY, KTAPE_CLASS_EXCEPTION },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_SYSCALL },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_IRQ },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_SOFTIRQ },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_TIMER },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_HRTIMER },
		{ KTAPE_FILTER_GATE, KTAPE_CLASS_WORKQUEUE },
	};

	if (filters & of_all || filters >> KTAPE_FILTER_KINDS)
		return true;
	for (size_t i = 0; i < KT_ARRAY_SIZE(of_class); i++)
		if (filters & 1U << of_class[i].kind && of_class[i].class == v->class)
			return true;
	return false;
}

/* The filters of the CPU have changed. */
void kt_absent_filters(struct ktape_verify *v, struct kt_vcpu *c, uint64_t ts)
{
	struct kt_vabsent *a = &c->absent;
	bool on = may_hold_back(v, c->filters);

	if (!is_asked(v, c))
		return;
	if (a->filter_on && is_in_range(v, a->filter_since, ts))
		a->filtered = true;
	if (on && !a->filter_on)
		a->filter_since = ts;
	a->filter_on = on;
}

/* End the proof at the end of the trace. */
void kt_absent_end(struct ktape_verify *v, struct kt_vcpu *c)
{
	const struct kt_vring *r = &c->ring[v->ring];
	struct kt_vabsent *a = &c->absent;

	if (!is_asked(v, c))
		return;
	/* Without an off-marker, nothing is known after the last record of either ring. */
	if (a->on)
		cover_time(a, a->since,
			   kt_min(a->last, c->ring[KTAPE_RING_CONTROL].ts_end));
	a->running = a->on && a->since <= a->until;
	if (a->filter_on && is_in_range(v, a->filter_since, UINT64_MAX))
		a->filtered = true;
	if (a->ring_lost && (!r->reported || c->state != KT_STATE_OFF))
		a->lost = true;
	/* A loss that an open packet reports may be later than its end. */
	if (r->doubt && is_in_range(v, r->ts_end, UINT64_MAX))
		a->lost = true;
	if (c->ring[KTAPE_RING_CONTROL].doubt || c->damaged || v->damaged)
		a->lost = true;
	/* Without a final ledger, records missing at the end would not be noticed. */
	if (!r->stop_checked)
		a->until = kt_min(a->until, a->last);
}

static const char *const whys[] = {
	[KTAPE_ABSENT_PROVED] = "it was enabled all the time, and is not in the trace",
	[KTAPE_ABSENT_FOUND] = "it is in the trace",
	[KTAPE_ABSENT_NOT_ENABLED] =
		"according to the markers, it was not enabled all the time",
	[KTAPE_ABSENT_FILTERED] = "a filter was in force that may have blocked it",
	[KTAPE_ABSENT_LOST] =
		"events were lost, or the trace is damaged, converted or only one stream",
};

/* Check for a CPU that had rings in the range although the trace has no packet of it. */
static bool is_lacking(const struct ktape_verify *v, unsigned int cpu)
{
	return kt_verify_lacks(v, cpu) && v->with[cpu] < v->question.to;
}

/* Return the reason for the result of a CPU, as text. */
static const char *why_on(const struct ktape_verify *v, uint32_t cpu,
			  unsigned int result)
{
	const struct kt_vcpu *c = cpu < KT_CPUS_MAX ? v->cpus[cpu] : NULL;

	if (result == KTAPE_ABSENT_NOT_ENABLED && c && c->absent.running)
		return "the trace of a CPU ends before the range does: stop the session first, then save it";
	if (result == KTAPE_ABSENT_PROVED && kt_question_is_return(v))
		return "it was enabled all the time, and is not in the trace; calls that were open when the probe was armed return without an event";
	if (result == KTAPE_ABSENT_LOST && v->unseen)
		return "hits of its probe did not reach the tracer";
	if (result == KTAPE_ABSENT_LOST && v->unlooked &&
	    !kt_mask_has(v->trace->info.known, KTAPE_EV_MISSED))
		return "the module that recorded this trace did not report which hits of its probe the kernel missed";
	if (result == KTAPE_ABSENT_LOST && v->unlooked)
		return "the trace ends before it says which hits of its probe the kernel missed: stop the session first, then save it";
	if (result == KTAPE_ABSENT_LOST && is_lacking(v, cpu))
		return "the trace has no packet of a CPU that had rings";
	if (result == KTAPE_ABSENT_LOST && v->unstable && c && !c->absent.lost)
		return "the kernel does not trust the trace clock: which events were in the range is not certain";
	return whys[result];
}

/* Return the result of a CPU (KTAPE_ABSENT_*): PROVED only if nothing speaks against it. */
static unsigned int absence_on(const struct ktape_verify *v, uint32_t cpu)
{
	const struct kt_vcpu *c = cpu < KT_CPUS_MAX ? v->cpus[cpu] : NULL;
	const struct kt_vabsent *a = c ? &c->absent : NULL;

	if (a && a->found)
		return KTAPE_ABSENT_FOUND;
	if (v->trace->info.converted || v->trace->single)
		return KTAPE_ABSENT_LOST;
	if (!a)
		return v->damaged || is_lacking(v, cpu) ? KTAPE_ABSENT_LOST :
							  KTAPE_ABSENT_NOT_ENABLED;
	if (a->until < v->question.to)
		return a->lost ? KTAPE_ABSENT_LOST : KTAPE_ABSENT_NOT_ENABLED;
	if (a->filtered)
		return KTAPE_ABSENT_FILTERED;
	if (v->unseen || v->unlooked)
		return KTAPE_ABSENT_LOST;
	return a->lost || v->unstable ? KTAPE_ABSENT_LOST : KTAPE_ABSENT_PROVED;
}

/* Order results for all CPUs together: FOUND before all, PROVED only if all agree. */
static bool is_worse(unsigned int a, unsigned int b)
{
	static const uint8_t rank[] = {
		[KTAPE_ABSENT_PROVED] = 0,   [KTAPE_ABSENT_LOST] = 1,
		[KTAPE_ABSENT_FILTERED] = 2, [KTAPE_ABSENT_NOT_ENABLED] = 3,
		[KTAPE_ABSENT_FOUND] = 4,
	};

	return rank[a] > rank[b];
}

/*
 * Check whether a CPU ran without rings in the range.  If the CPU got rings later, its
 * own markers report the time.
 */
static bool is_without(const struct ktape_verify *v, unsigned int cpu)
{
	return v->without[cpu] && v->without[cpu] < v->question.to;
}

unsigned int ktape_verify_verdict(const struct ktape_verify *verify, int cpu,
				  const char **why)
{
	unsigned int result = KTAPE_ABSENT_PROVED;
	const char *reason = kt_question_is_return(verify) ?
				     why_on(verify, KT_CPUS_MAX, result) :
				     whys[result];
	bool any = false;

	if (cpu < 0 && verify->question.one_cpu)
		cpu = (int)verify->question.cpu;
	if (cpu >= 0) {
		result = absence_on(verify, (uint32_t)cpu);
		reason = why_on(verify, (uint32_t)cpu, result);
		any = true;
	}
	for (unsigned int i = 0; cpu < 0 && i < KT_CPUS_MAX; i++) {
		unsigned int here;

		if (!verify->cpus[i] && !is_lacking(verify, i) &&
		    !is_without(verify, i))
			continue;
		here = absence_on(verify, i);
		any = true;
		if (is_worse(here, result)) {
			result = here;
			reason = why_on(verify, i, here);
		}
	}
	if (!any) {
		result = KTAPE_ABSENT_NOT_ENABLED;
		reason = whys[result];
	}
	if (why)
		*why = reason;
	return result;
}

/* Check whether a field can hold a value. */
static bool can_hold(const struct ktape_field *f, uint64_t value)
{
	if (f->place == KTAPE_PLACE_BITS)
		return !(value >> f->count);
	if (f->place == KTAPE_PLACE_ARG && f->count > 1)
		return true;
	if (f->type == KTAPE_TYPE_S32 || f->type == KTAPE_TYPE_TID)
		return (uint64_t)(int64_t)(int32_t)value == value;
	return value <= UINT32_MAX;
}

int ktape_verify_ask(struct ktape_verify *verify, const struct ktape_absence *absence)
{
	const struct ktape_event_desc *desc = ktape_event_desc(absence->opcode);
	const struct ktape_field *f = NULL;

	if (verify->asked || absence->to <= absence->from || !desc ||
	    desc->event_class == KTAPE_CLASS_CONTROL ||
	    !kt_mask_has(verify->trace->info.known, absence->opcode))
		return -EINVAL;
	for (unsigned int i = 0; absence->field && i < desc->nr_fields; i++)
		if (!strcmp(desc->fields[i].name, absence->field) &&
		    desc->fields[i].place <= KTAPE_PLACE_REST)
			f = &desc->fields[i];
	if (absence->field && !f)
		return -EINVAL;
	if (f && !can_hold(f, absence->value))
		return -ERANGE;
	verify->asked = true;
	verify->question = *absence;
	verify->question.field = f ? f->name : NULL;
	verify->class = desc->event_class;
	verify->ring = ktape_class_desc(desc->event_class)->ring;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++)
		if (verify->cpus[i])
			verify->cpus[i]->absent.until = absence->from;
	return 0;
}

/*
 * Return the first tick that is not before @ns, by binary search, because
 * ktape_ticks_to_ns() rounds.  The search is limited to ticks whose ns fit 63 bits.
 */
static uint64_t first_tick(const struct ktape_info *info, uint64_t ns)
{
	uint64_t low = 0, high = INT64_MAX;

	if (info->freq < NS_PER_S)
		high = info->freq * (INT64_MAX / NS_PER_S);
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (ktape_ticks_to_ns(info, middle) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Return the time from @begin to @ns, 0 if @ns is earlier. */
static uint64_t time_since(int64_t ns, int64_t begin)
{
	return ns > begin ? (uint64_t)ns - (uint64_t)begin : 0;
}

uint64_t ktape_mono_ticks(const struct ktape_info *info, int64_t ns)
{
	return first_tick(info, time_since(ns, info->mono_offset_ns));
}

uint64_t ktape_epoch_ticks(const struct ktape_info *info, int64_t ns)
{
	int64_t begin = (int64_t)((uint64_t)info->offset_s * NS_PER_S);
	uint64_t ts = first_tick(info, time_since(ns, begin));

	return ts > info->offset ? ts - info->offset : 0;
}
