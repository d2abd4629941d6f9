/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: times and latencies of a trace of Linux.  Included by ktape.h. */
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
 * @KTAPE_SERIES_WAKEUP: from the begin of the wake-up to running
 * @KTAPE_SERIES_IRQ: an interrupt handler, by its number
 * @KTAPE_SERIES_IPI: an interrupt from another CPU, by its reason
 * @KTAPE_SERIES_TICK: the CPU's own timer interrupt, by its vector
 * @KTAPE_SERIES_SOFTIRQ: a soft interrupt, by its vector
 * @KTAPE_SERIES_SOFTIRQ_WAIT: from the first raise to its start
 * @KTAPE_SERIES_SYSCALL: a system call, by table << 16 | number
 * @KTAPE_SERIES_WORK: a work item, by its function
 * @KTAPE_SERIES_WORK_WAIT: from queueing to its start
 * @KTAPE_SERIES_TIMER: a timer's function, by itself
 * @KTAPE_SERIES_TIMER_LATE: how late it was, in jiffies
 * @KTAPE_SERIES_HRTIMER: a high-resolution timer's function, by itself
 * @KTAPE_SERIES_HRTIMER_LATE: how late it was
 * @KTAPE_SERIES_BLOCK: a request, from the driver to its end, by its device
 * @KTAPE_SERIES_BLOCK_WAIT: from the queue to the driver
 * @KTAPE_SERIES_KINDS: how many there are
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

#define KTAPE_SERIES_ALL	UINT64_MAX	/* the key of all of a kind */

/**
 * struct ktape_series - one thing that was measured again and again
 * @kind: enum ktape_series_kind
 * @key: which of its kind, or KTAPE_SERIES_ALL
 * @name: for people; of all the kind's own
 * @unit: "ns" or "jiffies"
 * @count: how many values
 * @sum: of them
 * @min: the least
 * @max: the largest
 * @uncertain: more that began, but something was lost before they ended
 * @errors: of @count, those that returned -errno
 * @error: the errno that came most recently
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
};

/**
 * struct ktape_quantile - a value that a share of all do not exceed
 * @value: of those that were seen, up to 1/32 too large
 * @low: the least that it can be, if all that was lost is less
 * @high: the largest, if all that was lost is more; UINT64_MAX: any
 */
struct ktape_quantile {
	uint64_t value;
	uint64_t low;
	uint64_t high;
};

/**
 * struct ktape_linux_cpu - where the time of a CPU went, in ns
 * @cpu: its number
 * @seen: there was an event of it
 * @run: in threads
 * @idle: in none
 * @irq: in hard interrupts of all kinds
 * @softirq: in soft ones
 * @unknown: nobody knows
 * @switches: of threads
 * @lost: events that were lost
 * @gaps: in so many places
 * @uncounted: of these without a count
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
};

/**
 * struct ktape_linux_thread - a thread
 * @tid: its id
 * @tgid: of its process, or 0
 * @name: its last one
 * @run: ns on a CPU, without interrupts
 * @wait: ns runnable without a CPU
 * @wait_max: the longest of these
 * @waits: how many
 * @switches: how often it got a CPU
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
 * struct ktape_linux_instead - who ran while a thread waited for that CPU
 * @tid: who waited
 * @other: who ran; 0: the CPU was idle; -1: not known
 * @ns: how long
 * @count: in so many waits
 */
struct ktape_linux_instead {
	int32_t tid;
	int32_t other;
	uint64_t ns;
	uint64_t count;
};

/* Statistics that are being made. */
struct ktape_linux;

/**
 * ktape_linux_new() - begin
 * @info: of the trace; has to stay
 * @registry: names; has to stay
 * @linux_stats: set; ends with ktape_linux_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_new(const struct ktape_info *info,
		    const struct ktape_registry *registry,
		    struct ktape_linux **linux_stats);

/**
 * ktape_linux_take() - take the next event
 * @linux_stats: where to
 * @event: events come in the order of time
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_take(struct ktape_linux *linux_stats,
		     const struct ktape_event *event);

/**
 * ktape_linux_notice() - something was lost
 * @linux_stats: where to
 * @notice: others than KTAPE_NOTICE_LOST are ignored
 */
void ktape_linux_notice(struct ktape_linux *linux_stats,
			const struct ktape_notice *notice);

/**
 * ktape_linux_finish() - there are no more events
 * @linux_stats: where
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_linux_finish(struct ktape_linux *linux_stats);

/**
 * ktape_linux_span() - from the first to the last event
 * @linux_stats: where
 *
 * Return: nanoseconds.
 */
uint64_t ktape_linux_span(const struct ktape_linux *linux_stats);

/**
 * ktape_series_name() - name of a kind
 * @kind: enum ktape_series_kind
 *
 * Return: as in "irq.p99", or NULL.
 */
const char *ktape_series_name(unsigned int kind);

/**
 * ktape_linux_series() - the series one after the other
 * @linux_stats: where
 * @i: from 0; the first KTAPE_SERIES_KINDS are all of each kind
 *
 * Return: the series, by kind and then the largest sum first; or NULL.
 */
const struct ktape_series *
ktape_linux_series(const struct ktape_linux *linux_stats, size_t i);

/**
 * ktape_linux_quantile() - a share of a series
 * @linux_stats: where
 * @i: of ktape_linux_series(); it has to have values
 * @millionth: 500000 is the median
 * @quantile: set
 *
 * Each lost event may have been one more value, of any size.
 */
void ktape_linux_quantile(const struct ktape_linux *linux_stats, size_t i,
			  uint32_t millionth, struct ktape_quantile *quantile);

/**
 * ktape_linux_bucket() - how often values of a size came
 * @linux_stats: where
 * @i: of ktape_linux_series()
 * @power: values of that many bits
 *
 * Return: how many values from 2^(@power - 1) to 2^@power - 1; @power 0: zeros.
 */
uint64_t ktape_linux_bucket(const struct ktape_linux *linux_stats, size_t i,
			    unsigned int power);

/**
 * ktape_linux_cpu() - the CPUs one after the other
 * @linux_stats: where
 * @i: from 0
 *
 * Return: the CPU, or NULL behind the last one.
 */
const struct ktape_linux_cpu *
ktape_linux_cpu(const struct ktape_linux *linux_stats, uint32_t i);

/**
 * ktape_linux_thread() - the threads one after the other
 * @linux_stats: where
 * @i: from 0
 *
 * Return: the thread, those that ran longest first; or NULL.
 */
const struct ktape_linux_thread *
ktape_linux_thread(const struct ktape_linux *linux_stats, size_t i);

/**
 * ktape_linux_instead() - who ran instead of whom
 * @linux_stats: where
 * @i: from 0
 *
 * Return: the longest first, or NULL behind the last one.
 */
const struct ktape_linux_instead *
ktape_linux_instead(const struct ktape_linux *linux_stats, size_t i);

/**
 * ktape_linux_left_out() - what was there no room for?
 * @linux_stats: where
 * @i: from 0
 * @what: set to what it was, a sentence's subject
 *
 * Return: how many, 0 behind the last one.
 */
uint64_t ktape_linux_left_out(const struct ktape_linux *linux_stats,
			      unsigned int i, const char **what);

/**
 * ktape_linux_free() - the end
 * @linux_stats: or NULL
 */
void ktape_linux_free(struct ktape_linux *linux_stats);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_LINUX_H */
