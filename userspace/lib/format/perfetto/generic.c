// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events that ftrace does not have, as Perfetto's generic ftrace events: the event
 * table describes each of them once, at the start of the trace.  The viewer shows
 * them as rows of ftrace_event with their arguments.
 */
#include "stream/event.h"
#include "internal.h"

#define LABEL_OPTIONAL 1
#define DESCRIPTOR_MAX \
	2048U /* bytes of the description of an event, more than any has */
#define LIST_SHOWN 256U	 /* words of a list; the rest is cut */
#define TEXT_SHOWN 1024U /* bytes of a text or a buffer; the rest is cut */

/* An event has one of them, beside numbers. */
_Static_assert(TEXT_SHOWN * 4 + 4096 < PF_MESSAGE_MAX &&
		       LIST_SHOWN * (KT_PUT_U64_MAX + 1) + 4096 < PF_MESSAGE_MAX,
	       "an event may be longer than its length says");

static uint32_t generic_type_of(const struct ktape_field *f)
{
	switch (f->place) {
	case KTAPE_PLACE_BITS:
	case KTAPE_PLACE_ARG:
		break;
	default:
		return PF_TYPE_STRING;
	}
	switch (f->type) {
	case KTAPE_TYPE_FUNC:
		return PF_TYPE_STRING;
	case KTAPE_TYPE_S32:
	case KTAPE_TYPE_S64:
	case KTAPE_TYPE_TID:
		return PF_TYPE_INT64;
	default:
		return PF_TYPE_UINT64;
	}
}

/* Describe the fields, numbered from 1.  pf_generic() must use the same numbers. */
static char *put_generic_fields(char *p, const struct ktape_event_desc *d)
{
	uint32_t number = 0;
	char *m;

	for (unsigned int i = 0; i < d->nr_fields; i++) {
		const struct ktape_field *f = &d->fields[i];

		/* No field: kt_fields_next() only goes past it. */
		if (f->place == KTAPE_PLACE_BLOB)
			continue;
		m = pf_open(p, PF_DESCRIPTOR_FIELD);
		p = pf_text(m, PF_FIELD_NAME, f->name);
		p = pf_number(p, PF_FIELD_NUMBER, ++number);
		p = pf_number(p, PF_FIELD_LABEL, LABEL_OPTIONAL);
		p = pf_close(m, pf_number(p, PF_FIELD_TYPE, generic_type_of(f)));
	}
	return p;
}

/**
 * pf_generic_descriptors() - describe all events that are written as generic ones
 * @pf: trace being written
 *
 * Return: 0 or negative errno.
 */
int pf_generic_descriptors(struct perfetto *pf)
{
	for (unsigned int op = 0; op < KTAPE_OPCODES; op++) {
		const struct ktape_event_desc *d = ktape_event_desc(op);
		char *p, *bundle, *generic, *m;

		if (!d || pf->plans[op])
			continue;
		p = pf_packet(pf, PF_SEQUENCE_FTRACE, DESCRIPTOR_MAX);
		if (!p)
			return pf->s->error;
		bundle = pf_open(p, PF_PACKET_FTRACE_EVENTS);
		p = pf_number(bundle, PF_BUNDLE_CPU, 0);
		generic = pf_open(p, PF_BUNDLE_GENERIC);
		p = pf_number(generic, PF_GENERIC_ID, PF_GENERIC_FIRST + op);
		m = pf_open(p, PF_GENERIC_DESCRIPTOR);
		p = pf_text(m, PF_DESCRIPTOR_NAME, d->name);
		p = pf_close(m, put_generic_fields(p, d));
		p = pf_text(p, PF_GENERIC_GROUP, "ktape");
		pf_packet_done(pf, pf_close(bundle, pf_close(generic, p)));
	}
	return 0;
}

/* Write the name of a function, or its token in hexadecimal if it has none. */
static char *put_generic_function(struct perfetto *pf, char *p, uint32_t number,
				  uint64_t token, uint64_t ts)
{
	const struct ktape_object_info *o;
	char hex[2 * sizeof(token)];

	o = ktape_registry_object(pf->s->registry, KTAPE_OBJ_FUNCTION,
				  (uint32_t)token, 0, ts);
	if (o)
		return pf_string(p, number, o->name, o->name_len);
	return pf_bytes(p, number, hex, (size_t)(kt_put_hex(hex, token) - hex));
}

/*
 * Return the number of bytes or words that are written, and count an end that is cut.  @most:
 * LIST_SHOWN for words, TEXT_SHOWN for bytes.
 */
static uint32_t shown_count(struct perfetto *pf, const struct kt_fields *at,
			    uint32_t most)
{
	if (at->count <= most)
		return at->count;
	kt_sink_miss(pf->s,
		     most == LIST_SHOWN ?
			     "ends of lists beyond 256 numbers" :
			     "ends of texts and buffers beyond 1024 bytes",
		     1);
	return most;
}

/* Escape a text: it may be any bytes, but a protobuf string has to be UTF-8. */
static char *put_generic_text(struct perfetto *pf, char *p, uint32_t number,
			      const struct kt_fields *at)
{
	size_t len = shown_count(pf, at, TEXT_SHOWN);
	char text[TEXT_SHOWN * 4];
	char *end = kt_put_escaped(text, (const char *)at->data, len);

	return pf_bytes(p, number, text, (size_t)(end - text));
}

static char *put_generic_list(struct perfetto *pf, char *p, uint32_t number,
			      const struct kt_slot *f, const struct kt_fields *at)
{
	char text[LIST_SHOWN * (KT_PUT_U64_MAX + 1)], *to = text;
	uint32_t count = shown_count(pf, at, LIST_SHOWN);

	for (uint32_t i = 0; i < count; i++) {
		if (i)
			to = kt_put_char(to, ' ');
		to = kt_put_hex(to, kt_fields_value(at, f, i));
	}
	return pf_bytes(p, number, text, (size_t)(to - text));
}

static char *put_generic_value(struct perfetto *pf, char *p, uint32_t number,
			       const struct kt_slot *f,
			       const struct kt_fields *at, uint64_t ts)
{
	char hex[TEXT_SHOWN * 2];
	uint64_t n;

	switch (f->place) {
	case KTAPE_PLACE_TEXT:
		return put_generic_text(pf, p, number, at);
	case KTAPE_PLACE_BYTES:
		n = shown_count(pf, at, TEXT_SHOWN);
		return pf_bytes(p, number, hex,
				(size_t)(kt_put_bytes(hex, at->data, n) - hex));
	case KTAPE_PLACE_ARRAY:
	case KTAPE_PLACE_LIST:
		return put_generic_list(pf, p, number, f, at);
	case KTAPE_PLACE_REST:
		if (at->count)
			return put_generic_list(pf, p, number, f, at);
		n = (uint64_t)(kt_put_hex(hex, at->value) - hex);
		return pf_bytes(p, number, hex, n);
	default:
		if (f->type == KTAPE_TYPE_FUNC)
			return put_generic_function(pf, p, number, at->value, ts);
		return pf_number(p, number, at->value);
	}
}

/**
 * pf_generic() - write an event as a generic ftrace event
 * @pf: trace being written, with a bundle for the event's CPU
 * @e: event that fits the event table
 */
void pf_generic(struct perfetto *pf, const struct ktape_event *e)
{
	const struct kt_slot *f;
	struct kt_fields at;
	uint32_t number = 0;
	struct pf_cpu *c = pf->cpus[e->cpu];
	char *start = pf_cpu_room(pf, c, e->cpu, PF_MESSAGE_MAX);
	char *p, *m, *inner;

	m = pf_open(start, PF_BUNDLE_EVENT);
	p = pf_number(m, PF_FTRACE_TIMESTAMP, pf_time(pf, e->ts));
	/* The viewer drops an event without a thread: use 0 for "unknown". */
	p = pf_number(p, PF_FTRACE_PID, e->tid < 0 ? 0 : (uint32_t)e->tid);
	inner = pf_open(p, PF_GENERIC_FIRST + e->opcode);
	p = inner;
	kt_fields_begin(&at, &kt_plans[e->opcode], e);
	while ((f = kt_fields_next(&at)))
		p = put_generic_value(pf, p, ++number, f, &at, e->ts);
	p = pf_close(m, pf_close(inner, p));
	c->len += (uint32_t)(p - start);
}
