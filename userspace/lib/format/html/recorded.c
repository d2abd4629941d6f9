// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What is recorded on each CPU, so that the page does not draw as idle what was not
 * examined: profiles, filters, and events that filters blocked.
 *
 * A profile record, on or off, has the opcodes that are enabled from then on.  For each group of
 * rows of a CPU, a span (HTML_OFF) names those that are not.  An empty profile is a
 * pause: nothing is known about the CPU, and if all CPUs pause, about the threads.
 * Ledgers count what filters blocked.  A span (HTML_HELD) for each class lasts from the ledger
 * before to the one that counts more, but begins with the CPU's first filter at the earliest and,
 * if no filter is in force any more, ends with the last one.
 */
#include "ktape/filter.h"
#include "internal.h"

#define NAMES_MAX 256U /* bytes of the names of events in a span */

static const uint8_t runs[] = { KTAPE_EV_SCHED_SWITCH };
static const uint8_t calls[] = { KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT };
static const uint8_t interrupts[] = {
	KTAPE_EV_IRQ_HANDLER_ENTRY,  KTAPE_EV_SOFTIRQ_ENTRY,
	KTAPE_EV_IPI_ENTRY,	     KTAPE_EV_LOCAL_TIMER_ENTRY,
	KTAPE_EV_TIMER_EXPIRE_ENTRY, KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
};
static const uint8_t wakes[] = { KTAPE_EV_SCHED_WAKEUP, KTAPE_EV_SCHED_WAKING };

static const struct {
	const uint8_t *opcodes;
	size_t nr;
} groups[HTML_GROUPS] = {
	[HTML_OFF_RUN] = { runs, KT_ARRAY_SIZE(runs) },
	[HTML_OFF_CALLS] = { calls, KT_ARRAY_SIZE(calls) },
	[HTML_OFF_IRQS] = { interrupts, KT_ARRAY_SIZE(interrupts) },
	[HTML_OFF_WAKES] = { wakes, KT_ARRAY_SIZE(wakes) },
};

/* ---- profiles --------------------------------------------------------------------- */

static void put_recorded_off(struct html *h, uint32_t cpu, unsigned int group,
			     int64_t from, int64_t to, bool all, const char *names)
{
	const struct html_span s = {
		.kind = HTML_OFF,
		.depth = (uint8_t)group,
		.cpu = cpu,
		.tid = -1,
		.name = html_string(h, names, strlen(names)),
		.begin = from,
		.dur = html_lasts(from, to),
		.b = all,
	};

	if (s.dur)
		html_span(h, &s);
}

/* Check whether an event of a group is recorded; that of a call also in its wide form. */
static bool is_recorded(const struct html_recorded *r, uint8_t opcode)
{
	if (opcode == KTAPE_EV_SYS_ENTER &&
	    kt_mask_has(r->mask, KTAPE_EV_SYS_ENTER_WIDE))
		return true;
	if (opcode == KTAPE_EV_SYS_EXIT &&
	    kt_mask_has(r->mask, KTAPE_EV_SYS_EXIT_WIDE))
		return true;
	return kt_mask_has(r->mask, opcode);
}

/* Add a span with the names of the events of a group that are not recorded. */
static void put_recorded_group(struct html *h, uint32_t cpu, unsigned int group,
			       const struct html_recorded *r, int64_t now)
{
	char names[NAMES_MAX], *p = names;
	size_t nr = 0;

	for (size_t i = 0; i < groups[group].nr; i++) {
		uint8_t opcode = groups[group].opcodes[i];

		if (is_recorded(r, opcode))
			continue;
		p = nr++ ? kt_put_str(p, ", ") : p;
		p = kt_put_str(p, ktape_event_desc(opcode)->name);
	}
	*p = '\0';
	if (nr)
		put_recorded_off(h, cpu, group, r->since, now,
				 nr == groups[group].nr, names);
}

/* The profile of a CPU ends: add spans of what it did not enable. */
static void end_profile(struct html *h, uint32_t cpu, int64_t now)
{
	const struct html_cpu *c = &h->cpus[cpu];

	if (!c->recorded.profiled)
		return;
	if (html_is_off(c)) {
		put_recorded_off(h, cpu, HTML_OFF_ALL, c->recorded.since, now,
				 true, "nothing is recorded");
		return;
	}
	for (unsigned int i = 0; i < HTML_OFF_ALL; i++)
		put_recorded_group(h, cpu, i, &c->recorded, now);
}

static void put_profile(struct html *h, struct html_cpu *c,
			const struct ktape_event *e, int64_t now)
{
	struct html_recorded *r = &c->recorded;
	uint64_t mask[KTAPE_MASK_WORDS], more = 0;

	/* The mask of an off-marker is what remains. */
	if (e->blob_size < sizeof(mask))
		return;
	memcpy(mask, e->blob, sizeof(mask));
	if (r->profiled && !memcmp(r->mask, mask, sizeof(mask)))
		return;
	end_profile(h, e->cpu, now);
	for (size_t i = 0; i < KTAPE_MASK_WORDS; i++) {
		more |= mask[i] & ~r->mask[i];
		h->enabled[i] |= mask[i];
	}
	/* What began before may have ended while its events were off: its span is unsure. */
	if (r->profiled && more)
		h->lost_to = html_later(h->lost_to, now);
	memcpy(r->mask, mask, sizeof(mask));
	h->profiled = true;
	r->profiled = true;
	r->since = now;
	if (html_is_off(c))
		html_cpu_off(h, e->cpu, now);
}

/* ---- filters ---------------------------------------------------------------------- */

static void end_filter(struct html *h, uint32_t cpu, unsigned int kind, int64_t now)
{
	struct html_recorded *r = &h->cpus[cpu].recorded;
	const char *name = ktape_value_name(KTAPE_TYPE_FILTER, kind);
	struct html_span s = {
		.kind = HTML_FILTER,
		.depth = (uint8_t)kind,
		.cpu = cpu,
		.tid = -1,
		.begin = r->filtered_since[kind],
		.dur = html_lasts(r->filtered_since[kind], now),
		.b = r->entries[kind],
	};

	if (!(r->filters & 1U << kind) || !name)
		return;
	r->filters &= ~(1U << kind);
	r->filter_to = now;
	s.name = html_string(h, name, strlen(name));
	if (s.dur)
		html_span(h, &s);
}

static void put_recorded_filter(struct html *h, struct html_cpu *c,
				const struct ktape_event *e, int64_t now)
{
	struct html_recorded *r = &c->recorded;
	unsigned int kind = e->dat20 & 31;

	if (kind >= KTAPE_FILTER_KINDS)
		return;
	end_filter(h, e->cpu, kind, now);
	if ((e->dat20 >> 5 & 3) != KTAPE_PHASE_ON) /* bits 5 and 6: the phase */
		return;
	if (!r->filters)
		r->filter_from = html_earlier(r->filter_from, now);
	r->filters |= 1U << kind;
	r->filtered_since[kind] = now;
	r->entries[kind] = ktape_event_arg(e, 1);
}

/* Cut the time between two ledgers to that from the first filter to the last one. */
static void cut_to_filters(const struct html_recorded *r, int64_t *from, int64_t *to)
{
	if (!r->filters && r->filter_to > *from)
		*to = html_earlier(*to, r->filter_to);
	if (r->filter_from < *to)
		*from = html_later(*from, r->filter_from);
}

/* A ledger has the sum since the session's start, which may begin again. */
static void put_recorded_ledger(struct html *h, struct html_cpu *c,
				const struct ktape_event *e, int64_t now)
{
	struct html_recorded *r = &c->recorded;
	unsigned int id = e->dat20 & 31;
	const struct ktape_class_desc *class = ktape_class_desc(id);
	const char *name = class ? class->name : "unknown class";
	uint64_t held = 0;
	struct html_span s = {
		.kind = HTML_HELD,
		.depth = (uint8_t)id,
		.cpu = e->cpu,
		.tid = -1,
		.begin = r->held_since[id],
	};
	int64_t to = now;

	if (e->dat20 >> 5 & 7) /* the class in another ring than that of events */
		return;
	ktape_event_field(e, "filtered", &held);
	s.a = (int64_t)(held > r->held[id] ? held - r->held[id] : 0);
	r->held[id] = held;
	r->held_since[id] = now;
	if (!s.a)
		return;
	s.name = html_string(h, name, strlen(name));
	cut_to_filters(r, &s.begin, &to);
	s.dur = html_lasts(s.begin, to);
	html_span(h, &s);
}

/**
 * html_recorded_event() - process an event that says what is recorded
 * @h: the page
 * @l: the event
 * @now: its time
 *
 * Return: true if the event is one of those.
 */
bool html_recorded_event(struct html *h, const struct kt_line *l, int64_t now)
{
	static const struct {
		uint8_t opcode;
		void (*put)(struct html *h, struct html_cpu *c,
			    const struct ktape_event *e, int64_t now);
	} puts_of[] = {
		{ KTAPE_EV_PROFILE, put_profile },
		{ KTAPE_EV_FILTER, put_recorded_filter },
		{ KTAPE_EV_LEDGER, put_recorded_ledger },
	};
	struct html_cpu *c;

	for (size_t i = 0; i < KT_ARRAY_SIZE(puts_of); i++) {
		if (puts_of[i].opcode != l->event->opcode)
			continue;
		c = kt_event_fits(l->event) ? html_cpu(h, l->event->cpu) : NULL;
		if (c)
			puts_of[i].put(h, c, l->event, now);
		return true;
	}
	return false;
}

/**
 * html_recorded_end() - end profiles and filters that are in force
 * @h: the page
 * @now: end of the trace
 */
void html_recorded_end(struct html *h, int64_t now)
{
	for (uint32_t i = 0; i < h->nr_cpus; i++) {
		end_profile(h, i, now);
		for (unsigned int k = 0; k < KTAPE_FILTER_KINDS; k++)
			end_filter(h, i, k, now);
	}
}
