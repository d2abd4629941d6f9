// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the CTF folder of another tracer, LTTng's kernel tracer above all (CTF 1.8 and 2).
 *
 *	DIR/metadata	types of all bytes: tsdl.c or ctf2.c
 *	DIR/channel0_0	a stream: packets of events (packet.c), here merged by time;
 *			files.c finds them
 *
 * A folder of such folders is read as one trace (session.c).
 *
 * A tracepoint that ktape has becomes ktape's event, a system call by its name; all others
 * are user events with their fields by name (fields.c, format/tracepoint.h).  The state dump
 * of LTTng and contexts give the names of threads.
 *
 * Fields and contexts that ktape's event has no place for are its extra fields.
 *
 * Events that a packet counts as discarded are a loss up to its end, behind its last event; a
 * number that packets skip is a loss of an unknown number.  After damage the rest of a packet
 * is left out; a packet whose head is damaged ends its file.  An event that is earlier than
 * the one before it in its stream gets that one's time.  One that is before or behind the
 * times of its packet keeps its own.
 */
#include "format/timed.h"
#include "format/tracepoint.h"
#include "internal.h"
#include "lttng.h"
#include "session.h"

/**
 * struct lt_outside - events whose times are outside of their packets
 * @first: the first one, and how many there are
 * @by: how far it is outside
 * @early: it is before the begin, not behind the end
 */
struct lt_outside {
	struct kt_back first;
	uint64_t by;
	bool early;
};

/**
 * struct lt_in - a trace that is being read
 * @all: the traces
 * @tp: state of format/tracepoint.h, which makes our events of tracepoints
 * @streams: the files
 * @queue: files with an event or a loss
 * @values: fields of the event
 * @outside: events outside of their packets
 */
struct lt_in {
	struct lt_session all;
	struct kt_tp tp;
	struct lt_streams streams;
	struct kt_timed_queue queue;
	struct lt_values values;
	struct lt_outside outside;
};

static const struct ktape_codec_option in_options[] = {
	{ "machine", "NAME",
	  "architecture of the traced machine, as uname -m says it (default: this machine's)" },
	{ .key = NULL },
};

/* ---- files -------------------------------------------------------------------------- */

/* Return a time of a stream as it is delivered. */
static uint64_t time_of(const struct lt_in *t, const struct lt_stream *s,
			uint64_t ticks)
{
	return lt_session_time(&t->all,
			       s->class ? &s->class->origin :
					  &s->trace->c.streams->origin,
			       ticks);
}

/*
 * Keep a loss that is delivered before the next event, whose time is not earlier from here on.
 * @count: 0 = an unknown number.  There is room: next_packet() adds two at most, and is called when
 * all were delivered.
 */
static void add_gap(struct lt_stream *s, uint64_t count, uint64_t from, uint64_t to)
{
	to = kt_max(to, s->delivered);
	s->delivered = to;
	s->gaps[s->nr_gaps++] = (struct lt_gap){ count, kt_min(from, to), to };
}

/*
 * Return when a packet begins: its first event may be earlier than it says.  A loss before the
 * packet ends there, so that the event keeps its time.
 */
static uint64_t packet_begin_time(const struct lt_in *t, struct lt_stream *s)
{
	const struct ctf_at at = s->at;
	const uint64_t time = s->time;
	struct ktape_error error;
	uint64_t begin = s->begin;

	if (lt_event_next(&s->trace->c, s, &error) == LT_OK)
		begin = kt_min(begin, s->time);
	s->at = at;
	s->time = time;
	return time_of(t, s, begin);
}

/*
 * Go on with the next packet.  What a packet counts as discarded is missing behind its last
 * event, because LTTng discards events while there is no room for the next packet; it
 * ends at the latest where that begins.  Packets that are skipped are missing before it.
 * A packet that is damaged is reported and leaves a loss of an unknown number; its file ends there.
 * Return: 0, also after damage and at the end of the stream (@s->ended), or negative errno.
 */
static int next_packet(struct kt_import *in, struct lt_stream *s)
{
	struct lt_in *t = in->state;
	/* The packet that ends here: its loss began at @from, the end of the one before it. */
	const uint64_t lost = s->lost, from = s->last_until;
	/* Its own end, by its head and by what was delivered. */
	const uint64_t before = s->begun ? s->until : time_of(t, s, 0);
	const uint64_t end = kt_max(before, s->delivered);
	struct ktape_error error;
	char place[LT_PLACE];
	const bool begun = s->begun, doubtful = s->doubtful;
	uint64_t begin;
	int ret;

	s->lost = 0;
	s->doubtful = false;
	ret = lt_packet_next(s, &error);
	if (ret < 0)
		return ret;
	begin = ret == LT_OK && (lost || doubtful || s->skipped) ?
			packet_begin_time(t, s) :
			time_of(t, s, s->begin);
	if (lost || doubtful)
		add_gap(s, lost, from, ret == LT_OK ? kt_min(end, begin) : end);
	if (ret == LT_OK && s->skipped)
		add_gap(s, 0, before, begin);
	if (ret == LT_OK) {
		s->last_until = begun ? before : begin;
		s->until = time_of(t, s, kt_max(s->begin, s->end));
	}
	if (ret == LT_BAD) {
		kt_import_bad(in, error.offset, "%s", error.text);
		add_gap(s, 0, end, end);
		ret = lt_file_next(s);
		if (ret < 0)
			return ret;
		s->ended = !ret; /* 1: the stream goes on in another file */
		s->at.bit = s->at.end;
		return 0;
	}
	s->ended = ret == LT_END;
	if (s->padded) {
		lt_place(s, place);
		kt_import_note(in, "%s: the zeros at its end are taken for padding",
			       place);
	}
	s->padded = false;
	return 0;
}

/* Report once in a trace that the time of an event is too large for a time in ns. */
static void report_far(struct kt_import *in, struct lt_stream *s)
{
	char place[LT_PLACE];

	if (s->trace->reported_far)
		return;
	s->trace->reported_far = true;
	lt_place(s, place);
	kt_import_bad(in, s->offset + s->event_bit / 8,
		      "%s: times from here on are beyond the year 2262: they are shown as the last one before, and this is reported once",
		      place);
}

/* Return the place of an event in the trace, for reports. */
static struct kt_back place_of(const struct lt_stream *s, uint64_t ts, uint64_t by)
{
	struct kt_back at = {
		.events = 1,
		.cpu = s->event_cpu,
		.ts = ts,
		.by = by,
		.offset = s->offset + s->event_bit / 8,
	};
	char place[LT_PLACE];

	lt_place(s, place);
	snprintf(at.place, sizeof(at.place), "%.*s", (int)sizeof(at.place) - 1,
		 place);
	return at;
}

/* Count the event if its time is outside of its packet. */
static void check_packet(struct lt_in *t, const struct lt_stream *s, uint64_t time)
{
	struct lt_outside *o = &t->outside;
	const bool early = s->dated && s->time < s->begin;
	uint64_t bound;

	if (!early && (!s->bounded || s->time <= s->end))
		return;
	if (o->first.events++)
		return;
	bound = time_of(t, s,
			kt_min(early ? s->begin : s->end, s->class->origin.latest));
	o->first = place_of(s, time, 0);
	o->early = early;
	o->by = early ? bound - time : time - bound;
}

/* At the end, report how many events are outside of the times of their packets. */
static void report_outside(struct kt_import *in)
{
	struct lt_outside *o = &((struct lt_in *)in->state)->outside;
	const struct kt_back *first = &o->first;

	if (first->events)
		kt_import_times(
			in, first,
			"%llu events have times outside of their packet, first on cpu%u at byte %llu by %llu ns %s",
			(unsigned long long)first->events, first->cpu,
			(unsigned long long)first->offset,
			(unsigned long long)ktape_ticks_to_ns(in->info, o->by),
			o->early ? "before its begin" : "behind its end");
	o->first.events = 0;
}

/* Give the event its time, which is not earlier than the one before it. */
static void set_time(struct kt_import *in, struct lt_stream *s)
{
	uint64_t time =
		time_of(in->state, s, kt_min(s->time, s->class->origin.latest));
	struct kt_back step;

	check_packet(in->state, s, time);
	s->next_event.ts = kt_max(time, s->delivered);
	if (time < s->delivered) {
		step = place_of(s, s->delivered, s->delivered - time);
		step.steps = !s->stepped; /* early events in a row are one step back */
		kt_import_count_back(in, &step);
	}
	s->stepped = time < s->delivered;
	s->delivered = s->next_event.ts;
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
		/* No class: no packet was read yet. */
		ret = s->class ? lt_event_next(&s->trace->c, s, &error) : LT_END;
		if (ret == LT_OK && s->time > s->class->origin.latest)
			report_far(in, s);
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
	int err = lt_files_open(s, &t->all, &t->streams);

	t->queue.list =
		err ? NULL :
		      calloc(kt_max(t->streams.nr, 1), sizeof(*t->queue.list));
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
		     const struct kt_delivery *at)
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
static int take_thread(struct lt_in *t, const struct kt_delivery *at)
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

/*
 * Deliver the event at the head of a file.  If it is damaged, the rest of its packet is left out.
 * An event without any bit is damage as well: it would be read again without end.
 */
static int deliver(struct kt_import *s, struct lt_stream *stream)
{
	struct lt_in *t = s->state;
	struct lt_trace *x = stream->trace;
	struct lt_class *c = &x->classes[stream->event - x->c.classes];
	struct kt_delivery at = {
		.ts = stream->next_event.ts,
		.cpu = stream->event_cpu,
		.tid = (int32_t)stream->tid,
	};
	uint64_t bit = stream->at.bit;
	char place[LT_PLACE];
	int err;

	if (!lt_values_read(&t->values, &x->c, c, stream) ||
	    stream->at.bit == stream->event_bit) {
		if (t->values.no_memory)
			return -ENOMEM;
		lt_place(stream, place);
		kt_import_bad(s, stream->offset + bit / 8, "%s: %.40s: %s",
			      place, c->tp.name,
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
		lt_values_report(&t->values, s);
		report_outside(s);
		return 0;
	}
	first = (struct lt_stream *)t->queue.list[0]; /* next_event is its first member */
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
		return kt_import_fail(
			s, 0, "this is the metadata of a trace: name its folder");
	t->tp.s = s;
	err = lt_session_open(s, &t->all);
	if (!err)
		err = lt_session_bind(&t->tp, &t->all, &t->values);
	return err ? err : open_files(s);
}

static void lttng_in_close(struct kt_import *s)
{
	struct lt_in *t = s->state;

	lt_files_close(&t->streams);
	free(t->queue.list);
	lt_session_close(&t->all);
	free(t->values.room);
	kt_texts_free(&t->values.names);
	kt_tp_free(&t->tp);
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
