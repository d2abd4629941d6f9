// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Parse the kernel's descriptions of its records, and read records by them.  Only what the
 * bytes need is read: the kernel's print format is not.
 */
#include "layout.h"

#define LAYOUTS_MAX 65536U
#define FIELD	    "field:"

/* A part of a text. */
struct span {
	const char *at;
	const char *end;
};

/* Take the text up to @stop and go behind it.  Return: false if no @stop is left. */
static bool take_until(struct span *s, char stop, struct span *part)
{
	const char *found = memchr(s->at, stop, (size_t)(s->end - s->at));

	if (!found)
		return false;
	*part = (struct span){ s->at, found };
	s->at = found + 1;
	return true;
}

static bool layout_begins_with(const struct span *s, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(s->end - s->at) >= len && !memcmp(s->at, word, len);
}

static void trim_field(struct span *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
		s->at++;
	while (s->end > s->at && (s->end[-1] == ' ' || s->end[-1] == '\t'))
		s->end--;
}

/* Read the number directly behind @key in a line.  Return: false if there is none of 32 bits. */
static bool take_layout_number(struct span line, const char *key, uint32_t *number)
{
	const char *at =
		memmem(line.at, (size_t)(line.end - line.at), key, strlen(key));
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

/* Check whether a text occurs anywhere in a span, also inside a word. */
static bool layout_contains(const struct span *s, const char *text)
{
	return memmem(s->at, (size_t)(s->end - s->at), text, strlen(text));
}

/* Split "unsigned long args[6]" into type and name; @count is what is in the brackets. */
static bool split_declaration(struct span decl, struct span *type,
			      struct span *name, struct span *count)
{
	const char *bracket;

	trim_field(&decl);
	bracket = memchr(decl.at, '[', (size_t)(decl.end - decl.at));
	/* "__data_loc char[] name" has them in the type. */
	if (bracket && layout_begins_with(&decl, "__data_loc"))
		bracket = NULL;
	if (bracket && layout_begins_with(&decl, "__rel_loc"))
		bracket = NULL;
	*count = (struct span){ bracket, bracket ? decl.end : NULL };
	if (bracket)
		decl.end = bracket;
	trim_field(&decl);
	name->end = decl.end;
	for (name->at = decl.end; name->at > decl.at; name->at--) {
		char c = name->at[-1];

		if (c == ' ' || c == '\t' || c == '*' || c == ']')
			break;
	}
	*type = (struct span){ decl.at, name->at };
	trim_field(type);
	return name->at < name->end && type->at < type->end;
}

/* ---- types --------------------------------------------------------------------------------- */

/* Sizes of types by a part of their name, the first that occurs in it; 0: that of a long. */
static const struct {
	const char *part;
	uint8_t size;
} sizes[] = {
	{ "u8", 1 },	   { "s8", 1 },	       { "int8_t", 1 },
	{ "bool", 1 },	   { "_Bool", 1 },     { "char", 1 },
	{ "16", 2 },	   { "short", 2 },     { "32", 4 },
	{ "64", 8 },	   { "long long", 8 }, { "long", 0 },
	{ "size_t", 0 },   { "cpumask_t", 0 }, { "int", 4 },
	{ "unsigned", 4 }, { "pid_t", 4 },
};

/* Return the bytes of an element of an array, 0 if they are not known. */
static uint32_t element_size(const struct kt_layouts *all, const struct span *type,
			     const struct span *count, uint32_t size)
{
	uint32_t number, word = all->long_size ? all->long_size : 8;

	if (layout_contains(type, "struct ") || layout_contains(type, "union "))
		return 0;
	if (count->at && size && take_layout_number(*count, "[", &number) && number)
		return size % number ? 0 : size / number;
	if (layout_contains(type, "*"))
		return word;
	for (size_t i = 0; i < KT_ARRAY_SIZE(sizes); i++) {
		if (layout_contains(type, sizes[i].part))
			return sizes[i].size ? sizes[i].size : word;
	}
	return 0;
}

/* Fields of type unsigned long with these names are addresses. */
static bool is_address(const char *name)
{
	static const char *const names[] = {
		"ip",	      "parent_ip",    "func",		"call_site",
		"caller",     "addr",	      "address",	"vaddr",
		"__probe_ip", "__probe_func", "__probe_ret_ip",
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

static bool is_int_width(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/*
 * Set the type of a field, and where it is.  A "char *" is the address of a text: it has type HEX,
 * and @to_text, by which kt_tracing_read() may make it a TEXT.
 */
static void set_layout_type(const struct kt_layouts *all, struct kt_tp_field *f,
			    struct kt_layout_field *place, const struct span *type,
			    const struct span *count, bool is_signed)
{
	bool is_char = layout_contains(type, "char") &&
		       !layout_contains(type, "unsigned char");
	uint8_t number = layout_contains(type, "*") ||
					 layout_contains(type, "cpumask_t") ||
					 (layout_contains(type, "unsigned long") &&
					  is_address(f->name)) ?
				 KT_TP_HEX :
			 is_signed ? KT_TP_SIGNED :
				     KT_TP_UNSIGNED;
	uint32_t elem;

	if (layout_begins_with(type, "__data_loc"))
		place->where = KT_BYTES_AT;
	else if (layout_begins_with(type, "__rel_loc"))
		place->where = KT_BYTES_BEHIND;
	else if (count->at && !place->size)
		place->where = KT_BYTES_REST;
	if (!count->at && place->where == KT_BYTES_HERE) {
		f->type = is_int_width(place->size) ? number : KT_TP_BYTES;
		f->fixed = true;
		f->wide = place->size > 4;
		place->to_text = f->type == KT_TP_HEX &&
				 layout_contains(type, "char *");
		return;
	}
	f->fixed = place->where == KT_BYTES_HERE;
	elem = element_size(all, type, count, place->size);
	if (is_char && elem == 1) {
		f->type = KT_TP_TEXT;
	} else if (elem > 1 && is_int_width(elem)) {
		f->type = KT_TP_ARRAY;
		f->elem = number;
		place->elem = (uint8_t)elem;
	} else {
		f->type = KT_TP_BYTES;
	}
}

static void copy_span(char *to, size_t room, const struct span *from)
{
	size_t len = kt_min((uint64_t)(from->end - from->at), room - 1);

	memcpy(to, from->at, len);
	to[len] = '\0';
}

/**
 * kt_layout_append() - add a field to an event
 * @l: the event
 * @name: its name, which stays where it is
 * @type: enum kt_tp_type
 *
 * The field is in no bytes of the record: KT_BYTES_NONE.
 *
 * Return: 0, -ENOSPC if the event has too many, or -ENOMEM.
 */
int kt_layout_append(struct kt_layout *l, const char *name, uint8_t type)
{
	struct kt_layout_field *place;
	struct kt_tp_field *f;

	if (l->nr == KT_TP_FIELDS)
		return -ENOSPC;
	f = realloc(l->class.fields, (l->nr + 1ULL) * sizeof(*f));
	if (!f)
		return -ENOMEM;
	l->class.fields = f;
	place = realloc(l->fields, (l->nr + 1ULL) * sizeof(*place));
	if (!place)
		return -ENOMEM;
	l->fields = place;
	f[l->nr] = (struct kt_tp_field){ .name = name, .type = type };
	place[l->nr] = (struct kt_layout_field){ .where = KT_BYTES_NONE };
	l->class.nr = ++l->nr;
	return 0;
}

/*
 * Add the field of a line "field:TYPE NAME; offset:..".  Of the common fields only the place of the
 * thread and the size of the event's number are noted.  A field beyond KT_TP_FIELDS is counted.
 * Return: 0, -EBADMSG if the line is no such, or -ENOMEM.
 */
static int add_layout_field(struct kt_layouts *all, struct kt_layout *l,
			    struct span line)
{
	uint32_t offset, size, is_signed = 0;
	struct span decl, type, name, count;
	const char *text;
	size_t len;
	int err;

	line.at += strlen(FIELD);
	if (!take_until(&line, ';', &decl) ||
	    !split_declaration(decl, &type, &name, &count) ||
	    !take_layout_number(line, "offset:", &offset) ||
	    !take_layout_number(line, "size:", &size))
		return -EBADMSG;
	take_layout_number(line, "signed:", &is_signed);
	if (layout_begins_with(&name, "common_")) {
		if (layout_begins_with(&name, "common_pid"))
			l->pid_offset = offset;
		if (layout_begins_with(&name, "common_type"))
			all->type_size = size;
		return 0;
	}
	if (l->class.nr == KT_TP_FIELDS) {
		if (!all->left++)
			memcpy(all->left_of, l->class.name, sizeof(all->left_of));
		return 0;
	}
	len = kt_min((size_t)(name.end - name.at), KT_TP_NAME);
	all->cut += len < (size_t)(name.end - name.at);
	text = kt_texts_add(&all->names, name.at, len, "");
	err = text ? kt_layout_append(l, text, 0) : -ENOMEM;
	if (err)
		return err;
	l->fields[l->nr - 1] =
		(struct kt_layout_field){ .offset = offset, .size = size };
	set_layout_type(all, &l->class.fields[l->nr - 1], &l->fields[l->nr - 1],
			&type, &count, is_signed);
	l->has_texts |= l->fields[l->nr - 1].to_text;
	return 0;
}

/* Read the lines of a description.  Return: 0, or negative errno. */
static int parse_lines(struct kt_layouts *all, struct kt_layout *l, struct span text)
{
	struct span line, name;
	bool has_id = false;
	int err = 0;

	while (!err && take_until(&text, '\n', &line)) {
		trim_field(&line);
		if (layout_begins_with(&line, "name:")) {
			name = (struct span){ line.at + 5, line.end };
			trim_field(&name);
			copy_span(l->class.name, sizeof(l->class.name), &name);
		} else if (layout_begins_with(&line, "ID:")) {
			struct span id = { line.at + 3, line.end };

			trim_field(&id);
			has_id = take_layout_number(id, "", &l->id);
		} else if (layout_begins_with(&line, FIELD)) {
			err = add_layout_field(all, l, line);
		} else if (layout_begins_with(&line, "print fmt")) {
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
 * Return: 0, -EBADMSG if @text is no description or there are too many, or -ENOMEM.
 */
int kt_layout_add(struct kt_layouts *l, const char *text, size_t len)
{
	struct kt_layout *more;
	int err;

	if (l->nr == LAYOUTS_MAX)
		return -EBADMSG;
	/* The list has room for a power of two: at 0 and at each of these it is full. */
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

static int by_layout_id(const void *a, const void *b)
{
	const struct kt_layout *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/**
 * kt_layouts_bind() - find out what the events become, after all were added
 * @l: all events
 * @tp: memory of the reader
 *
 * From here on kt_layout_find() finds them.
 *
 * Return: 0 or negative errno.
 */
int kt_layouts_bind(struct kt_layouts *l, struct kt_tp *tp)
{
	int err = 0;

	if (l->nr && l->type_size != 2 && l->type_size != 4)
		return kt_import_fail(
			tp->s, tp->s->in->offset,
			"the layouts of events have no number of 16 or 32 bits at their beginning");
	if (l->nr)
		qsort(l->list, l->nr, sizeof(*l->list), by_layout_id);
	for (size_t i = 0; i < l->nr && !err; i++)
		err = kt_tp_bind(tp, &l->list[i].class);
	if (l->cut)
		kt_import_note(tp->s,
			       "%llu names of fields have more than %u bytes and are cut",
			       (unsigned long long)l->cut, KT_TP_NAME);
	if (l->left)
		kt_import_note(
			tp->s,
			"%llu fields were left out, the first of event %s: an event keeps %u of them",
			(unsigned long long)l->left, l->left_of, KT_TP_FIELDS);
	return err;
}

/* Return the layout of an event by its number, or NULL. */
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

static uint64_t layout_number_at(const uint8_t *p, uint32_t size,
				 bool is_signed, bool big)
{
	switch (size) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
	case 2: {
		uint16_t v = kt_load16(p, big);

		return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
	}
	case 4: {
		uint32_t v = kt_load32(p, big);

		return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	}
	default:
		return kt_load64(p, big);
	}
}

/* Return common_pid of a record, -1 if it has none. */
int32_t kt_layout_pid(const struct kt_layouts *all, const struct kt_layout *l,
		      const uint8_t *data, size_t len)
{
	if (!l->pid_offset || l->pid_offset > len || len - l->pid_offset < 4)
		return -1;
	return (int32_t)kt_load32(data + l->pid_offset, all->big);
}

/* Find the bytes of a field.  Return: false if they are not in the record. */
static bool find_bytes(const struct kt_layout_field *f, const uint8_t *data,
		       size_t len, bool big, struct kt_tp_value *v)
{
	size_t offset = f->offset, size = f->size;

	if (f->where == KT_BYTES_NONE) {
		v->data = NULL;
		v->len = 0;
		return true;
	}
	if (offset > len || size > len - offset)
		return false;
	if (f->where == KT_BYTES_REST) {
		size = len - offset;
	} else if (f->where != KT_BYTES_HERE) {
		uint32_t loc;

		if (size < 4)
			return false;
		loc = kt_load32(data + offset, big);
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

/* Make room for elements of arrays.  Return: 0 or -ENOMEM. */
static int make_layout_room(struct kt_layouts *all, size_t nr)
{
	uint64_t *more;

	if (nr <= all->room)
		return 0;
	more = realloc(all->elements, nr * sizeof(*more));
	if (!more)
		return -ENOMEM;
	all->elements = more;
	all->room = nr;
	return 0;
}

/* Widen the elements of an array to 8 bytes.  Return: the end of them. */
static uint64_t *widen_elements(uint64_t *to, const struct kt_layout_field *place,
				const struct kt_tp_field *f, bool big,
				struct kt_tp_value *v)
{
	const uint8_t *p = v->data;
	size_t nr = v->len / place->elem;

	v->data = to;
	v->len = nr * sizeof(*to);
	for (; nr; nr--, p += place->elem)
		*to++ = layout_number_at(p, place->elem,
					 f->elem == KT_TP_SIGNED, big);
	return to;
}

/**
 * kt_layout_read() - read the fields of a record
 * @all: all events
 * @l: the layout
 * @data: the record, from the number of its event on
 * @len: bytes of @data
 * @values: filled, in the order of the class; arrays are valid up to the next call
 *
 * Return: 0, -EBADMSG if a field is not in the record, or -ENOMEM.
 */
int kt_layout_read(struct kt_layouts *all, const struct kt_layout *l,
		   const uint8_t *data, size_t len, struct kt_tp_value *values)
{
	uint64_t *next;
	size_t nr = 0;

	for (unsigned int i = 0; i < l->nr; i++) {
		if (!find_bytes(&l->fields[i], data, len, all->big, &values[i]))
			return -EBADMSG;
		if (l->fields[i].elem)
			nr += values[i].len / l->fields[i].elem;
	}
	/*
	 * Fields of a kernel do not overlap, and an element has a byte at least.  More elements
	 * than bytes are of a damaged record, for which no memory is taken.
	 */
	if (nr > len)
		return -EBADMSG;
	if (make_layout_room(all, nr))
		return -ENOMEM;
	next = all->elements;
	for (unsigned int i = 0; i < l->nr; i++) {
		const struct kt_tp_field *f = &l->class.fields[i];
		struct kt_tp_value *v = &values[i];

		v->number = 0;
		/* Of a raw field the caller makes the value (ftrace_own.c). */
		if (!v->data || l->fields[i].raw)
			continue;
		/* A field with @to_text may be a TEXT since the record before: its bytes are a number. */
		if (f->type == KT_TP_TEXT && !l->fields[i].to_text)
			v->len = strnlen(v->data, v->len);
		else if (f->type == KT_TP_ARRAY)
			next = widen_elements(next, &l->fields[i], f, all->big, v);
		else if (f->type != KT_TP_BYTES)
			v->number = layout_number_at(v->data, l->fields[i].size,
						     f->type == KT_TP_SIGNED,
						     all->big);
	}
	return 0;
}

void kt_layouts_free(struct kt_layouts *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->list[i].class.fields);
		free(l->list[i].fields);
	}
	free(l->list);
	free(l->elements);
	kt_texts_free(&l->names);
	memset(l, 0, sizeof(*l));
}
