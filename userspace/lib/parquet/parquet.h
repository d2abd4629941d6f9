/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing Parquet files: typed columns, a table at a time.  Nothing here knows of traces.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	internal.h	columns, pages and row groups in memory
 *	pool.c		the texts of types NAME and SAME, of all tables, each once
 *	rows.c		the rows of a row group, by column, in memory
 *	thrift.h	the bytes of structures
 *	encode.c	the bytes of values
 *	page.c		the values of one column as compressed pages
 *	group.c		a row group: sorted, its columns, their statistics and page indexes
 *	file.c		head, row groups, page indexes, footer
 *
 * Numbers are 64 bits wide in memory and as wide as their column in the file.
 */
#ifndef _KT_PARQUET_PARQUET_H
#define _KT_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bits.h"

#define KT_PQ_GROUP_ROWS 122880U     /* rows of a row group */
#define KT_PQ_PAGE_ROWS	 20480U	     /* rows of a page, a multiple of 64 */
#define KT_PQ_TEXT_MAX	 (16U << 20) /* bytes of texts in a row group */

/**
 * enum kt_pq_type - type of a column
 * @KT_PQ_INT32: number of 32 bits
 * @KT_PQ_INT64: number of 64 bits
 * @KT_PQ_BOOL: truth value
 * @KT_PQ_NAME: text of which there are few different ones: a dictionary
 * @KT_PQ_TEXT: any text
 * @KT_PQ_UTC: time stamp in microseconds, computed from the time column
 * @KT_PQ_SAME: text that is the same in all rows
 */
enum kt_pq_type {
	KT_PQ_INT32,
	KT_PQ_INT64,
	KT_PQ_BOOL,
	KT_PQ_NAME,
	KT_PQ_TEXT,
	KT_PQ_UTC,
	KT_PQ_SAME
};

/**
 * struct kt_pq_column - a column
 * @name: its name
 * @type: enum kt_pq_type
 * @null: a row may have no value
 */
struct kt_pq_column {
	const char *name;
	uint8_t type;
	bool null;
};

/**
 * struct kt_pq_schema - a table
 * @name: its name
 * @columns: its columns
 * @nr: number of @columns
 * @time: column of the time of a row in ns, -1 = there is none
 * @sorts: rows come in another order than that of @time
 */
struct kt_pq_schema {
	const char *name;
	const struct kt_pq_column *columns;
	unsigned int nr;
	int time;
	bool sorts;
};

/**
 * struct kt_pq_buf - bytes in memory
 * @p: the bytes
 * @len: bytes in use
 * @cap: bytes allocated
 */
struct kt_pq_buf {
	uint8_t *p;
	size_t len;
	size_t cap;
};

/* A name of the pool. */
struct kt_pq_name {
	uint64_t hash;
	uint32_t at;
	uint32_t len;
};

/**
 * struct kt_pq_pool - names, each once
 * @text: their bytes
 * @names: the names by number
 * @nr: number of @names
 * @slots: open hash of numbers plus 1; 0: the slot is free
 * @nr_slots: number of @slots, a power of two
 * @seed: seed of the hash
 */
struct kt_pq_pool {
	struct kt_pq_buf text;
	struct kt_pq_name *names;
	uint32_t nr;
	uint32_t *slots;
	uint32_t nr_slots;
	uint64_t seed;
};

/**
 * struct kt_pq_cells - values of a column in the current row group
 * @v: the values.  In a table that sorts, @v has an entry for each row, else for each
 *	row with a value.  TEXT: offset in @text
 * @nr: entries of @v in use
 * @cap: entries of @v allocated
 * @there: bit n: row n has a value; NULL = the column has a value in each row
 * @text: for TEXT, | bytes 32 | text |, ...
 */
struct kt_pq_cells {
	int64_t *v;
	size_t nr;
	size_t cap;
	uint64_t *there;
	struct kt_pq_buf text;
};

/**
 * struct kt_pq_rows - rows of a table that are not written yet
 * @schema: the table
 * @cells: the values by column
 * @same: by column, number in the pool of the text of SAME
 * @nr: number of rows that are complete
 * @text: bytes of all texts
 * @utc: for UTC, added to the time in ns
 * @dated: @utc is known; else columns of type UTC are null
 * @error: negative errno of the first value that could not be kept
 */
struct kt_pq_rows {
	const struct kt_pq_schema *schema;
	struct kt_pq_cells *cells;
	uint32_t *same;
	uint32_t nr;
	size_t text;
	int64_t utc;
	bool dated;
	int error;
};

struct kt_pq_file;
struct kt_pq_workspace; /* compressor and room, which all files use in turn */

/* pool.c */
uint8_t *kt_pq_room(struct kt_pq_buf *b, size_t n);
int64_t kt_pq_intern(struct kt_pq_pool *pool, const char *text, size_t len);
void kt_pq_pool_free(struct kt_pq_pool *pool);

/* Return the bytes of a name. */
static inline const char *kt_pq_text(const struct kt_pq_pool *pool, uint32_t nr)
{
	return (const char *)pool->text.p + pool->names[nr].at;
}

/* rows.c */
int kt_pq_rows_init(struct kt_pq_rows *r, const struct kt_pq_schema *schema);
void kt_pq_grow(struct kt_pq_rows *r, unsigned int column);
void kt_pq_put_text(struct kt_pq_rows *r, unsigned int column, const char *text,
		    size_t len);
void kt_pq_rows_clear(struct kt_pq_rows *r);
void kt_pq_rows_free(struct kt_pq_rows *r);

/* Put the value of a column of the current row; without it the value is null. */
static inline void kt_pq_put(struct kt_pq_rows *r, unsigned int column, int64_t value)
{
	struct kt_pq_cells *c = &r->cells[column];
	size_t at = r->schema->sorts ? r->nr : c->nr;

	if (at >= c->cap) {
		kt_pq_grow(r, column);
		if (r->error)
			return;
	}
	c->v[at] = value;
	c->nr = at + 1;
	if (c->there)
		c->there[r->nr / 64] |= 1ULL << r->nr % 64;
}

/* End a row.  Return: true if the row group is full. */
static inline bool kt_pq_row(struct kt_pq_rows *r)
{
	return ++r->nr == KT_PQ_GROUP_ROWS || r->text >= KT_PQ_TEXT_MAX;
}

/* group.c */

/**
 * struct kt_pq_part - rows of a row group in the order of their time
 * @rows: the rows
 * @order: by place, number of a row; NULL = the rows are in their order
 * @from: first place of the part
 * @to: place after the last one
 */
struct kt_pq_part {
	const struct kt_pq_rows *rows;
	const uint32_t *order;
	uint32_t from;
	uint32_t to;
};

int kt_pq_sort(struct kt_pq_workspace *w, const struct kt_pq_rows *rows,
	       struct kt_pq_part *part);
int kt_pq_put_group(struct kt_pq_workspace *w, struct kt_pq_file *f,
		    const struct kt_pq_part *part);

/* file.c */

/**
 * struct kt_pq_output - where the bytes of a file go
 * @write: writes bytes at the end; returns 0 or negative errno
 * @arg: first argument of @write
 */
struct kt_pq_output {
	int (*write)(void *arg, const void *data, size_t len);
	void *arg;
};

/* A text of the footer. */
struct kt_pq_note {
	const char *key;
	const char *value;
};

int kt_pq_file_new(const struct kt_pq_schema *schema,
		   const struct kt_pq_output *output, struct kt_pq_file **file);
uint64_t kt_pq_file_size(const struct kt_pq_file *f);
int kt_pq_file_end(struct kt_pq_file *f, struct kt_pq_workspace *w,
		   const struct kt_pq_note *notes, unsigned int nr);
void kt_pq_file_free(struct kt_pq_file *f);

int kt_pq_workspace_new(struct kt_pq_pool *pool, bool compress,
			struct kt_pq_workspace **workspace);
void kt_pq_workspace_free(struct kt_pq_workspace *w);

#endif /* _KT_PARQUET_PARQUET_H */
