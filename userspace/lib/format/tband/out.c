// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing Tonbandgeraet: frames, cores, times and counts of losses.  tband.c describes the
 * format and what it loses; which event a native one becomes is in map.c.
 */
#include "util/crc32c.h"
#include "util/parse.h"

#include "internal.h"
#include "tband.h"

#define NS_PER_S	1000000000ULL
#define DROP_EVERY	50	/* events, by default */
/* Bytes for an event with @n bytes of text, or for its frame. */
#define FRAME_ROOM(n)	((n) + KT_TBAND_FIXED_MAX + (n) / 254 + 8)
#define WHAT_UNKNOWN	"gaps of an unknown number of events"

static const struct ktape_codec_option options[] = {
	{ "format", "bin|hex", "binary, or hexadecimal digits with a line for each frame (default bin)" },
	{ "mode", "bare-metal|free-rtos", "with bare-metal, threads and switches are left out (default free-rtos)" },
	{ "drop-every", "N", "write the count of lost events at least every N events; 0: only when it changes (default 50)" },
	{ "max-str-len", "N", "cut names and messages to N bytes (default: not cut)" },
	{ "check", "0|1", "for a serial line that loses bytes: add sequence numbers and checksums; times in ns (default 0)" },
	{ .key = NULL },
};

/**
 * kt_tband_put_frame() - write the frame of an event
 * @s: the sink
 * @e: the event
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
		plain = realloc(t->plain, room * 2);
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
		if (len < e->len && i + 4 > len) {	/* the cut is inside a character */
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
		.id = KT_TBAND_CORE_ID, .values = { cpu },
	};
	struct kt_tband_event resolution = {
		.id = KT_TBAND_RESOLUTION, .values = { stream_resolution(s) },
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
		.id = KT_TBAND_CORE_ID, .ts = stream_time(s, ts), .values = { cpu },
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
		.id = KT_TBAND_DROPPED, .ts = stream_time(s, ts),
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

static bool is_carried(const struct kt_tband_sink *t,
		       const struct kt_tband_event *e)
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

/* ---- begin and end ---------------------------------------------------------------- */

static int read_number(struct kt_sink *s, const char *key, uint64_t *to)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text || !kt_parse_u64(text, to))
		return 0;
	return kt_sink_fail(s, "%s must be a number", key);
}

static int read_word(struct kt_sink *s, const char *key, const char *no,
		     const char *yes, bool *to)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text || !strcmp(text, no))
		return 0;
	*to = !strcmp(text, yes);
	return *to ? 0 : kt_sink_fail(s, "%s must be %s or %s", key, no, yes);
}

static int tband_begin(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;
	int err;

	if (!kt_tband_map_init(t))
		return kt_sink_fail(s, "an event has too many fields");
	t->drop_every = DROP_EVERY;
	t->max_text = UINT64_MAX;
	err = read_word(s, "check", "0", "1", &t->check);
	/* A serial line may lose the resolution: use ns, which readers assume. */
	t->raw_time = !t->check && s->info->freq &&
		      !(NS_PER_S % s->info->freq);
	if (!err)
		err = read_word(s, "format", "bin", "hex", &t->hex);
	if (!err)
		err = read_word(s, "mode", "free-rtos", "bare-metal", &t->bare);
	if (!err)
		err = read_number(s, "drop-every", &t->drop_every);
	if (!err)
		err = read_number(s, "max-str-len", &t->max_text);
	if (!err && t->check && t->max_text != UINT64_MAX)
		err = kt_sink_fail(s, "check=1 cannot be combined with max-str-len");
	return err;
}

static int tband_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct kt_tband_sink *t = s->state;
	int err = t->check ? kt_tband_put_lost(s, n->cpu) : 0;

	t->pending += n->count;
	t->lost_cpu = n->cpu;
	if (!n->count)
		kt_sink_miss(s, WHAT_UNKNOWN, 1);
	return err;
}

static int tband_end(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;
	int err;

	if (t->check)
		return kt_tband_end_line(s);
	err = kt_tband_put_head(s, 0);
	if (!err && t->pending)
		err = kt_tband_put_count(s, t->last_ts);
	return err;
}

static int tband_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_sink *t = s->state;

	int err;

	t->last_ts = kt_max(t->last_ts, e->ts);
	if (!t->check)
		return kt_tband_map(s, e);
	err = kt_tband_begin_line(s, e->cpu);
	if (!err)
		err = kt_tband_put_lost(s, e->cpu);
	if (!err)
		err = kt_tband_map(s, e);
	return err ? err : kt_tband_seal(s, e->opcode == KTAPE_EV_REGISTRY);
}

static void tband_close(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;

	free(t->plain);
	free(t->text);
	free(t->cpus);
	kt_map_free(&t->named);
}

const struct kt_codec_out kt_tband_out = {
	.options = options,
	.size = sizeof(struct kt_tband_sink),
	.begin = tband_begin,
	.event = tband_event,
	.notice = tband_notice,
	.end = tband_end,
	.close = tband_close,
};
