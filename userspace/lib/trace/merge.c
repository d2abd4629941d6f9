// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Deliver the events of all streams in order of time, from a heap of streams that is
 * ordered by their next events (heap.c).
 *
 * The stream whose event was delivered stays on top of the heap.  The next call reads
 * that stream's next event and lets the stream sink to its place.  Most of the time
 * that is the top again, because events of one CPU come in runs; so the second
 * earliest stream is remembered and the common case needs one comparison.
 */
#include "stream/decode.h"
#include "format/reader.h"
#include "stream/packet.h"
#include "trace/trace.h"

/*
 * Continue advance_top() if the top stream is at the end of its packet (@ret 0), is no
 * longer the earliest (@ret 1), or has a bad record (@ret < 0, reason in @why).
 */
static KT_NOINLINE int advance_rest(struct ktape_trace *t, struct kt_stream *s,
				    int ret, const char *why)
{
	struct ktape_error error;

	if (ret < 0) {
		s->broken = true;
		kt_error(&error, s->offset + s->packet.at, "%s", why);
		kt_notice(t, KTAPE_NOTICE_CORRUPT, s, &error);
	}
	if (ret <= 0)
		ret = kt_stream_load(t, s);
	kt_heap_first_moved(t, ret <= 0);
	return ret < 0 ? ret : 0;
}

/*
 * Read the next event of the top stream.  @current is cleared first: if reading fails,
 * the delivered event must not be advanced over a second time, because another stream
 * may be on top by then.
 */
static inline int advance_top(struct ktape_trace *t)
{
	struct kt_stream *s = t->current;
	const char *why = NULL;
	int ret;

	t->current = NULL;
	ret = kt_packet_read_event(&s->packet, &s->event, &why, &t->info);
	if (ret > 0 && (!t->second || !kt_stream_is_before(t->second, s)))
		return 0;
	return advance_rest(t, s, ret, why);
}

/*
 * Go on from the event that was delivered last, so that the heap holds the events that
 * come next.
 * Return: 0 or negative errno.
 */
int kt_merge_settle(struct ktape_trace *t)
{
	return t->current ? advance_top(t) : 0;
}

static void notify_late(struct ktape_trace *t)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_LATE, .count = t->late };

	if (t->late && t->options.notice)
		t->options.notice(t->options.arg, &n);
	t->late = 0;
}

/*
 * Add a name from an event ring to the registry.  Names in the other rings were added
 * when the trace was opened or the packet arrived.
 */
static KT_NOINLINE int learn_name(struct ktape_trace *t, const struct kt_stream *s)
{
	if (s->kind != KTAPE_RING_EVENT || !s->event.known)
		return 0;
	return ktape_registry_add(t->registry, &s->event);
}

/* Report fields that no event follows: they are delivered as an event of their own. */
static KT_NOINLINE void notify_fields(struct ktape_trace *t,
				      const struct kt_stream *s)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_CORRUPT,
		.stream = true,
		.cpu = s->cpu,
		.ring = s->kind,
	};

	if (!t->info.converted || !t->options.notice)
		return;
	kt_error(&n.error, s->offset + s->event.offset,
		 "fields of an event that does not follow: they are shown as an event of their own");
	t->options.notice(t->options.arg, &n);
}

/* Deliver the next event of @s, after updating threads and names from it. */
static inline int deliver_event(struct ktape_trace *t, struct kt_stream *s,
				const struct ktape_event **event)
{
	kt_decoder_event(t->decoder, &s->event);
	if (s->event.opcode == KTAPE_EV_REGISTRY) {
		int err = learn_name(t, s);

		if (err)
			return err;
	}
	if (s->event.opcode == KTAPE_EV_USER_EVENT && kt_packet_has_fields(&s->event))
		notify_fields(t, s);
	t->late += s->event.ts < t->last_ts;
	t->last_ts = s->event.ts;
	t->current = s;
	*event = &s->event;
	return 1;
}

/*
 * Continue ktape_trace_next() for a live trace, at the end, at the first record of a
 * packet, and while losses wait for their places or streams lack a part.
 */
static KT_NOINLINE int next_other(struct ktape_trace *t,
				  const struct ktape_event **event)
{
	struct kt_stream *s;
	bool once = false;
	int err = 0;

	while (!err && t->live && (err = kt_live_wait(t)) > 0)
		err = kt_live_pump(t);
	if (!err)
		err = t->failed;
	if (err)
		return err;
	if (!t->nr_heap) {
		kt_loss_until(t, UINT64_MAX);
		kt_loss_end(t);
		notify_late(t);
		return t->failed;
	}
	s = t->heap[0];
	kt_loss_until(t, s->event.ts);
	if (t->has_missing)
		kt_loss_before(t, &s->event);
	if (s->fresh) {
		s->fresh = false;
		/* True if the header's thread is that of the packet's first event only. */
		once = kt_decoder_packet(t->decoder, s->packet.data);
	}
	err = deliver_event(t, s, event);
	if (once)
		t->decoder->tid[s->cpu] = -1;
	return err;
}

static inline int read_next(struct ktape_trace *t, const struct ktape_event **event)
{
	int err;

	if (t->import)
		return kt_import_next(t->import, event);
	if (t->current) {
		err = advance_top(t);
		if (err)
			return err;
	}
	if (t->live || !t->nr_heap || t->heap[0]->fresh ||
	    t->reported_losses < t->nr_losses || t->has_missing)
		return next_other(t, event);
	return deliver_event(t, t->heap[0], event);
}

int ktape_trace_next(struct ktape_trace *t, const struct ktape_event **event)
{
	int ret = read_next(t, event);

	if (t->far_freq != t->info.freq)
		kt_far_set(t);
	if (ret > 0 && (*event)->ts > t->far_from)
		*event = kt_far_event(t, *event);
	/* The caller reads no further, so the losses that wait have no other place. */
	if (ret < 0)
		kt_loss_until(t, UINT64_MAX);
	return ret;
}

int ktape_trace_renames(struct ktape_trace *t)
{
	const struct kt_stream *s;
	int err;

	if (t->import || t->live)
		return 1;
	err = kt_merge_settle(t);
	if (err) {
		kt_loss_until(t, UINT64_MAX);
		return err;
	}
	s = t->nr_heap ? t->heap[0] : NULL;
	/* See learn_name(). */
	return s && s->event.opcode == KTAPE_EV_REGISTRY &&
	       s->kind == KTAPE_RING_EVENT;
}
