/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace in a format of others while it is read: what its codec works with. */
#ifndef _KT_IMPORT_H
#define _KT_IMPORT_H

#include "names/names.h"
#include "codec.h"

#define KT_IMPORT_JSON_FIXED	1024U
#define KT_IMPORT_JSON_BYTE	24U

/**
 * struct kt_foreign - a native record to be made
 * @ts: its time in ticks of the info's frequency
 * @cpu: where
 * @tid: the thread there, -1 if not known
 * @kind: enum ktape_ring_kind
 * @opcode: which event
 * @nargs: 0 to 7
 * @dat20: 20 bits
 * @args: arguments
 * @blob: what follows them, or NULL
 * @blob_size: of @blob
 * @raw: for the codec's json(), or NULL
 * @raw_size: of @raw
 */
struct kt_foreign {
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
	const void *raw;
	uint32_t raw_size;
};

/**
 * struct kt_named - an object that has a name
 * @type: enum ktape_object
 * @id: its number within the type
 * @param1: by type
 * @param2: by type
 * @name: its bytes, cut at KTAPE_NAME_SIZE
 * @len: how many
 */
struct kt_named {
	uint32_t type;
	uint32_t id;
	uint32_t param1;
	uint32_t param2;
	const void *name;
	size_t len;
};

/* Records of one CPU in their order. */
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
 * struct kt_import - what a codec sees of its trace
 * @codec: the codec
 * @in: the input: kt_scan_need(), kt_scan_head(), kt_scan_skip(); @in->offset
 * @options: what it was told, see kt_codec_option()
 * @info: to be filled by open(): freq at least; the rest has values
 * @registry: names so far
 * @state: of the codec
 * @error: why open() or next() failed
 * @memo: what the codec keeps from the first pass to the second
 * @learning: a first pass for names: notices are held back
 * @learned: there was one, and the registry has all names
 * @trace_options: options of the trace, with the callbacks for notices
 * @window: sorted: bytes that may be held back; 0: not sorted
 * @fifos: sorted: one a CPU, else only the first
 * @nr_fifos: how many
 * @heap: numbers of those that hold something, the earliest first; but not that
 *	of @current
 * @nr_heap: how many
 * @heap_room: room for so many
 * @held: bytes in them
 * @current: where the event that was delivered is, or NULL
 * @taken: its bytes
 * @ended: the codec has no more
 * @bad: pieces that could not be read
 * @event: what was delivered
 * @raw: for json()
 * @raw_size: of @raw
 * @text: room for json()
 * @text_cap: its size
 */
struct kt_import {
	const struct ktape_codec *format;
	const struct kt_codec_in *codec;
	struct kt_scan *in;
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
	uint64_t held;
	struct kt_fifo *current;
	size_t taken;
	bool ended;
	uint64_t bad;
	uint64_t last_ts;
	uint64_t late;
	struct ktape_event event;
	const void *raw;
	size_t raw_size;
	char *text;
	size_t text_cap;
};

/* For codecs: import_emit.c */
int kt_import_emit(struct kt_import *s, const struct kt_foreign *f);
int kt_import_name(struct kt_import *s, struct kt_foreign *at,
		   const struct kt_named *n);
int kt_import_lost(struct kt_import *s, uint32_t cpu, uint64_t count,
		   uint64_t from, uint64_t to);
void kt_import_bad(struct kt_import *s, uint64_t offset, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));
void kt_import_truncated(struct kt_import *s, const struct ktape_error *error);
int kt_import_joined(struct kt_import *s, uint64_t offset, uint32_t cpu);
void kt_import_none(struct kt_import *s);
void kt_import_note(struct kt_import *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int kt_import_fail(struct kt_import *s, uint64_t offset, const char *format,
		   ...) __attribute__((format(printf, 3, 4)));

/**
 * struct kt_import_trace - the trace that an import fills
 * @options: options of the trace, valid until kt_import_close()
 * @input: the input, positioned at its first byte
 * @info: filled by kt_import_open()
 * @formats: formats that describe user events, for the registry
 * @registry: set by kt_import_open(); the trace owns the registry
 */
struct kt_import_trace {
	const struct ktape_trace_options *options;
	struct kt_scan *input;
	struct ktape_info *info;
	const struct kt_user_format *const *formats;
	struct ktape_registry **registry;
};

/* For traces: import.c */
int kt_import_open(const struct kt_import_trace *t,
		   const struct ktape_codec *format, struct kt_import **import,
		   struct ktape_error *error);
int kt_import_next(struct kt_import *s, const struct ktape_event **event);
const char *kt_import_json(struct kt_import *s, size_t *len);
void kt_import_close(struct kt_import *s);

/* import.c, for import_emit.c */
int kt_fifo_queue(struct kt_import *s, struct kt_fifo *fifo);

/* import_emit.c, for import.c */
#define KT_IMPORT_LOST	0	/* opcode of a loss that waits in a queue */

int kt_fifo_put(struct kt_import *s, const struct kt_foreign *f);
void kt_fifo_shrink(struct kt_fifo *fifo);
void kt_fifo_take(struct kt_import *s, struct kt_fifo *fifo);
uint64_t kt_fifo_ts(const struct kt_fifo *fifo);
void kt_import_tell_lost(struct kt_import *s);
void kt_import_tell_bad(struct kt_import *s);

#endif /* _KT_IMPORT_H */
