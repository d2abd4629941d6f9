// SPDX-License-Identifier: GPL-2.0-only
/*
 * An interrupt of no device: handlers are added by name, or with none, and it is
 * fired as often as asked.
 */
#include <linux/hardirq.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#define HANDLERS	4
#define NAME_SIZE	32

static int at;
static int irq;
static unsigned long fire_ns;
static unsigned int used;
static char names[HANDLERS][NAME_SIZE];

static irqreturn_t handle(int number, void *data)
{
	return IRQ_HANDLED;
}

/* "-": with no name, which is what a driver does that passes NULL. */
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
	ret = request_irq(irq, handle, IRQF_SHARED, name, names[used]);
	used += !ret;
	return ret;
}

static void free_handlers(void)
{
	while (used)
		free_irq(irq, names[--used]);
}

static int set_free(const char *text, const struct kernel_param *kp)
{
	free_handlers();
	return 0;
}

static int set_fire(const char *text, const struct kernel_param *kp)
{
	unsigned long n, i;
	int ret = kstrtoul(text, 0, &n);
	u64 begun = ktime_get_ns();

	for (i = 0; i < n && !ret; i++)
		ret = generic_handle_irq_safe(irq);
	fire_ns = (unsigned long)(ktime_get_ns() - begun);
	return ret;
}

static const struct kernel_param_ops add_ops = { .set = set_add };
static const struct kernel_param_ops free_ops = { .set = set_free };
static const struct kernel_param_ops fire_ops = { .set = set_fire };

module_param(at, int, 0444);
MODULE_PARM_DESC(at, "the number that it is to have, 0: any");
module_param(irq, int, 0444);
MODULE_PARM_DESC(irq, "its number");
module_param(fire_ns, ulong, 0444);
MODULE_PARM_DESC(fire_ns, "how long the last firing took");
module_param_cb(add, &add_ops, NULL, 0200);
MODULE_PARM_DESC(add, "request it under this name, - for none");
module_param_cb(free, &free_ops, NULL, 0200);
MODULE_PARM_DESC(free, "free all its handlers");
module_param_cb(fire, &fire_ops, NULL, 0200);
MODULE_PARM_DESC(fire, "let it come so many times");

static int __init kt_irq_init(void)
{
	irq = at ? irq_alloc_desc_at(at, NUMA_NO_NODE) :
		   irq_alloc_desc(NUMA_NO_NODE);
	if (irq < 0)
		return irq;
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_clear_status_flags(irq, IRQ_NOREQUEST);
	return 0;
}
module_init(kt_irq_init);

static void __exit kt_irq_exit(void)
{
	free_handlers();
	irq_free_desc(irq);
}
module_exit(kt_irq_exit);

MODULE_DESCRIPTION("an interrupt that is fired on demand");
MODULE_LICENSE("GPL");
