// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Make the texts of trace_printk(), as the kernel would print them, of a format and the packed
 * arguments of a record (printk.h).  All of it comes from a file, so nothing is trusted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"

#include "printk.h"

/* Characters that a width or precision adds: a line of the kernel has no more. */
#define WIDTH_MAX 8192
#define COUNT_MAX 1000000 /* an int holds this; larger ones are read as this */

/* ---- texts by their address ---------------------------------------------------------------- */

static int by_text_address(const void *a, const void *b)
{
	const struct kt_printk_text *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Replace what the kernel escaped, in place. */
static void unescape_text(char *text)
{
	static const char from[] = "ntr\\\"", to[] = "\n\t\r\\\"";
	char *out = text;

	for (; *text; text++) {
		const char *found =
			*text == '\\' && text[1] ? strchr(from, text[1]) : NULL;

		if (found)
			text++;
		*out++ = found ? to[found - from] : *text;
	}
	*out = '\0';
}

/* Parse 'ADDRESS : "TEXT"'.  Return: false if the line is no such. */
static bool parse_printk_line(char *line, struct kt_printk_text *t)
{
	char *end;

	t->address = strtoull(line, &end, 16);
	if (end == line)
		return false;
	end += strspn(end, " \t");
	if (*end != ':')
		return false;
	end += 1 + strspn(end + 1, " \t");
	if (*end != '"')
		return false;
	t->text = ++end;
	end += strlen(end);
	if (end > t->text && end[-1] == '"')
		end[-1] = '\0';
	unescape_text((char *)t->text);
	return true;
}

/**
 * kt_printk_take() - take a copy of printk_formats
 * @p: filled; what it had is freed
 * @text: from malloc(), with a NUL behind it; owned by @p from here on
 * @len: bytes of @text without the NUL
 *
 * Return: 0 or -ENOMEM.
 */
int kt_printk_take(struct kt_printk *p, char *text, size_t len)
{
	char *line = text, *end = text + len;
	struct kt_printk_text t, *more;

	kt_printk_free(p);
	p->copy = text;
	while (line < end) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		*stop = '\0';
		if (parse_printk_line(line, &t)) {
			/* The list has room for a power of two. */
			if (!(p->nr & (p->nr - 1))) {
				more = realloc(p->list, (p->nr ? p->nr * 2 : 1) *
								sizeof(*more));
				if (!more)
					return -ENOMEM;
				p->list = more;
			}
			p->list[p->nr++] = t;
		}
		line = stop + 1;
	}
	if (p->nr)
		qsort(p->list, p->nr, sizeof(*p->list), by_text_address);
	return 0;
}

/* Return the text at an address, or NULL. */
const char *kt_printk_find(const struct kt_printk *p, uint64_t address)
{
	const struct kt_printk_text key = { .address = address };
	const struct kt_printk_text *t;

	t = p->nr ? bsearch(&key, p->list, p->nr, sizeof(key), by_text_address) :
		    NULL;
	return t ? t->text : NULL;
}

void kt_printk_free(struct kt_printk *p)
{
	free(p->copy);
	free(p->list);
	memset(p, 0, sizeof(*p));
}

/* ---- arguments ----------------------------------------------------------------------------- */

/*
 * Take a number of @size bytes.  vbin_printf() aligns a number to its size, but to 4 bytes at most.
 * Return: false if there is none.
 */
static bool take_printk_number(struct kt_printk_args *a, uint32_t size, uint64_t *v)
{
	size_t at = (size_t)(a->at - a->begin), align = size < 4 ? size : 4;

	at = (at + align - 1) / align * align;
	if (at > (size_t)(a->end - a->begin) ||
	    size > (size_t)(a->end - a->begin) - at)
		return false;
	a->at = a->begin + at;
	*v = size == 8 ? kt_load64(a->at, a->big) :
	     size == 4 ? kt_load32(a->at, a->big) :
	     size == 2 ? kt_load16(a->at, a->big) :
			 *a->at;
	a->at += size;
	return true;
}

/* Take a text that ends in a NUL.  Return: NULL if there is none. */
static const char *take_printk_text(struct kt_printk_args *a)
{
	const char *text = (const char *)a->at;
	const uint8_t *nul =
		a->at < a->end ? memchr(a->at, 0, (size_t)(a->end - a->at)) : NULL;

	if (!nul)
		return NULL;
	a->at = nul + 1;
	return text;
}

/* ---- formats --------------------------------------------------------------------------------- */

/**
 * struct directive - "%-08.3lx" and the like
 * @flags: characters of "-+ #0"
 * @width: 0 = none
 * @precision: -1 = none
 * @size: bytes of a number
 * @what: the letter
 */
struct directive {
	char flags[8];
	int width;
	int precision;
	uint32_t size;
	char what;
};

/* Read a width or precision.  Return: false if it is an argument that is missing. */
static bool read_count(const char **at, struct kt_printk_args *a, int *count)
{
	uint64_t v;

	if (**at == '*') {
		++*at;
		if (!take_printk_number(a, 4, &v))
			return false;
		*count = (int)(int32_t)v;
	} else {
		for (*count = 0; **at >= '0' && **at <= '9'; ++*at)
			*count = (int)kt_min((uint64_t)*count * 10 +
						     (uint64_t)(**at - '0'),
					     COUNT_MAX);
	}
	if (*count < -COUNT_MAX || *count > COUNT_MAX) /* INT_MIN is not a width */
		*count = COUNT_MAX;
	return true;
}

/* Read a length modifier ("l", "hh").  Return: bytes of the number. */
static uint32_t read_size(const char **at, uint32_t long_size)
{
	switch (**at) {
	case 'h':
		++*at;
		if (**at != 'h')
			return 2;
		++*at;
		return 1;
	case 'l':
		++*at;
		if (**at != 'l')
			return long_size;
		++*at;
		return 8;
	case 'L':
	case 'q':
	case 'j':
		++*at;
		return 8;
	case 'z':
	case 'Z':
	case 't':
		++*at;
		return long_size;
	default:
		return 4;
	}
}

static void limit_count(int *count, struct kt_printk_args *a)
{
	if (*count <= WIDTH_MAX)
		return;
	*count = WIDTH_MAX;
	a->cut = true;
}

/* Read what is behind a '%'.  Return: false if an argument is missing. */
static bool read_directive(const char **at, struct kt_printk_args *a,
			   struct directive *d)
{
	size_t nr = 0;

	*d = (struct directive){ .precision = -1 };
	for (; **at && strchr("-+ #0", **at); ++*at) {
		if (!strchr(d->flags, **at) && nr < sizeof(d->flags) - 1)
			d->flags[nr++] = **at;
	}
	if (!read_count(at, a, &d->width))
		return false;
	if (d->width < 0) {
		d->width = -d->width;
		if (!strchr(d->flags, '-'))
			d->flags[nr++] = '-';
	}
	if (**at == '.') {
		++*at;
		if (!read_count(at, a, &d->precision))
			return false;
	}
	d->size = read_size(at, a->long_size);
	d->what = **at;
	limit_count(&d->width, a);
	if (d->what != 's') /* a precision only shortens a text */
		limit_count(&d->precision, a);
	*at += !!**at;
	return true;
}

static int put_printk_number(char *to, size_t room, const struct directive *d,
			     uint64_t v)
{
	char format[32];

	snprintf(format, sizeof(format), "%%%s*.*ll%c", d->flags, d->what);
	if (d->what == 'd' || d->what == 'i')
		v = d->size == 8 ? v :
		    d->size == 4 ? (uint64_t)(int32_t)v :
		    d->size == 2 ? (uint64_t)(int16_t)v :
				   (uint64_t)(int8_t)v;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/* Flags and letter were checked one by one. */
	return snprintf(to, room, format, d->width, d->precision, v);
#pragma GCC diagnostic pop
}

static int put_printk_text(char *to, size_t room, const struct directive *d,
			   const char *text)
{
	int width = strchr(d->flags, '-') ? -d->width : d->width;

	return snprintf(to, room, "%*.*s", width, d->precision, text);
}

/* Put the name of a function, or the number. */
static int put_printk_function(char *to, size_t room, const struct directive *d,
			       const struct kt_printk_args *a, uint64_t address,
			       bool offset)
{
	uint64_t at = 0;
	const char *name = kt_symbols_find(a->symbols, address, &at);
	char text[512];

	if (!name)
		snprintf(text, sizeof(text), "0x%" PRIx64, address);
	else if (offset)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, name, at);
	else
		snprintf(text, sizeof(text), "%s", name);
	return put_printk_text(to, room, d, text);
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

/*
 * Put a pointer; @at is behind the 'p', where letters say what it points to.  The kernel records
 * an address for functions (S, s, F, f), for plain pointers, and for x, K and e.  What any other
 * pointer points to (an IP address, a path) it records as a text.
 * Return: characters, or -1 if the argument is missing.
 */
static int put_pointer(char *to, size_t room, const struct directive *d,
		       const char **at, struct kt_printk_args *a)
{
	char suffix = is_alnum(**at) ? **at : 'x', number[32];
	const char *text;
	uint64_t v;

	while (is_alnum(**at))
		++*at;
	if (!strchr("SsFfxKe", suffix)) {
		/* Kernels before 4.15 recorded addresses here, which seldom look like a text. */
		if (a->at < a->end && *a->at >= ' ' && *a->at < 127) {
			text = take_printk_text(a);
			return text ? put_printk_text(to, room, d, text) : -1;
		}
		suffix = 'x';
	}
	if (!take_printk_number(a, a->long_size, &v))
		return -1;
	if (strchr("SsFf", suffix))
		return put_printk_function(to, room, d, a, v,
					   suffix == 'S' || suffix == 'F');
	snprintf(number, sizeof(number), "0x%" PRIx64, v);
	return put_printk_text(to, room, d, number);
}

/* Put what a directive stands for.  Return: characters, or -1 if an argument is missing. */
static int put_directive(char *to, size_t room, const char **at,
			 struct kt_printk_args *a)
{
	const char *begin = *at - 1, *text;
	struct directive d;
	uint64_t v;

	if (!read_directive(at, a, &d))
		return -1;
	switch (d.what) {
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		/* Since 6.14 the kernel records short and char as an int. */
		if (!take_printk_number(a, a->ints && d.size < 4 ? 4 : d.size, &v))
			return -1;
		if (d.size < 4)
			v &= (1U << d.size * 8) - 1;
		return put_printk_number(to, room, &d, v);
	case 'c':
		if (!take_printk_number(a, 1, &v))
			return -1;
		return put_printk_text(to, room, &d, (char[2]){ (char)v, '\0' });
	case 's':
		text = take_printk_text(a);
		return text ? put_printk_text(to, room, &d, text) : -1;
	case 'p':
		return put_pointer(to, room, &d, at, a);
	case '%':
		return snprintf(to, room, "%%");
	default:
		return snprintf(to, room, "%.*s", (int)(*at - begin), begin);
	}
}

/**
 * kt_printk_format() - put a format with its arguments
 * @to: gets the text, with a NUL
 * @room: bytes of @to, at least 1
 * @format: the format
 * @args: its arguments, behind which @args->at is then
 *
 * From the first missing argument on, the text is the format itself.
 *
 * Return: characters of the text, as snprintf(); at least KT_PRINTK_MAX of a longer one.
 */
size_t kt_printk_format(char *to, size_t room, const char *format,
			struct kt_printk_args *args)
{
	size_t len = 0;

	args->missing = args->cut = false;
	while (*format && len < KT_PRINTK_MAX) {
		size_t at = kt_min(len, room - 1);
		const char *begin = format++;
		int put = 1;

		if (*begin == '%' && !args->missing)
			put = put_directive(to + at, room - at, &format, args);
		else
			to[at] = at < room - 1 ? *begin : '\0';
		if (put < 0) {
			args->missing = true;
			format = begin;
			continue;
		}
		len += (size_t)put;
	}
	to[kt_min(len, room - 1)] = '\0';
	return len;
}
