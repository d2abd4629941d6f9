/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces that a subcommand reads, in any format, and the options for that.  No file calls
 * another one: read them in any order.
 *
 *	input.c		open a trace, print what is wrong with it
 *	pieces.c	list several traces, and the pieces of a log
 *	range.c		--from-time, --to-time and CPUs
 *	follow.c	a trace that grows
 */
#ifndef _KT_TOOL_INPUT_H
#define _KT_TOOL_INPUT_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/shared/opt.h"

/**
 * struct input_options - how to read the inputs
 * @from: FORMAT[:KEY=VALUE,...]; NULL: detect the format
 * @more: --in-option KEY=VALUE, and options whose name is the key (--mode VALUE)
 */
struct input_options {
	const char *from;
	struct kt_opt_list more;
};

/* Entries for the options table of a subcommand; @offset: that of input_options.more. */
#define INPUT_OPTIONS(offset)                                                   \
	{ "in-option", 'I',                                                     \
	  KT_OPT_LIST, offset,                                                  \
	  "KEY=VALUE", "option of the input's format (ktape convert --list)" }, \
		{ "format",    0,                                               \
		  KT_OPT_LIST, offset,                                          \
		  "bin|hex",   "input bytes are binary or hexadecimal text" },  \
		{ "mode",                                                       \
		  0,                                                            \
		  KT_OPT_LIST,                                                  \
		  offset,                                                       \
		  "bare-metal|free-rtos",                                       \
		  "tband: which set of events" },                               \
		{ "core-count", 0,   KT_OPT_LIST,                               \
		  offset,	"N", "tband: number of cores" },                \
	{                                                                       \
		"id-width", 0, KT_OPT_LIST, offset, "1|2|4",                    \
			"rkh: bytes of an event id"                             \
	}

/* Open a trace; refuse an output that is an input.  Return: 0, or the exit code after a message. */
int input_open(const struct kt_command *command, const struct input_options *o,
	       const char *operand, struct ktape_trace_options *how,
	       struct ktape_trace **trace);
int input_check(const struct input_options *o, const char *out,
		char *const *inputs, int nr);

/* Return the words for a negative errno of reading a trace. */
const char *read_error(int err);

#define STREAM_NAME \
	24 /* bytes of the name of a stream, such as "control8191" */

const char *stream_name(const struct ktape_notice *n, char name[STREAM_NAME]);
bool is_damage(const struct ktape_notice *n);
void report_input_damage(const char *input, const struct ktape_notice *n);

#endif /* _KT_TOOL_INPUT_H */
