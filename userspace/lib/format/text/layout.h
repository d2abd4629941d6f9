/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of text as another tracer writes them, shared by ftrace.c and traceprinter.c.  (Layouts of
 * the kernel's records are something else: format/layout.h.)
 */
#ifndef _KT_LINE_LAYOUT_H
#define _KT_LINE_LAYOUT_H

#include "show/line.h"
#include "stream/event.h"
#include "format/left_out.h"
#include "format/writer.h"

/**
 * struct kt_layout_row - how an event is shown
 * @opcode: opcode of the event
 * @group: text before @name (the class in traceprinter), or NULL
 * @name: event name in that tracer
 * @text: what follows the name; see below
 *
 * In @text, {field} is the field as a number, {} all fields as in ktape dump, {@}
 * the name of the event's own thread, and {field:LETTER} the field as:
 *
 *	x  hexadecimal, 16 digits	X  hexadecimal, 8 digits
 *	3  decimal, 3 digits		p  priority
 *	c  name of the thread		g  process id of the thread
 *	s  task state letter		i  idle state
 *	v  name of the value		V  the same in capitals
 *	n  name of the object		f  symbol of the function
 *	d  device as MAJOR,MINOR	h  bytes as sectors of 512 bytes
 *	r  handled or unhandled
 */
struct kt_layout_row {
	uint8_t opcode;
	const char *group;
	const char *name;
	const char *text;
};

struct kt_layout_plan;

/**
 * struct kt_line_layout - a resolved table
 * @plans: by opcode; NULL: the event has no row
 */
struct kt_line_layout {
	struct kt_layout_plan *plans[KTAPE_OPCODES];
};

int kt_layout_init(struct kt_line_layout *layout, struct kt_sink *s,
		   const struct kt_layout_row *rows, size_t nr);
void kt_layout_free(struct kt_line_layout *layout);
void kt_layout_count(const struct kt_line_layout *layout, struct kt_sink *s,
		     const struct ktape_event *e);
const struct kt_layout_row *kt_layout_row(const struct kt_line_layout *layout,
					  const struct ktape_event *e);
char *kt_layout_put(char *p, const struct kt_line_layout *layout,
		    const struct kt_line *l);
char *kt_layout_comm(char *p, const struct kt_line *l, int32_t tid);
uint32_t kt_layout_process(const struct kt_line *l, int32_t tid);
char *kt_layout_pad(char *p, const char *start, size_t width);
char *kt_layout_hex(char *p, uint64_t v, unsigned int digits);

#endif /* _KT_LINE_LAYOUT_H */
