/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mapped ring and the cursor of one reader in it.
 *
 * Read the files of this folder in this order; each calls only those before it:
 *
 *	ring.h		the cursor
 *	ring.c		closed blocks of the ring, without a copy; counts of what is lost
 *	device.c	the device file, an ioctl a function
 *	session.c	sessions by name
 *	filter.c	the filters of a session
 *	bus.c		the list of mappings, and SIGBUS when the module takes one away
 *	reader.c	maps the rings and the registry of a session
 *	copy.c		packets copied out of a ring, also of its open block
 */
#ifndef _KT_RING_H
#define _KT_RING_H

#include "stream/packet.h"

/**
 * struct kt_ring - a mapped ring and a reader's cursor
 * @cpu: CPU number
 * @kind: enum ktape_ring_kind
 * @block_size: bytes of a block
 * @data_size: bytes of all blocks
 * @offset: offset of the ring in the device, for mmap(2)
 * @mapping: entry in the list of mappings, see bus.c
 * @page: control page
 * @data: first block
 * @pos32: the kernel has 32 bits, see util/words.h
 * @held: ring of a snapshot session: nothing is read before the session is stopped
 * @limited: the reading ends at @limit
 * @limit: position at which the reading ends
 * @limit_count: records written up to @limit
 * @limit_lost: events lost up to @limit
 * @capped: nothing behind @cap is read for now
 * @cap: position up to which is read, if @capped
 * @pos: position of the next byte to deliver
 * @part: a part of the block at @pos was delivered, up to time @ts
 * @gap: blocks before @pos, or records in front of it, were not delivered
 * @ts_held: the last record of the last block was later than the end of the block,
 *	because the clock stepped back
 * @seq: sequence number of the next packet
 * @ts: end time of the last packet, in ticks
 * @base_known: @base_count is valid
 * @base_count: records written before the first one of this reader
 * @base_lost: events lost before the reader began
 * @base_emitted: events emitted before the reader began
 * @base_filtered: events filtered before the reader began
 * @seen_lost: events lost up to the end of the last packet
 * @seen_lost_by: the same by enum ktape_lost
 * @seen_closed: that packet was a closed block, so that its counters are of its end
 * @seen_emitted: events emitted up to there, or up to an earlier open packet
 * @seen_filtered: events filtered up to there, or up to an earlier open packet
 * @last_emitted: events emitted according to the last packet
 * @last_filtered: events filtered according to the last packet
 * @records: records delivered
 * @missed: records overwritten before they were delivered
 * @reported: losses that the packets have reported so far
 * @reported_before: losses of @reported that were reported in earlier pieces of a log
 */
struct kt_ring {
	uint32_t cpu;
	uint32_t kind;
	uint32_t block_size;
	uint64_t data_size;
	uint64_t offset;
	struct kt_mapping *mapping;
	const struct ktape_ring_page *page;
	const uint8_t *data;
	bool pos32;
	bool held;
	bool limited;
	uint64_t limit;
	uint64_t limit_count;
	uint64_t limit_lost;
	bool capped;
	uint64_t cap;

	uint64_t pos;
	bool part;
	bool gap;
	bool ts_held;
	uint64_t seq;
	uint64_t ts;
	bool base_known;
	uint64_t base_count;
	uint64_t base_lost;
	uint64_t base_emitted;
	uint64_t base_filtered;
	uint64_t seen_lost;
	uint64_t seen_lost_by[KTAPE_LOST_REASONS];
	bool seen_closed;
	uint64_t seen_emitted;
	uint64_t seen_filtered;
	uint64_t last_emitted;
	uint64_t last_filtered;
	uint64_t records;
	uint64_t missed;
	uint64_t reported;
	uint64_t reported_before;
};

/**
 * struct kt_view - a closed block in the mapping
 * @block: position of the block
 * @rest: first byte after the first page
 * @rest_len: bytes at @rest
 * @records: number of records in the block
 */
struct kt_view {
	uint64_t block;
	const uint8_t *rest;
	size_t rest_len;
	uint64_t records;
};

/**
 * struct ktape_reader - a reader of all rings of a session
 * @gone: a mapping was taken away, see bus.c
 * @device: the session
 * @rings: the mapped rings
 * @nr_rings: entries of @rings
 * @began: the rings of the begin are mapped: further ones are of CPUs that came online since
 * @registry: the mapped table of names, NULL = none
 * @registry_mapping: its entry in the list of mappings
 * @registry_size: bytes of @registry
 * @latest: end time of the latest packet of any ring, in ticks
 */
struct ktape_reader {
	bool gone;
	struct ktape_device *device;
	struct kt_ring **rings;
	unsigned int nr_rings;
	bool began;
	const struct ktape_object_entry *registry;
	struct kt_mapping *registry_mapping;
	size_t registry_size;
	uint64_t latest;
};

/*
 * Return whether the rings were taken away, because the session has ended.  To be asked
 * after a load from a mapping and before what was loaded is used.
 */
static inline bool kt_reader_is_gone(const struct ktape_reader *reader)
{
	/* The handler of a bus error sets it, in the thread that loads. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&reader->gone, __ATOMIC_ACQUIRE);
}

/* The rings were taken away: a system call has said so. */
static inline void kt_reader_set_gone(struct ktape_reader *reader)
{
	__atomic_store_n(&reader->gone, true, __ATOMIC_RELEASE);
}

/* bus.c */
void *kt_map(struct ktape_device *device, uint64_t offset, size_t size,
	     bool *gone, struct kt_mapping **mapping);
void kt_unmap(struct kt_mapping *mapping);

/* reader.c */
struct kt_ring *kt_reader_ring(struct ktape_reader *reader, unsigned int ring);

/*
 * ring.c.  kt_ring_view() moves the cursor behind a closed block.  After the caller has used the
 * mapping, kt_ring_intact() tells whether the block was overwritten; kt_ring_unview() then counts
 * its records as missed.
 */
uint64_t kt_ring_commit(const struct kt_ring *r);
uint64_t kt_ring_consumed(const struct kt_ring *r);
bool kt_ring_is_stopped(const struct kt_ring *r);
uint64_t kt_ring_tail(const struct kt_ring *r);
bool kt_ring_intact(const struct kt_ring *r, uint64_t block);
uint64_t kt_ring_sum(const struct kt_ring *r, const __u64 *counts);
uint64_t kt_ring_end_lost(const struct kt_ring *r);
uint64_t kt_ring_end_count(const struct kt_ring *r);
uint64_t kt_ring_pending(const struct kt_ring *r);
uint64_t kt_ring_records_before(const struct kt_ring *r);
uint64_t kt_ring_page_lost(const struct kt_ring *r);
void kt_ring_begin(struct kt_ring *r, bool new);
void kt_ring_end_here(struct kt_ring *r);
void kt_ring_skip(struct kt_ring *r);
int kt_ring_view(struct ktape_reader *reader, struct kt_ring *r, void *first,
		 size_t page_size, struct kt_view *view);
void kt_ring_unview(struct kt_ring *r, const struct kt_view *view);
void kt_ring_note(struct kt_ring *r, const uint8_t *head);
void kt_ring_account(struct kt_ring *r, uint64_t block, const uint8_t *head,
		     uint64_t records);
uint64_t kt_ring_discarded(const struct kt_ring *r, uint64_t lost);

#endif /* _KT_RING_H */
