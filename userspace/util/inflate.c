// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Unpack a stream of zlib (RFC 1950) in memory.
 *
 *	method and window 8 | flags 8 | blocks (RFC 1951) | Adler-32 of the result, big-endian
 *
 * A block begins with 1 bit: it is the last one, and 2 bits: 0 the bytes follow as they are,
 * 1 codes of fixed lengths, 2 the lengths of the codes follow.  A code stands for a byte, for
 * the end of the block, or for a length; then a code for a distance back follows.
 *
 * It is a few hundred lines here, because the static command, boards and the page that
 * converts have no zlib.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util/inflate.h"

#define CODE_MAX     15U /* bits of a code */
#define LITERALS     288U
#define DISTANCES    32U
#define LENGTH_CODES 19U
#define BLOCK_END    256U
#define ADLER_PRIME  65521U
#define ADLER_STEP   5552U /* bytes that do not overflow the sums */

/**
 * struct input - bits, the lowest of a byte first
 * @at: the next byte
 * @end: after the last one
 * @bits: bits that were taken from bytes
 * @nr: how many
 * @bad: there are fewer bits than were asked for
 */
struct input {
	const uint8_t *at;
	const uint8_t *end;
	uint32_t bits;
	unsigned int nr;
	bool bad;
};

/**
 * struct codes - a set of codes
 * @count: by length: how many codes have it
 * @symbol: what codes stand for, in the order of their values
 */
struct codes {
	uint16_t count[CODE_MAX + 1];
	uint16_t symbol[LITERALS];
};

struct output {
	uint8_t *begin;
	size_t used;
	size_t room;
};

/* Length and distance codes: their first value, and how many bits are added. */
struct range {
	uint16_t first;
	uint8_t bits;
};

static const struct range lengths[] = {
	{ 3, 0 },   { 4, 0 },	{ 5, 0 },   { 6, 0 },	{ 7, 0 },   { 8, 0 },
	{ 9, 0 },   { 10, 0 },	{ 11, 1 },  { 13, 1 },	{ 15, 1 },  { 17, 1 },
	{ 19, 2 },  { 23, 2 },	{ 27, 2 },  { 31, 2 },	{ 35, 3 },  { 43, 3 },
	{ 51, 3 },  { 59, 3 },	{ 67, 4 },  { 83, 4 },	{ 99, 4 },  { 115, 4 },
	{ 131, 5 }, { 163, 5 }, { 195, 5 }, { 227, 5 }, { 258, 0 },
};

static const struct range distances[] = {
	{ 1, 0 },     { 2, 0 },	    { 3, 0 },	   { 4, 0 },	  { 5, 1 },
	{ 7, 1 },     { 9, 2 },	    { 13, 2 },	   { 17, 3 },	  { 25, 3 },
	{ 33, 4 },    { 49, 4 },    { 65, 5 },	   { 97, 5 },	  { 129, 6 },
	{ 193, 6 },   { 257, 7 },   { 385, 7 },	   { 513, 8 },	  { 769, 8 },
	{ 1025, 9 },  { 1537, 9 },  { 2049, 10 },  { 3073, 10 },  { 4097, 11 },
	{ 6145, 11 }, { 8193, 12 }, { 12289, 12 }, { 16385, 13 }, { 24577, 13 },
};

/* Take @n bits, at most 16.  Return: their value, 0 if there are fewer. */
static uint32_t take_inflate_bits(struct input *in, unsigned int n)
{
	uint32_t v;

	while (in->nr < n) {
		if (in->at == in->end) {
			in->bad = true;
			return 0;
		}
		in->bits |= (uint32_t)*in->at++ << in->nr;
		in->nr += 8;
	}
	v = in->bits & ((1U << n) - 1);
	in->bits >>= n;
	in->nr -= n;
	return v;
}

/*
 * Make the codes of symbols that have codes of @length bits, 0 = none.
 *
 * The codes must use up all values of bits.  With @few there may also be a single code, of one
 * bit, or none: that is how a block has one distance, or none (RFC 1951, 3.2.7), or nothing but
 * its end.
 *
 * Return: false if there are more or fewer codes.
 */
static bool make_codes(struct codes *c, const uint8_t *length, unsigned int nr,
		       bool few)
{
	uint16_t at[CODE_MAX + 2] = { 0 };
	int left = 1;

	memset(c, 0, sizeof(*c));
	for (unsigned int i = 0; i < nr; i++)
		c->count[length[i]]++;
	c->count[0] = 0;
	for (unsigned int i = 1; i <= CODE_MAX; i++) {
		left = left * 2 - c->count[i];
		if (left < 0)
			return false;
		at[i + 1] = (uint16_t)(at[i] + c->count[i]);
	}
	if (left && !(few && at[CODE_MAX + 1] == c->count[1]))
		return false;
	for (unsigned int i = 0; i < nr; i++) {
		if (length[i])
			c->symbol[at[length[i]]++] = (uint16_t)i;
	}
	return true;
}

/* Take a code.  Return: its symbol, or LITERALS if it is none; then @in->bad is set. */
static unsigned int take_symbol(struct input *in, const struct codes *c)
{
	uint32_t code = 0, first = 0, index = 0;

	for (unsigned int i = 1; i <= CODE_MAX && !in->bad; i++) {
		code |= take_inflate_bits(in, 1);
		if (code < first + c->count[i])
			return in->bad ? LITERALS : c->symbol[index + code - first];
		index += c->count[i];
		first = (first + c->count[i]) << 1;
		code <<= 1;
	}
	in->bad = true;
	return LITERALS;
}

static bool put_inflated_byte(struct output *out, uint8_t byte)
{
	if (out->used == out->room)
		return false;
	out->begin[out->used++] = byte;
	return true;
}

/*
 * Repeat what was put before: byte by byte, because it may reach into itself.  It may be farther
 * back than the window that the head has, as for zlib: nothing is gained by less memory here.
 */
static bool repeat_bytes(struct output *out, uint32_t distance, uint32_t len)
{
	if (distance > out->used || len > out->room - out->used)
		return false;
	for (; len; len--, out->used++)
		out->begin[out->used] = out->begin[out->used - distance];
	return true;
}

/* Unpack a block of codes.  Return: false if it is damaged. */
static bool unpack_codes(struct input *in, struct output *out,
			 const struct codes *literal, const struct codes *distance)
{
	for (;;) {
		unsigned int symbol = take_symbol(in, literal), from;
		uint32_t len, back;

		if (in->bad)
			return false;
		if (symbol == BLOCK_END)
			return true;
		if (symbol < BLOCK_END) {
			if (!put_inflated_byte(out, (uint8_t)symbol))
				return false;
			continue;
		}
		symbol -= BLOCK_END + 1;
		if (symbol >= sizeof(lengths) / sizeof(lengths[0]))
			return false;
		len = lengths[symbol].first +
		      take_inflate_bits(in, lengths[symbol].bits);
		from = take_symbol(in, distance);
		if (in->bad || from >= sizeof(distances) / sizeof(distances[0]))
			return false;
		back = distances[from].first +
		       take_inflate_bits(in, distances[from].bits);
		if (in->bad || !repeat_bytes(out, back, len))
			return false;
	}
}

/* Unpack a block of bytes as they are: behind the rest of a byte, length and its complement. */
static bool unpack_stored(struct input *in, struct output *out)
{
	uint32_t len, check;

	take_inflate_bits(in, in->nr & 7);
	len = take_inflate_bits(in, 16);
	check = take_inflate_bits(in, 16);
	/* No bits are left over: whole bytes were taken. */
	if (in->bad || len != (check ^ 0xffff) ||
	    len > (size_t)(in->end - in->at) || len > out->room - out->used)
		return false;
	if (len)
		memcpy(out->begin + out->used, in->at, len);
	out->used += len;
	in->at += len;
	return true;
}

/* Unpack a block whose codes have the lengths of RFC 1951, 3.2.6.  Return: false if damaged. */
static bool unpack_fixed(struct input *in, struct output *out)
{
	struct codes literal, distance;
	uint8_t length[LITERALS];

	for (unsigned int i = 0; i < LITERALS; i++)
		length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	make_codes(&literal, length, LITERALS, false);
	memset(length, 5, DISTANCES); /* the last two are no distances */
	make_codes(&distance, length, DISTANCES, false);
	return unpack_codes(in, out, &literal, &distance);
}

/* Take the lengths of all codes, which are codes themselves.  Return: false if damaged. */
static bool take_lengths(struct input *in, const struct codes *c,
			 uint8_t *length, unsigned int nr)
{
	for (unsigned int i = 0; i < nr;) {
		unsigned int symbol = take_symbol(in, c), times = 1;
		uint8_t v = (uint8_t)symbol;

		if (in->bad)
			return false;
		if (symbol == 16 && !i)
			return false;
		if (symbol >= 16) {
			v = symbol == 16 ? length[i - 1] : 0;
			times = symbol == 18 ?
					11 + take_inflate_bits(in, 7) :
					3 + take_inflate_bits(
						    in, symbol == 16 ? 2 : 3);
		}
		if (in->bad || times > nr - i)
			return false;
		memset(length + i, v, times);
		i += times;
	}
	return true;
}

/* Unpack a block that begins with the lengths of its codes.  Return: false if damaged. */
static bool unpack_dynamic(struct input *in, struct output *out)
{
	/* The lengths of the codes for lengths come in this order. */
	static const uint8_t order[LENGTH_CODES] = {
		16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
		11, 4,	12, 3, 13, 2, 14, 1, 15,
	};
	unsigned int literals = 257 + take_inflate_bits(in, 5),
		     back = 1 + take_inflate_bits(in, 5);
	unsigned int nr = 4 + take_inflate_bits(in, 4);
	uint8_t length[LITERALS + DISTANCES] = { 0 };
	struct codes c, distance;

	if (in->bad || literals > 286 || back > 30)
		return false;
	for (unsigned int i = 0; i < nr; i++)
		length[order[i]] = (uint8_t)take_inflate_bits(in, 3);
	if (in->bad || !make_codes(&c, length, LENGTH_CODES, false))
		return false;
	memset(length, 0, sizeof(length));
	if (!take_lengths(in, &c, length, literals + back) ||
	    !length[BLOCK_END] || !make_codes(&c, length, literals, true) ||
	    !make_codes(&distance, length + literals, back, true))
		return false;
	return unpack_codes(in, out, &c, &distance);
}

static uint32_t adler32(const uint8_t *p, size_t len)
{
	uint32_t a = 1, b = 0;

	while (len) {
		size_t n = len < ADLER_STEP ? len : ADLER_STEP;

		len -= n;
		for (; n; n--) {
			a += *p++;
			b += a;
		}
		a %= ADLER_PRIME;
		b %= ADLER_PRIME;
	}
	return b << 16 | a;
}

/**
 * kt_inflate() - unpack a whole stream of zlib
 * @from: the stream
 * @len: bytes of @from
 * @to: receives the bytes
 * @room: how many fit in @to
 *
 * Bytes behind the stream are ignored.
 *
 * Return: bytes, or -EBADMSG if the stream is damaged, is cut off or has more than @room; then
 * @to has what came before.
 */
ssize_t kt_inflate(const uint8_t *from, size_t len, uint8_t *to, size_t room)
{
	struct input in = { .bad = false };
	struct output out = { .begin = to, .room = room };
	bool last, fine;

	/* Method 8, a window of 32 KiB at most, and no dictionary that both sides know. */
	if (len < 6 || (from[0] & 15) != 8 || from[0] >> 4 > 7 ||
	    from[1] & 0x20 || (from[0] << 8 | from[1]) % 31)
		return -EBADMSG;
	in.at = from + 2;
	in.end = from + len;
	do {
		last = take_inflate_bits(&in, 1);
		switch (take_inflate_bits(&in, 2)) {
		case 0:
			fine = unpack_stored(&in, &out);
			break;
		case 1:
			fine = unpack_fixed(&in, &out);
			break;
		case 2:
			fine = unpack_dynamic(&in, &out);
			break;
		default:
			fine = false;
			break;
		}
		if (!fine || in.bad)
			return -EBADMSG;
	} while (!last);
	/* Bits that are left over belong to the last byte of the blocks. */
	if (in.end - in.at < 4 ||
	    adler32(to, out.used) !=
		    ((uint32_t)in.at[0] << 24 | (uint32_t)in.at[1] << 16 |
		     (uint32_t)in.at[2] << 8 | in.at[3]))
		return -EBADMSG;
	return (ssize_t)out.used;
}
