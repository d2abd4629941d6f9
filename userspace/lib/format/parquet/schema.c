// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tables as the writer of files takes them.  The columns of "event" are those of
 * tables.h and one for each name of a field in the event table: arg_NAME.  In a single
 * file there are also those for which a folder has other tables: host, thread, losses.
 */
#include "internal.h"
#include "schema.h"

/* clang-format off */
#define PQ_COLUMN(NAME, COLUMN, column, type, null, unit, help) \
	{ #column, KT_PQ_##type, null },
#define PQ_TABLE(NAME, name, sorts, help) \
	static const struct kt_pq_column columns_##NAME[] = {
#define PQ_END(NAME) };
#include "tables.h"
/* clang-format on */

static const struct kt_pq_schema tables[PQ_TABLES] = {
#define PQ_TABLE(NAME, name, sorts, help)                                     \
	[PQ_##NAME] = { #name, columns_##NAME, KT_ARRAY_SIZE(columns_##NAME), \
			PQ_TS, sorts },
#include "tables.h"
};

/* By enum pq_single. */
static const struct kt_pq_column single_columns[PQ_SINGLE] = {
	{ "host", KT_PQ_SAME, false }, { "tid", KT_PQ_INT32, true },
	{ "pid", KT_PQ_INT32, true },  { "comm", KT_PQ_NAME, true },
	{ "lost", KT_PQ_INT64, true }, { "ts_end", KT_PQ_INT64, true },
};

/* Check whether a field is a number, so that a column can have it. */
static bool is_number_column(const struct ktape_field *f)
{
	return f->place == KTAPE_PLACE_BITS || f->place == KTAPE_PLACE_ARG;
}

/* Check whether a column is that of a field, of the given name if there is one. */
static bool is_arg(const struct kt_pq_column *c, const char *name)
{
	const size_t len = strlen(PQ_ARG);

	return !strncmp(c->name, PQ_ARG, len) &&
	       (!name || !strcmp(c->name + len, name));
}

/* Return the column of a field name, or @nr if there is none yet. */
static unsigned int find_arg(const struct kt_pq_column *columns,
			     unsigned int nr, const char *name)
{
	unsigned int i = PQ_EVENT_COLUMNS;

	while (i < nr && !is_arg(&columns[i], name))
		i++;
	return i;
}

/**
 * pq_arg_column() - Return the column of "event" that a field has
 * @s: schema of the table
 * @f: the field
 *
 * Return: the column, 0 = it has none.
 */
unsigned int pq_arg_column(const struct kt_pq_schema *s, const struct ktape_field *f)
{
	unsigned int i = find_arg(s->columns, s->nr, f->name);

	return is_number_column(f) && i < s->nr ? i : 0;
}

/*
 * Add a column for each name of a field to @columns, those of @schema, which has their number at
 * any time, so that free_event_schema() frees their names.  Return: 0 or -ENOMEM.
 */
static int add_args(struct kt_pq_schema *schema, struct kt_pq_column *columns)
{
	const struct ktape_event_desc *d;
	char *name;

	for (unsigned int op = 0; op < KTAPE_OPCODES; op++) {
		d = ktape_event_desc(op);
		for (unsigned int i = 0; d && i < d->nr_fields; i++) {
			const struct ktape_field *f = &d->fields[i];

			if (!is_number_column(f) ||
			    find_arg(columns, schema->nr, f->name) < schema->nr)
				continue;
			if (asprintf(&name, PQ_ARG "%s", f->name) < 0)
				return -ENOMEM;
			columns[schema->nr++] = (struct kt_pq_column){
				name,
				KT_PQ_INT64,
				true,
			};
		}
	}
	return 0;
}

static unsigned int count_fields(void)
{
	const struct ktape_event_desc *d;
	unsigned int nr = 0;

	for (unsigned int op = 0; op < KTAPE_OPCODES; op++) {
		d = ktape_event_desc(op);
		nr += d ? d->nr_fields : 0;
	}
	return nr;
}

/**
 * make_event_schema() - Make the schema of the table "event"
 * @single: for a single file
 * @schema: filled; release with free_event_schema()
 *
 * Return: 0 or -ENOMEM.
 */
static int make_event_schema(bool single, struct kt_pq_schema *schema)
{
	struct kt_pq_column *columns;
	int err;

	*schema = tables[PQ_EVENT];
	columns = calloc(PQ_EVENT_COLUMNS + count_fields() + PQ_SINGLE,
			 sizeof(*columns));
	schema->columns = columns;
	if (!columns)
		return -ENOMEM;
	memcpy(columns, columns_EVENT, sizeof(columns_EVENT));
	schema->nr = PQ_EVENT_COLUMNS;
	err = add_args(schema, columns);
	if (err)
		return err;
	if (single) {
		memcpy(columns + schema->nr, single_columns, sizeof(single_columns));
		schema->nr += PQ_SINGLE;
	}
	return 0;
}

/**
 * free_event_schema() - Free the schema of the table "event"
 * @schema: the schema
 */
static void free_event_schema(struct kt_pq_schema *schema)
{
	unsigned int i = PQ_EVENT_COLUMNS;

	if (!schema->columns)
		return;
	for (; i < schema->nr && is_arg(&schema->columns[i], NULL); i++)
		free((char *)schema->columns[i].name);
	free((void *)schema->columns);
	schema->columns = NULL;
}

/**
 * pq_schema_init() - Prepare the tables
 * @pq: the tables; @pq->single is set
 *
 * Return: 0 or -ENOMEM.
 */
int pq_schema_init(struct pq *pq)
{
	int err = 0;

	memcpy(pq->schemas, tables, sizeof(tables));
	/* These have no column of the time. */
	pq->schemas[PQ_PROCESS].time = -1;
	pq->schemas[PQ_THREAD].time = -1;
	pq->schemas[PQ_SYSINFO].time = -1;
	err = make_event_schema(pq->single, &pq->schemas[PQ_EVENT]);
	for (unsigned int i = 0; i < PQ_TABLES && !err; i++)
		err = kt_pq_rows_init(&pq->rows[i], &pq->schemas[i]);
	return err;
}

/**
 * pq_schema_free() - Free the tables and their rows
 * @pq: the tables
 */
void pq_schema_free(struct pq *pq)
{
	for (unsigned int i = 0; i < PQ_TABLES; i++) {
		if (pq->rows[i].schema)
			kt_pq_rows_free(&pq->rows[i]);
	}
	free_event_schema(&pq->schemas[PQ_EVENT]);
}
