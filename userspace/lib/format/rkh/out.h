/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two files share that write RKH trace. */
#ifndef _KT_CODEC_RKH_OUT_H
#define _KT_CODEC_RKH_OUT_H

#include "rkh.h"
#include "format/sink.h"

/**
 * struct kt_rkh_sink - a stream that is being written
 * @config: how
 * @begun: the first flag is written, and what @theirs is, is known
 * @theirs: it came from such a stream, and is to become that again
 * @seq: of the next event
 * @last_ts: time of the last event
 * @users: user event of an opcode, 0: none yet
 * @nr_users: user events that have one
 * @plain: content of a frame
 * @typed: typed arguments
 * @room: texts of events that are made from them
 */
struct kt_rkh_sink {
	struct kt_rkh_config config;
	bool begun;
	bool theirs;
	uint8_t seq;
	uint64_t last_ts;
	uint8_t users[256];
	unsigned int nr_users;
	uint8_t plain[KT_RKH_FRAME_MAX];
	uint8_t typed[KT_RKH_FRAME_MAX];
	uint8_t room[KT_RKH_FRAME_MAX];
};

/* codec_rkh_out.c */
int kt_rkh_put(struct kt_sink *s, struct kt_rkh_event *e, uint64_t ts);

/* codec_rkh_map.c */
int kt_rkh_name(struct kt_sink *s, uint64_t ts, unsigned int id, uint64_t value,
		const char *name, size_t len);
int kt_rkh_map(struct kt_sink *s, const struct ktape_event *e);
int kt_rkh_map_lost(struct kt_sink *s, const struct ktape_notice *n);

#endif /* _KT_CODEC_RKH_OUT_H */
