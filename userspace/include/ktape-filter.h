/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libktape: filters of a session, configurations as text.  Included by ktape.h. */
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
 * struct ktape_filter_value - a filter as a whole
 * @kind: enum ktape_filter_kind
 * @nr: how many entries
 * @size: bytes at @entries
 * @entries: as in ktape/filter.h; CGROUP: names of folders one after the other,
 *	each with its NUL.  NULL: it has none, or there is no filter
 * @active: it is, or shall be, in force
 * @collisions: out: as in struct ktape_filter
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
 * ktape_filter_kind() - a kind of filter by its name
 * @name: as ktape_value_name() gives it for KTAPE_TYPE_FILTER
 *
 * Return: enum ktape_filter_kind or -ENOENT.
 */
int ktape_filter_kind(const char *name);

/**
 * ktape_filter_parse() - a filter from text, in the forms of ktape(1)
 * @kind: enum ktape_filter_kind
 * @text: entries, comma separated
 * @value: filled; ends with ktape_filter_release()
 * @error: filled on -EBADMSG, may be NULL; its offset is one in @text
 *
 * Return: 0, or -EBADMSG if it was not understood.
 */
int ktape_filter_parse(unsigned int kind, const char *text,
		       struct ktape_filter_value *value,
		       struct ktape_error *error);

/**
 * ktape_filter_format() - a filter as text that ktape_filter_parse() takes
 * @value: the filter; one that is not active is "off"
 * @text: set to text that the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_filter_format(const struct ktape_filter_value *value, char **text);

/**
 * ktape_filter_release() - free the entries
 * @value: the filter; it is off afterwards
 */
void ktape_filter_release(struct ktape_filter_value *value);

/**
 * ktape_device_filter_get() - the filter of a kind
 * @device: the session
 * @kind: enum ktape_filter_kind
 * @value: filled; ends with ktape_filter_release().  PID: threads that have ended
 *	or have no number here have the number 0, which cannot be set
 *
 * Return: 0, or the errno of the ioctl: -ENOTTY if there are no filters.
 */
int ktape_device_filter_get(struct ktape_device *device, unsigned int kind,
			    struct ktape_filter_value *value);

/**
 * ktape_device_filter_set() - put a filter in force, or take it away
 * @device: a writable session
 * @value: the filter; what is not active is taken away
 *
 * Return: 0 or the errno of the ioctl, or of opening a cgroup.
 */
int ktape_device_filter_set(struct ktape_device *device,
			    const struct ktape_filter_value *value);

/**
 * ktape_device_filter_off() - take the filter of a kind away
 * @device: a writable session
 * @kind: enum ktape_filter_kind
 *
 * Return: 0 or the errno of the ioctl.
 */
int ktape_device_filter_off(struct ktape_device *device, unsigned int kind);

/**
 * ktape_cgroup_check() - is there a cgroup of version 2 of that name?
 * @name: an entry of the filter by cgroup: a folder's path, its path below the
 *	root, or "id:" and its number
 *
 * Return: 0; -EMEDIUMTYPE: it is another folder; or the errno of opening it.
 */
int ktape_cgroup_check(const char *name);

/* ---- configurations ---------------------------------------------------- */

/* What of struct ktape_config is given. */
#define KTAPE_CONFIG_EVENTS	(1U << 0)
#define KTAPE_CONFIG_CONTEXT	(1U << 1)
#define KTAPE_CONFIG_MODE	(1U << 2)
#define KTAPE_CONFIG_BUFFER	(1U << 3)
#define KTAPE_CONFIG_BLOCK	(1U << 4)
#define KTAPE_CONFIG_DURATION	(1U << 5)
#define KTAPE_CONFIG_SESSION	(KTAPE_CONFIG_MODE | KTAPE_CONFIG_BUFFER | \
				 KTAPE_CONFIG_BLOCK | KTAPE_CONFIG_DURATION)

/**
 * struct ktape_config - a profile, or a whole session; zeroed, nothing is given
 * @given: KTAPE_CONFIG_*
 * @filters_given: bit n: @filters[n] is
 * @mode: enum ktape_mode
 * @context: threads are told while sched_switch is not recorded
 * @mask: the events
 * @buffer: bytes of each CPU's ring
 * @block: bytes of a block
 * @duration: nanoseconds
 * @filters: by kind
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
 * ktape_config_parse() - read a configuration: ktape-format(5)
 * @text: lines "key = value"
 * @len: bytes
 * @config: filled; ends with ktape_config_release(), after an error too
 * @error: filled on -EBADMSG, may be NULL; its offset is the number of the line
 *
 * Return: 0, or -EBADMSG if it was not understood.
 */
int ktape_config_parse(const char *text, size_t len,
		       struct ktape_config *config, struct ktape_error *error);

/**
 * ktape_config_format() - a configuration as text
 * @config: what is given of it is written
 * @text: set to text that the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int ktape_config_format(const struct ktape_config *config, char **text);

/**
 * ktape_config_release() - free what a configuration holds
 * @config: nothing is given afterwards
 */
void ktape_config_release(struct ktape_config *config);

#ifdef __cplusplus
}
#endif

#endif /* _KTAPE_FILTER_LIB_H */
