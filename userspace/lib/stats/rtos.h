/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of threads while they are made. */
#ifndef _KT_STATS_RTOS_H
#define _KT_STATS_RTOS_H

#include "format/tracex/tracex.h"

#define KT_RTOS_NEVER	UINT64_MAX	/* number of no event */

/* What there can be too much of. */
enum kt_rtos_left {
	KT_RTOS_LEFT_EVENTS,
	KT_RTOS_LEFT_THREADS,
	KT_RTOS_LEFT_THEIRS,
	KT_RTOS_LEFT
};

/**
 * struct kt_rtos_event - an event, and what is needed to count it
 * @e: what is shown; first, as others see only that
 * @threshold: of preemption, or KTAPE_RTOS_UNKNOWN
 * @same: number of the next event of its thread
 */
struct kt_rtos_event {
	struct ktape_rtos_event e;
	uint32_t threshold;
	uint64_t same;
};

/**
 * struct kt_rtos_thread - a thread, and where its events are
 * @t: what is shown; first
 * @first: number of its first event
 * @cursor: of its first one that was not passed
 * @first_prio: of its first event, or given when it was made
 * @prio: the last one
 * @threshold: the last one
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
 * struct kt_rtos_events - events of one core
 * @list: they, in the order of time
 * @nr: how many
 * @room: for so many
 * @base: events of the cores before it, when all are counted
 */
struct kt_rtos_events {
	struct kt_rtos_event *list;
	uint64_t nr;
	uint64_t room;
	uint64_t base;
};

/**
 * struct ktape_rtos - all of it
 * @head: of a TraceX trace
 * @foreign: it is one
 * @map: what makes one of a native trace
 * @cores: events by core
 * @nr_cores: the highest number + 1
 * @nr_events: of all cores
 * @first: time of the first event
 * @left: what there was no room for
 * @seed: of @table
 * @threads: all, in the order in which they were told
 * @nr_threads: how many
 * @room_threads: room for so many
 * @table: their numbers + 1 by address
 * @table_size: a power of two
 * @counts: for each number of an event 0, or while services are counted its place
 * @totals: what is counted
 * @finished: no more events
 */
struct ktape_rtos {
	struct kt_tracex_head head;
	bool foreign;
	struct kt_tracex_map map;
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

/* stats_rtos.c */
struct kt_rtos_event *kt_rtos_add(struct ktape_rtos *r, uint32_t core);
struct kt_rtos_thread *kt_rtos_find(const struct ktape_rtos *r,
				    uint32_t address);
int kt_rtos_make_room(struct kt_rtos_events *events, uint64_t nr);

/* stats_context.c */
void kt_rtos_forget(struct ktape_rtos *r, const struct kt_rtos_events *events);
void kt_rtos_link(struct ktape_rtos *r, struct kt_rtos_events *events);
uint64_t kt_rtos_next_of(struct kt_rtos_thread *t,
			 const struct kt_rtos_event *list, uint64_t from);
void kt_rtos_contexts(struct ktape_rtos *r, struct kt_rtos_events *events);
int kt_rtos_fill(struct ktape_rtos *r, struct kt_rtos_events *events);

/* stats_count.c */
void kt_rtos_count(struct ktape_rtos *r, const struct kt_rtos_events *events);

/* stats_inversion.c */
int kt_rtos_inversions(struct ktape_rtos *r, struct kt_rtos_events *events);

static inline bool kt_rtos_runs(uint32_t context)
{
	return kt_tracex_is_thread(context);
}

#endif /* _KT_STATS_RTOS_H */
