// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read user events: the name and the fields by name (show/user_event.h).  This file
 * finds the format that an event came from; that format names the fields.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "user_event.h"

/* ---- fields --------------------------------------------------------------- */

/* Make room for another field.  Return: 0 or -ENOMEM. */
static int make_user_room(struct kt_user_event *u)
{
	bool own = u->fields == u->own;
	struct kt_user_field *more;

	if (u->nr < u->room)
		return 0;
	more = realloc(own ? NULL : u->fields, u->room * 2 * sizeof(*more));
	if (!more)
		return -ENOMEM;
	if (own)
		memcpy(more, u->own, sizeof(u->own));
	u->fields = more;
	u->room *= 2;
	return 0;
}

/**
 * kt_user_event_free() - Free the room for fields
 * @u: room that kt_user_event_init() prepared
 */
void kt_user_event_free(struct kt_user_event *u)
{
	if (u->fields != u->own)
		free(u->fields);
	kt_user_event_init(u);
}

/**
 * kt_user_add() - Add a field that is a number
 * @u: the event
 * @name: name of the field; NULL: "arg" and its place, counted from 1
 * @kind: KT_FIELD_UNSIGNED, _SIGNED, _HEX or _DOUBLE
 * @value: its value
 *
 * Return: the field, or NULL with @u->no_memory set.
 */
struct kt_user_field *kt_user_add(struct kt_user_event *u, const char *name,
				  enum kt_user_field_kind kind, uint64_t value)
{
	struct kt_user_field *f;

	if (make_user_room(u)) {
		u->no_memory = true;
		return NULL;
	}
	f = &u->fields[u->nr++];
	*f = (struct kt_user_field){ .name = name,
				     .kind = (uint8_t)kind,
				     .value = value };
	if (!name)
		snprintf(f->number, sizeof(f->number), "arg%u", u->nr);
	return f;
}

/**
 * add_user_data() - Add a field that is text or bytes
 * @u: the event
 * @name: name of the field, as for kt_user_add()
 * @kind: KT_FIELD_TEXT or KT_FIELD_BYTES
 * @data: the bytes, which must stay valid as long as @u is used
 * @len: number of bytes
 *
 * Return: the field, or NULL with @u->no_memory set.
 */
static struct kt_user_field *add_user_data(struct kt_user_event *u, const char *name,
					   enum kt_user_field_kind kind,
					   const void *data, size_t len)
{
	struct kt_user_field *f = kt_user_add(u, name, kind, 0);

	if (f) {
		f->data = data;
		f->len = len;
	}
	return f;
}

/* Return the kind of a field that is a number in one of the KTAPE_FORMAT_* formats. */
static enum kt_user_field_kind user_kind_of(unsigned int format)
{
	switch (format) {
	case KTAPE_FORMAT_S8:
	case KTAPE_FORMAT_S16:
	case KTAPE_FORMAT_S32:
	case KTAPE_FORMAT_S64:
		return KT_FIELD_SIGNED;
	case KTAPE_FORMAT_U8:
	case KTAPE_FORMAT_U16:
	case KTAPE_FORMAT_U32:
	case KTAPE_FORMAT_U64:
	case KTAPE_FORMAT_SIGNAL:
		return KT_FIELD_UNSIGNED;
	case KTAPE_FORMAT_DOUBLE:
		return KT_FIELD_DOUBLE;
	default:
		return KT_FIELD_HEX;
	}
}

static bool is_wide(unsigned int format)
{
	return format == KTAPE_FORMAT_S64 || format == KTAPE_FORMAT_U64;
}

/* Add a number of one of the KTAPE_FORMAT_* argument formats. */
static struct kt_user_field *add_user_number(struct kt_user_event *u,
					     const char *name,
					     unsigned int format, uint64_t value)
{
	struct kt_user_field *f;

	f = kt_user_add(u, name, user_kind_of(format),
			kt_typed_extend(format, value));
	if (!f)
		return NULL;
	f->wide = is_wide(format);
	if (format == KTAPE_FORMAT_FUNCTION)
		f->object = KTAPE_OBJ_FUNCTION;
	return f;
}

static struct kt_user_field *add_array(struct kt_user_event *u, const char *name,
				       const struct kt_typed *a)
{
	struct kt_user_field *f =
		add_user_data(u, name, KT_FIELD_ARRAY, a->data, a->len);

	if (!f)
		return NULL;
	f->value = a->len / kt_typed_size(a->elem);
	f->elem = (uint8_t)user_kind_of(a->elem);
	f->format = (uint8_t)a->elem;
	f->wide = is_wide(a->elem);
	return f;
}

/**
 * kt_user_element() - Return an element of an array
 * @f: the field
 * @i: number of the element, below @f->value
 *
 * Return: the value as that of a field of kind @f->elem would be.
 */
uint64_t kt_user_element(const struct kt_user_field *f, uint64_t i)
{
	return kt_typed_element(f->format, f->data, (size_t)i);
}

/**
 * kt_user_add_typed() - Add a typed argument as a field
 * @u: the event
 * @name: name of the field, as for kt_user_add()
 * @a: the argument
 *
 * Return: the field, or NULL with @u->no_memory set.
 */
struct kt_user_field *kt_user_add_typed(struct kt_user_event *u, const char *name,
					const struct kt_typed *a)
{
	struct kt_user_field *f;

	if (a->kind == KT_TYPED_ARRAY)
		return add_array(u, name, a);
	if (a->kind != KT_TYPED_NUMBER)
		return add_user_data(u, name,
				     a->kind == KT_TYPED_STRING ? KT_FIELD_TEXT :
								  KT_FIELD_BYTES,
				     a->data, a->len);
	f = add_user_number(u, name, a->format, a->value);
	if (f)
		f->width = (uint8_t)a->width;
	return f;
}

/**
 * kt_user_add_all() - Add each of a list of typed arguments as a field
 * @u: the event
 * @name: name of the first field; the others are "arg" and their place
 * @at: first byte of the arguments
 * @end: byte after the last one
 */
void kt_user_add_all(struct kt_user_event *u, const char *name,
		     const uint8_t *at, const uint8_t *end)
{
	struct kt_typed a;

	while (at < end) {
		kt_typed_next(&at, end, &a);
		kt_user_add_typed(u, name, &a);
		name = NULL;
	}
}

/* Check that a float can have the value of a double: a file may say so wrongly. */
static bool fits_float(uint64_t bits)
{
	double wide, again;
	float narrow;

	memcpy(&wide, &bits, sizeof(wide));
	narrow = (float)wide;
	again = (double)narrow;
	return !memcmp(&again, &wide, sizeof(wide));
}

/*
 * Take the flags of a field of another tracer's event, which are in place of a width: KTAPE_TYPED_*
 * are bits of the argument's first byte, where the width stands above the format.
 */
static void take_flags(struct kt_user_field *f, const struct kt_typed *t)
{
	unsigned int flags = t->width << KT_FORMAT_BITS;

	f->width = 0;
	f->fixed = flags & KTAPE_TYPED_FIXED &&
		   (f->kind == KT_FIELD_BYTES || f->kind == KT_FIELD_ARRAY);
	if (!(flags & KTAPE_TYPED_FLOAT))
		return;
	f->narrow = f->kind == KT_FIELD_DOUBLE ?
			    fits_float(f->value) :
			    f->kind == KT_FIELD_ARRAY && f->elem == KT_FIELD_DOUBLE;
	for (uint64_t i = 0;
	     f->narrow && f->kind == KT_FIELD_ARRAY && i < f->value; i++)
		f->narrow = fits_float(kt_user_element(f, i));
}

/**
 * kt_user_add_pairs() - Add pairs of a name and a value as fields
 * @u: the event
 * @pairs: typed arguments: a string with the name, then the value
 * @size: bytes of @pairs
 *
 * Return: false if they are no such pairs, or with @u->no_memory set.
 */
bool kt_user_add_pairs(struct kt_user_event *u, const void *pairs, size_t size)
{
	const uint8_t *at = pairs, *end = at + size;
	struct kt_typed name, value;
	struct kt_user_field *f;

	while (at < end) {
		kt_typed_next(&at, end, &name);
		if (name.kind != KT_TYPED_STRING || at == end)
			return false;
		kt_typed_next(&at, end, &value);
		/* The string ends in a NUL, inside the pairs. */
		f = kt_user_add_typed(u, (const char *)name.data, &value);
		if (!f)
			return false;
		take_flags(f, &value);
	}
	return true;
}

/**
 * kt_user_set_word() - Show a number as a word
 * @f: the field
 * @word: word of the event's format for the value; NULL: the field stays a number
 */
void kt_user_set_word(struct kt_user_field *f, const char *word)
{
	if (!word)
		return;
	f->kind = KT_FIELD_WORD;
	f->object = KTAPE_OBJ_FREE; /* not an id any more */
	f->data = word;
	f->len = strlen(word);
}

/**
 * kt_user_set_report() - Set what the event reports about an object
 * @u: the event
 * @report: kind of the report
 * @type: KTAPE_OBJ_* of the object
 * @id: id of the object
 */
void kt_user_set_report(struct kt_user_event *u, enum kt_user_report report,
			unsigned int type, uint32_t id)
{
	u->report = (uint8_t)report;
	u->type = (uint8_t)type;
	u->id = id;
}

/* ---- events --------------------------------------------------------------- */

/*
 * Find the format that a user event came from, by the id of the event.
 * Return: the format; NULL if a program registered the id, or if the format is not
 * built in.
 */
static const struct kt_user_format *
format_of(const struct kt_user_format *const *formats, uint32_t id)
{
	if (id < KTAPE_FORMAT_ID_FIRST)
		return NULL;
	while (*formats && (*formats)->ids != (id & KTAPE_FORMAT_ID_MASK))
		formats++;
	return *formats;
}

/**
 * kt_user_event_name() - Return the name of an event that came from another format
 * @formats: formats that are built in, NULL after the last one
 * @id: id of the user event
 *
 * Return: the name; NULL if a program registered the id, if the format is not built
 * in, or if the format has no such event.
 */
const char *kt_user_event_name(const struct kt_user_format *const *formats,
			       uint32_t id)
{
	const struct kt_user_format *format = format_of(formats, id);

	return format ? format->event_name(id & ~KTAPE_FORMAT_ID_MASK) : NULL;
}

/* Add the arguments, in the argument formats that a program registered with name @o. */
static void add_registered(struct kt_user_event *u, const struct ktape_event *e,
			   const struct ktape_object_info *o)
{
	unsigned int known =
		o ? (unsigned int)kt_min(o->param2, KT_USER_FORMATS) : 0;
	const uint8_t *at = e->blob;

	for (unsigned int i = 1; i < e->nargs; i++) {
		unsigned int format =
			i > known ? KTAPE_FORMAT_X32 :
				    o->param1 >> (i - 1) * KT_FORMAT_BITS & 15;

		/* Later formats do not fit a word. */
		if (format > KTAPE_FORMAT_SIGNAL)
			format = KTAPE_FORMAT_X32;
		add_user_number(u, NULL, format, ktape_event_arg(e, i));
	}
	kt_user_add_all(u, NULL, at, at + e->blob_size);
}

static void clear_fields(struct kt_user_event *u)
{
	u->nr = 0;
	u->report = KT_REPORT_NONE;
	u->kind = u->what = NULL;
	u->known = u->no_memory = u->hex = u->mutex = false;
	u->waits = u->waited = false;
	u->step = 0;
	u->most = 0;
	u->by = u->owner = -1;
}

/**
 * kt_user_event_of() - Read a user event: its name and its fields by name
 * @u: room that kt_user_event_init() prepared; filled
 * @l: the event and the registry of its trace
 *
 * Return: false if @l is not a user event, or does not fit the event table.  True with
 * @u->no_memory set: there was no memory for its fields.
 */
bool kt_user_event_of(struct kt_user_event *u, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct kt_user_format *format;
	const struct ktape_object_info *o;
	const char *name;
	uint32_t id;

	if (e->opcode != KTAPE_EV_USER_EVENT || !e->nargs || !kt_event_fits(e))
		return false;
	id = ktape_event_arg(e, 0);
	o = ktape_registry_object(l->registry, KTAPE_OBJ_USER_EVENT, id, 0, e->ts);
	format = format_of(kt_registry_formats(l->registry), id);
	u->format = format ? format->name : "user";
	clear_fields(u);
	name = format ? format->event_name(id & ~KTAPE_FORMAT_ID_MASK) : NULL;
	u->name = (struct kt_name){
		.text = name,
		.len = name ? strlen(name) : 0,
		.plain = true,
	};
	if (o)
		u->name = kt_object_name(o);
	u->known = name && format->describe(u, e);
	if (!u->known && !u->no_memory) {
		clear_fields(u);
		add_registered(u, e, o);
	}
	if (u->no_memory) {
		clear_fields(u);
		u->no_memory = true;
	}
	/* Only now: fields that were added have moved. */
	for (unsigned int i = 0; i < u->nr; i++) {
		if (!u->fields[i].name)
			u->fields[i].name = u->fields[i].number;
	}
	return true;
}

/**
 * kt_user_extra_of() - Read the extra fields of an event
 * @u: room that kt_user_event_init() prepared; filled, without a name
 * @e: the event
 *
 * Return: true if it has any, and they could be read.  False with @u->no_memory set: there
 * was no memory for them.
 */
bool kt_user_extra_of(struct kt_user_event *u, const struct ktape_event *e)
{
	if (!e->extra)
		return false;
	u->name = (struct kt_name){ .text = NULL };
	u->format = "linux";
	clear_fields(u);
	return kt_user_add_pairs(u, e->extra, e->extra_size);
}

/**
 * kt_user_field_name() - Return the name of the object whose id is in a field
 * @l: the event and the registry of its trace
 * @f: the field
 *
 * Return: the name; its text is NULL if the field is not an id, or the id has no name.
 */
struct kt_name kt_user_field_name(const struct kt_line *l,
				  const struct kt_user_field *f)
{
	const struct ktape_object_info *o = NULL;

	if (f->value > UINT32_MAX)
		return (struct kt_name){ .text = NULL };
	if (f->object)
		o = ktape_registry_meant(l->registry, l->event, f->object,
					 (uint32_t)f->value);
	/* Traces of RKH, a framework, name objects by kind (FWK_QUEUE) or any by FWK_OBJ. */
	if (!o && f->object >= KTAPE_OBJ_USER)
		o = ktape_registry_meant(l->registry, l->event,
					 KTAPE_OBJ_USER + KTAPE_USER_RKH_OBJECT,
					 (uint32_t)f->value);
	if (!o)
		return (struct kt_name){ .text = NULL };
	return (struct kt_name){ o->name, o->name_len, o->plain, 0 };
}
