// SPDX-License-Identifier: LGPL-2.1-or-later
/* Values of CTF fields: names and numbers as ktape has them, and the room for an event's values. */
#include <math.h>

#include "fields.h"

/* Return the name of a field: CTF 1.8 puts _ before it. */
const char *lt_name(const struct ctf *c, const char *name)
{
	return name + (c->version == 1 && *name == '_');
}

/* Return enum kt_tp_type of a number. */
uint8_t lt_number_type(const struct ctf_type *t)
{
	if (t->kind == CTF_FLOAT)
		return KT_TP_DOUBLE;
	return t->hex	    ? KT_TP_HEX :
	       t->is_signed ? KT_TP_SIGNED :
			      KT_TP_UNSIGNED;
}

/* Return the bits of a double that has the value of a number of 16 bits. */
static uint64_t widen_half(uint64_t half)
{
	unsigned int exponent = half >> 10 & 0x1f;
	double v = (double)(half & 0x3ff);
	uint64_t bits;

	if (exponent == 0x1f)
		v = half & 0x3ff ? (double)NAN : (double)INFINITY;
	else
		v = exponent ? ldexp(v + 1024, (int)exponent - 25) : ldexp(v, -24);
	v = copysign(v, half & 0x8000 ? -1 : 1);
	memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* Return a number as struct kt_tp_value has it; no sign is shown in hexadecimal. */
uint64_t lt_number(const struct ctf_type *t, uint64_t number)
{
	uint32_t low = (uint32_t)number;
	uint64_t bits;
	float narrow;
	double wide;

	if (t->hex && t->is_signed && t->size && t->size < 64)
		return number & ((1ULL << t->size) - 1);
	if (t->kind != CTF_FLOAT || t->size == 64)
		return number;
	if (t->size == 16)
		return widen_half(number);
	memcpy(&narrow, &low, sizeof(narrow));
	wide = (double)narrow;
	memcpy(&bits, &wide, sizeof(bits));
	return bits;
}

/* Check whether a type is a number. */
bool lt_is_plain(const struct ctf_type *t)
{
	return t->kind == CTF_INTEGER || t->kind == CTF_LEB128 ||
	       t->kind == CTF_FLOAT;
}

/* Return how many bytes can be appended to a value that begins at @from in the room. */
size_t lt_room_for(const struct lt_values *v, size_t from)
{
	return kt_min(LT_VALUE_MAX - (v->used - from), LT_EVENT_MAX - v->used);
}

/* Append to the room.  Return: false without memory. */
bool lt_append(struct lt_values *v, const void *data, size_t len)
{
	size_t cap = v->cap ? v->cap : 4096;
	uint8_t *more;

	while (cap - v->used < len)
		cap *= 2;
	if (cap != v->cap) {
		more = realloc(v->room, cap);
		if (!more) {
			v->no_memory = true;
			return false;
		}
		v->room = more;
		v->cap = cap;
	}
	if (len)
		memcpy(v->room + v->used, data, len);
	v->used += len;
	return true;
}
