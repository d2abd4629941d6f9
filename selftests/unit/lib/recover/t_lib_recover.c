// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test recovering traces from intact and damaged memory under AddressSanitizer
 * and UBSan: intact blocks are recovered, damaged ones are not.
 */
#include "lcg.h"
#include "lib_image.h"
#include "tap.h"

/* Records of an intact ring of the image: 4 blocks, of which the last is open. */
#define WHOLE_FIRST   ((IMAGE_CLOSED + 1 - IMAGE_BLOCKS) * IMAGE_RECORDS)
#define WHOLE_LAST    (IMAGE_CLOSED * IMAGE_RECORDS + IMAGE_OPEN - 1)
#define WHOLE_RECORDS (WHOLE_LAST - WHOLE_FIRST + 1)

static struct image image;
static struct image_result res;
static uint64_t luck = 4711;

static void recover(void)
{
	ktape_recovered_release(&res.r);
	image_recover(image.data, image.size, &res);
}

static void make_image_again(void)
{
	image_free(&image);
	image_make(&image);
}

static struct ktape_ring_page *image_ring_page(unsigned int ring)
{
	return (void *)(image.data + image.rings[ring].page);
}

/* Return the block with number @seq of a ring. */
static uint8_t *block_of(unsigned int ring, uint64_t seq)
{
	return image.data + image.rings[ring].blocks +
	       (seq - 1) % IMAGE_BLOCKS * IMAGE_BLOCK;
}

static void test_recover_whole(void)
{
	unsigned int i;

	make_image_again();
	recover();
	check(res.found == 1 && res.ret == 0, "%d %d: %s", res.found, res.ret,
	      res.error.text);
	check_equal(res.begun, 1);
	check_equal(res.r.nr_rings, IMAGE_RINGS);
	check_equal(res.bad_packets + res.back + res.reported, 0);
	check_equal(res.r.names, 2);
	check_equal(res.r.names_discarded, 1);
	for (i = 0; i < IMAGE_RINGS; i++) {
		check_equal(res.r.rings[i].checked,
			    IMAGE_BLOCKS - 1 - IMAGE_UNCHECKED);
		check_equal(res.r.rings[i].unchecked, IMAGE_UNCHECKED);
		check_equal(res.r.rings[i].open, 1);
		check_equal(res.r.rings[i].discarded, 0);
		check_equal(res.r.rings[i].events, WHOLE_RECORDS);
		check_equal(res.first[i], WHOLE_FIRST);
		check_equal(res.last[i], WHOLE_LAST);
		check_equal(res.holes[i], 0);
	}
}

/* Data behind commit is ignored. */
static void test_commit(void)
{
	make_image_again();
	image_ring_page(0)->commit -= 2 * IMAGE_RECORD;
	recover();
	check_equal(res.ret, 0);
	check_equal(res.last[0], WHOLE_LAST - 2);
	check_equal(res.reported, 0);
}

static void test_floor(void)
{
	make_image_again();
	image_ring_page(0)->floor =
		4 * IMAGE_BLOCK + KTAPE_BLOCK_HEADER + 5 * IMAGE_RECORD;
	image_ring_page(1)->floor = image_ring_page(1)->commit;
	recover();
	check_equal(res.ret, 0);
	check_equal(res.first[0], 4 * IMAGE_RECORDS + 5);
	check_equal(res.last[0], WHOLE_LAST);
	check_equal(res.r.rings[0].events, WHOLE_LAST - res.first[0] + 1);
	check_equal(res.records[1], 0);
	check_equal(res.reported + res.bad_packets, 0);
}

/*
 * Set back the times of a block's records from @from on, and the block's end, by @by ticks, as
 * after a clock step back.
 */
static void set_back(uint8_t *b, unsigned int from, uint32_t by)
{
	struct ktape_block *h = (void *)b;
	uint32_t low;

	for (unsigned int i = from; i < IMAGE_RECORDS; i++) {
		memcpy(&low, b + KTAPE_BLOCK_HEADER + i * IMAGE_RECORD, 4);
		low -= by;
		memcpy(b + KTAPE_BLOCK_HEADER + i * IMAGE_RECORD, &low, 4);
	}
	h->ts_end -= by;
}

/*
 * The clock steps back by half the age of a block without a checksum, and the
 * next block begins before the clock has caught up: both are recovered, in
 * order.
 */
static void test_step(void)
{
	const uint64_t seq = IMAGE_CLOSED;
	struct ktape_block *next;

	make_image_again();
	check(IMAGE_UNCHECKED > 0, "every block has a checksum");
	set_back(block_of(0, seq), IMAGE_RECORDS / 4 * 3, IMAGE_RECORDS / 2);
	next = (void *)block_of(0, seq + 1);
	next->ts_begin -= IMAGE_RECORDS / 2;
	recover();
	check_equal(res.ret, 0);
	check_equal(res.reported + res.bad_packets + res.back, 0);
	check_equal(res.records[0], WHOLE_RECORDS);
	check_equal(res.holes[0], 0);
	check_equal(res.last[0], WHOLE_LAST);
}

/* Flip a bit in a block with a checksum: only that block is missing. */
static void test_recover_bits(void)
{
	const unsigned int len = KTAPE_BLOCK_HEADER + IMAGE_RECORDS * IMAGE_RECORD;
	unsigned int i;

	make_image_again();
	for (i = 0; i < 600; i++) {
		unsigned int ring = lcg_below(&luck, IMAGE_RINGS);
		/* Blocks 4 and 5 are left and have a checksum. */
		uint8_t *byte = block_of(ring, 4 + lcg_below(&luck, 2)) +
				lcg_below(&luck, len);
		uint8_t bit = (uint8_t)(1 << lcg_below(&luck, 8));

		*byte ^= bit;
		recover();
		*byte ^= bit;
		check_equal(res.ret, 0);
		check(res.records[ring] == WHOLE_RECORDS - IMAGE_RECORDS,
		      "ring %u has %llu records", ring,
		      (unsigned long long)res.records[ring]);
		check_equal(res.r.rings[ring].discarded, 1);
		check_equal(res.reported, 1);
		ring = (ring + 1) % IMAGE_RINGS;
		check_equal(res.records[ring], WHOLE_RECORDS);
	}
}

/* A partially written checksum counts as none. */
static void test_torn_check(void)
{
	struct ktape_persist_check *checks;

	make_image_again();
	checks = (void *)(image.data + image.rings[0].checks);
	checks[3].crc32c ^= 1;
	recover();
	check_equal(res.records[0], WHOLE_RECORDS);
	check_equal(res.r.rings[0].unchecked, IMAGE_UNCHECKED + 1);
	check_equal(res.reported, 0);
}

/* Without a checksum a block is recovered up to the first malformed record. */
static void test_unsound_record(void)
{
	const unsigned int at = KTAPE_BLOCK_HEADER + 3 * IMAGE_RECORD + 4;

	make_image_again();
	block_of(0, IMAGE_CLOSED)[at] = 0;	      /* no opcode */
	block_of(2, IMAGE_CLOSED + 1)[at + 3] = 0xff; /* too long */
	recover();
	check_equal(res.ret, 0);
	check_equal(res.records[0], WHOLE_RECORDS - (IMAGE_RECORDS - 3));
	check_equal(res.r.rings[0].cut, 1);
	check_equal(res.last[2], IMAGE_CLOSED * IMAGE_RECORDS + 2);
	check_equal(res.r.rings[2].cut, 1);
	check_equal(res.reported, 2);
	check_equal(res.bad_packets + res.back, 0);
}

/* Impossible positions: blocks with a checksum are recovered, in order. */
static void test_positions(void)
{
	static const uint64_t bad[] = { 7, 1ULL << 40, UINT64_MAX, 0 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make_image_again();
		image_ring_page(0)->commit = bad[i];
		recover();
		check_equal(res.ret, 0);
		check(res.first[0] == WHOLE_FIRST, "%u", i);
		check_equal(res.last[0], WHOLE_FIRST + 2 * IMAGE_RECORDS - 1);
		check_equal(res.records[0], 2 * IMAGE_RECORDS);
		check_equal(res.records[1], WHOLE_RECORDS);
		check(res.reported == 1, "%u", i);
	}
	make_image_again();
	image_ring_page(0)->tail += 8;
	recover();
	check_equal(res.records[0], 2 * IMAGE_RECORDS);
}

/*
 * A 32-bit kernel has two words for each position, three bits of which are in both.
 * @base: added to all positions of ring 0, whose blocks are written there.  @floor: its floor.
 */
static void pos32_from(uint64_t base, uint64_t floor)
{
	struct ktape_persist_ring *d;
	uint64_t commit, tail;
	unsigned int i;

	make_image_again();
	d = &image.rings[0];
	image.super->pos_bits = 32;
	image_seal(&image);
	memset(image.data + d->checks, 0, IMAGE_PAGE);
	for (i = 0; i < IMAGE_CLOSED + 1; i++) {
		/* base is as far from the start of a ring as block 3 */
		uint8_t *b =
			image.data + d->blocks +
			(base + i * IMAGE_BLOCK) % (IMAGE_BLOCKS * IMAGE_BLOCK);
		struct ktape_block *head = (void *)b;

		image_block(b, d, i + 1,
			    i < IMAGE_CLOSED ? IMAGE_RECORDS : IMAGE_OPEN,
			    i < IMAGE_CLOSED);
		head->seq = (base + i * IMAGE_BLOCK) / IMAGE_BLOCK + 1;
	}
	commit = base + image_ring_page(0)->commit;
	tail = base + image_ring_page(0)->tail;
	/* The upper word is that of the block that was opened last. */
	image_ring_page(0)->commit =
		(base + IMAGE_CLOSED * IMAGE_BLOCK) >> 29 << 32 | (uint32_t)commit;
	image_ring_page(0)->tail = (uint32_t)tail;
	image_ring_page(0)->floor = floor >> 29 << 32 | (uint32_t)floor;
	recover();
	check_equal(res.ret, 0);
	check_equal(res.reported + res.back + res.bad_packets, 0);
	check_equal(res.records[0], WHOLE_RECORDS);
	check_equal(res.holes[0], 0);
}

static void test_pos32(void)
{
	const uint64_t step = 1ULL << 29;
	uint64_t n;

	for (n = 1; n < 20; n++) {
		pos32_from(n * step - 5 * IMAGE_BLOCK, 0);
		/* Only the lower word of this floor is in the range. */
		pos32_from(n * step - 5 * IMAGE_BLOCK, n > 8 ? (n - 8) * step : 0);
	}
}

static void test_second_superblock(void)
{
	make_image_again();
	memset(image.data, 0xff, IMAGE_PAGE);
	recover();
	check(res.found == 1 && !res.ret, "%d %d", res.found, res.ret);
	check_equal(res.records[3], WHOLE_RECORDS);
	memset(image.data + image.size - IMAGE_PAGE, 0, IMAGE_PAGE);
	recover();
	check_equal(res.found, 0);
}

/* Memory that another version laid out is reported, and nothing of it is read. */
static void test_version(void)
{
	for (int other = -1; other <= 1; other += 2) {
		make_image_again();
		image.super->version = (uint32_t)(KTAPE_PERSIST_VERSION + other);
		image_seal(&image);
		recover();
		check_equal(res.found, 0);
		/* Each of the two superblocks. */
		check_equal(res.reported, 2);
		check(!strcmp(res.last_reported.text,
			      "a superblock has an unknown version"),
		      "%s", res.last_reported.text);
	}
}

static void test_recover_metadata(void)
{
	make_image_again();
	image.data[image.super->metadata + 100] ^= 1;
	recover();
	check_equal(res.ret, 0);
	check(res.r.metadata_made, "damaged metadata was used");
	check_equal(res.records[0], WHOLE_RECORDS);
	check(!strcmp(res.r.info.clock, "mono"), "%s", res.r.info.clock);
	check_equal(res.r.info.freq, image_info.freq);
	image.super->table_hash++;
	image_seal(&image);
	recover();
	check_equal(res.ret, (unsigned long long)-EBADMSG);
}

/* A trace that cannot be recovered must not replace an existing one. */
static void test_recover_ring_table(void)
{
	make_image_again();
	image.rings[1].cpu ^= 1;
	recover();
	check_equal(res.found, 1);
	check_equal(res.ret, (unsigned long long)-EBADMSG);
	check(strstr(res.error.text, "table of rings"), "%s", res.error.text);
	check_equal(res.begun, 0);
}

/* Rings that share their blocks: the work is limited by the size of the memory. */
static void test_overlap(void)
{
	unsigned int many;

	make_image_again();
	for (unsigned int i = 1; i < IMAGE_RINGS; i++) {
		image.rings[i].blocks = image.rings[0].blocks;
		image.rings[i].page = image.rings[0].page;
		image.rings[i].checks = image.rings[0].checks;
	}
	for (many = 1; (uint64_t)many * 2 * IMAGE_BLOCKS * IMAGE_BLOCK <= image.size;
	     many *= 2)
		;
	for (unsigned int i = 0; i < IMAGE_RINGS; i++)
		image.rings[i].nr_blocks = many * IMAGE_BLOCKS;
	/* The blocks of the first one begin earlier: its page and checks are among them. */
	image.rings[0].blocks = image.rings[0].page;
	image_seal(&image);
	recover();
	check_equal(res.ret, 0);
	check(res.reported >= IMAGE_RINGS - 1, "only %u packets are left out",
	      res.reported);
	check(res.r.nr_rings < 2, "%u rings", res.r.nr_rings);
}

static void test_no_names(void)
{
	make_image_again();
	image.super->registry_entries = 0;
	image_seal(&image);
	recover();
	check_equal(res.ret, 0);
	check_equal(res.r.names, 0);
	check_equal(res.records[0], WHOLE_RECORDS);
}

/* The region in a larger file, behind garbage, and truncated at its end. */
static void test_image_file(void)
{
	const size_t front = 3 * IMAGE_PAGE, all = 6 * IMAGE_PAGE + image.size;
	uint8_t *file = malloc(all);
	size_t i;

	check(file, "no memory");
	make_image_again();
	for (i = 0; i < all; i++)
		file[i] = (uint8_t)lcg_below(&luck, 256);
	memcpy(file + front, image.data, image.size);
	ktape_recovered_release(&res.r);
	image_recover(file, all, &res);
	check(res.found == 1 && !res.ret, "%d %d", res.found, res.ret);
	check_equal(res.records[0], WHOLE_RECORDS);
	for (i = 0; i <= image.size; i += 512) {
		ktape_recovered_release(&res.r);
		image_recover(file, front + i, &res);
		check_equal(res.bad_packets + res.back, 0);
	}
	free(file);
}

/* Random changes, with valid checksums in the superblocks. */
static void test_random(void)
{
	unsigned int i, n, good = 0;

	for (i = 0; i < 1500; i++) {
		make_image_again();
		for (n = lcg_below(&luck, 40) + 1; n; n--) {
			size_t at =
				i & 1 ? lcg_below(&luck, (uint32_t)image.size) :
				i & 2 ? lcg_below(&luck, sizeof(*image.super)) :
					image.super->rings % image.size +
						lcg_below(&luck,
							  sizeof(*image.rings) * 4);

			image.data[at % image.size] =
				(uint8_t)lcg_below(&luck, 256);
		}
		if (lcg_below(&luck, 8)) {
			image.super->magic = KTAPE_PERSIST_MAGIC;
			image.super->version = KTAPE_PERSIST_VERSION;
			if (image.super->size > image.size)
				image.super->size = image.size;
			image_seal(&image);
		}
		recover();
		check_equal(res.back, 0);
		/* Packets are read as those of the image's UUID, which may have been changed. */
		check(!res.bad_packets ||
			      memcmp(image.super->uuid, image_info.uuid, 16),
		      "%u packets cannot be read", res.bad_packets);
		good += !res.ret;
	}
	check(good > 150, "only %u of %u", good, i);
	tap_note("%u of %u had a trace", good, i);
}

static const struct tap_test tests[] = {
	{ "an intact image is recovered completely", test_recover_whole },
	{ "data behind commit is ignored", test_commit },
	{ "a clock that stepped back within a block", test_step },
	{ "cleared data is not recovered", test_floor },
	{ "a flipped bit costs its block only", test_recover_bits },
	{ "a partial checksum counts as none", test_torn_check },
	{ "a malformed record ends its block", test_unsound_record },
	{ "impossible positions", test_positions },
	{ "positions of 32 bits that wrap", test_pos32 },
	{ "the second superblock is used if the first is damaged",
	  test_second_superblock },
	{ "an image of another version", test_version },
	{ "damaged metadata is created anew", test_recover_metadata },
	{ "an image in a larger file, and a truncated one", test_image_file },
	{ "a damaged table of rings replaces nothing", test_recover_ring_table },
	{ "rings that share their blocks", test_overlap },
	{ "no room for names", test_no_names },
	{ "random damage with valid checksums", test_random },
};

int main(int argc, char **argv)
{
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
