// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the trace clock and relates it to the system's clocks.
 *
 * A suspend may set the cycle counter back.  Before the first one the way
 * through kt_clock_slow() is patched in; when the system wakes up, with one CPU
 * and no interrupts, a counter that is behind gets a bias.
 */
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <ktape/abi.h>

#include "clock.h"

DEFINE_STATIC_KEY_FALSE(kt_clock_called);

/* How many writers of this CPU, nested, are reading a clock that takes a call. */
DEFINE_PER_CPU(unsigned int, kt_clock_reading);

static u64 hz = NSEC_PER_SEC;
static bool is_mono;

/* Written with one CPU running and interrupts off. */
static u64 bias, asleep_at;

/**
 * kt_clock_slow() - read a clock that takes more than an instruction
 *
 * Return: ticks. Context: any, NMI included.
 */
u64 notrace kt_clock_slow(void)
{
	return is_mono ? ktime_get_mono_fast_ns() : get_cycles() + bias;
}

static int falls_asleep(void)
{
	asleep_at = kt_clock();
	return 0;
}

static void wakes_up(void)
{
	u64 now = kt_clock();

	if ((s64)(now - asleep_at) < 0)
		bias += asleep_at - now;
}

KT_SYSCORE(clock_sleep, falls_asleep, wakes_up);

/**
 * kt_clock_may_stop() - the system is about to be suspended
 *
 * Context: process context, may sleep; everything still runs.
 */
void kt_clock_may_stop(void)
{
	static_branch_enable(&kt_clock_called);
}

/**
 * kt_clock_init() - choose the trace clock
 * @wish: "auto", "cycles" or "mono"
 *
 * auto takes the cycle counter where the kernel trusts it.
 *
 * Context: module load, before anything reads the clock.
 * Return: 0; -EINVAL for an unknown wish; -ENODEV if the cycle counter was
 * asked for and cannot be trusted.
 */
int kt_clock_init(const char *wish)
{
	u64 cycles_hz = kt_cycles_hz();

	if (!strcmp(wish, "mono"))
		cycles_hz = 0;
	else if (!strcmp(wish, "cycles") && !cycles_hz)
		return -ENODEV;
	else if (strcmp(wish, "cycles") && strcmp(wish, "auto"))
		return -EINVAL;
	is_mono = !cycles_hz;
	if (is_mono)
		static_branch_enable(&kt_clock_called);
	else
		hz = cycles_hz;
	kt_syscore_register(&clock_sleep);
	return 0;
}

/**
 * kt_clock_exit() - no longer care for suspends
 *
 * Context: module unload.
 */
void kt_clock_exit(void)
{
	kt_syscore_unregister(&clock_sleep);
}

/**
 * kt_clock_hz() - ticks of the trace clock in a second
 *
 * Return: the frequency. Context: any.
 */
u64 kt_clock_hz(void)
{
	return hz;
}

/**
 * kt_clock_id() - which clock it is
 *
 * Return: enum ktape_clock. Context: any.
 */
u32 kt_clock_id(void)
{
	return is_mono ? KTAPE_CLOCK_MONO : KTAPE_CLOCK_CYCLES;
}

/**
 * kt_clock_name() - which clock it is, for people
 *
 * Return: a name that CTF takes as an identifier. Context: any.
 */
const char *kt_clock_name(void)
{
	return kt_clock_id() == KTAPE_CLOCK_MONO ? "mono" : "cycles";
}

/**
 * kt_clock_stable() - does the kernel trust the trace clock?
 *
 * Return: true or false. Context: any.
 */
bool kt_clock_stable(void)
{
	return kt_clock_id() == KTAPE_CLOCK_MONO || kt_cycles_hz() != 0;
}

/**
 * kt_clock_moment() - read all clocks at one moment
 * @m: where to
 *
 * Context: any.
 */
void kt_clock_moment(struct kt_moment *m)
{
	unsigned long flags;

	local_irq_save(flags);
	m->clock = kt_clock();
	m->mono = ktime_get_mono_fast_ns();
	m->boot = ktime_get_boot_fast_ns();
	m->real = ktime_get_real_fast_ns();
	local_irq_restore(flags);
}
