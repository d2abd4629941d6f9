// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A column of a row group as pages.
 *
 *	column	| dictionary page | data page | data page | ...
 *	page	| PageHeader | levels of nulls, values: compressed |
 *
 * A column without any value has one page for all rows.  Field numbers are those of
 * parquet.thrift.
 */
#include <errno.h>
#include <stdlib.h>

#include "util/nanoseconds.h"

#include "encode.h"
#include "internal.h"

#define HEAD_MAX 64U /* bytes of a page header */
#define LEVEL	 1   /* zstd compression level */

/**
 * struct view - values of a column in the order of the file
 * @v: the values
 * @there: bit n: row n has a value; NULL = all rows have
 * @text: for TEXT, what @v are offsets in
 */
struct view {
	const int64_t *v;
	const uint64_t *there;
	const uint8_t *text;
};

static bool is_there(const uint64_t *there, uint32_t row)
{
	return there[row / 64] >> row % 64 & 1;
}

/* Return how many of the first @n rows have a value. */
static uint32_t count_there(const uint64_t *there, uint32_t n)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < n / 64; i++)
		nr += (uint32_t)__builtin_popcountll(there[i]);
	if (n % 64)
		nr += (uint32_t)__builtin_popcountll(there[n / 64] &
						     ((1ULL << n % 64) - 1));
	return nr;
}

/* ---- views -------------------------------------------------------------------------- */

static int64_t floor_us(int64_t ns)
{
	int64_t us = ns / NS_PER_US;

	return us - (ns % NS_PER_US < 0);
}

static void view_same(struct kt_pq_workspace *w, const struct kt_pq_part *part,
		      unsigned int column)
{
	for (uint32_t i = 0; i < part->to - part->from; i++)
		w->v[i] = part->rows->same[column];
}

static void view_utc(struct kt_pq_workspace *w, const struct kt_pq_part *part)
{
	const struct kt_pq_rows *r = part->rows;
	const int64_t *ts = r->cells[r->schema->time].v;

	for (uint32_t i = part->from; i < part->to; i++) {
		uint32_t row = part->order ? part->order[i] : i;

		w->v[i - part->from] =
			floor_us((int64_t)((uint64_t)ts[row] + (uint64_t)r->utc));
	}
}

/*
 * Copy the values of a part, in its order, and which of its rows have one.  Only a table that sorts
 * has room for the values of null rows; in another, @at is the index of the next value.
 */
static void gather_values(struct kt_pq_workspace *w, const struct kt_pq_part *part,
			  const struct kt_pq_cells *c)
{
	const bool dense = part->rows->schema->sorts;
	size_t nr = 0, at = 0;

	if (c->there) {
		memset(w->there, 0, KT_PQ_GROUP_ROWS / 8);
		at = count_there(c->there, part->from);
	} else {
		at = part->from;
	}
	for (uint32_t i = part->from; i < part->to; i++) {
		uint32_t row = part->order ? part->order[i] : i;

		if (c->there && !is_there(c->there, row))
			continue;
		if (c->there)
			w->there[(i - part->from) / 64] |=
				1ULL << (i - part->from) % 64;
		w->v[nr++] = c->v[dense ? row : at++];
	}
}

/* Find the values of a column of a part, or compute or copy them into the workspace. */
static void make_view(struct kt_pq_workspace *w, const struct kt_pq_part *part,
		      unsigned int column, struct view *view)
{
	const struct kt_pq_rows *r = part->rows;
	const struct kt_pq_cells *c = &r->cells[column];

	*view = (struct view){ .v = w->v, .text = c->text.p };
	switch (r->schema->columns[column].type) {
	case KT_PQ_SAME:
		view_same(w, part, column);
		return;
	case KT_PQ_UTC:
		/* No value is ever put into the column, so its bits are zeros. */
		if (!r->dated && c->there)
			view->there = c->there;
		else
			view_utc(w, part);
		return;
	default:
		break;
	}
	/* Rows in their order need no copy, unless null rows have room. */
	if (!part->order && !part->from && part->to == r->nr &&
	    !(r->schema->sorts && c->there)) {
		view->v = c->v;
		view->there = c->there;
		return;
	}
	gather_values(w, part, c);
	view->there = c->there ? w->there : NULL;
}

/* ---- the least and the greatest ------------------------------------------------------- */

static int compare_names(const struct kt_pq_pool *pool, uint32_t a, uint32_t b)
{
	const struct kt_pq_name *x = &pool->names[a], *y = &pool->names[b];
	int c = memcmp(kt_pq_text(pool, a), kt_pq_text(pool, b),
		       kt_min(x->len, y->len));

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void widen_name(const struct kt_pq_pool *pool, struct kt_pq_range *r,
		       uint32_t name)
{
	if (!r->some) {
		*r = (struct kt_pq_range){ true, name, name };
		return;
	}
	if (compare_names(pool, name, (uint32_t)r->least) < 0)
		r->least = name;
	if (compare_names(pool, name, (uint32_t)r->most) > 0)
		r->most = name;
}

/* Find the range of the names of a page: each different name counts once. */
static void range_names(struct kt_pq_workspace *w, const uint32_t *indexes,
			size_t n, struct kt_pq_range *r)
{
	w->turn++;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = w->dictionary[indexes[i]];

		if (w->turns[name] == w->turn)
			continue;
		w->turns[name] = w->turn;
		widen_name(w->pool, r, name);
	}
}

static void range_numbers(const int64_t *v, size_t n, struct kt_pq_range *r)
{
	int64_t least, most;

	if (!n)
		return;
	least = most = v[0];
	for (size_t i = 1; i < n; i++) {
		least = v[i] < least ? v[i] : least;
		most = v[i] > most ? v[i] : most;
	}
	*r = (struct kt_pq_range){ true, least, most };
}

static void widen_chunk(const struct kt_pq_pool *pool, struct kt_pq_chunk *c,
			const struct kt_pq_range *r)
{
	if (!r->some)
		return;
	if (kt_pq_is_name(c->column->type)) {
		widen_name(pool, &c->range, (uint32_t)r->least);
		widen_name(pool, &c->range, (uint32_t)r->most);
		return;
	}
	if (!c->range.some)
		c->range = *r;
	c->range.least = r->least < c->range.least ? r->least : c->range.least;
	c->range.most = r->most > c->range.most ? r->most : c->range.most;
}

/* ---- pages ------------------------------------------------------------------------------ */

static char *put_page_head(char *p, const struct kt_pq_chunk *c, bool dictionary,
			   size_t plain, size_t size, uint32_t values)
{
	struct kt_thrift th = { .p = p };

	kt_thrift_i32(&th, 1, dictionary ? KT_PQ_DICTIONARY_PAGE : KT_PQ_DATA_PAGE);
	kt_thrift_i32(&th, 2, (int32_t)plain);
	kt_thrift_i32(&th, 3, (int32_t)size);
	kt_thrift_open(&th, dictionary ? 7 : 5);
	kt_thrift_i32(&th, 1, (int32_t)values);
	kt_thrift_i32(&th, 2, dictionary ? KT_PQ_PLAIN : c->encoding);
	if (!dictionary) {
		kt_thrift_i32(&th, 3, KT_PQ_RLE);
		kt_thrift_i32(&th, 4, KT_PQ_RLE);
	}
	kt_thrift_close(&th);
	return kt_thrift_end(&th);
}

/* Compress w->raw and put it behind its header at the end of w->out. */
static int put_page(struct kt_pq_workspace *w, struct kt_pq_chunk *c,
		    bool dictionary, uint32_t values)
{
	size_t plain = w->raw.len;
	size_t bound = w->zstd ? ZSTD_compressBound(plain) : plain, size, head;
	uint8_t *to = kt_pq_room(&w->out, HEAD_MAX + bound);

	if (!to)
		return -ENOMEM;
	/* The header has the compressed size, and its own length depends on it. */
	if (w->zstd) {
		size = ZSTD_compressCCtx(w->zstd, to + HEAD_MAX, bound,
					 w->raw.p, plain, LEVEL);
		if (ZSTD_isError(size))
			return -ENOMEM;
	} else {
		size = plain;
		if (plain)
			memcpy(to + HEAD_MAX, w->raw.p, plain);
	}
	head = (size_t)(put_page_head((char *)to, c, dictionary, plain, size, values) -
			(char *)to);
	memmove(to + head, to + HEAD_MAX, size);
	w->out.len += head + size;
	c->size += head + size;
	c->plain += head + plain;
	w->raw.len = 0;
	return 0;
}

/* Return the values from @at on.  A column without any may have none: NULL stays NULL. */
static const int64_t *values_at(const struct view *view, size_t at)
{
	return at ? view->v + at : view->v;
}

/* Put the values of a page at the end of w->raw. */
static int put_page_values(struct kt_pq_workspace *w, const struct kt_pq_chunk *c,
			   const struct view *view, size_t at, size_t n)
{
	unsigned int type = c->column->type;
	uint8_t *p;

	if (type == KT_PQ_TEXT) {
		for (size_t i = at; i < at + n; i++) {
			const uint8_t *text = view->text + view->v[i];
			size_t len = 4 + kt_get32(text);

			p = kt_pq_room(&w->raw, len);
			if (!p)
				return -ENOMEM;
			memcpy(p, text, len);
			w->raw.len += len;
		}
		return 0;
	}
	/* The largest of the three bounds. */
	p = kt_pq_room(&w->raw, KT_PQ_DELTA_BOUND(n));
	if (!p)
		return -ENOMEM;
	if (kt_pq_is_name(type))
		w->raw.len += kt_pq_indexes(p, w->indexes + at, n, c->width);
	else if (type == KT_PQ_BOOL)
		w->raw.len += kt_pq_bools(p, values_at(view, at), n);
	else
		w->raw.len += kt_pq_delta(p, values_at(view, at), n,
					  type != KT_PQ_INT32);
	return 0;
}

/*
 * Put the dictionary of a column, and set w->indexes.  A name is in it already if its entry of
 * w->turns says so; then its index is in w->local.
 */
static int put_dictionary(struct kt_pq_workspace *w, struct kt_pq_chunk *c,
			  const struct view *view, size_t n)
{
	uint32_t nr = 0;

	w->turn++;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = (uint32_t)view->v[i];
		uint32_t len = w->pool->names[name].len;
		uint8_t *p;

		if (w->turns[name] != w->turn) {
			p = kt_pq_room(&w->raw, 4 + len);
			if (!p)
				return -ENOMEM;
			kt_set32(p, len);
			memcpy(p + 4, kt_pq_text(w->pool, name), len);
			w->raw.len += 4 + len;
			w->turns[name] = w->turn;
			w->local[name] = nr;
			w->dictionary[nr++] = name;
		}
		w->indexes[i] = w->local[name];
	}
	c->dictionary = true;
	c->width = kt_pq_width(nr ? nr - 1 : 0);
	return put_page(w, c, true, nr);
}

/* Make w->local as large as the pool. */
static int grow_local(struct kt_pq_workspace *w)
{
	uint32_t nr = w->pool->nr;
	uint32_t *p;

	if (nr <= w->nr_local)
		return 0;
	nr = (uint32_t)kt_align(nr, 1024);
	p = realloc(w->local, nr * sizeof(*p));
	if (!p)
		return -ENOMEM;
	w->local = p;
	p = realloc(w->turns, nr * sizeof(*p));
	if (!p)
		return -ENOMEM;
	memset(p + w->nr_local, 0, (nr - w->nr_local) * sizeof(*p));
	w->turns = p;
	w->nr_local = nr;
	return 0;
}

/* Put a data page and its range.  @at: number of its first value, which null rows do not have. */
static int put_data_page(struct kt_pq_workspace *w, struct kt_pq_chunk *c,
			 const struct view *view, size_t at, struct kt_pq_page *page)
{
	size_t n = page->rows - page->nulls;
	uint64_t before = c->size;
	uint8_t *p;
	int err;

	if (c->column->null) {
		p = kt_pq_room(&w->raw, KT_PQ_BITS_BOUND(page->rows));
		if (!p)
			return -ENOMEM;
		w->raw.len += kt_pq_levels(
			p, view->there ? view->there + page->row / 64 : NULL,
			page->rows, n);
	}
	err = put_page_values(w, c, view, at, n);
	if (err)
		return err;
	if (kt_pq_is_name(c->column->type))
		range_names(w, w->indexes + at, n, &page->range);
	else if (c->column->type != KT_PQ_TEXT)
		range_numbers(values_at(view, at), n, &page->range);
	page->offset = w->out.len;
	err = put_page(w, c, false, page->rows);
	page->size = (uint32_t)(c->size - before);
	return err;
}

static int put_pages(struct kt_pq_workspace *w, struct kt_pq_chunk *c,
		     const struct view *view, uint32_t rows)
{
	uint32_t some = view->there ? count_there(view->there, rows) : rows;
	uint32_t step = some ? KT_PQ_PAGE_ROWS : KT_PQ_GROUP_ROWS;
	size_t at = 0;
	int err = 0;

	c->nulls = rows - some;
	for (uint32_t row = 0; row < rows && !err; row += step) {
		struct kt_pq_page *page = &c->pages[c->nr++];
		uint32_t nr = (uint32_t)kt_min(step, rows - row);

		*page = (struct kt_pq_page){ .row = row, .rows = nr };
		/* Pages begin at a whole word of the bits: both steps are multiples of 64. */
		if (view->there)
			page->nulls = nr - count_there(view->there + row / 64, nr);
		err = put_data_page(w, c, view, at, page);
		at += nr - page->nulls;
		widen_chunk(w->pool, c, &page->range);
	}
	return err;
}

static uint8_t encoding_of(unsigned int type)
{
	switch (type) {
	case KT_PQ_NAME:
	case KT_PQ_SAME:
		return KT_PQ_DICTIONARY;
	case KT_PQ_TEXT:
	case KT_PQ_BOOL:
		return KT_PQ_PLAIN;
	default:
		return KT_PQ_DELTA;
	}
}

/**
 * kt_pq_put_column() - Put a column of a row group at the end of w->out
 * @w: the workspace
 * @part: rows of the row group
 * @column: the column
 * @chunk: filled
 *
 * Return: 0 or -ENOMEM.
 */
int kt_pq_put_column(struct kt_pq_workspace *w, const struct kt_pq_part *part,
		     unsigned int column, struct kt_pq_chunk *chunk)
{
	const struct kt_pq_column *c = &part->rows->schema->columns[column];
	uint32_t rows = part->to - part->from;
	struct view view;
	int err = 0;

	make_view(w, part, column, &view);
	*chunk = (struct kt_pq_chunk){
		.column = c,
		.encoding = encoding_of(c->type),
		.offset = w->out.len,
	};
	if (kt_pq_is_name(c->type)) {
		err = grow_local(w);
		if (!err)
			err = put_dictionary(
				w, chunk, &view,
				view.there ? count_there(view.there, rows) : rows);
	}
	chunk->data = w->out.len;
	return err ? err : put_pages(w, chunk, &view, rows);
}
