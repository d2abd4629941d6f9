/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare what two tracers recorded of the same events on one CPU.
 *
 * Both have probes at the same tracepoint, which the kernel calls one after the other. An
 * interrupt between the two calls is recorded by the first tracer after the event and by
 * the second before it. So an event may change places with events of higher contexts, and
 * with nothing else.
 *
 * Many events have equal keys, and the interrupt can be interrupted between its own two
 * calls. Which record is whose is then known only later. match() follows all readings of
 * the two recordings that are possible so far.
 */
#ifndef _KT_FTRACE_MATCH_H
#define _KT_FTRACE_MATCH_H

#include <limits.h>

#include "kt_ftrace_pairs.h"

#define KTF_WINDOW	4000	/* events among which a partner is searched */
#define KTF_READINGS	256
#define KTF_DEPTH	3	/* task, soft interrupt, interrupt: an NMI interrupts it */

/**
 * struct matched - what a comparison found
 * @same: events that both have
 * @moved: events that both have, on different sides of events that interrupted
 * @order: events that both have, in different places without such a reason
 * @ours: events that only ktape has
 * @theirs: events that only ftrace has
 * @first_theirs: index in ftrace's of the first place that is wrong
 * @first_ours: index in ktape's of it
 */
struct matched {
	uint64_t same, moved, order, ours, theirs;
	size_t first_theirs, first_ours;
};

/**
 * struct half - an event that one tracer has recorded, and the other not yet
 * @key: the event
 * @ours: ktape has it
 * @level: if ftrace has it, its context; if not, the lowest of all that ftrace recorded
 *	   since: the event's own is lower
 */
struct half {
	uint64_t key;
	bool ours;
	unsigned char level;
};

/**
 * struct reading - a way to read both recordings up to here
 * @theirs: index of ftrace's next event
 * @ours: index of ktape's next event
 * @same: as in struct matched
 * @moved: as in struct matched
 * @depth: number of events in @half
 * @half: events that were interrupted, the last on top
 */
struct reading {
	size_t theirs, ours;
	uint64_t same, moved;
	int depth;
	struct half half[KTF_DEPTH];
};

/**
 * struct readings - all readings with the same number of records
 * @nr: their number
 * @v: the readings
 */
struct readings {
	int nr;
	struct reading v[KTF_READINGS];
};

/* Return the index of the first event from @at on that is to be compared. */
static size_t skip_wrong(const struct items *in, size_t at)
{
	while (at < in->nr && in->v[at].wrong)
		at++;
	return at;
}

static bool same_place(const struct reading *a, const struct reading *b)
{
	if (a->theirs != b->theirs || a->ours != b->ours || a->depth != b->depth)
		return false;
	for (int i = 0; i < a->depth; i++)
		if (a->half[i].key != b->half[i].key ||
		    a->half[i].ours != b->half[i].ours ||
		    a->half[i].level != b->half[i].level)
			return false;
	return true;
}

/* Of two readings that lead to the same place the one with fewer interrupts is kept. */
static void reach(struct readings *to, const struct reading *r)
{
	int at = 0;

	while (at < to->nr && !same_place(&to->v[at], r))
		at++;
	if (at == to->nr && to->nr < KTF_READINGS)
		to->v[to->nr++] = *r;
	else if (at < to->nr && r->moved < to->v[at].moved)
		to->v[at] = *r;
}

/* Ftrace has an event of @level now: is that possible during what was interrupted? */
static bool during(struct reading *r, unsigned char level)
{
	for (int i = 0; i < r->depth; i++) {
		struct half *h = &r->half[i];

		if (!h->ours && level <= h->level)
			return false;
		if (h->ours && level < h->level)
			h->level = level;
	}
	return true;
}

/* Go on with ftrace's next event alone. */
static void take_one_of_theirs(const struct items *theirs, struct reading r,
			       struct readings *to)
{
	const struct item *e = &theirs->v[r.theirs];
	const struct half *top = r.depth ? &r.half[r.depth - 1] : NULL;
	struct reading ends = r;

	r.theirs = skip_wrong(theirs, r.theirs + 1);
	ends.theirs = r.theirs;
	if (top && top->ours && top->key == e->key && e->level < top->level) {
		ends.depth--;
		ends.moved++;
		if (during(&ends, e->level))
			reach(to, &ends);
	}
	if (r.depth < KTF_DEPTH && r.theirs < theirs->nr &&
	    theirs->v[r.theirs].level > e->level && during(&r, e->level)) {
		r.half[r.depth++] = (struct half){ e->key, false, e->level };
		reach(to, &r);
	}
}

/* Go on with ktape's next event alone; @level is of ftrace's next one. */
static void take_one_of_ours(const struct items *ours, struct reading r,
			     unsigned char level, struct readings *to)
{
	const struct item *e = &ours->v[r.ours];
	const struct half *top = r.depth ? &r.half[r.depth - 1] : NULL;
	struct reading ends = r;

	r.ours = skip_wrong(ours, r.ours + 1);
	ends.ours = r.ours;
	if (top && !top->ours && top->key == e->key) {
		ends.depth--;
		ends.moved++;
		reach(to, &ends);
	}
	if (r.depth < KTF_DEPTH && level) {
		r.half[r.depth++] = (struct half){ e->key, true, UCHAR_MAX };
		reach(to, &r);
	}
}

/* Find all places that follow @r: with one record more in @one, with two in @two. */
static void follow(const struct items *theirs, const struct items *ours,
		   const struct reading *r, struct readings *one, struct readings *two)
{
	bool has_theirs = r->theirs < theirs->nr, has_ours = r->ours < ours->nr;
	unsigned char level = has_theirs ? theirs->v[r->theirs].level : 0;

	if (has_theirs && has_ours &&
	    theirs->v[r->theirs].key == ours->v[r->ours].key) {
		struct reading both = *r;

		both.theirs = skip_wrong(theirs, r->theirs + 1);
		both.ours = skip_wrong(ours, r->ours + 1);
		both.same++;
		if (during(&both, level))
			reach(two, &both);
	}
	if (has_theirs)
		take_one_of_theirs(theirs, *r, one);
	if (has_ours)
		take_one_of_ours(ours, *r, level, one);
}

/*
 * Read both recordings from @r on as far as they agree. Return in @r the last place where
 * nothing was interrupted.
 */
static void read_both(const struct items *theirs, const struct items *ours,
		      struct reading *r)
{
	static struct readings all[3];
	int now = 0;

	memset(all, 0, sizeof(all));
	reach(&all[now], r);
	while (all[now].nr || all[(now + 1) % 3].nr) {
		struct readings *at = &all[now];
		bool first = true;

		for (int i = 0; i < at->nr; i++) {
			const struct reading *v = &at->v[i];

			if (!v->depth && (first || v->moved < r->moved)) {
				*r = *v;
				first = false;
			}
			follow(theirs, ours, v, &all[(now + 1) % 3], &all[(now + 2) % 3]);
		}
		at->nr = 0;
		now = (now + 1) % 3;
	}
}

/* Find a @key that is not wrong from @at on. Return: its index, @nr if there is none. */
static size_t partner(const struct items *in, size_t at, uint64_t key)
{
	size_t end = at + KTF_WINDOW < in->nr ? at + KTF_WINDOW : in->nr;

	for (; at < end; at++)
		if (!in->v[at].wrong && in->v[at].key == key)
			return at;
	return in->nr;
}

/* No reading goes on from @r. Leave out what has no partner in its place. */
static void differ(struct items *theirs, struct items *ours, struct reading *r,
		   struct matched *m)
{
	size_t i = r->theirs, j = r->ours, at;

	if (!m->ours && !m->theirs && !m->order) {
		m->first_theirs = i;
		m->first_ours = j;
	}
	if (i == theirs->nr || (j < ours->nr && partner(theirs, i, ours->v[j].key) == theirs->nr)) {
		m->ours++;
		ours->v[j].wrong = true;
	} else if ((at = partner(ours, j, theirs->v[i].key)) == ours->nr) {
		m->theirs++;
		theirs->v[i].wrong = true;
	} else {
		m->order++;
		theirs->v[i].wrong = true;
		ours->v[at].wrong = true;
	}
	r->theirs = skip_wrong(theirs, i);
	r->ours = skip_wrong(ours, j);
}

static void match(struct items *theirs, struct items *ours, struct matched *m)
{
	struct reading r = { .theirs = skip_wrong(theirs, 0), .ours = skip_wrong(ours, 0) };

	for (;;) {
		read_both(theirs, ours, &r);
		if (r.theirs == theirs->nr && r.ours == ours->nr)
			break;
		differ(theirs, ours, &r, m);
	}
	m->same = r.same;
	m->moved = r.moved;
}

#endif /* _KT_FTRACE_MATCH_H */
