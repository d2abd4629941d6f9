// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Encode the values of a page.
 *
 *	DELTA_BINARY_PACKED	| 128 | 4 | n | first | block | block | ...
 *	  block			| least delta | 4 widths | 4 x 32 packed deltas |
 *	RLE_DICTIONARY		| width 8 | run | run | ...
 *	  run			| count << 1 | value |, or
 *				| groups << 1 or 1 | 8 packed values a group |
 *	levels of nulls		| bytes 32 | run of bits | ...
 *
 * Numbers are varints (LEB128); those with a sign are zigzag.  Packed values begin at
 * the lowest bit of the first byte.
 */
#include "util/bits.h"

#include "encode.h"

#define BLOCK	   128U /* deltas of a block */
#define MINIS	   4U	/* parts of a block, each with its own width */
#define MINI	   (BLOCK / MINIS)
#define GROUP	   8U	      /* values of a group of packed indexes */
#define GROUPS_MAX (1U << 20) /* values after which groups have a new count */

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put_zigzag(uint8_t *p, int64_t v)
{
	return put_varint(p, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

/* Pack @n values of @width bits; @n * @width is a multiple of 8. */
static uint8_t *pack_bits(uint8_t *p, const uint64_t *v, unsigned int n,
			  unsigned int width)
{
	unsigned int have = 0;
	uint64_t word = 0;

	if (!width)
		return p;
	for (unsigned int i = 0; i < n; i++) {
		word |= v[i] << have;
		have += width;
		if (have < 64)
			continue;
		kt_set64(p, word);
		p += 8;
		have -= 64;
		word = have ? v[i] >> (width - have) : 0;
	}
	for (; have; have -= 8, word >>= 8)
		*p++ = (uint8_t)word;
	return p;
}

/* Return @b - @a in the width of the column: it wraps, as readers do. */
static int64_t subtract_wrapped(int64_t b, int64_t a, bool wide)
{
	uint64_t d = (uint64_t)b - (uint64_t)a;

	return wide ? (int64_t)d : (int64_t)(int32_t)(uint32_t)d;
}

/* Encode up to BLOCK deltas. */
static uint8_t *put_encoded_block(uint8_t *p, const int64_t *deltas, size_t n,
				  bool wide)
{
	const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
	uint64_t rest[BLOCK] = { 0 };
	int64_t least = deltas[0];
	uint8_t *widths;

	for (size_t i = 1; i < n; i++)
		least = deltas[i] < least ? deltas[i] : least;
	for (size_t i = 0; i < n; i++)
		rest[i] = ((uint64_t)deltas[i] - (uint64_t)least) & mask;
	p = put_zigzag(p, least);
	widths = p;
	p += MINIS;
	for (unsigned int m = 0; m < MINIS; m++) {
		uint64_t all = 0;

		for (unsigned int i = 0; i < MINI; i++)
			all |= rest[m * MINI + i];
		widths[m] = (uint8_t)kt_pq_width(all);
		/* A part without deltas has no bytes. */
		if (m * MINI < n)
			p = pack_bits(p, rest + m * MINI, MINI, widths[m]);
		else
			widths[m] = 0;
	}
	return p;
}

/**
 * kt_pq_delta() - Encode numbers as DELTA_BINARY_PACKED
 * @out: room for KT_PQ_DELTA_BOUND(@n) bytes
 * @v: the numbers
 * @n: how many
 * @wide: the column is INT64, else INT32
 *
 * Return: number of bytes.
 */
size_t kt_pq_delta(uint8_t *out, const int64_t *v, size_t n, bool wide)
{
	int64_t deltas[BLOCK];
	uint8_t *p = out;

	p = put_varint(p, BLOCK);
	p = put_varint(p, MINIS);
	p = put_varint(p, n);
	p = put_zigzag(p, n ? v[0] : 0);
	for (size_t at = 1; at < n; at += BLOCK) {
		size_t nr = kt_min(BLOCK, n - at);

		for (size_t i = 0; i < nr; i++)
			deltas[i] = subtract_wrapped(v[at + i], v[at + i - 1], wide);
		p = put_encoded_block(p, deltas, nr, wide);
	}
	return (size_t)(p - out);
}

/* Return how many of @n values are equal to the first one. */
static size_t run_length(const uint32_t *v, size_t n)
{
	size_t i = 1;

	while (i < n && v[i] == v[0])
		i++;
	return i;
}

/* Encode groups of 8 values; the last group is filled with zeros. */
static uint8_t *put_encoded_groups(uint8_t *p, const uint32_t *v, size_t n,
				   unsigned int width)
{
	p = put_varint(p, (n + GROUP - 1) / GROUP << 1 | 1);
	for (size_t at = 0; at < n; at += GROUP) {
		uint64_t group[GROUP] = { 0 };

		for (size_t i = 0; i < GROUP && at + i < n; i++)
			group[i] = v[at + i];
		p = pack_bits(p, group, GROUP, width);
	}
	return p;
}

/**
 * kt_pq_indexes() - Encode indexes into a dictionary as runs and packed groups
 * @out: room for KT_PQ_INDEXES_BOUND(@n) bytes
 * @v: the indexes
 * @n: how many
 * @width: bits of the largest index
 *
 * Return: number of bytes, with that of the width.
 */
size_t kt_pq_indexes(uint8_t *out, const uint32_t *v, size_t n, unsigned int width)
{
	uint8_t *p = out;
	size_t at = 0;

	*p++ = (uint8_t)width;
	while (at < n) {
		size_t run = run_length(v + at, n - at), from = at;

		if (run >= GROUP || at + run == n) {
			p = put_varint(p, run << 1);
			for (unsigned int i = 0; i < (width + 7) / 8; i++)
				*p++ = (uint8_t)(v[at] >> i * 8);
			at += run;
			continue;
		}
		/* Groups up to the next run that fills a whole group. */
		do {
			at += kt_min(GROUP, n - at);
		} while (at < n && at - from < GROUPS_MAX &&
			 run_length(v + at, kt_min(GROUP, n - at)) < GROUP);
		p = put_encoded_groups(p, v + from, at - from, width);
	}
	return (size_t)(p - out);
}

/**
 * kt_pq_levels() - Encode which rows of a page have a value
 * @out: room for KT_PQ_BITS_BOUND(@n) bytes
 * @there: bit n: row n has a value; not read if all rows have one, or none
 * @n: number of rows
 * @some: number of rows with a value
 *
 * Return: number of bytes.
 */
size_t kt_pq_levels(uint8_t *out, const uint64_t *there, size_t n, size_t some)
{
	uint8_t *p = out + 4;
	size_t bytes = (n + 7) / 8;

	if (!some || some == n) {
		p = put_varint(p, n << 1);
		*p++ = !!some;
	} else {
		p = put_varint(p, bytes << 1 | 1);
		for (size_t i = 0; i < bytes; i++)
			*p++ = (uint8_t)(there[i / 8] >> i % 8 * 8);
	}
	kt_set32(out, (uint32_t)(p - out - 4));
	return (size_t)(p - out);
}

/**
 * kt_pq_bools() - Encode truth values, a bit each
 * @out: room for KT_PQ_BITS_BOUND(@n) bytes
 * @v: the values, 0 or 1
 * @n: how many
 *
 * Return: number of bytes.
 */
size_t kt_pq_bools(uint8_t *out, const int64_t *v, size_t n)
{
	size_t bytes = (n + 7) / 8;

	memset(out, 0, bytes);
	for (size_t i = 0; i < n; i++)
		out[i / 8] |= (uint8_t)(!!v[i] << i % 8);
	return bytes;
}
