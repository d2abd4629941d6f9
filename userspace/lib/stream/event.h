/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The event table as plans for the decoder (struct kt_plan), and functions that read
 * the values of one event with its plan.
 *
 * kt_fields_*() returns all fields of an event one after the other; kt_place_*()
 * returns one field, at a place from kt_place_find(); kt_typed_*() returns the typed
 * arguments of a user event.
 */
#ifndef _KT_EVENT_H
#define _KT_EVENT_H

#include "stream/packet.h"

#define KT_FIELD_ROOM 16  /* bytes for a field's name */
#define KT_PLACE_END  255 /* place of the entry after the last field */

/* Bits of dat20 in sys_enter, sys_exit and their wide forms (ktape/events/syscall.h). */
#define KT_CALL_NR     0xffffU	  /* the number; all set: it is not here */
#define KT_CALL_COMPAT (1U << 16) /* of the 32-bit table */
#define KT_CALL_X32    (1U << 17) /* of the x32 table */
#define KT_CALL_LARGE  (1U << 18) /* argument 0 of a begin has the number */
#define KT_CALL_KEY    (KT_CALL_NR | KT_CALL_COMPAT | KT_CALL_X32)

/**
 * struct kt_slot - one field
 * @name: name as in the table, in an array that can be copied as a whole
 * @name_len: bytes of the name
 * @type: enum ktape_field_type
 * @place: enum ktape_place, or KT_PLACE_END
 * @words: 32-bit words of one value
 * @count: number of bits, words or values
 * @mask: for BITS, a mask of @count bits
 */
struct kt_slot {
	char name[KT_FIELD_ROOM];
	uint8_t name_len;
	uint8_t type;
	uint8_t place;
	uint8_t words;
	uint16_t count;
	uint32_t mask;
};

/**
 * struct kt_plan - one event
 * @name: name as in the table, in an array that can be copied as a whole
 * @name_len: bytes of the name
 * @nargs: number of argument words; not used if @varargs
 * @bits: number of fields in dat20, which come first
 * @varargs: the number of argument words varies
 * @has_blob: the record has a blob (bit p)
 * @blob_words: minimum size of the blob in 32-bit words
 * @steps: fields of the event, NULL = the table has no such event
 */
struct kt_plan {
	char name[KTAPE_EVENT_NAME_SIZE];
	uint8_t name_len;
	uint8_t nargs;
	uint8_t bits;
	bool varargs;
	bool has_blob;
	uint16_t blob_words;
	const struct kt_slot *steps;
};

extern const struct kt_plan kt_plans[KTAPE_OPCODES];

/* Return the plan of an event if the record has the form that the table describes. */
static inline const struct kt_plan *kt_plan_of(const struct ktape_event *event)
{
	const struct kt_plan *plan = &kt_plans[event->opcode];

	if (!event->known || !plan->steps || plan->has_blob != !!event->blob ||
	    (event->nargs != plan->nargs && !plan->varargs) ||
	    (plan->has_blob && event->blob_size / 4 < plan->blob_words))
		return NULL;
	return plan;
}

/* Return false if @event->tid does not run: a switch's call stack is of the thread that left. */
static inline bool kt_event_thread_runs(const struct ktape_event *event)
{
	return event->opcode != KTAPE_EV_KERNEL_STACK;
}

/* Check whether the record has the form that the table describes. */
static inline bool kt_event_fits(const struct ktape_event *event)
{
	return kt_plan_of(event);
}

/**
 * struct kt_fields - cursor over the fields of an event
 * @step: the next field
 * @event: the event
 * @bits: bits of dat20 that were not read yet
 * @words: the next argument word or word of the blob
 * @value: value of the field if @count is 0; signed types are extended.  @count is
 *	0 also for a PLACE_REST field of exactly one word
 * @count: number of values, or of bytes for text, at @data
 * @data: the values, if @count is not 0
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

/* Begin at the first field.  @plan is kt_plan_of() of the event, not NULL. */
static inline void kt_fields_begin(struct kt_fields *at, const struct kt_plan *plan,
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

/* Read a value of @words words. */
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

/* Return value @i of a field with several values. */
static inline uint64_t kt_fields_value(const struct kt_fields *at,
				       const struct kt_slot *s, uint32_t i)
{
	return kt_field_value(s->type, at->data + (size_t)i * s->words * 4,
			      s->words);
}

/* Read the next field.  Return: the field, or NULL after the last one. */
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

/**
 * struct kt_place - the place of a field in a record
 * @type: enum ktape_field_type
 * @words: number of 32-bit words, 0 = bits of dat20
 * @at: index of the first bit or word
 * @blob: the words are in the blob, not among the arguments
 * @mask: mask of the bits
 */
struct kt_place {
	uint8_t type;
	uint8_t words;
	uint8_t at;
	bool blob;
	uint32_t mask;
};

bool kt_place_find(const struct ktape_event_desc *desc, const char *name,
		   struct kt_place *place);
unsigned int kt_kernel_state(unsigned int state);

/* Return the value at @place of an event for which kt_event_fits() holds. */
static inline uint64_t kt_place_value(const struct kt_place *place,
				      const struct ktape_event *e)
{
	const uint8_t *words = place->blob ? e->blob : e->args;

	if (!place->words)
		return e->dat20 >> place->at & place->mask;
#ifdef __clang_analyzer__
	/* The analyzer does not know that kt_event_fits() has checked the blob. */
	if (!words)
		__builtin_unreachable();
#endif
	words += place->at * 4U;
	if (place->words == 2)
		return kt_get64(words);
	if (place->type == KTAPE_TYPE_TID || place->type == KTAPE_TYPE_S32)
		return (uint64_t)(int64_t)(int32_t)kt_get32(words);
	return kt_get32(words);
}

/*
 * Bits of an argument's format: the lower ones of its first byte, whose others are its width, and
 * in param1 of the name of a user event.
 */
#define KT_FORMAT_BITS 4

enum kt_typed_kind {
	KT_TYPED_NUMBER,
	KT_TYPED_STRING,
	KT_TYPED_BYTES,
	KT_TYPED_ARRAY
};

/**
 * struct kt_typed - one typed argument of a user event
 * @kind: number, string, bytes or array of numbers
 * @format: KTAPE_FORMAT_*
 * @elem: for an array: KTAPE_FORMAT_* of its elements
 * @width: minimum width for display
 * @value: the number, not sign-extended
 * @data: the string without its NUL, the bytes, or the elements
 * @len: bytes at @data
 */
struct kt_typed {
	enum kt_typed_kind kind;
	unsigned int format;
	unsigned int elem;
	unsigned int width;
	uint64_t value;
	const uint8_t *data;
	size_t len;
};

/* fields.c: kt_typed_next() never fails; what it cannot read is KT_TYPED_BYTES up to @end */
void kt_typed_next(const uint8_t **at, const uint8_t *end, struct kt_typed *t);
uint64_t kt_typed_extend(unsigned int format, uint64_t value);
unsigned int kt_typed_size(unsigned int format);
uint64_t kt_typed_element(unsigned int format, const uint8_t *data, size_t i);

#endif /* _KT_EVENT_H */
