// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse the kernel's descriptions of its records, and read records by them.  Only what the
 * bytes need is read: the kernel's print format is not.
 */
#include "layout.h"

#define LAYOUTS_MAX	65536U
#define FIELD		"field:"

struct span {
	const char *at;
	const char *end;
};

/* Take the text up to @stop and go behind it.  Return: false at the end. */
static bool take_until(struct span *s, char stop, struct span *part)
{
	const char *found = memchr(s->at, stop, (size_t)(s->end - s->at));

	if (!found)
		return false;
	*part = (struct span){ s->at, found };
	s->at = found + 1;
	return true;
}

static bool begins(const struct span *s, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(s->end - s->at) >= len && !memcmp(s->at, word, len);
}

static void trim(struct span *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	while (s->end > s->at && (s->end[-1] == ' ' || s->end[-1] == '\t'))
		s->end--;
}

/* Read "key:NUMBER" of a line.  Return: false if the line has no such number. */
static bool take_number(struct span line, const char *key, uint32_t *number)
{
	const char *at = memmem(line.at, (size_t)(line.end - line.at), key,
				strlen(key));
	uint64_t v = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (at == line.end || *at < '0' || *at > '9')
		return false;
	for (; at < line.end && *at >= '0' && *at <= '9'; at++) {
		v = v * 10 + (uint64_t)(*at - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*number = (uint32_t)v;
	return true;
}

static bool has_word(const struct span *s, const char *word)
{
	return memmem(s->at, (size_t)(s->end - s->at), word, strlen(word));
}

/* Split "unsigned long args[6]" into type and name; @array is set for brackets. */
static bool split_declaration(struct span decl, struct span *type,
			      struct span *name, bool *array)
{
	const char *bracket;

	trim(&decl);
	bracket = memchr(decl.at, '[', (size_t)(decl.end - decl.at));
	/* "__data_loc char[] name" has them in the type. */
	if (bracket && begins(&decl, "__data_loc"))
		bracket = NULL;
	if (bracket && begins(&decl, "__rel_loc"))
		bracket = NULL;
	*array = bracket;
	if (bracket)
		decl.end = bracket;
	trim(&decl);
	name->end = decl.end;
	for (name->at = decl.end; name->at > decl.at; name->at--) {
		char c = name->at[-1];

		if (c == ' ' || c == '\t' || c == '*' || c == ']')
			break;
	}
	*type = (struct span){ decl.at, name->at };
	trim(type);
	return name->at < name->end && type->at < type->end;
}

static uint8_t type_of(const struct span *type, bool array, uint32_t size)
{
	bool is_char = has_word(type, "char") && !has_word(type, "unsigned char");

	if (begins(type, "__data_loc") || begins(type, "__rel_loc"))
		return is_char ? KT_TP_TEXT : KT_TP_BYTES;
	if (array)
		return is_char ? KT_TP_TEXT : KT_TP_BYTES;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return KT_TP_BYTES;
	return has_word(type, "*") ? KT_TP_HEX : KT_TP_UNSIGNED;
}

static void copy_span(char *to, size_t room, const struct span *from)
{
	size_t len = kt_min((uint64_t)(from->end - from->at), room - 1);

	memcpy(to, from->at, len);
	to[len] = '\0';
}

/* Add the field of a line "field:TYPE NAME; offset:..".  Return: 0, or negative errno. */
static int add_field(struct kt_layouts *all, struct kt_layout *l,
		     struct span line)
{
	uint32_t offset, size, is_signed = 0;
	struct span decl, type, name;
	struct kt_layout_field *place;
	struct kt_tp_field *f;
	bool array;

	line.at += strlen(FIELD);
	if (!take_until(&line, ';', &decl) ||
	    !split_declaration(decl, &type, &name, &array) ||
	    !take_number(line, "offset:", &offset) ||
	    !take_number(line, "size:", &size))
		return -EBADMSG;
	take_number(line, "signed:", &is_signed);
	if (begins(&name, "common_")) {
		if (begins(&name, "common_pid"))
			l->pid_offset = offset;
		if (begins(&name, "common_type"))
			all->type_size = size;
		return 0;
	}
	if (l->class.nr == KT_TP_FIELDS)
		return 0;
	f = realloc(l->class.fields, (l->class.nr + 1ULL) * sizeof(*f));
	if (!f)
		return -ENOMEM;
	l->class.fields = f;
	place = realloc(l->fields, (l->class.nr + 1ULL) * sizeof(*place));
	if (!place)
		return -ENOMEM;
	l->fields = place;
	f += l->class.nr;
	place += l->class.nr++;
	copy_span(f->name, sizeof(f->name), &name);
	f->type = type_of(&type, array, size);
	if (f->type == KT_TP_UNSIGNED && is_signed)
		f->type = KT_TP_SIGNED;
	*place = (struct kt_layout_field){ offset, size, KT_BYTES_HERE };
	if (begins(&type, "__data_loc"))
		place->where = KT_BYTES_AT;
	else if (begins(&type, "__rel_loc"))
		place->where = KT_BYTES_BEHIND;
	return 0;
}

/* Read the lines of a description.  Return: 0, or negative errno. */
static int parse_lines(struct kt_layouts *all, struct kt_layout *l,
		       struct span text)
{
	struct span line, name;
	bool has_id = false;
	int err = 0;

	while (!err && take_until(&text, '\n', &line)) {
		trim(&line);
		if (begins(&line, "name:")) {
			name = (struct span){ line.at + 5, line.end };
			trim(&name);
			copy_span(l->class.name, sizeof(l->class.name), &name);
		} else if (begins(&line, "ID:")) {
			struct span id = { line.at + 3, line.end };

			trim(&id);
			has_id = take_number(id, "", &l->id);
		} else if (begins(&line, FIELD)) {
			err = add_field(all, l, line);
		} else if (begins(&line, "print fmt")) {
			break;
		}
	}
	if (err)
		return err;
	return has_id && *l->class.name ? 0 : -EBADMSG;
}

/**
 * kt_layout_add() - add the description of an event
 * @l: all events
 * @text: the description
 * @len: bytes of @text
 *
 * Return: 0, -EBADMSG if it is none, or -ENOMEM.
 */
int kt_layout_add(struct kt_layouts *l, const char *text, size_t len)
{
	struct kt_layout *more;
	int err;

	if (l->nr == LAYOUTS_MAX)
		return -EBADMSG;
	if (!(l->nr & (l->nr - 1))) {
		more = realloc(l->list, (l->nr ? l->nr * 2 : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->list = more;
	}
	more = &l->list[l->nr];
	memset(more, 0, sizeof(*more));
	err = parse_lines(l, more, (struct span){ text, text + len });
	if (err) {
		free(more->class.fields);
		free(more->fields);
		return err;
	}
	l->nr++;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct kt_layout *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/**
 * kt_layouts_bind() - find out what the events become, after all were added
 * @l: all events
 * @tp: memory of the reader
 *
 * Return: 0 or negative errno.
 */
int kt_layouts_bind(struct kt_layouts *l, struct kt_tp *tp)
{
	int err = 0;

	if (l->nr && l->type_size != 2 && l->type_size != 4)
		return kt_import_fail(tp->s, tp->s->in->offset,
				      "the layouts of events have no number of 16 or 32 bits at their beginning");
	if (l->nr)
		qsort(l->list, l->nr, sizeof(*l->list), by_id);
	for (size_t i = 0; i < l->nr && !err; i++)
		err = kt_tp_bind(tp, &l->list[i].class);
	return err;
}

struct kt_layout *kt_layout_find(const struct kt_layouts *l, uint32_t id)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->list[middle].id == id)
			return &l->list[middle];
		if (l->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint64_t number_at(const uint8_t *p, uint32_t size, bool is_signed)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
	case 2: {
		uint16_t v = (uint16_t)(p[0] | p[1] << 8);

		return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
	}
	case 4: {
		uint32_t v = kt_get32(p);

		return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	}
	default:
		return kt_get64(p);
	}
}

/* Return common_pid of a record, -1 if it has none. */
int32_t kt_layout_pid(const struct kt_layout *l, const uint8_t *data, size_t len)
{
	if (!l->pid_offset || l->pid_offset > len || len - l->pid_offset < 4)
		return -1;
	return (int32_t)kt_get32(data + l->pid_offset);
}

/* Find the bytes of a field.  Return: false if they are not in the record. */
static bool find_bytes(const struct kt_layout_field *f, const uint8_t *data,
		       size_t len, struct kt_tp_value *v)
{
	size_t offset = f->offset, size = f->size;

	if (offset > len || size > len - offset)
		return false;
	if (f->where != KT_BYTES_HERE) {
		uint32_t loc;

		if (size < 4)
			return false;
		loc = kt_get32(data + offset);
		size = loc >> 16;
		offset = (loc & 0xffff) +
			 (f->where == KT_BYTES_BEHIND ? offset + 4 : 0);
		if (offset > len || size > len - offset)
			return false;
	}
	v->data = data + offset;
	v->len = size;
	return true;
}

/**
 * kt_layout_read() - read the fields of a record
 * @l: the layout
 * @data: the record, from its number on
 * @len: bytes of @data
 * @values: filled, in the order of the class
 *
 * Return: false if a field is not in the record.
 */
bool kt_layout_read(const struct kt_layout *l, const uint8_t *data, size_t len,
		    struct kt_tp_value *values)
{
	for (unsigned int i = 0; i < l->class.nr; i++) {
		struct kt_tp_value *v = &values[i];
		uint8_t type = l->class.fields[i].type;

		v->number = 0;
		if (!find_bytes(&l->fields[i], data, len, v))
			return false;
		if (type == KT_TP_TEXT)
			v->len = strnlen(v->data, v->len);
		else if (type != KT_TP_BYTES)
			v->number = number_at(v->data, l->fields[i].size,
					      type == KT_TP_SIGNED);
	}
	return true;
}

void kt_layouts_free(struct kt_layouts *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->list[i].class.fields);
		free(l->list[i].fields);
	}
	free(l->list);
	memset(l, 0, sizeof(*l));
}
