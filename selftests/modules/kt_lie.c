// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let the kernel give wrong answers about its symbols: what sprint_symbol() returns for
 * one symbol is replaced, as if the kernel were linked in another way.
 *
 * For guest/probes/t_layout.c.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#define TEXT_MAX 128

static char *match = "-";
module_param(match, charp, 0444);
MODULE_PARM_DESC(match, "beginning of the answers that are replaced");

static char *lie = "?";
module_param(lie, charp, 0444);
MODULE_PARM_DESC(lie, "what is returned instead");

static atomic_t lies;
module_param_named(lies, lies.counter, int, 0444);
MODULE_PARM_DESC(lies, "answers that were replaced");

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	*(char **)ri->data = (char *)regs_get_kernel_argument(regs, 0);
	return 0;
}
NOKPROBE_SYMBOL(on_entry);

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	char *text = *(char **)ri->data;

	if (strncmp(text, match, strlen(match)))
		return 0;
	strscpy(text, lie, TEXT_MAX);
	regs_set_return_value(regs, strlen(text));
	atomic_inc(&lies);
	return 0;
}
NOKPROBE_SYMBOL(on_return);

static struct kretprobe probe = {
	.kp.symbol_name = "sprint_symbol",
	.entry_handler = on_entry,
	.handler = on_return,
	.data_size = sizeof(char *),
	.maxactive = 64,
};

static int __init lie_init(void)
{
	return register_kretprobe(&probe);
}
module_init(lie_init);

static void __exit lie_exit(void)
{
	unregister_kretprobe(&probe);
}
module_exit(lie_exit);

MODULE_DESCRIPTION("wrong answers about the kernel's symbols");
MODULE_LICENSE("GPL");
