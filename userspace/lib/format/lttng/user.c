// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * User events of the lttng format.  A user event that has a name (of its own or of
 * the format it came from) gets an event class with that name and its fields.
 * Other fields or another name make another class.  Events without a name, and
 * classes beyond LT_USERS_MAX, are written as ktape_user_event by map.c.
 *
 * An event with extra fields gets a class with its name, its fields and these.
 */
#include <ktape/formats.h>

#include "util/hash.h"

#include "internal.h"

#define NEXT_NUMBER \
	1U /* key of numbers in the map of names, whose names have 0 */

static bool is_sequence(uint8_t kind)
{
	return kind == KT_FIELD_BYTES || kind == KT_FIELD_ARRAY;
}

static uint64_t length_of(const struct kt_user_field *f)
{
	return f->kind == KT_FIELD_ARRAY ? f->value : f->len;
}

/* Return the number of elements if it belongs to the field's type, else -1. */
static int64_t fixed_of(const struct kt_user_field *f)
{
	return f->fixed ? (int64_t)length_of(f) : -1;
}

/*
 * Check whether a field is the length of the next one, by its value and the name that LTTng gives
 * such a field.  The metadata of the next one then declare it, under this name.
 */
static bool is_length(const struct kt_user_event *t, unsigned int i)
{
	const struct kt_user_field *f = &t->fields[i], *next = f + 1;
	size_t len;

	if (i + 1 >= t->nr || f->kind != KT_FIELD_UNSIGNED || f->object ||
	    !is_sequence(next->kind) || next->fixed || f->value != length_of(next))
		return false;
	len = strlen(next->name);
	return f->name[0] == '_' && !strncmp(f->name + 1, next->name, len) &&
	       !strcmp(f->name + 1 + len, "_length");
}

static uint64_t hash_string(uint64_t hash, const char *text)
{
	return kt_fnv(hash, text, strlen(text) + 1);
}

/* Return a hash of the name and of the names and types of the fields. */
static uint64_t lttng_user_shape_of(const struct kt_user_event *t)
{
	uint64_t hash = kt_fnv(KT_FNV_BEGIN, t->name.text, t->name.len);

	for (unsigned int i = 0; i < t->nr; i++) {
		const struct kt_user_field *f = &t->fields[i];
		const char what[] = { (char)f->kind, (char)f->elem, f->narrow,
				      !!f->object, is_length(t, i) };
		int64_t fixed = fixed_of(f);

		hash = kt_fnv(hash, what, sizeof(what));
		hash = kt_fnv(hash, &fixed, sizeof(fixed));
		hash = hash_string(hash, f->name);
	}
	return hash;
}

/*
 * Compare the types of the fields, because two shapes may have the same hash.  Their names are in
 * the hash only: the class has them as identifiers, not as they were.
 */
static bool has_fields(const struct lt_user *user, const struct kt_user_event *t)
{
	if (user->nr != t->nr)
		return false;
	for (unsigned int i = 0; i < t->nr; i++) {
		const struct lt_field *f = &user->fields[i];

		if (f->kind != t->fields[i].kind || f->elem != t->fields[i].elem ||
		    f->narrow != t->fields[i].narrow ||
		    f->fixed != fixed_of(&t->fields[i]) ||
		    f->named != !!t->fields[i].object ||
		    f->is_length != is_length(t, i))
			return false;
	}
	return true;
}

/*
 * Make the event name.  A name that another tracer gave its event stays.  All others get
 * the name of their format before it: a program or a target must not write what a reader
 * takes for an event of the kernel.  What could break the quoted text becomes '_'.
 */
static char *make_event_name(const struct kt_user_event *t, bool is_linux)
{
	size_t before = is_linux ? 0 : strlen(t->format) + 1;
	char *name = malloc(before + t->name.len + 1), *p = name;

	if (!name)
		return NULL;
	if (before)
		p = kt_put_char(kt_put_str(p, t->format), '_');
	*kt_put_mem(p, t->name.text, t->name.len) = '\0';
	for (; *p; p++) {
		if (*p <= ' ' || *p > '~' || *p == '"' || *p == '\\')
			*p = '_';
	}
	return name;
}

/* Hash a name that is made of pieces. */
static uint64_t hash_name(const char *before, const char *name, const char *behind)
{
	uint64_t hash = kt_fnv(KT_FNV_BEGIN, before, strlen(before));

	return hash_string(kt_fnv(hash, name, strlen(name)), behind);
}

/*
 * Note the name BEFORE NAME BEHIND.  babeltrace2 2.0 refuses "x" and "_x" in one structure:
 * it compares names with and without the '_' that CTF 1.8 puts before each.
 *
 * Return: with @check whether it cannot be used (or another name has the same hash);
 * otherwise 0 or -ENOMEM.
 */
static int declare_name(struct kt_map *taken, bool check, const char *before,
			const char *name, const char *behind)
{
	uint64_t hash = hash_name(before, name, behind);

	if (!check)
		return kt_map_put(taken, 0, hash) ? 0 : -ENOMEM;
	if (kt_map_find(taken, 0, hash))
		return true;
	if (kt_map_find(taken, 0, hash_name(*before ? "__" : "_", name, behind)))
		return true;
	if (*before)
		return !!kt_map_find(taken, 0, hash_name("", name, behind));
	return *name == '_' &&
	       kt_map_find(taken, 0, hash_name("", name + 1, behind));
}

/* Note or check all names that a field declares.  Return: as declare_name(). */
static int declare_field_names(struct kt_map *taken, const struct lt_field *f,
			       bool check)
{
	int ret = declare_name(taken, check, "", f->name, "");

	if (!ret && is_sequence(f->kind) && f->fixed < 0)
		ret = declare_name(taken, check, "_", f->name, "_length");
	else if (!ret && f->named)
		ret = declare_name(taken, check, "", f->name, "_name");
	return ret;
}

/*
 * Put a number behind a name that is taken, at @end of it.  The map has the next number to
 * try, so that many equal names do not try all numbers each.
 */
static int number_taken_field(struct kt_map *taken, struct lt_field *f, char *end)
{
	struct kt_map_entry *next =
		kt_map_put(taken, NEXT_NUMBER, hash_name("", f->name, ""));

	if (!next)
		return -ENOMEM;
	next->value = kt_max(next->value, 2);
	do {
		*kt_put_u64(kt_put_char(end, '_'), next->value++) = '\0';
	} while (declare_field_names(taken, f, true));
	return 0;
}

/*
 * Name a field: as an identifier, and other than the fields before it.  Names that differ
 * may become the same identifier: then a number follows.  A length is not declared (the field
 * behind it does that), so its name need not differ.
 */
static int name_field(struct kt_map *taken, struct lt_field *f, const char *name)
{
	size_t len = strlen(name);
	char *end;
	int err = 0;

	f->name = malloc(kt_max(len, 1) + sizeof("_4294967295"));
	if (!f->name)
		return -ENOMEM;
	end = kt_put_identifier(f->name, name, len);
	*end = '\0';
	if (f->is_length)
		return 0;
	if (declare_field_names(taken, f, true))
		err = number_taken_field(taken, f, end);
	return err ? err : declare_field_names(taken, f, false);
}

static void free_user(struct lt_user *user)
{
	for (unsigned int i = 0; user->fields && i < user->nr; i++)
		free(user->fields[i].name);
	free(user->fields);
	free(user->name);
}

/**
 * lt_free_users() - free the event classes of user events and of events with extra fields,
 *	and what is needed to find them
 * @t: trace being written
 */
void lt_free_users(struct lttng *t)
{
	for (uint32_t i = 0; i < t->nr_users; i++)
		free_user(&t->user_list[i]);
	free(t->user_list);
	kt_map_free(&t->users);
	kt_map_free(&t->extended);
	kt_user_event_free(&t->user_event);
}

/* Give a class the decoded fields; @taken has the names of those before them. */
static int add_fields(struct lt_user *c, const struct kt_user_event *user,
		      struct kt_map *taken)
{
	int err = 0;

	c->nr = user->nr;
	c->fields = calloc(kt_max(user->nr, 1), sizeof(*c->fields));
	if (!c->fields)
		return -ENOMEM;
	for (unsigned int i = 0; i < user->nr && !err; i++) {
		const struct kt_user_field *f = &user->fields[i];

		c->fields[i].kind = f->kind;
		c->fields[i].elem = f->elem;
		c->fields[i].fixed = fixed_of(f);
		c->fields[i].narrow = f->narrow;
		c->fields[i].named = f->object;
		c->fields[i].is_length = is_length(user, i);
		err = name_field(taken, &c->fields[i], f->name);
	}
	return err;
}

/**
 * struct own_names - names of the fields that an event has without its extra ones
 * @c: its class with the extra ones
 * @user: the extra ones
 * @taken: the names
 */
struct own_names {
	struct lt_user *c;
	const struct kt_user_event *user;
	struct kt_map taken;
};

/* As lt_take_name: take a name, or leave its field out for an extra one. */
static int take_own(void *arg, const char *name, int row, bool sequence)
{
	const struct lt_field f = {
		.name = (char *)name,
		.kind = sequence ? KT_FIELD_BYTES : KT_FIELD_UNSIGNED,
		.fixed = -1,
	};
	struct own_names *own = arg;

	for (unsigned int i = 0; row >= 0 && i < own->user->nr; i++) {
		if (!strcmp(own->user->fields[i].name, name)) {
			own->c->without |= 1U << row;
			return 0;
		}
	}
	return declare_field_names(&own->taken, &f, false);
}

/*
 * Make a class of what @t->user_event has, behind the fields of event id @base; 0 = there are none:
 * it is the user event of number @id, whose upper bits say the format that it came from.
 * Return: 0 or -ENOMEM; free_user() frees @c in either case.
 */
static int make_class(const struct lttng *t, struct lt_user *c, uint32_t id,
		      uint32_t base)
{
	struct own_names own = { .c = c, .user = &t->user_event };
	char name[LT_NAME_ROOM];
	int err = 0;

	*c = (struct lt_user){ .base = base };
	if (base) {
		lt_class_name(name, t, base);
		c->name = strdup(name);
	} else {
		c->name = make_event_name(&t->user_event,
					  (id & KTAPE_FORMAT_ID_MASK) ==
						  KTAPE_FORMAT_ID_LINUX);
	}
	if (!c->name)
		return -ENOMEM;
	if (base)
		err = lt_each_name(t, base, take_own, &own);
	if (!err)
		err = add_fields(c, &t->user_event, &own.taken);
	kt_map_free(&own.taken);
	return err;
}

/* Append such a class to the list. */
static int add_user(struct lttng *t, uint32_t id, uint32_t base)
{
	struct lt_user *more;
	int err;

	more = realloc(t->user_list, (t->nr_users + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->user_list = more;
	more += t->nr_users;
	err = make_class(t, more, id, base);
	if (err)
		free_user(more);
	else
		t->nr_users++;
	return err;
}

/*
 * Look up or add the class of what @t->user_event has, by its shape and @key in @map: the number of
 * the user event, or @base.
 * Return: 0 with @id set; 1: there is no class for it, because another one has its hash or there
 * are LT_USERS_MAX; or -ENOMEM.
 */
static int find_lttng_user_class(struct lttng *t, struct kt_map *map,
				 uint32_t key, uint32_t base, uint32_t *id)
{
	uint64_t shape = lttng_user_shape_of(&t->user_event);
	struct kt_map_entry *entry = kt_map_find(map, key, shape);
	int err;

	if (entry ? !has_fields(&t->user_list[entry->value], &t->user_event) :
		    t->nr_users == LT_USERS_MAX)
		return 1;
	if (!entry) {
		err = add_user(t, key, base);
		if (err)
			return err;
		entry = kt_map_put(map, key, shape);
		if (!entry)
			return -ENOMEM;
		entry->value = t->nr_users - 1;
	}
	*id = LT_USERS + (uint32_t)entry->value;
	return 0;
}

/**
 * lt_user_id() - look up or add the event class of a user event
 * @t: trace being written; its @user_event is filled from @l
 * @l: event that fits the event table
 * @id: set to the event id on 0
 *
 * Return: 0, 1: there is no class for it, or -ENOMEM.
 */
int lt_user_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	if (!kt_user_event_of(&t->user_event, l) || !t->user_event.name.text)
		return 1;
	if (t->user_event.no_memory)
		return -ENOMEM;
	return find_lttng_user_class(t, &t->users, ktape_event_arg(l->event, 0),
				     0, id);
}

/**
 * lt_extended_id() - look up or add the event class of an event with its extra fields
 * @t: trace being written; if there is a class, its @user_event has the extra fields
 * @l: the event
 * @id: event id without them; set to that of the class, if there is one
 *
 * If there is none, the sink counts the extra fields as left out.
 *
 * Return: 0 or -ENOMEM.
 */
int lt_extended_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	bool has = *id && *id < LT_USERS &&
		   kt_user_extra_of(&t->user_event, l->event);
	int ret;

	if (t->user_event.no_memory)
		return -ENOMEM;
	ret = has ? find_lttng_user_class(t, &t->extended, *id, *id, id) : 1;
	if (ret > 0)
		kt_sink_miss_extra(t->s, l->event);
	return ret < 0 ? ret : 0;
}

/**
 * lt_user_size() - bound the bytes of the field values of a user event
 * @t: trace whose @user_event lt_user_id() or lt_extended_id() has set
 * @l: the event
 *
 * Return: bytes that lt_put_user() takes at most.
 */
size_t lt_user_size(const struct lttng *t, const struct kt_line *l)
{
	size_t size = 0;

	for (unsigned int i = 0; i < t->user_event.nr; i++) {
		const struct kt_user_field *f = &t->user_event.fields[i];

		/* A length, a number or a NUL, and what a vector store may overwrite. */
		size += 16 + f->len;
		if (f->kind == KT_FIELD_ARRAY)
			size += (size_t)f->value * 8;
		if (f->object)
			size += kt_user_field_name(l, f).len + 1;
	}
	return size;
}

static char *put_lttng_user_text(char *p, const char *text, size_t len)
{
	len = strnlen(text, len);
	return kt_put_char(kt_put_mem(p, text, len), '\0');
}

static char *put_lttng_user_float(char *p, uint64_t bits)
{
	float narrow;
	uint32_t v;
	double d;

	memcpy(&d, &bits, sizeof(d));
	narrow = (float)d;
	memcpy(&v, &narrow, sizeof(v));
	return lt_put32(p, v);
}

static char *put_lttng_user_value(char *p, const struct kt_user_field *f)
{
	switch (f->kind) {
	case KT_FIELD_TEXT:
	case KT_FIELD_WORD:
		return put_lttng_user_text(p, f->data, f->len);
	case KT_FIELD_BYTES:
		p = f->fixed ? p : lt_put32(p, f->len);
		return f->len ? kt_put_mem(p, f->data, f->len) : p;
	case KT_FIELD_ARRAY:
		p = f->fixed ? p : lt_put32(p, f->value);
		for (uint64_t i = 0; i < f->value; i++)
			p = f->narrow ?
				    put_lttng_user_float(p, kt_user_element(f, i)) :
				    lt_put64(p, kt_user_element(f, i));
		return p;
	default:
		return f->narrow ? put_lttng_user_float(p, f->value) :
				   lt_put64(p, f->value);
	}
}

/**
 * lt_put_user() - write the field values of a user event
 * @p: where to write
 * @t: trace whose @user_event lt_user_id() or lt_extended_id() has set
 * @l: the event
 *
 * Return: the end of what was written.
 */
char *lt_put_user(char *p, const struct lttng *t, const struct kt_line *l)
{
	for (unsigned int i = 0; i < t->user_event.nr; i++) {
		const struct kt_user_field *f = &t->user_event.fields[i];
		struct kt_name name;

		if (is_length(&t->user_event, i))
			continue;
		p = put_lttng_user_value(p, f);
		if (!f->object)
			continue;
		name = kt_user_field_name(l, f);
		p = put_lttng_user_text(p, name.text ? name.text : "", name.len);
	}
	return p;
}

/* Return the type of a number or a text, or that of the elements of an array. */
static const char *lttng_user_type_of(const struct lt_field *field)
{
	static const char *const types[] = {
		[KT_FIELD_UNSIGNED] = "uint64_t",
		[KT_FIELD_SIGNED] = "int64_t",
		[KT_FIELD_HEX] = "xint64_t",
		[KT_FIELD_TEXT] = "string",
		[KT_FIELD_WORD] = "string",
		[KT_FIELD_DOUBLE] = "double_t",
		[KT_FIELD_BYTES] = "uint8_t",
	};

	return field->narrow ?
		       "float_t" :
		       types[field->kind == KT_FIELD_ARRAY ? field->elem : field->kind];
}

static void describe_field(FILE *f, const struct lt_field *field)
{
	const char *name = field->name, *type = lttng_user_type_of(field);

	if (is_sequence(field->kind) && field->fixed < 0)
		fprintf(f, "\t\tuint32_t __%s_length;\n\t\t%s _%s[__%s_length];\n",
			name, type, name, name);
	else if (is_sequence(field->kind))
		fprintf(f, "\t\t%s _%s[%lld];\n", type, name,
			(long long)field->fixed);
	else
		fprintf(f, "\t\t%s _%s;\n", type, name);
	if (field->named)
		fprintf(f, "\t\tstring _%s_name;\n", name);
}

/**
 * lt_describe_user() - write the metadata of a user event's fields
 * @f: metadata text
 * @user: event class
 */
void lt_describe_user(FILE *f, const struct lt_user *user)
{
	for (unsigned int i = 0; i < user->nr; i++) {
		if (!user->fields[i].is_length)
			describe_field(f, &user->fields[i]);
	}
}
