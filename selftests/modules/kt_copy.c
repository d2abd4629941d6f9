// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make the nth copy from or to a program fail, as if the program's memory were gone.
 * It counts the copies of the thread that has written nth, from then on.  The kernel's
 * own fault injection needs a kernel that is built for it.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched.h>

/* An address of a program at which nothing is mapped. */
#define NOWHERE		8UL

static pid_t victim;
static int nth;

/* Copies of one thread only, so plain words do. */
static bool is_nth(void)
{
	return current->pid == READ_ONCE(victim) && nth > 0 && --nth == 0;
}

static int on_copy_from(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth())
		regs->si = NOWHERE;
	return 0;
}

static int on_copy_to(struct kprobe *p, struct pt_regs *regs)
{
	if (is_nth())
		regs->di = NOWHERE;
	return 0;
}

static struct kprobe from = {
	.symbol_name = "_copy_from_user",
	.pre_handler = on_copy_from,
};

static struct kprobe to = {
	.symbol_name = "_copy_to_user",
	.pre_handler = on_copy_to,
};

static int set_nth(const char *text, const struct kernel_param *kp)
{
	int n, ret = kstrtoint(text, 0, &n);

	if (ret)
		return ret;
	nth = n;
	WRITE_ONCE(victim, current->pid);
	return 0;
}

static int get_nth(char *text, const struct kernel_param *kp)
{
	return scnprintf(text, PAGE_SIZE, "%d\n", nth);
}

static const struct kernel_param_ops nth_ops = { .set = set_nth, .get = get_nth };

module_param_cb(nth, &nth_ops, NULL, 0600);
MODULE_PARM_DESC(nth, "which copy of this thread fails; reads how many are left, 0: it has failed");

static int __init kt_copy_init(void)
{
	int ret = register_kprobe(&from);

	if (ret)
		return ret;
	ret = register_kprobe(&to);
	if (ret)
		unregister_kprobe(&from);
	return ret;
}
module_init(kt_copy_init);

static void __exit kt_copy_exit(void)
{
	unregister_kprobe(&to);
	unregister_kprobe(&from);
}
module_exit(kt_copy_exit);

MODULE_DESCRIPTION("makes copies from and to programs fail");
MODULE_LICENSE("GPL");
