// SPDX-License-Identifier: GPL-2.0-only
/*
 * Emit numbered user events in tasks, in softirqs and in interrupts of all CPUs at the
 * same time, so that they nest.  Each CPU and context counts for itself, and each event
 * has a checksum, so a reader knows whether it has all of them.
 *
 * For guest/hostile/t_hostile_nest.c.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/wait.h>

#include <ktape/kernel.h>

#define STORM_ID 0x5707
#define LEVELS	 3		       /* task, softirq, interrupt */
#define PERIOD	 (100 * NSEC_PER_USEC) /* of interrupts */

/**
 * struct storm - one CPU
 * @seq: number of events so far, by level
 * @emits: the task emits at the moment
 * @nested: interrupts that came meanwhile
 * @ticks: interrupts to come: not more than a ring has room for, however slow the
 *	machine is
 * @timer: emits in interrupts
 * @tasklet: emits in softirqs
 * @thread: emits as a task
 */
struct storm {
	u64 seq[LEVELS];
	bool emits;
	u64 nested;
	unsigned long ticks;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct task_struct *thread;
};

static DEFINE_PER_CPU(struct storm, storms);
static atomic_t running;
static DECLARE_WAIT_QUEUE_HEAD(ended);
static unsigned long number; /* events of each task in a run */

/* Events of one level do not nest in each other, so its number is a plain word. */
static void emit_level_event(struct storm *s, u32 level)
{
	u64 n = s->seq[level]++;
	const u32 args[] = { level, (u32)n, (u32)(n >> 32),
			     hash_32((u32)n ^ level, 32) };

	ktape_user_event(STORM_ID, args, ARRAY_SIZE(args), NULL, 0);
}

static void on_softirq(unsigned long arg)
{
	struct storm *s = (struct storm *)arg;
	int i;

	for (i = 0; i < 3; i++)
		emit_level_event(s, 1);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	struct storm *s = container_of(timer, struct storm, timer);
	u64 i, n = 1 + s->seq[2] % 4;

	s->nested += READ_ONCE(s->emits);
	for (i = 0; i < n; i++)
		emit_level_event(s, 2);
	tasklet_schedule(&s->tasklet);
	if (!s->ticks--)
		return HRTIMER_NORESTART;
	/* Not a period after the last one: the thread is to get on. */
	hrtimer_set_expires(timer, ktime_add_ns(ktime_get(), PERIOD));
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	struct storm *s = this_cpu_ptr(&storms);

	/* Each emits up to 4 events, and 3 in a softirq. */
	s->ticks = number / 8;
	hrtimer_start(&s->timer, ns_to_ktime(PERIOD), HRTIMER_MODE_REL_PINNED);
}

static int storm_main(void *arg)
{
	struct storm *s = arg;
	unsigned long i;

	for (i = 0; i < number; i++) {
		WRITE_ONCE(s->emits, true);
		emit_level_event(s, 0);
		WRITE_ONCE(s->emits, false);
		if (i % 256 == 0)
			cond_resched();
	}
	if (atomic_dec_and_test(&running))
		wake_up(&ended);
	return 0;
}

/*
 * Emit @number events in a task of each CPU, and interrupt the CPUs until all these tasks have
 * ended, or @ticks interrupts have come.  If a task cannot be made, the others still run.
 */
static int set_run(const char *text, const struct kernel_param *kp)
{
	int ret = kstrtoul(text, 0, &number), cpu;

	if (ret)
		return ret;
	atomic_set(&running, 1);
	for_each_online_cpu(cpu) {
		struct storm *s = per_cpu_ptr(&storms, cpu);

		s->thread = kthread_create(storm_main, s, "storm/%d", cpu);
		if (IS_ERR(s->thread)) {
			ret = PTR_ERR(s->thread);
			s->thread = NULL;
			break;
		}
		get_task_struct(s->thread);
		kthread_bind(s->thread, cpu);
		atomic_inc(&running);
		wake_up_process(s->thread);
	}
	on_each_cpu(start_timer, NULL, 1);
	if (!atomic_dec_and_test(&running))
		wait_event(ended, !atomic_read(&running));
	for_each_possible_cpu(cpu) {
		struct storm *s = per_cpu_ptr(&storms, cpu);

		hrtimer_cancel(&s->timer);
		tasklet_kill(&s->tasklet);
		if (!s->thread)
			continue;
		/* It may still be in the last lines of this module. */
		kthread_stop(s->thread);
		put_task_struct(s->thread);
		s->thread = NULL;
	}
	return ret;
}

/* Print for each CPU: its number, the events by level, and the nested interrupts. */
static int get_counts(char *to, const struct kernel_param *kp)
{
	int cpu, n = 0;

	for_each_online_cpu(cpu) {
		const struct storm *s = per_cpu_ptr(&storms, cpu);

		n += scnprintf(to + n, PAGE_SIZE - n, "%d %llu %llu %llu %llu\n",
			       cpu, s->seq[0], s->seq[1], s->seq[2], s->nested);
	}
	return n;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
static const struct kernel_param_ops counts_ops = { .get = get_counts };

module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "emit so many events in a task of each CPU, and in interrupts");
module_param_cb(counts, &counts_ops, NULL, 0444);
MODULE_PARM_DESC(counts,
		 "CPU, events of tasks, softirqs, interrupts, nested interrupts");

static int __init storm_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct storm *s = per_cpu_ptr(&storms, cpu);

		tasklet_init(&s->tasklet, on_softirq, (unsigned long)s);
#ifdef KT_HAVE_HRTIMER_SETUP
		hrtimer_setup(&s->timer, on_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED);
#else
		hrtimer_init(&s->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
		s->timer.function = on_timer;
#endif
	}
	return 0;
}
module_init(storm_init);

static void __exit storm_exit(void)
{
}
module_exit(storm_exit);

MODULE_DESCRIPTION("numbered events in tasks, softirqs and interrupts");
MODULE_LICENSE("GPL");
