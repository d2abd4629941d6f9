/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device and its sessions.
 *
 *	device.c	open the device
 *	session.c	open and create sessions by name
 *	unavailable.c	events that cannot be recorded here
 *
 * Each prints why it failed.  Filters are in filters.h.
 */
#ifndef _KT_TOOL_SESSION_H
#define _KT_TOOL_SESSION_H

#include <stdbool.h>

#include <ktape.h>

#include "tool/shared/opt.h"

/* Entry for the options table of a subcommand; @member is a const char *. */
#define SESSION_OPTION(type, member)                                         \
	{                                                                    \
		"session", 'S', KT_OPT_TEXT, offsetof(type, member), "NAME", \
			"session, by name or number (default: session 0)"    \
	}

/* session.c */
int open_named(const char *path, const char *name, bool writable,
	       struct ktape_device **session);
int session_create(struct ktape_device *device, struct ktape_create *create,
		   const uint64_t mask[KTAPE_MASK_WORDS],
		   struct ktape_device **session);
int session_refused(const struct ktape_device *device,
		    const struct ktape_create *create, int err);
const char *recording_error(int err);
const char *recorder_error(int err);
int session_is_gone(struct ktape_device *session);
int session_layout(struct ktape_device *session, struct ktape_layout *layout);
void report_sizes(struct ktape_device *session, const struct ktape_create *create);
int mode_parse(const char *name);
const char *mode_name(uint32_t mode);

/* device.c */
bool may_control(const char *path);
void explain_device(const char *path, int err);
int open_device(const char *path, bool writable, struct ktape_device **device);
int profile_failed(struct ktape_device *device, const uint64_t *mask, int err);

/* unavailable.c */
void report_no_log(struct ktape_device *device, const char *list,
		   const uint64_t mask[KTAPE_MASK_WORDS]);
void report_unavailable(struct ktape_device *device, const char *list,
			const uint64_t mask[KTAPE_MASK_WORDS]);

#endif /* _KT_TOOL_SESSION_H */
