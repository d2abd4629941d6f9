// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Labels of enumerations.  A field that is an enumeration, or an array of such, is followed by
 * a text with its label:
 *
 *	enum : int { A = 1, B = 2, C = 1 ... 9 } e	e_label: "A, C"; none if e is 10
 *	the same, e[2]					e_label: ["A, C",null]
 */
#include "fields.h"

#define STEPS	(1U << 16)	/* ranges that are looked at for a value, if they overlap */

/* ---- find ------------------------------------------------------------------------------- */

static int by_low(const void *a, const void *b)
{
	const struct ctf_choice *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->member < y->member ? -1 : x->member > y->member;
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
	uint64_t reach = 0;

	t->values = ctf_alloc(c, ((size_t)t->nr_labels + 1) * sizeof(*t->values));
	t->reach = ctf_alloc(c, ((size_t)t->nr_labels + 1) * sizeof(*t->reach));
	if (!t->values || !t->reach)
		return false;
	t->nr_values = 0;
	for (unsigned int i = 0; i < t->nr_labels; i++) {
		const struct ctf_range *r = &t->labels[i].range;
		struct ctf_choice *v = &t->values[t->nr_values];

		*v = (struct ctf_choice){
			ctf_order(t, (uint64_t)r->low), ctf_order(t, (uint64_t)r->high), i,
		};
		t->nr_values += v->low <= v->high;
	}
	qsort(t->values, t->nr_values, sizeof(*t->values), by_low);
	for (unsigned int i = 0; i < t->nr_values; i++) {
		reach = kt_max(reach, t->values[i].high);
		t->reach[i] = reach;
	}
	return true;
}

/* Add the number of a label, in the order of declaration, unless its name is there. */
static unsigned int add_label(const struct ctf_type *t, unsigned int found[LT_LABELS],
			      unsigned int nr, unsigned int label, bool *full)
{
	unsigned int at = nr;

	for (unsigned int i = 0; i < nr; i++) {
		if (strcmp(t->labels[found[i]].name, t->labels[label].name) != 0)
			continue;
		if (found[i] < label)
			return nr;
		/* The first declaration of a name counts. */
		memmove(&found[i], &found[i + 1], (nr - i - 1) * sizeof(*found));
		at = --nr;
		break;
	}
	while (at && found[at - 1] > label)
		at--;
	*full |= nr == LT_LABELS;
	if (at == LT_LABELS)
		return nr;
	if (nr == LT_LABELS)
		nr--;
	memmove(&found[at + 1], &found[at], (nr - at) * sizeof(*found));
	found[at] = label;
	return nr + 1;
}

/* Find the labels of a value.  Return: how many. */
static unsigned int find_labels(const struct ctf_type *t, uint64_t number,
				unsigned int found[LT_LABELS], bool *full)
{
	const uint64_t v = ctf_order(t, number);
	unsigned int low = 0, high = t->nr_values, nr = 0, steps = 0;

	while (low < high) {	/* the first range that begins behind the value */
		unsigned int middle = low + (high - low) / 2;

		if (t->values[middle].low <= v)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && t->reach[--low] >= v && !*full) {
		*full = ++steps == STEPS;
		if (t->values[low].high >= v)
			nr = add_label(t, found, nr, t->values[low].member, full);
	}
	return nr;
}

/* ---- read ------------------------------------------------------------------------------- */

/* Check whether a type is an enumeration, or an array of such. */
bool lt_has_labels(const struct ctf_type *t)
{
	while (t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE)
		t = t->element;
	return t->nr_labels && lt_is_plain(t);
}

/* Append to the text of a label. */
static bool put(struct lt_values *v, size_t from, const char *text)
{
	size_t len = strlen(text), room = lt_room_for(v, from);

	v->texts += len > room;
	return lt_append(v, text, kt_min(len, room));
}

/**
 * lt_read_label() - find the label of a number
 * @v: the event's values; the label is put into the room if there are several
 * @t: type of the number
 * @number: the number, as ctf_read() returns it
 * @value: data and len are set if there is one; nothing is done if there is none
 *
 * Return: false without memory.
 */
bool lt_read_label(struct lt_values *v, const struct ctf_type *t, uint64_t number,
		   struct kt_tp_value *value)
{
	unsigned int found[LT_LABELS], nr;
	const size_t from = v->used;
	bool full = false;

	nr = find_labels(t, number, found, &full);
	v->labels += full;
	if (!nr)
		return true;
	if (nr == 1) {
		value->data = t->labels[*found].name;
		value->len = strlen(value->data);
		return true;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if ((i && !put(v, from, ", ")) ||
		    !put(v, from, t->labels[found[i]].name))
			return false;
	}
	return true;
}
