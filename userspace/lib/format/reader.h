/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a trace in another format: what the format calls while it reads.
 *
 * The format turns pieces of its input into native records and hands them over with
 * the functions of reader_emit.c; reader.c delivers them as the events of a trace.
 * Finding out which format an input has is not done here (trace/open.c).
 *
 * Read the files in this order; each calls only those before it: reader_notice.c,
 * reader_queue.c, reader_emit.c, reader.c.
 */
#ifndef _KT_READER_H
#define _KT_READER_H

#include "names/names.h"
#include "format.h"

/* Room for kt_codec_in.json(): this much, and so much more for each byte of kt_delivery.raw. */
#define KT_IMPORT_JSON_FIXED 1024U
#define KT_IMPORT_JSON_BYTE  24U

/**
 * struct kt_delivery - a native record that a format wants delivered
 * @ts: its time in ticks of the info's frequency
 * @cpu: CPU where it was recorded, below KT_CPUS_MAX
 * @tid: thread that ran there, -1 = unknown
 * @kind: enum ktape_ring_kind
 * @opcode: opcode of the event
 * @nargs: number of arguments, 0 to KTAPE_NARGS_MAX
 * @dat20: its 20 bits of data
 * @args: its arguments
 * @blob: buffer after the arguments, or NULL
 * @blob_size: bytes of @blob
 * @extra: fields that the event table does not have, as in struct ktape_event, or NULL
 * @extra_size: bytes of @extra
 * @raw: what json() of the format needs to show the event, or NULL
 * @raw_size: bytes of @raw
 *
 * @blob, @extra and @raw are copied.
 */
struct kt_delivery {
	uint64_t ts;
	uint32_t cpu;
	int32_t tid;
	uint8_t kind;
	uint8_t opcode;
	uint8_t nargs;
	uint32_t dat20;
	uint32_t args[KTAPE_NARGS_MAX];
	const void *blob;
	uint32_t blob_size;
	const void *extra;
	uint32_t extra_size;
	const void *raw;
	uint32_t raw_size;
};

/**
 * struct kt_named - the name of an object
 * @type: enum ktape_object
 * @id: id of the object within its type
 * @param1: first parameter; its meaning depends on the type (ktape/objects.h)
 * @param2: second parameter, likewise
 * @name: the name, without a NUL; cut at kt_name_max() of @type
 * @len: bytes of @name
 * @born: time from which the object has the name, 0 = from the beginning
 */
struct kt_named {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
	uint32_t param2;
	const void *name;
	size_t len;
	uint64_t born;
};

/**
 * struct kt_fifo - records that wait to be delivered, in order
 * @buf: the records
 * @head: offset of the first record
 * @len: offset after the last record
 * @cap: bytes allocated
 * @last_ts: time of the last record that was put in, delivered or not
 * @begun: a record was put in, @last_ts is valid
 * @queued: the queue is in kt_import.heap
 */
struct kt_fifo {
	uint8_t *buf;
	size_t head;
	size_t len;
	size_t cap;
	uint64_t last_ts;
	bool begun;
	bool queued;
};

/**
 * struct kt_back - steps back in time, counted; the rest is of the first one
 * @steps: how many
 * @events: events that got the time of the one before them
 * @cpu: CPU of the first step
 * @ts: time before it
 * @by: ticks by which time goes back
 * @offset: where in its file it is
 * @place: name of the file, if the trace has several
 */
struct kt_back {
	uint64_t steps;
	uint64_t events;
	uint32_t cpu;
	uint64_t ts;
	uint64_t by;
	uint64_t offset;
	char place[48];
};

/**
 * struct kt_import - a trace in another format that is being read
 * @format: the format
 * @codec: its functions
 * @in: the input: kt_scan_need(), kt_scan_head(), kt_scan_skip(); @in->offset
 * @folder: the input is a folder: @in reads its file "metadata".  -1 = it is a file
 * @begin: offset of the first byte of the trace in @in
 * @options: options of the user, see kt_codec_option()
 * @info: info of the trace.  open() sets at least freq; the rest has defaults
 * @registry: names so far
 * @state: state of the format, kt_codec_in.size bytes
 * @error: why open() or next() failed
 * @memo: a value that the format keeps from the first pass over the input to the
 *	second one, 0 = none
 * @learning: this is the first pass, for names: events and notices are suppressed
 * @learned: there was a first pass, so @registry already has all names
 * @trace_options: options of the trace, with the callbacks for notices
 * @window: bytes that may wait for events of other CPUs, 0 = events are delivered in
 *	the order of the input
 * @fifos: waiting records, a queue for each CPU; without @window one queue for all
 * @nr_fifos: number of queues
 * @heap: numbers of the queues that hold records, except @current, as a binary heap
 *	with the earliest first record on top
 * @nr_heap: entries of @heap in use
 * @heap_room: entries of @heap allocated
 * @queued: bytes that wait in all queues
 * @resumes: next() may be called again after it has returned -EAGAIN because the input
 *	paused; set by open()
 * @prompt: records are delivered before the window is full: KTAPE_TRACE_PROMPT
 * @due_at: @prompt: when records up to @due_ts have waited long enough, in ms; 0 = none
 *	was chosen
 * @due_ts: @prompt: time of the newest record when @due_at was chosen
 * @shown_at: when the caller's idle() was called last, in ms
 * @current: queue of the event that was delivered last, or NULL
 * @taken: bytes of that event in its queue
 * @ended: next() has returned 0
 * @bad: damaged places so far
 * @last_ts: time of the event that was delivered last
 * @late: events that were delivered after a later one, because @window was too small
 * @cut_names: names of user events that are longer than KT_NAME_LONG
 * @latest: by CPU: time of the last record, for traces of a kernel
 * @nr_latest: entries of @latest
 * @back: steps back in time
 * @beside: what the input has beside its content: texts with a newline behind each
 * @event: the event that was delivered last
 * @raw: its kt_delivery.raw
 * @raw_size: bytes of @raw
 * @text: room for json()
 * @text_cap: bytes of @text
 */
struct kt_import {
	const struct ktape_codec *format;
	const struct kt_codec_in *codec;
	struct kt_scan *in;
	int folder;
	uint64_t begin;
	struct kt_codec_options options;
	struct ktape_info *info;
	struct ktape_registry *registry;
	void *state;
	struct ktape_error error;
	uint64_t memo;
	bool learning;
	bool learned;
	const struct ktape_trace_options *trace_options;
	uint64_t window;
	struct kt_fifo *fifos;
	size_t nr_fifos;
	uint32_t *heap;
	size_t nr_heap;
	size_t heap_room;
	uint64_t queued;
	bool resumes;
	bool prompt;
	uint64_t due_at;
	uint64_t due_ts;
	uint64_t shown_at;
	struct kt_fifo *current;
	size_t taken;
	bool ended;
	uint64_t bad;
	uint64_t last_ts;
	uint64_t late;
	uint64_t cut_names;
	uint64_t *latest;
	uint32_t nr_latest;
	struct kt_back back;
	char beside[512];
	struct ktape_event event;
	const void *raw;
	size_t raw_size;
	char *text;
	size_t text_cap;
};

/* For formats (reader_emit.c, reader_notice.c). */
int kt_import_emit(struct kt_import *s, const struct kt_delivery *f);
int kt_import_name(struct kt_import *s, struct kt_delivery *at,
		   const struct kt_named *n);
int kt_import_lost(struct kt_import *s, uint32_t cpu, uint64_t count,
		   uint64_t from, uint64_t to);
void kt_import_bad(struct kt_import *s, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void kt_import_count_back(struct kt_import *s, const struct kt_back *step);
void kt_import_times(struct kt_import *s, const struct kt_back *at,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void kt_import_truncated(struct kt_import *s, const struct ktape_error *error);
int kt_import_joined(struct kt_import *s, uint64_t offset, uint32_t cpu);
void kt_import_notify_none(struct kt_import *s);
void kt_import_note(struct kt_import *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void kt_import_beside(struct kt_import *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int kt_import_fail(struct kt_import *s, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * struct kt_import_trace - the trace that an import fills
 * @options: options of the trace, valid until kt_import_close()
 * @input: the input, positioned at its first byte
 * @folder: as in struct kt_import; stays the caller's
 * @info: filled by kt_import_open()
 * @formats: formats that describe user events, for the registry
 * @registry: set by kt_import_open(); the trace owns the registry
 */
struct kt_import_trace {
	const struct ktape_trace_options *options;
	struct kt_scan *input;
	int folder;
	struct ktape_info *info;
	const struct kt_user_format *const *formats;
	struct ktape_registry **registry;
};

/* For traces (reader.c). */
int kt_import_open(const struct kt_import_trace *t, const struct ktape_codec *format,
		   struct kt_import **import, struct ktape_error *error);
int kt_import_next(struct kt_import *s, const struct ktape_event **event);
const char *kt_import_json(struct kt_import *s, size_t *len);
void kt_import_close(struct kt_import *s);

/* Between the files of the reader. */
#define KT_IMPORT_LOST 0 /* opcode of a record that stands for a loss */

int kt_fifo_put(struct kt_import *s, const struct kt_delivery *f);
int kt_fifo_enter_heap(struct kt_import *s, struct kt_fifo *fifo);
struct kt_fifo *kt_fifo_take_earliest(struct kt_import *s);
void kt_fifo_shrink(struct kt_fifo *fifo);
void kt_fifo_take(struct kt_import *s, struct kt_fifo *fifo);
uint64_t kt_fifo_ts(const struct kt_fifo *fifo);
void kt_import_notify_lost(struct kt_import *s);
void kt_import_notify_bad(struct kt_import *s);
void kt_import_notify_back(struct kt_import *s);

#endif /* _KT_READER_H */
