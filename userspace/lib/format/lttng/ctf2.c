// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse CTF 2 metadata: JSON objects ("fragments"), each behind the byte 0x1e.
 *
 *	preamble		version, uuid
 *	field-class-alias	a name for a type
 *	trace-class		packet header; environment
 *	clock-class		frequency and origin
 *	data-stream-class	packet context, event header, event context
 *	event-record-class	id, name, fields
 *
 * CTF2-SPEC-2.0 of the DiaMon workgroup.  Not read: attributes, extensions, and fragments of
 * other types, which are skipped.  A field class of a later version is an error, because its
 * size is not known.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "json.h"

#define RECORD '\x1e'

struct alias2 {
	const char *name;
	const struct ctf_type *type;
};

/**
 * struct ctf2 - metadata that are being parsed
 * @c: filled
 * @error: filled at the first error
 * @aliases: names of types, the last declared one last
 * @nr_aliases: entries of @aliases
 * @depth: types inside types
 */
struct ctf2 {
	struct ctf *c;
	struct ktape_error *error;
	struct alias2 *aliases;
	size_t nr_aliases;
	unsigned int depth;
};

static const struct ctf_type *parse_class(struct ctf2 *p, const struct json *j);

/*
 * Keep the first error.  It may be wrong after a failed allocation, which ctf_parse_json() reports
 * instead (@c->out_of_memory).
 * Return: NULL, which functions that return bool return as false.
 */
static void *ctf2_error(struct ctf2 *p, const struct json *at, const char *why)
{
	if (p->error->text[0])
		return NULL;
	snprintf(p->error->text, sizeof(p->error->text), "%s", why);
	p->error->offset = at ? at->offset : 0;
	return NULL;
}

/* Parse a member that is a type.  If it is missing, the error has the offset of @j. */
static const struct ctf_type *member_class(struct ctf2 *p, const struct json *j,
					   const char *name)
{
	const struct json *m = json_member(j, name);

	return m ? parse_class(p, m) :
		   ctf2_error(p, j, "a field class has no type");
}

static struct ctf_type *new_type(struct ctf2 *p, const struct json *j,
				 enum ctf_kind kind)
{
	if (p->c->nr_types == CTF_TYPES)
		return ctf2_error(p, j, "the metadata has too many types");
	return ctf_new_type(p->c, kind);
}

/*
 * Raise the alignment of a type to the number in a member, if that is there.
 * Return: false after ctf2_error().
 */
static bool to_align(struct ctf2 *p, const struct json *j, const char *name,
		     struct ctf_type *t)
{
	uint64_t v;

	if (!json_number(j, name, &v))
		return true;
	if (!v || v > CTF_ALIGN_MAX || v & (v - 1)) {
		ctf2_error(p, json_member(j, name),
			   "an alignment is not a power of two");
		return false;
	}
	t->align = (uint16_t)kt_max(t->align, v);
	return true;
}

/* ---- numbers --------------------------------------------------------------------------- */

static const struct {
	const char *word;
	uint8_t role;
} roles[] = {
	{ "packet-magic-number", CTF_MAGIC },
	{ "data-stream-class-id", CTF_STREAM },
	{ "event-record-class-id", CTF_CLASS },
	{ "default-clock-timestamp", CTF_TIME },
	{ "packet-end-default-clock-timestamp", CTF_TIME_END },
	{ "packet-content-length", CTF_CONTENT },
	{ "packet-total-length", CTF_TOTAL },
	{ "discarded-event-record-counter-snapshot", CTF_DISCARDED },
	{ "packet-sequence-number", CTF_SEQ },
};

static void set_role(struct ctf_type *t, const struct json *j)
{
	const struct json *list = json_member(j, "roles"), *r;

	for (r = list && list->kind == JSON_ARRAY ? list->first : NULL; r;
	     r = r->next) {
		for (size_t i = 0; r->text && i < KT_ARRAY_SIZE(roles); i++) {
			if (!strcmp(r->text, roles[i].word))
				t->role = roles[i].role;
		}
	}
	t->clock = t->role == CTF_TIME || t->role == CTF_TIME_END;
}

/* Parse [[low, high], ...].  Return: false after ctf2_error(), or without memory. */
static bool parse_ranges(struct ctf2 *p, const struct json *j,
			 struct ctf_range **ranges, unsigned int *nr)
{
	const struct json *r = j && j->kind == JSON_ARRAY ? j->first : NULL;

	for (; r; r = r->next) {
		const struct json *low = r->kind == JSON_ARRAY ? r->first : NULL;
		struct ctf_range *more;

		if (!low || !low->next || low->kind != JSON_NUMBER ||
		    low->next->kind != JSON_NUMBER)
			return ctf2_error(p, r, "a range is not two numbers");
		more = ctf_grow(p->c, *ranges, *nr, sizeof(*more));
		if (!more)
			return false;
		*ranges = more;
		more[(*nr)++] = (struct ctf_range){
			(int64_t)low->number,
			(int64_t)low->next->number,
		};
	}
	return true;
}

/* Parse {"label": [[low, high], ...], ...} of an enumeration. */
static bool parse_mappings(struct ctf2 *p, const struct json *j, struct ctf_type *t)
{
	const struct json *m = json_member(j, "mappings");

	for (m = m && m->kind == JSON_OBJECT ? m->first : NULL; m; m = m->next) {
		struct ctf_range *ranges = NULL;
		unsigned int nr = 0;

		if (!parse_ranges(p, m, &ranges, &nr))
			return false;
		for (unsigned int i = 0; i < nr; i++) {
			struct ctf_label *more = ctf_grow(
				p->c, t->labels, t->nr_labels, sizeof(*more));

			if (!more)
				return false;
			t->labels = more;
			more += t->nr_labels++;
			more->name = ctf_name(p->c, m->name);
			if (!more->name)
				return false;
			more->range = ranges[i];
		}
	}
	return !t->nr_labels || ctf_sort_labels(p->c, t);
}

static const struct ctf_type *parse_fixed(struct ctf2 *p, const struct json *j,
					  enum ctf_kind kind, bool is_signed)
{
	struct ctf_type *t = new_type(p, j, kind);
	const char *order = json_text(j, "byte-order");
	uint64_t size = 0, base = 0;

	if (!t)
		return NULL;
	json_number(j, "length", &size);
	if (!size || size > 64)
		return ctf2_error(p, j, "a number does not have 1 to 64 bits");
	if (kind == CTF_FLOAT && !ctf_is_float((unsigned int)size))
		return ctf2_error(
			p, j, "a floating point number has not 16, 32 or 64 bits");
	t->size = (uint16_t)size;
	t->is_signed = is_signed;
	t->big = order && !strcmp(order, "big-endian");
	json_number(j, "preferred-display-base", &base);
	t->hex = base == 16;
	set_role(t, j);
	if (!to_align(p, j, "alignment", t) || !parse_mappings(p, j, t))
		return NULL;
	return t;
}

static const struct ctf_type *parse_leb128(struct ctf2 *p, const struct json *j,
					   bool is_signed)
{
	struct ctf_type *t = new_type(p, j, CTF_LEB128);

	if (!t)
		return NULL;
	t->align = 8;
	t->is_signed = is_signed;
	set_role(t, j);
	return parse_mappings(p, j, t) ? t : NULL;
}

/* ---- arrays, texts, bytes ------------------------------------------------------------ */

/* Take where a path begins.  Return: false if it is a name. */
static bool take_ctf2_origin(struct ctf_type *t, const char *name)
{
	static const char *const origins[] = {
		[CTF_PACKET_HEADER] = "packet-header",
		[CTF_PACKET_CONTEXT] = "packet-context",
		[CTF_EVENT_HEADER] = "event-record-header",
		[CTF_COMMON_CONTEXT] = "event-record-common-context",
		[CTF_CONTEXT] = "event-record-specific-context",
		[CTF_PAYLOAD] = "event-record-payload",
	};

	for (size_t i = 0; name && i < KT_ARRAY_SIZE(origins); i++) {
		if (!strcmp(name, origins[i])) {
			t->origin = (uint8_t)i;
			return true;
		}
	}
	return false;
}

/*
 * Take the path to the field that a location refers to.  The location is an object with a
 * path, or in early versions the path itself, with its origin as the first element.  Without an
 * origin the path is relative, as ctf_new_type() has set it.
 * Return: false after ctf2_error(), or without memory.
 */
static bool take_location(struct ctf2 *p, const struct json *j,
			  const char *name, struct ctf_type *t)
{
	const struct json *l = json_member(j, name), *path;
	bool early = l && l->kind == JSON_ARRAY;

	if (json_text(l, "origin") && !take_ctf2_origin(t, json_text(l, "origin")))
		return ctf2_error(
			p, l,
			"a location has an origin that this reader does not know");
	path = l && l->kind == JSON_OBJECT ? json_member(l, "path") : l;
	path = path && path->kind == JSON_ARRAY ? path->first : NULL;
	if (early && path && take_ctf2_origin(t, path->text))
		path = path->next;
	for (; path; path = path->next) {
		const char **more;

		/* null: out of a structure */
		if (path->kind == JSON_NULL && t->nr_path)
			t->nr_path--;
		else if (path->kind == JSON_NULL)
			t->up++;
		if (path->kind != JSON_TEXT)
			continue;
		/* Paths are short: each name gets a new array. */
		more = ctf_alloc(p->c, (t->nr_path + 1) * sizeof(*more));
		if (!more)
			return false;
		if (t->nr_path)
			memcpy(more, t->path, t->nr_path * sizeof(*more));
		more[t->nr_path] = ctf_name(p->c, path->text);
		if (!more[t->nr_path++])
			return false;
		t->path = more;
	}
	if (!t->nr_path)
		ctf2_error(p, j, "the location of a length or selector has no path");
	return t->nr_path;
}

/* Parse an array of bytes, or of characters if @is_text, whose length may be fixed. */
static const struct ctf_type *parse_bytes(struct ctf2 *p, const struct json *j,
					  bool is_text, bool is_fixed)
{
	struct ctf_type *t = new_type(p, j, is_fixed ? CTF_ARRAY : CTF_SEQUENCE);
	struct ctf_type *e = t ? new_type(p, j, CTF_INTEGER) : NULL;

	if (!e)
		return NULL;
	e->size = 8;
	e->align = t->align = 8;
	e->text = t->text = is_text;
	t->element = e;
	if (!is_fixed)
		return take_location(p, j, "length-field-location", t) ? t : NULL;
	if (!json_number(j, "length", &t->count))
		return ctf2_error(p, j, "an array has no length");
	return t;
}

static const struct ctf_type *parse_array(struct ctf2 *p, const struct json *j,
					  bool is_fixed)
{
	struct ctf_type *t = new_type(p, j, is_fixed ? CTF_ARRAY : CTF_SEQUENCE);

	if (!t)
		return NULL;
	t->element = member_class(p, j, "element-field-class");
	if (!t->element)
		return ctf2_error(p, j, "an array has no type of its elements");
	/* A variant is aligned as its option, which only the packet says. */
	t->align = t->element->kind == CTF_VARIANT ? 1 : t->element->align;
	t->refers |= t->element->refers;
	if (!to_align(p, j, "minimum-alignment", t))
		return NULL;
	if (!is_fixed)
		return take_location(p, j, "length-field-location", t) ? t : NULL;
	if (!json_number(j, "length", &t->count))
		return ctf2_error(p, j, "an array has no length");
	return t;
}

/* ---- structures and variants --------------------------------------------------------- */

static struct ctf_member *add_ctf2_member(struct ctf2 *p, struct ctf_type *t,
					  const char *name)
{
	struct ctf_member *more =
		ctf_grow(p->c, t->members, t->nr_members, sizeof(*more));

	if (!more)
		return NULL;
	t->members = more;
	more += t->nr_members++;
	memset(more, 0, sizeof(*more));
	more->name = ctf_name(p->c, name ? name : "");
	return more->name ? more : NULL;
}

static const struct ctf_type *parse_struct(struct ctf2 *p, const struct json *j)
{
	const struct json *m = json_member(j, "member-classes");
	struct ctf_type *t = new_type(p, j, CTF_STRUCT);

	if (!t || !to_align(p, j, "minimum-alignment", t))
		return NULL;
	for (m = m && m->kind == JSON_ARRAY ? m->first : NULL; m; m = m->next) {
		const struct ctf_type *type = member_class(p, m, "field-class");
		struct ctf_member *more;

		if (!type)
			return ctf2_error(p, m, "a field has no type");
		more = add_ctf2_member(p, t, json_text(m, "name"));
		if (!more)
			return NULL;
		more->type = type;
		t->refers |= type->refers;
		if (type->kind != CTF_VARIANT) /* as in parse_array() */
			t->align = (uint16_t)kt_max(t->align, type->align);
	}
	return ctf_name_keys(p->c, t) ? t : NULL;
}

static bool parse_option(struct ctf2 *p, struct ctf_type *t, const struct json *o)
{
	const struct ctf_type *type = member_class(p, o, "field-class");
	const struct json *ranges = json_member(o, "selector-field-ranges");
	struct ctf_member *m;

	if (!type)
		return ctf2_error(p, o, "an option of a variant has no type");
	m = add_ctf2_member(p, t, json_text(o, "name"));
	if (!m)
		return false;
	m->type = type;
	if (ranges)
		return parse_ranges(p, ranges, &m->ranges, &m->nr_ranges);
	/*
	 * Without ranges the selector is a truth value: any number but 0.  Taken as unsigned, the
	 * first range is that of 2^63 and above.
	 */
	m->ranges = ctf_alloc(p->c, 2 * sizeof(*m->ranges));
	if (!m->ranges)
		return false;
	m->ranges[0] = (struct ctf_range){ INT64_MIN, -1 };
	m->ranges[1] = (struct ctf_range){ 1, INT64_MAX };
	m->nr_ranges = 2;
	return true;
}

static const struct ctf_type *parse_variant(struct ctf2 *p, const struct json *j,
					    bool is_optional)
{
	const struct json *o = json_member(j, "options");
	struct ctf_type *t = new_type(p, j, CTF_VARIANT);

	if (!t || !take_location(p, j, "selector-field-location", t))
		return NULL;
	if (is_optional)
		return parse_option(p, t, j) ? t : NULL;
	for (o = o && o->kind == JSON_ARRAY ? o->first : NULL; o; o = o->next) {
		if (!parse_option(p, t, o))
			return NULL;
	}
	return t;
}

/* ---- field classes -------------------------------------------------------------------- */

/* The last alias of a name holds. */
static const struct ctf_type *find_ctf2_alias(struct ctf2 *p, const struct json *j)
{
	for (size_t i = p->nr_aliases; i--;) {
		if (!strcmp(p->aliases[i].name, j->text))
			return p->aliases[i].type;
	}
	return ctf2_error(p, j, "a type has a name that was not declared");
}

enum shape { FIXED, LEB128, FLOATING, STRING, BYTES, ARRAY, STRUCTURE, CHOICE };

static const struct {
	const char *word;
	uint8_t shape;
	bool flag; /* signed, text, or optional */
	bool is_fixed;
} classes[] = {
	{ "fixed-length-unsigned-integer", FIXED, false, true },
	{ "fixed-length-signed-integer", FIXED, true, true },
	/* The next four are names of drafts. */
	{ "fixed-length-unsigned-enumeration", FIXED, false, true },
	{ "fixed-length-signed-enumeration", FIXED, true, true },
	{ "variable-length-unsigned-enumeration", LEB128, false, false },
	{ "variable-length-signed-enumeration", LEB128, true, false },
	{ "fixed-length-bit-array", FIXED, false, true },
	{ "fixed-length-bit-map", FIXED, false, true },
	{ "fixed-length-boolean", FIXED, false, true },
	{ "fixed-length-floating-point-number", FLOATING, false, true },
	{ "variable-length-unsigned-integer", LEB128, false, false },
	{ "variable-length-signed-integer", LEB128, true, false },
	{ "null-terminated-string", STRING, true, false },
	{ "static-length-string", BYTES, true, true },
	{ "dynamic-length-string", BYTES, true, false },
	{ "static-length-blob", BYTES, false, true },
	{ "dynamic-length-blob", BYTES, false, false },
	{ "static-length-array", ARRAY, false, true },
	{ "dynamic-length-array", ARRAY, false, false },
	{ "structure", STRUCTURE, false, false },
	{ "variant", CHOICE, false, false },
	{ "optional", CHOICE, true, false },
};

/*
 * Check the encoding of a text.  Only UTF-8 is read: in UTF-16 and UTF-32 a byte of 0 does not end
 * a text.
 */
static bool is_text_readable(struct ctf2 *p, const struct json *j)
{
	const char *encoding = json_text(j, "encoding");

	if (!encoding || !strcmp(encoding, "utf-8"))
		return true;
	ctf2_error(p, json_member(j, "encoding"), "a text is not in UTF-8");
	return false;
}

static const struct ctf_type *parse_kind(struct ctf2 *p, const struct json *j,
					 size_t i)
{
	switch (classes[i].shape) {
	case FIXED:
		return parse_fixed(p, j, CTF_INTEGER, classes[i].flag);
	case FLOATING:
		return parse_fixed(p, j, CTF_FLOAT, false);
	case LEB128:
		return parse_leb128(p, j, classes[i].flag);
	case STRING:
		return is_text_readable(p, j) ? new_type(p, j, CTF_STRING) : NULL;
	case BYTES:
		if (classes[i].flag && !is_text_readable(p, j))
			return NULL;
		return parse_bytes(p, j, classes[i].flag, classes[i].is_fixed);
	case ARRAY:
		return parse_array(p, j, classes[i].is_fixed);
	case STRUCTURE:
		return parse_struct(p, j);
	default:
		return parse_variant(p, j, classes[i].flag);
	}
}

static const struct ctf_type *parse_class(struct ctf2 *p, const struct json *j)
{
	const char *word = json_text(j, "type");
	const struct ctf_type *t = NULL;

	if (j->kind == JSON_TEXT)
		return find_ctf2_alias(p, j);
	if (!word)
		return ctf2_error(p, j, "a field class has no type");
	if (p->depth == CTF_DEPTH)
		return ctf2_error(p, j, "the types are nested too deep");
	p->depth++;
	for (size_t i = 0; i < KT_ARRAY_SIZE(classes); i++) {
		if (!strcmp(word, classes[i].word)) {
			t = parse_kind(p, j, i);
			p->depth--;
			return t;
		}
	}
	p->depth--;
	return ctf2_error(
		p, j, "a field class has a type that this reader does not know");
}

/* ---- fragments ------------------------------------------------------------------------- */

/* Parse a member that is a type.  Return: NULL also if it is missing, which is no error. */
static const struct ctf_type *optional_class(struct ctf2 *p, const struct json *j,
					     const char *name)
{
	const struct json *m = json_member(j, name);

	return m ? parse_class(p, m) : NULL;
}

/* Take the UUID of the trace, an array of 16 numbers.  Any other value counts as none. */
static void take_uuid(struct ctf *c, const struct json *j)
{
	const struct json *n = json_member(j, "uuid");
	uint8_t uuid[sizeof(c->uuid)];
	size_t nr = 0;

	for (n = n && n->kind == JSON_ARRAY ? n->first : NULL; n; n = n->next) {
		if (n->kind != JSON_NUMBER || n->number > UINT8_MAX ||
		    nr == sizeof(uuid))
			return;
		uuid[nr++] = (uint8_t)n->number;
	}
	if (nr != sizeof(uuid))
		return;
	memcpy(c->uuid, uuid, sizeof(uuid));
	c->has_uuid = true;
}

static void take_preamble(struct ctf2 *p, const struct json *j)
{
	uint64_t version = 0;

	take_uuid(p->c, j);

	json_number(j, "version", &version);
	if (version != 2)
		ctf2_error(p, j, "the metadata is not CTF 2");
}

static void take_alias(struct ctf2 *p, const struct json *j)
{
	const char *name = json_text(j, "name");
	const struct ctf_type *t = optional_class(p, j, "field-class");
	struct alias2 *more;

	if (!name || !t) {
		ctf2_error(p, j, "an alias has no name or no type");
		return;
	}
	more = ctf_grow(p->c, p->aliases, p->nr_aliases, sizeof(*more));
	if (!more)
		return;
	p->aliases = more;
	more[p->nr_aliases++] = (struct alias2){ name, t };
}

static void copy_ctf2_text(char *to, size_t size, const struct json *j,
			   const char *name)
{
	const char *text = json_text(j, name);

	if (text)
		snprintf(to, size, "%.*s", (int)size - 1, text);
}

static void take_trace(struct ctf2 *p, const struct json *j)
{
	const struct json *env = json_member(j, "environment");
	struct ctf *c = p->c;

	take_uuid(c, j); /* drafts have it here, not in the preamble */
	c->packet_header = optional_class(p, j, "packet-header-field-class");
	for (size_t i = 0; i < KT_ARRAY_SIZE(ctf_versions); i++)
		json_number(env, ctf_versions[i], &c->version_of[i]);
	copy_ctf2_text(c->hostname, sizeof(c->hostname), env, "hostname");
	copy_ctf2_text(c->domain, sizeof(c->domain), env, "domain");
	copy_ctf2_text(c->tracer, sizeof(c->tracer), env, "tracer_name");
	copy_ctf2_text(c->release, sizeof(c->release), env, "kernel_release");
}

/*
 * Take which clock it is: that of the epoch, or one with an origin of its own.  The text of such an
 * origin stands for the UUID that CTF 1.8 has: clocks with equal texts can be compared.
 */
static void take_identity(struct ctf2 *p, struct ctf_clock *c, const struct json *j)
{
	const struct json *origin = json_member(j, "origin");
	const char *word = json_text(j, "origin"), *uid = json_text(origin, "uid");
	const char *space = json_text(origin, "namespace"),
		   *name = json_text(origin, "name");
	char text[512];

	c->absolute = word && !strcmp(word, "unix-epoch");
	if (!uid && !name)
		return;
	snprintf(text, sizeof(text), "%s\n%s\n%s", space ? space : "",
		 name ? name : "", uid ? uid : "");
	c->uuid = ctf_name(p->c, text);
}

static void take_ctf2_clock(struct ctf2 *p, const struct json *j)
{
	const struct json *offset = json_member(j, "offset-from-origin");
	const char *id = json_text(j, "id"), *name = json_text(j, "name");
	struct ctf_clock *c = ctf_add_clock(p->c);
	uint64_t s = 0;

	if (!c)
		return;
	/* Drafts have no id. */
	c->name = ctf_name(p->c, id ? id : name ? name : "");
	c->shown = ctf_name(p->c, name ? name : id ? id : "");
	json_number(j, "frequency", &c->origin.freq); /* else that of ctf_add_clock() */
	if (!c->origin.freq)
		ctf2_error(p, j, "the frequency of the clock is 0");
	if (!offset)
		offset = json_member(j, "offset");
	json_number(offset, "seconds", &s);
	c->origin.offset_s = (int64_t)s;
	json_number(offset, "cycles", &c->origin.offset);
	take_identity(p, c, j);
}

static void take_stream(struct ctf2 *p, const struct json *j)
{
	struct ctf_stream *s = ctf_add_stream(p->c);
	const char *clock;

	if (!s)
		return;
	s->offset = j->offset;
	clock = json_text(j, "default-clock-class-id");
	if (!clock)
		clock = json_text(j, "default-clock-class-name");
	s->clock = clock ? ctf_name(p->c, clock) : NULL;
	json_number(j, "id", &s->id);
	s->packet_context = optional_class(p, j, "packet-context-field-class");
	s->event_header = optional_class(p, j, "event-record-header-field-class");
	s->event_context =
		optional_class(p, j, "event-record-common-context-field-class");
}

static void take_ctf2_event(struct ctf2 *p, const struct json *j)
{
	struct ctf_class *e = ctf_add_class(p->c);
	const char *name;

	if (!e)
		return;
	e->offset = j->offset;
	json_number(j, "id", &e->id);
	json_number(j, "data-stream-class-id", &e->stream);
	name = json_text(j, "name");
	e->name = ctf_name(p->c, name ? name : "");
	e->context = optional_class(p, j, "specific-context-field-class");
	e->fields = optional_class(p, j, "payload-field-class");
}

static const struct {
	const char *type;
	void (*take)(struct ctf2 *p, const struct json *j);
} fragments[] = {
	{ "preamble", take_preamble },
	{ "field-class-alias", take_alias },
	{ "trace-class", take_trace },
	{ "clock-class", take_ctf2_clock },
	{ "data-stream-class", take_stream },
	{ "event-record-class", take_ctf2_event },
};

/* Each type at the top of something is a structure. */
static void check_structs(struct ctf2 *p)
{
	const struct ctf *c = p->c;
	bool ok = !c->packet_header || c->packet_header->kind == CTF_STRUCT;

	for (size_t i = 0; i < c->nr_streams; i++) {
		const struct ctf_stream *s = &c->streams[i];

		ok = ok &&
		     (!s->packet_context || s->packet_context->kind == CTF_STRUCT) &&
		     (!s->event_header || s->event_header->kind == CTF_STRUCT) &&
		     (!s->event_context || s->event_context->kind == CTF_STRUCT);
	}
	for (size_t i = 0; i < c->nr_classes; i++) {
		const struct ctf_class *e = &c->classes[i];

		ok = ok && (!e->context || e->context->kind == CTF_STRUCT) &&
		     (!e->fields || e->fields->kind == CTF_STRUCT);
	}
	if (!ok)
		ctf2_error(p, NULL,
			   "a header, context or payload is not a structure");
}

/**
 * ctf_parse_json() - parse CTF 2 metadata
 * @c: empty; filled.  Ends with ctf_free(), also after an error
 * @text: the metadata
 * @len: bytes of @text
 * @error: its text is "" before; filled on -EBADMSG
 *
 * Return: 0, -EBADMSG or -ENOMEM.  If it fails with @c->limit set, that text is the reason, also
 * where @error has another one.
 */
int ctf_parse_json(struct ctf *c, const char *text, size_t len,
		   struct ktape_error *error)
{
	struct ctf2 p = { .c = c, .error = error };
	const char *at = text, *end = text + len;

	c->version = 2;
	c->origin.freq = 1000000000; /* unless a clock is declared: ctf_bind_clocks() */
	while (at < end) {
		const struct json *j;
		const char *type;

		if (*at == RECORD || *at == '\n' || *at == ' ') {
			at++;
			continue;
		}
		j = json_parse(c, at, (size_t)(end - at), (uint64_t)(at - text),
			       error, &at);
		if (!j)
			return error->text[0] ? -EBADMSG : -ENOMEM;
		type = json_text(j, "type");
		for (size_t i = 0; type && i < KT_ARRAY_SIZE(fragments); i++) {
			if (!strcmp(type, fragments[i].type))
				fragments[i].take(&p, j);
		}
		if (c->out_of_memory)
			return -ENOMEM;
		if (error->text[0])
			return -EBADMSG;
	}
	check_structs(&p);
	return error->text[0] ? -EBADMSG : 0;
}
