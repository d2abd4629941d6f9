// SPDX-License-Identifier: GPL-2.0-only
/* High-resolution timers. */
#include <linux/hrtimer.h>
#include <trace/events/timer.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

/* The same event: the kernel renamed the function that prepares a timer. */
#ifndef KT_HAVE_TP_hrtimer_init
KT_TP_MISSING(hrtimer_init);
#endif
#ifndef KT_HAVE_TP_hrtimer_setup
KT_TP_MISSING(hrtimer_setup);
#endif

#define CLOCK_MASK	31
#define MODE_MASK	255
#define MODE_BITS	8
#define CLOCK_BITS	5

/* The earliest time; how much later it may be is another matter. */
static s64 expires_of(const struct hrtimer *t)
{
	return ktime_to_ns(hrtimer_get_softexpires(t));
}

static void notrace probe_hrtimer_init(void *data, struct hrtimer *t,
				       clockid_t clock, enum hrtimer_mode mode)
{
	kt_probe_enter();
	KT_EVENT1(HRTIMER_INIT,
		  (clock & CLOCK_MASK) | (mode & MODE_MASK) << CLOCK_BITS,
		  kt_token(t));
	kt_probe_leave();
}

static __always_inline void hrtimer_starts(struct hrtimer *t,
					   enum hrtimer_mode mode,
					   bool was_armed)
{
	s64 expires = expires_of(t);

	kt_probe_enter();
	KT_EVENT3(HRTIMER_START,
		  (mode & MODE_MASK) | (u32)was_armed << MODE_BITS,
		  kt_token(t), (u32)expires, (u32)(expires >> 32));
	kt_probe_leave();
}

static void notrace probe_hrtimer_start(void *data, struct hrtimer *t,
					enum hrtimer_mode mode, bool was_armed)
{
	hrtimer_starts(t, mode, was_armed);
}

static void notrace probe_hrtimer_start2(void *data, struct hrtimer *t,
					 enum hrtimer_mode mode)
{
	hrtimer_starts(t, mode, false);
}

static __always_inline void expire_entry(struct hrtimer *t, ktime_t now)
{
	s64 late = ktime_to_ns(now) - expires_of(t);

	kt_probe_enter();
	KT_EVENT3(HRTIMER_EXPIRE_ENTRY, 0, kt_token(t),
		  kt_token_func((unsigned long)ACCESS_PRIVATE(t, function)),
		  (u32)clamp_t(s64, late, S32_MIN, S32_MAX));
	kt_probe_leave();
}

static void notrace probe_hrtimer_expire_entry(void *data, struct hrtimer *t,
					       ktime_t now)
{
	expire_entry(t, now);
}

/* Until 7.1. */
static void notrace probe_hrtimer_expire_entry_by_pointer(void *data,
							  struct hrtimer *t,
							  ktime_t *now)
{
	expire_entry(t, *now);
}

/* Its function may have freed it. */
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

struct kt_probe kt_probes_hrtimer[] = {
	{
		.name = "hrtimer_start",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL, probe_hrtimer_start2, hrtimer_start,
				      struct hrtimer *, enum hrtimer_mode),
			probe_hrtimer_start, hrtimer_start, struct hrtimer *,
			enum hrtimer_mode, bool),
		.events = { KTAPE_EV_HRTIMER_START },
	}, {
		.name = "hrtimer_expire_entry",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(NULL,
				      probe_hrtimer_expire_entry_by_pointer,
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
	{}
};
