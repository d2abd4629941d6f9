/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check a text for valid JSON (RFC 8259) in UTF-8 without keeping anything. Shares no code with
 * the library and the command, whose output it reads.
 *
 * A function with the parameter @at moves *@at behind what its name says and returns true, or
 * returns false with *@at near the error if the text has something else there.
 */
#ifndef _JSON_H
#define _JSON_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/*
 * Return the length of the UTF-8 character at @p, or 0 if it is none by RFC 3629: not in its
 * shortest form, a surrogate, or above 0x10ffff.
 */
static inline size_t json_utf8(const unsigned char *p)
{
	static const struct {
		unsigned char mask, lead, least;
	} form[] = {
		{ 0x80, 0x00, 0x00 },
		{ 0xe0, 0xc0, 0xc2 },
		{ 0xf0, 0xe0, 0xe0 },
		{ 0xf8, 0xf0, 0xf0 },
	};

	for (size_t n = 0; n < 4; n++) {
		if ((*p & form[n].mask) != form[n].lead)
			continue;
		if (*p < form[n].least || (*p == 0xe0 && p[1] < 0xa0) ||
		    (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
		    (*p == 0xf4 && p[1] > 0x8f) || *p > 0xf4)
			return 0;
		for (size_t i = 1; i <= n; i++)
			if ((p[i] & 0xc0) != 0x80)
				return 0;
		return n + 1;
	}
	return 0;
}

static inline const char *json_blank(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static inline bool json_string(const char **at)
{
	const unsigned char *p = (const unsigned char *)*at;

	if (*p++ != '"')
		return false;
	while (*p != '"') {
		size_t n = json_utf8(p);

		*at = (const char *)p;
		if (*p < ' ' || !n)
			return false;
		p += n;
		if (n > 1 || p[-1] != '\\')
			continue;
		if (*p == 'u') {
			for (int i = 0; i < 4; i++) {
				if (!isxdigit(*++p))
					return false;
			}
		} else if (!*p || !strchr("\"\\/bfnrt", *p)) {
			return false;
		}
		p++;
	}
	*at = (const char *)p + 1;
	return true;
}

static inline bool json_digits(const char **at)
{
	size_t n = strspn(*at, "0123456789");

	*at += n;
	return n;
}

static inline bool json_skip_number(const char **at)
{
	const char *start = *at += **at == '-';

	if (!json_digits(at) || (*start == '0' && *at - start > 1))
		return false;
	if (**at == '.' && ((*at)++, !json_digits(at)))
		return false;
	if (**at != 'e' && **at != 'E')
		return true;
	(*at)++;
	*at += **at == '+' || **at == '-';
	return json_digits(at);
}

static inline bool json_word(const char **at)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if (!strncmp(*at, words[i], n)) {
			*at += n;
			return true;
		}
	}
	return false;
}

static inline bool json_value(const char **at, unsigned int depth);

/* An object or an array, which @end closes; *@at is at the character that opens it. */
static inline bool json_list(const char **at, char end, unsigned int depth)
{
	*at = json_blank(*at + 1);
	if (**at == end) {
		(*at)++;
		return true;
	}
	for (;; (*at)++) {
		*at = json_blank(*at);
		if (end == '}') {
			if (!json_string(at))
				return false;
			*at = json_blank(*at);
			if (*(*at)++ != ':')
				return false;
		}
		if (!json_value(at, depth))
			return false;
		if (**at != ',')
			break;
	}
	return *(*at)++ == end;
}

/* A value with the blanks around it, in at most 64 levels of objects and arrays. */
static inline bool json_value(const char **at, unsigned int depth)
{
	bool good = false;

	*at = json_blank(*at);
	if (**at == '{' || **at == '[') {
		good = depth < 64 &&
		       json_list(at, **at == '{' ? '}' : ']', depth + 1);
	} else if (**at == '"') {
		good = json_string(at);
	} else if (**at == '-' || isdigit((unsigned char)**at)) {
		good = json_skip_number(at);
	} else {
		good = json_word(at);
	}
	*at = json_blank(*at);
	return good;
}

/* Return NULL, or the place of the first error. */
static inline const char *json_check(const char *text)
{
	return json_value(&text, 0) && !*text ? NULL : text;
}

#endif /* _JSON_H */
