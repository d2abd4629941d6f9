// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace clock: one per module load, chosen when the module is loaded.
 *
 * It is the cycle counter, read inline where the architecture can, or
 * CLOCK_MONOTONIC, read by a call.  A cycle counter that goes back gets a bias,
 * and is read by a call from then on: kt_clock_slow(), patched in through
 * kt_clock_called.
 *
 * A suspend may set the counter back.  kt_clock_slow() is patched in before the
 * first suspend.  At resume, with one CPU and no interrupts, a counter that is
 * behind gets the bias.
 *
 * Firmware or a hypervisor may set the counter back at any time (a virtual
 * machine that is restored).  The writer that notices calls
 * kt_clock_stepped_back(), and its ring stays at its latest time until a work
 * item has set the bias and patched kt_clock_slow() in.  From then on the clock
 * counts as unstable.
 *
 * The kernel's watchdog may find out at any time that the counter is unstable.  It
 * has no notifier for that, so kt_clock_check() polls at each new block.  Every session then
 * gets new clock_sync records, which relate the trace clock to the system's clocks, without the
 * flag "stable".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(kt_clock_called);

/*
 * Number of nested writers of this CPU that read the clock by a call now.  A probe on a
 * function that such a read calls must not record, because it would read the clock again:
 * see kt_clock_is_being_read().
 */
DEFINE_PER_CPU(unsigned int, kt_clock_reading);

static u64 hz = NSEC_PER_SEC;
static bool is_mono;

/*
 * Ticks to add to the counter.  Atomic, as 32-bit kernels would tear a u64;
 * kernels without atomic64_t have clock=mono.
 */
static atomic64_t bias;

/* Latest time taken before the counter stepped back, 0 = no step so far. */
static atomic64_t behind;

/*
 * Latest time read between clock_suspend() and clock_resume(), while one CPU
 * runs with interrupts off.  clock_resume() corrects any step back in that
 * time.
 */
static bool is_asleep;
static atomic64_t asleep_at;

/* The kernel trusted the counter at load and does not do so any more. */
static bool is_distrusted;

/* Called when a step was corrected, or trust was lost; from kt_clock_init(). */
static void (*stepped)(void);

static notrace void clock_raise(atomic64_t *to, u64 now)
{
	s64 old = atomic64_read(to);

	while ((s64)(now - (u64)old) > 0 &&
	       !atomic64_try_cmpxchg(to, &old, (s64)now))
		;
}

/**
 * kt_clock_slow() - Read the clock by a call
 *
 * Return: ticks. Context: any, NMI included.
 */
u64 notrace kt_clock_slow(void)
{
	u64 now;

	if (is_mono)
		return ktime_get_mono_fast_ns();
	now = get_cycles() + (u64)atomic64_read(&bias);
	if (unlikely(READ_ONCE(is_asleep)))
		clock_raise(&asleep_at, now);
	return now;
}

static int clock_suspend(void)
{
	atomic64_set(&asleep_at, (s64)kt_clock());
	WRITE_ONCE(is_asleep, true);
	return 0;
}

static void clock_resume(void)
{
	s64 late = (s64)(atomic64_read(&asleep_at) - kt_clock());

	if (late > 0)
		atomic64_add(late, &bias);
	WRITE_ONCE(is_asleep, false);
}

KT_SYSCORE(clock_sleep, clock_suspend, clock_resume);

/**
 * kt_clock_may_stop() - Prepare for a suspend, which may set the counter back
 *
 * From now on the clock is read by a call.  Called by the sessions' PM notifier.
 *
 * Context: process context, may sleep; the system still runs.
 */
void kt_clock_may_stop(void)
{
	static_branch_enable(&kt_clock_called);
}

/*
 * Set the bias before kt_clock_slow() is patched in, so that no CPU reads it
 * without the bias.  Compute the bias from the current clock, so that a step
 * which several rings report is corrected once.
 */
static void clock_give_bias(struct work_struct *work)
{
	u64 latest = (u64)atomic64_read(&behind), now = kt_clock_slow();

	if (latest && (s64)(latest - now) > 0) {
		atomic64_add(latest - now, &bias);
		pr_warn("the cycle counter went back by %llu ticks; times continue from the latest one, but cannot be compared with those of other CPUs\n",
			latest - now);
	}
	if (READ_ONCE(is_distrusted))
		pr_warn("the kernel no longer trusts the cycle counter; times of different CPUs cannot be compared\n");
	static_branch_enable(&kt_clock_called);
	stepped();
}

static DECLARE_WORK(bias_work, clock_give_bias);

static void clock_start_work(struct irq_work *work)
{
	schedule_work(&bias_work);
}

static struct irq_work bias_irq;

/**
 * kt_clock_stepped_back() - Report that the cycle counter stepped back
 * @latest: time that was taken before and that the counter has not reached
 *
 * Nothing is reported with clock=mono, where a step of a few ns is normal, and
 * during a suspend, whose step clock_resume() corrects.
 *
 * Context: any, NMI included; preemption disabled.
 */
void notrace kt_clock_stepped_back(u64 latest)
{
	if (is_mono || READ_ONCE(is_asleep))
		return;
	clock_raise(&behind, latest);
	irq_work_queue(&bias_irq);
}

/**
 * kt_clock_check() - Notice that the kernel does not trust the cycle counter any more
 *
 * Context: any, NMI included; preemption disabled.
 */
void notrace kt_clock_check(void)
{
	/* kt_cycles_hz() is 0 if the kernel does not trust the counter. */
	if (is_mono || READ_ONCE(is_distrusted) || kt_cycles_hz())
		return;
	WRITE_ONCE(is_distrusted, true);
	irq_work_queue(&bias_irq);
}

/**
 * kt_clock_init() - Choose the trace clock
 * @wish: "auto", "cycles" or "mono"; auto is cycles where the kernel trusts the
 *	counter, else mono
 * @on_step: called in process context after a step back was handled, and after the
 *	kernel lost its trust in the counter
 *
 * Context: module load, before anything reads the clock.
 * Return: 0; -EINVAL for an unknown wish; -ENODEV if the cycle counter was
 * asked for and the kernel does not trust it.
 */
int kt_clock_init(const char *wish, void (*on_step)(void))
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
	stepped = on_step;
	init_irq_work(&bias_irq, clock_start_work);
	kt_syscore_register(&clock_sleep);
	return 0;
}

/**
 * kt_clock_exit() - Stop watching for suspends and steps
 *
 * Context: module unload, when no ring is left.
 */
void kt_clock_exit(void)
{
	kt_syscore_unregister(&clock_sleep);
	irq_work_sync(&bias_irq);
	cancel_work_sync(&bias_work);
}

/**
 * kt_clock_hz() - Get the frequency of the trace clock
 *
 * Return: ticks per second. Context: any.
 */
u64 kt_clock_hz(void)
{
	return hz;
}

/**
 * kt_clock_to_ns() - Convert ticks of the trace clock, without overflow
 * @ticks: number of ticks
 *
 * Return: nanoseconds, rounded down. Context: any.
 */
u64 kt_clock_to_ns(u64 ticks)
{
	u64 rest, seconds = div64_u64_rem(ticks, hz, &rest);

	return seconds * NSEC_PER_SEC + div64_u64(rest * NSEC_PER_SEC, hz);
}

/**
 * kt_clock_from_ns() - Convert to ticks of the trace clock, without overflow
 * @ns: nanoseconds
 *
 * Return: number of ticks, rounded down. Context: any.
 */
u64 kt_clock_from_ns(u64 ns)
{
	u32 rest;
	u64 seconds = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	return seconds * hz + div_u64(rest * hz, NSEC_PER_SEC);
}

/**
 * kt_clock_id() - Get the number of the trace clock
 *
 * Return: enum ktape_clock. Context: any.
 */
u32 kt_clock_id(void)
{
	return is_mono ? KTAPE_CLOCK_MONO : KTAPE_CLOCK_CYCLES;
}

/**
 * kt_clock_name() - Get the name of the trace clock
 *
 * Return: a name that is a CTF identifier. Context: any.
 */
const char *kt_clock_name(void)
{
	return kt_clock_id() == KTAPE_CLOCK_MONO ? "mono" : "cycles";
}

/**
 * kt_clock_stable() - Check whether times of different CPUs are comparable
 *
 * Return: false if it is a cycle counter that stepped back or that the kernel
 * does not trust.
 * Context: any.
 */
bool kt_clock_stable(void)
{
	return kt_clock_id() == KTAPE_CLOCK_MONO ||
	       (kt_cycles_hz() != 0 && !atomic64_read(&behind));
}

/**
 * kt_clock_moment() - Read all clocks at one moment
 * @m: receives the times
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
