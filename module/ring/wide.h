/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Positions and counts: 64 bits, also on a 32-bit kernel.
 *
 * No 32-bit kernel stores 64 bits in one instruction in all contexts.  So a
 * value that one context writes and another reads has two words there: the lower
 * 32 bits, and the upper word, which is the value without its lower 29 bits.
 * Three bits are in both.  The words are stored one after the other, and a
 * context that comes in between sees one of them late.  The value is then still
 * the only number that has this lower word and is within 2^31 of what the upper
 * word stands for: a position is at most a ring (2^30 bytes) away from that of
 * the block that was opened last, and each nested writer of a count leaves out at
 * most one step of the upper word, of 2^29.
 *
 * A reader loads the upper word before and after the lower one, because it may
 * be interrupted for long in between.
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

#define KT_WIDE	       (sizeof(long) == 8)
#define KT_UPPER_SHIFT 29

/**
 * kt_widen() - Join the two words of a value of a 32-bit kernel
 * @upper: the value without its lower 29 bits
 * @low: the lower 32 bits
 *
 * Return: the value. Context: any.
 */
static inline u64 kt_widen(u32 upper, u32 low)
{
	u64 middle = ((u64)upper << KT_UPPER_SHIFT) + (1U << (KT_UPPER_SHIFT - 1));

	return middle + (u64)(s64)(s32)(low - (u32)middle);
}

/**
 * kt_upper_of() - Get the upper word of a position
 * @near: upper word of another position, at most a ring away
 * @low: lower word of the position
 *
 * Return: the upper word, 0 on 64-bit kernels. Context: any.
 */
static inline unsigned long kt_upper_of(unsigned long near, unsigned long low)
{
	if (KT_WIDE)
		return 0;
	return (unsigned long)(kt_widen((u32)near, (u32)low) >> KT_UPPER_SHIFT);
}

/**
 * kt_upper_advance() - Store an upper word, unless a later one is there
 * @to: the word that changes
 * @upper: the upper word
 *
 * Context: on the owning CPU with preemption disabled, or with no writer.
 */
static inline void kt_upper_advance(unsigned long *to, unsigned long upper)
{
	unsigned long old;

	if (KT_WIDE)
		return;
	old = READ_ONCE(*to);
	while ((long)(old - upper) < 0 && !kt_try_cmpxchg_local(to, &old, upper))
		;
}

/* Return the position that has these two words. */
static inline u64 kt_wide_of(unsigned long upper, unsigned long low)
{
	return KT_WIDE ? low : kt_widen((u32)upper, (u32)low);
}

/**
 * kt_position() - Load a position of a control page
 * @upper: the word that belongs to @p: &kt_ring.upper, or that of commit
 * @p: commit or tail
 *
 * Return: the position. Context: any.
 */
static inline u64 kt_position(const unsigned long *upper, const u64 *p)
{
	const unsigned long *low = (const unsigned long *)p;
	unsigned long before, at;

	if (KT_WIDE)
		/* Pairs with the release of commit in kt_ring_published(). */
		return smp_load_acquire(low);
	do {
		/* It is loaded before the lower word. */
		before = smp_load_acquire(upper);
		/* As above, and the upper word is loaded again after it. */
		at = smp_load_acquire(low);
	} while (READ_ONCE(*upper) != before);
	return kt_widen((u32)before, (u32)at);
}

/* The upper word of a value that is being stored by kt_wide_store(). */
#define KT_UPPER_CHANGES (~0U)

/**
 * kt_wide_store() - Store a value that may change by any amount
 * @p: the value in memory, which only one context writes
 * @value: below 2^61 - 2^29, so that its upper word is not KT_UPPER_CHANGES
 *
 * Context: any.  A context that may interrupt this function must not read @p, because it
 * would wait for ever.
 */
static inline void kt_wide_store(u64 *p, u64 value)
{
	if (KT_WIDE) {
		WRITE_ONCE(*p, value);
		return;
	}
	/* A reader that preempted this would wait for ever. */
	preempt_disable();
	WRITE_ONCE(*kt_upper_word(p), KT_UPPER_CHANGES);
	smp_wmb(); /* that it changes is seen first */
	WRITE_ONCE(*kt_word(p), (unsigned long)value);
	smp_wmb(); /* a reader that sees the upper word sees the lower one */
	WRITE_ONCE(*kt_upper_word(p), (unsigned long)(value >> KT_UPPER_SHIFT));
	preempt_enable();
}

/**
 * kt_wide_load() - Load a value that kt_wide_store() stores
 * @p: the value
 *
 * Return: the value. Context: any that cannot have interrupted kt_wide_store().
 */
static inline u64 kt_wide_load(u64 *p)
{
	unsigned long upper, low;

	if (KT_WIDE)
		return READ_ONCE(*p);
	do {
		/* Pairs with the second write barrier in kt_wide_store(). */
		upper = smp_load_acquire(kt_upper_word(p));
		/* Pairs with the first one. */
		low = smp_load_acquire(kt_word(p));
	} while (upper == KT_UPPER_CHANGES || READ_ONCE(*kt_upper_word(p)) != upper);
	return kt_widen((u32)upper, (u32)low);
}

/**
 * kt_count_add() - Change a count that any context of this CPU may change
 * @p: the count
 * @n: less than 2^29 and more than -2^29, so that the upper word changes by one at most
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
	if (likely(!((sum ^ (sum - (u32)n)) >> KT_UPPER_SHIFT)))
		return;
	if (n > 0)
		kt_local_inc(kt_upper_word(p));
	else
		kt_local_dec(kt_upper_word(p));
}

/* Count one event: one instruction.  A store would undo what nested since the load (race R5). */
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
	u32 upper, low;

	if (KT_WIDE)
		return READ_ONCE(*p);
	do {
		upper = READ_ONCE(word[1]);
		low = READ_ONCE(word[0]);
	} while (READ_ONCE(word[1]) != upper);
	return kt_widen(upper, low);
}

#endif /* _KT_RING_WIDE_H */
