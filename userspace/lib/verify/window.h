/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checking many events at once.  A window is a span of time.  A trial checks the events that one
 * CPU has in it on a copy of the state, in any thread.  If no trial finds anything, the copies
 * become the state.  Otherwise the window ends before what was found, and events from there on are
 * checked one after the other.  window.c has the steps.
 *
 * The copies are shallow: trials of several threads share what they point to, and only read it.
 * The decoder is the exception: a trial writes its entries of the trial's CPU.  No two trials have
 * the same CPU, and the entries are set back when the copies are thrown away.
 */
#ifndef _KT_WINDOW_H
#define _KT_WINDOW_H

#include "stream/decode.h"
#include "trace/lane.h"
#include "verify/internal.h"

/* Of a trial: events that it keeps for the rules about names; its table of new numbers. */
#define KT_ITEMS      1024U
#define KT_FRESH      1024U /* a power of two */
#define KT_IDS	      2U /* fields of an event that are compared with known names */
#define KT_IDS_CACHED 256U /* functions that are known to have been looked up */

/* What the events of an opcode are to a trial. */
enum kt_quick_kind {
	KT_QUICK_NOT,	/* every rule is applied to them */
	KT_QUICK_PLAIN, /* they count, and may refer to names */
	KT_QUICK_SWITCH,
	KT_QUICK_IRQ_BEGIN,
	KT_QUICK_IRQ_END,
	KT_QUICK_SOFTIRQ_BEGIN,
	KT_QUICK_SOFTIRQ_END,
	KT_QUICK_CALL_BEGIN,
	KT_QUICK_CALL_END
};

/**
 * struct kt_quick - how a trial checks the events of an opcode
 * @kind: enum kt_quick_kind
 * @form: upper four bits of the first word of a record that has the form of the event table:
 *	number of arguments, and whether there is a blob
 * @nr_ids: entries of @ids
 * @ids: arguments that are threads or functions: @at is the index of the argument, @type is
 *	KTAPE_TYPE_TID or KTAPE_TYPE_FUNC
 */
struct kt_quick {
	uint8_t kind;
	uint8_t form;
	uint8_t nr_ids;
	struct {
		uint8_t at;
		uint8_t type;
	} ids[KT_IDS];
};

/* What the first event of a struct kt_run is. */
enum kt_run_kind {
	KT_RUN_BEGIN,
	KT_RUN_END,
	KT_RUN_FORGET /* the thread was created or ends, or the call is not checked */
};

/**
 * struct kt_run - begins and ends of system calls of a thread that follow each other on
 *	one CPU, and agree with each other: a trial makes runs, and kt_runs_agree() compares the
 *	first call of each with what the thread did before
 * @from: time of the first one, in ticks
 * @to: time of the last one, in ticks
 * @tid: the thread
 * @slot: the thread's entry in the table of calls, KT_NO_SLOT = it has none yet
 * @kind: what the first one is, enum kt_run_kind
 * @ends: if that is an end: it must have the number of the begin
 * @known: what the thread does after the last one is known:
 * @inside: it is in a call
 * @first_nr: number of the first call
 * @nr: number of the last call
 */
struct kt_run {
	uint64_t from;
	uint64_t to;
	int32_t tid;
	uint32_t slot;
	uint8_t kind;
	bool ends;
	bool known;
	bool inside;
	uint16_t first_nr;
	uint16_t nr;
};

#define KT_NO_SLOT UINT32_MAX

/* What an item is. */
enum kt_item_kind {
	KT_ITEM_NAME,	 /* the event gives a name */
	KT_ITEM_MENTION, /* it refers to a number that was not looked up yet */
	KT_ITEM_LEAVE	 /* it is the last switch of a thread, or its exit */
};

/**
 * struct kt_item - an event that matters for the names of all CPUs
 * @kind: enum kt_item_kind
 * @type: type of the number (MENTION)
 * @id: the number (MENTION)
 * @seq: sequence number of the packet
 * @offset: offset of the packet
 * @event: the event; its arguments are in the packet, which stays in the lane until the window ends
 */
struct kt_item {
	uint8_t kind;
	uint8_t type;
	uint32_t id;
	uint64_t seq;
	uint64_t offset;
	struct ktape_event event;
};

/**
 * struct kt_trial - the events of one CPU in a window, checked on copies
 * @windows: what all trials share
 * @stream: the event ring
 * @cpu: the CPU
 * @v: copy of the check; only its counters and times change
 * @c: copy of the CPU's state
 * @at: copy of the stream
 * @slot: index of the packet that is read in the stream's lane, the packets read ahead
 * @end: index that is the end of the stream, UINT32_MAX = the lane does not reach it
 * @until: the window ends before this time
 * @tid: running thread in the decoder when the window began, to go back to it
 * @switched: last switch in the decoder when the window began, likewise
 * @tids: bit n: thread n was looked up before the window
 * @known: the running thread was looked up
 * @last: time of the last event that was checked
 * @records: events that were checked
 * @doubts: events after which threads and calls are not known
 * @spoiled: there is a finding, or something that the trial cannot check
 * @counts: events by opcode that are not in the counters of @c yet
 * @run: the last entry of @runs goes on: its thread is still running
 * @nr_runs: entries of @runs
 * @runs: the calls of all threads
 * @nr_items: entries of @items
 * @items: events with names, to be taken after all trials, in order of time
 * @nr_fresh: entries of @fresh in use
 * @fresh: numbers whose first event is in this window, type << 32 | id; 0 = free
 * @functions: cache of functions that need no other look-up, by id modulo KT_IDS_CACHED
 */
struct kt_trial {
	struct kt_windows *windows;
	struct kt_stream *stream;
	struct kt_vcpu *cpu;
	struct ktape_verify v;
	struct kt_vcpu c;
	struct kt_stream at;
	unsigned int slot;
	unsigned int end;
	uint64_t until;
	int32_t tid;
	struct kt_switch switched;
	const uint64_t *tids;
	bool known;
	uint64_t last;
	uint64_t records;
	uint64_t doubts;
	bool spoiled;
	uint32_t counts[KTAPE_OPCODES];
	bool run;
	size_t nr_runs;
	struct kt_run *runs;
	unsigned int nr_items;
	struct kt_item *items;
	unsigned int nr_fresh;
	uint64_t fresh[KT_FRESH];
	uint32_t functions[KT_IDS_CACHED];
};

/**
 * struct kt_windows - checking in windows
 * @v: the check
 * @pool: the threads
 * @wait: events to check one after the other before the next window is tried
 * @delay: @wait after a window that was not possible
 * @passed: records of all windows
 * @tried: records that were checked in trials of this window
 * @last: records of the last window
 * @shared: number of steps that were done by several threads
 * @bytes: bytes of packets to read ahead for each ring
 * @max_runs: most runs that a trial has room for
 * @max: entries of @trials
 * @nr: number of trials in this window
 * @number: number of this window
 * @table: size of the table of calls when the trials began
 * @trials: one for each event ring; the first @nr are those of this window
 * @chosen: bit n: a trial has CPU n
 * @order: scratch memory for ordering items or runs
 * @order_room: bytes of @order
 * @quick: how a trial checks the events of each opcode
 */
struct kt_windows {
	struct ktape_verify *v;
	struct kt_pool *pool;
	uint64_t wait;
	uint64_t delay;
	uint64_t passed;
	uint64_t tried;
	uint64_t last;
	uint64_t shared;
	size_t bytes;
	size_t max_runs;
	size_t max;
	size_t nr;
	uint32_t number;
	size_t table;
	struct kt_trial **trials;
	uint64_t chosen[KT_CPUS_MAX / 64];
	void *order;
	size_t order_room;
	struct kt_quick quick[KTAPE_OPCODES];
};

/*
 * window.c.  Without memory, or where windows cannot be used, kt_windows_new() leaves @v->windows
 * NULL; then kt_windows_pass() does nothing.  It returns 0 or negative errno.
 */
void kt_windows_new(struct ktape_verify *v);
int kt_windows_pass(struct ktape_verify *v);
void kt_windows_free(struct kt_windows *w);

/* window_memory.c */
void *kt_windows_scratch(struct kt_windows *w, size_t bytes);
struct kt_trial *kt_trial_new(struct kt_windows *w);
void kt_trial_free(struct kt_trial *tr);
bool kt_trial_mention(struct kt_trial *tr, unsigned int type, uint32_t id,
		      const struct ktape_event *e);
bool kt_trial_mentioned(struct kt_trial *tr, unsigned int type, uint32_t id);
void kt_trial_item(struct kt_trial *tr, unsigned int kind,
		   const struct ktape_event *e);

/* Give a trial up: events from its @last on have to be checked one after the other. */
static inline void kt_trial_spoil(struct kt_trial *tr)
{
	tr->spoiled = true;
}

/* trial.c */
void kt_quick_init(struct kt_windows *w);
void kt_trial_begin(struct kt_trial *tr);
void kt_trial_run(struct kt_trial *tr);

/* window_call.c: false = checking one after the other would find something, not before @until */
bool kt_runs_agree(struct kt_windows *w, uint64_t *until);

/* window_name.c: returns 0 or negative errno */
int kt_items_apply(struct kt_windows *w);

#endif /* _KT_WINDOW_H */
