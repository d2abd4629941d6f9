// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for threads: scheduling, creation and exit, uninterruptible sleep,
 * signals.  They record the events of uapi/ktape/events/task.h.
 *
 * The probes for creation, exec, exit, freeing and rename also keep the registry, the
 * thread filters and the triggers up to date.  They are attached as long as the
 * module is loaded, even if no session wants their events.
 */
#include <linux/binfmts.h>
#include <linux/completion.h>
#include <linux/mm_types.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/sizes.h>
#include <linux/stacktrace.h>
#include <linux/wait_bit.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/task.h>

#include "event/event.h"
#include "filter/filter.h"
#include "internal.h"
#include "names/names.h"

/* ---- scheduling ---------------------------------------------------------- */

/* Return the enum ktape_task_state in which a thread leaves its CPU. */
static __always_inline u32 task_leave_state(bool preempt, struct task_struct *prev,
					    unsigned int state)
{
	unsigned int report, exit_state;

	if (preempt)
		return KTAPE_STATE_PREEMPTED;
	/* Fast path: nearly all sleep in one of these, whose numbers are equal. */
	BUILD_BUG_ON(TASK_INTERRUPTIBLE != KTAPE_STATE_S ||
		     TASK_UNINTERRUPTIBLE != KTAPE_STATE_D);
	if (likely(state == TASK_INTERRUPTIBLE || state == TASK_UNINTERRUPTIBLE))
		return state;
	/* The parent may reap the zombie meanwhile, on another CPU: Z becomes X. */
	exit_state = READ_ONCE(prev->exit_state);
	if (!state && !exit_state)
		return KTAPE_STATE_R;
	if ((state & TASK_IDLE) == TASK_IDLE)
		return KTAPE_STATE_I;
	/* fls() of a bit of TASK_REPORT is the state's number in enum ktape_task_state. */
	report = (state | exit_state) & TASK_REPORT;
	/* No bit left: waits for an RT lock or is frozen, so uninterruptible. */
	return report ? fls(report) : KTAPE_STATE_D;
}

static __always_inline u32 switch_code(bool preempt, struct task_struct *prev,
				       struct task_struct *next, unsigned int state)
{
	return KT_CODE(KTAPE_EV_SCHED_SWITCH,
		       (u8)prev->prio | (u8)next->prio << 8 |
			       task_leave_state(preempt, prev, state) << 16,
		       0, 2);
}

/*
 * The next functions are the last steps of the probe.  Their arguments are in the registers
 * of the probe's own, so that no call moves them.
 */

/* Record a switch that changes the pass mask, or needs checks or context records. */
static noinline __noclone void notrace record_switch_any(void *data, bool preempt,
							 struct task_struct *prev,
							 struct task_struct *next,
							 unsigned int state)
{
	kt_switch_record(switch_code(preempt, prev, next, state), prev, next);
	kt_probe_leave();
}

/*
 * Record a switch in any number of sessions; record_switch_any() if an event has to be checked,
 * or if the switch changes the pass mask.
 */
static noinline __noclone void notrace record_switch_many(
	void *data, bool preempt, struct task_struct *prev,
	struct task_struct *next, unsigned int state, unsigned long want)
{
	u32 sessions = want & KT_MASK_SESSIONS, pass = sessions;

	if (want & (KT_WANT_CHECK | KT_WANT_SWITCH) &&
	    (want & KT_WANT_CHECK ||
	     !kt_switch_is_steady(kt_cpus_of(data), next, &pass)))
		return record_switch_any(data, preempt, prev, next, state);
	pass &= sessions;
	if (sessions != pass)
		kt_count_filtered(kt_cpus_of(data), KT_PLACE(SCHED_SWITCH),
				  sessions & ~pass);
	kt_switch_begin(next);
	if (pass)
		kt_put2(switch_code(preempt, prev, next, state),
			KT_PLACE(SCHED_SWITCH), prev->pid, next->pid, pass);
	kt_switch_end();
	kt_probe_leave();
}

/* Record a switch.  Sessions that do not record sched_switch may need a context record. */
static __always_inline void record_sched_switch(void *data, bool preempt,
						struct task_struct *prev,
						struct task_struct *next,
						unsigned int state)
{
	struct kt_cpu __percpu *const cpus = kt_cpus_of(data);
	unsigned long want;
	struct kt_ring *r;
	u32 pass;

	kt_probe_enter();
	/*
	 * Want bits that have no bit in common with the pass mask are those of one session,
	 * which records the switch, and nothing else is to be done (event/cpu.h).  The ring's
	 * pointer is loaded from an address computed from the want bits.
	 */
	want = kt_cpu_read(cpus->want[KTAPE_EV_SCHED_SWITCH]);
	if (unlikely(want & kt_cpu_read(kt_now.mask))) {
		if (want & (KT_WANT_CHECK | KT_WANT_NONE | KT_WANT_MANY))
			return record_switch_many(data, preempt, prev, next,
						  state, want);
		if (!kt_switch_is_steady(cpus, next, &pass))
			return record_switch_any(data, preempt, prev, next, state);
		want &= KT_MASK_SESSIONS;
		r = kt_ring_alone(cpus, KT_PLACE(SCHED_SWITCH), want);
		if (!(want & pass)) {
			kt_count_filtered_in(r, KT_PLACE(SCHED_SWITCH));
			/* Nothing is stored: the thread has arrived at once. */
			kt_cpu_write(kt_now.thread,
				     (unsigned long)next + KT_ARRIVED);
			kt_probe_leave();
			return;
		}
	} else {
		r = kt_ring_alone(cpus, KT_PLACE(SCHED_SWITCH), want);
	}
	kt_switch_put(r, switch_code(preempt, prev, next, state), prev, next);
	kt_probe_leave();
}

static void notrace probe_sched_switch(void *data, bool preempt,
				       struct task_struct *prev,
				       struct task_struct *next,
				       unsigned int prev_state)
{
	record_sched_switch(data, preempt, prev, next, prev_state);
}

/* Before 5.18 the tracepoint had no state: read it from the thread. */
static void notrace probe_sched_switch3(void *data, bool preempt,
					struct task_struct *prev,
					struct task_struct *next)
{
	record_sched_switch(data, preempt, prev, next, kt_task_state(prev));
}

static void notrace probe_sched_waking(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_INLINE1_OF(data, SCHED_WAKING, p, (u8)p->prio | task_cpu(p) << 8, p->pid);
	kt_probe_leave();
}

static void notrace probe_sched_wakeup(void *data, struct task_struct *p)
{
	kt_probe_enter();
	KT_INLINE1_OF(data, SCHED_WAKEUP, p, (u8)p->prio | task_cpu(p) << 8, p->pid);
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
	KT_EVENT2_OF(SCHED_MIGRATE_TASK, p, (u8)p->prio | (u32)dest_cpu << 8,
		     p->pid, task_cpu(p));
	kt_probe_leave();
}

/*
 * The kernel calls the tracepoint before it sets the priority, so compute the new
 * one as the kernel does.
 */
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

static __always_inline void record_stat_runtime(struct task_struct *p, u64 runtime)
{
	kt_probe_enter();
	KT_EVENT3_OF(SCHED_STAT_RUNTIME, p, 0, p->pid, (u32)runtime,
		     (u32)(runtime >> 32));
	kt_probe_leave();
}

static void notrace probe_sched_stat_runtime(void *data, struct task_struct *p,
					     u64 runtime)
{
	record_stat_runtime(p, runtime);
}

/* Until 6.8, in 6.6 until 6.6.66, the tracepoint also passed the vruntime. */
static void notrace probe_sched_stat_runtime3(void *data, struct task_struct *p,
					      u64 runtime, u64 vruntime)
{
	record_stat_runtime(p, runtime);
}

/* ---- creation and exit of threads ---------------------------------------- */

/*
 * Enter a new thread into the registry and the thread filters.  The kernel calls
 * task_newtask for every thread, those of io_uring and vhost too, when creating it
 * can no longer fail and before it runs.
 */
static __always_inline void task_enter_new(struct task_struct *child)
{
	/* Ignore the idle threads of CPUs: all of them have tid 0. */
	if (!child->pid)
		return;
	kt_probe_enter();
	kt_track_fork(current, child);
	kt_registry_thread(child, child->comm);
	kt_cgroup_enter_new(current, child);
	kt_probe_leave();
}

static void notrace probe_task_newtask(void *data, struct task_struct *child,
				       unsigned long flags)
{
	task_enter_new(child);
}

/* From 6.18 on the flags are a u64 on 32-bit kernels, too. */
static void notrace probe_task_newtask64(void *data, struct task_struct *child,
					 u64 flags)
{
	task_enter_new(child);
}

#define HAS_NEWTASK                                                     \
	(KT_TP_IS(task_newtask, struct task_struct *, unsigned long) || \
	 KT_TP_IS(task_newtask, struct task_struct *, u64))

#define NEWTASK_FUNC                                                          \
	KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_task_newtask64, task_newtask, \
				    struct task_struct *, u64),               \
		      probe_task_newtask, task_newtask, struct task_struct *, \
		      unsigned long)

static void notrace probe_sched_process_fork(void *data, struct task_struct *parent,
					     struct task_struct *child)
{
	kt_probe_enter();
	if (!HAS_NEWTASK) {
		kt_track_fork(parent, child);
		kt_registry_thread(child, child->comm);
		kt_cgroup_enter_new(parent, child);
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
	/* exec in a non-leader thread takes the leader's tid; no exit follows. */
	if (old_pid != p->pid)
		kt_registry_thread_exit(old_pid, p->tgid);
	kt_probe_leave();
}

static __always_inline void record_process_exit(struct task_struct *p)
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
	record_process_exit(p);
}

/* From 6.16 on the tracepoint also says whether this is the last thread. */
static void notrace probe_sched_process_exit2(void *data, struct task_struct *p,
					      bool last)
{
	record_process_exit(p);
}

/* Called by RCU after the last reference is gone: nothing can find the thread. */
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

/* ---- uninterruptible sleep ----------------------------------------------- */

/*
 * sched_blocked: the function that put a thread into uninterruptible sleep.
 *
 * The kernel has no tracepoint for it.  A second probe at sched_switch takes the
 * stack of the outgoing thread; the first frame outside the scheduler is the
 * function that called it.  A stack costs microseconds, so no preset includes this
 * event.
 */

/* Frames to take: ours, the tracepoint's and up to a dozen of the scheduler. */
#define FRAMES 16

#ifndef CONFIG_STACKTRACE
#define stack_trace_save(store, size, skip) 0
#endif

/*
 * Return the first frame above the scheduler's, 0 if the stack ends in them.
 *
 * A single frame between two of the scheduler's belongs to them:
 * rt_mutex_schedule() is outside the section, and with PREEMPT_RT each mutex
 * sleeps in it.  So do the functions that __wait_on_bit() calls to sleep.
 */
static unsigned long caller_of_scheduler(void)
{
	unsigned long frames[FRAMES];
	unsigned int n, i = 0;

	n = stack_trace_save(frames, FRAMES, 0);
	while (i < n && !kt_scheduler_has(frames[i]))
		i++;
	/* kt_scheduler_fits() judges by these answers whether it knows where the scheduler is. */
	if (n)
		kt_scheduler_found(i < n);
	while (i < n && (kt_scheduler_has(frames[i]) ||
			 (i + 1 < n && kt_scheduler_has(frames[i + 1]))))
		i++;
	return i < n ? frames[i] : 0;
}

static noinline void notrace record_blocked(struct task_struct *prev)
{
	KT_EVENT2(SCHED_BLOCKED, prev->in_iowait, prev->pid,
		  kt_token_func(caller_of_scheduler()));
}

static __always_inline void record_if_blocked(bool preempt, struct task_struct *prev,
					      unsigned int state)
{
	if (task_leave_state(preempt, prev, state) != KTAPE_STATE_D)
		return;
	kt_probe_enter();
	if (KT_WANTED(SCHED_BLOCKED))
		record_blocked(prev);
	kt_probe_leave();
}

static void notrace probe_blocked(void *data, bool preempt, struct task_struct *prev,
				  struct task_struct *next, unsigned int prev_state)
{
	record_if_blocked(preempt, prev, prev_state);
}

/* Before 5.18 the tracepoint had no state: read it from the thread. */
static void notrace probe_blocked3(void *data, bool preempt,
				   struct task_struct *prev,
				   struct task_struct *next)
{
	record_if_blocked(preempt, prev, kt_task_state(prev));
}

/* ---- signals ------------------------------------------------------------- */

#define SIGNAL_BITS 7
#define SIGNAL_MASK ((1U << SIGNAL_BITS) - 1)
#define FLAG_GROUP  (1U << SIGNAL_BITS)
#define RESULT_MASK 7

/* Return si_code.  @info may be one of two small numbers instead of a pointer. */
static int siginfo_code(const struct kernel_siginfo *info)
{
	if (info == SEND_SIG_NOINFO)
		return SI_USER;
	if (info == SEND_SIG_PRIV)
		return SI_KERNEL;
	return info->si_code;
}

static int siginfo_errno(const struct kernel_siginfo *info)
{
	return info <= SEND_SIG_PRIV ? 0 : info->si_errno;
}

static void notrace probe_signal_generate(void *data, int sig,
					  struct kernel_siginfo *info,
					  struct task_struct *p, int group,
					  int result)
{
	kt_probe_enter();
	KT_EVENT3_OF(SIGNAL_GENERATE, p,
		     (sig & SIGNAL_MASK) | (group ? FLAG_GROUP : 0) |
			     (result & RESULT_MASK) << (SIGNAL_BITS + 1),
		     p->pid, siginfo_code(info), siginfo_errno(info));
	kt_probe_leave();
}

/* Return the handler's token.  SIG_DFL and SIG_IGN, 0 and 1, stay what they are. */
static u32 signal_handler_token(const struct k_sigaction *ka)
{
	unsigned long handler = (__force unsigned long)READ_ONCE(ka->sa.sa_handler);

	if (handler <= (__force unsigned long)SIG_IGN)
		return handler;
	return kt_token((const void *)handler);
}

static void notrace probe_signal_deliver(void *data, int sig,
					 struct kernel_siginfo *info,
					 struct k_sigaction *ka)
{
	kt_probe_enter();
	KT_EVENT3(SIGNAL_DELIVER, sig & SIGNAL_MASK, siginfo_code(info),
		  (u32)ka->sa.sa_flags, signal_handler_token(ka));
	kt_probe_leave();
}

/* ---- table --------------------------------------------------------------- */

struct kt_probe kt_probes_task[] = {
	{
		.name = "sched_switch",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_sched_switch3, sched_switch, bool,
				      struct task_struct *, struct task_struct *),
			probe_sched_switch, sched_switch, bool,
			struct task_struct *, struct task_struct *, unsigned int),
		.events = { KTAPE_EV_SCHED_SWITCH, KTAPE_EV_CONTEXT },
	},
	{
		.name = "sched_waking",
		.func = KT_PROBE_FUNC(NULL, probe_sched_waking, sched_waking,
				      struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKING },
	},
	{
		.name = "sched_wakeup",
		.func = KT_PROBE_FUNC(NULL, probe_sched_wakeup, sched_wakeup,
				      struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKEUP },
	},
	{
		.name = "sched_wakeup_new",
		.func = KT_PROBE_FUNC(NULL, probe_sched_wakeup_new,
				      sched_wakeup_new, struct task_struct *),
		.events = { KTAPE_EV_SCHED_WAKEUP_NEW },
	},
	{
		.name = "sched_migrate_task",
		.func = KT_PROBE_FUNC(NULL, probe_sched_migrate_task,
				      sched_migrate_task, struct task_struct *, int),
		.events = { KTAPE_EV_SCHED_MIGRATE_TASK },
	},
	{
		.name = "sched_stat_runtime",
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_sched_stat_runtime3,
						    sched_stat_runtime,
						    struct task_struct *, u64, u64),
				      probe_sched_stat_runtime, sched_stat_runtime,
				      struct task_struct *, u64),
		.events = { KTAPE_EV_SCHED_STAT_RUNTIME },
	},
	KT_PROBE(sched_pi_setprio, SCHED_PI_SETPRIO, probe_sched_pi_setprio,
		 struct task_struct *, struct task_struct *),
	KT_PROBE(sched_process_wait, SCHED_PROCESS_WAIT,
		 probe_sched_process_wait, struct pid *),
	{
		.name = "task_newtask",
		.func = NEWTASK_FUNC,
		.always = true,
	},
	{
		.name = "sched_process_fork",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_fork, sched_process_fork,
				      struct task_struct *, struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_FORK },
	},
	{
		.name = "sched_process_exec",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_exec,
				      sched_process_exec, struct task_struct *,
				      pid_t, struct linux_binprm *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_EXEC },
	},
	{
		.name = "sched_process_exit",
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_sched_process_exit2,
						    sched_process_exit,
						    struct task_struct *, bool),
				      probe_sched_process_exit,
				      sched_process_exit, struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_EXIT },
	},
	{
		.name = "sched_process_free",
		.func = KT_PROBE_FUNC(NULL, probe_sched_process_free,
				      sched_process_free, struct task_struct *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_FREE },
	},
	{
		.name = "task_rename",
		.func = KT_PROBE_FUNC(NULL, probe_task_rename, task_rename,
				      struct task_struct *, const char *),
		.always = true,
		.events = { KTAPE_EV_PROCESS_RENAME },
	},
	{
		.name = "sched_switch",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_blocked3, sched_switch, bool,
				      struct task_struct *, struct task_struct *),
			probe_blocked, sched_switch, bool, struct task_struct *,
			struct task_struct *, unsigned int),
		.events = { KTAPE_EV_SCHED_BLOCKED },
		.fits = kt_scheduler_fits,
	},
	KT_PROBE(signal_generate, SIGNAL_GENERATE, probe_signal_generate, int,
		 struct kernel_siginfo *, struct task_struct *, int, int),
	KT_PROBE(signal_deliver, SIGNAL_DELIVER, probe_signal_deliver, int,
		 struct kernel_siginfo *, struct k_sigaction *),
	{}
};
