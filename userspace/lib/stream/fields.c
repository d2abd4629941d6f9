// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the values of one event: fields one by one, a field at a known place, and
 * the typed arguments of user events.
 *
 * Fields in dat20 and in argument words are read inline in event.h.
 */
#include <ktape/mark.h>

#include "stream/event.h"

/*
 * Set @data and @count of a field with several values, or @value of a REST of one word.  Fields
 * in the blob are inside it: kt_plan_of() has checked its size.
 */
static void take_values(struct kt_fields *at, const struct kt_slot *s)
{
	const struct ktape_event *e = at->event;

	switch (s->place) {
	case KTAPE_PLACE_REST:
		at->data = at->words;
		at->count = e->nargs;
		if (at->count == 1) {
			at->value = kt_field_value(s->type, at->words, 1);
			at->count = 0;
		}
		break;
	case KTAPE_PLACE_ARRAY:
		at->data = at->words;
		at->count = s->count;
		at->words += s->count * s->words * 4U;
		break;
	case KTAPE_PLACE_LIST:
		/* The count comes from the trace: use at most what the blob holds. */
		at->data = at->words + 4;
		at->count = (uint32_t)kt_min(kt_get32(at->words),
					     (e->blob_size - 4U) / 4 / s->words);
		break;
	default:
		at->data = e->blob;
		at->count = e->blob_size;
		break;
	}
}

/* Continue kt_fields_next() for a field that is neither in dat20 nor an argument. */
const struct kt_slot *kt_fields_more(struct kt_fields *at)
{
	const struct kt_slot *s = at->step;

	at->step = s + 1;
	if (s->place == KTAPE_PLACE_BLOB) {
		at->words = at->event->blob;
		return kt_fields_next(at);
	}
	at->count = 0;
	take_values(at, s);
	return s;
}

/**
 * kt_place_find() - Find the place of a field
 * @desc: the event
 * @name: name of a field that is a single number
 * @place: filled
 *
 * Return: false if the event has no such field, or the field is or follows one that is not a
 * single number.
 */
bool kt_place_find(const struct ktape_event_desc *desc, const char *name,
		   struct kt_place *place)
{
	unsigned int bit = 0, word = 0;
	bool blob = false;

	for (unsigned int i = 0; i < desc->nr_fields; i++) {
		const struct ktape_field *f = &desc->fields[i];
		bool bits = f->place == KTAPE_PLACE_BITS;

		if (f->place == KTAPE_PLACE_BLOB) {
			blob = true;
			word = 0;
			continue;
		}
		if (!bits && f->place != KTAPE_PLACE_ARG)
			return false;
		if (!strcmp(f->name, name)) {
			place->type = f->type;
			place->words = bits ? 0 : (uint8_t)f->count;
			place->at = (uint8_t)(bits ? bit : word);
			place->blob = blob;
			place->mask = bits ? (1U << f->count) - 1 : 0;
			return true;
		}
		if (bits)
			bit += f->count;
		else
			word += f->count;
	}
	return false;
}

static const uint16_t states[] = {
	[KTAPE_STATE_R] = 0,	  [KTAPE_STATE_S] = 1,
	[KTAPE_STATE_D] = 2,	  [KTAPE_STATE_T] = 4,
	[KTAPE_STATE_TRACED] = 8, [KTAPE_STATE_X] = 0x10,
	[KTAPE_STATE_Z] = 0x20,	  [KTAPE_STATE_P] = 0x40,
	[KTAPE_STATE_I] = 0x80,	  [KTAPE_STATE_PREEMPTED] = 0x100,
};

/**
 * kt_kernel_state() - Convert a thread state to the bits of sched_switch
 * @state: enum ktape_task_state
 *
 * Return: prev_state as in the kernel's tracepoint; 0, which is R, for an unknown state.
 */
unsigned int kt_kernel_state(unsigned int state)
{
	return state < KT_ARRAY_SIZE(states) ? states[state] : 0;
}

#define ARRAY_HEAD 5 /* bytes of format and number of the elements */

/* Bytes of a number by its format; 0 = the format is not a number. */
static const uint8_t sizes[16] = {
	[KTAPE_FORMAT_S8] = 1,	     [KTAPE_FORMAT_U8] = 1,
	[KTAPE_FORMAT_S16] = 2,	     [KTAPE_FORMAT_U16] = 2,
	[KTAPE_FORMAT_S32] = 4,	     [KTAPE_FORMAT_U32] = 4,
	[KTAPE_FORMAT_X32] = 4,	     [KTAPE_FORMAT_OBJECT] = 8,
	[KTAPE_FORMAT_FUNCTION] = 8, [KTAPE_FORMAT_SIGNAL] = 4,
	[KTAPE_FORMAT_DOUBLE] = 8,   [KTAPE_FORMAT_S64] = 8,
	[KTAPE_FORMAT_U64] = 8,
};

/* Return the bytes of a number in a format, 0 if the format is not a number. */
unsigned int kt_typed_size(unsigned int format)
{
	return format < KT_ARRAY_SIZE(sizes) ? sizes[format] : 0;
}

static uint64_t get_number(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | data[size];
	return value;
}

/* Return element @i of an array whose elements are numbers, extended to 64 bits. */
uint64_t kt_typed_element(unsigned int format, const uint8_t *data, size_t i)
{
	unsigned int size = sizes[format & 15];

	return kt_typed_extend(format, get_number(data + i * size, size));
}

/* Read an array, whose head is at @data.  Return: its end, or NULL if it is cut off. */
static const uint8_t *take_array(const uint8_t *data, size_t room,
				 struct kt_typed *t)
{
	uint64_t count, size;

	if (room < ARRAY_HEAD)
		return NULL;
	t->elem = data[0];
	count = kt_get32(data + 1);
	size = t->elem == KTAPE_FORMAT_MEMORY ? 1 : kt_typed_size(t->elem);
	if (!size || count * size > room - ARRAY_HEAD)
		return NULL;
	t->kind = t->elem == KTAPE_FORMAT_MEMORY ? KT_TYPED_BYTES : KT_TYPED_ARRAY;
	t->data = data + ARRAY_HEAD;
	t->len = (size_t)(count * size);
	return t->data + t->len;
}

/*
 * Read the argument at @*at, which must be before @end, and advance @*at.  If the argument is
 * cut off or its format is unknown, @t is BYTES: all bytes up to @end, that of the format
 * included.
 */
void kt_typed_next(const uint8_t **at, const uint8_t *end, struct kt_typed *t)
{
	const uint8_t *data = *at + 1, *nul, *next;
	size_t room = (size_t)(end - data);

	t->format = **at & 15;
	t->width = **at >> KT_FORMAT_BITS;
	t->value = 0;
	t->elem = 0;
	t->data = data;
	if (sizes[t->format] && sizes[t->format] <= room) {
		t->kind = KT_TYPED_NUMBER;
		t->len = sizes[t->format];
		t->value = get_number(data, t->len);
		*at = data + t->len;
		return;
	}
	nul = memchr(data, 0, room);
	if (t->format == KTAPE_FORMAT_STRING && nul) {
		t->kind = KT_TYPED_STRING;
		t->len = (size_t)(nul - data);
		*at = nul + 1;
		return;
	}
	next = t->format == KTAPE_FORMAT_ARRAY ? take_array(data, room, t) : NULL;
	if (next) {
		*at = next;
		return;
	}
	t->kind = KT_TYPED_BYTES;
	/* The byte before memory is its length. */
	if (t->format == KTAPE_FORMAT_MEMORY && room && *data < room) {
		t->data = data + 1;
		t->len = *data;
		*at = t->data + t->len;
		return;
	}
	t->data = *at;
	t->len = (size_t)(end - *at);
	*at = end;
}

/* Extend a number to 64 bits, with a sign if its format has one. */
uint64_t kt_typed_extend(unsigned int format, uint64_t value)
{
	switch (format) {
	case KTAPE_FORMAT_S8:
		return (uint64_t)(int64_t)(int8_t)value;
	case KTAPE_FORMAT_S16:
		return (uint64_t)(int64_t)(int16_t)value;
	case KTAPE_FORMAT_S32:
		return (uint64_t)(int64_t)(int32_t)value;
	default:
		return value;
	}
}
