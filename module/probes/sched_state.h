/* SPDX-License-Identifier: GPL-2.0-only */
/* The state in which a thread leaves its CPU. */
#ifndef _KT_SCHED_STATE_H
#define _KT_SCHED_STATE_H

#include <linux/sched.h>

#include <ktape/abi.h>

/* enum ktape_task_state of a thread that is switched out. */
static __always_inline u32 leave_state(bool preempt, struct task_struct *prev,
				       unsigned int state)
{
	unsigned int report;

	if (preempt)
		return KTAPE_STATE_PREEMPTED;
	/* Nearly all are in one of these, whose numbers are the same. */
	BUILD_BUG_ON(TASK_INTERRUPTIBLE != KTAPE_STATE_S ||
		     TASK_UNINTERRUPTIBLE != KTAPE_STATE_D);
	if (likely(state == TASK_INTERRUPTIBLE ||
		   state == TASK_UNINTERRUPTIBLE))
		return state;
	if (!state && !prev->exit_state)
		return KTAPE_STATE_R;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return KTAPE_STATE_I;
	report = (state | prev->exit_state) & TASK_REPORT;
	/* What is left sleeps on an RT lock or is frozen: not interruptible. */
	return report ? fls(report) : KTAPE_STATE_D;
}

#endif /* _KT_SCHED_STATE_H */
