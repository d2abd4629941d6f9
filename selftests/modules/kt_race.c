// SPDX-License-Identifier: GPL-2.0-only
/*
 * A data race: threads on two CPUs write a word with plain accesses (no READ_ONCE(),
 * WRITE_ONCE()), so many times that KCSAN watches some of the writes, and not so many that its
 * reports fill the log.
 *
 * For guest/hostile/t_race.sh.
 */
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#define THREADS 2
#define WRITES	10000 /* of each thread */
#define BURST	100

static int word;
module_param(word, int, 0444);

static struct task_struct *threads[THREADS];

/* In bursts, which leave the other CPU time for its own. */
static int race_write(void *unused)
{
	unsigned int left = WRITES, i;

	while (!kthread_should_stop()) {
		for (i = 0; i < BURST && left; i++, left--) {
			word++;
			barrier();
		}
		schedule_timeout_interruptible(1);
	}
	return 0;
}

static void race_stop(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (threads[i])
			kthread_stop(threads[i]);
}

static int __init race_init(void)
{
	unsigned int i, cpu = cpumask_first(cpu_online_mask);
	struct task_struct *t;

	for (i = 0; i < THREADS; i++) {
		t = cpu < nr_cpu_ids ?
			    kthread_create(race_write, NULL, "kt_race/%u", cpu) :
			    ERR_PTR(-ENODEV);
		if (IS_ERR(t)) {
			race_stop();
			return PTR_ERR(t);
		}
		kthread_bind(t, cpu);
		threads[i] = t;
		wake_up_process(t);
		cpu = cpumask_next(cpu, cpu_online_mask);
	}
	return 0;
}
module_init(race_init);

static void __exit race_exit(void)
{
	race_stop();
}
module_exit(race_exit);

MODULE_DESCRIPTION("two threads race for a word");
MODULE_LICENSE("GPL");
