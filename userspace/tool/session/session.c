// SPDX-License-Identifier: GPL-2.0-only
/* Open and create sessions by name, and print why that failed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/session/session.h"
#include "tool/shared/message.h"

static const char *const modes[] = {
	[KTAPE_MODE_OVERWRITE] = "overwrite",
	[KTAPE_MODE_DISCARD] = "discard",
	[KTAPE_MODE_SNAPSHOT] = "snapshot",
	[KTAPE_MODE_PERSISTENT] = "persistent",
};

/**
 * mode_name() - return the name of a mode
 * @mode: enum ktape_mode, or any other number
 *
 * Return: the name, or "unknown".
 */
const char *mode_name(uint32_t mode)
{
	return mode < KT_ARRAY_SIZE(modes) ? modes[mode] : "unknown";
}

/**
 * mode_parse() - look up a mode by its name
 * @name: any text
 *
 * Return: enum ktape_mode or -EINVAL.
 */
int mode_parse(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(modes); i++) {
		if (!strcmp(modes[i], name))
			return (int)i;
	}
	return -EINVAL;
}

/**
 * open_named() - open a session, or print why it cannot be opened
 * @path: path of the device; NULL: KTAPE_DEVICE_PATH
 * @name: name or number of the session; NULL: session 0
 * @writable: open it for control, not only for reading
 * @session: set to the session
 *
 * Return: 0 or negative errno; the message was printed.
 */
int open_named(const char *path, const char *name, bool writable,
	       struct ktape_device **session)
{
	struct ktape_device *device;
	int err = open_device(path, writable, name ? &device : session);

	if (err || !name)
		return err;
	err = ktape_device_attach(device, name, writable, session);
	ktape_device_close(device);
	if (err == -ENOENT)
		fail("there is no session \"%s\" (ktape status lists them)", name);
	else if (err == -EINVAL)
		fail("\"%s\" is not a valid session name", name);
	else if (err)
		fail("session %s: %s", name, strerror(-err));
	return err;
}

/* Return the bytes of the event ring that the module makes of a size: 2^n, at least 4 blocks. */
static uint64_t ring_rounded(const struct ktape_create *c)
{
	uint64_t size = 1;

	while (size < c->ring_size || size < (uint64_t)c->block_size * 4)
		size *= 2;
	return size;
}

/* Write a size as an option takes it: "24M", or bytes. */
static int put_size_option(char *to, size_t room, uint64_t bytes)
{
	static const char *const units[] = { "", "K", "M", "G" };
	unsigned int i = 0;

	for (; bytes && !(bytes % 1024) && i < 3; i++)
		bytes /= 1024;
	return snprintf(to, room, "%llu%s", (unsigned long long)bytes, units[i]);
}

/*
 * Write the size that the module takes, and if it differs from that of the option, both.
 * @given: 0 if the option was not given.
 */
static void put_rounded(char *to, size_t room, const char *option,
			uint64_t given, uint64_t taken)
{
	char from[24], size[24];

	put_size_option(size, sizeof(size), taken);
	put_size_option(from, sizeof(from), given);
	if (given && given != taken)
		snprintf(to, room, "%s (%s %s, rounded up)", size, option, from);
	else
		snprintf(to, room, "%s", size);
}

/*
 * Print for which ring there was no memory.  The module has set failed_cpu to -1 if all rings
 * together are more than sessions may have.
 */
static int report_no_memory(const struct ktape_create *c)
{
	unsigned long long asked = c->failed_asked, had = c->failed_had;
	bool control = c->failed_kind == KTAPE_RING_CONTROL;
	char size[80], left[24], missing[24];

	if (!asked)
		return fail("cannot create a session with %llu bytes per CPU: %s",
			    (unsigned long long)c->ring_size, strerror(ENOMEM));
	put_size_option(left, sizeof(left), had);
	put_size_option(missing, sizeof(missing), asked - had);
	if (c->failed_cpu < 0) {
		put_rounded(size, sizeof(size), "-b", c->ring_size,
			    ring_rounded(c));
		return fail("cannot create a session with %s per CPU: with the control rings it needs %llu bytes in all, but only %s are left of the half of the memory that sessions may use",
			    size, asked, left);
	}
	put_rounded(size, sizeof(size), control ? "--control" : "-b",
		    control ? c->control_size : c->ring_size, asked);
	return fail("not enough memory for the %s ring of CPU %d: it needs %s, of which %s could be allocated and %s were missing; take smaller rings, free memory, or raise the limit of the memory cgroup",
		    control ? "control" : "event", c->failed_cpu, size, left,
		    missing);
}

/**
 * session_refused() - print why the module did not create a session
 * @device: the device
 * @create: the request, with details of the failure from the module
 * @err: negative errno from the module
 *
 * Return: the exit code for it.
 */
int session_refused(const struct ktape_device *device,
		    const struct ktape_create *create, int err)
{
	if (err == -EMFILE)
		return fail("all %u sessions of the module are in use: destroy one (ktape destroy NAME)",
			    ktape_device_features(device)->sessions_max);
	if (err == -ENOMEM)
		return report_no_memory(create);
	if (err == -EEXIST)
		return fail("a session \"%s\" already exists", create->name);
	if (err == -EBUSY)
		return fail("another session uses the memory that survives a reset, or the system hibernates");
	if (err == -EINVAL)
		return fail("mode %s, -b %llu, -B %llu: the module does not support this mode or these sizes",
			    mode_name(create->mode),
			    (unsigned long long)create->ring_size,
			    (unsigned long long)create->block_size);
	return fail("cannot create a session with %llu bytes per CPU: %s",
		    (unsigned long long)create->ring_size, strerror(-err));
}

/**
 * session_create() - create a session that may record what its profile has
 * @device: the device
 * @create: the request
 * @mask: the profile
 * @session: filled
 *
 * The kernel's log needs a right.  Without it, or with a module that does not know the
 * flag, the session is made without the log: the caller says so by report_unavailable() or
 * report_no_log().
 *
 * Return: 0 or negative errno.
 */
int session_create(struct ktape_device *device, struct ktape_create *create,
		   const uint64_t mask[KTAPE_MASK_WORDS],
		   struct ktape_device **session)
{
	const struct ktape_create request = *create;
	int err;

	if (kt_mask_has(mask, KTAPE_EV_CONSOLE)) {
		create->flags |= KTAPE_CREATE_LOG;
		err = ktape_device_create(device, create, session);
		if (err != -EPERM && err != -EINVAL)
			return err;
		*create = request;
	}
	return ktape_device_create(device, create, session);
}

/**
 * recording_error() - describe why a recorder ended
 * @err: negative errno
 *
 * Return: the reason.
 */
const char *recording_error(int err)
{
	return err == -ESTALE ?
		       "the session has ended, and its rings were given back" :
		       strerror(-err);
}

/**
 * recorder_error() - describe why a recorder could not be opened
 * @err: negative errno
 *
 * Return: the reason.
 */
const char *recorder_error(int err)
{
	return err == -ENODEV ?
		       "the rings cannot be mapped, because the session is persistent or the CPU has an aliasing data cache; read the device instead (ktape dump DEVICE)" :
		       recording_error(err);
}

/**
 * session_layout() - read number, mode and state of a session
 * @session: the session
 * @layout: filled; its rings are left out
 *
 * Return: 0 or negative errno.
 */
int session_layout(struct ktape_device *session, struct ktape_layout *layout)
{
	struct ktape_layout_entry *rings = NULL;
	int err = ktape_device_layout(session, layout, &rings);

	free(rings);
	return err;
}

/**
 * session_is_gone() - has a session ended while we have it open?
 * @session: the session
 *
 * Return: 1 if it has, 0, or negative errno.
 */
int session_is_gone(struct ktape_device *session)
{
	struct ktape_layout layout;
	int err = session_layout(session, &layout);

	/* A session that has ended has no number. */
	return err ? err : layout.session == KTAPE_SESSION_BY_NAME;
}

static void report_size(const char *what, uint64_t asked, uint64_t is)
{
	if (asked && asked != is)
		note("%s were given %llu bytes instead of %llu", what,
		     (unsigned long long)is, (unsigned long long)asked);
}

/**
 * report_sizes() - print which sizes the module has rounded
 * @session: session that was created
 * @create: the request
 */
void report_sizes(struct ktape_device *session, const struct ktape_create *create)
{
	struct ktape_layout_entry *entries = NULL;
	struct ktape_layout layout;
	bool reported[KTAPE_RINGS_PER_CPU] = { false };

	if (ktape_device_layout(session, &layout, &entries))
		return;
	for (unsigned int i = 0; i < layout.nr; i++) {
		const struct ktape_layout_entry *e = &entries[i];

		if (e->kind >= KTAPE_RINGS_PER_CPU || reported[e->kind])
			continue;
		reported[e->kind] = true;
		if (e->kind == KTAPE_RING_CONTROL) {
			report_size("control rings", create->control_size,
				    e->data_size);
			continue;
		}
		report_size("rings", create->ring_size, e->data_size);
		report_size("blocks", create->block_size, e->block_size);
	}
	free(entries);
}
