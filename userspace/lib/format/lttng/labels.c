// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Labels of enumerations.  A field that is an enumeration, or an array of such, is followed by
 * a text with its label:
 *
 *	enum : int { A = 1, B = 2, C = 1 ... 9 } e	e_label: "A, C"; none if e is 10
 *	the same, e[2]					e_label: ["A, C",null]
 */
#include "fields.h"

/* ---- find ------------------------------------------------------------------------------- */

/* Find what labels a number has: at the last interval that does not begin behind it. */
static const struct ctf_part *find_part(const struct ctf_type *t, uint64_t number)
{
	const uint64_t v = ctf_sortable(t, number);
	size_t low = 0, high = t->nr_parts;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->parts[middle].low <= v)
			low = middle;
		else
			high = middle;
	}
	return &t->parts[low];
}

/* ---- read ------------------------------------------------------------------------------- */

/* Check whether a type is an enumeration, or an array of such. */
bool lt_has_labels(const struct ctf_type *t)
{
	while (t->kind == CTF_ARRAY || t->kind == CTF_SEQUENCE)
		t = t->element;
	return t->nr_labels && lt_is_plain(t);
}

/* Append to the text of a label.  Return: false without memory; @cut is set if it is too long. */
static bool put_label_part(struct lt_values *v, size_t from, const char *text,
			   bool *cut)
{
	const size_t len = strlen(text), room = lt_room_for(v, from);

	*cut |= len > room;
	return lt_append(v, text, kt_min(len, room));
}

/**
 * lt_read_label() - find the label of a number
 * @v: the event's values; several labels are appended to its room.  A number with more than
 *	are kept is counted, and a text that was cut
 * @t: type of the number
 * @number: the number, as ctf_read() returns it
 * @value: data and len are set if there is one label.  If there are several they are not set,
 *	and the caller finds the text in the room; if there is none, nothing is done
 *
 * Return: false without memory.
 */
bool lt_read_label(struct lt_values *v, const struct ctf_type *t,
		   uint64_t number, struct kt_tp_value *value)
{
	const struct ctf_part *part = find_part(t, number);
	const unsigned int *names = &t->names[part->names];
	const size_t from = v->used;
	bool cut = false;

	v->labels += part->more;
	if (part->nr == 1) {
		value->data = t->labels[*names].name;
		value->len = strlen(value->data);
	}
	for (unsigned int i = 0; part->nr > 1 && i < part->nr && !cut; i++) {
		if ((i && !put_label_part(v, from, ", ", &cut)) ||
		    !put_label_part(v, from, t->labels[names[i]].name, &cut))
			return false;
	}
	v->texts += cut;
	return true;
}
