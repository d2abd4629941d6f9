// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse JSON as RFC 8259 has it, into trees.  Numbers are whole: CTF 2 has no others
 * where this reader needs it, so a fraction or an exponent is skipped.
 */
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "json.h"

#define REPLACEMENT 0xfffdU /* stands for what is no character */

#define DEPTH 32U /* of values inside values */

/* A text that is parsed; it begins at @offset of the metadata.  @c owns the trees. */
struct parser {
	struct ctf *c;
	const char *text;
	const char *at;
	const char *end;
	uint64_t offset;
	struct ktape_error *error;
	unsigned int depth;
};

static struct json *parse_json_value(struct parser *p);

/* Keep the first error.  Return: NULL. */
static struct json *json_error(struct parser *p, const char *why)
{
	if (p->error->text[0])
		return NULL;
	snprintf(p->error->text, sizeof(p->error->text), "%s", why);
	p->error->offset = p->offset + (uint64_t)(p->at - p->text);
	return NULL;
}

static void skip_json_space(struct parser *p)
{
	while (p->at < p->end && *p->at && strchr(" \t\r\n", *p->at))
		p->at++;
}

static struct json *new_value(struct parser *p, enum json_kind kind)
{
	struct json *v = ctf_alloc(p->c, sizeof(*v));

	if (!v)
		return NULL;
	v->kind = kind;
	v->offset = p->offset + (uint64_t)(p->at - p->text);
	return v;
}

static char *put_utf8(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c >= 0x10000) {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Take the four digits of \uXXXX.  Return: the character, or UINT32_MAX. */
static uint32_t take_json_hex(struct parser *p)
{
	uint32_t v = 0;

	if (p->end - p->at < 4)
		return UINT32_MAX;
	for (unsigned int i = 0; i < 4; i++) {
		char c = *p->at++, low = c | 32;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint32_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (uint32_t)(low - 'a' + 10);
		else
			return UINT32_MAX;
	}
	return v;
}

/*
 * Take the second half of a character beyond 16 bits, of which @high is the first.  A half
 * without its other one stands for no character.
 */
static uint32_t take_second(struct parser *p, uint32_t high)
{
	const char *from = p->at;
	uint32_t low;

	if (high < 0xd800 || high >= 0xe000)
		return high;
	if (high < 0xdc00 && p->end - p->at >= 2 && p->at[0] == '\\' &&
	    p->at[1] == 'u') {
		p->at += 2;
		low = take_json_hex(p);
		if (low >= 0xdc00 && low < 0xe000)
			return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
		p->at = from;
	}
	return REPLACEMENT;
}

/* Take a text after its quote.  Return: the text; NULL after json_error() or without memory. */
static const char *take_json_text(struct parser *p)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *stop = p->at;
	char *text, *out;

	while (stop < p->end && *stop != '"')
		stop += *stop == '\\' && stop + 1 < p->end ? 2 : 1;
	if (stop >= p->end) {
		json_error(p, "a text has no closing quote");
		return NULL;
	}
	/* An escape is never shorter than what it stands for. */
	text = out = ctf_alloc(p->c, (size_t)(stop - p->at) + 1);
	if (!text)
		return NULL;
	while (p->at < stop) {
		char c = *p->at++;
		const char *known;
		uint32_t wide;

		if (c != '\\') {
			*out++ = c;
			continue;
		}
		c = *p->at++;
		known = c ? strchr(from, c) : NULL;
		if (known) {
			*out++ = to[known - from];
			continue;
		}
		wide = c == 'u' ? take_json_hex(p) : UINT32_MAX;
		if (wide == UINT32_MAX) {
			json_error(p, "a text has a wrong escape");
			return NULL;
		}
		out = put_utf8(out, take_second(p, wide));
	}
	p->at = stop + 1;
	return text;
}

/* Parse a number; of one beyond 64 bits the low ones are kept. */
static struct json *parse_json_number(struct parser *p)
{
	struct json *v = new_value(p, JSON_NUMBER);

	if (!v)
		return NULL;
	v->negative = *p->at == '-';
	p->at += v->negative;
	if (p->at == p->end || *p->at < '0' || *p->at > '9')
		return json_error(p, "a number has no digits");
	for (; p->at < p->end && *p->at >= '0' && *p->at <= '9'; p->at++)
		v->number = v->number * 10 + (uint64_t)(*p->at - '0');
	while (p->at < p->end && *p->at && strchr("0123456789.eE+-", *p->at))
		p->at++;
	if (v->negative)
		v->number = 0 - v->number;
	return v;
}

static struct json *parse_word(struct parser *p)
{
	static const struct {
		const char *word;
		enum json_kind kind;
		uint64_t number;
	} words[] = {
		{ "true", JSON_BOOL, 1 },
		{ "false", JSON_BOOL, 0 },
		{ "null", JSON_NULL, 0 },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i].word);
		struct json *v;

		if ((size_t)(p->end - p->at) < len ||
		    memcmp(p->at, words[i].word, len))
			continue;
		v = new_value(p, words[i].kind);
		if (v)
			v->number = words[i].number;
		p->at += len;
		return v;
	}
	return json_error(p, "this is no JSON value");
}

/* Take the name of a member and its colon.  Return: the name, or NULL. */
static const char *take_json_name(struct parser *p)
{
	const char *name;

	if (p->at == p->end || *p->at != '"') {
		json_error(p, "a member of an object has no name");
		return NULL;
	}
	p->at++;
	name = take_json_text(p);
	skip_json_space(p);
	if (name && (p->at == p->end || *p->at != ':')) {
		json_error(p, "\":\" is missing behind the name of a member");
		return NULL;
	}
	p->at++;
	skip_json_space(p);
	return name;
}

static struct json *parse_json_list(struct parser *p, enum json_kind kind)
{
	char close = kind == JSON_ARRAY ? ']' : '}';
	struct json *list = new_value(p, kind), **last;

	if (!list)
		return NULL;
	last = &list->first;
	p->at++;
	skip_json_space(p);
	while (p->at < p->end && *p->at != close) {
		const char *name = kind == JSON_OBJECT ? take_json_name(p) : "";
		struct json *v = name ? parse_json_value(p) : NULL;

		if (!v)
			return NULL;
		v->name = name;
		*last = v;
		last = &v->next;
		skip_json_space(p);
		if (p->at < p->end && *p->at == ',') {
			p->at++;
			skip_json_space(p);
			if (p->at < p->end && *p->at == close)
				return json_error(p, "a value is missing behind \",\"");
		} else if (p->at < p->end && *p->at != close) {
			return json_error(p, "\",\" is missing between two values");
		}
	}
	if (p->at == p->end)
		return json_error(p, "the text ends inside an object or array");
	p->at++;
	return list;
}

static struct json *parse_json_value(struct parser *p)
{
	struct json *v;

	skip_json_space(p);
	if (p->at == p->end)
		return json_error(p, "the text ends where a value is missing");
	if (p->depth == DEPTH)
		return json_error(p, "values are nested too deep");
	p->depth++;
	switch (*p->at) {
	case '{':
		v = parse_json_list(p, JSON_OBJECT);
		break;
	case '[':
		v = parse_json_list(p, JSON_ARRAY);
		break;
	case '"':
		v = new_value(p, JSON_TEXT);
		p->at++;
		if (v)
			v->text = take_json_text(p);
		v = v && v->text ? v : NULL;
		break;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		v = parse_json_number(p);
		break;
	default:
		v = parse_word(p);
		break;
	}
	p->depth--;
	return v;
}

/**
 * json_parse() - parse one value
 * @c: owner of the memory
 * @text: the text
 * @len: bytes of @text
 * @offset: of @text in the metadata, for @error
 * @error: its text is "" before; filled if the text is no JSON
 * @end: set to the first character after the value and the white space behind it
 *
 * Return: the value; NULL if @error is filled, or without memory.
 */
const struct json *json_parse(struct ctf *c, const char *text, size_t len,
			      uint64_t offset, struct ktape_error *error,
			      const char **end)
{
	struct parser p = {
		.c = c,
		.text = text,
		.at = text,
		.end = text + len,
		.offset = offset,
		.error = error,
	};
	const struct json *v = parse_json_value(&p);

	skip_json_space(&p);
	*end = p.at;
	return v;
}

/* Return a member of an object, or NULL. */
const struct json *json_member(const struct json *object, const char *name)
{
	const struct json *v;

	if (!object || object->kind != JSON_OBJECT)
		return NULL;
	for (v = object->first; v; v = v->next) {
		if (!strcmp(v->name, name))
			return v;
	}
	return NULL;
}

/* Return the text of a member, or NULL if it is none. */
const char *json_text(const struct json *object, const char *name)
{
	const struct json *v = json_member(object, name);

	return v && v->kind == JSON_TEXT ? v->text : NULL;
}

/* Read a member that is a number.  Return: false if it is none. */
bool json_number(const struct json *object, const char *name, uint64_t *number)
{
	const struct json *v = json_member(object, name);

	if (!v || v->kind != JSON_NUMBER)
		return false;
	*number = v->number;
	return true;
}
