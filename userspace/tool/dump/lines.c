// SPDX-License-Identifier: GPL-2.0-only
/* ktape dump: format events as lines. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <ktape.h>

#include "util/file.h"
#include "util/put.h"

#include "tool/dump/dump.h"
#include "tool/shared/color.h"

/* For the text of a ktape-fmt(5) file: 6 bytes for each in JSON, and its name. */
#define MESSAGE_ROOM (8U * KTAPE_MESSAGE_MAX)
#define SOURCE_ROOM  16U /* for the name of the member "source" */

/**
 * lines_make_room() - make room for more text
 * @l: lines
 * @need: bytes behind those that are used
 *
 * Return: 0 or -ENOMEM.
 */
int lines_make_room(struct lines *l, size_t need)
{
	size_t cap = kt_max(l->cap * 2, l->len + need);
	char *more;

	if (l->cap - l->len >= need)
		return 0;
	more = realloc(l->buf, cap);
	if (!more)
		return -ENOMEM;
	l->buf = more;
	l->cap = cap;
	return 0;
}

/* Add the member "source", the event in its own format, before the closing brace. */
static char *put_source(char *p, const char *source, size_t len)
{
	p = kt_put_str(p - 2, ",\"source\":");
	p = kt_put_mem(p, source, len);
	return kt_put_mem(p, "}\n", 2);
}

/**
 * lines_add() - add the line of an event
 * @l: lines; the buffer grows as needed
 * @e: the event
 * @source: the event in its own format, for JSON; NULL: none
 * @source_len: bytes of @source
 *
 * Return: 0 or -ENOMEM.
 */
int lines_add(struct lines *l, const struct ktape_event *e, const char *source,
	      size_t source_len)
{
	size_t need = ktape_format_bound(e) + MESSAGE_ROOM + source_len +
		      SOURCE_ROOM + COLOR_ROOM;
	size_t len;
	char *p;

	if (l->cap - l->len < need && lines_make_room(l, need))
		return -ENOMEM;
	p = l->buf + l->len;
	len = l->json ? ktape_format_json(l->info, l->names, e, p) :
			ktape_format_text(l->info, l->names, e, p);
	if (l->formats)
		len = formats_append(l->formats, e, l->json, p, len);
	if (l->color)
		len = color_event(p, len, l->names, e);
	p += len;
	if (source)
		p = put_source(p, source, source_len);
	l->len = (size_t)(p - l->buf);
	return 0;
}

/**
 * dump_flush() - write the lines that were not written yet
 * @d: the dump
 */
void dump_flush(struct dump *d)
{
	if (d->out.len && !d->error)
		d->error = kt_write_all(STDOUT_FILENO, d->out.buf, d->out.len);
	d->out.len = 0;
}
