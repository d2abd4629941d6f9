/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring with its memory for tests in user space, and a writer (emit.c) that
 * numbers its records.
 *
 * Each record has its context, its number in that context, its shape and a hash
 * over these, so that a reader can check it wherever it lies.
 */
#ifndef _RIG_H
#define _RIG_H

#include "ring/internal.h"

#define RIG_CONTEXTS 4	 /* task, softirq, irq, nmi */
#define RIG_GAP	     256 /* guarded bytes before and after each block */
#define RIG_OPCODE   64	 /* + shape */

/*
 * Shapes: 0 to 3 are the inlined kt_ring_put() with that many arguments, 4 to 7
 * kt_ring_write() with that many, 8 + n with n arguments (n > 0) and a blob.
 */
#define RIG_BLOB   8
#define RIG_SHAPES 16

struct rig {
	struct kt_ring ring;
	struct ktape_ring_page *page;
	u64 opening;		/* calls of struct kt_ring_ops' opening() ... */
	u64 opened;		/* ... of opened() */
	u64 filled;		/* ... of filled() */
	u64 parked;		/* ... of parked() */
	unsigned long reported; /* commit at the latest call of opened() */
	u32 seq[RIG_CONTEXTS];	/* next number in each context */
	u64 too_big; /* records larger than a block, which have no number */
	struct kt_desc *blocks; /* the ring's, as the module allocates them */
	void **base;		/* memory of each block, in @arena */
	unsigned char *arena;
	size_t arena_size;
	unsigned int nr_blocks;
	unsigned long block_size;
};

/* The class of a context's records; two contexts share one. */
static inline u32 rig_class(unsigned int context)
{
	static const u8 classes[RIG_CONTEXTS] = { 0, 0, 20, KTAPE_CLASSES - 1 };

	return classes[context];
}

static __always_inline u32 rig_hash(u32 context, u32 seq, u32 salt)
{
	u32 x = seq * 0x9e3779b1U ^ (context * 0x85ebca6bU + salt * 0xc2b2ae35U);

	return x ^ x >> 15;
}

static inline u32 rig_blob_size(u32 context, u32 seq)
{
	return rig_hash(context, seq, 99) & 63;
}

extern unsigned int rig_steps; /* backward steps of the clock that the ring reported */
extern u64 rig_stepped_from; /* the ring's latest time at the last of them */
extern void (*rig_on_step)(void); /* called at each of them, or NULL */

/* rig_again() empties the ring; its first position is @start in both. */
void rig_make(struct rig *rig, unsigned long block_size, unsigned int nr_blocks,
	      unsigned int mode, unsigned long start);
void rig_again(struct rig *rig, unsigned int mode, unsigned long start);
void rig_free(struct rig *rig);
bool rig_guards_hold(const struct rig *rig);
u64 rig_lost(const struct rig *rig);
u64 rig_written(const struct rig *rig);
void rig_emit(struct rig *rig, unsigned int context, unsigned int shape);
void rig_emit_too_big(struct rig *rig, unsigned int context);

/* Return the room left in the open block. */
static inline unsigned long rig_room(const struct rig *rig)
{
	unsigned long off = rig->ring.write & (rig->block_size - 1);

	return off ? rig->block_size - off : 0;
}

#endif /* _RIG_H */
