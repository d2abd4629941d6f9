/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RKH trace, the trace of a framework for state machines: what the files of this folder share.
 * Read them in this order; each calls only those before it:
 *
 * kinds.c	the table of events
 * rkh.c	events as bytes, frames; it draws the format
 * config.c	the configuration: how wide fields are, what a frame consists of
 * typed.c	fields as typed arguments of user events and back, JSON
 * user.c	fields of events that are kept as user events
 * emit.c	reading: the native record for each event
 * in.c		reading: frames, sequence numbers, times, the configuration
 * put.c	writing: time, number and frame of an event
 * map.c	writing: the event for each native record
 * out.c	writing: losses, the configuration
 */
#ifndef _KT_RKH_INTERNAL_H
#define _KT_RKH_INTERNAL_H

#include "rtos/foreign.h"
#include "format/reader.h"
#include "format/writer.h"

#define KT_RKH_FLAG	 0x7eU /* ends a frame */
#define KT_RKH_ESCAPE	 0x7dU /* before an escaped byte */
#define KT_RKH_FLIP	 0x20U /* what an escaped byte is xored with */
#define KT_RKH_IDS	 256U
#define KT_RKH_FRAME_MAX 8192U	     /* bytes of a frame, without escapes */
#define KT_RKH_FRAMED(n) ((n)*2 + 1) /* the same with escapes and flag */
/* Bytes of typed arguments: an address of 1 byte and its format become 9 bytes. */
#define KT_RKH_TYPED_MAX    (KT_RKH_FRAME_MAX * 5)
#define KT_RKH_FIELDS	    8
#define KT_RKH_WHY	    80	/* room for a reason */
#define KT_RKH_CONFIG_FRAME 32	/* room for a configuration record */
#define KT_RKH_USERS	    32U /* user events of RKH */

/* TE_IDs of the events that the code treats by themselves; kinds.c has all of them. */
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

/* Flags of the configuration; KT_RKH_TIME, bit 16, is in rtos/foreign.h. */
#define KT_RKH_SENDER  (1U << 0)  /* events have their sender */
#define KT_RKH_QUE_LOW (1U << 11) /* events have the low mark of queues */
#define KT_RKH_MP_LOW  (1U << 12) /* events have the low mark of pools */
#define KT_RKH_SEQ     (1U << 15) /* frames have a sequence number */
#define KT_RKH_CHECK   (1U << 17) /* frames have a checksum */
#define KT_RKH_ALL     0x3ffffU /* these, and those that reading does not need */
#define KT_RKH_LINUX   (1U << 31) /* a Linux stream, see below */

/**
 * struct kt_rkh_config - the configuration of a stream
 * @flags: KT_RKH_*
 * @version: version of RKH, in BCD
 * @hz: ticks of the time stamp in a second
 * @id: bytes of an event's id
 * @sig: bytes of a signal
 * @ts: bytes of a time stamp
 * @ptr: bytes of an address
 * @ntimer: bytes of timer ticks
 * @nblock: bytes of a number of blocks
 * @nelem: bytes of a number of elements
 * @esize: bytes of the size of an event
 * @bsize: bytes of the size of a block
 * @pools: number of event pools
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

/**
 * struct kt_rkh_kind - what events of one id consist of
 * @name: GROUP_EVENT
 * @types: a letter for the type of each field:
 *	s address, f function, g signal, n number of elements, b number of blocks,
 *	z size of a block, e size of an event, t timer ticks, 1 2 4 bytes,
 *	p number of a pool minus one, Z text;
 *	present only if the configuration says so: S address of the sender,
 *	N low mark of a queue, B low mark of a pool;
 *	as the only field: U typed arguments, M bytes
 * @fields: names of the fields
 */
struct kt_rkh_kind {
	const char *name;
	const char *types;
	const char *fields[KT_RKH_FIELDS];
};

/**
 * struct kt_rkh_event - an event
 * @id: TE_ID: group << 5 | number
 * @seq: its sequence number
 * @ts: its time stamp
 * @values: values of the numeric fields that are present, in order
 * @text: its text, typed arguments or bytes
 * @len: bytes of @text, without the NUL of a text
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
bool kt_rkh_get_config(struct kt_rkh_config *c, const uint8_t *data, size_t len);
size_t kt_rkh_put_config(const struct kt_rkh_config *c, uint8_t *to);
void kt_rkh_pack(const struct kt_rkh_config *c, uint32_t words[KT_RKH_CONFIG_WORDS]);
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

#define KT_RKH_RAW_HEAD 16 /* bytes of kt_delivery.raw before the arguments */

/* ---- Linux streams ----------------------------------------------------- */

/*
 * A Linux stream is a native trace written as RKH trace.  It has KT_RKH_LINUX in the flags
 * of its configuration, which the stream of an RKH target does not have.  Its reader
 * delivers the native events again.
 *
 * A native event is a user event of RKH with typed arguments: U8 opcode, U16 CPU, OBJ
 * thread, X32 dat20, an X32 for each argument, and the buffer in MEM pieces.  A loss is
 * user event KT_LINUX_LOSS with opcode 0 and its count in two X32.  The first 14 opcodes
 * of a trace get a user event each, from KT_LINUX_FIRST on, which a FWK_TUSR record names;
 * all other opcodes share KT_LINUX_EVENT.  User events below KT_LINUX_EVENT keep their
 * numbers.
 */
#define KT_LINUX_EVENT	16U   /* user event for all other opcodes */
#define KT_LINUX_LOSS	17U   /* user event for a loss */
#define KT_LINUX_FIRST	18U   /* first user event that stands for one opcode */
#define KT_LINUX_PREFIX "kt:" /* of the names in FWK_TUSR records */
#define KT_LINUX_BLOB	2048U /* bytes of a buffer; the rest is cut */

/* Addresses that stand for Linux objects: the upper byte is the type, below it is the id. */
#define KT_LINUX_TYPE	       0xff000000U
#define KT_LINUX_ID	       0x00ffffffU
#define KT_LINUX_THREAD	       0x40000000U
#define KT_LINUX_IRQ	       0x20000000U
#define KT_LINUX_SOFTIRQ       0x21000000U
#define KT_LINUX_ISR	       0x22000000U /* this and below: + param1 * 4096 + id */
#define KT_LINUX_MARKER	       0x23000000U
#define KT_LINUX_VALUE	       0x24000000U
#define KT_LINUX_MARKER_GLOBAL 0x25000000U /* name with KTAPE_NAME_GLOBAL */
#define KT_LINUX_VALUE_GLOBAL  0x26000000U
#define KT_LINUX_PAIR_SHIFT    12
#define KT_LINUX_PAIR_MAX      0xfffU /* greatest param1, and greatest id */
#define KT_LINUX_PAIR_ANY      0xfffU /* param1 of markers: KTAPE_OWNER_ANY */

/* ---- reading ----------------------------------------------------------- */

/**
 * struct kt_rkh_import - a stream that is being read
 * @config: configuration that holds now
 * @config_sent: the user event for @config was delivered
 * @record: @config comes from a configuration record; else it is assumed
 * @bad: a frame was invalid
 * @begun: the stream began with a flag, or its first flag was passed
 * @seq_known: @seq is valid
 * @timed: @stamp is valid
 * @cut_names_noted: there was a notice that names are cut
 * @back_noted: there was a notice that time goes back
 * @hz_noted: there was a notice that the frequency changes
 * @seq: sequence number of the last event
 * @stamp: time stamp of the last event
 * @good: number of valid frames
 * @ts: time of the last event in ticks of the trace
 * @offset: offset of the frame being decoded
 * @plain: content of the frame
 * @typed: typed arguments of the event
 * @raw: kt_delivery.raw of the event
 */
struct kt_rkh_import {
	struct kt_rkh_config config;
	bool config_sent;
	bool record;
	bool bad;
	bool begun;
	bool seq_known;
	bool timed;
	bool cut_names_noted;
	bool back_noted;
	bool hz_noted;
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
int kt_rkh_emit(struct kt_import *s, const struct kt_rkh_event *e, uint64_t ts);
bool kt_rkh_fits_linux(const struct kt_rkh_import *t,
		       const struct kt_rkh_event *e, size_t size, uint8_t *room);
int kt_rkh_emit_config(struct kt_import *s, uint64_t ts, int seq);

/* ---- writing ----------------------------------------------------------- */

#define KT_RKH_LOSSES \
	256U /* that end behind the last event: one for most CPUs */

/**
 * struct kt_rkh_sink - a stream that is being written
 * @config: its configuration
 * @begun: the first flag is written, and @rewrite is decided
 * @rewrite: the events come from the stream of an RKH target: write that stream again;
 *	else write a Linux stream
 * @seq: sequence number of the next event
 * @last_ts: time of the last event on the trace clock
 * @losses: losses that end behind it, the earliest end first
 * @nr_losses: entries of @losses
 * @users: by opcode, its user event, 0 = none
 * @nr_users: number of opcodes with a user event
 * @plain: content of a frame
 * @typed: typed arguments
 * @room: text of an event that is made from typed arguments
 */
struct kt_rkh_sink {
	struct kt_rkh_config config;
	bool begun;
	bool rewrite;
	uint8_t seq;
	uint64_t last_ts;
	struct ktape_notice losses[KT_RKH_LOSSES];
	unsigned int nr_losses;
	uint8_t users[256];
	unsigned int nr_users;
	uint8_t plain[KT_RKH_FRAME_MAX];
	uint8_t typed[KT_RKH_FRAME_MAX];
	uint8_t room[KT_RKH_FRAME_MAX];
};

/* put.c */
int kt_rkh_put_frame(struct kt_sink *s, size_t len);
int kt_rkh_put(struct kt_sink *s, struct kt_rkh_event *e, uint64_t ts);

/* map.c */
int kt_rkh_name(struct kt_sink *s, uint64_t ts, unsigned int id, uint64_t value,
		const char *name, size_t len);
int kt_rkh_map(struct kt_sink *s, const struct ktape_event *e);
int kt_rkh_map_lost(struct kt_sink *s, const struct ktape_notice *n);

#endif /* _KT_RKH_INTERNAL_H */
