// SPDX-License-Identifier: LGPL-2.1-or-later
/* Format events as lines of JSON, for programs. */
#include "show/line.h"

static const char *const rings[] = {
	[KTAPE_RING_EVENT] = ",\"ring\":\"event\",\"tid\":",
	[KTAPE_RING_CONTROL] = ",\"ring\":\"control\",\"tid\":",
	[KTAPE_RING_REGISTRY] = ",\"ring\":\"registry\",\"tid\":",
};

static char *put_json_name(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const struct ktape_object_info *t;

	if (!e->tid)
		return kt_put_mem(p, "\"swapper\"", 9);
	t = e->tid < 0 ? NULL : ktape_registry_thread(l->registry, e->tid, e->ts);
	if (!t)
		return kt_put_mem(p, "null", 4);
	if (!t->plain) /* the name needs escapes */
		return kt_put_json(p, t->name, t->name_len);
	p = kt_put_object(kt_put_char(p, '"'), t);
	return kt_put_char(p, '"');
}

/* Format CPU, ring and thread behind the digits of the time, and cache the text. */
static char *make_json_who(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const char *begin = p;

	p = kt_put_mem(p, "\",\"cpu\":", 8);
	p = kt_put_u64(p, e->cpu);
	p = kt_put_str(p, rings[e->kind]);
	if (e->tid < 0)
		p = kt_put_mem(p, "null", 4);
	else
		p = kt_put_u64(p, (uint32_t)e->tid);
	p = kt_put_mem(p, ",\"comm\":", 8);
	p = put_json_name(p, l);
	kt_memo_keep_who(l, begin, (size_t)(p - begin));
	return p;
}

static inline char *put_json_who(char *p, const struct kt_line *l)
{
	const struct kt_piece *kept =
		kt_memo_who(l->memo, l->event, true /* JSON */);

	return kept ? kt_put_piece(p, kept) : make_json_who(p, l);
}

/* Compute ktape_epoch_ns() of the event with the cached clock. */
static inline int64_t epoch_ns(const struct kt_line *l)
{
	const struct ktape_info *i = l->info;

	return (int64_t)((uint64_t)i->offset_s * NS_PER_S +
			 kt_clock_ns(&l->memo->clock, i, l->event->ts + i->offset));
}

/*
 * Put everything before the fields.  @plan: how the table lays out this event's record, NULL = not
 * as in the table.
 */
static inline char *put_json_head(char *p, const struct kt_line *l,
				  const struct kt_plan *plan)
{
	p = kt_put_mem(p, "{\"ts\":\"", 7);
	p = kt_put_s64(p, epoch_ns(l));
	p = put_json_who(p, l);
	p = kt_put_mem(p, ",\"event\":\"", 10);
	p = kt_put_line_event(p, l, plan);
	return kt_put_mem(p, "\",\"fields\":{", 12);
}

/* Put the name of a number as a member FIELD_name, if there is one. */
static char *put_field_name(char *p, const struct kt_line *l,
			    const struct kt_slot *f, uint64_t value)
{
	struct kt_name name;

	/* kt_json_value() has put a function by its name. */
	if (!kt_type_has_name(f->type) || f->type == KTAPE_TYPE_FUNC)
		return p;
	name = kt_name_of(l, f->type, value);
	if (!name.text)
		return p;
	p = kt_put_mem(p, ",\"", 2);
	p = kt_put_16(p, f->name, f->name_len); /* copies 16 bytes, counts name_len */
	p = kt_put_mem(p, "_name\":", 7);
	return kt_show_name(p, l, &name);
}

static char *put_json_number(char *p, const struct kt_line *l,
			     const struct kt_slot *f, uint64_t value)
{
	p = kt_json_value(p, l, f->type, value);
	return put_field_name(p, l, f, value);
}

static char *put_json_array(char *p, const struct kt_line *l,
			    const struct kt_slot *f, const struct kt_fields *at)
{
	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < at->count; i++) {
		if (i)
			p = kt_put_char(p, ',');
		p = kt_json_value(p, l, f->type, kt_fields_value(at, f, i));
	}
	return kt_put_char(p, ']');
}

static char *put_quoted_bytes(char *p, const struct kt_fields *at)
{
	p = kt_put_char(p, '"');
	p = kt_put_bytes(p, at->data, at->count);
	return kt_put_char(p, '"');
}

/* Put the name of a field, of up to 16 bytes; @begin is where the first field starts. */
static inline char *put_json_key(char *p, const char *begin, const struct kt_slot *f)
{
	if (p != begin)
		p = kt_put_char(p, ',');
	p = kt_put_16(kt_put_char(p, '"'), f->name, f->name_len);
	return kt_put_mem(p, "\":", 2);
}

/* Put the fields in dat20, which come first, and cache the text. */
static char *make_json_bits(char *p, const struct kt_line *l,
			    struct kt_fields *at, unsigned int nr)
{
	const struct kt_slot *f;
	const char *begin = p;

	while (nr-- && (f = kt_fields_next(at)))
		p = put_json_number(put_json_key(p, begin, f), l, f, at->value);
	kt_memo_keep_bits(l, begin, (size_t)(p - begin));
	return p;
}

static char *put_json_fields(char *p, const struct kt_line *l,
			     const struct kt_plan *plan)
{
	const struct kt_slot *f;
	struct kt_fields at;
	const char *begin = p;

	kt_fields_begin(&at, plan, l->event);
	p = kt_put_bits(p, l, &at, plan->bits, make_json_bits);
	while ((f = kt_fields_next(&at))) {
		/* The field has all argument words, and there are none. */
		if (f->place == KTAPE_PLACE_REST && !l->event->nargs)
			continue;
		p = put_json_key(p, begin, f);
		if (f->place == KTAPE_PLACE_ARG)
			p = put_json_number(p, l, f, at.value);
		else if (f->place == KTAPE_PLACE_TEXT)
			p = kt_put_json(p, (const char *)at.data, at.count);
		else if (f->place == KTAPE_PLACE_BYTES)
			p = put_quoted_bytes(p, &at);
		else if (at.count || f->place == KTAPE_PLACE_LIST)
			p = put_json_array(p, l, f, &at);
		else
			p = put_json_number(p, l, f, at.value);
	}
	return p;
}

/*
 * Put an event whose record does not match the event table (uapi/ktape/events), as plain
 * words.
 */
static char *put_json_words(char *p, const struct ktape_event *e)
{
	p = kt_put_str(p, "\"dat20\":");
	p = kt_put_u64(p, e->dat20);
	p = kt_put_str(p, ",\"args\":[");
	for (unsigned int i = 0; i < e->nargs; i++) {
		if (i)
			p = kt_put_char(p, ',');
		p = kt_put_u64(p, ktape_event_arg(e, i));
	}
	p = kt_put_char(p, ']');
	if (!e->blob)
		return p;
	p = kt_put_str(p, ",\"bytes\":\"");
	p = kt_put_bytes(p, e->blob, e->blob_size);
	return kt_put_char(p, '"');
}

static inline char *put_json_rest(char *p, const struct kt_line *l,
				  const struct kt_plan *plan)
{
	const struct kt_show *show = &kt_shows[l->event->opcode];

	if (l->event->opcode == KTAPE_TIME_EXTEND)
		return p;
	if (!plan)
		return put_json_words(p, l->event);
	p = show->own ? show->own(p, l) : put_json_fields(p, l, plan);
	p = show->extra ? show->extra(p, l) : p;
	/* ktape_event.extra is something else: fields that another tracer recorded. */
	return l->event->extra ? kt_show_extra(p, l) : p;
}

/* Put the members of "fields".  p[-1] must be the opening brace. */
char *kt_json_fields(char *p, const struct kt_line *l)
{
	return put_json_rest(p, l, kt_plan_of(l->event));
}

/* @to has ktape_format_bound() bytes. */
size_t ktape_format_json(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to)
{
	const struct kt_line l = kt_line_of(info, registry, event, true /* JSON */);
	const struct kt_plan *plan = kt_plan_of(event);
	char *p = put_json_rest(put_json_head(to, &l, plan), &l, plan);

	return (size_t)(kt_put_mem(p, "}}\n", 3) - to);
}
