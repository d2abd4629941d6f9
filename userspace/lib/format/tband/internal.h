/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tonbandgeraet: what the files of this folder share.  Read them in this order; each calls only
 * those before it:
 *
 * tband.c	events as bytes, frames, the table of events; it draws the format
 * check.c	the check of a group of frames
 * user.c	fields of events that are kept as user events
 * emit.c	reading: the native record for each event
 * carried.c	reading: what only a line that loses bytes has
 * take.c	reading: the event of a frame: core, time, losses
 * line.c	reading from a line that loses bytes: groups and their checks
 * in.c		reading: frames
 * put.c	writing: frames, cores, times, losses
 * seal.c	writing to a line that loses bytes
 * map.c	writing: the event for each native record
 * out.c	writing: the stream
 */
#ifndef _KT_TBAND_INTERNAL_H
#define _KT_TBAND_INTERNAL_H

#include "rtos/foreign.h"
#include "format/reader.h"
#include "format/left_out.h"
#include "format/writer.h"
#include "util/map.h"

#define KT_TBAND_INVALID   128U /* our own id: a frame that is no event */
#define KT_TBAND_FIELDS	   2
#define KT_TBAND_FIXED_MAX 32U /* bytes of id, time and fields */
#define KT_TBAND_WHY	   80  /* room for a reason */

enum kt_tband_type {
	KT_TBAND_NONE,
	KT_TBAND_U8,
	KT_TBAND_U32,
	KT_TBAND_U64,
	KT_TBAND_S64
};

/**
 * struct kt_tband_kind - what events of one id consist of
 * @name: name in Tonbandgeraet's specification
 * @types: types of the fields, enum kt_tband_type
 * @fields: names of the fields
 * @text: name of the text after the fields, NULL = none
 */
struct kt_tband_kind {
	const char *name;
	uint8_t types[KT_TBAND_FIELDS];
	const char *fields[KT_TBAND_FIELDS];
	const char *text;
};

/**
 * struct kt_tband_event - an event
 * @id: enum kt_tband_id (rtos/foreign.h)
 * @ts: its time in ticks of the stream, 0 for metadata
 * @values: values of the fields, sign-extended
 * @text: text after the fields, without a NUL
 * @len: bytes of @text
 */
struct kt_tband_event {
	uint8_t id;
	uint64_t ts;
	uint64_t values[KT_TBAND_FIELDS];
	const uint8_t *text;
	size_t len;
};

const struct kt_tband_kind *kt_tband_kind(unsigned int id);
const char *kt_tband_queue_kind(uint64_t kind);
int kt_tband_decode(struct kt_tband_event *e, const uint8_t *data, size_t len,
		    char why[KT_TBAND_WHY]);
const uint8_t *kt_tband_get_number(const uint8_t *p, const uint8_t *end,
				   unsigned int bits, uint64_t *value);
uint8_t *kt_tband_put_number(uint8_t *p, uint64_t v);
size_t kt_tband_encode(const struct kt_tband_event *e, uint8_t *to);
int64_t kt_cobs_decode(uint8_t *to, const uint8_t *data, size_t len);
size_t kt_cobs_encode(uint8_t *to, const uint8_t *data, size_t len);
char *kt_tband_json(char *p, const struct kt_tband_event *e);

/* ---- lines that lose bytes --------------------------------------------- */

/*
 * A stream over a serial line that loses bytes carries checks, so that its reader finds
 * every loss.  Other decoders read such a stream as usual.
 *
 *	frame ... frame EVENT-OR-NAME CHECK   frame ... EVENT-OR-NAME CHECK   ...
 *	\________________ group ____________/
 *
 * A native event or name becomes a group of frames.  The frame before the check is the
 * event itself.  The frames before the event say on which core it was, which task ran
 * and how many events were lost.  The check is a frame that names a value marker which no
 * program uses; other decoders see that marker change its name.  The name consists of
 * base64url digits, the highest first:
 *
 *	3	sequence number: events, or names, so far, with this one
 *	4	lower 24 bits of a CRC32C over the frames of the group with their zeros,
 *		and over the rest of the check
 *	0 to 2	core of the group; no digits for core 0
 *
 * Events and names are numbered separately, modulo 2^18; the id of the marker says which
 * number the check has.  A group without an event or a name repeats the last number.  The stream
 * begins with a group that holds the time resolution, sent three times; numbers begin
 * with it.  It ends with the count of lost events and with empty groups of both kinds,
 * sent three times.
 *
 * A native event that has no place in the format is carried as the name of a third
 * marker, in base64url: opcode; enum ktape_ring_kind | number of arguments << 2 |
 * KT_TBAND_CARRIED_BLOB if it has a buffer; as LEB128 time, thread + 1, dat20 and the
 * arguments; then the buffer.
 */

/* Ids of the value markers that no program uses.  Their LEB128 takes two bytes. */
#define KT_TBAND_CARRIED     16381U
#define KT_TBAND_CHECK_EVENT 16382U
#define KT_TBAND_CHECK_NAME  16383U

#define KT_TBAND_SEQ_MASK   0x3ffffU
#define KT_TBAND_SUM_MASK   0xffffffU
#define KT_TBAND_CHECK_TEXT 16 /* room for the name that is a check */
#define KT_TBAND_REPEAT	    3 /* how often beginning and end of a stream are sent */

/* The second byte of a carried event, and its limit. */
#define KT_TBAND_CARRIED_ARGS 2 /* shift of the number of arguments */
#define KT_TBAND_CARRIED_BLOB 32U
#define KT_TBAND_CARRIED_MAX  2048U /* bytes of a buffer; the rest is cut */

/**
 * struct kt_tband_check - the check of a group, without its sum
 * @name: the group is a name; else an event
 * @seq: sequence number, modulo KT_TBAND_SEQ_MASK + 1
 * @core: core of the group
 */
struct kt_tband_check {
	bool name;
	uint32_t seq;
	uint32_t core;
};

uint32_t kt_tband_check_sum(uint32_t crc, const struct kt_tband_check *c);
void kt_tband_check_put(struct kt_tband_event *e, uint32_t sum,
			const struct kt_tband_check *c,
			char text[KT_TBAND_CHECK_TEXT]);
bool kt_tband_check_get(const struct kt_tband_event *e, uint32_t *sum,
			struct kt_tband_check *c);
size_t kt_base64_encode(char *to, const uint8_t *data, size_t len);
int64_t kt_base64_decode(uint8_t *to, const uint8_t *text, size_t len);

/* ---- reading ----------------------------------------------------------- */

#define KT_TBAND_FRAME_MAX   65536U /* bytes */
#define KT_TBAND_TASKS	     4096U  /* places for priorities of tasks */
#define KT_TBAND_GROUP_MAX   64U    /* frames that wait for their check */
#define KT_TBAND_GROUP_BYTES (2 * KT_TBAND_FRAME_MAX)

/**
 * struct kt_tband_core - a core of the stream
 * @ts: time of its last event, in ticks of the trace
 * @tid: task that runs there, -1 = unknown
 * @leaving: KTAPE_STATE_* that @tid will have when it is switched out, as far as the
 *	events so far say
 */
struct kt_tband_core {
	uint64_t ts;
	int32_t tid;
	uint8_t leaving;
};

/**
 * struct kt_tband_prio - the last priority of a task
 * @task: the task; tasks whose numbers differ by KT_TBAND_TASKS share a place
 * @prio: its priority as the Linux kernel counts
 * @known: the place is in use
 */
struct kt_tband_prio {
	uint32_t task;
	uint8_t prio;
	bool known;
};

/**
 * struct kt_tband_line - frames from a line that wait for their check
 * @on: frames wait; false for a stream without checks
 * @checked: a check was right, so the stream has checks
 * @harmed: a notice of damage was sent, and no whole group was decoded since
 * @quiet: the frame being decoded only describes the event that ends its group
 * @unknown: events are missing before the next one, and it is unknown how many
 * @known: [0] events, [1] names: @seq is valid
 * @seq: [0] number of the last event, [1] of the last name
 * @gap: number of events missing before the next one
 * @names: number of names lost so far
 * @nr: number of frames that wait
 * @at: offset of each frame in @bytes, and of the end of the last one
 * @bytes: the frames with their zeros
 */
struct kt_tband_line {
	bool on;
	bool checked;
	bool harmed;
	bool quiet;
	bool unknown;
	bool known[2];
	uint32_t seq[2];
	uint32_t gap;
	uint64_t names;
	unsigned int nr;
	uint32_t at[KT_TBAND_GROUP_MAX + 1];
	uint8_t bytes[KT_TBAND_GROUP_BYTES];
};

/**
 * struct kt_tband_import - an input that is being read
 * @hex: it consists of hexadecimal digits
 * @bare: mode bare-metal: an event of FreeRTOS is an invalid frame
 * @check: option check: the stream has checks, and its times are in ns
 * @count: number of cores, at most
 * @core: core of the next events
 * @cores: all cores so far
 * @nr_cores: entries of @cores
 * @scale: ticks of the trace in a tick of the input
 * @dropped: the input's counter of lost events
 * @last_ts: time of the last event, in ticks of the input
 * @timed: @last_ts is valid
 * @saturated_noted: there was a notice that times are too large
 * @cut_names_noted: there was a notice that names are cut
 * @good: number of valid frames
 * @zeros: zero bytes since the last frame
 * @zeros_at: offset of the first of them
 * @offset: offset of the frame being decoded
 * @frame: with @hex: bytes of the frame
 * @event: content of the frame, after the first byte of kt_delivery.raw
 * @typed: room for typed arguments
 * @prios: priorities of tasks
 * @line: with @check: frames that wait
 */
struct kt_tband_import {
	bool hex;
	bool bare;
	bool check;
	uint32_t count;
	uint32_t core;
	struct kt_tband_core *cores;
	uint32_t nr_cores;
	uint64_t scale;
	uint32_t dropped;
	uint64_t last_ts;
	bool timed;
	bool saturated_noted;
	bool cut_names_noted;
	uint64_t good;
	uint64_t zeros;
	uint64_t zeros_at;
	uint64_t offset;
	uint8_t frame[KT_TBAND_FRAME_MAX];
	uint8_t event[1 + KT_TBAND_FRAME_MAX];
	uint8_t typed[2 + KT_TBAND_FRAME_MAX];
	struct kt_tband_prio prios[KT_TBAND_TASKS];
	struct kt_tband_line line;
};

/* emit.c */
int kt_tband_emit(struct kt_import *s, struct kt_delivery *f,
		  const struct kt_tband_event *e);
bool kt_tband_is_name(const struct kt_tband_event *e);
void kt_tband_follow(struct kt_tband_import *t, struct kt_tband_core *c,
		     const struct kt_tband_event *e);

/*
 * kt_delivery.raw: a 0 and the content of the frame; or for a frame that is no event
 * KT_TBAND_RAW_BAD, 1 if a time is known, the time in 8 bytes, and the reason as text.
 */
#define KT_TBAND_RAW_BAD  1
#define KT_TBAND_RAW_HEAD 10 /* bytes before the reason */

/* take.c */
int kt_tband_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_change_core(struct kt_import *s, uint64_t core);
struct kt_tband_core *kt_tband_core_at(struct kt_tband_import *t, uint32_t nr);
void kt_tband_set_resolution(struct kt_import *s, uint64_t ns);

/* line.c */
int kt_tband_line_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_line_end(struct kt_import *s);

/* carried.c */
int kt_tband_line_gap(struct kt_import *s, uint32_t core, uint64_t ts);
bool kt_tband_is_carried(const struct kt_tband_import *t,
			 const struct kt_tband_event *e);
int kt_tband_line_carried(struct kt_import *s, const struct kt_tband_event *e,
			  size_t size);

/* ---- writing ----------------------------------------------------------- */

/**
 * struct kt_tband_cpu - a CPU in the stream
 * @ts: time of its last event, on the trace clock
 * @tid: thread that runs there as the stream says, TID_UNKNOWN (map.c) = not said yet
 * @left: the stream already says how @tid leaves the CPU
 */
struct kt_tband_cpu {
	uint64_t ts;
	int32_t tid;
	bool left;
};

/**
 * struct kt_tband_sink - a stream that is being written
 * @hex: write hexadecimal digits, a line for each frame
 * @bare: mode bare-metal: leave threads out
 * @raw_time: write ticks of the trace clock; else nanoseconds
 * @check: for a line that loses bytes: write groups with checks
 * @begun: the first core and the resolution are written
 * @core: core that the stream named last
 * @drop_every: write the count of losses at least every so many events, 0 = only when
 *	it changes
 * @max_text: longest text in bytes
 * @since: events since the count of losses was written
 * @pending: lost events that are not yet in the count
 * @dropped: the count of lost events
 * @last_ts: time of the last event, on the trace clock
 * @plain: room for an event, and after it for its frame, @room bytes each
 * @room: see @plain
 * @text: room for a text
 * @text_room: bytes of @text
 * @cpus: all CPUs so far
 * @nr_cpus: entries of @cpus
 * @named: interrupts and threads' own markers whose names are written
 * @idle_named: the name of the idle threads is written
 * @crc: with @check: CRC32C of the frames of this group
 * @grouped: frames of this group
 * @lost_cpu: CPU that lost the @pending events
 * @seq: [0] events and [1] names so far
 * @left_out: by opcode: fields for which its event has no place
 */
struct kt_tband_sink {
	bool hex;
	bool bare;
	bool raw_time;
	bool check;
	bool begun;
	uint32_t core;
	uint64_t drop_every;
	uint64_t max_text;
	uint64_t since;
	uint64_t pending;
	uint32_t dropped;
	uint64_t last_ts;
	uint8_t *plain;
	size_t room;
	uint8_t *text;
	size_t text_room;
	struct kt_tband_cpu *cpus;
	size_t nr_cpus;
	struct kt_map named;
	bool idle_named;
	uint32_t crc;
	unsigned int grouped;
	uint32_t lost_cpu;
	uint32_t seq[2];
	struct kt_left_out left_out[KTAPE_OPCODES];
};

/* put.c */
int kt_tband_put(struct kt_sink *s, const struct kt_tband_event *e,
		 uint32_t cpu, uint64_t ts);
int kt_tband_put_head(struct kt_sink *s, uint32_t cpu);
int kt_tband_put_core(struct kt_sink *s, uint32_t cpu, uint64_t ts);
int kt_tband_put_frame(struct kt_sink *s, const struct kt_tband_event *e);
int kt_tband_put_count(struct kt_sink *s, uint64_t ts);

/* seal.c */
int kt_tband_begin_line(struct kt_sink *s, uint32_t cpu);
int kt_tband_seal(struct kt_sink *s, bool name);
int kt_tband_put_lost(struct kt_sink *s, uint32_t cpu);
int kt_tband_end_line(struct kt_sink *s);
int kt_tband_carry(struct kt_sink *s, const struct ktape_event *e);

/* map.c */
bool kt_tband_map_init(struct kt_tband_sink *t);
int kt_tband_map(struct kt_sink *s, const struct ktape_event *e);

#endif /* _KT_TBAND_INTERNAL_H */
