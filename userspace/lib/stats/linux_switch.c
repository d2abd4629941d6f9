// SPDX-License-Identifier: LGPL-2.1-or-later
/* Follow switches and wake-ups: how long it takes from a wake-up until a thread runs. */
#include "stats/linux.h"

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
	uint32_t state = e->dat20 >> 16 & 15; /* in which prev leaves */
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
static bool runs_on_any_cpu(const struct ktape_linux *l, int32_t tid)
{
	for (uint32_t i = 0; i < l->nr_cpus; i++) {
		if (l->cpus[i] && l->cpus[i]->tid == tid)
			return true;
	}
	return false;
}

/**
 * kt_sl_wake() - Process a wake-up, unless the thread runs or was woken before
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

	if (tid <= 0 || runs_on_any_cpu(l, tid) ||
	    kt_map_find(&l->open, what, (uint32_t)tid))
		return 0;
	if (what == KT_SL_RUNNABLE)
		return kt_sl_queue(l, tid, kt_sl_target(e), e->ts);
	woken = kt_sl_open(l, what, (uint32_t)tid, &err);
	if (woken)
		woken->value = e->ts;
	return err;
}
