// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rings whose beginning is not in the trace.
 *
 * A flight recorder overwrites the oldest blocks of each ring, sooner in the rings of busy
 * CPUs.  So an event ring may begin later than those of other CPUs, and later than the
 * control ring of the same CPU, which names the running thread only now and then.  It is not
 * known what ran on the CPU between two such control records, and from the last of them to the
 * first event of the ring.
 *
 * The number of the first packet with records shows that packets came before it, which
 * do not belong to an earlier piece of a log.  The time before that packet is reported in
 * parts: each up to the next event of the CPU, and ahead of all events in that time.
 */
#include "stream/decode.h"
#include "trace/trace.h"

/* Check whether the packets before this one are missing because the input is damaged. */
static bool is_damaged(const struct ktape_trace *t, const struct kt_stream *s)
{
	return s->missing || (s->source != KT_SOURCE_FILE && t->missing &&
			      t->missing_at <= s->offset);
}

/*
 * Check whether other packets of the ring came before the first packet of a stream.  A recorder
 * begins a stream with an empty packet that it made.  This has the number of the packet before
 * the first one: 0 if nothing came before, because packets are numbered from 1.  Thread -1 in it
 * means that the packet before is in an earlier piece, one file or folder of a rotating log
 * (record/rotate.c).
 */
static bool is_cut(const uint8_t *head)
{
	const uint8_t context = head[offsetof(struct ktape_block, context)];
	const bool made = !kt_head_has_records(head) &&
			  context == KTAPE_CTX_CONTINUED;

	if (made && (int32_t)KT_HEAD32(head, tid) < 0)
		return false;
	return KT_HEAD64(head, seq) > !made ||
	       KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP ||
	       (kt_head_has_records(head) && context == KTAPE_CTX_UNKNOWN);
}

/*
 * Count the events that the ring stored before a packet, without those that the packet reports
 * as lost.  Return: false if the packet has no counts.
 */
static bool count_before(const struct ktape_trace *t, const uint8_t *head,
			 size_t len, uint64_t *count)
{
	const uint64_t emitted = KT_HEAD64(head, emitted);
	const uint64_t discarded = KT_HEAD64(head, discarded);
	uint64_t lost = 0, other;

	*count = 0;
	/*
	 * The counters of an open packet were read later than its records, and count events that
	 * it does not have.
	 */
	if (!emitted || t->info.converted || KT_HEAD32(head, flags) & KTAPE_BLOCK_OPEN)
		return false;
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += KT_HEAD64(head, lost[i]);
	other = KT_HEAD64(head, filtered) + kt_max(lost, discarded) +
		kt_records_count(head, KTAPE_BLOCK_HEADER,
				 kt_min(KT_HEAD64(head, content_bits) / 8, len));
	*count = emitted > other ? emitted - other : 0;
	return true;
}

/**
 * kt_begin_packet() - find out whether a stream begins behind the beginning of its ring
 * @t: the trace
 * @s: the stream, at a packet; what precedes the packet is not accounted for yet
 * @head: the packet
 * @len: bytes of it that are there
 */
void kt_begin_packet(struct ktape_trace *t, struct kt_stream *s,
		     const uint8_t *head, size_t len)
{
	bool counted;

	/* A stream of a slice begins where that of the slice before ends: nothing is missing. */
	if (s->begin_checked || s->kind == KTAPE_RING_REGISTRY ||
	    s->source == KT_SOURCE_SLICE)
		return;
	if (!s->begun)
		s->cut = is_cut(head) && !is_damaged(t, s);
	if (!kt_head_has_records(head))
		return;
	s->begin_checked = true;
	if (!s->cut)
		return;
	counted = count_before(t, head, len, &s->gone_count);
	/*
	 * Nothing was overwritten before packet 1: the ring was cleared before its first event,
	 * or the packet reports all events before it as lost; see module/ring/ring.c.  Up to
	 * KT_DEPTH counts may be of interrupted writers that have not stored their records yet.
	 */
	if (KT_HEAD64(head, seq) == 1 &&
	    !(KT_HEAD32(head, flags) & KTAPE_BLOCK_GAP) && s->gone_count <= KT_DEPTH)
		s->gone_count = 0;
	s->gone = s->gone_count || (!counted && KT_HEAD64(head, seq) > 1);
	/* Let kt_loss_before() check this stream from the next event on. */
	if (s->gone) {
		t->has_missing = true;
		t->quiet_until = 0;
	}
}

/* Return the time of the next event of a stream's CPU. */
static uint64_t first_next_event(const struct ktape_trace *t,
				 const struct kt_stream *s)
{
	uint64_t next = s->event.ts;

	for (size_t i = 0; i < t->nr_streams; i++) {
		const struct kt_stream *o = t->streams[i];

		if (o->in_heap && o->cpu == s->cpu && o->kind != KTAPE_RING_REGISTRY)
			next = kt_min(next, o->event.ts);
	}
	return next;
}

/* Report one more part of the time in which it is not known what a CPU did. */
static void report_part(const struct ktape_trace *t, const struct kt_stream *s,
			uint64_t from, uint64_t to)
{
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.continued = s->gone_from,
		.reasons = KTAPE_NOTICE_OVERWRITTEN,
		.cpu = s->cpu,
		.ring = s->kind,
		.from = from,
		.to = to,
		.overwritten = s->gone_from ? 0 : s->gone_count,
	};

	/* Which thread runs is not known now, so control records in this time get none. */
	if (to > from && s->kind == KTAPE_RING_EVENT)
		t->decoder->tid[s->cpu] = -1;
	if (t->options.notice)
		t->options.notice(t->options.arg, &n);
}

/**
 * kt_begin_before() - report up to when a CPU is not known, before an event
 * @t: the trace
 * @s: a stream with @gone
 * @e: the event that comes next, of any stream
 *
 * Return: true if there is more to report before a later event.
 */
bool kt_begin_before(struct ktape_trace *t, struct kt_stream *s,
		     const struct ktape_event *e)
{
	uint64_t from, to;

	/* Names have the time at which they were read, and metadata events have no time. */
	if (e->kind == KTAPE_RING_REGISTRY || ktape_event_is_metadata(e) ||
	    s->gone_from > e->ts)
		return true;
	s->gone = false;
	if (!s->in_heap)
		return false;
	from = s->gone_from ? s->gone_from : e->ts;
	to = kt_max(first_next_event(t, s), from);
	if (!s->gone_from || to > from)
		report_part(t, s, from, to);
	s->gone_from = kt_max(to, 1); /* 0 = not reported yet */
	s->gone = to < s->event.ts;
	return s->gone;
}
