// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes for timers of the timer wheel, the tick, high-resolution timers, interval
 * timers of processes, and work items.  They record the events of
 * uapi/ktape/events/timer.h.
 */
#include <linux/hrtimer.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/time64.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <trace/events/timer.h>
#include <trace/events/workqueue.h>

#include "event/event.h"
#include "internal.h"

/* ---- timers of the wheel, and the tick that drives it -------------------- */

#ifndef KT_HAVE_TP_timer_base_idle
KT_TP_MISSING(timer_base_idle);
#endif
#ifndef CONFIG_NO_HZ_COMMON
KT_TP_MISSING(tick_stop);
#endif

#define DEPENDENCY_BITS 8
#define CPU_BITS	12

static u32 timer_function_token(struct timer_list *t)
{
	return kt_token_func((unsigned long)READ_ONCE(t->function));
}

static void notrace probe_timer_init(void *data, struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT1(TIMER_INIT, 0, kt_token(t));
	kt_probe_leave();
}

static __always_inline void record_timer_start(struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT3(TIMER_START, t->flags & KTAPE_DAT20_MASK, kt_token(t),
		  timer_function_token(t), (u32)(t->expires - jiffies));
	kt_probe_leave();
}

/* Record the timer's own expiry; newer tracepoints pass that of its bucket. */
static void notrace probe_timer_start(void *data, struct timer_list *t,
				      unsigned long bucket_expiry)
{
	record_timer_start(t);
}

/* Until 6.8 the tracepoint also passed the flags. */
static void notrace probe_timer_start3(void *data, struct timer_list *t,
				       unsigned long expires, unsigned int flags)
{
	record_timer_start(t);
}

static void notrace probe_timer_expire_entry(void *data, struct timer_list *t,
					     unsigned long baseclk)
{
	kt_probe_enter();
	KT_EVENT3(TIMER_EXPIRE_ENTRY, 0, kt_token(t), timer_function_token(t),
		  (u32)(jiffies - READ_ONCE(t->expires)));
	kt_probe_leave();
}

/* The timer's function may have freed it: use only its address. */
static void notrace probe_timer_expire_exit(void *data, struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT1(TIMER_EXPIRE_EXIT, 0, kt_token(t));
	kt_probe_leave();
}

static void notrace probe_timer_cancel(void *data, struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT1(TIMER_CANCEL, 0, kt_token(t));
	kt_probe_leave();
}

static void notrace probe_tick_stop(void *data, int success, int dependency)
{
	const u32 bits = dependency & (BIT(DEPENDENCY_BITS) - 1);

	kt_probe_enter();
	KT_EVENT0(TICK_STOP, (success ? 1 : 0) | bits << 1);
	kt_probe_leave();
}

static void notrace probe_timer_base_idle(void *data, bool is_idle, unsigned int cpu)
{
	kt_probe_enter();
	KT_EVENT0(TIMER_BASE_IDLE, is_idle | (cpu & (BIT(CPU_BITS) - 1)) << 1);
	kt_probe_leave();
}

/* ---- high-resolution timers ---------------------------------------------- */

/* hrtimer_setup replaced hrtimer_init; both record HRTIMER_INIT. */
#ifndef KT_HAVE_TP_hrtimer_init
KT_TP_MISSING(hrtimer_init);
#endif
#ifndef KT_HAVE_TP_hrtimer_setup
KT_TP_MISSING(hrtimer_setup);
#endif

#define CLOCK_MASK   31
#define KT_MODE_MASK 255
#define MODE_BITS    8
#define CLOCK_BITS   5

/* Return the earliest time at which the timer may expire, without its slack. */
static s64 hrtimer_expires_at(const struct hrtimer *t)
{
	return ktime_to_ns(hrtimer_get_softexpires(t));
}

static void notrace probe_hrtimer_init(void *data, struct hrtimer *t,
				       clockid_t clock, enum hrtimer_mode mode)
{
	kt_probe_enter();
	KT_EVENT1(HRTIMER_INIT,
		  (clock & CLOCK_MASK) | (mode & KT_MODE_MASK) << CLOCK_BITS,
		  kt_token(t));
	kt_probe_leave();
}

static __always_inline void
record_hrtimer_start(struct hrtimer *t, enum hrtimer_mode mode, bool was_armed)
{
	s64 expires = hrtimer_expires_at(t);

	kt_probe_enter();
	KT_EVENT3(HRTIMER_START, (mode & KT_MODE_MASK) | (u32)was_armed << MODE_BITS,
		  kt_token(t), (u32)expires, (u32)(expires >> 32));
	kt_probe_leave();
}

static void notrace probe_hrtimer_start(void *data, struct hrtimer *t,
					enum hrtimer_mode mode, bool was_armed)
{
	record_hrtimer_start(t, mode, was_armed);
}

/* Older tracepoints do not pass @was_armed, which the record then has as false. */
static void notrace probe_hrtimer_start2(void *data, struct hrtimer *t,
					 enum hrtimer_mode mode)
{
	record_hrtimer_start(t, mode, false);
}

static __always_inline void record_hrtimer_expire(struct hrtimer *t, ktime_t now)
{
	s64 late = ktime_to_ns(now) - hrtimer_expires_at(t);

	kt_probe_enter();
	KT_EVENT3(HRTIMER_EXPIRE_ENTRY, 0, kt_token(t),
		  kt_token_func((unsigned long)ACCESS_PRIVATE(t, function)),
		  (u32)clamp_t(s64, late, S32_MIN, S32_MAX));
	kt_probe_leave();
}

static void notrace probe_hrtimer_expire_entry(void *data, struct hrtimer *t,
					       ktime_t now)
{
	record_hrtimer_expire(t, now);
}

/* Until 7.1 the tracepoint passed the time by pointer. */
static void notrace probe_hrtimer_expire_entry_by_pointer(void *data,
							  struct hrtimer *t,
							  ktime_t *now)
{
	record_hrtimer_expire(t, *now);
}

/* The timer's function may have freed it: use only its address. */
static void notrace probe_hrtimer_expire_exit(void *data, struct hrtimer *t)
{
	kt_probe_enter();
	KT_EVENT1(HRTIMER_EXPIRE_EXIT, 0, kt_token(t));
	kt_probe_leave();
}

static void notrace probe_hrtimer_cancel(void *data, struct hrtimer *t)
{
	kt_probe_enter();
	KT_EVENT1(HRTIMER_CANCEL, 0, kt_token(t));
	kt_probe_leave();
}

/* ---- interval timers: setitimer() ---------------------------------------- */

#define WHICH_MASK 3

static void notrace probe_itimer_state(void *data, int which,
				       const struct itimerspec64 *const value,
				       unsigned long long expires)
{
	u64 first = timespec64_to_ns(&value->it_value);
	u64 interval = timespec64_to_ns(&value->it_interval);
	const u32 words[] = {
		(u32)expires,	    (u32)(expires >> 32), (u32)first,
		(u32)(first >> 32), (u32)interval,	  (u32)(interval >> 32),
	};

	kt_probe_enter();
	KT_EVENT_LONG(ITIMER_STATE, which & WHICH_MASK, words, NULL, 0);
	kt_probe_leave();
}

static void notrace probe_itimer_expire(void *data, int which, struct pid *pid,
					unsigned long long now)
{
	kt_probe_enter();
	rcu_read_lock();
	KT_EVENT1_OF(ITIMER_EXPIRE, pid_task(pid, PIDTYPE_TGID),
		     which & WHICH_MASK, pid_nr(pid));
	rcu_read_unlock();
	kt_probe_leave();
}

/* ---- work items of workqueues -------------------------------------------- */

#define ANY_CPU 0xffff

static __always_inline void record_queue_work(u32 cpu, struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_QUEUE_WORK,
		  cpu == WORK_CPU_UNBOUND ? ANY_CPU : cpu & ANY_CPU,
		  kt_token(work), kt_token_func((unsigned long)work->func));
	kt_probe_leave();
}

static void notrace probe_workqueue_queue_work(void *data, int cpu,
					       struct pool_workqueue *pwq,
					       struct work_struct *work)
{
	record_queue_work(cpu, work);
}

/* Until 5.19 the tracepoint passed the CPU as unsigned. */
static void notrace probe_workqueue_queue_work_u(void *data, unsigned int cpu,
						 struct pool_workqueue *pwq,
						 struct work_struct *work)
{
	record_queue_work(cpu, work);
}

static void notrace probe_workqueue_activate_work(void *data,
						  struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT1(WORKQUEUE_ACTIVATE_WORK, 0, kt_token(work));
	kt_probe_leave();
}

static void notrace probe_workqueue_execute_start(void *data,
						  struct work_struct *work)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_EXECUTE_START, 0, kt_token(work),
		  kt_token_func((unsigned long)work->func));
	kt_probe_leave();
}

/* The item's function may have freed it: use only its address. */
static void notrace probe_workqueue_execute_end(void *data, struct work_struct *work,
						work_func_t function)
{
	kt_probe_enter();
	KT_EVENT2(WORKQUEUE_EXECUTE_END, 0, kt_token(work),
		  kt_token_func((unsigned long)function));
	kt_probe_leave();
}

/* ---- table --------------------------------------------------------------- */

struct kt_probe kt_probes_timer[] = {
	{
		.name = "timer_start",
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_timer_start3,
						    timer_start, struct timer_list *,
						    unsigned long, unsigned int),
				      probe_timer_start, timer_start,
				      struct timer_list *, unsigned long),
		.events = { KTAPE_EV_TIMER_START },
	},
	KT_PROBE(timer_init, TIMER_INIT, probe_timer_init, struct timer_list *),
	KT_PROBE(timer_expire_entry, TIMER_EXPIRE_ENTRY,
		 probe_timer_expire_entry, struct timer_list *, unsigned long),
	KT_PROBE(timer_expire_exit, TIMER_EXPIRE_EXIT, probe_timer_expire_exit,
		 struct timer_list *),
	KT_PROBE(timer_cancel, TIMER_CANCEL, probe_timer_cancel, struct timer_list *),
	KT_PROBE(tick_stop, TICK_STOP, probe_tick_stop, int, int),
	KT_PROBE(timer_base_idle, TIMER_BASE_IDLE, probe_timer_base_idle, bool,
		 unsigned int),
	{
		.name = "hrtimer_start",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_hrtimer_start2, hrtimer_start,
				      struct hrtimer *, enum hrtimer_mode),
			probe_hrtimer_start, hrtimer_start, struct hrtimer *,
			enum hrtimer_mode, bool),
		.events = { KTAPE_EV_HRTIMER_START },
	},
	{
		.name = "hrtimer_expire_entry",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_hrtimer_expire_entry_by_pointer,
				      hrtimer_expire_entry, struct hrtimer *,
				      ktime_t *),
			probe_hrtimer_expire_entry, hrtimer_expire_entry,
			struct hrtimer *, ktime_t),
		.events = { KTAPE_EV_HRTIMER_EXPIRE_ENTRY },
	},
	KT_PROBE(hrtimer_init, HRTIMER_INIT, probe_hrtimer_init,
		 struct hrtimer *, clockid_t, enum hrtimer_mode),
	KT_PROBE(hrtimer_setup, HRTIMER_INIT, probe_hrtimer_init,
		 struct hrtimer *, clockid_t, enum hrtimer_mode),
	KT_PROBE(hrtimer_expire_exit, HRTIMER_EXPIRE_EXIT,
		 probe_hrtimer_expire_exit, struct hrtimer *),
	KT_PROBE(hrtimer_cancel, HRTIMER_CANCEL, probe_hrtimer_cancel,
		 struct hrtimer *),
	KT_PROBE(itimer_state, ITIMER_STATE, probe_itimer_state, int,
		 const struct itimerspec64 *const, unsigned long long),
	KT_PROBE(itimer_expire, ITIMER_EXPIRE, probe_itimer_expire, int,
		 struct pid *, unsigned long long),
	{
		.name = "workqueue_queue_work",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_workqueue_queue_work_u,
				      workqueue_queue_work, unsigned int,
				      struct pool_workqueue *, struct work_struct *),
			probe_workqueue_queue_work, workqueue_queue_work, int,
			struct pool_workqueue *, struct work_struct *),
		.events = { KTAPE_EV_WORKQUEUE_QUEUE_WORK },
	},
	KT_PROBE(workqueue_execute_end, WORKQUEUE_EXECUTE_END,
		 probe_workqueue_execute_end, struct work_struct *, work_func_t),
	KT_PROBE(workqueue_activate_work, WORKQUEUE_ACTIVATE_WORK,
		 probe_workqueue_activate_work, struct work_struct *),
	KT_PROBE(workqueue_execute_start, WORKQUEUE_EXECUTE_START,
		 probe_workqueue_execute_start, struct work_struct *),
	{}
};
