// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Markers and values of programs: the tables marker and value.
 *
 * Spans of a marker nest within their thread, or among all threads if the marker is
 * global.  pq->spans has, by owner and id, the number of open spans, and by owner and
 * depth << DEPTH_SHIFT | id the time at which each of them began.
 */
#include "internal.h"

#define DEPTH_SHIFT 32
#define DEPTH_MAX \
	1024U /* most open spans of a marker; a further begin opens none */
#define SPANS_MAX \
	(1U << 20) /* most entries of pq->spans: open spans, and their markers */

/* Return the owner of a marker: thread id + 1, or 0 if the marker is global. */
static uint32_t marker_owner_of(const struct ktape_event *e)
{
	return e->dat20 & 1 && e->tid >= 0 ? (uint32_t)e->tid + 1 : 0;
}

/*
 * Open a span.  One beyond SPANS_MAX is counted, one beyond DEPTH_MAX is ignored; the end of either
 * closes the span around it, if there is one.
 */
static void begin_span(struct pq *pq, const struct ktape_event *e)
{
	const uint32_t id = ktape_event_arg(e, 0);
	struct kt_map_entry *depth, *span;

	if (pq->spans.nr >= SPANS_MAX) {
		kt_sink_miss(pq->s, "begins of markers beyond 1048576 open ones", 1);
		return;
	}
	depth = kt_map_put(&pq->spans, marker_owner_of(e), id);
	if (!depth) {
		pq->s->error = -ENOMEM;
		return;
	}
	if (depth->value == DEPTH_MAX)
		return;
	span = kt_map_put(&pq->spans, marker_owner_of(e),
			  ++depth->value << DEPTH_SHIFT | id);
	if (!span)
		pq->s->error = -ENOMEM;
	else
		span->value = e->ts;
}

/* End the innermost span of a marker.  Return: its duration, -1 if that is not known. */
static int64_t end_span(struct pq *pq, const struct ktape_event *e)
{
	const uint32_t id = ktape_event_arg(e, 0);
	struct kt_map_entry *depth =
		kt_map_find(&pq->spans, marker_owner_of(e), id);
	struct kt_map_entry *span;
	uint64_t since, key;

	if (!depth)
		return -1;
	key = depth->value << DEPTH_SHIFT | id;
	if (!--depth->value)
		kt_map_remove(&pq->spans, depth);
	span = kt_map_find(&pq->spans, marker_owner_of(e), key);
	if (!span)
		return -1;
	since = span->value;
	kt_map_remove(&pq->spans, span);
	return !pq_is_sure(pq, since) ? -1 : pq_ns(pq, since, e->ts);
}

static void put_marker_row(struct pq *pq, const struct kt_line *l,
			   const char *kind, int64_t dur)
{
	const struct ktape_event *e = l->event;
	const struct pq_thread *t = pq_thread(pq, e->tid, e->ts);
	struct kt_pq_rows *r = pq_begin(pq, PQ_MARKER, e->ts);

	pq_put_name(r, PQ_MARKER_KIND, pq_name(pq, kind, strlen(kind)));
	if (dur >= 0)
		kt_pq_put(r, PQ_MARKER_DUR, dur);
	kt_pq_put(r, PQ_MARKER_CPU, e->cpu);
	if (t)
		kt_pq_put(r, PQ_MARKER_UTID, pq_utid(pq, t));
	kt_pq_put(r, PQ_MARKER_TASK, e->dat20 & 1);
	kt_pq_put(r, PQ_MARKER_ID, ktape_event_arg(e, 0));
	pq_put_name(r, PQ_MARKER_NAME,
		    pq_value_name(pq, l, KTAPE_TYPE_MARKER, ktape_event_arg(e, 0)));
	if (e->blob_size)
		kt_pq_put_text(r, PQ_MARKER_TEXT, e->blob, e->blob_size);
	pq_end(pq, PQ_MARKER);
}

static void put_value_row(struct pq *pq, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct pq_thread *t = pq_thread(pq, e->tid, e->ts);
	struct kt_pq_rows *r = pq_begin(pq, PQ_VALUE, e->ts);

	kt_pq_put(r, PQ_VALUE_VALUE,
		  (int64_t)kt_get64((const uint8_t *)e->args + 4));
	kt_pq_put(r, PQ_VALUE_CPU, e->cpu);
	if (t)
		kt_pq_put(r, PQ_VALUE_UTID, pq_utid(pq, t));
	kt_pq_put(r, PQ_VALUE_TASK, e->dat20 & 1);
	kt_pq_put(r, PQ_VALUE_ID, ktape_event_arg(e, 0));
	pq_put_name(r, PQ_VALUE_NAME,
		    pq_value_name(pq, l, KTAPE_TYPE_VALUEID, ktape_event_arg(e, 0)));
	if (e->blob_size)
		kt_pq_put_text(r, PQ_VALUE_TEXT, e->blob, e->blob_size);
	pq_end(pq, PQ_VALUE);
}

/**
 * pq_mark() - Take a marker or a value; other events do nothing
 * @pq: the tables
 * @l: the event
 */
void pq_mark(struct pq *pq, const struct kt_line *l)
{
	switch (l->event->opcode) {
	case KTAPE_EV_MARK:
		put_marker_row(pq, l, "mark", -1);
		break;
	case KTAPE_EV_MARK_BEGIN:
		begin_span(pq, l->event);
		put_marker_row(pq, l, "begin", -1);
		break;
	case KTAPE_EV_MARK_END:
		put_marker_row(pq, l, "end", end_span(pq, l->event));
		break;
	case KTAPE_EV_MARK_VALUE:
		put_value_row(pq, l);
		break;
	default:
		break;
	}
}
