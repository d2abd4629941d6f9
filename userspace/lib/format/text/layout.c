// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Texts with fields in braces ("irq={irq} name={irq:n}"), for the formats that imitate
 * another tracer's text.  Each text is resolved once into pieces and the offsets of
 * their values in a record, so that writing an event needs no search by name.
 */
#include <ctype.h>

#include "layout.h"

#define PIECES	      14  /* of a row at most, plus 1 */
#define DEADLINE_PRIO 255 /* the deadline class, shown as -1 */
#define IDLE_EXIT     255 /* leaving idle, shown as -1 of 32 bits */
#define HALF_KIB      512

/**
 * struct piece - literal text, then a value
 * @text: the text
 * @len: bytes of @text
 * @how: letter of struct kt_layout_row's text; '-': number; '*': all fields; '@':
 *	own thread; 0: no value follows
 * @place: where the value is
 */
struct piece {
	const char *text;
	uint8_t len;
	char how;
	struct kt_place place;
};

/* A resolved row: its @nr pieces, and the fields that are in none. */
struct kt_layout_plan {
	const struct kt_layout_row *row;
	unsigned int nr;
	struct kt_left_out left_out;
	struct piece pieces[PIECES];
};

/* Resolve the text between two braces.  Return: false if the event has no such field. */
static bool take_printed_value(struct piece *piece,
			       const struct ktape_event_desc *d,
			       const char *text, size_t len)
{
	char name[32];
	size_t end = len;

	if (!len || *text == '@') {
		piece->how = len ? '@' : '*';
		return true;
	}
	piece->how = '-';
	if (len > 2 && text[len - 2] == ':') {
		piece->how = text[len - 1];
		end = len - 2;
	}
	if (end >= sizeof(name))
		return false;
	memcpy(name, text, end);
	name[end] = '\0';
	return kt_place_find(d, name, &piece->place);
}

/* Return: false if the text has too many pieces, a brace is open, or a field is unknown. */
static bool resolve_row(struct kt_layout_plan *plan)
{
	const struct ktape_event_desc *d = ktape_event_desc(plan->row->opcode);
	const char *p = plan->row->text;

	while (*p) {
		struct piece *piece = &plan->pieces[plan->nr++];
		const char *open = strchrnul(p, '{'), *close;

		if (plan->nr == PIECES)
			return false;
		piece->text = p;
		piece->len = (uint8_t)(open - p);
		p = open;
		if (!*p)
			break;
		close = strchr(++p, '}');
		if (!close || !take_printed_value(piece, d, p, (size_t)(close - p)))
			return false;
		p = close + 1;
	}
	return true;
}

/* As kt_holds_field: check whether a text has a field in braces. */
static bool printed_has_field(const void *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = text; (p = strchr(p, '{')); p++) {
		if (!strncmp(p + 1, name, len) &&
		    (p[1 + len] == '}' || p[1 + len] == ':'))
			return true;
	}
	return false;
}

/**
 * kt_layout_init() - resolve a table
 * @layout: zeroed; filled, and to be freed with kt_layout_free() in any case
 * @s: sink that fails if the table is wrong
 * @rows: the table
 * @nr: number of rows
 *
 * Return: 0 or negative errno.
 */
int kt_layout_init(struct kt_line_layout *layout, struct kt_sink *s,
		   const struct kt_layout_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct kt_layout_plan *plan = calloc(1, sizeof(*plan));

		if (!plan)
			return -ENOMEM;
		layout->plans[rows[i].opcode] = plan;
		plan->row = &rows[i];
		if (!resolve_row(plan) ||
		    !kt_left_out_find(&plan->left_out, rows[i].opcode,
				      printed_has_field, rows[i].text))
			return kt_sink_fail(
				s, "the layout of %s names a field that the event does not have",
				rows[i].name);
	}
	return 0;
}

void kt_layout_free(struct kt_line_layout *layout)
{
	for (unsigned int i = 0; i < KTAPE_OPCODES; i++)
		free(layout->plans[i]);
}

/* Return the row of an event, or NULL: it has none or does not fit the event table. */
const struct kt_layout_row *kt_layout_row(const struct kt_line_layout *layout,
					  const struct ktape_event *e)
{
	const struct kt_layout_plan *plan = layout->plans[e->opcode];

	if (!plan || !kt_event_fits(e))
		return NULL;
	return plan->row;
}

/* Count the fields of an event for which its row has no place. */
void kt_layout_count(const struct kt_line_layout *layout, struct kt_sink *s,
		     const struct ktape_event *e)
{
	if (kt_layout_row(layout, e))
		kt_left_out_count(&layout->plans[e->opcode]->left_out, s, e);
}

/* Pad with blanks up to @width bytes after @start. */
char *kt_layout_pad(char *p, const char *start, size_t width)
{
	while ((size_t)(p - start) < width)
		p = kt_put_char(p, ' ');
	return p;
}

/* Write the lowest @digits hexadecimal digits, without 0x. */
char *kt_layout_hex(char *p, uint64_t v, unsigned int digits)
{
	for (unsigned int i = digits; i--; v >>= 4)
		p[i] = "0123456789abcdef"[v & 15];
	return p + digits;
}

/*
 * Write the name of a thread, escaped so that it cannot break the line.  As in ftrace, the idle
 * thread is swapper/CPU, and an unknown thread <...>.
 */
char *kt_layout_comm(char *p, const struct kt_line *l, int32_t tid)
{
	const struct ktape_object_info *t;

	if (!tid) {
		p = kt_put_str(p, "swapper/");
		return kt_put_u64(p, l->event->cpu);
	}
	t = tid < 0 ? NULL : ktape_registry_thread(l->registry, tid, l->event->ts);
	if (!t)
		return kt_put_str(p, "<...>");
	return t->plain ? kt_put_mem(p, t->name, t->name_len) :
			  kt_put_escaped(p, t->name, t->name_len);
}

/* Return the process id of a thread, or its own id if the process is unknown. */
uint32_t kt_layout_process(const struct kt_line *l, int32_t tid)
{
	const struct ktape_object_info *t = NULL;

	if (tid > 0)
		t = ktape_registry_thread(l->registry, tid, l->event->ts);
	return t && t->param1 ? t->param1 : tid < 0 ? 0 : (uint32_t)tid;
}

static char *put_printed_state(char *p, uint64_t state)
{
	static const char *const states[] = {
		[KTAPE_STATE_R] = "R",	    [KTAPE_STATE_S] = "S",
		[KTAPE_STATE_D] = "D",	    [KTAPE_STATE_T] = "T",
		[KTAPE_STATE_TRACED] = "t", [KTAPE_STATE_X] = "X",
		[KTAPE_STATE_Z] = "Z",	    [KTAPE_STATE_P] = "P",
		[KTAPE_STATE_I] = "I",	    [KTAPE_STATE_PREEMPTED] = "R+",
	};

	return kt_put_str(p, state < KT_ARRAY_SIZE(states) && states[state] ?
				     states[state] :
				     "?");
}

static char *put_printed_name(char *p, const struct kt_line *l,
			      const struct piece *piece, uint64_t v)
{
	struct kt_name name = kt_name_of(l, piece->place.type, v);
	const char *start = p;

	if (!name.text)
		name.text = ktape_value_name(piece->place.type, v);
	else if (!name.plain)
		return kt_put_escaped(p, name.text, name.len);
	if (!name.text)
		return kt_put_u64(p, v);
	p = kt_put_mem(p, name.text, name.len ? name.len : strlen(name.text));
	for (char *c = (char *)start; piece->how == 'V' && c < p; c++)
		*c = (char)toupper(*c);
	return p;
}

static char *put_printed_device(char *p, uint64_t v)
{
	p = kt_put_u64(p, v >> 20);
	return kt_put_u64(kt_put_char(p, ','), v & 0xfffff);
}

static char *put_printed_value(char *p, const struct kt_line *l,
			       const struct piece *piece)
{
	uint64_t v = kt_place_value(&piece->place, l->event);
	uint8_t type = piece->place.type;

	switch (piece->how) {
	case 'x':
		return kt_layout_hex(p, v, 16);
	case 'X':
		return kt_layout_hex(p, v, 8);
	case '3':
		return kt_put_fixed(p, (uint32_t)v, 3);
	case 'c':
		return kt_layout_comm(p, l, (int32_t)v);
	case 'g':
		return kt_put_u64(p, kt_layout_process(l, (int32_t)v));
	case 's':
		return put_printed_state(p, v);
	case 'p':
		return v == DEADLINE_PRIO ? kt_put_str(p, "-1") : kt_put_u64(p, v);
	case 'v':
	case 'V':
	case 'n':
		return put_printed_name(p, l, piece, v);
	case 'f':
		return kt_text_value(p, l, KTAPE_TYPE_FUNC, v);
	case 'd':
		return put_printed_device(p, v);
	case 'h':
		return kt_put_u64(p, v / HALF_KIB);
	case 'r':
		return kt_put_str(p, v ? "handled" : "unhandled");
	case 'i':
		return kt_put_u64(p, v == IDLE_EXIT ? UINT32_MAX : v);
	default:
		return type == KTAPE_TYPE_TID || type == KTAPE_TYPE_S32 ||
				       type == KTAPE_TYPE_S64 ?
			       kt_put_s64(p, (int64_t)v) :
			       kt_put_u64(p, v);
	}
}

/* Write all fields as ktape dump does, without the blank before the first. */
static char *put_all(char *p, const struct kt_line *l)
{
	char *end = kt_text_fields(p, l);

	if (end == p)
		return p;
	memmove(p, p + 1, (size_t)(end - p) - 1);
	return end - 1;
}

/**
 * kt_layout_put() - write what follows the name of an event
 * @p: where to write, with room for ktape_format_bound() bytes
 * @layout: resolved table
 * @l: the event; without a row its fields are written as in ktape dump
 *
 * Return: the end of what was written.
 */
char *kt_layout_put(char *p, const struct kt_line_layout *layout,
		    const struct kt_line *l)
{
	const struct kt_layout_plan *plan = layout->plans[l->event->opcode];

	if (!kt_layout_row(layout, l->event))
		return put_all(p, l);
	for (unsigned int i = 0; i < plan->nr; i++) {
		const struct piece *piece = &plan->pieces[i];

		p = kt_put_mem(p, piece->text, piece->len);
		if (!piece->how)
			break;
		if (piece->how == '*')
			p = put_all(p, l);
		else if (piece->how == '@')
			p = kt_layout_comm(p, l, l->event->tid);
		else
			p = put_printed_value(p, l, piece);
	}
	return p;
}
