// SPDX-License-Identifier: LGPL-2.1-or-later
/* Format events as lines of text, for users and grep. */
#include "show/line.h"

#define LINE_MAX_FIXED	8192 /* bound for names and numbers of any event */
#define LINE_PER_BYTE	8    /* bound for one byte of a blob */
#define LINE_PER_SYMBOL 56   /* the same if 4 bytes are a symbol in JSON */

size_t ktape_format_bound(const struct ktape_event *event)
{
	size_t per_byte = LINE_PER_BYTE, fixed = LINE_MAX_FIXED + KT_PIECE_ROOM;

	if (event->opcode == KTAPE_EV_KERNEL_STACK ||
	    event->opcode == KTAPE_EV_USER_EVENT)
		per_byte = LINE_PER_SYMBOL;
	if (event->opcode == KTAPE_EV_USER_EVENT)
		fixed += KT_NAME_LONG * LINE_PER_BYTE;
	return fixed + (size_t)event->size * per_byte +
	       (size_t)event->extra_size * LINE_PER_SYMBOL;
}

/* Format CPU and thread, with a blank after them, and cache the text. */
static char *make_text_who(char *p, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	const char *begin = p;

	p = kt_put_char(kt_put_u64(p, e->cpu), ' ');
	if (e->tid < 0) {
		p = kt_put_char(p, '-');
	} else {
		p = kt_put_char(kt_text_thread(p, l, e->tid), '-');
		p = kt_put_u64(p, (uint32_t)e->tid);
	}
	p = kt_put_char(p, ' ');
	kt_memo_keep_who(l, begin, (size_t)(p - begin));
	return p;
}

static inline char *put_text_who(char *p, const struct kt_line *l)
{
	const struct kt_piece *kept = kt_memo_who(l->memo, l->event, false);

	return kept ? kt_put_piece(p, kept) : make_text_who(p, l);
}

static inline char *put_second(char *p, struct kt_memo *memo, uint64_t second)
{
	char *text = memo->second_text;

	if (second != memo->second) {
		memo->second = second;
		memo->second_len = (uint8_t)(kt_put_u64(text, second) - text);
	}
	return kt_put_16(p, text, memo->second_len);
}

static inline char *put_text_time(char *p, const struct kt_line *l)
{
	struct kt_memo *memo = l->memo;
	uint64_t v = kt_clock_ns(&memo->clock, l->info, l->event->ts) +
		     (uint64_t)l->info->mono_offset_ns;

	p = kt_put_char(p, '[');
	if ((int64_t)v < 0) {
		p = kt_put_char(p, '-');
		v = 0 - v;
	}
	if (l->info->counts) {
		p = kt_put_u64(p, v);
	} else {
		p = put_second(p, memo, v / NS_PER_S);
		p = kt_put_char(p, '.');
		p = kt_put_nano(p, (uint32_t)(v % NS_PER_S));
	}
	return kt_put_mem(p, "] cpu ", 6);
}

static inline char *put_text_head(char *p, const struct kt_line *l,
				  const struct kt_plan *plan)
{
	p = put_text_who(put_text_time(p, l), l);
	return kt_put_char(kt_put_line_event(p, l, plan), ':');
}

static char *put_text_array(char *p, const struct kt_line *l,
			    const struct kt_slot *f, const struct kt_fields *at)
{
	p = kt_put_char(p, '[');
	for (uint32_t i = 0; i < at->count; i++) {
		if (i)
			p = kt_put_char(p, ' ');
		p = kt_text_value(p, l, f->type, kt_fields_value(at, f, i));
	}
	return kt_put_char(p, ']');
}

static inline char *put_text_key(char *p, const struct kt_slot *f)
{
	p = kt_put_16(kt_put_char(p, ' '), f->name, f->name_len);
	return kt_put_char(p, '=');
}

static char *make_text_bits(char *p, const struct kt_line *l,
			    struct kt_fields *at, unsigned int nr)
{
	const struct kt_slot *f;
	const char *begin = p;

	while (nr-- && (f = kt_fields_next(at)))
		p = kt_text_value(put_text_key(p, f), l, f->type, at->value);
	kt_memo_keep_bits(l, begin, (size_t)(p - begin));
	return p;
}

static char *put_text_fields(char *p, const struct kt_line *l,
			     const struct kt_plan *plan)
{
	const struct kt_slot *f;
	struct kt_fields at;

	kt_fields_begin(&at, plan, l->event);
	p = kt_put_bits(p, l, &at, plan->bits, make_text_bits);
	while ((f = kt_fields_next(&at))) {
		/* All argument words, of which there are none. */
		if (f->place == KTAPE_PLACE_REST && !l->event->nargs)
			continue;
		p = put_text_key(p, f);
		if (f->place == KTAPE_PLACE_ARG)
			p = kt_text_value(p, l, f->type, at.value);
		else if (f->place == KTAPE_PLACE_TEXT)
			p = kt_put_escaped(p, (const char *)at.data, at.count);
		else if (f->place == KTAPE_PLACE_BYTES)
			p = kt_put_bytes(p, at.data, at.count);
		/* A list may be empty; else a count of 0 stands for a single value. */
		else if (at.count || f->place == KTAPE_PLACE_LIST)
			p = put_text_array(p, l, f, &at);
		else
			p = kt_text_value(p, l, f->type, at.value);
	}
	return p;
}

/* Put an event whose record does not match the table, as plain words. */
static char *put_text_words(char *p, const struct ktape_event *e)
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

static inline char *put_text_rest(char *p, const struct kt_line *l,
				  const struct kt_plan *plan)
{
	const struct kt_show *show = &kt_shows[l->event->opcode];

	if (l->event->opcode == KTAPE_TIME_EXTEND)
		return p;
	if (!plan)
		return put_text_words(p, l->event);
	p = show->own ? show->own(p, l) : put_text_fields(p, l, plan);
	p = show->extra ? show->extra(p, l) : p;
	return l->event->extra ? kt_show_extra(p, l) : p;
}

/* Put everything after "event:"; a blank comes first, unless there is nothing to put. */
char *kt_text_fields(char *p, const struct kt_line *l)
{
	return put_text_rest(p, l, kt_plan_of(l->event));
}

size_t ktape_format_text(const struct ktape_info *info,
			 const struct ktape_registry *registry,
			 const struct ktape_event *event, char *to)
{
	const struct kt_line l = kt_line_of(info, registry, event, false);
	const struct kt_plan *plan = kt_plan_of(event);
	char *p = put_text_rest(put_text_head(to, &l, plan), &l, plan);

	return (size_t)(kt_put_char(p, '\n') - to);
}
