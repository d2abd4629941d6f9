/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of an event one after the other, with their values. */
#ifndef _KT_FIELDS_H
#define _KT_FIELDS_H

#include "internal.h"
#include "plan.h"

/**
 * struct kt_fields - where we are in an event
 * @step: the next field
 * @event: the event
 * @bits: those of dat20 that were not taken
 * @words: the next argument or word of the blob
 * @value: of the field, if @count is 0; signed types extended.  A PLACE_REST
 *	of one word is a value, one of none has none.
 * @count: values, or for text bytes, at @data
 * @data: where they are
 */
struct kt_fields {
	const struct kt_slot *step;
	const struct ktape_event *event;
	uint32_t bits;
	const uint8_t *words;
	uint64_t value;
	uint32_t count;
	const uint8_t *data;
};

/* fields.c */
const struct kt_slot *kt_fields_more(struct kt_fields *at);

/* The event has to fit (kt_plan_of()). */
static inline void kt_fields_begin(struct kt_fields *at,
				   const struct kt_plan *plan,
				   const struct ktape_event *event)
{
	at->step = plan->steps;
	at->event = event;
	at->bits = event->dat20;
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

/* The @i-th of several values. */
static inline uint64_t kt_fields_value(const struct kt_fields *at,
				       const struct kt_slot *s, uint32_t i)
{
	return kt_field_value(s->type, at->data + (size_t)i * s->words * 4,
			      s->words);
}

/* Return: the next field, or NULL. */
static inline const struct kt_slot *kt_fields_next(struct kt_fields *at)
{
	const struct kt_slot *s = at->step;

	if (s->place > KTAPE_PLACE_ARG)
		return s->place == KT_PLACE_END ? NULL : kt_fields_more(at);
	at->step = s + 1;
	at->count = 0;
	if (s->place == KTAPE_PLACE_BITS) {
		at->value = at->bits & s->mask;
		at->bits >>= s->count;
	} else {
		at->value = kt_field_value(s->type, at->words, s->words);
		at->words += s->words * 4U;
	}
	return s;
}

#endif /* _KT_FIELDS_H */
