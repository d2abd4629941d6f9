/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines of text in the words of another tracer. */
#ifndef _KT_LAYOUT_H
#define _KT_LAYOUT_H

#include "show/line.h"
#include "stream/event.h"
#include "format/sink.h"

/**
 * struct kt_layout_row - how an event is shown
 * @opcode: which event
 * @group: what stands before @name where the layout has it, or NULL
 * @name: its name there
 * @text: what follows: {field} is a number, {field:h} one of
 *
 *	x hexadecimal, X in 8 digits; c name of a thread; g its process;
 *	s state as ftrace has it; p priority; v name of the value; V in capitals;
 *	f symbol of a function; n name of an object; d device as two numbers;
 *	h half a kibibyte; r result of an interrupt handler; i state of idle; 3 in
 *	3 digits
 *
 *	{} is all fields as ktape dump has them; {@} the own thread
 */
struct kt_layout_row {
	uint8_t opcode;
	const char *group;
	const char *name;
	const char *text;
};

struct kt_layout_plan;

/**
 * struct kt_layout - a table that is resolved
 * @plans: of each opcode, or NULL
 */
struct kt_layout {
	struct kt_layout_plan *plans[KTAPE_OPCODES];
};

int kt_layout_init(struct kt_layout *layout, struct kt_sink *s,
		   const struct kt_layout_row *rows, size_t nr);
void kt_layout_free(struct kt_layout *layout);
const struct kt_layout_row *kt_layout_row(const struct kt_layout *layout,
					  const struct ktape_event *e);
char *kt_layout_put(char *p, const struct kt_layout *layout,
		    const struct kt_line *l);
char *kt_layout_comm(char *p, const struct kt_line *l, int32_t tid);
uint32_t kt_layout_process(const struct kt_line *l, int32_t tid);
char *kt_layout_pad(char *p, const char *start, size_t width);
char *kt_layout_hex(char *p, uint64_t v, unsigned int digits);

#endif /* _KT_LAYOUT_H */
