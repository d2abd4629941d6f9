// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Arrays of CTF events: as bytes, as numbers of 8 bytes each, or as a text in JSON if
 * their elements are no numbers.
 *
 *	struct { uint8_t x; string y; } a[n]	[{"x":1,"y":"one"},{"x":2,"y":"two"}]
 *
 * A value that has to be converted may have LT_VALUE_MAX bytes, those of an event LT_EVENT_MAX.
 * What is beyond is read to its end, but not kept, and counted in struct lt_values.
 */
#include "fields.h"

/**
 * lt_read_bytes() - read an array of bytes or characters
 * @v: the event's values
 * @at: at the first element
 * @t: type of the elements, an integer of 8 bits
 * @count: how many
 * @value: data and len are set if they are in the packet; else they are put into the room
 *
 * Return: false if the array goes beyond the packet, or without memory.
 */
bool lt_read_bytes(struct lt_values *v, struct ctf_at *at, const struct ctf_type *t,
		   uint64_t count, struct kt_tp_value *value)
{
	const size_t from = v->used;
	struct ctf_value one;

	if (!(at->bit & 7) && t->align <= 8) {
		if (count * 8 > at->end - at->bit)
			return ctf_fail(
				at, "an array goes beyond the end of the packet");
		value->data = at->data + (at->bit >> 3);
		value->len = (size_t)count;
		at->bit += count * 8;
		return true;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint8_t byte;

		/* No role by name (ctf.c): an element is not the packet's CPU or thread. */
		at->name = NULL;
		if (!ctf_read(at, t, &one))
			return false;
		byte = (uint8_t)one.number;
		if (!lt_room_for(v, from))
			v->elements++;
		else if (!lt_append(v, &byte, 1))
			return false;
	}
	return true;
}

/* Read @count numbers into the room, 8 bytes each.  Return: as lt_read_bytes(). */
bool lt_read_numbers(struct lt_values *v, struct ctf_at *at,
		     const struct ctf_type *t, uint64_t count)
{
	const size_t from = v->used;
	struct ctf_value one;
	uint64_t number;

	for (uint64_t i = 0; i < count; i++) {
		at->name = NULL;
		if (!ctf_read(at, t, &one))
			return false;
		number = lt_number(t, one.number);
		if (lt_room_for(v, from) < sizeof(number))
			v->elements++;
		else if (!lt_append(v, &number, sizeof(number)))
			return false;
	}
	return true;
}

/* ---- text ----------------------------------------------------------------------------- */

/**
 * struct text - a text that is being made of an array
 * @v: its room gets the text
 * @c: the metadata
 * @at: place in the packet
 * @from: where in the room the text begins
 * @labels: it has the labels of the numbers instead of them
 * @cut: it was too long, and gets nothing more
 */
struct text {
	struct lt_values *v;
	const struct ctf *c;
	struct ctf_at *at;
	size_t from;
	bool labels;
	bool cut;
};

static bool read_any(struct text *x, const struct ctf_type *t);

static bool put_element_text(struct text *x, const char *text, size_t len)
{
	size_t room;

	if (x->cut)
		return true;
	room = lt_room_for(x->v, x->from);
	if (len > room) {
		x->cut = true;
		len = room;
	}
	return lt_append(x->v, text, len);
}

static bool put_element_word(struct text *x, const char *word)
{
	return put_element_text(x, word, strlen(word));
}

static bool put_element_quoted(struct text *x, const char *text, size_t len)
{
	bool ok = put_element_text(x, "\"", 1);
	char escape[8];

	for (size_t i = 0; i < len && ok && !x->cut; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\') {
			snprintf(escape, sizeof(escape), "\\%c", c);
			ok = put_element_word(x, escape);
		} else if (c < ' ') {
			snprintf(escape, sizeof(escape), "\\u%04x", c);
			ok = put_element_word(x, escape);
		} else {
			ok = put_element_text(x, text + i, 1);
		}
	}
	return ok && put_element_text(x, "\"", 1);
}

/* Put the label of a number in quotes, or "null". */
static bool put_element_label(struct text *x, const struct ctf_type *t,
			      uint64_t number)
{
	struct kt_tp_value label = { .data = NULL };
	const size_t from = x->v->used;
	const uint64_t texts = x->v->texts;
	char *copy = NULL;
	bool ok;

	if (x->cut)
		return true;
	if (!lt_read_label(x->v, t, number, &label))
		return false;
	if (!label.data && x->v->used == from)
		return put_element_word(x, "null");
	if (!label.data) {
		label.len = x->v->used - from;
		copy = malloc(label.len + 1);
		if (!copy) {
			x->v->no_memory = true;
			return false;
		}
		memcpy(copy, x->v->room + from, label.len);
		x->v->used = from;
	}
	ok = put_element_quoted(x, copy ? copy : label.data, label.len);
	free(copy);
	/* Report the text once, whatever part of it was cut. */
	x->cut |= x->v->texts != texts;
	x->v->texts = texts;
	return ok;
}

static bool read_element_number(struct text *x, const struct ctf_type *t)
{
	struct ctf_value one;
	char text[KT_PUT_DOUBLE_MAX + 3], *end = text;
	bool quoted;

	if (!ctf_read(x->at, t, &one))
		return false;
	if (x->labels)
		return put_element_label(x, t, one.number);
	if (t->kind == CTF_FLOAT) {
		one.number = lt_number(t, one.number);
		/* JSON has no word for these. */
		quoted = !kt_is_finite(one.number);
		end = quoted ? kt_put_char(end, '"') : end;
		end = kt_put_double(end, one.number);
		end = quoted ? kt_put_char(end, '"') : end;
		*end = '\0';
	} else if (t->is_signed) {
		snprintf(text, sizeof(text), "%lld", (long long)one.number);
	} else {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)one.number);
	}
	return put_element_word(x, text);
}

static bool put_key(struct text *x, const char *key)
{
	return put_element_quoted(x, key, strlen(key)) && put_element_word(x, ":");
}

/* Read a member, and once more for its labels, "e":1,"e_label":"A". */
static bool read_member(struct text *x, const struct ctf_member *m,
			const struct ctf_key *key)
{
	const uint64_t bit = x->at->bit;
	uint64_t end;
	bool ok = put_key(x, key ? key->name : lt_name(x->c, m->name));

	x->at->name = m->name;
	ok = ok && read_any(x, m->type);
	if (!ok || x->cut || !key || !key->label)
		return ok;
	end = x->at->bit;
	x->at->bit = bit;
	/* The number had its role at the first reading. */
	x->at->name = NULL;
	x->labels = true;
	ok = put_element_word(x, ",") && put_key(x, key->label) &&
	     read_any(x, m->type);
	x->labels = false;
	x->at->bit = end;
	return ok;
}

static bool read_members(struct text *x, const struct ctf_type *t)
{
	bool ok = ctf_align(x->at, t->align) && put_element_word(x, "{");

	for (unsigned int i = 0; i < t->nr_members && ok; i++)
		ok = (!i || put_element_word(x, ",")) &&
		     read_member(x, &t->members[i], t->keys ? &t->keys[i] : NULL);
	return ok && put_element_word(x, "}");
}

/* Read characters as a text in quotes. */
static bool read_characters(struct text *x, const struct ctf_type *t, uint64_t count)
{
	struct kt_tp_value value = { .data = NULL };
	size_t from = x->v->used;
	const char *text;
	char *copy = NULL;
	bool ok;

	if (!lt_read_bytes(x->v, x->at, t->element, count, &value))
		return false;
	if (!value.data) {
		value.len = x->v->used - from;
		copy = malloc(value.len + 1);
		if (!copy) {
			x->v->no_memory = true;
			return false;
		}
		memcpy(copy, x->v->room ? x->v->room + from : (const uint8_t *)"",
		       value.len);
		x->v->used = from;
	}
	text = copy ? copy : value.data;
	ok = put_element_quoted(x, text, strnlen(text, value.len));
	free(copy);
	return ok;
}

static bool read_nested_array(struct text *x, const struct ctf_type *t)
{
	uint64_t count;
	bool ok;

	if (!ctf_elements(x->at, t, &count))
		return false;
	if (t->text)
		return read_characters(x, t, count);
	ok = put_element_word(x, "[");
	/*
	 * When labels are read the values were read before, so the position behind them is
	 * known: stop when the text is full.
	 */
	for (uint64_t i = 0; i < count && ok && !(x->cut && x->labels); i++) {
		uint64_t before = x->at->bit;

		x->at->name = NULL;
		ok = (!i || put_element_word(x, ",")) && read_any(x, t->element);
		if (ok && x->at->bit == before && ++x->at->empty > CTF_EMPTY)
			return ctf_fail(x->at,
					"an event has too many fields without bits");
	}
	return ok && put_element_word(x, "]");
}

static bool read_element_option(struct text *x, const struct ctf_type *t)
{
	const struct ctf_type *option;

	if (!ctf_option(x->at, t, &option))
		return false;
	return option ? read_any(x, option) : put_element_word(x, "null");
}

static bool read_element_string(struct text *x, const struct ctf_type *t)
{
	struct ctf_value one;

	return ctf_read(x->at, t, &one) &&
	       put_element_quoted(x, (const char *)one.data, one.len);
}

static bool read_any(struct text *x, const struct ctf_type *t)
{
	bool ok;

	if (lt_is_plain(t))
		return read_element_number(x, t);
	if (x->at->depth == CTF_DEPTH)
		return ctf_fail(x->at, "the types are nested too deep");
	x->at->depth++;
	switch (t->kind) {
	case CTF_STRING:
		ok = read_element_string(x, t);
		break;
	case CTF_STRUCT:
		ok = read_members(x, t);
		break;
	case CTF_VARIANT:
		ok = read_element_option(x, t);
		break;
	default:
		ok = read_nested_array(x, t);
		break;
	}
	x->at->depth--;
	return ok;
}

/*
 * Read an array into the room as a text in JSON; @labels: with the labels of its numbers instead of
 * the numbers.  A text that was cut is counted in @v->texts.
 * Return: as lt_read_bytes().
 */
bool lt_read_text(struct lt_values *v, const struct ctf *c, struct ctf_at *at,
		  const struct ctf_type *t, bool labels)
{
	struct text x = { .v = v, .c = c, .at = at, .from = v->used, .labels = labels };
	bool ok = read_any(&x, t);

	v->texts += x.cut;
	return ok;
}
