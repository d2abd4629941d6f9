// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the ring natively.
 *
 *   native			nanoseconds by number of arguments: minimum and
 * 				10th percentile of floor, floor with cmpxchg,
 * 				ring
 *   native VARIANT NARGS N	write N events and do nothing else, for callgrind;
 * 				VARIANT: ring, floor, cmpxchg or nothing
 *
 * Time is measured by rdtsc around chunks of 4000 events. Rounds of the
 * variants alternate; printed are the minimum and the 10th percentile of all
 * chunks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "put.h"

#define BLOCK_SIZE (64UL << 10)
#define BLOCKS	   16
#define CHUNK	   4000
#define CHUNKS	   60
#define ROUNDS	   25

static struct kt_ring ring;
static struct kt_desc descs[BLOCKS];
static void *base[BLOCKS];

static void *aligned_memory(size_t size)
{
	void *p = aligned_alloc(4096, size);

	if (!p)
		exit(2);
	return memset(p, 0, size);
}

static void setup(void)
{
	struct kt_ring_config config = {
		.block_size = BLOCK_SIZE,
		.nr_blocks = BLOCKS,
		.mode = KTAPE_MODE_OVERWRITE,
		.page = aligned_memory(8192),
		.blocks = descs,
		.base = base,
		.ops = &put_ops,
	};
	int i;

	for (i = 0; i < BLOCKS; i++)
		base[i] = aligned_memory(BLOCK_SIZE);
	kt_ring_init(&ring, &config);
	/* A record may begin in the last bytes, and go on behind them. */
	floor_use(aligned_memory(BLOCK_SIZE * BLOCKS + 4096));
}

static noinline void put_events(put_t *put, unsigned int number)
{
	unsigned int i;

	for (i = 0; i < number; i++)
		put(&ring, i, i, i);
}

static u64 time_chunk(put_t *put)
{
	u64 from = kt_clock();

	put_events(put, CHUNK);
	return kt_clock() - from;
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

struct cost {
	double min, p10;
};

static struct cost cost_of_ticks(u64 *ticks, double ns)
{
	size_t number = (size_t)CHUNKS * ROUNDS;

	qsort(ticks, number, sizeof(*ticks), by_size);
	return (struct cost){
		.min = (double)ticks[0] / CHUNK * ns,
		.p10 = (double)ticks[number / 10] / CHUNK * ns,
	};
}

/* Nanoseconds per tick. */
static double ns_per_tick(void)
{
	struct timespec from, to;
	u64 begin, ns;

	clock_gettime(CLOCK_MONOTONIC_RAW, &from);
	begin = kt_clock();
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &to);
		ns = (u64)(to.tv_sec - from.tv_sec) * 1000000000 +
		     (u64)to.tv_nsec - (u64)from.tv_nsec;
	} while (ns < 100000000);
	return (double)ns / (double)(kt_clock() - begin);
}

static void measure_puts(unsigned int nargs, double ns)
{
	static u64 ticks[3][CHUNKS * ROUNDS];
	put_t *const puts[3] = {
		puts_floor[nargs],
		puts_cmpxchg[nargs],
		puts_ring[nargs],
	};
	struct cost c[3];
	int round, which, i;

	for (round = 0; round < ROUNDS; round++)
		for (which = 0; which < 3; which++)
			for (i = 0; i < CHUNKS; i++)
				ticks[which][round * CHUNKS + i] =
					time_chunk(puts[which]);
	for (which = 0; which < 3; which++)
		c[which] = cost_of_ticks(ticks[which], ns);
	printf("%u %.2f %.2f %.2f %.2f %.2f %.2f\n", nargs, c[0].min, c[0].p10,
	       c[1].min, c[1].p10, c[2].min, c[2].p10);
}

int main(int argc, char **argv)
{
	unsigned int nargs;

	setup();
	if (argc == 4) {
		nargs = (unsigned int)atoi(argv[2]) & 3;
		put_events(argv[1][0] == 'r' ? puts_ring[nargs] :
			   argv[1][0] == 'f' ? puts_floor[nargs] :
			   argv[1][0] == 'c' ? puts_cmpxchg[nargs] :
					       put_nothing,
			   (unsigned int)atoi(argv[3]));
		return 0;
	}
	for (nargs = 0; nargs < 4; nargs++)
		measure_puts(nargs, ns_per_tick());
	return 0;
}
