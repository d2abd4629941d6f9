// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find out which thread runs after each event, with the rules of TraceX: if an event
 * names the next thread, that is taken; otherwise the following events decide.
 *
 * TraceX searches forward for each event.  Here the events of each thread are linked,
 * so that the whole pass takes linear time.
 *
 * The words that name threads (info; 0 = not named, of SUSPEND: idle):
 *
 *	RESUME, SUSPEND		[0] the thread, [3] the next one
 *	TIME_SLICE		[0] the next one
 *	RELINQUISH		[1] the next one
 *	THREAD_CREATE		[0] the new thread, [1] its priority
 *
 * In an interrupt, newer ThreadX has the interrupted thread in the priority word.
 */
#include "stats/rtos.h"

#define RUNNING_TICKS 12 /* ticks from an event to an inserted RUNNING event */
#define MADE	      UINT32_MAX /* id of an entry that is to become a RUNNING event */

/**
 * struct walk - state of the pass over the events of a core
 * @r: the statistics
 * @list: events of the core
 * @nr: number of events
 * @ahead: number of the next event in a thread, see next_thread()
 * @current: thread that runs, or that will run after the interrupts
 * @nesting: number of running interrupts
 */
struct walk {
	struct ktape_rtos *r;
	struct kt_rtos_event *list;
	uint64_t nr;
	uint64_t ahead;
	uint32_t current;
	uint64_t nesting;
};

/* Return the thread that an event creates, or NULL. */
static struct kt_rtos_thread *made_by(const struct ktape_rtos *r,
				      const struct ktape_rtos_event *e)
{
	return e->id == KT_THREADX_THREAD_CREATE ? kt_rtos_find(r, e->info[0]) :
						   NULL;
}

static void forget_rtos_thread(struct kt_rtos_thread *t)
{
	if (!t)
		return;
	t->first = KT_RTOS_NEVER;
	t->cursor = KT_RTOS_NEVER;
	t->prio = KTAPE_RTOS_UNKNOWN;
	t->threshold = KTAPE_RTOS_UNKNOWN;
	t->first_prio = KTAPE_RTOS_UNKNOWN;
	t->first_threshold = KTAPE_RTOS_UNKNOWN;
}

/*
 * Forget the state of all threads that have events on a core.  Only these are visited,
 * because there may be many cores, each with few of the threads.
 */
void kt_rtos_forget(struct ktape_rtos *r, const struct kt_rtos_events *events)
{
	for (uint64_t i = 0; i < events->nr; i++) {
		const struct ktape_rtos_event *e = &events->list[i].e;

		forget_rtos_thread(kt_rtos_find(r, e->context));
		forget_rtos_thread(made_by(r, e));
	}
}

/*
 * Link the events of each thread on a core, in place of earlier links.  kt_rtos_forget() comes
 * before, unless the threads are new: no thread has a first event then.
 */
void kt_rtos_link(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	struct kt_rtos_event *list = events->list;

	for (uint64_t i = events->nr; i--;) {
		struct kt_rtos_thread *t = NULL;

		list[i].same = KT_RTOS_NEVER;
		if (kt_rtos_thread_or_idle(list[i].e.context))
			t = kt_rtos_find(r, list[i].e.context);
		if (!t)
			continue;
		list[i].same = t->first;
		t->first = i;
		t->cursor = i;
	}
}

/*
 * Find a thread's first event from @from on.  @from must not decrease between calls.
 * Return: number of the event, or KT_RTOS_NEVER.
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

/* Return the first event after @i in any thread, or @nr. */
static uint64_t next_thread(struct walk *w, uint64_t i)
{
	if (w->ahead <= i)
		w->ahead = i + 1;
	while (w->ahead < w->nr &&
	       !kt_rtos_thread_or_idle(w->list[w->ahead].e.context))
		w->ahead++;
	return w->ahead;
}

/* A thread was resumed in an interrupt: check whether it runs before the current one. */
static void resume_in_isr(struct walk *w, uint64_t i)
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

/* All interrupts have ended: set the context that runs next. */
static void set_next_after_isr(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;
	const struct ktape_rtos_event *n = &w->list[i + 1].e;

	if (i + 1 == w->nr)
		e->next = w->current;
	else if (n->context != KT_THREADX_ISR || n->id == KT_THREADX_RESUME)
		e->next = n->context;
	else
		e->next = n->prio ? n->prio : w->current;
}

/*
 * Use the interrupted thread, which newer ThreadX names in an interrupt's events: it ran after the
 * event before.  As in TraceX, this begins with the third event.
 */
static void take_interrupted(struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;

	if (e->context != KT_THREADX_ISR || i < 2 || !e->prio ||
	    e->prio == KT_THREADX_ISR || w->list[i - 1].e.context == KT_THREADX_ISR)
		return;
	w->list[i - 1].e.next = e->prio;
	w->current = e->prio;
}

/* Set the context that runs after an event in an interrupt. */
static void set_next_in_isr(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;

	take_interrupted(w, i);
	e->next = e->context;
	switch (e->id) {
	case KT_THREADX_ISR_ENTER:
		w->nesting++;
		break;
	case KT_THREADX_ISR_EXIT:
		w->nesting -= w->nesting != 0;
		break;
	case KT_THREADX_SUSPEND:
		w->current = e->info[3];
		break;
	case KT_THREADX_TIME_SLICE:
		w->current = e->info[0];
		break;
	case KT_THREADX_RESUME:
		resume_in_isr(w, i);
		break;
	default:
		break;
	}
	if (!w->nesting)
		set_next_after_isr(w, i);
}

static uint32_t next_after_suspend(const struct walk *w, uint64_t i)
{
	const struct ktape_rtos_event *e = &w->list[i].e;

	/* Priority inheritance suspends and resumes a thread that keeps running. */
	if (i + 1 < w->nr && e->context == e->info[0] &&
	    w->list[i + 1].e.context == e->info[0])
		return e->context;
	return e->info[3];
}

static uint32_t next_after_resume(struct walk *w, uint64_t i)
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

/*
 * Return the thread that runs after a thread yields: the thread of the next event,
 * unless that thread was resumed or suspended in between.
 */
static uint32_t next_after_relinquish(struct walk *w, uint64_t i)
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

		if ((b->id == KT_THREADX_RESUME || b->id == KT_THREADX_SUSPEND) &&
		    b->info[0] == address)
			return e->context;
	}
	return address;
}

/* Set the context that runs after an event in a thread. */
static void set_next_in_thread(struct walk *w, uint64_t i)
{
	struct ktape_rtos_event *e = &w->list[i].e;

	switch (e->id) {
	case KT_THREADX_SUSPEND:
		e->next = next_after_suspend(w, i);
		break;
	case KT_THREADX_RESUME:
		e->next = next_after_resume(w, i);
		break;
	case KT_THREADX_RELINQUISH:
		e->next = next_after_relinquish(w, i);
		break;
	default:
		e->next = i + 1 < w->nr && kt_rtos_thread_or_idle(
						   w->list[i + 1].e.context) ?
				  w->list[i + 1].e.context :
				  e->context;
		break;
	}
	w->current = e->next;
}

/* Set for each event of a core the context that runs next. */
void kt_rtos_contexts(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	struct kt_rtos_event *list = events->list;
	struct walk w = { .r = r, .list = list, .nr = events->nr };

	kt_rtos_link(r, events);
	for (uint64_t i = 0; i < events->nr; i++) {
		if (!kt_rtos_thread_or_idle(list[i].e.context)) {
			set_next_in_isr(&w, i);
			continue;
		}
		w.current = list[i].e.context;
		w.nesting = 0;
		set_next_in_thread(&w, i);
	}
}

/* ---- RUNNING events where no event shows which thread runs ------------------------- */

/* Add a value to a range.  In ThreadX the lowest priority has the greatest number. */
static void widen_range(uint32_t *lowest, uint32_t *highest, uint32_t value)
{
	if (value == KTAPE_RTOS_UNKNOWN)
		return;
	if (*lowest == KTAPE_RTOS_UNKNOWN || value > *lowest)
		*lowest = value;
	if (*highest == KTAPE_RTOS_UNKNOWN || value < *highest)
		*highest = value;
}

/* Take the priorities that an event names. */
static void learn_prio(struct ktape_rtos *r, const struct kt_rtos_event *e)
{
	struct kt_rtos_thread *t = NULL;

	if (kt_rtos_thread_or_idle(e->e.context) && e->e.id != KT_THREADX_RUNNING)
		t = kt_rtos_find(r, e->e.context);
	if (t) {
		t->prio = e->e.prio;
		t->threshold = e->threshold;
	}
	t = made_by(r, &e->e);
	if (t) {
		t->prio = e->e.info[1];
		t->threshold = KTAPE_RTOS_UNKNOWN;
	}
}

/* Take the range of priorities of each thread, and the values at its first event. */
static void learn_first(struct ktape_rtos *r, const struct kt_rtos_event *list,
			uint64_t nr)
{
	for (uint64_t i = nr; i--;) {
		const struct kt_rtos_event *e = &list[i];
		struct kt_rtos_thread *t = kt_rtos_thread_or_idle(e->e.context) ?
						   kt_rtos_find(r, e->e.context) :
						   NULL;

		if (t) {
			widen_range(&t->t.lowest_prio, &t->t.highest_prio,
				    e->e.prio);
			widen_range(&t->t.lowest_threshold,
				    &t->t.highest_threshold, e->threshold);
		}
		learn_prio(r, e);
		if (t && e->e.id != KT_THREADX_RUNNING) {
			t->first_prio = t->prio;
			t->first_threshold = t->threshold;
		}
		t = made_by(r, &e->e);
		if (t) {
			t->first_prio = e->e.info[1];
			t->first_threshold = KTAPE_RTOS_UNKNOWN;
		}
	}
	/* The forward pass begins: no current priority is known yet. */
	for (uint64_t i = 0; i < nr; i++) {
		struct kt_rtos_thread *t = kt_rtos_find(r, list[i].e.context);

		if (t)
			t->prio = KTAPE_RTOS_UNKNOWN;
		t = made_by(r, &list[i].e);
		if (t)
			t->prio = KTAPE_RTOS_UNKNOWN;
	}
}

/* Make a RUNNING event after @from; the next event is @gap ticks after @from. */
static void make_running(struct ktape_rtos *r, struct kt_rtos_event *e,
			 const struct kt_rtos_event *from, uint64_t gap)
{
	uint32_t later = gap > RUNNING_TICKS ? RUNNING_TICKS : 0;
	struct kt_rtos_thread *t = NULL;

	*e = (struct kt_rtos_event){
		.threshold = KTAPE_RTOS_UNKNOWN,
		.e = {
			.context = from->e.next, .next = from->e.next,
			.id = KT_THREADX_RUNNING, .ticks = from->e.ticks + later,
			.stamp = r->head.decreasing ? from->e.stamp - later
						    : from->e.stamp + later,
		},
	};
	if (e->e.context && kt_rtos_thread_or_idle(e->e.context))
		t = kt_rtos_find(r, e->e.context);
	if (!t)
		return;
	e->e.prio = t->prio;
	e->threshold = t->threshold;
	if (e->e.prio == KTAPE_RTOS_UNKNOWN) {
		e->e.prio = t->first_prio;
		e->threshold = t->first_threshold;
	}
	widen_range(&t->t.lowest_prio, &t->t.highest_prio, e->e.prio);
	if (e->e.prio == KTAPE_RTOS_UNKNOWN)
		e->e.prio = 0;
}

/* Check whether no event shows which thread runs between two events. */
static bool is_hidden(const struct kt_rtos_event *e, const struct kt_rtos_event *next)
{
	return e->e.context != e->e.next && e->e.next != next->e.context;
}

/* Move the events apart and mark the places for RUNNING events. */
static void spread_events(struct kt_rtos_event *list, uint64_t nr, uint64_t more)
{
	const struct kt_rtos_event *next = NULL;

	for (uint64_t i = nr; i-- && more; next = &list[i + more]) {
		if (next && is_hidden(&list[i], next))
			list[i + more--].e.id = MADE;
		list[i + more] = list[i];
	}
}

/* Insert RUNNING events on a core.  Return: 0 or -ENOMEM. */
int kt_rtos_fill(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	struct kt_rtos_event *list = events->list;
	uint64_t nr = events->nr, more = 0;

	learn_first(r, list, nr);
	for (uint64_t i = 0; i + 1 < nr; i++)
		more += is_hidden(&list[i], &list[i + 1]);
	if (kt_rtos_make_room(events, nr + more))
		return -ENOMEM;
	list = events->list;
	spread_events(list, nr, more);
	events->nr = nr + more;
	for (uint64_t i = 0; i < events->nr; i++) {
		if (i + 1 < events->nr && list[i + 1].e.id == MADE)
			make_running(r, &list[i + 1], &list[i],
				     list[i + 2].e.ticks - list[i].e.ticks);
		learn_prio(r, &list[i]);
	}
	return 0;
}
