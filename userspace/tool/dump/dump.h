/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape dump: print the events of a trace.
 *
 * In the order in which to read them:
 *	select.c	choose events
 *	formats.c	texts of ktape-fmt(5) files
 *	lines.c		format events as lines
 *	slices.c	choose and format in several threads
 *	device.c	--now and --clear: copy what a device has now
 *	dump.c		options, the loop over all events, what is reported at the end
 */
#ifndef _KT_TOOL_DUMP_H
#define _KT_TOOL_DUMP_H

#include <stdbool.h>
#include <sys/types.h>

#include <ktape.h>

#include "util/bits.h"

#include "trace/slice.h"

#include "tool/input/input.h"
#include "tool/input/range.h"
#include "tool/shared/loss.h"
#include "tool/shared/opt.h"
#include "tool/shared/terminal.h"

/**
 * struct select_options - options that choose events
 * @all: control records are events, too, if neither @events nor @groups is given
 * @events: -e; arguments that end in .fmt are files with texts
 * @groups: --group
 * @cpus: --cpu
 * @pids: --pid
 * @tids: --tid
 * @signals: --signal
 * @severity: --severity
 * @majors: --major
 * @minors: --minor
 * @objects: --object
 */
struct select_options {
	bool all;
	struct kt_opt_list events;
	const char *groups;
	const char *cpus;
	const char *pids;
	const char *tids;
	const char *signals;
	const char *severity;
	const char *majors;
	const char *minors;
	const char *objects;
};

#define SELECT_NUMBERS 64U /* most entries of a list of numbers or objects */

/**
 * struct numbers - a list of numbers
 * @nr: number of entries, 0 = not given
 * @v: the numbers
 */
struct numbers {
	unsigned int nr;
	uint32_t v[SELECT_NUMBERS];
};

/**
 * struct object_wanted - an object of --object
 * @type: enum ktape_object; KTAPE_OBJ_FREE: any
 * @name: glob for its name; NULL: compare @id
 * @id: its number
 */
struct object_wanted {
	uint32_t type;
	const char *name;
	uint32_t id;
};

/**
 * struct select - parsed select_options; an event has to match all that are given
 * @command: ktape dump, for messages
 * @mask: selected events
 * @any: there are more conditions than @mask
 * @cpus: selected CPUs
 * @pids: processes, one of whose threads the event has to involve
 * @tids: threads that the event has to involve
 * @signals: signals that the event has to be about
 * @severity: lowest level of exceptions; -1: not given
 * @majors: major codes of exceptions
 * @minors: minor codes of exceptions
 * @objects: objects that the event has to name
 * @nr_objects: entries of @objects
 * @copy: text that the names of @objects point into
 */
struct select {
	const struct kt_command *command;
	uint64_t mask[KTAPE_MASK_WORDS];
	bool any;
	struct numbers cpus;
	struct numbers pids;
	struct numbers tids;
	struct ktape_filter_value signals;
	int severity;
	struct numbers majors;
	struct numbers minors;
	struct object_wanted objects[SELECT_NUMBERS];
	unsigned int nr_objects;
	char *copy;
};

/* select.c */
int select_read(const struct select_options *o, struct select *s);
bool select_matches(const struct select *s, const struct ktape_registry *names,
		    const struct ktape_event *e);
void select_release(struct select *s);

/**
 * select_takes() - is an event selected?
 * @s: the selection
 * @names: names of the trace
 * @e: the event
 *
 * Return: true if it is.
 */
static inline bool select_takes(const struct select *s,
				const struct ktape_registry *names,
				const struct ktape_event *e)
{
	return kt_mask_has(s->mask, e->opcode) &&
	       (!s->any || select_matches(s, names, e));
}

/**
 * struct lines - events as lines
 * @info: information of the trace
 * @names: names of the trace
 * @formats: texts of ktape-fmt(5) files, or NULL
 * @json: JSON instead of text
 * @color: mark parts of a line by colours
 * @buf: the lines
 * @cap: bytes of @buf
 * @len: bytes used of @buf
 */
struct lines {
	const struct ktape_info *info;
	const struct ktape_registry *names;
	const struct ktape_formats *formats;
	bool json;
	bool color;
	char *buf;
	size_t cap;
	size_t len;
};

#define GAPS_SHOWN 20U /* gaps that are reported one by one */

struct dump_options {
	bool json;
	bool strict;
	bool clear;
	bool now;
	bool follow;
	uint64_t jobs;
	struct input_options in;
	const char *from;
	const char *to;
	uint64_t count;
	struct select_options select;
	struct text_options text;
};

/**
 * struct dump - a dump
 * @path: operand
 * @o: options
 * @select: selection of events
 * @formats: texts of ktape-fmt(5) files, or NULL
 * @range: selected times, and what the trace has
 * @trace: the open trace
 * @names: names of the trace
 * @info: information of the trace
 * @out: lines that were not written yet
 * @slices: reads the trace in several threads; NULL: one thread does
 * @error: negative errno of standard output; 0: none
 * @limited: times or CPUs are selected
 * @whole: the trace was read to its end
 * @lines: lines written
 * @corrupt: damage was found
 * @truncated: the trace is cut off
 * @losses: events that are missing
 * @late: events that came too late to be sorted
 * @shown: the first gaps, to be reported at the end
 */
struct dump {
	const char *path;
	struct dump_options o;
	struct select select;
	struct ktape_formats *formats;
	struct range range;
	struct ktape_trace *trace;
	const struct ktape_registry *names;
	const struct ktape_info *info;
	struct lines out;
	struct kt_slices *slices;
	int error;
	bool limited;
	bool whole;
	uint64_t lines;
	bool corrupt;
	bool truncated;
	struct losses losses;
	uint64_t late;
	struct ktape_notice shown[GAPS_SHOWN];
};

/* lines.c */
int lines_add(struct lines *l, const struct ktape_event *e, const char *source,
	      size_t source_len);
int lines_make_room(struct lines *l, size_t need);
void dump_flush(struct dump *d);

/* slices.c */
void dump_slices_new(struct dump *d);

/**
 * dump_wants() - note an event, and decide whether it is shown
 * @d: the dump
 * @range: extended by the event, if times or CPUs are selected
 * @names: names as they are at the event
 * @e: the event
 *
 * Return: true if it is shown.
 */
static inline bool dump_wants(const struct dump *d, struct range *range,
			      const struct ktape_registry *names,
			      const struct ktape_event *e)
{
	const struct range *r = &d->range;

	if (ktape_event_is_assumed(e))
		return false;
	if (d->limited)
		range_add(range, e);
	if (r->from.given && moment_is_after(&r->from, d->info, e->ts))
		return false;
	if (r->to.given && !moment_is_after(&r->to, d->info, e->ts))
		return false;
	return select_takes(&d->select, names, e);
}

/* formats.c */
int formats_load(const struct select_options *o, struct ktape_formats **f);
size_t formats_append(const struct ktape_formats *f, const struct ktape_event *e,
		      bool json, char *line, size_t len);

/* device.c */
int device_copy(const char *path, struct ktape_device **device, int *fd);

extern const struct kt_command command_dump;

#endif /* _KT_TOOL_DUMP_H */
