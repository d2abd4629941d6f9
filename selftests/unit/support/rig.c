// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring for tests: its memory with guards between the blocks, and callbacks
 * that count the calls of struct kt_ring_ops.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

#define GUARD 0xa5

#ifdef KT_SHIM_CLOCK
u64 kt_shim_time;
#endif

static void rig_opening(struct kt_ring *r, struct ktape_block *block,
			const struct kt_record *rec)
{
	struct rig *rig = r->owner;

	kt_local_inc(&rig->opening);
	memset(block->uuid, 0x5a, sizeof(block->uuid));
	(void)rec;
	block->sync_clock = block->ts_begin;
	block->sync_mono_ns = ~block->ts_begin;
	block->generation = r->cpu;
	block->tid = -1;
	block->prio = 120;
	block->context = KTAPE_CTX_UNKNOWN;
}

static void rig_opened(struct kt_ring *r, u64 since)
{
	struct rig *rig = r->owner;
	unsigned long commit = READ_ONCE(*kt_word(&rig->page->commit));
	unsigned long reported = READ_ONCE(rig->reported);

	(void)since;
	kt_local_inc(&rig->opened);
	/* A nested context may have seen a later commit. */
	while (kt_before(reported, commit) &&
	       !kt_try_cmpxchg_local(&rig->reported, &reported, commit))
		;
}

static void rig_filled(struct kt_ring *r)
{
	struct rig *rig = r->owner;

	kt_local_inc(&rig->filled);
}

/* Number of clock steps, and the latest time; a test may reset both to 0. */
unsigned int rig_steps;
u64 rig_stepped_from;

/* Called when a clock step is reported on this CPU, or NULL. */
void (*rig_on_step)(void);

void kt_clock_stepped_back(u64 latest)
{
	rig_steps++;
	rig_stepped_from = latest;
	if (rig_on_step)
		rig_on_step();
}

static void rig_parked(struct kt_ring *r, const struct kt_record *rec)
{
	struct rig *rig = r->owner;

	(void)rec;
	kt_local_inc(&rig->parked);
}

static const struct kt_ring_ops rig_ops = {
	.opening = rig_opening,
	.opened = rig_opened,
	.filled = rig_filled,
	.parked = rig_parked,
};

/* Place the blocks in any order but not adjacent, with guards between. */
static void place_blocks(struct rig *rig)
{
	unsigned long stride = rig->block_size + RIG_GAP;
	unsigned int i;

	for (i = 0; i < rig->nr_blocks; i++) {
		/* An odd factor permutes a power of two of slots. */
		unsigned int slot = (i * 5 + 2) & (rig->nr_blocks - 1);

		rig->base[i] = rig->arena + RIG_GAP + slot * stride;
	}
}

static void *must_allocate(void *memory)
{
	if (!memory) {
		perror("rig");
		exit(2);
	}
	return memory;
}

/**
 * rig_make() - allocate a ring and set it up
 * @rig: to be filled
 * @block_size: power of two; may be smaller than the module allows
 * @nr_blocks: power of two
 * @mode: enum ktape_mode
 * @start: first position
 */
void rig_make(struct rig *rig, unsigned long block_size, unsigned int nr_blocks,
	      unsigned int mode, unsigned long start)
{
	memset(rig, 0, sizeof(*rig));
	rig->block_size = block_size;
	rig->nr_blocks = nr_blocks;
	rig->arena_size = RIG_GAP + nr_blocks * (block_size + RIG_GAP);
	rig->arena = must_allocate(aligned_alloc(64, ALIGN(rig->arena_size, 64)));
	rig->page = must_allocate(
		aligned_alloc(4096, ALIGN(sizeof(*rig->page), 4096)));
	rig->blocks = must_allocate(calloc(nr_blocks, sizeof(*rig->blocks)));
	rig->base = must_allocate(calloc(nr_blocks, sizeof(*rig->base)));
	place_blocks(rig);
	rig_again(rig, mode, start);
}

/**
 * rig_again() - empty a ring, with another mode or start
 * @rig: from rig_make()
 * @mode: enum ktape_mode
 * @start: first position
 */
void rig_again(struct rig *rig, unsigned int mode, unsigned long start)
{
	const struct kt_ring_config config = {
		.block_size = rig->block_size,
		.nr_blocks = rig->nr_blocks,
		.mode = mode,
		.cpu = 3,
		.kind = KTAPE_RING_EVENT,
		.start = start,
		.page = rig->page,
		.blocks = rig->blocks,
		.base = rig->base,
		.ops = &rig_ops,
		.owner = rig,
	};

	memset(rig->arena, GUARD, rig->arena_size);
	memset(rig->page, 0, sizeof(*rig->page));
	memset(rig->blocks, 0, rig->nr_blocks * sizeof(*rig->blocks));
	memset(&rig->ring, 0, sizeof(rig->ring));
	memset(rig->seq, 0, sizeof(rig->seq));
	rig->too_big = 0;
	rig->opening = 0;
	rig->opened = 0;
	rig->reported = 0;
	rig->filled = 0;
	kt_ring_init(&rig->ring, &config);
}

void rig_free(struct rig *rig)
{
	free(rig->arena);
	free(rig->page);
	free(rig->blocks);
	free(rig->base);
}

/**
 * rig_guards_hold() - check that no write went outside the blocks
 * @rig: the rig
 */
bool rig_guards_hold(const struct rig *rig)
{
	const unsigned char *gap = rig->arena;
	unsigned int i, byte;

	for (i = 0; i <= rig->nr_blocks; i++) {
		for (byte = 0; byte < RIG_GAP; byte++)
			if (gap[byte] != GUARD)
				return false;
		gap += RIG_GAP + rig->block_size;
	}
	return true;
}

u64 rig_lost(const struct rig *rig)
{
	u64 lost = 0;
	unsigned int i;

	for (i = 0; i < KTAPE_LOST_REASONS; i++)
		lost += kt_ring_lost(rig->page, i);
	return lost;
}

/* Return the number of records that were handed to the ring. */
u64 rig_written(const struct rig *rig)
{
	u64 written = rig->too_big;
	unsigned int i;

	for (i = 0; i < RIG_CONTEXTS; i++)
		written += rig->seq[i];
	return written;
}
