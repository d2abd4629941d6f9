// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Losses found while a trace is opened.  Opening a folder reads up to the first event of
 * each stream, which may be long after the first packet, while a caller cannot do
 * anything with an event yet.  These losses are held and told in their places: before
 * the first event that is not earlier than their end.
 */
#include "trace/trace.h"

#define LOSSES_MAX	(1U << 16)	/* that are held */

/**
 * kt_loss_tell() - tell the caller of a loss, or hold it while the trace is opened
 * @t: the trace
 * @n: the loss
 */
void kt_loss_tell(struct ktape_trace *t, const struct ktape_notice *n)
{
	struct kt_loss *more;

	if (!t->options.notice)
		return;
	if (!t->opening || t->nr_losses == LOSSES_MAX) {
		t->options.notice(t->options.arg, n);
		return;
	}
	if (!(t->nr_losses & (t->nr_losses - 1))) {
		more = realloc(t->losses,
			       (t->nr_losses ? t->nr_losses * 2 : 1) *
				       sizeof(*more));
		if (!more) {
			t->options.notice(t->options.arg, n);
			return;
		}
		t->losses = more;
	}
	t->losses[t->nr_losses++] = (struct kt_loss){
		n->cpu, n->ring, n->count, n->packets, n->from, n->to,
	};
}

static int by_end(const void *a, const void *b)
{
	const struct kt_loss *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* The trace is open: sort the losses that are held. */
void kt_loss_opened(struct ktape_trace *t)
{
	t->opening = false;
	if (t->nr_losses)
		qsort(t->losses, t->nr_losses, sizeof(*t->losses), by_end);
}

/**
 * kt_loss_until() - tell the caller of the held losses that ended by a time
 * @t: the trace
 * @ts: the time, in ticks
 */
void kt_loss_until(struct ktape_trace *t, uint64_t ts)
{
	while (t->told_losses < t->nr_losses &&
	       t->losses[t->told_losses].to <= ts) {
		const struct kt_loss *l = &t->losses[t->told_losses++];
		const struct ktape_notice n = {
			.kind = KTAPE_NOTICE_LOST,
			.stream = true,
			.cpu = l->cpu,
			.ring = l->ring,
			.count = l->count,
			.packets = l->packets,
			.from = l->from,
			.to = l->to,
		};

		t->options.notice(t->options.arg, &n);
	}
}
