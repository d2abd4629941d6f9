// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Format numbers and strings as text; see put.h.
 *
 * Digits are computed several at once, each in a byte of a word, the first one in the lowest byte,
 * and stored as a whole word: also bytes behind the returned end are written.
 */
#include <stdio.h>
#include <stdlib.h>

#include "put.h"

#define EXPONENT 0x7ff0000000000000ULL /* of a double: all ones if not finite */
#define FRACTION 0x000fffffffffffffULL

static const char hex[] = "0123456789abcdef";

/*
 * Return the four digits of a number below 10000, as kt_eight_digits().
 * v * 5243 >> 19 is v / 100 for it; x * 103 >> 10 is x / 10 below 100, of both halves at once.
 */
static inline uint32_t four_digits(uint32_t v)
{
	uint32_t high = v * 5243 >> 19, x = high | (v - high * 100) << 16;

	high = x * 103 >> 10 & 0x000f000f;
	return high | (x - high * 10) << 8;
}

/* Put a number below 10000 without leading zeros. */
static inline char *put_four(char *p, uint32_t v)
{
	uint32_t x = four_digits(v);
	/* The first digits that are 0, but never the last one. */
	unsigned int zeros = (unsigned int)__builtin_ctz(x | 1U << 24) & ~7U;

	kt_set32(p, (x + (uint32_t)KT_ZEROS) >> zeros);
	return p + 4 - zeros / 8;
}

/* Put a number below KT_TEN8 without leading zeros. */
static inline char *put_short(char *p, uint32_t v)
{
	uint64_t x = kt_eight_digits(v);
	unsigned int zeros;

	zeros = (unsigned int)__builtin_ctzll(x | 1ULL << 56) & ~7U;
	kt_set64(p, (x + KT_ZEROS) >> zeros);
	return p + 8 - zeros / 8;
}

/* Put any number without leading zeros. */
char *kt_put_digits(char *p, uint64_t v)
{
	if (v < 10000)
		return put_four(p, (uint32_t)v);
	if (v < KT_TEN8)
		return put_short(p, (uint32_t)v);
	p = kt_put_digits(p, v / KT_TEN8);
	return kt_put_eight(p, (uint32_t)(v % KT_TEN8));
}

/* Put the lowest @digits (1 to 8) digits, with leading zeros. */
char *kt_put_fixed(char *p, uint32_t v, unsigned int digits)
{
	uint64_t x = kt_eight_digits(v % KT_TEN8) + KT_ZEROS;

	kt_set64(p, x >> (8 - digits) * 8);
	return p + digits;
}

/* Return the eight hexadecimal digits of a number, each in a byte. */
static inline uint64_t eight_hex(uint32_t v)
{
	uint64_t x = __builtin_bswap32(v), letters;

	x = (x | x << 16) & 0x0000ffff0000ffffULL;
	x = (x | x << 8) & 0x00ff00ff00ff00ffULL;
	x = (x >> 4 & 0x000f000f000f000fULL) | (x & 0x000f000f000f000fULL) << 8;
	/* 1 in the bytes of 10 to 15, because 6 more reach 16. */
	letters = (x + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return x + KT_ZEROS + letters * ('a' - '9' - 1);
}

/* Put a number with 0x, without leading zeros. */
char *kt_put_hex(char *p, uint64_t v)
{
	uint32_t first = v >> 32 ? (uint32_t)(v >> 32) : (uint32_t)v;
	unsigned int zeros = (unsigned int)__builtin_clz(first | 1) / 4;

	*p++ = '0';
	*p++ = 'x';
	kt_set64(p, eight_hex(first) >> zeros * 8);
	p += 8 - zeros;
	if (!(v >> 32))
		return p;
	kt_set64(p, eight_hex((uint32_t)v));
	return p + 8;
}

/* Check whether a double, given by its bits, is a number: neither infinite nor NaN. */
bool kt_is_finite(uint64_t bits)
{
	return (bits & EXPONENT) != EXPONENT;
}

/*
 * Put the digits of a double as in the C locale.  The program that calls the library may have
 * another one, whose decimal point may be any character of several bytes.
 */
static char *put_decimal_digits(char *p, const char *text, size_t len)
{
	bool point = false;

	for (size_t i = 0; i < len; i++) {
		if (memchr("0123456789+-einf", text[i], 16)) {
			*p++ = text[i];
			point = false;
		} else if (!point) {
			*p++ = '.';
			point = true;
		}
	}
	return p;
}

/*
 * Put a double, given by its bits, with as few digits as reading back the same number
 * takes; or "inf", "-inf", "nan".
 */
char *kt_put_double(char *p, uint64_t bits)
{
	/*
	 * %g leaves out zeros at the end, so 15 digits print every number that needs no more as
	 * short as it can be.  Subnormal numbers are less precise: they begin with one digit.
	 */
	int digits = bits & EXPONENT ? 15 : 1;
	char text[32];
	double value;
	int len;

	if (!kt_is_finite(bits) && bits & FRACTION)
		return kt_put_str(p, "nan");
	memcpy(&value, &bits, sizeof(value));
	do {
		len = snprintf(text, sizeof(text), "%.*g", digits, value);
	} while (digits++ < 17 && strtod(text, NULL) != value);
	return put_decimal_digits(p, text, (size_t)len);
}

/* Put bytes with two hexadecimal digits each, without 0x. */
char *kt_put_bytes(char *p, const void *data, size_t len)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++) {
		*p++ = hex[b[i] >> 4];
		*p++ = hex[b[i] & 15];
	}
	return p;
}

/* Return the length of the UTF-8 character at @s in bytes, 0 if it is not valid. */
static size_t utf8_length(const unsigned char *s, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	uint32_t code = s[0] & (0x7fU >> n);

	if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

/* Return the length of the UTF-8 character at @text in bytes, 0 if not valid. */
size_t kt_utf8_length(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	return *s < 0x80 ? 1 : utf8_length(s, len);
}

/* Replace bytes that are not valid UTF-8 by question marks. */
void kt_utf8_mend(char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = kt_utf8_length(text + i, len - i);
		if (!n)
			text[i] = '?';
	}
}

/* Return the code point of a valid character of @n bytes. */
static uint32_t code_of(const unsigned char *s, size_t n)
{
	uint32_t code = n == 1 ? s[0] : s[0] & (0x7fU >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/*
 * Check whether a character beyond ASCII changes the text around it instead of being
 * displayed: controls, separators of lines and paragraphs, what chooses the direction of
 * writing, what is not visible, and tags.
 */
static bool is_unseen(uint32_t code)
{
	static const struct {
		uint32_t from;
		uint32_t to;
	} unseen[] = {
		{ 0x80, 0x9f },	    { 0x61c, 0x61c },	  { 0x200b, 0x200f },
		{ 0x2028, 0x202e }, { 0x2060, 0x206f },	  { 0xfeff, 0xfeff },
		{ 0xfff9, 0xfffb }, { 0xe0000, 0xe007f },
	};

	for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++) {
		if (code >= unseen[i].from && code <= unseen[i].to)
			return true;
	}
	return false;
}

/*
 * Return the length of the character at @s if a terminal or a browser only displays it;
 * 0 for invalid UTF-8, control characters and others that is_unseen() names.
 */
static size_t printable_length(const unsigned char *s, size_t len)
{
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= ' ' && s[0] != 0x7f;
	n = utf8_length(s, len);
	return n && is_unseen(code_of(s, n)) ? 0 : n;
}

/*
 * Replace all that kt_put_escaped() escapes, except backslashes, by question marks: one
 * for each byte, for places that have no room for escapes.
 */
void kt_replace_unprintable(char *text, size_t len)
{
	unsigned char *s = (unsigned char *)text;

	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = printable_length(s + i, len - i);
		if (!n)
			text[i] = '?';
	}
}

static char *put_escaped_byte(char *p, unsigned char c)
{
	p = kt_put_str(p, "\\x");
	*p++ = hex[c >> 4];
	*p++ = hex[c & 15];
	return p;
}

/*
 * Put text with escapes for everything that could leave the line or control a
 * terminal, and for each of @also: at most 4 bytes for each of @len.
 */
static char *put_with(char *p, const char *text, size_t len, const char *also)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = printable_length(s + i, len - i);
		if (n == 1 && strchr(also, text[i]))
			n = 0;
		p = n ? kt_put_mem(p, text + i, n) : put_escaped_byte(p, s[i]);
	}
	return p;
}

/*
 * Put text with escapes for everything that could leave the line or control a
 * terminal: at most 4 bytes for each of @len.  A backslash is doubled.
 */
char *kt_put_escaped(char *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = printable_length(s + i, len - i);
		if (s[i] == '\\')
			*p++ = '\\';
		p = n ? kt_put_mem(p, text + i, n) : put_escaped_byte(p, s[i]);
	}
	return p;
}

/*
 * Put a name before a "=", as kt_put_escaped() does, with escapes also for what would
 * end the name: at most 4 bytes for each of @len.
 */
char *kt_put_word(char *p, const char *text, size_t len)
{
	return put_with(p, text, len, "\\ =\"");
}

/*
 * Put a whole message, whose own lines and backslashes stay: at most 4 bytes for each of
 * @len.
 */
char *kt_put_message(char *p, const char *text, size_t len)
{
	return put_with(p, text, len, "");
}

/* Put one unit of UTF-16 as JSON writes it. */
static char *put_unit(char *p, uint32_t unit)
{
	p = kt_put_str(p, "\\u");
	for (int shift = 12; shift >= 0; shift -= 4)
		*p++ = hex[unit >> shift & 15];
	return p;
}

/*
 * Put a JSON string with quotes: at most 6 bytes for each of @len, and 2.  A byte that is not
 * valid UTF-8 becomes the code point with its number.
 */
char *kt_put_json(char *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n, whole;
	uint32_t code;

	*p++ = '"';
	for (size_t i = 0; i < len; i += whole) {
		n = printable_length(s + i, len - i);
		if (s[i] == '"' || s[i] == '\\')
			*p++ = '\\';
		if (n) {
			p = kt_put_mem(p, text + i, n);
			whole = n;
			continue;
		}
		whole = kt_utf8_length(text + i, len - i);
		code = whole ? code_of(s + i, whole) : s[i];
		whole = whole ? whole : 1;
		if (code > 0xffff) { /* two surrogates: 0xd800 - (0x10000 >> 10) is 0xd7c0 */
			p = put_unit(p, 0xd7c0 + (code >> 10));
			code = 0xdc00 | (code & 0x3ff);
		}
		p = put_unit(p, code);
	}
	*p++ = '"';
	return p;
}

/*
 * Put a C identifier, which is what CTF names fields by: @len bytes, or one if @len is 0.
 * Bytes other than letters and digits become '_'.
 */
char *kt_put_identifier(char *p, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool digit = text[i] >= '0' && text[i] <= '9';
		char low = (char)(text[i] | 0x20);

		*p++ = digit || (low >= 'a' && low <= 'z') ? text[i] : '_';
	}
	if (!len)
		*p++ = '_';
	return p;
}

/*
 * Put a quoted cell of CSV: at most 4 bytes for each of @len, and 3.  Spreadsheets take
 * what begins with one of four characters for a formula; an apostrophe prevents that.
 */
char *kt_put_cell(char *p, const char *text, size_t len)
{
	char *begin, *end;
	size_t quotes = 0;

	*p++ = '"';
	if (len && text[0] && strchr("=+-@", text[0]))
		*p++ = '\'';
	begin = p;
	end = kt_put_escaped(p, text, len);
	for (char *c = begin; c < end; c++)
		quotes += *c == '"';
	p = end + quotes;
	/* From the end, because each quote needs room for another. */
	for (char *c = p; quotes;) {
		*--c = *--end;
		if (*end != '"')
			continue;
		*--c = '"';
		quotes--;
	}
	*p++ = '"';
	return p;
}
