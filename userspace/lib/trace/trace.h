/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace that is being read: streams, where their packets come from. */
#ifndef _KT_TRACE_H
#define _KT_TRACE_H

#include "stream/packet.h"
#include "stream/scan.h"

/* After so many half seconds an event is not held back any more. */
#define KT_AGES		5

/* Where a stream's packets come from. */
enum kt_source {
	KT_SOURCE_FILE,		/* a file of its own */
	KT_SOURCE_LIST,		/* places in a file of many streams */
	KT_SOURCE_QUEUE		/* memory, filled from a pipe */
};

/* What is to be read of a live stream. */
enum kt_step {
	KT_STEP_PACKET,		/* a packet */
	KT_STEP_PASS,		/* what fills one up */
	KT_STEP_HUNT		/* where the next one begins */
};

/* Content of a packet: header and records. */
struct kt_packet_place {
	uint64_t offset;
	uint64_t size;
};

/* The same in memory. */
struct kt_queued {
	struct kt_queued *next;
	uint64_t offset;
	size_t size;
	uint8_t data[];
};

/**
 * struct kt_stream - packets of one ring in order
 * @source: where they come from
 * @kind: enum ktape_ring_kind
 * @cpu: its CPU
 * @trace: that it belongs to
 * @scan: the file (FILE)
 * @found: the packet at the head of @scan
 * @taken: it is in use
 * @places: of the packets (LIST)
 * @nr_places: how many
 * @next_place: the next one
 * @buf: its packet (LIST)
 * @buf_size: room there
 * @first: packets (QUEUE), the one in use first
 * @last: the last one
 * @in_use: the first one is being read
 * @queued_until: time until which packets came
 * @received: bytes that had come in all when the last packet came
 * @packet: the packet that is being read
 * @event: its next record
 * @offset: of the packet
 * @fresh: none of its records was delivered
 * @in_heap: it has an event
 * @begun: a packet came before, of which the members below tell
 * @seq: its number
 * @discarded: its count of losses
 * @ts_end: its end
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

	struct ktape_packet packet;
	struct ktape_event event;
	uint64_t offset;
	bool fresh;
	bool in_heap;

	bool begun;
	uint64_t seq;
	uint64_t discarded;
	uint64_t ts_end;
};

struct kt_import;

/**
 * struct ktape_trace - a trace that is being read
 * @options: of the caller
 * @info: from the metadata
 * @metadata: its text
 * @metadata_len: bytes of it
 * @unsealed: why not all of it is vouched for, with an empty text if it is
 * @decoder: threads of all CPUs
 * @registry: names
 * @input: the pipe-form file or stream
 * @budget: memory for packets of files
 * @live: @input cannot be read twice
 * @single: it is one stream file of a directory, and the others are not read
 * @streams: all of them
 * @nr_streams: how many
 * @index: those of one input by kind and CPU, or NULL
 * @heap: those with an event, the earliest first
 * @nr_heap: how many
 * @second: the earliest but the first, or NULL
 * @import: it is in a format of others, or NULL
 * @current: the stream whose event was delivered last
 * @last_ts: time of that event
 * @limit: live: events up to here are in order
 * @received: live: bytes that came
 * @buffered: live: bytes in queues
 * @want: live: bytes that have to be there for the next step
 * @room: live: bytes that the buffer should have room for
 * @probed: live: bytes of the packet at the head that no other begins in
 * @step: live: what that step is
 * @next_at: live: where the next packet should begin, or 0
 * @came: live: until when packets had come, now and each half second before
 * @aged_at: live: when @came moved on, in ms
 * @left_at: live: when the caller got an event, in ms, or 0
 * @shown_at: live: when the caller's idle() was called last, in ms
 * @woken_at: live: when the caller wanted it to end, in ms, or 0
 * @ended: live: nothing more will come
 * @idle: live: nothing came for a while
 * @late: live: events that came too late
 * @packet: called with the head of each packet, its stream being where the packet
 *	is; with it nothing is read before kt_trace_begin()
 * @packet_arg: for @packet
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
	uint64_t late;
	void (*packet)(void *arg, struct kt_stream *s, const uint8_t *head);
	void *packet_arg;
};

/* open.c */
int kt_trace_open(const char *path, const struct ktape_trace *how,
		  struct ktape_trace **trace, struct ktape_error *error);
int kt_trace_begin(struct ktape_trace *t);

/* stream.c */
struct kt_stream *kt_stream_add(struct ktape_trace *t, enum kt_source source,
				uint32_t kind, uint32_t cpu);
struct kt_stream *kt_stream_find(const struct ktape_trace *t, uint32_t kind,
				 uint32_t cpu);
void kt_stream_file(struct kt_stream *s, int fd);
void kt_stream_tell(void *arg, unsigned int kind,
		    const struct ktape_error *error);
void kt_stream_free(struct kt_stream *s);
int kt_stream_place(struct kt_stream *s, uint64_t offset, uint64_t size);
int kt_stream_queue(struct ktape_trace *t, struct kt_stream *s,
		    const uint8_t *data, size_t size, uint64_t offset);
int kt_stream_load(struct ktape_trace *t, struct kt_stream *s);
void kt_stream_forget(struct kt_stream *s);
void kt_notice(struct ktape_trace *t, unsigned int kind,
	       const struct kt_stream *s, const struct ktape_error *error);

/* merge.c */
int kt_merge_add(struct ktape_trace *t, struct kt_stream *s);

/* live.c */
void kt_live_begin(struct ktape_trace *t);
int kt_live_pump(struct ktape_trace *t);
int kt_live_wait(struct ktape_trace *t);

#endif /* _KT_TRACE_H */
