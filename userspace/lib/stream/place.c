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
