// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing Tonbandgeraet: an event's frame, and the frames before it that name its core and
 * count losses.
 */
#include "util/crc32c.h"
#include "util/nanoseconds.h"

#include "internal.h"

/* Bytes for an event with @n bytes of text, or for its frame. */
#define FRAME_ROOM(n) ((n) + KT_TBAND_FIXED_MAX + (n) / 254 + 8)

/**
 * kt_tband_put_frame() - write the frame of an event
 * @s: the sink
 * @e: the event
 *
 * The frame is counted and is in the sum of its group, which seal.c ends with a check.
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put_frame(struct kt_sink *s, const struct kt_tband_event *e)
{
	static const char hex[] = "0123456789abcdef";
	struct kt_tband_sink *t = s->state;
	size_t room = FRAME_ROOM(e->len), len;
	uint8_t *plain = t->plain, *frame;
	char *p;

	if (t->room < room) {
		plain = realloc(t->plain, room * 2); /* the event, and behind it its frame */
		if (!plain)
			return -ENOMEM;
		t->plain = plain;
		t->room = room;
	}
	frame = plain + t->room;
	len = kt_cobs_encode(frame, plain, kt_tband_encode(e, plain));
	t->crc = t->check ? kt_crc32c(t->crc, frame, len) : 0;
	t->grouped++;
	if (!t->hex)
		return kt_sink_put(s, frame, len);
	p = kt_sink_room(s, len * 2 + 1);
	if (!p)
		return s->error;
	for (size_t i = 0; i < len; i++) {
		*p++ = hex[frame[i] >> 4];
		*p++ = hex[frame[i] & 15];
	}
	*p++ = '\n';
	return kt_sink_done(s, p);
}

/*
 * Cut the text of an event to the longest length, and replace what is not UTF-8, because
 * decoders refuse it.  Return: 0 or -ENOMEM.
 */
static int clean_text(struct kt_sink *s, struct kt_tband_event *e)
{
	struct kt_tband_sink *t = s->state;
	size_t n, len = (size_t)kt_min(e->len, t->max_text);
	uint8_t *text;

	if (len < e->len)
		kt_sink_miss(s, "ends of names and messages", 1);
	if (t->text_room < len) {
		text = realloc(t->text, len);
		if (!text)
			return -ENOMEM;
		t->text = text;
		t->text_room = len;
	}
	if (len)
		memcpy(t->text, e->text, len);
	for (size_t i = 0; i < len; i += n) {
		n = kt_utf8_length((char *)t->text + i, len - i);
		if (n)
			continue;
		if (len < e->len && i + 4 > len) { /* the cut is inside a character */
			len = i;
			break;
		}
		t->text[i] = '?';
		n = 1;
		kt_sink_miss(s, "bytes of text that are not UTF-8", 1);
	}
	e->text = t->text;
	e->len = len;
	return 0;
}

/* Convert a time from the trace clock to ticks of the stream. */
static uint64_t stream_time(const struct kt_sink *s, uint64_t ts)
{
	const struct kt_tband_sink *t = s->state;

	return t->raw_time ? ts : ktape_ticks_to_ns(s->info, ts);
}

/* Return the nanoseconds in a tick of the stream. */
static uint64_t stream_resolution(const struct kt_sink *s)
{
	const struct kt_tband_sink *t = s->state;

	return t->raw_time ? NS_PER_S / s->info->freq : 1;
}

/**
 * kt_tband_put_head() - begin the stream: write its first core and the resolution
 * @s: the sink
 * @cpu: the core
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put_head(struct kt_sink *s, uint32_t cpu)
{
	struct kt_tband_event core = {
		.id = KT_TBAND_CORE_ID,
		.values = { cpu },
	};
	struct kt_tband_event resolution = {
		.id = KT_TBAND_RESOLUTION,
		.values = { stream_resolution(s) },
	};
	struct kt_tband_sink *t = s->state;
	int err;

	if (t->begun)
		return 0;
	t->begun = true;
	t->core = cpu;
	err = kt_tband_put_frame(s, &core);
	return err ? err : kt_tband_put_frame(s, &resolution);
}

/**
 * kt_tband_put_core() - change the core of the stream, if it is another one
 * @s: the sink
 * @cpu: the core
 * @ts: time on the trace clock
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put_core(struct kt_sink *s, uint32_t cpu, uint64_t ts)
{
	struct kt_tband_sink *t = s->state;
	struct kt_tband_event e = {
		.id = KT_TBAND_CORE_ID,
		.ts = stream_time(s, ts),
		.values = { cpu },
	};

	if (t->core == cpu)
		return 0;
	t->core = cpu;
	return kt_tband_put_frame(s, &e);
}

/**
 * kt_tband_put_count() - write the count of lost events
 * @s: the sink
 * @ts: time on the trace clock
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put_count(struct kt_sink *s, uint64_t ts)
{
	struct kt_tband_sink *t = s->state;
	struct kt_tband_event e = {
		.id = KT_TBAND_DROPPED,
		.ts = stream_time(s, ts),
	};

	t->dropped += (uint32_t)t->pending;
	t->pending = 0;
	t->since = 0;
	e.values[0] = t->dropped;
	return kt_tband_put_frame(s, &e);
}

/* Write the count of lost events if it has changed or is due. */
static int put_dropped(struct kt_sink *s, uint64_t ts)
{
	struct kt_tband_sink *t = s->state;
	bool due = t->drop_every && t->since >= t->drop_every;
	int err = t->pending || due ? kt_tband_put_count(s, ts) : 0;

	t->since++;
	return err;
}

/*
 * Check for a carried event: a native event that has no place in the format, written as the name of
 * a marker (internal.h).  It is an event with a time, although its frame is a name.
 */
static bool is_carried(const struct kt_tband_sink *t, const struct kt_tband_event *e)
{
	return t->check && e->id == KT_TBAND_VALMARKER_NAME &&
	       e->values[0] == KT_TBAND_CARRIED;
}

/**
 * kt_tband_put() - write an event, with its core and losses before it
 * @s: the sink
 * @e: the event; its time is ignored
 * @cpu: its CPU
 * @ts: its time on the trace clock
 *
 * In mode bare-metal an event of FreeRTOS is counted instead.
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put(struct kt_sink *s, const struct kt_tband_event *e,
		 uint32_t cpu, uint64_t ts)
{
	const struct kt_tband_kind *k = kt_tband_kind(e->id);
	struct kt_tband_sink *t = s->state;
	struct kt_tband_event out = *e;
	int err;

	if (t->bare && e->id >= KT_TBAND_FRTOS) {
		kt_sink_miss(s, "threads (mode bare-metal)", 1);
		return 0;
	}
	if (!kt_tband_is_metadata(e->id))
		out.ts = stream_time(s, ts);
	err = kt_tband_put_head(s, cpu);
	if (!err)
		err = kt_tband_put_core(s, cpu, ts);
	if (!err && (!kt_tband_is_metadata(e->id) || is_carried(t, e)))
		err = put_dropped(s, ts);
	if (!err && k->text)
		err = clean_text(s, &out);
	return err ? err : kt_tband_put_frame(s, &out);
}
