/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the values of an event, as they were valid at the event's time.
 *
 * Names come from the trace's registry (threads, functions, devices), from tables of
 * this library (system calls, signals) or from the recorded machine's tables.  show/
 * prints the names.
 *
 * Read the files in this order; each calls only those before it:
 *
 *	registry.h	the names of a trace: versions of an object, by id
 *	names.c		tables of names that are the same in all traces
 *	syscall.c	names of system calls, a table a machine
 *	lookup.c	the name of an object at a time, from the registry
 *	event_names.c	the name of an event's value, from any of these
 *	memo.h, memo.c	pieces of lines that were formatted before
 *	registry.c	adds names to the registry
 */
#ifndef _KT_NAMES_H
#define _KT_NAMES_H

#include "names/memo.h"

/**
 * struct kt_line - an event with everything needed to name and show its values
 * @info: metadata of the trace
 * @registry: names
 * @event: the event
 * @json: true for JSON, false for text
 * @memo: cache of formatted pieces
 */
struct kt_line {
	const struct ktape_info *info;
	const struct ktape_registry *registry;
	const struct ktape_event *event;
	bool json;
	struct kt_memo *memo;
};

/* Return the context for showing an event. */
static inline struct kt_line kt_line_of(const struct ktape_info *info,
					const struct ktape_registry *registry,
					const struct ktape_event *event, bool json)
{
	return (struct kt_line){
		.info = info,
		.registry = registry,
		.event = event,
		.json = json,
		.memo = kt_memo_of(registry, info),
	};
}

/**
 * struct kt_name - name of a value
 * @text: the name, NULL = none
 * @len: bytes of the name
 * @plain: the name needs no escapes in text or JSON
 * @offset: bytes from the symbol to the address (FUNC), else 0
 */
struct kt_name {
	const char *text;
	size_t len;
	bool plain;
	uint32_t offset;
};

#define KT_NAME_LONG 4096U /* bytes of the longest name of a user event */

/* Return how many bytes a record may name an object of a type with. */
static inline uint32_t kt_name_max(uint32_t type)
{
	return type == KTAPE_OBJ_USER_EVENT ? KT_NAME_LONG : KTAPE_NAME_SIZE;
}

/* Return the name of an object, all of it. */
static inline struct kt_name kt_object_name(const struct ktape_object_info *o)
{
	return (struct kt_name){ o->whole ? o->whole : o->name,
				 o->whole ? o->whole_len : o->name_len,
				 o->plain, 0 };
}

/* Put the name of an object, which is in an array that can be copied as a whole. */
static inline char *kt_put_object(char *p, const struct ktape_object_info *o)
{
	return kt_put_32(p, o->name, o->name_len);
}

/*
 * registry.c.  Besides names, a registry holds the list of formats that can describe
 * the user events of its trace.  The format folders are above this folder, so the
 * caller of kt_registry_new() passes the list.
 */
struct kt_user_format;
int kt_registry_new(uint64_t hz, const struct kt_user_format *const *formats,
		    struct ktape_registry **registry);
const struct kt_user_format *const *
kt_registry_formats(const struct ktape_registry *registry);
uint64_t kt_registry_no_room(const struct ktape_registry *registry,
			     unsigned int reason);

/* lookup.c */
bool kt_registry_may_lack(const struct ktape_registry *registry, uint64_t ts);

/* event_names.c */
struct kt_name kt_name_of(const struct kt_line *l, unsigned int type,
			  uint64_t value);
struct kt_name kt_name_any(const struct kt_line *l, unsigned int type,
			   uint64_t value);
bool kt_type_has_name(unsigned int type);
bool kt_name_lasts(const struct kt_line *l, unsigned int type, uint64_t value);
const char *kt_syscall_of(const struct kt_line *l, unsigned int nr);

/* syscall.c */
bool kt_syscall_has_status(const char *machine, unsigned int abi, unsigned int nr);

#endif /* _KT_NAMES_H */
