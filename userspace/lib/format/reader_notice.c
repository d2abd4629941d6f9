// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a format notifies of while it reads: damage, losses, assumptions, steps back in time. */
#include <stdarg.h>

#include "reader.h"

#define BAD_SHOWN 20 /* damaged places that get a notice each */

static void notify_caller(struct kt_import *s, const struct ktape_notice *n)
{
	const struct ktape_trace_options *o = s->trace_options;

	if (o->notice && !s->learning)
		o->notice(o->arg, n);
}

/* Notify of the loss that the current record stands for. */
void kt_import_notify_lost(struct kt_import *s)
{
	const uint8_t *words = s->event.args;
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.cpu = s->event.cpu,
		.ring = KTAPE_RING_EVENT,
		.count = kt_get64(words),
		.from = kt_get64(words + 8),
		.to = s->event.ts,
	};

	notify_caller(s, &n);
}

/**
 * kt_import_bad() - notify of a damaged place that is left out
 * @s: the trace
 * @offset: offset of the place in the input
 * @format: what is wrong there
 *
 * Each of the first BAD_SHOWN places gets a notice; one notice at the end counts all others.  In
 * the first pass, for names, there is none: the second one finds the same places.
 */
void kt_import_bad(struct kt_import *s, uint64_t offset, const char *format, ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };
	va_list args;

	if (!s->learning && s->bad++ >= BAD_SHOWN)
		return;
	n.error.offset = offset;
	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	notify_caller(s, &n);
}

/* At the end of the input: notify of the damaged places that got no notice. */
void kt_import_notify_bad(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT };

	if (s->bad <= BAD_SHOWN)
		return;
	n.error.offset = s->in->offset;
	snprintf(n.error.text, sizeof(n.error.text),
		 "%llu more damaged places up to here",
		 (unsigned long long)(s->bad - BAD_SHOWN));
	n.count = s->bad - BAD_SHOWN;
	s->bad = 0;
	notify_caller(s, &n);
}

/**
 * kt_import_count_back() - count events that got a later time, because time went back
 * @s: the trace
 * @step: the events; its @steps is 0 if they continue a step that was counted before
 *
 * One notice at the end of the input reports all.
 */
void kt_import_count_back(struct kt_import *s, const struct kt_back *step)
{
	struct kt_back *b = &s->back;
	uint64_t steps = b->steps, events = b->events;

	if (s->learning)
		return;
	if (!steps)
		*b = *step;
	b->steps = steps + step->steps;
	b->events = events + step->events;
}

/**
 * kt_import_times() - notify that times of events contradict other times
 * @s: the trace
 * @at: where the first of these events is; its @events says how many they are
 * @format: what is wrong
 *
 * The notice says @at->place and this text.  If both are too long, the place is cut and not the
 * text, which has numbers at its end.
 *
 * ktape verify counts this as a wrong time, other commands only report it.
 */
void kt_import_times(struct kt_import *s, const struct kt_back *at,
		     const char *format, ...)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_ASSUMED,
		.stream = true,
		.cpu = at->cpu,
		.ring = KTAPE_RING_EVENT,
		.from = at->ts - at->by,
		.to = at->ts,
		.count = at->events,
	};
	char text[sizeof(n.error.text) - sizeof(at->place) / 2];
	size_t room = sizeof(n.error.text) - sizeof(": ");
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	room -= strlen(text);
	n.error.offset = at->offset;
	snprintf(n.error.text, sizeof(n.error.text), "%.*s%s%s", (int)room,
		 at->place, *at->place ? ": " : "", text);
	notify_caller(s, &n);
}

/* At the end of the input: notify of steps back in time. */
void kt_import_notify_back(struct kt_import *s)
{
	const struct kt_back b = s->back;

	s->back = (struct kt_back){ .steps = 0 };
	if (b.steps)
		kt_import_times(
			s, &b,
			"time goes back %llu times, first on cpu%u at byte %llu by %llu ns: %llu events get the time before it",
			(unsigned long long)b.steps, b.cpu,
			(unsigned long long)b.offset,
			(unsigned long long)ktape_ticks_to_ns(s->info, b.by),
			(unsigned long long)b.events);
}

/**
 * kt_import_truncated() - notify that the input begins or ends in the middle of a frame
 * @s: the trace
 * @error: offset, and what is incomplete
 */
void kt_import_truncated(struct kt_import *s, const struct ktape_error *error)
{
	const struct ktape_notice n = {
		.kind = KTAPE_NOTICE_TRUNCATED,
		.error = *error,
	};

	notify_caller(s, &n);
}

/**
 * kt_import_notify_none() - notify that not one frame of the input was valid
 * @s: the trace, at the end of its input
 */
void kt_import_notify_none(struct kt_import *s)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_CORRUPT, .count = 1 };

	kt_error(&n.error, s->begin,
		 "no frame of %s is valid; if the input has another format, name it with --from",
		 s->format->name);
	notify_caller(s, &n);
}

/**
 * kt_import_note() - notify of an assumption about what the input does not say
 * @s: the trace
 * @format: what is assumed
 */
void kt_import_note(struct kt_import *s, const char *format, ...)
{
	struct ktape_notice n = { .kind = KTAPE_NOTICE_ASSUMED };
	va_list args;

	va_start(args, format);
	vsnprintf(n.error.text, sizeof(n.error.text), format, args);
	va_end(args);
	notify_caller(s, &n);
}

/**
 * kt_import_beside() - say what the input has beside the content of a trace
 * @s: the trace
 * @format: what it is, and how much
 *
 * Only ktape verify reports it, at its end.
 */
void kt_import_beside(struct kt_import *s, const char *format, ...)
{
	size_t len = strlen(s->beside);
	va_list args;

	/* A line needs a character, its newline and the NUL. */
	if (s->learning || len >= sizeof(s->beside) - 2)
		return;
	va_start(args, format);
	vsnprintf(s->beside + len, sizeof(s->beside) - len - 1, format, args);
	va_end(args);
	strcat(s->beside, "\n");
}

/**
 * kt_import_fail() - set the reason why open() or next() fails
 * @s: the trace
 * @offset: offset of the place in the input
 * @format: what is wrong there
 *
 * Return: -EBADMSG, for the caller to return.
 */
int kt_import_fail(struct kt_import *s, uint64_t offset, const char *format, ...)
{
	va_list args;

	s->error.offset = offset;
	va_start(args, format);
	vsnprintf(s->error.text, sizeof(s->error.text), format, args);
	va_end(args);
	return -EBADMSG;
}
