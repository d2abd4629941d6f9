/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A queue of streams by the time of their next event, for formats that have a stream for
 * each CPU.  A stream whose event was taken moves back past the streams with earlier
 * events: few steps, because the streams of a trace advance together.
 */
#ifndef _KT_TIMED_H
#define _KT_TIMED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What a stream begins with: the time of its next event. */
struct kt_timed {
	uint64_t ts;
};

/**
 * struct kt_timed_queue - streams that have an event
 * @list: the streams, the earliest event first; the caller allocates it
 * @nr: number of streams
 */
struct kt_timed_queue {
	struct kt_timed **list;
	size_t nr;
};

/* Add a stream with an event.  At equal times it comes after the others. */
static inline void kt_timed_add(struct kt_timed_queue *q, struct kt_timed *s)
{
	size_t at = q->nr++;

	for (; at && q->list[at - 1]->ts > s->ts; at--)
		q->list[at] = q->list[at - 1];
	q->list[at] = s;
}

/* Move the first stream, which has a new event, behind those with earlier events. */
static inline void kt_timed_sink(struct kt_timed_queue *q)
{
	struct kt_timed *s = q->list[0];
	size_t at = 0;

	for (; at + 1 < q->nr && q->list[at + 1]->ts < s->ts; at++)
		q->list[at] = q->list[at + 1];
	q->list[at] = s;
}

/* Remove the first stream, which has no more events. */
static inline void kt_timed_drop(struct kt_timed_queue *q)
{
	q->nr--;
	memmove(q->list, q->list + 1, q->nr * sizeof(*q->list));
}

#endif /* _KT_TIMED_H */
