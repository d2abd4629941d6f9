// SPDX-License-Identifier: GPL-2.0-only
/* Locks that have to be waited for. */
#include <linux/sched.h>
#include <trace/events/lock.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#ifdef KT_HAVE_CONTENTION

#define FLAGS_MASK	0xffU

static void notrace probe_contention_begin(void *data, void *lock,
					   unsigned int flags)
{
	kt_probe_enter();
	KT_EVENT1(CONTENTION_BEGIN, flags & FLAGS_MASK, kt_token(lock));
	kt_probe_leave();
}

static void notrace probe_contention_end(void *data, void *lock, int ret)
{
	kt_probe_enter();
	KT_EVENT2(CONTENTION_END, 0, kt_token(lock), ret);
	kt_probe_leave();
}

struct kt_probe kt_probes_lock[] = {
	KT_PROBE(contention_begin, CONTENTION_BEGIN, probe_contention_begin,
		    void *, unsigned int),
	KT_PROBE(contention_end, CONTENTION_END, probe_contention_end,
		    void *, int),
	{}
};

#else

struct kt_probe kt_probes_lock[] = {
	KT_PROBE_NONE(contention_begin, CONTENTION_BEGIN),
	KT_PROBE_NONE(contention_end, CONTENTION_END),
	{}
};

#endif
