/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of this folder share.  Read them in this order; each calls only those before
 * it:
 *
 * unpack.c	parts of the file, compressed or not
 * page.c	pages of the ring buffer
 * buffer.c	buffers
 * head.c	sections and options
 * in.c		the trace
 */
#ifndef _KT_TRACECMD_INTERNAL_H
#define _KT_TRACECMD_INTERNAL_H

#include "util/file.h"

#include "format/timed.h"
#include "format/tracing_data.h"

#define TC_PAGE_MAX	  (1U << 20)   /* bytes of a page of the ring buffer */
#define TC_BUFFERED_MAX	  (1ULL << 30) /* bytes of all unpacked chunks */
#define TC_SECTION_HEAD	  16U /* bytes of the head of a section of version 7 */
#define TC_SECTION_PACKED 1U  /* in its flags */
#define TC_CPUS		  65536U       /* buffers of CPUs */
#define TC_SECTION_MAX	  (256U << 20) /* bytes of a section in memory */

enum tc_packing { TC_PLAIN, TC_ZSTD, TC_ZLIB, TC_PACKING_UNKNOWN };

/**
 * struct tc_file - the file, read by offset
 * @fd: the file
 * @size: its bytes
 */
struct tc_file {
	int fd;
	uint64_t size;
};

/**
 * struct tc_cpu - pages of a CPU in one buffer
 * @next_event: time of the next event, in units of the trace clock; first, so that a pointer to it
 *	is one to the struct
 * @file: the file
 * @form: head of its pages
 * @page_size: bytes of a page
 * @cpu: the CPU
 * @buffer: name of the buffer, "" = that of the machine
 * @offset: of the next page, or of the next compressed chunk
 * @end: after the last one
 * @packed: chunks are compressed
 * @chunks: chunks that are left
 * @chunk: bytes of the unpacked chunk, or one page
 * @chunk_cap: bytes allocated for @chunk
 * @chunk_len: bytes in @chunk
 * @chunk_at: offset in @chunk of the next page
 * @page: the page that is read
 * @page_offset: its offset in the file, or that of its chunk
 * @at: offset of the next record
 * @used: offset after the last one
 * @time: of the last record
 * @begun: @first is valid
 * @first: time of the first record
 * @missed: events that pages say were overwritten before them
 * @lost: events that the kernel counted as lost, from option CPUSTAT
 * @data: the next record, from its event number on
 * @len: bytes of @data
 */
struct tc_cpu {
	struct kt_timed next_event;
	const struct tc_file *file;
	const struct kt_page_form *form;
	uint32_t page_size;
	uint32_t cpu;
	const char *buffer;
	uint64_t offset;
	uint64_t end;
	bool packed;
	uint32_t chunks;
	uint8_t *chunk;
	size_t chunk_cap;
	size_t chunk_len;
	size_t chunk_at;
	const uint8_t *page;
	uint64_t page_offset;
	uint32_t at;
	uint32_t used;
	uint64_t time;
	bool begun;
	uint64_t first;
	uint64_t missed;
	uint64_t lost;
	const uint8_t *data;
	uint32_t len;
};

/**
 * struct tc_buffer - a buffer beside that of the machine
 * @name: its name
 * @offset: of version 6: where its table is
 */
struct tc_buffer {
	char *name;
	uint64_t offset;
};

/**
 * struct tc_lost - events that a CPU lost, from its statistics
 * @cpu: the CPU
 * @count: how many
 * @used: they were taken for a buffer of the CPU
 */
struct tc_lost {
	uint32_t cpu;
	uint64_t count;
	bool used;
};

/**
 * struct tc - a trace that is being read
 * @tp: state of format/tracepoint.h, which makes our events of tracepoints
 * @file: the file
 * @version: 6 or 7
 * @page_size: bytes of its pages
 * @packed: enum tc_packing: how sections may be compressed
 * @described: layouts of all events, names of functions and threads
 * @clock: name of the trace clock
 * @hz: its ticks in a second, if it does not count ns; 0 = they are ns
 * @uname: of the traced machine
 * @offset_ns: what is added to all times, in ns
 * @wall: what is added to get the time since the epoch, in ns; 0 = not known
 * @mult: ticks to ns: ticks * mult >> tsc_shift; 0 = times are ns
 * @tsc_shift: see @mult
 * @taken: bit n: section n was read
 * @claimed: bytes of the file that CPUs and tables of buffers have; more than the file has are a
 *	sign of damage
 * @buffered: bytes of unpacked chunks and pages of all CPUs, at most TC_BUFFERED_MAX
 * @lost: by CPU, from option CPUSTAT
 * @nr_lost: entries of @lost
 * @buffers: the other buffers
 * @nr_buffers: entries of @buffers
 * @cpus: buffers of CPUs
 * @nr_cpus: entries of @cpus
 * @queue: those with an event
 * @named: the names of saved_cmdlines were delivered
 * @more: name of the buffer, a field of each event that is in another one
 * @values: fields of the event
 */
struct tc {
	struct kt_tp tp;
	struct tc_file file;
	unsigned int version;
	uint32_t page_size;
	uint8_t packed;
	struct kt_tracing_data described;
	char clock[32];
	uint64_t hz;
	char uname[256];
	int64_t offset_ns;
	int64_t wall;
	uint32_t mult;
	uint32_t tsc_shift;
	uint64_t taken;
	uint64_t claimed;
	uint64_t buffered;
	struct tc_lost *lost;
	size_t nr_lost;
	struct tc_buffer *buffers;
	size_t nr_buffers;
	struct tc_cpu *cpus;
	size_t nr_cpus;
	struct kt_timed_queue queue;
	bool named;
	struct kt_tp_more more;
	struct kt_tp_value values[KT_TP_FIELDS];
};

/* head.c */
int tc_read_head(struct kt_import *s);

/* buffer.c */
int tc_take_buffer(struct kt_part *p);
int tc_keep_buffer(struct kt_part *p);
int tc_read_table(struct kt_part *p, uint32_t cpus, const char *buffer);
int tc_read_tables(struct kt_import *s, uint32_t cpus);

/* unpack.c */
int tc_read_bytes(struct kt_import *s, uint64_t offset, uint64_t size,
		  uint8_t **bytes);
uint8_t tc_packing(const char *name);
int tc_unpack(const struct tc *t, uint8_t *to, size_t size, const uint8_t *from,
	      size_t len);

/* page.c.  tc_next() returns 1, 0 at the end, or negative errno. */
uint64_t tc_time(const struct tc *t, uint64_t ts);
int tc_next(struct kt_import *s, struct tc_cpu *c);

#endif /* _KT_TRACECMD_INTERNAL_H */
