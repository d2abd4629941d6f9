// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading Tonbandgeraet from a serial line that loses bytes.  internal.h describes the groups
 * and their checks: a group is the frames of one event or name, and a check, a frame with their sum
 * and a sequence number, ends it.
 *
 * Frames wait until a check comes.  Its sum is compared with the last n waiting frames,
 * from all of them down to none.  The frames that it fits are a whole group and are decoded;
 * earlier frames are damaged and left out.  If the sum fits no number of frames, all are left
 * out.  The sequence number of the next check that fits says how many events were lost.
 * All damage up to the next whole group gets one notice.
 *
 * A stream without checks is read like any other: after KT_TBAND_GROUP_MAX frames without
 * a check, the frames that wait are decoded as they are.
 */
#include "util/crc32c.h"
#include "internal.h"

#define CHECKED_MAX 16U /* frames that may wait, after the first check */
#define CHECK_FRAME 32U /* most bytes of a frame with a check */

/* Notify of damage, once until the next whole group. */
static void notify_damage(struct kt_import *s, const char *why)
{
	struct kt_tband_import *t = s->state;

	if (!t->line.harmed)
		kt_import_bad(s, t->offset, "%s", why);
	t->line.harmed = true;
}

/* Return true if a frame holds a check, with the sum and the check set. */
static bool get_check(const uint8_t *frame, size_t len, uint32_t *sum,
		      struct kt_tband_check *c)
{
	uint8_t plain[CHECK_FRAME];
	char why[KT_TBAND_WHY];
	struct kt_tband_event e;
	int64_t size;

	if (len > CHECK_FRAME)
		return false;
	size = kt_cobs_decode(plain, frame, len);
	return size > 0 && !kt_tband_decode(&e, plain, (size_t)size, why) &&
	       kt_tband_check_get(&e, sum, c);
}

/* Return the id of the event in waiting frame @i.  COBS puts it after the first byte. */
static unsigned int frame_id(const struct kt_tband_line *l, unsigned int i)
{
	const uint8_t *frame = l->bytes + l->at[i];

	return *frame == 1 ? 0 : frame[1];
}

/* Take waiting frame @i.  Return: 0 or negative errno. */
static int take_held_frame(struct kt_import *s, unsigned int i)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;

	return kt_tband_take(s, l->bytes + l->at[i], l->at[i + 1] - l->at[i] - 1);
}

/* ---- groups ----------------------------------------------------------------- */

/* Forget the numbers of an earlier stream: a new one begins. */
static void restart_stream(struct kt_tband_import *t)
{
	for (unsigned int i = 0; i < 2; i++) {
		t->line.seq[i] = 0;
		t->line.known[i] = true;
	}
	t->dropped = 0;
}

/* Forget which tasks run, because a switch may be among the missing events. */
static void forget_tasks(struct kt_tband_import *t)
{
	for (uint32_t i = 0; i < t->nr_cores; i++) {
		t->cores[i].tid = -1;
		t->cores[i].leaving = KTAPE_STATE_PREEMPTED;
	}
}

/*
 * Compare the sequence number of a check with the last one; a jump is a loss.  @own: the
 * group has an event or a name, which its number counts.  Lost events are noted in @gap or
 * @unknown, to be delivered with the next event; lost names are only counted, those of a number
 * that goes back as one.
 */
static void follow_tband_seq(struct kt_tband_import *t,
			     const struct kt_tband_check *c, bool own)
{
	struct kt_tband_line *l = &t->line;
	uint32_t gap = (c->seq - l->seq[c->name] - own) & KT_TBAND_SEQ_MASK;
	bool back = gap > KT_TBAND_SEQ_MASK / 2;

	l->seq[c->name] = c->seq;
	if (!l->known[c->name] || !gap) {
		l->known[c->name] = true;
		return;
	}
	if (c->name) {
		l->names += back ? 1 : gap;
		return;
	}
	/* Numbers that go back belong to a new stream whose beginning was lost. */
	l->unknown = back;
	l->gap = back ? 0 : gap;
	forget_tasks(t);
}

/* Take the frames from @first on, which the check fits.  Return: 0 or negative errno. */
static int take_tband_group(struct kt_import *s, const struct kt_tband_check *c,
			    unsigned int first)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	/* Lower ids (core, count of losses, resolution) only describe the events of the stream. */
	bool own = first < l->nr && frame_id(l, l->nr - 1) > KT_TBAND_RESOLUTION;
	int err;

	for (unsigned int i = first; i < l->nr; i++) {
		if (frame_id(l, i) == KT_TBAND_RESOLUTION)
			restart_stream(t);
	}
	follow_tband_seq(t, c, own);
	err = kt_tband_change_core(s, c->core);
	for (unsigned int i = first; i < l->nr && !err; i++) {
		/* Those before the last only describe it: they are not delivered. */
		l->quiet = i + 1 < l->nr;
		err = take_held_frame(s, i);
	}
	l->quiet = false;
	/* An empty group has no event that delivers the loss before it. */
	return err ? err : kt_tband_line_gap(s, t->core, t->cores[t->core].ts);
}

/* Take a check and the group that it ends.  Return: 0 or negative errno. */
static int take_check(struct kt_import *s, const struct kt_tband_check *c,
		      uint32_t sum)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	unsigned int first = 0;
	int err = 0;

	while (first <= l->nr &&
	       kt_tband_check_sum(kt_crc32c(0, l->bytes + l->at[first],
					    l->at[l->nr] - l->at[first]),
				  c) != sum)
		first++;
	if (first)
		notify_damage(s, "frames without their checksum");
	if (first <= l->nr) {
		l->checked = true;
		err = take_tband_group(s, c, first);
		l->harmed = false;
	}
	l->nr = 0;
	return err;
}

/* ---- frames ----------------------------------------------------------------- */

/* Stop waiting for checks, because the stream has none: decode the waiting frames. */
static int stop_waiting(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	int err = 0;

	kt_import_note(s, "frames have no checksums: damage is found only where it breaks one, and losses are not counted");
	l->on = false;
	for (unsigned int i = 0; i < l->nr && !err; i++)
		err = take_held_frame(s, i);
	l->nr = 0;
	return err;
}

static bool has_frame_room(const struct kt_tband_line *l, size_t len)
{
	return l->nr < (l->checked ? CHECKED_MAX : KT_TBAND_GROUP_MAX) &&
	       l->at[l->nr] + len < KT_TBAND_GROUP_BYTES;
}

/* Drop the frame that waits longest. */
static void drop_first_frame(struct kt_tband_line *l)
{
	uint32_t gone = l->at[1];

	memmove(l->bytes, l->bytes + gone, l->at[l->nr] - gone);
	for (unsigned int i = 0; i < l->nr; i++)
		l->at[i] = l->at[i + 1] - gone;
	l->nr--;
}

/* Let a frame wait; without room for it, drop the frames that wait longest. */
static void hold_frame(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;

	while (!has_frame_room(l, len)) {
		notify_damage(s, "too many frames without a checksum");
		drop_first_frame(l);
	}
	memcpy(l->bytes + l->at[l->nr], frame, len);
	l->bytes[l->at[l->nr] + len] = 0;
	l->at[l->nr + 1] = l->at[l->nr] + (uint32_t)len + 1;
	l->nr++;
}

/**
 * kt_tband_line_take() - take a frame from a line
 * @s: the trace
 * @frame: the frame without its zero
 * @len: bytes of @frame, less than KT_TBAND_FRAME_MAX
 *
 * Return: 0 or negative errno.
 */
int kt_tband_line_take(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	struct kt_tband_check c;
	uint32_t sum;
	int err;

	if (get_check(frame, len, &sum, &c)) {
		t->good++;
		if (l->on)
			return take_check(s, &c, sum);
		/* The frames of this group were already decoded without the check. */
		l->on = true;
		l->checked = false;
		l->known[0] = false;
		l->known[1] = false;
		return 0;
	}
	if (l->on && len && !l->checked && !has_frame_room(l, len)) {
		err = stop_waiting(s);
		if (err)
			return err;
	}
	if (!l->on)
		return kt_tband_take(s, frame, len);
	if (len)
		hold_frame(s, frame, len);
	else
		notify_damage(s, "an empty frame");
	return 0;
}

/**
 * kt_tband_line_end() - take what still waits at the end of a line, and tell of lost names
 * @s: the trace
 *
 * Return: 0 or negative errno.
 */
int kt_tband_line_end(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	int err = 0;

	if (l->on && l->nr && !l->checked)
		err = stop_waiting(s);
	else if (l->on && l->nr)
		notify_damage(s, "the last frames have no checksum");
	if (l->names)
		kt_import_note(s, "%llu names were lost",
			       (unsigned long long)l->names);
	l->names = 0;
	l->nr = 0;
	return err;
}
