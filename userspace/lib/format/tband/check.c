// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tonbandgeraet over a serial line: making and reading the check of a group, and base64url.
 * internal.h describes the groups.
 */
#include "util/crc32c.h"
#include "util/put.h"

#include "internal.h"

#define DIGIT_BITS  6
#define SEQ_DIGITS  3
#define SUM_DIGITS  4
#define CORE_DIGITS 2 /* at most; core 0 has none */

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int base64_digit_of(uint8_t c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static char *put_digits(char *p, uint32_t v, unsigned int nr)
{
	while (nr--)
		*p++ = digits[v >> nr * DIGIT_BITS & 63];
	return p;
}

static bool get_digits(const uint8_t *p, size_t nr, uint32_t *v)
{
	*v = 0;
	for (size_t i = 0; i < nr; i++) {
		int digit = base64_digit_of(p[i]);

		if (digit < 0)
			return false;
		*v = *v << DIGIT_BITS | (uint32_t)digit;
	}
	return true;
}

/**
 * kt_tband_check_sum() - compute the sum of a group
 * @crc: CRC32C of the frames of the group with their zeros
 * @c: the check of the group
 *
 * Return: the sum, 24 bits.
 */
uint32_t kt_tband_check_sum(uint32_t crc, const struct kt_tband_check *c)
{
	uint8_t rest[9];

	rest[0] = c->name;
	kt_set32(rest + 1, c->seq);
	kt_set32(rest + 5, c->core);
	return kt_crc32c(crc, rest, sizeof(rest)) & KT_TBAND_SUM_MASK;
}

/**
 * kt_tband_check_put() - make the event that is a check
 * @e: set to the event
 * @sum: sum of the group
 * @c: the check
 * @text: room for the text of @e, which points here
 */
void kt_tband_check_put(struct kt_tband_event *e, uint32_t sum,
			const struct kt_tband_check *c,
			char text[KT_TBAND_CHECK_TEXT])
{
	char *p = put_digits(text, c->seq, SEQ_DIGITS);

	p = put_digits(p, sum, SUM_DIGITS);
	p = put_digits(p, c->core, c->core > 63 ? CORE_DIGITS : c->core > 0);
	memset(e, 0, sizeof(*e));
	e->id = KT_TBAND_VALMARKER_NAME;
	e->values[0] = c->name ? KT_TBAND_CHECK_NAME : KT_TBAND_CHECK_EVENT;
	e->text = (const uint8_t *)text;
	e->len = (size_t)(p - text);
}

/**
 * kt_tband_check_get() - read a check
 * @e: the event
 * @sum: set to the sum that the group must have
 * @c: set to the check
 *
 * Return: false if the event is no check.
 */
bool kt_tband_check_get(const struct kt_tband_event *e, uint32_t *sum,
			struct kt_tband_check *c)
{
	size_t core = e->len - SEQ_DIGITS - SUM_DIGITS; /* wraps if @e is no check */

	if (e->id != KT_TBAND_VALMARKER_NAME ||
	    (e->values[0] != KT_TBAND_CHECK_EVENT &&
	     e->values[0] != KT_TBAND_CHECK_NAME) ||
	    e->len < SEQ_DIGITS + SUM_DIGITS || core > CORE_DIGITS)
		return false;
	c->name = e->values[0] == KT_TBAND_CHECK_NAME;
	return get_digits(e->text, SEQ_DIGITS, &c->seq) &&
	       get_digits(e->text + SEQ_DIGITS, SUM_DIGITS, sum) &&
	       get_digits(e->text + SEQ_DIGITS + SUM_DIGITS, core, &c->core);
}

/*
 * Encode bytes in base64url without padding; @to has room for @len * 4 / 3 + 1 characters.
 * Return: number of characters.
 */
size_t kt_base64_encode(char *to, const uint8_t *data, size_t len)
{
	unsigned int bits = 0;
	uint32_t v = 0;
	char *p = to;

	for (size_t i = 0; i < len; i++) {
		v = v << 8 | data[i];
		for (bits += 8; bits >= DIGIT_BITS; bits -= DIGIT_BITS)
			*p++ = digits[v >> (bits - DIGIT_BITS) & 63];
	}
	if (bits)
		*p++ = digits[v << (DIGIT_BITS - bits) & 63];
	return (size_t)(p - to);
}

/*
 * Decode base64url without padding; @to has room for @len bytes.
 * Return: number of bytes, or -EBADMSG for a character that is no digit.
 */
int64_t kt_base64_decode(uint8_t *to, const uint8_t *text, size_t len)
{
	unsigned int bits = 0;
	uint8_t *p = to;
	uint32_t v = 0;

	for (size_t i = 0; i < len; i++) {
		int digit = base64_digit_of(text[i]);

		if (digit < 0)
			return -EBADMSG;
		v = v << DIGIT_BITS | (uint32_t)digit;
		bits += DIGIT_BITS;
		if (bits < 8)
			continue;
		bits -= 8;
		*p++ = (uint8_t)(v >> bits);
	}
	return p - to;
}
