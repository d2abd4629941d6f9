/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace clock: one for a load of the module, chosen when it is loaded.
 */
#ifndef _KT_CLOCK_H
#define _KT_CLOCK_H

#include "compat.h"

/* A writer saw a time before @latest, which was taken before.  Any context. */
void kt_clock_stepped_back(u64 latest);

#ifdef __KERNEL__
#include <linux/jump_label.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

DECLARE_STATIC_KEY_FALSE(kt_clock_called);

u64 kt_clock_slow(void);
DECLARE_PER_CPU(unsigned int, kt_clock_reading);

/**
 * kt_clock_by_call() - does reading the clock take a function call?
 *
 * What is called may have a probe, and a clock that is called may step back a
 * little: writers of the ring have a way of their own for it.
 *
 * Return: true or false, patched into the code or constant. Context: any.
 */
static __always_inline bool kt_clock_by_call(void)
{
	return KT_CYCLES_BY_CALL || static_branch_unlikely(&kt_clock_called);
}

/**
 * kt_clock() - read the trace clock
 *
 * Not ordered with the instructions around it: an interrupt orders by itself,
 * and within one context the order of reading is the program's.
 *
 * Return: ticks. Context: any, NMI included.
 */
static __always_inline u64 kt_clock(void)
{
	if (kt_clock_by_call())
		return kt_clock_slow();
	return get_cycles();
}

/**
 * kt_clock_halves() - read the trace clock in two halves
 * @lo: receives the lower half
 * @hi: receives the upper half
 * @by_call: constant, what kt_clock_by_call() says
 *
 * The fast path stores one half and compares the other; putting them together
 * and apart again would be a quarter of its instructions.
 *
 * Context: any, preemption disabled.
 */
static __always_inline void kt_clock_halves(u32 *lo, u32 *hi,
					    const bool by_call)
{
	u64 ts;

	if (by_call) {
		/* Contexts that come in between leave it as they found it. */
		raw_cpu_inc(kt_clock_reading);
		barrier();
		ts = kt_clock_slow();
		barrier();
		raw_cpu_dec(kt_clock_reading);
		*lo = (u32)ts;
		*hi = (u32)(ts >> 32);
	} else {
		kt_get_cycles_halves(lo, hi);
	}
}

/**
 * kt_clock_is_being_read() - does a writer of this CPU read the clock just now?
 *
 * For probes that may be hit by reading it.
 *
 * Context: any, preemption disabled.
 * Return: true or false; never true when it takes no function call.
 */
static __always_inline bool kt_clock_is_being_read(void)
{
	return raw_cpu_read(kt_clock_reading);
}

/**
 * struct kt_moment - one moment on all clocks
 * @clock: trace clock, ticks
 * @mono: CLOCK_MONOTONIC, ns
 * @boot: CLOCK_BOOTTIME, ns
 * @real: CLOCK_REALTIME, ns
 */
struct kt_moment {
	u64 clock;
	u64 mono;
	u64 boot;
	u64 real;
};

int kt_clock_init(const char *wish, void (*on_step)(void));
void kt_clock_exit(void);
void kt_clock_may_stop(void);
u64 kt_clock_hz(void);
bool kt_clock_stable(void);
u32 kt_clock_id(void);
const char *kt_clock_name(void);
void kt_clock_moment(struct kt_moment *m);

#else

/* The shim has kt_clock(), which is inline. */
#define kt_clock_by_call()	false

static __always_inline void kt_clock_halves(u32 *lo, u32 *hi,
					    const bool by_call)
{
	u64 ts = kt_clock();

	(void)by_call;
	*lo = (u32)ts;
	*hi = (u32)(ts >> 32);
}

#endif /* __KERNEL__ */

#endif /* _KT_CLOCK_H */
