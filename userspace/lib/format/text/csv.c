// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as comma separated values (RFC 4180), one line per event.
 *
 *	ts_ns,cpu,ring,tid,comm,event,fields
 *	1795424806915379658,0,event,1,"init",mark,"{""id"":7}"
 *
 * ts_ns is nanoseconds since the epoch, ring is event, control or registry, tid and
 * comm are empty where unknown.  fields is the JSON object of the jsonl format, so
 * that the columns are the same for all events.  Every record has a line, those of
 * the registry too.  A name has escapes as in text, and an apostrophe before a first
 * character that makes a spreadsheet take it for a formula.  Not written: losses, which
 * are only counted.
 */
#include "format/writer.h"
#include "text.h"

/* @line: room for an event's line of JSON; @cap: bytes of @line. */
struct csv {
	char *line;
	size_t cap;
};

static const char *const rings[] = {
	[KTAPE_RING_EVENT] = "event",
	[KTAPE_RING_CONTROL] = "control",
	[KTAPE_RING_REGISTRY] = "registry",
};

static int csv_begin(struct kt_sink *s)
{
	static const char head[] = "ts_ns,cpu,ring,tid,comm,event,fields\r\n";

	return kt_sink_put(s, head, sizeof(head) - 1);
}

/* Write a quoted value, with each quote in it doubled. */
static char *put_csv_quoted(char *p, const char *text, size_t len)
{
	p = kt_put_char(p, '"');
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			p = kt_put_char(p, '"');
		p = kt_put_char(p, text[i]);
	}
	return kt_put_char(p, '"');
}

static char *put_csv_comm(char *p, const struct kt_sink *s,
			  const struct ktape_event *e)
{
	const struct ktape_object_info *o;

	if (!e->tid)
		return kt_put_str(p, "swapper");
	o = e->tid < 0 ? NULL : ktape_registry_thread(s->registry, e->tid, e->ts);
	return o ? kt_put_cell(p, o->name, o->name_len) : p;
}

/* Write the object behind "fields": in the event's line of JSON; without one, nothing. */
static char *put_csv_fields(char *p, struct csv *c, const struct kt_sink *s,
			    const struct ktape_event *e)
{
	static const char key[] = "\"fields\":";
	size_t len = ktape_format_json(s->info, s->registry, e, c->line);
	const char *at = memmem(c->line, len, key, sizeof(key) - 1);
	const char *end = c->line + len - 2; /* "}\n" */

	if (!at)
		return p;
	at += sizeof(key) - 1;
	return put_csv_quoted(p, at, (size_t)(end - at));
}

static int csv_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);
	size_t bound = ktape_format_bound(e);
	struct csv *c = s->state;
	char *line, *p;

	if (c->cap < bound) {
		line = realloc(c->line, bound);
		if (!line)
			return -ENOMEM;
		c->line = line;
		c->cap = bound;
	}
	/* Twice: each quote of the JSON is doubled. */
	p = kt_sink_room(s, bound * 2);
	if (!p)
		return s->error;
	p = kt_put_s64(p, ktape_epoch_ns(s->info, e->ts));
	p = kt_put_char(p, ',');
	p = kt_put_u64(p, e->cpu);
	p = kt_put_char(p, ',');
	p = kt_put_str(p, rings[e->kind]);
	p = kt_put_char(p, ',');
	if (e->tid >= 0)
		p = kt_put_u64(p, (uint32_t)e->tid);
	p = kt_put_char(p, ',');
	p = put_csv_comm(p, s, e);
	p = kt_put_char(p, ',');
	if (d)
		p = kt_put_str(p, d->name);
	else
		p = kt_put_u64(kt_put_str(p, "opcode_"), e->opcode);
	p = kt_put_char(p, ',');
	p = put_csv_fields(p, c, s, e);
	return kt_sink_done(s, kt_put_mem(p, "\r\n", 2));
}

static int csv_end(struct kt_sink *s)
{
	(void)s;
	return 0;
}

static void csv_close(struct kt_sink *s)
{
	struct csv *c = s->state;

	free(c->line);
}

const struct kt_codec_out kt_csv_out = {
	.size = sizeof(struct csv),
	.extra = true,
	.entries = true,
	.alone = true,
	.begin = csv_begin,
	.event = csv_event,
	.end = csv_end,
	.close = csv_close,
};
