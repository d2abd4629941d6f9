// SPDX-License-Identifier: LGPL-2.1-or-later
/* The heap of a trace's streams, which is ordered by their next events. */
#include "trace/trace.h"

/* Move the stream at @at down, behind those whose events come earlier. */
static void sink_stream(struct ktape_trace *t, size_t at)
{
	struct kt_stream *s = t->heap[at];
	size_t child;

	while ((child = at * 2 + 1) < t->nr_heap) {
		if (child + 1 < t->nr_heap &&
		    kt_stream_is_before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!kt_stream_is_before(t->heap[child], s))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = s;
}

/* Move the stream at @at up, before those whose events come later. */
static void raise_stream(struct ktape_trace *t, size_t at)
{
	struct kt_stream *s = t->heap[at];

	while (at && kt_stream_is_before(s, t->heap[(at - 1) / 2])) {
		t->heap[at] = t->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	t->heap[at] = s;
}

/* Find the stream that comes after the top of the heap, which must be in order. */
static void find_second(struct ktape_trace *t)
{
	struct kt_stream **h = t->heap;

	if (t->nr_heap < 2)
		t->second = NULL;
	else
		t->second = t->nr_heap > 2 && kt_stream_is_before(h[2], h[1]) ?
				    h[2] :
				    h[1];
}

/*
 * Add a stream that is not in the heap, if it has an event.
 * Return: 0 or negative errno.
 */
int kt_heap_add(struct ktape_trace *t, struct kt_stream *s)
{
	int ret = kt_stream_load(t, s);

	if (ret <= 0)
		return ret;
	s->in_heap = true;
	t->heap[t->nr_heap] = s;
	raise_stream(t, t->nr_heap++);
	find_second(t);
	return 0;
}

/* Restore the order after the top stream advanced or, if @ended, has no more events. */
void kt_heap_first_moved(struct ktape_trace *t, bool ended)
{
	if (ended) {
		t->heap[0]->in_heap = false;
		t->heap[0] = t->heap[--t->nr_heap];
	}
	if (t->nr_heap)
		sink_stream(t, 0);
	find_second(t);
}

/*
 * Order the heap again after a caller has moved its streams.  A stream that has no event
 * any more is marked by @in_heap false.
 */
void kt_heap_rebuild(struct ktape_trace *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_heap; i++)
		if (t->heap[i]->in_heap)
			t->heap[nr++] = t->heap[i];
	t->nr_heap = nr;
	for (size_t i = nr / 2; i > 0; i--)
		sink_stream(t, i - 1);
	find_second(t);
}
