/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The description of a kernel's events that trace-cmd and perf keep in their traces:
 *
 *	header_page\0 | size 64 | text | header_event\0 | size 64 | text |
 *	ftrace's layouts: count 32, then size 64 and text of each |
 *	layouts by system: count 32, then name\0, count 32, and size 64 and text of each |
 *	kallsyms: size 32, text | printk formats: size 32, text | names: size 64, text
 *
 * A number behind a name is its width in bits.  trace-cmd.dat.v6(5) describes this; perf writes
 * the same behind its own head.
 */
#ifndef _KT_TRACING_DATA_H
#define _KT_TRACING_DATA_H

#include "format/ftrace_own.h"
#include "format/symbols.h"

/**
 * struct kt_page_form - where the head of a page of ftrace's ring buffer has what
 * @commit: offset of the number of bytes in use
 * @long_size: bytes of that number
 * @data: offset of the first record; 0 = not described
 * @big: pages are big-endian
 */
struct kt_page_form {
	uint32_t commit;
	uint32_t long_size;
	uint32_t data;
	bool big;
};

/**
 * struct kt_tracing_data - what was read
 * @form: head of a page
 * @layouts: layouts of all events
 * @symbols: names of functions
 * @ftrace: what the events of ftrace itself refer to
 * @tasks: lines "PID NAME", or NULL
 */
struct kt_tracing_data {
	struct kt_page_form form;
	struct kt_layouts layouts;
	struct kt_symbols symbols;
	struct kt_ftrace ftrace;
	char *tasks;
};

/**
 * struct kt_part - bytes of a head that are being read
 * @s: the trace
 * @data: the bytes
 * @len: how many
 * @at: the next one
 * @offset: of the first one in the file
 * @big: numbers are big-endian
 */
struct kt_part {
	struct kt_import *s;
	const uint8_t *data;
	uint64_t len;
	uint64_t at;
	uint64_t offset;
	bool big;
};

/*
 * tracing_data.c.  Bytes of a part: each takes what it names and goes on behind it.  Return: 0
 * or -EBADMSG, which kt_part_cut() reports.
 */
int kt_part_cut(const struct kt_part *p);
int kt_part_take(struct kt_part *p, uint64_t n, const uint8_t **bytes);
int kt_part_take32(struct kt_part *p, uint32_t *v);
int kt_part_take64(struct kt_part *p, uint64_t *v);
int kt_part_text(struct kt_part *p, const char **text);
char *kt_part_copy(struct kt_part *p, uint64_t size, int *err);

/*
 * A reader sets the order of bytes, takes the parts of the head one after the other, each with
 * the function of its name, and the clock's origin (wall, in ns since the epoch).  Then it
 * binds: finds out which event of ktape each described event becomes.  From then on it reads
 * the fields of each record; @values have room for those of the layout.  At the end it reports
 * which texts are missing, and delivers the threads of the part "tasks" that no event named.
 */
void kt_tracing_order(struct kt_tracing_data *d, bool big);
int kt_tracing_header(struct kt_part *p, struct kt_tracing_data *d);
int kt_tracing_ftrace(struct kt_part *p, struct kt_tracing_data *d);
int kt_tracing_events(struct kt_part *p, struct kt_tracing_data *d);
int kt_tracing_kallsyms(struct kt_part *p, struct kt_tracing_data *d);
int kt_tracing_printk(struct kt_part *p, struct kt_tracing_data *d);
void kt_tracing_wall(struct ktape_info *info, int64_t wall);
int kt_tracing_bind(struct kt_tracing_data *d, struct kt_tp *tp);
int kt_tracing_read(struct kt_tracing_data *d, struct kt_layout *l,
		    const uint8_t *data, size_t len, struct kt_tp_value *values);
void kt_tracing_end(struct kt_tracing_data *d, struct kt_import *s);
int kt_tracing_names(const struct kt_tracing_data *d, struct kt_tp *tp);
int kt_tracing_tasks(struct kt_part *p, struct kt_tracing_data *d);
void kt_tracing_free(struct kt_tracing_data *d);

#endif /* _KT_TRACING_DATA_H */
