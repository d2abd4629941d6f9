/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The random numbers of tests on the host and in guests: a seed gives the same numbers
 * everywhere, so that a failure can be repeated.
 */
#ifndef _LCG_H
#define _LCG_H

#include <stdint.h>

/* Return the next number, of 31 bits. Its low bits are as random as its high ones. */
static inline uint32_t lcg_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33);
}

/* Return a random number from 0 to @n - 1. */
static inline uint32_t lcg_below(uint64_t *seed, uint32_t n)
{
	return lcg_next(seed) % n;
}

/* Return a number of 64 bits, made of three. */
static inline uint64_t lcg_next64(uint64_t *seed)
{
	uint64_t high = lcg_next(seed), low = lcg_next(seed);

	return high << 33 ^ low << 2 ^ (lcg_next(seed) & 3);
}

#endif /* _LCG_H */
