/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Positions and counts: 64 bits, also on a 32-bit kernel.
 *
 * No 32-bit kernel stores 64 bits in one instruction in all contexts.  So a
 * value that one context writes and another reads has two words there: the lower
 * 32 bits, and its half, which is the value without its lower 31 bits.  Bit 31
 * is in both.  They are stored one after the other, and one may be seen without
 * the other.  But as long as the value moves by less than 2^30 between the two
 * stores, it is the number that has this lower word and is nearest to the middle
 * of this half.  That is so for counts, and for positions, as a ring has at most
 * 2^30 bytes.
 *
 * A reader loads the half before and after the lower word, because it may be
 * interrupted for long in between.
 *
 * On 64-bit kernels all of this is one load or one store.
 */
#ifndef _KT_RING_WIDE_H
#define _KT_RING_WIDE_H

#include "compat.h"

static inline bool kt_position_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/*
 * A position in the control page is a u64.  Writers of 32-bit kernels use its
 * lower half, so that a store is one instruction everywhere.
 */
static inline unsigned long *kt_word(u64 *p)
{
	return (unsigned long *)p;
}

static inline unsigned long *kt_upper_word(u64 *p)
{
	return (unsigned long *)p + 1;
}

#define KT_WIDE		(sizeof(long) == 8)

/**
 * kt_widen() - Join the two words of a value of a 32-bit kernel
 * @half: the value without its lower 31 bits
 * @low: the lower 32 bits
 *
 * Return: the value. Context: any.
 */
static inline u64 kt_widen(u32 half, u32 low)
{
	u64 middle = ((u64)half << 31) + (1U << 30);

	return middle + (u64)(s64)(s32)(low - (u32)middle);
}

/**
 * kt_half_of() - Get the half of a position that lies above another one
 * @half: half of the other one, which is less than 2^31 lower
 * @low: lower word of the position
 *
 * Return: the half, 0 on 64-bit kernels. Context: any.
 */
static inline unsigned long kt_half_of(unsigned long half, unsigned long low)
{
	return KT_WIDE ? 0 : half + ((half ^ low >> 31) & 1);
}

/**
 * kt_position() - Load a position of a control page
 * @half: the word that belongs to @p: &kt_ring.half, or the upper word of commit
 * @p: commit or tail
 *
 * Return: the position. Context: any.
 */
static inline u64 kt_position(const unsigned long *half, const u64 *p)
{
	const unsigned long *low = (const unsigned long *)p;
	unsigned long before, at;

	/* Pairs with the release of commit in kt_ring_publish(). */
	if (KT_WIDE)
		return smp_load_acquire(low);
	do {
		before = smp_load_acquire(half);
		at = smp_load_acquire(low);
	} while (READ_ONCE(*half) != before);
	return kt_widen((u32)before, (u32)at);
}

/* @half of a value that is being stored by kt_wide_store(). */
#define KT_HALF_CHANGES		(~0U)

/**
 * kt_wide_store() - Store a value that may change by any amount
 * @p: a word that only one context writes
 * @value: below 2^63
 *
 * Context: no writer of events may read @p.
 */
static inline void kt_wide_store(u64 *p, u64 value)
{
	if (KT_WIDE) {
		WRITE_ONCE(*p, value);
		return;
	}
	/* A reader that preempted this would wait for ever. */
	preempt_disable();
	WRITE_ONCE(*kt_upper_word(p), KT_HALF_CHANGES);
	smp_wmb();
	WRITE_ONCE(*kt_word(p), (unsigned long)value);
	smp_wmb();
	WRITE_ONCE(*kt_upper_word(p), (unsigned long)(value >> 31));
	preempt_enable();
}

/**
 * kt_wide_load() - Load a value that kt_wide_store() stores
 * @p: the value
 *
 * Return: the value. Context: as kt_wide_store().
 */
static inline u64 kt_wide_load(u64 *p)
{
	unsigned long half, low;

	if (KT_WIDE)
		return READ_ONCE(*p);
	/* Both pairs with the write barriers in kt_wide_store(). */
	do {
		half = smp_load_acquire(kt_upper_word(p));
		low = smp_load_acquire(kt_word(p));
	} while (half == KT_HALF_CHANGES ||
		 READ_ONCE(*kt_upper_word(p)) != half);
	return kt_widen((u32)half, (u32)low);
}

/**
 * kt_count_add() - Change a count that any context of this CPU may change
 * @p: the count
 * @n: constant; less than 2^30 upwards or downwards
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_count_add(u64 *p, long n)
{
	u32 sum;

	if (KT_WIDE) {
		kt_local_add(n, kt_word(p));
		return;
	}
	sum = (u32)kt_local_add_return(n, kt_word(p));
	if (likely(!((sum ^ (sum - (u32)n)) >> 31)))
		return;
	if (n > 0)
		kt_local_inc(kt_upper_word(p));
	else
		kt_local_dec(kt_upper_word(p));
}

/* Count one event: one instruction, never a load and a store (race R5). */
static __always_inline void kt_count(u64 *p)
{
	if (KT_WIDE)
		kt_local_inc(p);
	else
		kt_count_add(p, 1);
}

/**
 * kt_count_read() - Load a count
 * @p: the count
 *
 * No barrier: only an interruption is long enough to matter.
 *
 * Return: the count. Context: any.
 */
static inline u64 kt_count_read(const u64 *p)
{
	const u32 *word = (const u32 *)p;
	u32 half, low;

	if (KT_WIDE)
		return READ_ONCE(*p);
	do {
		half = READ_ONCE(word[1]);
		low = READ_ONCE(word[0]);
	} while (READ_ONCE(word[1]) != half);
	return kt_widen(half, low);
}

#endif /* _KT_RING_WIDE_H */
