/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: what threads, interrupts and services did.  Included by ktape.h. */
#ifndef _KTAPE_STATS_H
#define _KTAPE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ktape-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTAPE_RTOS_UNKNOWN	0xffffffffU	/* a priority that is not known */
#define KTAPE_RTOS_EVENTS_MAX	(1U << 22)	/* that are kept */
#define KTAPE_RTOS_THREADS_MAX	(1U << 16)	/* that are told apart */

/**
 * struct ktape_rtos_totals - counts of a trace, as TraceX makes them
 * @threads: that are known
 * @objects: in the registry, and threads that are not
 * @events: RUNNING events that were put in between included
 * @max_ticks: from the first event to the last one, at least 1
 * @context_switches: changes of the thread that runs, or to none
 * @preemptions: resumptions and time slices after which another thread ran
 * @time_slices: events TIME_SLICE
 * @suspensions: of threads
 * @resumptions: of threads
 * @interrupts: that began
 * @nested_interrupts: of them within others
 * @inversions: a thread waited for a mutex that one of less priority owned
 * @bad_inversions: and a third one of less priority ran meanwhile
 * @untracked: waits that were more at once than we watch
 * @interrupt_ticks: time in interrupts
 * @idle_ticks: time in which no thread ran
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
	uint64_t untracked;
	uint64_t interrupt_ticks;
	uint64_t idle_ticks;
};

/**
 * struct ktape_rtos_count - how often an event came
 * @id: its number
 * @count: how often
 */
struct ktape_rtos_count {
	uint32_t id;
	uint64_t count;
};

/**
 * struct ktape_rtos_thread - a thread
 * @address: of it
 * @name: ends in NUL
 * @stack_start: lowest address of its stack, 0: not known
 * @stack_size: bytes
 * @stack_min: bytes of it that were never used, as far as events tell
 * @stack_event: number of the event that told it
 * @ticks: time that it ran
 * @suspensions: by it
 * @resumptions: by it
 * @events: of it
 * @lowest_prio: the largest number, KTAPE_RTOS_UNKNOWN if there is none
 * @highest_prio: the smallest number
 * @lowest_threshold: of preemption, likewise
 * @highest_threshold: likewise
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
 * struct ktape_rtos_event - an event as it was counted
 * @context: thread; 0xffffffff: interrupt, 0xf0f0f0f0: initialisation, 0: idle
 * @next: what ran after it
 * @id: its number
 * @prio: of the thread, or the interrupted thread
 * @stamp: its time as it stands in the trace
 * @ticks: since the first event
 * @info: its four words
 * @inversion: number of the event that ends the wait that begins here, or 0
 * @bad: likewise where a third thread ran
 */
struct ktape_rtos_event {
	uint32_t context;
	uint32_t next;
	uint32_t id;
	uint32_t prio;
	uint32_t stamp;
	uint64_t ticks;
	uint32_t info[4];
	uint64_t inversion;
	uint64_t bad;
};

/* Statistics that are being made. */
struct ktape_rtos;

/**
 * ktape_rtos_new() - begin
 * @rtos: set; ends with ktape_rtos_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_new(struct ktape_rtos **rtos);

/**
 * ktape_rtos_take() - take the next event of a trace
 * @rtos: where to
 * @event: events come in the order of time
 *
 * The first KTAPE_RTOS_EVENTS_MAX events that count are kept in memory, 80 bytes
 * each, and as many again for RUNNING events that are put in between;
 * ktape_rtos_left_out() tells of the others.
 *
 * Return: 0, -EINVAL after ktape_rtos_finish(), or -ENOMEM.
 */
int ktape_rtos_take(struct ktape_rtos *rtos, const struct ktape_event *event);

/**
 * ktape_rtos_finish() - there are no more events
 * @rtos: where
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_finish(struct ktape_rtos *rtos);

/**
 * ktape_rtos_totals() - counts of the whole trace, after ktape_rtos_finish()
 * @rtos: where
 *
 * Return: them, as long as @rtos is.
 */
const struct ktape_rtos_totals *
ktape_rtos_totals(const struct ktape_rtos *rtos);

/**
 * ktape_rtos_left_out() - what was there no room for?
 * @rtos: where
 * @i: from 0
 * @what: set to what it was, a sentence's subject
 *
 * Return: how many, 0 behind the last one.
 */
uint64_t ktape_rtos_left_out(const struct ktape_rtos *rtos, unsigned int i,
			     const char **what);

/**
 * ktape_rtos_thread() - the threads one after the other
 * @rtos: where
 * @i: from 0
 *
 * Return: the thread, or NULL behind the last one.
 */
const struct ktape_rtos_thread *ktape_rtos_thread(const struct ktape_rtos *rtos,
						  size_t i);

/**
 * ktape_rtos_popular() - which events came most often?
 * @rtos: where
 * @thread: only those of this thread; -1: all, without RUNNING
 * @counts: set to an array, the most frequent first; to be freed
 * @nr: set to how many
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_rtos_popular(const struct ktape_rtos *rtos, int64_t thread,
		       struct ktape_rtos_count **counts, size_t *nr);

/**
 * ktape_rtos_event() - the events one after the other
 * @rtos: where
 * @i: from 0
 *
 * Return: the event, or NULL behind the last one.
 */
const struct ktape_rtos_event *ktape_rtos_event(const struct ktape_rtos *rtos,
						uint64_t i);

/**
 * ktape_rtos_event_name() - name of an event
 * @id: its number
 *
 * Return: the name, or NULL.
 */
const char *ktape_rtos_event_name(uint32_t id);

/**
 * ktape_rtos_service() - name of an event of these statistics
 * @rtos: where it was counted
 * @id: its number
 *
 * Besides events of TraceX, those of other formats that have no place among them
 * have names; in a trace that came from TraceX such numbers are its user's.
 *
 * Return: the name, or NULL.
 */
const char *ktape_rtos_service(const struct ktape_rtos *rtos, uint32_t id);

/**
 * ktape_rtos_free() - the end
 * @rtos: or NULL
 */
void ktape_rtos_free(struct ktape_rtos *rtos);

#define KTAPE_RESPONSE_ALL	UINT64_MAX	/* all signals of an object */

/**
 * struct ktape_response - how long posts to an object of RKH wait to be got
 * @object: address of the active object
 * @signal: which signal, or KTAPE_RESPONSE_ALL
 * @posts: how many came
 * @gets: likewise
 * @count: gets whose post is known; of these are the times
 * @waiting: posts without a get at the end; of objects only
 * @uncertain: posts whose get may have been lost; of objects only
 * @sum: of the times, in ns, like the following
 * @min: the shortest
 * @max: the longest
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
};

/* Response times that are being measured. */
struct ktape_responses;

/**
 * ktape_responses_new() - begin
 * @info: of the trace; has to stay
 * @responses: set; ends with ktape_responses_free()
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_responses_new(const struct ktape_info *info,
			struct ktape_responses **responses);

/**
 * ktape_responses_take() - an event
 * @responses: where to
 * @event: in the order of time; those that are not of RKH are ignored
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_responses_take(struct ktape_responses *responses,
			 const struct ktape_event *event);

/**
 * ktape_responses_notice() - a loss, in its place among the events
 * @responses: where to
 * @notice: others are ignored
 */
void ktape_responses_notice(struct ktape_responses *responses,
			    const struct ktape_notice *notice);

/**
 * ktape_response() - the results one after the other
 * @responses: where
 * @i: from 0
 *
 * Objects and their signals are in the order in which they came first.
 *
 * Return: the result, good until the end and up to date until the next event or
 * notice; or NULL behind the last one.
 */
const struct ktape_response *
ktape_response(const struct ktape_responses *responses, size_t i);

/**
 * ktape_response_quantile() - the time that a part of them does not exceed
 * @response: whose, from ktape_response()
 * @millionth: the part
 *
 * Return: ns, at most 1/32 too large; 0 if there is none.
 */
uint64_t ktape_response_quantile(const struct ktape_response *response,
				 uint32_t millionth);

/**
 * ktape_responses_left_out() - were there too many objects and signals?
 * @responses: where
 *
 * Return: events of those that there was no place for.
 */
uint64_t ktape_responses_left_out(const struct ktape_responses *responses);

/**
 * ktape_responses_free() - the end
 * @responses: or NULL
 */
void ktape_responses_free(struct ktape_responses *responses);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_STATS_H */
