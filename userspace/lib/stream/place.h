/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the values of an event are, looked up once by their names. */
#ifndef _KT_PLACE_H
#define _KT_PLACE_H

#include "internal.h"

/**
 * struct kt_place - where a value of a record is
 * @type: enum ktape_field_type
 * @words: 32-bit words of it; 0: bits of dat20
 * @at: the first bit, or the first word
 * @blob: words are those of the blob
 * @mask: of the bits
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

/* The event has to fit (kt_event_fits()). */
static inline uint64_t kt_place_value(const struct kt_place *place,
				      const struct ktape_event *e)
{
	const uint8_t *words = place->blob ? e->blob : e->args;

	if (!place->words)
		return e->dat20 >> place->at & place->mask;
	words += place->at * 4U;
	if (place->words == 2)
		return kt_get64(words);
	if (place->type == KTAPE_TYPE_TID || place->type == KTAPE_TYPE_S32)
		return (uint64_t)(int64_t)(int32_t)kt_get32(words);
	return kt_get32(words);
}

#endif /* _KT_PLACE_H */
