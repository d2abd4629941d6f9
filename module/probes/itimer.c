// SPDX-License-Identifier: GPL-2.0-only
/* Interval timers of processes: setitimer(). */
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/time64.h>
#include <linux/timer.h>
#include <trace/events/timer.h>

#include "event/event.h"
#include "internal.h"

#define WHICH_MASK	3

static void notrace probe_itimer_state(void *data, int which,
				       const struct itimerspec64 *const value,
				       unsigned long long expires)
{
	u64 first = timespec64_to_ns(&value->it_value);
	u64 interval = timespec64_to_ns(&value->it_interval);
	const u32 words[] = {
		(u32)expires, (u32)(expires >> 32),
		(u32)first, (u32)(first >> 32),
		(u32)interval, (u32)(interval >> 32),
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

struct kt_probe kt_probes_itimer[] = {
	KT_PROBE(itimer_state, ITIMER_STATE, probe_itimer_state, int,
		 const struct itimerspec64 *const, unsigned long long),
	KT_PROBE(itimer_expire, ITIMER_EXPIRE, probe_itimer_expire, int,
		 struct pid *, unsigned long long),
	{}
};
