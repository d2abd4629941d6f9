// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rate limits: so many of an event in a second of each CPU.
 *
 * A second begins with the first event after the last one ended.  Contexts nest
 * on a CPU, so whoever moves the window on sets the count back; another that
 * comes in between counts in the old second, where it may be refused.  If it is
 * not, that second has one more than the new one: at a change of seconds the limit
 * may be exceeded by as many events as contexts nest.
 */
#include <linux/percpu.h>
#include <linux/slab.h>

#include <ktape/filter.h>

#include "ring/ring.h"
#include "filter.h"

#define TICKS_SHIFT	10	/* so that 32 bits last for more than a second */

/**
 * struct kt_rate_window - the present second on one CPU
 * @start: when it began, in units of 1 << TICKS_SHIFT ticks
 * @count: events since
 */
struct kt_rate_window {
	unsigned long start;
	local_t count;
};

/**
 * struct kt_rates - the rate limits of a session
 * @nr: how many there are
 * @second: its length, in units of 1 << TICKS_SHIFT ticks
 * @entry: the limits
 * @of: per opcode the number of its limit + 1; 0: none
 * @windows: per CPU, one a limit
 */
struct kt_rates {
	u32 nr;
	unsigned long second;
	struct ktape_filter_rate entry[KTAPE_FILTER_RATES];
	u8 of[KTAPE_OPCODES];
	struct kt_rate_window __percpu *windows;
};

/**
 * kt_rates_have() - is there a limit for an event?
 * @rates: the limits
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_rates_have(const struct kt_rates *rates, u32 opcode)
{
	return rates->of[opcode];
}

/**
 * kt_rates_pass() - does one more event keep within its limit?
 * @rates: the limits
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
bool kt_rates_pass(const struct kt_rates *rates, u32 opcode)
{
	unsigned long now = (unsigned long)(kt_clock() >> TICKS_SHIFT), start;
	unsigned int i = rates->of[opcode];
	struct kt_rate_window *w;

	if (!i)
		return true;
	w = this_cpu_ptr(rates->windows) + i - 1;
	start = READ_ONCE(w->start);
	/* A clock that stepped back by a little is in the same second. */
	if (now - start + rates->second >= 2 * rates->second &&
	    kt_try_cmpxchg_local(&w->start, &start, now))
		local_set(&w->count, 0);
	/* Far from wrapping: a window is a second. */
	return (unsigned long)local_inc_return(&w->count) <=
	       rates->entry[i - 1].per_second;
}

/**
 * kt_rates_alloc() - make the limits
 * @entries: opcodes that exist, each at most once
 * @nr: how many, at most KTAPE_FILTER_RATES
 *
 * Context: process context, may sleep.
 * Return: the limits or NULL.
 */
struct kt_rates *kt_rates_alloc(const struct ktape_filter_rate *entries, u32 nr)
{
	struct kt_rates *rates = kzalloc(sizeof(*rates), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!rates)
		return NULL;
	rates->windows = __alloc_percpu(nr * sizeof(struct kt_rate_window),
					__alignof__(struct kt_rate_window));
	if (!rates->windows) {
		kfree(rates);
		return NULL;
	}
	rates->nr = nr;
	rates->second = (unsigned long)(kt_clock_hz() >> TICKS_SHIFT);
	for (i = 0; i < nr; i++) {
		rates->entry[i] = entries[i];
		rates->of[entries[i].opcode] = i + 1;
	}
	return rates;
}

/**
 * kt_rates_free() - free limits
 * @rates: nobody has them any more, may be NULL
 *
 * Context: process context.
 */
void kt_rates_free(struct kt_rates *rates)
{
	if (rates)
		free_percpu(rates->windows);
	kfree(rates);
}

/**
 * kt_rates_tell() - what was given
 * @rates: the limits
 * @to: room for them
 *
 * Context: any.
 */
void kt_rates_tell(const struct kt_rates *rates, struct ktape_filter_rate *to)
{
	memcpy(to, rates->entry, rates->nr * sizeof(*to));
}
