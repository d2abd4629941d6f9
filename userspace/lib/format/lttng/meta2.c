// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF 2 metadata: made from those of CTF 1.8, which describe the same bytes.  The text of
 * 1.8 is parsed into types (tsdl.c), and the types are written as JSON fragments.
 *
 * CTF2-SPEC-2.0 of the DiaMon workgroup.  babeltrace2 reads it from version 2.1 on.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/bits.h"
#include "util/memory.h"

#include "stream/metadata.h"
#include "ctf.h"
#include "lttng.h"
#include "meta2.h"

#define RECORD '\x1e'

/*
 * Which part of a packet is described: it decides on roles and names.  Contexts of events are
 * PAYLOAD: none of their fields has a role.
 */
enum scope { HEADER, CONTEXT, EVENT_HEADER, PAYLOAD };

/**
 * struct place - where a type is
 * @scope: enum scope
 * @in: the structure that has it as a member, or NULL
 * @name: name of the member, or NULL
 */
struct place {
	enum scope scope;
	const struct ctf_type *in;
	const char *name;
};

static void put_type(FILE *f, const struct ctf_type *t, struct place p);

static void put_meta2_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			fprintf(f, "\\u%04x", (unsigned char)*text);
		else
			fputc(*text, f);
	}
	fputc('"', f);
}

static const struct {
	enum scope scope;
	const char *name;
	const char *role;
} roles[] = {
	{ HEADER, "magic", "packet-magic-number" },
	{ HEADER, "uuid", "metadata-stream-uuid" },
	{ HEADER, "stream_id", "data-stream-class-id" },
	{ HEADER, "stream_instance_id", "data-stream-id" },
	{ CONTEXT, "timestamp_begin", "default-clock-timestamp" },
	{ CONTEXT, "timestamp_end", "packet-end-default-clock-timestamp" },
	{ CONTEXT, "content_size", "packet-content-length" },
	{ CONTEXT, "packet_size", "packet-total-length" },
	{ CONTEXT, "packet_seq_num", "packet-sequence-number" },
	{ CONTEXT, "events_discarded", "discarded-event-record-counter-snapshot" },
	{ EVENT_HEADER, "id", "event-record-class-id" },
	{ EVENT_HEADER, "timestamp", "default-clock-timestamp" },
};

static void put_meta2_role(FILE *f, enum scope scope, const char *name)
{
	for (size_t i = 0; name && i < KT_ARRAY_SIZE(roles); i++) {
		if (roles[i].scope == scope && !strcmp(roles[i].name, name))
			fprintf(f, ",\"roles\":[\"%s\"]", roles[i].role);
	}
}

/* CTF 1.8 puts _ before the names of fields, so that they are no keywords. */
static const char *plain_name(const char *name, enum scope scope)
{
	return scope != HEADER && *name == '_' ? name + 1 : name;
}

static void put_range(FILE *f, const struct ctf_type *t, const struct ctf_range *r)
{
	fprintf(f, t->is_signed ? "[%lld,%lld]" : "[%llu,%llu]",
		(long long)r->low, (long long)r->high);
}

static void put_meta2_number(FILE *f, const struct ctf_type *t, struct place p)
{
	fprintf(f, "{\"type\":\"fixed-length-%s-integer\",\"length\":%u,\"byte-order\":\"%s-endian\",\"alignment\":%u",
		t->is_signed ? "signed" : "unsigned", t->size,
		t->big ? "big" : "little", t->align);
	if (t->hex)
		fputs(",\"preferred-display-base\":16", f);
	put_meta2_role(f, p.scope, p.name);
	if (t->nr_labels)
		fputs(",\"mappings\":{", f);
	for (unsigned int i = 0; i < t->nr_labels; i++) {
		fputs(i ? "," : "", f);
		put_meta2_text(f, t->labels[i].name);
		fputs(":[", f);
		put_range(f, t, &t->labels[i].range);
		fputc(']', f);
	}
	fputs(t->nr_labels ? "}}" : "}", f);
}

static void put_meta2_float(FILE *f, const struct ctf_type *t)
{
	fprintf(f, "{\"type\":\"fixed-length-floating-point-number\",\"length\":%u,\"byte-order\":\"%s-endian\",\"alignment\":%u}",
		t->size, t->big ? "big" : "little", t->align);
}

static bool is_bytes(const struct ctf_type *t)
{
	return t->element->kind == CTF_INTEGER && t->element->size == 8 &&
	       !t->element->is_signed;
}

static const struct ctf_member *find_meta2_member(const struct ctf_type *t,
						  const char *name)
{
	for (unsigned int i = 0; t && i < t->nr_members; i++) {
		if (!strcmp(t->members[i].name, name))
			return &t->members[i];
	}
	return NULL;
}

/*
 * Write where the field is that a length or a variant goes by: in the same structure, or in
 * the context of the event.  ktape's own metadata refer to no other place.
 */
static void put_location(FILE *f, const char *key, const char *field, struct place p)
{
	fprintf(f, ",\"%s-field-location\":{", key);
	if (!find_meta2_member(p.in, field))
		fputs("\"origin\":\"event-record-specific-context\",", f);
	fputs("\"path\":[", f);
	put_meta2_text(f, plain_name(field, p.scope));
	fputs("]}", f);
}

/* Return the name that a length or a tag ends with. */
static const char *last_name(const struct ctf_type *t)
{
	return t->nr_path ? t->path[t->nr_path - 1] : "";
}

static void put_meta2_length(FILE *f, const struct ctf_type *t, struct place p)
{
	if (t->kind == CTF_ARRAY)
		fprintf(f, ",\"length\":%llu", (unsigned long long)t->count);
	else
		put_location(f, "length", last_name(t), p);
}

static void put_meta2_array(FILE *f, const struct ctf_type *t, struct place p)
{
	bool is_uuid = p.scope == HEADER && p.name && !strcmp(p.name, "uuid");
	const char *how = t->kind == CTF_ARRAY ? "static" : "dynamic";
	const struct place element = { p.scope, p.in, NULL };

	if (t->text || is_uuid || is_bytes(t)) {
		fprintf(f, "{\"type\":\"%s-length-%s\"", how,
			t->text ? "string" : "blob");
		put_meta2_length(f, t, p);
		put_meta2_role(f, p.scope, p.name);
		fputc('}', f);
		return;
	}
	fprintf(f, "{\"type\":\"%s-length-array\"", how);
	put_meta2_length(f, t, p);
	fputs(",\"element-field-class\":", f);
	put_type(f, t->element, element);
	fputc('}', f);
}

static void put_struct(FILE *f, const struct ctf_type *t, struct place p)
{
	fprintf(f, "{\"type\":\"structure\",\"minimum-alignment\":%u,\"member-classes\":[",
		t->align);
	for (unsigned int i = 0; i < t->nr_members; i++) {
		const struct ctf_member *m = &t->members[i];

		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		put_meta2_text(f, plain_name(m->name, p.scope));
		fputs(",\"field-class\":", f);
		put_type(f, m->type, (struct place){ p.scope, t, m->name });
		fputc('}', f);
	}
	fputs("]}", f);
}

/*
 * Write the values of the tag that choose an option: those of the label of its name, of which
 * ktape's own metadata have one.
 */
static void put_meta2_ranges(FILE *f, const struct ctf_type *tag, const char *option)
{
	for (unsigned int i = 0; tag && i < tag->nr_labels; i++) {
		if (!strcmp(tag->labels[i].name, option))
			put_range(f, tag, &tag->labels[i].range);
	}
}

static void put_variant(FILE *f, const struct ctf_type *t, struct place p)
{
	const struct ctf_member *tag = find_meta2_member(p.in, last_name(t));

	fputs("{\"type\":\"variant\"", f);
	put_location(f, "selector", last_name(t), p);
	fputs(",\"options\":[", f);
	for (unsigned int i = 0; i < t->nr_members; i++) {
		const struct ctf_member *m = &t->members[i];

		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		put_meta2_text(f, m->name);
		fputs(",\"selector-field-ranges\":[", f);
		put_meta2_ranges(f, tag ? tag->type : NULL, m->name);
		fputs("],\"field-class\":", f);
		put_type(f, m->type, (struct place){ p.scope, p.in, m->name });
		fputc('}', f);
	}
	fputs("]}", f);
}

static void put_type(FILE *f, const struct ctf_type *t, struct place p)
{
	switch (t->kind) {
	case CTF_STRUCT:
		put_struct(f, t, p);
		return;
	case CTF_VARIANT:
		put_variant(f, t, p);
		return;
	case CTF_STRING:
		fputs("{\"type\":\"null-terminated-string\"}", f);
		return;
	case CTF_FLOAT:
		put_meta2_float(f, t);
		return;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		put_meta2_array(f, t, p);
		return;
	default: /* CTF 1.8 has no numbers of variable length */
		put_meta2_number(f, t, p);
		return;
	}
}

/* Write a member that is a type, if there is one. */
static void put_meta2_member(FILE *f, const char *key, const struct ctf_type *t,
			     enum scope scope)
{
	if (!t)
		return;
	fprintf(f, ",\"%s\":", key);
	put_type(f, t, (struct place){ scope, NULL, NULL });
}

/*
 * Write the UUID twice: at the end of the preamble, for the metadata, and at the begin of the trace
 * class, to say which traces are one.
 */
static void put_uuid(FILE *f, const struct ctf *c)
{
	fputs(",\"uuid\":[", f);
	for (unsigned int i = 0; i < sizeof(c->uuid); i++)
		fprintf(f, "%s%u", i ? "," : "", c->uuid[i]);
	fprintf(f, "]}\n%c{\"type\":\"trace-class\",\"uid\":\"", RECORD);
	for (unsigned int i = 0; i < sizeof(c->uuid); i++)
		fprintf(f, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			c->uuid[i]);
	fputc('"', f);
}

/* Write preamble, trace class and clock class.  @text: kept as an attribute, or NULL. */
static void put_trace(FILE *f, const struct ctf *c, const char *text)
{
	fprintf(f, "%c{\"type\":\"preamble\",\"version\":2", RECORD);
	if (c->has_uuid)
		put_uuid(f, c);
	else
		fprintf(f, "}\n%c{\"type\":\"trace-class\"", RECORD);
	fputs(",\"environment\":{", f);
	for (size_t i = 0; i < c->nr_env; i++) {
		fputs(i ? "," : "", f);
		put_meta2_text(f, c->env[i].key);
		fputc(':', f);
		if (c->env[i].is_number)
			fputs(c->env[i].text, f);
		else
			put_meta2_text(f, c->env[i].text);
	}
	fputc('}', f);
	if (text) {
		fputs(",\"attributes\":" KT_CTF2_TEXT, f);
		put_meta2_text(f, text);
		fputs("}}", f);
	}
	put_meta2_member(f, "packet-header-field-class", c->packet_header, HEADER);
	fprintf(f, "}\n%c{\"type\":\"clock-class\",\"id\":", RECORD);
	put_meta2_text(f, c->clock);
	fputs(",\"name\":", f);
	put_meta2_text(f, c->clock);
	fprintf(f, ",\"frequency\":%llu,\"origin\":\"unix-epoch\",\"offset-from-origin\":{\"seconds\":%lld,\"cycles\":%llu}}\n",
		(unsigned long long)c->origin.freq,
		(long long)(c->origin.offset_s +
			    (int64_t)(c->origin.offset / c->origin.freq)),
		(unsigned long long)(c->origin.offset % c->origin.freq));
}

static void put_meta2_metadata(FILE *f, const struct ctf *c, const char *text)
{
	put_trace(f, c, text);
	for (size_t i = 0; i < c->nr_streams; i++) {
		const struct ctf_stream *s = &c->streams[i];

		fprintf(f, "%c{\"type\":\"data-stream-class\",\"id\":%llu,\"default-clock-class-id\":",
			RECORD, (unsigned long long)s->id);
		put_meta2_text(f, c->clock);
		put_meta2_member(f, "packet-context-field-class",
				 s->packet_context, CONTEXT);
		put_meta2_member(f, "event-record-header-field-class",
				 s->event_header, EVENT_HEADER);
		put_meta2_member(f, "event-record-common-context-field-class",
				 s->event_context, PAYLOAD);
		fputs("}\n", f);
	}
	for (size_t i = 0; i < c->nr_classes; i++) {
		const struct ctf_class *e = &c->classes[i];

		fprintf(f, "%c{\"type\":\"event-record-class\",\"data-stream-class-id\":%llu,\"id\":%llu,\"name\":",
			RECORD, (unsigned long long)e->stream,
			(unsigned long long)e->id);
		put_meta2_text(f, e->name);
		put_meta2_member(f, "specific-context-field-class", e->context,
				 PAYLOAD);
		put_meta2_member(f, "payload-field-class", e->fields, PAYLOAD);
		fputs("}\n", f);
	}
}

/**
 * lt_put_ctf2() - write CTF 2 metadata
 * @f: where to write
 * @text: metadata of CTF 1.8 for the same streams, ending in NUL
 * @len: bytes of @text
 * @keep: keep @text as an attribute, so that ktape reads it as before
 *
 * Return: 0, -EBADMSG if the text cannot be parsed, or -ENOMEM.
 */
int lt_put_ctf2(FILE *f, const char *text, size_t len, bool keep)
{
	struct ktape_error error = { .text = "" };
	struct ctf c = { .version = 1 };
	int err = ctf_parse_tsdl(&c, text, len, &error);

	if (!err)
		err = ctf_bind_clocks(&c, &error);
	if (!err)
		put_meta2_metadata(f, &c, keep ? text : NULL);
	ctf_free(&c);
	return err;
}

/**
 * kt_lttng_ctf2() - make CTF 2 metadata of those of a native trace
 * @text: metadata of CTF 1.8, ending in NUL
 * @len: bytes of @text
 * @json: set to the new ones, which the caller frees
 * @size: set to their bytes
 *
 * Return: as lt_put_ctf2().
 */
int kt_lttng_ctf2(const char *text, size_t len, char **json, size_t *size)
{
	FILE *f = kt_memory_open(json, size);
	int err;

	if (!f)
		return -ENOMEM;
	err = lt_put_ctf2(f, text, len, true);
	if (kt_memory_close(f) && !err)
		err = -ENOMEM;
	if (err) {
		free(*json);
		*json = NULL;
	}
	return err;
}
