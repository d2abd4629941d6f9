/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit codes, and messages of all commands. */
#ifndef _KT_TOOL_SHARED_MESSAGE_H
#define _KT_TOOL_SHARED_MESSAGE_H

#include <stdbool.h>

#include "tool/shared/opt.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct kt_command;

/*
 * Print a message and end the line.  @failed: it is an error, not a remark.  Messages go to
 * standard error unless set_message_printer() chose another place.
 */
typedef void message_printer(bool failed, const char *text);

void set_message_printer(message_printer *printer);

/* Print an error.  Return: EXIT_FAILED. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print what is wrong with the command line, and how @command is used.  Return: EXIT_USAGE. */
int misuse(const struct kt_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Print a remark. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a remark about lost events, in their colour on a terminal. */
void note_loss(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* _KT_TOOL_SHARED_MESSAGE_H */
