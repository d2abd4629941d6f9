// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading Tonbandgeraet: from the bytes of an input to frames.  tband.c describes the format;
 * take.c finds the event of a frame, and emit.c what becomes of it.
 */
#include <ctype.h>

#include "util/nanoseconds.h"
#include "util/parse.h"
#include "format/frames.h"

#include "internal.h"
#include "tband.h"

#define HEX_DIGITS 4 /* an input that begins with fewer digits is binary */

static const struct ktape_codec_option options[] = {
	{ "format", "bin|hex", "binary, or hexadecimal digits (default: detected)" },
	{ "mode", "bare-metal|free-rtos",
	  "with bare-metal, events of FreeRTOS are invalid frames" },
	{ "core-count", "N", "number of cores (default: any)" },
	{ "core", "N", "core of the events before the first core_id (default 0)" },
	{ "check", "0|1",
	  "the stream has checks, as `ktape send --frame cobs` writes them (default 0)" },
	{ .key = NULL },
};

/* ---- frames ---------------------------------------------------------------- */

static int tband_hex_digit(int c)
{
	if (isdigit(c))
		return c - '0';
	c = tolower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Count the digits of a hexadecimal input.  Return: -1 if it has other characters. */
static int64_t count_digits(const uint8_t *data, size_t len)
{
	int64_t digits = 0;

	for (size_t i = 0; i < len; i++) {
		if (tband_hex_digit(data[i]) >= 0)
			digits++;
		else if (!isspace(data[i]))
			return -1;
	}
	return digits;
}

static bool looks_hex(const uint8_t *data, size_t len)
{
	return count_digits(data, len) >= HEX_DIGITS;
}

/*
 * Take a character of a hexadecimal input.  @high is the first digit of a pair, or -1.
 * Return: 0 with @byte set to the byte, or to -1 until a pair is complete; or negative errno.
 */
static int take_digits(struct kt_import *s, int *high, int64_t *byte)
{
	int c = *kt_scan_head(s->in), d = tband_hex_digit(c);
	int err = kt_scan_skip(s->in, 1);

	*byte = -1;
	if (err || isspace(c))
		return err;
	if (d < 0)
		return kt_import_fail(s, s->in->offset - 1,
				      "not a hexadecimal digit");
	if (*high < 0) {
		*high = d;
		return 0;
	}
	*byte = *high << 4 | d;
	*high = -1;
	return 0;
}

/*
 * As kt_frames_next(), for a hexadecimal input; the frame is already skipped.  The rest of one that
 * is too long comes as the next frame.
 */
static int64_t next_hex(struct kt_import *s, const uint8_t **frame)
{
	struct kt_tband_import *t = s->state;
	size_t len = 0;
	int high = -1;

	*frame = t->frame;
	for (;;) {
		int64_t there = kt_scan_need(s->in, 1), byte;
		int err;

		if (there < 0)
			return there;
		if (!there)
			return len || high >= 0 ? KT_FRAME_CUT : KT_FRAME_END;
		err = take_digits(s, &high, &byte);
		if (err)
			return err;
		if (!byte)
			return (int64_t)len;
		if (byte < 0)
			continue;
		if (len == KT_TBAND_FRAME_MAX)
			return KT_FRAME_LONG;
		t->frame[len++] = (uint8_t)byte;
	}
}

static int take_tband_frame(struct kt_import *s, const uint8_t *frame, size_t len)
{
	const struct kt_tband_import *t = s->state;

	return t->check ? kt_tband_line_take(s, frame, len) :
			  kt_tband_take(s, frame, len);
}

/* Skip and count zeros where a frame may begin.  Return: 0 or negative errno. */
static int skip_zeros(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	uint64_t nr = 0, at = s->in->offset;
	const uint8_t *p;
	int64_t there;

	if (t->hex)
		return 0;
	there = kt_scan_need(s->in, 1);
	if (there < 0)
		return (int)there;
	p = kt_scan_head(s->in);
	while (nr < (uint64_t)there && !p[nr])
		nr++;
	if (nr && !t->zeros)
		t->zeros_at = at;
	t->zeros += nr;
	return kt_scan_skip(s->in, nr);
}

/*
 * Handle the zeros that were counted.  Between frames they are one empty frame, which is
 * invalid.  After the last frame they are the unused rest of a snapshot's buffer, except in
 * a stream with checks.
 */
static int take_zeros(struct kt_import *s, bool end)
{
	struct kt_tband_import *t = s->state;
	uint64_t nr = t->zeros;

	if (!nr)
		return 0;
	t->zeros = 0;
	if (end && t->good && !t->check) {
		kt_import_note(s, "%llu zero bytes at the end are taken for the unused rest of a buffer",
			       (unsigned long long)nr);
		return 0;
	}
	/* If the input is all zeros, kt_import_notify_none() reports it. */
	if (end && !t->good)
		return 0;
	t->offset = t->zeros_at;
	return take_tband_frame(s, (const uint8_t *)"", 0);
}

static int end_tband_input(struct kt_import *s)
{
	const struct kt_tband_import *t = s->state;
	int err = take_zeros(s, true);

	if (!err && t->check)
		err = kt_tband_line_end(s);
	if (!t->good)
		kt_import_notify_none(s);
	return err;
}

/*
 * Find the next frame, which can be empty only in a hexadecimal input.
 * Return: its length, KT_FRAME_END, KT_FRAME_LONG, or another negative errno.
 */
static int64_t next_frame(struct kt_import *s, const uint8_t **frame)
{
	struct kt_tband_import *t = s->state;
	uint64_t at = s->in->offset;
	int64_t len = t->hex ? next_hex(s, frame) :
			       kt_frames_next(s, 0, KT_TBAND_FRAME_MAX, frame);

	return kt_frames_notify(s, len, at, KT_TBAND_FRAME_MAX);
}

/*
 * Take the next frame, as kt_codec_in.next().  An empty one only counts as a zero, because what the
 * zeros before a frame mean shows at the next frame or at the end (take_zeros()).
 */
static int tband_next(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	const uint8_t *frame = NULL;
	uint64_t at;
	int64_t len;
	int err = skip_zeros(s);

	if (err)
		return err;
	at = s->in->offset;
	len = next_frame(s, &frame);
	if (len == KT_FRAME_END)
		return end_tband_input(s);
	if (len < 0)
		return len == KT_FRAME_LONG ? 1 : (int)len;
	if (!len) {
		t->zeros_at = t->zeros ? t->zeros_at : at;
		t->zeros++;
	} else {
		err = take_zeros(s, false);
		t->offset = at;
		if (!err)
			err = take_tband_frame(s, frame, (size_t)len);
	}
	if (!err && !t->hex)
		err = kt_scan_skip(s->in, (uint64_t)len + 1);
	return err ? err : 1;
}

/* ---- begin ------------------------------------------------------------------------ */

static int read_tband_number(struct kt_import *s, const char *key, uint32_t max,
			     uint32_t *to)
{
	const char *text = kt_codec_option(&s->options, key);
	uint64_t v;

	if (!text)
		return 0;
	if (kt_parse_u64(text, &v) || v > max) {
		kt_import_fail(s, 0, "%s must be a number up to %u", key, max);
		return -EINVAL;
	}
	*to = (uint32_t)v;
	return 0;
}

/* Read an option of two words.  Return: 0 if not given, 1, 2, or -EINVAL. */
static int read_tband_word(struct kt_import *s, const char *key,
			   const char *first, const char *second)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text)
		return 0;
	if (!strcmp(text, first))
		return 1;
	if (!strcmp(text, second))
		return 2;
	kt_import_fail(s, 0, "%s must be %s or %s", key, first, second);
	return -EINVAL;
}

/* Convert pairs of digits to bytes, skipping other characters.  Return: number of bytes. */
static size_t tband_hex_to_bytes(uint8_t *to, size_t room, const uint8_t *data,
				 size_t len)
{
	size_t nr = 0;
	int high = -1;

	for (size_t i = 0; i < len && nr < room; i++) {
		int d = tband_hex_digit(data[i]);

		if (d < 0)
			continue;
		if (high >= 0)
			to[nr++] = (uint8_t)(high << 4 | d);
		high = high < 0 ? d : -1;
	}
	return nr;
}

/*
 * Look for the time resolution in the first frames, and take it.
 * Return: true if the search is over: it was found, or an event with a time came first.
 */
static bool look_tband_at_frames(struct kt_import *s, const uint8_t *p, size_t len)
{
	const uint8_t *end = p + len, *nul;
	struct kt_tband_import *t = s->state;
	struct kt_tband_event e;
	char why[KT_TBAND_WHY];
	bool begun = false;

	for (; (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1) {
		int64_t size =
			nul - p > (int64_t)KT_TBAND_FRAME_MAX ?
				-1 :
				kt_cobs_decode(t->event, p, (size_t)(nul - p));

		if (size <= 0 || kt_tband_decode(&e, t->event, (size_t)size, why))
			continue;
		if (e.id == KT_TBAND_RESOLUTION)
			kt_tband_set_resolution(s, e.values[0]);
		/* core_id and dropped_evt_cnt, which have lower ids, may precede the resolution. */
		begun |= e.id > KT_TBAND_RESOLUTION && !kt_tband_is_metadata(e.id);
	}
	return begun || s->memo;
}

/*
 * Find the time resolution of an input that cannot be read twice: read the frames in
 * front of its first event without skipping them.
 * Return: 0 or negative errno.
 */
static int look_for_resolution(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	uint64_t need = 1;
	int64_t there;
	size_t len;

	for (;;) {
		there = kt_scan_need(s->in, need);
		if (there < (int64_t)need)
			return there < 0 ? (int)there : 0;
		len = (size_t)kt_min((uint64_t)there, KT_TBAND_FRAME_MAX);
		if (t->hex)
			len = tband_hex_to_bytes(t->typed, sizeof(t->typed),
						 kt_scan_head(s->in), len);
		if (look_tband_at_frames(
			    s, t->hex ? t->typed : kt_scan_head(s->in), len) ||
		    (uint64_t)there >= KT_TBAND_FRAME_MAX)
			return 0;
		need = (uint64_t)there + 1;
	}
}

/*
 * Set how long a tick of the input is: its time resolution, or 1 ns if it has none.  s->memo is
 * the resolution in ns that the first pass over the input found; see kt_tband_set_resolution().
 * One that divides a second is also the tick of the trace; with any other that is 1 ns, and times
 * are multiplied (@scale).  Times of a stream with checks are in ns.
 * Return: 0 or negative errno.
 */
static int find_resolution(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	int err;

	t->scale = s->memo && NS_PER_S % s->memo ? s->memo : 1;
	if (t->check)
		return 0;
	err = s->in->seekable ? 0 : look_for_resolution(s);
	if (!s->memo)
		kt_import_note(s, "the trace has no time resolution: 1 ns is assumed");
	return err;
}

/*
 * Decide between hexadecimal and binary from the first characters.  A serial line may deliver
 * them one by one, so wait for HEX_DIGITS of them.
 * Return: 0 or negative errno.
 */
static int find_form(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	uint64_t need = s->in->seekable ? KT_CODEC_PROBE : 1, len;
	int64_t there, digits;

	do {
		there = kt_scan_need(s->in, need);
		if (there < 0)
			return (int)there;
		len = kt_min((uint64_t)there, KT_CODEC_PROBE);
		digits = count_digits(kt_scan_head(s->in), len);
		need = len + 1;
	} while (digits >= 0 && digits < HEX_DIGITS && !s->in->eof &&
		 len < KT_CODEC_PROBE);
	t->hex = digits >= HEX_DIGITS;
	return 0;
}

static int tband_open(struct kt_import *s)
{
	int format = read_tband_word(s, "format", "bin", "hex");
	int mode = read_tband_word(s, "mode", "bare-metal", "free-rtos");
	int check = read_tband_word(s, "check", "0", "1");
	struct kt_tband_import *t = s->state;
	int err;

	t->count = KT_CPUS_MAX;
	err = format < 0 || mode < 0 || check < 0 ? -EINVAL : 0;
	if (!err)
		err = read_tband_number(s, "core-count", KT_CPUS_MAX, &t->count);
	if (!err)
		err = read_tband_number(s, "core", KT_CPUS_MAX - 1, &t->core);
	if (!err && t->core >= t->count) {
		kt_import_fail(s, 0, "core %u does not exist: core-count is %u",
			       t->core, t->count);
		err = -EINVAL;
	}
	t->hex = format == 2;
	if (!err && !format)
		err = find_form(s);
	if (err)
		return err;
	s->resumes = !t->hex; /* the digits before a pause were taken from the input */
	t->bare = mode == 1;
	t->check = check == 2;
	t->line.on = t->check;
	err = find_resolution(s);
	if (!err && !kt_tband_core_at(t, t->core))
		err = -ENOMEM;
	return err;
}

/*
 * Return how likely a binary input is Tonbandgeraet, from 0 to 100, by its first frames:
 * most if all are events and the first is one with which streams begin, less if there are few, or
 * if some are no events.
 */
static int probe_binary(const uint8_t *data, size_t len)
{
	uint8_t event[1024];
	unsigned int good = 0, bad = 0;
	const uint8_t *p = data, *end = data + len, *nul;
	struct kt_tband_event e;
	char why[KT_TBAND_WHY];
	bool starts = false;

	/* A snapshot's buffer that was not full ends in zeros; the first one ends the last frame. */
	while (end - p > 1 && !end[-1] && !end[-2])
		end--;
	for (; (nul = memchr(p, 0, (size_t)(end - p))); p = nul + 1) {
		size_t frame = (size_t)(nul - p);
		int64_t size = frame > sizeof(event) || !frame ?
				       -1 :
				       kt_cobs_decode(event, p, frame);

		if (size <= 0 || kt_tband_decode(&e, event, (size_t)size, why))
			bad++;
		else if (!good++ && !bad)
			starts = e.id == KT_TBAND_CORE_ID ||
				 e.id == KT_TBAND_RESOLUTION;
	}
	if (!good || bad * 10 > good)
		return 0;
	return bad ? 40 : starts ? 90 : good >= 4 ? 70 : 30;
}

static int tband_probe(const uint8_t *data, size_t len, bool whole)
{
	uint8_t bytes[4096];

	(void)whole;
	if (!looks_hex(data, len))
		return probe_binary(data, len);
	len = tband_hex_to_bytes(bytes, sizeof(bytes), data, len);
	return probe_binary(bytes, len);
}

/*
 * Write kt_delivery.raw as JSON: the event (byte 0 is 0, and its frame's content follows), or the
 * last time, if byte 1 says that there is one, and why the frame is no event.
 */
static char *tband_json(char *p, const void *raw, size_t size)
{
	const uint8_t *bytes = raw;
	char why[KT_TBAND_WHY];
	struct kt_tband_event e;

	if (!bytes[0] && !kt_tband_decode(&e, bytes + 1, size - 1, why))
		return kt_tband_json(p, &e);
	p = kt_put_str(p, "{\"Invalid\":{\"ts\":");
	if (bytes[1]) {
		p = kt_put_u64(kt_put_char(p, '"'), kt_get64(bytes + 2));
		p = kt_put_char(p, '"');
	} else {
		p = kt_put_str(p, "null");
	}
	p = kt_put_str(p, ",\"err\":");
	p = kt_put_json(p, (const char *)bytes + KT_TBAND_RAW_HEAD,
			size - KT_TBAND_RAW_HEAD);
	return kt_put_str(p, "}}");
}

static void tband_import_close(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;

	free(t->cores);
}

const struct kt_codec_in kt_tband_in = {
	.options = options,
	.size = sizeof(struct kt_tband_import),
	.names_late = true,
	.probe = tband_probe,
	.open = tband_open,
	.next = tband_next,
	.json = tband_json,
	.close = tband_import_close,
};
