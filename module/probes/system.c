// SPDX-License-Identifier: GPL-2.0-only
/* Idle states, frequencies, suspend, runtime power management. */
#include <linux/device.h>
#include <linux/string.h>
#include <trace/events/power.h>
#include <trace/events/rpm.h>

#include "event/event.h"
#include "internal.h"

#define CPU_BITS	12
#define CPU_MASK	((1U << CPU_BITS) - 1)
#define IDLE_BITS	8
#define MISS_BITS	7

/*
 * The idle task calls this next to code for which RCU is told not to watch.  We
 * need it to: filters and rings are freed after synchronize_rcu().  The kernel
 * sees to that: it makes RCU watch around the probes (trace_cpu_idle_rcuidle()),
 * or, where it is newer, calls them before and after RCU stops watching.
 */
static void notrace probe_cpu_idle(void *data, unsigned int state,
				   unsigned int cpu)
{
	kt_probe_enter();
	/* PWR_EVENT_EXIT is all ones. */
	KT_EVENT0(CPU_IDLE, (u8)state | (cpu & CPU_MASK) << IDLE_BITS);
	kt_probe_leave();
}

#ifdef KT_HAVE_CPU_IDLE_MISS
static void notrace probe_cpu_idle_miss(void *data, unsigned int cpu,
					unsigned int state, bool below)
{
	kt_probe_enter();
	KT_EVENT0(CPU_IDLE_MISS,
		  (state & ((1U << MISS_BITS) - 1)) | (u32)below << MISS_BITS |
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

/* An event with one word and a name. */
#define NAMED_EVENT(NAME, dat20, word, name)				\
do {									\
	kt_probe_enter();						\
	if (KT_WANTED(NAME)) {						\
		const char *__name = name;				\
		const u32 __args[] = { word };				\
									\
		__name = __name ?: "";					\
		KT_EVENT_LONG(NAME, dat20, __args, __name,		\
			      strnlen(__name, KT_TEXT_MAX));		\
	}								\
	kt_probe_leave();						\
} while (0)

static void notrace probe_suspend_resume(void *data, const char *action,
					 int val, bool start)
{
	NAMED_EVENT(SUSPEND_RESUME, start, val, action);
}

static void notrace probe_rpm_suspend(void *data, struct device *dev, int flags)
{
	NAMED_EVENT(RPM_SUSPEND, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_resume(void *data, struct device *dev, int flags)
{
	NAMED_EVENT(RPM_RESUME, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_idle(void *data, struct device *dev, int flags)
{
	NAMED_EVENT(RPM_IDLE, 0, flags, dev_name(dev));
}

static void notrace probe_rpm_return_int(void *data, struct device *dev,
					 unsigned long ip, int ret)
{
	NAMED_EVENT(RPM_RETURN_INT, 0, ret, dev_name(dev));
}

static void notrace probe_wakeup_source_activate(void *data, const char *name,
						 unsigned int state)
{
	NAMED_EVENT(WAKEUP_SOURCE_ACTIVATE, 0, state, name);
}

static void notrace probe_wakeup_source_deactivate(void *data, const char *name,
						   unsigned int state)
{
	NAMED_EVENT(WAKEUP_SOURCE_DEACTIVATE, 0, state, name);
}

struct kt_probe kt_probes_power[] = {
	KT_PROBE(cpu_idle, CPU_IDLE, probe_cpu_idle, unsigned int,
		    unsigned int),
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
	KT_PROBE(rpm_suspend, RPM_SUSPEND, probe_rpm_suspend,
		    struct device *, int),
	KT_PROBE(rpm_resume, RPM_RESUME, probe_rpm_resume, struct device *,
		    int),
	KT_PROBE(rpm_idle, RPM_IDLE, probe_rpm_idle, struct device *, int),
	KT_PROBE(rpm_return_int, RPM_RETURN_INT, probe_rpm_return_int,
		    struct device *, unsigned long, int),
	KT_PROBE(wakeup_source_activate, WAKEUP_SOURCE_ACTIVATE,
		    probe_wakeup_source_activate, const char *, unsigned int),
	KT_PROBE(wakeup_source_deactivate, WAKEUP_SOURCE_DEACTIVATE,
		    probe_wakeup_source_deactivate, const char *, unsigned int),
	{}
};
