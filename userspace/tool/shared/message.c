// SPDX-License-Identifier: GPL-2.0-only
/* Messages of all commands: errors, remarks, wrong command lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/put.h"

#include "tool/shared/color.h"
#include "tool/shared/message.h"

#define MESSAGE_MAX 12288 /* two long paths; what is longer is cut */

static void print_to_stderr(bool failed, const char *text)
{
	/* Errors and remarks begin with the same word, which has a colour before an error. */
	fprintf(stderr, "%sktape:%s %s\n", failed ? message_begin(ROLE_ERROR) : "",
		failed ? message_end() : "", text);
}

static message_printer *printer_of_messages = print_to_stderr;

/*
 * Print a message.  Messages have names of files, and texts of traces, that anybody may
 * have chosen: nothing of them controls a terminal or begins a line of a log.
 */
static void print_message(bool failed, const char *format, va_list args)
{
	char text[MESSAGE_MAX], shown[MESSAGE_MAX * 2], *p = shown;
	size_t len, n;

	vsnprintf(text, sizeof(text), format, args);
	len = strlen(text);
	for (size_t i = 0;
	     i < len && p < shown + sizeof(shown) - KT_PUT_MESSAGE_MAX; i += n) {
		n = kt_utf8_length(text + i, len - i);
		n = n ? n : 1; /* a byte that is no UTF-8 */
		p = kt_put_message(p, text + i, n);
	}
	*p = '\0';
	printer_of_messages(failed, shown);
}

/**
 * set_message_printer() - choose where messages go, instead of standard error
 * @printer: function that prints a message
 */
void set_message_printer(message_printer *printer)
{
	printer_of_messages = printer;
}

/**
 * fail() - print an error message
 * @format: as in printf(3)
 *
 * Return: EXIT_FAILED.
 */
int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(true, format, args);
	va_end(args);
	return EXIT_FAILED;
}

/**
 * note() - print a message that is not an error
 * @format: as in printf(3)
 */
void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(false, format, args);
	va_end(args);
}

/**
 * note_loss() - print a message about events that were lost
 * @format: as in printf(3)
 */
void note_loss(const char *format, ...)
{
	bool marks = printer_of_messages == print_to_stderr;
	va_list args;

	if (marks)
		fputs(message_begin(ROLE_LOSS), stderr);
	va_start(args, format);
	print_message(false, format, args);
	va_end(args);
	if (marks)
		fputs(message_end(), stderr);
}

/**
 * misuse() - print what is wrong with the command line, and the usage line
 * @command: the subcommand
 * @format: as in printf(3)
 *
 * Return: EXIT_USAGE.
 */
int misuse(const struct kt_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message(true, format, args);
	va_end(args);
	fprintf(stderr, "usage: ktape %s [options]%s%s\n", command->name,
		*command->operands ? " " : "", command->operands);
	return EXIT_USAGE;
}
