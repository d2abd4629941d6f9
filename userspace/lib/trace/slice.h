/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a trace in slices of time, in several threads; see slice.c. */
#ifndef _KT_SLICE_H
#define _KT_SLICE_H

#include "stream/decode.h"
#include "trace/lane.h"

#define KT_SLICE_JOBS 16U /* most threads */
/* A stream may have this many times the records that the leader has in a slice. */
#define KT_SLICE_MORE 4U

/**
 * struct kt_spot - how far a stream was read
 * @slot: number of the packet, counted from the first one in the lane
 * @at: offset of the next record in the packet
 * @ts: time before that record, in ticks
 * @next: time of that record, in ticks
 * @tid: event ring: the running thread before that record, -1 = not known
 * @last: event ring: the last switch before that record
 * @fresh: that record is the first one of its packet
 * @ended: the stream has no further record; @slot is the end of the stream
 */
struct kt_spot {
	uint64_t slot;
	uint64_t at;
	uint64_t ts;
	uint64_t next;
	int32_t tid;
	struct kt_switch last;
	bool fresh;
	bool ended;
};

/**
 * struct kt_cursor - how far a stream was cut into slices
 * @s: the stream; its own members are those of the last time that no slices were cut
 * @passed: slots that have left the lane
 * @here: begin of the next slice
 * @then: end of the next slice, while it is cut
 * @last: time of the last record up to @then, 0 = there is none
 * @records: records from @here to @then
 * @names: of these, names
 * @room: bytes of memory of the lane
 */
struct kt_cursor {
	struct kt_stream *s;
	uint64_t passed;
	struct kt_spot here;
	struct kt_spot then;
	uint64_t last;
	uint64_t records;
	uint64_t names;
	size_t room;
};

/**
 * struct kt_share - the records of one stream in a slice
 * @cursor: the stream's entry of struct kt_slices
 * @from: begin of the slice
 * @to: number of the packet in which the slice ends
 * @tid: running thread of the CPU at the begin, -1 = not known
 * @last: last switch of the CPU before the begin
 * @first: index of its first packet in the slice's @contents
 * @nr: number of its packets
 */
struct kt_share {
	struct kt_cursor *cursor;
	struct kt_spot from;
	uint64_t to;
	int32_t tid;
	struct kt_switch last;
	size_t first;
	size_t nr;
};

/**
 * struct kt_slice - all events between two times
 * @trace: delivers the events, in kt_slices_how.work()
 * @own: the caller's results, see kt_slices_how.prepare()
 * @records: number of events
 * @error: negative errno of reading or work(), or 0
 * @shares: streams that have records
 * @nr_shares: entries of @shares
 * @contents: their packets, of which the last one of each stream ends with the slice
 * @nr_contents: entries of @contents
 * @max_contents: room for entries
 * @first_name: number of names of all earlier slices
 * @end_name: the same with the names of this slice
 * @notices: what is to be reported of the packets
 * @nr_notices: entries of @notices
 * @max_notices: room for entries
 */
struct kt_slice {
	struct ktape_trace *trace;
	void *own;
	uint64_t records;
	int error;
	struct kt_share *shares;
	size_t nr_shares;
	struct kt_content *contents;
	size_t nr_contents;
	size_t max_contents;
	size_t first_name;
	size_t end_name;
	struct ktape_notice *notices;
	size_t nr_notices;
	size_t max_notices;
};

/**
 * struct kt_slices_how - what is done with slices
 * @jobs: number of threads
 * @arg: first argument of all functions
 * @prepare: make room for the results in @slice->own.  With -ENOMEM there are fewer slices; it
 *	is an error only where slices are read one after the other for want of memory
 * @work: read all events of @slice->trace, in any thread; may be called again for the
 *	same slice
 * @take: take the results, in order of the slices; 1 = no further slice is needed
 * @most: return how many events the caller can take in all slices that it has not taken yet
 * @release: free @slice->own, which may be NULL
 */
struct kt_slices_how {
	unsigned int jobs;
	void *arg;
	int (*prepare)(void *arg, struct kt_slice *slice);
	int (*work)(void *arg, struct kt_slice *slice);
	int (*take)(void *arg, struct kt_slice *slice);
	uint64_t (*most)(void *arg);
	void (*release)(void *arg, struct kt_slice *slice);
};

/**
 * struct kt_slice_name - a copy of a registry record of an event ring
 * @event: the record; its arguments and blob are in @data
 * @number: number among the names of the slice and its stream
 * @data: arguments and blob
 */
struct kt_slice_name {
	struct ktape_event event;
	uint64_t number;
	uint8_t data[];
};

struct kt_slices;

/**
 * struct kt_reader - reads slices, in one thread
 * @slices: what all readers share
 * @trace: the events of one slice
 * @streams: its streams
 * @slice: the slice that is read
 * @turn: turn of the names for which @applied is valid, 0 = none
 * @applied: names of kt_slices.names that were added to the registry of @trace, a view of the
 *	whole trace's
 */
struct kt_reader {
	struct kt_slices *slices;
	struct ktape_trace trace;
	struct kt_stream *streams;
	struct kt_slice *slice;
	uint64_t turn;
	size_t applied;
};

/**
 * struct kt_slices - reading a trace in slices
 * @t: the trace
 * @how: what the caller does
 * @off: slices are not used any more
 * @wait: events to read one by one before the next slice is tried
 * @delay: @wait after a slice that was not possible
 * @passed: events in all slices
 * @cursors: streams that have events
 * @nr: entries of @cursors
 * @max: room for cursors, and for the shares of each slice: number of streams
 * @leader: index of the stream that had most records in the last slice; the next slice ends
 *	where this stream has @bytes
 * @bytes: bytes of records of the leader in a slice, about
 * @max_names: most names of one stream in a slice
 * @slices: slices that are read or wait to be taken, in a circle
 * @room: entries of @slices
 * @given: number of slices that were cut
 * @taken: of these, those whose results were taken
 * @flying: records of slices that were cut and not taken yet
 * @stopped: the caller needs no further slice, there is no memory for one, or an error came
 * @names: names in event rings since the registry of @t got any
 * @nr_names: entries of @names
 * @room_names: room for entries
 * @turn: counts how often @names began again
 * @readers: one for each thread
 * @nr_readers: entries of @readers
 * @crew: the threads
 * @held: bytes of memory of all lanes
 * @last_ts: time of the last event of all slices
 * @seen: bit n of a kind of ring: there is a stream of CPU n
 */
struct kt_slices {
	struct ktape_trace *t;
	struct kt_slices_how how;
	bool off;
	uint64_t wait;
	uint64_t delay;
	uint64_t passed;
	struct kt_cursor *cursors;
	size_t nr;
	size_t max;
	size_t leader;
	size_t bytes;
	size_t max_names;
	struct kt_slice *slices;
	unsigned int room;
	uint64_t given;
	uint64_t taken;
	uint64_t flying;
	bool stopped;
	struct kt_slice_name **names;
	size_t nr_names;
	size_t room_names;
	uint64_t turn;
	struct kt_reader *readers;
	unsigned int nr_readers;
	struct kt_crew *crew;
	size_t held;
	uint64_t last_ts;
	uint64_t seen[KTAPE_RING_REGISTRY + 1][KT_CPUS_MAX / 64];
};

/* slice.c */
int kt_slices_new(struct ktape_trace *t, const struct kt_slices_how *how,
		  struct kt_slices **slices);
int kt_slices_pass_some(struct kt_slices *sl);
void kt_slices_free(struct kt_slices *sl);

/*
 * slice_cursor.c.  After kt_cursors_begin() come, for each slice, kt_cursors_fill(),
 * kt_slice_cut(), kt_slice_build() and kt_cursors_go(), and kt_cursors_pass() when its results were
 * taken; kt_cursors_end() when all were.
 */
bool kt_cursors_begin(struct kt_slices *sl);
int kt_cursors_fill(struct kt_slices *sl);
void kt_cursors_go(struct kt_slices *sl);
void kt_cursors_pass(const struct kt_slice *slice);
void kt_cursors_end(struct kt_slices *sl);

/* slice_cut.c */
uint64_t kt_slice_cut(struct kt_slices *sl);
int kt_slice_build(struct kt_slices *sl, struct kt_slice *slice);

/* slice_names.c */
int kt_names_new(struct kt_slices *sl);
bool kt_names_room(const struct kt_slices *sl);
int kt_names_collect(struct kt_slices *sl);
int kt_names_apply(struct kt_slices *sl);
void kt_names_cut(struct kt_slices *sl, size_t nr);

/* slice_read.c */
int kt_reader_open(struct kt_slices *sl, struct kt_reader *r);
void kt_reader_close(struct kt_reader *r);
int kt_reader_run(struct kt_reader *r, struct kt_slice *slice);
void kt_stream_at(struct kt_stream *s, const struct kt_content *content,
		  const struct kt_spot *place);

/**
 * kt_slices_pass() - read as many events as possible in slices
 * @sl: the slices, or NULL
 *
 * Afterwards ktape_trace_next() returns the event behind them.
 *
 * Return: 0 or negative errno.
 */
static inline int kt_slices_pass(struct kt_slices *sl)
{
	if (!sl || sl->off)
		return 0;
	if (sl->wait) {
		sl->wait--;
		return 0;
	}
	return kt_slices_pass_some(sl);
}

#endif /* _KT_SLICE_H */
