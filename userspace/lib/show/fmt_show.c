// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make the message of an event from its format in a .fmt file and its arguments.
 *
 * Conversions are those of printf(3), and b (bytes in hexadecimal), M and m (major and minor code
 * of an exception) and { (text for the number from a list): see ktape-fmt(5).  An argument that is
 * not there or does not fit the conversion is shown as "?".
 */
#include "show/fmt.h"
#include "stream/event.h"

#define VALUES_MAX 64U

/*
 * Arguments of an event; @next is the one for the next conversion without number.  Here @format of
 * a value is KTAPE_FORMAT_* + 1, and 0 of an argument word, which has no type.
 */
struct values {
	struct kt_typed v[VALUES_MAX];
	unsigned int nr;
	unsigned int next;
};

/* Append text, as far as the message has room. */
static void put_fmt_text(struct ktape_message *m, const char *text, size_t len)
{
	size_t room = sizeof(m->text) - m->len;

	m->cut |= len > room;
	len = kt_min(len, room);
	memcpy(m->text + m->len, text, len);
	m->len += len;
}

static void put_fill(struct ktape_message *m, char with, size_t nr)
{
	while (nr--)
		put_fmt_text(m, &with, 1);
}

/* Append a text in the width of its conversion.  Zeros stand between a sign and its digits. */
static void put_padded(struct ktape_message *m, const struct kt_fmt_piece *p,
		       const char *text, size_t len)
{
	size_t more = p->width > len ? p->width - len : 0;
	bool zero = p->zero && !p->left && !strchr("csb{", p->conversion);
	bool minus = zero && len && *text == '-';

	if (minus)
		put_fmt_text(m, text, 1);
	if (!p->left)
		put_fill(m, zero ? '0' : ' ', more);
	put_fmt_text(m, text + minus, len - minus);
	if (p->left)
		put_fill(m, ' ', more);
}

static void put_fmt_bytes(struct ktape_message *m, const struct kt_fmt_piece *p,
			  const struct kt_typed *v)
{
	size_t len = kt_min(v->len, p->precision);
	char hex[3];

	for (size_t i = 0; i < len && !m->cut; i++) {
		snprintf(hex, sizeof(hex), "%02x", v->data[i]);
		put_fmt_text(m, hex, 2);
	}
	if (p->width > len * 2)
		put_fill(m, ' ', p->width - len * 2);
}

/* Find the text of a number in a list such as "0=off,1=on". */
static bool find_text(const struct kt_fmt_piece *p, uint64_t value,
		      const char **text, size_t *len)
{
	const char *at = p->text, *end = p->text + p->len;

	while (at < end) {
		char *rest;
		uint64_t v = (uint64_t)strtoull(at, &rest, 0);
		const char *comma = memchr(at, ',', (size_t)(end - at));

		comma = comma ? comma : end;
		if (rest > at && rest < comma && *rest == '=' && v == value) {
			*text = rest + 1;
			*len = (size_t)(comma - *text);
			return true;
		}
		at = comma + 1;
	}
	return false;
}

static void put_fmt_number(struct ktape_message *m,
			   const struct kt_fmt_piece *p, uint64_t value)
{
	char digits[32], letter[] = "%ll?";
	const char *text = digits;
	size_t len;

	if (p->conversion == 'c') {
		digits[0] = (char)value;
		len = 1;
	} else if (p->conversion != '{' || !find_text(p, value, &text, &len)) {
		letter[3] = p->conversion == '{' ? 'd' : p->conversion;
		/* All conversions left here take a long long. */
		len = (size_t)snprintf(digits, sizeof(digits), letter,
				       (long long)value);
	}
	put_padded(m, p, text, len);
}

/* Return whether an argument is a word of the record, and not a value of the buffer. */
static bool is_argument_word(const struct values *values, unsigned int i)
{
	return i < values->nr && !values->v[i].format &&
	       values->v[i].kind == KT_TYPED_NUMBER;
}

/* Return whether an "l" makes a conversion take two words; a value of the buffer is whole. */
static bool takes_two(const struct kt_fmt_piece *p, const struct values *values,
		      unsigned int i)
{
	return p->wide && is_argument_word(values, i) &&
	       is_argument_word(values, i + 1);
}

/* Return the value of a number, signed if the conversion is; of two words if it takes so many. */
static uint64_t word_value(const struct kt_fmt_piece *p,
			   const struct values *values, unsigned int i)
{
	const struct kt_typed *v = &values->v[i];
	bool sign = strchr("di{", p->conversion);
	uint64_t value = v->value;

	/* A typed value; of a double the bits. */
	if (v->format)
		return sign ? kt_typed_extend(v->format - 1, value) : value;
	if (takes_two(p, values, i))
		return value | v[1].value << 32;
	return sign ? (uint64_t)(int64_t)(int32_t)value : value;
}

static void put_fmt_value(struct ktape_message *m, const struct kt_fmt_piece *p,
			  struct values *values)
{
	unsigned int i = p->arg ? p->arg - 1 : values->next;
	const struct kt_typed *v;

	if (!p->arg)
		values->next += takes_two(p, values, i) ? 2 : 1;
	if (i >= values->nr) {
		put_padded(m, p, "?", 1);
		return;
	}
	v = &values->v[i];
	if (v->kind == KT_TYPED_NUMBER && !strchr("sb", p->conversion))
		put_fmt_number(m, p, word_value(p, values, i));
	else if (v->kind != KT_TYPED_NUMBER && p->conversion == 'b')
		put_fmt_bytes(m, p, v);
	else if (v->kind != KT_TYPED_NUMBER && p->conversion == 's')
		put_padded(m, p, (const char *)v->data,
			   strnlen((const char *)v->data,
				   kt_min(v->len, p->precision)));
	else
		put_padded(m, p, "?", 1);
}

static void put_fmt_code(struct ktape_message *m, const struct kt_fmt_piece *p,
			 const struct ktape_event *e)
{
	uint32_t code = ktape_event_arg(e, 0);
	struct kt_fmt_piece as = *p;

	as.conversion = 'x';
	put_fmt_number(m, &as, p->conversion == 'M' ? code >> 8 : code & 0xff);
}

/* Collect the argument words after the first, then the values in the blob. */
static void collect_values(struct values *values, const struct ktape_event *e)
{
	const uint8_t *at = e->blob, *end = at ? at + e->blob_size : NULL;

	for (unsigned int i = 1; i < e->nargs; i++) {
		struct kt_typed *v = &values->v[values->nr++];

		v->kind = KT_TYPED_NUMBER;
		v->format = 0;
		v->value = ktape_event_arg(e, i);
	}
	if (e->opcode == KTAPE_EV_EXCEPTION && e->blob_size) {
		struct kt_typed *v = &values->v[values->nr++];

		v->kind = KT_TYPED_BYTES;
		v->data = at;
		v->len = e->blob_size;
		return;
	}
	for (; at < end && values->nr < VALUES_MAX; values->nr++) {
		kt_typed_next(&at, end, &values->v[values->nr]);
		/* See struct values. */
		values->v[values->nr].format++;
	}
}

/* Find the format of an event; an exception without one of its own has that of its major code. */
static const struct kt_fmt *find_fmt_format(const struct ktape_formats *formats,
					    const struct ktape_event *e)
{
	uint32_t first = ktape_event_arg(e, 0);
	const struct kt_fmt *fmt = NULL;

	if (!e->known || !e->nargs)
		return NULL;
	if (e->opcode == KTAPE_EV_USER_EVENT)
		return kt_fmt_find(formats, KT_FMT_EVENT, first);
	if (e->opcode == KTAPE_EV_EXCEPTION)
		fmt = kt_fmt_find(formats, KT_FMT_EXCEPTION, first);
	if (e->opcode == KTAPE_EV_EXCEPTION && !fmt)
		fmt = kt_fmt_find(formats, KT_FMT_MAJOR, first >> 8);
	return fmt;
}

bool ktape_formats_message(const struct ktape_formats *formats,
			   const struct ktape_event *event,
			   struct ktape_message *message)
{
	const struct kt_fmt *fmt =
		formats->nr ? find_fmt_format(formats, event) : NULL;
	struct values values = { .nr = 0 };
	struct kt_fmt_piece piece;
	const char *at;

	if (!fmt)
		return false;
	collect_values(&values, event);
	message->name = fmt->name;
	message->len = 0;
	message->cut = false;
	at = fmt->format;
	while (!kt_fmt_next(&at, &piece) && (piece.conversion || piece.len)) {
		if (!piece.conversion)
			put_fmt_text(message, piece.text, piece.len);
		else if (strchr("Mm", piece.conversion))
			put_fmt_code(message, &piece, event);
		else
			put_fmt_value(message, &piece, &values);
	}
	return true;
}
