/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Thrift's compact protocol, as far as Parquet needs it.  The functions do not
 * check for room; the caller has made it.
 *
 *	structure = | id delta 4 | type 4 | value | ... | 0 |
 */
#ifndef _KT_THRIFT_H
#define _KT_THRIFT_H

#include "util/put.h"

#define KT_THRIFT_DEPTH 8

enum {
	KT_THRIFT_TRUE = 1,
	KT_THRIFT_FALSE = 2,
	KT_THRIFT_I16 = 4,
	KT_THRIFT_I32 = 5,
	KT_THRIFT_I64 = 6,
	KT_THRIFT_BINARY = 8,
	KT_THRIFT_LIST = 9,
	KT_THRIFT_STRUCT = 12
};

/**
 * struct kt_thrift - structure being written; begins as zeros but for @p
 * @p: where the next byte goes
 * @depth: nesting depth, 0 = outermost structure
 * @last: by depth, number of the last field
 */
struct kt_thrift {
	char *p;
	unsigned int depth;
	uint8_t last[KT_THRIFT_DEPTH];
};

static inline void kt_thrift_varint(struct kt_thrift *th, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*th->p++ = (char)(v | 0x80);
	*th->p++ = (char)v;
}

/* Write a signed number in zigzag encoding: the sign is the lowest bit. */
static inline void kt_thrift_number(struct kt_thrift *th, int64_t v)
{
	kt_thrift_varint(th, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Write a field header.  Fields have to come in ascending order, less than 16 apart. */
static inline void kt_thrift_field(struct kt_thrift *th, uint8_t field, uint8_t type)
{
	uint8_t *last = &th->last[th->depth];

	*th->p++ = (char)((field - *last) << 4 | type);
	*last = field;
}

static inline void kt_thrift_i32(struct kt_thrift *th, uint8_t field, int32_t v)
{
	kt_thrift_field(th, field, KT_THRIFT_I32);
	kt_thrift_number(th, v);
}

static inline void kt_thrift_i64(struct kt_thrift *th, uint8_t field, int64_t v)
{
	kt_thrift_field(th, field, KT_THRIFT_I64);
	kt_thrift_number(th, v);
}

static inline void kt_thrift_true(struct kt_thrift *th, uint8_t field)
{
	kt_thrift_field(th, field, KT_THRIFT_TRUE);
}

static inline void kt_thrift_bool(struct kt_thrift *th, uint8_t field, bool value)
{
	kt_thrift_field(th, field, value ? KT_THRIFT_TRUE : KT_THRIFT_FALSE);
}

static inline void kt_thrift_bytes(struct kt_thrift *th, const char *text, size_t len)
{
	kt_thrift_varint(th, len);
	th->p = kt_put_mem(th->p, text, len);
}

static inline void kt_thrift_text(struct kt_thrift *th, uint8_t field,
				  const char *text)
{
	kt_thrift_field(th, field, KT_THRIFT_BINARY);
	kt_thrift_bytes(th, text, strlen(text));
}

static inline void kt_thrift_list(struct kt_thrift *th, uint8_t field,
				  uint8_t type, size_t nr)
{
	kt_thrift_field(th, field, KT_THRIFT_LIST);
	if (nr < 15) {
		*th->p++ = (char)(nr << 4 | type);
		return;
	}
	*th->p++ = (char)(0xf0 | type);
	kt_thrift_varint(th, nr);
}

/* Begin a structure that is an element of a list. */
static inline void kt_thrift_item(struct kt_thrift *th)
{
	th->last[++th->depth] = 0;
}

static inline void kt_thrift_open(struct kt_thrift *th, uint8_t field)
{
	kt_thrift_field(th, field, KT_THRIFT_STRUCT);
	kt_thrift_item(th);
}

static inline void kt_thrift_close(struct kt_thrift *th)
{
	*th->p++ = 0;
	th->depth--;
}

/* End the outermost structure.  Return: the byte after it. */
static inline char *kt_thrift_end(struct kt_thrift *th)
{
	*th->p++ = 0;
	return th->p;
}

#endif /* _KT_THRIFT_H */
