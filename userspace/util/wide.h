/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Products of 128 bits.  Compilers for 32-bit machines have no __int128, so there
 * the functions whose names end in _halves are used.
 */
#ifndef _KT_WIDE_H
#define _KT_WIDE_H

#include <stdint.h>

static inline uint64_t kt_mul_high_halves(uint64_t a, uint64_t b)
{
	const uint64_t a0 = (uint32_t)a, a1 = a >> 32;
	const uint64_t b0 = (uint32_t)b, b1 = b >> 32;
	const uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32);
	const uint64_t other = a0 * b1 + (uint32_t)middle;

	return a1 * b1 + (middle >> 32) + (other >> 32);
}

static inline uint64_t kt_mul_div_halves(uint64_t a, uint64_t b, uint64_t by)
{
	const uint64_t whole = a / by * b;
	uint64_t low = a % by * b, high = kt_mul_high_halves(a % by, b);
	uint64_t quotient = 0;

	/* @high is below @by, so the quotient has 64 bits. */
	for (int bit = 0; bit < 64; bit++) {
		const uint64_t carry = high >> 63;

		high = high << 1 | low >> 63;
		low <<= 1;
		quotient <<= 1;
		if (carry || high >= by) {
			high -= by;
			quotient |= 1;
		}
	}
	return whole + quotient;
}

/* Return the upper 64 bits of @a * @b. */
static inline uint64_t kt_mul_high(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)a * b >> 64);
#else
	return kt_mul_high_halves(a, b);
#endif
}

/* Return the lower 64 bits of @a * @b / @by. */
static inline uint64_t kt_mul_div(uint64_t a, uint64_t b, uint64_t by)
{
#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)a * b / by);
#else
	return kt_mul_div_halves(a, b, by);
#endif
}

#endif /* _KT_WIDE_H */
