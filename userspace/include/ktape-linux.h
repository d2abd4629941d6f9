/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: CPU times, latencies and wait times of a Linux trace.
 *
 * Included by ktape.h.  Statistics of RTOS and RKH traces are in ktape-stats.h.
 */
#ifndef _KTAPE_LINUX_H
#define _KTAPE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktape-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ktape_series_kind - what is measured
 * @KTAPE_SERIES_RUN_QUEUE: from runnable (woken up, or preempted) to running
 * @KTAPE_SERIES_WAKEUP: from the start of the wake-up to running
 * @KTAPE_SERIES_IRQ: an interrupt handler, by interrupt number
 * @KTAPE_SERIES_IPI: an interrupt from another CPU, by reason
 * @KTAPE_SERIES_TICK: the CPU's local timer interrupt, by vector
 * @KTAPE_SERIES_SOFTIRQ: a soft interrupt, by vector
 * @KTAPE_SERIES_SOFTIRQ_WAIT: from the first raise to the start
 * @KTAPE_SERIES_SYSCALL: a system call, by table << 16 | number
 * @KTAPE_SERIES_WORK: a work item, by function
 * @KTAPE_SERIES_WORK_WAIT: from queueing to the start
 * @KTAPE_SERIES_TIMER: a timer callback, by function
 * @KTAPE_SERIES_TIMER_LATE: lateness of a timer, in jiffies
 * @KTAPE_SERIES_HRTIMER: a high-resolution timer callback, by function
 * @KTAPE_SERIES_HRTIMER_LATE: lateness of a high-resolution timer
 * @KTAPE_SERIES_BLOCK: a block request, from issue to completion, by device
 * @KTAPE_SERIES_BLOCK_WAIT: a block request, from queueing to issue
 * @KTAPE_SERIES_KINDS: number of kinds
 */
enum ktape_series_kind {
	KTAPE_SERIES_RUN_QUEUE,
	KTAPE_SERIES_WAKEUP,
	KTAPE_SERIES_IRQ,
	KTAPE_SERIES_IPI,
	KTAPE_SERIES_TICK,
	KTAPE_SERIES_SOFTIRQ,
	KTAPE_SERIES_SOFTIRQ_WAIT,
	KTAPE_SERIES_SYSCALL,
	KTAPE_SERIES_WORK,
	KTAPE_SERIES_WORK_WAIT,
	KTAPE_SERIES_TIMER,
	KTAPE_SERIES_TIMER_LATE,
	KTAPE_SERIES_HRTIMER,
	KTAPE_SERIES_HRTIMER_LATE,
	KTAPE_SERIES_BLOCK,
	KTAPE_SERIES_BLOCK_WAIT,
	KTAPE_SERIES_KINDS
};

#define KTAPE_SERIES_ALL UINT64_MAX /* key of the series of a whole kind */

/**
 * struct ktape_series - values of one kind, for one key or for all keys
 * @kind: enum ktape_series_kind
 * @key: number within the kind (IRQ, function ...), or KTAPE_SERIES_ALL
 * @name: name for users; name of the kind for KTAPE_SERIES_ALL
 * @unit: "ns" or "jiffies"
 * @count: number of values
 * @sum: sum of all values
 * @min: smallest value
 * @max: largest value
 * @uncertain: intervals not in @count, because events were lost inside them
 * @errors: values of @count that ended with -errno
 * @error: the most recent errno
 * @max_tid: thread of @max: that waited, or that ran at its end; -1 = not known
 * @max_ts: when @max ended, in ticks
 * @max_cpu: CPU where it ended
 */
struct ktape_series {
	uint32_t kind;
	uint64_t key;
	char name[64];
	const char *unit;
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint64_t uncertain;
	uint64_t errors;
	int error;
	int32_t max_tid;
	uint64_t max_ts;
	uint32_t max_cpu;
};

/**
 * struct ktape_quantile - a quantile, with bounds because of lost events
 * @value: quantile of the measured values, up to 1/32 too large
 * @low: the quantile if all lost values were smaller
 * @high: the quantile if all lost values were larger; UINT64_MAX = no bound
 */
struct ktape_quantile {
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * struct ktape_linux_cpu - how a CPU spent its time, in ns
 * @cpu: CPU number
 * @seen: the trace has an event of this CPU
 * @run: time in threads
 * @idle: idle time
 * @irq: time in hard interrupts of all kinds
 * @softirq: time in soft interrupts
 * @unknown: time that cannot be attributed
 * @switches: number of thread switches
 * @lost: number of lost events
 * @gaps: number of places where events were lost
 * @uncounted: places of @gaps where the number of lost events is not known
 * @overwritten: number of events that were overwritten before the trace begins there, as
 *	far as counted; they are not lost
 * @late: the CPU's ring begins later than the trace, because of that
 */
struct ktape_linux_cpu {
	uint32_t cpu;
	bool seen;
	uint64_t run;
	uint64_t idle;
	uint64_t irq;
	uint64_t softirq;
	uint64_t unknown;
	uint64_t switches;
	uint64_t lost;
	uint64_t gaps;
	uint64_t uncounted;
	uint64_t overwritten;
	bool late;
};

/**
 * struct ktape_linux_thread - times of a thread
 * @tid: thread id
 * @tgid: process id, 0 = not known
 * @name: last name of the thread
 * @run: ns on a CPU, without interrupts
 * @wait: ns runnable but not running
 * @wait_max: longest wait in ns
 * @waits: number of waits
 * @switches: how often the thread was switched in
 */
struct ktape_linux_thread {
	int32_t tid;
	uint32_t tgid;
	char name[KTAPE_NAME_SIZE + 1];
	uint64_t run;
	uint64_t wait;
	uint64_t wait_max;
	uint64_t waits;
	uint64_t switches;
};

/**
 * struct ktape_linux_instead - what ran on a CPU while a thread stood in its run queue
 * @tid: thread that waited
 * @other: thread that ran; 0 = the CPU was idle; -1 = not known
 * @ns: how long @other ran during these waits
 * @count: number of waits
 */
struct ktape_linux_instead {
	int32_t tid;
	int32_t other;
	uint64_t ns;
	uint64_t count;
};

/* Statistics of a Linux trace. */
struct ktape_linux;

/**
 * ktape_linux_new() - Create statistics
 * @info: metadata of the trace; must stay valid
 * @registry: names; must stay valid
 * @linux_stats: set on success; release with ktape_linux_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_new(const struct ktape_info *info,
		    const struct ktape_registry *registry,
		    struct ktape_linux **linux_stats);

/**
 * ktape_linux_take() - Add an event
 * @linux_stats: the statistics
 * @event: the event; events must be added in order of time
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_take(struct ktape_linux *linux_stats,
		     const struct ktape_event *event);

/**
 * ktape_linux_notice() - Add a loss of events
 * @linux_stats: the statistics
 * @notice: kinds other than KTAPE_NOTICE_LOST are ignored
 */
void ktape_linux_notice(struct ktape_linux *linux_stats,
			const struct ktape_notice *notice);

/**
 * ktape_linux_finish() - Compute the results after the last event
 * @linux_stats: the statistics
 *
 * CPUs, threads, series and waits are complete and in order only after it.  They are valid until
 * ktape_linux_restart(), without which no further event may be added, or ktape_linux_free().
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_finish(struct ktape_linux *linux_stats);

/**
 * ktape_linux_advance() - Account times up to a time after the last event
 * @linux_stats: the statistics
 * @ts: the time, in ticks; earlier times than that of the last event do nothing
 *
 * Without this, ktape_linux_finish() accounts times up to the last event.
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_advance(struct ktape_linux *linux_stats, uint64_t ts);

/**
 * ktape_linux_restart() - Begin the next interval of a trace
 * @linux_stats: the statistics, after ktape_linux_finish()
 *
 * The results are empty again, and memory for them is released.  The threads that run
 * and the intervals that are open stay known: an interval counts where it ends.
 * ktape_linux_take() may be called again.
 */
void ktape_linux_restart(struct ktape_linux *linux_stats);

/**
 * ktape_linux_span() - Return the time from the first to the last event
 * @linux_stats: the statistics
 *
 * Where rings were overwritten, it begins with the first event of a ring that has them, not
 * with older control records.
 *
 * Return: nanoseconds.
 */
uint64_t ktape_linux_span(const struct ktape_linux *linux_stats);

/**
 * ktape_series_name() - Return the name of a kind of series
 * @kind: enum ktape_series_kind
 *
 * Return: the name, as "irq" in "irq.p99", or NULL.
 */
const char *ktape_series_name(unsigned int kind);

/**
 * ktape_linux_series() - Return a series by its index
 * @linux_stats: the statistics
 * @i: index, from 0; the first KTAPE_SERIES_KINDS have the key KTAPE_SERIES_ALL, the
 *	others are sorted by kind, then by sum, largest first
 *
 * Return: the series, or NULL after the last one.
 */
const struct ktape_series *ktape_linux_series(const struct ktape_linux *linux_stats,
					      size_t i);

/**
 * ktape_linux_quantile() - Compute a quantile of a series
 * @linux_stats: the statistics
 * @i: index of the series, which must have values
 * @millionth: the quantile in millionths; 500000 = median
 * @quantile: filled
 *
 * The bounds assume that each lost event may have been one more value of any size.
 */
void ktape_linux_quantile(const struct ktape_linux *linux_stats, size_t i,
			  uint32_t millionth, struct ktape_quantile *quantile);

/**
 * ktape_linux_bucket() - Count the values of a series in a power-of-two range
 * @linux_stats: the statistics
 * @i: index of the series
 * @power: number of bits of the values
 *
 * Return: number of values from 2^(@power - 1) to 2^@power - 1; for @power 0 the
 * number of zeros.
 */
uint64_t ktape_linux_bucket(const struct ktape_linux *linux_stats, size_t i,
			    unsigned int power);

/**
 * ktape_linux_cpu() - Return a CPU by its index
 * @linux_stats: the statistics
 * @i: index, from 0
 *
 * Return: the CPU, or NULL after the last one.
 */
const struct ktape_linux_cpu *ktape_linux_cpu(const struct ktape_linux *linux_stats,
					      uint32_t i);

/**
 * ktape_linux_thread() - Return a thread by its index
 * @linux_stats: the statistics
 * @i: index, from 0; the thread that ran longest comes first
 *
 * Return: the thread, or NULL after the last one.
 */
const struct ktape_linux_thread *
ktape_linux_thread(const struct ktape_linux *linux_stats, size_t i);

/**
 * ktape_linux_instead() - Return which thread ran while another one waited
 * @linux_stats: the statistics
 * @i: index, from 0; the longest time comes first
 *
 * Return: the entry, or NULL after the last one.
 */
const struct ktape_linux_instead *
ktape_linux_instead(const struct ktape_linux *linux_stats, size_t i);

/**
 * ktape_linux_longest_wait() - Return the longest wait of a thread for a CPU
 * @linux_stats: the statistics, finished
 *
 * The largest value of KTAPE_SERIES_RUN_QUEUE says when it ended.
 *
 * Return: the waiting thread, and the thread that ran longest in sum meanwhile, on the
 * CPUs in whose run queues the first one stood, with that time; NULL if no thread waited.
 */
const struct ktape_linux_instead *
ktape_linux_longest_wait(const struct ktape_linux *linux_stats);

/**
 * ktape_linux_left_out() - Return what exceeded the limits of the statistics
 * @linux_stats: the statistics
 * @i: index, from 0
 * @what: set to a description that can be the subject of a sentence
 *
 * Return: how many were left out, 0 after the last description.
 */
uint64_t ktape_linux_left_out(const struct ktape_linux *linux_stats,
			      unsigned int i, const char **what);

/**
 * ktape_linux_free() - Free the statistics
 * @linux_stats: the statistics, or NULL
 */
void ktape_linux_free(struct ktape_linux *linux_stats);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_LINUX_H */
