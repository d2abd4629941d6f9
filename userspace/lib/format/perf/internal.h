/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of this folder share: in.c (records), head.c (head), order.c (time). */
#ifndef _KT_PERF_INTERNAL_H
#define _KT_PERF_INTERNAL_H

#include <zstd.h>

#include "util/file.h"

#include "format/tracing_data.h"

/* Bits of perf_event_attr.sample_type, in the order of their fields in a sample. */
#define PF_IDENTIFIER	(1U << 16)
#define PF_IP		(1U << 0)
#define PF_TID		(1U << 1)
#define PF_TIME		(1U << 2)
#define PF_ADDR		(1U << 3)
#define PF_ID		(1U << 6)
#define PF_STREAM_ID	(1U << 9)
#define PF_CPU		(1U << 7)
#define PF_PERIOD	(1U << 8)
#define PF_READ		(1U << 4)
#define PF_CALLCHAIN	(1U << 5)
#define PF_RAW		(1U << 10)

/**
 * struct pf_item - a record that waits until all earlier ones were read
 * @ts: its time in ns
 * @nr: its number in the file, which decides at equal times
 * @at: where it is in the bytes of struct pf_order
 * @offset: of the record in the file, for messages
 */
struct pf_item {
	uint64_t ts;
	uint64_t nr;
	size_t at;
	uint64_t offset;
};

/**
 * struct pf_order - records in the order of time
 *
 * perf copies the buffers of the CPUs one after the other and marks the end of each round.
 * A round has all records up to the time of the latest one of the round before.
 *
 * @items: records
 * @nr_items: how many
 * @room: entries allocated
 * @next: the next one to deliver, below @ready
 * @ready: records before this one are sorted and complete
 * @bytes: their bytes
 * @len: bytes in use
 * @cap: bytes allocated
 * @counter: records so far
 * @latest: time of the latest record
 * @complete: all records up to this time were read
 * @delivered: time of the last record that was delivered
 * @late: records that came after a later one was delivered
 */
struct pf_order {
	struct pf_item *items;
	size_t nr_items;
	size_t room;
	size_t next;
	size_t ready;
	uint8_t *bytes;
	size_t len;
	size_t cap;
	uint64_t counter;
	uint64_t latest;
	uint64_t complete;
	uint64_t delivered;
	uint64_t late;
};

/**
 * struct perf - a trace that is being read
 * @tp: memory of the mapping
 * @described: layouts of all events
 * @size: bytes of the file
 * @data: offset of the records
 * @end: after the last one
 * @at: the next one
 * @sample_type: what a sample has
 * @id_all: the other records end with the same
 * @clock: name of the clock
 * @wall: of the time since the epoch, minus the clock, in ns; 0 = not known
 * @ids: by id of an event: 1 = tracepoint, 2 = another kind
 * @others: there are events of other kinds
 * @left_out: their samples
 * @lost: events of records about lost events
 * @lost_samples: the same as perf counted it otherwise, mostly at the end
 * @hostname: of the traced machine, and the following
 * @order: records that wait
 * @buf: bytes of the file from @buf_at on
 * @buf_at: offset of @buf
 * @buf_len: bytes of @buf
 * @zstd: unpacks compressed records, or NULL
 * @plain: unpacked records
 * @plain_at: the next one
 * @plain_len: bytes of @plain
 * @plain_cap: bytes allocated
 * @last: by CPU: time of the last event
 * @nr_last: entries of @last
 * @values: fields of the event
 * @ended: the file was read to its end
 * @named: the names of the head were delivered
 */
struct perf {
	struct kt_tp tp;
	struct kt_tracing_data described;
	uint64_t size;
	uint64_t data;
	uint64_t end;
	uint64_t at;
	uint64_t sample_type;
	bool id_all;
	char clock[32];
	int64_t wall;
	struct kt_map ids;
	bool others;
	uint64_t left_out;
	uint64_t lost;
	uint64_t lost_samples;
	char hostname[65];
	char release[65];
	char machine[65];
	struct pf_order order;
	uint8_t *buf;
	uint64_t buf_at;
	size_t buf_len;
	ZSTD_DStream *zstd;
	uint8_t *plain;
	size_t plain_at;
	size_t plain_len;
	size_t plain_cap;
	uint64_t *last;
	size_t nr_last;
	struct kt_tp_value values[KT_TP_FIELDS];
	bool ended;
	bool named;
};

/* head.c */
int pf_read_head(struct kt_import *s);

/* order.c */
int pf_order_add(struct pf_order *o, uint64_t ts, const void *data, size_t len,
		 uint64_t offset);
void pf_order_round(struct pf_order *o, bool all);
const uint8_t *pf_order_take(struct pf_order *o, uint64_t *offset);
void pf_order_free(struct pf_order *o);

#endif /* _KT_PERF_INTERNAL_H */
