// SPDX-License-Identifier: GPL-2.0-only
/* Open the device, and say why it cannot be opened or refuses a profile. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <ktape.h>

#include "util/bits.h"

#include "tool/session/session.h"
#include "tool/shared/message.h"

/**
 * explain_device() - print why the device cannot be opened, and the next command
 * @path: path of the device; NULL: KTAPE_DEVICE_PATH
 * @err: negative errno of opening it
 */
void explain_device(const char *path, int err)
{
	struct ktape_doctor_options o = { .flags = KTAPE_DOCTOR_OPEN };
	const struct ktape_diagnosis *f = NULL;
	struct ktape_doctor *doctor = NULL;
	bool rights = err == -EPERM || err == -EACCES;

	if (!path)
		path = KTAPE_DEVICE_PATH;
	if (strcmp(path, KTAPE_DEVICE_PATH))
		o.device = path;
	/* About another path the doctor knows only whether this user may open it. */
	if ((!o.device || rights) && !ktape_doctor_run(&o, &doctor))
		f = ktape_doctor_problem(doctor);
	if (f)
		fail("%s: %s: %s", path, strerror(-err), f->what);
	else if (err == -ENOTTY)
		fail("%s is not a ktape device", path);
	else
		fail("%s: %s", path, strerror(-err));
	if (f && *f->next)
		note("next: %s   (ktape doctor says why)", f->next);
	ktape_doctor_free(doctor);
}

/**
 * open_device() - open the device, or print why it cannot be opened
 * @path: path of the device; NULL: KTAPE_DEVICE_PATH
 * @writable: open it for control, not only for reading
 * @device: set to the device
 *
 * Return: 0 or negative errno; the message was printed.
 */
int open_device(const char *path, bool writable, struct ktape_device **device)
{
	int err = ktape_device_open(path, writable, device);

	if (err)
		explain_device(path, err);
	return err;
}

/**
 * may_control() - check whether the permissions of the device allow control
 * @path: path of the device; NULL: KTAPE_DEVICE_PATH
 *
 * Commands that copy records control a session only to end its open blocks, and so
 * work for users who may only read the device.
 *
 * Return: false if it can only be opened for reading.
 */
bool may_control(const char *path)
{
	return !faccessat(AT_FDCWD, path ? path : KTAPE_DEVICE_PATH, W_OK,
			  AT_EACCESS);
}

/**
 * report_profile_refused() - print why the module refused a profile
 * @device: the session
 * @mask: events of the profile
 * @err: negative errno from the module
 *
 * Return: the exit code for it.
 */
int report_profile_refused(struct ktape_device *device, const uint64_t *mask, int err)
{
	struct ktape_event_info info;

	for (unsigned int i = 0; err == -EINVAL && i < KTAPE_OPCODES; i++) {
		const struct ktape_event_desc *d = ktape_event_desc(i);

		/* The record that extends times is no event for a profile. */
		if (!kt_mask_has(mask, i) ||
		    (i != KTAPE_TIME_EXTEND &&
		     (ktape_device_event_info(device, i, &info) ||
		      info.state != KTAPE_EVENT_UNKNOWN)))
			continue;
		if (d)
			return fail("profile: the loaded module does not know the event %s",
				    d->name);
		return fail("profile: the loaded module does not know opcode %u", i);
	}
	return fail("cannot set the profile: %s", strerror(-err));
}
