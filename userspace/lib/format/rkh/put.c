// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writing RKH trace, the format that rkh.c draws: an event's time, number and frame. */
#include "util/nanoseconds.h"
#include "util/wide.h"

#include "internal.h"

/* Write @t->plain, @len bytes, as a frame.  Return: 0 or negative errno. */
int kt_rkh_put_frame(struct kt_sink *s, size_t len)
{
	struct kt_rkh_sink *t = s->state;
	uint8_t *p = (uint8_t *)kt_sink_room(s, KT_RKH_FRAMED(len));

	if (!p)
		return s->error;
	return kt_sink_done(s, (char *)p + kt_rkh_frame(p, t->plain, len));
}

/* Convert a time from the trace clock to a time stamp. */
static uint32_t stamp_of(const struct kt_sink *s, uint64_t ts)
{
	const struct kt_rkh_sink *t = s->state;

	if (s->info->freq == t->config.hz)
		return (uint32_t)ts;
	return (uint32_t)kt_mul_div(ktape_ticks_to_ns(s->info, ts),
				    t->config.hz, NS_PER_S);
}

/**
 * kt_rkh_put() - write an event
 * @s: the sink
 * @e: the event; its time stamp and sequence number are set here
 * @ts: its time on the trace clock
 *
 * Return: 0 or negative errno.
 */
int kt_rkh_put(struct kt_sink *s, struct kt_rkh_event *e, uint64_t ts)
{
	struct kt_rkh_sink *t = s->state;

	e->ts = stamp_of(s, ts);
	e->seq = t->seq++;
	return kt_rkh_put_frame(s, kt_rkh_encode(&t->config, e, t->plain));
}
