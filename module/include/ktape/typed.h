/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build typed arguments of user events (enum ktape_format in
 * uapi/ktape/mark.h):
 *
 *	KTAPE_TYPED(t, 32);
 *
 *	ktape_typed_u16(&t, 0, 7);
 *	ktape_typed_string(&t, "seven");
 *	ktape_user_event(1025, NULL, 0, t.bytes, t.length);
 */
#ifndef _KTAPE_TYPED_H
#define _KTAPE_TYPED_H

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

#include <ktape/mark.h>

u32 ktape_token(const void *object);
u32 ktape_token_func(const void *function);

/**
 * struct ktape_typed - typed arguments under construction
 * @bytes: buffer
 * @room: bytes of @bytes
 * @length: bytes in use
 * @full: an argument found no room; it and all later arguments are left out
 */
struct ktape_typed {
	u8 *bytes;
	u32 room;
	u32 length;
	bool full;
};

/* Define a struct ktape_typed without arguments, with room for size bytes. */
#define KTAPE_TYPED(name, size) \
	u8 name##_bytes[size];  \
	struct ktape_typed name = { .bytes = name##_bytes, .room = (size) }

/*
 * Append one argument: a byte with its format and the width to print it with (0
 * to 15), then head, then data.  The functions below call this.
 */
static inline void ktape_typed_put(struct ktape_typed *t, u8 format, u8 width,
				   const void *head, u32 head_size,
				   const void *data, u32 size)
{
	u8 *to = t->bytes + t->length;

	if (t->full || t->room - t->length < 1 + head_size + size) {
		t->full = true;
		return;
	}
	*to++ = format | width << 4;
	if (head_size)
		memcpy(to, head, head_size);
	if (size)
		memcpy(to + head_size, data, size);
	t->length += 1 + head_size + size;
}

#define KTAPE_TYPED_NUMBER(name, type, FORMAT)                                 \
	static inline void ktape_typed_##name(struct ktape_typed *t, u8 width, \
					      type value)                      \
	{                                                                      \
		ktape_typed_put(t, KTAPE_FORMAT_##FORMAT, width, NULL, 0,      \
				&value, sizeof(value));                        \
	}
KTAPE_TYPED_NUMBER(s8, s8, S8)
KTAPE_TYPED_NUMBER(u8, u8, U8)
KTAPE_TYPED_NUMBER(s16, s16, S16)
KTAPE_TYPED_NUMBER(u16, u16, U16)
KTAPE_TYPED_NUMBER(s32, s32, S32)
KTAPE_TYPED_NUMBER(u32, u32, U32)
KTAPE_TYPED_NUMBER(x32, u32, X32)

static inline void ktape_typed_string(struct ktape_typed *t, const char *text)
{
	ktape_typed_put(t, KTAPE_FORMAT_STRING, 0, NULL, 0, text,
			(u32)strlen(text) + 1);
}

/* Append bytes; more than 255 are cut. */
static inline void ktape_typed_memory(struct ktape_typed *t, const void *data,
				      u32 size)
{
	u8 length = min_t(u32, size, U8_MAX);

	ktape_typed_put(t, KTAPE_FORMAT_MEMORY, 0, &length, 1, data, length);
}

/* Append the token of an object or a function, which hides the address. */
static inline void ktape_typed_object(struct ktape_typed *t, const void *object)
{
	u64 token = ktape_token(object);

	ktape_typed_put(t, KTAPE_FORMAT_OBJECT, 0, NULL, 0, &token, sizeof(token));
}

static inline void ktape_typed_function(struct ktape_typed *t, const void *function)
{
	u64 token = ktape_token_func(function);

	ktape_typed_put(t, KTAPE_FORMAT_FUNCTION, 0, NULL, 0, &token, sizeof(token));
}

static inline void ktape_typed_signal(struct ktape_typed *t, u32 number)
{
	ktape_typed_put(t, KTAPE_FORMAT_SIGNAL, 0, NULL, 0, &number, sizeof(number));
}

#endif /* _KTAPE_TYPED_H */
