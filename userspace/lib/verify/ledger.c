// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules ledger and loss: emitted = records + filtered + lost for each class.
 *
 * A ledger is a set of control records with the counters of all classes.  Those of a start are
 * the base: what later ledgers have more is compared with the records since then.  A ledger is
 * exact at the start and stop of a session, because no event can occur then.
 *
 * If the writer overwrote events before the reader read them, a packet header, perhaps a later
 * one, reports how many, but not of which class.  Then the rule checks only that no class has
 * too many records, and at the end of the trace that the sum over all classes is right.
 */
#include "verify/internal.h"

/* When a ledger was written, as in its dat20. */
enum { MOMENT_STOP, MOMENT_START, MOMENT_FLUSH };

/* Counters in the blob of a ledger: emitted, filtered, and lost by each reason. */
#define COUNTS (2 + KTAPE_LOST_REASONS)

static const char *class_name(unsigned int class)
{
	const struct ktape_class_desc *desc = ktape_class_desc(class);

	return desc ? desc->name : "unknown";
}

static const char *ledger_ring_name(unsigned int ring)
{
	return ring == KTAPE_RING_EVENT ? "event" : "control";
}

/* Return how many events of a class are unaccounted for. */
static int64_t missing_events(const struct kt_vclass *k)
{
	return (int64_t)((k->said.emitted - k->base.emitted) -
			 (k->said.filtered - k->base.filtered) -
			 (k->said.lost - k->base.lost) -
			 (k->records - k->base.records));
}

/* Report a class whose counters do not match. */
static void report_class(struct ktape_verify *v, struct kt_vcpu *c,
			 unsigned int ring, unsigned int class, int64_t unaccounted)
{
	const struct kt_vclass *k = &c->ring[ring].class[class];

	kt_verify_cpu_wrong(
		v, KTAPE_RULE_LEDGER, c, ring,
		"class %s in the %s ring: %llu emitted, %llu filtered, %llu lost, %llu records: %lld are unaccounted for",
		class_name(class), ledger_ring_name(ring),
		(unsigned long long)(k->said.emitted - k->base.emitted),
		(unsigned long long)(k->said.filtered - k->base.filtered),
		(unsigned long long)(k->said.lost - k->base.lost),
		(unsigned long long)(k->records - k->base.records),
		(long long)unaccounted);
}

/* Report how many events are missing from a recording that ended early. */
static void note_cut_short(struct ktape_verify *v, const struct kt_vcpu *c,
			   unsigned int ring)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		int64_t unaccounted = c->ring[ring].class[i].unaccounted;

		sum += unaccounted > 0 ? (uint64_t)unaccounted : 0;
	}
	kt_verify_cut(v, KTAPE_RULE_LEDGER, NULL, 0,
		      "CPU %u: %llu events of the %s ring up to its last ledger are not in the trace: the stream was cut off, or the recording ended before they were read",
		      c->cpu, (unsigned long long)sum, ledger_ring_name(ring));
}

/*
 * Check what was unaccounted for in the classes of a ring at its last exact ledger, once.  What
 * the recording may have ended before is a note; what missed events do not explain either is a
 * violation.  @last: this is the end of the trace.
 */
void kt_verify_unaccounted(struct ktape_verify *v, struct kt_vcpu *c,
			   unsigned int ring, bool last)
{
	struct kt_vring *r = &c->ring[ring];
	uint64_t missed = kt_ring_missed(r) - r->class_missed;
	int64_t least = (int64_t)(kt_ring_missed(r) - r->class_missed_most);
	bool unread = r->cut_short && !v->finished;
	bool lacks = missed || r->gaps || unread;
	int64_t sum = 0;

	if (!r->exact)
		return;
	r->exact = false;
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		sum += r->class[i].unaccounted;
		if (r->class[i].unaccounted < 0 ||
		    (r->class[i].unaccounted && !lacks))
			report_class(v, c, ring, i, r->class[i].unaccounted);
	}
	if (unread)
		note_cut_short(v, c, ring);
	r->cut_reported |= unread;
	/* If the session went on after the ledger, @missed has events that are not in @sum. */
	if (last && c->state == KT_STATE_OFF && (missed || r->gaps) &&
	    !unread && (sum < least || sum > (int64_t)missed))
		kt_verify_cpu_wrong(
			v, KTAPE_RULE_LEDGER, c, ring,
			"%lld records are missing, but %llu were reported as missed",
			(long long)sum, (unsigned long long)missed);
}

/* Begin counting the classes of a ring at the ledger of this time. */
static void begin_classes(struct kt_vring *r, uint64_t ts)
{
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		struct kt_vclass *k = &r->class[i];

		k->base = k->said;
		k->base.records = k->records;
		k->reported_base = k->reported;
		k->unaccounted = 0;
	}
	r->class_based = true;
	/* If the last packet begins after @ts, what it reports as missed may be from before or after. */
	r->class_missed_most = kt_ring_missed(r);
	r->class_missed = r->ts_begin > ts ? r->earlier : r->class_missed_most;
	r->hole = false;
	r->exact = false;
	r->cut_short = false;
	r->stop_checked = false;
}

/* At an exact ledger, check that loss records have reported all losses. */
static void check_reported(struct ktape_verify *v, struct kt_vcpu *c,
			   unsigned int ring)
{
	const struct kt_vring *control = &c->ring[KTAPE_RING_CONTROL];
	struct kt_vring *r = &c->ring[ring];

	/* If the control ring lost records, loss records may be among them. */
	r->reported = !control->hole && !control->gaps &&
		      kt_mask_has(v->trace->info.known, KTAPE_EV_LOSS) &&
		      control->class[KTAPE_CLASS_CONTROL].said.lost ==
			      control->class[KTAPE_CLASS_CONTROL].base.lost;
	if (!r->reported)
		return;
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		const struct kt_vclass *k = &r->class[i];
		uint64_t lost = k->said.lost - k->base.lost;

		if (k->reported - k->reported_base == lost)
			continue;
		r->reported = false;
		kt_verify_cpu_wrong(
			v, KTAPE_RULE_LOSS, c, KTAPE_RING_CONTROL,
			"class %s in the %s ring: %llu events lost, but loss records report %llu",
			class_name(i), ledger_ring_name(ring),
			(unsigned long long)lost,
			(unsigned long long)(k->reported - k->reported_base));
	}
}

/* Check a ring at a ledger. */
static void check_ring(struct ktape_verify *v, struct kt_vcpu *c,
		       unsigned int ring, unsigned int moment, uint64_t ts)
{
	struct kt_vring *r = &c->ring[ring];
	bool exact = moment != MOMENT_FLUSH, some_unaccounted = false;
	int64_t unaccounted;

	/* If the stream has ended, wait for the end of the trace, which may explain more. */
	if (!r->cut_short)
		kt_verify_unaccounted(v, c, ring, false);
	if (r->class_based && !r->hole && !r->unknown_class) {
		for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
			unaccounted = missing_events(&r->class[i]);
			some_unaccounted |= unaccounted > 0;
			if (exact)
				r->class[i].unaccounted = unaccounted;
			else if (unaccounted < -KT_DEPTH)
				report_class(v, c, ring, i, unaccounted);
		}
		if (exact) {
			r->exact = true;
			r->cut_short = some_unaccounted && r->there &&
				       kt_verify_exhausted(v, c->cpu, ring);
			check_reported(v, c, ring);
		}
		r->stop_checked |= moment == MOMENT_STOP && !r->cut_short;
	}
	/* Do not begin if records after the start were overwritten before they were read. */
	if (moment == MOMENT_START && (!r->class_based || r->hole) &&
	    (r->full ? r->first_ts <= ts : !r->cut))
		begin_classes(r, ts);
}

/*
 * Begin the account of a ring at the ledger of a start, if it has not begun and, for an event
 * ring, no record was read.  Missed events were before the start if the first packet that
 * reports some is.
 */
static void begin_account(struct kt_vring *r, unsigned int ring, uint64_t ts)
{
	struct kt_mark *m = &r->from;

	/*
	 * An empty packet, which may have set @origin, is loaded before the events that
	 * precede it in time are delivered, so the account can begin again here.
	 */
	if (r->origin == KT_ORIGIN_EXACT || m->counts.records ||
	    (ring == KTAPE_RING_EVENT && r->records))
		return;
	r->origin = KT_ORIGIN_EXACT;
	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		m->counts.emitted += r->class[i].said.emitted;
		m->counts.filtered += r->class[i].said.filtered;
		m->counts.lost += r->class[i].said.lost;
	}
	m->counts.records = r->records;
	m->missed = r->missed_ts >= ts ? 0 : kt_ring_missed(r);
}

/*
 * Read the ledger of one class.  In its dat20 are the class (5 bits), the ring (3) and the moment
 * (3).  The control class of the control ring comes last: then the ledgers of all classes are
 * known.
 * Return: whether it is the last one of a start.
 */
bool kt_verify_ledger(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct ktape_event *e)
{
	unsigned int class = e->dat20 & 31, ring = e->dat20 >> 5 & 7;
	unsigned int moment = e->dat20 >> 8 & 7;
	const uint8_t *p = e->blob;
	struct kt_counts *said;

	if (ring >= KTAPE_RINGS_PER_CPU || moment > MOMENT_FLUSH || !p ||
	    e->blob_size < COUNTS * 8) {
		kt_verify_wrong(v, KTAPE_RULE_FORM, v->trace->current,
				"a ledger record with an invalid ring or moment");
		return false;
	}
	said = &c->ring[ring].class[class].said;
	said->emitted = kt_get64(p);
	said->filtered = kt_get64(p + 8);
	said->lost = 0;
	for (unsigned int i = 2; i < COUNTS; i++)
		said->lost += kt_get64(p + i * 8);
	if (ring != KTAPE_RING_CONTROL || class != KTAPE_CLASS_CONTROL)
		return false;
	/* An event ring without packets is complete if the control ring is. */
	if (!c->ring[KTAPE_RING_EVENT].there && c->ring[ring].whole)
		c->ring[KTAPE_RING_EVENT].class_based = true;
	/* Of a trace that is a single stream file, the other ring was not read. */
	for (unsigned int i = 0; i < KTAPE_RINGS_PER_CPU; i++)
		if (c->ring[i].there || !v->trace->single) {
			check_ring(v, c, i, moment, e->ts);
			c->ring[i].at = c->ring[i].records;
			if (moment == MOMENT_START)
				begin_account(&c->ring[i], i, e->ts);
		}
	c->ledgered |= moment == MOMENT_STOP;
	return moment == MOMENT_START;
}

/* Read a loss record.  Class and ring are as in a ledger. */
void kt_verify_loss(struct ktape_verify *v, struct kt_vcpu *c,
		    const struct ktape_event *e)
{
	unsigned int class = e->dat20 & 31, ring = e->dat20 >> 5 & 7;
	uint64_t first, last;

	if (ring >= KTAPE_RINGS_PER_CPU || e->nargs != 6) {
		kt_verify_wrong(v, KTAPE_RULE_FORM, v->trace->current,
				"a loss record with an invalid ring");
		return;
	}
	first = kt_get64(e->args);
	last = kt_get64((const uint8_t *)e->args + 8);
	/*
	 * The loss has times of its own ring, which stand still when the clock steps back, so a few
	 * ticks are tolerated.
	 */
	if (first > last || last > e->ts + KT_DEPTH) {
		kt_verify_wrong(
			v, KTAPE_RULE_LOSS, v->trace->current,
			"a loss record whose interval ends before it begins, or after the record");
		last = kt_max(first, last);
	}
	c->ring[ring].class[class].reported +=
		kt_get64((const uint8_t *)e->args + 16);
	/* A marker of a filter or profile may be among the lost records. */
	if (ring == KTAPE_RING_CONTROL && class == KTAPE_CLASS_CONTROL) {
		c->filtered = false;
		c->masked = false;
	}
	kt_absent_lost(v, c, ring, (int)class, first, last);
}
