/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hash functions with a random seed.
 *
 * The keys come from a trace, so an attacker may choose them.  Without a random seed,
 * all keys could be made to have the same hash, and look-ups would take linear time.
 *
 * FNV-1a has no seed: it names things (an event table, a piece of a log) by their content,
 * which other programs and later runs have to find the same.
 */
#ifndef _KT_HASH_H
#define _KT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

/* Return a random seed; without random numbers, the address of @memory. */
static inline uint64_t kt_hash_seed(const void *memory)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = (uintptr_t)memory;
	return seed;
}

/* Mix a number so that each bit changes about half of the bits of the result. */
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

#define KT_FNV_BEGIN 0xcbf29ce484222325ULL /* the hash of no bytes */

/* Continue an FNV-1a hash. */
static inline uint64_t kt_fnv(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

#endif /* _KT_HASH_H */
