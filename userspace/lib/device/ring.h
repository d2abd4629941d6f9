/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A mapped ring and one reader's place in it. */
#ifndef _KT_RING_H
#define _KT_RING_H

#include "stream/packet.h"

/**
 * struct kt_ring - a mapped ring
 * @cpu: its CPU
 * @kind: enum ktape_ring_kind
 * @block_size: of its blocks
 * @data_size: of all blocks
 * @offset: of its region in the device
 * @map_size: of the mapping
 * @page: control page
 * @data: blocks
 * @pos32: positions in the control page have 32 bits
 * @floor_seen: @floor is valid
 * @floor: low half of the floor that was looked at last
 * @held: of a snapshot session, of which nothing is read before it is stopped
 * @limited: nothing is read from @limit on
 * @limit: a position
 * @limit_count: records that the ring had taken there
 * @limit_lost: events that it had lost there
 * @pos: next byte to be delivered
 * @part: a part of the block at @pos was delivered, until @ts
 * @gap: blocks before @pos were lost
 * @ts_held: the records of the last block ended later than it did
 * @seq: number of the next packet
 * @ts: end of the last packet
 * @base_known: @base_count is valid
 * @base_count: records in the ring before this reader's first
 * @base_lost: events that the ring had lost before
 * @base_emitted: that it had been given
 * @base_filtered: that filters had held back
 * @records: delivered
 * @missed: overwritten before they could be delivered
 * @told: losses that packets told so far
 * @told_before: of these, in earlier pieces of the log
 */
struct kt_ring {
	uint32_t cpu;
	uint32_t kind;
	uint32_t block_size;
	uint64_t data_size;
	uint64_t offset;
	size_t map_size;
	const struct ktape_ring_page *page;
	const uint8_t *data;
	bool pos32;
	bool floor_seen;
	uint32_t floor;
	bool held;
	bool limited;
	uint64_t limit;
	uint64_t limit_count;
	uint64_t limit_lost;

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
	uint64_t records;
	uint64_t missed;
	uint64_t told;
	uint64_t told_before;
};

/**
 * struct kt_view - a closed block in the mapping
 * @block: its position
 * @rest: what follows the first page
 * @rest_len: how much of it
 * @records: in it
 */
struct kt_view {
	uint64_t block;
	const uint8_t *rest;
	size_t rest_len;
	uint64_t records;
};

struct ktape_reader {
	struct ktape_device *device;
	struct kt_ring **rings;
	unsigned int nr_rings;
	const struct ktape_object_entry *registry;
	size_t registry_size;
	uint64_t latest;	/* end of the latest packet of any ring */
};

/* reader.c */
struct kt_ring *kt_reader_ring(struct ktape_reader *reader, unsigned int ring);

/* ring.c */
uint64_t kt_ring_widen(const struct kt_ring *r, uint64_t word);
uint64_t kt_ring_word(const struct kt_ring *r, uint64_t pos);
uint64_t kt_ring_commit(const struct kt_ring *r);
bool kt_ring_intact(const struct kt_ring *r, uint64_t block);
uint64_t kt_ring_sum(const __u64 *counts);
uint64_t kt_ring_end_lost(const struct kt_ring *r);
uint64_t kt_ring_end_count(const struct kt_ring *r);
uint64_t kt_ring_pending(const struct kt_ring *r);
uint64_t kt_ring_page_lost(const struct kt_ring *r);
void kt_ring_begin(struct kt_ring *r);
void kt_ring_end_here(struct kt_ring *r);
void kt_ring_skip(struct kt_ring *r);
int kt_ring_view(struct ktape_reader *reader, struct kt_ring *r, void *first,
		 size_t page_size, struct kt_view *view);
void kt_ring_unview(struct kt_ring *r, const struct kt_view *view);
void kt_ring_account(struct kt_ring *r, uint64_t block, const uint8_t *head,
		     uint64_t records);
uint64_t kt_ring_discarded(const struct kt_ring *r, uint64_t lost);

#endif /* _KT_RING_H */
