// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emit while RCU is not watching the CPU, like code close to the idle state:
 * each form of event once per round, and a marker when RCU is watching again.
 *
 * For guest/names/t_emit.c.
 */
#include <linux/context_tracking.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include <ktape/kernel.h>

static int rounds = 1, unwatched;
module_param(rounds, int, 0444);
MODULE_PARM_DESC(rounds, "how often");
module_param(unwatched, int, 0444);
MODULE_PARM_DESC(unwatched, "rounds in which RCU did not watch");

/* Five events of class user, two exceptions. */
static void emit_each_form(void)
{
	const u32 words[] = { 1, 2 };

	ktape_mark(1, "unwatched");
	ktape_value(1, 5, NULL);
	ktape_isr_enter(1);
	ktape_user_event(1025, words, ARRAY_SIZE(words), NULL, 0);
	TraceEvent(KTAPE_TRACE_CODE(201, 0, 0, 1), 7);
	Trace1(_TRACE_SW_SEVERITY1, KTAPE_EXC_CODE(0x1234, 1), 7);
	TraceEvent(KTAPE_TRACE_CODE(_TRACE_EXC, 1, 0, 2),
		   KTAPE_EXC_CODE(0x1234, 2), 7);
}

static void emit_round(void)
{
	unsigned long flags;
	bool watching;

	local_irq_save(flags);
	ct_idle_enter();
	watching = rcu_is_watching();
	emit_each_form();
	ct_idle_exit();
	unwatched += !watching;
	ktape_mark(2, NULL);
	local_irq_restore(flags);
}

static int __init unwatched_init(void)
{
	int i;

	for (i = 0; i < rounds; i++)
		emit_round();
	return 0;
}
module_init(unwatched_init);

static void __exit unwatched_exit(void)
{
}
module_exit(unwatched_exit);

MODULE_DESCRIPTION("emits into ktape where RCU does not watch");
MODULE_LICENSE("GPL");
