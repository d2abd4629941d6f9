/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of threads in system calls.  call.c fills it and checks each thread's calls against it;
 * window_call.c does so for the calls of many events at once.
 */
#ifndef _KT_CALL_H
#define _KT_CALL_H

#include "verify/internal.h"

#define KT_CALLS_USUAL 1024U /* native calls below this number are in @ending */
#define KT_CALL_NONE   0xffffU /* the number is not known */
#define KT_UNSURE_MAX  64U     /* later ones are only counted */

/*
 * Does a call end with an event that has its number?  UNASKED: not looked up yet.  SILENT: no, as
 * exit() or execve().
 */
enum kt_call_ending { KT_CALL_UNASKED, KT_CALL_ENDS, KT_CALL_SILENT };

/**
 * struct kt_call_state - what a thread does
 * @epoch: the rest is valid if this is the @epoch of struct ktape_verify, UINT64_MAX = never
 * @ts: time of the last begin or end of a call, in ticks
 * @inside: the thread is in a call
 * @nr: number of the call
 */
struct kt_call_state {
	uint64_t epoch;
	uint64_t ts;
	bool inside;
	uint16_t nr;
};

/**
 * struct kt_call - a thread
 * @now: what it does
 * @tid: its id
 * @used: the entry is in use
 * @several: in @window the thread ran on several CPUs
 * @lane: in @window: index of the trial, which has the events of one CPU, that changed the entry
 *	last; UINT32_MAX = none yet
 * @window: number of the window in which the entry was changed last
 * @to: in @window: time of the last change, in ticks
 * @bad: in @window: time of the first call that contradicts what the thread did before,
 *	UINT64_MAX = there is none
 * @before: @now before @window
 */
struct kt_call {
	struct kt_call_state now;
	int32_t tid;
	bool used;
	bool several;
	uint32_t lane;
	uint32_t window;
	uint64_t to;
	uint64_t bad;
	struct kt_call_state before;
};

/**
 * struct kt_unsure - a begin or end that contradicts what its thread did before, where the
 *	records that explain it may not be in the trace
 * @at: its place, and what would be wrong
 * @cpu: CPU of which the trace may lack events up to then
 * @never: the trace has no event of that CPU, so the call cannot be proved wrong even if the
 *	trace has the end of the session
 */
struct kt_unsure {
	struct ktape_finding at;
	uint32_t cpu;
	bool never;
};

/**
 * struct kt_calls - all threads
 * @ending: of native calls by number: enum kt_call_ending
 * @seed: of the hash of thread ids
 * @left_out: calls that were not checked because there was no room
 * @nr_unsure: number of entries of @unsure, and of those that it has no room for
 * @unsure: the first ones that only the end of the trace can explain, see unsure.c
 * @used: entries in use
 * @size: entries of @table
 * @table: threads by the hash of their id
 */
struct kt_calls {
	uint8_t ending[KT_CALLS_USUAL];
	uint64_t seed;
	uint64_t left_out;
	uint64_t nr_unsure;
	struct kt_unsure unsure[KT_UNSURE_MAX];
	size_t used;
	size_t size;
	struct kt_call *table;
};

/* unsure.c */
void kt_call_wrong(struct ktape_verify *v, const struct kt_vcpu *c,
		   const struct kt_call *t, const struct ktape_event *e,
		   const char *format, ...) __attribute__((format(printf, 5, 6)));
void kt_unsure_end(struct ktape_verify *v);

/* call.c: kt_call_entry() returns NULL if there is no room or no memory */
size_t kt_call_slot(const struct kt_calls *k, int32_t tid);
struct kt_call *kt_call_entry(struct ktape_verify *v, int32_t tid);
bool kt_calls_at_limit(const struct kt_calls *k);
bool kt_call_records_both(const struct kt_vcpu *c);
bool kt_call_is(const struct ktape_event *e);
bool kt_call_is_checked(const struct ktape_verify *v, const struct kt_vcpu *c,
			uint64_t ts);
bool kt_call_ends(const struct ktape_verify *v, const struct ktape_event *e,
		  unsigned int nr);

#endif /* _KT_CALL_H */
