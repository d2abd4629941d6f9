// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emit one exception and then a given number of markers.
 *
 * For guest/ring/t_shed.c.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <ktape/kernel.h>

static unsigned long events = 10000000;
module_param(events, ulong, 0444);
MODULE_PARM_DESC(events, "how many markers (10 million)");

static int __init flood_init(void)
{
	unsigned long i;

	Trace1(_TRACE_SW_SEVERITY3, KTAPE_EXC_CODE(0x4711, 7), 42);
	for (i = 0; i < events; i++) {
		ktape_mark(7, NULL);
		if (i % 4096)
			continue;
		/* A test that was ended must not leave a module that holds ktape. */
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}
module_init(flood_init);
static void __exit flood_exit(void)
{
}
module_exit(flood_exit);
MODULE_DESCRIPTION("a flood of markers after one exception");
MODULE_LICENSE("GPL");
