/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Positions and counts of control pages: see struct ktape_ring_page in ktape/abi.h.
 *
 * A 64-bit kernel stores each with one instruction.  A 32-bit kernel has two words for
 * each: the lower 32 bits, and the upper word, which is the value without its lower 29
 * bits.  One of them may be newer.
 */
#ifndef _KT_WORDS_H
#define _KT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#define KT_UPPER_CHANGES UINT32_MAX /* the value is being stored */

/* Join the words of a 32-bit kernel: the nearest number with this lower word. */
static inline uint64_t kt_widen(uint32_t upper, uint32_t low)
{
	uint64_t middle = ((uint64_t)upper << 29) + (1U << 28);

	return middle + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)middle);
}

/* Join the words of a value in a copy of a control page: @upper has its upper word. */
static inline uint64_t kt_wide_of(uint64_t value, uint64_t upper, bool pos32)
{
	return pos32 ? kt_widen((uint32_t)(upper >> 32), (uint32_t)value) : value;
}

/* Load a value of a 32-bit kernel, or with a 32-bit program: see kt_wide_load(). */
static inline uint64_t kt_wide_load_halves(const __u64 *value, const __u64 *of,
					   bool pos32)
{
	const uint32_t *lower = (const uint32_t *)value;
	/* A 64-bit kernel stores whole values: tail has an upper word of its own. */
	const uint32_t *upper = (const uint32_t *)(pos32 ? of : value) + 1;
	uint32_t before, low;

	do {
		before = __atomic_load_n(upper, __ATOMIC_ACQUIRE);
		low = __atomic_load_n(lower, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(upper, __ATOMIC_ACQUIRE) != before ||
		 (pos32 && before == KT_UPPER_CHANGES));
	return pos32 ? kt_widen(before, low) : (uint64_t)before << 32 | low;
}

/*
 * Load a value from a mapped control page with acquire.  With a 32-bit kernel, @of has
 * its upper word: commit for commit and tail, else the value itself.
 *
 * The upper word is loaded before and after the lower one.  If it has not changed, the two
 * belong together, also for a 32-bit program that reads what a 64-bit kernel stores.
 */
static inline uint64_t kt_wide_load(const __u64 *value, const __u64 *of, bool pos32)
{
	if (!pos32 && sizeof(long) == 8)
		return __atomic_load_n(value, __ATOMIC_ACQUIRE);
	return kt_wide_load_halves(value, of, pos32);
}

#endif /* _KT_WORDS_H */
