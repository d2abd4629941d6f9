// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rules about the packets of a stream: sequence numbers, times, checksum flags, and
 * the counters in the headers (rule bound).
 */
#include "verify/internal.h"

/* Most ticks from sync_clock to ts_begin in the first packet of a stream. */
#define SYNC_SLACK 1000

static uint64_t head_lost(const uint8_t *head)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		total += KT_HEAD64(head, lost[i]);
	return total;
}

static struct kt_counts head_counts(const uint8_t *head)
{
	struct kt_counts counts = {
		.emitted = KT_HEAD64(head, emitted),
		.filtered = KT_HEAD64(head, filtered),
		.lost = head_lost(head),
	};

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		counts.reasons[i] = KT_HEAD64(head, lost[i]);
	return counts;
}

/*
 * Check the sequence number of a packet.  Missing packets are a violation unless the packet after
 * them is marked with KTAPE_BLOCK_GAP.
 */
static void check_sequence(struct ktape_verify *v, struct kt_vring *r,
			   const struct kt_stream *s, const uint8_t *head)
{
	uint64_t seq = KT_HEAD64(head, seq);

	if (!r->there || seq == r->seq + 1)
		return;
	if (seq <= r->seq) {
		kt_verify_wrong(v, KTAPE_RULE_SEQUENCE, s,
				"packet %llu comes after packet %llu",
				(unsigned long long)seq,
				(unsigned long long)r->seq);
		kt_ring_hole(r);
	} else if (!(KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP)) {
		kt_verify_wrong(v, KTAPE_RULE_SEQUENCE, s,
				"%llu packets are missing, from number %llu on",
				(unsigned long long)(seq - r->seq - 1),
				(unsigned long long)(r->seq + 1));
		kt_ring_hole(r);
	}
}

static void check_times(struct ktape_verify *v, const struct kt_vring *r,
			const struct kt_stream *s, const uint8_t *head)
{
	uint64_t begin = KT_HEAD64(head, ts_begin);
	uint64_t end = KT_HEAD64(head, ts_end);

	if (r->there && begin < r->ts_end)
		kt_verify_wrong(v, KTAPE_RULE_TIME, s,
				"the packet begins %llu ticks before the end of the previous one",
				(unsigned long long)(r->ts_end - begin));
	if (end < begin)
		kt_verify_wrong(v, KTAPE_RULE_TIME, s,
				"the packet ends %llu ticks before it begins",
				(unsigned long long)(begin - end));
}

/* Check that the packet has a checksum: damage can hide by removing the flag. */
static void check_flags(struct ktape_verify *v, const struct kt_stream *s,
			const uint8_t *head)
{
	if (!(KT_HEAD32(head, flags) & KTAPE_BLOCK_CRC))
		kt_verify_wrong(v, KTAPE_RULE_CHECKSUM, s,
				"the packet has no checksum");
}

/* Keep the counters of a closed packet, whose records were all read, for the account. */
static void mark_closed(struct kt_vring *r)
{
	r->farthest.counts = r->head;
	r->farthest.counts.records = r->records;
	r->farthest.missed = r->missed;
	if (!r->nr_closed++)
		r->nearest = r->farthest;
	if (r->origin != KT_ORIGIN_NONE)
		return;
	r->origin = KT_ORIGIN_NEAR;
	r->from = r->farthest;
}

/*
 * Compare the counters of the last packet with its records, which were all read.
 *
 * The comparison has a tolerance in both directions.  An event is counted before it is
 * stored, so up to KT_DEPTH nested writers may have counted an event that is not in
 * the packet yet.  And the counters are not read at one moment, so events that were
 * filtered or lost meanwhile may be counted there, but not as emitted.
 *
 * If counting has not begun yet, the packet only begins it.  After a violation counting begins anew
 * with the next packet, so that each is reported once.
 */
void kt_verify_counters(struct ktape_verify *v, struct kt_vcpu *c, unsigned int ring)
{
	struct kt_vring *r = &c->ring[ring];
	struct kt_counts d;
	uint64_t missed = r->missed - r->base_missed;
	int64_t unaccounted, early;

	if (!r->counted || v->trace->info.converted)
		return;
	r->counted = false;
	mark_closed(r);
	if (!r->based) {
		r->based = true;
		r->base = r->head;
		r->base.records = r->records;
		r->base_missed = r->missed;
		return;
	}
	d.emitted = r->head.emitted - r->base.emitted;
	d.filtered = r->head.filtered - r->base.filtered;
	d.lost = r->head.lost - r->base.lost;
	d.records = r->records - r->base.records;
	unaccounted =
		(int64_t)(d.emitted - d.filtered - d.lost - d.records - missed);
	early = (int64_t)kt_max(KT_DEPTH, d.filtered + d.lost);
	/* A reader that was lapped reports the number of missed events only later. */
	if (unaccounted >= -early && (unaccounted <= KT_DEPTH || r->gaps))
		return;
	kt_verify_cpu_wrong(
		v, KTAPE_RULE_BOUND, c, ring,
		"up to here %llu events were emitted, %llu filtered, %llu lost, %llu missed, and there are %llu records: %lld are unaccounted for",
		(unsigned long long)d.emitted, (unsigned long long)d.filtered,
		(unsigned long long)d.lost, (unsigned long long)missed,
		(unsigned long long)d.records, (long long)unaccounted);
	r->based = false;
}

/* Keep the losses that the first packet of a ring, or the first after missing ones, reports. */
static void take_reported(struct kt_vring *r, const struct kt_counts *now,
			  uint64_t discarded)
{
	/* If the numbers differ, it is not known which of the ring's losses are reported. */
	bool all = discarded == now->lost;

	r->reported_before = kt_min(discarded, now->lost);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		r->reported_reasons[i] = all ? now->reasons[i] : 0;
}

/*
 * Keep the counters of a packet if they belong to its end.  The counters of an open
 * packet belong to the moment of the copy, which is later than its last record; they
 * are kept separately until a closed packet has larger ones.
 */
static void take_counts(struct kt_vring *r, const uint8_t *head)
{
	bool open = KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN;
	struct kt_counts now = head_counts(head);
	uint64_t discarded = KT_HEAD64(head, discarded);

	if (open && (!r->open || now.emitted > r->ahead.emitted))
		r->ahead = now;
	if (!open && r->open && now.emitted > r->ahead.emitted &&
	    now.lost >= r->ahead.lost)
		r->open = false;
	if (open) {
		r->open = true;
		return;
	}
	if (r->open)
		return;
	r->missed += kt_ring_missed_between(r, &now, discarded);
	if (!r->headed)
		take_reported(r, &now, discarded);
	r->head = now;
	r->head_discarded = discarded;
	r->headed = true;
	r->counted = true;
}

/*
 * Check that no counter goes back.  An open packet may have later counters than the closed
 * one after it.
 */
static void check_counters(struct ktape_verify *v, struct kt_vring *r,
			   const struct kt_stream *s, const uint8_t *head)
{
	struct kt_counts now = head_counts(head);
	/*
	 * If a nested writer closed a packet, the packet may count an event of the interrupted
	 * writer that is dropped afterwards.
	 */
	bool back = now.emitted + KT_DEPTH < r->high.emitted ||
		    now.filtered < r->high.filtered ||
		    KT_HEAD64(head, discarded) < r->discarded;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		back |= now.reasons[i] < r->high.reasons[i];
	/* check_sequence() has reported a packet whose number is not larger. */
	if (back && KT_HEAD64(head, seq) > r->seq)
		kt_verify_wrong(
			v, KTAPE_RULE_BOUND, s,
			"the packet counts fewer events than the one before it");
	if (!(KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN))
		r->high = now;
}

/*
 * Check for losses that the ring counted in or right before this packet.  Its number of reported
 * losses may lack them, because they are from before the reader attached.
 */
static bool has_unreported(const struct kt_vring *r, const uint8_t *head)
{
	uint64_t before = r->headed ? r->head.lost : 0;

	if (r->open)
		before = kt_max(before, r->ahead.lost);
	return head_lost(head) > before;
}

/*
 * Forget profile and filters: markers in the control ring may be missing, and names, which are
 * there in discard mode.
 */
static void lose_markers(struct ktape_verify *v, struct kt_vcpu *c)
{
	v->names_lost = true;
	c->filtered = false;
	c->masked = false;
}

/*
 * Return the last time at which pairs cannot be checked because of a loss before the packet,
 * or in it if @lost.  A packet is loaded as soon as the previous one was read.  Up to its begin,
 * other CPUs may record the end of calls that began during the loss.
 */
static uint64_t last_doubt(const uint8_t *head, bool lost)
{
	uint64_t begin = KT_HEAD64(head, ts_begin);

	if (lost)
		return KT_HEAD64(head, ts_end);
	return begin ? begin - 1 : 0;
}

/* Pass the losses before and in this packet to the rules about events. */
static void pass_losses(struct ktape_verify *v, struct kt_vcpu *c,
			struct kt_vring *r, const struct kt_stream *s,
			const uint8_t *head)
{
	uint64_t discarded = KT_HEAD64(head, discarded);
	bool open = KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN;
	bool gap = KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP ||
		   (r->there && KT_HEAD64(head, seq) != r->seq + 1);
	bool more = discarded > r->discarded || has_unreported(r, head);
	bool lost = more || r->doubt;
	uint64_t from = r->there ? r->ts_end : 0;

	r->gaps |= gap && r->there;
	r->nr_gaps += gap && r->there;
	r->doubt = open && more;
	/* A lost marker may be later than the markers in the previous packet. */
	if (r->lossy && s->kind == KTAPE_RING_CONTROL) {
		lose_markers(v, c);
		kt_absent_unknown(v, c, r->ts_begin);
	}
	r->lossy = lost;
	if (!gap && !lost)
		return;
	if (s->kind == KTAPE_RING_EVENT) {
		/* Outside discard mode, names are in event rings and may be lost, too. */
		v->events_lost = true;
		kt_verify_doubt(v, c, last_doubt(head, lost));
	} else {
		lose_markers(v, c);
		c->state = KT_STATE_UNKNOWN;
	}
	/*
	 * If the ring counted all that was lost, loss records will report its time and class.
	 * Otherwise events of any class may have been overwritten.
	 */
	if (gap || r->hole || !r->headed ||
	    discarded - r->head_discarded != head_lost(head) - r->head.lost)
		kt_absent_lost(v, c, s->kind, -1, from,
			       lost ? KT_HEAD64(head, ts_end) :
				      KT_HEAD64(head, ts_begin));
	else
		kt_absent_ring_lost(v, c, s->kind, from, KT_HEAD64(head, ts_end));
}

/* Begin a ring at its first packet with records; find out whether it is complete. */
static void begin_ring(struct ktape_verify *v, struct kt_vcpu *c,
		       unsigned int ring, const uint8_t *head)
{
	struct kt_vring *r = &c->ring[ring];

	r->full = true;
	r->first_ts = KT_HEAD64(head, ts_begin);
	r->late = r->cut && !r->carried &&
		  !(KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP);
	r->whole = KT_HEAD64(head, seq) == 1 &&
		   !(KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP) &&
		   KT_HEAD64(head, sync_clock) + SYNC_SLACK >=
			   KT_HEAD64(head, ts_begin);
	/* A piece of a log goes on with the counters of the piece before. */
	r->based = r->whole || (r->carried && r->based);
	r->headed = r->whole || (r->carried && r->headed);
	/* The counters of a stream that has the ring's first packet begin at 0. */
	if (r->whole && r->origin == KT_ORIGIN_NONE)
		r->origin = KT_ORIGIN_EXACT;
	r->class_based |= r->whole;
	/* What was overwritten before the first read is not counted in any packet. */
	if (!r->whole)
		kt_absent_lost(v, c, ring, -1, 0, KT_HEAD64(head, ts_begin));
	/* The CPU's events before this packet are missing: calls and pairs are not known. */
	if (ring == KTAPE_RING_EVENT && !r->carried &&
	    (KT_HEAD64(head, seq) > 1 || KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP))
		kt_verify_doubt(v, c, last_doubt(head, false));
}

/*
 * Check whether the beginning of the ring was overwritten before it was read.  Then even a
 * stream without records is not complete.
 */
static void check_cut(struct ktape_verify *v, struct kt_vcpu *c, struct kt_vring *r,
		      const struct kt_stream *s, const uint8_t *head)
{
	bool before = !kt_head_has_records(head) &&
		      !(KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN);

	/* The empty packet that a recorder puts before the first one has its number - 1. */
	r->cut = KT_HEAD64(head, seq) > !before ||
		 KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP;
	if (r->cut)
		kt_absent_lost(v, c, s->kind, -1, 0, KT_HEAD64(head, ts_begin));
	/* Thread -1 in the empty packet: an earlier piece of the log ends there (rotate.c). */
	r->carried = !kt_head_has_records(head) &&
		     (int32_t)KT_HEAD32(head, tid) < 0;
}

static void take_checked_packet(struct ktape_verify *v, struct kt_vcpu *c,
				struct kt_vring *r, const struct kt_stream *s,
				const uint8_t *head)
{
	bool full = kt_head_has_records(head);

	r->earlier = kt_ring_missed(r);
	if (!r->there)
		check_cut(v, c, r, s, head);
	/* At the end of the earlier piece, a flush closed the blocks of all CPUs one by one. */
	if (!r->there && r->carried && s->kind == KTAPE_RING_EVENT)
		kt_verify_doubt(v, c, KT_HEAD64(head, ts_end));
	if (full && !r->full)
		begin_ring(v, c, s->kind, head);
	pass_losses(v, c, r, s, head);
	/* The empty packet that a recorder puts at the beginning of a file has no counters. */
	if (full || KT_HEAD64(head, emitted)) {
		if (!v->trace->info.converted)
			check_counters(v, r, s, head);
		take_counts(r, head);
	}
	r->discarded = kt_max(r->discarded, KT_HEAD64(head, discarded));
	if (!r->missed_ts && kt_ring_missed(r))
		r->missed_ts = KT_HEAD64(head, ts_begin);
}

/* Check a packet header.  @c is the CPU, NULL for the stream of names. */
void kt_verify_header(struct ktape_verify *v, struct kt_vcpu *c,
		      const struct kt_stream *s, const uint8_t *head)
{
	struct kt_vring *r = c ? &c->ring[s->kind] : &v->registry;

	if (c)
		kt_verify_counters(v, c, s->kind);
	check_sequence(v, r, s, head);
	check_times(v, r, s, head);
	check_flags(v, s, head);
	kt_parts_packet(v, r, s, head);
	if (!r->there)
		r->source = s->source;
	if (c)
		take_checked_packet(v, c, r, s, head);
	/* The stream of a live trace goes on: its records before the ledger are missing. */
	if (c && r->cut_short) {
		r->cut_short = false;
		kt_verify_unaccounted(v, c, s->kind, false);
	}
	r->generation = kt_max(r->generation, KT_HEAD32(head, generation));
	/* Its counters include the events that were cut off. */
	if (s->packet.truncated)
		r->counted = false;
	r->there = true;
	r->packets++;
	r->steps_known = false;
	r->seq = KT_HEAD64(head, seq);
	r->offset = s->offset;
	r->ts_begin = KT_HEAD64(head, ts_begin);
	r->ts_end = kt_max(r->ts_end, KT_HEAD64(head, ts_end));
}

/* Check a packet header.  All records of the previous packet were read before. */
void kt_verify_packet(void *arg, struct kt_stream *s, const uint8_t *head)
{
	struct ktape_verify *v = arg;
	struct kt_vcpu *c = NULL;

	if (s->kind < KTAPE_RINGS_PER_CPU) {
		c = kt_verify_cpu(v, s->cpu);
		if (!c)
			return;
	}
	kt_verify_header(v, c, s, head);
}
