// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test a ring of 1 GiB, the largest of a 32-bit kernel, over several laps, so that its
 * positions exceed 32 bits.  Blocks are closed after a few records: memory is only taken
 * where something is written.
 */
#include <sys/mman.h>

#include "reader.h"
#include "tap.h"

#define BLOCK_SIZE (1UL << 20)
#define BLOCKS	   1024U
#define SIZE	   (BLOCK_SIZE * BLOCKS)
#define LAPS	   5
#define A_BLOCK	   3 /* records in each block */
#define RECORD_MAX 64

static struct rig rig;
static struct reader reader;

static void begin_large_ring(unsigned int mode, unsigned long start)
{
	const struct kt_ring_config config = {
		.block_size = BLOCK_SIZE,
		.nr_blocks = BLOCKS,
		.mode = mode,
		.cpu = 3,
		.kind = KTAPE_RING_EVENT,
		.start = start,
		.page = rig.page,
		.blocks = rig.blocks,
		.base = rig.base,
		.ops = rig.ring.ops,
		.owner = &rig,
	};

	kt_shim_time = 1000;
	memset(rig.page, 0, sizeof(*rig.page));
	memset(rig.blocks, 0, BLOCKS * sizeof(*rig.blocks));
	memset(rig.seq, 0, sizeof(rig.seq));
	memset(&rig.ring, 0, sizeof(rig.ring));
	kt_ring_init(&rig.ring, &config);
	reader_start(&reader, &rig);
}

/* Write blocks with few records.  Return: how many could be closed. */
static unsigned int emit_blocks(unsigned int number)
{
	unsigned int i, k;

	for (i = 0; i < number; i++) {
		for (k = 0; k < A_BLOCK; k++) {
			kt_shim_time++;
			rig_emit(&rig, 0, 1);
		}
		if (kt_ring_flush(&rig.ring))
			return i;
	}
	return i;
}

static void poll_ring(void)
{
	check(reader_poll(&reader), "%s", reader.error);
}

/* A reader that keeps up gets every record, at positions above 2^32, too. */
static void test_followed(void)
{
	unsigned int i;

	begin_large_ring(KTAPE_MODE_OVERWRITE, 0);
	for (i = 0; i < LAPS * BLOCKS && !tap_why[0]; i += 64) {
		check_equal(emit_blocks(64), 64);
		poll_ring();
	}
	check_equal(reader.records, (u64)LAPS * BLOCKS * A_BLOCK);
	check_equal(reader.missing, 0);
	check_equal(kt_ring_commit(&rig.ring) / SIZE, LAPS);
	check_equal(reader.position, kt_ring_commit(&rig.ring));
	check_equal(rig_lost(&rig), 0);
}

/* A reader that comes after laps gets the last ring of them. */
static void test_large_overwritten(void)
{
	begin_large_ring(KTAPE_MODE_OVERWRITE, 0);
	check_equal(emit_blocks(LAPS * BLOCKS), LAPS * BLOCKS);
	poll_ring();
	/* One block is open, and the one that it took the memory of is gone. */
	check_equal(reader.records, (u64)(BLOCKS - 1) * A_BLOCK);
	check_equal(reader.position, kt_ring_commit(&rig.ring));
	check_equal(kt_ring_tail(&rig.ring),
		    kt_ring_commit(&rig.ring) / BLOCK_SIZE * BLOCK_SIZE - SIZE +
			    BLOCK_SIZE);
}

/*
 * A full ring takes no more, and takes a whole ring again when it was read.  It
 * begins so that this happens across 2^31 and 2^32.
 */
static void test_large_full(void)
{
	unsigned int lap;

	begin_large_ring(KTAPE_MODE_DISCARD, SIZE);
	for (lap = 0; lap < LAPS && !tap_why[0]; lap++) {
		u64 lost = rig_lost(&rig), used;

		/* The last block stays open until it is full. */
		check_equal(emit_blocks(BLOCKS), BLOCKS - 1);
		while (rig_lost(&rig) == lost)
			rig_emit(&rig, 0, 1);
		used = kt_ring_commit(&rig.ring) - rig.page->consumer;
		check(used <= SIZE && used > SIZE - RECORD_MAX,
		      "%llu bytes are in use", (unsigned long long)used);
		poll_ring();
		rig.page->consumer = reader.position & ~((u64)BLOCK_SIZE - 1);
	}
	check_equal(reader.records + rig_lost(&rig), rig_written(&rig));
	check(kt_ring_commit(&rig.ring) > 1ULL << 32, "ended below 2^32");
}

static const struct tap_test tests[] = {
	{ "followed over 2^32", test_followed },
	{ "overwritten", test_large_overwritten },
	{ "full and read", test_large_full },
};

int main(int argc, char **argv)
{
	unsigned char *arena = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);
	unsigned int i;

	if (arena == MAP_FAILED) {
		puts("1..0 # SKIP no 1 GiB of addresses");
		return 0;
	}
	/* The rest of the rig; its small blocks are replaced. */
	rig_make(&rig, 4096, BLOCKS, KTAPE_MODE_OVERWRITE, 0);
	rig.block_size = BLOCK_SIZE;
	for (i = 0; i < BLOCKS; i++)
		rig.base[i] = arena + i * BLOCK_SIZE;
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
