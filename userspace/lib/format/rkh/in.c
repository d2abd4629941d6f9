// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading RKH trace: frames, sequence numbers, times, the configuration.  rkh.c describes the
 * format; what becomes of each event is in emit.c.
 */
#include <ktape/formats.h>

#include "format/frames.h"

#include "internal.h"
#include "rkh.h"

#define BACK_PART 8 /* a step of more than 7/8 of the range goes backwards */
#define PROBE_FRAMES \
	4 /* frames with a valid checksum that make rkh_probe() certain */
#define PROBE_PLAIN \
	16 /* the same for frames of which only the id can be checked */
#define HEAD_MAX	64U /* bytes of a flag and a configuration, with escapes */
#define FRAME_BYTES_MAX KT_RKH_FRAMED(KT_RKH_FRAME_MAX) /* with escapes */

static const struct ktape_codec_option options[] = {
	{ "id-width", "1|2|4", "bytes of an event's id (default 1)" },
	{ "sig-width", "1|2|4",
	  "bytes of a signal (default 1); a configuration record overrides this and all options below" },
	{ "time-width", "1|2|4", "bytes of a time stamp (default 4)" },
	{ "ptr-width", "1|2|4|8", "bytes of an address (default 4)" },
	{ "ntimer-width", "1|2|4", "bytes of timer ticks (default 2)" },
	{ "nblock-width", "1|2|4", "bytes of a number of blocks (default 1)" },
	{ "nelem-width", "1|2|4", "bytes of a number of elements (default 1)" },
	{ "esize-width", "1|2|4", "bytes of the size of an event (default 2)" },
	{ "bsize-width", "1|2|4", "bytes of the size of a block (default 1)" },
	{ "seq", "0|1", "frames have a sequence number (default 1)" },
	{ "time", "0|1", "frames have a time stamp (default 1)" },
	{ "check", "0|1", "frames have a checksum (default 1)" },
	{ "sender", "0|1", "events have their sender (default 1)" },
	{ "que-low", "0|1", "events have the low mark of queues (default 1)" },
	{ "mp-low", "0|1", "events have the low mark of pools (default 1)" },
	{ "tick-hz", "HZ", "time stamps a second (default 1000)" },
	{ .key = NULL },
};

/* ---- time and sequence ---------------------------------------------------- */

/*
 * Convert a time stamp to a time.  Stamps wrap.  A small step backwards is no wrap: the
 * event gets the time of the event before it.  Without time stamps each event takes a tick.
 */
static uint64_t time_of_stamp(struct kt_import *s, uint32_t stamp)
{
	struct kt_rkh_import *t = s->state;
	uint32_t mask = t->config.ts == 4 ? UINT32_MAX :
					    (1U << t->config.ts * 8) - 1;
	uint32_t step = (stamp - t->stamp) & mask;

	if (!(t->config.flags & KT_RKH_TIME))
		return t->ts + 1;
	if (!t->timed) {
		t->stamp = stamp;
		t->timed = true;
		return stamp;
	}
	if (step > mask - mask / BACK_PART) {
		if (!t->back_noted)
			kt_import_note(s, "time goes back: such events get the time of the event before them");
		t->back_noted = true;
		return t->ts;
	}
	t->stamp = stamp;
	return t->ts + step;
}

/*
 * Deliver the loss that the sequence number shows before an event.  Before the first number, it
 * is a loss of unknown size if there were invalid frames.
 */
static int follow_rkh_seq(struct kt_import *s, uint8_t seq, uint64_t ts)
{
	struct kt_rkh_import *t = s->state;
	uint8_t lost = (uint8_t)(seq - t->seq - 1);
	bool known = t->seq_known;

	if (!(t->config.flags & KT_RKH_SEQ))
		return 0;
	t->seq = seq;
	t->seq_known = true;
	if (!known && t->bad)
		return kt_import_lost(s, 0, 0, t->ts, ts);
	return known && lost ? kt_import_lost(s, 0, lost, t->ts, ts) : 0;
}

/*
 * Note an invalid frame.  The next sequence number will show how many events are lost; without
 * sequence numbers, deliver a loss of unknown size now.
 */
static int note_bad(struct kt_import *s)
{
	struct kt_rkh_import *t = s->state;

	t->bad = true;
	return t->config.flags & KT_RKH_SEQ ?
		       0 :
		       kt_import_lost(s, 0, 0, t->ts, t->ts);
}

/* ---- frames --------------------------------------------------------------- */

/*
 * Take a configuration record: it holds for the frames after it.  An earlier one that no event
 * has followed is delivered first.
 */
static int take_config(struct kt_import *s, const struct kt_rkh_config *c)
{
	struct kt_rkh_import *t = s->state;
	uint16_t hz = (uint16_t)kt_min(s->info->freq, UINT16_MAX);
	int err = t->record && !t->config_sent ? kt_rkh_emit_config(s, t->ts, -1) :
						 0;

	t->config = *c;
	t->record = true;
	t->config_sent = false;
	t->good++;
	/* The first pass over the input keeps the frequency for the second one. */
	if (!s->memo && c->hz)
		s->memo = c->hz;
	if (c->hz && c->hz != hz && !t->hz_noted) {
		kt_import_note(s, "a configuration record says %u Hz, the trace keeps %u Hz",
			       c->hz, hz);
		t->hz_noted = true;
	}
	return err;
}

/* Deliver the configuration as a user event, one tick before the next event @e. */
static int deliver_config(struct kt_import *s, const struct kt_rkh_event *e,
			  uint64_t ts)
{
	struct kt_rkh_import *t = s->state;
	/*
	 * The first event has number 0.  Of a running stream that the reader joined, keep the
	 * number, so that writing the stream again begins with it.
	 */
	bool starts_late = t->config.flags & KT_RKH_SEQ && !t->seq_known && e->seq;
	int err;

	if (t->config_sent)
		return 0;
	t->config_sent = true;
	ts = kt_max(t->ts, ts ? ts - 1 : 0);
	err = t->record ? kt_rkh_emit_config(s, ts, -1) : 0;
	if (!err && (!t->record || starts_late))
		err = kt_rkh_emit_config(s, ts, e->seq);
	return err;
}

/*
 * Report an invalid frame.  If it is the first one, that is no damage: the reader may have joined
 * a running stream in the middle of it.
 */
static int take_rkh_bad(struct kt_import *s, const char *why)
{
	struct kt_rkh_import *t = s->state;

	if (!t->begun && !t->good)
		return kt_import_joined(s, t->offset, 0);
	kt_import_bad(s, t->offset, "%s", why);
	return note_bad(s);
}

static int take_rkh_event(struct kt_import *s, const struct kt_rkh_event *e)
{
	struct kt_rkh_import *t = s->state;
	uint64_t ts = time_of_stamp(s, e->ts);
	int err = deliver_config(s, e, ts);

	if (!err)
		err = follow_rkh_seq(s, e->seq, ts);
	t->ts = ts;
	t->good++;
	return err ? err : kt_rkh_emit(s, e, ts);
}

static int take_rkh_frame(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct kt_rkh_import *t = s->state;
	struct kt_rkh_config c = t->config;
	size_t typed = 0;
	char why[KT_RKH_WHY];
	struct kt_rkh_event e;
	int64_t size = kt_rkh_unframe(t->plain, frame, len);

	if (size < 0)
		return take_rkh_bad(s, "the frame has an invalid escape");
	if (size > KT_RKH_FRAME_MAX)
		return take_rkh_bad(s, "the frame is too long");
	if (kt_rkh_get_config(&c, t->plain, (size_t)size))
		return take_config(s, &c);
	if (kt_rkh_decode(&t->config, &e, t->plain, (size_t)size, why))
		return take_rkh_bad(s, why);
	if (*kt_rkh_kind(e.id)->types == 'U' && e.len) {
		typed = kt_rkh_to_typed(&t->config, &e, t->typed);
		if (!typed)
			return take_rkh_bad(s, "a user event has invalid arguments");
	}
	/* ktape wrote a Linux stream, so this frame is damaged although its checksum is right. */
	if (t->config.flags & KT_RKH_LINUX &&
	    !kt_rkh_fits_linux(t, &e, typed, t->raw))
		return take_rkh_bad(s, "ktape does not write such a frame");
	return take_rkh_event(s, &e);
}

/*
 * Deliver what is left.  The input may go on after a pause: note what was delivered.
 * Return: 0 or negative errno.
 */
static int end_rkh_input(struct kt_import *s)
{
	struct kt_rkh_import *t = s->state;
	bool due = t->record && !t->config_sent; /* no event came after the record */
	/* No valid frame followed whose sequence number would show how many are lost. */
	bool lost = t->config.flags & KT_RKH_SEQ && !t->seq_known && t->bad;
	int err = 0;

	if (!t->good)
		kt_import_notify_none(s);
	t->config_sent = true;
	t->bad = false;
	if (due)
		err = kt_rkh_emit_config(s, t->ts, -1);
	return err || !lost ? err : kt_import_lost(s, 0, 0, t->ts, t->ts);
}

static int rkh_next(struct kt_import *s)
{
	struct kt_rkh_import *t = s->state;
	const uint8_t *frame = NULL;
	int64_t len;
	int err = 0;

	t->offset = s->in->offset;
	len = kt_frames_next(s, KT_RKH_FLAG, FRAME_BYTES_MAX, &frame);
	len = kt_frames_notify(s, len, t->offset, FRAME_BYTES_MAX);
	if (len == KT_FRAME_END)
		return end_rkh_input(s);
	if (len == KT_FRAME_LONG) {
		err = note_bad(s);
		return err ? err : 1;
	}
	if (len < 0)
		return (int)len;
	if (len)
		err = take_rkh_frame(s, frame, (size_t)len);
	t->begun = true;
	if (!err)
		err = kt_scan_skip(s->in, (uint64_t)len + 1);
	return err ? err : 1;
}

/* ---- begin ---------------------------------------------------------------- */

/*
 * Look for a configuration record in the first frames.  @c has the width of ids.
 * Return: true with @c set.
 */
static bool find_config(struct kt_rkh_config *c, const uint8_t *data, size_t len)
{
	const uint8_t *p = data, *end = data + len, *flag;
	uint8_t plain[KT_RKH_CONFIG_FRAME * 2];

	for (; (flag = memchr(p, KT_RKH_FLAG, (size_t)(end - p))); p = flag + 1) {
		size_t frame = (size_t)(flag - p);
		int64_t size = frame > sizeof(plain) ?
				       -1 :
				       kt_rkh_unframe(plain, p, frame);

		if (size > 0 && kt_rkh_get_config(c, plain, (size_t)size))
			return true;
	}
	return false;
}

/**
 * struct first_frames - how many of the first frames are right for one width of ids
 * @good: known events with a right checksum or the next sequence number
 * @next: good events with the next sequence number
 * @known: other known events
 * @bad: frames that are no known event
 */
struct first_frames {
	unsigned int good;
	unsigned int next;
	unsigned int known;
	unsigned int bad;
};

/* Read the first frames as if ids had @width bytes. */
static void look_rkh_at_frames(struct first_frames *l, unsigned int width,
			       const uint8_t *data, size_t len)
{
	const uint8_t *p = data, *end = data + len, *flag;
	uint8_t plain[1024];
	int last = -1;

	for (; (flag = memchr(p, KT_RKH_FLAG, (size_t)(end - p))); p = flag + 1) {
		size_t frame = (size_t)(flag - p);
		int64_t size = frame > sizeof(plain) ?
				       -1 :
				       kt_rkh_unframe(plain, p, frame);
		bool follows;
		int next;

		/* The first frame may have lost its beginning. */
		if (!frame || p == data)
			continue;
		next = size < 0 ? -1 : kt_rkh_behind_id(width, plain, (size_t)size);
		follows = next >= 0 && last >= 0 && next == ((last + 1) & 0xff);
		l->next += follows;
		if (next < 0)
			l->bad++;
		else if (follows || kt_rkh_checked(plain, (size_t)size))
			l->good++;
		else
			l->known++;
		last = next;
	}
}

/*
 * Return how likely it is, from 0 to 100, that this is RKH trace with ids of @width bytes:
 * 65 or 60 if checksums fit, with and without numbers that follow one another; 20 if only the
 * ids are known, as any bytes may look.  The format with the highest number is taken.
 */
static int width_likelihood(unsigned int width, const uint8_t *data, size_t len)
{
	struct first_frames l = { .good = 0 };

	look_rkh_at_frames(&l, width, data, len);
	if (l.good >= PROBE_FRAMES && l.bad * 10 <= l.good && l.known * 2 <= l.good)
		return l.next * 2 > l.good ? 65 : 60;
	return l.good + l.known >= PROBE_PLAIN && !l.bad && *data == KT_RKH_FLAG ?
		       20 :
		       0;
}

/* Find a configuration record, trying all widths of ids unless the user gave one. */
static bool find_width(const struct kt_import *s, struct kt_rkh_config *c, size_t len)
{
	bool given = kt_codec_option(&s->options, "id-width");

	if (find_config(c, kt_scan_head(s->in), len))
		return true;
	for (uint8_t id = 1; id <= 4 && !given; id = (uint8_t)(id * 2)) {
		struct kt_rkh_config other = { .id = id };

		if (!find_config(&other, kt_scan_head(s->in), len))
			continue;
		*c = other;
		return true;
	}
	return false;
}

/*
 * Guess the width of ids from the frames, for a stream without a configuration record.
 * Return: how likely it is; 0 leaves @width as it is.
 */
static int guess_width(const struct kt_import *s, uint8_t *width, size_t len)
{
	bool given = kt_codec_option(&s->options, "id-width");
	uint8_t found = *width;
	int best = 0;

	for (uint8_t id = 1; id <= 4; id = (uint8_t)(id * 2)) {
		int sure = given && id != *width ?
				   0 :
				   width_likelihood(id, kt_scan_head(s->in), len);

		if (sure <= best)
			continue;
		best = sure;
		found = id;
	}
	*width = found;
	return best;
}

/*
 * Wait for enough of the input to find the configuration.  A serial line delivers it byte
 * by byte; stop waiting as soon as the frames show that no record comes first.
 * Return: number of bytes that can be read, or negative errno.
 */
static int64_t need_head(struct kt_import *s)
{
	struct kt_rkh_import *t = s->state;
	uint64_t need = s->in->seekable ? KT_CODEC_PROBE : 1;
	int64_t there;

	for (;;) {
		struct kt_rkh_config c = t->config;

		there = kt_scan_need(s->in, need);
		if (there < (int64_t)need || there >= HEAD_MAX ||
		    find_width(s, &c, (size_t)there) ||
		    guess_width(s, &c.id, (size_t)there))
			return there;
		need = (uint64_t)there + 1;
	}
}

static int rkh_open(struct kt_import *s)
{
	struct kt_rkh_import *t = s->state;
	struct kt_rkh_config c;
	const char *bad = kt_rkh_options(&t->config, &s->options);
	int64_t there;

	s->resumes = true; /* next() may be called again after a pause of the input */
	if (bad) {
		kt_import_fail(s, 0,
			       "option %s: invalid value (see `ktape convert --list`)",
			       bad);
		return -EINVAL;
	}
	there = need_head(s);
	if (there < 0)
		return (int)there;
	c = t->config;
	if (there && find_width(s, &c, (size_t)there)) {
		t->config.id = c.id;
		s->memo = s->memo ? s->memo : c.hz;
	} else {
		guess_width(s, &t->config.id, (size_t)there);
		if (!s->memo)
			kt_import_note(s, "the trace has no configuration record: the default configuration is assumed");
	}
	s->info->freq = s->memo ? s->memo : t->config.hz;
	if (!(c.flags & KT_RKH_TIME))
		kt_import_note(s, "the trace has no time stamps: each event takes one tick");
	return 0;
}

/* Recognise a configuration record, or frames of known events with right checksums. */
static int rkh_probe(const uint8_t *data, size_t len, bool whole)
{
	int best = 0, width;

	(void)whole;
	for (uint8_t id = 1; id <= 4; id = (uint8_t)(id * 2)) {
		struct kt_rkh_config c = { .id = id };

		/* Hardly anything else looks like a configuration record. */
		if (find_config(&c, data, len))
			return 95;
		width = width_likelihood(id, data, len);
		best = width > best ? width : best;
	}
	return best;
}

static char *rkh_json(char *p, const void *raw, size_t size)
{
	return kt_rkh_json(p, raw, size);
}

const struct kt_codec_in kt_rkh_in = {
	.options = options,
	.size = sizeof(struct kt_rkh_import),
	.names_late = true, /* names may follow the events that use them */
	.probe = rkh_probe,
	.open = rkh_open,
	.next = rkh_next,
	.json = rkh_json,
};
