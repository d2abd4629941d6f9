// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the checksum: the vectors of RFC 3720, and every length, place and division of
 * random bytes against a computation bit by bit.  Both ways to compute it are tested.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "util/crc32c.h"

#define BYTES	   8192U
#define LENGTHS	   4200U /* longer than the parts that are computed together */
#define POLYNOMIAL 0x82f63b78U

typedef uint32_t checksum(uint32_t crc, const void *data, size_t len);

static checksum *const ways[] = { kt_crc32c, kt_crc32c_by_tables };
static uint8_t bytes[BYTES];

static uint32_t bit_by_bit(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (unsigned int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return ~crc;
}

static void known_vectors(void)
{
	uint8_t up[32], down[32], zeros[32] = { 0 }, ones[32];

	memset(ones, 0xff, sizeof(ones));
	for (unsigned int i = 0; i < 32; i++) {
		up[i] = (uint8_t)i;
		down[i] = (uint8_t)(31 - i);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		check_equal(ways[i](0, zeros, 32), 0x8a9136aa);
		check_equal(ways[i](0, ones, 32), 0x62a8ab43);
		check_equal(ways[i](0, up, 32), 0x46dd794e);
		check_equal(ways[i](0, down, 32), 0x113fdb5c);
		check_equal(ways[i](0, "123456789", 9), 0xe3069283);
		check_equal(ways[i](7, "", 0), 7);
	}
}

/* The checksum of each length is continued from that of the length before. */
static void every_length(void)
{
	for (size_t at = 0; at < 8; at++) {
		uint32_t wanted = 0;
		size_t wrong = 0;

		for (size_t len = 0; len <= LENGTHS; len++) {
			for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
				wrong += ways[i](0, bytes + at, len) != wanted;
			wanted = bit_by_bit(wanted, bytes + at + len, 1);
		}
		check_equal(wrong, 0);
	}
}

static void every_division(void)
{
	const uint32_t whole = bit_by_bit(0, bytes, BYTES);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		size_t wrong = 0;

		for (size_t at = 0; at <= BYTES; at++)
			wrong += ways[i](ways[i](0, bytes, at), bytes + at,
					 BYTES - at) != whole;
		check_equal(wrong, 0);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "vectors of RFC 3720", known_vectors },
		{ "every length at every place", every_length },
		{ "every division", every_division },
	};

	srand(1);
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (uint8_t)(rand() >> 7);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
