/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events of ftrace itself whose fields are not all in their layout:
 *
 *	print		| ip | text, up to the end of the record |
 *	bprint		| ip | address of a format | its arguments, up to the end |
 *	bputs		| ip | address of a text |
 *	kernel_stack	| number of frames | frames, up to the end |
 *	user_stack	| tgid | 8 frames, those beyond the last one are 0 |
 *	raw_data	| id | bytes, up to the end |
 *
 * The text of print and bprint is the field "buf", that of bputs "str".  The names of a kernel's
 * frames are a field "functions".
 */
#ifndef _KT_FTRACE_OWN_H
#define _KT_FTRACE_OWN_H

#include "format/layout.h"
#include "format/printk.h"

enum kt_ftrace_own {
	KT_FTRACE_OTHER, /* none of these: the layout says all */
	KT_FTRACE_PRINT,
	KT_FTRACE_BPRINT,
	KT_FTRACE_BPUTS,
	KT_FTRACE_KERNEL_STACK,
	KT_FTRACE_USER_STACK,
	KT_FTRACE_RAW
};

/**
 * struct kt_ftrace - what the records of a trace refer to
 * @printk: texts of trace_printk()
 * @big: records are big-endian
 * @ints: numbers of less than 32 bits are recorded as an int (struct kt_printk_args)
 * @text: the text that was made last, or NULL
 * @room: bytes of @text
 * @unknown: texts whose format the trace does not have
 * @missing: texts whose arguments are not all in the record
 * @cut: texts and lists of functions that were cut at KT_PRINTK_MAX, or had a width limited
 */
struct kt_ftrace {
	struct kt_printk printk;
	bool big;
	bool ints;
	char *text;
	size_t room;
	uint64_t unknown;
	uint64_t missing;
	uint64_t cut;
};

/* Bind each layout of ftrace before kt_layouts_bind(), finish each record after kt_layout_read(). */
int kt_ftrace_bind(struct kt_layout *l, bool has_symbols);
int kt_ftrace_finish(struct kt_ftrace *f, const struct kt_layout *l,
		     struct kt_symbols *symbols, uint32_t long_size,
		     struct kt_tp_value *values);
void kt_ftrace_free(struct kt_ftrace *f);

#endif /* _KT_FTRACE_OWN_H */
