/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ktape convert: write traces in another format.
 *
 * In the order in which to read them:
 *	progress.c	how far it is
 *	partial.c	where the output of a damaged input goes
 *	page.c		statistics for a page (format html)
 *	cut.c		the state of threads at --from-time
 *	inputs.c	inputs merged into one stream, the selection of events
 *	slices.c	one input read in several threads
 *	open.c		--open: show the page
 *	convert.c	options, the output, what is reported at the end
 *	merge.c		several traces as one, for dump and stats
 *	tar.c		the archive of a bundle
 *	bundle.c	ktape bundle
 */
#ifndef _KT_TOOL_CONVERT_H
#define _KT_TOOL_CONVERT_H

#include <stdbool.h>

#include <ktape.h>

#include "trace/slice.h"

#include "tool/convert/page.h"
#include "tool/input/input.h"
#include "tool/input/range.h"
#include "tool/shared/loss.h"
#include "tool/shared/opt.h"

/* Options of ktape convert.  @cpu, @pid: UINT64_MAX: not given. */
struct convert_options {
	struct input_options in;
	const char *to;
	const char *out;
	const char *from_time;
	const char *to_time;
	const char *events;
	const char *ctf;
	uint64_t cpu;
	uint64_t pid;
	uint64_t jobs;
	bool force;
	bool partial;
	bool quiet;
	bool verbose;
	bool list;
	bool json;
	bool open;
};

struct convert;

/**
 * struct convert_input - an input
 * @convert: conversion that it belongs to
 * @path: operand
 * @trace: the open trace
 * @info: information of @trace
 * @event: its next event; NULL: at its end
 * @begun: @event was read
 * @ts: time of @event on the clock of the output, in ticks
 */
struct convert_input {
	struct convert *convert;
	const char *path;
	struct ktape_trace *trace;
	const struct ktape_info *info;
	const struct ktape_event *event;
	bool begun;
	uint64_t ts;
};

struct cut;

/**
 * struct convert - a conversion
 * @command: ktape convert, for messages
 * @o: options
 * @to_name: format of the output, once it is open without its options
 * @mask: selected events
 * @range: selected times and CPUs, and those of the inputs
 * @inputs: the inputs
 * @nr_inputs: number of open @inputs
 * @current: input of the event that convert_next() returned last
 * @wake: descriptor that becomes readable when a signal came
 * @moved: copy of the event of @current, with its time on the clock of the output
 * @info: information of the output
 * @registry: names of all inputs
 * @own_registry: @registry if it was made for several inputs, or NULL
 * @cut: state before --from-time, or NULL
 * @sink: the output
 * @slices: reads the input in several threads, or NULL
 * @page: statistics for the output, if its format keeps them
 * @error: negative errno of a gap that could not be written
 * @events: number of events written
 * @losses: events that are missing in the inputs
 * @late: events that came too late to be sorted
 * @live: an input cannot be read again (pipe, device)
 * @in_place: the output is written under its own name and replaces nothing
 * @damaged: a part of an input could not be read
 * @replaces: the output replaces an earlier one
 * @partial: name of the output of a damaged input beside an earlier one, or NULL
 * @progress: show progress
 * @shown: @events when the clock was read last
 * @shown_at: when progress was shown last, in ns
 * @warned: the warning of a large output was printed
 */
struct convert {
	const struct kt_command *command;
	struct convert_options o;
	char *to_name;
	uint64_t mask[KTAPE_MASK_WORDS];
	struct range range;
	struct convert_input *inputs;
	size_t nr_inputs;
	struct convert_input *current;
	int wake;
	struct ktape_event moved;
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	struct ktape_registry *own_registry;
	struct cut *cut;
	struct ktape_sink *sink;
	struct kt_slices *slices;
	struct page page;
	int error;
	uint64_t events;
	struct losses losses;
	uint64_t late;
	bool live;
	bool in_place;
	bool damaged;
	bool replaces;
	char *partial;
	bool progress;
	uint64_t shown;
	uint64_t shown_at;
	bool warned;
};

/* progress.c */
void convert_progress(struct convert *c);
void convert_progress_end(struct convert *c);
void convert_warn_if_large(struct convert *c);

/* slices.c */
void convert_slices_new(struct convert *c);

/*
 * inputs.c: convert_prepare(), open @inputs, convert_join(), and open the output.  Then
 * convert_next() and convert_event() for each event, and convert_check() after the last one.
 */
int convert_prepare(struct convert *c);
int convert_join(struct convert *c);
uint64_t convert_ts(const struct convert *c, const struct convert_input *in,
		    uint64_t ts);
int convert_next(struct convert *c, const struct ktape_event **event);
int convert_check(const struct convert *c);
bool convert_wants_gap(const struct convert *c, const struct ktape_notice *n);
int convert_event(struct convert *c, const struct ktape_event *e);
void convert_release(struct convert *c);

/* partial.c */
int convert_divert(struct convert *c);
int convert_report_partial(const struct convert *c);

/* open.c */
int convert_open_begin(struct convert *c);
int convert_open_end(const struct convert_options *o, int wake, int ret);

/* cut.c: learn each event before the cut, then write the state before the first one behind it. */
int cut_begin(struct cut **cut);
int cut_learn(struct cut *cut, const struct ktape_event *e);
int cut_write(struct cut *cut, struct convert *c, const struct ktape_event *first,
	      int (*write)(struct convert *c, const struct ktape_event *e));
void cut_free(struct cut *cut);

extern const struct kt_command command_bundle;
extern const struct kt_command command_convert;

#endif /* _KT_TOOL_CONVERT_H */
