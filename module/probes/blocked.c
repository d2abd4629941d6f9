// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who sends threads into a sleep that no signal ends?
 *
 * The kernel has no tracepoint for it.  A probe of its own on sched_switch
 * takes the stack of the thread that leaves: the first frame outside the
 * scheduler is the caller.  The stack costs microseconds, so that the event is
 * only recorded on request.
 */
#include <linux/completion.h>
#include <linux/mm_types.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/stacktrace.h>
#include <linux/wait_bit.h>
#include <trace/events/sched.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"
#include "sched_state.h"

/* Ours, the tracepoint's, and up to a dozen of the scheduler. */
#define FRAMES		16

#ifndef CONFIG_STACKTRACE
#define stack_trace_save(store, size, skip)	0
#endif

/*
 * The kernel puts functions that sleep for others into a section of its own.
 * Its bounds are not exported; these functions are in it, in files that are
 * linked early and late.  Behind the last one is its body; what comes behind
 * the section (spinlocks, kprobes) never sleeps, so a page more does no harm.
 */
#define SCHED_FUNCTIONS(f)						\
	f(schedule) f(schedule_timeout) f(schedule_timeout_uninterruptible) \
	f(schedule_hrtimeout_range) f(io_schedule) f(io_schedule_timeout) \
	f(yield) f(wait_for_completion) f(wait_for_completion_killable)	\
	f(down_read) f(down_write) f(bit_wait) f(__wait_on_bit)

struct span {
	unsigned long first;
	unsigned long last;
};

static struct span scheduler(void)
{
	struct span r = { ULONG_MAX, 0 };

#define WIDEN(function)							\
	r.first = min(r.first, (unsigned long)(function));		\
	r.last = max(r.last, (unsigned long)(function));
	SCHED_FUNCTIONS(WIDEN)
#undef WIDEN
	r.last += SZ_4K;
	return r;
}

static bool is_in(struct span r, unsigned long address)
{
	return address >= r.first && address <= r.last;
}

/* Into the scheduler and out of it again; 0 if there is nothing behind. */
static unsigned long caller_of_scheduler(void)
{
	const struct span r = scheduler();
	unsigned long frames[FRAMES];
	unsigned int n, i = 0;

	n = stack_trace_save(frames, FRAMES, 0);
	while (i < n && !is_in(r, frames[i]))
		i++;
	while (i < n && is_in(r, frames[i]))
		i++;
	return i < n ? frames[i] : 0;
}

static noinline void notrace record(struct task_struct *prev,
				    struct task_struct *next)
{
	/* The switch is recorded already. */
	struct kt_coming old = kt_coming_set(next->pid, (u8)next->prio);

	KT_EVENT2(SCHED_BLOCKED, prev->in_iowait, prev->pid,
		  kt_token_func(caller_of_scheduler()));
	kt_coming_back(&old);
}

static __always_inline void blocked(bool preempt, struct task_struct *prev,
				    struct task_struct *next,
				    unsigned int state)
{
	if (leave_state(preempt, prev, state) != KTAPE_STATE_D)
		return;
	kt_probe_enter();
	if (KT_WANTED(SCHED_BLOCKED))
		record(prev, next);
	kt_probe_leave();
}

static void notrace probe_blocked(void *data, bool preempt,
				  struct task_struct *prev,
				  struct task_struct *next,
				  unsigned int prev_state)
{
	blocked(preempt, prev, next, prev_state);
}

/* Before 5.18 the state had to be read from the thread. */
static void notrace probe_blocked3(void *data, bool preempt,
				   struct task_struct *prev,
				   struct task_struct *next)
{
	blocked(preempt, prev, next, kt_task_state(prev));
}

struct kt_probe kt_probes_blocked[] = {
	{
		.name = "sched_switch",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_blocked3, sched_switch, bool,
				      struct task_struct *,
				      struct task_struct *),
			probe_blocked, sched_switch, bool, struct task_struct *,
			struct task_struct *, unsigned int),
		.events = { KTAPE_EV_SCHED_BLOCKED },
	},
	{}
};
