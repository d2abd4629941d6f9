// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test how records of a block are counted, with the CPU's vectors and without: as by reading
 * one record after the other, for random records, cut off anywhere, and for random bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/packet.h"
#include "tap.h"

#define ROUNDS	 400
#define BYTES	 2048U
#define BLOB_MAX 64U

static uint8_t block[BYTES + 64]; /* the last record may begin at the end */

static uint32_t any(uint32_t below)
{
	return (uint32_t)rand() % below;
}

/* One record after the other. */
static uint64_t one_by_one(uint64_t from, uint64_t to)
{
	uint64_t nr = 0, len;

	for (; from < to; from += len) {
		uint64_t word = kt_get64(block + from);

		len = kt_record_length(block + from, word, to - from);
		if (!len)
			break;
		nr += (word >> KTAPE_OPCODE_SHIFT & 0xff) != KTAPE_TIME_EXTEND;
	}
	return nr;
}

/* Count with both functions.  Return: the number of wrong counts. */
static unsigned int miscounted(uint64_t from, uint64_t to, uint64_t nr)
{
	return (kt_records_count(block, from, to) != nr) +
	       (kt_records_count_by_steps(block, from, to) != nr);
}

/*
 * Fill the block with records: any arguments, a time extension and a blob in one of
 * @special records each.  What is no record may look like a special one.
 */
static void fill_random_block(uint32_t special)
{
	uint64_t at = 0;

	memset(block, 0xff, sizeof(block));
	while (at + 8 <= BYTES) {
		uint64_t nargs = any(8), blob = !any(special);
		uint64_t opcode = any(special) ? 1 + any(254) : KTAPE_TIME_EXTEND;
		uint64_t args = at + 8 + nargs * 4;

		kt_set64(block + at,
			 nargs << KTAPE_NARGS_SHIFT | blob << KTAPE_P_SHIFT |
				 opcode << KTAPE_OPCODE_SHIFT | (uint32_t)rand());
		if (blob)
			kt_set32(block + args, any(BLOB_MAX));
		/* The last record may reach beyond the block. */
		at += kt_record_length(block + at, kt_get64(block + at),
				       BYTES + BLOB_MAX * 2);
	}
}

static void random_records(void)
{
	static const uint32_t special[] = { 4, 20, 100, UINT32_MAX };
	uint64_t wrong = 0, most = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		fill_random_block(special[i % ARRAY_SIZE(special)]);
		for (uint64_t to = 0; to <= BYTES; to += 8) {
			uint64_t nr = one_by_one(0, to);

			wrong += miscounted(0, to, nr);
			most = kt_max(most, nr);
		}
	}
	check_equal(wrong, 0);
	check(most > 80, "a block has many records");
}

/*
 * A record of each length at each place of the first 1024 bytes, between the shortest ones.  It
 * covers some of those, which are not counted then.
 */
static void one_record(void)
{
	uint64_t wrong = 0;

	for (uint64_t nargs = 0; nargs < 8; nargs++)
		for (uint64_t at = 0; at < 1024; at += 8) {
			uint64_t nr = (BYTES - (nargs + 1) / 2 * 8) / 8;

			for (uint64_t i = 0; i < BYTES; i += 8)
				kt_set64(block + i, 1ULL << KTAPE_OPCODE_SHIFT);
			kt_set64(block + at, nargs << KTAPE_NARGS_SHIFT |
						     1ULL << KTAPE_OPCODE_SHIFT);
			wrong += miscounted(0, BYTES, nr);
		}
	check_equal(wrong, 0);
}

static void random_bytes(void)
{
	uint64_t wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		for (size_t j = 0; j < BYTES; j++)
			block[j] = (uint8_t)(rand() >> 7);
		for (uint64_t from = 0; from < 64; from += 8)
			for (uint64_t to = from; to <= BYTES; to += 8)
				wrong += miscounted(from, to, one_by_one(from, to));
	}
	check_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "records cut off anywhere", random_records },
		{ "one record of each length anywhere", one_record },
		{ "random bytes", random_bytes },
	};

	srand(1);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
