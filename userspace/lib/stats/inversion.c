// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Priority inversions: a thread waits for a mutex whose owner has less priority,
 * until the owner puts it back.  When a third thread of less priority than the
 * waiting one runs meanwhile, nobody knows how long it takes.
 */
#include "stats/rtos.h"

#define WAITS	256	/* at once */

/**
 * struct wait - a thread that waits
 * @mutex: what for
 * @blocked: who
 * @prio: its priority
 * @owner: who has the mutex
 * @start: number of the event
 */
struct wait {
	uint32_t mutex;
	uint32_t blocked;
	uint32_t prio;
	uint32_t owner;
	uint64_t start;
};

struct waits {
	struct ktape_rtos *r;
	const struct kt_rtos_events *events;
	struct kt_rtos_event *list;
	struct wait wait[WAITS];
	unsigned int open;
};

/* When does it run again?  @i if never. */
static uint64_t runs_at(struct waits *w, uint32_t thread, uint64_t i)
{
	uint64_t at = kt_rtos_next_of(kt_rtos_find(w->r, thread), w->list, i);

	return (at == KT_RTOS_NEVER ? i : at) +
	       w->events->base;
}

static struct wait *find_wait(struct waits *w, uint32_t mutex)
{
	for (unsigned int i = 0; i < w->open; i++) {
		if (w->wait[i].mutex == mutex)
			return &w->wait[i];
	}
	return NULL;
}

static void drop(struct waits *w, struct wait *wait)
{
	*wait = w->wait[--w->open];
}

/* Return: true if one begins. */
static bool begins(struct waits *w, const struct ktape_rtos_event *e, uint64_t i)
{
	const struct kt_rtos_thread *owner;

	if (e->id != KT_TRACEX_MUTEX_GET || !e->info[2] ||
	    e->info[2] == e->context || find_wait(w, e->info[0]))
		return false;
	owner = kt_rtos_find(w->r, e->info[2]);
	if (!owner || owner->prio == KTAPE_RTOS_UNKNOWN ||
	    e->prio >= owner->prio)
		return false;
	w->r->totals.inversions++;
	if (w->open == WAITS) {
		w->r->totals.untracked++;
		return true;
	}
	w->wait[w->open++] = (struct wait){
		.mutex = e->info[0], .blocked = e->context, .prio = e->prio,
		.owner = e->info[2], .start = i,
	};
	return true;
}

/* Return: true if one ends. */
static bool ends(struct waits *w, const struct ktape_rtos_event *e, uint64_t i)
{
	struct wait *wait;

	if (e->id != KT_TRACEX_MUTEX_PUT || e->info[2] != 1)
		return false;
	wait = find_wait(w, e->info[0]);
	if (!wait)
		return false;
	w->list[wait->start].e.inversion = runs_at(w, wait->blocked, i);
	drop(w, wait);
	return true;
}

static void find_bad(struct waits *w, const struct ktape_rtos_event *e,
		     uint64_t i)
{
	for (unsigned int j = w->open; j--;) {
		struct wait *wait = &w->wait[j];

		if (e->context == wait->owner || e->prio <= wait->prio)
			continue;
		w->r->totals.bad_inversions++;
		w->list[wait->start].e.bad = runs_at(w, wait->blocked, i);
		drop(w, wait);
	}
}

/* Find those of one core.  Return: 0 or -ENOMEM. */
int kt_rtos_inversions(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	struct waits *w = calloc(1, sizeof(*w));
	struct kt_rtos_event *list = events->list;

	if (!w)
		return -ENOMEM;
	w->r = r;
	w->events = events;
	w->list = list;
	kt_rtos_forget(r, events);
	kt_rtos_link(r, events);
	for (uint64_t i = events->nr; i--;) {
		struct kt_rtos_thread *t =
			kt_rtos_find(r, list[i].e.context);

		/* At last, the priority of its first event. */
		if (t && kt_rtos_runs(list[i].e.context))
			t->prio = list[i].e.prio;
	}
	for (uint64_t i = 0; i < events->nr; i++) {
		const struct ktape_rtos_event *e = &list[i].e;
		struct kt_rtos_thread *t;

		if (!e->context || e->context >= KT_TRACEX_INIT)
			continue;
		t = kt_rtos_find(r, e->context);
		if (t)
			t->prio = e->prio;
		if (!begins(w, e, i) && !ends(w, e, i))
			find_bad(w, e, i);
	}
	free(w);
	return 0;
}
