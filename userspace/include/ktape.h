/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: record and read traces of the ktape kernel module.
 *
 * Functions that can fail return 0 or a count, or a negative errno.  No function prints or
 * exits, and none keeps global state but what a signal handler needs
 * (ktape_device_bus_error()).  An object may be used by one thread at a time.  This includes
 * a const registry: looking up names and formatting lines caches results in it.  Unless
 * stated otherwise, sizes are in bytes, times are ticks of the trace clock, and every
 * function that opens, adds or reads can return -ENOMEM.
 *
 * Before version 1.0 the library has no stable binary interface: structures may grow from
 * one version to the next, so build programs again for each version.
 */
#ifndef _KTAPE_H
#define _KTAPE_H

#include "ktape-codec.h"
#include "ktape-device.h"
#include "ktape-doctor.h"
#include "ktape-event.h"
#include "ktape-filter.h"
#include "ktape-format.h"
#include "ktape-linux.h"
#include "ktape-recover.h"
#include "ktape-stats.h"
#include "ktape-trace.h"
#include "ktape-verify.h"

#endif /* _KTAPE_H */
