// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing Tonbandgeraet: frames, cores, losses, times; events by their tables. */
#include "util/parse.h"

#include "codec_tband_out.h"

#define NS_PER_S	1000000000ULL
#define DROP_EVERY	50
#define FRAME_ROOM(n)	((n) + KT_TBAND_FIXED_MAX + (n) / 254 + 8)
#define WHAT_UNKNOWN	"gaps in which nobody knows how many events were lost"

static const struct ktape_codec_option options[] = {
	{ "format", "bin|hex", "bytes, or their hexadecimal digits, a line a frame" },
	{ "mode", "bare-metal|free-rtos", "with bare-metal, no threads and switches" },
	{ "drop-every", "N", "the count of lost events at least every N events; 0: when it changes (default 50)" },
	{ "max-str-len", "N", "cut names and messages (default: they are not)" },
	{ .key = NULL },
};

static int put_frame(struct kt_sink *s, const struct kt_tband_event *e)
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

/* Their decoders take no text that is not UTF-8. */
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
		if (len < e->len && i + 4 > len) {	/* cut in a character */
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

/* Time as the stream has it. */
static uint64_t time_of(const struct kt_sink *s, uint64_t ts)
{
	const struct kt_tband_sink *t = s->state;

	return t->raw_time ? ts : ktape_ticks_to_ns(s->info, ts);
}

static uint64_t resolution_of(const struct kt_sink *s)
{
	const struct kt_tband_sink *t = s->state;

	return t->raw_time ? NS_PER_S / s->info->freq : 1;
}

/* What comes before everything else: a core and the resolution. */
static int put_head(struct kt_sink *s, uint32_t cpu)
{
	struct kt_tband_event core = {
		.id = KT_TBAND_CORE_ID, .values = { cpu },
	};
	struct kt_tband_event resolution = {
		.id = KT_TBAND_RESOLUTION, .values = { resolution_of(s) },
	};
	struct kt_tband_sink *t = s->state;
	int err;

	if (t->begun)
		return 0;
	t->begun = true;
	t->core = cpu;
	err = put_frame(s, &core);
	return err ? err : put_frame(s, &resolution);
}

static int put_core(struct kt_sink *s, uint32_t cpu, uint64_t ts)
{
	struct kt_tband_event e = {
		.id = KT_TBAND_CORE_ID, .ts = ts, .values = { cpu },
	};
	struct kt_tband_sink *t = s->state;

	if (t->core == cpu)
		return 0;
	t->core = cpu;
	return put_frame(s, &e);
}

/* The count of lost events, when it changed and every so often. */
static int put_dropped(struct kt_sink *s, uint64_t ts)
{
	struct kt_tband_event e = { .id = KT_TBAND_DROPPED, .ts = ts };
	struct kt_tband_sink *t = s->state;

	if (!t->pending && (!t->drop_every || t->since < t->drop_every))
		return 0;
	t->dropped += (uint32_t)t->pending;
	t->pending = 0;
	t->since = 0;
	e.values[0] = t->dropped;
	return put_frame(s, &e);
}

/**
 * kt_tband_put() - write an event
 * @s: where to
 * @e: the event but its time
 * @cpu: where it was
 * @ts: when, on the trace clock
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
	if (!k->metadata)
		out.ts = time_of(s, ts);
	err = put_head(s, cpu);
	if (!err)
		err = put_core(s, cpu, time_of(s, ts));
	if (!err && !k->metadata) {
		err = put_dropped(s, out.ts);
		t->since++;
	}
	if (!err && k->text)
		err = clean_text(s, &out);
	return err ? err : put_frame(s, &out);
}

/* ---- begin and end ---------------------------------------------------------------- */

static int take_number(struct kt_sink *s, const char *key, uint64_t *to)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text || !kt_parse_u64(text, to))
		return 0;
	return kt_sink_fail(s, "%s is a number", key);
}

static int take_word(struct kt_sink *s, const char *key, const char *no,
		     const char *yes, bool *to)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text || !strcmp(text, no))
		return 0;
	*to = !strcmp(text, yes);
	return *to ? 0 : kt_sink_fail(s, "%s is %s or %s", key, no, yes);
}

static int begin(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;
	int err;

	t->drop_every = DROP_EVERY;
	t->max_text = UINT64_MAX;
	t->raw_time = s->info->freq && !(NS_PER_S % s->info->freq);
	err = take_word(s, "format", "bin", "hex", &t->hex);
	if (!err)
		err = take_word(s, "mode", "free-rtos", "bare-metal", &t->bare);
	if (!err)
		err = take_number(s, "drop-every", &t->drop_every);
	if (!err)
		err = take_number(s, "max-str-len", &t->max_text);
	return err;
}

static int notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct kt_tband_sink *t = s->state;

	t->pending += n->count;
	if (!n->count)
		kt_sink_miss(s, WHAT_UNKNOWN, 1);
	return 0;
}

static int end(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;
	int err = put_head(s, 0);

	if (!err && t->pending)
		err = put_dropped(s, time_of(s, t->last_ts));
	return err;
}

static int event(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_tband_sink *t = s->state;

	t->last_ts = e->ts;
	return kt_tband_map(s, e);
}

static void close_tband(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;

	free(t->plain);
	free(t->text);
	free(t->cpus);
	free(t->named);
}

const struct kt_codec_out kt_tband_out = {
	.options = options,
	.size = sizeof(struct kt_tband_sink),
	.begin = begin,
	.event = event,
	.notice = notice,
	.end = end,
	.close = close_tband,
};
