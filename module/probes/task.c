// SPDX-License-Identifier: GPL-2.0-only
/* Scheduler events: switch, wake up, migrate, inherit a priority, run. */
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <trace/events/sched.h>

#include "event/event.h"
#include "internal.h"
#include "sched_state.h"

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

/* The tracepoint comes before the priority is set. */
static void notrace probe_sched_pi_setprio(void *data, struct task_struct *p,
					   struct task_struct *donor)
{
	int prio = p->normal_prio;

	kt_probe_enter();
	if (donor)
		prio = min(prio, donor->prio);
	KT_EVENT2_OF(SCHED_PI_SETPRIO, p, (u8)p->prio | (u8)prio << 8, p->pid,
		     donor ? donor->pid : 0);
	kt_probe_leave();
}

static void notrace probe_sched_process_wait(void *data, struct pid *pid)
{
	kt_probe_enter();
	KT_EVENT1(SCHED_PROCESS_WAIT, 0, pid_nr(pid));
	kt_probe_leave();
}

static __always_inline void stat_runtime(struct task_struct *p, u64 runtime)
{
	kt_probe_enter();
	KT_EVENT3_OF(SCHED_STAT_RUNTIME, p, 0, p->pid, (u32)runtime,
		     (u32)(runtime >> 32));
	kt_probe_leave();
}

static void notrace probe_sched_stat_runtime(void *data, struct task_struct *p,
					     u64 runtime)
{
	stat_runtime(p, runtime);
}

/* Until 6.8, and until 6.6.66. */
static void notrace probe_sched_stat_runtime3(void *data,
					      struct task_struct *p,
					      u64 runtime, u64 vruntime)
{
	stat_runtime(p, runtime);
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
	}, {
		.name = "sched_stat_runtime",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_sched_stat_runtime3,
				      sched_stat_runtime, struct task_struct *,
				      u64, u64),
			probe_sched_stat_runtime, sched_stat_runtime,
			struct task_struct *, u64),
		.events = { KTAPE_EV_SCHED_STAT_RUNTIME },
	},
	KT_PROBE(sched_pi_setprio, SCHED_PI_SETPRIO, probe_sched_pi_setprio,
		 struct task_struct *, struct task_struct *),
	KT_PROBE(sched_process_wait, SCHED_PROCESS_WAIT,
		 probe_sched_process_wait, struct pid *),
	{}
};
