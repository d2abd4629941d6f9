// SPDX-License-Identifier: GPL-2.0-only
/* Timers of the wheel, and the tick that drives it. */
#include <linux/jiffies.h>
#include <linux/timer.h>
#include <trace/events/timer.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#ifndef KT_HAVE_TP_timer_base_idle
KT_TP_MISSING(timer_base_idle);
#endif
#ifndef CONFIG_NO_HZ_COMMON
KT_TP_MISSING(tick_stop);
#endif

#define DEPENDENCY_BITS	8
#define CPU_BITS	12

static u32 function_of(struct timer_list *t)
{
	return kt_token_func((unsigned long)READ_ONCE(t->function));
}

static void notrace probe_timer_init(void *data, struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT1(TIMER_INIT, 0, kt_token(t));
	kt_probe_leave();
}

static __always_inline void timer_start(struct timer_list *t)
{
	kt_probe_enter();
	KT_EVENT3(TIMER_START, t->flags & KTAPE_DAT20_MASK, kt_token(t),
		  function_of(t), (u32)(t->expires - jiffies));
	kt_probe_leave();
}

/* Its own expiry, even where the tracepoint tells that of its bucket. */
static void notrace probe_timer_start(void *data, struct timer_list *t,
				      unsigned long bucket_expiry)
{
	timer_start(t);
}

/* Until 6.8. */
static void notrace probe_timer_start3(void *data, struct timer_list *t,
				       unsigned long expires,
				       unsigned int flags)
{
	timer_start(t);
}

static void notrace probe_timer_expire_entry(void *data, struct timer_list *t,
					     unsigned long baseclk)
{
	kt_probe_enter();
	KT_EVENT3(TIMER_EXPIRE_ENTRY, 0, kt_token(t), function_of(t),
		  (u32)(jiffies - READ_ONCE(t->expires)));
	kt_probe_leave();
}

/* Its function may have freed it. */
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

static void notrace probe_timer_base_idle(void *data, bool is_idle,
					  unsigned int cpu)
{
	kt_probe_enter();
	KT_EVENT0(TIMER_BASE_IDLE,
		  is_idle | (cpu & (BIT(CPU_BITS) - 1)) << 1);
	kt_probe_leave();
}

struct kt_probe kt_probes_timer[] = {
	{
		.name = "timer_start",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_timer_start3, timer_start,
				      struct timer_list *, unsigned long,
				      unsigned int),
			probe_timer_start, timer_start, struct timer_list *,
			unsigned long),
		.events = { KTAPE_EV_TIMER_START },
	},
	KT_PROBE(timer_init, TIMER_INIT, probe_timer_init, struct timer_list *),
	KT_PROBE(timer_expire_entry, TIMER_EXPIRE_ENTRY,
		 probe_timer_expire_entry, struct timer_list *, unsigned long),
	KT_PROBE(timer_expire_exit, TIMER_EXPIRE_EXIT, probe_timer_expire_exit,
		 struct timer_list *),
	KT_PROBE(timer_cancel, TIMER_CANCEL, probe_timer_cancel,
		 struct timer_list *),
	KT_PROBE(tick_stop, TICK_STOP, probe_tick_stop, int, int),
	KT_PROBE(timer_base_idle, TIMER_BASE_IDLE, probe_timer_base_idle, bool,
		 unsigned int),
	{}
};
