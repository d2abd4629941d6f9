// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events as lines of text for people and grep. */
#include "line.h"

#define NS_PER_S	1000000000ULL
#define LINE_MAX_FIXED	8192	/* all names and numbers of any event */
#define LINE_PER_BYTE	8	/* more than any form of a blob's byte takes */
#define LINE_PER_SYMBOL	56	/* where 4 bytes are a symbol in JSON */

size_t ktape_format_bound(const struct ktape_event *event)
{
	size_t per_byte = LINE_PER_BYTE;

	if (event->opcode == KTAPE_EV_KERNEL_STACK ||
	    event->opcode == KTAPE_EV_USER_EVENT)
		per_byte = LINE_PER_SYMBOL;
	return LINE_MAX_FIXED + (size_t)event->size * per_byte;
}

static char *put_name(char *p, const struct kt_line *l, int32_t tid)
{
	const struct ktape_object_info *t;

	if (!tid)
		return kt_put_mem(p, "swapper", 7);
	t = ktape_registry_thread(l->registry, tid, l->event->ts);
	if (t && t->plain)
		return kt_put_mem(p, t->name, t->name_len);
	if (t)
		return kt_put_escaped(p, t->name, t->name_len);
	return kt_put_char(p, '?');
}

static char *put_time(char *p, int64_t ns)
{
	uint64_t v = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	p = kt_put_char(p, '[');
	if (ns < 0)
		p = kt_put_char(p, '-');
	p = kt_put_u64(p, v / NS_PER_S);
	p = kt_put_char(p, '.');
	p = kt_put_fixed(p, (uint32_t)(v % NS_PER_S), 9);
	return kt_put_mem(p, "] cpu ", 6);
}

static char *put_head(char *p, const struct kt_line *l, const char *name)
{
	const struct ktape_event *e = l->event;

	p = put_time(p, ktape_mono_ns(l->info, e->ts));
	p = kt_put_u64(p, e->cpu);
	p = kt_put_char(p, ' ');
	if (e->tid < 0) {
		p = kt_put_char(p, '-');
	} else {
		p = put_name(p, l, e->tid);
		p = kt_put_char(p, '-');
		p = kt_put_u64(p, (uint32_t)e->tid);
	}
	p = kt_put_char(p, ' ');
	if (*name) {
		p = kt_put_str(p, name);
	} else {
		p = kt_put_str(p, "opcode_");
		p = kt_put_u64(p, e->opcode);
	}
	return kt_put_char(p, ':');
}

/* NUMBER (NAME) */
static char *put_named(char *p, const struct kt_line *l, unsigned int type,
		       uint64_t value)
{
	struct kt_name name = kt_name_of(l, type, value);

	if (type == KTAPE_TYPE_DEV) {
		p = kt_put_u64(p, value >> 20);
		p = kt_put_char(p, ':');
		p = kt_put_u64(p, value & 0xfffff);
	} else {
		p = kt_put_u64(p, value);
	}
	if (!name.text)
		return p;
	p = kt_put_mem(p, " (", 2);
	return kt_put_char(kt_show_name(p, l, &name), ')');
}

/* SYMBOL+OFFSET, or the token where that is not known. */
static char *put_symbol(char *p, const struct kt_line *l, uint64_t value)
{
	struct kt_name name = kt_name_of(l, KTAPE_TYPE_FUNC, value);

	if (!name.text)
		return kt_put_hex(p, value);
	p = kt_show_name(p, l, &name);
	if (!name.offset)
		return p;
	return kt_put_hex(kt_put_char(p, '+'), name.offset);
}

char *kt_text_value(char *p, const struct kt_line *l, unsigned int type,
		    uint64_t value)
{
	const char *name;

	switch (type) {
	case KTAPE_TYPE_U32:
	case KTAPE_TYPE_BOOL:
	case KTAPE_TYPE_CPU:
	case KTAPE_TYPE_PRIO:
		return kt_put_u64(p, value);
	case KTAPE_TYPE_PTR:
	case KTAPE_TYPE_X32:
	case KTAPE_TYPE_X64:
		return kt_put_hex(p, value);
	case KTAPE_TYPE_S32:
	case KTAPE_TYPE_S64:
		return kt_put_s64(p, (int64_t)value);
	case KTAPE_TYPE_TID:
		p = kt_put_s64(p, (int64_t)value);
		p = kt_put_mem(p, " (", 2);
		p = put_name(p, l, (int32_t)value);
		return kt_put_char(p, ')');
	case KTAPE_TYPE_FUNC:
		return put_symbol(p, l, value);
	case KTAPE_TYPE_SYSCALL:
	case KTAPE_TYPE_IRQ:
	case KTAPE_TYPE_MARKER:
	case KTAPE_TYPE_VALUEID:
	case KTAPE_TYPE_ISRID:
	case KTAPE_TYPE_DEV:
	case KTAPE_TYPE_NETDEV:
		return put_named(p, l, type, value);
	default:
		name = ktape_value_name(type, value);
		return name ? kt_put_str(p, name) : kt_put_u64(p, value);
	}
}

static char *put_array(char *p, const struct kt_line *l,
		       const struct ktape_field *f, const struct kt_fields *at)
{
	unsigned int words = kt_type_words()[f->type];

	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < at->count; i++) {
		if (i)
			p = kt_put_char(p, ' ');
		p = kt_text_value(p, l, f->type,
			      kt_field_value(f->type, at->data + i * words * 4,
					     words));
	}
	return kt_put_char(p, ']');
}

static char *put_fields(char *p, const struct kt_line *l,
			const struct ktape_event_desc *desc)
{
	const struct ktape_field *f;
	struct kt_fields at;

	kt_fields_begin(&at, desc, l->event);
	while ((f = kt_fields_next(&at))) {
		if (f->place == KTAPE_PLACE_REST && !l->event->nargs)
			continue;
		p = kt_put_char(p, ' ');
		p = kt_put_str(p, f->name);
		p = kt_put_char(p, '=');
		if (f->place == KTAPE_PLACE_TEXT)
			p = kt_put_escaped(p, (const char *)at.data, at.count);
		else if (f->place == KTAPE_PLACE_BYTES)
			p = kt_put_bytes(p, at.data, at.count);
		else if (at.count || f->place == KTAPE_PLACE_LIST)
			p = put_array(p, l, f, &at);
		else
			p = kt_text_value(p, l, f->type, at.value);
	}
	return p;
}

/* An event that is not as in the table. */
static char *put_words(char *p, const struct ktape_event *e)
{
	p = kt_put_str(p, " dat20=");
	p = kt_put_hex(p, e->dat20);
	p = kt_put_str(p, " args=[");
	for (unsigned int i = 0; i < e->nargs; i++) {
		if (i)
			p = kt_put_char(p, ' ');
		p = kt_put_hex(p, ktape_event_arg(e, i));
	}
	p = kt_put_char(p, ']');
	if (!e->blob)
		return p;
	p = kt_put_str(p, " bytes=");
	return kt_put_bytes(p, e->blob, e->blob_size);
}

/* All that stands behind "event:", beginning with a blank if there is any. */
char *kt_text_fields(char *p, const struct kt_line *l)
{
	const struct ktape_event_desc *desc =
		ktape_event_desc(l->event->opcode);
	const struct kt_show *show = &kt_shows[l->event->opcode];

	if (l->event->opcode == KTAPE_TIME_EXTEND)
		return p;
	if (!kt_event_fits(desc, l->event))
		return put_words(p, l->event);
	p = show->own ? show->own(p, l) : put_fields(p, l, desc);
	return show->extra ? show->extra(p, l) : p;
}

/* Its name in the table, or that in the metadata; "": it has none. */
const char *kt_line_event(const struct kt_line *l)
{
	const struct ktape_event_desc *desc =
		ktape_event_desc(l->event->opcode);

	if (l->event->opcode == KTAPE_TIME_EXTEND ||
	    kt_event_fits(desc, l->event))
		return desc->name;
	return l->info->names[l->event->opcode];
}

size_t ktape_format_text(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to)
{
	const struct kt_line l = { info, registry, event, false };
	char *p = put_head(to, &l, kt_line_event(&l));

	p = kt_text_fields(p, &l);
	return (size_t)(kt_put_char(p, '\n') - to);
}
