// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test how records of a block are counted: as by reading one record after the other, for
 * random records, cut off at every byte, and for random bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/packet.h"
#include "tap.h"

#define ROUNDS		400
#define BYTES		1024U
#define BLOB_MAX	64U

static uint8_t block[BYTES + 64];	/* the last record may begin at the end */

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

/* Fill the block with records: any arguments, a time extension or a blob now and then. */
static void fill_block(void)
{
	uint64_t at = 0;

	memset(block, 0xff, sizeof(block));
	while (at + 8 <= BYTES) {
		uint64_t nargs = any(8), blob = !any(4);
		uint64_t opcode = any(5) ? 1 + any(100) : KTAPE_TIME_EXTEND;
		uint64_t args = at + 8 + nargs * 4;

		kt_set64(block + at, nargs << KTAPE_NARGS_SHIFT |
				     blob << KTAPE_P_SHIFT |
				     opcode << KTAPE_OPCODE_SHIFT | (uint32_t)rand());
		if (blob)
			kt_set32(block + args, any(BLOB_MAX));
		at += kt_record_length(block + at, kt_get64(block + at),
				       BYTES + BLOB_MAX * 2);
	}
}

static void random_records(void)
{
	uint64_t wrong = 0, most = 0;

	for (int i = 0; i < ROUNDS; i++) {
		fill_block();
		for (uint64_t to = 0; to <= BYTES; to += 8) {
			uint64_t nr = one_by_one(0, to);

			wrong += kt_records_count(block, 0, to) != nr;
			most = kt_max(most, nr);
		}
	}
	check_equal(wrong, 0);
	check(most > 20, "a block has many records");
}

static void random_bytes(void)
{
	uint64_t wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		for (size_t j = 0; j < BYTES; j++)
			block[j] = (uint8_t)(rand() >> 7);
		for (uint64_t from = 0; from < 64; from += 8)
			for (uint64_t to = from; to <= BYTES; to += 8)
				wrong += kt_records_count(block, from, to) !=
					 one_by_one(from, to);
	}
	check_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "records cut off anywhere", random_records },
		{ "random bytes", random_bytes },
	};

	srand(1);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
