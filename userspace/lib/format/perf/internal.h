/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of this folder share; pd_ stands for perf.data, as the kernel and perfetto
 * use perf_ and pf_.  Read them in this order; each calls only those before it:
 *
 * fields.c	fields of a sample beside the tracepoint's
 * sample.c	a sample, and what other records have of one
 * event.c	descriptions of events, and events that are no tracepoints
 * task.c	names of threads
 * part.c	sections, attributes and features of the head
 * pipe.c	the head of a stream
 * head.c	the head of a file
 * packed.c	records that are compressed
 * order.c	records in the order of time
 * count.c	what is left out
 * in.c		the trace, record by record
 */
#ifndef _KT_PERF_INTERNAL_H
#define _KT_PERF_INTERNAL_H

#include <zstd.h>

#include "util/file.h"

#include "format/tracing_data.h"

/* Bits of perf_event_attr.sample_type, in the order of their fields in a sample. */
#define PD_IDENTIFIER  (1U << 16)
#define PD_IP	       (1U << 0)
#define PD_TID	       (1U << 1)
#define PD_TIME	       (1U << 2)
#define PD_ADDR	       (1U << 3)
#define PD_ID	       (1U << 6)
#define PD_STREAM_ID   (1U << 9)
#define PD_CPU	       (1U << 7)
#define PD_PERIOD      (1U << 8)
#define PD_READ	       (1U << 4)
#define PD_CALLCHAIN   (1U << 5)
#define PD_RAW	       (1U << 10)
#define PD_BRANCHES    (1U << 11)
#define PD_REGS_USER   (1U << 12)
#define PD_STACK_USER  (1U << 13)
#define PD_WEIGHT      (1U << 14)
#define PD_WEIGHTS     (1U << 24) /* the same, of three numbers */
#define PD_DATA_SRC    (1U << 15)
#define PD_TRANSACTION (1U << 17)
#define PD_REGS_INTR   (1U << 18)
#define PD_PHYS_ADDR   (1U << 19)
#define PD_CGROUP      (1U << 21)
#define PD_DATA_PAGE   (1U << 22)
#define PD_CODE_PAGE   (1U << 23)
#define PD_AUX	       (1U << 20)

#define PD_WORDS     8192U	 /* 64-bit words of the largest record */
#define PD_PATHS_MAX (64U << 20) /* bytes of all paths of cgroups */

/* Bits of perf_event_attr.read_format. */
#define PD_READ_ENABLED (1U << 0)
#define PD_READ_RUNNING (1U << 1)
#define PD_READ_ID	(1U << 2)
#define PD_READ_GROUP	(1U << 3)
#define PD_READ_LOST	(1U << 4)

/* Fields "perf_..." of samples. */
enum pd_field {
	PD_FIELD_IP,
	PD_FIELD_ADDR,
	PD_FIELD_STREAM_ID,
	PD_FIELD_PERIOD,
	PD_FIELD_READ,
	PD_FIELD_READ_ENABLED,
	PD_FIELD_READ_RUNNING,
	PD_FIELD_READ_IDS,
	PD_FIELD_READ_LOST,
	PD_FIELD_CALLCHAIN,
	PD_FIELD_RAW,
	PD_FIELD_BRANCH_INDEX,
	PD_FIELD_BRANCHES,
	PD_FIELD_BRANCH_COUNTERS,
	PD_FIELD_USER_ABI, /* these three in this order: see take_registers() */
	PD_FIELD_USER_MASK,
	PD_FIELD_USER_REGS,
	PD_FIELD_USER_STACK,
	PD_FIELD_WEIGHT,
	PD_FIELD_DATA_SRC,
	PD_FIELD_TRANSACTION,
	PD_FIELD_INTR_ABI, /* these three, too */
	PD_FIELD_INTR_MASK,
	PD_FIELD_INTR_REGS,
	PD_FIELD_PHYS_ADDR,
	PD_FIELD_CGROUP,
	PD_FIELD_CGROUP_PATH,
	PD_FIELD_DATA_PAGE,
	PD_FIELD_CODE_PAGE,
	PD_FIELD_AUX,
	PD_FIELDS
};

/**
 * struct pd_fields - fields of a sample
 * @list: the fields
 * @nr: how many
 * @words: elements of arrays
 * @nr_words: how many
 */
struct pd_fields {
	struct kt_tp_more list[PD_FIELDS];
	unsigned int nr;
	uint64_t words[PD_WORDS];
	size_t nr_words;
};

/* Types of records that the code names: PERF_RECORD_* and, from 64 on, those of perf itself. */
enum pd_record {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_AUX = 11,
	RECORD_CGROUP = 19,
	RECORD_LOST_SAMPLES = 13,
	RECORD_SWITCH = 14,
	RECORD_SWITCH_CPU = 15,
	RECORD_KERNEL_LAST = 22, /* the last type that is known */
	RECORD_ATTR = 64, /* types of perf itself, and the first of them */
	RECORD_TRACING = 66,
	RECORD_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE = 71,
	RECORD_STAT = 76,
	RECORD_UPDATE = 78,
	RECORD_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_COMPRESSED2 = 83,
	RECORD_PERF_LAST = 86
};

/**
 * struct pd_attr - an event that perf recorded
 * @type: enum perf_type_id
 * @config: which one of that type
 * @sample_type: what its samples have
 * @read_format: what its counters have
 * @branch_type: what their branches have
 * @regs_user: which registers of the user they have
 * @regs_intr: which registers of the interrupted code they have
 * @tracepoint: it is one
 * @id_all: records that are no samples end with time, CPU, thread and id, too
 * @name: its name, or NULL
 * @class: class of its samples, if it is no tracepoint; NULL before the first sample
 */
struct pd_attr {
	uint32_t type;
	uint64_t config;
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	bool tracepoint;
	bool id_all;
	char *name;
	struct kt_tp_class *class;
};

/**
 * struct pd_sample - what a record says of itself; what it does not say stays as it was
 * @attr: attribute of its event
 * @id: id of its event, 0: not known
 * @ts: its time in ns, 0: it has none
 * @cpu: its CPU, or PD_CPU_UNKNOWN
 * @pid: its process
 * @tid: its thread
 * @raw: the kernel's record
 * @raw_size: bytes of @raw
 */
struct pd_sample {
	struct pd_attr *attr;
	uint64_t id;
	uint64_t ts;
	uint32_t cpu;
	int32_t pid;
	int32_t tid;
	const uint8_t *raw;
	uint32_t raw_size;
};

/**
 * struct pd_item - a record that waits until all earlier ones were read
 * @ts: its time in ns
 * @nr: its number in the file, which decides at equal times
 * @at: offset in pd_order.bytes
 * @offset: of the record in the file, for messages
 */
struct pd_item {
	uint64_t ts;
	uint64_t nr;
	size_t at;
	uint64_t offset;
};

/**
 * struct pd_order - records in the order of time
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
 * @frontier: the latest time before @ready
 * @late: records that came after a later one was complete
 */
struct pd_order {
	struct pd_item *items;
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
	uint64_t frontier;
	uint64_t late;
};

/**
 * struct perf - a trace that is being read
 * @tp: state of format/tracepoint.h, which makes our events of tracepoints
 * @described: layouts of all events
 * @big: it is big-endian
 * @size: bytes of the file
 * @data: offset of the records
 * @end: after the last one
 * @at: the next one
 * @attrs: the events
 * @nr_attrs: entries of @attrs
 * @main: index of the main event in @attrs: the first tracepoint, or the first event if there is
 *	none; a record whose event is not known is taken to have its form
 * @clock: name of the clock
 * @wall: time since the epoch minus the trace's clock, in ns; 0 = not known
 * @ids: by id of an event: its place in @attrs, and its CPU + 1, 0 = not known
 * @comms: by thread: its name, in value and extra
 * @cgroups: by id of a cgroup: offset and length of its path in @paths
 * @paths: paths of cgroups
 * @paths_size: bytes of @paths
 * @pathless: paths beyond PD_PATHS_MAX
 * @others: there are events that are no tracepoints
 * @left_out: samples of events that the file does not describe
 * @timeless: samples and records of context switches that have no time
 * @cpuless: events and losses without a CPU, which are those of CPU 0
 * @events: samples and context switches that were delivered
 * @passed: by type: records that are not read
 * @unread: records of unknown types, and switches that are too short
 * @lost: lost events that were delivered as losses
 * @lost_samples: lost events by perf's totals at the end, which contain those of @lost
 * @hostname: name of the traced machine
 * @release: release of its kernel
 * @machine: its architecture
 * @order: records that wait
 * @buf: bytes of the file from @at on
 * @zstd: unpacks compressed records, or NULL
 * @packed: the compressed record in @buf that is being unpacked
 * @packed_offset: its offset in the file
 * @unpacking: @packed has more
 * @plain: unpacked records
 * @plain_len: bytes of @plain
 * @plain_cut: zstd waits for the rest of a block
 * @first: time of the first event, 0 = none yet
 * @last: by CPU: time of the last event
 * @nr_last: entries of @last
 * @values: fields of the tracepoint, of the event being delivered
 * @fields: its fields "perf_..."
 * @switches: classes of records of context switches: of a thread, and of a CPU; NULL before the
 *	first one
 * @ended: the file was read to its end
 * @named: the names of the head were delivered
 */
struct perf {
	struct kt_tp tp;
	struct kt_tracing_data described;
	bool big;
	uint64_t size;
	uint64_t data;
	uint64_t end;
	uint64_t at;
	struct pd_attr *attrs;
	size_t nr_attrs;
	size_t main;
	char clock[32];
	int64_t wall;
	struct kt_map ids;
	struct kt_map comms;
	struct kt_map cgroups;
	char *paths;
	size_t paths_size;
	uint64_t pathless;
	bool others;
	uint64_t left_out;
	uint64_t timeless;
	uint64_t cpuless;
	uint64_t events;
	uint64_t passed[RECORD_PERF_LAST + 1];
	uint64_t unread;
	uint64_t lost;
	uint64_t lost_samples;
	char hostname[65];
	char release[65];
	char machine[65];
	struct pd_order order;
	uint8_t *buf;
	ZSTD_DStream *zstd;
	ZSTD_inBuffer packed;
	uint64_t packed_offset;
	bool unpacking;
	uint8_t *plain;
	size_t plain_len;
	bool plain_cut;
	uint64_t first;
	uint64_t *last;
	size_t nr_last;
	struct kt_tp_value values[KT_TP_FIELDS];
	struct pd_fields fields;
	struct kt_tp_class *switches[2];
	bool ended;
	bool named;
};

#define PD_ATTR_MIN    64U /* bytes of the first version of perf_event_attr */
#define PD_ATTRS_MAX   65536U
#define PD_CPU_UNKNOWN UINT32_MAX

/* Numbers of the features that are read. */
enum pd_feature {
	PD_FEATURE_TRACING = 1,
	PD_FEATURE_HOSTNAME = 3,
	PD_FEATURE_RELEASE = 4,
	PD_FEATURE_ARCH = 6,
	PD_FEATURE_EVENTS = 12,
	PD_FEATURE_CLOCK_DATA = 29
};

/* head.c */
int pd_read_head(struct kt_import *s);

/* part.c */
int pd_read_section(struct kt_import *s, uint64_t offset, uint64_t size,
		    struct kt_part *p);
int pd_take_attr(struct kt_import *s, const uint8_t *attr, uint64_t size,
		 uint64_t offset);
int pd_take_ids(struct kt_import *s, const uint8_t *ids, uint64_t size);
int pd_skip_bad_names(struct kt_import *s, uint64_t offset, int err);
int pd_take_feature(struct kt_part *p, unsigned int bit, struct perf *f);

/* pipe.c */
int pd_read_pipe(struct kt_import *s);

/* packed.c */
int pd_packed_begin(struct kt_import *s, const uint8_t *record, size_t len,
		    uint64_t offset);
int pd_packed_unpack(struct kt_import *s);

/* sample.c */
int pd_read_sample(const struct perf *f, const uint8_t *p, size_t len,
		   struct pd_sample *s, struct pd_fields *out);
bool pd_read_tail(const struct perf *f, const uint8_t *p, size_t len,
		  struct pd_sample *out);

/* count.c */
void pd_pass(struct perf *f, uint32_t type);
int pd_report_counts(struct kt_import *s);

/* fields.c */
void pd_add_number(struct pd_fields *f, enum pd_field which, uint64_t v);
bool pd_read_rest(const struct perf *f, const uint8_t *p, const uint8_t *end,
		  struct pd_sample *s, struct pd_fields *out);

/* event.c */
int pd_take_description(struct kt_part *p, struct perf *f);
int pd_take_update(struct perf *f, const uint8_t *record, size_t len);
void pd_take_index(struct perf *f, const uint8_t *record, size_t len);
int pd_take_cgroup(struct perf *f, const uint8_t *record, size_t len);
uint32_t pd_cpu_of(const struct perf *f, const struct pd_sample *sample);
int pd_emit_other(struct kt_import *s, struct pd_attr *a, struct kt_delivery *at);
int pd_emit_switch(struct kt_import *s, const uint8_t *record, size_t len,
		   struct kt_delivery *at);
void pd_free_events(struct perf *f);

/* task.c */
int pd_take_comm(struct kt_import *s, const uint8_t *record, size_t len);
int pd_take_fork(struct kt_import *s, const uint8_t *record, size_t len);

/* order.c */
int pd_order_add(struct pd_order *o, uint64_t ts, const void *data, size_t len,
		 uint64_t offset);
bool pd_order_has(const struct pd_order *o);
void pd_order_round(struct pd_order *o, bool all);
const uint8_t *pd_order_take(struct pd_order *o, uint64_t *offset);
void pd_order_free(struct pd_order *o);

#endif /* _KT_PERF_INTERNAL_H */
