/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare what two tracers recorded of the same events on one CPU, by the same clock.
 *
 * Both have probes at the same tracepoint, and the kernel calls ktape's first: the test
 * attaches it first. So in the order of time each event has a record of ktape, and then one
 * of ftrace. Between the two there is nothing, or a whole interrupt: events of higher
 * contexts, each with both records. Records nest like calls and returns. Whatever does not
 * is a difference.
 */
#ifndef _KT_FTRACE_MATCH_H
#define _KT_FTRACE_MATCH_H

#include <limits.h>

#include "kt_ftrace_pairs.h"

/*
 * Events without ftrace's record that are kept: one that ftrace missed in an interrupt
 * stays until the next event of a task.
 */
#define KTF_HALF 256

/**
 * struct matched - what a comparison found
 * @same: events that both have
 * @moved: of these the ones that were interrupted between the two records
 * @ours: events that only ktape has
 * @theirs: events that only ftrace has
 * @first: time near the first event that only one of them has, 0 = there is none
 * @longest: longest time between the two records of an event that was not interrupted
 */
struct matched {
	uint64_t same, moved, ours, theirs, first, longest;
};

/**
 * struct half - an event that ktape has recorded, and ftrace not yet
 * @e: ktape's record
 * @lowest: lowest context of ftrace's records since, INT_MAX = there was none; must be above
 *	this event's own, which is known only when ftrace's record of it comes
 */
struct half {
	const struct item *e;
	int lowest;
};

/**
 * struct halves - all such events, the last on top
 * @nr: their number
 * @v: the events
 */
struct halves {
	int nr;
	struct half v[KTF_HALF];
};

/* Add @n events to *@which, which is m->ours or m->theirs. */
static void count_unmatched(struct matched *m, uint64_t *which, uint64_t n,
			    uint64_t ts)
{
	if (n && !m->ours && !m->theirs)
		m->first = ts;
	*which += n;
}

/* Push ktape's record of an event. If there is no room, the oldest one is ktape's only. */
static void begin_half(struct halves *h, const struct item *e, struct matched *m)
{
	if (h->nr == KTF_HALF) {
		count_unmatched(m, &m->ours, 1, e->ts);
		memmove(h->v, h->v + 1, (KTF_HALF - 1) * sizeof(*h->v));
		h->nr--;
	}
	h->v[h->nr++] = (struct half){ e, INT_MAX };
}

/*
 * An event of @level happened: events that are still half recorded were interrupted by it.
 * Nothing is lower than a task, so a task's event proves that ftrace has missed them all.
 */
static void interrupt_all(struct halves *h, int level, uint64_t ts,
			  struct matched *m)
{
	if (!level) {
		count_unmatched(m, &m->ours, h->nr, ts);
		h->nr = 0;
	}
	for (int i = 0; i < h->nr; i++)
		h->v[i].lowest = level < h->v[i].lowest ? level : h->v[i].lowest;
}

/*
 * Find the half to which ftrace's record belongs: the last with its key that only higher
 * contexts have interrupted. Events above it on the stack are ktape's only.
 */
static void end_half(struct halves *h, const struct item *e, struct matched *m)
{
	int at = h->nr - 1;
	const struct half *half;

	while (at >= 0 && (h->v[at].e->key != e->key || h->v[at].lowest <= e->level))
		at--;
	if (at < 0) {
		count_unmatched(m, &m->theirs, 1, e->ts);
	} else {
		half = &h->v[at];
		count_unmatched(m, &m->ours, h->nr - 1 - at, e->ts);
		m->same++;
		if (half->lowest != INT_MAX)
			m->moved++;
		else if (e->ts - half->e->ts > m->longest)
			m->longest = e->ts - half->e->ts;
		h->nr = at;
	}
	interrupt_all(h, e->level, e->ts, m);
}

/*
 * Return whether ftrace's record is next. At equal times it is only if it completes the
 * event on top.
 */
static bool theirs_is_next(const struct halves *h, const struct items *theirs,
			   size_t i, const struct items *ours, size_t j)
{
	if (i == theirs->nr || j == ours->nr)
		return i < theirs->nr;
	if (theirs->v[i].ts != ours->v[j].ts)
		return theirs->v[i].ts < ours->v[j].ts;
	return h->nr && h->v[h->nr - 1].e->key == theirs->v[i].key;
}

static void match_recordings(const struct items *theirs,
			     const struct items *ours, struct matched *m)
{
	struct halves h = {};
	size_t i = 0, j = 0;

	while (i < theirs->nr || j < ours->nr)
		if (theirs_is_next(&h, theirs, i, ours, j))
			end_half(&h, &theirs->v[i++], m);
		else
			begin_half(&h, &ours->v[j++], m);
	count_unmatched(m, &m->ours, h.nr, h.nr ? h.v[0].e->ts : 0);
}

#endif /* _KT_FTRACE_MATCH_H */
