// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rows of a row group in memory, a column each. */
#include <errno.h>
#include <stdlib.h>

#include "util/put.h"

#include "parquet.h"

#define LEAST_CAP 1024U /* values */

/**
 * kt_pq_rows_init() - Prepare a table
 * @r: filled; release with kt_pq_rows_free()
 * @schema: the table; must stay valid
 *
 * Return: 0 or -ENOMEM.
 */
int kt_pq_rows_init(struct kt_pq_rows *r, const struct kt_pq_schema *schema)
{
	memset(r, 0, sizeof(*r));
	r->schema = schema;
	r->cells = calloc(schema->nr, sizeof(*r->cells));
	r->same = calloc(schema->nr, sizeof(*r->same));
	if (!r->cells || !r->same)
		return -ENOMEM;
	for (unsigned int i = 0; i < schema->nr; i++) {
		if (!schema->columns[i].null)
			continue;
		r->cells[i].there = calloc(KT_PQ_GROUP_ROWS / 64,
					   sizeof(*r->cells[i].there));
		if (!r->cells[i].there)
			return -ENOMEM;
	}
	return 0;
}

/**
 * kt_pq_grow() - Make room for the value of the current row
 * @r: the rows; @r->error is set if there is no memory
 * @column: the column
 */
void kt_pq_grow(struct kt_pq_rows *r, unsigned int column)
{
	struct kt_pq_cells *c = &r->cells[column];
	size_t cap = c->cap ? c->cap * 2 : LEAST_CAP;
	int64_t *v;

	/* A table that sorts has the value of row n at n: there may be many null rows before it. */
	if (cap <= r->nr && r->schema->sorts)
		cap = kt_align(r->nr + 1ULL, LEAST_CAP);
	v = realloc(c->v, cap * sizeof(*v));
	if (!v) {
		r->error = -ENOMEM;
		return;
	}
	c->v = v;
	c->cap = cap;
}

/**
 * kt_pq_put_text() - Put the text of a column of the current row
 * @r: the rows
 * @column: the column, of type TEXT
 * @text: the text; bytes that are no UTF-8 are replaced
 * @len: bytes of @text
 */
void kt_pq_put_text(struct kt_pq_rows *r, unsigned int column, const char *text,
		    size_t len)
{
	struct kt_pq_buf *b = &r->cells[column].text;
	uint8_t *p = kt_pq_room(b, 4 + len);

	if (!p) {
		r->error = -ENOMEM;
		return;
	}
	kt_set32(p, (uint32_t)len);
	if (len)
		memcpy(p + 4, text, len);
	kt_utf8_mend((char *)p + 4, len);
	kt_pq_put(r, column, (int64_t)b->len);
	b->len += 4 + len;
	r->text += 4 + len;
}

/**
 * kt_pq_rows_clear() - Begin the next row group
 * @r: the rows
 */
void kt_pq_rows_clear(struct kt_pq_rows *r)
{
	for (unsigned int i = 0; i < r->schema->nr; i++) {
		struct kt_pq_cells *c = &r->cells[i];

		c->nr = 0;
		c->text.len = 0;
		if (c->there)
			memset(c->there, 0, KT_PQ_GROUP_ROWS / 8);
	}
	r->nr = 0;
	r->text = 0;
}

/**
 * kt_pq_rows_free() - Free the rows
 * @r: the rows, or all zeros
 */
void kt_pq_rows_free(struct kt_pq_rows *r)
{
	for (unsigned int i = 0; r->cells && i < r->schema->nr; i++) {
		free(r->cells[i].v);
		free(r->cells[i].there);
		free(r->cells[i].text.p);
	}
	free(r->cells);
	free(r->same);
	memset(r, 0, sizeof(*r));
}
