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
#include "fields.h"
#include "lttng.h"

#define JSON_MARK	'\x1e'
#define NS_PER_S	1000000000
#define SECONDS_MAX	9223372035	/* in 2^63 ns */

/**
 * struct lt_in - a trace that is being read
 * @c: the metadata
 * @tp: memory of the mapping
 * @classes: by class of @c: how it is mapped
 * @streams: the files
 * @queue: files with an event or a loss
 * @latest: last time that can be kept
 * @values: fields of the event
 */
struct lt_in {
	struct ctf c;
	struct kt_tp tp;
	struct lt_class *classes;
	struct lt_streams streams;
	struct kt_timed_queue queue;
	uint64_t latest;
	struct lt_values values;
};

static const struct ktape_codec_option in_options[] = {
	{ "machine", "NAME", "architecture of the traced machine, as uname -m says it (default: this machine's)" },
	{ .key = NULL },
};

/* ---- classes ------------------------------------------------------------------------ */

static int bind_classes(struct lt_in *t)
{
	int err = 0;

	t->classes = calloc(kt_max(t->c.nr_classes, 1), sizeof(*t->classes));
	if (!t->classes)
		return -ENOMEM;
	for (size_t i = 0; i < t->c.nr_classes && !err; i++)
		err = lt_class_bind(&t->tp, &t->c, &t->c.classes[i],
				    &t->classes[i]);
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
	if (!err)
		err = ctf_complete(&t->c, &error);
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
	if (!there)
		return kt_import_fail(s, 0, "the file metadata is empty");
	if (there > (int64_t)KT_METADATA_MAX)
		return kt_import_fail(s, 0, "the metadata have more than %u MB",
				      KT_METADATA_MAX >> 20);
	if (!kt_metadata_is_packets(data, (size_t)there))
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

/*
 * Take the origin of the clock, and the last time that has less than 2^63 nanoseconds, from
 * there and since 1970.  Return: 0 or -EBADMSG.
 */
static int take_clock(struct kt_import *s)
{
	struct lt_in *t = s->state;
	struct ktape_info *info = s->info;
	const struct ctf *c = &t->c;
	uint64_t more = c->offset / c->freq, rest;
	uint64_t ns = INT64_MAX, origin;

	info->freq = c->freq;
	if (c->offset_s > SECONDS_MAX || c->offset_s < -SECONDS_MAX ||
	    more > SECONDS_MAX || c->offset_s + (int64_t)more > SECONDS_MAX)
		return kt_import_fail(s, 0, "metadata: the clock begins %lld seconds after 1970, but times end in the year 2262",
				      (long long)c->offset_s);
	info->offset_s = c->offset_s + (int64_t)more;
	info->offset = c->offset % c->freq;
	rest = ktape_ticks_to_ns(info, info->offset);
	info->real_offset_ns = info->offset_s * NS_PER_S + (int64_t)rest;
	origin = info->real_offset_ns > 0 ? (uint64_t)info->real_offset_ns : 0;
	ns -= origin;
	t->latest = ns / NS_PER_S;
	t->latest = t->latest > UINT64_MAX / c->freq - 1 ?
			    UINT64_MAX : t->latest * c->freq;
	return 0;
}

static void fill_info(struct kt_import *s)
{
	const char *machine = kt_codec_option(&s->options, "machine");
	const struct lt_in *t = s->state;
	struct ktape_info *info = s->info;
	const struct ctf *c = &t->c;
	struct utsname here;

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

/* Keep a loss that is delivered before the next event. */
static void add_gap(struct lt_stream *s, uint64_t count, uint64_t from, uint64_t to)
{
	to = kt_max(to, s->held);
	s->held = to;
	s->gaps[s->nr_gaps++] = (struct lt_gap){ count, kt_min(from, to), to };
}

/*
 * Go on with the next packet.  What a packet counts as discarded is missing behind its last
 * event, because LTTng discards events while there is no room for the next packet; it
 * ends at the latest where that begins.  Packets that are skipped are missing before it.
 * Return: 0, also at the end of the stream, or negative errno.
 */
static int next_packet(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;
	uint64_t lost = s->lost, from = s->last_end;
	uint64_t end = kt_max(s->end, s->time);
	struct ktape_error error;
	int ret;

	s->lost = 0;
	ret = lt_packet_next(&t->c, s, &error);
	if (ret < 0)
		return ret;
	if (lost)
		add_gap(s, lost, from, ret == LT_OK ? kt_min(end, s->begin) : end);
	if (ret == LT_OK && s->skipped)
		add_gap(s, 0, s->last_end, s->begin);
	if (ret == LT_BAD) {
		kt_import_bad(in, error.offset, "%s", error.text);
		add_gap(s, 0, end, end);
		ret = lt_file_next(s);
		if (ret < 0)
			return ret;
		/* Another file of the stream follows. */
		s->ended = !ret;
		s->at.bit = s->at.end;
		return 0;
	}
	s->ended = ret == LT_END;
	if (s->padded)
		kt_import_note(in, "%.40s: the zeros at its end are taken for padding",
			       s->files[s->file]);
	s->padded = false;
	return 0;
}

/* Give the event its time, which is not earlier than the one before it. */
static void set_time(struct kt_import *in, struct lt_stream *s)
{
	struct kt_back step = {
		.events = 1, .cpu = s->event_cpu, .ts = s->held,
		.by = s->held - s->time, .offset = s->offset + s->from / 8,
	};

	s->next_event.ts = kt_max(s->time, s->held);
	if (s->time < s->held) {
		step.steps = !s->stepped;
		snprintf(step.place, sizeof(step.place), "%.40s", s->files[s->file]);
		kt_import_back(in, &step);
	}
	s->stepped = s->time < s->held;
	s->held = s->next_event.ts;
}

/*
 * Find the next loss or event of a file.
 * Return: 1 with @s->next_event.ts set; 0 at its end; or negative errno.
 */
static int next_event(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;
	struct ktape_error error;
	int ret;

	while (!s->nr_gaps && !s->ended) {
		ret = s->class ? lt_event_next(&t->c, s, &error) : LT_END;
		if (ret == LT_OK && s->time > t->latest) {
			kt_import_bad(in, s->offset + s->from / 8,
				      "%.40s: the time is beyond the year 2262",
				      s->files[s->file]);
			s->at.bit = s->at.end;
			continue;
		}
		if (ret == LT_OK)
			set_time(in, s);
		if (ret == LT_OK || ret < 0)
			return ret < 0 ? ret : 1;
		if (ret == LT_BAD) {
			kt_import_bad(in, error.offset, "%s", error.text);
			kt_tp_forget(&t->tp, s->cpu);
		}
		ret = next_packet(in, s);
		if (ret)
			return ret;
	}
	if (!s->nr_gaps)
		return 0;
	s->next_event.ts = s->gaps[0].to;
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
static int take_dump(struct kt_import *s, const struct lt_class *c,
		     const struct kt_foreign *at)
{
	const struct kt_tp_value *tid = NULL, *pid = NULL, *name = NULL;
	struct lt_in *t = s->state;

	for (unsigned int i = 0; i < c->nr_own; i++) {
		const char *field = c->tp.fields[i].name;

		if (!strcmp(field, "tid"))
			tid = &t->values.list[i];
		else if (!strcmp(field, "pid"))
			pid = &t->values.list[i];
		else if (!strcmp(field, "name"))
			name = &t->values.list[i];
	}
	if (!tid || !pid || !name || !name->data)
		return 0;
	return kt_tp_task(&t->tp, at, (int64_t)tid->number,
			  (int64_t)pid->number, name->data, name->len);
}

/* Deliver what contexts say of the thread. */
static int take_thread(struct lt_in *t, const struct kt_foreign *at)
{
	const struct lt_values *v = &t->values;

	if (!v->name)
		return 0;
	return kt_tp_task(&t->tp, at, at->tid, v->process, v->name, v->name_len);
}

/* Deliver the loss at the head of a file. */
static int deliver_gap(struct lt_in *t, struct lt_stream *s)
{
	struct lt_gap gap = s->gaps[0];

	s->nr_gaps--;
	memmove(s->gaps, s->gaps + 1, s->nr_gaps * sizeof(gap));
	return kt_tp_lost(&t->tp, s->cpu, gap.count, gap.from, gap.to);
}

static int deliver(struct kt_import *s, struct lt_stream *stream)
{
	struct lt_in *t = s->state;
	struct lt_class *c = &t->classes[stream->event - t->c.classes];
	struct kt_foreign at = {
		.ts = stream->next_event.ts, .cpu = stream->event_cpu,
		.tid = (int32_t)stream->tid,
	};
	uint64_t bit = stream->at.bit;
	int err;

	if (!lt_values_read(&t->values, &t->c, c, stream) ||
	    stream->at.bit == stream->from) {
		if (t->values.no_memory)
			return -ENOMEM;
		kt_import_bad(s, stream->offset + bit / 8, "%.40s: %.40s: %s",
			      stream->files[stream->file], c->tp.name,
			      stream->at.why ? stream->at.why :
					       "an event has no bits");
		stream->at.bit = stream->at.end;
		kt_tp_forget(&t->tp, stream->cpu);
		return 0;
	}
	err = c->dumps ? take_dump(s, c, &at) : 0;
	if (!err)
		err = take_thread(t, &at);
	return err ? err : kt_tp_emit(&t->tp, &c->tp, &at, t->values.list);
}

static int lttng_next(struct kt_import *s)
{
	struct lt_in *t = s->state;
	struct lt_stream *first;
	int ret;

	if (!t->queue.nr) {
		kt_tp_end(&t->tp);
		lt_values_tell(&t->values, s);
		return 0;
	}
	first = (struct lt_stream *)t->queue.list[0];
	ret = first->nr_gaps ? deliver_gap(t, first) : deliver(s, first);
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
	err = take_clock(s);
	if (err)
		return err;
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
		free(t->classes[i].fixed);
	free(t->classes);
	free(t->values.room);
	kt_tp_free(&t->tp);
	ctf_free(&t->c);
}

const struct kt_codec_in kt_lttng_in = {
	.options = in_options,
	.size = sizeof(struct lt_in),
	.names_late = true,
	.kernel = true,
	.folder = true,
	.probe = lt_probe,
	.open = lttng_open,
	.next = lttng_next,
	.close = lttng_in_close,
};
