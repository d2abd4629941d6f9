// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print what the kernel prints when something is wrong: registers and addresses as an oops
 * shows them, a call stack, a warning.
 *
 * For guest/hostile/t_hostile_leak.c.
 */
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>

/* The lines of an oops on x86, with this thread's real addresses. */
static void print_oops(void)
{
	pr_alert("kt_print: unable to handle page fault for address: %px\n",
		 current);
	pr_alert("RIP: 0010:%px Code: 48 89 %px\n", print_oops, &init_task);
	pr_alert("RSP: 0018:%px EFLAGS: 00010246\n", task_stack_page(current));
	pr_alert("RAX: %px RBX: %016lx RCX: %px\n", current->mm, -1UL,
		 current->cred);
	pr_alert("CR2: %px\n", current->files);
}

static noinline void print_warning(void)
{
	WARN(1, "kt_print: this is a test");
}

static int __init print_init(void)
{
	print_oops();
	dump_stack();
	print_warning();
	return 0;
}
module_init(print_init);

static void __exit print_exit(void)
{
}
module_exit(print_exit);

MODULE_DESCRIPTION("lines of the log with addresses");
MODULE_LICENSE("GPL");
