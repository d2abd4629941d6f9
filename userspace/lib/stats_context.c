// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which thread runs after each event?  What TraceX does to find out: events that
 * tell the next thread are believed, others are followed by what the next events
 * show.  It looks ahead; here no place is looked at more often than once, as each
 * thread's events are linked.
 */
#include "stats_rtos.h"

#define RUNNING_TICKS	12	/* a RUNNING event comes so much later */

/**
 * struct walk - state while the events are gone through
 * @r: the statistics
 * @list: events of one core
 * @nr: how many
 * @ahead: number of the next event in a thread, at or behind the current one
 * @current: the thread that runs, or will after the interrupt
 * @nesting: interrupts that have not ended
 */
struct walk {
	struct ktape_rtos *r;
	struct kt_rtos_event *list;
	uint64_t nr;
	uint64_t ahead;
	uint32_t current;
	uint64_t nesting;
};

/* Link the events of each thread. */
void kt_rtos_link(struct ktape_rtos *r, struct kt_rtos_event *list, uint64_t nr)
{
	for (uint32_t i = 0; i < r->nr_threads; i++)
		r->threads[i].first = KT_RTOS_NEVER;
	for (uint64_t i = 0; i < nr; i++) {
		struct kt_rtos_thread *t = NULL;

		list[i].same = KT_RTOS_NEVER;
		if (kt_rtos_runs(list[i].e.context))
			t = kt_rtos_find(r, list[i].e.context);
		if (!t)
			continue;
		if (t->first == KT_RTOS_NEVER)
			t->first = i;
		else
			list[t->tail].same = i;
		t->tail = i;
	}
	for (uint32_t i = 0; i < r->nr_threads; i++)
		r->threads[i].cursor = r->threads[i].first;
}

/*
 * The thread's first event from @from on; @from only grows.
 * Return: its number, or KT_RTOS_NEVER.
 */
uint64_t kt_rtos_next_of(struct kt_rtos_thread *t,
			 const struct kt_rtos_event *list, uint64_t from)
{
	if (!t)
		return KT_RTOS_NEVER;
	while (t->cursor != KT_RTOS_NEVER && t->cursor < from)
		t->cursor = list[t->cursor].same;
	return t->cursor;
}

/* The first event in a thread behind @i, or @nr. */
static uint64_t next_thread(struct walk *w, uint64_t i)
{
	if (w->ahead <= i)
		w->ahead = i + 1;
	while (w->ahead < w->nr && !kt_rtos_runs(w->list[w->ahead].e.context))
		w->ahead++;
	return w->ahead;
}

/* A thread was resumed in an interrupt: does it run before the current one? */
static void resumed_in_isr(struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;
	uint64_t own, other;

	if (e->info[3]) {
		w->current = e->info[3];
		return;
	}
	own = kt_rtos_next_of(kt_rtos_find(w->r, w->current), w->list, i + 1);
	other = kt_rtos_next_of(kt_rtos_find(w->r, e->info[0]), w->list, i + 1);
	if (other < own)
		w->current = e->info[0];
}

/* The end of all interrupts: what comes then? */
static void after_isr(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;
	const struct ktape_rtos_event *n = &w->list[i + 1].e;

	if (i + 1 == w->nr)
		e->next = w->current;
	else if (n->context != KT_TRACEX_ISR || n->id == KT_TRACEX_RESUME)
		e->next = n->context;
	else
		e->next = n->prio ? n->prio : w->current;
}

/* Newer versions tell in an interrupt which thread it came into. */
static void believe_isr(struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;

	if (e->context != KT_TRACEX_ISR || i < 2 || !e->prio ||
	    e->prio == KT_TRACEX_ISR ||
	    w->list[i - 1].e.context == KT_TRACEX_ISR)
		return;
	w->list[i - 1].e.next = e->prio;
	w->current = e->prio;
}

static void in_isr(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;

	believe_isr(w, i);
	e->next = e->context;
	switch (e->id) {
	case KT_TRACEX_ISR_ENTER:
		w->nesting++;
		break;
	case KT_TRACEX_ISR_EXIT:
		w->nesting -= w->nesting != 0;
		break;
	case KT_TRACEX_SUSPEND:
		w->current = e->info[3];
		break;
	case KT_TRACEX_TIME_SLICE:
		w->current = e->info[0];
		break;
	case KT_TRACEX_RESUME:
		resumed_in_isr(w, i);
		break;
	default:
		break;
	}
	if (!w->nesting)
		after_isr(w, i);
}

static uint32_t after_suspend(const struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;

	/* Priority inheritance suspends and resumes within one thread. */
	if (i + 1 < w->nr && e->context == e->info[0] &&
	    w->list[i + 1].e.context == e->info[0])
		return e->context;
	return e->info[3];
}

static uint32_t after_resume(struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;
	uint64_t next;

	if (e->info[3])
		return e->info[3];
	next = next_thread(w, i);
	if (next < w->nr && w->list[next].e.context == e->info[0])
		return e->info[0];
	return e->context;
}

/* It gave way, if the next thread was not moved by something in between. */
static uint32_t after_relinquish(struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;
	uint64_t next;
	uint32_t address;

	if (e->info[1])
		return e->info[1];
	next = next_thread(w, i);
	if (next == w->nr)
		return e->context;
	address = w->list[next].e.context;
	for (uint64_t k = i + 1; k < next; k++) {
		const struct ktape_rtos_event *b = &w->list[k].e;

		if ((b->id == KT_TRACEX_RESUME || b->id == KT_TRACEX_SUSPEND) &&
		    b->info[0] == address)
			return e->context;
	}
	return address;
}

static void in_thread(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;

	switch (e->id) {
	case KT_TRACEX_SUSPEND:
		e->next = after_suspend(w, i);
		break;
	case KT_TRACEX_RESUME:
		e->next = after_resume(w, i);
		break;
	case KT_TRACEX_RELINQUISH:
		e->next = after_relinquish(w, i);
		break;
	default:
		e->next = i + 1 < w->nr &&
			  kt_rtos_runs(w->list[i + 1].e.context) ?
			  w->list[i + 1].e.context : e->context;
		break;
	}
	w->current = e->next;
}

/* Find for each event what runs after it. */
void kt_rtos_contexts(struct ktape_rtos *r, struct kt_rtos_event *list,
		      uint64_t nr)
{
	struct walk w = { .r = r, .list = list, .nr = nr };

	kt_rtos_link(r, list, nr);
	for (uint64_t i = 0; i < nr; i++) {
		if (!kt_rtos_runs(list[i].e.context)) {
			in_isr(&w, i);
			continue;
		}
		w.current = list[i].e.context;
		w.nesting = 0;
		in_thread(&w, i);
	}
}

/* ---- RUNNING events where nothing shows who runs ---------------------------------- */

static void widen(uint32_t *lowest, uint32_t *highest, uint32_t value)
{
	if (value == KTAPE_RTOS_UNKNOWN)
		return;
	if (*lowest == KTAPE_RTOS_UNKNOWN || value > *lowest)
		*lowest = value;
	if (*highest == KTAPE_RTOS_UNKNOWN || value < *highest)
		*highest = value;
}

/* What an event tells of priorities. */
static void learn(struct ktape_rtos *r, const struct kt_rtos_event *e)
{
	struct kt_rtos_thread *t = NULL;

	if (kt_rtos_runs(e->e.context) && e->e.id != KT_TRACEX_RUNNING)
		t = kt_rtos_find(r, e->e.context);
	if (t) {
		t->prio = e->e.prio;
		t->threshold = e->threshold;
	}
	if (e->e.id != KT_TRACEX_THREAD_CREATE)
		return;
	t = kt_rtos_find(r, e->e.info[0]);
	if (t) {
		t->prio = e->e.info[1];
		t->threshold = KTAPE_RTOS_UNKNOWN;
	}
}

/* What all events together tell; the first of each thread stays known. */
static void learn_first(struct ktape_rtos *r, const struct kt_rtos_event *list,
			uint64_t nr)
{
	for (uint32_t i = 0; i < r->nr_threads; i++)
		r->threads[i].first_prio = KTAPE_RTOS_UNKNOWN;
	for (uint64_t i = nr; i--;) {
		const struct kt_rtos_event *e = &list[i];
		struct kt_rtos_thread *t = kt_rtos_runs(e->e.context) ?
			kt_rtos_find(r, e->e.context) : NULL;

		if (t) {
			widen(&t->t.lowest_prio, &t->t.highest_prio, e->e.prio);
			widen(&t->t.lowest_threshold, &t->t.highest_threshold,
			      e->threshold);
		}
		learn(r, e);
		if (t && e->e.id != KT_TRACEX_RUNNING) {
			t->first_prio = t->prio;
			t->first_threshold = t->threshold;
		}
		if (e->e.id != KT_TRACEX_THREAD_CREATE)
			continue;
		t = kt_rtos_find(r, e->e.info[0]);
		if (t) {
			t->first_prio = e->e.info[1];
			t->first_threshold = KTAPE_RTOS_UNKNOWN;
		}
	}
	for (uint32_t i = 0; i < r->nr_threads; i++)
		r->threads[i].prio = KTAPE_RTOS_UNKNOWN;
}

static int add_running(struct ktape_rtos *r, const struct kt_rtos_event *from,
		       uint64_t gap)
{
	struct kt_rtos_event *e = kt_rtos_add(&r->out);
	uint32_t later = gap > RUNNING_TICKS ? RUNNING_TICKS : 0;
	struct kt_rtos_thread *t = NULL;

	if (!e)
		return -ENOMEM;
	*e = (struct kt_rtos_event){
		.core = from->core, .threshold = KTAPE_RTOS_UNKNOWN,
		.e = {
			.context = from->e.next, .next = from->e.next,
			.id = KT_TRACEX_RUNNING, .ticks = from->e.ticks + later,
			.stamp = r->head.decreasing ? from->e.stamp - later
						    : from->e.stamp + later,
		},
	};
	if (e->e.context && kt_rtos_runs(e->e.context))
		t = kt_rtos_find(r, e->e.context);
	if (!t)
		return 0;
	e->e.prio = t->prio;
	e->threshold = t->threshold;
	if (e->e.prio == KTAPE_RTOS_UNKNOWN) {
		e->e.prio = t->first_prio;
		e->threshold = t->first_threshold;
	}
	widen(&t->t.lowest_prio, &t->t.highest_prio, e->e.prio);
	if (e->e.prio == KTAPE_RTOS_UNKNOWN)
		e->e.prio = 0;
	return 0;
}

/* Put the events into the output, with RUNNING ones in between. */
int kt_rtos_fill(struct ktape_rtos *r, const struct kt_rtos_event *list,
		 uint64_t nr)
{
	int err = 0;

	learn_first(r, list, nr);
	for (uint64_t i = 0; !err && i < nr; i++) {
		struct kt_rtos_event *e = kt_rtos_add(&r->out);

		if (!e)
			return -ENOMEM;
		*e = list[i];
		if (i + 1 < nr && e->e.context != e->e.next &&
		    e->e.next != list[i + 1].e.context)
			err = add_running(r, &list[i],
					  list[i + 1].e.ticks - e->e.ticks);
		learn(r, &list[i]);
	}
	return err;
}
