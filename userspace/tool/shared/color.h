/* SPDX-License-Identifier: GPL-2.0-only */
/* Colours of text on a terminal. */
#ifndef _KT_TOOL_SHARED_COLOR_H
#define _KT_TOOL_SHARED_COLOR_H

#include <stdbool.h>
#include <stddef.h>

#include <ktape.h>

/**
 * enum kt_role - what a part of a text is
 * @ROLE_HEAD: heading of a table
 * @ROLE_CPU: number of a CPU
 * @ROLE_THREAD: a thread
 * @ROLE_EVENT: name of an event
 * @ROLE_GOOD: result of a check: nothing is wrong
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

/* Room for what color_event() adds to a line. */
#define COLOR_ROOM 64U

struct ktape_event;
struct ktape_registry;

/*
 * color_choose() decides about both outputs.  Before it, standard output has no colours, and
 * the first message_begin() decides about standard error.  The functions return "" without colours.
 */
bool color_choose(const char *when);
bool color_is_on(void);
const char *role_begin(enum kt_role role);
const char *role_end(void);
const char *message_begin(enum kt_role role);
const char *message_end(void);
size_t color_event(char *line, size_t len, const struct ktape_registry *names,
		   const struct ktape_event *e);

#endif /* _KT_TOOL_SHARED_COLOR_H */
