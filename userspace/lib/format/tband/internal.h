/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tonbandgeraet: what the files of this folder share. */
#ifndef _KT_TBAND_INTERNAL_H
#define _KT_TBAND_INTERNAL_H

#include "format/foreign.h"
#include "format/import.h"
#include "format/sink.h"
#include "util/map.h"

#define KT_TBAND_INVALID	128U	/* ours: a frame that is no event */
#define KT_TBAND_FIELDS		2
#define KT_TBAND_FIXED_MAX	32U	/* id, time and fields */
#define KT_TBAND_WHY		80

enum kt_tband_type { KT_TBAND_NONE, KT_TBAND_U8, KT_TBAND_U32, KT_TBAND_U64, KT_TBAND_S64 };

/**
 * struct kt_tband_kind - what an event is made of
 * @name: as its specification has it
 * @types: of its fields, enum kt_tband_type
 * @fields: their names
 * @text: name of the text that ends it, or NULL
 */
struct kt_tband_kind {
	const char *name;
	uint8_t types[KT_TBAND_FIELDS];
	const char *fields[KT_TBAND_FIELDS];
	const char *text;
};

/**
 * struct kt_tband_event - an event
 * @id: enum kt_tband_id
 * @ts: its time, 0 if it is metadata
 * @values: of its fields; signed ones extended
 * @text: what ends it
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
 * Tonbandgeraet on a line that loses bytes: what a stream has besides, so that
 * its reader finds every loss.  What reader and writer share.
 *
 * A native event or name becomes a group of frames, the last of which is the
 * event itself; those in front of it tell its core, who runs, how many were
 * lost.  A check ends the group: a frame that names a value marker which nobody
 * uses.  So other decoders read the stream as it is, and see the name of that
 * marker change.  The name is, in digits of base64url, the highest first:
 *
 *	3	how many events, or names, there were so far, this one included
 *	4	the lower 24 bits of a CRC32C: of the group's frames with their
 *		zeros, and of the other parts of the check
 *	0 to 2	the core where all of the group was, no digits for core 0
 *
 * Events and names are counted apart, each modulo 2^18; which of them it is, the
 * number of the marker tells.  A group without an event or a name counts none.
 * The stream begins with a group that tells the resolution, three times, and the
 * counts begin with it; it ends with the count of lost events and with empty
 * groups of both kinds, three times.
 *
 * An event that the format has no place for is the name of a third marker, in
 * base64url: opcode; enum ktape_ring_kind | arguments << 2 | 32 if there is a
 * buffer; then as LEB128 time, thread + 1, dat20 and arguments; and the buffer.
 */
/* Value markers that are nobody's: two bytes each. */
#define KT_TBAND_CARRIED	16381U
#define KT_TBAND_CHECK_EVENT	16382U
#define KT_TBAND_CHECK_NAME	16383U

#define KT_TBAND_SEQ_MASK	0x3ffffU
#define KT_TBAND_SUM_MASK	0xffffffU
#define KT_TBAND_CHECK_TEXT	16	/* room for it */
#define KT_TBAND_REPEAT		3	/* of what begins and ends a stream */

/* What a carried event has besides its numbers. */
#define KT_TBAND_CARRIED_ARGS	2	/* shift of their count */
#define KT_TBAND_CARRIED_BLOB	32U
#define KT_TBAND_CARRIED_MAX	2048U	/* bytes of a buffer that are kept */

/**
 * struct kt_tband_check - what ends a group
 * @name: it is of a name, else of an event
 * @seq: how many there were, modulo KT_TBAND_SEQ_MASK + 1
 * @core: where
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

#define KT_TBAND_FRAME_MAX	65536U
#define KT_TBAND_TASKS		4096U	/* whose priority is remembered */
#define KT_TBAND_GROUP_MAX	64U	/* frames that wait for their checksum */
#define KT_TBAND_GROUP_BYTES	(2 * KT_TBAND_FRAME_MAX)

/* A core: where its time is, who runs and in which state that one leaves. */
struct kt_tband_core {
	uint64_t ts;
	int32_t tid;
	uint8_t leaving;
};

/* A priority of a task, in a place that several tasks share. */
struct kt_tband_prio {
	uint32_t task;
	uint8_t prio;
	bool known;
};

/**
 * struct kt_tband_line - frames that wait for their check
 * @on: they do; false in a stream that has none
 * @checked: one came that was right
 * @harmed: a damage was told, and no group was whole since
 * @quiet: the frame that is taken is not the last of its group
 * @unknown: nobody knows how many are missing
 * @known: @seq is
 * @seq: numbers of the last event and of the last name
 * @gap: events that are missing in front of the next one
 * @names: names that are missing
 * @nr: frames that wait
 * @at: where they begin in @bytes; and their end
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
 * @hex: it is in hexadecimal
 * @bare: events of FreeRTOS are none
 * @check: it comes over a line, with checks; times are in ns
 * @count: there are so many cores
 * @core: the one whose events come
 * @cores: all so far
 * @nr_cores: how many
 * @scale: ticks of the trace in one of the input's
 * @dropped: the input's counter
 * @last_ts: of the last event, as it stood there
 * @timed: there was one with a time
 * @saturated: it was told that times are too large
 * @cut_names: it was told that names are cut
 * @good: frames that were events
 * @zeros: that came behind the last frame
 * @zeros_at: where the first of them is
 * @offset: of the frame
 * @frame: bytes of a frame in hexadecimal
 * @event: content of the frame, behind one byte for raw
 * @typed: room for arguments
 * @prios: of tasks
 * @line: with @check
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
	bool saturated;
	bool cut_names;
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
int kt_tband_emit(struct kt_import *s, struct kt_foreign *f,
		  const struct kt_tband_event *e);
bool kt_tband_is_name(const struct kt_tband_event *e);
void kt_tband_follow(struct kt_tband_import *t, struct kt_tband_core *c,
		     const struct kt_tband_event *e);

/* in.c */
int kt_tband_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_change_core(struct kt_import *s, uint64_t core);

/* line.c */
int kt_tband_line_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_line_end(struct kt_import *s);
int kt_tband_line_gap(struct kt_import *s, uint32_t core, uint64_t ts);
bool kt_tband_is_carried(const struct kt_tband_import *t,
			 const struct kt_tband_event *e);
int kt_tband_line_carried(struct kt_import *s, const struct kt_tband_event *e,
			  size_t size);

/* ---- writing ----------------------------------------------------------- */

/*
 * A CPU: its time, who runs there as the stream tells, and whether it tells how
 * that one leaves.
 */
struct kt_tband_cpu {
	uint64_t ts;
	int32_t tid;
	bool left;
};

/**
 * struct kt_tband_sink - a stream that is being written
 * @hex: in hexadecimal
 * @bare: without threads
 * @raw_time: ticks as they are, else nanoseconds
 * @check: for a line: groups of frames with their checks
 * @begun: the first core and the resolution were told
 * @core: the one whose events come
 * @drop_every: the count of losses comes at least every so many events
 * @max_text: bytes of a text
 * @since: events since it came
 * @pending: losses that are not in the count
 * @dropped: the count
 * @last_ts: of the last event
 * @plain: room for an event and for its frame, @room bytes each
 * @room: see @plain
 * @text: room for a text
 * @text_room: its size
 * @cpus: all so far
 * @nr_cpus: how many
 * @named: interrupts and threads' own markers whose names were written
 * @idle_named: the idle threads' name was written
 * @crc: with @check: of the frames of this group
 * @grouped: how many there are
 * @lost_cpu: where @pending were lost
 * @seq: events and names so far
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
};

/* out.c */
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
int kt_tband_map(struct kt_sink *s, const struct ktape_event *e);

#endif /* _KT_TBAND_INTERNAL_H */
