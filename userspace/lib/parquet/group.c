// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Row groups: the order of the rows, the columns one after the other, and what the footer
 * and the page indexes say about them.  Field numbers are those of parquet.thrift.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define DIGIT	 11U /* bits of a time that one pass sorts by */
#define DIGITS	 (1U << DIGIT)
#define META_MAX (512U + 4 * KT_PQ_KEY_MAX) /* bytes of a ColumnMetaData */
#define PAGE_META_MAX \
	(64U + 2 * KT_PQ_KEY_MAX) /* bytes of a page in an index */

/* ---- order -------------------------------------------------------------------------- */

/* Find the least time, and how far the greatest is from it.  Return: true if they are in order. */
static bool is_group_sorted(const int64_t *ts, uint32_t nr, int64_t *least,
			    uint64_t *span)
{
	int64_t most = ts[0];
	bool ordered = true;

	*least = ts[0];
	for (uint32_t i = 1; i < nr; i++) {
		ordered &= ts[i] >= ts[i - 1];
		*least = ts[i] < *least ? ts[i] : *least;
		most = ts[i] > most ? ts[i] : most;
	}
	*span = (uint64_t)most - (uint64_t)*least;
	return ordered;
}

/* A pass of a radix sort: sort the rows @from by the DIGIT bits of their time at @shift. */
static void sort_by_digit(uint32_t *to, const uint32_t *from,
			  const struct kt_pq_rows *rows, int64_t least,
			  unsigned int shift)
{
	const int64_t *ts = rows->cells[rows->schema->time].v;
	uint32_t at[DIGITS + 1] = { 0 };

	for (uint32_t i = 0; i < rows->nr; i++)
		at[(((uint64_t)ts[i] - (uint64_t)least) >> shift) % DIGITS + 1]++;
	for (unsigned int i = 1; i < DIGITS; i++)
		at[i] += at[i - 1];
	for (uint32_t i = 0; i < rows->nr; i++)
		to[at[(((uint64_t)ts[from[i]] - (uint64_t)least) >> shift) % DIGITS]++] =
			from[i];
}

/**
 * kt_pq_sort() - Order rows by their time
 * @w: the workspace, which keeps the order until the next call
 * @rows: the rows, at least one
 * @part: filled: all rows
 *
 * Rows of the same time stay in their order.
 *
 * Return: 0.
 */
int kt_pq_sort(struct kt_pq_workspace *w, const struct kt_pq_rows *rows,
	       struct kt_pq_part *part)
{
	uint32_t *order = w->order, *spare = w->spare, *swap;
	int64_t least;
	uint64_t span;

	*part = (struct kt_pq_part){ .rows = rows, .to = rows->nr };
	if (!rows->schema->sorts ||
	    is_group_sorted(rows->cells[rows->schema->time].v, rows->nr, &least,
			    &span))
		return 0;
	for (uint32_t i = 0; i < rows->nr; i++)
		order[i] = i;
	for (unsigned int shift = 0; shift < 64 && span >> shift; shift += DIGIT) {
		sort_by_digit(spare, order, rows, least, shift);
		swap = order;
		order = spare;
		spare = swap;
	}
	part->order = order;
	return 0;
}

/* ---- the footer's part ---------------------------------------------------------------- */

/*
 * Put a least or greatest value as bytes.  A name must have at most KT_PQ_KEY_MAX bytes, see
 * has_keys(): a shortened one would be wrong for readers that take it as a value.
 */
static size_t put_group_key(const struct kt_pq_pool *pool, unsigned int type,
			    int64_t value, char *p)
{
	const struct kt_pq_name *n;

	switch (type) {
	case KT_PQ_INT32:
		kt_set32(p, (uint32_t)value);
		return 4;
	case KT_PQ_BOOL:
		*p = (char)value;
		return 1;
	case KT_PQ_INT64:
	case KT_PQ_UTC:
		kt_set64(p, (uint64_t)value);
		return 8;
	default:
		n = &pool->names[value];
		/* Only for the compiler: has_keys() lets no longer name come here. */
		memcpy(p, kt_pq_text(pool, (uint32_t)value),
		       kt_min(n->len, KT_PQ_KEY_MAX));
		return n->len;
	}
}

/* Check whether a range has two ends, both short enough for put_group_key(). */
static bool has_keys(const struct kt_pq_pool *pool, unsigned int type,
		     const struct kt_pq_range *r)
{
	if (!r->some || !kt_pq_is_name(type))
		return r->some;
	return pool->names[r->least].len <= KT_PQ_KEY_MAX &&
	       pool->names[r->most].len <= KT_PQ_KEY_MAX;
}

static void put_group_statistics(struct kt_thrift *th, const struct kt_pq_pool *pool,
				 const struct kt_pq_chunk *c)
{
	unsigned int type = c->column->type;
	char key[KT_PQ_KEY_MAX];
	size_t len;

	kt_thrift_open(th, 12);
	kt_thrift_i64(th, 3, (int64_t)c->nulls);
	if (has_keys(pool, type, &c->range)) {
		len = put_group_key(pool, type, c->range.most, key);
		kt_thrift_field(th, 5, KT_THRIFT_BINARY);
		kt_thrift_bytes(th, key, len);
		len = put_group_key(pool, type, c->range.least, key);
		kt_thrift_field(th, 6, KT_THRIFT_BINARY);
		kt_thrift_bytes(th, key, len);
	}
	kt_thrift_close(th);
}

/* Put the ColumnMetaData of a column.  @at: offset of the row group in the file. */
static int put_group_meta(const struct kt_pq_workspace *w, struct kt_pq_file *f,
			  const struct kt_pq_chunk *c, uint64_t at,
			  struct kt_pq_sizes *sizes)
{
	uint8_t *to = kt_pq_room(&f->meta, META_MAX);
	struct kt_thrift th = { .p = (char *)to };
	uint64_t values = 0;

	if (!to)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->nr; i++)
		values += c->pages[i].rows;
	kt_thrift_i32(&th, 1, kt_pq_physical(c->column->type));
	kt_thrift_list(&th, 2, KT_THRIFT_I32, c->dictionary ? 3 : 2);
	if (c->dictionary)
		kt_thrift_number(&th, KT_PQ_PLAIN);
	kt_thrift_number(&th, KT_PQ_RLE);
	kt_thrift_number(&th, c->encoding);
	kt_thrift_list(&th, 3, KT_THRIFT_BINARY, 1);
	kt_thrift_bytes(&th, c->column->name, strlen(c->column->name));
	kt_thrift_i32(&th, 4, w->zstd ? KT_PQ_ZSTD : KT_PQ_RAW);
	kt_thrift_i64(&th, 5, (int64_t)values);
	kt_thrift_i64(&th, 6, (int64_t)c->plain);
	kt_thrift_i64(&th, 7, (int64_t)c->size);
	kt_thrift_i64(&th, 9, (int64_t)(at + c->data));
	if (c->dictionary)
		kt_thrift_i64(&th, 11, (int64_t)(at + c->offset));
	put_group_statistics(&th, w->pool, c);
	sizes->meta = (uint32_t)(kt_thrift_end(&th) - (char *)to);
	f->meta.len += sizes->meta;
	return 0;
}

/* ---- page indexes ------------------------------------------------------------------------ */

static void put_page_keys(struct kt_thrift *th, const struct kt_pq_pool *pool,
			  const struct kt_pq_chunk *c, bool most)
{
	char key[KT_PQ_KEY_MAX];

	kt_thrift_list(th, most ? 3 : 2, KT_THRIFT_BINARY, c->nr);
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct kt_pq_range *r = &c->pages[i].range;
		size_t len = r->some ? put_group_key(pool, c->column->type,
						     most ? r->most : r->least,
						     key) :
				       0;

		kt_thrift_bytes(th, key, len);
	}
}

/*
 * Return whether the pages are in ascending order: then readers may bisect.  A page of nulls
 * has no place in the order, and the ends of a range of names are places in the pool, which say
 * nothing about the order of the names.
 */
static bool is_ascending(const struct kt_pq_chunk *c)
{
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct kt_pq_range *r = &c->pages[i].range;

		if (!r->some || kt_pq_is_name(c->column->type))
			return false;
		if (i && (r->least < c->pages[i - 1].range.least ||
			  r->most < c->pages[i - 1].range.most))
			return false;
	}
	return true;
}

/*
 * Check that each page with values has a least and a greatest one, both short enough.  Pages
 * of a text column have no range at all and would pass for pages of nulls.
 */
static bool has_page_keys(const struct kt_pq_pool *pool, const struct kt_pq_chunk *c)
{
	if (c->column->type == KT_PQ_TEXT)
		return false;
	for (unsigned int i = 0; i < c->nr; i++) {
		const struct kt_pq_range *r = &c->pages[i].range;

		if (r->some && !has_keys(pool, c->column->type, r))
			return false;
	}
	return true;
}

/* Put the ColumnIndex of a column, unless a page of it has a range without keys. */
static int put_page_index(const struct kt_pq_workspace *w, struct kt_pq_file *f,
			  const struct kt_pq_chunk *c, struct kt_pq_sizes *sizes)
{
	uint8_t *to = kt_pq_room(&f->index, 64 + c->nr * PAGE_META_MAX);
	struct kt_thrift th = { .p = (char *)to };

	if (!to)
		return -ENOMEM;
	if (!has_page_keys(w->pool, c))
		return 0;
	kt_thrift_list(&th, 1, KT_THRIFT_TRUE, c->nr);
	for (unsigned int i = 0; i < c->nr; i++)
		*th.p++ = c->pages[i].range.some ? KT_THRIFT_FALSE : KT_THRIFT_TRUE;
	put_page_keys(&th, w->pool, c, false);
	put_page_keys(&th, w->pool, c, true);
	kt_thrift_i32(&th, 4, is_ascending(c));
	kt_thrift_list(&th, 5, KT_THRIFT_I64, c->nr);
	for (unsigned int i = 0; i < c->nr; i++)
		kt_thrift_number(&th, c->pages[i].nulls);
	sizes->pages = (uint32_t)(kt_thrift_end(&th) - (char *)to);
	f->index.len += sizes->pages;
	return 0;
}

/* Put the OffsetIndex of a column: where its pages are. */
static int put_places(struct kt_pq_file *f, const struct kt_pq_chunk *c,
		      uint64_t at, struct kt_pq_sizes *sizes)
{
	uint8_t *to = kt_pq_room(&f->index, 64 + c->nr * PAGE_META_MAX);
	struct kt_thrift th = { .p = (char *)to };

	if (!to)
		return -ENOMEM;
	kt_thrift_list(&th, 1, KT_THRIFT_STRUCT, c->nr);
	for (unsigned int i = 0; i < c->nr; i++) {
		kt_thrift_item(&th);
		kt_thrift_i64(&th, 1, (int64_t)(at + c->pages[i].offset));
		kt_thrift_i32(&th, 2, (int32_t)c->pages[i].size);
		kt_thrift_i64(&th, 3, c->pages[i].row);
		kt_thrift_close(&th);
	}
	sizes->places = (uint32_t)(kt_thrift_end(&th) - (char *)to);
	f->index.len += sizes->places;
	return 0;
}

/* ---- row groups ---------------------------------------------------------------------------- */

static int put_chunk(struct kt_pq_workspace *w, struct kt_pq_file *f,
		     const struct kt_pq_part *part, unsigned int column,
		     struct kt_pq_group *group)
{
	struct kt_pq_sizes *sizes;
	struct kt_pq_chunk c;
	int err = kt_pq_put_column(w, part, column, &c);

	if (err)
		return err;
	sizes = (void *)kt_pq_room(&f->sizes, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	*sizes = (struct kt_pq_sizes){ 0 };
	err = put_group_meta(w, f, &c, f->at, sizes);
	if (!err)
		err = put_page_index(w, f, &c, sizes);
	if (!err)
		err = put_places(f, &c, f->at, sizes);
	f->sizes.len += sizeof(*sizes);
	group->plain += c.plain;
	group->size += c.size;
	return err;
}

/**
 * kt_pq_put_group() - Write rows as a row group
 * @w: the workspace
 * @f: the file
 * @part: the rows, at least one
 *
 * Return: 0, -ENOMEM or what the output returned.
 */
int kt_pq_put_group(struct kt_pq_workspace *w, struct kt_pq_file *f,
		    const struct kt_pq_part *part)
{
	struct kt_pq_group *group = (void *)kt_pq_room(&f->groups, sizeof(*group));
	int err = 0;

	if (!group)
		return -ENOMEM;
	*group = (struct kt_pq_group){
		.rows = part->to - part->from,
		.offset = f->at,
	};
	f->groups.len += sizeof(*group);
	w->out.len = 0;
	for (unsigned int i = 0; i < part->rows->schema->nr && !err; i++)
		err = put_chunk(w, f, part, i, group);
	if (err)
		return err;
	f->rows += group->rows;
	f->at += w->out.len;
	return f->output.write(f->output.arg, w->out.p, w->out.len);
}
