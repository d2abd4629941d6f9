/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tonbandgeraet: its events, their bytes, their frames. */
#ifndef _KT_CODEC_TBAND_H
#define _KT_CODEC_TBAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KT_TBAND_IDS		128U
#define KT_TBAND_FRTOS		84U	/* the first id of FreeRTOS */
#define KT_TBAND_INVALID	128U	/* ours: a frame that is no event */
#define KT_TBAND_FIELDS		2
#define KT_TBAND_FIXED_MAX	32U	/* id, time and fields */
#define KT_TBAND_WHY		80

/* Events by their ids, those that something is done with. */
enum kt_tband_id {
	KT_TBAND_CORE_ID = 0,
	KT_TBAND_DROPPED = 1,
	KT_TBAND_RESOLUTION = 2,
	KT_TBAND_ISR_NAME = 3,
	KT_TBAND_ISR_ENTER = 4,
	KT_TBAND_ISR_EXIT = 5,
	KT_TBAND_EVTMARKER_NAME = 6,
	KT_TBAND_EVTMARKER = 7,
	KT_TBAND_EVTMARKER_BEGIN = 8,
	KT_TBAND_EVTMARKER_END = 9,
	KT_TBAND_VALMARKER_NAME = 10,
	KT_TBAND_VALMARKER = 11,
	KT_TBAND_SWITCHED_IN = 84,
	KT_TBAND_TO_READY = 85,
	KT_TBAND_RESUMED = 86,
	KT_TBAND_RESUMED_FROM_ISR = 87,
	KT_TBAND_SUSPENDED = 88,
	KT_TBAND_DELAY = 89,
	KT_TBAND_DELAY_UNTIL = 90,
	KT_TBAND_PRIO_SET = 91,
	KT_TBAND_PRIO_INHERIT = 92,
	KT_TBAND_PRIO_DISINHERIT = 93,
	KT_TBAND_TASK_CREATED = 94,
	KT_TBAND_TASK_NAME = 95,
	KT_TBAND_TASK_IS_IDLE = 96,
	KT_TBAND_TASK_DELETED = 98,
	KT_TBAND_QUEUE_CREATED = 99,
	KT_TBAND_QUEUE_NAME = 100,
	KT_TBAND_QUEUE_KIND = 101,
	KT_TBAND_QUEUE_SEND = 102,
	KT_TBAND_QUEUE_SEND_FROM_ISR = 103,
	KT_TBAND_QUEUE_OVERWRITE = 104,
	KT_TBAND_QUEUE_OVERWRITE_FROM_ISR = 105,
	KT_TBAND_QUEUE_RECEIVE = 106,
	KT_TBAND_QUEUE_RECEIVE_FROM_ISR = 107,
	KT_TBAND_QUEUE_RESET = 108,
	KT_TBAND_BLOCK_PEEK = 109,
	KT_TBAND_BLOCK_SEND = 110,
	KT_TBAND_BLOCK_RECEIVE = 111,
	KT_TBAND_QUEUE_CUR_LENGTH = 112,
	KT_TBAND_TASK_EVTMARKER_NAME = 122,
	KT_TBAND_TASK_EVTMARKER = 123,
	KT_TBAND_TASK_EVTMARKER_BEGIN = 124,
	KT_TBAND_TASK_EVTMARKER_END = 125,
	KT_TBAND_TASK_VALMARKER_NAME = 126,
	KT_TBAND_TASK_VALMARKER = 127
};

/* What a queue is, as queue_kind tells; of these it matters. */
enum kt_tband_queue_kind { KT_TBAND_KIND_MUTEX = 3, KT_TBAND_KIND_RECURSIVE = 4 };

enum kt_tband_type { KT_TBAND_NONE, KT_TBAND_U8, KT_TBAND_U32, KT_TBAND_U64, KT_TBAND_S64 };

/**
 * struct kt_tband_kind - what an event is made of
 * @name: as its specification has it
 * @types: of its fields, enum kt_tband_type
 * @fields: their names
 * @text: name of the text that ends it, or NULL
 * @metadata: it has no time
 */
struct kt_tband_kind {
	const char *name;
	uint8_t types[KT_TBAND_FIELDS];
	const char *fields[KT_TBAND_FIELDS];
	const char *text;
	bool metadata;
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

#endif /* _KT_CODEC_TBAND_H */
