/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files share that read Tonbandgeraet. */
#ifndef _KT_CODEC_TBAND_IN_H
#define _KT_CODEC_TBAND_IN_H

#include "tband.h"
#include "check.h"
#include "format/import.h"

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

/* codec_tband_emit.c */
int kt_tband_emit(struct kt_import *s, struct kt_foreign *f,
		  const struct kt_tband_event *e);
bool kt_tband_is_name(const struct kt_tband_event *e);
void kt_tband_follow(struct kt_tband_import *t, struct kt_tband_core *c,
		     const struct kt_tband_event *e);

/* codec_tband_in.c */
int kt_tband_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_change_core(struct kt_import *s, uint64_t core);

/* codec_tband_line.c */
int kt_tband_line_take(struct kt_import *s, const uint8_t *frame, size_t len);
int kt_tband_line_end(struct kt_import *s);
int kt_tband_line_gap(struct kt_import *s, uint32_t core, uint64_t ts);
bool kt_tband_is_carried(const struct kt_tband_import *t,
			 const struct kt_tband_event *e);
int kt_tband_line_carried(struct kt_import *s, const struct kt_tband_event *e,
			  size_t size);

#endif /* _KT_CODEC_TBAND_IN_H */
