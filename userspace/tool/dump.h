/* SPDX-License-Identifier: GPL-2.0-only */
/* ktape dump: which events, with which texts, from a device. */
#ifndef _KT_TOOL_DUMP_H
#define _KT_TOOL_DUMP_H

#include <sys/types.h>

#include "opt.h"
#include "tool.h"

/**
 * struct select_options - which events are shown
 * @events: -e, of which those that end in .fmt are files
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

#define SELECT_NUMBERS	64U

/**
 * struct numbers - a list of numbers, or none
 * @nr: how many
 * @v: which
 */
struct numbers {
	unsigned int nr;
	uint32_t v[SELECT_NUMBERS];
};

/**
 * struct object_wanted - an object
 * @type: enum ktape_object, or KTAPE_OBJ_FREE: any
 * @name: what it is called, a glob; NULL: by @id
 * @id: its number
 */
struct object_wanted {
	uint32_t type;
	const char *name;
	uint32_t id;
};

/**
 * struct select - which events are shown: those that all of these let through
 * @any: something was asked for
 * @mask: these
 * @cpus: of these CPUs
 * @pids: with a thread of these processes
 * @tids: with these threads
 * @signals: about these signals
 * @severity: exceptions of this level and above, or -1
 * @majors: exceptions with these codes
 * @minors: and these
 * @objects: that name one of these
 * @nr_objects: how many
 * @copy: where their names are
 */
struct select {
	bool any;
	uint64_t mask[KTAPE_MASK_WORDS];
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

/* dump_select.c */
int select_read(const struct select_options *o, struct select *s);
bool select_judges(const struct select *s, const struct ktape_registry *names,
		   const struct ktape_event *e);
void select_release(struct select *s);

/**
 * select_takes() - is this event shown?
 * @s: which events are
 * @names: of the trace
 * @e: the event
 *
 * Return: true if it is.
 */
static inline bool select_takes(const struct select *s,
				const struct ktape_registry *names,
				const struct ktape_event *e)
{
	return !s->any || select_judges(s, names, e);
}

/* dump_formats.c */
int formats_load(const struct select_options *o, struct ktape_formats **f);
size_t formats_append(const struct ktape_formats *f,
		      const struct ktape_event *e, bool json, char *line,
		      size_t len);

/* dump_follow.c */
int follow_begin(const char *path, pid_t *child);
int follow_end(pid_t child);

/* dump_device.c */
int device_copy(const char *path, struct ktape_device **device, int *fd);

#endif /* _KT_TOOL_DUMP_H */
