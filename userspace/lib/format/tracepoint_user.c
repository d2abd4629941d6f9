// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tracepoints that the event table does not have, for tracepoint.c: they become user events,
 * whose typed arguments are pairs: the name of a field as a string, then its value.
 */
#include <ktape/formats.h>
#include <ktape/mark.h>

#include "show/user_event.h"

#include "tracepoint.h"

#define BLOB_MIN	4096U
#define FIELD_HEADS	16U	/* of a field's name and value, with NULs and a number */

/* ---- arguments ------------------------------------------------------------------------- */

static uint8_t *put_string(uint8_t *p, const char *text, size_t len)
{
	*p++ = KTAPE_FORMAT_STRING;
	if (len)
		memcpy(p, text, len);
	p[len] = '\0';
	return p + len + 1;
}

static uint8_t *put_number(uint8_t *p, uint8_t type, uint64_t v)
{
	bool is_signed = type == KT_TP_SIGNED;
	bool wide = is_signed ? (int64_t)v != (int32_t)v : v > UINT32_MAX;

	*p = type == KT_TP_DOUBLE ? KTAPE_FORMAT_DOUBLE :
	     type == KT_TP_HEX	  ? KTAPE_FORMAT_OBJECT :
	     wide	? (is_signed ? KTAPE_FORMAT_S64 : KTAPE_FORMAT_U64) :
	     is_signed ? KTAPE_FORMAT_S32 : KTAPE_FORMAT_U32;
	if (kt_typed_size(*p) == 4) {
		kt_set32(p + 1, (uint32_t)v);
		return p + 5;
	}
	kt_set64(p + 1, v);
	return p + 9;
}

static uint8_t *put_array(uint8_t *p, uint8_t elem, const void *data, size_t len)
{
	static const uint8_t formats[] = {
		[KT_TP_UNSIGNED] = KTAPE_FORMAT_U64, [KT_TP_SIGNED] = KTAPE_FORMAT_S64,
		[KT_TP_HEX] = KTAPE_FORMAT_OBJECT,   [KT_TP_DOUBLE] = KTAPE_FORMAT_DOUBLE,
	};
	uint64_t v;

	*p++ = KTAPE_FORMAT_ARRAY;
	*p++ = formats[elem];
	kt_set32(p, (uint32_t)(len / sizeof(v)));
	p += 4;
	for (size_t i = 0; i + sizeof(v) <= len; i += sizeof(v), p += sizeof(v)) {
		memcpy(&v, (const uint8_t *)data + i, sizeof(v));
		kt_set64(p, v);
	}
	return p;
}

static uint8_t *put_bytes(uint8_t *p, const void *data, size_t len)
{
	if (len <= UINT8_MAX) {
		*p++ = KTAPE_FORMAT_MEMORY;
		*p++ = (uint8_t)len;
	} else {
		*p++ = KTAPE_FORMAT_ARRAY;
		*p++ = KTAPE_FORMAT_MEMORY;
		kt_set32(p, (uint32_t)len);
		p += 4;
	}
	if (len)
		memcpy(p, data, len);
	return p + len;
}

/* Return the bytes of a field's data that are kept: a text ends at its first NUL. */
static size_t data_size(const struct kt_tp_field *f, const struct kt_tp_value *v)
{
	if (f->type < KT_TP_TEXT || f->type == KT_TP_DOUBLE || !v->data)
		return 0;
	return f->type == KT_TP_TEXT ? strnlen(v->data, v->len) : v->len;
}

static uint8_t *put_field(uint8_t *p, const struct kt_tp_field *f,
			  const struct kt_tp_value *v, size_t len)
{
	p = put_string(p, f->name, strnlen(f->name, sizeof(f->name)));
	switch (f->type) {
	case KT_TP_TEXT:
		return put_string(p, v->data, len);
	case KT_TP_BYTES:
		return put_bytes(p, v->data, len);
	case KT_TP_ARRAY:
		return put_array(p, f->elem, v->data, len);
	default:
		return put_number(p, f->type, v->number);
	}
}

/* Make room for @need bytes behind the first @used of the blob.  Return: 0 or -ENOMEM. */
static int grow_blob(struct kt_tp *tp, size_t used, size_t need)
{
	size_t room = kt_max(tp->blob_room, BLOB_MIN);
	uint8_t *more;

	if (tp->blob && tp->blob_room - used >= need)
		return 0;
	while (room - used < need)
		room *= 2;
	more = realloc(tp->blob, room);
	if (!more)
		return -ENOMEM;
	tp->blob = more;
	tp->blob_room = room;
	return 0;
}

/* Put the fields of an event into the blob.  Return: its bytes, or -ENOMEM. */
static int64_t put_fields(struct kt_tp *tp, const struct kt_tp_class *c,
			  const struct kt_tp_value *values)
{
	size_t used = 0, len, need;

	if (grow_blob(tp, 0, BLOB_MIN))
		return -ENOMEM;
	for (unsigned int i = 0; i < c->nr; i++) {
		len = data_size(&c->fields[i], &values[i]);
		need = sizeof(c->fields[i].name) + FIELD_HEADS + len;
		if (len > KT_TP_BLOB || used + need > KT_TP_BLOB) {
			tp->too_large++;
			continue;
		}
		if (grow_blob(tp, used, need))
			return -ENOMEM;
		used = (size_t)(put_field(tp->blob + used, &c->fields[i], &values[i],
					  len) - tp->blob);
	}
	return (int64_t)used;
}

/* Deliver an event that the event table does not have, as kt_tp_emit(). */
int kt_tp_emit_user(struct kt_tp *tp, struct kt_tp_class *c, struct kt_foreign *f,
		    const struct kt_tp_value *values)
{
	const struct kt_named n = {
		.type = KTAPE_OBJ_USER_EVENT, .id = c->user, .name = c->name,
		.len = strlen(c->name),
	};
	struct kt_foreign record = { .ts = f->ts, .cpu = f->cpu };
	int64_t size;
	int err = 0;

	if (!c->named)
		err = kt_import_name(tp->s, &record, &n);
	c->named = true;
	if (err)
		return err;
	size = put_fields(tp, c, values);
	if (size < 0)
		return (int)size;
	f->kind = KTAPE_RING_EVENT;
	f->opcode = KTAPE_EV_USER_EVENT;
	f->nargs = 1;
	f->dat20 = 0;
	f->args[0] = c->user;
	f->blob = tp->blob;
	f->blob_size = (uint32_t)size;
	return kt_import_emit(tp->s, f);
}

/* ---- user events by name --------------------------------------------------------------- */

static const char *event_name(uint32_t id)
{
	(void)id;	/* the registry has the name */
	return "tracepoint";
}

/* As kt_user_format.describe(): the arguments are pairs of a name and a value. */
static bool describe(struct kt_user_event *u, const struct ktape_event *e)
{
	const uint8_t *at = e->blob, *end = at + e->blob_size;
	struct kt_typed name, value;

	while (at < end) {
		kt_typed_next(&at, end, &name);
		if (name.kind != KT_TYPED_STRING || at == end)
			return false;
		kt_typed_next(&at, end, &value);
		/* The string ends in a NUL, inside the blob. */
		if (!kt_user_add_typed(u, (const char *)name.data, &value))
			return false;
	}
	return true;
}

const struct kt_user_format kt_tp_user = {
	.name = "linux",
	.ids = KTAPE_FORMAT_ID_LINUX,
	.event_name = event_name,
	.describe = describe,
};
