// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which threads run and which wait: the tables sched_slice, thread_state and wakeup.
 *
 *	sched_switch	ends the slice of a CPU and begins the next one, and moves the
 *			two threads to the states that it names
 *	sched_wakeup	ends a sleep: the thread is R, in the queue of a CPU
 *	sched_waking	names the thread that wakes another one
 *	sched_blocked	says why the next sleep begins
 *
 * The rules are those of the statistics (ktape stats), so that waits for a CPU have as many rows
 * as values there.  A loss ends the slice of its CPU.  A wait or sleep that began before the end
 * of a loss on any CPU, or before the events that end it were enabled, is not written: it may have
 * ended without an event.
 */
#include "internal.h"

#define STATE_SHIFT \
	16 /* dat20 of sched_switch: 8 bits priority of prev, of next, state */
#define PRIO_SHIFT 8
#define CPU_SHIFT  8 /* dat20 of wake-ups: 8 bits priority, then the CPU */
#define CPU_MASK   0xfffU

static int64_t sched_state_name(struct pq *pq, unsigned int state)
{
	const char *text = ktape_value_name(KTAPE_TYPE_STATE, state);

	if (state == KTAPE_STATE_R)
		return pq->words[PQ_WORD_R];
	if (state == KTAPE_STATE_PREEMPTED)
		return pq->words[PQ_WORD_PREEMPTED];
	return text ? pq_name(pq, text, strlen(text)) : PQ_NONE;
}

/* ---- thread_state -------------------------------------------------------------------- */

/* Write the state of a thread up to @ts; @open: the trace ends before the state does. */
static void put_state_row(struct pq *pq, struct pq_thread *t, uint64_t ts, bool open)
{
	static const uint8_t words[] = {
		[PQ_RUNNING] = PQ_WORD_RUNNING,
		[PQ_READY] = PQ_WORD_R,
		[PQ_PREEMPTED] = PQ_WORD_PREEMPTED,
	};
	bool asleep = t->state == PQ_ASLEEP;
	struct kt_pq_rows *r;

	/* pq_cut() has ended what ran on the CPU of a loss, so what still runs is sure. */
	if (t->state == PQ_UNKNOWN || !t->tid ||
	    (!pq_is_sure(pq, t->since) && t->state != PQ_RUNNING))
		return;
	r = pq_begin(pq, PQ_THREAD_STATE, t->since);
	if (!open)
		kt_pq_put(r, PQ_THREAD_STATE_DUR, pq_ns(pq, t->since, ts));
	kt_pq_put(r, PQ_THREAD_STATE_UTID, pq_utid(pq, t));
	pq_put_name(r, PQ_THREAD_STATE_STATE,
		    asleep ? t->why : pq->words[words[t->state]]);
	if (!asleep)
		kt_pq_put(r, PQ_THREAD_STATE_CPU, t->cpu);
	if (t->state == PQ_READY && t->waker)
		kt_pq_put(r, PQ_THREAD_STATE_WAKER_UTID, t->waker - 1);
	if (asleep && t->blocked_known) {
		pq_put_name(r, PQ_THREAD_STATE_BLOCKED, t->blocked);
		kt_pq_put(r, PQ_THREAD_STATE_IO_WAIT, t->io);
	}
	pq_end(pq, PQ_THREAD_STATE);
}

/* Put a thread into a state, and write the row of the state before. */
static void set_state(struct pq *pq, struct pq_thread *t, unsigned int state,
		      uint32_t cpu, uint64_t ts)
{
	put_state_row(pq, t, ts, false);
	if (t->state == PQ_ASLEEP)
		t->blocked_known = false;
	t->state = (uint8_t)state;
	t->cpu = cpu;
	t->since = ts;
}

/* ---- sched_slice --------------------------------------------------------------------- */

/* Write the slice of a CPU.  @state: name of the end state, or PQ_NONE. */
static void put_slice(struct pq *pq, const struct pq_cpu *c, uint32_t cpu,
		      int64_t dur, int64_t state)
{
	struct kt_pq_rows *r = pq_begin(pq, PQ_SCHED_SLICE, c->since);

	if (dur >= 0)
		kt_pq_put(r, PQ_SCHED_SLICE_DUR, dur);
	kt_pq_put(r, PQ_SCHED_SLICE_CPU, cpu);
	kt_pq_put(r, PQ_SCHED_SLICE_UTID, c->running);
	pq_put_name(r, PQ_SCHED_SLICE_END_STATE, state);
	kt_pq_put(r, PQ_SCHED_SLICE_PRIORITY, c->priority);
	pq_end(pq, PQ_SCHED_SLICE);
}

/* Put the thread that leaves a CPU into its next state.  @name: of that state, or PQ_NONE. */
static void switch_out(struct pq *pq, const struct ktape_event *e, int32_t tid,
		       unsigned int state, int64_t name)
{
	struct pq_thread *t = tid > 0 ? pq_thread(pq, tid, e->ts) : NULL;

	if (!t)
		return;
	if (state == KTAPE_STATE_R) {
		set_state(pq, t, PQ_READY, e->cpu, e->ts);
		t->waker = 0;
	} else if (state == KTAPE_STATE_PREEMPTED) {
		set_state(pq, t, PQ_PREEMPTED, e->cpu, e->ts);
	} else {
		set_state(pq, t, name >= 0 ? PQ_ASLEEP : PQ_UNKNOWN, e->cpu, e->ts);
		t->why = name;
		t->waker = 0;
	}
}

/**
 * pq_switch() - Take sched_switch
 * @pq: the tables
 * @c: its CPU
 * @e: the event
 */
void pq_switch(struct pq *pq, struct pq_cpu *c, const struct ktape_event *e)
{
	const int32_t prev = (int32_t)ktape_event_arg(e, 0);
	const int32_t next = (int32_t)ktape_event_arg(e, 1);
	const unsigned int state = e->dat20 >> STATE_SHIFT & 15;
	const int64_t name = sched_state_name(pq, state);
	struct pq_thread *t;

	if (c->open)
		put_slice(pq, c, e->cpu, pq_ns(pq, c->since, e->ts), name);
	c->open = false;
	switch_out(pq, e, prev, state, name);
	c->tid = next;
	t = pq_thread(pq, next, e->ts);
	if (!t)
		return;
	c->open = true;
	c->since = e->ts;
	c->running = (uint32_t)pq_utid(pq, t);
	c->priority = e->dat20 >> PRIO_SHIFT & 0xff;
	if (t->tid)
		set_state(pq, t, PQ_RUNNING, e->cpu, e->ts);
}

/* ---- wakeup -------------------------------------------------------------------------- */

static bool is_thread_running(const struct pq *pq, const struct pq_thread *t)
{
	return t->cpu < pq->nr_cpus && pq->cpus[t->cpu] &&
	       pq->cpus[t->cpu]->tid == t->tid;
}

/**
 * pq_wake() - Take sched_waking, sched_wakeup or sched_wakeup_new
 * @pq: the tables
 * @e: the event
 */
void pq_wake(struct pq *pq, const struct ktape_event *e)
{
	const uint32_t target = e->dat20 >> CPU_SHIFT & CPU_MASK;
	const struct pq_thread *waker = pq_thread(pq, e->tid, e->ts);
	const int64_t by = waker ? pq_utid(pq, waker) : -1;
	struct pq_thread *t = pq_thread(pq, (int32_t)ktape_event_arg(e, 0), e->ts);
	unsigned int kind = PQ_WORD_WAKEUP;
	struct kt_pq_rows *r;

	if (!t)
		return;
	if (e->opcode != KTAPE_EV_SCHED_WAKEUP)
		kind = e->opcode == KTAPE_EV_SCHED_WAKING ? PQ_WORD_WAKING :
							    PQ_WORD_NEW;
	r = pq_begin(pq, PQ_WAKEUP, e->ts);
	pq_put_name(r, PQ_WAKEUP_KIND, pq->words[kind]);
	if (by >= 0)
		kt_pq_put(r, PQ_WAKEUP_WAKER_UTID, by);
	kt_pq_put(r, PQ_WAKEUP_UTID, pq_utid(pq, t));
	kt_pq_put(r, PQ_WAKEUP_CPU, e->cpu);
	kt_pq_put(r, PQ_WAKEUP_TARGET_CPU, target);
	kt_pq_put(r, PQ_WAKEUP_PRIORITY, e->dat20 & 0xff);
	pq_end(pq, PQ_WAKEUP);
	/* A thread that does not sleep is not woken: its state stays. */
	if (!t->tid || is_thread_running(pq, t) || t->state == PQ_READY ||
	    t->state == PQ_PREEMPTED)
		return;
	/* sched_wakeup may come on another CPU than the waker's: sched_waking counts more. */
	if (by >= 0 && (kind != PQ_WORD_WAKEUP || !t->waker))
		t->waker = (uint32_t)by + 1;
	if (kind != PQ_WORD_WAKING)
		set_state(pq, t, PQ_READY, target, e->ts);
}

/**
 * pq_blocked() - Take sched_blocked: why the next sleep of a thread begins
 * @pq: the tables
 * @l: the event
 */
void pq_blocked(struct pq *pq, const struct kt_line *l)
{
	const struct ktape_event *e = l->event;
	struct pq_thread *t = pq_thread(pq, (int32_t)ktape_event_arg(e, 0), e->ts);

	if (!t || !t->tid)
		return;
	t->blocked = pq_value_name(pq, l, KTAPE_TYPE_FUNC, ktape_event_arg(e, 1));
	t->io = e->dat20 & 1;
	t->blocked_known = true;
}

/**
 * pq_cut() - End the slice of a CPU at a loss, or where the profile becomes empty
 * @pq: the tables
 * @c: the CPU
 * @cpu: its number
 * @ts: the time, in ticks
 *
 * From then on it is not known which thread runs, or what the thread of the slice does.
 */
void pq_cut(struct pq *pq, struct pq_cpu *c, uint32_t cpu, uint64_t ts)
{
	struct pq_thread *t;

	c->tid = -1;
	if (!c->open)
		return;
	c->open = false;
	ts = kt_max(ts, c->since);
	put_slice(pq, c, cpu, pq_ns(pq, c->since, ts), PQ_NONE);
	t = &pq->threads[c->running];
	if (t->state == PQ_RUNNING && t->cpu == cpu)
		set_state(pq, t, PQ_UNKNOWN, cpu, ts);
}

/**
 * pq_sched_end() - Write what is open at the end of the trace
 * @pq: the tables
 */
void pq_sched_end(struct pq *pq)
{
	for (uint32_t i = 0; i < pq->nr_cpus; i++) {
		if (pq->cpus[i] && pq->cpus[i]->open)
			put_slice(pq, pq->cpus[i], i, -1, PQ_NONE);
	}
	for (size_t i = 0; i < pq->nr_threads; i++)
		put_state_row(pq, &pq->threads[i], pq->last, true);
}
