// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Fields of tracepoints as typed arguments, for tracepoint.c and tracepoint_user.c: pairs of
 * the name of a field as a string, and its value.
 *
 * A tracepoint that the event table does not have keeps all its fields so.  One that it has
 * keeps those for which the table has no place, as ktape_event.extra.
 */
#include <ktape/mark.h>

#include "util/hash.h"

#include "show/user_event.h"

#include "tracepoint.h"

#define BLOB_MIN 4096U
#define FIELD_HEADS \
	16U /* bytes beside a field's name and data: formats, length, NULs or number */
#define SUFFIX 12U /* bytes of "_4294967295" with its NUL */
#define NAMES_MAX \
	4096U /* slots for the names of an event; about twice those it has */
#define LABEL "_label"

/* ---- arguments ------------------------------------------------------------------------- */

static uint8_t *put_string(uint8_t *p, const char *text, size_t len, uint8_t flags)
{
	*p++ = KTAPE_FORMAT_STRING | flags;
	if (len)
		memcpy(p, text, len);
	p[len] = '\0';
	return p + len + 1;
}

/*
 * Put a number in 64 bits if its field has more than 32, whatever its value: in JSON that
 * decides whether it is a string.
 */
static uint8_t *put_number(uint8_t *p, const struct kt_tp_field *f, uint64_t v)
{
	bool is_signed = f->type == KT_TP_SIGNED;
	bool wide = f->wide ||
		    (is_signed ? (int64_t)v != (int32_t)v : v > UINT32_MAX);
	uint8_t format = f->type == KT_TP_DOUBLE ? KTAPE_FORMAT_DOUBLE :
			 f->type == KT_TP_HEX	 ? KTAPE_FORMAT_OBJECT :
			 wide ? (is_signed ? KTAPE_FORMAT_S64 : KTAPE_FORMAT_U64) :
			 is_signed ? KTAPE_FORMAT_S32 :
				     KTAPE_FORMAT_U32;

	*p++ = format | (f->narrow ? KTAPE_TYPED_FLOAT : 0);
	if (kt_typed_size(format) == 4) {
		kt_set32(p, (uint32_t)v);
		return p + 4;
	}
	kt_set64(p, v);
	return p + 8;
}

static uint8_t *put_array(uint8_t *p, const struct kt_tp_field *f,
			  const void *data, size_t len)
{
	static const uint8_t formats[] = {
		[KT_TP_UNSIGNED] = KTAPE_FORMAT_U64,
		[KT_TP_SIGNED] = KTAPE_FORMAT_S64,
		[KT_TP_HEX] = KTAPE_FORMAT_OBJECT,
		[KT_TP_DOUBLE] = KTAPE_FORMAT_DOUBLE,
	};
	uint64_t v;

	*p++ = KTAPE_FORMAT_ARRAY | (f->fixed ? KTAPE_TYPED_FIXED : 0) |
	       (f->narrow ? KTAPE_TYPED_FLOAT : 0);
	*p++ = formats[f->elem];
	kt_set32(p, (uint32_t)(len / sizeof(v)));
	p += 4;
	for (size_t i = 0; i + sizeof(v) <= len; i += sizeof(v), p += sizeof(v)) {
		memcpy(&v, (const uint8_t *)data + i, sizeof(v));
		kt_set64(p, v);
	}
	return p;
}

/* Put bytes as a memory argument, which has 255 at most, or more of them as an array. */
static uint8_t *put_bytes(uint8_t *p, const struct kt_tp_field *f,
			  const void *data, size_t len)
{
	uint8_t flags = f->fixed ? KTAPE_TYPED_FIXED : 0;

	if (len <= UINT8_MAX) {
		*p++ = KTAPE_FORMAT_MEMORY | flags;
		*p++ = (uint8_t)len;
	} else {
		*p++ = KTAPE_FORMAT_ARRAY | flags;
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
	return f->type == KT_TP_TEXT || f->type == KT_TP_LABEL ?
		       strnlen(v->data, v->len) :
		       v->len;
}

/* Put the name of a field as a string, then its value.  @flags: KTAPE_TYPED_* of a text. */
static uint8_t *put_field(uint8_t *p, const struct kt_tp_field *f,
			  const struct kt_tp_value *v, size_t len, uint8_t flags)
{
	p = put_string(p, f->name, strlen(f->name), 0);
	switch (f->type) {
	case KT_TP_TEXT:
	case KT_TP_LABEL:
		return put_string(p, v->data, len, flags);
	case KT_TP_BYTES:
		return put_bytes(p, f, v->data, len);
	case KT_TP_ARRAY:
		return put_array(p, f, v->data, len);
	default:
		return put_number(p, f, v->number);
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

/*
 * Put a field behind the first @*used bytes of the blob.  One that is too large for it is left out
 * and counted.  Return: 0 or -ENOMEM.
 */
static int add_field(struct kt_tp *tp, size_t *used, const struct kt_tp_field *f,
		     const struct kt_tp_value *v, uint8_t flags)
{
	size_t len = data_size(f, v);
	size_t need = strlen(f->name) + FIELD_HEADS + len;

	if (len > KT_TP_BLOB || *used + need > KT_TP_BLOB) {
		tp->too_large++;
		return 0;
	}
	if (grow_blob(tp, *used, need))
		return -ENOMEM;
	*used = (size_t)(put_field(tp->blob + *used, f, v, len, flags) - tp->blob);
	return 0;
}

/**
 * kt_tp_put_fields() - put fields of an event into @tp->blob
 * @tp: the reader's memory
 * @c: its class
 * @values: its fields, in the order of the class
 * @all: also those that have a place in the event table
 *
 * The fields of @tp->more follow.
 *
 * Return: bytes of the blob, or -ENOMEM.
 */
int64_t kt_tp_put_fields(struct kt_tp *tp, const struct kt_tp_class *c,
			 const struct kt_tp_value *values, bool all)
{
	size_t used = 0, before;
	bool kept = false;

	if (grow_blob(tp, 0, BLOB_MIN))
		return -ENOMEM;
	for (unsigned int i = 0; i < c->nr; i++) {
		bool label = c->fields[i].type == KT_TP_LABEL;

		before = used;
		if ((all || !kt_tp_has_place(c, i)) && (!label || values[i].data) &&
		    add_field(tp, &used, &c->fields[i], &values[i],
			      label && kept ? KTAPE_TYPED_LABEL : 0))
			return -ENOMEM;
		/* The label of a field that is elsewhere is a text of its own. */
		kept = used > before && !label;
	}
	for (unsigned int i = 0; i < tp->nr_more; i++) {
		if (add_field(tp, &used, tp->more[i].field, &tp->more[i].value, 0))
			return -ENOMEM;
	}
	return (int64_t)used;
}

/* ---- fields without a place -------------------------------------------------------------- */

/**
 * struct names - the names that an event has, by their hash
 * @slots: hashes that are not 0
 * @mask: number of slots in use, minus 1
 */
struct names {
	uint64_t slots[NAMES_MAX];
	uint32_t mask;
};

/* Add NAME BEHIND.  Return: false if it is there, or another one with the same hash. */
static bool add_name(struct names *n, const char *name, const char *behind)
{
	uint64_t hash = kt_fnv(KT_FNV_BEGIN, name, strlen(name));
	uint32_t at;

	hash = kt_hash_mix(kt_fnv(hash, behind, strlen(behind))) | 1;
	for (at = (uint32_t)(hash >> 32); n->slots[at & n->mask]; at++) {
		if (n->slots[at & n->mask] == hash)
			return false;
	}
	n->slots[at & n->mask] = hash;
	return true;
}

/* Make an empty set for the names of @nr fields and of an event. */
static void clear_names(struct names *n, unsigned int nr)
{
	n->mask = nr < 64 ? 511 : NAMES_MAX - 1;
	memset(n->slots, 0, (n->mask + 1) * sizeof(n->slots[0]));
}

/*
 * Make a name of @name and @behind, and add it to @n.  If @n has that name already, or if @number,
 * the first number from 2 on that makes another one follows.
 * Return: the name, or NULL without memory.
 */
static const char *make_name(struct names *n, struct kt_texts *names,
			     const char *name, const char *behind, bool number)
{
	char end[SUFFIX + sizeof(LABEL)];

	snprintf(end, sizeof(end), "%s", behind);
	for (uint32_t more = 2; number || !add_name(n, name, end); more++) {
		snprintf(end, sizeof(end), "%s_%u", behind, more);
		number = false;
	}
	return kt_texts_add(names, name, strlen(name), end);
}

/**
 * kt_tp_name_labels() - give labels the names of the fields before them, and _label behind
 * @names: the names are added to it
 * @fields: fields of a class and their labels
 * @nr: how many
 *
 * A name that another field has gets a number.
 *
 * Return: 0 or -ENOMEM.
 */
int kt_tp_name_labels(struct kt_texts *names, struct kt_tp_field *fields,
		      unsigned int nr)
{
	struct names n;
	unsigned int i;

	for (i = 0; i < nr && fields[i].type != KT_TP_LABEL; i++)
		;
	if (i == nr)
		return 0;
	clear_names(&n, nr);
	for (i = 0; i < nr; i++) {
		if (fields[i].type != KT_TP_LABEL)
			add_name(&n, fields[i].name, "");
	}
	for (i = 1; i < nr; i++) {
		if (fields[i].type != KT_TP_LABEL)
			continue;
		fields[i].name =
			make_name(&n, names, fields[i - 1].name, LABEL, false);
		if (!fields[i].name)
			return -ENOMEM;
	}
	return 0;
}

/* Add the names that outputs give to the fields of an event, and to what they derive. */
static void add_known(struct names *n, uint8_t opcode)
{
	static const char *const derived[] = { "error", "call", "duration_ns" };
	const struct ktape_event_desc *d = ktape_event_desc(opcode);

	for (unsigned int i = 0; i < d->nr_fields; i++) {
		add_name(n, d->fields[i].name, "");
		add_name(n, d->fields[i].name, "_name");
	}
	for (size_t i = 0; i < KT_ARRAY_SIZE(derived); i++)
		add_name(n, derived[i], "");
}

/*
 * Rename fields that would have the name of a field of the event: a number follows.  Also those
 * that have a place in the event table: in another event their value may be too large for it.
 * Return: 0 or -ENOMEM.
 */
static int rename_fields(struct kt_tp *tp, struct kt_tp_class *c)
{
	struct kt_texts *names = c->names ? c->names : &tp->names;
	const char *name;
	struct names n;

	clear_names(&n, c->nr);
	add_known(&n, c->what == KT_TP_NATIVE ? c->row->opcode :
		      c->what == KT_TP_ENTER  ? KTAPE_EV_SYS_ENTER_WIDE :
						KTAPE_EV_SYS_EXIT);
	for (unsigned int i = 0; i < c->nr; i++) {
		name = c->fields[i].name;
		if (!add_name(&n, name, ""))
			name = make_name(&n, names, name, "", true);
		if (!name)
			return -ENOMEM;
		c->fields[i].name = name;
	}
	c->renamed = true;
	return 0;
}

/**
 * kt_tp_put_extra() - keep the fields of a native event that have no place in the event table
 * @tp: the reader's memory
 * @c: its class
 * @f: the event; its @extra is set
 * @values: its fields, in the order of the class
 *
 * Return: 0 or -ENOMEM.
 */
int kt_tp_put_extra(struct kt_tp *tp, struct kt_tp_class *c,
		    struct kt_delivery *f, const struct kt_tp_value *values)
{
	int64_t size;

	f->extra = NULL;
	f->extra_size = 0;
	if ((c->nr_placed == c->nr && !tp->nr_more) || tp->s->learning)
		return 0;
	if (!c->renamed && rename_fields(tp, c))
		return -ENOMEM;
	size = kt_tp_put_fields(tp, c, values, false);
	if (size < 0)
		return (int)size;
	f->extra = tp->blob;
	f->extra_size = (uint32_t)size;
	return 0;
}
