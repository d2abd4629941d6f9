/* SPDX-License-Identifier: GPL-2.0-only */
/* A conversion: inputs as one, what is chosen of them, what was open at a cut. */
#ifndef _KT_CONVERT_H
#define _KT_CONVERT_H

#include "input.h"
#include "range.h"

struct convert_options {
	struct input_options in;
	const char *to;
	const char *out;
	const char *from_time;
	const char *to_time;
	const char *events;
	uint64_t cpu;
	uint64_t pid;
	bool force;
	bool quiet;
	bool verbose;
	bool list;
	bool json;
};

struct convert;

/**
 * struct convert_input - one of the inputs
 * @convert: it belongs to
 * @path: as on the command line
 * @trace: it
 * @info: of it
 * @event: its next event, or NULL: there is none
 * @begun: @event was asked for
 * @ts: time of @event on the clock of the output
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
 * struct convert - the conversion
 * @o: command line
 * @to_name: format of the output
 * @mask: events that are wanted
 * @range: times that are wanted, and what the inputs have
 * @inputs: all of them
 * @nr_inputs: how many
 * @current: whose event was delivered last
 * @moved: that event on the clock of the output
 * @info: of the output
 * @registry: names
 * @own_registry: the same, where several inputs share it
 * @cut: what was open before @from, or NULL
 * @sink: the output
 * @error: of a notice that could not be written
 * @events: written
 * @lost: events missing in the input
 * @gaps: in how many places
 * @unknown: and more that nobody counted
 * @late: events out of order
 * @live: an input comes in only once
 * @in_place: the output has its name from the beginning, and replaces nothing
 * @damaged: a part of the input could not be read
 * @progress: it is shown
 * @shown_at: when it was shown last
 * @warned: that the output gets large
 */
struct convert {
	struct convert_options o;
	char *to_name;
	uint64_t mask[KTAPE_MASK_WORDS];
	struct range range;
	struct convert_input *inputs;
	size_t nr_inputs;
	struct convert_input *current;
	int wake;		/* can be read when it is to end */
	struct ktape_event moved;
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	struct ktape_registry *own_registry;
	struct cut *cut;
	struct ktape_sink *sink;
	int error;
	uint64_t events;
	uint64_t lost;
	unsigned int gaps;
	bool unknown;
	uint64_t late;
	bool live;
	bool in_place;
	bool damaged;
	bool progress;
	uint64_t shown_at;
	bool warned;
};

/* convert.c */
int convert_prepare(struct convert *c);
int convert_join(struct convert *c);
uint64_t convert_ts(const struct convert *c, const struct convert_input *in,
		    uint64_t ts);
int convert_next(struct convert *c, const struct ktape_event **event);
int convert_check(const struct convert *c);
bool convert_wants_gap(const struct convert *c, const struct ktape_notice *n);
int convert_event(struct convert *c, const struct ktape_event *e);
void convert_release(struct convert *c);

/* cut.c */
int cut_begin(struct cut **cut);
int cut_learn(struct cut *cut, const struct ktape_event *e);
int cut_write(struct cut *cut, struct convert *c,
	      const struct ktape_event *first,
	      int (*write)(struct convert *c, const struct ktape_event *e));
void cut_free(struct cut *cut);

#endif /* _KT_CONVERT_H */
