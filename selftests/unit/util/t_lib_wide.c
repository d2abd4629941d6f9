// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test what 32-bit machines do with 64 bits.  128-bit products: against known
 * results, and against __int128 where the compiler has it.  Values of control
 * pages: as 64-bit and as 32-bit kernels store them.
 */
#include <stdint.h>

#include "lcg.h"
#include "tap.h"
#include "util/wide.h"
#include "util/words.h"

static const uint64_t edges[] = {
	1,
	2,
	3,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x100000001,
	999999999,
	1000000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xfffffffeffffffff,
	0xffffffff00000000,
	0xfffffffffffffffe,
	0xffffffffffffffff,
	0,
};

static const struct {
	uint64_t a, b, by;
	uint64_t high;	   /* of a * b */
	uint64_t quotient; /* of a * b / by, its lower half */
} known[] = {
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX },
	{ UINT64_MAX, UINT64_MAX, 1, UINT64_MAX - 1, 1 },
	{ 1ULL << 63, 2, 4, 1, 1ULL << 62 },
	{ 1ULL << 32, 1ULL << 32, 1ULL << 33, 1, 1ULL << 31 },
	{ 999, 1000, 7, 0, 142714 },
};

static void known_results(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		check_equal(kt_mul_high_halves(known[i].a, known[i].b),
			    known[i].high);
		check_equal(kt_mul_div_halves(known[i].a, known[i].b, known[i].by),
			    known[i].quotient);
	}
}

#ifdef __SIZEOF_INT128__

static void compare_halves(uint64_t a, uint64_t b, uint64_t by)
{
	check_equal(kt_mul_high_halves(a, b), kt_mul_high(a, b));
	if (by)
		check_equal(kt_mul_div_halves(a, b, by), kt_mul_div(a, b, by));
}

static void edges_as_int128(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		for (size_t j = 0; j < ARRAY_SIZE(edges); j++)
			for (size_t k = 0; k < ARRAY_SIZE(edges); k++)
				compare_halves(edges[i], edges[j], edges[k]);
}

/* Numbers of all lengths. */
static void random_as_int128(void)
{
	uint64_t seed = 1, v[3];

	for (int i = 0; i < 300000; i++) {
		for (int j = 0; j < 3; j++) {
			v[j] = lcg_next64(&seed);
			v[j] >>= lcg_below(&seed, 64);
		}
		compare_halves(v[0], v[1], v[2]);
	}
}

#else

static void edges_as_int128(void)
{
	tap_skip("the compiler has no __int128");
}

static void random_as_int128(void)
{
	tap_skip("the compiler has no __int128");
}

#endif

/* commit and tail are up to a ring of 1 GiB apart. */
static void positions_in_halves(void)
{
	const uint64_t ring = 1ULL << 30, step = ring / 4;

	for (uint64_t at = 0; at < 9ULL << 30; at += step) {
		for (uint64_t back = 0; back <= ring && back <= at; back += step) {
			__u64 commit = at, tail = at - back;
			__u64 commit32 = at >> 29 << 32 | (uint32_t)at;
			__u64 tail32 = (uint32_t)tail;

			check_equal(kt_wide_load_halves(&commit, &commit, false),
				    at);
			check_equal(kt_wide_load_halves(&tail, &commit, false),
				    tail);
			check_equal(kt_wide_load_halves(&commit32, &commit32, true),
				    at);
			check_equal(kt_wide_load_halves(&tail32, &commit32, true),
				    tail);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "products of known size", known_results },
		{ "edges as with __int128", edges_as_int128 },
		{ "random numbers as with __int128", random_as_int128 },
		{ "positions in halves", positions_in_halves },
	};

	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
