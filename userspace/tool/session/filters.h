/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of a session.  The text form of each filter is parsed by the library.
 *
 * In the order in which to read them:
 *	filters.c	filters on the command line
 *	filters_apply.c	filters in the module
 *	rkh.c		--suppress and --pass: filters in the terms of RKH, a framework for state
 *			machines with a tracer of its own
 *	config_file.c	filters in configuration files
 *
 * Functions that return an exit code have printed the error; 0 is success.
 */
#ifndef _KT_TOOL_SESSION_FILTERS_H
#define _KT_TOOL_SESSION_FILTERS_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/shared/opt.h"

/**
 * struct filter_options - filter options of a command line
 * @text: by kind, argument of --KIND; NULL: not given
 * @off: by kind, --no-KIND was given
 * @threads: --threads, applies to all of --pid
 * @children: --children, applies to all of --pid
 * @rkh: --suppress and --pass, in their order
 */
struct filter_options {
	const char *text[KTAPE_FILTER_KINDS];
	bool off[KTAPE_FILTER_KINDS];
	bool threads;
	bool children;
	struct kt_opt_list rkh;
};

#define FILTER_OPTION(type, member, KIND, kind, arg, help)                     \
	{ #kind,       0,                                                      \
	  KT_OPT_TEXT, offsetof(type, member.text[KTAPE_FILTER_##KIND]),       \
	  arg,	       help },                                                 \
	{                                                                      \
		"no-" #kind, 0, KT_OPT_FLAG,                                   \
			offsetof(type, member.off[KTAPE_FILTER_##KIND]), NULL, \
			"remove this filter"                                   \
	}

/* Entries for the options table of a subcommand with filter_options as @member. */
#define FILTER_OPTIONS(type, member)                                                \
	FILTER_OPTION(type, member, CPU, cpu, "LIST", "only these CPUs: 0-3,5"),    \
		FILTER_OPTION(type, member, SYSCALL, syscall, "LIST",               \
			      "only these system calls, by name, glob or number"),  \
		FILTER_OPTION(type, member, IRQ, irq, "LIST",                       \
			      "only these interrupts"),                             \
		FILTER_OPTION(type, member, SOFTIRQ, softirq, "LIST",               \
			      "only these soft interrupts: RCU,TIMER"),             \
		FILTER_OPTION(type, member, SIGNAL, signal, "LIST",                 \
			      "only these signals: KILL,SEGV"),                     \
		FILTER_OPTION(type, member, PID, pid, "LIST",                       \
			      "only these threads"),                                \
		{ "threads",   0,                                                   \
		  KT_OPT_FLAG, offsetof(type, member.threads),                      \
		  NULL,	       "with --pid: also all threads of their processes" }, \
		{ "children",  0,                                                   \
		  KT_OPT_FLAG, offsetof(type, member.children),                     \
		  NULL,	       "with --pid: also what they fork" },                 \
		FILTER_OPTION(type, member, CGROUP, cgroup, "PATHS",                \
			      "only threads in these cgroups or below them"),       \
		FILTER_OPTION(type, member, UID, uid, "USERS",                      \
			      "only threads of these users"),                       \
		FILTER_OPTION(type, member, SEVERITY, severity, "LEVEL",            \
			      "only exceptions of this level (0 to 3) and above"),  \
		FILTER_OPTION(type, member, GATE, gate, "PAIR=TIME,...",            \
			      "only pairs that take at least this long: irq=10us"), \
		FILTER_OPTION(type, member, RATE, rate, "EVENT=N,...",              \
			      "at most N of this event per second and CPU"),        \
		FILTER_OPTION(type, member, STACK, stack, "EVENTS",                 \
			      "record the kernel's call stack with these events"),  \
		{ "suppress",                                                       \
		  0,                                                                \
		  KT_OPT_LIST,                                                      \
		  offsetof(type, member.rkh),                                       \
		  "KIND:NAME",                                                      \
		  "RKH's FILTER_ON for a group, event, object or signal" },         \
	{                                                                           \
		"pass", 0, KT_OPT_LIST, offsetof(type, member.rkh),                 \
			"KIND:NAME", "RKH's FILTER_OFF for the same"                \
	}

/* filters.c */

/* Print the active filters, as lines of a configuration or as members of a JSON object. */
void put_filters(const struct ktape_config *config, bool json);

/* Return the name of a filter's kind, which is also that of its option. */
const char *kind_name(unsigned int kind);

/* Check whether the command line changes any filter. */
bool filter_options_given(const struct filter_options *o);

/* Parse the filters of a command line.  Return: 0 or the exit code. */
int filter_options_read(const struct kt_command *command,
			const struct filter_options *o,
			struct ktape_config *config);

/* filters_apply.c */

/*
 * Set the filters of a session.  @whole: remove those that @config does not have.
 * Return: 0 or the exit code.
 */
int filters_apply(struct ktape_device *device,
		  const struct ktape_config *config, bool whole);

/* Restore the filters after a change that failed, and print whether all were restored. */
void filters_put_back(struct ktape_device *device,
		      const struct ktape_config *before);

/* Remove threads that have no number in this pid namespace, and print how many. */
void filter_drop_unknown(struct ktape_filter_value *v);

/* Read one filter of a session.  Prints nothing.  Return: 0 or negative errno. */
int filter_get(struct ktape_device *device, unsigned int kind,
	       struct ktape_filter_value *v);

/* Read all filters of a session.  Return: 0 or the exit code. */
int filters_get(struct ktape_device *device, struct ktape_config *config);

/* config_file.c */

/* Read or write a configuration file.  Return: 0 or the exit code. */
int config_load(const char *path, struct ktape_config *config);
int config_save(const char *path, const struct ktape_config *config);

/* rkh.c */

/* Apply --suppress and --pass to a profile and filters.  Return: 0 or the exit code. */
int rkh_apply(const struct kt_command *command, const struct kt_opt_list *list,
	      struct ktape_device *device, uint64_t mask[KTAPE_MASK_WORDS],
	      struct ktape_config *config);

#endif /* _KT_TOOL_SESSION_FILTERS_H */
