// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events of ftrace itself, whose layout does not say all of a record (ftrace_own.h): adapt the
 * layout to what records have, then make the texts of trace_printk() and the names of stacks.
 */
#include "ftrace_own.h"

static const struct {
	const char *name;
	uint8_t own;
	const char *text; /* the field that gets the text or the frames */
	const char *from; /* the field that it is made from, or NULL */
} events[] = {
	{ "print", KT_FTRACE_PRINT, "buf", NULL },
	{ "bprint", KT_FTRACE_BPRINT, "buf", "fmt" },
	{ "bputs", KT_FTRACE_BPUTS, "str", NULL },
	{ "kernel_stack", KT_FTRACE_KERNEL_STACK, "caller", "size" },
	{ "user_stack", KT_FTRACE_USER_STACK, "caller", NULL },
	{ "raw_data", KT_FTRACE_RAW, "buf", NULL },
};

static int16_t ftrace_field_of(const struct kt_layout *l, const char *name)
{
	for (unsigned int i = 0; name && i < l->nr; i++) {
		if (!strcmp(l->class.fields[i].name, name))
			return (int16_t)i;
	}
	return -1;
}

static bool is_number_field(const struct kt_layout *l, int16_t field)
{
	return field >= 0 && l->class.fields[field].type < KT_TP_TEXT;
}

/* Read the field as bytes, of which kt_ftrace_finish() makes the text. */
static void make_text(struct kt_layout *l)
{
	l->class.fields[l->text].type = KT_TP_TEXT;
	l->fields[l->text].elem = 0;
	l->fields[l->text].raw = true;
	l->fields[l->text].to_text = false;
}

/*
 * Hide a field, the address of a format: exchange it with the last field, and show one field less.
 * The last one may have been that of the text.
 */
static void hide_ftrace_field(struct kt_layout *l, int16_t field)
{
	int16_t last = (int16_t)(l->nr - 1);
	struct kt_tp_field f = l->class.fields[last];
	struct kt_layout_field place = l->fields[last];

	l->class.fields[last] = l->class.fields[field];
	l->class.fields[field] = f;
	l->fields[last] = l->fields[field];
	l->fields[field] = place;
	l->text = ftrace_field_of(l, "buf");
	l->from = last;
	l->class.nr = l->nr - 1;
}

/*
 * The layout declares an array of 8 frames.  A stack of the kernel has its own number of them, up
 * to the end of the record; the names of their functions become a further field.
 */
static int bind_stack(struct kt_layout *l, bool has_symbols)
{
	struct kt_tp_field *f = &l->class.fields[l->text];

	f->elem = KT_TP_HEX;
	f->fixed = false;
	if (l->own != KT_FTRACE_KERNEL_STACK)
		return 0;
	l->fields[l->text].where = KT_BYTES_REST;
	l->fields[l->text].size = 0;
	/* An event with the most fields that are kept gets no names. */
	if (!has_symbols || l->nr == KT_TP_FIELDS)
		return 0;
	return kt_layout_append(l, "functions", KT_TP_TEXT);
}

/**
 * kt_ftrace_bind() - set @l->own if an event is in the table above, and adapt its layout
 * @l: an event of ftrace itself
 * @has_symbols: names of the kernel's functions are known
 *
 * An event of that name without the fields of the table is read as its layout says.
 *
 * Return: 0 or -ENOMEM.
 */
int kt_ftrace_bind(struct kt_layout *l, bool has_symbols)
{
	uint8_t type;
	size_t i;

	for (i = 0; i < KT_ARRAY_SIZE(events); i++) {
		if (!strcmp(l->class.name, events[i].name))
			break;
	}
	if (i == KT_ARRAY_SIZE(events))
		return 0;
	l->text = ftrace_field_of(l, events[i].text);
	l->from = ftrace_field_of(l, events[i].from);
	if (l->text < 0 || (events[i].from && !is_number_field(l, l->from)))
		return 0;
	type = l->class.fields[l->text].type;
	switch (events[i].own) {
	case KT_FTRACE_PRINT:
		if (type != KT_TP_TEXT)
			return 0;
		break;
	case KT_FTRACE_BPRINT:
		if (l->fields[l->text].where != KT_BYTES_REST)
			return 0;
		make_text(l);
		hide_ftrace_field(l, l->from);
		break;
	case KT_FTRACE_BPUTS:
		if (!is_number_field(l, l->text) || l->fields[l->text].size < 4)
			return 0;
		make_text(l);
		break;
	case KT_FTRACE_RAW:
		l->class.fields[l->text].type = KT_TP_BYTES;
		l->class.fields[l->text].fixed = false;
		break;
	default:
		if (type != KT_TP_ARRAY)
			return 0;
		break;
	}
	l->own = events[i].own;
	if (l->own == KT_FTRACE_KERNEL_STACK || l->own == KT_FTRACE_USER_STACK)
		return bind_stack(l, has_symbols);
	return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/* Get room for a text of @len characters.  Return: 0 or -ENOMEM. */
static int make_ftrace_room(struct kt_ftrace *f, size_t len)
{
	size_t room = kt_max(f->room, 2048U);
	char *more;

	while (room <= len)
		room *= 2;
	if (room == f->room)
		return 0;
	more = realloc(f->text, room);
	if (!more)
		return -ENOMEM;
	f->text = more;
	f->room = room;
	return 0;
}

/* The kernel and its callers end most texts with a newline, which a line has anyway. */
static void trim_text(struct kt_tp_value *v)
{
	const char *text = v->data;

	if (v->len && text[v->len - 1] == '\n')
		v->len--;
}

/* Put the names of the functions of frames.  Return: 0 or -ENOMEM. */
static int put_ftrace_names(struct kt_ftrace *f, struct kt_symbols *symbols,
			    const struct kt_tp_value *frames,
			    struct kt_tp_value *names)
{
	const uint8_t *at = frames->data, *end = at + frames->len;
	size_t len = 0;

	if (make_ftrace_room(f, 0))
		return -ENOMEM;
	for (; at < end; at += sizeof(uint64_t)) {
		uint64_t address, offset;
		const char *name;
		size_t need;

		memcpy(&address, at, sizeof(address));
		name = kt_symbols_find(symbols, address, &offset);
		name = name ? name : "?";
		need = len + strlen(", ") + strlen(name);
		if (need > KT_PRINTK_MAX) {
			f->cut++;
			break;
		}
		if (make_ftrace_room(f, need))
			return -ENOMEM;
		len += (size_t)snprintf(f->text + len, f->room - len, "%s%s",
					len ? ", " : "", name);
	}
	names->data = f->text;
	names->len = len;
	return 0;
}

/*
 * Cut frames to those that are there, and put the names of the kernel's functions.  Old kernels
 * mark the end of a stack by an address of all ones.
 */
static int finish_stack(struct kt_ftrace *f, const struct kt_layout *l,
			struct kt_symbols *symbols, struct kt_tp_value *values)
{
	struct kt_tp_value *frames = &values[l->text];
	size_t nr = frames->len / sizeof(uint64_t), i;
	uint64_t address;

	if (l->own == KT_FTRACE_KERNEL_STACK && values[l->from].number < nr)
		nr = values[l->from].number;
	for (i = 0; i < nr; i++) {
		memcpy(&address,
		       (const uint8_t *)frames->data + i * sizeof(address),
		       sizeof(address));
		if (address == UINT64_MAX || address == UINT32_MAX ||
		    (!address && l->own == KT_FTRACE_USER_STACK))
			break;
	}
	frames->len = i * sizeof(address);
	/* bind_stack() has added no field for names if there are none, or no room for it. */
	if (l->own != KT_FTRACE_KERNEL_STACK ||
	    l->fields[l->nr - 1].where != KT_BYTES_NONE)
		return 0;
	return put_ftrace_names(f, symbols, frames, &values[l->nr - 1]);
}

/*
 * Put a format with its arguments in f->text.  A text that lacks arguments or is cut is counted.
 * Return: its length, or -ENOMEM.
 */
static int put_format(struct kt_ftrace *f, const char *format,
		      struct kt_printk_args *args)
{
	size_t len = 0;

	for (;;) {
		if (make_ftrace_room(f, len))
			return -ENOMEM;
		args->at = args->begin;
		len = kt_printk_format(f->text, f->room, format, args);
		if (len < f->room)
			break;
	}
	f->missing += args->missing;
	f->cut += args->cut || len > KT_PRINTK_MAX;
	return (int)kt_min(len, KT_PRINTK_MAX);
}

/*
 * Make the text of trace_printk(): of a format, whose address is in field @l->from, with the
 * arguments in @l->text; or a constant text, whose address @l->text is.
 * Return: 0 or -ENOMEM.
 */
static int finish_text(struct kt_ftrace *f, const struct kt_layout *l,
		       struct kt_symbols *symbols, uint32_t long_size,
		       struct kt_tp_value *values)
{
	struct kt_tp_value *v = &values[l->text];
	uint64_t address = l->own == KT_FTRACE_BPRINT ? values[l->from].number :
			   v->len == 4 ? kt_load32(v->data, f->big) :
					 kt_load64(v->data, f->big);
	const char *format = kt_printk_find(&f->printk, address);
	struct kt_printk_args args = {
		.at = v->data,
		.begin = v->data,
		.long_size = long_size,
		.big = f->big,
		.ints = f->ints,
		.symbols = symbols,
	};

	int len;

	args.end = args.begin + v->len;
	if (!format) {
		f->unknown++;
		if (make_ftrace_room(f, 0))
			return -ENOMEM;
		v->len = (size_t)snprintf(f->text, f->room, "(no format at 0x%llx)",
					  (unsigned long long)address);
		v->data = f->text;
		return 0;
	}
	if (l->own == KT_FTRACE_BPUTS) {
		v->data = format;
		v->len = strlen(format);
	} else {
		len = put_format(f, format, &args);
		if (len < 0)
			return len;
		v->data = f->text;
		v->len = (size_t)len;
	}
	trim_text(v);
	return 0;
}

/**
 * kt_ftrace_finish() - complete the fields that kt_layout_read() read
 * @f: what records refer to
 * @l: the event
 * @symbols: names of functions
 * @long_size: bytes of the kernel's long
 * @values: the fields, which are valid up to the next call
 *
 * Return: 0 or -ENOMEM.
 */
int kt_ftrace_finish(struct kt_ftrace *f, const struct kt_layout *l,
		     struct kt_symbols *symbols, uint32_t long_size,
		     struct kt_tp_value *values)
{
	switch (l->own) {
	case KT_FTRACE_PRINT:
		trim_text(&values[l->text]);
		return 0;
	case KT_FTRACE_BPRINT:
	case KT_FTRACE_BPUTS:
		return finish_text(f, l, symbols, long_size, values);
	case KT_FTRACE_KERNEL_STACK:
	case KT_FTRACE_USER_STACK:
		return finish_stack(f, l, symbols, values);
	default:
		return 0;
	}
}

void kt_ftrace_free(struct kt_ftrace *f)
{
	kt_printk_free(&f->printk);
	free(f->text);
	f->text = NULL;
	f->room = 0;
}
