// SPDX-License-Identifier: GPL-2.0-only
/* Life of processes and threads; keeps the registry up to date as well. */
#include <linux/binfmts.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "event/event.h"
#include "event/trigger.h"
#include "filter/filter.h"
#include "internal.h"
#include "names/registry.h"
#include "filter/track.h"

/*
 * Every thread comes by here, those of io_uring and vhost too, when its making
 * can no longer fail and before it runs.
 */
static __always_inline void newtask(struct task_struct *child)
{
	/* A CPU's idle thread has the number of all of them. */
	if (!child->pid)
		return;
	kt_probe_enter();
	kt_track_fork(current, child);
	kt_registry_thread(child, child->comm);
	kt_probe_leave();
}

static void notrace probe_task_newtask(void *data, struct task_struct *child,
				       unsigned long flags)
{
	newtask(child);
}

/* From 6.18 on the flags have 64 bits everywhere. */
static void notrace probe_task_newtask64(void *data, struct task_struct *child,
					 u64 flags)
{
	newtask(child);
}

#define HAS_NEWTASK \
	(KT_TP_IS(task_newtask, struct task_struct *, unsigned long) ||	\
	 KT_TP_IS(task_newtask, struct task_struct *, u64))

#define NEWTASK_FUNC							\
	KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_task_newtask64,		\
				    task_newtask, struct task_struct *, u64), \
		      probe_task_newtask, task_newtask,			\
		      struct task_struct *, unsigned long)

static void notrace probe_sched_process_fork(void *data,
					     struct task_struct *parent,
					     struct task_struct *child)
{
	kt_probe_enter();
	if (!HAS_NEWTASK) {
		kt_track_fork(parent, child);
		kt_registry_thread(child, child->comm);
	}
	KT_EVENT3_OF(PROCESS_FORK, child, child->tgid == parent->tgid,
		     parent->pid, child->pid, child->tgid);
	kt_probe_leave();
}

static void notrace probe_sched_process_exec(void *data, struct task_struct *p,
					     pid_t old_pid,
					     struct linux_binprm *bprm)
{
	kt_probe_enter();
	KT_EVENT2(PROCESS_EXEC, 0, p->pid, old_pid);
	/* It took over its leader's number; nobody exits with the old one. */
	if (old_pid != p->pid)
		kt_registry_thread_exit(old_pid, p->tgid);
	kt_probe_leave();
}

static __always_inline void process_exit(struct task_struct *p)
{
	kt_probe_enter();
	KT_EVENT3(PROCESS_EXIT, (u8)p->prio, p->pid, p->tgid, p->exit_code);
	kt_registry_thread_exit(p->pid, p->tgid);
	kt_filter_thread_exits(p);
	kt_trigger_thread_exits(p);
	kt_probe_leave();
}

static void notrace probe_sched_process_exit(void *data, struct task_struct *p)
{
	process_exit(p);
}

/* From 6.16 on the tracepoint tells whether it is the last thread. */
static void notrace probe_sched_process_exit2(void *data,
					      struct task_struct *p, bool last)
{
	process_exit(p);
}

/* Of RCU, after the last reference: nobody can find the thread any more. */
static void notrace probe_sched_process_free(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_EVENT2_OF(PROCESS_FREE, p, 0, p->pid, p->tgid);
	kt_track_free(p);
	kt_probe_leave();
}

static void notrace probe_task_rename(void *data, struct task_struct *p,
				      const char *name)
{
	kt_probe_enter();
	kt_registry_thread(p, name);
	KT_EVENT2_OF(PROCESS_RENAME, p, 0, p->pid, p->tgid);
	kt_probe_leave();
}

struct kt_probe kt_probes_process[] = {
	{
		.name = "task_newtask",
		.func = NEWTASK_FUNC,
		.always = true,
	}, {
		.name = "sched_process_fork",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_fork,
				      sched_process_fork, struct task_struct *,
				      struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_FORK },
	}, {
		.name = "sched_process_exec",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_exec,
				      sched_process_exec, struct task_struct *,
				      pid_t, struct linux_binprm *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_EXEC },
	}, {
		.name = "sched_process_exit",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_sched_process_exit2,
				      sched_process_exit, struct task_struct *,
				      bool),
			probe_sched_process_exit, sched_process_exit,
			struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_EXIT },
	}, {
		.name = "sched_process_free",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_free,
				      sched_process_free,
				      struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_FREE },
	}, {
		.name = "task_rename",
		.func = KT_PROBE_FUNC(NULL, probe_task_rename, task_rename,
				      struct task_struct *, const char *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_RENAME },
	},
	{}
};
