// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read fields of a CTF packet by their types.
 *
 * Fields are read bit by bit as the types say, because LTTng's event headers have numbers
 * of 5 and 27 bits.  Every read is checked against the end of the packet.
 */
#include <string.h>

#include "util/bits.h"

#include "ctf.h"

/* ---- bits --------------------------------------------------------------------------- */

/* Set what is wrong, for the caller's message.  Return: false. */
bool ctf_fail(struct ctf_at *at, const char *why)
{
	at->why = why;
	return false;
}

/* Advance to a multiple of @bits, a power of two.  Return: false beyond the end. */
bool ctf_align(struct ctf_at *at, unsigned int bits)
{
	uint64_t to = bits > 1 ? kt_align(at->bit, bits) : at->bit;

	if (to > at->end)
		return ctf_fail(at, "a field goes beyond the end of the packet");
	at->bit = to;
	return true;
}

/* Read @size bits, at most 64, in little-endian order: the lowest bits come first. */
static uint64_t bits_little(const uint8_t *data, uint64_t bit, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int got = 0; got < size;) {
		unsigned int skip = (bit + got) & 7;
		unsigned int n = (unsigned int)kt_min(8 - skip, size - got);
		uint64_t part = data[(bit + got) >> 3] >> skip & ((1U << n) - 1);

		v |= part << got;
		got += n;
	}
	return v;
}

/* The same in big-endian order: the highest bits come first. */
static uint64_t bits_big(const uint8_t *data, uint64_t bit, unsigned int size)
{
	uint64_t v = 0;

	for (unsigned int got = 0; got < size;) {
		unsigned int skip = (bit + got) & 7;
		unsigned int n = (unsigned int)kt_min(8 - skip, size - got);

		v = v << n |
		    (data[(bit + got) >> 3] >> (8 - skip - n) & ((1U << n) - 1));
		got += n;
	}
	return v;
}

static uint64_t ctf_number_at(const struct ctf_type *t, const uint8_t *data,
			      uint64_t bit)
{
	uint64_t v;

	if (!t->big && !(bit & 7) && t->size == 32)
		v = kt_get32(data + (bit >> 3));
	else if (!t->big && !(bit & 7) && t->size == 64)
		return kt_get64(data + (bit >> 3));
	else if (t->size == 8 && !(bit & 7))
		v = data[bit >> 3];
	else
		v = t->big ? bits_big(data, bit, t->size) :
			     bits_little(data, bit, t->size);
	if (t->is_signed && t->size < 64 && v >> (t->size - 1) & 1)
		v |= ~0ULL << t->size;
	return v;
}

static bool read_integer(struct ctf_at *at, const struct ctf_type *t, uint64_t *v)
{
	if (!ctf_align(at, t->align))
		return false;
	if (at->end - at->bit < t->size)
		return ctf_fail(at, "a number goes beyond the end of the packet");
	*v = ctf_number_at(t, at->data, at->bit);
	at->bit += t->size;
	return true;
}

static bool read_leb128(struct ctf_at *at, const struct ctf_type *t, uint64_t *v)
{
	unsigned int shift = 0;
	uint8_t byte;

	if (!ctf_align(at, 8))
		return false;
	*v = 0;
	do {
		if (at->end - at->bit < 8)
			return ctf_fail(
				at, "a number goes beyond the end of the packet");
		if (shift > 63)
			return ctf_fail(at, "a number has more than 64 bits");
		byte = at->data[at->bit >> 3];
		at->bit += 8;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	at->leb_bits = (unsigned int)kt_min(shift, 64);
	if (t->is_signed && shift < 64 && byte & 0x40)
		*v |= ~0ULL << shift;
	return true;
}

/* ---- fields -------------------------------------------------------------------------- */

/* Roles of numbers by their names, for CTF 1.8 only; role_by_name() has those for both. */
static const struct {
	const char *name;
	uint8_t role;
} roles[] = {
	{ "magic", CTF_MAGIC },
	{ "stream_id", CTF_STREAM },
	{ "id", CTF_CLASS },
	{ "timestamp_begin", CTF_TIME },
	{ "timestamp", CTF_TIME },
	{ "timestamp_end", CTF_TIME_END },
	{ "content_size", CTF_CONTENT },
	{ "packet_size", CTF_TOTAL },
	{ "events_discarded", CTF_DISCARDED },
	{ "packet_seq_num", CTF_SEQ },
};

/*
 * Return the role of a number by its name: all of them in the packet of CTF 1.8 (@at->named), and
 * in either version those for which CTF 2 has no role: CPU and thread.
 */
static uint8_t role_by_name(const struct ctf_at *at, const char *name)
{
	if (*name == '_')
		name++;
	if (!strcmp(name, "cpu_id"))
		return CTF_CPU;
	if (!strcmp(name, "tid"))
		return CTF_TID;
	if (!strcmp(name, "vtid"))
		return CTF_VTID;
	for (size_t i = 0; at->named && i < KT_ARRAY_SIZE(roles); i++) {
		if (!strcmp(name, roles[i].name))
			return roles[i].role;
	}
	return CTF_PLAIN;
}

/*
 * Keep a number that has a role, and the size of a time stamp.  In the packet of CTF 1.8 each
 * number that is mapped to a clock and has no other role is a time stamp.
 */
static void keep_role(struct ctf_at *at, const struct ctf_type *t, uint64_t v)
{
	const unsigned int bits = t->kind == CTF_LEB128 ? at->leb_bits : t->size;
	uint8_t role = t->role	? t->role :
		       at->name ? role_by_name(at, at->name) :
				  CTF_PLAIN;

	if (!role && t->clock && at->named)
		role = CTF_TIME;
	if (!role)
		return;
	at->roles[role] = v;
	at->has |= 1U << role;
	if (role == CTF_TIME)
		at->clock_bits = bits;
	if (role == CTF_TIME_END)
		at->end_bits = bits;
}

/* Take the number that a length or a tag refers to. */
static bool keep_referred(struct ctf_at *at, const struct ctf_type *t, uint64_t *v)
{
	if (!t->ref)
		return ctf_fail(
			at, "a field refers to another one that does not come before it");
	*v = at->slots[t->ref - 1];
	return true;
}

/* Return the option that the tag selects, or NULL. */
static const struct ctf_member *choose_option(const struct ctf_type *t, uint64_t tag)
{
	unsigned int low = 0, high = t->nr_choices, middle;
	const uint64_t v = ctf_sortable(t->tag, tag);

	/* Labels that overlap are few: the first option is meant. */
	for (unsigned int i = 0; t->overlaps && i < high; i++) {
		if (v >= t->choices[i].low && v <= t->choices[i].high)
			return &t->members[t->choices[i].member];
	}
	while (!t->overlaps && low < high) {
		middle = low + (high - low) / 2;
		if (v < t->choices[middle].low)
			high = middle;
		else if (v > t->choices[middle].high)
			low = middle + 1;
		else
			return &t->members[t->choices[middle].member];
	}
	return NULL;
}

/**
 * ctf_option() - find the option of a variant that its tag selects
 * @at: place in the packet
 * @t: the variant
 * @option: set to its type, NULL = an optional field of CTF 2 is not there
 *
 * Return: false if there is no tag or no option; @at->why says it.
 */
bool ctf_option(struct ctf_at *at, const struct ctf_type *t,
		const struct ctf_type **option)
{
	const struct ctf_member *m;
	uint64_t tag = 0;

	*option = NULL;
	if (!keep_referred(at, t, &tag))
		return false;
	m = choose_option(t, tag);
	*option = m ? m->type : NULL;
	/* An optional field is a variant whose only option may not apply. */
	if (!m && (t->nr_members != 1 || !t->members[0].nr_ranges))
		return ctf_fail(at, "a variant has no option for its tag");
	return true;
}

static bool read_variant(struct ctf_at *at, const struct ctf_type *t,
			 struct ctf_value *v)
{
	const struct ctf_type *option;

	if (!ctf_option(at, t, &option))
		return false;
	return !option || ctf_read(at, option, v);
}

/**
 * ctf_elements() - go to the first element of an array
 * @at: place in the packet
 * @t: an array or a sequence
 * @count: set to the number of elements
 *
 * Return: false if there are more than the packet has bits, or if their number is not
 * known; @at->why says it.
 */
bool ctf_elements(struct ctf_at *at, const struct ctf_type *t, uint64_t *count)
{
	*count = t->count;
	if (t->kind == CTF_SEQUENCE && !keep_referred(at, t, count))
		return false;
	if (!ctf_align(at, t->align) || !ctf_align(at, t->element->align))
		return false;
	/* For elements of a bit or more; of empty ones, it limits how many are read. */
	if (*count > at->end - at->bit)
		return ctf_fail(at, "an array goes beyond the end of the packet");
	return true;
}

static bool read_ctf_elements(struct ctf_at *at, const struct ctf_type *t,
			      struct ctf_value *v)
{
	const struct ctf_type *e = t->element;
	const char *name = at->name;
	struct ctf_value one;
	uint64_t count;

	if (!ctf_elements(at, t, &count))
		return false;
	if (e->kind == CTF_INTEGER && !(e->size & 7) && !(at->bit & 7) &&
	    !(e->size % e->align)) { /* no gaps between elements */
		if (count * e->size > at->end - at->bit)
			return ctf_fail(
				at, "an array goes beyond the end of the packet");
		v->data = at->data + (at->bit >> 3);
		v->len = (size_t)(count * e->size >> 3);
		at->bit += count * e->size;
		return true;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t before = at->bit;

		at->name = NULL;
		if (!ctf_read(at, e, &one))
			return false;
		if (at->bit == before) /* elements without bits: the rest adds nothing */
			break;
	}
	at->name = name;
	return true;
}

static bool read_ctf_string(struct ctf_at *at, struct ctf_value *v)
{
	const uint8_t *p, *nul;
	size_t room;

	if (!ctf_align(at, 8))
		return false;
	p = at->data + (at->bit >> 3);
	room = (size_t)((at->end - at->bit) >> 3);
	nul = memchr(p, 0, room);
	if (!nul)
		return ctf_fail(at, "a string goes beyond the end of the packet");
	v->data = p;
	v->len = (size_t)(nul - p);
	at->bit += (v->len + 1) * 8;
	return true;
}

static bool read_ctf_number(struct ctf_at *at, const struct ctf_type *t,
			    struct ctf_value *v)
{
	bool ok = t->kind == CTF_LEB128 ? read_leb128(at, t, &v->number) :
					  read_integer(at, t, &v->number);

	if (!ok)
		return false;
	if (t->slot)
		at->slots[t->slot - 1] = v->number;
	keep_role(at, t, v->number);
	return true;
}

/* Read the members of a structure; their values are only kept as roles and in slots. */
bool ctf_read_struct(struct ctf_at *at, const struct ctf_type *t)
{
	struct ctf_value v;

	if (!ctf_align(at, t->align))
		return false;
	for (unsigned int i = 0; i < t->nr_members; i++) {
		at->name = t->members[i].name;
		if (!ctf_read(at, t->members[i].type, &v))
			return false;
	}
	return true;
}

/**
 * ctf_read() - read one field
 * @at: place in the packet, which is advanced
 * @t: type of the field
 * @v: the value of a number or a text, the bytes of an array of whole bytes; of a variant, that
 *	of its option; otherwise empty
 *
 * Numbers with a role, and those that others refer to, are kept in @at.
 *
 * Return: false if the field cannot be read: it goes beyond the packet, refers to none, or reaches
 * a limit; @at->why says it.
 */
bool ctf_read(struct ctf_at *at, const struct ctf_type *t, struct ctf_value *v)
{
	uint64_t before = at->bit;
	bool ok;

	memset(v, 0, sizeof(*v));
	if (at->depth == CTF_DEPTH)
		return ctf_fail(at, "the types are nested too deep");
	at->depth++;
	switch (t->kind) {
	case CTF_INTEGER:
	case CTF_FLOAT:
	case CTF_LEB128:
		ok = read_ctf_number(at, t, v);
		break;
	case CTF_STRING:
		ok = read_ctf_string(at, v);
		break;
	case CTF_STRUCT:
		ok = ctf_read_struct(at, t);
		break;
	case CTF_VARIANT:
		ok = read_variant(at, t, v);
		break;
	default:
		ok = read_ctf_elements(at, t, v);
		break;
	}
	at->depth--;
	/* Without a limit, few bytes of metadata could declare fields without end. */
	if (ok && at->bit == before && ++at->empty > CTF_EMPTY)
		return ctf_fail(at, "an event has too many fields without bits");
	return ok;
}
