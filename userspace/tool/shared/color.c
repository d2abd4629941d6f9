// SPDX-License-Identifier: GPL-2.0-only
/*
 * Colours of text on a terminal, by what a part of the text is.
 *
 * No role needs its colour to be understood: words say the same.  Colours that stand
 * for good and bad differ for users who cannot tell red from green, and all can be
 * read on black and on white.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/put.h"

#include "tool/shared/color.h"

#define CODE_MAX 8 /* bytes of a code */
#define PARTS	 3 /* of a line that color_event() marks */
#define END	 "\033[0m"

static const char *const codes[ROLES] = {
	[ROLE_HEAD] = "\033[1m",    /* bold */
	[ROLE_CPU] = "\033[33m",    /* yellow */
	[ROLE_THREAD] = "\033[36m", /* cyan */
	[ROLE_EVENT] = "\033[1m",   /* bold */
	[ROLE_GOOD] = "\033[1;36m", /* bold cyan */
	[ROLE_LOSS] = "\033[1;35m", /* bold magenta */
	[ROLE_ERROR] = "\033[1;31m" /* bold red */
};

_Static_assert((CODE_MAX + sizeof(END) - 1) * PARTS <= COLOR_ROOM,
	       "a line has room for the codes of its parts");

static bool on;			  /* standard output has colours */
static signed char messages = -1; /* standard error has colours; -1: not decided yet */

/* Does the environment allow colours, unless an option asks for them? */
static bool is_allowed(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

/**
 * color_choose() - decide whether text has colours
 * @when: "auto", "always" or "never"
 *
 * "always" is about standard output: messages have colours on a terminal only.
 *
 * Return: false if it is another word.
 */
bool color_choose(const char *when)
{
	if (!strcmp(when, "always"))
		on = true;
	else if (!strcmp(when, "auto"))
		on = isatty(STDOUT_FILENO) && is_allowed();
	else if (!strcmp(when, "never"))
		messages = 0;
	else
		return false;
	message_begin(ROLE_ERROR); /* decides about standard error */
	return true;
}

/* Return true if standard output has colours. */
bool color_is_on(void)
{
	return on;
}

/* Return what begins a part of standard output; "" without colours. */
const char *role_begin(enum kt_role role)
{
	return on ? codes[role] : "";
}

/* Return what ends a part of standard output; "" without colours. */
const char *role_end(void)
{
	return on ? END : "";
}

/**
 * message_begin() - return what begins a part of standard error
 * @role: what it is
 *
 * Only terminals get colours, and what the first call finds stays: later standard
 * error may lead to a pager.
 *
 * Return: the code, or "".
 */
const char *message_begin(enum kt_role role)
{
	if (messages < 0)
		messages = isatty(STDERR_FILENO) && is_allowed();
	return messages ? codes[role] : "";
}

/* Return what ends a part of standard error; "" without colours. */
const char *message_end(void)
{
	return messages > 0 ? END : "";
}

/* Insert the codes of a role around line[@from] to line[@to].  Return: the new length. */
static size_t mark_part(char *line, size_t len, size_t from, size_t to,
			enum kt_role role)
{
	size_t code = strlen(codes[role]), end = sizeof(END) - 1;

	memmove(line + to + code + end, line + to, len - to);
	memmove(line + from + code, line + from, to - from);
	memcpy(line + from, codes[role], code);
	memcpy(line + to + code, END, end);
	return len + code + end;
}

static enum kt_role role_of_event(const struct ktape_event *e)
{
	const struct ktape_event_desc *d = ktape_event_desc(e->opcode);

	if (d && d->event_class == KTAPE_CLASS_EXCEPTION)
		return ROLE_ERROR;
	return e->opcode == KTAPE_EV_LOSS || e->opcode == KTAPE_EV_MISSED ?
		       ROLE_LOSS :
		       ROLE_EVENT;
}

/*
 * Return the bytes that a thread's name and number take, with the blank after them.  Both
 * are formatted again: a name may contain blanks, or text that could be a number or an event.
 */
static size_t thread_length(const struct ktape_registry *names,
			    const struct ktape_event *e)
{
	const struct ktape_object_info *t =
		ktape_registry_thread(names, e->tid, e->ts);
	char text[KTAPE_NAME_SIZE * 4 + 16 + KT_PUT_OVER];
	char *p = text;

	if (e->tid < 0)
		return strlen("- ");
	if (!e->tid)
		p = kt_put_str(p, "swapper");
	else if (t)
		p = kt_put_escaped(p, t->name, t->name_len);
	else
		p = kt_put_char(p, '?');
	p = kt_put_u64(kt_put_char(p, '-'), (uint32_t)e->tid);
	return (size_t)(p - text) + 1;
}

/**
 * color_event() - mark CPU, thread and event of a line of ktape_format_text()
 * @line: "[TIME] cpu CPU THREAD EVENT:...", with room for COLOR_ROOM more bytes
 * @len: its length
 * @names: names of the trace
 * @e: the event
 *
 * Return: the new length.
 */
size_t color_event(char *line, size_t len, const struct ktape_registry *names,
		   const struct ktape_event *e)
{
	static const char head[] = "] cpu ";
	const char *at = memmem(line, len, head, sizeof(head) - 1), *end;
	size_t cpu, who, name, colon;

	if (!at)
		return len;
	cpu = (size_t)(at - line) + sizeof(head) - 1;
	end = memchr(line + cpu, ' ', len - cpu);
	if (!end)
		return len;
	who = (size_t)(end - line) + 1;
	name = who + thread_length(names, e);
	if (name >= len || line[name - 1] != ' ')
		return len;
	end = memchr(line + name, ':', len - name);
	/* An event without fields has no colon: its name ends before the newline. */
	colon = end ? (size_t)(end - line) : len - 1;
	/* From the last to the first: places before a mark do not move. */
	len = mark_part(line, len, name, colon, role_of_event(e));
	len = mark_part(line, len, who, name - 1, ROLE_THREAD);
	return mark_part(line, len, cpu, who - 1, ROLE_CPU);
}
