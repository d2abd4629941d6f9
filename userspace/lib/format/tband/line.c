// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading Tonbandgeraet from a line that loses bytes (codec_tband_check.h).
 *
 * Frames wait until a check comes.  It vouches for the last ones of them as many
 * as its sum fits; what stands in front of those, and all if it fits none, is
 * damaged and left out.  How many events that were, the next check tells that
 * fits.  One report is made for each damage: from there to the next whole group.
 *
 * A stream that has no checks at all is taken as it is.
 */
#include "util/crc32c.h"
#include "internal.h"

#define CHECKED_MAX	16U	/* frames of a group, where there are checks */
#define CHECK_FRAME	32U	/* bytes of one, at most */
#define NUMBERS		(3U + KTAPE_NARGS_MAX)

static void damage(struct kt_import *s, const char *why)
{
	struct kt_tband_import *t = s->state;

	if (!t->line.harmed)
		kt_import_bad(s, t->offset, "%s", why);
	t->line.harmed = true;
}

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

/* Id of the event in a frame that is no check. */
static unsigned int frame_id(const struct kt_tband_line *l, unsigned int i)
{
	const uint8_t *frame = l->bytes + l->at[i];

	return *frame == 1 ? 0 : frame[1];
}

static int take_held(struct kt_import *s, unsigned int i)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;

	return kt_tband_take(s, l->bytes + l->at[i],
			     l->at[i + 1] - l->at[i] - 1);
}

/* ---- groups ----------------------------------------------------------------- */

/* A stream begins: nothing of one before it holds. */
static void restart(struct kt_tband_import *t)
{
	for (unsigned int i = 0; i < 2; i++) {
		t->line.seq[i] = 0;
		t->line.known[i] = true;
	}
	t->dropped = 0;
}

/* Where events are missing, a switch may be: nobody knows who runs. */
static void forget_tasks(struct kt_tband_import *t)
{
	for (uint32_t i = 0; i < t->nr_cores; i++) {
		t->cores[i].tid = -1;
		t->cores[i].leaving = KTAPE_STATE_PREEMPTED;
	}
}

static void follow_seq(struct kt_tband_import *t,
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
	/* Numbers that go back are those of a stream whose begin was lost. */
	l->unknown = back;
	l->gap = back ? 0 : gap;
	forget_tasks(t);
}

/* Frames from @first on are as they were sent. */
static int take_group(struct kt_import *s, const struct kt_tband_check *c,
		      unsigned int first)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	bool own = first < l->nr &&
		   frame_id(l, l->nr - 1) > KT_TBAND_RESOLUTION;
	int err;

	for (unsigned int i = first; i < l->nr; i++) {
		if (frame_id(l, i) == KT_TBAND_RESOLUTION)
			restart(t);
	}
	follow_seq(t, c, own);
	err = kt_tband_change_core(s, c->core);
	for (unsigned int i = first; i < l->nr && !err; i++) {
		l->quiet = i + 1 < l->nr;
		err = take_held(s, i);
	}
	l->quiet = false;
	return err ? err : kt_tband_line_gap(s, t->core,
					     t->cores[t->core].ts);
}

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
		damage(s, "frames without their checksum");
	if (first <= l->nr) {
		l->checked = true;
		err = take_group(s, c, first);
		l->harmed = false;
	}
	l->nr = 0;
	return err;
}

/* ---- frames ----------------------------------------------------------------- */

/* There are no checks: what was held back is taken as it is. */
static int give_up(struct kt_import *s)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	int err = 0;

	kt_import_note(s, "frames have no checksums: damage is found only where it breaks one, and losses are not counted");
	l->on = false;
	for (unsigned int i = 0; i < l->nr && !err; i++)
		err = take_held(s, i);
	l->nr = 0;
	return err;
}

static bool has_room(const struct kt_tband_line *l, size_t len)
{
	return l->nr < (l->checked ? CHECKED_MAX : KT_TBAND_GROUP_MAX) &&
	       l->at[l->nr] + len < KT_TBAND_GROUP_BYTES;
}

static void drop_first(struct kt_tband_line *l)
{
	uint32_t gone = l->at[1];

	memmove(l->bytes, l->bytes + gone, l->at[l->nr] - gone);
	for (unsigned int i = 0; i < l->nr; i++)
		l->at[i] = l->at[i + 1] - gone;
	l->nr--;
}

static void hold(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;

	while (!has_room(l, len)) {
		damage(s, "too many frames without a checksum");
		drop_first(l);
	}
	memcpy(l->bytes + l->at[l->nr], frame, len);
	l->bytes[l->at[l->nr] + len] = 0;
	l->at[l->nr + 1] = l->at[l->nr] + (uint32_t)len + 1;
	l->nr++;
}

/**
 * kt_tband_line_take() - take a frame from a line
 * @s: the trace
 * @frame: its bytes without the zero
 * @len: how many, less than KT_TBAND_FRAME_MAX
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
		/* What stood in front of it was taken already. */
		l->on = true;
		l->checked = false;
		l->known[0] = false;
		l->known[1] = false;
		return 0;
	}
	if (l->on && len && !l->checked && !has_room(l, len)) {
		err = give_up(s);
		if (err)
			return err;
	}
	if (!l->on)
		return kt_tband_take(s, frame, len);
	if (len)
		hold(s, frame, len);
	else
		damage(s, "an empty frame");
	return 0;
}

/**
 * kt_tband_line_end() - the line has ended
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
		err = give_up(s);
	else if (l->on && l->nr)
		damage(s, "the last frames have no checksum");
	if (l->names)
		kt_import_note(s, "%llu names were lost",
			       (unsigned long long)l->names);
	l->names = 0;
	l->nr = 0;
	return err;
}

/**
 * kt_tband_line_gap() - tell what is missing in front of an event
 * @s: the trace
 * @core: of the event
 * @ts: its time
 *
 * Return: as kt_import_emit().
 */
int kt_tband_line_gap(struct kt_import *s, uint32_t core, uint64_t ts)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_line *l = &t->line;
	uint32_t gap = l->gap;

	if (!gap && !l->unknown)
		return 0;
	l->gap = 0;
	l->unknown = false;
	return kt_import_lost(s, core, gap, t->cores[core].ts, ts);
}

/* ---- events that the format has no place for -------------------------------- */

bool kt_tband_is_carried(const struct kt_tband_import *t,
			 const struct kt_tband_event *e)
{
	return t->line.on && e->id == KT_TBAND_VALMARKER_NAME &&
	       e->values[0] == KT_TBAND_CARRIED;
}

/* Numbers, and what is behind them.  False: there are not enough. */
static bool get_carried(struct kt_foreign *f, const uint8_t *p,
			const uint8_t *end)
{
	uint64_t v[NUMBERS];
	uint8_t what;

	if (end - p < 2)
		return false;
	f->opcode = *p++;
	what = *p++;
	f->kind = what & 3;
	f->nargs = what >> KT_TBAND_CARRIED_ARGS & KTAPE_NARGS_MAX;
	for (unsigned int i = 0; i < 3U + f->nargs; i++) {
		p = kt_tband_get_number(p, end, i ? 32 : 64, &v[i]);
		if (!p)
			return false;
		if (i >= 3)
			f->args[i - 3] = (uint32_t)v[i];
	}
	f->ts = v[0];
	f->tid = (int32_t)((uint32_t)v[1] - 1);
	f->dat20 = (uint32_t)v[2];
	if (what & KT_TBAND_CARRIED_BLOB) {
		f->blob = p;
		f->blob_size = (uint32_t)(end - p);
	}
	return f->dat20 <= KTAPE_DAT20_MASK && f->tid >= -1 &&
	       ktape_event_desc(f->opcode) && f->opcode != KTAPE_TIME_EXTEND;
}

static int emit_carried(struct kt_import *s, struct kt_foreign *f)
{
	const struct kt_named n = {
		.type = f->dat20 & 0xff,
		.id = f->args[0],
		.param1 = f->args[1],
		.param2 = f->args[2],
		.name = f->blob ? f->blob : "",
		.len = f->blob_size,
	};

	if (f->opcode == KTAPE_EV_REGISTRY)
		return kt_import_name(s, f, &n);
	f->kind = kt_min(f->kind, KTAPE_RING_CONTROL);
	return kt_import_emit(s, f);
}

/**
 * kt_tband_line_carried() - take an event of ours
 * @s: the trace
 * @e: what carries it
 * @size: bytes of that
 *
 * Return: as kt_import_emit().
 */
int kt_tband_line_carried(struct kt_import *s, const struct kt_tband_event *e,
			  size_t size)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_core *c = &t->cores[t->core];
	int64_t len = kt_base64_decode(t->typed, e->text, e->len);
	struct kt_foreign f = {
		.cpu = t->core, .raw = t->event, .raw_size = (uint32_t)size,
	};
	int err;

	if (len < 0 || !get_carried(&f, t->typed, t->typed + len)) {
		kt_import_bad(s, t->offset, "an event that is not understood");
		return 0;
	}
	f.ts = kt_max(f.ts, c->ts);
	err = kt_tband_line_gap(s, f.cpu, f.ts);
	c->ts = f.ts;
	return err ? err : emit_carried(s, &f);
}
