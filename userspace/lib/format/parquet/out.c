// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write a trace as Apache Parquet, for DuckDB, Spark, ClickHouse and others.  Done
 * by hand, without a Parquet library; Thrift's encoding is in thrift.h.
 *
 *	"PAR1"
 *	row group	for each column: | page header | values, zstd |
 *	row group	...
 *	footer		schema, offsets and sizes of all columns (Thrift compact)
 *	| footer length 32 | "PAR1" |
 *
 *	ts, ts_ns	time since the epoch, as UTC timestamp and as number, ns
 *	host, cpu	where
 *	tid, pid, comm	thread (-1: unknown), its process and name
 *	class, event	of the event table
 *	fields		JSON object, as in ktape dump --json
 *
 * An event is a row.  A gap is a row, too, with class and event "lost".  Registry
 * records have no rows: their names are in the other columns.  Engines cut ts to
 * microseconds, hence ts_ns.  A group has up to 65536 rows or 16 MiB, which is what
 * is held in memory.  The offsets are in the footer, so a file without its end
 * cannot be read; there is no resynchronisation.
 */
#include <zstd.h>

#include "show/line.h"
#include "format/sink.h"
#include "parquet.h"
#include "thrift.h"

#define ROWS_MAX	65536U		/* rows of a group */
#define GROUP_MAX	(16U << 20)	/* bytes of a group, uncompressed */
#define LEVEL		3		/* zstd compression level */
#define LOST		"lost"		/* class and event of a gap */

/* Type, CompressionCodec and Encoding of parquet.thrift. */
enum {
	TYPE_INT32 = 1,
	TYPE_INT64 = 2,
	TYPE_BYTES = 6
};
enum {
	CODEC_NONE = 0,
	CODEC_ZSTD = 6
};
enum {
	ENCODING_PLAIN = 0,
	ENCODING_RLE = 3
};

enum column {
	TS,
	TS_NS,
	HOST,
	CPU,
	TID,
	PID,
	COMM,
	CLASS,
	EVENT,
	FIELDS,
	COLUMNS
};

static const struct {
	const char *name;
	uint8_t type;
} columns[COLUMNS] = {
	[TS] = { "ts", TYPE_INT64 },	    [TS_NS] = { "ts_ns", TYPE_INT64 },
	[HOST] = { "host", TYPE_BYTES },   [CPU] = { "cpu", TYPE_INT32 },
	[TID] = { "tid", TYPE_INT32 },	   [PID] = { "pid", TYPE_INT32 },
	[COMM] = { "comm", TYPE_BYTES },   [CLASS] = { "class", TYPE_BYTES },
	[EVENT] = { "event", TYPE_BYTES }, [FIELDS] = { "fields", TYPE_BYTES },
};

/* Values of a column in the current group. */
struct values {
	uint8_t *data;
	size_t len;
	size_t cap;
};

/* Where a column of a group is in the file. */
struct chunk {
	uint64_t offset;
	uint64_t size;		/* bytes, page header included */
	uint64_t plain;		/* bytes before compression, page header included */
};

struct group {
	struct chunk chunks[COLUMNS];
	uint64_t rows;
};

/**
 * struct parquet - file being written
 * @values: columns of the current group
 * @groups: groups that were written
 * @nr_groups: entries of @groups
 * @rows: rows of the current group
 * @all: rows of @groups
 * @pack: compressor; NULL: compress=none
 * @packed: room for a compressed column
 * @packed_size: bytes of @packed
 * @line: room for the JSON of an event
 * @line_size: bytes of @line
 */
struct parquet {
	struct values values[COLUMNS];
	struct group *groups;
	size_t nr_groups;
	uint64_t rows;
	uint64_t all;
	ZSTD_CCtx *pack;
	uint8_t *packed;
	size_t packed_size;
	char *line;
	size_t line_size;
};

static const struct ktape_codec_option options[] = {
	{ "compress", "zstd|none", "compression of pages (default zstd)" },
	{ .key = NULL },
};

static int parquet_begin(struct kt_sink *s)
{
	const char *how = kt_codec_option(&s->options, "compress");
	struct parquet *t = s->state;

	if (how && strcmp(how, "none") && strcmp(how, "zstd"))
		return kt_sink_fail(
			s, "compress=%s: use compress=zstd or compress=none",
			how);
	if (!how || !strcmp(how, "zstd")) {
		t->pack = ZSTD_createCCtx();
		if (!t->pack)
			return -ENOMEM;
	}
	return kt_sink_put(s, "PAR1", 4);
}

/* ---- values ---------------------------------------------------------------------- */

static uint8_t *grow_values(struct values *v, size_t n)
{
	size_t cap = kt_max(v->cap * 2, v->len + n + 4096);
	uint8_t *data;

	if (v->cap - v->len < n) {
		data = realloc(v->data, cap);
		if (!data)
			return NULL;
		v->data = data;
		v->cap = cap;
	}
	v->len += n;
	return v->data + v->len - n;
}

static int put_number(struct parquet *t, enum column c, int64_t value)
{
	bool wide = columns[c].type == TYPE_INT64;
	uint8_t *p = grow_values(&t->values[c], wide ? 8 : 4);

	if (!p)
		return -ENOMEM;
	if (wide)
		kt_set64(p, (uint64_t)value);
	else
		kt_set32(p, (uint32_t)value);
	return 0;
}

static int put_bytes(struct parquet *t, enum column c, const void *data,
		     size_t len)
{
	uint8_t *p = grow_values(&t->values[c], 4 + len);

	if (!p)
		return -ENOMEM;
	kt_set32(p, (uint32_t)len);
	if (len)
		memcpy(p + 4, data, len);
	return 0;
}

/* Write text with bytes that are not UTF-8 replaced; it is cut to a name's size. */
static int put_text(struct parquet *t, enum column c, const char *text,
		    size_t len)
{
	char copy[KTAPE_NAME_SIZE + 64];

	len = kt_min(len, sizeof(copy));
	memcpy(copy, text, len);
	kt_utf8_mend(copy, len);
	return put_bytes(t, c, copy, len);
}

/* ---- groups ----------------------------------------------------------------------- */

static char *put_page(char *p, size_t plain, size_t size, uint64_t rows)
{
	struct kt_thrift th = { .p = p };

	kt_thrift_i32(&th, 1, 0);	/* DATA_PAGE */
	kt_thrift_i32(&th, 2, (int32_t)plain);
	kt_thrift_i32(&th, 3, (int32_t)size);
	kt_thrift_open(&th, 5);
	kt_thrift_i32(&th, 1, (int32_t)rows);
	kt_thrift_i32(&th, 2, ENCODING_PLAIN);
	kt_thrift_i32(&th, 3, ENCODING_RLE);
	kt_thrift_i32(&th, 4, ENCODING_RLE);
	kt_thrift_close(&th);
	return kt_thrift_end(&th);
}

/* Compress a column into t->packed.  Return: 0 or -ENOMEM. */
static int compress_column(struct parquet *t, const struct values *v,
			   size_t *size)
{
	size_t bound = ZSTD_compressBound(v->len);
	uint8_t *room;

	if (t->packed_size < bound) {
		room = realloc(t->packed, bound);
		if (!room)
			return -ENOMEM;
		t->packed = room;
		t->packed_size = bound;
	}
	*size = ZSTD_compressCCtx(t->pack, t->packed, bound, v->data, v->len,
				  LEVEL);
	return ZSTD_isError(*size) ? -ENOMEM : 0;
}

static int put_chunk(struct kt_sink *s, struct values *v, struct chunk *c)
{
	struct parquet *t = s->state;
	const void *data = v->data;
	size_t size = v->len;
	char head[64], *end;
	int err = 0;

	if (t->pack) {
		err = compress_column(t, v, &size);
		data = t->packed;
	}
	if (err)
		return err;
	end = put_page(head, v->len, size, t->rows);
	c->offset = kt_sink_at(s);
	c->size = (uint64_t)(end - head) + size;
	c->plain = (uint64_t)(end - head) + v->len;
	v->len = 0;
	err = kt_sink_put(s, head, (size_t)(end - head));
	return err ? err : kt_sink_put(s, data, size);
}

static int put_group(struct kt_sink *s)
{
	struct parquet *t = s->state;
	struct group *groups;
	int err = 0;

	if (!t->rows)
		return 0;
	groups = realloc(t->groups, (t->nr_groups + 1) * sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	t->groups = groups;
	groups += t->nr_groups++;
	groups->rows = t->rows;
	for (unsigned int i = 0; i < COLUMNS && !err; i++)
		err = put_chunk(s, &t->values[i], &groups->chunks[i]);
	t->all += t->rows;
	t->rows = 0;
	return err;
}

/* End a row, and the group if it is full. */
static int end_row(struct kt_sink *s)
{
	struct parquet *t = s->state;
	size_t bytes = 0;

	t->rows++;
	for (unsigned int i = 0; i < COLUMNS; i++)
		bytes += t->values[i].len;
	return t->rows == ROWS_MAX || bytes >= GROUP_MAX ? put_group(s) : 0;
}

/* ---- rows --------------------------------------------------------------------------- */

static int put_thread(struct parquet *t, const struct kt_line *l)
{
	int32_t tid = l->event->tid;
	const struct ktape_object_info *o = NULL;
	int err;

	if (tid > 0)
		o = ktape_registry_thread(l->registry, tid, l->event->ts);
	err = put_number(t, TID, tid);
	if (!err)
		err = put_number(t, PID, o ? (int32_t)o->param1 : tid);
	if (err)
		return err;
	if (!tid)
		return put_text(t, COMM, "swapper", 7);
	return put_text(t, COMM, o ? o->name : "", o ? o->name_len : 0);
}

static int put_event(struct parquet *t, const struct kt_line *l)
{
	const struct ktape_event_desc *d = ktape_event_desc(l->event->opcode);
	const char *class = d ? ktape_class_desc(d->event_class)->name : "";
	const char *name = kt_line_event(l);
	char number[16];
	int err = put_text(t, CLASS, class, strlen(class));

	if (!*name) {
		snprintf(number, sizeof(number), "opcode_%u", l->event->opcode);
		name = number;
	}
	return err ? err : put_text(t, EVENT, name, strlen(name));
}

static int put_fields(struct parquet *t, const struct kt_line *l)
{
	size_t bound = ktape_format_bound(l->event);
	char *line, *p;

	if (t->line_size < bound) {
		line = realloc(t->line, bound);
		if (!line)
			return -ENOMEM;
		t->line = line;
		t->line_size = bound;
	}
	p = kt_put_char(t->line, '{');
	p = kt_put_char(kt_json_fields(p, l), '}');
	return put_bytes(t, FIELDS, t->line, (size_t)(p - t->line));
}

static int put_origin(struct kt_sink *s, uint64_t ts, uint32_t cpu)
{
	struct parquet *t = s->state;
	int64_t ns = ktape_epoch_ns(s->info, ts);
	int err = put_number(t, TS, ns);

	/* Some engines cut timestamps to microseconds: give the number as well. */
	if (!err)
		err = put_number(t, TS_NS, ns);
	if (!err)
		err = put_text(t, HOST, s->info->hostname,
			       strlen(s->info->hostname));
	return err ? err : put_number(t, CPU, (int32_t)cpu);
}

static int parquet_event(struct kt_sink *s, const struct ktape_event *e)
{
	const struct kt_line l = kt_line_of(s->info, s->registry, e, true);
	struct parquet *t = s->state;
	int err;

	if (e->opcode == KTAPE_TIME_EXTEND || e->opcode == KTAPE_EV_REGISTRY)
		return 0;
	err = put_origin(s, e->ts, e->cpu);
	if (!err)
		err = put_thread(t, &l);
	if (!err)
		err = put_event(t, &l);
	if (!err)
		err = put_fields(t, &l);
	return err ? err : end_row(s);
}

/* Write a gap as a row, so that a query sees it among the events. */
static int parquet_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct parquet *t = s->state;
	char text[96];
	int err = put_origin(s, n->from, n->cpu), len;

	if (!err)
		err = put_number(t, TID, -1);
	if (!err)
		err = put_number(t, PID, -1);
	if (!err)
		err = put_text(t, COMM, "", 0);
	if (!err)
		err = put_text(t, CLASS, LOST, strlen(LOST));
	if (!err)
		err = put_text(t, EVENT, LOST, strlen(LOST));
	if (err)
		return err;
	len = n->count ? snprintf(text, sizeof(text),
				  "{\"count\":%llu,\"to\":%lld}",
				  (unsigned long long)n->count,
				  (long long)ktape_epoch_ns(s->info, n->to)) :
			 snprintf(text, sizeof(text),
				  "{\"count\":null,\"to\":%lld}",
				  (long long)ktape_epoch_ns(s->info, n->to));
	err = put_bytes(t, FIELDS, text, (size_t)len);
	return err ? err : end_row(s);
}

/* ---- footer --------------------------------------------------------------------------- */

static void put_schema(struct kt_thrift *th)
{
	kt_thrift_list(th, 2, KT_THRIFT_STRUCT, COLUMNS + 1);
	kt_thrift_item(th);
	kt_thrift_text(th, 4, "schema");
	kt_thrift_i32(th, 5, COLUMNS);
	kt_thrift_close(th);
	for (unsigned int i = 0; i < COLUMNS; i++) {
		kt_thrift_item(th);
		kt_thrift_i32(th, 1, columns[i].type);
		kt_thrift_i32(th, 3, 0);	/* required */
		kt_thrift_text(th, 4, columns[i].name);
		if (columns[i].type == TYPE_BYTES)
			kt_thrift_i32(th, 6, 0);	/* UTF-8 */
		if (i == TS) {
			/* LogicalType TIMESTAMP, UTC, nanoseconds */
			kt_thrift_open(th, 10);
			kt_thrift_open(th, 8);
			kt_thrift_true(th, 1);
			kt_thrift_open(th, 2);
			kt_thrift_open(th, 3);
			kt_thrift_close(th);
			kt_thrift_close(th);
			kt_thrift_close(th);
			kt_thrift_close(th);
		}
		kt_thrift_close(th);
	}
}

static void put_column(struct kt_thrift *th, const struct parquet *t,
		       const struct group *g, unsigned int i)
{
	const struct chunk *c = &g->chunks[i];

	kt_thrift_item(th);
	kt_thrift_i64(th, 2, (int64_t)c->offset);
	kt_thrift_open(th, 3);
	kt_thrift_i32(th, 1, columns[i].type);
	kt_thrift_list(th, 2, KT_THRIFT_I32, 1);
	kt_thrift_number(th, ENCODING_PLAIN);
	kt_thrift_list(th, 3, KT_THRIFT_BINARY, 1);
	kt_thrift_bytes(th, columns[i].name, strlen(columns[i].name));
	kt_thrift_i32(th, 4, t->pack ? CODEC_ZSTD : CODEC_NONE);
	kt_thrift_i64(th, 5, (int64_t)g->rows);
	kt_thrift_i64(th, 6, (int64_t)c->plain);
	kt_thrift_i64(th, 7, (int64_t)c->size);
	kt_thrift_i64(th, 9, (int64_t)c->offset);
	kt_thrift_close(th);
	kt_thrift_close(th);
}

static void put_groups(struct kt_thrift *th, const struct parquet *t)
{
	kt_thrift_list(th, 4, KT_THRIFT_STRUCT, t->nr_groups);
	for (size_t i = 0; i < t->nr_groups; i++) {
		const struct group *g = &t->groups[i];
		uint64_t bytes = 0;

		kt_thrift_item(th);
		kt_thrift_list(th, 1, KT_THRIFT_STRUCT, COLUMNS);
		for (unsigned int c = 0; c < COLUMNS; c++) {
			put_column(th, t, g, c);
			bytes += g->chunks[c].plain;
		}
		kt_thrift_i64(th, 2, (int64_t)bytes);
		kt_thrift_i64(th, 3, (int64_t)g->rows);
		kt_thrift_close(th);
	}
}

static int parquet_end(struct kt_sink *s)
{
	struct parquet *t = s->state;
	struct kt_thrift th = { 0 };
	uint8_t tail[8];
	char *start, *stop;
	int err = put_group(s);

	if (err)
		return err;
	start = kt_sink_room(s, 4096 + t->nr_groups * COLUMNS * 160);
	if (!start)
		return s->error;
	th.p = start;
	kt_thrift_i32(&th, 1, 1);
	put_schema(&th);
	kt_thrift_i64(&th, 3, (int64_t)t->all);
	put_groups(&th, t);
	kt_thrift_text(&th, 6, "ktape");
	stop = kt_thrift_end(&th);
	kt_set32(tail, (uint32_t)(stop - start));
	memcpy(tail + 4, "PAR1", 4);
	kt_sink_done(s, stop);
	return kt_sink_put(s, tail, sizeof(tail));
}

static void parquet_close(struct kt_sink *s)
{
	struct parquet *t = s->state;

	for (unsigned int i = 0; i < COLUMNS; i++)
		free(t->values[i].data);
	free(t->groups);
	free(t->packed);
	free(t->line);
	ZSTD_freeCCtx(t->pack);
}

const struct kt_codec_out kt_parquet_out = {
	.options = options,
	.size = sizeof(struct parquet),
	.begin = parquet_begin,
	.event = parquet_event,
	.notice = parquet_notice,
	.end = parquet_end,
	.close = parquet_close,
};
