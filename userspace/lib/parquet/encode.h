/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Encodings of values in the pages of a Parquet file; see encode.c. */
#ifndef _KT_PARQUET_ENCODE_H
#define _KT_PARQUET_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that kt_pq_delta() writes at most for @n values: 8 for each; for each block of 128 the least
 * delta (10), 4 widths and the zeros that fill a part of 32; and the head (40).
 */
#define KT_PQ_DELTA_BOUND(n) ((n)*8 + ((n) / 128 + 2) * (14 + 32 * 8) + 40)

/*
 * Bytes that kt_pq_indexes() writes at most for @n values: 4 for each, and a fifth for the counts of
 * runs and groups, which have 8 values or more, but for the last run.
 */
#define KT_PQ_INDEXES_BOUND(n) ((n)*5 + 64)

/* Bytes that kt_pq_levels() and kt_pq_bools() write at most for @n values. */
#define KT_PQ_BITS_BOUND(n) ((n) / 8 + 64)

/* Each writes @n values to @out, and returns the number of bytes. */
size_t kt_pq_delta(uint8_t *out, const int64_t *v, size_t n, bool wide);
size_t kt_pq_indexes(uint8_t *out, const uint32_t *v, size_t n, unsigned int width);
size_t kt_pq_levels(uint8_t *out, const uint64_t *there, size_t n, size_t some);
size_t kt_pq_bools(uint8_t *out, const int64_t *v, size_t n);

/* Return the number of bits that a number needs. */
static inline unsigned int kt_pq_width(uint64_t v)
{
	return v ? 64 - (unsigned int)__builtin_clzll(v) : 0;
}

#endif /* _KT_PARQUET_ENCODE_H */
