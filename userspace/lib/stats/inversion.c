// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find priority inversions: a thread waits for a mutex whose owner has a lower priority,
 * until the owner puts the mutex.  The inversion is bad if a third thread of lower
 * priority than the waiting one runs during the wait: then the wait is unbounded.  It
 * ends when the thread that waits runs again; if that is not in the trace, it is open.
 * Greater numbers are lower priorities.
 *
 * MUTEX_GET has the mutex in info[0] and its owner in info[2], MUTEX_PUT the mutex in info[0] and
 * in info[2] how often it was taken.
 */
#include "stats/rtos.h"

#define WAITS 256 /* most waits tracked at a time */

/**
 * struct wait - a wait for a mutex
 * @mutex: the mutex
 * @blocked: the thread that waits
 * @prio: priority of @blocked
 * @owner: the thread that owns the mutex
 * @start: number of the event that begins the wait
 */
struct wait {
	uint32_t mutex;
	uint32_t blocked;
	uint32_t prio;
	uint32_t owner;
	uint64_t start;
};

/**
 * struct waits - the waits of a core
 * @r: the statistics
 * @events: events of the core
 * @list: the same, of @events
 * @wait: waits that have not ended
 * @open: number of @wait
 */
struct waits {
	struct ktape_rtos *r;
	const struct kt_rtos_events *events;
	struct kt_rtos_event *list;
	struct wait wait[WAITS];
	unsigned int open;
};

static void leave_open(struct waits *w, const struct wait *wait)
{
	w->list[wait->start].e.flags |= KTAPE_RTOS_OPEN;
	w->r->totals.open_inversions++;
}

/*
 * Return the number of the waiting thread's next event from @i on.  If it has none, the
 * inversion is open, and the number is @i, as in TraceX.
 */
static uint64_t runs_at(struct waits *w, const struct wait *wait, uint64_t i)
{
	uint64_t at =
		kt_rtos_next_of(kt_rtos_find(w->r, wait->blocked), w->list, i);

	if (at == KT_RTOS_NEVER)
		leave_open(w, wait);
	return (at == KT_RTOS_NEVER ? i : at) + w->events->base;
}

static struct wait *find_wait(struct waits *w, uint32_t mutex)
{
	for (unsigned int i = 0; i < w->open; i++) {
		if (w->wait[i].mutex == mutex)
			return &w->wait[i];
	}
	return NULL;
}

static void end_mutex_wait(struct waits *w, struct wait *wait)
{
	*wait = w->wait[--w->open];
}

/*
 * Begin a wait if the event is one that is an inversion, and count it.  Beyond WAITS it is only
 * counted.  While one thread waits for a mutex, further ones do not count.
 * Return: true if it is one.
 */
static bool begin_wait(struct waits *w, const struct ktape_rtos_event *e, uint64_t i)
{
	const struct kt_rtos_thread *owner;

	if (e->id != KT_THREADX_MUTEX_GET || !e->info[2] ||
	    e->info[2] == e->context || find_wait(w, e->info[0]))
		return false;
	owner = kt_rtos_find(w->r, e->info[2]);
	if (!owner || owner->prio == KTAPE_RTOS_UNKNOWN || e->prio >= owner->prio)
		return false;
	w->r->totals.inversions++;
	if (w->open == WAITS) {
		w->r->totals.untracked++;
		return true;
	}
	w->wait[w->open++] = (struct wait){
		.mutex = e->info[0],
		.blocked = e->context,
		.prio = e->prio,
		.owner = e->info[2],
		.start = i,
	};
	return true;
}

/* End a wait if the event puts the mutex that was taken once.  Return: true if it does. */
static bool put_mutex(struct waits *w, const struct ktape_rtos_event *e, uint64_t i)
{
	struct wait *wait;

	if (e->id != KT_THREADX_MUTEX_PUT || e->info[2] != 1)
		return false;
	wait = find_wait(w, e->info[0]);
	if (!wait)
		return false;
	w->list[wait->start].e.inversion = runs_at(w, wait, i);
	end_mutex_wait(w, wait);
	return true;
}

/* Mark the waits during which a third thread of lower priority runs, and end to track them. */
static void find_bad(struct waits *w, const struct ktape_rtos_event *e, uint64_t i)
{
	for (unsigned int j = w->open; j--;) {
		struct wait *wait = &w->wait[j];

		if (e->context == wait->owner || e->prio <= wait->prio)
			continue;
		w->r->totals.bad_inversions++;
		w->list[wait->start].e.bad = runs_at(w, wait, i);
		end_mutex_wait(w, wait);
	}
}

/* Find the priority inversions of one core.  Return: 0 or -ENOMEM. */
int kt_rtos_inversions(struct ktape_rtos *r, struct kt_rtos_events *events)
{
	struct waits *w = calloc(1, sizeof(*w));
	struct kt_rtos_event *list = events->list;

	if (!w)
		return -ENOMEM;
	w->r = r;
	w->events = events;
	w->list = list;
	/* kt_rtos_fill() has moved the events, so the lists of threads are made again. */
	kt_rtos_forget(r, events);
	kt_rtos_link(r, events);
	for (uint64_t i = events->nr; i--;) {
		struct kt_rtos_thread *t = kt_rtos_find(r, list[i].e.context);

		/* Walked backwards, so that the first event's priority remains. */
		if (t && kt_rtos_thread_or_idle(list[i].e.context))
			t->prio = list[i].e.prio;
	}
	for (uint64_t i = 0; i < events->nr; i++) {
		const struct ktape_rtos_event *e = &list[i].e;
		struct kt_rtos_thread *t;

		r->totals.mutex_calls += e->id == KT_THREADX_MUTEX_GET;
		/* Only threads: contexts from KT_THREADX_INIT on count as none, as does idle. */
		if (!e->context || e->context >= KT_THREADX_INIT)
			continue;
		t = kt_rtos_find(r, e->context);
		if (t)
			t->prio = e->prio;
		if (!begin_wait(w, e, i) && !put_mutex(w, e, i))
			find_bad(w, e, i);
	}
	for (unsigned int i = 0; i < w->open; i++)
		leave_open(w, &w->wait[i]);
	free(w);
	return 0;
}
