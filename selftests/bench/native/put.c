// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured functions, compiled like the module: the ring; the floor (the
 * least that any recorder does: read the position and the clock, store the
 * record, store the position); the floor with cmpxchg instead of a store to
 * reserve, the least that tolerates interrupts; and a function that does
 * nothing.
 */
#include "put.h"

#define FLOOR_SIZE (1UL << 20) /* as the ring of native.c */

static struct {
	unsigned long position;
	unsigned char *base;
	unsigned long mask;
} floor_ring ____cacheline_aligned = { .mask = FLOOR_SIZE - 1 };

/* Use @memory, which has FLOOR_SIZE bytes and room for the rest of a record that begins there. */
void floor_use(void *memory)
{
	floor_ring.base = memory;
}

static __always_inline void floor_put(u32 code, const unsigned int nargs,
				      u32 a0, u32 a1, u32 a2, const bool reserve)
{
	unsigned long w = READ_ONCE(floor_ring.position);
	unsigned long end = w + KTAPE_RECORD_SIZE(nargs);
	u64 ts = kt_clock();
	u32 *p = (u32 *)(floor_ring.base + (w & floor_ring.mask));

	/* Nothing nests here. */
	if (reserve && !kt_try_cmpxchg_local(&floor_ring.position, &w, end))
		__builtin_trap();

	p[0] = (u32)ts;
	p[1] = code;
	if (nargs > 0) {
		p[2] = a0;
		p[3] = nargs > 1 ? a1 : 0;
	}
	if (nargs > 2) {
		p[4] = a2;
		p[5] = 0;
	}
	barrier();
	if (!reserve)
		WRITE_ONCE(floor_ring.position, end);
}

/* Opcode 32 is sched_switch, of class 3; dat20 is any number. */
#define PUT(n)                                                                     \
	static noinline void floor##n(struct kt_ring *r, u32 a0, u32 a1, u32 a2)   \
	{                                                                          \
		(void)r;                                                           \
		floor_put(KT_CODE(32, 5, 0, n), n, a0, a1, a2, false);             \
	}                                                                          \
	static noinline void cmpxchg##n(struct kt_ring *r, u32 a0, u32 a1, u32 a2) \
	{                                                                          \
		(void)r;                                                           \
		floor_put(KT_CODE(32, 5, 0, n), n, a0, a1, a2, true);              \
	}                                                                          \
	static noinline void ring##n(struct kt_ring *r, u32 a0, u32 a1, u32 a2)    \
	{                                                                          \
		kt_ring_put(r, KT_CODE(32, 5, 0, n), 3, n, (n) > 0 ? a0 : 0,       \
			    (n) > 1 ? a1 : 0, (n) > 2 ? a2 : 0);                   \
	}

PUT(0)
PUT(1)
PUT(2)
PUT(3)

static noinline void put_no_record(struct kt_ring *r, u32 a0, u32 a1, u32 a2)
{
	(void)r;
	(void)a0;
	(void)a1;
	(void)a2;
	barrier();
}

put_t *const puts_ring[4] = { ring0, ring1, ring2, ring3 };
put_t *const puts_floor[4] = { floor0, floor1, floor2, floor3 };
put_t *const puts_cmpxchg[4] = { cmpxchg0, cmpxchg1, cmpxchg2, cmpxchg3 };
put_t *const put_nothing = put_no_record;

/*
 * What the ring asks of its owner.  The module fills the thread and the time of another clock into
 * the header of a block, wakes readers and reports steps of the clock; here no one reads, and
 * a header is made once in thousands of records.
 */
static void put_opening(struct kt_ring *r, struct ktape_block *block,
			const struct kt_record *rec)
{
	(void)r;
	(void)rec;
	block->sync_clock = block->ts_begin;
}

static void put_opened(struct kt_ring *r, u64 since)
{
	(void)r;
	(void)since;
}

void kt_clock_stepped_back(u64 latest)
{
	(void)latest;
}

static void put_filled(struct kt_ring *r)
{
	(void)r;
}

static void put_parked(struct kt_ring *r, const struct kt_record *rec)
{
	(void)r;
	(void)rec;
}

const struct kt_ring_ops put_ops = {
	.opening = put_opening,
	.opened = put_opened,
	.filled = put_filled,
	.parked = put_parked,
};
