/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Places in hash tables.  Whoever made a trace chose the keys: without a seed that
 * nobody knows, all of them could have one place, and each look-up would pass all
 * of the others.
 */
#ifndef _KT_HASH_H
#define _KT_HASH_H

#include <stdint.h>
#include <sys/random.h>

/* Without random numbers, where the memory happens to be. */
static inline uint64_t kt_hash_seed(const void *memory)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)memory;
	return seed;
}

/* Each bit of @v changes half of those of the result. */
static inline uint64_t kt_hash_mix(uint64_t v)
{
	v = (v ^ v >> 32) * 0xd6e8feb86659fd93ULL;
	v = (v ^ v >> 29) * 0x9e3779b97f4a7c15ULL;
	return v ^ v >> 32;
}

static inline uint64_t kt_hash(uint64_t seed, uint64_t key)
{
	return kt_hash_mix(seed + kt_hash_mix(seed ^ key));
}

#endif /* _KT_HASH_H */
