/* SPDX-License-Identifier: GPL-2.0-only */
/* The monotonic clock. */
#ifndef _KT_TOOL_SHARED_CLOCK_H
#define _KT_TOOL_SHARED_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Return CLOCK_MONOTONIC in ns. */
static inline uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

#endif /* _KT_TOOL_SHARED_CLOCK_H */
