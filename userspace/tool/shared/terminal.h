/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text on a terminal: the options of the commands that print text, the pager (pager.c), and
 * standard output (terminal.c).
 */
#ifndef _KT_TOOL_SHARED_TERMINAL_H
#define _KT_TOOL_SHARED_TERMINAL_H

#include <stdbool.h>

#include "tool/shared/opt.h"

/**
 * struct text_options - options of commands that print text
 * @color: --color, or NULL
 * @no_pager: --no-pager
 */
struct text_options {
	const char *color;
	bool no_pager;
};

/* Options of a command; @member: its struct text_options */
#define COLOR_OPTION(type, member)                                     \
	{                                                              \
		"color", 0, KT_OPT_TEXT, offsetof(type, member.color), \
			"auto|always|never",                           \
			"colours (default: auto, on a terminal)"       \
	}
#define PAGER_OPTION(type, member)                                           \
	{                                                                    \
		"no-pager", 0, KT_OPT_FLAG, offsetof(type, member.no_pager), \
			NULL, "do not show long text by a pager"             \
	}

/* terminal.c: color_start() before any text, finish_stdout() behind all. */
int color_start(const struct kt_command *command, const struct text_options *o);
int finish_stdout(void);

/* pager.c: a command that prints long text starts the pager; main() calls pager_finish(). */
void pager_start(const struct text_options *o);
bool pager_has_ended(void);
void pager_finish(void);

#endif /* _KT_TOOL_SHARED_TERMINAL_H */
