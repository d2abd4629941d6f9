// SPDX-License-Identifier: GPL-2.0-only
/* Messages and small output helpers of the subcommands. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/put.h"

#include "color.h"
#include "opt.h"
#include "tool.h"

#define JSON_TEXT_MAX	1024
#define MESSAGE_MAX	12288	/* two long paths; what is longer is cut */

static void print_to_stderr(bool failed, const char *text)
{
	/* The word before an error. */
	fprintf(stderr, "%sktape:%s %s\n",
		failed ? message_begin(ROLE_ERROR) : "",
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
	for (size_t i = 0; i < len && p < shown + MESSAGE_MAX * 2 - 32; i += n) {
		n = kt_utf8_length(text + i, len - i);
		n = n ? n : 1;
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

const char *const lost_reasons[KTAPE_LOST_REASONS] = {
	[KTAPE_LOST_FULL] = "full",	  [KTAPE_LOST_NESTED] = "nested",
	[KTAPE_LOST_TOO_BIG] = "too_big", [KTAPE_LOST_SHED] = "shed",
	[KTAPE_LOST_RATE] = "rate",
};

const char *const missed_reasons[KTAPE_MISSED_REASONS] = {
	[KTAPE_MISSED_BUSY] = "busy",
	[KTAPE_MISSED_RETURNS] = "returns",
	[KTAPE_MISSED_REFUSED] = "refused",
	[KTAPE_MISSED_DETACHED] = "detached",
};

/**
 * missed_add() - count the hits that a record says were missed
 * @m: the hits
 * @e: any event
 *
 * Every CPU records the same; it is counted once.
 */
void missed_add(struct missed_hits *m, const struct ktape_event *e)
{
	uint64_t reason, last, count;

	if (e->opcode != KTAPE_EV_MISSED || ktape_event_field(e, "reason", &reason) ||
	    ktape_event_field(e, "last", &last) || ktape_event_field(e, "count", &count) ||
	    reason >= KTAPE_MISSED_REASONS)
		return;
	if (m->told[e->dat20 & 0xff][reason] >= last)
		return;
	m->told[e->dat20 & 0xff][reason] = last;
	m->count += count;
	m->unknown |= reason == KTAPE_MISSED_DETACHED;
}

/**
 * losses_add() - count a loss
 * @l: the losses
 * @n: KTAPE_NOTICE_LOST
 */
void losses_add(struct losses *l, const struct ktape_notice *n)
{
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN) {
		l->overwritten += n->overwritten;
		l->late += !n->continued;
		l->late_unknown |= !n->continued && !n->overwritten;
		return;
	}
	l->count += n->count;
	l->gaps += !n->continued;
	l->unknown |= !n->count;
}

/**
 * losses_text() - say how many events are missing
 * @to: text
 * @l: the losses
 * @verb: what happened to the events: "lost", "were lost"
 *
 * Return: @to.
 */
const char *losses_text(char to[LOSS_TEXT], const struct losses *l,
			const char *verb)
{
	char count[32] = "";

	if (l->count || !l->unknown)
		snprintf(count, sizeof(count), "%llu events%s",
			 (unsigned long long)l->count,
			 l->unknown ? " and " : "");
	snprintf(to, LOSS_TEXT, "%s%s %s in %llu gap%s", count,
		 !l->unknown ? "" :
		 l->count    ? "an unknown number more" :
			       "an unknown number of events",
		 verb, (unsigned long long)l->gaps, l->gaps == 1 ? "" : "s");
	return to;
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
 * note_overwritten() - print how many events were overwritten before a trace begins
 * @path: path of the trace, or NULL
 * @l: its losses
 */
void note_overwritten(const char *path, const struct losses *l)
{
	char count[32] = "an unknown number of";

	if (!l->late)
		return;
	if (l->overwritten)
		snprintf(count, sizeof(count), "%s%llu",
			 l->late_unknown ? "at least " : "",
			 (unsigned long long)l->overwritten);
	note_loss("%s%s%s events were overwritten before the trace begins, in %llu ring%s: what happened there until then is unknown",
		  path ? path : "", path ? ": " : "", count,
		  (unsigned long long)l->late, l->late == 1 ? "" : "s");
}

/**
 * report_missed() - print what an output format could not hold
 * @format: name of the format
 * @sink: the output
 * @all: one line for each kind of items; else one line with their number
 */
void report_missed(const char *format, const struct ktape_sink *sink, bool all)
{
	unsigned long long sum = 0;
	const char *what = NULL;
	unsigned int kinds = 0;
	uint64_t count;

	for (; (count = ktape_sink_missed(sink, kinds, &what)); kinds++) {
		sum += count;
		if (all)
			note("%s cannot hold %s: %llu", format, what,
			     (unsigned long long)count);
	}
	if (all || !kinds)
		return;
	if (kinds == 1)
		note("%s cannot hold %s: %llu", format, what, sum);
	else
		note("%s cannot hold %u kinds of items of the trace, %llu items in all (-v lists them)",
		     format, kinds, sum);
}

/**
 * report_left_out() - print what an analysis had no room for
 * @path: path of the trace, or NULL
 * @what: what was left out, in the plural
 * @count: number of them
 */
void report_left_out(const char *path, const char *what, uint64_t count)
{
	note("%s%s%llu %s are left out, because memory is bounded",
	     path ? path : "", path ? ": " : "", (unsigned long long)count,
	     what);
}

/**
 * report_names_left_out() - print how many names a registry had no room for
 * @path: path of the trace, or NULL
 * @names: the registry
 */
void report_names_left_out(const char *path, const struct ktape_registry *names)
{
	uint64_t count = ktape_registry_left_out(names);

	if (count)
		report_left_out(path, "names of objects", count);
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

/**
 * parse_events() - convert a list of events to a mask, or print what is unknown
 * @command: the subcommand
 * @list: events, classes, presets, globs or masks, comma separated
 * @mask: set to the events
 *
 * Return: 0 or the exit code.
 */
int parse_events(const struct kt_command *command, const char *list,
		 uint64_t mask[KTAPE_MASK_WORDS])
{
	const char *bad = list;

	if (!ktape_mask_parse(list, mask, &bad))
		return 0;
	return unknown_event(command, bad);
}

/**
 * unknown_event() - print that a name in a list of events is unknown
 * @command: the subcommand
 * @bad: the name, followed by the rest of the list
 *
 * Return: the exit code for it.
 */
int unknown_event(const struct kt_command *command, const char *bad)
{
	const char *near = ktape_event_near(bad);

	if (near)
		return misuse(
			command,
			"unknown event \"%.*s\": did you mean \"%s\"? (ktape list shows all)",
			(int)strcspn(bad, ","), bad, near);
	return misuse(
		command,
		"unknown event \"%.*s\": give an event, class, preset, glob or mask (see ktape list)",
		(int)strcspn(bad, ","), bad);
}

/**
 * wrong_time() - say what is wrong with a time on the command line
 * @command: the subcommand
 * @option: the option's long name
 * @text: the time
 * @err: from kt_parse_time(); 0: the time is too large
 *
 * Return: the exit code for it.
 */
int wrong_time(const struct kt_command *command, const char *option,
	       const char *text, int err)
{
	return misuse(
		command,
		"--%s: \"%s\" is %s: give seconds (11, 11.5) or a unit (250ms, 2m, 1795424806915379658ns)",
		option, text,
		err && err != -ERANGE ?
			"not a time" :
			"too large a time, or has too many decimals for its unit");
}

/**
 * write_json_text() - write a text as a JSON string
 * @f: where to write
 * @text: the text; cut after JSON_TEXT_MAX bytes
 */
void write_json_text(FILE *f, const char *text)
{
	char line[JSON_TEXT_MAX * 6 + 2 + KT_PUT_OVER];
	const char *end = kt_put_json(line, text, strnlen(text, JSON_TEXT_MAX));

	fwrite(line, 1, (size_t)(end - line), f);
}

/**
 * put_shown() - write a text that somebody else may have chosen, for a terminal
 * @f: where to write
 * @text: the text
 */
void put_shown(FILE *f, const char *text)
{
	size_t len = strlen(text), n;
	char shown[32];

	for (; len; text += n, len -= n) {
		n = kt_utf8_length(text, len);
		n = n ? n : 1;
		fwrite(shown, 1, (size_t)(kt_put_message(shown, text, n) - shown),
		       f);
	}
}

/* Print a text as a JSON string. */
void put_json_text(const char *text)
{
	write_json_text(stdout, text);
}

/**
 * put_human() - write a number of bytes with a unit: "1.5 MB"
 * @to: where to write
 * @size: bytes of @to
 * @bytes: the number
 */
void put_human(char *to, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	unsigned int i = 0;

	for (; v >= 1000 && i < 4; i++)
		v /= 1000;
	snprintf(to, size, "%.*f %s", i ? 1 : 0, v, units[i]);
}

/**
 * finish_stdout() - flush standard output and check that all was written
 *
 * Text that the user left unread by quitting the pager counts as written.
 *
 * Return: EXIT_OK, or EXIT_FAILED after a message.
 */
int finish_stdout(void)
{
	if ((fflush(stdout) || ferror(stdout)) && pager_has_ended())
		return EXIT_OK;
	if (fflush(stdout) || ferror(stdout))
		return fail("standard output: %s", strerror(errno));
	return EXIT_OK;
}
