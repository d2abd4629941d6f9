/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the two files share that read RKH trace. */
#ifndef _KT_CODEC_RKH_IN_H
#define _KT_CODEC_RKH_IN_H

#include "rkh.h"
#include "format/import.h"

/**
 * struct kt_rkh_import - a stream that is being read
 * @config: what holds now
 * @told: the user event that tells it has come
 * @record: it comes from a record
 * @good: frames that were events
 * @bad: a frame could not be read
 * @begun: with a flag, or the first flag was passed
 * @seq: sequence number of the last event
 * @seq_known: there was one
 * @timed: so was a time
 * @stamp: the last time stamp
 * @ts: the last time
 * @offset: of the frame
 * @cut_names: it was told that names are cut
 * @back: so was that time goes back
 * @hz: so was that the frequency changed
 * @plain: content of the frame
 * @typed: arguments
 * @raw: for JSON
 */
struct kt_rkh_import {
	struct kt_rkh_config config;
	bool told;
	bool record;
	bool bad;
	bool begun;
	bool seq_known;
	bool timed;
	bool cut_names;
	bool back;
	bool hz;
	uint8_t seq;
	uint32_t stamp;
	uint64_t good;
	uint64_t ts;
	uint64_t offset;
	uint8_t plain[KT_RKH_FRAMED(KT_RKH_FRAME_MAX)];
	uint8_t typed[KT_RKH_TYPED_MAX];
	uint8_t raw[KT_RKH_RAW_HEAD + KT_RKH_TYPED_MAX];
};

/* codec_rkh_emit.c */
int kt_rkh_emit(struct kt_import *s, const struct kt_rkh_event *e,
		uint64_t ts);
bool kt_rkh_fits_ours(const struct kt_rkh_import *t,
		      const struct kt_rkh_event *e, size_t size, uint8_t *room);
int kt_rkh_emit_config(struct kt_import *s, uint64_t ts, int seq);

#endif /* _KT_CODEC_RKH_IN_H */
