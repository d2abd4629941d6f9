// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The spans of a page, and how they are merged if there are too many.
 *
 * All spans stay in memory until the end.  When they are more than the page may have,
 * spans that follow each other on one lane and are shorter than @short_ns become one
 * merged span: with their number, the time that they cover, the sum of their durations,
 * and the name of the longest.  @short_ns doubles until a quarter of the room is free.
 * So one pass over the trace gives the same detail everywhere, in bounded memory, and
 * every span longer than @short_ns stays as it is.  So does every span of the exact range, of
 * which the user wants everything (exact.c), and no merged span covers a part of that range.
 * Spans that cannot be merged, such as states, may fill the page: then further ones are left out
 * and counted by kind, but one of the exact range is an error.  A place where events were lost is
 * never left out: its span needs no room.
 */
#include "internal.h"

#define FIRST_SHORT 128U	 /* ns */
#define MOST_SHORT  (1ULL << 40) /* ns: longer spans are not merged */
#define GAP	    8U /* a merged span covers at most this many @short_ns */
#define COLUMNS	    13U
#define GROW	    4096U /* spans */
/* Kinds of spans that are never merged. */
#define NEVER_MERGED                                                  \
	((1U << HTML_LOST) | (1U << HTML_LOSS) | (1U << HTML_STATE) | \
	 (1U << HTML_OFF) | (1U << HTML_FILTER) | (1U << HTML_HELD))

/* Return true if there is room for a span that cannot be merged; losses need none. */
static bool has_room(const struct html_level *v, const struct html_span *s)
{
	return s->kind == HTML_LOST || v->nr - v->nr_lost < v->most;
}

/*
 * Return the lane of a span: a number of its kind and depth, and of its owner.  While
 * there is room, a lane that is missing is added.
 */
static struct kt_map_entry *find_lane(struct html *h, const struct html_span *s)
{
	/* The first kinds are of a CPU.  Others of a CPU are never merged. */
	bool of_cpu = s->kind <= HTML_LOSS;
	uint32_t kind = s->kind | (uint32_t)s->depth << 8;
	uint64_t owner = of_cpu ? s->cpu : (uint32_t)s->tid;
	struct kt_map_entry *lane;

	if (s->kind == HTML_MARK || s->kind == HTML_BLOCK)
		owner |= (uint64_t)s->name << 32;
	if (!has_room(&h->level, s))
		return kt_map_find(&h->level.lanes, kind, owner);
	lane = kt_map_put(&h->level.lanes, kind, owner);
	if (!lane)
		html_no_memory(h);
	return lane;
}

static bool is_small(const struct html *h, const struct html_span *s)
{
	const struct html_level *v = &h->level;

	return s->longest < v->short_ns && s->dur < v->short_ns * GAP &&
	       !(1U << s->kind & NEVER_MERGED) &&
	       !html_exact_has(h, s->begin, html_until(s->begin, s->dur));
}

/*
 * Merge @s into the span before it on its lane.  Return: false if it cannot be, also
 * because the merged span would cover the exact range.
 */
static bool merge_span(const struct html *h, struct html_span *into,
		       const struct html_span *s)
{
	const uint64_t most = h->level.short_ns * GAP;
	int64_t end = html_until(into->begin, into->dur);

	if (!is_small(h, into) || !is_small(h, s) || s->begin < end ||
	    html_lasts(into->begin, s->begin) + s->dur >= most ||
	    html_exact_has(h, into->begin, html_until(s->begin, s->dur)))
		return false;
	into->dur = html_lasts(into->begin, s->begin) + s->dur;
	into->busy += s->busy;
	into->count += s->count;
	into->flags |= s->flags | HTML_MERGED;
	if (s->longest <= into->longest)
		return true;
	into->longest = s->longest;
	into->name = s->name;
	into->tid = s->tid;
	into->cpu = s->cpu;
	into->a = s->a;
	into->b = s->b;
	return true;
}

/*
 * Merge a span into the last one of its lane, or add it.  Return: false if it cannot be
 * merged, and the page is full.
 */
static bool place_span(struct html *h, const struct html_span *s)
{
	struct html_level *v = &h->level;
	struct kt_map_entry *lane = v->short_ns ? find_lane(h, s) : NULL;

	if (lane && lane->value && merge_span(h, &v->spans[lane->value - 1], s))
		return true;
	if (!has_room(v, s))
		return false;
	v->nr_lost += s->kind == HTML_LOST;
	v->spans[v->nr++] = *s;
	if (lane)
		lane->value = v->nr;
	return true;
}

/* Merge all spans anew with a doubled @short_ns, until a quarter of the room is free. */
static void merge_all(struct html *h)
{
	struct html_level *v = &h->level;
	size_t nr;

	do {
		v->short_ns = v->short_ns ? v->short_ns * 2 : FIRST_SHORT;
		kt_map_free(&v->lanes);
		v->lanes = (struct kt_map){ .entries = NULL };
		nr = v->nr;
		v->nr = 0;
		v->nr_lost = 0;
		for (size_t i = 0; i < nr; i++) {
			const struct html_span s = v->spans[i];

			place_span(h, &s); /* all had room before */
		}
	} while (v->nr - v->nr_lost > v->most / 4 * 3 && v->short_ns < MOST_SHORT);
}

static bool grow_spans(struct html *h)
{
	struct html_level *v = &h->level;
	size_t cap = kt_max(kt_min(v->cap * 2, v->most), v->cap + GROW);
	struct html_span *more = realloc(v->spans, cap * sizeof(*more));

	if (!more) {
		html_no_memory(h);
		return false;
	}
	v->spans = more;
	v->cap = cap;
	return true;
}

/**
 * html_span() - add a span
 * @h: the page
 * @span: the span; @count, @busy and @longest are set here
 *
 * If the page is full, spans are merged.  If that makes no room, the span is left out and counted;
 * one of the exact range fails the sink instead.
 */
void html_span(struct html *h, const struct html_span *span)
{
	struct html_level *v = &h->level;
	struct html_span s = *span;

	s.count = 1;
	s.busy = s.longest = s.dur;
	v->all++;
	html_exact_span(h, &s);
	/* Merging all again with the same @short_ns would find nothing to merge. */
	if (!has_room(v, &s) && v->short_ns < MOST_SHORT)
		merge_all(h);
	if (v->nr == v->cap && has_room(v, &s) && !grow_spans(h))
		return;
	if (place_span(h, &s))
		return;
	if (html_exact_has(h, s.begin, html_until(s.begin, s.dur))) {
		html_exact_full(h);
		return;
	}
	v->left_out[s.kind]++;
	kt_sink_miss(h->s, "spans that could not be merged", 1);
}

/**
 * html_level_left_out() - put how many spans of each kind are left out
 * @h: the page
 * @p: where; 64 bytes for each kind
 *
 * Return: the end.
 */
char *html_level_left_out(const struct html *h, char *p)
{
	static const char *const names[HTML_KINDS] = {
		[HTML_RUN] = "running",
		[HTML_IRQ] = "irq",
		[HTML_SOFTIRQ] = "softirq",
		[HTML_IPI] = "ipi",
		[HTML_TICK] = "timer interrupt",
		[HTML_ISR] = "isr",
		[HTML_TIMER] = "timer",
		[HTML_HRTIMER] = "hrtimer",
		[HTML_LOST] = "lost",
		[HTML_LOSS] = "lost by class",
		[HTML_ON] = "thread runs",
		[HTML_WAIT] = "waiting",
		[HTML_CALL] = "system call",
		[HTML_WORK] = "work",
		[HTML_MARK] = "mark",
		[HTML_BLOCK] = "block request",
		[HTML_STATE] = "state",
		[HTML_OFF] = "not enabled",
		[HTML_FILTER] = "filter",
		[HTML_HELD] = "held back",
		[HTML_QUEUE] = "run queue",
	};
	const char *before = "";

	p = kt_put_str(p, ",\n\"left_out\":{");
	for (unsigned int i = 0; i < HTML_KINDS; i++) {
		if (!h->level.left_out[i])
			continue;
		p = kt_put_char(kt_put_str(p, before), '"');
		p = kt_put_str(kt_put_str(p, names[i]), "\":");
		p = kt_put_u64(p, h->level.left_out[i]);
		before = ",";
	}
	return kt_put_char(p, '}');
}

static void put_columns(struct html *h, struct html_bytes *to,
			const struct html_span *s, int64_t before)
{
	html_number(h, &to[0], s->kind);
	html_number(h, &to[1], s->depth);
	html_number(h, &to[2], s->flags);
	html_signed(h, &to[3], s->cpu == UINT32_MAX ? -1 : (int64_t)s->cpu);
	html_signed(h, &to[4], s->tid);
	html_number(h, &to[5], s->name);
	html_signed(h, &to[6], html_since(before, s->begin));
	html_number(h, &to[7], s->dur);
	html_signed(h, &to[8], s->a);
	html_signed(h, &to[9], s->b);
	html_number(h, &to[10], s->count);
	/* Columns that only merged spans need. */
	if (!(s->flags & HTML_MERGED))
		return;
	html_number(h, &to[11], s->busy);
	html_number(h, &to[12], s->longest);
}

static int write_spans(struct html *h, size_t from, size_t nr)
{
	struct html_bytes to[COLUMNS] = { { .len = 0 } }, all = { .len = 0 };
	int64_t before = 0;
	char *p;
	int err;

	for (size_t i = from; i < from + nr; i++) {
		put_columns(h, to, &h->level.spans[i], before);
		before = h->level.spans[i].begin;
	}
	for (size_t i = 0; i < COLUMNS; i++) {
		p = html_room(h, &all, to[i].len);
		if (p && to[i].len)
			html_took(&all,
				  kt_put_mem(p, (char *)to[i].data, to[i].len));
		free(to[i].data);
	}
	err = html_block(h, "spans", NULL, nr, &all);
	free(all.data);
	return err;
}

/**
 * html_level_write() - write all spans
 * @h: the page
 *
 * Return: 0 or negative errno.
 */
int html_level_write(struct html *h)
{
	int err = 0;

	for (size_t i = 0; i < h->level.nr && !err; i += HTML_CHUNK)
		err = write_spans(h, i, kt_min(h->level.nr - i, HTML_CHUNK));
	return err;
}
