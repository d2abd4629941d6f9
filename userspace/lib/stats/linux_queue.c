// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Waits in run queues, and which threads run meanwhile on the CPU of the queue.
 *
 *	sched_wakeup, or switched out while runnable	stands in the queue of a CPU
 *	sched_migrate_task				stands in that of another CPU
 *	sched_switch to it				runs
 *
 * KT_SL_RUNNABLE has the current queue: its CPU, and how often the thread moved.
 * KT_SL_MOVED + n has the n-th queue that the thread left: its CPU, and when.
 */
#include "stats/linux.h"

#define CPU_SHIFT   8 /* of dat20: the CPU, behind the priority */
#define CPU_MASK    0xfffU
#define MOVES_SHIFT 32 /* of the extra value of KT_SL_RUNNABLE */

static uint64_t queue_of(uint32_t cpu, uint32_t moves)
{
	return (uint64_t)moves << MOVES_SHIFT | cpu;
}

/* Forget the queues that a thread left. */
static void forget_moves(struct ktape_linux *l, int32_t tid, uint64_t queue)
{
	struct kt_map_entry *e;

	for (uint32_t i = 0; i < queue >> MOVES_SHIFT; i++) {
		e = kt_map_find(&l->open, KT_SL_MOVED + i, (uint32_t)tid);
		if (e)
			kt_map_remove(&l->open, e);
	}
}

/**
 * kt_sl_queue() - A thread stands in a run queue from now on; if it did before, it begins anew
 * @l: the statistics
 * @tid: the thread
 * @cpu: CPU of the queue
 * @ts: the time, in ticks
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_queue(struct ktape_linux *l, int32_t tid, uint32_t cpu, uint64_t ts)
{
	struct kt_map_entry *e;
	int err;

	kt_sl_unqueue(l, tid);
	e = kt_sl_open(l, KT_SL_RUNNABLE, (uint32_t)tid, &err);
	if (!e)
		return err;
	e->value = ts;
	e->extra = queue_of(cpu, 0);
	return 0;
}

/**
 * kt_sl_unqueue() - A thread no longer stands in a run queue, without having run
 * @l: the statistics
 * @tid: the thread
 */
void kt_sl_unqueue(struct ktape_linux *l, int32_t tid)
{
	struct kt_map_entry *e =
		kt_map_find(&l->open, KT_SL_RUNNABLE, (uint32_t)tid);

	if (!e)
		return;
	forget_moves(l, tid, e->extra);
	/* Removing an entry may move others. */
	kt_map_remove(&l->open,
		      kt_map_find(&l->open, KT_SL_RUNNABLE, (uint32_t)tid));
}

/* Return the CPU of the run queue that a wake-up or a move names. */
uint32_t kt_sl_target(const struct ktape_event *e)
{
	return e->dat20 >> CPU_SHIFT & CPU_MASK;
}

/**
 * kt_sl_move() - Process sched_migrate_task
 * @l: the statistics
 * @e: the event
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_move(struct ktape_linux *l, const struct ktape_event *e)
{
	uint32_t tid = ktape_event_arg(e, 0), moves, cpu;
	struct kt_map_entry *now = kt_map_find(&l->open, KT_SL_RUNNABLE, tid);
	struct kt_map_entry *left;
	int err = 0;

	if (!now)
		return 0;
	moves = (uint32_t)(now->extra >> MOVES_SHIFT);
	cpu = (uint32_t)now->extra;
	if (moves < KT_SL_MOVES) {
		left = kt_sl_open(l, KT_SL_MOVED + moves, tid, &err);
		moves++;
	} else {
		/* What ran while it stood in this and further queues is not kept. */
		left = kt_map_find(&l->open, KT_SL_MOVED + moves - 1, tid);
		cpu = KT_SL_CPU_NONE;
	}
	if (left) {
		left->value = e->ts;
		left->extra = cpu;
	}
	/* Opening an interval may have moved the entry. */
	now = kt_map_find(&l->open, KT_SL_RUNNABLE, tid);
	if (now)
		now->extra = queue_of(kt_sl_target(e), moves);
	return err;
}

/* ---- what ran meanwhile -------------------------------------------------------------- */

/* Add the time that one thread ran while another waited. */
static int add_pair(struct ktape_linux *l, int32_t tid, int32_t other, uint64_t ns)
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

/**
 * struct wait - a wait that ends
 * @tid: thread that waited
 * @longest: it is the longest wait so far
 * @over: no check is left for the rest of it
 * @checks: entries of rings that were checked
 */
struct wait {
	int32_t tid;
	bool longest;
	bool over;
	uint64_t checks;
};

static int add_ran(struct kt_sl_longest *longest, int32_t tid, uint64_t ns)
{
	struct kt_sl_ran *more =
		kt_sl_more(longest->ran, longest->nr, sizeof(*more));

	if (!more)
		return -ENOMEM;
	longest->ran = more;
	more[longest->nr++] = (struct kt_sl_ran){ tid, ns };
	return 0;
}

/*
 * Count one check of an entry in a ring of threads that ran, against the limit.  If thousands
 * of threads take turns, each wait has thousands of entries, and without a limit the work would
 * grow with the square of the trace.  The longest waits have a limit of their own, which other
 * waits cannot use up.
 *
 * Return: false if the limit is reached.
 */
static bool take_ran_check(struct ktape_linux *l, struct wait *w)
{
	uint64_t *left = &l->checks[w->longest];

	if (w->checks++ < KT_SL_CHECKS_LEAST)
		return true;
	if (!*left) {
		w->over = true;
		return false;
	}
	--*left;
	return true;
}

/*
 * Add the threads that ran on a CPU while its queue had the thread, latest first.  Time before the
 * entries that the ring still has, or that may be checked, counts for an unknown thread.
 */
static int add_instead(struct ktape_linux *l, uint32_t cpu, struct wait *w,
		       uint64_t from, uint64_t to)
{
	const struct kt_sl_cpu *c = cpu < l->nr_cpus ? l->cpus[cpu] : NULL;
	int err = 0;

	for (uint64_t i = c ? c->next : 0; to > from && !err; i--) {
		const struct kt_sl_past *p = NULL;
		uint64_t begin = from;
		int32_t other = KT_SL_TID_NONE;

		if (i && c->next - i < c->room && take_ran_check(l, w)) {
			p = &c->past[(i - 1) & (c->room - 1)];
			begin = kt_max(p->from, from);
			other = p->tid;
		}
		if (begin < to) {
			uint64_t ns = kt_sl_ns(l, begin, to);

			err = add_pair(l, w->tid, other, ns);
			if (!err && w->longest && other >= 0)
				err = add_ran(l->longest, other, ns);
		}
		to = kt_min(to, begin);
	}
	return err;
}

/* Check whether a wait, whose time was just added, is the longest so far. */
static bool is_longest(const struct ktape_linux *l, int32_t tid, uint64_t from,
		       uint64_t to)
{
	const struct kt_sl_series *waits = l->list[KTAPE_SERIES_RUN_QUEUE];

	return waits->result.max_ts == to && waits->result.max_tid == tid &&
	       waits->hist.max == kt_sl_ns(l, from, to);
}

/* Add what ran during a wait, in each of its queues. */
static int add_queues(struct ktape_linux *l, int32_t tid, uint64_t from,
		      uint64_t to, uint64_t queue)
{
	struct wait w = {
		.tid = tid,
		.longest = is_longest(l, tid, from, to),
	};
	bool known = true;
	int err = 0;

	if (w.longest) {
		l->longest->nr = 0;
		l->longest->result = (struct ktape_linux_instead){
			.tid = tid,
			.other = KT_SL_TID_NONE,
			.count = 1,
		};
	}
	for (uint32_t i = 0; !err && i < queue >> MOVES_SHIFT; i++) {
		const struct kt_map_entry *left =
			kt_map_find(&l->open, KT_SL_MOVED + i, (uint32_t)tid);

		/*
		 * Too many intervals were open to keep when it left this queue, so when
		 * it came into the next one is not known either.
		 */
		known = left && known;
		if (!left)
			continue;
		err = add_instead(l, known ? (uint32_t)left->extra : KT_SL_CPU_NONE,
				  &w, from, left->value);
		from = left->value;
		known = true;
	}
	if (!err)
		err = add_instead(l, known ? (uint32_t)queue : KT_SL_CPU_NONE,
				  &w, from, to);
	l->left[KT_SL_LEFT_CHECKS] += w.over;
	return err;
}

/**
 * kt_sl_unwait() - Account the wait of a thread that runs from now on
 * @l: the statistics
 * @tid: the thread
 * @to: the time, in ticks
 *
 * Return: 0 or -ENOMEM.
 */
int kt_sl_unwait(struct ktape_linux *l, int32_t tid, uint64_t to)
{
	const struct kt_map_entry *e =
		kt_map_find(&l->open, KT_SL_RUNNABLE, (uint32_t)tid);
	struct ktape_linux_thread *t;
	uint64_t from, queue, ns;
	int err;

	if (!e)
		return 0;
	from = e->value;
	queue = e->extra;
	ns = kt_sl_ns(l, from, to);
	t = kt_sl_thread(l, tid);
	if (!t)
		return -ENOMEM;
	err = kt_sl_interval(l, l->list[KTAPE_SERIES_RUN_QUEUE], from, to);
	if (!err && kt_sl_is_sure(l, KTAPE_SERIES_RUN_QUEUE, from)) {
		t->wait += ns;
		t->wait_max = kt_max(t->wait_max, ns);
		t->waits++;
		err = add_queues(l, tid, from, to, queue);
	}
	kt_sl_unqueue(l, tid);
	return err;
}

static int by_ran_tid(const void *a, const void *b)
{
	const struct kt_sl_ran *x = a, *y = b;

	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Find the thread that ran longest in sum; the list is then sorted by thread. */
static void sum_longest(struct kt_sl_longest *longest)
{
	uint64_t ns = 0;

	longest->result.ns = 0;
	if (!longest->nr)
		return;
	qsort(longest->ran, longest->nr, sizeof(*longest->ran), by_ran_tid);
	for (size_t i = 0; i < longest->nr; i++) {
		const struct kt_sl_ran *r = &longest->ran[i];

		ns = i && r[-1].tid == r->tid ? ns + r->ns : r->ns;
		if (ns <= longest->result.ns)
			continue;
		longest->result.other = r->tid;
		longest->result.ns = ns;
	}
}

const struct ktape_linux_instead *ktape_linux_longest_wait(const struct ktape_linux *l)
{
	if (!l->longest->result.count)
		return NULL;
	sum_longest(l->longest);
	return &l->longest->result;
}
