// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fields that are no single values: what is in blobs, and the end. */
#include <ktape/mark.h>

#include "stream/event.h"

static void take(struct kt_fields *at, const struct kt_slot *s)
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
		/* Not more than there are, whatever the count says. */
		at->data = at->words + 4;
		at->count =
			(uint32_t)kt_min(kt_get32(at->words),
					 (e->blob_size - 4U) / 4 / s->words);
		break;
	default:
		at->data = e->blob;
		at->count = e->blob_size;
		break;
	}
}

/* kt_fields_next() where the next step is there, not bits, not an argument. */
const struct kt_slot *kt_fields_more(struct kt_fields *at)
{
	const struct kt_slot *s = at->step;

	at->step = s + 1;
	if (s->place == KTAPE_PLACE_BLOB) {
		at->words = at->event->blob;
		return kt_fields_next(at);
	}
	at->count = 0;
	take(at, s);
	return s;
}

/**
 * kt_place_find() - look a field up
 * @desc: the event
 * @name: of a field that is one number
 * @place: set to where it is
 *
 * Return: false if there is none.
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
 * kt_kernel_state() - a thread's state as the kernel's tracepoint has it
 * @state: enum ktape_task_state
 *
 * Return: its bits.
 */
unsigned int kt_kernel_state(unsigned int state)
{
	return state < KT_ARRAY_SIZE(states) ? states[state] : 0;
}

#define FORMAT_BITS	4

/* How many bytes a number takes; 0 if it is none. */
static const uint8_t sizes[16] = {
	[KTAPE_FORMAT_S8] = 1,	   [KTAPE_FORMAT_U8] = 1,
	[KTAPE_FORMAT_S16] = 2,	   [KTAPE_FORMAT_U16] = 2,
	[KTAPE_FORMAT_S32] = 4,	   [KTAPE_FORMAT_U32] = 4,
	[KTAPE_FORMAT_X32] = 4,	   [KTAPE_FORMAT_OBJECT] = 8,
	[KTAPE_FORMAT_FUNCTION] = 8, [KTAPE_FORMAT_SIGNAL] = 4,
};

/*
 * The argument at @*at, which moves on and lies before @end.  What is cut off or
 * has no known format is bytes up to the end.
 */
void kt_typed_next(const uint8_t **at, const uint8_t *end, struct kt_typed *t)
{
	const uint8_t *data = *at + 1, *nul;
	size_t room = (size_t)(end - data);

	t->format = **at & 15;
	t->width = **at >> FORMAT_BITS;
	t->value = 0;
	t->data = data;
	if (sizes[t->format] && sizes[t->format] <= room) {
		t->kind = KT_TYPED_NUMBER;
		t->len = sizes[t->format];
		for (size_t i = t->len; i--;)
			t->value = t->value << 8 | data[i];
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
	t->kind = KT_TYPED_BYTES;
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

/* A number with the sign that its format gives it. */
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
