// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Types of CTF 1.8 metadata: numbers, enumerations, structures, variants, arrays, and the
 * names that are given to them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "tsdl.h"

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
	struct tsdl_alias *more = ctf_grow(p->c, p->aliases, p->nr_aliases,
				      sizeof(*more));

	if (!more)
		return tsdl_no_memory(p);
	p->aliases = more;
	snprintf(more[p->nr_aliases].name, TSDL_ALIAS, "%s", name);
	more[p->nr_aliases++].type = type;
	return true;
}

/* Append a word to a name of several words, "unsigned long". */
static void append(char *name, const char *word)
{
	size_t len = strlen(name);

	snprintf(name + len, TSDL_ALIAS - len, "%s%s", len ? " " : "", word);
}

/* ---- types ------------------------------------------------------------------------------ */

static bool parse_members(struct tsdl *p, struct ctf_type *t);

static bool is_true(const struct tsdl *p)
{
	return p->token == TSDL_NUMBER ? p->number != 0 :
				    tsdl_is(p, "true") || tsdl_is(p, "TRUE");
}

void tsdl_set_order(const struct tsdl *p, struct ctf_type *t)
{
	if (tsdl_is(p, "be") || tsdl_is(p, "network"))
		t->big = true;
	else if (tsdl_is(p, "le"))
		t->big = false;
}

static void set_attribute(struct tsdl *p, struct ctf_type *t, const char *key)
{
	if (!strcmp(key, "size")) {
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 64)
			tsdl_bad(p, "the size of a number is not 1 to 64 bits");
		t->size = (uint16_t)p->number;
	} else if (!strcmp(key, "exp_dig") || !strcmp(key, "mant_dig")) {
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 64)
			tsdl_bad(p, "a floating point number has more than 64 bits");
		t->size = (uint16_t)kt_min(t->size + (uint64_t)p->number, 64);
	} else if (!strcmp(key, "align")) {
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 4096 ||
		    (p->number & (p->number - 1)))
			tsdl_bad(p, "an alignment is not a power of two");
		t->align = (uint16_t)p->number;
	} else if (!strcmp(key, "signed")) {
		t->is_signed = is_true(p);
	} else if (!strcmp(key, "byte_order")) {
		tsdl_set_order(p, t);
	} else if (!strcmp(key, "encoding")) {
		t->text = tsdl_is(p, "UTF8") || tsdl_is(p, "ASCII") || tsdl_is(p, "utf8") ||
			  tsdl_is(p, "ascii");
	} else if (!strcmp(key, "base")) {
		t->hex = p->token == TSDL_NUMBER && p->number == 16;
	} else if (!strcmp(key, "map")) {
		t->clock = true;
	}
}

/* Parse "{ size = 8; align = 8; }" of integers and floating point numbers. */
static bool parse_attributes(struct tsdl *p, struct ctf_type *t)
{
	char key[TSDL_ALIAS];
	bool aligned = false;

	if (!tsdl_expect(p, "{"))
		return false;
	while (!tsdl_is(p, "}") && p->token != TSDL_END) {
		snprintf(key, sizeof(key), "%s", p->word);
		aligned |= !strcmp(key, "align");
		tsdl_next(p);
		if (!tsdl_expect(p, "="))
			return false;
		set_attribute(p, t, key);
		while (!tsdl_is(p, ";") && !tsdl_is(p, "}") && p->token != TSDL_END)
			tsdl_next(p);
		tsdl_accept(p, ";");
	}
	if (!t->size)
		return tsdl_bad(p, "a number has no size");
	if (t->kind == CTF_FLOAT && !ctf_is_float(t->size))
		return tsdl_bad(p, CTF_NO_FLOAT, t->size);
	/* CTF 1.8, 4.1.2: whole bytes are aligned to bytes. */
	if (!aligned && !(t->size & 7))
		t->align = 8;
	return tsdl_expect(p, "}");
}

static bool parse_range(struct tsdl *p, struct ctf_range *r, int64_t *last)
{
	r->low = r->high = *last;
	if (tsdl_accept(p, "=")) {
		if (p->token != TSDL_NUMBER)
			return tsdl_bad(p, "a label of an enumeration has no number");
		r->low = r->high = p->number;
		tsdl_next(p);
		if (tsdl_accept(p, "...")) {
			if (p->token != TSDL_NUMBER)
				return tsdl_bad(p, "a range of an enumeration has no end");
			r->high = p->number;
			tsdl_next(p);
		}
	}
	*last = (int64_t)((uint64_t)r->high + 1);
	return true;
}

/* Parse "enum [NAME] : TYPE { label = 0, ... }". */
static const struct ctf_type *parse_enum(struct tsdl *p)
{
	char name[TSDL_ALIAS] = "enum";
	const struct ctf_type *base;
	struct ctf_label *more;
	struct ctf_type *t;
	int64_t last = 0;

	if (p->token == TSDL_WORD) {
		append(name, p->word);
		tsdl_next(p);
		if (!tsdl_is(p, ":") && !tsdl_is(p, "{"))
			return find_alias(p, name);
	}
	if (tsdl_accept(p, ":"))
		base = tsdl_parse_type(p);
	else
		base = find_alias(p, "int");
	if (!base || base->kind != CTF_INTEGER) {
		tsdl_bad(p, "an enumeration has no integer type");
		return NULL;
	}
	t = ctf_new_type(p->c, CTF_INTEGER);
	if (!t)
		tsdl_no_memory(p);
	if (!t || !tsdl_expect(p, "{"))
		return NULL;
	*t = *base;
	t->labels = NULL;
	t->nr_labels = 0;
	while (p->token == TSDL_WORD || p->token == TSDL_TEXT) {
		more = ctf_grow(p->c, t->labels, t->nr_labels, sizeof(*more));
		if (!more) {
			tsdl_no_memory(p);
			return NULL;
		}
		t->labels = more;
		more += t->nr_labels++;
		snprintf(more->name, CTF_NAME, "%.*s", (int)CTF_NAME - 1,
			 p->word);
		tsdl_next(p);
		if (!parse_range(p, &more->range, &last))
			return NULL;
		if (!tsdl_accept(p, ","))
			break;
	}
	if (!tsdl_expect(p, "}"))
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
	char name[TSDL_ALIAS] = "";
	char ref[CTF_NAME] = "";
	struct ctf_type *t;

	append(name, kind == CTF_STRUCT ? "struct" : "variant");
	if (p->token == TSDL_WORD) {
		append(name, p->word);
		tsdl_next(p);
	}
	if (kind == CTF_VARIANT && tsdl_accept(p, "<")) {
		/* a.b.c: the last part */
		for (; !tsdl_is(p, ">") && p->token != TSDL_END; tsdl_next(p)) {
			if (p->token == TSDL_WORD)
				snprintf(ref, sizeof(ref), "%.*s",
					 (int)sizeof(ref) - 1, p->word);
		}
		if (!tsdl_expect(p, ">"))
			return NULL;
	}
	t = ctf_new_type(p->c, kind);
	if (!t) {
		tsdl_no_memory(p);
		return NULL;
	}
	if (tsdl_is(p, "{")) {
		if (!parse_members(p, t))
			return NULL;
		if (strchr(name, ' ') && !add_alias(p, name, t))
			return NULL;
	} else {
		const struct ctf_type *known = find_alias(p, name);

		if (!known) {
			tsdl_bad(p, "\"%.80s\" was not declared", name);
			return NULL;
		}
		*t = *known;
	}
	if (*ref)
		memcpy(t->ref, ref, sizeof(ref));
	if (tsdl_accept(p, "align")) {
		if (!tsdl_expect(p, "("))
			return NULL;
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 4096 ||
		    (p->number & (p->number - 1))) {
			tsdl_bad(p, "an alignment is not a power of two");
			return NULL;
		}
		t->align = (uint16_t)kt_max(t->align, (uint64_t)p->number);
		tsdl_next(p);
		if (!tsdl_expect(p, ")"))
			return NULL;
	}
	return t;
}

static const struct ctf_type *parse_simple(struct tsdl *p, enum ctf_kind kind)
{
	struct ctf_type *t = ctf_new_type(p->c, kind);

	if (!t) {
		tsdl_no_memory(p);
		return NULL;
	}
	if (kind == CTF_STRING) {
		if (tsdl_accept(p, "{")) {
			while (!tsdl_is(p, "}") && p->token != TSDL_END)
				tsdl_next(p);
			tsdl_expect(p, "}");
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
	char name[TSDL_ALIAS] = "";

	/* The longest name that is known: the word behind it names the field. */
	while (p->token == TSDL_WORD) {
		append(name, p->word);
		tsdl_next(p);
		t = find_alias(p, name);
		if (t) {
			best = t;
			after = *p;
		}
	}
	if (!best) {
		tsdl_bad(&before, "\"%.80s\" is no type", name);
		*p = before;
		return NULL;
	}
	*p = after;
	return best;
}

const struct ctf_type *tsdl_parse_type(struct tsdl *p)
{
	const struct ctf_type *t;

	if (p->depth == CTF_DEPTH) {
		tsdl_bad(p, "the types are nested too deep");
		return NULL;
	}
	p->depth++;
	if (tsdl_accept(p, "integer"))
		t = parse_simple(p, CTF_INTEGER);
	else if (tsdl_accept(p, "floating_point"))
		t = parse_simple(p, CTF_FLOAT);
	else if (tsdl_accept(p, "string"))
		t = parse_simple(p, CTF_STRING);
	else if (tsdl_accept(p, "enum"))
		t = parse_enum(p);
	else if (tsdl_accept(p, "struct"))
		t = parse_compound(p, CTF_STRUCT);
	else if (tsdl_accept(p, "variant"))
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

	if (!tsdl_accept(p, "["))
		return element;
	if (p->depth == CTF_DEPTH) {
		tsdl_bad(p, "the types are nested too deep");
		return NULL;
	}
	t = ctf_new_type(p->c, p->token == TSDL_NUMBER ? CTF_ARRAY : CTF_SEQUENCE);
	if (!t) {
		tsdl_no_memory(p);
		return NULL;
	}
	if (p->token == TSDL_NUMBER)
		t->count = (uint64_t)p->number;
	for (; !tsdl_is(p, "]") && p->token != TSDL_END; tsdl_next(p)) {
		if (p->token == TSDL_WORD)
			snprintf(t->ref, sizeof(t->ref), "%.*s",
				 (int)sizeof(t->ref) - 1, p->word);
	}
	if (!tsdl_expect(p, "]"))
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
		return tsdl_no_memory(p);
	t->members = more;
	more += t->nr_members++;
	memset(more, 0, sizeof(*more));
	if (p->token != TSDL_WORD)
		return tsdl_bad(p, "a field has no name");
	snprintf(more->name, CTF_NAME, "%.*s", (int)CTF_NAME - 1, p->word);
	tsdl_next(p);
	more->type = parse_brackets(p, type);
	if (!more->type)
		return false;
	if (t->kind == CTF_STRUCT)
		raise_align(t, more->type);
	return true;
}

/* Parse "{ TYPE name; TYPE name[4]; ... }". */
static bool parse_members(struct tsdl *p, struct ctf_type *t)
{
	const struct ctf_type *type;

	if (!tsdl_expect(p, "{"))
		return false;
	while (!tsdl_is(p, "}") && p->token != TSDL_END) {
		if (tsdl_is(p, "typealias")) {
			if (!tsdl_parse_alias(p))
				return false;
			continue;
		}
		type = tsdl_parse_type(p);
		if (!type)
			return tsdl_bad(p, "a field has no type");
		do {
			if (!add_member(p, t, type))
				return false;
		} while (tsdl_accept(p, ","));
		if (!tsdl_expect(p, ";"))
			return false;
	}
	return tsdl_expect(p, "}");
}

/* Parse "typealias TYPE := NAME;". */
bool tsdl_parse_alias(struct tsdl *p)
{
	const struct ctf_type *type;
	char name[TSDL_ALIAS] = "";

	tsdl_next(p);
	type = tsdl_parse_type(p);
	if (!type || !tsdl_expect(p, ":="))
		return tsdl_bad(p, "a typealias has no type");
	for (; p->token == TSDL_WORD; tsdl_next(p))
		append(name, p->word);
	return add_alias(p, name, type) && tsdl_expect(p, ";");
}

/* Parse "typedef TYPE NAME;". */
bool tsdl_parse_typedef(struct tsdl *p)
{
	struct ctf_type holder = { .kind = CTF_STRUCT };
	const struct ctf_type *type;

	tsdl_next(p);
	type = tsdl_parse_type(p);
	if (!type)
		return tsdl_bad(p, "a typedef has no type");
	if (!add_member(p, &holder, type))
		return false;
	return add_alias(p, holder.members[0].name, holder.members[0].type) &&
	       tsdl_expect(p, ";");
}
