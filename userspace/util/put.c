// SPDX-License-Identifier: LGPL-2.1-or-later
/* Numbers and strings to text, two digits at a time. */
#include "put.h"

static const char pairs[] = "00010203040506070809"
			    "10111213141516171819"
			    "20212223242526272829"
			    "30313233343536373839"
			    "40414243444546474849"
			    "50515253545556575859"
			    "60616263646566676869"
			    "70717273747576777879"
			    "80818283848586878889"
			    "90919293949596979899";

static const char hex[] = "0123456789abcdef";

/* Any number, without leading zeros. */
char *kt_put_digits(char *p, uint64_t v)
{
	char text[KT_PUT_U64_MAX];
	char *at = text + sizeof(text);
	size_t len;

	while (v >= 100) {
		at -= 2;
		memcpy(at, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(at, pairs + v * 2, 2);
	} else {
		*--at = (char)('0' + v);
	}
	len = (size_t)(text + sizeof(text) - at);
	return kt_put_mem(p, at, len);
}

/* The lowest @digits digits, with leading zeros. */
char *kt_put_fixed(char *p, uint32_t v, unsigned int digits)
{
	unsigned int i = digits;

	for (; i >= 2; i -= 2) {
		memcpy(p + i - 2, pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (i)
		p[0] = (char)('0' + v % 10);
	return p + digits;
}

/* With 0x, without leading zeros. */
char *kt_put_hex(char *p, uint64_t v)
{
	unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	unsigned int digits = (bits + 3) / 4;

	*p++ = '0';
	*p++ = 'x';
	for (unsigned int i = digits; i--; v >>= 4)
		p[i] = hex[v & 15];
	return p + digits;
}

/* Two digits a byte, without 0x. */
char *kt_put_bytes(char *p, const void *data, size_t len)
{
	const uint8_t *b = data;

	for (size_t i = 0; i < len; i++) {
		*p++ = hex[b[i] >> 4];
		*p++ = hex[b[i] & 15];
	}
	return p;
}

/* How many bytes of valid UTF-8 stand at @s, 0 if they are not valid? */
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
	if (code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

/* How many bytes does the character at @text take, 0 if it is no UTF-8? */
size_t kt_utf8_length(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;

	return *s < 0x80 ? 1 : utf8_length(s, len);
}

/*
 * How many bytes stand at @s that a terminal only shows, 0 if it would do
 * something or they are no text?  U+0080 to U+009F are controls, too.
 */
static size_t harmless(const unsigned char *s, size_t len)
{
	size_t n;

	if (s[0] < 0x80)
		return s[0] >= ' ' && s[0] != 0x7f;
	n = utf8_length(s, len);
	return n == 2 && s[0] == 0xc2 && s[1] < 0xa0 ? 0 : n;
}

/*
 * Text that stays on its line and does nothing to a terminal: at most 4 bytes
 * for each of @len.
 */
char *kt_put_escaped(char *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = harmless(s + i, len - i);
		if (s[i] == '\\')
			*p++ = '\\';
		if (n) {
			p = kt_put_mem(p, text + i, n);
			continue;
		}
		p = kt_put_str(p, "\\x");
		*p++ = hex[s[i] >> 4];
		*p++ = hex[s[i] & 15];
	}
	return p;
}

/*
 * A JSON string with its quotes: at most 6 bytes for each of @len.  A byte that
 * is no UTF-8 becomes the code point with its number.
 */
char *kt_put_json(char *p, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n;

	*p++ = '"';
	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = harmless(s + i, len - i);
		if (s[i] == '"' || s[i] == '\\')
			*p++ = '\\';
		if (n) {
			p = kt_put_mem(p, text + i, n);
			continue;
		}
		/* The second byte of U+0080 to U+009F is its number. */
		if (s[i] == 0xc2 && utf8_length(s + i, len - i))
			i++;
		p = kt_put_str(p, "\\u00");
		*p++ = hex[s[i] >> 4];
		*p++ = hex[s[i] & 15];
	}
	*p++ = '"';
	return p;
}
