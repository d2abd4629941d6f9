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

static const struct ctf_type *find_tsdl_alias(const struct tsdl *p, const char *name)
{
	const struct ctf_word *w = ctf_word(p->c, name, strlen(name), false);

	return w && w->alias ? w->alias->type : NULL;
}

static bool add_alias(struct tsdl *p, const char *name, const struct ctf_type *type)
{
	struct ctf_word *w = ctf_word(p->c, name, strlen(name), true);
	struct tsdl_alias *a = w ? ctf_alloc(p->c, sizeof(*a)) : NULL;

	if (!a)
		return tsdl_no_memory(p);
	*a = (struct tsdl_alias){ w, w->alias, p->aliases, type };
	w->alias = a;
	p->aliases = a;
	return true;
}

/* Forget the names that were declared inside braces. */
void tsdl_leave(struct tsdl *p, const struct tsdl_alias *outside)
{
	for (; p->aliases != outside; p->aliases = p->aliases->before)
		p->aliases->word->alias = p->aliases->hidden;
}

/* Append a word to a name of several words, "unsigned long".  Return: false if it is too long. */
static bool append_alias_word(char *name, const char *word)
{
	size_t len = strlen(name);

	return (size_t)snprintf(name + len, TSDL_ALIAS - len, "%s%s",
				len ? " " : "", word) < TSDL_ALIAS - len;
}

static void append_name(struct tsdl *p, char *name)
{
	if (!append_alias_word(name, p->word))
		tsdl_bad(p, "the name of a type has more than %u bytes",
			 TSDL_ALIAS - 1);
}

/* ---- types ------------------------------------------------------------------------------ */

static bool parse_members(struct tsdl *p, struct ctf_type *t);

static bool is_true(const struct tsdl *p)
{
	return p->token == TSDL_NUMBER ? p->number != 0 :
					 tsdl_is(p, "true") || tsdl_is(p, "TRUE");
}

/* Set the byte order of a type to the current token; others, as "native", leave it as it is. */
void tsdl_set_order(const struct tsdl *p, struct ctf_type *t)
{
	if (tsdl_is(p, "be") || tsdl_is(p, "network"))
		t->big = true;
	else if (tsdl_is(p, "le"))
		t->big = false;
}

/* Take the name of the clock in "clock.NAME.value". */
static void set_type_clock(struct tsdl *p, struct ctf_type *t)
{
	t->clock = true;
	if (!tsdl_accept(p, "clock") || !tsdl_accept(p, "."))
		return;
	if (p->token == TSDL_WORD || p->token == TSDL_TEXT)
		t->clock_name = p->word;
}

/*
 * Set what an attribute says, to the current token.  After tsdl_bad() the next token is TSDL_END:
 * the parser ends there, and nobody uses the type.
 */
static void set_attribute(struct tsdl *p, struct ctf_type *t, const char *key)
{
	if (!strcmp(key, "size")) {
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 64)
			tsdl_bad(p, "the size of a number is not 1 to 64 bits");
		t->size = (uint16_t)p->number;
	} else if (!strcmp(key, "exp_dig") || !strcmp(key, "mant_dig")) {
		if (p->token != TSDL_NUMBER || p->number < 1 || p->number > 64)
			tsdl_bad(p, "a floating point number has more than 64 bits");
		/*
		 * The size is the sum of both: mant_dig counts the leading bit, which is not
		 * stored, but not the sign.
		 */
		t->size = (uint16_t)kt_min(t->size + (uint64_t)p->number, 64);
	} else if (!strcmp(key, "align")) {
		if (p->token != TSDL_NUMBER || p->number < 1 ||
		    p->number > CTF_ALIGN_MAX || (p->number & (p->number - 1)))
			tsdl_bad(p, "an alignment is not a power of two");
		t->align = (uint16_t)p->number;
	} else if (!strcmp(key, "signed")) {
		t->is_signed = is_true(p);
	} else if (!strcmp(key, "byte_order")) {
		tsdl_set_order(p, t);
	} else if (!strcmp(key, "encoding")) {
		t->text = tsdl_is(p, "UTF8") || tsdl_is(p, "ASCII") ||
			  tsdl_is(p, "utf8") || tsdl_is(p, "ascii");
	} else if (!strcmp(key, "base")) {
		t->hex = p->token == TSDL_NUMBER && p->number == 16;
	} else if (!strcmp(key, "map")) {
		set_type_clock(p, t);
	}
}

/* Parse "{ size = 8; align = 8; }" of integers and floating point numbers. */
static bool parse_attributes(struct tsdl *p, struct ctf_type *t)
{
	bool aligned = false;
	const char *key;

	if (!tsdl_expect(p, "{"))
		return false;
	while (!tsdl_is(p, "}") && p->token != TSDL_END) {
		key = p->word;
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

/* Parse "", "= 1" or "= 1 ... 9" of a label; "" is @last, the number behind the label before. */
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
				return tsdl_bad(
					p, "a range of an enumeration has no end");
			r->high = p->number;
			tsdl_next(p);
		}
	}
	*last = (int64_t)((uint64_t)r->high + 1);
	return true;
}

/*
 * Parse "enum [NAME] [: TYPE] { label = 0, ... }", or "enum NAME", which was declared before.
 * Return: the type; NULL after tsdl_bad(), or if NAME was not declared, which a caller that needs
 * the type reports.
 */
static const struct ctf_type *parse_enum(struct tsdl *p)
{
	char name[TSDL_ALIAS] = "enum";
	const struct ctf_type *base;
	struct ctf_label *more;
	struct ctf_type *t;
	int64_t last = 0;

	if (p->token == TSDL_WORD) {
		append_name(p, name);
		tsdl_next(p);
		if (!tsdl_is(p, ":") && !tsdl_is(p, "{"))
			return find_tsdl_alias(p, name);
	}
	if (tsdl_accept(p, ":"))
		base = tsdl_parse_type(p);
	else
		base = find_tsdl_alias(p, "int");
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
		more->name = p->word;
		tsdl_next(p);
		if (!parse_range(p, &more->range, &last))
			return NULL;
		if (!tsdl_accept(p, ","))
			break;
	}
	if (!tsdl_expect(p, "}"))
		return NULL;
	if (!ctf_sort_labels(p->c, t)) {
		tsdl_no_memory(p);
		return NULL;
	}
	if (strlen(name) > strlen("enum") && !add_alias(p, name, t))
		return NULL;
	return t;
}

/*
 * Align a structure as its members are, but for a variant: that is aligned as its option, which
 * only the packet says.
 */
static void raise_align(struct ctf_type *t, const struct ctf_type *member)
{
	if (member->align > t->align && member->kind != CTF_VARIANT)
		t->align = member->align;
}

/* Add a name to the path of a length or a tag. */
static bool add_tsdl_path(struct tsdl *p, struct ctf_type *t)
{
	const char **more = ctf_grow(p->c, t->path, t->nr_path, sizeof(*more));

	if (!more)
		return tsdl_no_memory(p);
	t->path = more;
	more[t->nr_path++] = p->word;
	return true;
}

/* Take the part of the packet that a path begins with, if it does. */
static void set_origin(struct ctf_type *t)
{
	static const struct {
		enum ctf_root root;
		const char *words[3];
	} origins[] = {
		{ CTF_PACKET_HEADER, { "trace", "packet", "header" } },
		{ CTF_PACKET_CONTEXT, { "stream", "packet", "context" } },
		{ CTF_EVENT_HEADER, { "stream", "event", "header" } },
		{ CTF_COMMON_CONTEXT, { "stream", "event", "context" } },
		{ CTF_CONTEXT, { "event", "context" } },
		{ CTF_PAYLOAD, { "event", "fields" } },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(origins); i++) {
		unsigned int n = 0;

		while (n < 3 && n < t->nr_path && origins[i].words[n] &&
		       !strcmp(t->path[n], origins[i].words[n]))
			n++;
		if (n < 3 && origins[i].words[n])
			continue;
		t->origin = (uint8_t)origins[i].root;
		t->path += n;
		t->nr_path -= n;
		return;
	}
}

/* Parse "a.b.c" up to a sign. */
static bool parse_path(struct tsdl *p, struct ctf_type *t, const char *stop)
{
	t->path = NULL;
	t->nr_path = 0;
	t->origin = CTF_RELATIVE;
	for (; !tsdl_is(p, stop) && p->token != TSDL_END; tsdl_next(p)) {
		if (p->token == TSDL_WORD && !add_tsdl_path(p, t))
			return false;
	}
	set_origin(t);
	return tsdl_expect(p, stop);
}

/* Parse "struct [NAME] [{ members }] [align(N)]", or "variant [NAME] [<tag>] [{ options }]". */
static const struct ctf_type *parse_compound(struct tsdl *p, enum ctf_kind kind)
{
	char name[TSDL_ALIAS] = "";
	struct ctf_type *t, tag = { .origin = CTF_RELATIVE };

	append_alias_word(name, kind == CTF_STRUCT ? "struct" : "variant");
	if (p->token == TSDL_WORD) {
		append_name(p, name);
		tsdl_next(p);
	}
	if (kind == CTF_VARIANT && tsdl_accept(p, "<") && !parse_path(p, &tag, ">"))
		return NULL;
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
		const struct ctf_type *known = find_tsdl_alias(p, name);

		if (!known) {
			tsdl_bad(p, "\"%.80s\" was not declared", name);
			return NULL;
		}
		*t = *known;
	}
	if (tag.path) {
		t->path = tag.path;
		t->nr_path = tag.nr_path;
		t->origin = tag.origin;
	}
	if (tsdl_accept(p, "align")) {
		if (!tsdl_expect(p, "("))
			return NULL;
		if (p->token != TSDL_NUMBER || p->number < 1 ||
		    p->number > CTF_ALIGN_MAX || (p->number & (p->number - 1))) {
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
	while (p->token == TSDL_WORD && append_alias_word(name, p->word)) {
		tsdl_next(p);
		t = find_tsdl_alias(p, name);
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

/* Parse a type, declared here or by its name.  Return: the type, or NULL as parse_enum(). */
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

static bool skip_count(struct tsdl *p)
{
	tsdl_next(p);
	while (!tsdl_is(p, "]") && p->token != TSDL_END)
		tsdl_next(p);
	return tsdl_expect(p, "]");
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
	if (t->kind == CTF_SEQUENCE ? !parse_path(p, t, "]") : !skip_count(p))
		return NULL;
	p->depth++;
	inner = parse_brackets(p, element);
	p->depth--;
	if (!inner)
		return NULL;
	t->element = inner;
	t->refers |= inner->refers;
	t->align = inner->kind == CTF_VARIANT ? 1 : inner->align; /* as in raise_align() */
	t->text = inner->text && inner->kind == CTF_INTEGER &&
		  inner->size == 8 && !inner->nr_labels;
	return t;
}

static bool add_tsdl_member(struct tsdl *p, struct ctf_type *t,
			    const struct ctf_type *type)
{
	struct ctf_member *more =
		ctf_grow(p->c, t->members, t->nr_members, sizeof(*more));

	if (!more)
		return tsdl_no_memory(p);
	t->members = more;
	more += t->nr_members++;
	memset(more, 0, sizeof(*more));
	if (p->token != TSDL_WORD)
		return tsdl_bad(p, "a field has no name");
	more->name = p->word;
	tsdl_next(p);
	more->type = parse_brackets(p, type);
	if (!more->type)
		return false;
	t->refers |= more->type->refers;
	if (t->kind == CTF_STRUCT)
		raise_align(t, more->type);
	return true;
}

/* Parse "{ TYPE name; TYPE name[4]; ... }", which may have typealiases of its own. */
static bool parse_members(struct tsdl *p, struct ctf_type *t)
{
	const struct tsdl_alias *outside = p->aliases;
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
			if (!add_tsdl_member(p, t, type))
				return false;
		} while (tsdl_accept(p, ","));
		if (!tsdl_expect(p, ";"))
			return false;
	}
	tsdl_leave(p, outside);
	if (t->kind == CTF_STRUCT && !ctf_name_keys(p->c, t))
		return tsdl_no_memory(p);
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
		append_name(p, name);
	return add_alias(p, name, type) && tsdl_expect(p, ";");
}

/* Parse "typedef TYPE NAME;", or NAME[4]: as a member of a structure, which is not kept. */
bool tsdl_parse_typedef(struct tsdl *p)
{
	struct ctf_type holder = { .kind = CTF_STRUCT };
	const struct ctf_type *type;

	tsdl_next(p);
	type = tsdl_parse_type(p);
	if (!type)
		return tsdl_bad(p, "a typedef has no type");
	if (!add_tsdl_member(p, &holder, type))
		return false;
	return add_alias(p, holder.members[0].name, holder.members[0].type) &&
	       tsdl_expect(p, ";");
}
