// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for what concerns the whole system: power management, CPU hotplug, the
 * kernel log, kernel modules.  They record the events of
 * uapi/ktape/events/system.h.  The probes for cgroups record nothing; they keep
 * the names of cgroups, and threads that get another one, in the registry.
 */
#include <linux/atomic.h>
#include <linux/cgroup.h>
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <trace/events/cpuhp.h>
#include <trace/events/module.h>
#include <trace/events/power.h>
#include <trace/events/printk.h>
#include <trace/events/rpm.h>

#if defined(CONFIG_CGROUPS) && defined(CONFIG_TRACEPOINTS)
#define HAS_CGROUPS
#include <trace/events/cgroup.h>
#endif

#include "event/event.h"
#include "internal.h"
#include "names/names.h"
#include "probes.h"

/* ---- power management ---------------------------------------------------- */

#define CPU_BITS  12
#define CPU_MASK  ((1U << CPU_BITS) - 1)
#define IDLE_BITS 8
#define MISS_BITS 7

/*
 * The idle task calls this close to code that runs while RCU does not watch the
 * CPU.  RCU must watch here, because filters and rings are freed after
 * synchronize_rcu().  It does: older kernels make it watch around the callbacks
 * (trace_cpu_idle_rcuidle()), newer ones call them before RCU stops watching and
 * after it watches again.
 */
static void notrace probe_cpu_idle(void *data, unsigned int state, unsigned int cpu)
{
	kt_probe_enter();
	/* The end of idle, PWR_EVENT_EXIT, is all ones; it becomes 255. */
	KT_EVENT0(CPU_IDLE, (u8)state | (cpu & CPU_MASK) << IDLE_BITS);
	kt_probe_leave();
}

#ifdef KT_HAVE_CPU_IDLE_MISS
static void notrace probe_cpu_idle_miss(void *data, unsigned int cpu,
					unsigned int state, bool below)
{
	kt_probe_enter();
	KT_EVENT0(CPU_IDLE_MISS, (state & ((1U << MISS_BITS) - 1)) |
					 (u32)below << MISS_BITS |
					 (cpu & CPU_MASK) << IDLE_BITS);
	kt_probe_leave();
}
#endif

static void notrace probe_cpu_frequency(void *data, unsigned int khz,
					unsigned int cpu)
{
	kt_probe_enter();
	KT_EVENT1(CPU_FREQUENCY, cpu & CPU_MASK, khz);
	kt_probe_leave();
}

/* Record an event of class power with one word and a name. */
static noinline void notrace record_power(u32 opcode, u32 dat20, u32 word,
					  const char *name)
{
	struct kt_record rec = {
		.code = KT_CODE(opcode, dat20, 1, 1),
		.class = KTAPE_CLASS_POWER,
		.nargs = 1,
		.args = &word,
		.blob = name ?: "",
	};

	kt_probe_enter();
	if (kt_wanted(opcode)) {
		rec.size = strnlen(rec.blob, KT_TEXT_MAX);
		kt_event_record(KT_RING_OF_POWER, &rec);
	}
	kt_probe_leave();
}

static void notrace probe_suspend_resume(void *data, const char *action,
					 int val, bool start)
{
	record_power(KTAPE_EV_SUSPEND_RESUME, start, val, action);
}

static void notrace probe_rpm_suspend(void *data, struct device *dev, int flags)
{
	record_power(KTAPE_EV_RPM_SUSPEND, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_resume(void *data, struct device *dev, int flags)
{
	record_power(KTAPE_EV_RPM_RESUME, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_idle(void *data, struct device *dev, int flags)
{
	record_power(KTAPE_EV_RPM_IDLE, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_return_int(void *data, struct device *dev,
					 unsigned long ip, int ret)
{
	record_power(KTAPE_EV_RPM_RETURN_INT, 0, ret, dev_name(dev));
}

static void notrace probe_wakeup_source_activate(void *data, const char *name,
						 unsigned int state)
{
	record_power(KTAPE_EV_WAKEUP_SOURCE_ACTIVATE, 0, state, name);
}

static void notrace probe_wakeup_source_deactivate(void *data, const char *name,
						   unsigned int state)
{
	record_power(KTAPE_EV_WAKEUP_SOURCE_DEACTIVATE, 0, state, name);
}

/* ---- CPU hotplug --------------------------------------------------------- */

static __always_inline void record_cpuhp_enter(unsigned int cpu, int target,
					       int step, unsigned long function)
{
	kt_probe_enter();
	KT_EVENT3(CPUHP_ENTER, cpu & CPU_MASK, target, step,
		  kt_token_func(function));
	kt_probe_leave();
}

static void notrace probe_cpuhp_enter(void *data, unsigned int cpu, int target,
				      int step, int (*fun)(unsigned int))
{
	record_cpuhp_enter(cpu, target, step, (unsigned long)fun);
}

/* As cpuhp_enter, of a step with several instances. */
static void notrace probe_cpuhp_multi_enter(
	void *data, unsigned int cpu, int target, int step,
	int (*fun)(unsigned int, struct hlist_node *), struct hlist_node *node)
{
	record_cpuhp_enter(cpu, target, step, (unsigned long)fun);
}

static void notrace probe_cpuhp_exit(void *data, unsigned int cpu, int state,
				     int step, int ret)
{
	kt_probe_enter();
	KT_EVENT3(CPUHP_EXIT, cpu & CPU_MASK, state, step, ret);
	kt_probe_leave();
}

/* ---- the kernel log ------------------------------------------------------ */

/*
 * printk calls this with its locks held, newer kernels even in NMIs.  So it must
 * not print, and readers are woken by irq_work, as for every event.
 */
static void notrace probe_console(void *data, const char *text, size_t len)
{
	struct kt_record rec = {
		.class = KTAPE_CLASS_CONSOLE,
		.blob = text,
	};

	BUILD_BUG_ON((u32)KT_EVENT_RING_CONSOLE != (u32)KTAPE_RING_EVENT);
	kt_probe_enter();
	if (len && text[len - 1] == '\n')
		len--;
	rec.size = min_t(size_t, len, KT_TEXT_MAX);
	rec.code = KT_CODE(KTAPE_EV_CONSOLE, rec.size < len, 1, 0);
	kt_event_record_log(&rec);
	kt_probe_leave();
}

/* ---- kernel modules ------------------------------------------------------ */

static __always_inline u32 module_name_bytes(const struct module *mod)
{
	return strnlen(mod->name, sizeof(mod->name));
}

static void notrace probe_module_load(void *data, struct module *mod)
{
	const u32 args[] = { (u32)mod->taints };

	kt_probe_enter();
	KT_EVENT_LONG(MODULE_LOAD, 0, args, mod->name, module_name_bytes(mod));
	kt_probe_leave();
}

static void notrace probe_module_free(void *data, struct module *mod)
{
	static const u32 none[] = {};

	kt_probe_enter();
	KT_EVENT_LONG(MODULE_FREE, 0, none, mod->name, module_name_bytes(mod));
	kt_probe_leave();
}

#ifdef CONFIG_MODULE_UNLOAD
static noinline void notrace record_module_use(u32 opcode, struct module *mod,
					       unsigned long ip)
{
	u32 args[2];
	struct kt_record rec = {
		.code = KT_CODE(opcode, 0, 1, ARRAY_SIZE(args)),
		.class = KTAPE_CLASS_MODULE,
		.nargs = ARRAY_SIZE(args),
		.args = args,
		.blob = mod->name,
	};

	kt_probe_enter();
	if (kt_wanted(opcode)) {
		args[0] = kt_token_func(ip);
		args[1] = atomic_read(&mod->refcnt);
		rec.size = module_name_bytes(mod);
		kt_event_record(KT_RING_OF_MODULE, &rec);
	}
	kt_probe_leave();
}

static void notrace probe_module_get(void *data, struct module *mod, unsigned long ip)
{
	record_module_use(KTAPE_EV_MODULE_GET, mod, ip);
}

static void notrace probe_module_put(void *data, struct module *mod, unsigned long ip)
{
	record_module_use(KTAPE_EV_MODULE_PUT, mod, ip);
}
#endif

/* ---- names of cgroups (v2) ----------------------------------------------- */

#ifdef HAS_CGROUPS

#define PATH_LENGTH 512

static bool cgroup_is_v2(struct cgroup *cgrp)
{
	return cgrp->root == &cgrp_dfl_root;
}

/* Cut a path that is too long for a name at its beginning. */
static const char *cgroup_path_end(const char *path)
{
	size_t length = strlen(path);

	return length < KTAPE_NAME_SIZE ? path :
					  path + length - (KTAPE_NAME_SIZE - 1);
}

static void cgroup_set_name(struct cgroup *cgrp, const char *path)
{
	const u64 id = cgroup_id(cgrp);
	struct cgroup *parent = cgroup_parent(cgrp);

	kt_registry_set(KTAPE_OBJ_CGROUP, (u32)id, (u32)(id >> 32),
			parent ? (u32)cgroup_id(parent) : 0, cgroup_path_end(path));
}

static void notrace probe_cgroup_enter(void *data, struct cgroup *cgrp,
				       const char *path)
{
	kt_probe_enter();
	if (cgroup_is_v2(cgrp)) {
		/* Another cgroup may have been at its address. */
		kt_match_renew();
		cgroup_set_name(cgrp, path);
	}
	kt_probe_leave();
}

static void notrace probe_cgroup_rmdir(void *data, struct cgroup *cgrp,
				       const char *path)
{
	const u64 id = cgroup_id(cgrp);

	kt_probe_enter();
	if (cgroup_is_v2(cgrp))
		kt_registry_gone(KTAPE_OBJ_CGROUP, (u32)id, (u32)(id >> 32));
	kt_probe_leave();
}

/* A thread, or all threads of a process, get another cgroup. */
static void notrace probe_cgroup_attach_task(void *data, struct cgroup *cgrp,
					     const char *path,
					     struct task_struct *leader,
					     bool threadgroup)
{
	const u64 id = cgroup_id(cgrp);
	struct task_struct *p;

	if (!cgroup_is_v2(cgrp))
		return;
	path = cgroup_path_end(path);
	kt_probe_enter();
	/* The threads may run: their CPUs have pass masks by the former cgroup. */
	kt_now_close_all();
	rcu_read_lock();
	if (!threadgroup) {
		kt_registry_thread_cgroup(leader, id, path);
	} else {
		for_each_thread(leader, p)
			kt_registry_thread_cgroup(p, id, path);
	}
	rcu_read_unlock();
	kt_probe_leave();
}

/**
 * kt_cgroup_enter_new() - Enter the cgroup of a new thread if its maker has another one
 * @parent: thread that made it
 * @child: the new thread
 *
 * clone3() with CLONE_INTO_CGROUP makes such threads.  The others have the cgroup of
 * their maker, which readers of the trace know.
 *
 * Context: task context, preemption disabled.
 */
void kt_cgroup_enter_new(struct task_struct *parent, struct task_struct *child)
{
	struct cgroup *cgrp = task_dfl_cgroup(child);
	const u64 id = cgroup_id(cgrp);
	char name[KTAPE_NAME_SIZE];

	if (cgrp != task_dfl_cgroup(parent) &&
	    kt_registry_name(KTAPE_OBJ_CGROUP, (u32)id, (u32)(id >> 32), name))
		kt_registry_thread_cgroup(child, id, name);
}

#define CGROUP_ROW(tp, callback)                                           \
	{                                                                  \
		.name = #tp,                                               \
		.func = KT_PROBE_FUNC(NULL, callback, tp, struct cgroup *, \
				      const char *),                       \
		.always = true,                                            \
	}

/**
 * kt_probe_covers_cgroups() - Check that a tracepoint covers each change of a thread's cgroup
 *
 * Each way of moving a thread ends at the tracepoint cgroup_attach_task, before it
 * returns to the program that asked for it.  clone3() puts a thread into a cgroup
 * before it runs.  cgroup_mkdir is needed because a new cgroup may be at the address of one
 * that was removed.
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_probe_covers_cgroups(void)
{
	return KT_TP_IS(cgroup_attach_task, struct cgroup *, const char *,
			struct task_struct *, bool) &&
	       KT_TP_IS(cgroup_mkdir, struct cgroup *, const char *);
}

/**
 * kt_cgroups_walk() - Enter the cgroups that exist into the registry
 *
 * Call it after kt_probe_init(): then the probes enter cgroups that are created
 * meanwhile.
 *
 * Context: module load.
 */
void kt_cgroups_walk(void)
{
	struct cgroup_subsys_state *css;
	static char path[PATH_LENGTH];
	struct cgroup *cgrp;
	u32 count = 0;

	rcu_read_lock();
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self)
		count++;
	rcu_read_unlock();
	kt_registry_reserve(count);
	rcu_read_lock();
	css_for_each_descendant_pre(css, &cgrp_dfl_root.cgrp.self) {
		cgrp = css->cgroup;
		if (cgrp->self.flags & CSS_ONLINE &&
		    cgroup_path(cgrp, path, sizeof(path)) >= 0)
			cgroup_set_name(cgrp, path);
	}
	rcu_read_unlock();
}

#else

void kt_cgroup_enter_new(struct task_struct *parent, struct task_struct *child)
{
}

bool kt_probe_covers_cgroups(void)
{
	return false;
}

void kt_cgroups_walk(void)
{
}

#endif

/* ---- table --------------------------------------------------------------- */

struct kt_probe kt_probes_system[] = {
	KT_PROBE(cpu_idle, CPU_IDLE, probe_cpu_idle, unsigned int, unsigned int),
#ifdef KT_HAVE_CPU_IDLE_MISS
	KT_PROBE(cpu_idle_miss, CPU_IDLE_MISS, probe_cpu_idle_miss,
		 unsigned int, unsigned int, bool),
#else
	KT_PROBE_NONE(cpu_idle_miss, CPU_IDLE_MISS),
#endif
	KT_PROBE(cpu_frequency, CPU_FREQUENCY, probe_cpu_frequency,
		 unsigned int, unsigned int),
	KT_PROBE(suspend_resume, SUSPEND_RESUME, probe_suspend_resume,
		 const char *, int, bool),
	KT_PROBE(rpm_suspend, RPM_SUSPEND, probe_rpm_suspend, struct device *, int),
	KT_PROBE(rpm_resume, RPM_RESUME, probe_rpm_resume, struct device *, int),
	KT_PROBE(rpm_idle, RPM_IDLE, probe_rpm_idle, struct device *, int),
	KT_PROBE(rpm_return_int, RPM_RETURN_INT, probe_rpm_return_int,
		 struct device *, unsigned long, int),
	KT_PROBE(wakeup_source_activate, WAKEUP_SOURCE_ACTIVATE,
		 probe_wakeup_source_activate, const char *, unsigned int),
	KT_PROBE(wakeup_source_deactivate, WAKEUP_SOURCE_DEACTIVATE,
		 probe_wakeup_source_deactivate, const char *, unsigned int),
	KT_PROBE(cpuhp_enter, CPUHP_ENTER, probe_cpuhp_enter, unsigned int, int,
		 int, int (*)(unsigned int)),
	KT_PROBE(cpuhp_multi_enter, CPUHP_ENTER, probe_cpuhp_multi_enter,
		 unsigned int, int, int,
		 int (*)(unsigned int, struct hlist_node *), struct hlist_node *),
	KT_PROBE(cpuhp_exit, CPUHP_EXIT, probe_cpuhp_exit, unsigned int, int,
		 int, int),
	KT_PROBE(console, CONSOLE, probe_console, const char *, size_t),
	KT_PROBE(module_load, MODULE_LOAD, probe_module_load, struct module *),
	KT_PROBE(module_free, MODULE_FREE, probe_module_free, struct module *),
#ifdef CONFIG_MODULE_UNLOAD
	KT_PROBE(module_get, MODULE_GET, probe_module_get, struct module *,
		 unsigned long),
	KT_PROBE(module_put, MODULE_PUT, probe_module_put, struct module *,
		 unsigned long),
#else
	KT_PROBE_NONE(module_get, MODULE_GET),
	KT_PROBE_NONE(module_put, MODULE_PUT),
#endif
#ifdef HAS_CGROUPS
	CGROUP_ROW(cgroup_mkdir, probe_cgroup_enter),
	CGROUP_ROW(cgroup_rename, probe_cgroup_enter),
	CGROUP_ROW(cgroup_rmdir, probe_cgroup_rmdir),
	{
		.name = "cgroup_attach_task",
		.func = KT_PROBE_FUNC(NULL, probe_cgroup_attach_task,
				      cgroup_attach_task, struct cgroup *,
				      const char *, struct task_struct *, bool),
		.always = true,
	},
#endif
	{}
};
