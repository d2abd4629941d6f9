/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text on a terminal: colours (color.c) and the pager (pager.c), with the options of
 * the commands that print text.
 */
#ifndef _KT_COLOR_H
#define _KT_COLOR_H

#include <stdbool.h>
#include <stddef.h>

#include "opt.h"

/**
 * enum kt_role - what a part of a text is
 * @ROLE_HEAD: heading of a table
 * @ROLE_CPU: number of a CPU
 * @ROLE_THREAD: a thread
 * @ROLE_EVENT: name of an event
 * @ROLE_GOOD: verdict: it is as it should be
 * @ROLE_LOSS: something is missing
 * @ROLE_ERROR: something is wrong
 * @ROLES: number of roles
 */
enum kt_role {
	ROLE_HEAD,
	ROLE_CPU,
	ROLE_THREAD,
	ROLE_EVENT,
	ROLE_GOOD,
	ROLE_LOSS,
	ROLE_ERROR,
	ROLES
};

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
#define COLOR_OPTION(type, member)                                          \
	{ "color", 0, KT_OPT_TEXT, offsetof(type, member.color),            \
	  "auto|always|never", "colours (default: auto, on a terminal)" }
#define PAGER_OPTION(type, member)                                          \
	{ "no-pager", 0, KT_OPT_FLAG, offsetof(type, member.no_pager),      \
	  NULL, "do not show long text by a pager" }

/* Room for what color_event() adds to a line. */
#define COLOR_ROOM	64U

struct ktape_event;
struct ktape_registry;

/* color.c */
int color_start(const struct kt_command *command, const struct text_options *o);
bool color_is_on(void);
const char *role_begin(enum kt_role role);
const char *role_end(void);
const char *message_begin(enum kt_role role);
const char *message_end(void);
size_t color_event(char *line, size_t len, const struct ktape_registry *names,
		   const struct ktape_event *e);

/* pager.c */
void pager_start(const struct text_options *o);
bool pager_has_ended(void);
void pager_finish(void);

#endif /* _KT_COLOR_H */
