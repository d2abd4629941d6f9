/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Print the tracks of a Perfetto trace as lines of text, decoded by the rules
 * of protobuf and the numbers of perfetto_trace.proto, without our writer's
 * code:
 *
 * 	begin TRACK: NAME key=value ...
 * 	instant TRACK: NAME key=value ...
 * 	end TRACK
 * 	value TRACK: NUMBER
 */
#ifndef _LIB_PROTO_H
#define _LIB_PROTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROTO_TRACKS 8192

/* A field: its number, and its value or the bytes at @data. */
struct proto_field {
	uint32_t number;
	uint64_t value;
	const uint8_t *data;
	size_t len;
};

struct proto_tracks {
	unsigned int nr;
	uint64_t ids[PROTO_TRACKS];
	char names[PROTO_TRACKS][128];
	FILE *out;
};

static uint64_t proto_varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; *p < end && shift < 64; shift += 7) {
		uint8_t byte = *(*p)++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return v;
}

/* Decode the next field from @p on. Return: false at the end. */
static bool proto_next(const uint8_t **p, const uint8_t *end, struct proto_field *f)
{
	uint64_t key;

	if (*p >= end)
		return false;
	key = proto_varint(p, end);
	f->number = (uint32_t)(key >> 3);
	f->data = NULL;
	f->len = 0;
	f->value = 0;
	switch (key & 7) {
	case 0:
		f->value = proto_varint(p, end);
		return true;
	case 1:
		*p += 8;
		return *p <= end;
	case 2:
		f->len = (size_t)proto_varint(p, end);
		f->data = *p;
		if (f->len > (size_t)(end - *p))
			return false;
		*p += f->len;
		return true;
	case 5:
		*p += 4;
		return *p <= end;
	default:
		return false;
	}
}

/* Keep a TrackDescriptor: 1 uuid, 2 name. */
static void proto_describe(struct proto_tracks *t, const struct proto_field *of)
{
	const uint8_t *p = of->data, *end = p + of->len;
	struct proto_field f;

	if (t->nr == PROTO_TRACKS)
		abort();
	while (proto_next(&p, end, &f)) {
		if (f.number == 1)
			t->ids[t->nr] = f.value;
		if (f.number == 2)
			snprintf(t->names[t->nr], sizeof(t->names[0]), "%.*s",
				 (int)f.len, (const char *)f.data);
	}
	t->nr++;
}

static const char *proto_track(const struct proto_tracks *t, uint64_t id)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		if (t->ids[i] == id)
			return t->names[i];
	}
	return "?";
}

/* Print a DebugAnnotation: 10 name, 3 uint_value, 4 int_value, 6 string_value, 7 pointer_value. */
static void proto_annotation(struct proto_tracks *t, const struct proto_field *of)
{
	const uint8_t *p = of->data, *end = p + of->len;
	struct proto_field f, name = { .number = 0 };

	while (proto_next(&p, end, &f)) {
		if (f.number == 10)
			name = f;
	}
	fprintf(t->out, " %.*s=", (int)name.len, (const char *)name.data);
	for (p = of->data; proto_next(&p, end, &f);) {
		if (f.number == 3)
			fprintf(t->out, "%llu", (unsigned long long)f.value);
		if (f.number == 4)
			fprintf(t->out, "%lld", (long long)f.value);
		if (f.number == 6)
			fprintf(t->out, "%.*s", (int)f.len, (const char *)f.data);
		if (f.number == 7)
			fprintf(t->out, "0x%llx", (unsigned long long)f.value);
	}
}

/*
 * Print a TrackEvent: 9 type, 11 track_uuid, 23 name, 30 counter_value, 4 debug_annotations,
 * which follow what stands before them in the line.
 */
static void proto_event(struct proto_tracks *t, const struct proto_field *of)
{
	static const char *const types[] = { "?", "begin", "end", "instant",
					     "value" };
	const uint8_t *p = of->data, *end = p + of->len;
	struct proto_field f, name = { .number = 0 };
	uint64_t type = 0, track = 0, value = 0;

	while (proto_next(&p, end, &f)) {
		type = f.number == 9 ? f.value : type;
		track = f.number == 11 ? f.value : track;
		value = f.number == 30 ? f.value : value;
		if (f.number == 23)
			name = f;
	}
	fprintf(t->out, "%s %s", types[type < 5 ? type : 0], proto_track(t, track));
	if (type == 4)
		fprintf(t->out, ": %lld", (long long)value);
	if (name.data)
		fprintf(t->out, ": %.*s", (int)name.len, (const char *)name.data);
	for (p = of->data; proto_next(&p, end, &f);) {
		if (f.number == 4)
			proto_annotation(t, &f);
	}
	fputc('\n', t->out);
}

/* Return the whole trace as text, to be freed. */
__attribute__((unused)) static char *proto_lines(const void *data, size_t size)
{
	const uint8_t *p = data, *end = p + size, *q;
	struct proto_tracks *t = calloc(1, sizeof(*t));
	struct proto_field packet, f;
	char *text = NULL;
	size_t len;

	if (!t)
		abort();
	t->out = open_memstream(&text, &len);
	while (proto_next(&p, end, &packet)) {
		for (q = packet.data;
		     proto_next(&q, packet.data + packet.len, &f);) {
			/* Of a TracePacket: track_descriptor, track_event. */
			if (f.number == 60)
				proto_describe(t, &f);
			else if (f.number == 11)
				proto_event(t, &f);
		}
	}
	fclose(t->out);
	free(t);
	return text;
}

#endif /* _LIB_PROTO_H */
