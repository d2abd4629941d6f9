// SPDX-License-Identifier: GPL-2.0-only
/*
 * Not an example: emit in a task of each CPU and in interrupts that interrupt it; then one
 * event to a sink that emits within each event it is called for. ktape ends that recursion:
 * it counts the fifth event as lost.
 *
 * For guest/ring/t_counter.c and guest/names/t_emit.c.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <ktape/kernel.h>

#define TASKS	   300 /* events of the task of each CPU */
#define INTERRUPTS 300 /* events of interrupts of each CPU */

/* Opcodes that ktape does not use, by which the test tells the contexts apart. */
#define OP_TASK	     201
#define OP_INTERRUPT 202
#define OP_SINK	     203

static atomic_t in_tasks, in_interrupts, in_sinks;
static int torn;
module_param_named(in_tasks, in_tasks.counter, int, 0444);
MODULE_PARM_DESC(in_tasks, "events that tasks emitted");
module_param_named(in_interrupts, in_interrupts.counter, int, 0444);
MODULE_PARM_DESC(in_interrupts, "events that interrupts emitted");

module_param_named(in_sinks, in_sinks.counter, int, 0444);
MODULE_PARM_DESC(in_sinks, "events around and inside of a sink");
module_param(torn, int, 0444);
MODULE_PARM_DESC(torn, "events that changed while another was emitted");

/* All words are equal, so that a mixture of two records shows. */
static void emit_equal_words(u32 opcode, atomic_t *count)
{
	u32 n = (u32)atomic_inc_return(count) - 1;
	const u32 buf[] = { n, n, n, n, n, n, n, n };

	TraceEvent(KTAPE_TRACE_CODE(opcode, 0, 1, 7), n, n, n, n, n, n, n, buf,
		   sizeof(buf));
}

static void emit_in_interrupt(void *unused)
{
	emit_equal_words(OP_INTERRUPT, &in_interrupts);
}

static void tasks(struct work_struct *work)
{
	int i;

	for (i = 0; i < TASKS; i++)
		emit_equal_words(OP_TASK, &in_tasks);
}

static DEFINE_PER_CPU(struct work_struct, works);

/* Emit within the event that called, and check that this did not change its words. */
static void nest(struct ktape_sink *sink, const struct ktape_record *rec)
{
	const u32 *words = rec->blob, first = words[0];
	u32 i;

	emit_equal_words(OP_SINK, &in_sinks);
	for (i = 0; i < rec->size / sizeof(*words); i++)
		torn += words[i] != first;
}

static struct ktape_sink sink = { .owner = THIS_MODULE, .event = nest };

static int __init nest_init(void)
{
	int cpu, i;

	for_each_online_cpu(cpu) {
		INIT_WORK(per_cpu_ptr(&works, cpu), tasks);
		schedule_work_on(cpu, per_cpu_ptr(&works, cpu));
	}
	for (i = 0; i < INTERRUPTS; i++)
		on_each_cpu(emit_in_interrupt, NULL, 1);
	for_each_online_cpu(cpu)
		flush_work(per_cpu_ptr(&works, cpu));
	sink.mask[0] = BIT_ULL(KTAPE_EV_TRACE_EVENT);
	i = ktape_sink_register(&sink);
	if (i)
		return i;
	emit_equal_words(OP_SINK, &in_sinks);
	ktape_sink_unregister(&sink);
	return 0;
}
module_init(nest_init);

static void __exit nest_exit(void)
{
}
module_exit(nest_exit);

MODULE_DESCRIPTION("emits into ktape in contexts that nest");
MODULE_LICENSE("GPL");
