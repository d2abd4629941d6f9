// SPDX-License-Identifier: LGPL-2.1-or-later
/* The event table once more, as plan.h has it. */
#include "plan.h"

enum {
#define KTAPE_TYPE(NAME, words, help) WORDS_##NAME = (words),
#include <ktape/events.h>
};

#define STEP(TYPE, text, where, nr) \
	{ \
		.name = text, \
		.name_len = sizeof(text) - 1, \
		.type = KTAPE_TYPE_##TYPE, \
		.place = KTAPE_PLACE_##where, \
		.words = WORDS_##TYPE, \
		.count = (nr), \
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

const struct kt_plan kt_plans[KTAPE_OPCODES] = {
#define KTAPE_EVENT(op, NAME, text, CLASS, about) \
	[op] = { \
		.name = #text, \
		.name_len = sizeof(#text) - 1, \
		.steps = steps_##NAME, \
		.bits = 0
#define KTAPE_BITS(TYPE, field, width, help) \
		+ 1
#include "show/shape.inc"
#include <ktape/events.h>
	[KTAPE_TIME_EXTEND] = {
		.name = "time_extend",
		.name_len = sizeof("time_extend") - 1,
		.nargs = 4,
		.steps = no_steps,
	},
};

/* clang-format on */
