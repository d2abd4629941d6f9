// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where the values of an event are. */
#include "place.h"

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
