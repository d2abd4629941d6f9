// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Count the records of a block.
 *
 * A recorder counts every record that it writes, because the kernel's counters are those of the
 * whole ring, and not of the records in the file.  The place of a record follows from the length
 * of the one before it, so walking over them waits for a load at each record.  With AVX2 each
 * word of a window is treated as the begin of a record, all at once.  Doubling then finds how
 * many records follow each other from each word on.
 *
 * A record is special here if it has a blob, whose length is in another word, or if it is a time
 * extension, which is not counted.  Special records are taken one by one.
 */
#include "stream/packet.h"

/* Bytes of the longest record without a blob. */
#define PLAIN_MAX 40U

/* Plain records to be walked behind a special one before windows are tried again. */
#define CALM 16U

_Static_assert(PLAIN_MAX == 8 + (UINT64_MAX >> KTAPE_NARGS_SHIFT) * 4 + 4,
	       "PLAIN_MAX has room for all arguments");

/* The second half of a record's first word: P and opcode decide whether it is special. */
#define HALF_P	    (1U << (KTAPE_P_SHIFT - 32))
#define HALF_OPCODE (0xffU << (KTAPE_OPCODE_SHIFT - 32))

_Static_assert(HALF_OPCODE == KTAPE_TIME_EXTEND && HALF_P > HALF_OPCODE,
	       "a special record has a masked half of KTAPE_TIME_EXTEND or more");

/*
 * Walk over plain records, at most @most, up to the first special one or one that may be
 * cut off.  Return: their number; @from is set to the offset behind.
 */
static uint64_t walk_plain(const uint8_t *data, uint64_t *from, uint64_t to,
			   uint64_t most)
{
	const uint8_t *at = data + *from, *last = data + to - PLAIN_MAX;
	uint64_t nr = 0;

	for (; nr < most && at <= last; nr++) {
		uint64_t half = kt_get32(at + 4);

		if ((half & (HALF_P | HALF_OPCODE)) >= KTAPE_TIME_EXTEND)
			break;
		/* Two arguments are a word of eight bytes, as is one. */
		half += 1ULL << (KTAPE_NARGS_SHIFT - 32);
		at += 8 + (half >> (KTAPE_NARGS_SHIFT - 31)) * 8;
	}
	*from = (uint64_t)(at - data);
	return nr;
}

/* Take one record of any kind.  Return: false if it is cut off. */
static bool take_one(const uint8_t *data, uint64_t *from, uint64_t to, uint64_t *nr)
{
	uint64_t word = kt_get64(data + *from);
	uint64_t len = kt_record_length(data + *from, word, to - *from);

	*nr += len && (uint8_t)(word >> KTAPE_OPCODE_SHIFT) != KTAPE_TIME_EXTEND;
	*from += len;
	return len;
}

/**
 * kt_records_count_by_steps() - count as CPUs without AVX2 do
 * @data: the block
 * @from: offset of the first record
 * @to: offset behind the last one
 *
 * Return: as kt_records_count().
 */
uint64_t kt_records_count_by_steps(const uint8_t *data, uint64_t from, uint64_t to)
{
	uint64_t nr = 0;

	while (from < to) {
		if (to - from >= PLAIN_MAX)
			nr += walk_plain(data, &from, to, UINT64_MAX);
		if (from < to && !take_one(data, &from, to, &nr))
			break;
	}
	return nr;
}

#ifdef __x86_64__

#include <immintrin.h>

#define WITH_AVX2 __attribute__((target("avx2")))

#define WORDS  32U /* of a window: 16 in each half of a vector */
#define WINDOW (WORDS * 8)
/* The last record of a window begins in its last word. */
#define WINDOW_ROOM (WINDOW - 8 + PLAIN_MAX)

/* The first and last byte of the upper halves of 8 words, for each half of a vector. */
WITH_AVX2 static inline __m256i upper_bytes(const uint8_t *words)
{
	const __m256i ends = _mm256_setr_epi8(3, 7, 11, 15, 0, 4, 8, 12, -1, -1,
					      -1, -1, -1, -1, -1, -1, 3, 7, 11,
					      15, 0, 4, 8, 12, -1, -1, -1, -1,
					      -1, -1, -1, -1);
	__m256 low = _mm256_loadu_ps((const float *)(const void *)words);
	__m256 high = _mm256_loadu_ps((const float *)(const void *)(words + 32));

	return _mm256_shuffle_epi8(
		_mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd)), ends);
}

/* Put pairs of bytes, which alternate between the halves of a vector, in their order. */
WITH_AVX2 static inline __m256i order_pairs(__m256i pairs)
{
	const __m256i merge = _mm256_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5,
					       12, 13, 6, 7, 14, 15, 0, 1, 8, 9,
					       2, 3, 10, 11, 4, 5, 12, 13, 6, 7,
					       14, 15);

	return _mm256_shuffle_epi8(_mm256_permute4x64_epi64(pairs, 0xd8), merge);
}

/*
 * Take each word of a window for a record.  Return: its length in words for each, 0 for
 * special ones.
 */
WITH_AVX2 static inline __m256i record_lengths(const uint8_t *window)
{
	/* By the upper 4 bits: the number of arguments, and P. */
	const __m256i by_bits =
		_mm256_setr_epi8(1, 0, 2, 0, 2, 0, 3, 0, 3, 0, 4, 0, 4, 0, 5, 0,
				 1, 0, 2, 0, 2, 0, 3, 0, 3, 0, 4, 0, 4, 0, 5, 0);
	__m256i a = _mm256_unpacklo_epi32(upper_bytes(window),
					  upper_bytes(window + 64));
	__m256i b = _mm256_unpacklo_epi32(upper_bytes(window + 128),
					  upper_bytes(window + 192));
	__m256i bits =
		_mm256_and_si256(_mm256_srli_epi16(_mm256_unpacklo_epi64(a, b), 4),
				 _mm256_set1_epi8(15));
	__m256i extends = _mm256_cmpeq_epi8(_mm256_unpackhi_epi64(a, b),
					    _mm256_set1_epi8(-1));

	return order_pairs(
		_mm256_andnot_si256(extends, _mm256_shuffle_epi8(by_bits, bits)));
}

/* How far one record after the other leads from each word of a window. */
struct reach {
	__m256i words; /* up to a special record, or out of the word's half */
	__m256i records;
};

/* Go on, from the place that each word leads to, as far as that place leads. */
WITH_AVX2 static inline void double_reach(struct reach *reach)
{
	/* Beyond the half the sum has bit 7, for which a shuffle has 0. */
	const __m256i self = _mm256_setr_epi8(112, 113, 114, 115, 116, 117, 118,
					      119, 120, 121, 122, 123, 124, 125,
					      126, 127, 112, 113, 114, 115, 116,
					      117, 118, 119, 120, 121, 122, 123,
					      124, 125, 126, 127);
	__m256i there = _mm256_add_epi8(reach->words, self);

	reach->words = _mm256_add_epi8(reach->words,
				       _mm256_shuffle_epi8(reach->words, there));
	reach->records = _mm256_add_epi8(
		reach->records, _mm256_shuffle_epi8(reach->records, there));
}

/* Follow the records of a window, 16 of which fill a half at most. */
WITH_AVX2 static inline struct reach find_reach(const uint8_t *window)
{
	struct reach reach = { .words = record_lengths(window) };

	reach.records = _mm256_min_epu8(reach.words, _mm256_set1_epi8(1));
	double_reach(&reach);
	double_reach(&reach);
	double_reach(&reach);
	double_reach(&reach);
	return reach;
}

/*
 * Count plain records in windows, up to the first special one or one that may be cut off.
 * Return: their number; @from is set to the offset behind.
 */
WITH_AVX2 static uint64_t count_windows(const uint8_t *data, uint64_t *from,
					uint64_t to)
{
	const uint8_t *window = data + *from, *last = data + to - WINDOW_ROOM;
	uint64_t at = 0, nr = 0; /* word of the window with the next record */
	uint8_t words[WORDS], records[WORDS];

	for (; window <= last; window += WINDOW, at -= WORDS) {
		struct reach reach = find_reach(window);

		_mm256_storeu_si256((void *)words, reach.words);
		_mm256_storeu_si256((void *)records, reach.records);
		nr += records[at];
		at += words[at];
		/* In the second half; at a special record nothing is added. */
		nr += records[at];
		at += words[at];
		if (at < WORDS)
			break;
	}
	*from = (uint64_t)(window - data) + at * 8;
	return nr;
}

/* Count plain records in windows, and the special ones and those behind them one by one. */
static uint64_t count_by_windows(const uint8_t *data, uint64_t from, uint64_t to)
{
	uint64_t nr = 0, plain = CALM;

	while (from < to) {
		if (plain == CALM && to - from >= WINDOW_ROOM)
			nr += count_windows(data, &from, to);
		plain = 0;
		if (to - from >= PLAIN_MAX && from < to)
			plain = walk_plain(data, &from, to, CALM);
		nr += plain;
		if (plain < CALM && from < to && !take_one(data, &from, to, &nr))
			break;
	}
	return nr;
}

static bool has_windows(void)
{
	return __builtin_cpu_supports("avx2");
}

#else

static uint64_t count_by_windows(const uint8_t *data, uint64_t from, uint64_t to)
{
	return kt_records_count_by_steps(data, from, to);
}

static bool has_windows(void)
{
	return false;
}

#endif

/**
 * kt_records_count() - count the records between two offsets of a block
 * @data: the block
 * @from: offset of the first record
 * @to: offset behind the last one
 *
 * Return: their number, without time extensions, up to the first that is cut off.
 */
uint64_t kt_records_count(const uint8_t *data, uint64_t from, uint64_t to)
{
	return has_windows() ? count_by_windows(data, from, to) :
			       kt_records_count_by_steps(data, from, to);
}
