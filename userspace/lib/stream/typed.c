// SPDX-License-Identifier: LGPL-2.1-or-later
/* Typed arguments of user events, one after the other. */
#include <ktape/mark.h>

#include "typed.h"

#define FORMAT_BITS	4

/* How many bytes a number takes; 0 if it is none. */
static const uint8_t sizes[16] = {
	[KTAPE_FORMAT_S8] = 1,	   [KTAPE_FORMAT_U8] = 1,
	[KTAPE_FORMAT_S16] = 2,	   [KTAPE_FORMAT_U16] = 2,
	[KTAPE_FORMAT_S32] = 4,	   [KTAPE_FORMAT_U32] = 4,
	[KTAPE_FORMAT_X32] = 4,	   [KTAPE_FORMAT_OBJECT] = 8,
	[KTAPE_FORMAT_FUNCTION] = 8, [KTAPE_FORMAT_SIGNAL] = 4,
};

/*
 * The argument at @*at, which moves on and lies before @end.  What is cut off or
 * has no known format is bytes up to the end.
 */
void kt_typed_next(const uint8_t **at, const uint8_t *end, struct kt_typed *t)
{
	const uint8_t *data = *at + 1, *nul;
	size_t room = (size_t)(end - data);

	t->format = **at & 15;
	t->width = **at >> FORMAT_BITS;
	t->value = 0;
	t->data = data;
	if (sizes[t->format] && sizes[t->format] <= room) {
		t->kind = KT_TYPED_NUMBER;
		t->len = sizes[t->format];
		for (size_t i = t->len; i--;)
			t->value = t->value << 8 | data[i];
		*at = data + t->len;
		return;
	}
	nul = memchr(data, 0, room);
	if (t->format == KTAPE_FORMAT_STRING && nul) {
		t->kind = KT_TYPED_STRING;
		t->len = (size_t)(nul - data);
		*at = nul + 1;
		return;
	}
	t->kind = KT_TYPED_BYTES;
	if (t->format == KTAPE_FORMAT_MEMORY && room && *data < room) {
		t->data = data + 1;
		t->len = *data;
		*at = t->data + t->len;
		return;
	}
	t->data = *at;
	t->len = (size_t)(end - *at);
	*at = end;
}

/* A number with the sign that its format gives it. */
uint64_t kt_typed_extend(unsigned int format, uint64_t value)
{
	switch (format) {
	case KTAPE_FORMAT_S8:
		return (uint64_t)(int64_t)(int8_t)value;
	case KTAPE_FORMAT_S16:
		return (uint64_t)(int64_t)(int16_t)value;
	case KTAPE_FORMAT_S32:
		return (uint64_t)(int64_t)(int32_t)value;
	default:
		return value;
	}
}
