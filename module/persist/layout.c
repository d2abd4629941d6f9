// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where everything is in a half of the region, and what is written when a session
 * takes it.  The superblocks go first and come last, and memory has what was
 * written before them: a reset in between finds none.
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

#define RING_BLOCKS_MIN		4
#define RING_MAX		(IS_ENABLED(CONFIG_64BIT) ? 1ULL << 31 : 1ULL << 30)
#define BLOCK_DEFAULT		(64ULL << 10)
#define CONTROL_MAX		(256ULL << 10)	/* by default */
#define CONTROL_BLOCK		(16ULL << 10)
#define CONTROL_SHARE		8		/* of the event ring, by default */
#define NAMES_SHARE		16		/* of the region, at most */
#define ZERO_STEP		(1UL << 20)

/* What the superblock's checksum covers, from its begin. */
#define HEAD_SIZE		offsetof(struct ktape_persist, state)

/**
 * kt_layout_rings() - how many rings a region has
 *
 * Return: two a possible CPU. Context: any.
 */
unsigned int kt_layout_rings(void)
{
	return num_possible_cpus() * KTAPE_RINGS_PER_CPU;
}

static unsigned int layout_names(const struct kt_region *r)
{
	return min_t(u64, kt_registry_entries(),
		     div_u64(r->size, NAMES_SHARE) /
			     sizeof(struct ktape_object_entry));
}

/* Bytes of a ring with its control page and its checks. */
static u64 layout_ring_bytes(u64 size, u64 block)
{
	return PAGE_SIZE + size +
	       PAGE_ALIGN((size >> ilog2(block)) *
			  sizeof(struct ktape_persist_check));
}

/* Bytes for the rings of one CPU. */
static u64 layout_room_for_cpu(const struct kt_region *r,
			       const struct kt_persist_config *config)
{
	u64 table = kt_layout_rings() * sizeof(struct ktape_persist_ring);
	u64 names = layout_names(r) * sizeof(struct ktape_object_entry);
	u64 fixed = 2 * PAGE_SIZE + PAGE_ALIGN(table) +
		    PAGE_ALIGN(config->length) + PAGE_ALIGN(names);

	return r->size < fixed ? 0 :
				 div_u64(r->size - fixed, num_possible_cpus());
}

/* Sizes with an event ring of @size.  Return: bytes a CPU, 0 if it cannot be. */
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
	return layout_ring_bytes(size, block) +
	       layout_ring_bytes(control, small);
}

/**
 * kt_layout_fit() - compute the sizes of a session's rings in a region
 * @sizes: in: the request; out: sizes that fit
 * @r: the region
 * @config: for the size of the metadata
 *
 * Context: process context.
 * Return: 0; -EINVAL: no such size; -ENOSPC: the region is too small.
 */
int kt_layout_fit(struct kt_persist_sizes *sizes, const struct kt_region *r,
		  const struct kt_persist_config *config)
{
	const struct kt_persist_sizes asked = *sizes;
	const u64 ring_size = asked.size[KTAPE_RING_EVENT];
	const u64 block_size = asked.block_size[KTAPE_RING_EVENT];
	u64 room = layout_room_for_cpu(r, config), size, bytes;

	if (ring_size > RING_MAX || asked.size[KTAPE_RING_CONTROL] > RING_MAX ||
	    block_size > PAGE_SIZE << KT_ORDER_MAX)
		return -EINVAL;
	if (room < PAGE_SIZE)
		return -ENOSPC;
	size = ring_size ?: min(rounddown_pow_of_two(room), RING_MAX);
	if (block_size)
		size = max(size, block_size * RING_BLOCKS_MIN);
	size = roundup_pow_of_two(max(size, (u64)PAGE_SIZE * RING_BLOCKS_MIN));
	for (;;) {
		bytes = size > RING_MAX ? 0 :
					  layout_try_size(sizes, &asked, size);
		if (bytes && bytes <= room)
			return 0;
		if (ring_size || size <= PAGE_SIZE)
			return -ENOSPC;
		size /= 2;
	}
}

/*
 * Into memory, in pieces, as a whole region may take its time.
 * Return: 0, or -EINTR: the caller was killed.
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

static u64 layout_take(u64 *at, u64 bytes)
{
	u64 offset = *at;

	*at += PAGE_ALIGN(bytes);
	return offset;
}

static void layout_describe(struct ktape_persist *p, const struct kt_region *r,
			    const struct kt_persist_config *config,
			    u32 sequence)
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

static void layout_put_ring(const struct kt_persist_sizes *sizes,
			    const struct kt_region *r,
			    struct ktape_persist_ring *e, struct kt_slot *slot,
			    u64 *at)
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
			     struct kt_slot *slots, u64 *at)
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

/* There may be no memory at an address that somebody made up. */
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

static int layout_put_super(const struct kt_region *r, struct ktape_persist *p,
			    u64 here)
{
	p->here = here;
	p->crc32c = layout_super_crc(*p);
	memcpy(r->base + here, p, sizeof(*p));
	return layout_holds(r, here, p) ? 0 : -EIO;
}

/**
 * kt_layout_wipe() - make a half one without a trace
 * @r: the half
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
	/* They are gone before anything else changes. */
	wmb();
}

static bool layout_super_at(const struct kt_region *r, u64 here, u32 *sequence)
{
	struct ktape_persist p;

	memcpy(&p, r->base + here, sizeof(p));
	*sequence = p.sequence;
	return p.magic == KTAPE_PERSIST_MAGIC && p.size == r->size &&
	       p.here == here && p.crc32c == layout_super_crc(p);
}

/**
 * kt_layout_is_there() - is a half laid out?
 * @r: the half, whose content is not to be trusted
 * @sequence: out: which of two was laid out later
 *
 * Nothing but the choice of a half depends on it.
 *
 * Context: process context.
 * Return: true or false.
 */
bool kt_layout_is_there(const struct kt_region *r, u32 *sequence)
{
	return layout_super_at(r, 0, sequence) ||
	       layout_super_at(r, r->size - PAGE_SIZE, sequence);
}

/**
 * kt_layout_write() - lay a half out for a session
 * @sizes: sizes of the rings, from kt_layout_fit()
 * @r: the half; what is in it is lost
 * @config: metadata
 * @sequence: for the superblock
 * @layout: with slots for all rings; receives where everything is
 *
 * Context: process context, may sleep; nobody uses the region.
 * Return: 0; -EIO: it does not hold what is written; -EINTR: the caller was killed.
 */
int kt_layout_write(const struct kt_persist_sizes *sizes,
		    const struct kt_region *r,
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
	p.registry =
		layout_take(&at, (u64)p.registry_entries *
					 sizeof(struct ktape_object_entry));
	memcpy(r->base + p.metadata, config->metadata, config->length);
	layout->names = r->base + p.registry;
	layout->nr_names = p.registry_entries;
	layout_put_rings(sizes, r, &p, layout->slots, &at);
	p.rings_crc32c = ~kt_crc32c(~0U, r->base + p.rings, table);
	p.metadata_crc32c =
		~kt_crc32c(~0U, r->base + p.metadata, p.metadata_size);
	kt_cache_clean(r->base, p.registry);
	/* What the superblock tells of is there before it. */
	wmb();
	ret = layout_put_super(r, &p, 0);
	return ret ? ret : layout_put_super(r, &p, r->size - PAGE_SIZE);
}

/**
 * kt_layout_state() - tell how far it has come
 * @r: the region
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

/* The checksum of the closed block at @pos, unless it is overwritten. */
static void slot_check_block(const struct kt_slot *slot, unsigned long pos)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long at = pos & (slot->size - 1);
	struct ktape_persist_check *c = &slot->checks[at >> slot->block_shift];
	const struct ktape_block *b = (void *)(slot->blocks + at);
	struct ktape_persist_check new = {
		.seq = (u64)(pos >> slot->block_shift) + 1,
	};
	u64 content = READ_ONCE(b->content_bits) / 8;

	if (content < KTAPE_BLOCK_HEADER || content > block_size)
		return;
	new.crc32c = ~kt_crc32c(~0U, (const void *)b, content);
	kt_cache_clean(b, content);
	/* In memory, too, there is no checksum before what it is of. */
	wmb();
	new.check = ~kt_crc32c(~0U, (const void *)&new,
			       offsetof(struct ktape_persist_check, check));
	/* Pairs with the write barrier after tail in ring_make_room(). */
	smp_rmb();
	if (kt_before(pos, READ_ONCE(*kt_word(&slot->page->tail))))
		return;
	*c = new;
	kt_cache_clean(c, sizeof(*c));
}

/**
 * kt_slot_commit() - up to where a ring has something
 * @slot: the ring
 *
 * Context: any.
 * Return: the position.
 */
unsigned long kt_slot_commit(const struct kt_slot *slot)
{
	/* Pairs with the release of commit in kt_ring_publish(). */
	return smp_load_acquire(kt_word(&slot->page->commit));
}

/**
 * kt_slot_check() - compute checksums of closed blocks
 * @slot: the ring
 * @pos: from which position on
 * @commit: up to which it has something
 * @budget: bytes that may be looked at; what was is taken off
 * @may_sleep: whether to let others run
 *
 * Context: any, as @may_sleep says.
 * Return: the position up to which there are some.
 */
unsigned long kt_slot_check(const struct kt_slot *slot, unsigned long pos,
			    unsigned long commit, unsigned long *budget,
			    bool may_sleep)
{
	unsigned long block_size = 1UL << slot->block_shift;
	unsigned long tail = READ_ONCE(*kt_word(&slot->page->tail));

	if (kt_before(pos, tail))
		pos = tail;
	if (kt_before(commit, pos))
		return pos;
	/* Positions are in the region: no endless loop if these are wrong. */
	if (commit - pos > slot->size)
		pos = (commit - slot->size) & ~(block_size - 1);
	/* Closed is a block when the next one has something in it. */
	for (; kt_before(pos + block_size, commit); pos += block_size) {
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
 * @from: from which position on
 * @commit: up to which
 *
 * Context: any.
 */
void kt_slot_clean(const struct kt_slot *slot, unsigned long from,
		   unsigned long commit)
{
	unsigned long at, part;

	if (commit - from > slot->size)
		from = commit - slot->size;
	for (; from != commit; from += part) {
		at = from & (slot->size - 1);
		part = min(commit - from, slot->size - at);
		kt_cache_clean(slot->blocks + at, part);
	}
	/* Memory has what counts before the page that makes it count. */
	wmb();
	kt_cache_clean(slot->page, sizeof(*slot->page));
}
