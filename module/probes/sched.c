// SPDX-License-Identifier: GPL-2.0-only
/* Scheduler events: switch, wake up, migrate. */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

#include "../event.h"
#include "../probe.h"

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

static __always_inline void sched_switch(bool preempt, struct task_struct *prev,
					 struct task_struct *next,
					 unsigned int state)
{
	kt_probe_enter();
	KT_EVENT2_OF(SCHED_SWITCH, next,
		  (u8)prev->prio | (u8)next->prio << 8 |
			  leave_state(preempt, prev, state) << 16,
		  prev->pid, next->pid);
	kt_probe_leave();
}

/*
 * For sessions that do not record sched_switch.  A probe of its own, attached
 * only when such a session is there, costs the others nothing.
 */
static __always_inline void context(struct task_struct *next)
{
	kt_probe_enter();
	kt_event(KTAPE_EV_CONTEXT, KTAPE_CLASS_CONTROL, KTAPE_RING_EVENT,
		 (u8)next->prio, 1, next->pid, 0, 0, NULL);
	kt_probe_leave();
}

static void notrace probe_context(void *data, bool preempt,
				  struct task_struct *prev,
				  struct task_struct *next,
				  unsigned int prev_state)
{
	context(next);
}

static void notrace probe_context3(void *data, bool preempt,
				   struct task_struct *prev,
				   struct task_struct *next)
{
	context(next);
}

static void notrace probe_sched_switch(void *data, bool preempt,
				       struct task_struct *prev,
				       struct task_struct *next,
				       unsigned int prev_state)
{
	sched_switch(preempt, prev, next, prev_state);
}

/* Before 5.18 the state had to be read from the thread. */
static void notrace probe_sched_switch3(void *data, bool preempt,
					struct task_struct *prev,
					struct task_struct *next)
{
	sched_switch(preempt, prev, next, kt_task_state(prev));
}

static void notrace probe_sched_waking(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_EVENT1_OF(SCHED_WAKING, p, (u8)p->prio | task_cpu(p) << 8, p->pid);
	kt_probe_leave();
}

static void notrace probe_sched_wakeup(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_EVENT1_OF(SCHED_WAKEUP, p, (u8)p->prio | task_cpu(p) << 8, p->pid);
	kt_probe_leave();
}

static void notrace probe_sched_wakeup_new(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_EVENT1_OF(SCHED_WAKEUP_NEW, p, (u8)p->prio | task_cpu(p) << 8, p->pid);
	kt_probe_leave();
}

static void notrace probe_sched_migrate_task(void *data, struct task_struct *p,
					     int dest_cpu)
{
	kt_probe_enter();
	KT_EVENT2_OF(SCHED_MIGRATE_TASK, p,
		     (u8)p->prio | (u32)dest_cpu << 8, p->pid, task_cpu(p));
	kt_probe_leave();
}

struct kt_probe kt_probes_sched[] = {
	{
		.name = "sched_switch",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_sched_switch3, sched_switch,
				      bool, struct task_struct *,
				      struct task_struct *),
			probe_sched_switch, sched_switch, bool,
			struct task_struct *, struct task_struct *,
			unsigned int),
		.events = { KTAPE_EV_SCHED_SWITCH },
	}, {
		.name = "sched_switch",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_context3, sched_switch, bool,
				      struct task_struct *,
				      struct task_struct *),
			probe_context, sched_switch, bool, struct task_struct *,
			struct task_struct *, unsigned int),
		.events = { KTAPE_EV_CONTEXT },
	}, {
		.name = "sched_waking",
		.func = KT_PROBE_FUNC(NULL, probe_sched_waking, sched_waking,
				      struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKING },
	}, {
		.name = "sched_wakeup",
		.func = KT_PROBE_FUNC(NULL, probe_sched_wakeup, sched_wakeup,
				      struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKEUP },
	}, {
		.name = "sched_wakeup_new",
		.func = KT_PROBE_FUNC(NULL, probe_sched_wakeup_new,
				      sched_wakeup_new, struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKEUP_NEW },
	}, {
		.name = "sched_migrate_task",
		.func = KT_PROBE_FUNC(NULL, probe_sched_migrate_task,
				      sched_migrate_task, struct task_struct *,
				      int),
		.events = { KTAPE_EV_SCHED_MIGRATE_TASK },
	},
	{}
};
