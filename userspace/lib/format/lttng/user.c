// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * User events of the lttng format.  A user event that has a name (of its own or of
 * the format it came from) gets an event class with that name and its fields.
 * Other fields or another name make another class.  Events without a name, and
 * classes beyond LT_USERS_MAX, are written as ktape_user_event by map.c.
 */
#include "internal.h"

#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

/* Return a hash of the name and of the names and kinds of the fields. */
static uint64_t shape_of(const struct kt_user_event *t)
{
	uint64_t hash = FNV_BASIS;

	for (size_t i = 0; i < t->name.len; i++)
		hash = (hash ^ (uint8_t)t->name.text[i]) * FNV_PRIME;
	for (unsigned int i = 0; i < t->nr; i++) {
		const char *p = t->fields[i].name;

		hash = (hash ^ t->fields[i].kind) * FNV_PRIME;
		hash = (hash ^ !!t->fields[i].object) * FNV_PRIME;
		for (; *p; p++)
			hash = (hash ^ (uint8_t)*p) * FNV_PRIME;
	}
	return hash;
}

/* Compare the fields, because two shapes may have the same hash. */
static bool has_fields(const struct lt_user *user,
		       const struct kt_user_event *t)
{
	if (user->nr != t->nr)
		return false;
	for (unsigned int i = 0; i < t->nr; i++) {
		if (user->kinds[i] != t->fields[i].kind ||
		    user->named[i] != !!t->fields[i].object)
			return false;
	}
	return true;
}

/* Make the event name; what could break the quoted text becomes '_'. */
static void copy_name(char *to, size_t room, const struct kt_user_event *t)
{
	int n = snprintf(to, room, "%s_%.*s", t->format, (int)t->name.len,
			 t->name.text);

	for (int i = 0; i < n && to[i]; i++) {
		if (to[i] <= ' ' || to[i] > '~' || to[i] == '"' ||
		    to[i] == '\\')
			to[i] = '_';
	}
}

/* Make name @nr of those that the metadata declare for a field, or an empty text. */
static void declared(char to[LT_FIELD + 16], const char *name, uint8_t kind,
		     bool named, unsigned int nr)
{
	*to = '\0';
	if (!nr)
		snprintf(to, LT_FIELD + 16, "_%s", name);
	else if (nr == 1 && kind == KT_FIELD_BYTES)
		snprintf(to, LT_FIELD + 16, "__%s_length", name);
	else if (nr == 2 && named)
		snprintf(to, LT_FIELD + 16, "_%s_name", name);
}

/* Check whether fields @a and @b of a class declare a name both. */
static bool collide(const struct lt_user *user, unsigned int a, unsigned int b)
{
	char one[LT_FIELD + 16], other[LT_FIELD + 16];

	for (unsigned int i = 0; i < 9; i++) {
		declared(one, user->fields[a], user->kinds[a], user->named[a],
			 i / 3);
		declared(other, user->fields[b], user->kinds[b],
			 user->named[b], i % 3);
		if (*one && !strcmp(one, other))
			return true;
	}
	return false;
}

static bool is_taken(const struct lt_user *user, unsigned int nr)
{
	unsigned int i = 0;

	while (i < nr && !collide(user, i, nr))
		i++;
	return i < nr;
}

/*
 * Name field @nr of a class: as an identifier, and other than the fields before it.  Names
 * that differ may become the same, cut or as identifiers: then a number follows.
 */
static void name_field(struct lt_user *user, unsigned int nr, const char *name)
{
	char *to = user->fields[nr], *end;
	size_t len = strnlen(name, LT_FIELD - 1);

	end = kt_put_identifier(to, name, len);
	*end = '\0';
	len = kt_min((size_t)(end - to), LT_FIELD - 8);
	for (unsigned int more = 2; is_taken(user, nr); more++)
		snprintf(to + len, LT_FIELD - len, "_%u", more);
}

static int add_user(struct lttng *t)
{
	const struct kt_user_event *user = &t->user_event;
	struct lt_user *more;

	more = realloc(t->user_list, (t->nr_users + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	t->user_list = more;
	more += t->nr_users++;
	copy_name(more->name, sizeof(more->name), user);
	more->nr = user->nr;
	for (unsigned int i = 0; i < user->nr; i++) {
		const struct kt_user_field *f = &user->fields[i];

		more->kinds[i] = f->kind;
		more->named[i] = f->object;
		name_field(more, i, f->name);
	}
	return 0;
}

/**
 * lt_user_id() - look up or add the event class of a user event
 * @t: trace being written; its @user_event is set
 * @l: event that fits the event table
 * @id: set to the event id
 *
 * Return: 0, 1: there is no class for it, or -ENOMEM.
 */
int lt_user_id(struct lttng *t, const struct kt_line *l, uint32_t *id)
{
	struct kt_map_entry *entry;
	int err = 0;

	if (!kt_user_event_of(&t->user_event, l) || !t->user_event.name.text)
		return 1;
	if (t->user_event.cut)
		kt_sink_miss(t->s, KT_USER_FIELDS_CUT, 1);
	entry = kt_map_find(&t->users, ktape_event_arg(l->event, 0),
			    shape_of(&t->user_event));
	if (entry ? !has_fields(&t->user_list[entry->value], &t->user_event) :
		    t->nr_users == LT_USERS_MAX)
		return 1;
	if (!entry) {
		entry = kt_map_put(&t->users, ktape_event_arg(l->event, 0),
				   shape_of(&t->user_event));
		err = entry ? add_user(t) : -ENOMEM;
		if (!err)
			entry->value = t->nr_users - 1;
	}
	if (!err)
		*id = LT_USERS + (uint32_t)entry->value;
	return err;
}

static char *put_text(char *p, const char *text, size_t len)
{
	len = strnlen(text, len);
	return kt_put_char(kt_put_mem(p, text, len), '\0');
}

/**
 * lt_put_user() - write the field values of a user event
 * @p: where to write
 * @t: trace whose @user_event lt_user_id() has set
 * @l: the event
 *
 * Return: the end of what was written.
 */
char *lt_put_user(char *p, const struct lttng *t, const struct kt_line *l)
{
	for (unsigned int i = 0; i < t->user_event.nr; i++) {
		const struct kt_user_field *f = &t->user_event.fields[i];
		struct kt_name name;

		if (f->kind == KT_FIELD_TEXT || f->kind == KT_FIELD_WORD) {
			p = put_text(p, f->data, f->len);
		} else if (f->kind == KT_FIELD_BYTES) {
			p = lt_put32(p, f->len);
			p = f->len ? kt_put_mem(p, f->data, f->len) : p;
		} else {
			p = lt_put64(p, f->value);
		}
		if (!f->object)
			continue;
		name = kt_user_field_name(l, f);
		p = put_text(p, name.text ? name.text : "", name.len);
	}
	return p;
}

/**
 * lt_describe_user() - write the metadata of a user event's fields
 * @f: metadata text
 * @user: event class
 */
void lt_describe_user(FILE *f, const struct lt_user *user)
{
	static const char *const types[] = {
		[KT_FIELD_UNSIGNED] = "uint64_t", [KT_FIELD_SIGNED] = "int64_t",
		[KT_FIELD_HEX] = "xint64_t",	 [KT_FIELD_TEXT] = "string",
		[KT_FIELD_WORD] = "string",
	};

	fputs("\tfields := struct {\n", f);
	for (unsigned int i = 0; i < user->nr; i++) {
		const char *name = user->fields[i];

		if (user->kinds[i] == KT_FIELD_BYTES)
			fprintf(f,
				"\t\tuint32_t __%s_length;\n\t\tuint8_t _%s[__%s_length];\n",
				name, name, name);
		else
			fprintf(f, "\t\t%s _%s;\n", types[user->kinds[i]],
				name);
		if (user->named[i])
			fprintf(f, "\t\tstring _%s_name;\n", name);
	}
	fputs("\t};\n};\n\n", f);
}
