/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: filters of a session, and configurations, as values and as text.
 *
 * Included by ktape.h.  What a filter does is described in ktape/filter.h.
 */
#ifndef _KTAPE_FILTER_LIB_H
#define _KTAPE_FILTER_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ktape/filter.h>

#include "ktape-device.h"
#include "ktape-event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- filters ---------------------------------------------------------- */

/**
 * struct ktape_filter_value - a filter with all its entries
 * @kind: enum ktape_filter_kind
 * @nr: number of entries
 * @size: bytes at @entries
 * @entries: entries as in ktape/filter.h, NULL = none; CGROUP: paths of cgroups
 *	one after the other, each with its NUL
 * @active: the filter is in force, or shall be
 * @collisions: output only, as in struct ktape_filter
 */
struct ktape_filter_value {
	uint32_t kind;
	uint32_t nr;
	size_t size;
	void *entries;
	bool active;
	uint64_t collisions;
};

/**
 * ktape_filter_kind() - Look up a kind of filter by its name
 * @name: as returned by ktape_value_name() for KTAPE_TYPE_FILTER
 *
 * Return: enum ktape_filter_kind or -ENOENT.
 */
int ktape_filter_kind(const char *name);

/**
 * ktape_filter_parse() - Parse a filter in the syntax of ktape(1)
 * @kind: enum ktape_filter_kind
 * @text: entries, comma separated
 * @value: filled; release with ktape_filter_release()
 * @error: filled on -EBADMSG, with an offset in @text; may be NULL
 *
 * Return: 0, -EBADMSG on a syntax error, -EINVAL for a @kind that does not exist, or -ENOMEM.
 */
int ktape_filter_parse(unsigned int kind, const char *text,
		       struct ktape_filter_value *value, struct ktape_error *error);

/**
 * ktape_filter_format() - Format a filter as text for ktape_filter_parse()
 * @value: the filter; an inactive one is formatted as "off"
 * @text: set to a text that the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_filter_format(const struct ktape_filter_value *value, char **text);

/**
 * ktape_filter_release() - Free the entries of a filter
 * @value: the filter; inactive afterwards
 */
void ktape_filter_release(struct ktape_filter_value *value);

/**
 * ktape_device_filter_get() - Read a filter of a session
 * @device: the session
 * @kind: enum ktape_filter_kind
 * @value: filled; release with ktape_filter_release().  PID: threads that have
 *	ended, or are not in the caller's pid namespace, are listed as 0, which
 *	cannot be set
 *
 * Return: 0, -ENOTTY if the module has no filters, or the errno of the ioctl.
 */
int ktape_device_filter_get(struct ktape_device *device, unsigned int kind,
			    struct ktape_filter_value *value);

/**
 * ktape_device_filter_set() - Set or remove a filter of a session
 * @device: a writable session
 * @value: the filter; if inactive, the filter of that kind is removed
 *
 * Return: 0 or the errno of the ioctl, or of opening a cgroup.
 */
int ktape_device_filter_set(struct ktape_device *device,
			    const struct ktape_filter_value *value);

/**
 * ktape_device_filter_off() - Remove a filter of a session
 * @device: a writable session
 * @kind: enum ktape_filter_kind
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_filter_off(struct ktape_device *device, unsigned int kind);

/**
 * ktape_cgroup_check() - Check that a cgroup (version 2) exists
 * @name: path of the cgroup's directory, its path below the cgroup root, or "id:"
 *	and its number
 *
 * Return: 0; -EMEDIUMTYPE if the directory is not a cgroup; or the errno of
 * opening it.
 */
int ktape_cgroup_check(const char *name);

/* ---- configurations ---------------------------------------------------- */

/* Bits of @given: which members of struct ktape_config are set. */
#define KTAPE_CONFIG_EVENTS   (1U << 0)
#define KTAPE_CONFIG_CONTEXT  (1U << 1)
#define KTAPE_CONFIG_MODE     (1U << 2)
#define KTAPE_CONFIG_BUFFER   (1U << 3)
#define KTAPE_CONFIG_BLOCK    (1U << 4)
#define KTAPE_CONFIG_DURATION (1U << 5)
/* What only a whole session has: a profile ignores it. */
#define KTAPE_CONFIG_SESSION                                            \
	(KTAPE_CONFIG_MODE | KTAPE_CONFIG_BUFFER | KTAPE_CONFIG_BLOCK | \
	 KTAPE_CONFIG_DURATION)

/**
 * struct ktape_config - a profile or a whole session; all zero = empty
 * @given: KTAPE_CONFIG_* of the members that are set
 * @filters_given: bit n: @filters[n] is set
 * @mode: enum ktape_mode
 * @context: record the running thread while sched_switch is not recorded
 * @mask: enabled events, bit n is opcode n
 * @buffer: bytes of each CPU's ring
 * @block: bytes of a block
 * @duration: length of the recording in nanoseconds
 * @filters: filters by kind
 */
struct ktape_config {
	uint32_t given;
	uint32_t filters_given;
	uint32_t mode;
	bool context;
	uint64_t mask[KTAPE_MASK_WORDS];
	uint64_t buffer;
	uint64_t block;
	uint64_t duration;
	struct ktape_filter_value filters[KTAPE_FILTER_KINDS];
};

/**
 * ktape_config_parse() - Parse a configuration, see ktape-format(5)
 * @text: lines "key = value"
 * @len: bytes of @text
 * @config: filled; release with ktape_config_release(), also after an error
 * @error: filled on -EBADMSG, its offset is the line number; may be NULL
 *
 * Return: 0, -EBADMSG on a syntax error, or -ENOMEM.
 */
int ktape_config_parse(const char *text, size_t len,
		       struct ktape_config *config, struct ktape_error *error);

/**
 * ktape_config_format() - Format a configuration as text
 * @config: the configuration; only the members that are set are written
 * @text: set to a text that the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_config_format(const struct ktape_config *config, char **text);

/**
 * ktape_config_release() - Free what a configuration holds
 * @config: the configuration; empty afterwards
 */
void ktape_config_release(struct ktape_config *config);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_FILTER_LIB_H */
