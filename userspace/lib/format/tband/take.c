// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading Tonbandgeraet: the event of a frame, with its core and its time.
 *
 * In a stream with checks, as it comes over a serial line, the frames between two checks are a
 * group: one event or name, and before it events that only say its core, its task and losses.
 * line.c gives a whole group to kt_tband_take(), frame by frame.  A native event that
 * Tonbandgeraet does not have is carried: it comes as the text of a name (carried.c).
 */
#include <ktape/mark.h>

#include "util/nanoseconds.h"

#include "internal.h"

/* Return a core, made if it is new; NULL without memory. */
struct kt_tband_core *kt_tband_core_at(struct kt_tband_import *t, uint32_t nr)
{
	struct kt_tband_core *more;

	if (nr < t->nr_cores)
		return &t->cores[nr];
	more = realloc(t->cores, ((size_t)nr + 1) * sizeof(*more));
	if (!more)
		return NULL;
	t->cores = more;
	while (t->nr_cores <= nr)
		t->cores[t->nr_cores++] = (struct kt_tband_core){
			.tid = -1,
			.leaving = KTAPE_STATE_PREEMPTED,
		};
	return &t->cores[nr];
}

/*
 * Take the time resolution.  It sets the frequency of the trace, so only the first one of
 * an input counts.
 */
void kt_tband_set_resolution(struct kt_import *s, uint64_t ns)
{
	struct kt_tband_import *t = s->state;

	/* A serial line may lose the first one, so times of a stream with checks are in ns. */
	if (t->check) {
		t->scale = ns ? ns : 1;
		return;
	}
	if (!ns || s->memo)
		return;
	s->memo = ns;
	t->scale = NS_PER_S % ns ? ns : 1;
	s->info->freq = NS_PER_S % ns ? NS_PER_S : NS_PER_S / ns;
}

/**
 * kt_tband_change_core() - change the core that the next events belong to
 * @s: the trace
 * @core: its number; a number that is too high is damage and ignored
 *
 * Return: 0 or negative errno.
 */
int kt_tband_change_core(struct kt_import *s, uint64_t core)
{
	struct kt_tband_import *t = s->state;

	if (core >= t->count) {
		kt_import_bad(s, t->offset,
			      "core %llu where core-count is %u: the next events stay with core %u",
			      (unsigned long long)core, t->count, t->core);
		return 0;
	}
	t->core = (uint32_t)core;
	return kt_tband_core_at(t, t->core) ? 0 : -ENOMEM;
}

/* Take the counter of lost events, which counts for all cores together and wraps. */
static int count_dropped(struct kt_import *s, const struct kt_delivery *f,
			 uint32_t count)
{
	struct kt_tband_import *t = s->state;
	uint32_t lost = count - t->dropped;

	t->dropped = count;
	return lost ? kt_import_lost(s, f->cpu, lost, t->cores[f->cpu].ts, f->ts) :
		      0;
}

/* Convert a time from ticks of the input to ticks of the trace; one beyond these is the largest. */
static uint64_t scale_time(struct kt_import *s, uint64_t ts)
{
	struct kt_tband_import *t = s->state;
	uint64_t v;

	if (!__builtin_mul_overflow(ts, t->scale, &v))
		return v;
	if (!t->saturated_noted)
		kt_import_note(s, "times beyond 2^64 ns are replaced by 2^64 ns");
	t->saturated_noted = true;
	return UINT64_MAX;
}

/*
 * Return true for an event of a group that is not delivered, because it only describes the
 * event that ends the group.
 */
static bool is_quiet(const struct kt_tband_import *t, const struct kt_tband_event *e)
{
	return t->line.on && (e->id <= KT_TBAND_RESOLUTION ||
			      (t->line.quiet && !kt_tband_is_name(e)));
}

/* Take the running task from a switch that only describes the event after it. */
static void set_task(struct kt_tband_core *c, const struct kt_tband_event *e)
{
	if (e->id != KT_TBAND_SWITCHED_IN || e->values[0] > INT32_MAX)
		return;
	c->tid = (int32_t)e->values[0];
	c->leaving = KTAPE_STATE_PREEMPTED;
}

/* Return the time of an event in ticks of the trace. */
static uint64_t time_of_event(struct kt_import *s, const struct kt_tband_core *c,
			      const struct kt_tband_event *e)
{
	struct kt_tband_import *t = s->state;
	uint64_t ts;

	/* A stream starts with core_id events whose time of 0 means nothing. */
	if (kt_tband_is_metadata(e->id) || (e->id == KT_TBAND_CORE_ID && !e->ts))
		return c->ts;
	ts = scale_time(s, e->ts);
	/* A sender that starts anew on the same line continues the trace: time must not go back. */
	return t->check ? kt_max(ts, c->ts) : ts;
}

/*
 * Take an event, @size bytes of kt_delivery.raw: its core and time, the losses that it counts or
 * that come before it, and the tasks that it changes.  Deliver it unless it is quiet.
 */
static int take_tband_event(struct kt_import *s, const struct kt_tband_event *e,
			    size_t size)
{
	struct kt_tband_import *t = s->state;
	struct kt_delivery f = { .raw = t->event, .raw_size = (uint32_t)size };
	struct kt_tband_core *c;
	int err = 0;

	if (e->id == KT_TBAND_RESOLUTION)
		kt_tband_set_resolution(s, e->values[0]);
	if (e->id == KT_TBAND_CORE_ID)
		err = kt_tband_change_core(s, e->values[0]);
	if (err)
		return err;
	c = &t->cores[t->core];
	f.cpu = t->core;
	f.tid = c->tid;
	f.ts = time_of_event(s, c, e);
	if (!kt_tband_is_metadata(e->id)) {
		t->last_ts = e->ts;
		t->timed = true;
	}
	err = kt_tband_line_gap(s, f.cpu, f.ts);
	if (!err && e->id == KT_TBAND_DROPPED)
		err = count_dropped(s, &f, (uint32_t)e->values[0]);
	if (err)
		return err;
	c->ts = f.ts;
	if (is_quiet(t, e))
		set_task(c, e);
	else
		err = kt_tband_emit(s, &f, e);
	kt_tband_follow(t, c, e);
	return err;
}

/*
 * Take a frame that is no event: notify of it, and keep up to 255 bytes of it as a user event.  In
 * a stream with checks only notify; in front of the first frame the input may just begin late.
 * Return: 0 or negative errno.
 */
static int take_tband_bad(struct kt_import *s, const uint8_t *frame, size_t len,
			  const char *why)
{
	struct kt_tband_import *t = s->state;
	struct kt_tband_core *c = &t->cores[t->core];
	struct kt_delivery f = {
		.ts = c->ts,
		.cpu = t->core,
		.tid = c->tid,
		.opcode = KTAPE_EV_USER_EVENT,
		.nargs = 1,
		.args = { KTAPE_FORMAT_ID_TBAND | KT_TBAND_INVALID },
		.blob = t->typed,
		.raw = t->event,
	};
	size_t part = (size_t)kt_min(len, UINT8_MAX);

	/*
	 * The input may begin inside a frame, because a stream has no flag before
	 * its first frame.  That is no damage.
	 */
	if (t->offset == s->begin && len)
		return kt_import_joined(s, t->offset, t->core);
	kt_import_bad(s, t->offset, "%s", why);
	if (t->line.on)
		return 0;
	t->typed[0] = KTAPE_FORMAT_MEMORY;
	t->typed[1] = (uint8_t)part;
	memcpy(t->typed + 2, frame, part);
	f.blob_size = (uint32_t)part + 2;
	t->event[0] = KT_TBAND_RAW_BAD;
	t->event[1] = t->timed;
	kt_set64(t->event + 2, t->last_ts);
	part = strlen(why);
	memcpy(t->event + KT_TBAND_RAW_HEAD, why, part);
	f.raw_size = (uint32_t)(KT_TBAND_RAW_HEAD + part);
	return kt_import_emit(s, &f);
}

/**
 * kt_tband_take() - take a frame of a stream without checks, or of a group
 * @s: the trace
 * @frame: the frame without its zero
 * @len: bytes of @frame
 *
 * Return: 0 or negative errno.
 */
int kt_tband_take(struct kt_import *s, const uint8_t *frame, size_t len)
{
	struct kt_tband_import *t = s->state;
	char why[KT_TBAND_WHY] = "empty frame";
	struct kt_tband_event e;
	int64_t size;

	if (!len)
		return take_tband_bad(s, frame, len, why);
	size = kt_cobs_decode(t->event + 1, frame, len);
	if (size < 0)
		return take_tband_bad(s, frame, len, "the frame is not COBS");
	t->event[0] = 0;
	if (kt_tband_decode(&e, t->event + 1, (size_t)size, why))
		return take_tband_bad(s, frame, len, why);
	if (t->bare && e.id >= KT_TBAND_FRTOS)
		return take_tband_bad(s, frame, len,
				      "an event of FreeRTOS in mode bare-metal");
	t->good++;
	if (kt_tband_is_carried(t, &e))
		return kt_tband_line_carried(s, &e, (size_t)size + 1);
	return take_tband_event(s, &e, (size_t)size + 1);
}
