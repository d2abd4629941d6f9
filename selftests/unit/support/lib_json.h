/* SPDX-License-Identifier: GPL-2.0-only */
/* Check a text for valid JSON (RFC 8259) without keeping anything. */
#ifndef _LIB_JSON_H
#define _LIB_JSON_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char *json_blank(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

static bool json_string(const char **at)
{
	const unsigned char *p = (const unsigned char *)*at;

	if (*p++ != '"')
		return false;
	for (; *p != '"'; p++) {
		*at = (const char *)p;
		if (*p < ' ')
			return false;
		if (*p != '\\')
			continue;
		p++;
		if (*p == 'u') {
			for (int i = 0; i < 4; i++) {
				if (!isxdigit(*++p))
					return false;
			}
		} else if (!*p || !strchr("\"\\/bfnrt", *p)) {
			return false;
		}
	}
	*at = (const char *)p + 1;
	return true;
}

static bool json_digits(const char **at)
{
	size_t n = strspn(*at, "0123456789");

	*at += n;
	return n;
}

static bool json_number(const char **at)
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

static bool json_value(const char **at, unsigned int depth);

static bool json_list(const char **at, char end, unsigned int depth)
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

static bool json_value(const char **at, unsigned int depth)
{
	static const char *const words[] = { "true", "false", "null" };
	bool good = false;

	*at = json_blank(*at);
	if (**at == '{' || **at == '[') {
		good = depth < 64 &&
		       json_list(at, **at == '{' ? '}' : ']', depth + 1);
	} else if (**at == '"') {
		good = json_string(at);
	} else if (**at == '-' || isdigit((unsigned char)**at)) {
		good = json_number(at);
	} else {
		for (size_t i = 0; i < 3 && !good; i++) {
			size_t n = strlen(words[i]);

			good = !strncmp(*at, words[i], n);
			*at += good ? n : 0;
		}
	}
	*at = json_blank(*at);
	return good;
}

/* Return NULL, or the place of the first error. */
__attribute__((unused)) static const char *json_check(const char *text)
{
	return json_value(&text, 0) && !*text ? NULL : text;
}

#endif /* _LIB_JSON_H */
