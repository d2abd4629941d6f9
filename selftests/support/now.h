/* SPDX-License-Identifier: GPL-2.0-only */
/* The time of a clock as one number, for tests on the host and in guests. */
#ifndef _NOW_H
#define _NOW_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline double now_s(void)
{
	return (double)now_ns() / 1e9;
}

#endif /* _NOW_H */
