// SPDX-License-Identifier: LGPL-2.1-or-later
/* User events in the words of where they come from. */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "codec.h"
#include "told.h"

#define FORMAT_BITS	4
#define FORMATS_MAX	8

/**
 * kt_told_add() - a field that is a number
 * @t: the event
 * @name: of the field; NULL: arg and its place
 * @kind: how the value is to be read
 * @value: of the field
 *
 * Return: the field, or NULL: there is no room.
 */
struct kt_told_field *kt_told_add(struct kt_told *t, const char *name,
				  enum kt_told_kind kind, uint64_t value)
{
	struct kt_told_field *f = &t->fields[t->nr];

	if (t->nr == KT_TOLD_FIELDS) {
		t->cut = true;
		return NULL;
	}
	if (!name) {
		snprintf(t->numbers[t->nr], KT_TOLD_NUMBER, "arg%u", t->nr + 1);
		name = t->numbers[t->nr];
	}
	*f = (struct kt_told_field){ .name = name, .kind = (uint8_t)kind,
				     .value = value };
	t->nr++;
	return f;
}

/* The same of text or bytes. */
struct kt_told_field *kt_told_add_data(struct kt_told *t, const char *name,
				       enum kt_told_kind kind,
				       const void *data, size_t len)
{
	struct kt_told_field *f = kt_told_add(t, name, kind, 0);

	if (f) {
		f->data = data;
		f->len = len;
	}
	return f;
}

/* A number in one of the formats of typed arguments. */
static struct kt_told_field *add_format(struct kt_told *t, const char *name,
					unsigned int format, uint64_t value)
{
	struct kt_told_field *f;

	switch (format) {
	case KTAPE_FORMAT_S8:
	case KTAPE_FORMAT_S16:
	case KTAPE_FORMAT_S32:
		return kt_told_add(t, name, KT_TOLD_SIGNED,
				   kt_typed_extend(format, value));
	case KTAPE_FORMAT_U8:
	case KTAPE_FORMAT_U16:
	case KTAPE_FORMAT_U32:
	case KTAPE_FORMAT_SIGNAL:
		return kt_told_add(t, name, KT_TOLD_UNSIGNED, value);
	case KTAPE_FORMAT_FUNCTION:
		f = kt_told_add(t, name, KT_TOLD_HEX, value);
		if (f)
			f->object = KTAPE_OBJ_FUNCTION;
		return f;
	default:
		return kt_told_add(t, name, KT_TOLD_HEX, value);
	}
}

/**
 * kt_told_argument() - a typed argument as a field
 * @t: the event
 * @name: of the field, or NULL
 * @a: the argument
 *
 * Return: the field, or NULL: there is no room.
 */
struct kt_told_field *kt_told_argument(struct kt_told *t, const char *name,
				       const struct kt_typed *a)
{
	struct kt_told_field *f;

	if (a->kind != KT_TYPED_NUMBER)
		return kt_told_add_data(t, name,
					a->kind == KT_TYPED_STRING ?
						KT_TOLD_TEXT :
						KT_TOLD_BYTES,
					a->data, a->len);
	f = add_format(t, name, a->format, a->value);
	if (f)
		f->width = (uint8_t)a->width;
	return f;
}

/**
 * kt_told_word() - a number has a word
 * @f: the field
 * @word: what its format calls the number; NULL: nothing, it stays a number
 */
void kt_told_word(struct kt_told_field *f, const char *word)
{
	if (!word)
		return;
	f->kind = KT_TOLD_WORD;
	f->object = KTAPE_OBJ_FREE;
	f->data = word;
	f->len = strlen(word);
}

/**
 * kt_told_typed() - typed arguments, each as a field
 * @t: the event
 * @name: of the first of them, or NULL
 * @at: where they are
 * @end: behind them
 */
void kt_told_typed(struct kt_told *t, const char *name, const uint8_t *at,
		   const uint8_t *end)
{
	struct kt_typed a;

	while (at < end) {
		kt_typed_next(&at, end, &a);
		kt_told_argument(t, name, &a);
		name = NULL;
	}
}

/**
 * kt_told_state() - the event tells of an object's state
 * @t: the event
 * @state: what
 * @type: KTAPE_OBJ_* of the object
 * @id: its id
 */
void kt_told_state(struct kt_told *t, enum kt_told_state state,
		   unsigned int type, uint32_t id)
{
	t->state = (uint8_t)state;
	t->type = (uint8_t)type;
	t->id = id;
}

/* Of a program or a module: words by the formats that it registered. */
static void tell_own(struct kt_told *t, const struct ktape_event *e,
		     const struct ktape_object_info *o)
{
	unsigned int known = o ? (unsigned int)kt_min(o->param2, FORMATS_MAX)
			       : 0;
	const uint8_t *at = e->blob;

	for (unsigned int i = 1; i < e->nargs; i++) {
		uint32_t v = ktape_event_arg(e, i);

		if (i <= known)
			add_format(t, NULL,
				   o->param1 >> (i - 1) * FORMAT_BITS & 15, v);
		else
			kt_told_add(t, NULL, KT_TOLD_HEX, v);
	}
	kt_told_typed(t, NULL, at, at + e->blob_size);
}

static void clear_fields(struct kt_told *t)
{
	t->nr = 0;
	t->state = KT_TOLD_NO_STATE;
	t->kind = t->what = NULL;
	t->known = t->cut = t->hex = t->mutex = false;
	t->by = t->owner = -1;
}

/**
 * kt_told_event() - a user event in its own words
 * @t: filled
 * @l: the event
 *
 * Return: false if it is no user event, or not as in the table.
 */
bool kt_told_event(struct kt_told *t, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *o;
	const struct kt_codec_in *in;
	const char *name;
	uint32_t id;

	if (e->opcode != KTAPE_EV_USER_EVENT || !e->nargs || !kt_event_fits(e))
		return false;
	id = ktape_event_arg(e, 0);
	o = ktape_registry_object(l->registry, KTAPE_OBJ_USER_EVENT, id, 0,
				  e->ts);
	in = kt_codec_of_user(id, &t->format);
	clear_fields(t);
	name = in && in->user_name ? in->user_name(id & ~KTAPE_FORMAT_ID_MASK)
				   : NULL;
	t->name = (struct kt_name){ name, name ? strlen(name) : 0, true, 0 };
	if (o)
		t->name = (struct kt_name){ o->name, o->name_len, o->plain, 0 };
	t->known = in && in->tell && name && in->tell(t, e);
	if (!t->known) {
		clear_fields(t);
		tell_own(t, e, o);
	}
	return true;
}

/**
 * kt_told_name() - the name of what a field is about
 * @l: the event
 * @f: the field
 *
 * Return: its text is NULL if it has none.
 */
struct kt_name kt_told_name(const struct kt_line *l,
			    const struct kt_told_field *f)
{
	const struct ktape_object_info *o = NULL;

	if (f->value > UINT32_MAX)
		return (struct kt_name){ .text = NULL };
	if (f->object)
		o = ktape_registry_meant(l->registry, l->event, f->object,
					 (uint32_t)f->value);
	/* RKH has a table for each kind of object, and one for any. */
	if (!o && f->object >= KTAPE_OBJ_USER)
		o = ktape_registry_meant(l->registry, l->event,
					 KTAPE_OBJ_USER + KTAPE_USER_RKH_OBJECT,
					 (uint32_t)f->value);
	if (!o)
		return (struct kt_name){ .text = NULL };
	return (struct kt_name){ o->name, o->name_len, o->plain, 0 };
}
