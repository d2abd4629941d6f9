// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function to probe, called in NMIs that a CPU sends to itself, or in a task.
 * The kernel can replace its first instruction by a jump.
 *
 * For guest/probes/t_kprobe_nmi.c.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define SPINS 100000000UL /* to wait for an NMI, at most */

void kt_nmi_target(void);

/*
 * Without ftrace's call at its entry, which would be used for the probe.  The first
 * instruction has 5 bytes, as a jump.
 */
noinline notrace void kt_nmi_target(void)
{
	asm volatile("movl $0x12345678, %%eax" : : : "eax");
}

static DEFINE_PER_CPU(int, awaited);

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!__this_cpu_read(awaited))
		return NMI_DONE;
	kt_nmi_target();
	__this_cpu_write(awaited, 0);
	return NMI_HANDLED;
}

/* Send an NMI to this CPU. Return: 0, or -ETIMEDOUT if it has not come. */
static int send_one(void)
{
	unsigned long spins = SPINS;

	preempt_disable();
	__this_cpu_write(awaited, 1);
	apic->send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	while (READ_ONCE(*this_cpu_ptr(&awaited)) && spins--)
		cpu_relax();
	__this_cpu_write(awaited, 0);
	preempt_enable();
	/* The loop has counted below 0. */
	return spins == -1UL ? -ETIMEDOUT : 0;
}

static int set_nmis(const char *text, const struct kernel_param *kp)
{
	unsigned long n;
	int ret = kstrtoul(text, 0, &n);

	while (!ret && n--)
		ret = send_one();
	return ret;
}

static int call_nmi_target(const char *text, const struct kernel_param *kp)
{
	unsigned long n;
	int ret = kstrtoul(text, 0, &n);

	while (!ret && n--)
		kt_nmi_target();
	return ret;
}

/* Return what is at its entry, after an ENDBR instruction. */
static int get_begin(char *buffer, const struct kernel_param *kp)
{
	static const u8 mark[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const u8 *begin = (const u8 *)kt_nmi_target;

	/* objtool takes a known offset in a function for a jump into it. */
	OPTIMIZER_HIDE_VAR(begin);
	if (!memcmp(begin, mark, sizeof(mark)))
		begin += sizeof(mark);
	switch (READ_ONCE(*begin)) {
	case 0xe9:
		return sprintf(buffer, "jump\n");
	case 0xcc:
		return sprintf(buffer, "breakpoint\n");
	}
	return sprintf(buffer, "neither\n");
}

static const struct kernel_param_ops begin_ops = { .get = get_begin };
static const struct kernel_param_ops nmi_ops = { .set = set_nmis };
static const struct kernel_param_ops call_ops = { .set = call_nmi_target };

module_param_cb(nmis, &nmi_ops, NULL, 0200);
MODULE_PARM_DESC(nmis, "call it in so many NMIs of this CPU");
module_param_cb(calls, &call_ops, NULL, 0200);
MODULE_PARM_DESC(calls, "call it so many times");

module_param_cb(begin, &begin_ops, NULL, 0400);
MODULE_PARM_DESC(begin, "a jump or a breakpoint, if it has a probe");

static int __init nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "kt_nmi");
}
module_init(nmi_init);

static void __exit nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kt_nmi");
}
module_exit(nmi_exit);

MODULE_DESCRIPTION("a function to probe that is called in NMIs");
MODULE_LICENSE("GPL");
