// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times that are too large for signed 64-bit ns, which end 292 years after the origin of each
 * clock (1970, the boot or another one).  kt_clock_check() has checked the origin when the
 * trace was opened, so only a damaged time stamp is that large.  Such an event is delivered
 * with the last time that fits; otherwise its time would wrap around to before 1970.
 */
#include "util/nanoseconds.h"

#include "trace/trace.h"

/* Compute the last tick whose time fits in ns, on each clock. */
static uint64_t last_tick(const struct ktape_info *info)
{
	const int64_t origins[] = {
		ktape_epoch_ns(info, 0),
		info->mono_offset_ns,
		info->boot_offset_ns,
	};
	int64_t latest = 0;
	uint64_t ns, seconds, ticks;

	for (size_t i = 0; i < KT_ARRAY_SIZE(origins); i++)
		if (origins[i] > latest)
			latest = origins[i];
	if (latest == INT64_MAX)
		return 0;
	/* Both conversions to ns round down, hence the 1. */
	ns = (uint64_t)(INT64_MAX - latest) - 1;
	seconds = ns / NS_PER_S;
	if (seconds >= UINT64_MAX / info->freq)
		return UINT64_MAX - info->offset;
	ticks = seconds * info->freq + ns % NS_PER_S * info->freq / NS_PER_S;
	return kt_min(ticks, UINT64_MAX - info->offset);
}

/* Compute from where on times are too large, again when a format learns the clock's frequency. */
void kt_far_set(struct ktape_trace *t)
{
	t->far_freq = t->info.freq;
	t->far_from = last_tick(&t->info);
}

static void notify_far(struct ktape_trace *t)
{
	const struct kt_stream *s = t->current;
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT };

	if (t->reported_far || !t->options.notice)
		return;
	t->reported_far = true;
	if (s) {
		n.stream = true;
		n.cpu = s->cpu;
		n.ring = s->kind;
	}
	kt_error(&n.error, s ? s->offset + s->event.offset : t->input.offset,
		 "times from here on are beyond the year 2262: they are shown as the last one before, and this is reported once");
	t->options.notice(t->options.arg, &n);
}

/* Return an event whose time does not fit with the last time that does. */
const struct ktape_event *kt_far_event(struct ktape_trace *t,
				       const struct ktape_event *event)
{
	notify_far(t);
	t->far = *event;
	t->far.ts = t->far_from;
	return &t->far;
}
