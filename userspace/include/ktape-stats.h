/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: statistics of RTOS traces, and response times of RKH traces.
 *
 * Included by ktape.h.  Statistics of Linux traces are in ktape-linux.h.
 */
#ifndef _KTAPE_STATS_H
#define _KTAPE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktape-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTAPE_RTOS_UNKNOWN     0xffffffffU /* priority is not known */
#define KTAPE_RTOS_OPEN	       1U /* flag: an inversion that does not end */
#define KTAPE_RTOS_EVENTS_MAX  (1U << 22) /* most events kept */
#define KTAPE_RTOS_THREADS_MAX (1U << 16) /* most threads kept */

/**
 * struct ktape_rtos_totals - counts of a whole trace, as TraceX computes them
 * @threads: number of threads
 * @objects: objects in the registry, and threads without an entry there
 * @events: number of events, including inserted RUNNING events
 * @max_ticks: ticks from the first event to the last one, at least 1
 * @context_switches: changes of the running thread, including changes to idle
 * @preemptions: resumptions and time slices after which another thread ran
 * @time_slices: TIME_SLICE events
 * @suspensions: suspensions of threads
 * @resumptions: resumptions of threads
 * @interrupts: interrupts that began
 * @nested_interrupts: interrupts that began inside another interrupt
 * @inversions: waits for a mutex that a thread of lower priority owned
 * @bad_inversions: waits of @inversions during which a third thread of lower
 *	priority ran
 * @open_inversions: of @inversions, those that do not end in the trace
 * @untracked: waits that were not tracked because too many were open at once
 * @interrupt_ticks: ticks in interrupts
 * @idle_ticks: ticks in which no thread ran
 * @mutex_calls: calls that get a mutex; without any, nothing is known of inversions
 */
struct ktape_rtos_totals {
	uint32_t threads;
	uint32_t objects;
	uint64_t events;
	uint64_t max_ticks;
	uint64_t context_switches;
	uint64_t preemptions;
	uint64_t time_slices;
	uint64_t suspensions;
	uint64_t resumptions;
	uint64_t interrupts;
	uint64_t nested_interrupts;
	uint64_t inversions;
	uint64_t bad_inversions;
	uint64_t open_inversions;
	uint64_t untracked;
	uint64_t interrupt_ticks;
	uint64_t idle_ticks;
	uint64_t mutex_calls;
};

/**
 * struct ktape_rtos_count - how often an event occurred
 * @id: event number
 * @count: number of occurrences
 * @first: number of the event that was the first of them
 */
struct ktape_rtos_count {
	uint32_t id;
	uint64_t count;
	uint64_t first;
};

/**
 * struct ktape_rtos_thread - a thread of an RTOS
 * @address: address of its control block
 * @name: name, ends in NUL
 * @stack_start: lowest address of the stack, 0 = not known
 * @stack_size: bytes of the stack
 * @stack_min: smallest number of free stack bytes in any event
 * @stack_event: number of the event with @stack_min
 * @ticks: ticks that the thread ran
 * @suspensions: suspensions that the thread caused
 * @resumptions: resumptions that the thread caused
 * @events: events of the thread
 * @lowest_prio: lowest priority (largest number), or KTAPE_RTOS_UNKNOWN
 * @highest_prio: highest priority (smallest number), or KTAPE_RTOS_UNKNOWN
 * @lowest_threshold: lowest preemption threshold, or KTAPE_RTOS_UNKNOWN
 * @highest_threshold: highest preemption threshold, or KTAPE_RTOS_UNKNOWN
 */
struct ktape_rtos_thread {
	uint32_t address;
	char name[64];
	uint32_t stack_start;
	uint32_t stack_size;
	uint32_t stack_min;
	uint64_t stack_event;
	uint64_t ticks;
	uint64_t suspensions;
	uint64_t resumptions;
	uint64_t events;
	uint32_t lowest_prio;
	uint32_t highest_prio;
	uint32_t lowest_threshold;
	uint32_t highest_threshold;
};

/**
 * struct ktape_rtos_event - an event of an RTOS
 * @context: thread; 0xffffffff = interrupt, 0xf0f0f0f0 = initialisation, 0 = idle
 * @next: context that ran after the event
 * @id: event number
 * @prio: priority of the thread, or of the interrupted thread
 * @stamp: time stamp as in the trace
 * @flags: KTAPE_RTOS_OPEN
 * @ticks: ticks since the first event
 * @info: the four information words
 * @inversion: number of the event that ends the priority inversion that begins
 *	here, 0 = none
 * @bad: same as @inversion if a third thread ran during the inversion, else 0
 *
 * An inversion ends when the thread that waits runs again.  KTAPE_RTOS_OPEN: one begins
 * here, and the thread does not run again in the trace; then @inversion and @bad are as
 * in TraceX the event that would end the wait, or 0 if there is none.
 */
struct ktape_rtos_event {
	uint32_t context;
	uint32_t next;
	uint32_t id;
	uint32_t prio;
	uint32_t stamp;
	uint32_t flags;
	uint64_t ticks;
	uint32_t info[4];
	uint64_t inversion;
	uint64_t bad;
};

/* Statistics of an RTOS trace. */
struct ktape_rtos;

/**
 * ktape_rtos_new() - Create statistics
 * @rtos: set on success; release with ktape_rtos_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_new(struct ktape_rtos **rtos);

/**
 * ktape_rtos_take() - Add an event
 * @rtos: the statistics
 * @event: the event; events must be added in order of time
 *
 * The first KTAPE_RTOS_EVENTS_MAX events are kept in memory, 80 bytes each, and as
 * many again for inserted RUNNING events.  ktape_rtos_left_out() counts the events
 * beyond this limit.
 *
 * Return: 0, -EINVAL after ktape_rtos_finish(), or -ENOMEM.
 */
int ktape_rtos_take(struct ktape_rtos *rtos, const struct ktape_event *event);

/**
 * ktape_rtos_finish() - Compute the results after the last event
 * @rtos: the statistics
 *
 * Totals, threads and events are complete only after it.  They are valid until ktape_rtos_free().
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_finish(struct ktape_rtos *rtos);

/**
 * ktape_rtos_totals() - Return the totals, after ktape_rtos_finish()
 * @rtos: the statistics
 *
 * Return: the totals, valid until ktape_rtos_free().
 */
const struct ktape_rtos_totals *ktape_rtos_totals(const struct ktape_rtos *rtos);

/**
 * ktape_rtos_left_out() - Return what exceeded the limits of the statistics
 * @rtos: the statistics
 * @i: index, from 0
 * @what: set to a description that can be the subject of a sentence
 *
 * Return: how many were left out, 0 after the last description.
 */
uint64_t ktape_rtos_left_out(const struct ktape_rtos *rtos, unsigned int i,
			     const char **what);

/**
 * ktape_rtos_thread() - Return a thread by its index
 * @rtos: the statistics
 * @i: index, from 0
 *
 * Return: the thread, or NULL after the last one.
 */
const struct ktape_rtos_thread *ktape_rtos_thread(const struct ktape_rtos *rtos,
						  size_t i);

/**
 * ktape_rtos_popular() - Return how often each event occurred
 * @rtos: the statistics
 * @thread: count only events of this thread; -1 = all threads, without RUNNING
 * @counts: set to an array that the caller frees, most frequent event first
 * @nr: set to the number of entries
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_popular(const struct ktape_rtos *rtos, int64_t thread,
		       struct ktape_rtos_count **counts, size_t *nr);

/**
 * ktape_rtos_event() - Return an event by its index
 * @rtos: the statistics
 * @i: index, from 0
 *
 * Return: the event, or NULL after the last one.
 */
const struct ktape_rtos_event *ktape_rtos_event(const struct ktape_rtos *rtos,
						uint64_t i);

/**
 * ktape_rtos_event_ts() - Return the time of an event by its index
 * @rtos: the statistics
 * @i: index, from 0
 *
 * Return: the time in ticks of the trace, 0 if there is no such event.
 */
uint64_t ktape_rtos_event_ts(const struct ktape_rtos *rtos, uint64_t i);

/**
 * ktape_rtos_tid() - Return the thread id that events have for a context
 * @context: a thread of these statistics, or another context
 *
 * Return: the thread id, -1 if the context is not a thread.
 */
int32_t ktape_rtos_tid(uint32_t context);

/**
 * ktape_rtos_event_name() - Return the name of a TraceX event
 * @id: event number
 *
 * Return: the name, or NULL.
 */
const char *ktape_rtos_event_name(uint32_t id);

/**
 * ktape_rtos_service() - Return the name of an event of these statistics
 * @rtos: the statistics
 * @id: event number
 *
 * Events of other formats that TraceX does not have are counted under numbers of
 * user events and have names, too.  In a trace that came from TraceX, these
 * numbers are real user events and have no name.
 *
 * Return: the name, or NULL.
 */
const char *ktape_rtos_service(const struct ktape_rtos *rtos, uint32_t id);

/**
 * ktape_rtos_free() - Free the statistics
 * @rtos: the statistics, or NULL
 */
void ktape_rtos_free(struct ktape_rtos *rtos);

#define KTAPE_RESPONSE_ALL UINT64_MAX /* all signals of an active object */

/**
 * struct ktape_response - time from a post to an RKH active object until its get
 * @object: address of the active object
 * @signal: signal number, or KTAPE_RESPONSE_ALL
 * @posts: number of posts
 * @gets: number of gets
 * @count: gets whose post is known; the times are of these
 * @waiting: posts without a get at the end; only for KTAPE_RESPONSE_ALL
 * @uncertain: posts whose get may have been lost; only for KTAPE_RESPONSE_ALL
 * @sum: sum of the times in ns
 * @min: shortest time in ns
 * @max: longest time in ns
 * @max_ts: when the longest time ended, in ticks of the trace
 */
struct ktape_response {
	uint64_t object;
	uint64_t signal;
	uint64_t posts;
	uint64_t gets;
	uint64_t count;
	uint64_t waiting;
	uint64_t uncertain;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	uint64_t max_ts;
};

/* Response times of an RKH trace. */
struct ktape_responses;

/**
 * ktape_responses_new() - Create the measurement
 * @info: metadata of the trace; must stay valid
 * @responses: set on success; release with ktape_responses_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_responses_new(const struct ktape_info *info,
			struct ktape_responses **responses);

/**
 * ktape_responses_take() - Add an event
 * @responses: the measurement
 * @event: the event, in order of time; events not of RKH are ignored
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_responses_take(struct ktape_responses *responses,
			 const struct ktape_event *event);

/**
 * ktape_responses_notice() - Add a loss of events, in its place among the events
 * @responses: the measurement
 * @notice: kinds other than KTAPE_NOTICE_LOST are ignored
 */
void ktape_responses_notice(struct ktape_responses *responses,
			    const struct ktape_notice *notice);

/**
 * ktape_response() - Return a result by its index
 * @responses: the measurement
 * @i: index, from 0
 *
 * Objects and their signals are in order of their first occurrence.
 *
 * Return: the result, valid until ktape_responses_free() and up to date until the
 * next event or notice; or NULL after the last one.
 */
const struct ktape_response *ktape_response(const struct ktape_responses *responses,
					    size_t i);

/**
 * ktape_response_quantile() - Compute a quantile of the response times
 * @response: from ktape_response()
 * @millionth: the quantile in millionths; 500000 = median
 *
 * Return: ns, at most 1/32 too large; 0 if there are no times.
 */
uint64_t ktape_response_quantile(const struct ktape_response *response,
				 uint32_t millionth);

/**
 * ktape_responses_left_out() - Return what exceeded the limits
 * @responses: the measurement
 *
 * Return: number of events of objects and signals that were left out.
 */
uint64_t ktape_responses_left_out(const struct ktape_responses *responses);

/**
 * ktape_responses_free() - Free the measurement
 * @responses: the measurement, or NULL
 */
void ktape_responses_free(struct ktape_responses *responses);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_STATS_H */
