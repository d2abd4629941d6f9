// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parts of a trace that are missing although what is there is right.
 *
 * The other rules check streams that are there, so they find nothing if a file, a ring or a CPU
 * is missing as a whole.  The functions here check what holds of a trace that lacks nothing:
 *
 *	- each stream file begins with an empty packet,
 *	- a ring begins with its first packet, in modes that never overwrite,
 *	- a start or stop that has begun has all its markers,
 *	- each CPU that the metadata lists has packets,
 *	- a CPU with events has a control ring, and a CPU with a start has an event ring,
 *	- a ring ends with an open packet, or has a ledger that is not older than its end,
 *	- no packet header has a later generation (number of changes of profile and filters)
 *	  than all markers,
 *	- the trace has a stream of names.
 */
#include "verify/internal.h"

/*
 * Return whether a stream may begin with the packet: an empty one that a recorder made, which
 * unlike a block of a ring has no @sync_clock, or an empty block behind a gap.
 */
static bool is_first(const uint8_t *head)
{
	return !kt_head_has_records(head) &&
	       (!KT_HEAD64(head, sync_clock) ||
		KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP);
}

/*
 * Check that the first packet of a stream is one that a stream may begin with, and keep whether
 * packets were recovered and whether the last one was open.
 */
void kt_parts_packet(struct ktape_verify *v, struct kt_vring *r,
		     const struct kt_stream *s, const uint8_t *head)
{
	bool names = s->kind == KTAPE_RING_REGISTRY;
	uint32_t flags = KT_HEAD32(head, flags);

	/* If there is damage before this packet, it was reported. */
	if (!r->there && s->source == KT_SOURCE_FILE && !is_first(head) &&
	    !v->trace->info.converted && !r->hole && !(names && v->names_lost))
		kt_verify_wrong(v, KTAPE_RULE_SEQUENCE, s,
				"the stream begins with packet %llu and not with an empty packet: its beginning was cut off",
				(unsigned long long)KT_HEAD64(head, seq));
	r->recovered |= flags & KTAPE_BLOCK_UNCHECKED;
	if (kt_head_has_records(head) || flags & KTAPE_BLOCK_OPEN)
		r->open_end = flags & KTAPE_BLOCK_OPEN;
}

/*
 * At a packet's first record, check its generation.  A packet that was opened after a
 * marker has the marker's generation or a later one.
 */
void kt_parts_generation(struct ktape_verify *v, struct kt_vcpu *c,
			 const struct kt_stream *s)
{
	const uint8_t *head = s->packet.data;
	uint32_t generation = KT_HEAD32(head, generation);
	struct kt_vring *r = &c->ring[s->kind];

	if (generation < r->used)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"the packet is of generation %u of the profile, but one of generation %u came before it",
				generation, r->used);
	r->used = kt_max(r->used, generation);
	if (generation < c->profiled && KT_HEAD64(head, sync_clock) > c->profiled_ts)
		kt_verify_wrong(v, KTAPE_RULE_MARKER, s,
				"the packet is of generation %u of the profile, but a marker of generation %u came before it",
				generation, c->profiled);
}

/*
 * At a marker of the profile, check that no packet before it is of a later one, which is reported
 * once, and keep the marker's generation and time.
 */
void kt_parts_profile(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e)
{
	uint32_t generation = ktape_event_arg(e, 0);

	for (unsigned int i = 0; i < KTAPE_RINGS_PER_CPU; i++) {
		if (c->ring[i].used <= generation)
			continue;
		kt_verify_wrong(
			v, KTAPE_RULE_MARKER, v->trace->current,
			"the marker is of generation %u of the profile, but a packet of the %s ring before it is of generation %u",
			generation, i == KTAPE_RING_EVENT ? "event" : "control",
			c->ring[i].used);
		c->ring[i].used = generation;
	}
	if (generation < c->profiled)
		return;
	c->profiled = generation;
	c->profiled_ts = e->ts;
}

/* Report which CPUs had rings although there is no packet of them. */
static void report_cpus(struct ktape_verify *v)
{
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		if (!kt_verify_lacks(v, i))
			continue;
		kt_verify_cut(
			v, KTAPE_RULE_FORM, NULL, 0,
			v->with[i] ?
				"CPU %u got rings, but the trace has no packet of it" :
				"the metadata lists CPU %u, but the trace has no packet of it",
			i);
	}
}

/* Report which files have nothing. */
static void report_files(struct ktape_verify *v)
{
	static const char *const prefixes[] = { "cpu", "control" };
	char name[32];

	for (size_t i = 0; i < v->trace->nr_streams; i++) {
		const struct kt_stream *s = v->trace->streams[i];

		if (s->source != KT_SOURCE_FILE || s->begun || s->missing)
			continue;
		if (s->kind < KTAPE_RINGS_PER_CPU)
			snprintf(name, sizeof(name), "%s%u", prefixes[s->kind],
				 s->cpu);
		else
			strcpy(name, "registry");
		kt_verify_cut(v, KTAPE_RULE_FORM, NULL, 0,
			      "the file %s has no packet, not even the empty one that each stream begins with",
			      name);
	}
}

/* Return how many records the ring had written according to its last ledger. */
static uint64_t said_written(const struct kt_vring *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		sum += r->class[i].said.emitted - r->class[i].said.filtered -
		       r->class[i].said.lost;
	return sum;
}

/* Return whether the trace has no record of a ring and no packet that shows its end. */
static bool is_absent(const struct kt_vring *r)
{
	return !r->full && !r->open_end && !r->hole && !r->missed_ts;
}

/*
 * Return whether the event ring of a CPU had records and the trace has none of them.  A start
 * writes the running thread to each event ring, unless a filter excludes the CPU.
 */
static bool part_lacks_events(const struct kt_vcpu *c)
{
	const struct kt_vring *r = &c->ring[KTAPE_RING_EVENT];

	if (c->state == KT_STATE_OFF || c->damaged || r->cut_reported ||
	    !is_absent(r))
		return false;
	/* No start is known: the last ledger tells whether anything was written. */
	if (r->origin != KT_ORIGIN_EXACT && !r->there)
		return said_written(r) > 0;
	return c->state == KT_STATE_ON && c->masked && !r->carried &&
	       !(c->filters & 1U << KTAPE_FILTER_CPU);
}

/*
 * Report which ring of a CPU the trace does not have.  A later piece of a log may have no control
 * record of a CPU, if it has the end of the CPU's event ring.
 */
static void report_rings(struct ktape_verify *v, struct kt_vcpu *c)
{
	if (is_absent(&c->ring[KTAPE_RING_CONTROL]) &&
	    c->ring[KTAPE_RING_EVENT].full &&
	    !(c->ring[KTAPE_RING_CONTROL].carried &&
	      c->ring[KTAPE_RING_EVENT].open_end))
		kt_verify_cut(v, KTAPE_RULE_FORM, c, KTAPE_RING_EVENT,
			      "CPU %u has events, but no control records: nothing says what was recorded, filtered or lost",
			      c->cpu);
	if (!c->ring[KTAPE_RING_CONTROL].full || !part_lacks_events(c))
		return;
	c->ring[KTAPE_RING_EVENT].cut_reported = true;
	kt_verify_cut(v, KTAPE_RULE_FORM, c, KTAPE_RING_CONTROL,
		      "CPU %u has recorded, but the trace has nothing of its event ring",
		      c->cpu);
}

/* Report which rings of a mode that never overwrites do not begin with their first packet. */
static void report_late_rings(struct ktape_verify *v, struct kt_vcpu *c)
{
	for (unsigned int i = 0; i < KTAPE_RINGS_PER_CPU; i++)
		if (v->keeps && c->ring[i].late && !c->ring[i].cut_reported &&
		    !c->ring[i].hole)
			kt_verify_cut(v, KTAPE_RULE_SEQUENCE, c, i,
				      "the %s ring does not begin with its first packet, which this mode does not overwrite: the beginning was cut off, or another reader has taken it",
				      i == KTAPE_RING_EVENT ? "event" : "control");
}

/* Check that the markers of a start or stop that began are all there. */
static void check_markers(struct ktape_verify *v, struct kt_vcpu *c)
{
	const struct kt_vring *control = &c->ring[KTAPE_RING_CONTROL];
	const struct kt_vring *events = &c->ring[KTAPE_RING_EVENT];

	if (c->damaged || control->hole || control->gaps || control->doubt)
		return;
	if (c->state == KT_STATE_ENDING && c->ledgered)
		kt_verify_cut(v, KTAPE_RULE_MARKER, c, KTAPE_RING_CONTROL,
			      "the session's stop begins, but its end is not in the trace");
	else if (c->state == KT_STATE_ON && !c->marked && control->whole &&
		 events->ts_end > control->ts_begin && events->full)
		kt_verify_cut(v, KTAPE_RULE_MARKER, c, KTAPE_RING_CONTROL,
			      "the session has started, but the on-marker of its profile is not in the trace");
}

/* Return whether the last ledger of a ring is not older than its last closed packet. */
static bool is_ledgered(const struct kt_vring *r)
{
	uint64_t emitted = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++)
		emitted += r->class[i].said.emitted;
	return emitted >= r->farthest.counts.emitted;
}

/*
 * Report if the trace does not show the end of a CPU's event ring.  A recorder writes the open
 * packet last, or closes it by a flush, which writes a ledger.  A full ring that drops new
 * events has no open packet, so it is not checked.
 */
static void report_ring_end(struct ktape_verify *v, struct kt_vcpu *c)
{
	const struct kt_vring *control = &c->ring[KTAPE_RING_CONTROL];
	struct kt_vring *r = &c->ring[KTAPE_RING_EVENT];

	if (!r->full || r->open_end || r->recovered || r->hole || r->cut_reported ||
	    c->damaged || is_ledgered(r) || (v->keeps && r->farthest.counts.lost) ||
	    control->farthest.counts.lost || !control->there ||
	    c->state == KT_STATE_OFF || c->state == KT_STATE_OFFLINE)
		return;
	r->cut_reported = true;
	kt_verify_cut(v, KTAPE_RULE_LEDGER, c, KTAPE_RING_EVENT,
		      "nothing says that this is the last packet: the end was cut off, or the recorder was killed");
}

/* Report if a packet is of a later profile than all markers. */
static void report_generation(struct ktape_verify *v)
{
	uint32_t marked = 0, used = 0;

	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		const struct kt_vcpu *c = v->cpus[i];

		/* If the control ring ends before the event ring, another rule reports it. */
		if (!c || !c->profiled ||
		    c->ring[KTAPE_RING_EVENT].ts_end >
			    c->ring[KTAPE_RING_CONTROL].ts_end)
			continue;
		marked = kt_max(marked, c->generation);
		used = kt_max(used, c->ring[KTAPE_RING_EVENT].used);
	}
	if (marked && used > marked)
		kt_verify_cut(v, KTAPE_RULE_MARKER, NULL, 0,
			      "a packet is of generation %u of the profile, but the last marker is of generation %u",
			      used, marked);
}

/*
 * Report if the trace has no stream of names.  It cannot be compared by time with the rings,
 * because a recorder reads the names after the rings, and those of a session that has ended at
 * any later time.  A stream of names of another load of the module has another UUID, which
 * the reader of the trace refuses.
 */
static void report_missing_names(struct ktape_verify *v)
{
	if (!v->registry.there)
		kt_verify_cut(v, KTAPE_RULE_NAME, NULL, 0,
			      "the trace has no stream of names");
}

/* At the end of the trace, report what is missing. */
void kt_parts_end(struct ktape_verify *v)
{
	uint64_t last = 0;
	bool folder = v->trace->nr_streams &&
		      v->trace->streams[0]->source == KT_SOURCE_FILE;

	if (v->trace->single)
		return;
	report_files(v);
	report_cpus(v);
	for (unsigned int i = 0; i < KT_CPUS_MAX * KTAPE_RINGS_PER_CPU; i++) {
		const struct kt_vcpu *c = v->cpus[i / KTAPE_RINGS_PER_CPU];
		const struct kt_vring *r =
			c ? &c->ring[i % KTAPE_RINGS_PER_CPU] : NULL;

		if (!r || !r->there)
			continue;
		last = kt_max(last, r->ts_end);
	}
	if (!last) {
		kt_verify_cut(v, KTAPE_RULE_FORM, NULL, 0,
			      "the trace has no packet of any ring: there is nothing to check");
		return;
	}
	if (v->trace->info.converted)
		return;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		if (!v->cpus[i])
			continue;
		report_rings(v, v->cpus[i]);
		report_late_rings(v, v->cpus[i]);
		check_markers(v, v->cpus[i]);
		if (folder && !v->finished)
			report_ring_end(v, v->cpus[i]);
	}
	report_generation(v);
	report_missing_names(v);
}
