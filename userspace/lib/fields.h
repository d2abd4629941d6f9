/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of an event one after the other, with their values. */
#ifndef _KT_FIELDS_H
#define _KT_FIELDS_H

#include "internal.h"

/**
 * struct kt_fields - where we are in an event
 * @field: the next field
 * @end: behind the last one
 * @event: the event
 * @shift: bits of dat20 that were taken
 * @words: the next argument or word of the blob
 * @value: of the field, if @count is 0; signed types extended.  A PLACE_REST
 *	of one word is a value, one of none has none.
 * @count: values, or for text bytes, at @data
 * @data: where they are
 */
struct kt_fields {
	const struct ktape_field *field;
	const struct ktape_field *end;
	const struct ktape_event *event;
	unsigned int shift;
	const uint8_t *words;
	uint64_t value;
	uint32_t count;
	const uint8_t *data;
};

/* The event has to fit (kt_event_fits()). */
static inline void kt_fields_begin(struct kt_fields *at,
				   const struct ktape_event_desc *desc,
				   const struct ktape_event *event)
{
	at->field = desc->fields;
	at->end = desc->fields + desc->nr_fields;
	at->event = event;
	at->shift = 0;
	at->words = event->args;
	at->value = 0;
	at->count = 0;
	at->data = NULL;
}

/* A value of @words words. */
static inline uint64_t kt_field_value(unsigned int type, const uint8_t *p,
				      unsigned int words)
{
	uint32_t v;

	if (words == 2)
		return kt_get64(p);
	v = kt_get32(p);
	if (type == KTAPE_TYPE_S32 || type == KTAPE_TYPE_TID)
		return (uint64_t)(int64_t)(int32_t)v;
	return v;
}

/* Return: the next field, or NULL. */
static inline const struct ktape_field *kt_fields_next(struct kt_fields *at)
{
	const struct ktape_field *f = at->field;

	if (f != at->end && f->place == KTAPE_PLACE_BLOB) {
		at->words = at->event->blob;
		f++;
	}
	if (f == at->end)
		return NULL;
	at->field = f + 1;
	at->count = 0;
	switch (f->place) {
	case KTAPE_PLACE_BITS:
		at->value = at->event->dat20 >> at->shift &
			    ((1U << f->count) - 1);
		at->shift += f->count;
		break;
	case KTAPE_PLACE_ARG:
		at->value = kt_field_value(f->type, at->words, f->count);
		at->words += f->count * 4U;
		break;
	case KTAPE_PLACE_REST:
		at->data = at->words;
		at->count = at->event->nargs;
		if (at->count == 1) {
			at->value = kt_field_value(f->type, at->words, 1);
			at->count = 0;
		}
		break;
	case KTAPE_PLACE_ARRAY:
		at->data = at->words;
		at->count = f->count;
		at->words += f->count * kt_type_words()[f->type] * 4U;
		break;
	case KTAPE_PLACE_LIST:
		/* Not more than there are, whatever the count says. */
		at->data = at->words + 4;
		at->count = kt_min(kt_get32(at->words),
				   (at->event->blob_size - 4U) / 4 /
					   kt_type_words()[f->type]);
		break;
	default:
		at->data = at->event->blob;
		at->count = at->event->blob_size;
		break;
	}
	return f;
}

#endif /* _KT_FIELDS_H */
