/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that the text and the JSON form of an event share.  They write at @p and return the
 * end; the caller has room for ktape_format_bound() bytes of a line.  Read the files in this
 * order; each calls only those before it: line.c, text_value.c, json_value.c, syscall.c,
 * user_keys.c, user_event.c, user.c, show.c, text.c, json.c; fmt.c and fmt_show.c are by
 * themselves.
 */
#ifndef _KT_LINE_H
#define _KT_LINE_H

#include "names/names.h"

/**
 * struct kt_show - special output of an event
 * @own: put this instead of the fields; NULL = put the fields
 * @extra: put this after the fields; NULL = nothing
 */
struct kt_show {
	char *(*own)(char *p, const struct kt_line *l);
	char *(*extra)(char *p, const struct kt_line *l);
};

/* line.c */
const char *kt_line_event(const struct kt_line *l);
char *kt_show_key(char *p, const struct kt_line *l, const char *key);
char *kt_show_name(char *p, const struct kt_line *l, const struct kt_name *n);
struct kt_name kt_major_name(const struct kt_line *l, uint32_t major);

/* text_value.c */
char *kt_text_thread(char *p, const struct kt_line *l, int32_t tid);
char *kt_text_value(char *p, const struct kt_line *l, unsigned int type,
		    uint64_t value);

/* json_value.c */
char *kt_json_value(char *p, const struct kt_line *l, unsigned int type,
		    uint64_t value);

/* user.c */
char *kt_show_user_event(char *p, const struct kt_line *l);
char *kt_show_trace_event(char *p, const struct kt_line *l);
char *kt_show_extra(char *p, const struct kt_line *l);

/* syscall.c */
char *kt_show_call(char *p, const struct kt_line *l);

/* show.c */
extern const struct kt_show kt_shows[KTAPE_OPCODES];

/* text.c, json.c */
char *kt_text_fields(char *p, const struct kt_line *l);
char *kt_json_fields(char *p, const struct kt_line *l);

/* Put the name of an event, or "opcode_" and its number if there is none. */
static inline char *kt_put_line_event(char *p, const struct kt_line *l,
				      const struct kt_plan *plan)
{
	const char *name;

	if (plan)
		return kt_put_32(p, plan->name, plan->name_len);
	name = kt_line_event(l);
	return *name ? kt_put_str(p, name) :
		       kt_put_u64(kt_put_str(p, "opcode_"), l->event->opcode);
}

/* Put the first @nr fields, which are in dat20, and keep the text in the cache. */
typedef char *kt_make_bits(char *p, const struct kt_line *l,
			   struct kt_fields *at, unsigned int nr);

/* Put the @nr fields in dat20, from the cache if possible. */
static inline char *kt_put_bits(char *p, const struct kt_line *l,
				struct kt_fields *at, unsigned int nr,
				kt_make_bits *make)
{
	const struct kt_piece *kept;

	if (!nr)
		return p;
	kept = kt_memo_bits(l->memo, l->event, l->json);
	if (!kept)
		return make(p, l, at, nr);
	at->step += nr;
	return kt_put_piece(p, kept);
}

/* Put a value of a field type. */
static inline char *kt_show_value(char *p, const struct kt_line *l,
				  unsigned int type, uint64_t value)
{
	return l->json ? kt_json_value(p, l, type, value) :
			 kt_text_value(p, l, type, value);
}

/* Put the separator between two values of an array. */
static inline char *kt_show_comma(char *p, const struct kt_line *l)
{
	return kt_put_char(p, l->json ? ',' : ' ');
}

#endif /* _KT_LINE_H */
