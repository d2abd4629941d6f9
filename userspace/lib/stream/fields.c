// SPDX-License-Identifier: LGPL-2.1-or-later
/* Fields that are no single values: what is in blobs, and the end. */
#include "fields.h"

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
