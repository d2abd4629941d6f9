/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Access to unaligned memory, little-endian unless told otherwise, and small helpers. */
#ifndef _KT_BITS_H
#define _KT_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define KT_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Keep a rare path out of line, so that it does not enlarge the caller's frame. */
#define KT_NOINLINE __attribute__((noinline))

static inline uint32_t kt_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t kt_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Numbers of other machines: @big is the order of their bytes. */
static inline uint16_t kt_load16(const void *p, bool big)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be16toh(v) : le16toh(v);
}

static inline uint32_t kt_load32(const void *p, bool big)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be32toh(v) : le32toh(v);
}

static inline uint64_t kt_load64(const void *p, bool big)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return big ? be64toh(v) : le64toh(v);
}

static inline void kt_set32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void kt_set64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint64_t kt_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t kt_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * An error, for example, is a negative number, of which these two make a very large one.  So
 * a variable with a sign is refused, also one that cannot be negative.  Constants may have one.
 * Only gcc knows which calls are left when it has optimised.
 */
#if defined(__OPTIMIZE__) && !defined(__clang__)
void kt_compared_with_sign(void)
	__attribute__((error("kt_min() and kt_max() are for numbers without sign")));

#define KT_HAS_SIGN(x)                                           \
	(!__builtin_constant_p(x) && sizeof(x) >= sizeof(int) && \
	 (__typeof__(x))-1 < 1)
#define KT_UNSIGNED_ONLY(call, a, b)                  \
	({                                            \
		if (KT_HAS_SIGN(a) || KT_HAS_SIGN(b)) \
			kt_compared_with_sign();      \
		call(a, b);                           \
	})
#define kt_min(a, b) KT_UNSIGNED_ONLY(kt_min, a, b)
#define kt_max(a, b) KT_UNSIGNED_ONLY(kt_max, a, b)
#endif

/* Round up to a multiple of @to, a power of two. */
static inline uint64_t kt_align(uint64_t v, uint64_t to)
{
	return (v + to - 1) & ~(to - 1);
}

static inline int kt_mask_has(const uint64_t *mask, unsigned int bit)
{
	return mask[bit >> 6] >> (bit & 63) & 1;
}

static inline void kt_mask_add(uint64_t *mask, unsigned int bit)
{
	mask[bit >> 6] |= 1ULL << (bit & 63);
}

static inline void kt_mask_remove(uint64_t *mask, unsigned int bit)
{
	mask[bit / 64] &= ~(1ULL << bit % 64);
}

#endif /* _KT_BITS_H */
