/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text made fast: each function writes at @p and returns where it ended.  The
 * caller has made sure that there is room.
 */
#ifndef _KT_PUT_H
#define _KT_PUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KT_PUT_U64_MAX	20	/* digits of the largest number */

char *kt_put_digits(char *p, uint64_t v);
char *kt_put_fixed(char *p, uint32_t v, unsigned int digits);
char *kt_put_hex(char *p, uint64_t v);
char *kt_put_bytes(char *p, const void *data, size_t len);
char *kt_put_escaped(char *p, const char *text, size_t len);
char *kt_put_json(char *p, const char *text, size_t len);
size_t kt_utf8_length(const char *text, size_t len);

static inline char *kt_put_char(char *p, char c)
{
	*p = c;
	return p + 1;
}

static inline char *kt_put_mem(char *p, const char *text, size_t len)
{
	memcpy(p, text, len);
	return p + len;
}

static inline char *kt_put_str(char *p, const char *text)
{
	return kt_put_mem(p, text, strlen(text));
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
