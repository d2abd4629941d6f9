/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Format text fast: each function writes at @p and returns the end of what it wrote.
 *
 * The caller provides a buffer with room for the text and KT_PUT_OVER bytes more,
 * because short strings are copied with a fixed size and the rest is overwritten by
 * the next call.
 */
#ifndef _KT_PUT_H
#define _KT_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "bits.h"

#define KT_PUT_U64_MAX 20 /* digits of the largest number */
/* More room than kt_put_message() needs for a character of at most 4 bytes, each as "\xNN". */
#define KT_PUT_MESSAGE_MAX 32
#define KT_PUT_DOUBLE_MAX  25 /* more characters than any double has */
#define KT_PUT_OVER	   48 /* most bytes written after the returned end */

char *kt_put_digits(char *p, uint64_t v);
char *kt_put_fixed(char *p, uint32_t v, unsigned int digits);
char *kt_put_hex(char *p, uint64_t v);
char *kt_put_double(char *p, uint64_t bits);
bool kt_is_finite(uint64_t bits);
char *kt_put_bytes(char *p, const void *data, size_t len);
char *kt_put_escaped(char *p, const char *text, size_t len);
char *kt_put_word(char *p, const char *text, size_t len);
char *kt_put_message(char *p, const char *text, size_t len);
char *kt_put_json(char *p, const char *text, size_t len);
char *kt_put_cell(char *p, const char *text, size_t len);
char *kt_put_identifier(char *p, const char *text, size_t len);
size_t kt_utf8_length(const char *text, size_t len);
void kt_utf8_mend(char *text, size_t len);
void kt_replace_unprintable(char *text, size_t len);

/* Put one character. */
static inline char *kt_put_char(char *p, char c)
{
	*p = c;
	return p + 1;
}

/* Put @len bytes. */
static inline char *kt_put_mem(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

/* Put the first @len bytes of an array of 16, copying all of it. */
static inline char *kt_put_16(char *p, const char text[16], size_t len)
{
	memcpy(p, text, 16);
	return p + len;
}

/* Put the first @len bytes of an array of 32, copying all of it. */
static inline char *kt_put_32(char *p, const char text[32], size_t len)
{
	memcpy(p, text, 32);
	return p + len;
}

static inline char *kt_put_str(char *p, const char *text)
{
	return kt_put_mem(p, text, strlen(text));
}

#define KT_TEN8	 100000000U
#define KT_ZEROS 0x3030303030303030ULL /* "00000000" */

/*
 * Return the eight digits of a number below KT_TEN8, each in a byte, the first one in
 * the lowest byte.  The number is split in parallel: two parts of four digits, four
 * parts of two, eight digits.  Below 10000, x * 10486 >> 20 is x / 100; below 100,
 * x * 103 >> 10 is x / 10.
 */
static inline uint64_t kt_eight_digits(uint32_t v)
{
	uint64_t x = v / 10000 | (uint64_t)(v % 10000) << 32;
	uint64_t high = x * 10486 >> 20 & 0x0000007f0000007fULL;

	x = high | (x - high * 100) << 16;
	high = x * 103 >> 10 & 0x000f000f000f000fULL;
	return high | (x - high * 10) << 8;
}

/* Put the eight digits of a number below KT_TEN8, with leading zeros. */
static inline char *kt_put_eight(char *p, uint32_t v)
{
	kt_set64(p, kt_eight_digits(v) + KT_ZEROS);
	return p + 8;
}

/* Put nanoseconds as nine digits. */
static inline char *kt_put_nano(char *p, uint32_t v)
{
	p = kt_put_char(p, (char)('0' + v / KT_TEN8));
	return kt_put_eight(p, v % KT_TEN8);
}

static inline char *kt_put_u64(char *p, uint64_t v)
{
	if (v < 10)
		return kt_put_char(p, (char)('0' + v));
	return kt_put_digits(p, v);
}

static inline char *kt_put_s64(char *p, int64_t v)
{
	if (v >= 0)
		return kt_put_u64(p, (uint64_t)v);
	return kt_put_u64(kt_put_char(p, '-'), 0 - (uint64_t)v);
}

#endif /* _KT_PUT_H */
