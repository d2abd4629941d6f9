/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON texts as trees, for the metadata of CTF 2.  Memory is that of struct ctf. */
#ifndef _KT_LTTNG_JSON_H
#define _KT_LTTNG_JSON_H

#include "ctf.h"

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_TEXT,
	JSON_ARRAY,
	JSON_OBJECT
};

/**
 * struct json - a value
 * @kind: enum json_kind
 * @negative: the number is below 0
 * @number: of a NUMBER: its whole part, two's complement if @negative; of a BOOL: 0 or 1
 * @text: of a TEXT, ends in a NUL
 * @name: of a member of an object
 * @next: the next element or member
 * @first: of an ARRAY or OBJECT: its first element or member
 * @offset: where the value begins in the metadata
 */
struct json {
	enum json_kind kind;
	bool negative;
	uint64_t number;
	const char *text;
	const char *name;
	struct json *next;
	struct json *first;
	uint64_t offset;
};

/* json_parse() parses one value at @text.  All return NULL or false without such a value. */
const struct json *json_parse(struct ctf *c, const char *text, size_t len,
			      uint64_t offset, struct ktape_error *error,
			      const char **end);
const struct json *json_member(const struct json *object, const char *name);
const char *json_text(const struct json *object, const char *name);
bool json_number(const struct json *object, const char *name, uint64_t *number);

#endif /* _KT_LTTNG_JSON_H */
