/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What page.c, group.c and file.c share. */
#ifndef _KT_PARQUET_INTERNAL_H
#define _KT_PARQUET_INTERNAL_H

#include <zstd.h>

#include "parquet.h"
#include "thrift.h"

#define KT_PQ_PAGES   ((KT_PQ_GROUP_ROWS + KT_PQ_PAGE_ROWS - 1) / KT_PQ_PAGE_ROWS)
#define KT_PQ_KEY_MAX 64U /* bytes of a least or greatest value */

/*
 * Type, Encoding, CompressionCodec and PageType of parquet.thrift.  A _ at the end distinguishes
 * the types of values in a file from enum kt_pq_type.
 */
enum {
	KT_PQ_BOOLEAN_ = 0,
	KT_PQ_INT32_ = 1,
	KT_PQ_INT64_ = 2,
	KT_PQ_BYTES_ = 6
};
enum { KT_PQ_PLAIN = 0, KT_PQ_RLE = 3, KT_PQ_DELTA = 5, KT_PQ_DICTIONARY = 8 };
enum { KT_PQ_RAW = 0, KT_PQ_ZSTD = 6 };
enum { KT_PQ_DATA_PAGE = 0, KT_PQ_DICTIONARY_PAGE = 2 };

/**
 * struct kt_pq_range - the least and the greatest of some values
 * @some: there are values
 * @least: the least value; NAME: its number in the pool
 * @most: the greatest value
 */
struct kt_pq_range {
	bool some;
	int64_t least;
	int64_t most;
};

/**
 * struct kt_pq_page - a data page
 * @offset: offset from the beginning of the row group's bytes
 * @size: bytes, with its header
 * @row: its first row, counted from the beginning of the row group
 * @rows: number of rows
 * @nulls: rows without a value
 * @range: of its values
 */
struct kt_pq_page {
	uint64_t offset;
	uint32_t size;
	uint32_t row;
	uint32_t rows;
	uint32_t nulls;
	struct kt_pq_range range;
};

/**
 * struct kt_pq_chunk - a column of a row group
 * @column: the column
 * @encoding: of its values
 * @dictionary: it begins with a dictionary page
 * @width: bits of an index into it
 * @offset: offset from the beginning of the row group's bytes
 * @data: offset of its first data page, likewise
 * @size: bytes
 * @plain: bytes before compression
 * @nulls: rows without a value
 * @range: of its values
 * @pages: its data pages
 * @nr: number of @pages
 */
struct kt_pq_chunk {
	const struct kt_pq_column *column;
	uint8_t encoding;
	bool dictionary;
	unsigned int width;
	uint64_t offset;
	uint64_t data;
	uint64_t size;
	uint64_t plain;
	uint64_t nulls;
	struct kt_pq_range range;
	struct kt_pq_page pages[KT_PQ_PAGES];
	unsigned int nr;
};

/**
 * struct kt_pq_workspace - compressor and room, which all files use in turn
 * @pool: names
 * @zstd: compressor; NULL = pages are not compressed
 * @out: bytes of a row group
 * @raw: a page before compression
 * @v: values of a column, in order
 * @there: their rows
 * @indexes: indexes into the dictionary
 * @order: rows sorted by time: by place in this order, number of a row
 * @spare: room for sorting @order
 * @local: by number in the pool, index into the dictionary
 * @turns: by number in the pool, @turn when @local was set
 * @nr_local: entries of @local and @turns
 * @turn: number of dictionaries and pages so far
 * @dictionary: by index, number in the pool
 */
struct kt_pq_workspace {
	struct kt_pq_pool *pool;
	ZSTD_CCtx *zstd;
	struct kt_pq_buf out;
	struct kt_pq_buf raw;
	int64_t *v;
	uint64_t *there;
	uint32_t *indexes;
	uint32_t *order;
	uint32_t *spare;
	uint32_t *local;
	uint32_t *turns;
	uint32_t nr_local;
	uint32_t turn;
	uint32_t *dictionary;
};

/**
 * struct kt_pq_sizes - bytes that a column of a row group has in the footer
 * @meta: in @meta of the file
 * @pages: of its column index in @index of the file; 0 = it has none
 * @places: of its offset index, behind the column index
 */
struct kt_pq_sizes {
	uint32_t meta;
	uint32_t pages;
	uint32_t places;
};

/**
 * struct kt_pq_group - a row group that was written
 * @rows: its rows
 * @plain: bytes before compression
 * @size: bytes
 * @offset: of its first page in the file
 */
struct kt_pq_group {
	uint64_t rows;
	uint64_t plain;
	uint64_t size;
	uint64_t offset;
};

/**
 * struct kt_pq_file - a file being written
 * @schema: its table
 * @output: where it goes
 * @at: bytes written
 * @rows: rows of @groups
 * @groups: struct kt_pq_group, ...
 * @sizes: struct kt_pq_sizes of all columns of the first group, the second ...
 * @meta: ColumnMetaData of all columns, in the same order
 * @index: ColumnIndex and OffsetIndex of all columns, in the same order
 */
struct kt_pq_file {
	const struct kt_pq_schema *schema;
	struct kt_pq_output output;
	uint64_t at;
	uint64_t rows;
	struct kt_pq_buf groups;
	struct kt_pq_buf sizes;
	struct kt_pq_buf meta;
	struct kt_pq_buf index;
};

/* page.c */
int kt_pq_put_column(struct kt_pq_workspace *w, const struct kt_pq_part *part,
		     unsigned int column, struct kt_pq_chunk *chunk);

/* Return the physical type of a column. */
static inline int kt_pq_physical(unsigned int type)
{
	switch (type) {
	case KT_PQ_INT32:
		return KT_PQ_INT32_;
	case KT_PQ_INT64:
	case KT_PQ_UTC:
		return KT_PQ_INT64_;
	case KT_PQ_BOOL:
		return KT_PQ_BOOLEAN_;
	default:
		return KT_PQ_BYTES_;
	}
}

/* Check whether a column has a dictionary. */
static inline bool kt_pq_is_name(unsigned int type)
{
	return type == KT_PQ_NAME || type == KT_PQ_SAME;
}

#endif /* _KT_PARQUET_INTERNAL_H */
