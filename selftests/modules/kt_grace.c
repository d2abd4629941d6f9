// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let no grace period of RCU end: a thread runs with preemption disabled until the test
 * says so, or for 10 seconds, which no watchdog minds.
 *
 * For guest/session/t_busy.c.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>

static unsigned int hold; /* 0: none; 1: requested; 2: none ends */
module_param(hold, uint, 0600);
MODULE_PARM_DESC(hold, "1: let no grace period end, reads 2 then; 0: let them end");

static struct task_struct *thread;

static int grace_main(void *arg)
{
	unsigned long end;

	while (!kthread_should_stop()) {
		schedule_timeout_interruptible(1);
		if (READ_ONCE(hold) != 1)
			continue;
		end = jiffies + 10 * HZ;
		preempt_disable();
		WRITE_ONCE(hold, 2);
		while (READ_ONCE(hold) && time_before(jiffies, end))
			cpu_relax();
		preempt_enable();
		WRITE_ONCE(hold, 0);
	}
	return 0;
}

static int __init kt_grace_init(void)
{
	thread = kthread_create(grace_main, NULL, "kt_grace");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* The tests run on CPU 0. */
	kthread_bind(thread, cpumask_last(cpu_online_mask));
	wake_up_process(thread);
	return 0;
}
module_init(kt_grace_init);

static void __exit kt_grace_exit(void)
{
	WRITE_ONCE(hold, 0);
	kthread_stop(thread);
}
module_exit(kt_grace_exit);

MODULE_DESCRIPTION("lets no grace period end");
MODULE_LICENSE("GPL");
