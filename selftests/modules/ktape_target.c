// SPDX-License-Identifier: GPL-2.0-only
/* A function to probe: known arguments and results, called as often as asked. */
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

unsigned long ktape_target(unsigned long a, unsigned long b, unsigned long c,
			   unsigned long d);

noinline unsigned long ktape_target(unsigned long a, unsigned long b,
				    unsigned long c, unsigned long d)
{
	barrier();
	return a + b + c + d;
}

/* The first argument numbers the calls; the others identify themselves. */
static int set_calls(const char *text, const struct kernel_param *kp)
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

static const struct kernel_param_ops call_ops = { .set = set_call };
static const struct kernel_param_ops calls_ops = { .set = set_calls };
static unsigned long total;

module_param_cb(calls, &calls_ops, &total, 0200);
MODULE_PARM_DESC(calls, "call it so many times");
module_param_cb(call, &call_ops, &total, 0200);
MODULE_PARM_DESC(call, "call it once with these four numbers (hex)");

MODULE_DESCRIPTION("a function to probe");
MODULE_LICENSE("GPL");
