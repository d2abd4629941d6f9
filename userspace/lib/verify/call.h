/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of threads in system calls, see call.c. */
#ifndef _KT_CALL_H
#define _KT_CALL_H

#include "verify/internal.h"

#define KT_CALLS_USUAL	1024U	/* numbers of calls whose names are remembered */
#define KT_CALL_NONE	0xffffU	/* the number is not known */

/* Whether a call ends with an event that has the same number. */
enum kt_call_ending {
	KT_CALL_UNASKED,
	KT_CALL_ENDS,
	KT_CALL_SILENT
};

/* What a thread does.  @inside and @nr are valid if @epoch is that of the check. */
struct kt_call_state {
	uint64_t epoch;
	bool inside;
	uint16_t nr;
};

/**
 * struct kt_call - a thread
 * @now: what it does
 * @tid: its id
 * @used: the entry is in use
 * @several: in @window the thread ran on several CPUs
 * @lane: in @window: the trial that changed the entry last
 * @window: number of the window in which the entry was changed last
 * @to: in @window: time of the last change, in ticks
 * @bad: in @window: time at which the runs of one CPU disagree, UINT64_MAX = they do not
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
 * struct kt_calls - all threads
 * @ending: of native calls by number: enum kt_call_ending
 * @seed: of the hash of thread ids
 * @left_out: calls that were not checked because there was no room
 * @unsure: calls that disagree, behind the end of the event ring of another CPU
 * @unsure_at: the first of them
 * @used: entries in use
 * @size: entries of @table
 * @table: threads by the hash of their id
 */
struct kt_calls {
	uint8_t ending[KT_CALLS_USUAL];
	uint64_t seed;
	uint64_t left_out;
	uint64_t unsure;
	struct ktape_finding unsure_at;
	size_t used;
	size_t size;
	struct kt_call *table;
};

size_t kt_call_slot(const struct kt_calls *k, int32_t tid);
struct kt_call *kt_call_find(struct ktape_verify *v, int32_t tid);
bool kt_calls_full(const struct kt_calls *k);
bool kt_call_records_both(const struct kt_vcpu *c);
bool kt_call_is(const struct ktape_event *e);
bool kt_call_is_judged(const struct ktape_verify *v, const struct kt_vcpu *c,
		       uint64_t ts);
bool kt_call_ends(const struct ktape_verify *v, const struct ktape_event *e,
		  unsigned int nr);

#endif /* _KT_CALL_H */
