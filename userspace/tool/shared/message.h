/* SPDX-License-Identifier: GPL-2.0-only */
/* Exit codes, and messages of all commands. */
#ifndef _KT_TOOL_SHARED_MESSAGE_H
#define _KT_TOOL_SHARED_MESSAGE_H

#include <stdbool.h>

#include "tool/shared/opt.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct kt_command;

/* Print a message, which reports a failure or is a remark, and end the line. */
typedef void message_printer(bool failed, const char *text);

void set_message_printer(message_printer *printer);
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int misuse(const struct kt_command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note_loss(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* _KT_TOOL_SHARED_MESSAGE_H */
