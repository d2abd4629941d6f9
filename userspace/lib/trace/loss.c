// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Losses that a trace reports in their places: those found while it is opened, those of
 * a live stream, and those that damage hides.
 *
 * Losses found while a trace is opened.  Opening a folder reads up to the first event of
 * each stream, which may be long after its first packet, but the caller gets no event before the
 * trace is open.  These losses wait and are reported in their places: before the first event
 * that is not earlier than their end.
 *
 * A live stream.  Packets arrive long before their events are delivered, and one without
 * events is read as soon as it arrives.  A loss that such packets count waits until the
 * events reach its begin, or its end if its stream had no event yet.  That is where
 * reading the same packets from files would report it.
 *
 * Damage.  Where a stream is damaged, an unknown number of events may be missing from its
 * last good time to its next packet.  If no packet follows, they are missing to the end
 * of the trace.  Then the loss is reported in parts, one before each later event of that CPU
 * from another ring, so that the caller does not account the time to the thread that ran last.
 * All parts but the first are marked as such, because they are one loss.
 *
 * begin.c reports what was overwritten before a stream begins; kt_loss_before() calls it for the
 * streams that begin later than the trace.
 */
#include "trace/trace.h"

#define LOSSES_MAX (1U << 16) /* that wait */

/*
 * Make room for another loss that waits, by dropping those that were reported.
 * Return: 0, -ENOBUFS if LOSSES_MAX wait, or -ENOMEM.
 */
static int make_loss_room(struct ktape_trace *t)
{
	struct kt_loss *more;

	if (t->reported_losses == t->nr_losses && !t->opening)
		t->reported_losses = t->nr_losses = 0;
	if (t->nr_losses == LOSSES_MAX && t->reported_losses) {
		t->nr_losses -= t->reported_losses;
		memmove(t->losses, t->losses + t->reported_losses,
			t->nr_losses * sizeof(*t->losses));
		t->reported_losses = 0;
	}
	if (t->nr_losses == LOSSES_MAX)
		return -ENOBUFS;
	/* Room is doubled whenever the number is a power of two. */
	if (t->nr_losses & (t->nr_losses - 1))
		return 0;
	more = realloc(t->losses,
		       (t->nr_losses ? t->nr_losses * 2 : 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->losses = more;
	return 0;
}

/**
 * kt_loss_report() - report a loss, or keep it until its place is reached
 * @t: the trace
 * @s: its stream
 * @n: the loss
 *
 * Where LOSSES_MAX wait already, it is reported at once.  Without memory to keep it, the trace
 * gets @failed.  Nothing is kept for a caller that wants no notices.
 */
void kt_loss_report(struct ktape_trace *t, const struct kt_stream *s,
		    const struct ktape_notice *n)
{
	uint64_t at = t->opening || !s->filled ? n->to : n->from;
	bool ahead = t->live && at > t->reached;
	size_t i;
	int err;

	if (!t->options.notice)
		return;
	err = t->opening || ahead ? make_loss_room(t) : -ENOBUFS;
	/*
	 * Without memory the trace fails.  If the loss were reported here, before its place, a
	 * caller that skips to a later time would ignore it.
	 */
	if (err == -ENOMEM) {
		t->failed = err;
		return;
	}
	if (err) {
		t->options.notice(t->options.arg, n);
		return;
	}
	/* kt_loss_opened() sorts the losses that are found while the trace is opened. */
	for (i = t->nr_losses++; i > t->reported_losses && !t->opening; i--) {
		if (t->losses[i - 1].at <= at)
			break;
		t->losses[i] = t->losses[i - 1];
	}
	t->losses[i] = (struct kt_loss){
		.cpu = n->cpu,
		.ring = n->ring,
		.count = n->count,
		.packets = n->packets,
		.from = n->from,
		.to = n->to,
		.at = at,
		.continued = n->continued,
		.reasons = n->reasons,
		.early = false,
	};
}

static int by_loss_place(const void *a, const void *b)
{
	const struct kt_loss *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/*
 * The trace is open, so its first time is known: let the losses that begin with the trace begin
 * there, and sort all that wait.
 */
void kt_loss_opened(struct ktape_trace *t)
{
	t->opening = false;
	t->first_ts = t->nr_heap ? t->heap[0]->event.ts : 0;
	for (size_t i = 0; i < t->nr_losses; i++) {
		struct kt_loss *l = &t->losses[i];

		if (l->early)
			l->from = kt_min(t->first_ts, l->to);
	}
	if (t->nr_losses)
		qsort(t->losses, t->nr_losses, sizeof(*t->losses), by_loss_place);
}

/**
 * kt_loss_until() - report the waiting losses whose places come before a time
 * @t: the trace
 * @ts: the time of the event that comes next, in ticks; UINT64_MAX: none does, report all
 */
void kt_loss_until(struct ktape_trace *t, uint64_t ts)
{
	t->reached = ts;
	while (t->reported_losses < t->nr_losses &&
	       t->losses[t->reported_losses].at <= ts) {
		const struct kt_loss *l = &t->losses[t->reported_losses++];
		const struct ktape_notice n = {
			.kind = KTAPE_NOTICE_LOST,
			.stream = true,
			.continued = l->continued,
			.reasons = l->reasons,
			.cpu = l->cpu,
			.ring = l->ring,
			.count = l->count,
			.packets = l->packets,
			.from = l->from,
			.to = l->to,
		};

		t->options.notice(t->options.arg, &n);
	}
}

/**
 * kt_loss_damage() - note damage of a stream, or of the input of all streams
 * @t: the trace
 * @s: the stream, or NULL
 * @kind: enum ktape_notice_kind; nothing is noted but for TRUNCATED and CORRUPT
 * @error: where the damage is, NULL = from the beginning
 */
void kt_loss_damage(struct ktape_trace *t, struct kt_stream *s,
		    unsigned int kind, const struct ktape_error *error)
{
	uint64_t at = kind == KTAPE_NOTICE_TRUNCATED ? UINT64_MAX :
		      error			     ? error->offset :
						       0;

	if (kind != KTAPE_NOTICE_TRUNCATED && kind != KTAPE_NOTICE_CORRUPT)
		return;
	if (s) {
		s->missing_at = s->missing ? kt_max(s->missing_at, at) : at;
		s->missing = true;
	} else {
		t->missing_at = t->missing ? kt_max(t->missing_at, at) : at;
		t->missing = true;
	}
}

/**
 * kt_loss_good() - return up to which time the events of a stream are known
 * @s: the stream
 *
 * Return: the time, in ticks; 0 = no packet was read yet.
 */
uint64_t kt_loss_good(const struct kt_stream *s)
{
	if (!s->begun)
		return 0;
	return s->broken || s->packet.truncated ? kt_min(s->packet.ts, s->ts_end) :
						  s->ts_end;
}

/*
 * Report an unknown part of a stream, or its rest from @from on if a part was reported.  @from 0:
 * from the begin of the trace.  While that is opened its begin is not known: @early lets
 * kt_loss_opened() set it.
 */
static void report_missing(struct ktape_trace *t, const struct kt_stream *s,
			   uint64_t from, uint64_t to, bool continued)
{
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.continued = continued,
		.cpu = s->cpu,
		.ring = s->kind,
		.from = from	   ? kt_min(from, to) :
			t->opening ? to :
				     kt_min(t->first_ts, to),
		.to = to,
	};
	size_t nr = t->nr_losses;

	kt_loss_report(t, s, &n);
	if (!from && t->opening && t->nr_losses > nr)
		t->losses[nr].early = true;
}

/**
 * kt_loss_packet() - end an unknown part, if there is one, at the packet that follows it
 * @t: the trace
 * @s: the stream, at the packet
 * @good: kt_loss_good() before the packet
 * @n: the loss that the headers of the packets report before the packet; if they do not know
 *	how many events, it includes the damage and is set to begin at the last good time
 */
void kt_loss_packet(struct ktape_trace *t, struct kt_stream *s, uint64_t good,
		    struct ktape_notice *n)
{
	uint64_t from = kt_max(good, s->missing_from);
	uint64_t to = kt_max(from, s->packet.ts);
	bool continued = s->missing_from;

	if (!s->missing || s->offset < s->missing_at)
		return;
	s->missing = false;
	s->missing_from = 0;
	if (s->kind == KTAPE_RING_REGISTRY)
		return;
	if (n->packets && !n->count) {
		n->from = from;
		n->to = to;
		n->continued = continued;
	} else {
		report_missing(t, s, from, to, continued);
	}
}

/**
 * kt_loss_stream_end() - find out whether a stream has ended in damage, for kt_loss_before()
 * @t: the trace
 * @s: the stream, which has no further packet, or none yet if the trace is live
 */
void kt_loss_stream_end(struct ktape_trace *t, struct kt_stream *s)
{
	bool ended = s->source != KT_SOURCE_QUEUE || t->ended;

	/* What is damaged in the common input, behind its last packet, may have been its packets. */
	if (ended && s->source != KT_SOURCE_FILE && t->missing &&
	    s->offset < t->missing_at) {
		s->missing = true;
		s->missing_at = UINT64_MAX;
	}
	if (s->kind == KTAPE_RING_REGISTRY)
		s->missing = false;
	if (s->missing) {
		t->has_missing = true;
		t->quiet_until = 0;
	}
}

/**
 * kt_loss_before() - report what is not known of streams before an event: those that ended in
 * damage, and those that begin later
 * @t: the trace, with @has_missing
 * @e: the event that comes next
 */
void kt_loss_before(struct ktape_trace *t, const struct ktape_event *e)
{
	uint64_t quiet = UINT64_MAX;

	/* Some rings begin hours later: do not check all streams at each event until then. */
	if (e->ts < t->quiet_until)
		return;
	t->has_missing = false;
	for (size_t i = 0; i < t->nr_streams; i++) {
		struct kt_stream *s = t->streams[i];
		uint64_t from = kt_max(kt_loss_good(s), s->missing_from);

		if (s->gone && kt_begin_before(t, s, e)) {
			t->has_missing = true;
			quiet = kt_min(quiet, s->gone_from);
		}
		if (!s->missing || s->in_heap)
			continue;
		t->has_missing = true;
		quiet = 0;
		if (s->cpu != e->cpu || e->kind == KTAPE_RING_REGISTRY ||
		    ktape_event_is_metadata(e) || e->ts <= from)
			continue;
		report_missing(t, s, from, e->ts, s->missing_from);
		s->missing_from = e->ts;
	}
	t->quiet_until = t->has_missing ? quiet : 0;
}

/**
 * kt_loss_end() - report the losses, up to the end, of streams that ended in damage
 * @t: the trace, which has no further event
 */
void kt_loss_end(struct ktape_trace *t)
{
	for (size_t i = 0; i < t->nr_streams; i++) {
		struct kt_stream *s = t->streams[i];
		uint64_t from = kt_max(kt_loss_good(s), s->missing_from);
		uint64_t to = kt_max(kt_max(from, t->last_ts), s->ts_end);

		kt_loss_stream_end(t, s);
		/* Unless the parts that kt_loss_before() has reported reach the end already. */
		if (s->missing && (to > from || !s->missing_from))
			report_missing(t, s, from, to, s->missing_from);
		s->missing = false;
	}
	t->missing = false;
	t->has_missing = false;
}
