// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function to probe: known arguments and results, called as often as asked, or below a
 * known number of calls of another function.
 *
 * For guest/probes/t_kprobe.c, t_probe.sh and t_stack.c, which expect the numbers here.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define BELOW_MAX 64

static bool reached; /* the thread of set_below() has called */

unsigned long ktape_target(unsigned long a, unsigned long b, unsigned long c,
			   unsigned long d);

noinline unsigned long ktape_target(unsigned long a, unsigned long b,
				    unsigned long c, unsigned long d)
{
	barrier();
	return a + b + c + d;
}

/* The first argument numbers the calls; the others identify themselves. */
static int call_target(const char *text, const struct kernel_param *kp)
{
	unsigned long i, n, sum = 0;
	int ret = kstrtoul(text, 0, &n);

	for (i = 0; !ret && i < n; i++)
		sum += ktape_target(i, (unsigned long)0x2222222222222222ULL,
				    0x3333, -4UL);
	WRITE_ONCE(*(unsigned long *)kp->arg, sum);
	return ret;
}

/* One call, with four numbers from the writer. */
static int set_call(const char *text, const struct kernel_param *kp)
{
	unsigned long a, b, c, d;

	if (sscanf(text, "%lx %lx %lx %lx", &a, &b, &c, &d) != 4)
		return -EINVAL;
	WRITE_ONCE(*(unsigned long *)kp->arg, ktape_target(a, b, c, d));
	return 0;
}

/* Call itself so often, then ktape_target(). */
static noinline unsigned long call_below(unsigned int calls)
{
	unsigned long sum = calls ? call_below(calls - 1) :
				    ktape_target(1, 2, 3, 4);

	barrier(); /* no jump: each call keeps its frame */
	return sum;
}

static int run_below(void *calls)
{
	call_below((unsigned long)calls);
	WRITE_ONCE(reached, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* One call in a kernel thread on CPU 0, whose stack is short. */
static int set_below(const char *text, const struct kernel_param *kp)
{
	struct task_struct *thread;
	unsigned long calls;
	int ret = kstrtoul(text, 0, &calls);

	if (ret)
		return ret;
	if (calls > BELOW_MAX)
		return -ERANGE;
	thread = kthread_create(run_below, (void *)calls, "kt_below");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	kthread_bind(thread, 0);
	wake_up_process(thread);
	/* A thread that is stopped before it runs does not call its function. */
	while (!READ_ONCE(reached))
		schedule_timeout_uninterruptible(1);
	WRITE_ONCE(reached, false);
	return kthread_stop(thread);
}

static const struct kernel_param_ops below_ops = { .set = set_below };
static const struct kernel_param_ops call_ops = { .set = set_call };
static const struct kernel_param_ops calls_ops = { .set = call_target };
static unsigned long total;

module_param_cb(calls, &calls_ops, &total, 0200);
MODULE_PARM_DESC(calls, "call it so many times");
module_param_cb(call, &call_ops, &total, 0200);
MODULE_PARM_DESC(call, "call it once with these four numbers (hex)");

module_param_cb(below, &below_ops, &total, 0200);
MODULE_PARM_DESC(below, "call it once below so many calls of one function");

MODULE_DESCRIPTION("a function to probe");
MODULE_LICENSE("GPL");
