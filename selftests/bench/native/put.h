/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PUT_H
#define _PUT_H

/*
 * The shim's clock comes in one piece; what the module runs on x86 is rdtsc in
 * the halves in which it delivers (kt_get_cycles_halves() in compat.h).
 */
#define kt_clock_halves kt_clock_halves_of_shim
#include "ring/clock.h"
#undef kt_clock_halves

static __always_inline void kt_clock_halves(u32 *lo, u32 *hi,
					    const bool by_call)
{
	(void)by_call;
	__asm__ __volatile__("rdtsc" : "=a" (*lo), "=d" (*hi));
}

#include "ring/ring.h"

typedef void put_t(struct kt_ring *r, u32 a0, u32 a1, u32 a2);

extern put_t *const puts_ring[4];
extern put_t *const puts_floor[4];
extern put_t *const puts_cmpxchg[4];
extern put_t *const put_nothing;

void floor_use(void *memory);

#endif /* _PUT_H */
