/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A trace that is being read: its streams and where their packets come from.
 *
 * A native trace is a set of streams, one per ring.  Their packets are in files of
 * their own (CTF directory), in places of one file (pipe form), or in queues that a
 * live input fills.  A trace in another format is read by a struct kt_import instead.
 *
 * Read the files in this order; each calls only those before it: far.c, begin.c, loss.c,
 * fetch.c, lane.c, stream.c, heap.c, live.c, merge.c, open.c; then those of slices (slice.h):
 * slice_names.c, slice_cut.c, slice_read.c, slice_cursor.c, slice.c.
 */
#ifndef _KT_TRACE_H
#define _KT_TRACE_H

#include "stream/packet.h"
#include "stream/scan.h"

/* Entries of @came: a live event waits for at most KT_AGES - 1 half seconds. */
#define KT_AGES 5

/* Where the packets of a stream come from. */
enum kt_source {
	KT_SOURCE_FILE,	 /* a file of its own */
	KT_SOURCE_LIST,	 /* places in a pipe-form file */
	KT_SOURCE_QUEUE, /* a queue in memory, filled from a live input */
	KT_SOURCE_SLICE	 /* packets in memory, of another stream; see slice.c */
};

/* What a live trace reads next. */
enum kt_step {
	KT_STEP_PACKET, /* a packet */
	KT_STEP_PASS,	/* the padding of a packet */
	KT_STEP_HUNT	/* bytes up to the next packet header */
};

/* The content (header and records) of a packet in a file. */
struct kt_packet_place {
	uint64_t offset;
	uint64_t size;
};

/* The bytes of a packet in memory, and its place in the input. */
struct kt_content {
	const uint8_t *data;
	size_t len;
	uint64_t offset;
};

/* A packet in memory. */
struct kt_queued {
	struct kt_queued *next;
	uint64_t offset;
	size_t size;
	uint8_t data[];
};

struct kt_lane;

/**
 * struct kt_stream - the packets of one ring, in order
 * @source: where the packets come from
 * @kind: enum ktape_ring_kind
 * @cpu: CPU number
 * @trace: the trace that the stream belongs to
 * @scan: the file of the stream (FILE)
 * @found: the packet at the head of @scan (FILE)
 * @taken: @found is being read (FILE)
 * @places: places of the packets (LIST)
 * @nr_places: number of places
 * @next_place: index of the next place
 * @buf: buffer for the current packet (LIST)
 * @buf_size: bytes of @buf
 * @first: queue of packets, oldest first (QUEUE)
 * @last: last packet of the queue
 * @in_use: the first packet of the queue is being read
 * @queued_until: end time of the latest packet received (QUEUE)
 * @received: value of the trace's @received when the last packet arrived (QUEUE)
 * @contents: the packets that come next (SLICE)
 * @nr_contents: number of these
 * @lane: packets that were read ahead, NULL = packets are read when needed
 * @packet: the packet that is being read
 * @event: the next event of the stream
 * @offset: offset of the packet in the file or input
 * @fresh: no event of the packet was delivered yet
 * @in_heap: the stream is in the heap, because it has an event
 * @begun: a packet was read before; the following members are valid
 * @seq: sequence number of the previous packet
 * @discarded: lost events up to the previous packet
 * @lost: lost events by reason, up to the previous packet
 * @counted: the previous packet has counts; the empty packet that begins a file has none
 * @ts_end: end time of the previous packet
 * @broken: the current packet has a bad record, at which reading it ended
 * @filled: the stream had an event
 * @missing: damage was reported behind the last packet that was read; see loss.c
 * @missing_at: offset up to which the input is damaged, UINT64_MAX = the input is cut
 * @missing_from: time up to which the loss was reported, 0 = it was not
 * @begin_checked: the first packet with records was read
 * @cut: what comes before that packet was overwritten
 * @gone: its absence is still to be reported, or a part of that; see begin.c
 * @gone_count: number of events that were overwritten, 0 = not known
 * @gone_from: time up to which this was reported, 0 = it was not
 */
struct kt_stream {
	enum kt_source source;
	uint32_t kind;
	uint32_t cpu;
	struct ktape_trace *trace;

	struct kt_scan scan;
	struct kt_found found;
	bool taken;

	struct kt_packet_place *places;
	size_t nr_places;
	size_t next_place;
	uint8_t *buf;
	uint64_t buf_size;

	struct kt_queued *first;
	struct kt_queued *last;
	bool in_use;
	uint64_t queued_until;
	uint64_t received;

	const struct kt_content *contents;
	size_t nr_contents;

	struct kt_lane *lane;
	struct ktape_packet packet;
	struct ktape_event event;
	uint64_t offset;
	bool fresh;
	bool in_heap;

	bool begun;
	uint64_t seq;
	uint64_t discarded;
	uint64_t lost[KTAPE_LOST_REASONS];
	bool counted;
	uint64_t ts_end;
	bool broken;
	bool filled;
	bool missing;
	uint64_t missing_at;
	uint64_t missing_from;

	bool begin_checked;
	bool cut;
	bool gone;
	uint64_t gone_count;
	uint64_t gone_from;
};

struct kt_import;

/**
 * struct kt_loss - a loss that waits for its place, see loss.c
 * @cpu: CPU of its stream
 * @ring: kind of its stream
 * @count: number of events, as in struct ktape_notice
 * @packets: number of packets that are missing
 * @from: begin, in ticks
 * @to: end, in ticks
 * @at: its place: it is reported before the first event that is not earlier, in ticks
 * @continued: this is a further part of a loss that was reported
 * @reasons: KTAPE_NOTICE_*, as bits
 * @early: it begins with the trace
 */
struct kt_loss {
	uint32_t cpu;
	uint32_t ring;
	uint64_t count;
	uint64_t packets;
	uint64_t from;
	uint64_t to;
	uint64_t at;
	bool continued;
	uint8_t reasons;
	bool early;
};

/**
 * struct ktape_trace - a trace that is being read
 * @options: options of the caller
 * @info: contents of the metadata
 * @metadata: text of the metadata
 * @metadata_len: bytes of @metadata
 * @unsealed: why a checksum does not cover all of the metadata; text "" = it does
 * @decoder: running threads of all CPUs
 * @registry: names
 * @input: the pipe form, or the input in another format
 * @budget: memory limit for packets of files
 * @live: @input is a pipe form that cannot be read twice
 * @single: the trace is one stream file; the other files of its directory are not
 *	read
 * @streams: all streams
 * @nr_streams: number of streams
 * @index: streams of a pipe form by kind and CPU, or NULL
 * @heap: heap of the streams with an event, the earliest first
 * @nr_heap: number of streams in @heap
 * @second: the stream that comes next after @heap[0], or NULL
 * @folder: folder whose metadata @input is, of a trace in another format; -1 = none
 * @import: reader of another format, NULL = the trace is native
 * @current: stream whose event was delivered last, or NULL
 * @last_ts: time of that event, in ticks
 * @limit: live: events up to this time can be delivered in order
 * @received: live: bytes of packets received
 * @buffered: live: bytes in queues
 * @want: live: bytes that the next step needs at the head of @input
 * @room: live: bytes that the buffer of @input should hold
 * @probed: live: bytes of the packet at the head that were searched for the header
 *	of another packet
 * @step: live: what to read next
 * @next_at: live: offset at which the next packet should begin, 0 = not known
 * @came: live: end time of the latest packet, now and 1 to KT_AGES - 1 half seconds
 *	ago
 * @aged_at: live: when @came was shifted, in ms
 * @left_at: live: when the caller was last given an event, in ms.  Until it asks for the next
 *	one, events do not age: age_events() adds that time to @aged_at, and sets this to 0
 * @shown_at: live: when the caller's idle() was called last, in ms
 * @woken_at: live: when the caller's wake descriptor became readable, in ms, 0 = not
 *	yet
 * @ended: live: the input has ended
 * @idle: live: no data arrived for a while
 * @opening: the trace is being opened
 * @reached: time of the event that comes next, in ticks
 * @losses: losses that wait for their places
 * @nr_losses: number of @losses
 * @reported_losses: of these, those that were reported
 * @first_ts: time of the first event, in ticks, 0 = not known
 * @missing: damage of @input was reported
 * @missing_at: offset up to which @input is damaged, UINT64_MAX = it is cut
 * @has_missing: a stream may have ended in damage, or begin where others have begun before
 * @quiet_until: with @has_missing: nothing is to be reported of them before this time
 * @failed: -ENOMEM: a loss could not be kept, so the trace cannot be read on
 * @late: live: number of events that were delivered out of order
 * @far_freq: frequency of the clock of which @far_from was made, 0 = not yet
 * @far_from: last tick whose time fits in ns (far.c)
 * @reported_far: a later one was reported
 * @far: copy of an event with a later time, delivered with the time @far_from
 * @packet: called with each packet's header when the packet begins, may be NULL; if
 *	set, nothing is read before kt_trace_begin()
 * @packet_arg: first argument of @packet
 */
struct ktape_trace {
	struct ktape_trace_options options;
	struct ktape_info info;
	char *metadata;
	size_t metadata_len;
	struct ktape_error unsealed;
	struct ktape_decoder *decoder;
	struct ktape_registry *registry;
	struct kt_scan input;
	int folder;
	struct kt_import *import;
	struct kt_budget budget;
	bool live;
	bool single;
	struct kt_stream **streams;
	size_t nr_streams;
	struct kt_stream **index;
	struct kt_stream **heap;
	size_t nr_heap;
	struct kt_stream *second;
	struct kt_stream *current;
	uint64_t last_ts;
	uint64_t limit;
	uint64_t received;
	uint64_t buffered;
	uint64_t want;
	uint64_t room;
	uint64_t probed;
	enum kt_step step;
	uint64_t next_at;
	uint64_t came[KT_AGES];
	uint64_t aged_at;
	uint64_t left_at;
	uint64_t shown_at;
	uint64_t woken_at;
	bool ended;
	bool idle;
	bool opening;
	uint64_t reached;
	struct kt_loss *losses;
	size_t nr_losses;
	size_t reported_losses;
	uint64_t first_ts;
	bool missing;
	uint64_t missing_at;
	bool has_missing;
	uint64_t quiet_until;
	int failed;
	uint64_t late;
	uint64_t far_freq;
	uint64_t far_from;
	bool reported_far;
	struct ktape_event far;
	void (*packet)(void *arg, struct kt_stream *s, const uint8_t *head);
	void *packet_arg;
};

/* far.c */
void kt_far_set(struct ktape_trace *t);
const struct ktape_event *kt_far_event(struct ktape_trace *t,
				       const struct ktape_event *event);

/* open.c */
int kt_trace_open(const char *path, const struct ktape_trace *how,
		  struct ktape_trace **trace, struct ktape_error *error);
int kt_trace_begin(struct ktape_trace *t);

/* loss.c */
void kt_loss_report(struct ktape_trace *t, const struct kt_stream *s,
		    const struct ktape_notice *n);
void kt_loss_opened(struct ktape_trace *t);
void kt_loss_until(struct ktape_trace *t, uint64_t ts);
void kt_loss_damage(struct ktape_trace *t, struct kt_stream *s,
		    unsigned int kind, const struct ktape_error *error);
void kt_loss_packet(struct ktape_trace *t, struct kt_stream *s, uint64_t good,
		    struct ktape_notice *n);
void kt_loss_stream_end(struct ktape_trace *t, struct kt_stream *s);
void kt_loss_before(struct ktape_trace *t, const struct ktape_event *e);
void kt_loss_end(struct ktape_trace *t);
uint64_t kt_loss_good(const struct kt_stream *s);

/* begin.c */
void kt_begin_packet(struct ktape_trace *t, struct kt_stream *s,
		     const uint8_t *head, size_t len);
bool kt_begin_before(struct ktape_trace *t, struct kt_stream *s,
		     const struct ktape_event *e);

/* fetch.c */
void kt_notice(struct ktape_trace *t, unsigned int kind, struct kt_stream *s,
	       const struct ktape_error *error);
void kt_stream_report(void *arg, unsigned int kind, const struct ktape_error *error);
int kt_stream_fetch(struct ktape_trace *t, struct kt_stream *s,
		    struct kt_content *content);

/* stream.c */
struct kt_stream *kt_stream_add(struct ktape_trace *t, enum kt_source source,
				uint32_t kind, uint32_t cpu);
struct kt_stream *kt_stream_find(const struct ktape_trace *t, uint32_t kind,
				 uint32_t cpu);
void kt_stream_file(struct kt_stream *s, int fd);
void kt_stream_free(struct kt_stream *s);
int kt_stream_place(struct kt_stream *s, uint64_t offset, uint64_t size);
int kt_stream_queue(struct ktape_trace *t, struct kt_stream *s,
		    const uint8_t *data, size_t size, uint64_t offset);
int kt_stream_load(struct ktape_trace *t, struct kt_stream *s);
void kt_stream_forget(struct kt_stream *s);

/* lane.c */
int kt_lane_fetch(struct ktape_trace *t, struct kt_stream *s,
		  struct kt_content *content);
void kt_lane_free(struct kt_lane *lane);

/* heap.c */
int kt_heap_add(struct ktape_trace *t, struct kt_stream *s);
void kt_heap_first_moved(struct ktape_trace *t, bool ended);
void kt_heap_rebuild(struct ktape_trace *t);

/* At equal times, names come first, then control records, then events by CPU. */
static inline bool kt_stream_is_before(const struct kt_stream *a,
				       const struct kt_stream *b)
{
	if (a->event.ts != b->event.ts)
		return a->event.ts < b->event.ts;
	if (a->kind != b->kind)
		return a->kind > b->kind;
	return a->cpu < b->cpu;
}

/* merge.c */
int kt_merge_settle(struct ktape_trace *t);

/* live.c */
void kt_live_begin(struct ktape_trace *t);
int kt_live_pump(struct ktape_trace *t);
int kt_live_wait(struct ktape_trace *t);

#endif /* _KT_TRACE_H */
