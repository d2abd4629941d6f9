// SPDX-License-Identifier: LGPL-2.1-or-later
/* The threads of a trace, and which of them ran last on each CPU. */
#include "stats/linux.h"

/**
 * kt_sl_thread() - Return a thread, made if needed
 * @l: the statistics
 * @tid: thread id, not negative
 *
 * Return: the thread, valid until the next call; a thread that is not shown if there
 * are too many; NULL if there is no memory.
 */
struct ktape_linux_thread *kt_sl_thread(struct ktape_linux *l, int32_t tid)
{
	struct kt_sl_thread *more;
	struct kt_map_entry *e;

	if (l->threads.nr == KT_SL_THREADS &&
	    !kt_map_find(&l->threads, 0, (uint32_t)tid)) {
		l->left[KT_SL_LEFT_THREADS]++;
		return &l->other.result;
	}
	e = kt_map_put(&l->threads, 0, (uint32_t)tid);
	if (!e)
		return NULL;
	if (e->extra) {
		l->thread_list[e->value].seen = l->last;
		return &l->thread_list[e->value].result;
	}
	more = kt_sl_more(l->thread_list, l->nr_threads, sizeof(*more));
	if (!more) {
		kt_map_remove(&l->threads, e);
		return NULL;
	}
	l->thread_list = more;
	e->value = l->nr_threads++;
	e->extra = true;
	more[e->value] = (struct kt_sl_thread){
		.result.tid = tid,
		.seen = l->last,
	};
	return &more[e->value].result;
}

/*
 * Make the ring of the threads that ran larger, as long as nothing in it was overwritten:
 * the wait of a thread during many switches then names all threads that ran.
 */
static void make_past_room(struct ktape_linux *l, struct kt_sl_cpu *c)
{
	struct kt_sl_past *more;

	if (c->next != c->room || c->room == KT_SL_PAST_MOST ||
	    c->room > KT_SL_PAST_ALL - l->past)
		return;
	more = realloc(c->past, c->room * 2 * sizeof(*more));
	if (!more)
		return;
	c->past = more;
	l->past += c->room;
	c->room *= 2;
}

/**
 * kt_sl_run() - Set the running thread of a CPU, and keep in @c->past since when it runs
 * @l: the statistics
 * @c: the CPU
 * @tid: thread id, or KT_SL_TID_NONE
 * @ts: time from which the thread runs, in ticks
 */
void kt_sl_run(struct ktape_linux *l, struct kt_sl_cpu *c, int32_t tid, uint64_t ts)
{
	c->tid = tid;
	c->unreported = false;
	make_past_room(l, c);
	c->past[c->next++ & (c->room - 1)] = (struct kt_sl_past){ tid, ts };
}
