// SPDX-License-Identifier: GPL-2.0-only
/* ktape dump --now and --clear: copy what the rings of a device have at one moment. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ktape.h>

#include "tool/dump/dump.h"
#include "tool/session/session.h"
#include "tool/shared/message.h"

/* Open an unnamed file in $TMPDIR, or in memory if that does not work. */
static int open_unnamed_file(void)
{
	const char *tmp = getenv("TMPDIR");
	int fd = open(tmp ? tmp : "/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	return fd < 0 ? memfd_create("ktape", MFD_CLOEXEC) : fd;
}

/* Write what the rings have now, also in open blocks.  Return: 0 or negative errno. */
static int copy_rings(struct ktape_device *device, int fd)
{
	const struct ktape_recorder_options how = { .fd = fd };
	struct ktape_recorder *r;
	int err = ktape_recorder_open(device, &how, &r);

	if (err)
		return err;
	err = ktape_recorder_flush(r);
	ktape_recorder_close(r);
	return err;
}

/**
 * device_copy() - copy the records of a device's rings to a file
 * @path: path of the device
 * @device: set to the device, open for control if that is allowed
 * @fd: set to the file, in pipe form
 *
 * The caller closes both, after an error what was set of them.
 *
 * Return: 0 or the exit code.
 */
int device_copy(const char *path, struct ktape_device **device, int *fd)
{
	int err;

	if (open_device(path, may_control(path), device))
		return EXIT_FAILED;
	*fd = open_unnamed_file();
	err = *fd < 0 ? -errno : copy_rings(*device, *fd);
	return err ? fail("%s: %s", path, recorder_error(err)) : 0;
}
