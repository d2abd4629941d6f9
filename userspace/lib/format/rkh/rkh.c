// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RKH trace, the trace of the RKH framework for state machines: its events as bytes, and
 * its frames.
 *
 *	stream	= 0x7e frame 0x7e frame 0x7e ...
 *	frame	= escape(id | sequence | time stamp | field field ... | checksum)
 *		        1-4 B    1 B       1-4 B      configured width    1 B
 *
 * Numbers are little-endian.  0x7e and 0x7d inside a frame become 0x7d and the byte xor
 * 0x20.  All bytes of a frame, with the checksum and before escaping, sum up to zero.  The
 * configuration record FWK_TCFG (config.c) has the widths, and says whether sequence
 * number, time stamp and checksum are present.  A stream should begin with it.  Without
 * it, options give the configuration, or a default is assumed.
 *
 * Reading keeps each event as a user event with its fields as typed arguments; records that
 * name objects are registry entries as well.  An RKH target has one CPU, and which thread
 * ran is unknown.  Writing turns such events back into the same stream; any other trace
 * becomes a Linux stream (internal.h), which loses processes of threads, CPU and thread of
 * user events 0 to 15, names of objects that RKH has no table for, and the date.
 *
 * The sequence number shows lost events, modulo 256.  Damage: a frame with a wrong
 * checksum, an invalid escape or extra bytes is left out with a notice, and reading goes on
 * after the next flag, because 0x7e occurs nowhere inside a frame.
 */
#include <stdio.h>
#include <string.h>

#include "util/put.h"

#include "internal.h"

/*
 * Remove the escapes of a frame, given without its flag.  @to has room for @len bytes.
 * Return: number of bytes, or -EBADMSG for an invalid escape.
 */
int64_t kt_rkh_unframe(uint8_t *to, const uint8_t *data, size_t len)
{
	uint8_t *out = to;

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = data[i];

		if (byte == KT_RKH_FLAG)
			return -EBADMSG;
		if (byte == KT_RKH_ESCAPE) {
			if (++i == len)
				return -EBADMSG;
			byte = data[i] ^ KT_RKH_FLIP;
			if (byte != KT_RKH_FLAG && byte != KT_RKH_ESCAPE)
				return -EBADMSG;
		}
		*out++ = byte;
	}
	return out - to;
}

/*
 * Make a frame with escapes and flag.  @to has room for KT_RKH_FRAMED(@len) bytes.
 * Return: number of bytes.
 */
size_t kt_rkh_frame(uint8_t *to, const uint8_t *data, size_t len)
{
	uint8_t *out = to;

	for (size_t i = 0; i < len; i++) {
		if (data[i] == KT_RKH_FLAG || data[i] == KT_RKH_ESCAPE) {
			*out++ = KT_RKH_ESCAPE;
			*out++ = data[i] ^ KT_RKH_FLIP;
		} else {
			*out++ = data[i];
		}
	}
	*out++ = KT_RKH_FLAG;
	return (size_t)(out - to);
}

/* Return true if the bytes of a frame sum up to zero: its checksum is right. */
bool kt_rkh_checked(const uint8_t *data, size_t len)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum = (uint8_t)(sum + data[i]);
	return len && !sum;
}

/* ---- fields: struct kt_rkh_kind explains the letters of their types ----------- */

/* Return true if the configuration has fields of this type. */
bool kt_rkh_has(const struct kt_rkh_config *c, char type)
{
	switch (type) {
	case 'S':
		return c->flags & KT_RKH_SENDER;
	case 'N':
		return c->flags & KT_RKH_QUE_LOW;
	case 'B':
		return c->flags & KT_RKH_MP_LOW;
	default:
		return true;
	}
}

/* Return the width of fields of a type in bytes, 0 = variable. */
unsigned int kt_rkh_width(const struct kt_rkh_config *c, char type)
{
	switch (type) {
	case 's':
	case 'S':
	case 'f':
		return c->ptr;
	case 'g':
		return c->sig;
	case 'n':
	case 'N':
		return c->nelem;
	case 'b':
	case 'B':
		return c->nblock;
	case 'z':
		return c->bsize;
	case 'e':
		return c->esize;
	case 't':
		return c->ntimer;
	case '2':
	case '4':
		return (unsigned int)(type - '0');
	case '1':
	case 'p':
		return 1;
	default:
		return 0;
	}
}

static const uint8_t *get_rkh_bytes(const uint8_t *p, const uint8_t *end,
				    unsigned int width, uint64_t *value)
{
	if ((size_t)(end - p) < width)
		return NULL;
	*value = 0;
	for (unsigned int i = width; i--;)
		*value = *value << 8 | p[i];
	return p + width;
}

static uint8_t *put_rkh_bytes(uint8_t *p, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++, value >>= 8)
		*p++ = (uint8_t)value;
	return p;
}

static const uint8_t *get_text(struct kt_rkh_event *e, char type,
			       const uint8_t *p, const uint8_t *end)
{
	const uint8_t *nul;

	e->text = p;
	e->len = (size_t)(end - p);
	if (type != 'Z')
		return end;
	nul = memchr(p, 0, e->len);
	if (!nul)
		return NULL;
	e->len = (size_t)(nul - p);
	return nul + 1;
}

/* Read the fields of an event.  Return: 0, or -EBADMSG if bytes are missing or left over. */
static int get_fields(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		      const uint8_t *p, const uint8_t *end, char why[KT_RKH_WHY])
{
	const struct kt_rkh_kind *k = kt_rkh_kind(e->id);
	unsigned int n = 0;

	for (unsigned int i = 0; k->types[i]; i++) {
		unsigned int width = kt_rkh_width(c, k->types[i]);

		if (!kt_rkh_has(c, k->types[i]))
			continue;
		p = width ? get_rkh_bytes(p, end, width, &e->values[n++]) :
			    get_text(e, k->types[i], p, end);
		if (p)
			continue;
		snprintf(why, KT_RKH_WHY, "%s: the frame ends in field %s",
			 k->name, k->fields[i]);
		return -EBADMSG;
	}
	if (p == end)
		return 0;
	snprintf(why, KT_RKH_WHY, "%s: %zu bytes too long", k->name,
		 (size_t)(end - p));
	return -EBADMSG;
}

/*
 * Convert an id of a frame to a TE_ID, which is one byte: group << 5 | number.  Ids of 2 and 4
 * bytes have the group above a whole byte.
 * Return: false if group or number is too large.
 */
static bool narrow_id(const struct kt_rkh_config *c, uint64_t *id)
{
	uint64_t number = *id & 0xff, group = *id >> 8;

	if (c->id == 1)
		return true;
	*id = group << 5 | number;
	return group < 8 && number < 32;
}

/* Read an id.  Return: the byte after it, or NULL for an unknown event. */
static const uint8_t *get_id(const struct kt_rkh_config *c, const uint8_t *data,
			     const uint8_t *end, uint64_t *id)
{
	const uint8_t *p = get_rkh_bytes(data, end, c->id, id);

	return p && narrow_id(c, id) && kt_rkh_kind((unsigned int)*id) ? p : NULL;
}

/*
 * Return the byte after the id of a frame, which is its sequence number if the stream has them;
 * -1 if that is no known event, or nothing is behind it.  By it in.c finds out whether numbers
 * follow one another.
 */
int kt_rkh_behind_id(unsigned int width, const uint8_t *data, size_t len)
{
	const struct kt_rkh_config c = { .id = (uint8_t)width };
	uint64_t id;
	const uint8_t *p = get_id(&c, data, data + len, &id);

	return p && p < data + len ? *p : -1;
}

/*
 * Read an event from the content of a frame.  @e->text points into @data.
 * Return: 0, or -EBADMSG with the reason in @why.
 */
int kt_rkh_decode(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		  const uint8_t *data, size_t len, char why[KT_RKH_WHY])
{
	const uint8_t *p = data, *end = data + len;
	uint64_t id = 0, seq = 0, ts = 0;

	memset(e, 0, sizeof(*e));
	if (c->flags & KT_RKH_CHECK) {
		if (!kt_rkh_checked(data, len)) {
			snprintf(why, KT_RKH_WHY, "the checksum is wrong");
			return -EBADMSG;
		}
		end--;
	}
	p = get_rkh_bytes(p, end, c->id, &id);
	if (p && (!narrow_id(c, &id) || !kt_rkh_kind((unsigned int)id))) {
		snprintf(why, KT_RKH_WHY, "unknown event");
		return -EBADMSG;
	}
	if (p && c->flags & KT_RKH_SEQ)
		p = get_rkh_bytes(p, end, 1, &seq);
	if (p && c->flags & KT_RKH_TIME)
		p = get_rkh_bytes(p, end, c->ts, &ts);
	if (!p) {
		snprintf(why, KT_RKH_WHY, "a frame of %zu bytes is too short", len);
		return -EBADMSG;
	}
	e->id = (uint8_t)id;
	e->seq = (uint8_t)seq;
	e->ts = (uint32_t)ts;
	return get_fields(c, e, p, end, why);
}

/*
 * Write the content of a frame to @to, which has room for KT_RKH_FRAME_MAX bytes.
 * Return: number of bytes.
 */
size_t kt_rkh_encode(const struct kt_rkh_config *c,
		     const struct kt_rkh_event *e, uint8_t *to)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(e->id);
	uint8_t *p = to, sum = 0;
	unsigned int n = 0;

	p = put_rkh_bytes(p, c->id,
			  c->id == 1 ? e->id :
				       (e->id & 0xe0U) << 3 | (e->id & 0x1fU));
	if (c->flags & KT_RKH_SEQ)
		*p++ = e->seq;
	if (c->flags & KT_RKH_TIME)
		p = put_rkh_bytes(p, c->ts, e->ts);
	for (const char *t = k->types; *t; t++) {
		unsigned int width = kt_rkh_width(c, *t);

		if (!kt_rkh_has(c, *t))
			continue;
		if (width) {
			p = put_rkh_bytes(p, width, e->values[n++]);
			continue;
		}
		if (e->len)
			memcpy(p, e->text, e->len);
		p += e->len;
		if (*t == 'Z')
			*p++ = 0;
	}
	if (c->flags & KT_RKH_CHECK) {
		for (const uint8_t *b = to; b < p; b++)
			sum = (uint8_t)(sum + *b);
		*p++ = (uint8_t)-sum;
	}
	return (size_t)(p - to);
}
