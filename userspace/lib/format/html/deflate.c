// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Compress with deflate (RFC 1951): one block with the fixed codes.
 *
 *	3 bits: last block, fixed codes | literals and copies | end of block
 *
 * A copy is (length 3 to 258, distance 1 to 32768).  Candidates for copies are found by
 * a hash of three bytes, and at most TRIES of them are compared.  Fixed codes need no
 * second pass and no tables in the output, and columns of small numbers and lines of
 * JSON that resemble each other shrink mainly by copies.
 */
#include <string.h>

#include "util/bits.h"

#include "deflate.h"

#define MIN_COPY       3U
#define MAX_COPY       258U
#define TRIES	       24U
#define GOOD_COPY      64U /* long enough to end the search */
#define END_OF_BLOCK   256U
#define LENGTH_CODES   29U
#define DISTANCE_CODES 30U
#define FIRST_LENGTH   257U
#define DISTANCE_BITS  5U

/* The shortest length and distance of each code, and how many bits follow it. */
static const uint16_t length_from[LENGTH_CODES] = {
	3,  4,	5,  6,	7,  8,	9,  10, 11,  13,  15,  17,  19,	 23, 27,
	31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258
};
static const uint8_t length_bits[LENGTH_CODES] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
						   1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
						   4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const uint16_t distance_from[DISTANCE_CODES] = {
	1,    2,    3,	  4,	5,    7,    9,	  13,	 17,	25,
	33,   49,   65,	  97,	129,  193,  257,  385,	 513,	769,
	1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577
};
static const uint8_t distance_bits[DISTANCE_CODES] = {
	0, 0, 0, 0, 1, 1, 2, 2,	 3,  3,	 4,  4,	 5,  5,	 6,
	6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13
};

/* Bits that are being written, the first one lowest. */
struct bits {
	uint8_t *to;
	uint64_t bits;
	unsigned int nr;
};

static void put_deflate_bits(struct bits *b, uint32_t value, unsigned int nr)
{
	b->bits |= (uint64_t)value << b->nr;
	b->nr += nr;
	while (b->nr >= 8) {
		*b->to++ = (uint8_t)b->bits;
		b->bits >>= 8;
		b->nr -= 8;
	}
}

/* Write a code, whose bits deflate stores with the highest one first. */
static void put_deflate_code(struct bits *b, uint32_t code, unsigned int nr)
{
	uint32_t turned = 0;

	for (unsigned int i = 0; i < nr; i++)
		turned |= (code >> i & 1) << (nr - 1 - i);
	put_deflate_bits(b, turned, nr);
}

/* Write a literal, a code of a length or the end in the fixed codes. */
static void put_deflate_symbol(struct bits *b, uint32_t symbol)
{
	if (symbol < 144)
		put_deflate_code(b, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_deflate_code(b, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_deflate_code(b, symbol - 256, 7);
	else
		put_deflate_code(b, 0xc0 + symbol - 280, 8);
}

/* Return the last code whose shortest value is at most @value. */
static unsigned int find_code(const uint16_t *from, unsigned int nr, size_t value)
{
	unsigned int low = 0, high = nr - 1;

	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (from[middle] <= value)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static void put_copy(struct bits *b, size_t length, size_t distance)
{
	unsigned int code = find_code(length_from, LENGTH_CODES, length);

	put_deflate_symbol(b, FIRST_LENGTH + code);
	put_deflate_bits(b, (uint32_t)(length - length_from[code]),
			 length_bits[code]);
	code = find_code(distance_from, DISTANCE_CODES, distance);
	put_deflate_code(b, code, DISTANCE_BITS);
	put_deflate_bits(b, (uint32_t)(distance - distance_from[code]),
			 distance_bits[code]);
}

static uint32_t hash_at(const uint8_t *p)
{
	uint32_t v = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

	return v * 2654435761U >> 17;
}

static size_t same_bytes(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;

	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* Find the longest copy of what is at @at.  Return: its length, 0 = none. */
static size_t find_copy(const struct kt_deflate *d, const uint8_t *from,
			size_t at, size_t len, size_t *distance)
{
	size_t best = 0, most = kt_min(len - at, MAX_COPY);
	uint32_t next = most < MIN_COPY ? 0 : d->heads[hash_at(from + at)];

	for (unsigned int tries = TRIES; next && tries; tries--) {
		size_t place = next - 1, n;

		if (at - place > KT_DEFLATE_WINDOW - 1)
			break;
		n = same_bytes(from + place, from + at, most);
		if (n > best) {
			best = n;
			*distance = at - place;
		}
		if (best >= GOOD_COPY || best == most)
			break;
		next = d->chain[place % KT_DEFLATE_WINDOW];
		/* An entry that was overwritten leads forward. */
		if (next > place)
			break;
	}
	return best >= MIN_COPY ? best : 0;
}

/* Enter @nr positions from @at on into the table, as candidates for later copies. */
static void learn_bytes(struct kt_deflate *d, const uint8_t *from, size_t at,
			size_t len, size_t nr)
{
	for (; nr-- && at + MIN_COPY <= len; at++) {
		uint32_t hash = hash_at(from + at);

		d->chain[at % KT_DEFLATE_WINDOW] = d->heads[hash];
		d->heads[hash] = (uint32_t)at + 1;
	}
}

/**
 * kt_deflate_bound() - return how large compressed bytes can become
 * @len: number of bytes
 *
 * Return: bytes of room that kt_deflate() needs.
 */
size_t kt_deflate_bound(size_t len)
{
	return len + len / 8 + 16; /* at most 9 bits for a byte */
}

/**
 * kt_deflate() - compress bytes
 * @d: memory for the compressor, with any content
 * @from: the bytes
 * @len: how many, less than 4 GiB
 * @to: room of kt_deflate_bound() bytes
 *
 * Return: number of bytes at @to.
 */
size_t kt_deflate(struct kt_deflate *d, const uint8_t *from, size_t len, uint8_t *to)
{
	struct bits b = { .to = to };
	size_t at = 0, distance = 0, n;

	memset(d->heads, 0, sizeof(d->heads));
	put_deflate_bits(&b, 1, 1); /* the last block */
	put_deflate_bits(&b, 1, 2); /* fixed codes */
	while (at < len) {
		n = find_copy(d, from, at, len, &distance);
		if (n)
			put_copy(&b, n, distance);
		else
			put_deflate_symbol(&b, from[at]);
		learn_bytes(d, from, at, len, n ? n : 1);
		at += n ? n : 1;
	}
	put_deflate_symbol(&b, END_OF_BLOCK);
	if (b.nr)
		put_deflate_bits(&b, 0, 8 - b.nr);
	return (size_t)(b.to - to);
}
