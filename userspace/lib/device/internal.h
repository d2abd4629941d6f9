/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Functions on an open device that only this folder uses. */
#ifndef _KT_DEVICE_INTERNAL_H
#define _KT_DEVICE_INTERNAL_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ktape.h>

/* Returns the ioctl's result or negative errno. */
int kt_device_ioctl(const struct ktape_device *device, unsigned long command,
		    void *arg);
/* The device owns @fd, which is closed on an error as well. */
int kt_device_adopt(int fd, struct ktape_device **device);

#endif /* _KT_DEVICE_INTERNAL_H */
