// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Put user events, with arguments in the formats that the registry or the event itself
 * names, and events of the TraceEvent call, which are records inside a record.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "user_event.h"

static char *put_hex_width(char *p, const struct kt_line *l, uint64_t value,
			   unsigned int width)
{
	char digits[KT_PUT_U64_MAX];
	size_t len = (size_t)(kt_put_hex(digits, value) - digits);

	if (l->json)
		p = kt_put_char(p, '"');
	p = kt_put_mem(p, "0x", 2);
	for (size_t i = len - 2; i < width && !l->json; i++)
		p = kt_put_char(p, '0');
	p = kt_put_mem(p, digits + 2, len - 2);
	return l->json ? kt_put_char(p, '"') : p;
}

static char *put_user_decimal(char *p, const struct kt_line *l, int64_t value,
			      unsigned int width)
{
	char digits[24];
	size_t len = (size_t)(kt_put_s64(digits, value) - digits);

	for (size_t i = len; i < width && !l->json; i++)
		p = kt_put_char(p, ' ');
	return kt_put_mem(p, digits, len);
}

/*
 * Put a double.  In JSON, where only numbers are numbers, the others are strings; a whole
 * number gets a decimal, so that readers take it for a double and -0.0 keeps its sign.
 */
static char *put_double(char *p, bool json, uint64_t bits)
{
	char *begin = p;

	if (!json)
		return kt_put_double(p, bits);
	if (!kt_is_finite(bits))
		return kt_put_char(kt_put_double(kt_put_char(p, '"'), bits), '"');
	p = kt_put_double(p, bits);
	if (memchr(begin, '.', (size_t)(p - begin)) ||
	    memchr(begin, 'e', (size_t)(p - begin)))
		return p;
	return kt_put_mem(p, ".0", 2);
}

/*
 * Put a number without a width, by kind of its field.  In JSON a decimal number is a string
 * if @wide is set, whatever its value, as in json.c.
 */
static char *put_plain_number(char *p, bool json, unsigned int kind, bool wide,
			      uint64_t v)
{
	bool quoted = json && (wide || kind == KT_FIELD_HEX);

	if (kind == KT_FIELD_DOUBLE)
		return put_double(p, json, v);
	p = quoted ? kt_put_char(p, '"') : p;
	if (kind == KT_FIELD_UNSIGNED)
		p = kt_put_u64(p, v);
	else if (kind == KT_FIELD_SIGNED)
		p = kt_put_s64(p, (int64_t)v);
	else
		p = kt_put_hex(p, v);
	return quoted ? kt_put_char(p, '"') : p;
}

/* Put a number of at most 64 bits in a number format. */
static char *put_user_number(char *p, const struct kt_line *l,
			     unsigned int format, unsigned int width, uint64_t v)
{
	switch (format) {
	case KTAPE_FORMAT_S8:
		return put_user_decimal(p, l, (int8_t)v, width);
	case KTAPE_FORMAT_U8:
		return put_user_decimal(p, l, (uint8_t)v, width);
	case KTAPE_FORMAT_S16:
		return put_user_decimal(p, l, (int16_t)v, width);
	case KTAPE_FORMAT_U16:
		return put_user_decimal(p, l, (uint16_t)v, width);
	case KTAPE_FORMAT_S32:
		return put_user_decimal(p, l, (int32_t)v, width);
	case KTAPE_FORMAT_U32:
	case KTAPE_FORMAT_SIGNAL:
		return put_user_decimal(p, l, (uint32_t)v, width);
	case KTAPE_FORMAT_X32:
		return put_hex_width(p, l, (uint32_t)v, width);
	case KTAPE_FORMAT_S64:
		if (l->json)
			return put_plain_number(p, true, KT_FIELD_SIGNED, true, v);
		return put_user_decimal(p, l, (int64_t)v, width);
	case KTAPE_FORMAT_U64:
		return put_plain_number(p, l->json, KT_FIELD_UNSIGNED, true, v);
	case KTAPE_FORMAT_DOUBLE:
		return put_double(p, l->json, v);
	case KTAPE_FORMAT_FUNCTION:
		if (v <= UINT32_MAX)
			return kt_show_value(p, l, KTAPE_TYPE_FUNC, v);
		return kt_show_value(p, l, KTAPE_TYPE_X64, v);
	default:
		return kt_show_value(p, l, KTAPE_TYPE_X64, v);
	}
}

static char *put_user_memory(char *p, const struct kt_line *l,
			     const uint8_t *data, size_t len)
{
	if (l->json)
		p = kt_put_char(p, '"');
	p = kt_put_bytes(p, data, len);
	return l->json ? kt_put_char(p, '"') : p;
}

static char *put_elements(char *p, bool json, const struct kt_user_field *f)
{
	p = kt_put_char(p, '[');
	for (uint64_t i = 0; i < f->value; i++) {
		if (i)
			p = json ? kt_put_char(p, ',') : kt_put_mem(p, ", ", 2);
		p = put_plain_number(p, json, f->elem, f->wide,
				     kt_user_element(f, i));
	}
	return kt_put_char(p, ']');
}

/**
 * kt_show_user_value() - Put the value of a field without its width
 * @p: where to write; each byte of the field takes at most LINE_PER_SYMBOL (text.c) bytes
 * @json: as a value of JSON
 * @f: the field
 *
 * Return: the end.
 */
char *kt_show_user_value(char *p, bool json, const struct kt_user_field *f)
{
	switch (f->kind) {
	case KT_FIELD_TEXT:
	case KT_FIELD_WORD:
		return json ? kt_put_json(p, f->data, f->len) :
			      kt_put_escaped(p, f->data, f->len);
	case KT_FIELD_BYTES:
		p = json ? kt_put_char(p, '"') : p;
		p = kt_put_bytes(p, f->data, f->len);
		return json ? kt_put_char(p, '"') : p;
	case KT_FIELD_ARRAY:
		return put_elements(p, json, f);
	default:
		return put_plain_number(p, json, f->kind, f->wide, f->value);
	}
}

static char *put_user_array(char *p, const struct kt_line *l,
			    const struct kt_typed *t)
{
	struct kt_user_event u;

	/* A first field needs no memory, so it is not NULL. */
	kt_user_event_init(&u);
	return put_elements(p, l->json, kt_user_add_typed(&u, "", t));
}

static char *put_typed(char *p, const struct kt_line *l, const struct kt_typed *t)
{
	if (t->kind == KT_TYPED_ARRAY)
		return put_user_array(p, l, t);
	if (t->kind == KT_TYPED_NUMBER)
		return put_user_number(p, l, t->format, t->width, t->value);
	if (t->kind == KT_TYPED_STRING)
		return kt_put_json(p, (const char *)t->data, t->len);
	return put_user_memory(p, l, t->data, t->len);
}

static char *put_user_args(char *p, const struct kt_line *l,
			   const struct ktape_object_info *o)
{
	const struct ktape_event *e = l->event;
	unsigned int known = 0;

	if (o)
		known = (unsigned int)kt_min(o->param2, KT_USER_FORMATS);
	p = kt_show_key(p, l, "args");
	p = kt_put_char(p, '[');
	for (unsigned int i = 1; i < e->nargs; i++) {
		unsigned int format =
			i > known ? KTAPE_FORMAT_X32 :
				    o->param1 >> (i - 1) * KT_FORMAT_BITS & 15;
		uint32_t v = ktape_event_arg(e, i);

		if (i > 1)
			p = kt_show_comma(p, l);
		/* Later formats do not fit a word. */
		if (i <= known && format <= KTAPE_FORMAT_SIGNAL)
			p = put_user_number(p, l, format, 0, v);
		else
			p = kt_show_value(p, l, KTAPE_TYPE_X32, v);
	}
	return kt_put_char(p, ']');
}

static char *put_id(char *p, const struct kt_line *l,
		    const struct ktape_object_info *o)
{
	uint32_t id = ktape_event_arg(l->event, 0);
	const char *known = NULL;
	struct kt_name name;

	if (!o)
		known = kt_user_event_name(kt_registry_formats(l->registry), id);
	p = kt_show_key(p, l, "id");
	p = kt_put_u64(p, id);
	if (o)
		name = kt_object_name(o);
	else if (known)
		name = (struct kt_name){
			.text = known,
			.len = strlen(known),
			.plain = true,
		};
	else
		return p;
	if (l->json)
		return kt_show_name(kt_show_key(p, l, "id_name"), l, &name);
	p = kt_put_mem(p, " (", 2);
	return kt_put_char(kt_show_name(p, l, &name), ')');
}

/* Put the value of a field of an event that came from another format. */
static char *put_user_field(char *p, const struct kt_line *l,
			    const struct kt_user_field *f)
{
	switch (f->kind) {
	case KT_FIELD_TEXT:
		return kt_put_json(p, f->data, f->len);
	case KT_FIELD_WORD:
	case KT_FIELD_BYTES:
	case KT_FIELD_DOUBLE:
	case KT_FIELD_ARRAY:
		return kt_show_user_value(p, false, f);
	case KT_FIELD_HEX:
		if (f->object == KTAPE_OBJ_FUNCTION && f->value <= UINT32_MAX)
			return kt_show_value(p, l, KTAPE_TYPE_FUNC, f->value);
		return put_hex_width(p, l, f->value, f->width);
	case KT_FIELD_UNSIGNED:
		if (f->value > INT64_MAX)
			return kt_put_u64(p, f->value);
		return put_user_decimal(p, l, (int64_t)f->value, f->width);
	default:
		return put_user_decimal(p, l, (int64_t)f->value, f->width);
	}
}

/* Put an event that came from another format: NAME FIELD=VALUE ... */
static char *put_known_fields(char *p, const struct kt_line *l,
			      const struct kt_user_event *u)
{
	p = kt_show_name(kt_put_char(p, ' '), l, &u->name);
	for (unsigned int i = 0; i < u->nr; i++) {
		const char *name = u->fields[i].name;

		p = kt_put_word(kt_put_char(p, ' '), name, strlen(name));
		p = put_user_field(kt_put_char(p, '='), l, &u->fields[i]);
	}
	return p;
}

/*
 * Take a pair of a name and a value as the only field of @u: one field needs no memory.
 * Return: the field, or NULL if it is no such pair.
 */
static const struct kt_user_field *next_pair(struct kt_user_event *u,
					     const uint8_t **at, const uint8_t *end)
{
	struct kt_typed name, value;

	kt_typed_next(at, end, &name);
	if (name.kind != KT_TYPED_STRING || *at == end)
		return NULL;
	kt_typed_next(at, end, &value);
	u->nr = 0;
	return kt_user_add_typed(u, (const char *)name.data, &value);
}

static char *put_pair(char *p, const struct kt_line *l,
		      const struct kt_user_field *f)
{
	size_t len = strlen(f->name);

	if (!l->json) {
		p = kt_put_word(kt_put_char(p, ' '), f->name, len);
		return put_user_field(kt_put_char(p, '='), l, f);
	}
	if (p[-1] != '{')
		p = kt_put_char(p, ',');
	p = kt_put_json(p, f->name, len);
	return kt_show_user_value(kt_put_char(p, ':'), true, f);
}

/*
 * Put the label of a number, " (RUNNING)", that the next pair has (format/lttng/labels.c).  In
 * such pairs the bits of the width, above those of the format, are KTAPE_TYPED_* flags.
 * Return: the end; @at is moved if there is one.
 */
static char *put_user_label(char *p, const struct kt_user_field *f,
			    const uint8_t **at, const uint8_t *end)
{
	const uint8_t *next = *at;
	struct kt_typed name, label;

	if (f->kind == KT_FIELD_TEXT || f->kind == KT_FIELD_BYTES || next == end)
		return p;
	kt_typed_next(&next, end, &name);
	if (name.kind != KT_TYPED_STRING || next == end)
		return p;
	kt_typed_next(&next, end, &label);
	if (label.kind != KT_TYPED_STRING ||
	    !(label.width << KT_FORMAT_BITS & KTAPE_TYPED_LABEL))
		return p;
	*at = next;
	p = kt_put_mem(p, " (", 2);
	return kt_put_char(kt_put_escaped(p, (const char *)label.data, label.len),
			   ')');
}

/* Put pairs.  Return: the end; @whole is set to false if there is anything else. */
static char *put_pairs(char *p, const struct kt_line *l, const void *pairs,
		       size_t size, bool *whole)
{
	const uint8_t *at = pairs, *end = at + size;
	const struct kt_user_field *f;
	struct kt_user_event u;

	kt_user_event_init(&u);
	*whole = true;
	while (at < end && *whole) {
		f = next_pair(&u, &at, end);
		*whole = f != NULL;
		p = f ? put_pair(p, l, f) : p;
		p = f && !l->json ? put_user_label(p, f, &at, end) : p;
	}
	return p;
}

/**
 * kt_show_extra() - Put the extra fields of an event behind its other fields
 * @p: where to write, with room for LINE_PER_SYMBOL (text.c) bytes for each of
 *	ktape_event.extra_size
 * @l: the event
 *
 * Return: the end.
 */
char *kt_show_extra(char *p, const struct kt_line *l)
{
	bool whole;

	return put_pairs(p, l, l->event->extra, l->event->extra_size, &whole);
}

/*
 * Put a tracepoint of another tracer, which has a name, as the caller knows.  Its fields are pairs:
 * they may be so many that an array of them needs memory.
 * Return: the end; NULL if its arguments are something else.
 */
static char *put_tracepoint(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *o;
	struct kt_name name;
	bool whole;

	o = ktape_registry_object(l->registry, KTAPE_OBJ_USER_EVENT,
				  ktape_event_arg(e, 0), 0, e->ts);
	if (o) {
		name = kt_object_name(o);
	} else {
		name.text = kt_user_event_name(kt_registry_formats(l->registry),
					       ktape_event_arg(e, 0));
		name = (struct kt_name){ name.text, strlen(name.text), true, 0 };
	}
	p = kt_show_name(kt_put_char(p, ' '), l, &name);
	p = put_pairs(p, l, e->blob, e->blob_size, &whole);
	return whole ? p : NULL;
}

/*
 * Put an event that came from another format with the names of that format.
 *
 * Return: the end; NULL if the format cannot describe it, or there is no memory for its
 * fields, which only a damaged one can need: put_plain() needs none.
 */
static char *put_known(char *p, const struct kt_line *l)
{
	struct kt_user_event u;
	char *end = NULL;

	if ((ktape_event_arg(l->event, 0) & KTAPE_FORMAT_ID_MASK) ==
	    KTAPE_FORMAT_ID_LINUX)
		return put_tracepoint(p, l);
	kt_user_event_init(&u);
	if (kt_user_event_of(&u, l) && u.known)
		end = put_known_fields(p, l, &u);
	kt_user_event_free(&u);
	return end;
}

/* Put the id, its name if there is one, and the plain arguments. */
static char *put_plain(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *o = NULL;
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	struct kt_typed typed;

	p = kt_show_key(p, l, "task");
	p = kt_show_value(p, l, KTAPE_TYPE_BOOL, e->dat20 & 1);
	if (e->nargs) {
		o = ktape_registry_object(l->registry, KTAPE_OBJ_USER_EVENT,
					  ktape_event_arg(e, 0), 0, e->ts);
		p = put_id(p, l, o);
	}
	p = put_user_args(p, l, o);
	if (at == end)
		return p;
	p = kt_show_key(p, l, "typed");
	p = kt_put_char(p, '[');
	for (bool first = true; at < end; first = false) {
		if (!first)
			p = kt_show_comma(p, l);
		kt_typed_next(&at, end, &typed);
		p = put_typed(p, l, &typed);
	}
	return kt_put_char(p, ']');
}

/* Put a user event: as text with names of the format it came from, in JSON with plain arguments. */
char *kt_show_user_event(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	char *end = NULL;

	if (!l->json && e->nargs &&
	    kt_user_event_name(kt_registry_formats(l->registry),
			       ktape_event_arg(e, 0)))
		end = put_known(p, l);
	return end ? end : put_plain(p, l);
}

/*
 * Put an event of the TraceEvent call.  Its code is the upper half of a record's first
 * word (ktape/abi.h); the arguments and the buffer follow in the blob.  Bit P of the code says
 * whether the call had a buffer.
 */
char *kt_show_trace_event(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	uint32_t code = ktape_event_arg(e, 0);
	uint32_t nargs = code >> (KTAPE_NARGS_SHIFT - 32);
	const uint8_t *data = e->blob;
	uint32_t words = (uint32_t)kt_min(nargs, e->blob_size / 4);

	p = kt_show_key(p, l, "code");
	p = kt_show_value(p, l, KTAPE_TYPE_X32, code);
	p = kt_show_key(p, l, "opcode");
	p = kt_put_u64(p, code & 0xff);
	p = kt_show_key(p, l, "dat20");
	p = kt_show_value(p, l, KTAPE_TYPE_X32,
			  code >> (KTAPE_DAT20_SHIFT - 32) & KTAPE_DAT20_MASK);
	p = kt_show_key(p, l, "args");
	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < words; i++) {
		if (i)
			p = kt_show_comma(p, l);
		p = kt_show_value(p, l, KTAPE_TYPE_X32, kt_get32(data + i * 4));
	}
	p = kt_put_char(p, ']');
	if (!(code >> (KTAPE_P_SHIFT - 32) & 1) && e->blob_size == words * 4)
		return p;
	p = kt_show_key(p, l, "data");
	return put_user_memory(p, l, data + words * 4, e->blob_size - words * 4);
}
