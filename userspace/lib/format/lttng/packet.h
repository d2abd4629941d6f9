/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams of a CTF trace: packet by packet, event by event; see packet.c, files.c. */
#ifndef _KT_LTTNG_PACKET_H
#define _KT_LTTNG_PACKET_H

#include <sys/types.h>

#include "format/timed.h"
#include "ctf.h"

#define LT_PACKET_MAX (256ULL << 20) /* bytes of a packet that are read */

struct lt_trace;

/**
 * struct lt_gap - a loss
 * @count: events, 0 = an unknown number
 * @from: when it began at the earliest: the end of the packet before it
 * @to: when it ended at the latest; it is delivered there
 */
struct lt_gap {
	uint64_t count;
	uint64_t from;
	uint64_t to;
};

/**
 * struct lt_file - a file that has a stream or a part of it
 * @trace: the trace that it belongs to
 * @name: its name in the folder of @trace
 */
struct lt_file {
	struct lt_trace *trace;
	char *name;
};

/**
 * struct lt_stream - a stream, which is in one file or several, and the packet and event that
 *	are read
 * @next_event: time of the next event
 * @fd: the file, -1: it could not be opened
 * @trace: the trace that @fd belongs to
 * @files: the files that have the stream, in their order
 * @nr_files: entries of @files
 * @file: the one that is @fd
 * @other: @fd is of another trace than the file before, and no packet of it was taken yet: its
 *	first packets may be those of that file again
 * @buf: a part of the file
 * @cap: bytes allocated for @buf
 * @window: where in the file @buf begins
 * @filled: bytes of the file in @buf
 * @offset: of the packet in the file
 * @next: offset of the next packet
 * @at: the next event in @buf
 * @class: stream class of the packet
 * @cpu: CPU of the packet; if it has none, number of the stream
 * @placed: the packet says its CPU
 * @event_cpu: CPU of the event
 * @time: time of the last event or of the beginning of the packet, in ticks
 * @delivered: the latest time that was delivered or is next, of an event or a loss, in the
 *	session's unit: no later one is earlier
 * @stepped: the last event was earlier than one before it
 * @ended: there is no more packet
 * @gaps: losses before the next event
 * @nr_gaps: entries of @gaps
 * @begin: time of the beginning of the packet
 * @dated: the packet says @begin
 * @end: time of its end; @begin if it does not say
 * @bounded: the packet says @end in 64 bits, so it has not wrapped
 * @until: end of the packet that was read last, in the unit of @delivered, because a file of
 *	another trace may count ticks from another origin
 * @last_until: the same of the packet before
 * @discarded: lost events up to the packet
 * @seq: number of the packet
 * @numbered: packets have numbers
 * @begun: a packet was read, so @until, @discarded and @seq are valid
 * @lost: events that the packet says were lost since the one before
 * @doubtful: the packet is the first one, or numbers begin again with it, and it has a count of
 *	lost events, which may include its own or be from files before
 * @skipped: the number of the packet skips some
 * @padded: the rest of the file is zero, where the next packet would begin
 * @event_bit: bit of the next event in the packet
 * @context_bit: bit of its contexts
 * @event: class of the next event
 * @tid: thread of its context, -1 = none
 */
struct lt_stream {
	struct kt_timed next_event;
	int fd;
	struct lt_trace *trace;
	struct lt_file *files;
	size_t nr_files;
	size_t file;
	bool other;
	uint8_t *buf;
	size_t cap;
	uint64_t window;
	uint64_t filled;
	uint64_t offset;
	uint64_t next;
	struct ctf_at at;
	const struct ctf_stream *class;
	uint32_t cpu;
	bool placed;
	uint32_t event_cpu;
	uint64_t time;
	uint64_t delivered;
	bool stepped;
	bool ended;
	struct lt_gap gaps[2]; /* next_packet() adds no more, and is called when there is none */
	unsigned int nr_gaps;
	uint64_t begin;
	bool dated;
	uint64_t end;
	bool bounded;
	uint64_t until;
	uint64_t last_until;
	uint64_t discarded;
	uint64_t seq;
	bool numbered;
	bool begun;
	uint64_t lost;
	bool doubtful;
	bool skipped;
	bool padded;
	uint64_t event_bit;
	uint64_t context_bit;
	const struct ctf_class *event;
	int64_t tid;
};

/**
 * struct lt_streams - the streams of a trace
 * @list: the streams
 * @nr: entries of @list
 */
struct lt_streams {
	struct lt_stream *list;
	size_t nr;
};

struct kt_import;
struct lt_session;

#define LT_PLACE 104 /* bytes of lt_place() */

/* files.c */
int lt_files_open(struct kt_import *in, struct lt_session *all,
		  struct lt_streams *t);
void lt_files_close(struct lt_streams *t);

/* probe.c */
int lt_probe(const uint8_t *data, size_t len, bool whole);

/* What lt_packet_next() and lt_event_next() return, or negative errno. */
enum { LT_END, LT_OK, LT_BAD };

/* packet.c */
void lt_place(const struct lt_stream *s, char place[LT_PLACE]);
int lt_file_next(struct lt_stream *s);
int lt_packet_next(struct lt_stream *s, struct ktape_error *error);
int lt_event_next(const struct ctf *c, struct lt_stream *s,
		  struct ktape_error *error);

#endif /* _KT_LTTNG_PACKET_H */
