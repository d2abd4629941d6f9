// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guesses where the functions of the scheduler are, because the kernel does not export the
 * bounds of their section, and checks the guess.
 *
 * The kernel puts scheduler functions that sleep for their callers into a section,
 * .sched.text, whose bounds are not exported.  The exported functions below are in it,
 * from files that are linked first and last, so the lowest and highest address bound
 * the section.  A page is added for the body of the last function; what follows the
 * section (spinlocks, kprobes) never sleeps, so that is harmless.
 *
 * A kernel may be linked in another way, and the address that a module has of a
 * function may be that of a jump to it.  So the guess is compared with the kernel's
 * symbols before it is used, with functions of the same files that are in other
 * sections, and with each call stack in which it is used.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/wait_bit.h>

#include "internal.h"

/* More than the section has on any kernel; those with KASAN have a quarter of it. */
#define SPAN_MAX SZ_256K

#define INSIDE(f)                                                              \
	f(schedule) f(schedule_timeout) f(schedule_timeout_uninterruptible)    \
		f(schedule_hrtimeout_range) f(io_schedule)                     \
			f(io_schedule_timeout) f(yield) f(wait_for_completion) \
				f(wait_for_completion_killable) f(down_read)   \
					f(down_write) f(bit_wait)              \
						f(__wait_on_bit)

/* These do not sleep for their callers, or are not of the scheduler. */
#define OUTSIDE(f) f(wake_up_process) f(complete) f(kthread_stop) f(msleep)

struct function {
	const char *name;
	unsigned long address;
};

/*
 * Stacks of threads that left the CPU, by whether they had a frame of the scheduler.
 * Each of them has one, if the guess is right.  SEEN_MAX of each are enough to know, and
 * up to SEEN_FEW without one prove nothing.
 */
#define SEEN_MAX (1 << 20)
#define SEEN_FEW 32

static atomic_t stacks_with, stacks_without;

/* The guess; stored before the probe that uses it is attached, and constant from then on. */
static unsigned long span_first = ULONG_MAX, span_last;

static bool span_has(unsigned long address)
{
	return address >= span_first && address <= span_last;
}

/* Return true if the symbol with this name begins at an address. */
static bool symbol_is(const struct function *f)
{
	const size_t length = strlen(f->name);
	char text[KSYM_SYMBOL_LEN];

	sprint_symbol(text, f->address);
	if (!strncmp(text, f->name, length) &&
	    !strncmp(text + length, "+0x0/", strlen("+0x0/")))
		return true;
	/* Without a symbol the text is the address itself, which must not be revealed. */
	pr_warn("sched_blocked is not available: at the address of %s() the kernel has the symbol %s\n",
		f->name, strchr(text, '+') ? text : "(none)");
	return false;
}

static bool scheduler_is_guessed(void)
{
	static const struct function inside[] = {
#define ROW(function) { #function, (unsigned long)(function) },
		INSIDE(ROW)
	};
	static const struct function outside[] = { OUTSIDE(ROW)
#undef ROW
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inside); i++) {
		if (!symbol_is(&inside[i]))
			return false;
		span_first = min(span_first, inside[i].address);
		span_last = max(span_last, inside[i].address);
	}
	span_last += SZ_4K;
	if (span_last - span_first > SPAN_MAX) {
		pr_warn("sched_blocked is not available: the scheduler's functions are %lu bytes apart\n",
			span_last - span_first);
		return false;
	}
	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		if (span_has(outside[i].address)) {
			pr_warn("sched_blocked is not available: %s() is among the scheduler's functions\n",
				outside[i].name);
			return false;
		}
	}
	return true;
}

/**
 * kt_scheduler_has() - Check whether an address is in a scheduler function that sleeps
 * @address: in the kernel
 *
 * Context: any.  True means something only if kt_scheduler_fits().
 * Return: true or false.
 */
bool kt_scheduler_has(unsigned long address)
{
	return span_has(address);
}

/**
 * kt_scheduler_found() - Note whether a stack that must have such a function has one
 * @found: it has one
 *
 * Context: any.
 */
void kt_scheduler_found(bool found)
{
	atomic_t *n = found ? &stacks_with : &stacks_without;

	if (atomic_read(n) < SEEN_MAX)
		atomic_inc(n);
}

/**
 * kt_scheduler_fits() - Check the guess where the scheduler's functions are
 *
 * An unwinder may fail now and then.  If it does so more often than not, or if the
 * functions are elsewhere, the answer is no.
 *
 * Context: process context, with probe_lock.
 * Return: true or false.
 */
bool kt_scheduler_fits(void)
{
	static bool checked, fits;

	if (!checked) {
		fits = scheduler_is_guessed();
		checked = true;
	}
	return fits && atomic_read(&stacks_without) <=
			       atomic_read(&stacks_with) + SEEN_FEW;
}
