// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What each thread does: it runs (ON), is runnable or blocked (WAIT), is in a system
 * call (CALL).
 *
 *	switch out, R	-> runnable ............................ switch in -> runs
 *	switch out, S	-> blocked ... wake-up -> runnable ..... switch in -> runs
 *
 * A wait is runnable from sched_wakeup on, or from sched_waking if only that is
 * recorded: as in lib/stats.  The waker is the thread of sched_waking.
 */
#include "internal.h"

/* In dat20 of a wake-up or migration: priority, then the CPU to which the thread goes. */
#define PRIO_BITS 8
#define CPU_MASK  0xfffU

/**
 * html_thread() - return a thread, made if needed
 * @h: the page
 * @tid: thread id
 *
 * Return: the thread, valid until the next call; NULL for the idle task, an unknown
 * thread, if there are too many, which is counted, or after html_no_memory().
 */
struct html_thread *html_thread(struct html *h, int32_t tid)
{
	struct html_thread *more;
	struct kt_map_entry *e;

	if (tid <= 0)
		return NULL;
	e = kt_map_find(&h->threads, 0, (uint32_t)tid);
	if (e)
		return &h->thread_list[e->value];
	if (h->nr_threads == HTML_OPEN) {
		kt_sink_miss(h->s, "states of threads beyond 1048576", 1);
		return NULL;
	}
	if (!(h->nr_threads & (h->nr_threads - 1))) {
		more = realloc(h->thread_list,
			       (h->nr_threads ? h->nr_threads * 2 : 1) *
				       sizeof(*more));
		if (!more) {
			html_no_memory(h);
			return NULL;
		}
		h->thread_list = more;
	}
	e = kt_map_put(&h->threads, 0, (uint32_t)tid);
	if (!e) {
		html_no_memory(h);
		return NULL;
	}
	e->value = h->nr_threads++;
	more = &h->thread_list[e->value];
	*more = (struct html_thread){ .tid = tid, .waker = -1 };
	return more;
}

/*
 * Add a span of a thread from @begin to @end, unless it is empty.  A call is added in any case: it
 * has happened, even if the clock shows one time at its begin and its end.
 */
static void add_track_span(struct html *h, const struct html_thread *t,
			   struct html_span *s, int64_t begin, int64_t end)
{
	s->tid = t->tid;
	s->begin = begin;
	s->dur = html_lasts(begin, end);
	if (begin < h->lost_to)
		s->flags |= HTML_UNSURE;
	if (s->dur || s->kind == HTML_CALL)
		html_span(h, s);
}

/* Add the time that a thread stood in its run queue: it stood in others, too, in this wait. */
static void add_queue(struct html *h, const struct html_thread *t,
		      int64_t begin, int64_t end)
{
	struct html_span s = {
		.kind = HTML_QUEUE,
		.cpu = t->queue,
		.name = t->name,
	};

	add_track_span(h, t, &s, begin, end);
}

/*
 * End the wait of a thread at @now: blocked, then runnable; one span if it left the CPU runnable or
 * was not woken.  A wait has the CPU of the last run queue; if there were others, spans of
 * HTML_QUEUE have all of them.  @flags: HTML_NO_END if the wait goes on.
 */
static void end_track_wait(struct html *h, const struct html_thread *t,
			   int64_t now, uint8_t flags)
{
	struct html_span s = {
		.kind = HTML_WAIT,
		.flags = t->flags,
		.cpu = t->queue,
		.name = t->reason,
		.a = t->waker,
		.b = t->state,
	};
	int64_t ready = t->queued ? t->ready : t->waking;

	if (t->doing == HTML_READY || !t->woken)
		ready = now;
	/* What was not woken is still blocked: it is the blocked part that has no end. */
	if (t->woken ? 0 : flags & HTML_NO_END)
		s.flags |= HTML_NO_END;
	add_track_span(h, t, &s, t->since, ready);
	s.flags = flags;
	s.b = HTML_WOKEN;
	add_track_span(h, t, &s, ready, now);
	if (t->moved)
		add_queue(h, t, t->queue_since, now);
}

static void end_track_run(struct html *h, const struct html_thread *t,
			  int64_t now, uint32_t state, uint8_t flags)
{
	struct html_span s = {
		.kind = HTML_ON,
		.flags = t->flags | flags,
		.cpu = t->cpu,
		.name = t->name,
		.b = state,
	};

	add_track_span(h, t, &s, t->since, now);
}

static void end_track_call(struct html *h, struct html_thread *t, int64_t now,
			   int64_t result, uint8_t flags)
{
	struct html_span s = {
		.kind = HTML_CALL,
		.flags = flags,
		.cpu = t->cpu,
		.name = t->call_name,
		.a = result,
		.b = t->call,
	};

	t->in_call = false;
	add_track_span(h, t, &s, t->call_since, now);
}

/**
 * html_thread_on() - a thread begins to run
 * @h: the page
 * @tid: the thread
 * @cpu: where
 * @now: when
 * @flags: HTML_NO_BEGIN if it ran before
 * @name: its name
 */
void html_thread_on(struct html *h, int32_t tid, uint32_t cpu, int64_t now,
		    uint8_t flags, uint32_t name)
{
	struct html_thread *t = html_thread(h, tid);

	if (!t)
		return;
	if (t->doing == HTML_RUNS)
		end_track_run(h, t, now, KTAPE_STATE_R, HTML_NO_END);
	t->cpu = cpu;
	/* Without a wake-up in the trace, the queue is taken to be that of this CPU. */
	if (!t->queued && t->doing != HTML_READY)
		t->queue = cpu;
	if (t->doing == HTML_READY || t->doing == HTML_BLOCKED)
		end_track_wait(h, t, now, 0);
	t->doing = HTML_RUNS;
	t->since = now;
	t->name = name;
	t->flags = flags;
}

/**
 * html_thread_off() - a thread no longer runs
 * @h: the page
 * @tid: the thread
 * @now: when
 * @state: enum ktape_task_state with which it leaves; UINT32_MAX = unknown
 * @flags: HTML_NO_END if it may run on
 */
void html_thread_off(struct html *h, int32_t tid, int64_t now, uint32_t state,
		     uint8_t flags)
{
	struct html_thread *t = html_thread(h, tid);
	const char *name;

	if (!t)
		return;
	if (t->doing == HTML_RUNS)
		end_track_run(h, t, now, state, flags);
	/* The system call in which a thread ends never returns. */
	if (t->in_call && (state == KTAPE_STATE_X || state == KTAPE_STATE_Z))
		end_track_call(h, t, now, 0, HTML_NO_END);
	t->doing = HTML_BLOCKED;
	if (state == KTAPE_STATE_R || state == KTAPE_STATE_PREEMPTED)
		t->doing = HTML_READY;
	else if (state == KTAPE_STATE_X || state == KTAPE_STATE_Z ||
		 state == UINT32_MAX)
		t->doing = HTML_UNKNOWN;
	name = ktape_value_name(KTAPE_TYPE_STATE, state);
	if (t->in_call)
		t->reason = t->call_name;
	else
		t->reason = html_string(h, name ? name : "",
					name ? strlen(name) : 0);
	t->since = now;
	t->state = state;
	t->woken = t->queued = t->moved = false;
	t->waker = -1;
	t->flags = 0;
	/* What was preempted stands in the run queue of this CPU. */
	t->queue = t->cpu;
	t->queue_since = now;
}

/**
 * html_thread_wakes() - process a wake-up, or why a thread blocks
 * @h: the page
 * @l: sched_waking, sched_wakeup, sched_wakeup_new or sched_blocked
 * @now: time of the event
 */
void html_thread_wakes(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	struct html_thread *t = html_thread(h, (int32_t)ktape_event_arg(e, 0));

	if (!t || t->doing == HTML_RUNS || t->doing == HTML_READY)
		return;
	if (e->opcode == KTAPE_EV_SCHED_BLOCKED) {
		t->reason = html_name(h, l, KTAPE_TYPE_FUNC, ktape_event_arg(e, 1));
		return;
	}
	/* Since when it waits, and how, the trace does not say: take it to sleep since now. */
	if (t->doing == HTML_UNKNOWN) {
		t->doing = HTML_BLOCKED;
		t->since = now;
		t->woken = t->queued = t->moved = false;
		t->queue = t->cpu;
		t->reason = 0;
		t->state = KTAPE_STATE_S;
	}
	if (!t->woken) {
		t->woken = true;
		t->waking = now;
		t->waker = e->tid;
	}
	if (e->opcode != KTAPE_EV_SCHED_WAKING && !t->queued) {
		t->queued = true;
		t->ready = t->queue_since = now;
		t->queue = e->dat20 >> PRIO_BITS & CPU_MASK;
	}
}

/**
 * html_thread_moves() - a thread moves to another CPU
 * @h: the page
 * @e: sched_migrate_task, which fits the event table
 * @now: its time
 */
void html_thread_moves(struct html *h, const struct ktape_event *e, int64_t now)
{
	struct html_thread *t = html_thread(h, (int32_t)ktape_event_arg(e, 0));

	if (!t || (t->doing != HTML_READY && !t->queued))
		return;
	add_queue(h, t, t->queue_since, now);
	t->moved = true;
	t->queued = true;
	t->queue_since = now;
	t->queue = e->dat20 >> PRIO_BITS & CPU_MASK;
}

/**
 * html_thread_call() - process the begin or the end of a system call
 * @h: the page
 * @l: the event, which fits the event table
 * @now: its time
 */
void html_thread_call(struct html *h, const struct kt_line *l, int64_t now)
{
	const struct ktape_event *e = l->event;
	bool enter = e->opcode == KTAPE_EV_SYS_ENTER ||
		     e->opcode == KTAPE_EV_SYS_ENTER_WIDE;
	struct html_thread *t = html_thread(h, e->tid);
	uint32_t call = e->dat20 & KT_CALL_KEY;

	if (!t)
		return;
	if (enter) {
		if (t->in_call)
			end_track_call(h, t, now, 0, HTML_NO_END);
		t->in_call = true;
		t->call = call;
		t->call_since = now;
		t->call_name = html_name(h, l, KTAPE_TYPE_SYSCALL, call & 0xffff);
		return;
	}
	/* The exit of rt_sigreturn() has no number. */
	if (!t->in_call || (t->call != call && !(e->dat20 & KT_CALL_LARGE)))
		return;
	end_track_call(h, t, now,
		       (int64_t)kt_get64(e->opcode == KTAPE_EV_SYS_EXIT_WIDE ?
						 e->blob :
						 e->args),
		       0);
}

/**
 * html_thread_exit() - a thread ends: its system call never returns
 * @h: the page
 * @l: the event
 * @now: its time
 */
void html_thread_exit(struct html *h, const struct kt_line *l, int64_t now)
{
	struct html_thread *t =
		html_thread(h, (int32_t)ktape_event_arg(l->event, 0));

	if (t && t->in_call)
		end_track_call(h, t, now, 0, HTML_NO_END);
}

static void end_track_thread(struct html *h, struct html_thread *t, int64_t now)
{
	if (t->doing == HTML_RUNS)
		end_track_run(h, t, now, KTAPE_STATE_R, HTML_NO_END);
	else if (t->doing != HTML_UNKNOWN)
		end_track_wait(h, t, now, HTML_NO_END);
	if (t->in_call)
		end_track_call(h, t, now, 0, HTML_NO_END);
}

/**
 * html_threads_pause() - from now on nothing is known about the threads
 * @h: the page
 * @now: the time
 */
void html_threads_pause(struct html *h, int64_t now)
{
	for (size_t i = 0; i < h->nr_threads; i++) {
		end_track_thread(h, &h->thread_list[i], now);
		h->thread_list[i].doing = HTML_UNKNOWN;
	}
}

/**
 * html_threads_end() - end what all threads do
 * @h: the page
 * @now: end of the trace
 */
void html_threads_end(struct html *h, int64_t now)
{
	for (size_t i = 0; i < h->nr_threads; i++)
		end_track_thread(h, &h->thread_list[i], now);
}
