// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing RKH trace: losses, the configuration.  rkh.c describes the format and
 * what it loses; which event a native one becomes is in map.c.
 */
#include <ktape/formats.h>

#include "internal.h"
#include "rkh.h"

#define LINUX_HZ 50000U /* of a Linux stream: 32 bits last a day */

static const struct ktape_codec_option options[] = {
	{ "id-width", "1|2|4", "bytes of an event's id (default 1)" },
	{ "sig-width", "1|2|4", "bytes of a signal (default 1)" },
	{ "time-width", "1|2|4", "bytes of a time stamp (default 4)" },
	{ "ptr-width", "4|8", "bytes of an address (default 4)" },
	{ "seq", "0|1", "frames have a sequence number (default 1)" },
	{ "time", "0|1", "frames have a time stamp (default 1)" },
	{ "check", "0|1", "frames have a checksum (default 1)" },
	{ "tick-hz", "HZ", "time stamps a second, at most 65535 (default 50000)" },
	{ .key = NULL },
};

static int put_rkh_config(struct kt_sink *s)
{
	struct kt_rkh_sink *t = s->state;

	return kt_rkh_put_frame(s, kt_rkh_put_config(&t->config, t->plain));
}

static int put_flag(struct kt_sink *s)
{
	const uint8_t flag = KT_RKH_FLAG;

	return kt_sink_put(s, &flag, 1);
}

/* Begin a Linux stream: its configuration, and the names of its user events. */
static int begin_linux(struct kt_sink *s, uint64_t ts)
{
	struct kt_rkh_sink *t = s->state;
	int err = put_flag(s);

	t->begun = true;
	if (!err)
		err = put_rkh_config(s);
	if (!err)
		err = kt_rkh_name(s, ts, KT_RKH_TUSR, KT_LINUX_EVENT,
				  KT_LINUX_PREFIX "event", 8);
	return err ? err :
		     kt_rkh_name(s, ts, KT_RKH_TUSR, KT_LINUX_LOSS,
				 KT_LINUX_PREFIX "lost", 7);
}

/* Return true for the user event that stands for a configuration. */
static bool is_config(const struct ktape_event *e)
{
	return e->known && e->kind == KTAPE_RING_EVENT &&
	       e->opcode == KTAPE_EV_USER_EVENT &&
	       e->nargs >= 1 + KT_RKH_CONFIG_WORDS + 1 &&
	       ktape_event_arg(e, 0) == (KTAPE_FORMAT_ID_RKH | KT_RKH_TCFG);
}

/*
 * Use the configuration of an RKH target, to write its stream again.  In a Linux stream it is left
 * out and counted.  One that the reader assumed was no record of the stream and becomes none; it
 * has the number of the first event.
 */
static int follow_config(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_rkh_sink *t = s->state;
	uint32_t words[KT_RKH_CONFIG_WORDS];
	uint32_t first = ktape_event_arg(e, 1 + KT_RKH_CONFIG_WORDS);
	int err = 0;

	for (unsigned int i = 0; i < KT_RKH_CONFIG_WORDS; i++)
		words[i] = ktape_event_arg(e, 1 + i);
	if ((t->begun && !t->rewrite) || !kt_rkh_unpack(&t->config, words)) {
		kt_sink_miss(s, "configurations of further RKH streams", 1);
		return 0;
	}
	t->config.flags &= ~KT_RKH_LINUX;
	t->rewrite = true;
	if (!t->begun)
		err = put_flag(s);
	t->begun = true;
	if (!(first & KT_RKH_ASSUMED))
		return err ? err : put_rkh_config(s);
	t->seq = (uint8_t)first;
	return err;
}

/* Write the first @nr losses, and forget them. */
static int put_losses(struct kt_sink *s, unsigned int nr)
{
	struct kt_rkh_sink *t = s->state;
	int err = 0;

	for (unsigned int i = 0; i < nr && !err; i++)
		err = kt_rkh_map_lost(s, &t->losses[i]);
	t->nr_losses -= nr;
	memmove(t->losses, t->losses + nr, t->nr_losses * sizeof(*t->losses));
	return err;
}

/* Write the losses that end up to a time. */
static int put_losses_until(struct kt_sink *s, uint64_t ts)
{
	struct kt_rkh_sink *t = s->state;
	unsigned int nr = 0;

	while (nr < t->nr_losses && t->losses[nr].to <= ts)
		nr++;
	return nr ? put_losses(s, nr) : 0;
}

/*
 * Keep a loss until the time of its end.  Events of other CPUs may come before that: behind
 * the loss, which has one time stamp, their times would go back.  If too many wait, the one that
 * ends first is written before its time.
 */
static int keep_loss(struct kt_sink *s, const struct ktape_notice *n)
{
	struct kt_rkh_sink *t = s->state;
	unsigned int at;
	int err = 0;

	if (t->nr_losses == KT_RKH_LOSSES && !t->begun)
		err = begin_linux(s, t->losses[0].to);
	if (t->nr_losses == KT_RKH_LOSSES && !err)
		err = put_losses(s, 1);
	if (err)
		return err;
	for (at = t->nr_losses; at && t->losses[at - 1].to > n->to; at--)
		t->losses[at] = t->losses[at - 1];
	t->losses[at] = *n;
	t->nr_losses++;
	return 0;
}

static int rkh_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct kt_rkh_sink *t = s->state;
	int err = 0;

	/* Only a Linux stream can begin with a loss, so @e cannot set a configuration any more. */
	if (t->nr_losses && !t->begun)
		err = begin_linux(s, e->ts);
	if (!err)
		err = put_losses_until(s, e->ts);
	if (err)
		return err;
	t->last_ts = e->ts;
	if (is_config(e))
		return follow_config(s, e);
	if (!t->begun)
		err = begin_linux(s, e->ts);
	return err ? err : kt_rkh_map(s, e);
}

static int rkh_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct kt_rkh_sink *t = s->state;

	if (!t->rewrite)
		return keep_loss(s, n);
	/* A gap in the numbers shows up to 255 lost events. */
	t->seq = (uint8_t)(t->seq + n->count);
	if (!n->count)
		kt_sink_miss(s, "gaps of an unknown number of events", 1);
	if (n->count > UINT8_MAX)
		kt_sink_miss(s, "losses of more than 255 events at once", 1);
	return 0;
}

static int rkh_begin(struct kt_sink *s)
{
	struct kt_rkh_sink *t = s->state;
	const char *bad = kt_rkh_options(&t->config, &s->options);

	if (bad)
		return kt_sink_fail(
			s, "option %s: invalid value (see `ktape convert --list`)",
			bad);
	if (t->config.ptr < 4)
		return kt_sink_fail(s, "ptr-width must be 4 or 8");
	if (!kt_codec_option(&s->options, "tick-hz"))
		t->config.hz = s->info->freq && s->info->freq < LINUX_HZ ?
				       (uint16_t)s->info->freq :
				       LINUX_HZ;
	t->config.flags |= KT_RKH_LINUX;
	return 0;
}

static int rkh_end(struct kt_sink *s)
{
	struct kt_rkh_sink *t = s->state;
	int err = t->begun ? 0 :
			     begin_linux(s, t->nr_losses ? t->losses[0].to :
							   t->last_ts);

	return err ? err : put_losses(s, t->nr_losses);
}

const struct kt_codec_out kt_rkh_out = {
	.options = options,
	.assumed = true,
	.size = sizeof(struct kt_rkh_sink),
	.begin = rkh_begin,
	.event = rkh_event,
	.notice = rkh_notice,
	.end = rkh_end,
};
