/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before everything else: the ring as it is when reading the clock
 * takes a call (clock=mono), which the shim's clock does not.
 */
#ifndef _BY_CALL_H
#define _BY_CALL_H

#include "ring/clock.h"

#undef kt_clock_by_call
#define kt_clock_by_call()	true

#endif /* _BY_CALL_H */
