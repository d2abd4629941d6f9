// SPDX-License-Identifier: GPL-2.0-only
/*
 * Chooses the trace clock and relates it to the system's clocks.
 *
 * A suspend may set the cycle counter back.  Before the first one the way
 * through kt_clock_slow() is patched in; when the system wakes up, with one CPU
 * and no interrupts, a counter that is behind gets a bias.
 *
 * Without a suspend firmware or a hypervisor may set it back (a virtual machine
 * that is restored).  Then a ring tells, and holds its time until a work item
 * has given the counter a bias, and has patched the way through kt_clock_slow()
 * in.  From then on the clock is told as not stable.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <ktape/abi.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(kt_clock_called);

/* How many writers of this CPU, nested, are reading a clock that takes a call. */
DEFINE_PER_CPU(unsigned int, kt_clock_reading);

static u64 hz = NSEC_PER_SEC;
static bool is_mono;

/* Never torn on 32-bit kernels; those without such atomics have clock=mono. */
static atomic64_t bias;

/* The latest time that a counter which stepped back is behind, 0: it did not. */
static atomic64_t behind;

/*
 * The latest time that was read before the system wakes up.  From clock_suspend() to
 * clock_resume() one CPU runs, with interrupts off: what steps back meanwhile is mended
 * by clock_resume().
 */
static bool is_asleep;
static u64 asleep_at;

static void (*stepped)(void);

/**
 * kt_clock_slow() - read a clock that takes more than an instruction
 *
 * Return: ticks. Context: any, NMI included.
 */
u64 notrace kt_clock_slow(void)
{
	u64 now;

	if (is_mono)
		return ktime_get_mono_fast_ns();
	now = get_cycles() + (u64)atomic64_read(&bias);
	if (unlikely(READ_ONCE(is_asleep)) && (s64)(now - asleep_at) > 0)
		asleep_at = now;
	return now;
}

static int clock_suspend(void)
{
	asleep_at = kt_clock();
	WRITE_ONCE(is_asleep, true);
	return 0;
}

static void clock_resume(void)
{
	u64 now = kt_clock();

	if ((s64)(now - asleep_at) < 0)
		atomic64_add(asleep_at - now, &bias);
	WRITE_ONCE(is_asleep, false);
}

KT_SYSCORE(clock_sleep, clock_suspend, clock_resume);

/**
 * kt_clock_may_stop() - the system is about to be suspended
 *
 * Context: process context, may sleep; everything still runs.
 */
void kt_clock_may_stop(void)
{
	static_branch_enable(&kt_clock_called);
}

/*
 * The bias comes before the way through it is patched in: no CPU reads a clock
 * between the two.  It is taken from the clock as it is then, so that what was
 * told of the same step by several rings counts once.
 */
static void clock_give_bias(struct work_struct *work)
{
	u64 latest = (u64)atomic64_read(&behind), now = kt_clock_slow();

	if ((s64)(latest - now) > 0) {
		atomic64_add(latest - now, &bias);
		pr_warn("the cycle counter went back by %llu ticks; times go on from where they were, and are not to be compared with those of other CPUs\n",
			latest - now);
	}
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
 * kt_clock_stepped_back() - a cycle counter shows less than before
 * @latest: what it has shown
 *
 * Of clock=mono a few ns are no news, nor is what a suspend does.
 *
 * Context: any, NMI included; preemption disabled.
 */
void notrace kt_clock_stepped_back(u64 latest)
{
	s64 told;

	if (is_mono || READ_ONCE(is_asleep))
		return;
	told = atomic64_read(&behind);
	while ((s64)(latest - (u64)told) > 0 &&
	       !atomic64_try_cmpxchg(&behind, &told, (s64)latest))
		;
	irq_work_queue(&bias_irq);
}

/**
 * kt_clock_init() - choose the trace clock
 * @wish: "auto", "cycles" or "mono"
 * @on_step: called when the clock was told to have stepped back, in process
 *	context
 *
 * auto takes the cycle counter where the kernel trusts it.
 *
 * Context: module load, before anything reads the clock.
 * Return: 0; -EINVAL for an unknown wish; -ENODEV if the cycle counter was
 * asked for and cannot be trusted.
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
 * kt_clock_exit() - no longer care for suspends and steps
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
	return kt_clock_id() == KTAPE_CLOCK_MONO ||
	       (kt_cycles_hz() != 0 && !atomic64_read(&behind));
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
