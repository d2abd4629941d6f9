// SPDX-License-Identifier: LGPL-2.1-or-later
/* Follow the threads: which ones run, and how long it takes from a wake-up to running. */
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
 * a thread that waits while many switches happen is told all that ran.
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
 * kt_sl_run() - Set the running thread of a CPU
 * @l: the statistics
 * @c: the CPU
 * @tid: thread id, or KT_SL_TID_NONE
 * @ts: time from which the thread runs, in ticks
 */
void kt_sl_run(struct ktape_linux *l, struct kt_sl_cpu *c, int32_t tid,
	       uint64_t ts)
{
	c->tid = tid;
	c->untold = false;
	make_past_room(l, c);
	c->past[c->next++ & (c->room - 1)] = (struct kt_sl_past){ tid, ts };
}

/* A thread gets the CPU: end its waits. */
static int switch_in(struct ktape_linux *l, int32_t tid, uint64_t ts)
{
	struct kt_map_entry *e;
	uint64_t from;
	int err = 0;

	e = kt_map_find(&l->open, KT_SL_WOKEN, (uint32_t)tid);
	if (e) {
		from = e->value;
		kt_map_remove(&l->open, e);
		err = kt_sl_interval(l, l->list[KTAPE_SERIES_WAKEUP], from, ts);
	}
	return err ? err : kt_sl_unwait(l, tid, ts);
}

/**
 * kt_sl_switch() - Process a thread switch
 * @l: the statistics
 * @c: the CPU, with its time accounted up to this event
 * @e: the event
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_switch(struct ktape_linux *l, struct kt_sl_cpu *c,
		 const struct ktape_event *e)
{
	int32_t prev = (int32_t)ktape_event_arg(e, 0);
	int32_t next = (int32_t)ktape_event_arg(e, 1);
	uint32_t state = e->dat20 >> 16 & 15;
	bool ready = state == KTAPE_STATE_R || state == KTAPE_STATE_PREEMPTED;
	struct ktape_linux_thread *t;
	int err = 0;

	c->result.switches++;
	/* A thread that is still runnable waits for a CPU from here on. */
	if (prev > 0 && ready)
		err = kt_sl_queue(l, prev, e->cpu, e->ts);
	else if (prev > 0)
		kt_sl_unqueue(l, prev);
	if (!err && next > 0)
		err = switch_in(l, next, e->ts);
	kt_sl_run(l, c, next, e->ts);
	if (err || next < 0)
		return err;
	t = kt_sl_thread(l, next);
	if (!t)
		return -ENOMEM;
	t->switches++;
	return 0;
}

/* Check whether a thread runs on any CPU; then it does not wait. */
static bool is_running(const struct ktape_linux *l, int32_t tid)
{
	for (uint32_t i = 0; i < l->nr_cpus; i++) {
		if (l->cpus[i] && l->cpus[i]->tid == tid)
			return true;
	}
	return false;
}

/**
 * kt_sl_wake() - Process a wake-up
 * @l: the statistics
 * @e: sched_waking, sched_wakeup or sched_wakeup_new
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_wake(struct ktape_linux *l, const struct ktape_event *e)
{
	unsigned int what = e->opcode == KTAPE_EV_SCHED_WAKING ? KT_SL_WOKEN :
								 KT_SL_RUNNABLE;
	int32_t tid = (int32_t)ktape_event_arg(e, 0);
	struct kt_map_entry *woken;
	int err;

	if (tid <= 0 || is_running(l, tid) ||
	    kt_map_find(&l->open, what, (uint32_t)tid))
		return 0;
	if (what == KT_SL_RUNNABLE)
		return kt_sl_queue(l, tid, kt_sl_target(e), e->ts);
	woken = kt_sl_open(l, what, (uint32_t)tid, &err);
	if (woken)
		woken->value = e->ts;
	return err;
}
