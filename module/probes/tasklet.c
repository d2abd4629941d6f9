// SPDX-License-Identifier: GPL-2.0-only
/* Tasklets: work of drivers within a soft interrupt. */
#include <linux/interrupt.h>
#include <trace/events/irq.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#ifndef KT_HAVE_TP_tasklet_entry
KT_TP_MISSING(tasklet_entry);
KT_TP_MISSING(tasklet_exit);
#endif

static void notrace probe_tasklet_entry(void *data, struct tasklet_struct *t,
					void *func)
{
	kt_probe_enter();
	KT_EVENT2(TASKLET_ENTRY, 0, kt_token(t),
		  kt_token_func((unsigned long)func));
	kt_probe_leave();
}

/* The tasklet may be gone. */
static void notrace probe_tasklet_exit(void *data, struct tasklet_struct *t,
				       void *func)
{
	kt_probe_enter();
	KT_EVENT2(TASKLET_EXIT, 0, kt_token(t),
		  kt_token_func((unsigned long)func));
	kt_probe_leave();
}

struct kt_probe kt_probes_tasklet[] = {
	KT_PROBE(tasklet_entry, TASKLET_ENTRY, probe_tasklet_entry,
		 struct tasklet_struct *, void *),
	KT_PROBE(tasklet_exit, TASKLET_EXIT, probe_tasklet_exit,
		 struct tasklet_struct *, void *),
	{}
};
