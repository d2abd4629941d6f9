/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statistics of threads while they are made. */
#ifndef _KT_STATS_RTOS_H
#define _KT_STATS_RTOS_H

#include "tracex.h"
#include "tracex_map.h"

#define KT_RTOS_NEVER	UINT64_MAX	/* number of no event */

/**
 * struct kt_rtos_event - an event, and what is needed to count it
 * @e: what is shown; first, as others see only that
 * @core: where
 * @threshold: of preemption, or KTAPE_RTOS_UNKNOWN
 * @same: number of the next event of its thread
 */
struct kt_rtos_event {
	struct ktape_rtos_event e;
	uint32_t core;
	uint32_t threshold;
	uint64_t same;
};

/**
 * struct kt_rtos_thread - a thread, and where its events are
 * @t: what is shown; first
 * @first: number of its first event
 * @cursor: of its first one that was not passed
 * @tail: of the last one that was linked
 * @first_prio: of its first event, or given when it was made
 * @prio: the last one
 * @threshold: the last one
 */
struct kt_rtos_thread {
	struct ktape_rtos_thread t;
	uint64_t first;
	uint64_t cursor;
	uint64_t tail;
	uint32_t first_prio;
	uint32_t first_threshold;
	uint32_t prio;
	uint32_t threshold;
};

struct kt_rtos_events {
	struct kt_rtos_event *list;
	uint64_t nr;
	uint64_t room;
};

/**
 * struct ktape_rtos - all of it
 * @head: of a TraceX trace
 * @foreign: it is one
 * @map: what makes one of a native trace
 * @raw: events as they came
 * @out: as they are counted
 * @threads: all, in the order in which they were told
 * @nr_threads: how many
 * @room_threads: room for so many
 * @table: their numbers + 1 by address
 * @table_size: a power of two
 * @cores: the highest number + 1
 * @totals: what is counted
 * @finished: no more events
 */
struct ktape_rtos {
	struct kt_tracex_head head;
	bool foreign;
	struct kt_tracex_map map;
	struct kt_rtos_events raw;
	struct kt_rtos_events out;
	struct kt_rtos_thread *threads;
	uint32_t nr_threads;
	uint32_t room_threads;
	uint32_t *table;
	uint32_t table_size;
	uint32_t cores;
	struct ktape_rtos_totals totals;
	bool finished;
};

/* stats_rtos.c */
struct kt_rtos_event *kt_rtos_add(struct kt_rtos_events *events);
struct kt_rtos_thread *kt_rtos_find(const struct ktape_rtos *r,
				    uint32_t address);

/* stats_context.c */
void kt_rtos_link(struct ktape_rtos *r, struct kt_rtos_event *list,
		  uint64_t nr);
uint64_t kt_rtos_next_of(struct kt_rtos_thread *t,
			 const struct kt_rtos_event *list, uint64_t from);
void kt_rtos_contexts(struct ktape_rtos *r, struct kt_rtos_event *list,
		      uint64_t nr);
int kt_rtos_fill(struct ktape_rtos *r, const struct kt_rtos_event *list,
		 uint64_t nr);

/* stats_count.c */
void kt_rtos_count(struct ktape_rtos *r, struct kt_rtos_event *list,
		   uint64_t nr);

/* stats_inversion.c */
int kt_rtos_inversions(struct ktape_rtos *r, struct kt_rtos_event *list,
		       uint64_t nr);

static inline bool kt_rtos_runs(uint32_t context)
{
	return kt_tracex_is_thread(context);
}

#endif /* _KT_STATS_RTOS_H */
