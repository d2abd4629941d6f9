// SPDX-License-Identifier: GPL-2.0-only
/*
 * An interrupt without a device: handlers are added with a name or without one,
 * and it is fired as often as asked. On request a second interrupt, with its
 * own handler and number, is fired alternately. The module counts how often
 * ktape notes a name.
 *
 * For guest/probes/t_irq_names.c and guest/command/t_cookbook.sh.
 */
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#define HANDLERS  4 /* at most, of the first interrupt */
#define NAME_SIZE 32

static int at;
static int irq;
static int other;
static bool alone;
static long notes;
static bool is_other_used;
static unsigned int used;
static char names[HANDLERS][NAME_SIZE];

static irqreturn_t handle_interrupt(int number, void *data)
{
	return IRQ_HANDLED;
}

/* Add a handler. "-": no name, like a driver that passes NULL. */
static int set_add(const char *text, const struct kernel_param *kp)
{
	const char *name = NULL;
	int ret;

	if (used == HANDLERS)
		return -ENOSPC;
	if (strcmp(text, "-") && strcmp(text, "-\n")) {
		strscpy(names[used], text, NAME_SIZE);
		name = strim(names[used]);
	}
	ret = request_irq(irq, handle_interrupt, alone ? 0 : IRQF_SHARED, name,
			  names[used]);
	used += !ret;
	if (ret || !other || is_other_used)
		return ret;
	ret = request_irq(other, handle_interrupt, 0, "kt-other", NULL);
	is_other_used = !ret;
	return ret;
}

static void free_handlers(void)
{
	if (is_other_used)
		free_irq(other, NULL);
	is_other_used = false;
	while (used)
		free_irq(irq, names[--used]);
}

static int set_free(const char *text, const struct kernel_param *kp)
{
	free_handlers();
	return 0;
}

static int fire_interrupts(const char *text, const struct kernel_param *kp)
{
	unsigned long n, i;
	int ret = kstrtoul(text, 0, &n);

	for (i = 0; i < n && !ret; i++) {
		ret = generic_handle_irq_safe(irq);
		if (is_other_used && !ret)
			ret = generic_handle_irq_safe(other);
	}
	return ret;
}

static const struct kernel_param_ops add_ops = { .set = set_add };
static const struct kernel_param_ops free_ops = { .set = set_free };
static const struct kernel_param_ops fire_ops = { .set = fire_interrupts };

module_param(at, int, 0444);
MODULE_PARM_DESC(at, "the number that it is to have, 0: any");
module_param(irq, int, 0444);
MODULE_PARM_DESC(irq, "its number");
module_param(other, int, 0444);
MODULE_PARM_DESC(other, "the number of another one, 0: there is none");
module_param(alone, bool, 0444);
MODULE_PARM_DESC(alone, "its handler does not share it");
module_param(notes, long, 0444);
MODULE_PARM_DESC(notes, "calls of kt_name_note(), -1: they cannot be counted");
module_param_cb(add, &add_ops, NULL, 0200);
MODULE_PARM_DESC(add, "request it under this name, - for none");
module_param_cb(free, &free_ops, NULL, 0200);
MODULE_PARM_DESC(free, "free all its handlers");
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "let it come so many times");

#ifdef CONFIG_KPROBES
static int count_note(struct kprobe *p, struct pt_regs *regs)
{
	notes++;
	return 0;
}

static struct kprobe note_probe = {
	.symbol_name = "kt_name_note",
	.pre_handler = count_note,
};

static bool has_note_probe;

static void count_notes(void)
{
	has_note_probe = !register_kprobe(&note_probe);
	if (!has_note_probe)
		notes = -1;
}

static void count_no_notes(void)
{
	if (has_note_probe)
		unregister_kprobe(&note_probe);
}
#else
static void count_notes(void)
{
	notes = -1;
}

static void count_no_notes(void)
{
}
#endif

/*
 * Make an interrupt that can be requested, with this number or, for 0, any. Return: its
 * number, or a negative errno.
 */
static int make_interrupt(int number)
{
	int ret = number ? irq_alloc_desc_at(number, NUMA_NO_NODE) :
			   irq_alloc_desc(NUMA_NO_NODE);

	if (ret < 0)
		return ret;
	irq_set_chip_and_handler(ret, &dummy_irq_chip, handle_simple_irq);
	irq_clear_status_flags(ret, IRQ_NOREQUEST);
	return ret;
}

static int __init kt_irq_module_init(void)
{
	int ret = other ? make_interrupt(other) : 0;

	if (ret < 0)
		return ret;
	irq = make_interrupt(at);
	if (irq < 0) {
		if (other)
			irq_free_desc(other);
		return irq;
	}
	count_notes();
	return 0;
}
module_init(kt_irq_module_init);

static void __exit kt_irq_module_exit(void)
{
	count_no_notes();
	free_handlers();
	irq_free_desc(irq);
	if (other)
		irq_free_desc(other);
}
module_exit(kt_irq_module_exit);

MODULE_DESCRIPTION("an interrupt that is fired on demand");
MODULE_LICENSE("GPL");
