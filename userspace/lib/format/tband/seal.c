// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing Tonbandgeraet to a serial line: groups of frames with their checks, beginning and
 * end of the stream, carried events.  internal.h describes them.
 */
#include "internal.h"

#define CARRIED_FIXED 64U /* bytes for all numbers of a carried event */
#define BYTES	      (CARRIED_FIXED + KT_TBAND_CARRIED_MAX)

/* End a group with its check.  @name: it holds a name, else an event. */
static int put_check(struct kt_sink *s, bool name)
{
	struct kt_tband_sink *t = s->state;
	const struct kt_tband_check c = {
		.name = name,
		.seq = t->seq[name] & KT_TBAND_SEQ_MASK,
		.core = t->core,
	};
	char text[KT_TBAND_CHECK_TEXT];
	struct kt_tband_event e;
	int err;

	kt_tband_check_put(&e, kt_tband_check_sum(t->crc, &c), &c, text);
	err = kt_tband_put_frame(s, &e);
	t->crc = 0;
	t->grouped = 0;
	return err;
}

/**
 * kt_tband_seal() - number an event or a name that was written, and end its group
 * @s: the sink
 * @name: it was a name, else an event
 *
 * An event that was left out has no frames: it gets no number and no check.
 *
 * Return: 0 or negative errno.
 */
int kt_tband_seal(struct kt_sink *s, bool name)
{
	struct kt_tband_sink *t = s->state;

	if (!t->grouped)
		return 0;
	t->seq[name]++;
	return put_check(s, name);
}

/**
 * kt_tband_begin_line() - begin the stream, if it has not begun
 * @s: the sink
 * @cpu: CPU of its first event
 *
 * Return: 0 or negative errno.
 */
int kt_tband_begin_line(struct kt_sink *s, uint32_t cpu)
{
	struct kt_tband_sink *t = s->state;
	int err = 0;

	if (t->begun)
		return 0;
	for (unsigned int i = 0; i < KT_TBAND_REPEAT && !err; i++) {
		t->begun = false;
		err = kt_tband_put_head(s, cpu);
		if (!err)
			err = put_check(s, false);
	}
	return err;
}

/**
 * kt_tband_put_lost() - write losses of another core than that of the next event
 * @s: the sink
 * @cpu: core of the next event
 *
 * Losses of the same core become part of the next event's group.
 *
 * Return: 0 or negative errno.
 */
int kt_tband_put_lost(struct kt_sink *s, uint32_t cpu)
{
	struct kt_tband_sink *t = s->state;
	int err;

	if (!t->pending || t->lost_cpu == cpu)
		return 0;
	err = kt_tband_begin_line(s, t->lost_cpu);
	if (!err)
		err = kt_tband_put_core(s, t->lost_cpu, t->last_ts);
	if (!err)
		err = kt_tband_put_count(s, t->last_ts);
	return err ? err : put_check(s, false);
}

/**
 * kt_tband_end_line() - end the stream with the counts, so that losses at its end show
 * @s: the sink
 *
 * Return: 0 or negative errno.
 */
int kt_tband_end_line(struct kt_sink *s)
{
	struct kt_tband_sink *t = s->state;
	int err = kt_tband_begin_line(s, 0);

	if (!err)
		err = kt_tband_put_lost(s, UINT32_MAX); /* of any core */
	for (unsigned int i = 0; i < KT_TBAND_REPEAT && !err; i++) {
		err = kt_tband_put_count(s, t->last_ts);
		if (!err)
			err = put_check(s, false);
		if (!err)
			err = put_check(s, true);
	}
	return err;
}

/**
 * kt_tband_carry() - write a native event that has no place in the format
 * @s: the sink
 * @e: the event; kt_event_fits() is true
 *
 * Return: 0 or negative errno.
 */
int kt_tband_carry(struct kt_sink *s, const struct ktape_event *e)
{
	size_t blob = (size_t)kt_min(e->blob_size, KT_TBAND_CARRIED_MAX);
	uint8_t bytes[BYTES], *p = bytes;
	char text[BYTES * 4 / 3 + 1];
	struct kt_tband_event out = {
		.id = KT_TBAND_VALMARKER_NAME,
		.values = { KT_TBAND_CARRIED },
		.text = (const uint8_t *)text,
	};

	if (blob < e->blob_size)
		kt_sink_miss(s, "ends of buffers beyond 2048 bytes", 1);
	*p++ = e->opcode;
	*p++ = (uint8_t)(e->kind | e->nargs << KT_TBAND_CARRIED_ARGS |
			 (e->blob ? KT_TBAND_CARRIED_BLOB : 0));
	p = kt_tband_put_number(p, ktape_ticks_to_ns(s->info, e->ts));
	p = kt_tband_put_number(p, e->tid < 0 ? 0 : (uint32_t)e->tid + 1);
	p = kt_tband_put_number(p, e->dat20);
	for (unsigned int i = 0; i < e->nargs; i++)
		p = kt_tband_put_number(p, ktape_event_arg(e, i));
	if (e->blob && blob)
		memcpy(p, e->blob, blob);
	out.len = kt_base64_encode(text, bytes, (size_t)(p - bytes) + blob);
	return kt_tband_put(s, &out, e->cpu, e->ts);
}
