/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two files share that write Tonbandgeraet. */
#ifndef _KT_CODEC_TBAND_OUT_H
#define _KT_CODEC_TBAND_OUT_H

#include "tband.h"
#include "check.h"
#include "util/map.h"
#include "format/sink.h"

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

/* codec_tband_out.c */
int kt_tband_put(struct kt_sink *s, const struct kt_tband_event *e,
		 uint32_t cpu, uint64_t ts);
int kt_tband_put_head(struct kt_sink *s, uint32_t cpu);
int kt_tband_put_core(struct kt_sink *s, uint32_t cpu, uint64_t ts);
int kt_tband_put_frame(struct kt_sink *s, const struct kt_tband_event *e);
int kt_tband_put_count(struct kt_sink *s, uint64_t ts);

/* codec_tband_seal.c */
int kt_tband_begin_line(struct kt_sink *s, uint32_t cpu);
int kt_tband_seal(struct kt_sink *s, bool name);
int kt_tband_put_lost(struct kt_sink *s, uint32_t cpu);
int kt_tband_end_line(struct kt_sink *s);
int kt_tband_carry(struct kt_sink *s, const struct ktape_event *e);

/* codec_tband_map.c */
int kt_tband_map(struct kt_sink *s, const struct ktape_event *e);

#endif /* _KT_CODEC_TBAND_OUT_H */
