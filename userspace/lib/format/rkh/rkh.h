/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RKH trace: its events, their bytes, their frames, its configuration. */
#ifndef _KT_CODEC_RKH_H
#define _KT_CODEC_RKH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KT_RKH_FLAG		0x7eU	/* ends a frame */
#define KT_RKH_ESCAPE		0x7dU
#define KT_RKH_FLIP		0x20U
#define KT_RKH_IDS		256U
#define KT_RKH_FRAME_MAX	8192U	/* content of a frame */
#define KT_RKH_FRAMED(n)	((n) * 2 + 1)
#define KT_RKH_TYPED_MAX	(KT_RKH_FRAME_MAX * 5)
#define KT_RKH_FIELDS		8
#define KT_RKH_WHY		80
#define KT_RKH_CONFIG_WORDS	4
/* Behind them: no record told it, and the lower byte numbers the first event. */
#define KT_RKH_ASSUMED		(1U << 8)
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
	KT_RKH_TCFG = 0xac,
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
#define KT_RKH_TIME		(1U << 16)
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

/* codec_rkh_kinds.c: the table */
const struct kt_rkh_kind *kt_rkh_kind(unsigned int id);
const char *kt_rkh_act(uint64_t value);
const char *kt_rkh_group(unsigned int id);

/* codec_rkh.c: bytes */
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

/* codec_rkh_config.c: the configuration */
bool kt_rkh_get_config(struct kt_rkh_config *c, const uint8_t *data,
		       size_t len);
size_t kt_rkh_put_config(const struct kt_rkh_config *c, uint8_t *to);
void kt_rkh_pack(const struct kt_rkh_config *c,
		 uint32_t words[KT_RKH_CONFIG_WORDS]);
bool kt_rkh_unpack(struct kt_rkh_config *c,
		   const uint32_t words[KT_RKH_CONFIG_WORDS]);
const char *kt_rkh_options(struct kt_rkh_config *c,
			   const struct kt_codec_options *options);

/* codec_rkh_typed.c: fields as typed arguments of user events */
size_t kt_rkh_to_typed(const struct kt_rkh_config *c,
		       const struct kt_rkh_event *e, uint8_t *to);
int kt_rkh_from_typed(const struct kt_rkh_config *c, struct kt_rkh_event *e,
		      const uint8_t *data, size_t len, uint8_t *room);
const uint8_t *kt_rkh_get_typed(const uint8_t *p, const uint8_t *end,
				unsigned int *format, uint64_t *value);
char *kt_rkh_json(char *p, const uint8_t *raw, size_t size);

/* What raw bytes begin with, in front of typed arguments. */
#define KT_RKH_RAW_HEAD		16

#endif /* _KT_CODEC_RKH_H */
