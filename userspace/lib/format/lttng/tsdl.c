// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse CTF 1.8 metadata (TSDL) as tracers write it: LTTng, ktape, barectf, babeltrace2.
 *
 *	typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
 *	struct packet_context { ... };
 *	trace { ...; packet.header := struct { ... }; };
 *	env { ... };	clock { ... };
 *	stream { id = 0; event.header := struct ...; packet.context := struct ...; };
 *	event { name = "..."; id = 0; stream_id = 0; fields := struct { ... }; };
 *
 * Lengths of sequences and tags of variants are looked up by the last part of their name,
 * among the fields that come before.  Not read: typedef of function-like declarators and
 * callsite blocks, which are skipped.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "ctf.h"

#define ALIAS	(2 * CTF_NAME)	/* "struct name" */

enum token { END, WORD, TEXT, NUMBER, SIGN };

struct alias {
	char name[ALIAS];
	const struct ctf_type *type;
};

/**
 * struct tsdl - a text that is being parsed
 * @c: filled
 * @text: the text
 * @at: the next character
 * @end: after the last one
 * @error: filled at the first error
 * @token: the current token
 * @from: where it begins
 * @word: WORD, TEXT (without quotes, escapes resolved) or SIGN
 * @number: value of a NUMBER
 * @aliases: names of types
 * @nr_aliases: entries of @aliases
 * @depth: types inside types
 * @failed: -EBADMSG or -ENOMEM, 0 = none
 */
struct tsdl {
	struct ctf *c;
	const char *text;
	const char *at;
	const char *end;
	struct ktape_error *error;
	enum token token;
	const char *from;
	char word[ALIAS];
	int64_t number;
	struct alias *aliases;
	size_t nr_aliases;
	unsigned int depth;
	int failed;
};

static bool bad(struct tsdl *p, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Set the first error.  Return: false. */
static bool bad(struct tsdl *p, const char *format, ...)
{
	va_list args;

	if (p->failed)
		return false;
	p->failed = -EBADMSG;
	va_start(args, format);
	vsnprintf(p->error->text, sizeof(p->error->text), format, args);
	va_end(args);
	p->error->offset = (uint64_t)(p->from - p->text);
	return false;
}

static bool no_memory(struct tsdl *p)
{
	if (!p->failed)
		p->failed = p->c->nr_types == CTF_TYPES ? -EBADMSG : -ENOMEM;
	if (p->failed == -EBADMSG)
		snprintf(p->error->text, sizeof(p->error->text),
			 "the metadata has more than %u types", CTF_TYPES);
	return false;
}

/* ---- tokens ---------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (c >= '0' && c <= '9');
}

static void skip_space(struct tsdl *p)
{
	while (p->at < p->end) {
		if (strchr(" \t\r\n", *p->at) && *p->at) {
			p->at++;
		} else if (p->end - p->at > 1 && p->at[0] == '/' &&
			   p->at[1] == '*') {
			const char *stop = memmem(p->at + 2,
						  (size_t)(p->end - p->at - 2),
						  "*/", 2);

			p->at = stop ? stop + 2 : p->end;
		} else if (p->end - p->at > 1 && p->at[0] == '/' &&
			   p->at[1] == '/') {
			const char *stop = memchr(p->at, '\n',
						  (size_t)(p->end - p->at));

			p->at = stop ? stop : p->end;
		} else {
			return;
		}
	}
}

static void add_char(struct tsdl *p, size_t *len, char c)
{
	if (*len < sizeof(p->word) - 1)
		p->word[(*len)++] = c;
}

static void take_text(struct tsdl *p)
{
	size_t len = 0;

	p->token = TEXT;
	for (p->at++; p->at < p->end && *p->at != '"'; p->at++) {
		if (*p->at == '\\' && p->at + 1 < p->end)
			p->at++;
		add_char(p, &len, *p->at);
	}
	if (p->at == p->end)
		bad(p, "a text has no closing quote");
	else
		p->at++;
	p->word[len] = '\0';
}

static void take_number(struct tsdl *p)
{
	bool minus = *p->at == '-';
	uint64_t v = 0;
	unsigned int base = 10, digit;

	p->token = NUMBER;
	p->at += minus;
	if (p->end - p->at > 1 && p->at[0] == '0') {
		base = (p->at[1] | 32) == 'x' ? 16 : 8;
		p->at += base == 16 ? 2 : 0;
	}
	for (; p->at < p->end && is_word(*p->at); p->at++) {
		char c = *p->at | 32;

		digit = *p->at <= '9' ? (unsigned int)(*p->at - '0')
				      : (unsigned int)(c - 'a' + 10);
		if (digit >= base) {	/* a suffix, as in 1ULL */
			if (c == 'u' || c == 'l')
				continue;
			bad(p, "a number is malformed");
			return;
		}
		v = v * base + digit;
	}
	p->number = minus ? (int64_t)(0 - v) : (int64_t)v;
}

static void take_sign(struct tsdl *p)
{
	static const char *const longer[] = { ":=", "...", "->" };
	size_t n = 1;

	p->token = SIGN;
	for (size_t i = 0; i < KT_ARRAY_SIZE(longer); i++) {
		size_t len = strlen(longer[i]);

		if ((size_t)(p->end - p->at) >= len &&
		    !memcmp(p->at, longer[i], len))
			n = len;
	}
	memcpy(p->word, p->at, n);
	p->word[n] = '\0';
	p->at += n;
}

static void next(struct tsdl *p)
{
	size_t len = 0;

	skip_space(p);
	p->from = p->at;
	p->word[0] = '\0';
	if (p->failed || p->at == p->end || !*p->at) {
		p->token = END;
	} else if (*p->at == '"') {
		take_text(p);
	} else if ((*p->at >= '0' && *p->at <= '9') ||
		   (*p->at == '-' && p->end - p->at > 1 && p->at[1] >= '0' &&
		    p->at[1] <= '9')) {
		take_number(p);
	} else if (is_word(*p->at)) {
		p->token = WORD;
		for (; p->at < p->end && is_word(*p->at); p->at++)
			add_char(p, &len, *p->at);
		p->word[len] = '\0';
	} else {
		take_sign(p);
	}
}

static bool is(const struct tsdl *p, const char *word)
{
	return (p->token == WORD || p->token == SIGN) && !strcmp(p->word, word);
}

/* Go past a word or sign.  Return: false if something else is there. */
static bool accept(struct tsdl *p, const char *word)
{
	if (!is(p, word))
		return false;
	next(p);
	return true;
}

static bool expect(struct tsdl *p, const char *word)
{
	if (accept(p, word))
		return true;
	if (p->token == END)
		return bad(p, "the metadata ends where \"%s\" is missing", word);
	return bad(p, "\"%s\" is missing before \"%.40s\"", word, p->word);
}

/* Go past a balanced block, up to the semicolon behind it. */
static void skip_statement(struct tsdl *p)
{
	unsigned int depth = 0;

	while (p->token != END && !p->failed) {
		if (is(p, "{"))
			depth++;
		if (is(p, "}") && depth)
			depth--;
		if (is(p, ";") && !depth)
			return;
		next(p);
	}
}

/* ---- names of types --------------------------------------------------------------------- */

static const struct ctf_type *find_alias(const struct tsdl *p, const char *name)
{
	for (size_t i = p->nr_aliases; i--;) {
		if (!strcmp(p->aliases[i].name, name))
			return p->aliases[i].type;
	}
	return NULL;
}

static bool add_alias(struct tsdl *p, const char *name,
		      const struct ctf_type *type)
{
	struct alias *more = ctf_grow(p->c, p->aliases, p->nr_aliases,
				      sizeof(*more));

	if (!more)
		return no_memory(p);
	p->aliases = more;
	snprintf(more[p->nr_aliases].name, ALIAS, "%s", name);
	more[p->nr_aliases++].type = type;
	return true;
}

/* Append a word to a name of several words, "unsigned long". */
static void append(char *name, const char *word)
{
	size_t len = strlen(name);

	snprintf(name + len, ALIAS - len, "%s%s", len ? " " : "", word);
}

/* ---- types ------------------------------------------------------------------------------ */

static const struct ctf_type *parse_type(struct tsdl *p);
static bool parse_members(struct tsdl *p, struct ctf_type *t);

static bool is_true(const struct tsdl *p)
{
	return p->token == NUMBER ? p->number != 0 :
				    is(p, "true") || is(p, "TRUE");
}

static void set_order(const struct tsdl *p, struct ctf_type *t)
{
	if (is(p, "be") || is(p, "network"))
		t->big = true;
	else if (is(p, "le"))
		t->big = false;
}

static void set_attribute(struct tsdl *p, struct ctf_type *t, const char *key)
{
	if (!strcmp(key, "size")) {
		if (p->token != NUMBER || p->number < 1 || p->number > 64)
			bad(p, "the size of a number is not 1 to 64 bits");
		t->size = (uint16_t)p->number;
	} else if (!strcmp(key, "exp_dig") || !strcmp(key, "mant_dig")) {
		if (p->token != NUMBER || p->number < 1 || p->number > 64)
			bad(p, "a floating point number has more than 64 bits");
		t->size = (uint16_t)kt_min(t->size + (uint64_t)p->number, 64);
	} else if (!strcmp(key, "align")) {
		if (p->token != NUMBER || p->number < 1 || p->number > 4096 ||
		    (p->number & (p->number - 1)))
			bad(p, "an alignment is not a power of two");
		t->align = (uint16_t)p->number;
	} else if (!strcmp(key, "signed")) {
		t->is_signed = is_true(p);
	} else if (!strcmp(key, "byte_order")) {
		set_order(p, t);
	} else if (!strcmp(key, "encoding")) {
		t->text = is(p, "UTF8") || is(p, "ASCII") || is(p, "utf8") ||
			  is(p, "ascii");
	} else if (!strcmp(key, "base")) {
		t->hex = p->token == NUMBER && p->number == 16;
	} else if (!strcmp(key, "map")) {
		t->clock = true;
	}
}

/* Parse "{ size = 8; align = 8; }" of integers and floating point numbers. */
static bool parse_attributes(struct tsdl *p, struct ctf_type *t)
{
	char key[ALIAS];

	if (!expect(p, "{"))
		return false;
	while (!is(p, "}") && p->token != END) {
		snprintf(key, sizeof(key), "%s", p->word);
		next(p);
		if (!expect(p, "="))
			return false;
		set_attribute(p, t, key);
		while (!is(p, ";") && !is(p, "}") && p->token != END)
			next(p);
		accept(p, ";");
	}
	if (!t->size)
		return bad(p, "a number has no size");
	return expect(p, "}");
}

static bool parse_range(struct tsdl *p, struct ctf_range *r, int64_t *last)
{
	r->low = r->high = *last;
	if (accept(p, "=")) {
		if (p->token != NUMBER)
			return bad(p, "a label of an enumeration has no number");
		r->low = r->high = p->number;
		next(p);
		if (accept(p, "...")) {
			if (p->token != NUMBER)
				return bad(p, "a range of an enumeration has no end");
			r->high = p->number;
			next(p);
		}
	}
	*last = (int64_t)((uint64_t)r->high + 1);
	return true;
}

/* Parse "enum [NAME] : TYPE { label = 0, ... }". */
static const struct ctf_type *parse_enum(struct tsdl *p)
{
	char name[ALIAS] = "enum";
	const struct ctf_type *base;
	struct ctf_label *more;
	struct ctf_type *t;
	int64_t last = 0;

	if (p->token == WORD) {
		append(name, p->word);
		next(p);
		if (!is(p, ":") && !is(p, "{"))
			return find_alias(p, name);
	}
	if (accept(p, ":"))
		base = parse_type(p);
	else
		base = find_alias(p, "int");
	if (!base || base->kind != CTF_INTEGER) {
		bad(p, "an enumeration has no integer type");
		return NULL;
	}
	t = ctf_new_type(p->c, CTF_INTEGER);
	if (!t)
		no_memory(p);
	if (!t || !expect(p, "{"))
		return NULL;
	*t = *base;
	t->labels = NULL;
	t->nr_labels = 0;
	while (p->token == WORD || p->token == TEXT) {
		more = ctf_grow(p->c, t->labels, t->nr_labels, sizeof(*more));
		if (!more) {
			no_memory(p);
			return NULL;
		}
		t->labels = more;
		more += t->nr_labels++;
		snprintf(more->name, CTF_NAME, "%.*s", (int)CTF_NAME - 1,
			 p->word);
		next(p);
		if (!parse_range(p, &more->range, &last))
			return NULL;
		if (!accept(p, ","))
			break;
	}
	if (!expect(p, "}"))
		return NULL;
	if (strlen(name) > strlen("enum") && !add_alias(p, name, t))
		return NULL;
	return t;
}

static void raise_align(struct ctf_type *t, const struct ctf_type *member)
{
	if (member->align > t->align && member->kind != CTF_VARIANT)
		t->align = member->align;
}

/* Parse "struct [NAME] [{ members } [align(N)]]", or the same of a variant. */
static const struct ctf_type *parse_compound(struct tsdl *p,
					     enum ctf_kind kind)
{
	char name[ALIAS] = "";
	char ref[CTF_NAME] = "";
	struct ctf_type *t;

	append(name, kind == CTF_STRUCT ? "struct" : "variant");
	if (p->token == WORD) {
		append(name, p->word);
		next(p);
	}
	if (kind == CTF_VARIANT && accept(p, "<")) {
		/* a.b.c: the last part */
		for (; !is(p, ">") && p->token != END; next(p)) {
			if (p->token == WORD)
				snprintf(ref, sizeof(ref), "%.*s",
					 (int)sizeof(ref) - 1, p->word);
		}
		if (!expect(p, ">"))
			return NULL;
	}
	t = ctf_new_type(p->c, kind);
	if (!t) {
		no_memory(p);
		return NULL;
	}
	if (is(p, "{")) {
		if (!parse_members(p, t))
			return NULL;
		if (strchr(name, ' ') && !add_alias(p, name, t))
			return NULL;
	} else {
		const struct ctf_type *known = find_alias(p, name);

		if (!known) {
			bad(p, "\"%.80s\" was not declared", name);
			return NULL;
		}
		*t = *known;
	}
	if (*ref)
		memcpy(t->ref, ref, sizeof(ref));
	if (accept(p, "align")) {
		if (!expect(p, "("))
			return NULL;
		if (p->token != NUMBER || p->number < 1 || p->number > 4096 ||
		    (p->number & (p->number - 1))) {
			bad(p, "an alignment is not a power of two");
			return NULL;
		}
		t->align = (uint16_t)kt_max(t->align, (uint64_t)p->number);
		next(p);
		if (!expect(p, ")"))
			return NULL;
	}
	return t;
}

static const struct ctf_type *parse_simple(struct tsdl *p, enum ctf_kind kind)
{
	struct ctf_type *t = ctf_new_type(p->c, kind);

	if (!t) {
		no_memory(p);
		return NULL;
	}
	if (kind == CTF_STRING) {
		if (accept(p, "{")) {
			while (!is(p, "}") && p->token != END)
				next(p);
			expect(p, "}");
		}
		return p->failed ? NULL : t;
	}
	if (!parse_attributes(p, t))
		return NULL;
	return t;
}

/* Parse a type by its name, of one or more words: "uint32_t", "unsigned long". */
static const struct ctf_type *parse_named(struct tsdl *p)
{
	const struct ctf_type *best = NULL, *t;
	struct tsdl before = *p, after = *p;
	char name[ALIAS] = "";

	/* The longest name that is known: the word behind it names the field. */
	while (p->token == WORD) {
		append(name, p->word);
		next(p);
		t = find_alias(p, name);
		if (t) {
			best = t;
			after = *p;
		}
	}
	if (!best) {
		bad(&before, "\"%.80s\" is no type", name);
		*p = before;
		return NULL;
	}
	*p = after;
	return best;
}

static const struct ctf_type *parse_type(struct tsdl *p)
{
	const struct ctf_type *t;

	if (p->depth == CTF_DEPTH) {
		bad(p, "the types are nested too deep");
		return NULL;
	}
	p->depth++;
	if (accept(p, "integer"))
		t = parse_simple(p, CTF_INTEGER);
	else if (accept(p, "floating_point"))
		t = parse_simple(p, CTF_FLOAT);
	else if (accept(p, "string"))
		t = parse_simple(p, CTF_STRING);
	else if (accept(p, "enum"))
		t = parse_enum(p);
	else if (accept(p, "struct"))
		t = parse_compound(p, CTF_STRUCT);
	else if (accept(p, "variant"))
		t = parse_compound(p, CTF_VARIANT);
	else
		t = parse_named(p);
	p->depth--;
	return t;
}

/* Parse "[4]" and "[length]" behind a name, the last one innermost. */
static const struct ctf_type *parse_brackets(struct tsdl *p,
					     const struct ctf_type *element)
{
	const struct ctf_type *inner;
	struct ctf_type *t;

	if (!accept(p, "["))
		return element;
	if (p->depth == CTF_DEPTH) {
		bad(p, "the types are nested too deep");
		return NULL;
	}
	t = ctf_new_type(p->c, p->token == NUMBER ? CTF_ARRAY : CTF_SEQUENCE);
	if (!t) {
		no_memory(p);
		return NULL;
	}
	if (p->token == NUMBER)
		t->count = (uint64_t)p->number;
	for (; !is(p, "]") && p->token != END; next(p)) {
		if (p->token == WORD)
			snprintf(t->ref, sizeof(t->ref), "%.*s",
				 (int)sizeof(t->ref) - 1, p->word);
	}
	if (!expect(p, "]"))
		return NULL;
	p->depth++;
	inner = parse_brackets(p, element);
	p->depth--;
	if (!inner)
		return NULL;
	t->element = inner;
	t->align = inner->kind == CTF_VARIANT ? 1 : inner->align;
	t->text = inner->text && inner->kind == CTF_INTEGER && inner->size == 8;
	return t;
}

static bool add_member(struct tsdl *p, struct ctf_type *t,
		       const struct ctf_type *type)
{
	struct ctf_member *more = ctf_grow(p->c, t->members, t->nr_members,
					   sizeof(*more));

	if (!more)
		return no_memory(p);
	t->members = more;
	more += t->nr_members++;
	memset(more, 0, sizeof(*more));
	if (p->token != WORD)
		return bad(p, "a field has no name");
	snprintf(more->name, CTF_NAME, "%.*s", (int)CTF_NAME - 1, p->word);
	next(p);
	more->type = parse_brackets(p, type);
	if (!more->type)
		return false;
	if (t->kind == CTF_STRUCT)
		raise_align(t, more->type);
	return true;
}

static bool parse_alias(struct tsdl *p);

/* Parse "{ TYPE name; TYPE name[4]; ... }". */
static bool parse_members(struct tsdl *p, struct ctf_type *t)
{
	const struct ctf_type *type;

	if (!expect(p, "{"))
		return false;
	while (!is(p, "}") && p->token != END) {
		if (is(p, "typealias")) {
			if (!parse_alias(p))
				return false;
			continue;
		}
		type = parse_type(p);
		if (!type)
			return bad(p, "a field has no type");
		do {
			if (!add_member(p, t, type))
				return false;
		} while (accept(p, ","));
		if (!expect(p, ";"))
			return false;
	}
	return expect(p, "}");
}

/* Parse "typealias TYPE := NAME;". */
static bool parse_alias(struct tsdl *p)
{
	const struct ctf_type *type;
	char name[ALIAS] = "";

	next(p);
	type = parse_type(p);
	if (!type || !expect(p, ":="))
		return bad(p, "a typealias has no type");
	for (; p->token == WORD; next(p))
		append(name, p->word);
	return add_alias(p, name, type) && expect(p, ";");
}

/* Parse "typedef TYPE NAME;". */
static bool parse_typedef(struct tsdl *p)
{
	struct ctf_type holder = { .kind = CTF_STRUCT };
	const struct ctf_type *type;

	next(p);
	type = parse_type(p);
	if (!type)
		return bad(p, "a typedef has no type");
	if (!add_member(p, &holder, type))
		return false;
	return add_alias(p, holder.members[0].name, holder.members[0].type) &&
	       expect(p, ";");
}

/* ---- blocks ------------------------------------------------------------------------------ */

enum block { TRACE, ENV, CLOCK, STREAM, EVENT };

static void copy(char *to, size_t size, const char *from)
{
	size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = '\0';
}

static bool parse_uuid(const char *text, uint8_t uuid[16])
{
	unsigned int digits = 0;

	for (; *text && digits < 32; text++) {
		unsigned int v;

		if (*text == '-')
			continue;
		if (*text >= '0' && *text <= '9')
			v = (unsigned int)(*text - '0');
		else if ((*text | 32) >= 'a' && (*text | 32) <= 'f')
			v = (unsigned int)((*text | 32) - 'a' + 10);
		else
			return false;
		uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
		digits++;
	}
	return digits == 32;
}

static void set_trace(struct tsdl *p, const char *key)
{
	struct ctf_type order = { .big = p->c->big };

	if (!strcmp(key, "byte_order")) {
		set_order(p, &order);
		p->c->big = order.big;
		/* Types that were declared before have the order of the trace, too. */
		for (size_t i = 0; i < p->nr_aliases; i++)
			((struct ctf_type *)p->aliases[i].type)->big = order.big;
	} else if (!strcmp(key, "uuid") && p->token == TEXT) {
		p->c->has_uuid = parse_uuid(p->word, p->c->uuid);
	} else if (!strcmp(key, "major") && p->token == NUMBER &&
		   p->number != 1) {
		bad(p, "the metadata is CTF %lld in the form of 1.8",
		    (long long)p->number);
	}
}

static void set_env(struct tsdl *p, const char *key)
{
	struct ctf *c = p->c;
	struct ctf_env *more = ctf_grow(c, c->env, c->nr_env, sizeof(*more));

	if (!more) {
		no_memory(p);
		return;
	}
	c->env = more;
	more += c->nr_env++;
	copy(more->key, sizeof(more->key), key);
	more->is_number = p->token == NUMBER;
	if (p->token == NUMBER)
		snprintf(more->text, sizeof(more->text), "%lld",
			 (long long)p->number);
	else
		copy(more->text, sizeof(more->text), p->word);
	if (p->token != TEXT)
		return;
	if (!strcmp(key, "hostname"))
		copy(c->hostname, sizeof(c->hostname), p->word);
	else if (!strcmp(key, "domain"))
		copy(c->domain, sizeof(c->domain), p->word);
	else if (!strcmp(key, "tracer_name"))
		copy(c->tracer, sizeof(c->tracer), p->word);
	else if (!strcmp(key, "kernel_release"))
		copy(c->release, sizeof(c->release), p->word);
}

static void set_clock(struct tsdl *p, const char *key)
{
	struct ctf *c = p->c;

	if (!strcmp(key, "name"))
		copy(c->clock, sizeof(c->clock), p->word);
	if (p->token != NUMBER)
		return;
	if (!strcmp(key, "freq")) {
		c->freq = (uint64_t)p->number;
		if (p->number <= 0)
			bad(p, "the frequency of the clock is not positive");
	} else if (!strcmp(key, "offset_s")) {
		c->offset_s = p->number;
	} else if (!strcmp(key, "offset")) {
		c->offset = (uint64_t)p->number;
	}
}

static void set_stream(struct tsdl *p, const char *key)
{
	struct ctf_stream *s = &p->c->streams[p->c->nr_streams - 1];

	if (!strcmp(key, "id") && p->token == NUMBER)
		s->id = (uint64_t)p->number;
}

static void set_event(struct tsdl *p, const char *key)
{
	struct ctf_class *e = &p->c->classes[p->c->nr_classes - 1];

	if (!strcmp(key, "name"))
		copy(e->name, sizeof(e->name), p->word);
	else if (!strcmp(key, "id") && p->token == NUMBER)
		e->id = (uint64_t)p->number;
	else if (!strcmp(key, "stream_id") && p->token == NUMBER)
		e->stream = (uint64_t)p->number;
}

static void (*const setters[])(struct tsdl *p, const char *key) = {
	[TRACE] = set_trace, [ENV] = set_env, [CLOCK] = set_clock,
	[STREAM] = set_stream, [EVENT] = set_event,
};

static void set_type(struct tsdl *p, enum block block, const char *key,
		     const struct ctf_type *t)
{
	struct ctf_stream *s = block == STREAM ?
		&p->c->streams[p->c->nr_streams - 1] : NULL;
	struct ctf_class *e = block == EVENT ?
		&p->c->classes[p->c->nr_classes - 1] : NULL;

	if (t->kind != CTF_STRUCT) {
		bad(p, "%.80s is not a structure", key);
		return;
	}
	if (block == TRACE && !strcmp(key, "packet.header"))
		p->c->packet_header = t;
	else if (s && !strcmp(key, "packet.context"))
		s->packet_context = t;
	else if (s && !strcmp(key, "event.header"))
		s->event_header = t;
	else if (s && !strcmp(key, "event.context"))
		s->event_context = t;
	else if (e && !strcmp(key, "context"))
		e->context = t;
	else if (e && !strcmp(key, "fields"))
		e->fields = t;
}

/* Parse "{ key = value; path := TYPE; ... };" of a block. */
static bool parse_block(struct tsdl *p, enum block block)
{
	next(p);
	if (!expect(p, "{"))
		return false;
	while (!is(p, "}") && p->token != END && !p->failed) {
		char key[ALIAS] = "";

		if (is(p, "typealias")) {
			parse_alias(p);
			continue;
		}
		for (; p->token == WORD || is(p, "."); next(p)) {
			size_t len = strlen(key);

			snprintf(key + len, sizeof(key) - len, "%s", p->word);
		}
		if (accept(p, ":=")) {
			const struct ctf_type *t = parse_type(p);

			if (!t)
				return bad(p, "%.80s has no type", key);
			set_type(p, block, key, t);
		} else if (accept(p, "=")) {
			setters[block](p, key);
		}
		skip_statement(p);
		accept(p, ";");
	}
	return expect(p, "}") && (accept(p, ";") || true);
}

static bool parse_statement(struct tsdl *p)
{
	static const struct {
		const char *word;
		enum block block;
	} blocks[] = {
		{ "trace", TRACE }, { "env", ENV }, { "clock", CLOCK },
		{ "stream", STREAM }, { "event", EVENT },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(blocks); i++) {
		if (!is(p, blocks[i].word))
			continue;
		if ((blocks[i].block == STREAM && !ctf_add_stream(p->c)) ||
		    (blocks[i].block == EVENT && !ctf_add_class(p->c)))
			return no_memory(p);
		return parse_block(p, blocks[i].block);
	}
	if (is(p, "typealias"))
		return parse_alias(p);
	if (is(p, "typedef"))
		return parse_typedef(p);
	if (is(p, "struct") || is(p, "variant") || is(p, "enum"))
		return parse_type(p) && expect(p, ";");
	if (p->token == WORD || is(p, ";")) {	/* callsite and others */
		skip_statement(p);
		accept(p, ";");
		return true;
	}
	return bad(p, "\"%.40s\" begins no statement", p->word);
}

/**
 * ctf_parse_tsdl() - parse CTF 1.8 metadata
 * @c: empty; filled.  Ends with ctf_free(), also after an error
 * @text: the metadata, without packets
 * @len: bytes of @text
 * @error: filled on -EBADMSG
 *
 * Return: 0, -EBADMSG or -ENOMEM.
 */
int ctf_parse_tsdl(struct ctf *c, const char *text, size_t len,
		   struct ktape_error *error)
{
	struct tsdl p = {
		.c = c, .text = text, .at = text, .end = text + len,
		.from = text, .error = error,
	};

	c->version = 1;
	c->freq = 1000000000;
	next(&p);
	while (p.token != END && !p.failed)
		parse_statement(&p);
	return p.failed;
}
