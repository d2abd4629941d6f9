// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The account of a ring: what became of the events that it has counted.
 *
 *	emitted = records + filtered + lost + overwritten + cut
 *
 * It begins at 0 if the trace has the first packet of the ring, otherwise at the ledger of a start
 * or at the end of the first closed packet.  It ends at the last ledger or at the last closed
 * packet.  Events between the two that the ring counted, that are neither records nor filtered
 * nor lost, and that packets do not report as missed (overwritten before they were read), are
 *
 *	overwritten	before the first packet, in modes that overwrite
 *	cut		before the first packet in other modes, or behind the last packet
 *	unaccounted	anything else: records or packets are missing without a reason
 *
 * Rule ledger compares the counters of classes, for which it needs the beginning of the ring.
 * The account also covers rings whose beginning is missing.
 */
#include "verify/internal.h"

/*
 * Return the number of records that a ring has written according to its counters.  Forged
 * counters may make it wrap around, so callers use differences only.
 */
static uint64_t written_records(const struct kt_counts *n)
{
	return n->emitted - n->filtered - n->lost;
}

/* Return the events between two places that are neither records nor missed. */
static int64_t unaccounted_between(const struct kt_mark *from,
				   const struct kt_mark *to)
{
	return (int64_t)(written_records(&to->counts) -
			 written_records(&from->counts) -
			 (to->counts.records - from->counts.records) -
			 (to->missed - from->missed));
}

/* Return the counters of the last ledger, and how many records were read before it. */
static struct kt_mark last_ledger(const struct kt_vring *r)
{
	struct kt_mark m = { .missed = kt_ring_missed(r) };

	for (unsigned int i = 0; i < KTAPE_CLASSES; i++) {
		m.counts.emitted += r->class[i].said.emitted;
		m.counts.filtered += r->class[i].said.filtered;
		m.counts.lost += r->class[i].said.lost;
	}
	m.counts.records = r->at;
	return m;
}

/* Return how many of the @unaccounted events the ring counted after its last packet. */
static int64_t unaccounted_behind(const struct kt_vring *r,
				  const struct kt_mark *end, int64_t unaccounted)
{
	struct kt_mark last = r->farthest;
	int64_t behind;

	if (!r->nr_closed && !r->open)
		return unaccounted;
	if (r->open && r->ahead.emitted >= last.counts.emitted) {
		last.counts = r->ahead;
		last.counts.records = r->records;
		last.missed = kt_ring_missed(r);
	}
	behind = unaccounted_between(&last, end);
	/*
	 * Up to KT_DEPTH nested writers may have counted an event before the packet was
	 * closed, and stored it afterwards.  So a rest of that many events is behind the
	 * packet, too, unless the beginning of the ring is missing: then it may be from there.
	 */
	if (behind > 0 && unaccounted - KT_DEPTH <= behind && (!r->cut || r->carried))
		return unaccounted;
	return behind <= KT_DEPTH   ? 0 :
	       behind < unaccounted ? behind :
				      unaccounted;
}

/*
 * Divide the @unaccounted events before the last packet into cut, overwritten and lacking.  Only
 * those before the first packet (front) can be explained: if it is not the ring's first one, the
 * account begins exactly, and the trace does not continue an earlier piece.  More than @slack
 * events that are unaccounted for between packets (middle) are lacking.
 */
static void divide_rest(const struct ktape_verify *v, const struct kt_vring *r,
			struct kt_account *a, int64_t unaccounted, int64_t slack)
{
	int64_t front = unaccounted, middle;

	if (!r->cut || r->carried || r->origin != KT_ORIGIN_EXACT) {
		a->lacking = unaccounted;
		return;
	}
	if (r->nr_closed)
		front = unaccounted_between(&r->from, &r->nearest);
	middle = unaccounted - front;
	if (r->hole || middle > slack || front < 0)
		a->lacking = middle;
	else
		front = unaccounted;
	if (front < 0)
		front = 0;
	a->head = v->keeps && front;
	if (v->keeps)
		a->cut += (uint64_t)front;
	else
		a->overwritten = (uint64_t)front;
}

/*
 * Return whether a ring has more records than it has counted, beyond a tolerance.  A writer
 * counts an event as filtered or lost before it counts it as emitted.  So at one moment the
 * counter of emitted events may be too small, by at most the number of events that were filtered
 * or lost.  An @early ledger, which is not that of a stop, does not count events that were missed
 * after it: if any were missed, it is not known when, so nothing is compared.  Nor is it if no
 * record was read before the ledger, or there is no ledger at all.
 */
static bool is_too_many(const struct kt_vring *r, const struct kt_mark *end,
			int64_t unaccounted, bool early)
{
	uint64_t filtered = end->counts.filtered - r->from.counts.filtered +
			    end->counts.lost - r->from.counts.lost;

	if (early)
		return unaccounted < -KT_DEPTH && !end->missed && r->at;
	return unaccounted <
	       -(int64_t)kt_min(kt_max(KT_DEPTH, filtered), (uint64_t)INT64_MAX);
}

/*
 * Make the account of a ring, all zeros if it is not known where the counting begins, or if the
 * trace is converted or of another tracer.
 */
static void account_ring(const struct ktape_verify *v, const struct kt_vcpu *c,
			 unsigned int ring, struct kt_account *a)
{
	const struct kt_vring *r = &c->ring[ring];
	struct kt_mark end = last_ledger(r);
	int64_t unaccounted, behind = 0, slack;
	bool ledger = true;

	memset(a, 0, sizeof(*a));
	if (r->origin == KT_ORIGIN_NONE || v->foreign || v->trace->info.converted)
		return;
	a->known = true;
	a->exact = r->origin == KT_ORIGIN_EXACT && c->state == KT_STATE_OFF &&
		   c->ledgered;
	if (!a->exact && r->nr_closed &&
	    r->farthest.counts.emitted > end.counts.emitted) {
		end = r->farthest;
		ledger = false;
	}
	/* At each place whose counters are not exact, nested writers may have counted only. */
	slack = a->exact && !r->gaps && !end.missed ?
			0 :
			(int64_t)(KT_DEPTH * (1 + r->nr_gaps));
	unaccounted = unaccounted_between(&r->from, &end);
	a->filtered = end.counts.filtered - r->from.counts.filtered;
	a->lost = end.counts.lost - r->from.counts.lost;
	/* Before @from and behind @end only records and missed events are known. */
	a->emitted = r->from.counts.records + r->from.missed +
		     end.counts.emitted - r->from.counts.emitted + r->records -
		     end.counts.records + kt_ring_missed(r) - end.missed;
	if (is_too_many(r, &end, unaccounted, ledger && !a->exact)) {
		a->lacking = unaccounted;
		return;
	}
	if (unaccounted <= slack && !(r->cut && a->exact && unaccounted > 0)) {
		/*
		 * Nested writers had not stored these events yet, or records came after
		 * the last counters.  But if the counts are exact and the beginning of the
		 * ring is missing, even a few events are from before its first packet.
		 */
		if (!a->exact)
			a->emitted -= (uint64_t)unaccounted;
		return;
	}
	if (ledger)
		behind = unaccounted_behind(r, &end, unaccounted);
	a->cut = (uint64_t)behind;
	if (unaccounted > behind)
		divide_rest(v, r, a, unaccounted - behind, slack);
}

static const char *account_ring_name(unsigned int ring)
{
	return ring == KTAPE_RING_EVENT ? "event" : "control";
}

/*
 * Compare the ledger of a stop with the last packet of an event ring, whose counters must not
 * be larger.  If a file ends with an open packet, the recorder copied it after the stop, so its
 * counters must be equal.  Nothing is compared if records follow the ledger.  A control ring also
 * counts the records of the ledger itself, so it is never compared.
 */
static void compare_head(struct ktape_verify *v, struct kt_vcpu *c, unsigned int ring)
{
	const struct kt_vring *r = &c->ring[ring];
	struct kt_counts said = last_ledger(r).counts;
	const struct kt_counts *n = r->open ? &r->ahead : &r->farthest.counts;
	bool same = r->open && r->open_end && r->source == KT_SOURCE_FILE;

	if (ring != KTAPE_RING_EVENT || (!r->open && !r->nr_closed) ||
	    !v->finished || r->records != r->at)
		return;
	if (n->emitted <= said.emitted && n->filtered <= said.filtered &&
	    n->lost <= said.lost &&
	    (!same || (n->emitted == said.emitted &&
		       n->filtered == said.filtered && n->lost == said.lost)))
		return;
	kt_verify_cpu_wrong(
		v, KTAPE_RULE_LEDGER, c, ring,
		"the ledger of the stop has %llu events, %llu filtered and %llu lost, but the last packet has %llu, %llu and %llu",
		(unsigned long long)said.emitted, (unsigned long long)said.filtered,
		(unsigned long long)said.lost, (unsigned long long)n->emitted,
		(unsigned long long)n->filtered, (unsigned long long)n->lost);
}

/* Report what the account of a ring does not explain. */
static void check_ring_account(struct ktape_verify *v, struct kt_vcpu *c,
			       unsigned int ring)
{
	struct kt_vring *r = &c->ring[ring];
	struct kt_account a;

	account_ring(v, c, ring, &a);
	/* Missing packets and damage have findings of their own. */
	if (r->hole || c->damaged)
		return;
	if (a.lacking)
		kt_verify_cpu_wrong(
			v, KTAPE_RULE_LEDGER, c, ring,
			"of %llu events of the %s ring %lld are unaccounted for: they are no records, and were not filtered, lost or overwritten",
			(unsigned long long)a.emitted, account_ring_name(ring),
			(long long)a.lacking);
	else if (a.cut && a.head)
		kt_verify_cut(
			v, KTAPE_RULE_LEDGER, c, ring,
			"%llu of %llu events of the %s ring are missing before its first packet: the beginning was cut off, or another reader has taken them",
			(unsigned long long)a.cut,
			(unsigned long long)a.emitted, account_ring_name(ring));
	else if (a.cut && a.exact && v->finished)
		kt_verify_cpu_wrong(
			v, KTAPE_RULE_LEDGER, c, ring,
			"the last %llu of %llu events of the %s ring are missing: its end was cut off",
			(unsigned long long)a.cut,
			(unsigned long long)a.emitted, account_ring_name(ring));
	else if (a.cut && !r->cut_reported)
		kt_verify_cut(v, KTAPE_RULE_LEDGER, c, ring,
			      "%llu events of the %s ring up to its last ledger are missing behind its last packet: the end was cut off, or the recording ended before they were read",
			      (unsigned long long)a.cut, account_ring_name(ring));
	r->cut_reported |= a.cut > 0;
	if (!a.cut && a.exact)
		compare_head(v, c, ring);
}

/* At the end of the trace, check the accounts of all rings. */
void kt_account_end(struct ktape_verify *v)
{
	if (v->trace->single || v->trace->info.converted)
		return;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++)
		for (unsigned int ring = 0;
		     v->cpus[i] && ring < KTAPE_RINGS_PER_CPU; ring++)
			check_ring_account(v, v->cpus[i], ring);
}

/* Add the events that a ring has filtered and lost, as headers of packets say. */
static void add_reported(const struct kt_vring *r, struct ktape_verify_cpu *cpu)
{
	cpu->lost += r->reported_before;
	if (!r->based)
		return;
	cpu->filtered +=
		kt_max(r->head.filtered, r->ahead.filtered) - r->base.filtered;
	cpu->lost += kt_max(r->head.lost, r->ahead.lost) - r->base.lost;
}

/*
 * Add the numbers of a ring to those of its CPU.  Filtered and lost events are those of the ledger
 * of a stop if the account is exact, else those of packet headers.
 */
static void add_ring(const struct ktape_verify *v, const struct kt_vcpu *c,
		     unsigned int ring, struct ktape_verify_cpu *cpu)
{
	const struct kt_vring *r = &c->ring[ring];
	struct ktape_verify_cpu reported = { .cpu = 0 };
	struct kt_account a;

	account_ring(v, c, ring, &a);
	add_reported(r, &reported);
	if (a.exact) {
		reported.filtered = a.filtered;
		reported.lost = a.lost;
	}
	cpu->packets += r->packets;
	cpu->records += r->records;
	cpu->filtered += reported.filtered;
	cpu->lost += reported.lost;
	cpu->missed += kt_ring_missed(r) + a.overwritten;
	cpu->cut += a.cut;
	cpu->counted &= a.exact;
	cpu->emitted +=
		a.exact ? a.emitted :
			  r->records + reported.filtered + reported.lost +
				  kt_ring_missed(r) + a.overwritten + a.cut +
				  (a.lacking > 0 ? (uint64_t)a.lacking : 0);
}

/* Return how many events a ring lost for one reason. */
static uint64_t ring_reason(const struct kt_vring *r, unsigned int reason)
{
	uint64_t at_end = kt_max(r->head.reasons[reason], r->ahead.reasons[reason]);

	return r->reported_reasons[reason] +
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
		/* Each event takes the average sample, also one that is not stored. */
		ticks = c->sampled / c->samples *
				(cpu->records + cpu->filtered + cpu->lost) +
			c->opening;
		cpu->tracer_ns = ktape_ticks_to_ns(&verify->trace->info, ticks);
	}
	return true;
}

/*
 * Add what is known of a CPU to the sum.  Return: whether it has a control ring, and nothing of its
 * rings is damaged, missing or unaccounted for.
 */
static bool add_account_cpu(const struct ktape_verify *v,
			    const struct kt_vcpu *c, struct ktape_verify_sum *sum)
{
	struct ktape_verify_cpu total = { .cpu = c->cpu };
	bool right = !c->damaged && !c->cut_off && c->ring[KTAPE_RING_CONTROL].there;
	struct kt_account a;

	ktape_verify_next_cpu(v, &total);
	sum->cut += total.cut;
	sum->emitted += total.emitted;
	sum->accounted += total.records + total.filtered + total.lost + total.missed;
	for (unsigned int i = 0; i < KTAPE_RINGS_PER_CPU; i++) {
		account_ring(v, c, i, &a);
		right &= !a.lacking && !a.cut && !c->ring[i].cut_reported;
		sum->exact &= a.exact;
	}
	return right;
}

void ktape_verify_sum(const struct ktape_verify *verify, struct ktape_verify_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	sum->exact = true;
	sum->cuts = verify->cuts;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		const struct kt_vcpu *c = verify->cpus[i];

		sum->cpus += c || kt_verify_lacks(verify, i);
		sum->judged += c && add_account_cpu(verify, c, sum);
	}
	/* In a damaged trace the counters may be smaller than what was read. */
	sum->emitted = kt_max(sum->emitted, sum->accounted);
}
