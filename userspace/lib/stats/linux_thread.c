// SPDX-License-Identifier: LGPL-2.1-or-later
/* Measure how long threads wait for a CPU, and which threads run during the wait. */
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
	struct ktape_linux_thread *more;
	struct kt_map_entry *e;

	if (l->threads.nr == KT_SL_THREADS &&
	    !kt_map_find(&l->threads, 0, (uint32_t)tid)) {
		l->left[KT_SL_LEFT_THREADS]++;
		return &l->other;
	}
	e = kt_map_put(&l->threads, 0, (uint32_t)tid);
	if (!e)
		return NULL;
	if (e->extra)
		return &l->thread_list[e->value];
	more = kt_sl_more(l->thread_list, l->nr_threads, sizeof(*more));
	if (!more) {
		kt_map_remove(&l->threads, e);
		return NULL;
	}
	l->thread_list = more;
	e->value = l->nr_threads++;
	e->extra = true;
	more[e->value] = (struct ktape_linux_thread){ .tid = tid };
	return &more[e->value];
}

/**
 * kt_sl_run() - Set the running thread of a CPU
 * @c: the CPU
 * @tid: thread id, or KT_SL_TID_NONE
 * @ts: time from which the thread runs, in ticks
 */
void kt_sl_run(struct kt_sl_cpu *c, int32_t tid, uint64_t ts)
{
	c->tid = tid;
	c->past[c->next++ % KT_SL_PAST] = (struct kt_sl_past){ tid, ts };
}

/* Add the time that one thread ran while another waited. */
static int add_pair(struct ktape_linux *l, int32_t tid, int32_t other,
		    uint64_t ns)
{
	struct ktape_linux_instead *more;
	struct kt_map_entry *e;

	if (l->pairs.nr == KT_SL_PAIRS &&
	    !kt_map_find(&l->pairs, (uint32_t)tid, (uint32_t)other)) {
		l->left[KT_SL_LEFT_PAIRS]++;
		return 0;
	}
	e = kt_map_put(&l->pairs, (uint32_t)tid, (uint32_t)other);
	if (!e)
		return -ENOMEM;
	if (!e->extra) {
		more = kt_sl_more(l->instead, l->nr_instead, sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->instead = more;
		e->value = l->nr_instead++;
		e->extra = true;
		more[e->value] = (struct ktape_linux_instead){
			.tid = tid,
			.other = other,
		};
	}
	l->instead[e->value].ns += ns;
	l->instead[e->value].count++;
	return 0;
}

/*
 * Add a part of the longest wait so far to what ran meanwhile: keep the thread that
 * ran longest without a break.
 */
static void add_longest(struct ktape_linux_instead *longest, int32_t other,
			uint64_t ns)
{
	if (ns <= longest->ns)
		return;
	longest->other = other;
	longest->ns = ns;
}

/* Add the threads that ran on the CPU while thread @tid waited, latest first. */
static int add_instead(struct ktape_linux *l, const struct kt_sl_cpu *c,
		       int32_t tid, uint64_t from, uint64_t to)
{
	const struct kt_sl_series *waits = l->list[KTAPE_SERIES_RUN_QUEUE];
	bool longest = waits->result.max_ts == to &&
		       waits->result.max_tid == tid &&
		       waits->hist.max == kt_sl_ns(l, from, to);
	int err = 0;

	if (longest)
		l->longest = (struct ktape_linux_instead){
			.tid = tid,
			.other = KT_SL_TID_NONE,
			.count = 1,
		};

	for (uint64_t i = c->next; to > from && !err; i--) {
		const struct kt_sl_past *p = &c->past[(i - 1) % KT_SL_PAST];
		bool known = i && c->next - i < KT_SL_PAST;
		uint64_t begin = known ? kt_max(p->from, from) : from;

		if (begin < to)
			err = add_pair(l, tid, known ? p->tid : KT_SL_TID_NONE,
				       kt_sl_ns(l, begin, to));
		if (begin < to && longest && known)
			add_longest(&l->longest, p->tid,
				    kt_sl_ns(l, begin, to));
		to = kt_min(to, begin);
	}
	return err;
}

/* Account a wait of a thread that ends now. */
static int end_wait(struct ktape_linux *l, const struct kt_sl_cpu *c,
		    int32_t tid, uint64_t from, uint64_t to)
{
	struct ktape_linux_thread *t = kt_sl_thread(l, tid);
	uint64_t ns = kt_sl_ns(l, from, to);
	int err;

	if (!t)
		return -ENOMEM;
	err = kt_sl_interval(l, l->list[KTAPE_SERIES_RUN_QUEUE], from, to);
	if (err || from < l->lost_to)
		return err;
	t->wait += ns;
	t->wait_max = kt_max(t->wait_max, ns);
	t->waits++;
	return add_instead(l, c, tid, from, to);
}

/* A thread gets the CPU: end its waits. */
static int switch_in(struct ktape_linux *l, struct kt_sl_cpu *c, int32_t tid,
		     uint64_t ts)
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
	e = kt_map_find(&l->open, KT_SL_RUNNABLE, (uint32_t)tid);
	if (e && !err) {
		from = e->value;
		kt_map_remove(&l->open, e);
		err = end_wait(l, c, tid, from, ts);
	}
	return err;
}

static int begin_wait(struct ktape_linux *l, unsigned int what, int32_t tid,
		      uint64_t ts, bool again)
{
	struct kt_map_entry *e;
	int err;

	if (!again && kt_map_find(&l->open, what, (uint32_t)tid))
		return 0;
	e = kt_sl_open(l, what, (uint32_t)tid, &err);
	if (e)
		e->value = ts;
	return err;
}

static void forget_wait(struct ktape_linux *l, unsigned int what, int32_t tid)
{
	struct kt_map_entry *e = kt_map_find(&l->open, what, (uint32_t)tid);

	if (e)
		kt_map_remove(&l->open, e);
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
		err = begin_wait(l, KT_SL_RUNNABLE, prev, e->ts, true);
	else if (prev > 0)
		forget_wait(l, KT_SL_RUNNABLE, prev);
	if (!err && next > 0)
		err = switch_in(l, c, next, e->ts);
	kt_sl_run(c, next, e->ts);
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
	int32_t tid = (int32_t)ktape_event_arg(e, 0);

	if (tid <= 0 || is_running(l, tid))
		return 0;
	if (e->opcode == KTAPE_EV_SCHED_WAKING)
		return begin_wait(l, KT_SL_WOKEN, tid, e->ts, false);
	return begin_wait(l, KT_SL_RUNNABLE, tid, e->ts, false);
}
