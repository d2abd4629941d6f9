// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which labels the values of an enumeration have.  Ranges may overlap and be many, so the values
 * are cut once into intervals that have the same labels each:
 *
 *	A = 1 ... 9, B = 5, A = 12	0: -, 1: A, 5: A B, 6: A, 10: -, 12: A, 13: -
 *
 * The names are in the order of declaration, each once, as babeltrace2 has them.  An interval
 * keeps the first CTF_LABELS of them.
 */
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "ctf.h"

#define LEVELS 5U /* 2^30 labels: more than CTF_BYTES has room for */

/**
 * struct cut - where a range begins, or the first value behind it
 * @at: the value, as ctf_sortable() of it
 * @name: number of the first label with its name
 * @begins: it begins there
 */
struct cut {
	uint64_t at;
	unsigned int name;
	bool begins;
};

/**
 * struct sweep - a walk over all values from the lowest one on
 * @t: the type; its arrays are filled if it has them
 * @cuts: where ranges begin and end, in order
 * @nr_cuts: entries of @cuts
 * @ranges: by name: ranges that cover the value
 * @sets: a bit for each name that has any; from the second level on for each word below
 * @first: the first names that have any
 * @nr: names that have any, also those beyond @first
 * @last: @first of the last interval
 * @last_nr: @nr of it
 * @nr_parts: intervals so far
 * @nr_names: names of them
 */
struct sweep {
	struct ctf_type *t;
	struct cut *cuts;
	size_t nr_cuts;
	unsigned int *ranges;
	uint64_t *sets[LEVELS];
	unsigned int first[CTF_LABELS];
	unsigned int nr;
	unsigned int last[CTF_LABELS];
	unsigned int last_nr;
	size_t nr_parts;
	size_t nr_names;
};

static unsigned int kept_count(unsigned int nr)
{
	return nr < CTF_LABELS ? nr : CTF_LABELS;
}

static int by_value(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Find where ranges begin and end.  Return: false without memory. */
static bool find_cuts(struct ctf *c, struct sweep *s)
{
	struct ctf_type *t = s->t;

	for (unsigned int i = 0; i < t->nr_labels; i++) {
		const char *name = t->labels[i].name;
		const uint64_t low =
			ctf_sortable(t, (uint64_t)t->labels[i].range.low);
		const uint64_t high =
			ctf_sortable(t, (uint64_t)t->labels[i].range.high);
		struct ctf_word *word = ctf_word(c, name, strlen(name), true);

		if (!word)
			return false;
		/* The word of a name keeps the number of the first label that has it. */
		if (word->owner != t)
			word->option = i;
		word->owner = t;
		if (low > high)
			continue;
		s->cuts[s->nr_cuts++] = (struct cut){ low, word->option, true };
		if (high < UINT64_MAX)
			s->cuts[s->nr_cuts++] =
				(struct cut){ high + 1, word->option, false };
	}
	if (s->nr_cuts)
		qsort(s->cuts, s->nr_cuts, sizeof(*s->cuts), by_value);
	return true;
}

static void set_bit(struct sweep *s, unsigned int name)
{
	for (unsigned int i = 0; i < LEVELS; i++, name /= 64)
		s->sets[i][name / 64] |= 1ULL << name % 64;
}

static void clear_bit(struct sweep *s, unsigned int name)
{
	for (unsigned int i = 0; i < LEVELS; i++, name /= 64) {
		s->sets[i][name / 64] &= ~(1ULL << name % 64);
		if (s->sets[i][name / 64])
			return;
	}
}

/*
 * Return the first name from @name on that has a range; there is one.  Go up in @sets until a word
 * has a bit from there on, then down to the lowest bit below it.
 */
static unsigned int next_name(const struct sweep *s, unsigned int name)
{
	unsigned int level = 0;
	uint64_t word;

	while (!(word = s->sets[level][name / 64] >> name % 64)) {
		name = name / 64 + 1;
		level++;
	}
	name += (unsigned int)__builtin_ctzll(word);
	while (level--)
		name = name * 64 +
		       (unsigned int)__builtin_ctzll(s->sets[level][name]);
	return name;
}

/* A label gets its first range: enter it into the set, and into the first ones if it is one. */
static void add_label_name(struct sweep *s, unsigned int name)
{
	unsigned int nr = kept_count(s->nr), at = nr;

	set_bit(s, name);
	s->nr++;
	while (at && s->first[at - 1] > name)
		at--;
	if (at == CTF_LABELS)
		return;
	nr -= nr == CTF_LABELS;
	memmove(&s->first[at + 1], &s->first[at], (nr - at) * sizeof(*s->first));
	s->first[at] = name;
}

/* A label has no range any more: the next one in the set takes its place among the first. */
static void drop_name(struct sweep *s, unsigned int name)
{
	unsigned int nr = kept_count(s->nr), at = 0;

	clear_bit(s, name);
	s->nr--;
	while (at < nr && s->first[at] != name)
		at++;
	if (at == nr)
		return;
	nr--;
	memmove(&s->first[at], &s->first[at + 1], (nr - at) * sizeof(*s->first));
	if (s->nr > nr)
		s->first[nr] = next_name(s, s->first[nr - 1] + 1);
}

/* Add the interval from @low on, unless it has the labels of the one before. */
static void add_label_part(struct sweep *s, uint64_t low)
{
	const unsigned int nr = kept_count(s->nr);
	const size_t size = nr * sizeof(*s->first);
	struct ctf_type *t = s->t;

	if (low && nr == kept_count(s->last_nr) &&
	    (s->nr > nr) == (s->last_nr > nr) && !memcmp(s->first, s->last, size))
		return;
	s->last_nr = s->nr;
	memcpy(s->last, s->first, size);
	if (t->parts) {
		t->parts[s->nr_parts] = (struct ctf_part){
			.low = low,
			.names = s->nr_names,
			.nr = (uint8_t)nr,
			.more = s->nr > nr,
		};
		memcpy(&t->names[s->nr_names], s->first, size);
	}
	s->nr_parts++;
	s->nr_names += nr;
}

/* Walk over all values, and count the intervals and names; if @s->t has room, fill it. */
static void sweep_labels(struct sweep *s)
{
	const struct cut *cut = s->cuts, *end = cut + s->nr_cuts;
	uint64_t at = 0;

	s->nr = 0;
	s->nr_parts = s->nr_names = 0;
	memset(s->ranges, 0, s->t->nr_labels * sizeof(*s->ranges));
	for (;;) {
		for (; cut < end && cut->at == at; cut++) {
			if (cut->begins && !s->ranges[cut->name]++)
				add_label_name(s, cut->name);
			else if (!cut->begins && !--s->ranges[cut->name])
				drop_name(s, cut->name);
		}
		add_label_part(s, at);
		if (cut == end)
			break;
		at = cut->at;
	}
	/* Ranges up to the highest value. */
	while (s->nr)
		drop_name(s, s->first[0]);
}

/**
 * ctf_sort_labels() - prepare the labels of an enumeration for looking them up
 * @c: the metadata
 * @t: the type; its labels are complete
 *
 * Return: false without memory.
 */
bool ctf_sort_labels(struct ctf *c, struct ctf_type *t)
{
	struct sweep s = {
		.t = t,
		.cuts = calloc((size_t)t->nr_labels * 2 + 1, sizeof(*s.cuts)),
		.ranges = calloc((size_t)t->nr_labels + 1, sizeof(*s.ranges)),
	};
	size_t words = t->nr_labels;
	bool ok = s.cuts && s.ranges;

	for (unsigned int i = 0; i < LEVELS; i++) {
		words = words / 64 + 1;
		s.sets[i] = calloc(words, sizeof(**s.sets));
		ok = ok && s.sets[i];
	}
	c->out_of_memory |= !ok;
	t->parts = NULL;
	t->names = NULL;
	t->nr_parts = 0;
	ok = ok && find_cuts(c, &s);
	if (ok) {
		sweep_labels(&s);
		t->names = ctf_alloc(c, (s.nr_names + 1) * sizeof(*t->names));
		if (t->names)
			t->parts = ctf_alloc(c, s.nr_parts * sizeof(*t->parts));
		ok = t->parts != NULL;
	}
	if (ok) {
		sweep_labels(&s);
		t->nr_parts = s.nr_parts;
	}
	for (unsigned int i = 0; i < LEVELS; i++)
		free(s.sets[i]);
	free(s.ranges);
	free(s.cuts);
	return ok;
}
