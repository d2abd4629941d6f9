/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Units of time in nanoseconds.  Signed, because times before 1970 and differences are
 * negative; with a uint64_t the compiler calculates without sign.
 */
#ifndef _KT_NANOSECONDS_H
#define _KT_NANOSECONDS_H

#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

#endif /* _KT_NANOSECONDS_H */
