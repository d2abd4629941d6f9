// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * RKH trace, the trace of a framework for state machines (rkh.c draws it): fields of events as
 * typed arguments of user events and back, and as JSON.
 *
 * The letters of field types (k->types) are those of struct kt_rkh_kind in internal.h.
 *
 * ktape and RKH number the formats of typed arguments alike.  In ktape an address always
 * has 8 bytes and a signal 4; in an RKH stream the configuration gives their widths.
 */
#include <ktape/mark.h>

#include "util/put.h"

#include "internal.h"

#define FORMATS 12U /* KTAPE_FORMAT_* */

/* Bytes of a number in ktape's typed arguments, 0 = text or memory. */
static const uint8_t sizes[FORMATS] = {
	[KTAPE_FORMAT_S8] = 1,	     [KTAPE_FORMAT_U8] = 1,
	[KTAPE_FORMAT_S16] = 2,	     [KTAPE_FORMAT_U16] = 2,
	[KTAPE_FORMAT_S32] = 4,	     [KTAPE_FORMAT_U32] = 4,
	[KTAPE_FORMAT_X32] = 4,	     [KTAPE_FORMAT_OBJECT] = 8,
	[KTAPE_FORMAT_FUNCTION] = 8, [KTAPE_FORMAT_SIGNAL] = 4,
};

/* Return the bytes of a number in typed arguments of an RKH stream. */
static unsigned int foreign_size(const struct kt_rkh_config *c, unsigned int format)
{
	switch (format) {
	case KTAPE_FORMAT_OBJECT:
	case KTAPE_FORMAT_FUNCTION:
		return c->ptr;
	case KTAPE_FORMAT_SIGNAL:
		return c->sig;
	default:
		return sizes[format];
	}
}

static uint8_t *put_typed_bytes(uint8_t *p, unsigned int width, uint64_t value)
{
	for (unsigned int i = 0; i < width; i++, value >>= 8)
		*p++ = (uint8_t)value;
	return p;
}

static uint64_t get_typed_bytes(const uint8_t *p, unsigned int width)
{
	uint64_t v = 0;

	for (unsigned int i = width; i--;)
		v = v << 8 | p[i];
	return v;
}

/*
 * Copy typed arguments from an RKH stream to ktape's form; @to_rkh: the other way.  *@cut is set if
 * a number was wider than the stream's configuration says.
 * Return: number of bytes, or -EBADMSG for a malformed argument.
 */
static int64_t copy_args(const struct kt_rkh_config *c, bool to_rkh,
			 uint8_t *to, const uint8_t *p, size_t len, bool *cut)
{
	const uint8_t *end = p + len, *nul;
	uint8_t *out = to;

	while (p < end) {
		/* The upper half of the byte, a width for display, is copied with it. */
		unsigned int format = *p & 15, from, more;
		uint64_t value;

		*out++ = *p++;
		if (format >= FORMATS)
			return -EBADMSG;
		from = to_rkh ? sizes[format] : foreign_size(c, format);
		more = to_rkh ? foreign_size(c, format) : sizes[format];
		if (from) {
			if ((size_t)(end - p) < from)
				return -EBADMSG;
			value = get_typed_bytes(p, from);
			*cut |= more < 8 && value >> more * 8;
			out = put_typed_bytes(out, more, value);
			p += from;
			continue;
		}
		nul = memchr(p, 0, (size_t)(end - p));
		if (format == KTAPE_FORMAT_MEMORY && p < end)
			from = *p + 1U;
		else if (format == KTAPE_FORMAT_STRING && nul)
			from = (unsigned int)(nul - p) + 1;
		if (!from || from > (size_t)(end - p))
			return -EBADMSG;
		memcpy(out, p, from);
		out += from;
		p += from;
	}
	return out - to;
}

/* Return the format that numbers of a field type have as typed arguments. */
static unsigned int typed_format_of(const struct kt_rkh_config *c, char type)
{
	switch (type) {
	case 's':
	case 'S':
		return KTAPE_FORMAT_OBJECT;
	case 'f':
		return KTAPE_FORMAT_FUNCTION;
	case 'g':
		return KTAPE_FORMAT_SIGNAL;
	default:
		break;
	}
	switch (kt_rkh_width(c, type)) {
	case 1:
		return KTAPE_FORMAT_U8;
	case 2:
		return KTAPE_FORMAT_U16;
	default:
		return KTAPE_FORMAT_U32;
	}
}

/* Put bytes as memory arguments, of which each has 255 at most. */
static uint8_t *put_typed_memory(uint8_t *p, const uint8_t *data, size_t len)
{
	while (len) {
		size_t part = (size_t)kt_min(len, UINT8_MAX);

		*p++ = KTAPE_FORMAT_MEMORY;
		*p++ = (uint8_t)part;
		memcpy(p, data, part);
		p += part;
		data += part;
		len -= part;
	}
	return p;
}

/*
 * Write all fields of an event as typed arguments to @to, which has room for
 * KT_RKH_TYPED_MAX bytes.
 * Return: number of bytes; 0 also if an argument of a user event is malformed.
 */
size_t kt_rkh_to_typed(const struct kt_rkh_config *c,
		       const struct kt_rkh_event *e, uint8_t *to)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(e->id);
	uint8_t *p = to;
	unsigned int n = 0;

	if (*k->types == 'U') {
		bool cut = false; /* never: ktape's fields are the widest */
		int64_t len = copy_args(c, false, to, e->text, e->len, &cut);

		return len < 0 ? 0 : (size_t)len;
	}
	for (const char *t = k->types; *t; t++) {
		unsigned int format = typed_format_of(c, *t);

		if (!kt_rkh_has(c, *t))
			continue;
		if (kt_rkh_width(c, *t)) {
			*p++ = (uint8_t)format;
			p = put_typed_bytes(p, sizes[format], e->values[n++]);
		} else if (*t == 'M') {
			p = put_typed_memory(p, e->text, e->len);
		} else {
			*p++ = KTAPE_FORMAT_STRING;
			if (e->len)
				memcpy(p, e->text, e->len);
			p += e->len;
			*p++ = 0;
		}
	}
	return (size_t)(p - to);
}

/*
 * Read a typed argument at @p: its format, and the value of a number.  The data of a text
 * begins at @p + 1, that of memory at @p + 2.
 * Return: the byte after it, or NULL if it is malformed.
 */
const uint8_t *kt_rkh_get_typed(const uint8_t *p, const uint8_t *end,
				unsigned int *format, uint64_t *value)
{
	const uint8_t *nul;

	if (p >= end || (*p & 15) >= FORMATS)
		return NULL;
	*format = *p++ & 15;
	*value = 0;
	if (sizes[*format]) {
		if ((size_t)(end - p) < sizes[*format])
			return NULL;
		*value = get_typed_bytes(p, sizes[*format]);
		return p + sizes[*format];
	}
	if (*format == KTAPE_FORMAT_STRING) {
		nul = memchr(p, 0, (size_t)(end - p));
		return nul ? nul + 1 : NULL;
	}
	if (p == end || *p >= (size_t)(end - p))
		return NULL;
	return p + 1 + *p;
}

/* Join memory arguments to bytes.  Return: 0, or -EBADMSG for another argument. */
static int join_memory(struct kt_rkh_event *e, const uint8_t *p,
		       const uint8_t *end, uint8_t *room)
{
	unsigned int format;
	uint64_t v;

	e->text = room;
	while (p < end) {
		const uint8_t *next = kt_rkh_get_typed(p, end, &format, &v);

		if (!next || format != KTAPE_FORMAT_MEMORY)
			return -EBADMSG;
		memcpy(room + e->len, p + 2, p[1]);
		e->len += p[1];
		p = next;
	}
	return 0;
}

/*
 * Set the fields of an event (@e->id) from typed arguments.  @e->text points into @room,
 * which has at least @len bytes, or into @data.
 * Return: 0, 1 if a value was too wide and is cut, or -EBADMSG if the arguments are not
 * those of such an event.
 */
int kt_rkh_from_typed(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		      const uint8_t *data, size_t len, uint8_t *room)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(e->id);
	const uint8_t *p = data, *end = data + len, *next;
	unsigned int n = 0, format = 0;
	int cut = 0;

	if (*k->types == 'M')
		return join_memory(e, p, end, room);
	if (*k->types == 'U') {
		bool wide = false;
		int64_t size = copy_args(c, true, room, data, len, &wide);

		e->text = room;
		e->len = size < 0 ? 0 : (size_t)size;
		return size < 0 ? -EBADMSG : wide;
	}
	for (const char *t = k->types; *t; t++) {
		unsigned int width = kt_rkh_width(c, *t);
		uint64_t v;

		if (!kt_rkh_has(c, *t))
			continue;
		next = kt_rkh_get_typed(p, end, &format, &v);
		if (!next || format == KTAPE_FORMAT_MEMORY ||
		    (format == KTAPE_FORMAT_STRING) != !width)
			return -EBADMSG;
		if (width) {
			e->values[n++] = v;
			cut |= width < 8 && v >> width * 8;
		} else {
			e->text = p + 1;
			e->len = (size_t)(next - p) - 2;
		}
		p = next;
	}
	return p == end ? cut : -EBADMSG;
}

/* ---- JSON --------------------------------------------------------------- */

static char *put_typed_key(char *p, const char *key)
{
	p = kt_put_mem(p, ",\"", 2);
	p = kt_put_str(p, key);
	return kt_put_mem(p, "\":", 2);
}

static char *put_typed_number(char *p, unsigned int format, uint64_t v)
{
	switch (format) {
	case KTAPE_FORMAT_S8:
		return kt_put_s64(p, (int8_t)v);
	case KTAPE_FORMAT_S16:
		return kt_put_s64(p, (int16_t)v);
	case KTAPE_FORMAT_S32:
		return kt_put_s64(p, (int32_t)v);
	case KTAPE_FORMAT_U8:
	case KTAPE_FORMAT_U16:
	case KTAPE_FORMAT_U32:
	case KTAPE_FORMAT_SIGNAL:
		return kt_put_u64(p, v);
	default:
		p = kt_put_char(p, '"');
		p = kt_put_hex(p, v);
		return kt_put_char(p, '"');
	}
}

/* Write a typed argument as JSON; @next is the byte after it. */
static char *put_argument(char *p, const uint8_t *at, const uint8_t *next,
			  unsigned int format, uint64_t v)
{
	if (format == KTAPE_FORMAT_STRING)
		return kt_put_json(p, (const char *)at + 1, (size_t)(next - at) - 2);
	if (format != KTAPE_FORMAT_MEMORY)
		return put_typed_number(p, format, v);
	p = kt_put_char(p, '"');
	p = kt_put_bytes(p, at + 2, at[1]);
	return kt_put_char(p, '"');
}

/* Write the fields of an event, which typed arguments give in their order, as JSON. */
static char *put_typed_fields(char *p, const struct kt_rkh_config *c,
			      unsigned int id, const uint8_t *at, const uint8_t *end)
{
	const struct kt_rkh_kind *k = kt_rkh_kind(id);
	const uint8_t *next;
	unsigned int format;
	const char *word;
	uint64_t v;

	for (unsigned int i = 0; k->types[i] && at < end; i++) {
		if (!kt_rkh_has(c, k->types[i]))
			continue;
		next = kt_rkh_get_typed(at, end, &format, &v);
		if (!next)
			break;
		p = put_typed_key(p, k->fields[i]);
		word = id == KT_RKH_EXE_ACT && !i ? kt_rkh_act(v) : NULL;
		if (word) {
			p = kt_put_char(p, '"');
			p = kt_put_str(p, word);
			p = kt_put_char(p, '"');
		} else {
			/* The stream has the number of a pool minus one. */
			p = put_argument(p, at, next, format,
					 v + (k->types[i] == 'p'));
		}
		at = next;
	}
	return p;
}

static char *put_typed_list(char *p, const char *key, const uint8_t *at,
			    const uint8_t *end)
{
	const uint8_t *next;
	unsigned int format;
	bool first = true;
	uint64_t v;

	p = put_typed_key(p, key);
	p = kt_put_char(p, '[');
	while ((next = kt_rkh_get_typed(at, end, &format, &v))) {
		if (!first)
			p = kt_put_char(p, ',');
		first = false;
		p = put_argument(p, at, next, format, v);
		at = next;
	}
	return kt_put_char(p, ']');
}

static char *put_typed_config(char *p, const uint8_t *words)
{
	struct kt_rkh_config c = { 0 };
	uint32_t w[KT_RKH_CONFIG_WORDS];

	for (unsigned int i = 0; i < KT_RKH_CONFIG_WORDS; i++)
		w[i] = kt_get32(words + i * 4);
	kt_rkh_unpack(&c, w);
	p = kt_put_u64(put_typed_key(p, "version"), c.version);
	p = kt_put_u64(put_typed_key(p, "flags"), c.flags);
	p = kt_put_u64(put_typed_key(p, "id"), c.id);
	p = kt_put_u64(put_typed_key(p, "sig"), c.sig);
	p = kt_put_u64(put_typed_key(p, "tstamp"), c.ts);
	p = kt_put_u64(put_typed_key(p, "ptr"), c.ptr);
	p = kt_put_u64(put_typed_key(p, "ntimer"), c.ntimer);
	p = kt_put_u64(put_typed_key(p, "nblock"), c.nblock);
	p = kt_put_u64(put_typed_key(p, "nelem"), c.nelem);
	p = kt_put_u64(put_typed_key(p, "esize"), c.esize);
	p = kt_put_u64(put_typed_key(p, "bsize"), c.bsize);
	p = kt_put_u64(put_typed_key(p, "epools"), c.pools);
	return kt_put_u64(put_typed_key(p, "tick_hz"), c.hz);
}

/*
 * Write an event as JSON.  @raw is TE_ID, sequence number, 2 unused bytes, flags of the
 * configuration, time stamp, unused bytes up to KT_RKH_RAW_HEAD; then typed arguments, or
 * the words of the configuration.
 * Return: the end.
 */
char *kt_rkh_json(char *p, const uint8_t *raw, size_t size)
{
	const uint8_t *at = raw + KT_RKH_RAW_HEAD, *end = raw + size;
	const struct kt_rkh_config c = { .flags = kt_get32(raw + 4) };
	const struct kt_rkh_kind *k = kt_rkh_kind(raw[0]);
	const char *name = strchr(k->name, '_');

	p = kt_put_str(p, "{\"group\":\"");
	p = kt_put_str(p, kt_rkh_group(raw[0]));
	p = kt_put_char(p, '"');
	p = put_typed_key(p, "event");
	if (name) {
		p = kt_put_char(p, '"');
		p = kt_put_str(p, name + 1);
		p = kt_put_char(p, '"');
	} else {
		p = kt_put_u64(p, raw[0] - KT_RKH_USER);
	}
	if (raw[0] == KT_RKH_TCFG)
		return kt_put_char(put_typed_config(p, at), '}');
	if (c.flags & KT_RKH_SEQ)
		p = kt_put_u64(put_typed_key(p, "nseq"), raw[1]);
	if (c.flags & KT_RKH_TIME)
		p = kt_put_u64(put_typed_key(p, "ts"), kt_get32(raw + 8));
	if (*k->types == 'U' || *k->types == 'M')
		p = put_typed_list(p, k->fields[0], at, end);
	else
		p = put_typed_fields(p, &c, raw[0], at, end);
	return kt_put_char(p, '}');
}
