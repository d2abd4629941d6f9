/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RKH trace: what the files of this folder share. */
#ifndef _KT_RKH_INTERNAL_H
#define _KT_RKH_INTERNAL_H

#include "format/foreign.h"
#include "format/import.h"
#include "format/sink.h"

#define KT_RKH_FLAG		0x7eU	/* ends a frame */
#define KT_RKH_ESCAPE		0x7dU
#define KT_RKH_FLIP		0x20U
#define KT_RKH_IDS		256U
#define KT_RKH_FRAME_MAX	8192U	/* content of a frame */
#define KT_RKH_FRAMED(n)	((n) * 2 + 1)
#define KT_RKH_TYPED_MAX	(KT_RKH_FRAME_MAX * 5)
#define KT_RKH_FIELDS		8
#define KT_RKH_WHY		80
#define KT_RKH_CONFIG_FRAME	32	/* room for its content */
#define KT_RKH_USERS		32U

/* Events by their numbers, those that something is done with. */
enum kt_rkh_id {
	KT_RKH_TRN = 0x62,
	KT_RKH_EXE_ACT = 0x70,
	KT_RKH_OBJ = 0xa6,
	KT_RKH_SIG = 0xa7,
	KT_RKH_FUN = 0xa8,
	KT_RKH_TUSR = 0xab,
	KT_RKH_AO = 0xae,
	KT_RKH_STATE = 0xaf,
	KT_RKH_PSTATE = 0xb0,
	KT_RKH_TIMER = 0xb1,
	KT_RKH_EPOOL = 0xb2,
	KT_RKH_QUEUE = 0xb3,
	KT_RKH_ACTOR = 0xb4,
	KT_RKH_USER = 0xc0
};

/* Flags of the configuration. */
#define KT_RKH_SENDER		(1U << 0)
#define KT_RKH_QUE_LOW		(1U << 11)
#define KT_RKH_MP_LOW		(1U << 12)
#define KT_RKH_SEQ		(1U << 15)
#define KT_RKH_CHECK		(1U << 17)
#define KT_RKH_ALL		0x3ffffU
#define KT_RKH_OURS		(1U << 31)	/* of a Linux system, by ktape */

/**
 * struct kt_rkh_config - how a stream is made
 * @flags: KT_RKH_*
 * @version: of RKH, in BCD
 * @hz: ticks of the time stamp a second
 * @id: bytes of an event's id; the rest are bytes of its fields
 * @sig: signal
 * @ts: time stamp
 * @ptr: address
 * @ntimer: ticks of timers
 * @nblock: number of blocks
 * @nelem: number of elements
 * @esize: size of an event
 * @bsize: size of a block
 * @pools: number of event pools; no width
 */
struct kt_rkh_config {
	uint32_t flags;
	uint16_t version;
	uint16_t hz;
	uint8_t id;
	uint8_t sig;
	uint8_t ts;
	uint8_t ptr;
	uint8_t ntimer;
	uint8_t nblock;
	uint8_t nelem;
	uint8_t esize;
	uint8_t bsize;
	uint8_t pools;
};

/*
 * Fields: s address, f function, g signal, n elements, b blocks, z block size,
 * e event size, t ticks, 1 2 4 bytes, p number of a pool less one, Z text;
 * where the configuration has them: S sender, N least elements, B least blocks.
 * Alone: U typed arguments, M bytes.
 */
struct kt_rkh_kind {
	const char *name;	/* GROUP_EVENT */
	const char *types;
	const char *fields[KT_RKH_FIELDS];
};

/**
 * struct kt_rkh_event - an event
 * @id: group << 5 | number
 * @seq: its sequence number
 * @ts: its time stamp
 * @values: of its fields in their order, without those that are missing
 * @text: its text, its typed arguments or its bytes
 * @len: bytes of @text; the NUL of a text is not counted
 */
struct kt_rkh_event {
	uint8_t id;
	uint8_t seq;
	uint32_t ts;
	uint64_t values[KT_RKH_FIELDS];
	const uint8_t *text;
	size_t len;
};

struct kt_codec_options;
struct ktape_codec_option;

/* kinds.c: the table */
const struct kt_rkh_kind *kt_rkh_kind(unsigned int id);
const char *kt_rkh_act(uint64_t value);
const char *kt_rkh_group(unsigned int id);

/* rkh.c: bytes */
int64_t kt_rkh_unframe(uint8_t *to, const uint8_t *data, size_t len);
size_t kt_rkh_frame(uint8_t *to, const uint8_t *data, size_t len);
bool kt_rkh_checked(const uint8_t *data, size_t len);
int kt_rkh_decode(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		  const uint8_t *data, size_t len, char why[KT_RKH_WHY]);
int kt_rkh_behind_id(unsigned int width, const uint8_t *data, size_t len);
size_t kt_rkh_encode(const struct kt_rkh_config *c,
		     const struct kt_rkh_event *e, uint8_t *to);
bool kt_rkh_has(const struct kt_rkh_config *c, char type);
unsigned int kt_rkh_width(const struct kt_rkh_config *c, char type);

/* config.c: the configuration */
bool kt_rkh_get_config(struct kt_rkh_config *c, const uint8_t *data,
		       size_t len);
size_t kt_rkh_put_config(const struct kt_rkh_config *c, uint8_t *to);
void kt_rkh_pack(const struct kt_rkh_config *c,
		 uint32_t words[KT_RKH_CONFIG_WORDS]);
bool kt_rkh_unpack(struct kt_rkh_config *c,
		   const uint32_t words[KT_RKH_CONFIG_WORDS]);
const char *kt_rkh_options(struct kt_rkh_config *c,
			   const struct kt_codec_options *options);

/* typed.c: fields as typed arguments of user events */
size_t kt_rkh_to_typed(const struct kt_rkh_config *c,
		       const struct kt_rkh_event *e, uint8_t *to);
int kt_rkh_from_typed(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		      const uint8_t *data, size_t len, uint8_t *room);
const uint8_t *kt_rkh_get_typed(const uint8_t *p, const uint8_t *end,
				unsigned int *format, uint64_t *value);
char *kt_rkh_json(char *p, const uint8_t *raw, size_t size);

/* What raw bytes begin with, in front of typed arguments. */
#define KT_RKH_RAW_HEAD		16

/* ---- traces of Linux --------------------------------------------------- */

/*
 * How a trace of Linux is told in RKH: what its reader and writer share.
 *
 * An event is a user event with typed arguments: U8 opcode, U16 CPU, OBJ thread,
 * X32 dat20, an X32 each argument, and its buffer in MEM pieces; a loss has the
 * opcode KT_OURS_LOST and two X32, its count.  Numbers of the first kinds of
 * events that come are their own, then it is KT_OURS_EVENT; its TUSR names tell.
 * The stream's own user events, below KT_OURS_EVENT, keep their numbers.
 */
#define KT_OURS_EVENT		16U	/* user event: any event */
#define KT_OURS_LOSS		17U	/* user event: a loss */
#define KT_OURS_FIRST		18U	/* user events of kinds of events */
#define KT_OURS_PREFIX		"kt:"
#define KT_OURS_BLOB		2048U	/* bytes of a buffer that are kept */

/* Addresses that objects get: upper byte, and id. */
#define KT_OURS_TYPE		0xff000000U
#define KT_OURS_ID		0x00ffffffU
#define KT_OURS_THREAD		0x40000000U
#define KT_OURS_IRQ		0x20000000U
#define KT_OURS_SOFTIRQ		0x21000000U
#define KT_OURS_ISR		0x22000000U	/* these: param1 * 4096 + id */
#define KT_OURS_MARKER		0x23000000U
#define KT_OURS_VALUE		0x24000000U
#define KT_OURS_MARKER_GLOBAL	0x25000000U	/* with KTAPE_NAME_GLOBAL */
#define KT_OURS_VALUE_GLOBAL	0x26000000U
#define KT_OURS_PAIR_SHIFT	12
#define KT_OURS_PAIR_MAX	0xfffU	/* of either */
#define KT_OURS_PAIR_ANY	0xfffU	/* of markers: KTAPE_OWNER_ANY */

/* ---- reading ----------------------------------------------------------- */

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

/* emit.c */
int kt_rkh_emit(struct kt_import *s, const struct kt_rkh_event *e,
		uint64_t ts);
bool kt_rkh_fits_ours(const struct kt_rkh_import *t,
		      const struct kt_rkh_event *e, size_t size, uint8_t *room);
int kt_rkh_emit_config(struct kt_import *s, uint64_t ts, int seq);

/* ---- writing ----------------------------------------------------------- */

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

/* out.c */
int kt_rkh_put(struct kt_sink *s, struct kt_rkh_event *e, uint64_t ts);

/* map.c */
int kt_rkh_name(struct kt_sink *s, uint64_t ts, unsigned int id, uint64_t value,
		const char *name, size_t len);
int kt_rkh_map(struct kt_sink *s, const struct ktape_event *e);
int kt_rkh_map_lost(struct kt_sink *s, const struct ktape_notice *n);

#endif /* _KT_RKH_INTERNAL_H */
