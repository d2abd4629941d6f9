/* SPDX-License-Identifier: GPL-2.0-only */
/* Read the trace clock in user space. kt_clock_setup() must have succeeded before all others. */
#ifndef _KT_CLOCK_H
#define _KT_CLOCK_H

#include <time.h>

#include "kt.h"

#include "now.h"
#include "util/wide.h"

static struct ktape_features kt_clock;

/* The counter that the kernel calls cycles, in order with the instructions around it. */
#if defined(__x86_64__)
#define KT_HAS_CYCLES true
static inline uint64_t kt_cycles(void)
{
	uint64_t now;

	__builtin_ia32_lfence();
	now = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return now;
}
#elif defined(__aarch64__)
#define KT_HAS_CYCLES true
static inline uint64_t kt_cycles(void)
{
	uint64_t now;

	asm volatile("isb\n\tmrs %0, cntvct_el0\n\tisb"
		     : "=r"(now)
		     :
		     : "memory");
	return now;
}
#elif defined(__riscv) && __riscv_xlen == 64
#define KT_HAS_CYCLES true
static inline uint64_t kt_cycles(void)
{
	uint64_t now;

	asm volatile("fence\n\trdtime %0\n\tfence" : "=r"(now) : : "memory");
	return now;
}
#else
#define KT_HAS_CYCLES false
static inline uint64_t kt_cycles(void)
{
	return 0;
}
#endif

/* Return true if user space can read the clock of the trace. */
static inline bool kt_clock_setup(int fd)
{
	if (kt_features(fd, &kt_clock))
		return false;
	return KT_HAS_CYCLES || kt_clock.clock == KTAPE_CLOCK_MONO;
}

/*
 * Return by how much the times of a trace may differ from kt_now(), in ticks of its clock: if it
 * uses ktime_get_mono_fast_ns(), that differs slightly from CLOCK_MONOTONIC.
 */
static inline uint64_t kt_clock_slack(void)
{
	return kt_clock.clock == KTAPE_CLOCK_MONO ? 20000 : 0;
}

static inline uint64_t kt_now(void)
{
	if (kt_clock.clock == KTAPE_CLOCK_CYCLES)
		return kt_cycles();
	return now_ns();
}

static inline uint64_t kt_ticks(uint64_t ns)
{
	return kt_mul_div(ns, kt_clock.clock_hz, NS_PER_S);
}

static inline uint64_t kt_ticks_ns(uint64_t ticks)
{
	return kt_mul_div(ticks, NS_PER_S, kt_clock.clock_hz);
}

#endif /* _KT_CLOCK_H */
