// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stall a work item of the kernel in the middle: the next call of nsecs_to_jiffies() by a
 * work item of ktape does not return before the test says so.  A trigger that looks for silence
 * calls it after it has read when the last event matched, and before it fires.
 *
 * For guest/trigger/t_trigger_quiet.c.
 */
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait.h>

enum { IDLE, ARMED, STALLED };

static atomic_t state = ATOMIC_INIT(IDLE);
static DECLARE_WAIT_QUEUE_HEAD(queue);

/* The caller of nsecs_to_jiffies() calls this instead, in its own context. */
static unsigned long stalled_nsecs_to_jiffies(u64 n)
{
	wait_event(queue, atomic_read(&state) != STALLED);
	return nsecs_to_jiffies(n);
}

/* Is the function that was just entered called by ktape? */
static bool is_from_ktape(const struct pt_regs *regs)
{
	char text[KSYM_SYMBOL_LEN];

	sprint_symbol(text, *(unsigned long *)regs->sp);
	return strstr(text, "[ktape]");
}

static int on_call(struct kprobe *p, struct pt_regs *regs)
{
	if (!(current->flags & PF_WQ_WORKER) || atomic_read(&state) != ARMED ||
	    !is_from_ktape(regs) || atomic_cmpxchg(&state, ARMED, STALLED) != ARMED)
		return 0;
	regs->ip = (unsigned long)stalled_nsecs_to_jiffies;
	return 1; /* go on there */
}

static struct kprobe probe = {
	.symbol_name = "nsecs_to_jiffies",
	.pre_handler = on_call,
};

static int set_stall(const char *text, const struct kernel_param *kp)
{
	bool on;
	int ret = kstrtobool(text, &on);

	if (ret)
		return ret;
	atomic_set(&state, on ? ARMED : IDLE);
	wake_up_all(&queue);
	return 0;
}

static int get_stall(char *text, const struct kernel_param *kp)
{
	return scnprintf(text, PAGE_SIZE, "%d\n", atomic_read(&state));
}

static const struct kernel_param_ops stall_ops = { .set = set_stall,
						   .get = get_stall };

module_param_cb(stall, &stall_ops, NULL, 0600);
MODULE_PARM_DESC(stall,
		 "1: stall the next work item, 0: let it go on; reads 2 while one is stalled");

static int __init kt_stall_init(void)
{
	return register_kprobe(&probe);
}
module_init(kt_stall_init);

static void __exit kt_stall_exit(void)
{
	unregister_kprobe(&probe);
	atomic_set(&state, IDLE);
	wake_up_all(&queue);
	/* A work item that was stalled has left this module when it sleeps or ends. */
	synchronize_rcu_tasks();
}
module_exit(kt_stall_exit);

MODULE_DESCRIPTION("stalls a work item");
MODULE_LICENSE("GPL");
