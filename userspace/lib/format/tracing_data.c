// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the description of a kernel's events, which trace-cmd and perf keep in their traces: part by
 * part, as tracing_data.h draws them.  A kt_tracing_*() that reads a part returns 0 or negative
 * errno.  All sizes are checked against the bytes that are there.
 */
#include "util/nanoseconds.h"

#include "tracing_data.h"

#define PAGE_HEAD 256U /* more than the head of a page has */

/* ---- parts -------------------------------------------------------------------------------- */

/* Fail because the part ends too early.  Return: -EBADMSG. */
int kt_part_cut(const struct kt_part *p)
{
	return kt_import_fail(p->s, p->offset + p->len,
			      "the head of the file is cut off");
}

/* Take @n bytes, and set @bytes to the first.  Return: 0, or -EBADMSG if there are fewer. */
int kt_part_take(struct kt_part *p, uint64_t n, const uint8_t **bytes)
{
	*bytes = p->data + p->at;
	if (n > p->len - p->at)
		return kt_part_cut(p);
	p->at += n;
	return 0;
}

/* Take a number of 32 bits.  Return: 0 or -EBADMSG. */
int kt_part_take32(struct kt_part *p, uint32_t *v)
{
	const uint8_t *bytes;
	int err = kt_part_take(p, 4, &bytes);

	*v = err ? 0 : kt_load32(bytes, p->big);
	return err;
}

/* The same of 64 bits. */
int kt_part_take64(struct kt_part *p, uint64_t *v)
{
	const uint8_t *bytes;
	int err = kt_part_take(p, 8, &bytes);

	*v = err ? 0 : kt_load64(bytes, p->big);
	return err;
}

/* Take a text with its NUL.  Return: 0 or -EBADMSG. */
int kt_part_text(struct kt_part *p, const char **text)
{
	const uint8_t *from = p->data + p->at;
	const uint8_t *nul = memchr(from, 0, p->len - p->at);

	*text = "";
	if (!nul)
		return kt_part_cut(p);
	*text = (const char *)from;
	p->at += (uint64_t)(nul - from) + 1;
	return 0;
}

/* ---- layouts and names -------------------------------------------------------------------- */

/* Read "offset:N; size:N" of a field of header_page. */
static void page_field(const char *text, const char *name, uint32_t *offset,
		       uint32_t *size)
{
	const char *at = strstr(text, name), *o, *z;

	o = at ? strstr(at, "offset:") : NULL;
	z = o ? strstr(o, "size:") : NULL;
	if (!z)
		return;
	*offset = (uint32_t)strtoul(o + strlen("offset:"), NULL, 10);
	if (size)
		*size = (uint32_t)strtoul(z + strlen("size:"), NULL, 10);
}

/* Set the order of bytes of the machine whose records are described. */
void kt_tracing_order(struct kt_tracing_data *d, bool big)
{
	d->form.big = d->layouts.big = d->ftrace.big = big;
}

/* Read header_page, how a page begins, and skip header_event. */
int kt_tracing_header(struct kt_part *p, struct kt_tracing_data *d)
{
	const uint8_t *bytes;
	uint64_t size, at = 0;
	char *text;
	int err = kt_part_take(p, sizeof("header_page"), &bytes);

	if (!err)
		err = kt_part_take64(p, &size);
	if (!err) {
		at = p->offset + p->at;
		err = kt_part_take(p, size, &bytes);
	}
	if (err)
		return err;
	text = strndup((const char *)bytes, size);
	if (!text)
		return -ENOMEM;
	page_field(text, " commit;", &d->form.commit, &d->form.long_size);
	page_field(text, " data;", &d->form.data, NULL);
	free(text);
	err = kt_part_take(p, sizeof("header_event"), &bytes);
	if (!err)
		err = kt_part_take64(p, &size);
	if (!err)
		err = kt_part_take(p, size, &bytes);
	if (err)
		return err;
	if ((d->form.long_size != 4 && d->form.long_size != 8) ||
	    d->form.commit < 8 || d->form.data < d->form.commit + d->form.long_size ||
	    d->form.data > PAGE_HEAD)
		return kt_import_fail(
			p->s, at, "the description of the pages is not understood");
	d->layouts.long_size = d->form.long_size; /* of the commit counter, a long */
	return 0;
}

/* Take a size and a layout.  One that is not understood is reported and left out. */
static int take_layout(struct kt_part *p, struct kt_tracing_data *d)
{
	uint64_t size, at = p->offset + p->at;
	const uint8_t *bytes;
	int err = kt_part_take64(p, &size);

	if (!err)
		err = kt_part_take(p, size, &bytes);
	if (err)
		return err;
	err = kt_layout_add(&d->layouts, (const char *)bytes, size);
	if (err != -EBADMSG)
		return err;
	kt_import_bad(p->s, at,
		      "the layout of an event is not understood: its records are left out");
	return 0;
}

/* Read the layouts of ftrace's own events. */
int kt_tracing_ftrace(struct kt_part *p, struct kt_tracing_data *d)
{
	uint32_t nr;
	int err = kt_part_take32(p, &nr);

	while (!err && nr--) {
		size_t before = d->layouts.nr;

		err = take_layout(p, d);
		if (d->layouts.nr > before)
			d->layouts.list[before].of_ftrace = true;
	}
	return err;
}

/* Read the layouts of all other events, by system. */
int kt_tracing_events(struct kt_part *p, struct kt_tracing_data *d)
{
	uint32_t systems, events;
	const char *name;
	int err = kt_part_take32(p, &systems);

	while (!err && systems--) {
		err = kt_part_text(p, &name);
		if (!err)
			err = kt_part_take32(p, &events);
		while (!err && events--)
			err = take_layout(p, d);
	}
	return err;
}

/* Copy @size bytes as a text.  Return: the text, or NULL with *@err set. */
char *kt_part_copy(struct kt_part *p, uint64_t size, int *err)
{
	const uint8_t *bytes;
	char *text;

	*err = kt_part_take(p, size, &bytes);
	if (*err)
		return NULL;
	text = malloc(size + 1);
	if (!text) {
		*err = -ENOMEM;
		return NULL;
	}
	memcpy(text, bytes, size);
	text[size] = '\0';
	return text;
}

/* Read names of functions.  A second copy of them is skipped. */
int kt_tracing_kallsyms(struct kt_part *p, struct kt_tracing_data *d)
{
	uint32_t size;
	char *text;
	int err = kt_part_take32(p, &size);

	text = err ? NULL : kt_part_copy(p, size, &err);
	if (!text)
		return err;
	if (d->symbols.text) {
		free(text);
		return 0;
	}
	return kt_symbols_take(&d->symbols, text, size);
}

/* Read names of threads, for kt_tracing_names().  A second copy of them replaces the first. */
int kt_tracing_tasks(struct kt_part *p, struct kt_tracing_data *d)
{
	uint64_t size;
	char *text;
	int err = kt_part_take64(p, &size);

	text = err ? NULL : kt_part_copy(p, size, &err);
	if (!text)
		return err;
	free(d->tasks);
	d->tasks = text;
	return 0;
}

/* Read formats and texts of trace_printk(). */
int kt_tracing_printk(struct kt_part *p, struct kt_tracing_data *d)
{
	uint32_t size;
	char *text;
	int err = kt_part_take32(p, &size);

	text = err ? NULL : kt_part_copy(p, size, &err);
	return text ? kt_printk_take(&d->ftrace.printk, text, size) : err;
}

/**
 * kt_tracing_wall() - set the origin of a clock that counts ns
 * @info: of the trace
 * @wall: what is added to get the time since the epoch, in ns; 0 = not known
 *
 * @wall is negative where the time since the epoch is less than the clock's: a machine whose wall
 * clock was never set.
 */
void kt_tracing_wall(struct ktape_info *info, int64_t wall)
{
	int64_t rest = wall % NS_PER_S;

	if (!wall)
		return;
	info->offset_s = wall / NS_PER_S - (rest < 0);
	info->offset = (uint64_t)(rest < 0 ? rest + NS_PER_S : rest);
	info->real_offset_ns = wall;
}

/* Check whether the kernel is at least this one; without a release it is not. */
static bool is_release(const char *release, unsigned int major, unsigned int minor)
{
	unsigned int a, b;

	return sscanf(release, "%u.%u", &a, &b) == 2 &&
	       (a > major || (a == major && b >= minor));
}

/**
 * kt_tracing_bind() - find out what the events become, after all parts were read
 * @d: what was read
 * @tp: memory of the reader
 *
 * Return: 0 or negative errno.
 */
int kt_tracing_bind(struct kt_tracing_data *d, struct kt_tp *tp)
{
	int err = 0;

	/* From Linux 6.14 on vbin_printf() packs numbers of less than 32 bits as an int. */
	d->ftrace.ints = is_release(tp->s->info->release, 6, 14);
	for (size_t i = 0; i < d->layouts.nr && !err; i++) {
		if (d->layouts.list[i].of_ftrace)
			err = kt_ftrace_bind(&d->layouts.list[i], d->symbols.nr);
	}
	return err ? err : kt_layouts_bind(&d->layouts, tp);
}

/*
 * Replace addresses of texts by the texts.  The kernel keeps those of its tracepoints beside the
 * formats of trace_printk().  The trace does not have a program's texts (arguments of system
 * calls): there the address stays.
 */
static void put_texts(const struct kt_printk *known, struct kt_layout *l,
		      struct kt_tp_value *values)
{
	for (unsigned int i = 0; i < l->class.nr; i++) {
		const char *text;

		if (!l->fields[i].to_text)
			continue;
		text = kt_printk_find(known, values[i].number);
		l->class.fields[i].type = text ? KT_TP_TEXT : KT_TP_HEX;
		values[i].data = text;
		values[i].len = text ? strlen(text) : 0;
	}
}

/**
 * kt_tracing_read() - read the fields of a record
 * @d: the description
 * @l: the record's layout
 * @data: the record, from the number of its event on
 * @len: bytes of @data
 * @values: filled, in the order of the class; valid up to the next call
 *
 * Return: 0, -EBADMSG if a field is not in the record, or -ENOMEM.
 */
int kt_tracing_read(struct kt_tracing_data *d, struct kt_layout *l,
		    const uint8_t *data, size_t len, struct kt_tp_value *values)
{
	int err = kt_layout_read(&d->layouts, l, data, len, values);

	if (!err && l->has_texts)
		put_texts(&d->ftrace.printk, l, values);
	if (!err && l->own)
		err = kt_ftrace_finish(&d->ftrace, l, &d->symbols,
				       d->layouts.long_size, values);
	return err;
}

/* At the end of the trace: report which texts are not complete. */
void kt_tracing_end(struct kt_tracing_data *d, struct kt_import *s)
{
	if (d->ftrace.unknown)
		kt_import_note(s, "%llu texts of trace_printk() have no format in the file: their arguments are left out",
			       (unsigned long long)d->ftrace.unknown);
	if (d->ftrace.missing)
		kt_import_note(s, "%llu texts of trace_printk() have fewer arguments than their format: the rest is shown as the format has it",
			       (unsigned long long)d->ftrace.missing);
	if (d->ftrace.cut)
		kt_import_note(s, "%llu texts or lists of functions were cut: a text has at most %u characters, and widths are shorter",
			       (unsigned long long)d->ftrace.cut, KT_PRINTK_MAX);
	d->ftrace.unknown = d->ftrace.missing = d->ftrace.cut = 0;
}

/**
 * kt_tracing_names() - deliver the names of threads that no event has named
 * @d: what was read
 * @tp: memory of the reader
 *
 * The names are those of the end of the trace: a thread may have had others before.
 *
 * Return: 0 or negative errno.
 */
int kt_tracing_names(const struct kt_tracing_data *d, struct kt_tp *tp)
{
	const struct kt_delivery at = {
		.ts = tp->last.ts,
		.cpu = tp->last.cpu,
	};
	const char *line = d->tasks;
	int err = 0;

	while (!err && line && *line) {
		size_t len = strcspn(line, "\n");
		char *name;
		long tid = strtol(line, &name, 10);

		if (name != line && *name == ' ' && name < line + len &&
		    !kt_tp_is_named(tp, tid))
			err = kt_tp_task(tp, &at, tid, 0, name + 1,
					 (size_t)(line + len - name - 1));
		line += len + (line[len] == '\n');
	}
	return err;
}

void kt_tracing_free(struct kt_tracing_data *d)
{
	kt_layouts_free(&d->layouts);
	kt_symbols_free(&d->symbols);
	kt_ftrace_free(&d->ftrace);
	free(d->tasks);
	d->tasks = NULL;
}
