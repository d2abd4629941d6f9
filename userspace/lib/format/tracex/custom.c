// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading a .trxc file, in which users of TraceX name their own events.  Lines between Start
 * and End are
 *
 *	number, name, abbreviation, (r,g,b), (r,g,b), label1, ... label4
 *
 * with comments from // on.  Colours and abbreviation are for TraceX's screen and ignored.
 * Only number and name must be there.  Names and labels are cut to KT_CUSTOM_TEXT.
 */
#include "util/parse.h"

#include "internal.h"

#define LINE_SIZE   1024 /* longer lines are read in pieces */
#define FIELDS	    9
#define FIRST_LABEL 5
#define EVENTS_MAX  65536U

static int compare_ids(const void *a, const void *b)
{
	const struct kt_custom *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static char *trim_custom_blanks(char *text)
{
	char *end;

	while (*text == ' ' || *text == '\t')
		text++;
	end = text + strlen(text);
	while (end > text && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	return text;
}

/* Split a line at the commas outside of parentheses.  Return: number of fields. */
static unsigned int split_fields(char *line, char *fields[FIELDS])
{
	unsigned int nr = 0;
	int depth = 0;
	char *begin = line;

	for (char *p = line; nr < FIELDS; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (*p && (*p != ',' || depth > 0))
			continue;
		fields[nr++] = begin;
		begin = p + 1;
		if (!*p)
			break;
		*p = '\0';
	}
	for (unsigned int i = 0; i < nr; i++)
		fields[i] = trim_custom_blanks(fields[i]);
	return nr;
}

static int add_custom(struct kt_customs *c, char *fields[FIELDS],
		      unsigned int nr, uint32_t id)
{
	struct kt_custom *more, *e;

	if (!(c->nr & (c->nr - 1))) {
		more = realloc(c->events, (c->nr ? c->nr * 2 : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->events = more;
	}
	e = &c->events[c->nr++];
	memset(e, 0, sizeof(*e));
	e->id = id;
	snprintf(e->texts[0], KT_CUSTOM_TEXT, "%s", fields[1]);
	for (unsigned int i = FIRST_LABEL; i < nr; i++)
		snprintf(e->texts[1 + i - FIRST_LABEL], KT_CUSTOM_TEXT, "%s",
			 fields[i]);
	return 0;
}

static int take_custom_line(struct kt_customs *c, char *line, unsigned int number,
			    const char *path, struct kt_import *s)
{
	char *fields[FIELDS];
	unsigned int nr = split_fields(line, fields);
	uint64_t id;

	if (nr < 2 || kt_parse_u64(fields[0], &id) ||
	    id > KT_THREADX_EVENT_MASK || !*fields[1]) {
		kt_import_fail(s, 0,
			       "%.60s line %u: must begin with a number up to 65535 and a name",
			       path, number);
		return -EINVAL;
	}
	if (c->nr == EVENTS_MAX) {
		kt_import_fail(s, 0, "%.60s: more than %u events", path, EVENTS_MAX);
		return -EINVAL;
	}
	return add_custom(c, fields, nr, (uint32_t)id);
}

static int read_lines(struct kt_customs *c, FILE *file, const char *path,
		      struct kt_import *s)
{
	char line[LINE_SIZE], *comment, *text;
	bool inside = false;
	int err = 0;

	for (unsigned int nr = 1; !err && fgets(line, sizeof(line), file); nr++) {
		comment = strstr(line, "//");
		if (comment)
			*comment = '\0';
		text = trim_custom_blanks(line);
		if (!strcmp(text, "Start"))
			inside = true;
		else if (!strcmp(text, "End"))
			return 0;
		else if (inside && *text)
			err = take_custom_line(c, text, nr, path, s);
	}
	if (!err && !inside) {
		kt_import_fail(s, 0, "%.60s: no line \"Start\"", path);
		err = -EINVAL;
	}
	return err;
}

/**
 * kt_customs_read() - read a .trxc file
 * @c: filled; the caller frees @c->events, also after an error
 * @path: name of the file
 * @s: the trace, for kt_import_fail()
 *
 * Return: 0, -EINVAL with kt_import_fail(), or -ENOMEM.
 */
int kt_customs_read(struct kt_customs *c, const char *path, struct kt_import *s)
{
	FILE *file = fopen(path, "re");
	int err;

	if (!file) {
		kt_import_fail(s, 0, "%.80s: %s", path, strerror(errno));
		return -EINVAL;
	}
	err = read_lines(c, file, path, s);
	fclose(file);
	if (!err && c->nr)
		qsort(c->events, c->nr, sizeof(*c->events), compare_ids);
	return err;
}

/* Return the event of a number, or NULL. */
const struct kt_custom *kt_customs_find(const struct kt_customs *c, uint32_t id)
{
	const struct kt_custom key = { .id = id };

	return c->nr ? bsearch(&key, c->events, c->nr, sizeof(key), compare_ids) :
		       NULL;
}
