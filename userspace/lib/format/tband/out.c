// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing Tonbandgeraet: options, begin and end of a stream.  tband.c describes the format and
 * what it loses; which event a native one becomes is in map.c.
 */
#include "util/nanoseconds.h"
#include "util/parse.h"

#include "internal.h"
#include "tband.h"

#define DROP_EVERY   50 /* events, by default */
#define WHAT_UNKNOWN "gaps of an unknown number of events"

static const struct ktape_codec_option options[] = {
	{ "format", "bin|hex",
	  "binary, or hexadecimal digits with a line for each frame (default bin)" },
	{ "mode", "bare-metal|free-rtos",
	  "with bare-metal, threads and switches are left out (default free-rtos)" },
	{ "drop-every", "N",
	  "write the count of lost events at least every N events; 0: only when it changes (default 50)" },
	{ "max-str-len", "N", "cut names and messages to N bytes (default: not cut)" },
	{ "check", "0|1",
	  "for a serial line that loses bytes: add sequence numbers and checksums; times in ns (default 0)" },
	{ .key = NULL },
};

static int read_tband_out_number(struct kt_sink *s, const char *key, uint64_t *to)
{
	const char *text = kt_codec_option(&s->options, key);

	if (!text || !kt_parse_u64(text, to))
		return 0;
	return kt_sink_fail(s, "%s must be a number", key);
}

static int read_tband_out_word(struct kt_sink *s, const char *key,
			       const char *no, const char *yes, bool *to)
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
	err = read_tband_out_word(s, "check", "0", "1", &t->check);
	/* A serial line may lose the resolution: use ns, which readers assume. */
	t->raw_time = !t->check && s->info->freq && !(NS_PER_S % s->info->freq);
	if (!err)
		err = read_tband_out_word(s, "format", "bin", "hex", &t->hex);
	if (!err)
		err = read_tband_out_word(s, "mode", "free-rtos", "bare-metal",
					  &t->bare);
	if (!err)
		err = read_tband_out_number(s, "drop-every", &t->drop_every);
	if (!err)
		err = read_tband_out_number(s, "max-str-len", &t->max_text);
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

static void tband_sink_close(struct kt_sink *s)
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
	.close = tband_sink_close,
};
