// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All streams in order of time: a heap of streams by their next event.
 *
 * The stream whose event was delivered stays on top; at the next call it goes
 * on by one event and sinks to its place, which is the top again most of the
 * time.
 */
#include "stream/decode.h"
#include "format/import.h"
#include "stream/packet.h"
#include "trace/trace.h"

/* At the same time: names first, then control, then the others by CPU. */
static bool is_before(const struct kt_stream *a, const struct kt_stream *b)
{
	if (a->event.ts != b->event.ts)
		return a->event.ts < b->event.ts;
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->cpu < b->cpu;
}

static void sink(struct ktape_trace *t, size_t at)
{
	struct kt_stream *s = t->heap[at];
	size_t child;

	while ((child = at * 2 + 1) < t->nr_heap) {
		if (child + 1 < t->nr_heap &&
		    is_before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!is_before(t->heap[child], s))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = s;
}

static void rise(struct ktape_trace *t, size_t at)
{
	struct kt_stream *s = t->heap[at];

	while (at && is_before(s, t->heap[(at - 1) / 2])) {
		t->heap[at] = t->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->heap[at] = s;
}

/* The heap is in order again: who would be next? */
static void find_second(struct ktape_trace *t)
{
	struct kt_stream **h = t->heap;

	if (t->nr_heap < 2)
		t->second = NULL;
	else
		t->second = t->nr_heap > 2 && is_before(h[2], h[1]) ? h[2]
								    : h[1];
}

/* Load a stream that is not in the heap.  Return: 0 or negative errno. */
int kt_merge_add(struct ktape_trace *t, struct kt_stream *s)
{
	int ret = kt_stream_load(t, s);

	if (ret <= 0)
		return ret;
	s->in_heap = true;
	t->heap[t->nr_heap] = s;
	rise(t, t->nr_heap++);
	find_second(t);
	return 0;
}

/* The heap was in order but for the stream on top, which may have ended. */
static void reorder(struct ktape_trace *t, bool ended)
{
	if (ended) {
		t->heap[0]->in_heap = false;
		t->heap[0] = t->heap[--t->nr_heap];
	}
	if (t->nr_heap)
		sink(t, 0);
	find_second(t);
}

/* The stream on top ended, or has to sink, or (@ret < 0) @why. */
static KT_NOINLINE int advance_other(struct ktape_trace *t, struct kt_stream *s,
				     int ret, const char *why)
{
	struct ktape_error error;

	if (ret < 0) {
		kt_error(&error, s->offset + s->packet.at, "%s", why);
		kt_notice(t, KTAPE_NOTICE_CORRUPT, s, &error);
	}
	if (ret <= 0)
		ret = kt_stream_load(t, s);
	reorder(t, ret <= 0);
	return ret < 0 ? ret : 0;
}

/*
 * Go on by one event in the stream on top.  It is done with, whatever fails
 * before the next one is delivered: until then others may rise above it.
 */
static inline int advance(struct ktape_trace *t)
{
	struct kt_stream *s = t->current;
	const char *why = NULL;
	int ret;

	t->current = NULL;
	ret = kt_packet_read(&s->packet, &s->event, &why);
	if (ret > 0 && (!t->second || !is_before(t->second, s)))
		return 0;
	return advance_other(t, s, ret, why);
}

static void tell_late(struct ktape_trace *t)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_LATE, .count = t->late };

	if (t->late && t->options.notice)
		t->options.notice(t->options.arg, &n);
	t->late = 0;
}

/* The other rings' names are learned before all events. */
static KT_NOINLINE int learn(struct ktape_trace *t, const struct kt_stream *s)
{
	if (s->kind != KTAPE_RING_EVENT || !s->event.known)
		return 0;
	return ktape_registry_add(t->registry, &s->event);
}

/* What @s tells is learned, and it is delivered. */
static inline int deliver(struct ktape_trace *t, struct kt_stream *s,
			  const struct ktape_event **event)
{
	kt_decoder_event(t->decoder, &s->event);
	if (s->event.opcode == KTAPE_EV_REGISTRY) {
		int err = learn(t, s);

		if (err)
			return err;
	}
	t->late += s->event.ts < t->last_ts;
	t->last_ts = s->event.ts;
	t->current = s;
	*event = &s->event;
	return 1;
}

/* A live one waits, or nothing is left, or a packet begins. */
static KT_NOINLINE int next_other(struct ktape_trace *t,
				  const struct ktape_event **event)
{
	struct kt_stream *s;
	int err = 0;

	while (!err && t->live && (err = kt_live_wait(t)) > 0)
		err = kt_live_pump(t);
	if (err)
		return err;
	if (!t->nr_heap) {
		tell_late(t);
		return 0;
	}
	s = t->heap[0];
	if (s->fresh) {
		s->fresh = false;
		kt_decoder_packet(t->decoder, s->packet.data);
	}
	return deliver(t, s, event);
}

int ktape_trace_next(struct ktape_trace *t, const struct ktape_event **event)
{
	int err;

	if (t->import)
		return kt_import_next(t->import, event);
	if (t->current) {
		err = advance(t);
		if (err)
			return err;
	}
	if (t->live || !t->nr_heap || t->heap[0]->fresh)
		return next_other(t, event);
	return deliver(t, t->heap[0], event);
}
