/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * State of the statistics of a Linux trace.  Read the files in this order; each calls only those
 * before it: hist.c, linux_series.c, linux_thread.c, linux_queue.c, linux_switch.c,
 * linux_pair.c, linux.c.
 */
#ifndef _KT_STATS_LINUX_H
#define _KT_STATS_LINUX_H

#include "stats/hist.h"
#include "show/line.h"
#include "util/map.h"
#include "stream/event.h"

#define KT_SL_NEST 16U /* most nested interrupts of a CPU */

/*
 * Each CPU remembers in a ring which threads ran on it.  When a wait for a CPU ends, the entries
 * of its time are checked, to say who ran instead.  PAST bounds the entries of the rings, CHECKS
 * how many are checked (take_ran_check() says why).
 */
#define KT_SL_PAST	   256U	      /* entries of a CPU at first */
#define KT_SL_PAST_MOST	   65536U     /* of a CPU at most, a power of two */
#define KT_SL_PAST_ALL	   (1U << 20) /* of all CPUs, beyond KT_SL_PAST of each */
#define KT_SL_CHECKS	   (1U << 20) /* checks that are free at the beginning */
#define KT_SL_CHECKS_MORE  64U	      /* that each event adds */
#define KT_SL_CHECKS_LEAST 256U	      /* that each wait has in any case */

#define KT_SL_TID_NONE (-1)
#define KT_SL_CPU_NONE UINT32_MAX
#define KT_SL_MOVES    8U /* moves of a waiting thread whose CPUs are remembered */
#define KT_SL_SERIES \
	8192U /* most series, without the one for each whole kind */
#define KT_SL_THREADS (1U << 20) /* most threads */
#define KT_SL_PAIRS \
	(1U << 19) /* most pairs of a thread that waited and one that ran */
#define KT_SL_OPEN (1U << 20) /* most open intervals */

/* Limits that can be exceeded. */
enum kt_sl_left {
	KT_SL_LEFT_SERIES,
	KT_SL_LEFT_THREADS,
	KT_SL_LEFT_PAIRS,
	KT_SL_LEFT_OPEN,
	KT_SL_LEFT_CHECKS,
	KT_SL_LEFT
};

/* Kinds of open intervals; the comment names the key. */
enum kt_sl_open {
	KT_SL_WOKEN,	/* tid */
	KT_SL_RUNNABLE, /* tid; see linux_queue.c */
	KT_SL_CALL,	/* tid */
	KT_SL_RAISED,	/* CPU, vector */
	KT_SL_QUEUED,	/* work item */
	KT_SL_WORKING,	/* tid, of a thread that executes a work item */
	KT_SL_TIMER,	/* CPU, timer */
	KT_SL_HRTIMER,	/* the same */
	KT_SL_INSERTED, /* device, sector */
	KT_SL_ISSUED,	/* the same */
	KT_SL_MOVED	/* tid; KT_SL_MOVES kinds from here on */
};

/* A running interrupt handler: series of its kind, number, and begin in ticks. */
struct kt_sl_irq {
	uint8_t kind;
	uint32_t id;
	uint64_t begin;
};

/* A thread that ran on a CPU, and since when, in ticks. */
struct kt_sl_past {
	int32_t tid;
	uint64_t from;
};

/**
 * struct kt_sl_cpu - a CPU
 * @result: result for the caller
 * @profiled: a profile was recorded, @mask is valid
 * @mask: bit n: opcode n is enabled; all 0: nothing is recorded
 * @tid: running thread, or KT_SL_TID_NONE
 * @unreported: a context record said that the running thread is not known any more
 * @last: time up to which the CPU's time is accounted, in ticks
 * @blind: before the first event: time up to which events are missing
 * @depth: number of running interrupt handlers
 * @irqs: running interrupt handlers, the innermost last
 * @past: ring of the threads that ran
 * @room: entries of @past, a power of two
 * @next: number of entries written to @past so far, also those overwritten since
 */
struct kt_sl_cpu {
	struct ktape_linux_cpu result;
	bool profiled;
	uint64_t mask[KTAPE_MASK_WORDS];
	int32_t tid;
	bool unreported;
	uint64_t last;
	uint64_t blind;
	unsigned int depth;
	struct kt_sl_irq irqs[KT_SL_NEST];
	struct kt_sl_past *past;
	uint32_t room;
	uint64_t next;
};

/* A thread that ran, and how long. */
struct kt_sl_ran {
	int32_t tid;
	uint64_t ns;
};

/**
 * struct kt_sl_longest - the longest wait in run queues
 * @result: result for the caller
 * @ran: what ran meanwhile, each time that it did
 * @nr: number of entries in @ran
 */
struct kt_sl_longest {
	struct ktape_linux_instead result;
	struct kt_sl_ran *ran;
	size_t nr;
};

/**
 * struct kt_sl_thread - a thread
 * @result: result for the caller
 * @seen: time of the last event that counts for it, in ticks
 */
struct kt_sl_thread {
	struct ktape_linux_thread result;
	uint64_t seen;
};

/* A series: result for the caller, and histogram. */
struct kt_sl_series {
	struct ktape_series result;
	struct kt_hist hist;
};

/**
 * struct ktape_linux - the statistics
 * @info: metadata of the trace
 * @registry: names
 * @cpus: CPUs by number, NULL = no event yet
 * @nr_cpus: number of entries in @cpus
 * @open: open intervals by enum kt_sl_open and key
 * @series: indices in @list by kind and key
 * @list: all series
 * @nr_series: number of series
 * @threads: indices in @thread_list by tid
 * @thread_list: all threads
 * @nr_threads: number of threads
 * @pairs: indices in @instead by two tids
 * @instead: for two threads: how long one ran while the other waited
 * @nr_instead: number of pairs in @instead
 * @other: collects the times of threads beyond KT_SL_THREADS
 * @left: how often each limit was exceeded
 * @past: entries of all rings of threads that ran, beyond KT_SL_PAST of each
 * @checks: checks of entries that are left, [0] for waits, [1] for the longest wait so far
 * @lost: lost or overwritten events of all CPUs
 * @uncounted: losses of which the number of such events is not known
 * @lost_to: end of the last loss, or when a profile last enabled more events, in ticks:
 *	intervals that are open since before may have ended unseen
 * @late_to: the latest begin of a ring whose beginning was overwritten, in ticks, 0 = none
 * @first: time of the first event, in ticks
 * @last: time of the last event, in ticks
 * @begun: there was an event
 * @now: the event that is being added
 * @longest: the longest wait
 */
struct ktape_linux {
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	struct kt_sl_cpu **cpus;
	uint32_t nr_cpus;
	struct kt_map open;
	struct kt_map series;
	struct kt_sl_series **list;
	size_t nr_series;
	struct kt_map threads;
	struct kt_sl_thread *thread_list;
	size_t nr_threads;
	struct kt_map pairs;
	struct ktape_linux_instead *instead;
	size_t nr_instead;
	struct kt_sl_thread other;
	uint64_t left[KT_SL_LEFT];
	uint32_t past;
	uint64_t checks[2];
	uint64_t lost;
	uint64_t uncounted;
	uint64_t lost_to;
	uint64_t late_to;
	uint64_t first;
	uint64_t last;
	bool begun;
	const struct ktape_event *now;
	struct kt_sl_longest *longest;
};

/* linux_series.c */
int kt_sl_begin(struct ktape_linux *l);
struct kt_sl_series *kt_sl_series(struct ktape_linux *l, unsigned int kind,
				  uint64_t key, const struct ktape_event *e);
int kt_sl_add(struct ktape_linux *l, struct kt_sl_series *s, uint64_t value);
bool kt_sl_is_sure(const struct ktape_linux *l, unsigned int kind, uint64_t from);
int kt_sl_interval(struct ktape_linux *l, struct kt_sl_series *s, uint64_t from,
		   uint64_t to);
void kt_sl_sort(struct ktape_linux *l);
void kt_sl_restart(struct ktape_linux *l);
struct kt_map_entry *kt_sl_open(struct ktape_linux *l, unsigned int what,
				uint64_t key, int *err);

/* linux_thread.c */
struct ktape_linux_thread *kt_sl_thread(struct ktape_linux *l, int32_t tid);
void kt_sl_run(struct ktape_linux *l, struct kt_sl_cpu *c, int32_t tid, uint64_t ts);

/* linux_queue.c */
int kt_sl_queue(struct ktape_linux *l, int32_t tid, uint32_t cpu, uint64_t ts);
void kt_sl_unqueue(struct ktape_linux *l, int32_t tid);
int kt_sl_unwait(struct ktape_linux *l, int32_t tid, uint64_t to);
int kt_sl_move(struct ktape_linux *l, const struct ktape_event *e);
uint32_t kt_sl_target(const struct ktape_event *e);

/* linux_switch.c */
int kt_sl_switch(struct ktape_linux *l, struct kt_sl_cpu *c,
		 const struct ktape_event *e);
int kt_sl_wake(struct ktape_linux *l, const struct ktape_event *e);

/* linux_pair.c */
int kt_sl_pairs(struct ktape_linux *l, struct kt_sl_cpu *c,
		const struct ktape_event *e);

/* Make room for one more entry in an array that doubles; NULL = no memory. */
static inline void *kt_sl_more(void *array, size_t nr, size_t size)
{
	return nr & (nr - 1) ? array : realloc(array, (nr ? nr * 2 : 1) * size);
}

/* Return the nanoseconds from @from to @to. */
static inline uint64_t kt_sl_ns(const struct ktape_linux *l, uint64_t from,
				uint64_t to)
{
	return to > from ? ktape_ticks_to_ns(l->info, to - from) : 0;
}

#endif /* _KT_STATS_LINUX_H */
