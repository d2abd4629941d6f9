/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The event table as the decoder walks it: what ktape_event_desc() tells, with
 * names beside their lengths in arrays that can be copied whole.
 */
#ifndef _KT_PLAN_H
#define _KT_PLAN_H

#include <ktape.h>

#define KT_FIELD_ROOM	16	/* of a field's name */
#define KT_PLACE_END	255	/* the place of a step behind the last one */

/**
 * struct kt_slot - one field
 * @name: as in the table
 * @name_len: its length
 * @type: enum ktape_field_type
 * @place: enum ktape_place, or KT_PLACE_END
 * @words: of one value
 * @count: bits, words or values
 * @mask: BITS: as many ones
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
 * @name: as in the table
 * @name_len: its length
 * @nargs: argument words; meaningless if @varargs
 * @bits: how many fields are in dat20; they come first
 * @varargs: true if their number varies
 * @has_blob: true if p is set
 * @blob_words: 32-bit words that a blob has at least
 * @steps: its fields, or NULL if the table has no such event
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

/* Return: the event in the table if the record is as there, or NULL. */
static inline const struct kt_plan *kt_plan_of(const struct ktape_event *event)
{
	const struct kt_plan *plan = &kt_plans[event->opcode];

	if (!event->known || !plan->steps || plan->has_blob != !!event->blob ||
	    (event->nargs != plan->nargs && !plan->varargs) ||
	    (plan->has_blob && event->blob_size / 4 < plan->blob_words))
		return NULL;
	return plan;
}

/* Can its fields be read? */
static inline bool kt_event_fits(const struct ktape_event *event)
{
	return kt_plan_of(event);
}

#endif /* _KT_PLAN_H */
