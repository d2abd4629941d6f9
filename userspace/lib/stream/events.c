// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The event table as data, generated from <ktape/events.h> in two forms: the public
 * one (ktape_event_desc()), and kt_plans for the decoder (event.h).
 */
#include "util/bits.h"

#include "stream/event.h"

enum {
#define KTAPE_TYPE(NAME, words, help) WORDS_##NAME = (words),
#include <ktape/events.h>
};

static const char *const type_names[KTAPE_TYPES] = {
#define KTAPE_TYPE(NAME, words, help) [KTAPE_TYPE_##NAME] = #NAME,
#include <ktape/events.h>
};

static const struct ktape_class_desc classes[KTAPE_CLASSES] = {
#define KTAPE_CLASS(number, NAME, name, ring, priority, help) \
	[number] = { #name, help, KTAPE_RING_##ring, priority },
#include <ktape/events.h>
};

/* clang-format off */

/* An array of fields for each event. */
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	static const struct ktape_field fields_##NAME[] = {
#define KTAPE_BITS(TYPE, field, width, help) \
	{ #field, help, KTAPE_TYPE_##TYPE, KTAPE_PLACE_BITS, width },
#define KTAPE_ARG(TYPE, field, help) \
	{ #field, help, KTAPE_TYPE_##TYPE, KTAPE_PLACE_ARG, WORDS_##TYPE },
#define KTAPE_REST(TYPE, field, help) \
	{ #field, help, KTAPE_TYPE_##TYPE, KTAPE_PLACE_REST, 0 },
#define KTAPE_BLOB() \
	{ "", "", KTAPE_TYPE_U32, KTAPE_PLACE_BLOB, 0 },
#define KTAPE_ARRAY(TYPE, field, count, help) \
	{ #field, help, KTAPE_TYPE_##TYPE, KTAPE_PLACE_ARRAY, count },
#define KTAPE_TEXT(field, help) \
	{ #field, help, KTAPE_TYPE_U32, KTAPE_PLACE_TEXT, 0 },
#define KTAPE_BYTES(field, help) \
	{ #field, help, KTAPE_TYPE_X32, KTAPE_PLACE_BYTES, 0 },
#define KTAPE_LIST(TYPE, number, field, help) \
	{ #field, help, KTAPE_TYPE_##TYPE, KTAPE_PLACE_LIST, 0 },
#define KTAPE_END(NAME) \
	};
#include <ktape/events.h>

/*
 * The descriptors.  shape.inc completes each: it adds .nargs, .varargs, .has_blob and .blob_words
 * and ends the initialiser.
 */
static const struct ktape_event_desc events[KTAPE_OPCODES] = {
#define KTAPE_EVENT(op, NAME, text, CLASS, about) \
	[op] = { \
		.name = #text, \
		.help = about, \
		.fields = fields_##NAME, \
		.nr_fields = KT_ARRAY_SIZE(fields_##NAME), \
		.opcode = op, \
		.event_class = KTAPE_CLASS_##CLASS
#include "stream/shape.inc"
#include <ktape/events.h>
	[KTAPE_TIME_EXTEND] = {
		.name = "time_extend",
		.help = "full time of the next record, when its upper half has changed",
		.opcode = KTAPE_TIME_EXTEND,
		.event_class = KTAPE_CLASS_CONTROL,
		.nargs = 4,
	},
};

/* clang-format on */

#define STEP(TYPE, text, where, nr)           \
	{                                     \
		.name = text,                 \
		.name_len = sizeof(text) - 1, \
		.type = KTAPE_TYPE_##TYPE,    \
		.place = KTAPE_PLACE_##where, \
		.words = WORDS_##TYPE,        \
		.count = (nr),                \
	},

/* clang-format off */

/* The steps of each event. */
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help) \
	static const struct kt_slot steps_##NAME[] = {
#define KTAPE_BITS(TYPE, field, width, help) \
	{ \
		.name = #field, \
		.name_len = sizeof(#field) - 1, \
		.type = KTAPE_TYPE_##TYPE, \
		.place = KTAPE_PLACE_BITS, \
		.words = WORDS_##TYPE, \
		.count = (width), \
		.mask = (1U << (width)) - 1, \
	},
#define KTAPE_ARG(TYPE, field, help) STEP(TYPE, #field, ARG, WORDS_##TYPE)
#define KTAPE_REST(TYPE, field, help) STEP(TYPE, #field, REST, 0)
#define KTAPE_BLOB() STEP(U32, "", BLOB, 0)
#define KTAPE_ARRAY(TYPE, field, nr, help) STEP(TYPE, #field, ARRAY, nr)
#define KTAPE_TEXT(field, help) STEP(U32, #field, TEXT, 0)
#define KTAPE_BYTES(field, help) STEP(X32, #field, BYTES, 0)
#define KTAPE_LIST(TYPE, number, field, help) STEP(TYPE, #field, LIST, 0)
#define KTAPE_END(NAME) \
	{ .place = KT_PLACE_END } };
#include <ktape/events.h>

static const struct kt_slot no_steps[] = { { .place = KT_PLACE_END } };

/* As above; each KTAPE_BITS() first adds 1 to .bits. */
const struct kt_plan kt_plans[KTAPE_OPCODES] = {
#define KTAPE_EVENT(op, NAME, text, CLASS, about) \
	[op] = { \
		.name = #text, \
		.name_len = sizeof(#text) - 1, \
		.steps = steps_##NAME, \
		.bits = 0
#define KTAPE_BITS(TYPE, field, width, help) \
		+ 1
#include "stream/shape.inc"
#include <ktape/events.h>
	[KTAPE_TIME_EXTEND] = {
		.name = "time_extend",
		.name_len = sizeof("time_extend") - 1,
		.nargs = 4,
		.steps = no_steps,
	},
};

/* clang-format on */

const struct ktape_event_desc *ktape_event_desc(unsigned int opcode)
{
	if (opcode >= KTAPE_OPCODES || !events[opcode].name)
		return NULL;
	return &events[opcode];
}

const struct ktape_event_desc *ktape_event_find(const char *name)
{
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++) {
		if (events[i].name && !strcmp(events[i].name, name))
			return &events[i];
	}
	return NULL;
}

const struct ktape_class_desc *ktape_class_desc(unsigned int event_class)
{
	if (event_class >= KTAPE_CLASSES || !classes[event_class].name)
		return NULL;
	return &classes[event_class];
}

const char *ktape_type_name(unsigned int type)
{
	return type < KTAPE_TYPES ? type_names[type] : NULL;
}

uint32_t ktape_event_arg(const struct ktape_event *event, unsigned int i)
{
	if (i >= event->nargs)
		return 0;
	return kt_get32((const char *)event->args + i * 4);
}

int ktape_event_field(const struct ktape_event *event, const char *name,
		      uint64_t *value)
{
	const struct kt_plan *plan = kt_plan_of(event);
	const struct kt_slot *f;
	struct kt_fields at;

	if (!plan)
		return -EINVAL;
	kt_fields_begin(&at, plan, event);
	while ((f = kt_fields_next(&at))) {
		if (at.count || strcmp(f->name, name) || f->place > KTAPE_PLACE_REST ||
		    (f->place == KTAPE_PLACE_REST && !event->nargs))
			continue;
		*value = at.value;
		return 0;
	}
	return -ENOENT;
}
