// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF 2 metadata: made from those of CTF 1.8, which describe the same bytes.  The text of
 * 1.8 is parsed into types (tsdl.c), and the types are written as JSON fragments.
 *
 * CTF2-SPEC-2.0 of the DiaMon workgroup.  babeltrace2 reads it from version 2.1 on.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/bits.h"

#include "ctf.h"
#include "meta2.h"

#define RECORD	'\x1e'

/* Which part of a packet is described: it decides on roles and names. */
enum scope { HEADER, CONTEXT, EVENT_HEADER, PAYLOAD };

static void put_type(FILE *f, const struct ctf_type *t, enum scope scope,
		     const char *name);

static void put_text(FILE *f, const char *text)
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
	{ CONTEXT, "events_discarded",
	  "discarded-event-record-counter-snapshot" },
	{ EVENT_HEADER, "id", "event-record-class-id" },
	{ EVENT_HEADER, "timestamp", "default-clock-timestamp" },
};

static void put_role(FILE *f, enum scope scope, const char *name)
{
	for (size_t i = 0; name && i < KT_ARRAY_SIZE(roles); i++) {
		if (roles[i].scope == scope && !strcmp(roles[i].name, name))
			fprintf(f, ",\"roles\":[\"%s\"]", roles[i].role);
	}
}

/* CTF 1.8 puts _ before the names of fields, so that they are no keywords. */
static const char *plain_name(const char *name, enum scope scope)
{
	return scope == PAYLOAD && *name == '_' ? name + 1 : name;
}

static void put_number(FILE *f, const struct ctf_type *t, enum scope scope,
		       const char *name)
{
	fprintf(f,
		"{\"type\":\"fixed-length-%s-integer\",\"length\":%u,\"byte-order\":\"%s-endian\",\"alignment\":%u",
		t->is_signed ? "signed" : "unsigned", t->size,
		t->big ? "big" : "little", t->align);
	if (t->hex)
		fputs(",\"preferred-display-base\":16", f);
	put_role(f, scope, name);
	if (t->nr_labels)
		fputs(",\"mappings\":{", f);
	for (unsigned int i = 0; i < t->nr_labels; i++) {
		fputs(i ? "," : "", f);
		put_text(f, t->labels[i].name);
		fprintf(f, ":[[%lld,%lld]]", (long long)t->labels[i].range.low,
			(long long)t->labels[i].range.high);
	}
	fputs(t->nr_labels ? "}}" : "}", f);
}

static bool is_bytes(const struct ctf_type *t)
{
	return t->element->kind == CTF_INTEGER && t->element->size == 8 &&
	       !t->element->is_signed;
}

static void put_length(FILE *f, const struct ctf_type *t, enum scope scope)
{
	if (t->kind == CTF_ARRAY) {
		fprintf(f, ",\"length\":%llu", (unsigned long long)t->count);
		return;
	}
	fputs(",\"length-field-location\":{\"path\":[", f);
	put_text(f, plain_name(t->ref, scope));
	fputs("]}", f);
}

static void put_array(FILE *f, const struct ctf_type *t, enum scope scope,
		      const char *name)
{
	bool is_uuid = scope == HEADER && name && !strcmp(name, "uuid");
	const char *how = t->kind == CTF_ARRAY ? "static" : "dynamic";

	if (t->text || is_uuid || is_bytes(t)) {
		fprintf(f, "{\"type\":\"%s-length-%s\"", how,
			t->text ? "string" : "blob");
		put_length(f, t, scope);
		put_role(f, scope, name);
		fputc('}', f);
		return;
	}
	fprintf(f, "{\"type\":\"%s-length-array\"", how);
	put_length(f, t, scope);
	fputs(",\"element-field-class\":", f);
	put_type(f, t->element, scope, NULL);
	fputc('}', f);
}

static void put_struct(FILE *f, const struct ctf_type *t, enum scope scope)
{
	fprintf(f, "{\"type\":\"structure\",\"minimum-alignment\":%u,\"member-classes\":[",
		t->align);
	for (unsigned int i = 0; i < t->nr_members; i++) {
		const struct ctf_member *m = &t->members[i];

		fputs(i ? ",{\"name\":" : "{\"name\":", f);
		put_text(f, plain_name(m->name, scope));
		fputs(",\"field-class\":", f);
		put_type(f, m->type, scope, m->name);
		fputc('}', f);
	}
	fputs("]}", f);
}

static void put_type(FILE *f, const struct ctf_type *t, enum scope scope,
		     const char *name)
{
	switch (t->kind) {
	case CTF_STRUCT:
		put_struct(f, t, scope);
		return;
	case CTF_STRING:
		fputs("{\"type\":\"null-terminated-string\"}", f);
		return;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		put_array(f, t, scope, name);
		return;
	default:
		put_number(f, t, scope, name);
		return;
	}
}

/* Write a member that is a type, if there is one. */
static void put_member(FILE *f, const char *key, const struct ctf_type *t,
		       enum scope scope)
{
	if (!t)
		return;
	fprintf(f, ",\"%s\":", key);
	put_type(f, t, scope, NULL);
}

static void put_trace(FILE *f, const struct ctf *c)
{
	fprintf(f, "%c{\"type\":\"preamble\",\"version\":2", RECORD);
	for (unsigned int i = 0; c->has_uuid && i < sizeof(c->uuid); i++)
		fprintf(f, "%s%u", i ? "," : ",\"uuid\":[", c->uuid[i]);
	fprintf(f, "%s}\n%c{\"type\":\"trace-class\",\"environment\":{",
		c->has_uuid ? "]" : "", RECORD);
	for (size_t i = 0; i < c->nr_env; i++) {
		fputs(i ? "," : "", f);
		put_text(f, c->env[i].key);
		fputc(':', f);
		if (c->env[i].is_number)
			fputs(c->env[i].text, f);
		else
			put_text(f, c->env[i].text);
	}
	fputc('}', f);
	put_member(f, "packet-header-field-class", c->packet_header, HEADER);
	fprintf(f, "}\n%c{\"type\":\"clock-class\",\"id\":", RECORD);
	put_text(f, c->clock);
	fputs(",\"name\":", f);
	put_text(f, c->clock);
	fprintf(f,
		",\"frequency\":%llu,\"origin\":\"unix-epoch\",\"offset-from-origin\":{\"seconds\":%lld,\"cycles\":%llu}}\n",
		(unsigned long long)c->freq,
		(long long)(c->offset_s + (int64_t)(c->offset / c->freq)),
		(unsigned long long)(c->offset % c->freq));
}

static void put_metadata(FILE *f, const struct ctf *c)
{
	put_trace(f, c);
	for (size_t i = 0; i < c->nr_streams; i++) {
		const struct ctf_stream *s = &c->streams[i];

		fprintf(f, "%c{\"type\":\"data-stream-class\",\"id\":%llu,\"default-clock-class-id\":",
			RECORD, (unsigned long long)s->id);
		put_text(f, c->clock);
		put_member(f, "packet-context-field-class", s->packet_context,
			   CONTEXT);
		put_member(f, "event-record-header-field-class",
			   s->event_header, EVENT_HEADER);
		put_member(f, "event-record-common-context-field-class",
			   s->event_context, PAYLOAD);
		fputs("}\n", f);
	}
	for (size_t i = 0; i < c->nr_classes; i++) {
		const struct ctf_class *e = &c->classes[i];

		fprintf(f, "%c{\"type\":\"event-record-class\",\"data-stream-class-id\":%llu,\"id\":%llu,\"name\":",
			RECORD, (unsigned long long)e->stream,
			(unsigned long long)e->id);
		put_text(f, e->name);
		put_member(f, "payload-field-class", e->fields, PAYLOAD);
		fputs("}\n", f);
	}
}

/**
 * lt_put_ctf2() - write CTF 2 metadata
 * @f: where to write
 * @text: metadata of CTF 1.8 for the same streams, without variants
 * @len: bytes of @text
 *
 * Return: 0, -EBADMSG if the text cannot be parsed, or -ENOMEM.
 */
int lt_put_ctf2(FILE *f, const char *text, size_t len)
{
	struct ktape_error error;
	struct ctf c = { .version = 1 };
	int err = ctf_parse_tsdl(&c, text, len, &error);

	if (!err)
		put_metadata(f, &c);
	ctf_free(&c);
	return err;
}
