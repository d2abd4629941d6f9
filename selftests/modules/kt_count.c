// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count events independently of ktape: probes at the tracepoints of five
 * classes, counted by class and CPU.
 *
 * /proc/kt_count has one line per CPU: its number, then the counts of the
 * classes.
 *
 * For guest/ring/t_counter.c and guest/session/t_rounds.c.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

enum { SCHED, IRQ, SOFTIRQ, SYSCALL, SIGNAL, CLASSES };

static const struct {
	const char *name;
	unsigned long class;
} points[] = {
	{ "sched_switch", SCHED },     { "sched_waking", SCHED },
	{ "sched_wakeup", SCHED },     { "irq_handler_entry", IRQ },
	{ "irq_handler_exit", IRQ },   { "softirq_raise", SOFTIRQ },
	{ "softirq_entry", SOFTIRQ },  { "softirq_exit", SOFTIRQ },
	{ "sys_enter", SYSCALL },      { "sys_exit", SYSCALL },
	{ "signal_generate", SIGNAL }, { "signal_deliver", SIGNAL },
};

struct counts {
	unsigned long n[CLASSES];
};

static DEFINE_PER_CPU(struct counts, counts);
static struct tracepoint *found[ARRAY_SIZE(points)];

/* The tracepoint's arguments follow and are ignored. */
static void notrace count_class(void *class)
{
	this_cpu_inc(counts.n[(unsigned long)class]);
}

static void find_point(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (!strcmp(tp->name, points[i].name))
			found[i] = tp;
}

static int show_counts(struct seq_file *m, void *unused)
{
	unsigned int cpu, i;

	for_each_possible_cpu(cpu) {
		seq_printf(m, "%u", cpu);
		for (i = 0; i < CLASSES; i++)
			seq_printf(m, " %lu", per_cpu(counts, cpu).n[i]);
		seq_putc(m, '\n');
	}
	return 0;
}

static void detach_points(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (found[i])
			tracepoint_probe_unregister(found[i], (void *)count_class,
						    (void *)points[i].class);
	tracepoint_synchronize_unregister();
}

static int __init count_init(void)
{
	unsigned int i;
	int ret;

	for_each_kernel_tracepoint(find_point, NULL)
		;
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		ret = found[i] ?
			      tracepoint_probe_register(found[i],
							(void *)count_class,
							(void *)points[i].class) :
			      -ENOENT;
		if (ret) {
			pr_err("kt_count: %s: %d\n", points[i].name, ret);
			/* detach_points() detaches what is in found[]. */
			while (i < ARRAY_SIZE(points))
				found[i++] = NULL;
			detach_points();
			return ret;
		}
	}
	if (!proc_create_single("kt_count", 0444, NULL, show_counts)) {
		detach_points();
		return -ENOMEM;
	}
	return 0;
}
module_init(count_init);

static void __exit count_exit(void)
{
	remove_proc_entry("kt_count", NULL);
	detach_points();
}
module_exit(count_exit);

MODULE_DESCRIPTION("counts tracepoints by class and CPU");
MODULE_LICENSE("GPL");
