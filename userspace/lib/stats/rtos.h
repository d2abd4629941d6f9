/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of the statistics of an RTOS trace.  Read the files in this order; each calls only
 * those before it: rtos_thread.c, count.c, context.c, inversion.c, rtos.c.
 */
#ifndef _KT_STATS_RTOS_H
#define _KT_STATS_RTOS_H

#include "rtos/threadx.h"

#define KT_RTOS_NEVER UINT64_MAX /* "no event" as an event number */

/* Limits that can be exceeded. */
enum kt_rtos_left {
	KT_RTOS_LEFT_EVENTS,  /* events of the trace */
	KT_RTOS_LEFT_THREADS, /* threads that the registry names */
	KT_RTOS_LEFT_THEIRS,  /* events of threads beyond that limit */
	KT_RTOS_LEFT
};

/**
 * struct kt_rtos_event - an event, with members for its analysis
 * @e: the public part; must be first, because callers get a pointer to it
 * @threshold: preemption threshold, or KTAPE_RTOS_UNKNOWN
 * @same: number of the next event of the same thread, or KT_RTOS_NEVER
 */
struct kt_rtos_event {
	struct ktape_rtos_event e;
	uint32_t threshold;
	uint64_t same;
};

/**
 * struct kt_rtos_thread - a thread with the list of its events
 * @t: the public part; must be first, because callers get a pointer to it
 * @first: number of its first event, or KT_RTOS_NEVER
 * @cursor: number of its first event that kt_rtos_next_of() has not passed
 * @first_prio: priority at its first event or at its creation
 * @first_threshold: preemption threshold at that event; these and the following two are
 *	KTAPE_RTOS_UNKNOWN if not known
 * @prio: current priority while the events are walked
 * @threshold: current preemption threshold while the events are walked
 */
struct kt_rtos_thread {
	struct ktape_rtos_thread t;
	uint64_t first;
	uint64_t cursor;
	uint32_t first_prio;
	uint32_t first_threshold;
	uint32_t prio;
	uint32_t threshold;
};

/**
 * struct kt_rtos_events - the events of one core
 * @list: the events in order of time
 * @nr: number of events
 * @room: allocated entries of @list
 * @base: number of events of all lower cores
 */
struct kt_rtos_events {
	struct kt_rtos_event *list;
	uint64_t nr;
	uint64_t room;
	uint64_t base;
};

/**
 * struct ktape_rtos - the statistics
 * @head: header of a TraceX trace
 * @foreign: the trace came from TraceX
 * @map: converts the events of other traces to TraceX events
 * @cores: events by core
 * @nr_cores: number of entries in @cores
 * @nr_events: number of events of all cores
 * @first: time of the first event, in ticks
 * @left: how often each limit was exceeded
 * @seed: seed of the hash for @table
 * @threads: all threads, in the order in which they appeared
 * @nr_threads: number of threads
 * @room_threads: allocated entries of @threads
 * @table: hash table of index + 1 in @threads, by address
 * @table_size: entries of @table, a power of two
 * @counts: by event id: index + 1 in the result of ktape_rtos_popular(); all 0
 *	outside that function
 * @totals: totals for the caller
 * @finished: ktape_rtos_finish() was called
 */
struct ktape_rtos {
	struct kt_threadx_head head;
	bool foreign;
	struct kt_threadx_map map;
	struct kt_rtos_events *cores;
	uint32_t nr_cores;
	uint64_t nr_events;
	uint64_t first;
	uint64_t left[KT_RTOS_LEFT];
	uint64_t seed;
	struct kt_rtos_thread *threads;
	uint32_t nr_threads;
	uint32_t room_threads;
	uint32_t *table;
	uint32_t table_size;
	uint32_t *counts;
	struct ktape_rtos_totals totals;
	bool finished;
};

/* rtos_thread.c */
struct kt_rtos_thread *kt_rtos_find(const struct ktape_rtos *r, uint32_t address);
struct kt_rtos_thread *kt_rtos_add(struct ktape_rtos *r, uint32_t address);
int kt_rtos_make_room(struct kt_rtos_events *events, uint64_t nr);

/*
 * context.c, for one core: kt_rtos_contexts() sets what runs after each event, kt_rtos_fill()
 * inserts RUNNING events.  kt_rtos_link() makes the list of each thread, for kt_rtos_next_of(); if
 * there are lists already, kt_rtos_forget() comes before.
 */
void kt_rtos_forget(struct ktape_rtos *r, const struct kt_rtos_events *events);
void kt_rtos_link(struct ktape_rtos *r, struct kt_rtos_events *events);
uint64_t kt_rtos_next_of(struct kt_rtos_thread *t,
			 const struct kt_rtos_event *list, uint64_t from);
void kt_rtos_contexts(struct ktape_rtos *r, struct kt_rtos_events *events);
int kt_rtos_fill(struct ktape_rtos *r, struct kt_rtos_events *events);

/* count.c */
void kt_rtos_count(struct ktape_rtos *r, const struct kt_rtos_events *events);

/* inversion.c */
int kt_rtos_inversions(struct ktape_rtos *r, struct kt_rtos_events *events);

/* Check whether a context is a thread or idle, so neither an interrupt nor the initialisation. */
static inline bool kt_rtos_thread_or_idle(uint32_t context)
{
	return kt_threadx_is_thread(context);
}

#endif /* _KT_STATS_RTOS_H */
