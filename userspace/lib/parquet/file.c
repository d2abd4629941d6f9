// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A Parquet file: head, row groups, page indexes, footer.
 *
 *	"PAR1"
 *	row group	the pages of the first column, of the second ...
 *	row group	...
 *	column index	for each column of each row group: least and greatest of each page
 *	offset index	likewise: where each page is
 *	footer		schema, columns of all row groups, notes (Thrift compact)
 *	| footer length 32 | "PAR1" |
 *
 * The footer comes last, so a file without its end cannot be read.  Field numbers, here and in
 * group.c and page.c, are those of parquet.thrift.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

#define MAGIC	   "PAR1"
#define COLUMN_MAX 128U /* bytes of a column in the schema, without its name */
#define CHUNK_MAX \
	64U /* bytes of a column of a row group, without its meta data */
#define GROUP_MAX 96U /* bytes of a row group, without its columns */
#define NOTES_MAX \
	16384U /* bytes of the notes, and of what no other limit covers */
#define CREATOR "ktape version " KTAPE_VERSION

/* ConvertedType and LogicalType of parquet.thrift. */
#define UTF8		 0
#define TIMESTAMP_MICROS 10
#define LOGICAL_STRING	 1
#define LOGICAL_TIME	 8

/**
 * kt_pq_workspace_new() - Make the compressor and the room that files are written with
 * @pool: the names; must stay valid
 * @compress: compress pages with zstd
 * @workspace: set on success
 *
 * Return: 0 or -ENOMEM.
 */
int kt_pq_workspace_new(struct kt_pq_pool *pool, bool compress,
			struct kt_pq_workspace **workspace)
{
	struct kt_pq_workspace *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->pool = pool;
	if (compress)
		w->zstd = ZSTD_createCCtx();
	w->v = calloc(KT_PQ_GROUP_ROWS, sizeof(*w->v));
	w->there = calloc(KT_PQ_GROUP_ROWS / 64, sizeof(*w->there));
	w->indexes = calloc(KT_PQ_GROUP_ROWS, sizeof(*w->indexes));
	w->order = calloc(KT_PQ_GROUP_ROWS, sizeof(*w->order));
	w->spare = calloc(KT_PQ_GROUP_ROWS, sizeof(*w->spare));
	w->dictionary = calloc(KT_PQ_GROUP_ROWS, sizeof(*w->dictionary));
	if ((compress && !w->zstd) || !w->v || !w->there || !w->indexes ||
	    !w->order || !w->spare || !w->dictionary) {
		kt_pq_workspace_free(w);
		return -ENOMEM;
	}
	*workspace = w;
	return 0;
}

/**
 * kt_pq_workspace_free() - Free the compressor and the room
 * @w: the workspace, or NULL
 */
void kt_pq_workspace_free(struct kt_pq_workspace *w)
{
	if (!w)
		return;
	ZSTD_freeCCtx(w->zstd);
	free(w->out.p);
	free(w->raw.p);
	free(w->v);
	free(w->there);
	free(w->indexes);
	free(w->order);
	free(w->spare);
	free(w->local);
	free(w->turns);
	free(w->dictionary);
	free(w);
}

static int put_parquet_bytes(struct kt_pq_file *f, const void *data, size_t len)
{
	f->at += len;
	return len ? f->output.write(f->output.arg, data, len) : 0;
}

/**
 * kt_pq_file_new() - Begin a file
 * @schema: its table; must stay valid
 * @output: where it goes
 * @file: set on success
 *
 * Return: 0, -ENOMEM or what the output returned.
 */
int kt_pq_file_new(const struct kt_pq_schema *schema,
		   const struct kt_pq_output *output, struct kt_pq_file **file)
{
	struct kt_pq_file *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->schema = schema;
	f->output = *output;
	err = put_parquet_bytes(f, MAGIC, 4);
	if (err)
		free(f);
	else
		*file = f;
	return err;
}

/* Return the bytes written so far. */
uint64_t kt_pq_file_size(const struct kt_pq_file *f)
{
	return f->at;
}

/* ---- footer ------------------------------------------------------------------------- */

static void put_logical(struct kt_thrift *th, unsigned int type)
{
	kt_thrift_i32(th, 6, type == KT_PQ_UTC ? TIMESTAMP_MICROS : UTF8);
	kt_thrift_open(th, 10);
	if (type == KT_PQ_UTC) {
		kt_thrift_open(th, LOGICAL_TIME);
		kt_thrift_true(th, 1); /* UTC */
		kt_thrift_open(th, 2);
		kt_thrift_open(th, 2); /* microseconds */
		kt_thrift_close(th);
		kt_thrift_close(th);
	} else {
		kt_thrift_open(th, LOGICAL_STRING);
	}
	kt_thrift_close(th);
	kt_thrift_close(th);
}

/* Put the schema: its first element is the table, with the number of columns that follow. */
static void put_schema(struct kt_thrift *th, const struct kt_pq_schema *schema)
{
	kt_thrift_list(th, 2, KT_THRIFT_STRUCT, schema->nr + 1);
	kt_thrift_item(th);
	kt_thrift_text(th, 4, schema->name);
	kt_thrift_i32(th, 5, (int32_t)schema->nr);
	kt_thrift_close(th);
	for (unsigned int i = 0; i < schema->nr; i++) {
		const struct kt_pq_column *c = &schema->columns[i];

		kt_thrift_item(th);
		kt_thrift_i32(th, 1, kt_pq_physical(c->type));
		kt_thrift_i32(th, 3, c->null); /* required or optional */
		kt_thrift_text(th, 4, c->name);
		if (c->type == KT_PQ_UTC || kt_pq_physical(c->type) == KT_PQ_BYTES_)
			put_logical(th, c->type);
		kt_thrift_close(th);
	}
}

/* What is left of the meta data and sizes while the footer is written. */
struct left {
	const uint8_t *meta;
	const struct kt_pq_sizes *sizes;
	uint64_t pages;	 /* offset of the next column index */
	uint64_t places; /* offset of the next offset index */
};

static void put_column(struct kt_thrift *th, struct left *left)
{
	const struct kt_pq_sizes *s = left->sizes++;

	kt_thrift_item(th);
	kt_thrift_i64(th, 2, 0); /* file_offset: no longer used */
	kt_thrift_field(th, 3, KT_THRIFT_STRUCT);
	th->p = kt_put_mem(th->p, (const char *)left->meta, s->meta);
	kt_thrift_i64(th, 4, (int64_t)left->places);
	kt_thrift_i32(th, 5, (int32_t)s->places);
	if (s->pages) {
		kt_thrift_i64(th, 6, (int64_t)left->pages);
		kt_thrift_i32(th, 7, (int32_t)s->pages);
	}
	kt_thrift_close(th);
	left->meta += s->meta;
	left->pages += s->pages;
	left->places += s->places;
}

static void put_parquet_group(struct kt_thrift *th, const struct kt_pq_file *f,
			      const struct kt_pq_group *g, struct left *left)
{
	kt_thrift_item(th);
	kt_thrift_list(th, 1, KT_THRIFT_STRUCT, f->schema->nr);
	for (unsigned int i = 0; i < f->schema->nr; i++)
		put_column(th, left);
	kt_thrift_i64(th, 2, (int64_t)g->plain);
	kt_thrift_i64(th, 3, (int64_t)g->rows);
	if (f->schema->time >= 0) {
		kt_thrift_list(th, 4, KT_THRIFT_STRUCT, 1);
		kt_thrift_item(th);
		kt_thrift_i32(th, 1, f->schema->time);
		kt_thrift_bool(th, 2, false);
		kt_thrift_bool(th, 3, false);
		kt_thrift_close(th);
	}
	kt_thrift_i64(th, 5, (int64_t)g->offset);
	kt_thrift_i64(th, 6, (int64_t)g->size);
	kt_thrift_close(th);
}

static void put_notes(struct kt_thrift *th, const struct kt_pq_note *notes,
		      unsigned int nr)
{
	kt_thrift_list(th, 5, KT_THRIFT_STRUCT, nr);
	for (unsigned int i = 0; i < nr; i++) {
		kt_thrift_item(th);
		kt_thrift_text(th, 1, notes[i].key);
		kt_thrift_text(th, 2, notes[i].value);
		kt_thrift_close(th);
	}
}

/* Return the bytes that a footer may take. */
static size_t footer_max(const struct kt_pq_file *f)
{
	size_t groups = f->groups.len / sizeof(struct kt_pq_group);
	size_t max = NOTES_MAX + f->meta.len + groups * GROUP_MAX +
		     groups * f->schema->nr * CHUNK_MAX;

	for (unsigned int i = 0; i < f->schema->nr; i++)
		max += COLUMN_MAX + strlen(f->schema->columns[i].name);
	return max;
}

static void put_footer(struct kt_thrift *th, const struct kt_pq_file *f,
		       struct left *left, const struct kt_pq_note *notes,
		       unsigned int nr)
{
	const struct kt_pq_group *g = (const void *)f->groups.p;
	size_t groups = f->groups.len / sizeof(*g);

	kt_thrift_i32(th, 1, 2); /* version of the format */
	put_schema(th, f->schema);
	kt_thrift_i64(th, 3, (int64_t)f->rows);
	kt_thrift_list(th, 4, KT_THRIFT_STRUCT, groups);
	for (size_t i = 0; i < groups; i++)
		put_parquet_group(th, f, &g[i], left);
	put_notes(th, notes, nr);
	kt_thrift_text(th, 6, CREATOR);
	/* Least and greatest values are of the order that the types define. */
	kt_thrift_list(th, 7, KT_THRIFT_STRUCT, f->schema->nr);
	for (unsigned int i = 0; i < f->schema->nr; i++) {
		kt_thrift_item(th);
		kt_thrift_open(th, 1);
		kt_thrift_close(th);
		kt_thrift_close(th);
	}
}

/* Write the column indexes of all row groups, or with @places the offset indexes. */
static int put_indexes(struct kt_pq_file *f, bool places)
{
	const struct kt_pq_sizes *s = (const void *)f->sizes.p;
	size_t nr = f->sizes.len / sizeof(*s);
	const uint8_t *p = f->index.p;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		err = places ? put_parquet_bytes(f, p + s[i].pages, s[i].places) :
			       put_parquet_bytes(f, p, s[i].pages);
		p += s[i].pages + s[i].places;
	}
	return err;
}

/**
 * kt_pq_file_end() - Write the end of a file
 * @f: the file
 * @w: the workspace
 * @notes: texts for the footer, together less than 12 KiB
 * @nr: number of @notes
 *
 * Return: 0, -ENOMEM or what the output returned.
 */
int kt_pq_file_end(struct kt_pq_file *f, struct kt_pq_workspace *w,
		   const struct kt_pq_note *notes, unsigned int nr)
{
	struct left left = {
		.meta = f->meta.p,
		.sizes = (const void *)f->sizes.p,
		.pages = f->at,
	};
	struct kt_thrift th = { 0 };
	uint8_t *start, tail[8];
	size_t len;
	int err = put_indexes(f, false);

	left.places = f->at;
	if (!err)
		err = put_indexes(f, true);
	if (err)
		return err;
	w->out.len = 0;
	start = kt_pq_room(&w->out, footer_max(f));
	if (!start)
		return -ENOMEM;
	th.p = (char *)start;
	put_footer(&th, f, &left, notes, nr);
	len = (size_t)(kt_thrift_end(&th) - (char *)start);
	kt_set32(tail, (uint32_t)len);
	memcpy(tail + 4, MAGIC, 4);
	err = put_parquet_bytes(f, start, len);
	return err ? err : put_parquet_bytes(f, tail, sizeof(tail));
}

/**
 * kt_pq_file_free() - Free a file
 * @f: the file, or NULL
 */
void kt_pq_file_free(struct kt_pq_file *f)
{
	if (!f)
		return;
	free(f->groups.p);
	free(f->sizes.p);
	free(f->meta.p);
	free(f->index.p);
	free(f);
}
