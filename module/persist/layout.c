// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the parts of a half of the region are, what is written when a session
 * takes it, and the checksums of its blocks.  One load of the module records into one
 * half; the other keeps the trace of the load before.
 *
 * A half is laid out in this order: wipe the superblocks; write everything else;
 * write the superblocks.  Caches are written back after each step, so a reset in
 * between leaves a half without a superblock.
 *
 * The checksum of a block stands beside the block, because only the owning CPU
 * may write into the block.  It is computed once commit has passed the block and
 * is valid only if tail has not passed it, as for every reader.  If the worker
 * and the panic handler write the same checksum at once, its own check may not
 * match, and the block counts as one without a checksum.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "event/event.h"
#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

#define RING_BLOCKS_MIN 4
#define RING_MAX	(IS_ENABLED(CONFIG_64BIT) ? 1ULL << 31 : 1ULL << 30)
#define BLOCK_DEFAULT	(64ULL << 10)
#define CONTROL_MAX	(256ULL << 10) /* largest default, bytes */
#define CONTROL_BLOCK	(16ULL << 10)
#define CONTROL_SHARE	8	    /* default: event ring / 8 */
#define NAMES_SHARE	16	    /* at most 1/16 of a half */
#define ZERO_STEP	(1UL << 20) /* bytes between two cond_resched() */

/* Bytes of the superblock that its checksum covers. */
#define HEAD_SIZE offsetof(struct ktape_persist, state)

/**
 * kt_layout_rings() - return the number of rings of a half
 *
 * Return: two per possible CPU. Context: any.
 */
unsigned int kt_layout_rings(void)
{
	return num_possible_cpus() * KTAPE_RINGS_PER_CPU;
}

/* Return the number of entries of the copy of the registry. */
static unsigned int layout_names(const struct kt_region *r)
{
	return min_t(u64, kt_registry_max(),
		     div_u64(r->size, NAMES_SHARE) /
			     sizeof(struct ktape_object_entry));
}

/* Return the bytes of a ring with its control page and its checks. */
static u64 layout_ring_bytes(u64 size, u64 block)
{
	return PAGE_SIZE + size +
	       PAGE_ALIGN((size >> ilog2(block)) *
			  sizeof(struct ktape_persist_check));
}

/* Return the bytes that a half has for the rings of one CPU. */
static u64 layout_room_for_cpu(const struct kt_region *r,
			       const struct kt_persist_config *config)
{
	u64 table = kt_layout_rings() * sizeof(struct ktape_persist_ring);
	u64 names = layout_names(r) * sizeof(struct ktape_object_entry);
	u64 fixed = 2 * PAGE_SIZE + PAGE_ALIGN(table) +
		    PAGE_ALIGN(config->length) + PAGE_ALIGN(names);

	return r->size < fixed ? 0 : div_u64(r->size - fixed, num_possible_cpus());
}

/*
 * Compute all sizes for event rings of @size bytes.
 * Return: bytes per CPU; 0: the blocks asked for do not fit into such a ring.
 */
static u64 layout_try_size(struct kt_persist_sizes *to,
			   const struct kt_persist_sizes *asked, u64 size)
{
	u64 block = asked->block_size[KTAPE_RING_EVENT];
	u64 control = asked->size[KTAPE_RING_CONTROL], small;

	if (!block)
		block = min_t(u64, BLOCK_DEFAULT, size / RING_BLOCKS_MIN);
	block = roundup_pow_of_two(max_t(u64, block, PAGE_SIZE));
	if (block * RING_BLOCKS_MIN > size)
		return 0;
	small = max_t(u64, PAGE_SIZE, min(block, CONTROL_BLOCK));
	if (!control)
		control = min(size / CONTROL_SHARE, CONTROL_MAX);
	control = roundup_pow_of_two(max(control, small * RING_BLOCKS_MIN));
	to->size[KTAPE_RING_EVENT] = size;
	to->block_size[KTAPE_RING_EVENT] = block;
	to->size[KTAPE_RING_CONTROL] = control;
	to->block_size[KTAPE_RING_CONTROL] = small;
	return layout_ring_bytes(size, block) + layout_ring_bytes(control, small);
}

/**
 * kt_layout_fit() - compute the sizes of a session's rings in a half
 * @sizes: in: the request; out: sizes that fit
 * @r: the half
 * @config: for the size of the metadata
 *
 * Context: process context.
 * Return: 0; -EINVAL: no such size; -ENOSPC: the half is too small.
 */
int kt_layout_fit(struct kt_persist_sizes *sizes, const struct kt_region *r,
		  const struct kt_persist_config *config)
{
	const struct kt_persist_sizes asked = *sizes;
	const u64 ring_size = asked.size[KTAPE_RING_EVENT];
	const u64 block_size = asked.block_size[KTAPE_RING_EVENT];
	u64 room = layout_room_for_cpu(r, config), size, bytes;

	if (ring_size > RING_MAX || asked.size[KTAPE_RING_CONTROL] > RING_MAX ||
	    block_size > PAGE_SIZE << KT_ORDER_MAX || block_size > KTAPE_BLOCK_MAX)
		return -EINVAL;
	if (room < PAGE_SIZE)
		return -ENOSPC;
	size = ring_size ?: min_t(u64, rounddown_pow_of_two(room), RING_MAX);
	if (block_size)
		size = max(size, block_size * RING_BLOCKS_MIN);
	size = roundup_pow_of_two(max(size, (u64)PAGE_SIZE * RING_BLOCKS_MIN));
	for (;;) {
		bytes = size > RING_MAX ? 0 : layout_try_size(sizes, &asked, size);
		if (bytes && bytes <= room)
			return 0;
		if (ring_size || size <= PAGE_SIZE)
			return -ENOSPC;
		size /= 2;
	}
}

/*
 * Zero a half and write the caches back, in steps, because that takes long.
 * Return: 0; -EINTR: the caller was killed.
 */
static int layout_zero(const struct kt_region *r)
{
	u64 at, part;

	for (at = 0; at < r->size; at += part) {
		if (fatal_signal_pending(current))
			return -EINTR;
		part = min_t(u64, ZERO_STEP, r->size - at);
		memset(r->base + at, 0, part);
		kt_cache_clean(r->base + at, part);
		cond_resched();
	}
	return 0;
}

/* Return @at and move it on by whole pages of at least @bytes. */
static u64 layout_take(u64 *at, u64 bytes)
{
	u64 offset = *at;

	*at += PAGE_ALIGN(bytes);
	return offset;
}

/* Fill the superblock, except the offsets and checksums of the parts. */
static void layout_describe(struct ktape_persist *p, const struct kt_region *r,
			    const struct kt_persist_config *config, u32 sequence)
{
	struct kt_moment m;

	kt_clock_moment(&m);
	p->magic = KTAPE_PERSIST_MAGIC;
	p->version = KTAPE_PERSIST_VERSION;
	memcpy(p->uuid, kt_uuid, sizeof(p->uuid));
	p->table_hash = config->table_hash;
	p->size = r->size;
	p->page_size = PAGE_SIZE;
	p->clock = kt_clock_id();
	p->clock_hz = kt_clock_hz();
	p->start_clock = m.clock;
	p->start_mono_ns = m.mono;
	p->start_boot_ns = m.boot;
	p->start_real_ns = m.real;
	p->metadata_size = config->length;
	p->nr_rings = kt_layout_rings();
	p->registry_entries = layout_names(r);
	p->pos_bits = BITS_PER_LONG;
	p->sequence = sequence;
	p->state = KTAPE_PERSIST_RECORDING;
}

/* Place one ring, in the table of the half and in @slot. */
static void layout_put_ring(const struct kt_persist_sizes *sizes,
			    const struct kt_region *r, struct ktape_persist_ring *e,
			    struct kt_persist_slot *slot, u64 *at)
{
	unsigned long size = sizes->size[e->kind],
		      block = sizes->block_size[e->kind];
	unsigned int shift = ilog2(block);

	e->block_size = block;
	e->nr_blocks = size >> shift;
	e->page = layout_take(at, PAGE_SIZE);
	e->checks = layout_take(at, e->nr_blocks * sizeof(*slot->checks));
	e->blocks = layout_take(at, size);
	slot->page = r->base + e->page;
	slot->checks = r->base + e->checks;
	slot->blocks = r->base + e->blocks;
	slot->size = size;
	slot->block_shift = shift;
	slot->cpu = e->cpu;
	slot->kind = e->kind;
	slot->checked = 0;
}

static void layout_put_rings(const struct kt_persist_sizes *sizes,
			     const struct kt_region *r, struct ktape_persist *p,
			     struct kt_persist_slot *slots, u64 *at)
{
	struct ktape_persist_ring *e = r->base + p->rings;
	unsigned int cpu, kind;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++, e++) {
			e->cpu = cpu;
			e->kind = kind;
			layout_put_ring(sizes, r, e, slots++, at);
		}
	}
}

/*
 * Return true if the half holds @p at @offset.  The user gave the address of the
 * region, and there may be no memory at that address.
 */
static bool layout_holds(const struct kt_region *r, u64 offset,
			 const struct ktape_persist *p)
{
	kt_cache_clean(r->base + offset, sizeof(*p));
	return !memcmp(r->base + offset, p, sizeof(*p));
}

static u32 layout_super_crc(struct ktape_persist p)
{
	p.crc32c = 0;
	return ~kt_crc32c(~0U, (const void *)&p, HEAD_SIZE);
}

/* Write the superblock at offset @here.  Return: 0; -EIO: the memory does not hold it. */
static int layout_put_super(const struct kt_region *r, struct ktape_persist *p,
			    u64 here)
{
	p->here = here;
	p->crc32c = layout_super_crc(*p);
	memcpy(r->base + here, p, sizeof(*p));
	return layout_holds(r, here, p) ? 0 : -EIO;
}

/**
 * kt_layout_wipe() - wipe the superblocks of a half or of the whole region
 * @r: the half or region
 *
 * Context: process context.
 */
void kt_layout_wipe(const struct kt_region *r)
{
	size_t len = sizeof(struct ktape_persist);
	void *last = r->base + r->size - PAGE_SIZE;

	memset(r->base, 0, len);
	memset(last, 0, len);
	kt_cache_clean(r->base, len);
	kt_cache_clean(last, len);
	/* The superblocks are wiped before anything else changes. */
	wmb();
}

/* Check for a superblock at offset @here.  @sequence: its sequence number, valid with true. */
static bool layout_super_at(const struct kt_region *r, u64 here, u32 *sequence)
{
	struct ktape_persist p;

	memcpy(&p, r->base + here, sizeof(p));
	*sequence = p.sequence;
	return p.magic == KTAPE_PERSIST_MAGIC && p.size == r->size &&
	       p.here == here && p.crc32c == layout_super_crc(p);
}

/**
 * kt_layout_is_there() - check whether a half has a superblock
 * @r: the half, whose content is not trusted
 * @sequence: out: sequence number, valid with true; the half laid out later has the higher one
 *
 * Only the choice of a half depends on the result.
 *
 * Context: process context.
 * Return: true if one of its superblocks is valid.
 */
bool kt_layout_is_there(const struct kt_region *r, u32 *sequence)
{
	return layout_super_at(r, 0, sequence) ||
	       layout_super_at(r, r->size - PAGE_SIZE, sequence);
}

/**
 * kt_layout_write() - lay a half out for a session
 * @sizes: sizes of the rings, from kt_layout_fit()
 * @r: the half; its content is lost
 * @config: metadata and hash of the event table
 * @sequence: sequence number for the superblock
 * @layout: in: slots for all rings; out: where the parts are
 *
 * Context: process context, may sleep; the half is not in use.
 * Return: 0; -EIO: the memory does not hold what is written; -EINTR: the caller was
 * killed.
 */
int kt_layout_write(const struct kt_persist_sizes *sizes, const struct kt_region *r,
		    const struct kt_persist_config *config, u32 sequence,
		    struct kt_layout *layout)
{
	struct ktape_persist p = {};
	size_t table = kt_layout_rings() * sizeof(struct ktape_persist_ring);
	u64 at = PAGE_SIZE;
	int ret;

	kt_layout_wipe(r);
	ret = layout_zero(r);
	if (ret)
		return ret;
	layout_describe(&p, r, config, sequence);
	p.rings = layout_take(&at, table);
	p.metadata = layout_take(&at, p.metadata_size);
	p.registry = layout_take(&at, (u64)p.registry_entries *
					      sizeof(struct ktape_object_entry));
	memcpy(r->base + p.metadata, config->metadata, config->length);
	layout->names = r->base + p.registry;
	layout->nr_names = p.registry_entries;
	layout_put_rings(sizes, r, &p, layout->slots, &at);
	p.rings_crc32c = ~kt_crc32c(~0U, r->base + p.rings, table);
	p.metadata_crc32c = ~kt_crc32c(~0U, r->base + p.metadata, p.metadata_size);
	kt_cache_clean(r->base, p.registry);
	/* The parts are in memory before the superblock that describes them. */
	wmb();
	ret = layout_put_super(r, &p, 0);
	return ret ? ret : layout_put_super(r, &p, r->size - PAGE_SIZE);
}

/**
 * kt_layout_state() - store the state of a session in both superblocks
 * @r: the half
 * @state: enum ktape_persist_state
 *
 * Context: any.
 */
void kt_layout_state(const struct kt_region *r, u32 state)
{
	struct ktape_persist *first = r->base;
	struct ktape_persist *last = r->base + r->size - PAGE_SIZE;

	WRITE_ONCE(first->state, state);
	WRITE_ONCE(last->state, state);
	kt_cache_clean(first, sizeof(*first));
	kt_cache_clean(last, sizeof(*last));
}

static u64 slot_position(const struct kt_persist_slot *slot, const u64 *p)
{
	return kt_position(kt_upper_word(&slot->page->commit), p);
}

/* Store the checksum of the closed block at @pos, unless it was overwritten. */
static void slot_check_block(const struct kt_persist_slot *slot, u64 pos)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long at = (unsigned long)pos & (slot->size - 1);
	struct ktape_persist_check *c = &slot->checks[at >> slot->block_shift];
	const struct ktape_block *b = (void *)(slot->blocks + at);
	struct ktape_persist_check new = {
		.seq = (pos >> slot->block_shift) + 1,
	};
	/* data_race(): writers do not wait; what they overwrite is thrown away. */
	u64 content = data_race(READ_ONCE(b->content_bits)) / 8;

	if (content < KTAPE_BLOCK_HEADER || content > block_size)
		return;
	/* data_race(): as above. */
	new.crc32c = ~data_race(kt_crc32c(~0U, (const void *)b, content));
	kt_cache_clean(b, content);
	/* The block is in memory before its checksum. */
	wmb();
	new.check = ~kt_crc32c(~0U, (const void *)&new,
			       offsetof(struct ktape_persist_check, check));
	/* Pairs with the write barrier after tail in ring_make_room(). */
	smp_rmb();
	if (kt_position_before(pos, slot_position(slot, &slot->page->tail)))
		return;
	*c = new;
	kt_cache_clean(c, sizeof(*c));
}

/**
 * kt_slot_commit() - return the commit position of a ring
 * @slot: the ring
 *
 * Context: any.
 * Return: the position behind the last published record.
 */
u64 kt_slot_commit(const struct kt_persist_slot *slot)
{
	return slot_position(slot, &slot->page->commit);
}

/**
 * kt_slot_checked() - return the position that the last check has reached
 * @slot: the ring
 * @commit: commit position of the ring
 *
 * Context: any.
 * Return: the position with 64 bits, as kt_slot_check() returned it.
 */
u64 kt_slot_checked(const struct kt_persist_slot *slot, u64 commit)
{
	return commit - ((unsigned long)commit - READ_ONCE(slot->checked));
}

/**
 * kt_slot_check() - compute checksums of closed blocks
 * @slot: the ring
 * @pos: position at which to begin
 * @commit: commit position of the ring
 * @budget: in: bytes that may be checked; out: bytes that are left
 * @may_sleep: call cond_resched() after each block
 *
 * Blocks that were overwritten, or whose length is damaged, get none.
 *
 * Context: process context if @may_sleep, else any.
 * Return: the position up to which closed blocks were checked; the next check begins there.
 */
u64 kt_slot_check(const struct kt_persist_slot *slot, u64 pos, u64 commit,
		  unsigned long *budget, bool may_sleep)
{
	unsigned long block_size = 1UL << slot->block_shift;
	u64 tail = slot_position(slot, &slot->page->tail);

	if (kt_position_before(pos, tail))
		pos = tail;
	if (kt_position_before(commit, pos))
		return pos;
	/* Something may have overwritten the positions: bound the loop. */
	if (commit - pos > slot->size)
		pos = (commit - slot->size) & ~((u64)block_size - 1);
	/* A block is closed once the next block has a published record. */
	for (; kt_position_before(pos + block_size, commit); pos += block_size) {
		if (*budget < block_size)
			break;
		*budget -= block_size;
		slot_check_block(slot, pos);
		if (may_sleep)
			cond_resched();
	}
	return pos;
}

/**
 * kt_slot_clean() - write a ring back from the caches, its control page last
 * @slot: the ring
 * @from: position at which to begin
 * @commit: position at which to end
 *
 * Context: any.
 */
void kt_slot_clean(const struct kt_persist_slot *slot, u64 from, u64 commit)
{
	unsigned long at, part;

	if (commit - from > slot->size)
		from = commit - slot->size;
	for (; from != commit; from += part) {
		at = (unsigned long)from & (slot->size - 1);
		part = min_t(u64, commit - from, slot->size - at);
		kt_cache_clean(slot->blocks + at, part);
	}
	/* The blocks are in memory before the positions that publish them. */
	wmb();
	kt_cache_clean(slot->page, sizeof(*slot->page));
}
