/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lane: packets of one stream that were read ahead; see lane.c.
 */
#ifndef _KT_LANE_H
#define _KT_LANE_H

#include "trace/trace.h"

#define KT_LANE_SLOTS 64U /* packets that a lane can hold */

struct kt_lane_notice;

/**
 * struct kt_lane_slot - a packet that was read ahead, or the end of the stream
 * @ret: 1, or what kt_stream_fetch() returned instead of a packet; -EAGAIN: damage,
 *	behind which packets may follow
 * @notices: what is to be reported when the slot is reached, oldest first
 * @data: the packet
 * @len: bytes of the packet
 * @room: bytes allocated at @data
 * @offset: offset of the packet in the input
 */
struct kt_lane_slot {
	int ret;
	struct kt_lane_notice *notices;
	uint8_t *data;
	size_t len;
	size_t room;
	uint64_t offset;
};

/**
 * struct kt_lane - packets of one stream
 * @first: index of the first slot in use
 * @nr: number of slots in use
 * @in_use: the first slot is the packet that the stream is reading
 * @stopped: the last slot is no packet: the end of the stream, an error or damage
 * @bytes: bytes of the packets in all slots
 * @pending: @content was fetched, and waits for a slot
 * @content: the packet that waits, in the buffer of the stream
 * @notices: what was reported before it, oldest first
 * @last_notice: the last of @notices
 * @nr_notices: number of @notices
 * @failed: there was no memory for a notice
 * @slots: the slots, in a circle
 */
struct kt_lane {
	unsigned int first;
	unsigned int nr;
	bool in_use;
	bool stopped;
	size_t bytes;
	bool pending;
	struct kt_content content;
	struct kt_lane_notice *notices;
	struct kt_lane_notice *last_notice;
	unsigned int nr_notices;
	bool failed;
	struct kt_lane_slot slots[KT_LANE_SLOTS];
};

/*
 * A stream gets a lane by kt_lane_new() before its first packet, or by kt_lane_adopt() while it
 * reads one.  Packets are read ahead by kt_lane_prepare(), which takes the memory, and
 * kt_lane_fill(), in any thread; both again while kt_lane_waits().  kt_lane_pass() leaves packets
 * behind.
 */
int kt_lane_new(struct kt_stream *s);
int kt_lane_adopt(struct kt_stream *s);
size_t kt_lane_room(const struct kt_lane *lane, size_t bytes);
bool kt_lane_waits(const struct kt_lane *lane, size_t bytes);
int kt_lane_prepare(struct kt_lane *lane, size_t bytes);
void kt_lane_fill(struct ktape_trace *t, struct kt_stream *s, size_t bytes);
void kt_lane_pass(struct kt_lane *lane, unsigned int nr);

/* Return slot @i, 0 being the first in use. */
static inline const struct kt_lane_slot *kt_lane_slot(const struct kt_lane *lane,
						      unsigned int i)
{
	return &lane->slots[(lane->first + i) % KT_LANE_SLOTS];
}

#endif /* _KT_LANE_H */
