// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the CTF folder of another tracer, LTTng's kernel tracer above all (CTF 1.8 and 2).
 *
 *	DIR/metadata	types of all bytes: tsdl.c or ctf2.c
 *	DIR/channel0_0	a stream: packets of events (packet.c), here merged by time;
 *			files.c finds them
 *
 * A tracepoint that ktape has becomes ktape's event, a system call by its name; all others
 * are user events with their fields by name (format/tracepoint.h).  The state dump of
 * LTTng gives the names of threads.  Priorities of LTTng's scheduler events are relative
 * to the lowest real-time priority.
 *
 * Lost: fields of system calls; fields inside structures, and arrays of them.  Events that a
 * packet counts as discarded are a loss up to its end, behind its last event;
 * a number that packets skip is a loss of an unknown number.  After damage the rest of a
 * packet is left out; a packet whose head is damaged ends its file.
 */
#include <sys/utsname.h>

#include "stream/metadata.h"
#include "format/timed.h"
#include "format/tracepoint.h"
#include "internal.h"
#include "lttng.h"
#include "packet.h"

#define JSON_MARK	'\x1e'
#define NS_PER_S	1000000000

/**
 * struct lt_in - a trace that is being read
 * @c: the metadata
 * @tp: memory of the mapping
 * @classes: by class of @c: how it is mapped
 * @streams: the files
 * @queue: files with an event
 * @values: fields of the event
 */
struct lt_in {
	struct ctf c;
	struct kt_tp tp;
	struct kt_tp_class *classes;
	struct lt_streams streams;
	struct kt_timed_queue queue;
	struct kt_tp_value values[KT_TP_FIELDS];
};

static const struct ktape_codec_option in_options[] = {
	{ "machine", "NAME", "architecture of the traced machine, as uname -m says it (default: this machine's)" },
	{ .key = NULL },
};

/* ---- classes ------------------------------------------------------------------------ */

static uint8_t type_of(const struct ctf_type *t)
{
	switch (t->kind) {
	case CTF_INTEGER:
	case CTF_LEB128:
	case CTF_VARIANT:
		return t->hex ? KT_TP_HEX :
		       t->is_signed ? KT_TP_SIGNED : KT_TP_UNSIGNED;
	case CTF_STRING:
		return KT_TP_TEXT;
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		return t->text ? KT_TP_TEXT : KT_TP_BYTES;
	default:
		return KT_TP_BYTES;
	}
}

static int bind_class(struct lt_in *t, const struct ctf_class *e,
		      struct kt_tp_class *c)
{
	const struct ctf_type *f = e->fields;

	snprintf(c->name, sizeof(c->name), "%s", e->name);
	c->nr = f ? (unsigned int)kt_min(f->nr_members, KT_TP_FIELDS) : 0;
	c->fields = calloc(kt_max(c->nr, 1), sizeof(*c->fields));
	if (!c->fields)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->nr; i++) {
		const char *name = f->members[i].name;

		/* CTF 1.8 puts _ before the names of fields. */
		name += t->c.version == 1 && *name == '_';
		snprintf(c->fields[i].name, KT_TP_NAME, "%s", name);
		c->fields[i].type = type_of(f->members[i].type);
	}
	return kt_tp_bind(&t->tp, c);
}

static int by_id(const void *a, const void *b)
{
	const struct ctf_class *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static int bind_classes(struct lt_in *t)
{
	int err = 0;

	if (t->c.nr_classes)
		qsort(t->c.classes, t->c.nr_classes, sizeof(*t->c.classes),
		      by_id);
	t->classes = calloc(kt_max(t->c.nr_classes, 1), sizeof(*t->classes));
	if (!t->classes)
		return -ENOMEM;
	for (size_t i = 0; i < t->c.nr_classes && !err; i++)
		err = bind_class(t, &t->c.classes[i], &t->classes[i]);
	return err;
}

/* ---- metadata ----------------------------------------------------------------------- */

static int parse_text(struct kt_import *s, const char *text, size_t len)
{
	struct lt_in *t = s->state;
	struct ktape_error error = { .text = "" };
	int err;

	if (len && *text == JSON_MARK)
		err = ctf_parse_json(&t->c, text, len, &error);
	else
		err = ctf_parse_tsdl(&t->c, text, len, &error);
	if (err == -EBADMSG)
		return kt_import_fail(s, error.offset, "metadata: %s",
				      error.text);
	return err;
}

static int read_metadata(struct kt_import *s)
{
	int64_t there = kt_scan_need(s->in, KT_METADATA_MAX + 1ULL);
	const uint8_t *data = kt_scan_head(s->in);
	struct ktape_error error;
	char *text = NULL;
	size_t len;
	int err;

	if (there < 0)
		return (int)there;
	if (there > (int64_t)KT_METADATA_MAX)
		return kt_import_fail(s, 0, "the metadata have more than %u MB",
				      KT_METADATA_MAX >> 20);
	if (there < 4 || kt_get32(data) != KTAPE_METADATA_MAGIC)
		return parse_text(s, (const char *)data, (size_t)there);
	err = kt_metadata_unpack(data, (size_t)there, &text, &len, &error);
	if (err == -EBADMSG)
		return kt_import_fail(s, error.offset, "metadata: %s",
				      error.text);
	if (!err)
		err = parse_text(s, text, len);
	free(text);
	return err;
}

/* Take the origin.  One that does not fit is refused when the format has been opened. */
static void take_origin(struct ktape_info *info, const struct ctf *c)
{
	if (__builtin_add_overflow(c->offset_s, c->offset / c->freq,
				   &info->offset_s))
		info->offset_s = INT64_MAX;
	info->offset = c->offset % c->freq;
}

static void fill_info(struct kt_import *s)
{
	const char *machine = kt_codec_option(&s->options, "machine");
	const struct lt_in *t = s->state;
	struct ktape_info *info = s->info;
	const struct ctf *c = &t->c;
	struct utsname here;

	info->freq = c->freq;
	take_origin(info, c);
	info->real_offset_ns = (int64_t)((uint64_t)info->offset_s * NS_PER_S +
					 ktape_ticks_to_ns(info, info->offset));
	if (c->has_uuid)
		memcpy(info->uuid, c->uuid, sizeof(info->uuid));
	snprintf(info->hostname, sizeof(info->hostname), "%s", c->hostname);
	snprintf(info->release, sizeof(info->release), "%s", c->release);
	if (*c->clock)
		snprintf(info->clock, sizeof(info->clock), "%s", c->clock);
	if (!machine && !uname(&here)) {
		machine = here.machine;
		kt_import_note(s, "the trace does not name its architecture: numbers of system calls are those of %s (option machine=)",
			       machine);
	}
	if (machine)
		snprintf(info->machine, sizeof(info->machine), "%s", machine);
}

/* ---- files -------------------------------------------------------------------------- */

/* At the beginning of a packet: deliver that packets before it are missing. */
static int tell_skipped(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;

	if (!s->skipped)
		return 0;
	return kt_tp_lost(&t->tp, s->cpu, 0, s->last_end,
			  kt_max(s->begin, s->last_end));
}

/*
 * At the end of a packet: deliver what it counts as discarded.  LTTng discards events
 * while there is no room for the next packet, so they are missing behind its last event.
 */
static int tell_lost(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;
	uint64_t lost = s->lost;

	s->lost = 0;
	if (!lost)
		return 0;
	return kt_tp_lost(&t->tp, s->cpu, lost, s->last_end,
			  kt_max(s->end, s->time));
}

/* Read the next event of a file.  Return: 1, 0 at its end, or negative errno. */
static int next_event(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;
	struct ktape_error error;
	int ret = s->class ? lt_event_next(&t->c, s, &error) : LT_END;

	while (ret != LT_OK) {
		if (ret < 0)
			return ret;
		if (ret == LT_BAD) {
			kt_import_bad(in, error.offset, "%s", error.text);
			kt_tp_forget(&t->tp, s->cpu);
		}
		ret = tell_lost(in, s);
		if (ret)
			return ret;
		ret = lt_packet_next(&t->c, s, &error);
		if (ret == LT_BAD) {
			uint64_t end = kt_max(s->end, s->time);

			kt_import_bad(in, error.offset, "%s", error.text);
			ret = kt_tp_lost(&t->tp, s->cpu, 0, end, end);
			if (!ret)
				ret = lt_file_next(s);
			if (ret <= 0)
				return ret;
			/* Another file of the stream follows. */
			ret = LT_END;
			continue;
		}
		if (ret <= 0)
			return ret;
		ret = tell_skipped(in, s);
		if (ret)
			return ret;
		ret = lt_event_next(&t->c, s, &error);
	}
	return 1;
}

static int open_files(struct kt_import *s)
{
	struct lt_in *t = s->state;
	int err = lt_files_open(s, &t->c, &t->streams);

	t->queue.list = err ? NULL : calloc(kt_max(t->streams.nr, 1),
					    sizeof(*t->queue.list));
	if (!err && !t->queue.list)
		err = -ENOMEM;
	for (size_t i = 0; i < t->streams.nr && !err; i++) {
		int ret = next_event(s, &t->streams.list[i]);

		if (ret > 0)
			kt_timed_add(&t->queue, &t->streams.list[i].next_event);
		err = ret < 0 ? ret : 0;
	}
	return err;
}

/* ---- events --------------------------------------------------------------------------- */

/* The state dump of LTTng: a thread and its name. */
static int take_dump(struct kt_import *s, const struct kt_tp_class *c,
		     const struct kt_foreign *at,
		     const struct kt_tp_value *values)
{
	const struct kt_tp_value *tid = NULL, *pid = NULL, *name = NULL;
	struct lt_in *t = s->state;

	for (unsigned int i = 0; i < c->nr; i++) {
		if (!strcmp(c->fields[i].name, "tid"))
			tid = &values[i];
		else if (!strcmp(c->fields[i].name, "pid"))
			pid = &values[i];
		else if (!strcmp(c->fields[i].name, "name"))
			name = &values[i];
	}
	if (!tid || !pid || !name || !name->data)
		return 0;
	return kt_tp_task(&t->tp, at, (int64_t)tid->number,
			  (int64_t)pid->number, name->data, name->len);
}

/* Read the fields of the event at the head of a file.  Return: false if damaged. */
static bool read_fields(struct lt_in *t, struct lt_stream *s,
			struct kt_tp_class *c)
{
	const struct ctf_type *f = s->event->fields;
	struct ctf_value v;

	if (!f)
		return true;
	if (f->align > 1)
		s->at.bit = kt_min(kt_align(s->at.bit, f->align), s->at.end);
	for (unsigned int i = 0; i < f->nr_members; i++) {
		s->at.name = f->members[i].name;
		if (!ctf_read(&s->at, f->members[i].type, &v))
			return false;
		if (i < c->nr)
			t->values[i] = (struct kt_tp_value){
				v.number, v.data, v.len,
			};
		/* A text in an array ends at its first NUL. */
		if (i < c->nr && c->fields[i].type == KT_TP_TEXT && v.data)
			t->values[i].len = strnlen((const char *)v.data, v.len);
		if (i < c->nr && c->fields[i].type == KT_TP_TEXT && !v.data)
			t->values[i].data = "";
	}
	return true;
}

static int deliver(struct kt_import *s, struct lt_stream *stream)
{
	struct lt_in *t = s->state;
	struct kt_tp_class *c = &t->classes[stream->event - t->c.classes];
	struct kt_foreign at = {
		.ts = stream->next_event.ts, .cpu = stream->cpu,
		.tid = (int32_t)stream->tid,
	};
	uint64_t bit = stream->at.bit;

	if (!read_fields(t, stream, c) || stream->at.bit == stream->from) {
		kt_import_bad(s, stream->offset + bit / 8, "%.40s: %.40s: %s",
			      stream->files[stream->file], c->name,
			      stream->at.why ? stream->at.why :
					       "an event has no bits");
		stream->at.bit = stream->at.end;
		kt_tp_forget(&t->tp, stream->cpu);
		return 0;
	}
	if (!strcmp(c->name, "lttng_statedump_process_state")) {
		int err = take_dump(s, c, &at, t->values);

		if (err)
			return err;
	}
	return kt_tp_emit(&t->tp, c, &at, t->values);
}

static int lttng_next(struct kt_import *s)
{
	struct lt_in *t = s->state;
	struct lt_stream *first;
	int ret;

	if (!t->queue.nr) {
		kt_tp_end(&t->tp);
		return 0;
	}
	first = (struct lt_stream *)t->queue.list[0];
	ret = deliver(s, first);
	if (ret < 0)
		return ret;
	ret = next_event(s, first);
	if (ret < 0)
		return ret;
	if (ret)
		kt_timed_sink(&t->queue);
	else
		kt_timed_drop(&t->queue);
	return 1;
}

static int lttng_open(struct kt_import *s)
{
	struct lt_in *t = s->state;
	int err;

	if (s->folder < 0)
		return kt_import_fail(s, 0, "this is the metadata of a trace: name its folder");
	t->tp.s = s;
	err = read_metadata(s);
	if (err)
		return err;
	t->tp.relative_prio = !strncmp(t->c.tracer, "lttng-modules",
				       strlen("lttng-modules"));
	fill_info(s);
	err = bind_classes(t);
	return err ? err : open_files(s);
}

static void lttng_in_close(struct kt_import *s)
{
	struct lt_in *t = s->state;

	lt_files_close(&t->streams);
	free(t->queue.list);
	for (size_t i = 0; t->classes && i < t->c.nr_classes; i++)
		free(t->classes[i].fields);
	free(t->classes);
	kt_tp_free(&t->tp);
	ctf_free(&t->c);
}

static bool has(const uint8_t *data, size_t len, const char *text)
{
	return memmem(data, len, text, strlen(text));
}

/*
 * Recognise metadata of another tracer, which may be in packets.  Damaged metadata of ktape
 * must not be taken for those, so each of several marks is enough.
 */
static int lttng_probe(const uint8_t *data, size_t len, bool whole)
{
	static const char v1[] = "/* CTF 1.8";
	static const char *const mine[] = {
		"tracer_name = \"ktape\"", "table_hash = ", "metadata_crc32c",
		" := b3;", " := ts64;",
	};

	(void)whole;
	for (size_t i = 0; i < KT_ARRAY_SIZE(mine); i++) {
		if (has(data, len, mine[i]))
			return 0;
	}
	if (len > sizeof(v1) && !memcmp(data, v1, sizeof(v1) - 1))
		return 90;
	if (len > 2 && data[0] == JSON_MARK && memchr(data, '{', kt_min(len, 16)))
		return 90;
	return len > 4 && kt_get32(data) == KTAPE_METADATA_MAGIC &&
		has(data, len, "tracer_name = \"") ? 90 : 0;
}

const struct kt_codec_in kt_lttng_in = {
	.options = in_options,
	.size = sizeof(struct lt_in),
	.names_late = true,
	.kernel = true,
	.folder = true,
	.probe = lttng_probe,
	.open = lttng_open,
	.next = lttng_next,
	.close = lttng_in_close,
};
