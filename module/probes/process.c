// SPDX-License-Identifier: GPL-2.0-only
/* Life of processes and threads; keeps the registry up to date as well. */
#include <linux/binfmts.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "../event.h"
#include "../filter.h"
#include "../probe.h"
#include "../registry.h"
#include "../track.h"

static void notrace probe_sched_process_fork(void *data,
					     struct task_struct *parent,
					     struct task_struct *child)
{
	kt_probe_enter();
	kt_track_fork(parent, child);
	kt_registry_thread(child, child->comm);
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
