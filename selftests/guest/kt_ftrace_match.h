/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare what two tracers recorded of the same events on one CPU.
 *
 * Both have probes at the same tracepoint, which the kernel calls one after the other. An
 * interrupt between the two calls is recorded by the first tracer after the event and by
 * the second before it. So an event may change places with events of higher contexts, and
 * with nothing else.
 */
#ifndef _KT_FTRACE_MATCH_H
#define _KT_FTRACE_MATCH_H

#include "kt_ftrace_pairs.h"

#define KTF_WINDOW	4000	/* events among which a partner is searched */

/**
 * struct matched - what a comparison found
 * @same: events that both have
 * @moved: events that both have, on different sides of events that interrupted
 * @order: events that both have, in different places without such a reason
 * @ours: events that only ktape has
 * @theirs: events that only ftrace has
 * @first: the first key that is wrong
 */
struct matched {
	uint64_t same, moved, order, ours, theirs, first;
};

/* Return the index of the first event from @at on whose partner was not found yet. */
static size_t unmet(const struct items *in, size_t at)
{
	while (at < in->nr && in->v[at].met)
		at++;
	return at;
}

/*
 * How many events agree from @i and @j on, if the ones at @not_i and @not_j are partners?
 */
static size_t agree(const struct items *theirs, size_t i, size_t not_i,
		    const struct items *ours, size_t j, size_t not_j)
{
	size_t n = 0;

	for (i = unmet(theirs, i), j = unmet(ours, j); n < KTF_WINDOW; n++) {
		if (i == not_i)
			i = unmet(theirs, i + 1);
		if (j == not_j)
			j = unmet(ours, j + 1);
		if (i >= theirs->nr || j >= ours->nr ||
		    theirs->v[i].key != ours->v[j].key)
			break;
		i = unmet(theirs, i + 1);
		j = unmet(ours, j + 1);
	}
	return n;
}

/**
 * struct couple - an event's places in both recordings
 * @theirs: index in ftrace's
 * @ours: index in ktape's
 * @score: number of events that agree if it is this one
 */
struct couple {
	size_t theirs, ours, score;
};

static void consider(const struct items *theirs, size_t i, size_t at_i,
		     const struct items *ours, size_t j, size_t at_j,
		     struct couple *best)
{
	size_t score = agree(theirs, i, at_i, ours, j, at_j);

	if (score > best->score)
		*best = (struct couple){ at_i, at_j, score };
}

/*
 * Ftrace recorded the event at @i, and then what interrupted it before ktape recorded it:
 * ktape's is behind as many events, all of a higher context.
 */
static void interrupted(const struct items *theirs, size_t i,
			const struct items *ours, size_t j, struct couple *best)
{
	const struct item *e = &theirs->v[i];
	size_t at = j, inner = i;

	for (int n = 0; n < KTF_WINDOW; n++) {
		inner = unmet(theirs, inner + 1);
		at = unmet(ours, at + 1);
		if (inner >= theirs->nr || at >= ours->nr ||
		    theirs->v[inner].level <= e->level)
			break;
		if (ours->v[at].key == e->key)
			consider(theirs, i, i, ours, j, at, best);
	}
}

/*
 * The other way round: ktape recorded the event at @j before it was interrupted. In
 * ftrace's it is the first event of a lower context than all from @i on.
 */
static void interrupting(const struct items *theirs, size_t i,
			 const struct items *ours, size_t j,
			 struct couple *best)
{
	int lowest = theirs->v[i].level;
	size_t at = i;

	for (int n = 0; lowest && n < KTF_WINDOW; n++) {
		at = unmet(theirs, at + 1);
		if (at == theirs->nr)
			break;
		if (theirs->v[at].level >= lowest)
			continue;
		lowest = theirs->v[at].level;
		if (theirs->v[at].key == ours->v[j].key)
			consider(theirs, i, at, ours, j, j, best);
	}
}

static void meet(struct item *a, struct item *b, uint64_t *as)
{
	a->met = true;
	b->met = true;
	++*as;
}

/* Find an unmet @key from @at on. Return: its index, @nr if there is none. */
static size_t partner(const struct items *in, size_t at, uint64_t key)
{
	size_t end = at + KTF_WINDOW < in->nr ? at + KTF_WINDOW : in->nr;

	for (; at < end; at++)
		if (!in->v[at].met && in->v[at].key == key)
			return at;
	return in->nr;
}

static void wrong(struct matched *m, uint64_t *which, uint64_t key)
{
	if (!m->ours && !m->theirs && !m->order)
		m->first = key;
	++*which;
}

/* Neither tracer was interrupted between the other's record and its own. */
static void differ(struct items *theirs, size_t i, struct items *ours, size_t j,
		   struct matched *m)
{
	struct item *a = &theirs->v[i], *b = &ours->v[j];
	size_t at = partner(ours, j, a->key);

	if (partner(theirs, i, b->key) == theirs->nr) {
		wrong(m, &m->ours, b->key);
		b->met = true;
	} else if (at == ours->nr) {
		wrong(m, &m->theirs, a->key);
		a->met = true;
	} else {
		wrong(m, &m->order, a->key);
		a->met = true;
		ours->v[at].met = true;
	}
}

static void match(struct items *theirs, struct items *ours, struct matched *m)
{
	size_t i = 0, j = 0;

	for (;;) {
		struct couple best = {};

		i = unmet(theirs, i);
		j = unmet(ours, j);
		if (i == theirs->nr || j == ours->nr)
			break;
		if (theirs->v[i].key == ours->v[j].key) {
			meet(&theirs->v[i], &ours->v[j], &m->same);
			continue;
		}
		interrupted(theirs, i, ours, j, &best);
		interrupting(theirs, i, ours, j, &best);
		if (best.score)
			meet(&theirs->v[best.theirs], &ours->v[best.ours],
			     &m->moved);
		else
			differ(theirs, i, ours, j, m);
	}
	for (; i < theirs->nr; i = unmet(theirs, i + 1))
		wrong(m, &m->theirs, theirs->v[i].key);
	for (; j < ours->nr; j = unmet(ours, j + 1))
		wrong(m, &m->ours, ours->v[j].key);
}

#endif /* _KT_FTRACE_MATCH_H */
