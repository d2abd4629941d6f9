/* SPDX-License-Identifier: GPL-2.0-only */
/* Build, decode and print one event at a time. */
#ifndef _LIB_LINES_H
#define _LIB_LINES_H

#include "lib_feed.h"
#include "tap.h"

#define LINES_CPU 3

struct lines {
	struct feed feed;
	bool json;
	char text[65536];
};

/* An event as in uapi/. */
struct one {
	uint64_t ts;
	unsigned int opcode;
	uint32_t dat20;
	unsigned int nargs;
	uint32_t args[7];
	const void *blob;
	uint32_t size;
};

/* An event, and its fields in text and in JSON. */
struct line {
	struct one one;
	const char *text;
	const char *json;
};

static int lines_take(void *arg, const struct ktape_event *event)
{
	struct lines *l = arg;
	char *line;
	size_t len;

	if (event->opcode == KTAPE_TIME_EXTEND)
		return 0;
	assert(ktape_registry_add(l->feed.registry, event) == 0);
	/*
	 * In an allocation of its own, so that the sanitizer finds an access
	 * one byte beyond it.
	 */
	line = malloc(ktape_format_bound(event));
	assert(line);
	len = l->json ? ktape_format_json(&l->feed.info, l->feed.registry,
					  event, line) :
			ktape_format_text(&l->feed.info, l->feed.registry,
					  event, line);
	assert(len < sizeof(l->text) && line[len - 1] == '\n');
	memcpy(l->text, line, len - 1);
	l->text[len - 1] = '\0';
	free(line);
	return 0;
}

/*
 * Decode a packet with this event only. Return: its fields, valid until the next call; as
 * JSON, the text between the inner braces.
 */
static const char *lines_show(struct lines *l, const struct one *one)
{
	static unsigned char packet[16384];
	struct ktape_block head = {
		.cpu = LINES_CPU,
		.seq = 1,
		.ts_begin = one->ts,
		.tid = 5,
	};
	const struct ktape_record record = {
		.ts = one->ts,
		.args = one->args,
		.blob = one->blob,
		.blob_size = one->size,
		.dat20 = one->dat20,
		.opcode = (uint8_t)one->opcode,
		.nargs = (uint8_t)one->nargs,
	};
	const struct ktape_visitor visitor = { .event = lines_take, .arg = l };
	struct ktape_builder b;
	char *from, *end;
	size_t len;

	memset(packet, 0, sizeof(packet));
	ktape_build_begin(&b, packet, sizeof(packet), &head);
	assert(!ktape_build_add(&b, &record));
	len = ktape_build_end(&b, one->ts, 0);
	l->text[0] = '\0';
	assert(!ktape_decode_packet(packet, len, l->feed.decoder, &visitor, NULL));
	if (!l->json) {
		from = strstr(l->text, ": ");
		return from ? from + 2 : "";
	}
	from = strstr(l->text, "\"fields\":{");
	assert(from);
	from += strlen("\"fields\":{");
	end = l->text + strlen(l->text) - 2;
	assert(!strcmp(end, "}}"));
	*end = '\0';
	return from;
}

static inline void lines_check(struct lines *l, const struct line *line)
{
	const char *got;

	l->json = false;
	got = lines_show(l, &line->one);
	check(!strcmp(got, line->text), "text: %.150s, not %.150s", got, line->text);
	l->json = true;
	got = lines_show(l, &line->one);
	check(!strcmp(got, line->json), "JSON: %.150s, not %.150s", got, line->json);
}

/* A named object, and the time of the record that tells the registry about it. */
struct object {
	uint64_t ts;
	uint32_t type;
	uint32_t id;
	uint32_t param1;
	uint32_t param2;
	uint64_t born;
	uint64_t died;
	const char *name;
};

/* Add an object to the registry. */
static void lines_object(struct lines *l, const struct object *o)
{
	const struct one one = {
		.ts = o->ts,
		.opcode = KTAPE_EV_REGISTRY,
		.dat20 = o->type | (uint32_t)(o->died != 0) << 8,
		.nargs = 7,
		.args = { o->id, o->param1, o->param2, (uint32_t)o->born,
			  (uint32_t)(o->born >> 32), (uint32_t)o->died,
			  (uint32_t)(o->died >> 32) },
		.blob = o->name,
		.size = (uint32_t)strlen(o->name),
	};

	lines_show(l, &one);
}

static void lines_start(struct lines *l)
{
	assert(!feed_start(&l->feed));
}

static void lines_end(struct lines *l)
{
	feed_end(&l->feed);
}

#endif /* _LIB_LINES_H */
