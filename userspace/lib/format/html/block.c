// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks of data in the HTML page of `ktape convert --to html` (not blocks of a ring).
 * out.c lists their kinds.
 *
 *	<script type="text/ktape" data-kind="events" data-name="" data-nr="8192"
 *	 data-at="54321" data-bytes="70000" data-crc="1a2b3c4d">BASE64</script>
 *
 * A browser does not run a script of an unknown type, and no character of base64 can
 * end it, so no byte of a trace is ever part of the page's own text.  BASE64 is the
 * content after deflate (raw, RFC 1951).  data-nr counts the entries of the content (of
 * names: all so far), data-bytes and data-crc (CRC32C) are of the content, and data-at is the
 * offset of the "<" in the file, for messages about damage.
 *
 * Content that out.c calls columns has the numbers of one field after the other: those of
 * all entries for the first field, then for the second, and so on.  A number is
 * little-endian groups of 7 bits, whose high bit is set in all but the last byte.  A
 * signed number v is 2 * v, or -2 * v - 1 if negative.
 */
#include <stdio.h>

#include "util/crc32c.h"

#include "internal.h"

#define NUMBER_MAX 10  /* bytes of a number of 64 bits */
#define TAG_MAX	   256 /* bytes of a tag with a name of KTAPE_TEXT_NAME_MAX */

/**
 * html_room() - return room at the end of bytes
 * @h: the page
 * @b: the bytes
 * @n: how many are needed; the caller may write KT_PUT_OVER more after them, which are
 *	lost
 *
 * Return: the room, or NULL after html_no_memory().
 */
char *html_room(struct html *h, struct html_bytes *b, size_t n)
{
	size_t cap = kt_max(b->cap, 4096);
	uint8_t *more;

	n += b->len + KT_PUT_OVER;
	while (cap < n)
		cap *= 2;
	if (cap > b->cap) {
		more = realloc(b->data, cap);
		if (!more) {
			html_no_memory(h);
			return NULL;
		}
		b->data = more;
		b->cap = cap;
	}
	return (char *)b->data + b->len;
}

/* End writing at html_room(): @end is after the last byte. */
void html_took(struct html_bytes *b, const char *end)
{
	b->len = (size_t)(end - (const char *)b->data);
}

static char *html_put_number(char *p, uint64_t v)
{
	while (v >> 7) {
		*p++ = (char)((v & 127) | 128);
		v >>= 7;
	}
	*p++ = (char)v;
	return p;
}

/* Put a signed number: 2 * @v, or if negative -2 * @v - 1, the inverted bits of 2 * @v. */
static char *html_put_signed(char *p, int64_t v)
{
	return html_put_number(p, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

/* Add a number at the end of @b. */
void html_number(struct html *h, struct html_bytes *b, uint64_t v)
{
	char *p = html_room(h, b, NUMBER_MAX);

	if (p)
		html_took(b, html_put_number(p, v));
}

/* Add a signed number at the end of @b. */
void html_signed(struct html *h, struct html_bytes *b, int64_t v)
{
	char *p = html_room(h, b, NUMBER_MAX);

	if (p)
		html_took(b, html_put_signed(p, v));
}

static char *put_base64(char *p, const uint8_t *from, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t n = kt_min(len - i, 3);
		uint32_t v = (uint32_t)from[i] << 16;

		v |= n > 1 ? (uint32_t)from[i + 1] << 8 : 0;
		v |= n > 2 ? from[i + 2] : 0U;
		*p++ = digits[v >> 18];
		*p++ = digits[v >> 12 & 63];
		*p++ = n > 1 ? digits[v >> 6 & 63] : '=';
		*p++ = n > 2 ? digits[v & 63] : '=';
	}
	return p;
}

/**
 * html_block() - write a block
 * @h: the page
 * @kind: kind of the block
 * @name: value of data-name: a word of at most KTAPE_TEXT_NAME_MAX letters; NULL = empty
 * @nr: number of entries
 * @content: the bytes
 *
 * Return: 0 or negative errno.
 */
int html_block(struct html *h, const char *kind, const char *name, uint64_t nr,
	       const struct html_bytes *content)
{
	struct kt_sink *s = h->s;
	uint8_t *packed;
	size_t len;
	char *p;
	int n;

	if (s->error)
		return s->error;
	h->packed.len = 0;
	packed = (uint8_t *)html_room(h, &h->packed, kt_deflate_bound(content->len));
	if (!packed)
		return s->error;
	len = kt_deflate(h->deflate, content->data, content->len, packed);
	p = kt_sink_room(s, TAG_MAX + (len + 2) / 3 * 4);
	if (!p)
		return s->error;
	n = snprintf(p, TAG_MAX,
		     "<script type=\"text/ktape\" data-kind=\"%s\" data-name=\"%s\" data-nr=\"%llu\" data-at=\"%llu\" data-bytes=\"%zu\" data-crc=\"%08x\">",
		     kind, name ? name : "", (unsigned long long)nr,
		     (unsigned long long)kt_sink_at(s), content->len,
		     kt_crc32c(0, content->data, content->len));
	p = put_base64(p + n, packed, len);
	h->blocks++;
	return kt_sink_done(s, kt_put_str(p, "</script>\n"));
}
