/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libktape: record and read traces of the ktape kernel module.
 *
 * Functions return 0 or a count, or a negative errno; they never print, exit or
 * keep state of their own.  Objects may be used by one thread at a time,
 * a registry by look-ups and lines as well, which remember answers in it.
 * Unless something else is said: sizes are bytes, times are ticks of the trace
 * clock, -ENOMEM can come from everything that opens, adds or reads.
 */
#ifndef _KTAPE_H
#define _KTAPE_H

#include "ktape-codec.h"
#include "ktape-device.h"
#include "ktape-event.h"
#include "ktape-filter.h"
#include "ktape-format.h"
#include "ktape-linux.h"
#include "ktape-recover.h"
#include "ktape-stats.h"
#include "ktape-trace.h"
#include "ktape-verify.h"

#endif /* _KTAPE_H */
