// SPDX-License-Identifier: GPL-2.0-only
/* Count what is missing in a trace, or in what is made of it, and print how much. */
#include <stdio.h>

#include <ktape.h>

#include "tool/shared/loss.h"
#include "tool/shared/message.h"

const char *const lost_reasons[KTAPE_LOST_REASONS] = {
	[KTAPE_LOST_FULL] = "full",	  [KTAPE_LOST_NESTED] = "nested",
	[KTAPE_LOST_TOO_BIG] = "too_big", [KTAPE_LOST_SHED] = "shed",
	[KTAPE_LOST_RATE] = "rate",
};

const char *const missed_reasons[KTAPE_MISSED_REASONS] = {
	[KTAPE_MISSED_BUSY] = "busy",
	[KTAPE_MISSED_RETURNS] = "returns",
	[KTAPE_MISSED_REFUSED] = "refused",
	[KTAPE_MISSED_DETACHED] = "detached",
};

/**
 * missed_add() - count the hits that an event "missed" reports
 * @m: the hits
 * @e: any event
 *
 * Every CPU records the same report, with the opcode of the probe in the low 8 bits of dat20.
 * It is counted once.
 */
void missed_add(struct missed_hits *m, const struct ktape_event *e)
{
	uint64_t reason, last, count;

	if (e->opcode != KTAPE_EV_MISSED || ktape_event_field(e, "reason", &reason) ||
	    ktape_event_field(e, "last", &last) ||
	    ktape_event_field(e, "count", &count) || reason >= KTAPE_MISSED_REASONS)
		return;
	if (m->reported_to[e->dat20 & 0xff][reason] >= last)
		return;
	m->reported_to[e->dat20 & 0xff][reason] = last;
	m->count += count;
	m->unknown |= reason == KTAPE_MISSED_DETACHED;
}

/**
 * losses_add() - count a loss
 * @l: the losses
 * @n: KTAPE_NOTICE_LOST.  If it continues the loss before it, both are one gap
 */
void losses_add(struct losses *l, const struct ktape_notice *n)
{
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN) {
		l->overwritten += n->overwritten;
		l->late += !n->continued;
		l->late_unknown |= !n->continued && !n->overwritten;
		return;
	}
	l->count += n->count;
	l->gaps += !n->continued;
	l->unknown |= !n->count;
}

/**
 * losses_text() - say how many events are missing
 * @to: set to the text
 * @l: the losses
 * @verb: what happened to the events: "lost", "were lost"
 *
 * Return: @to.
 */
const char *losses_text(char to[LOSS_TEXT], const struct losses *l, const char *verb)
{
	char count[32] = "";

	if (l->count || !l->unknown)
		snprintf(count, sizeof(count), "%llu events%s",
			 (unsigned long long)l->count, l->unknown ? " and " : "");
	snprintf(to, LOSS_TEXT, "%s%s %s in %llu gap%s", count,
		 !l->unknown ? "" :
		 l->count    ? "an unknown number more" :
			       "an unknown number of events",
		 verb, (unsigned long long)l->gaps, l->gaps == 1 ? "" : "s");
	return to;
}

/**
 * note_overwritten() - print how many events were overwritten before a trace begins
 * @path: path of the trace, or NULL
 * @l: its losses
 */
void note_overwritten(const char *path, const struct losses *l)
{
	char count[32] = "an unknown number of";

	if (!l->late)
		return;
	if (l->overwritten)
		snprintf(count, sizeof(count), "%s%llu",
			 l->late_unknown ? "at least " : "",
			 (unsigned long long)l->overwritten);
	note_loss("%s%s%s events were overwritten before the trace begins, in %llu ring%s: what happened there until then is unknown",
		  path ? path : "", path ? ": " : "", count,
		  (unsigned long long)l->late, l->late == 1 ? "" : "s");
}

/**
 * report_not_held() - print what an output format could not hold
 * @format: name of the format
 * @sink: the output
 * @all: one line for each kind of items; else one line with their number
 */
void report_not_held(const char *format, const struct ktape_sink *sink, bool all)
{
	unsigned long long sum = 0;
	const char *what = NULL;
	unsigned int kinds = 0;
	uint64_t count;

	for (; (count = ktape_sink_missed(sink, kinds, &what)); kinds++) {
		sum += count;
		if (all)
			note("%s cannot hold %s: %llu", format, what,
			     (unsigned long long)count);
	}
	if (all || !kinds)
		return;
	if (kinds == 1)
		note("%s cannot hold %s: %llu", format, what, sum);
	else
		note("%s cannot hold %u kinds of items of the trace, %llu items in all (-v lists them)",
		     format, kinds, sum);
}

/**
 * report_left_out() - print what an analysis had no room for
 * @path: path of the trace, or NULL
 * @what: what was left out, in the plural
 * @count: number of them
 */
void report_left_out(const char *path, const char *what, uint64_t count)
{
	note("%s%s%llu %s are left out, because memory is bounded",
	     path ? path : "", path ? ": " : "", (unsigned long long)count, what);
}

/**
 * report_names_left_out() - print how many names a registry had no room for
 * @path: path of the trace, or NULL
 * @names: the registry
 */
void report_names_left_out(const char *path, const struct ktape_registry *names)
{
	uint64_t count = ktape_registry_left_out(names);

	if (count)
		report_left_out(path, "names of objects", count);
}
