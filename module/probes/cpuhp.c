// SPDX-License-Identifier: GPL-2.0-only
/* CPUs that come and go, step by step. */
#include <linux/cpuhotplug.h>
#include <linux/list.h>
#include <trace/events/cpuhp.h>

#include "event/event.h"
#include "internal.h"
#include "names/symbol.h"

#define CPU_MASK	0xfffU

static __always_inline void enter(unsigned int cpu, int target, int step,
				  unsigned long function)
{
	kt_probe_enter();
	KT_EVENT3(CPUHP_ENTER, cpu & CPU_MASK, target, step,
		  kt_token_func(function));
	kt_probe_leave();
}

static void notrace probe_cpuhp_enter(void *data, unsigned int cpu, int target,
				      int step, int (*fun)(unsigned int))
{
	enter(cpu, target, step, (unsigned long)fun);
}

/* Of a step with several instances. */
static void notrace probe_cpuhp_multi_enter(void *data, unsigned int cpu,
					    int target, int step,
					    int (*fun)(unsigned int,
						       struct hlist_node *),
					    struct hlist_node *node)
{
	enter(cpu, target, step, (unsigned long)fun);
}

static void notrace probe_cpuhp_exit(void *data, unsigned int cpu, int state,
				     int step, int ret)
{
	kt_probe_enter();
	KT_EVENT3(CPUHP_EXIT, cpu & CPU_MASK, state, step, ret);
	kt_probe_leave();
}

struct kt_probe kt_probes_cpuhp[] = {
	KT_PROBE(cpuhp_enter, CPUHP_ENTER, probe_cpuhp_enter, unsigned int,
		    int, int, int (*)(unsigned int)),
	KT_PROBE(cpuhp_multi_enter, CPUHP_ENTER, probe_cpuhp_multi_enter,
		    unsigned int, int, int,
		    int (*)(unsigned int, struct hlist_node *),
		    struct hlist_node *),
	KT_PROBE(cpuhp_exit, CPUHP_EXIT, probe_cpuhp_exit, unsigned int, int,
		    int, int),
	{}
};
