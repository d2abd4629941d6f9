/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device and its sessions.
 *
 * In the order in which to read them:
 *	device.c	open the device
 *	session.c	open and create sessions by name
 *	unavailable.c	events that cannot be recorded here
 *
 * Functions that return an error have printed it, unless they say otherwise.  Filters are in
 * filters.h.
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

/* Open a session.  Return: 0 or negative errno. */
int open_named(const char *path, const char *name, bool writable,
	       struct ktape_device **session);

/* Create a session.  Prints nothing: session_refused() does.  Return: 0 or negative errno. */
int session_create(struct ktape_device *device, struct ktape_create *create,
		   const uint64_t mask[KTAPE_MASK_WORDS],
		   struct ktape_device **session);

/* Print why the module did not create a session.  Return: the exit code. */
int session_refused(const struct ktape_device *device,
		    const struct ktape_create *create, int err);

/* Return as a text why a recorder ended, or why it could not be opened. */
const char *recording_error(int err);
const char *recorder_error(int err);

/* Prints nothing.  Return: 1 if the session has ended while we have it open, 0, or negative errno. */
int session_is_gone(struct ktape_device *session);

/* Get number, mode and state of a session.  Prints nothing.  Return: 0 or negative errno. */
int session_layout(struct ktape_device *session, struct ktape_layout *layout);

/* Print which of the requested sizes the module has rounded. */
void report_sizes(struct ktape_device *session, const struct ktape_create *create);

/* Return enum ktape_mode of a name.  Prints nothing if there is none: -EINVAL. */
int mode_parse(const char *name);

/* Return the name of a mode, or "unknown". */
const char *mode_name(uint32_t mode);

/* device.c */

/* Check whether this user may change sessions, not only read them. */
bool may_control(const char *path);

/* Print why the device cannot be opened, and the next command. */
void explain_device(const char *path, int err);

/* Open the device.  Return: 0 or negative errno. */
int open_device(const char *path, bool writable, struct ktape_device **device);

/* Print why the module refused a profile, the set of events to record.  Return: the exit code. */
int report_profile_refused(struct ktape_device *device, const uint64_t *mask,
			   int err);

/* unavailable.c */

/*
 * If @mask has the kernel's log (event console) and @list does not, print why it cannot be
 * recorded, or its restriction.  For a list that has it, call report_unavailable().
 */
void report_no_log(struct ktape_device *device, const char *list,
		   const uint64_t mask[KTAPE_MASK_WORDS]);

/* Print which events of @list, which are in @mask, cannot be recorded here, or are restricted. */
void report_unavailable(struct ktape_device *device, const char *list,
			const uint64_t mask[KTAPE_MASK_WORDS]);

#endif /* _KT_TOOL_SESSION_H */
