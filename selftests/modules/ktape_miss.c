// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose probes miss a known number of hits: one in which as many threads sleep
 * as asked for, and one that is called from within another probe's handler.
 *
 * For guest/probes/t_kprobe_missed.c and guest/probes/t_probe_missed.sh.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/wait.h>

unsigned long ktape_sleeper(unsigned long n);
unsigned long ktape_outer(unsigned long n);
unsigned long ktape_inner(unsigned long n);

static DECLARE_WAIT_QUEUE_HEAD(queue);
static bool released;
static unsigned int inside; /* threads in ktape_sleeper() */
static atomic_t entered = ATOMIC_INIT(0);
static atomic_t running = ATOMIC_INIT(0);

noinline unsigned long ktape_sleeper(unsigned long n)
{
	if (atomic_inc_return(&entered) == READ_ONCE(inside))
		wake_up_all(&queue);
	wait_event(queue, READ_ONCE(released));
	return n;
}

static int call_sleeper(void *data)
{
	WARN_ON(ktape_sleeper((unsigned long)data) != (unsigned long)data);
	if (atomic_dec_and_test(&running))
		wake_up_all(&queue);
	return 0;
}

/* Return when all threads are inside the function. */
static int set_sleepers(const char *text, const struct kernel_param *kp)
{
	struct task_struct *task;
	unsigned int n;
	int ret = kstrtouint(text, 0, &n);

	if (ret || atomic_read(&running))
		return ret ? ret : -EBUSY;
	WRITE_ONCE(released, false);
	WRITE_ONCE(inside, n);
	atomic_set(&entered, 0);
	for (; n; n--) {
		atomic_inc(&running);
		task = kthread_run(call_sleeper, (void *)(unsigned long)n,
				   "ktape_sleeper");
		if (IS_ERR(task)) {
			atomic_dec(&running);
			return PTR_ERR(task);
		}
	}
	wait_event(queue, atomic_read(&entered) == READ_ONCE(inside));
	return 0;
}

/* Return when all threads have left it. */
static int set_wake(const char *text, const struct kernel_param *kp)
{
	WRITE_ONCE(released, true);
	wake_up_all(&queue);
	wait_event(queue, !atomic_read(&running));
	return 0;
}

noinline unsigned long ktape_inner(unsigned long n)
{
	barrier();
	return n + 1;
}

noinline unsigned long ktape_outer(unsigned long n)
{
	barrier();
	return n + 2;
}

static unsigned long sum;

#ifdef CONFIG_KPROBES
static int call_inner(struct kprobe *kp, struct pt_regs *regs)
{
	WRITE_ONCE(sum, ktape_inner(READ_ONCE(sum)));
	return 0;
}

static struct kprobe probe = {
	.symbol_name = "ktape_outer",
	.pre_handler = call_inner,
};

/* Call ktape_inner() so often within the handler of a probe at ktape_outer(). */
static int set_nested(const char *text, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(text, 0, &n);

	if (!ret)
		ret = register_kprobe(&probe);
	if (ret)
		return ret;
	for (; n; n--)
		WRITE_ONCE(sum, ktape_outer(READ_ONCE(sum)));
	unregister_kprobe(&probe);
	probe.addr = NULL;
	probe.flags = 0;
	return 0;
}
#else
static int set_nested(const char *text, const struct kernel_param *kp)
{
	return -ENODEV;
}
#endif

/* Call ktape_inner() so often by itself. */
static int set_alone(const char *text, const struct kernel_param *kp)
{
	unsigned int n;
	int ret = kstrtouint(text, 0, &n);

	for (; !ret && n; n--)
		WRITE_ONCE(sum, ktape_inner(READ_ONCE(sum)));
	return ret;
}

static const struct kernel_param_ops sleepers_ops = { .set = set_sleepers };
static const struct kernel_param_ops wake_ops = { .set = set_wake };
static const struct kernel_param_ops nested_ops = { .set = set_nested };
static const struct kernel_param_ops alone_ops = { .set = set_alone };

module_param_cb(sleepers, &sleepers_ops, NULL, 0200);
MODULE_PARM_DESC(sleepers, "let so many threads sleep in ktape_sleeper()");
module_param_cb(wake, &wake_ops, NULL, 0200);
MODULE_PARM_DESC(wake, "let them return");
module_param_cb(nested, &nested_ops, NULL, 0200);
MODULE_PARM_DESC(nested, "call ktape_inner() so often within a probe's handler");
module_param_cb(alone, &alone_ops, NULL, 0200);
MODULE_PARM_DESC(alone, "call ktape_inner() so often");

/* Without an exit function a module that has an init function would stay. */
static int __init miss_init(void)
{
	return 0;
}

static void __exit miss_exit(void)
{
	WRITE_ONCE(released, true);
	wake_up_all(&queue);
	wait_event(queue, !atomic_read(&running));
}

module_init(miss_init);
module_exit(miss_exit);

MODULE_DESCRIPTION("functions whose probes miss hits");
MODULE_LICENSE("GPL");
