// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Count what the threads and interrupts of an RTOS trace did, in events of ThreadX and by
 * the rules of TraceX, and how much stack the threads used.
 */
#include "stats/rtos.h"

/* Index + 1 of the word of an event that is the stack pointer; 0 = none. */
static const uint8_t stack_words[] = {
	[1] = 3,   [2] = 3,   [3] = 1,	 [4] = 1,   [12] = 2,  [16] = 3,
	[17] = 4,  [21] = 4,  [22] = 2,	 [26] = 3,  [30] = 2,  [31] = 2,
	[40] = 2,  [50] = 3,  [51] = 2,	 [56] = 3,  [57] = 4,  [61] = 2,
	[62] = 2,  [67] = 3,  [81] = 3,	 [82] = 2,  [83] = 4,  [87] = 3,
	[88] = 4,  [100] = 3, [101] = 2, [102] = 3, [109] = 1, [111] = 3,
	[112] = 3, [114] = 3, [115] = 3, [117] = 3, [120] = 2, [125] = 2,
	[127] = 2,
};

static void count_stack(struct kt_rtos_thread *t,
			const struct ktape_rtos_event *e, uint64_t nr)
{
	uint32_t word = e->id < KT_ARRAY_SIZE(stack_words) ? stack_words[e->id] : 0;
	uint32_t sp, left;

	if (!word)
		return;
	sp = e->info[word - 1];
	left = sp < t->t.stack_start ? 0 : sp - t->t.stack_start;
	/*
	 * A pointer below the stack is an overflow: none is free, and @stack_event becomes the
	 * last such event.
	 */
	if (sp >= t->t.stack_start && left >= t->t.stack_min)
		return;
	t->t.stack_min = left;
	t->t.stack_event = nr;
}

static void count_context_thread(struct ktape_rtos *r,
				 const struct ktape_rtos_event *e, uint64_t nr)
{
	struct kt_rtos_thread *t = kt_rtos_find(r, e->context);

	r->totals.suspensions += e->id == KT_THREADX_SUSPEND;
	r->totals.resumptions += e->id == KT_THREADX_RESUME;
	r->totals.time_slices += e->id == KT_THREADX_TIME_SLICE;
	if (!t || !kt_rtos_thread_or_idle(e->context))
		return;
	t->t.events++;
	t->t.suspensions += e->id == KT_THREADX_SUSPEND;
	t->t.resumptions += e->id == KT_THREADX_RESUME;
	count_stack(t, e, nr);
}

static void count_ticks(struct ktape_rtos *r, uint32_t context, uint64_t ticks)
{
	struct kt_rtos_thread *t;

	if (context == KT_THREADX_ISR) {
		r->totals.interrupt_ticks += ticks;
	} else if (!context) {
		r->totals.idle_ticks += ticks;
	} else {
		t = kt_rtos_find(r, context);
		if (t)
			t->t.ticks += ticks;
	}
}

static void count_switches(struct ktape_rtos *r,
			   const struct kt_rtos_event *list, uint64_t nr)
{
	uint32_t current = 0;

	for (uint64_t i = 0; i < nr; i++) {
		const struct ktape_rtos_event *e = &list[i].e;

		if (!current && kt_rtos_thread_or_idle(e->context))
			current = e->context;
		if (!kt_rtos_thread_or_idle(e->next))
			continue;
		r->totals.context_switches += current && current != e->next;
		current = e->next ? e->next : current;
	}
}

/* Return the next running thread, skipping idle and interrupts.  @at only grows. */
static uint32_t next_running(const struct kt_rtos_event *list, uint64_t nr,
			     uint64_t i, uint64_t *at)
{
	if (*at <= i)
		*at = i + 1;
	while (*at < nr &&
	       (!list[*at].e.next || !kt_rtos_thread_or_idle(list[*at].e.next)))
		(*at)++;
	if (*at < nr)
		return list[*at].e.next;
	/* No thread runs any more: as in TraceX, take the context after the last event. */
	return i + 1 < nr ? list[nr - 1].e.next : 0;
}

/*
 * The rule of TraceX: a resumption or time slice counts if another context than the current
 * thread follows.  For a resumption that is the next thread that runs at all; for a time slice
 * the context right behind it, which may be idle or an interrupt.
 */
static void count_preemptions(struct ktape_rtos *r,
			      const struct kt_rtos_event *list, uint64_t nr)
{
	uint32_t current = 0;
	uint64_t at = 0;

	for (uint64_t i = 0; i < nr; i++) {
		const struct ktape_rtos_event *e = &list[i].e;
		uint32_t next = e->next;

		if (e->id == KT_THREADX_RESUME)
			next = next_running(list, nr, i, &at);
		if (e->id == KT_THREADX_RESUME || e->id == KT_THREADX_TIME_SLICE)
			r->totals.preemptions += next != current;
		if (next && kt_rtos_thread_or_idle(next))
			current = next;
	}
}

static void count_interrupts(struct ktape_rtos *r,
			     const struct kt_rtos_event *list, uint64_t nr)
{
	uint64_t open = 0;

	for (uint64_t i = 0; i < nr; i++) {
		const struct ktape_rtos_event *e = &list[i].e;

		if (e->id == KT_THREADX_ISR_ENTER) {
			r->totals.interrupts++;
			r->totals.nested_interrupts += open != 0;
			open++;
		} else if (e->id == KT_THREADX_ISR_EXIT) {
			open -= open != 0;
		} else if (e->context != KT_THREADX_ISR) {
			open = 0;
		} else if (!open) {
			r->totals.interrupts++;
		}
	}
}

/* Count the events of one core, including inserted RUNNING events. */
void kt_rtos_count(struct ktape_rtos *r, const struct kt_rtos_events *events)
{
	const struct kt_rtos_event *list = events->list;
	uint64_t nr = events->nr;

	for (uint64_t i = 0; i < nr; i++) {
		count_context_thread(r, &list[i].e, events->base + i);
		if (i)
			count_ticks(r, list[i - 1].e.next,
				    list[i].e.ticks - list[i - 1].e.ticks);
	}
	count_switches(r, list, nr);
	count_preemptions(r, list, nr);
	count_interrupts(r, list, nr);
	r->totals.events += nr;
}
