// SPDX-License-Identifier: GPL-2.0-only
/*
 * The errors of kt_fire.ko (fire.h): simulate them without their damage by calling ktape's
 * notifier, or the probes of the tracepoint, by which the kernel would report them.
 *
 * For guest/probes/t_exception_kernel.c, which has the values that are passed here.
 */
#include <linux/edac.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <net/net_namespace.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>

#ifdef CONFIG_X86_MCE
#include <asm/mce.h>
#endif
#ifdef KT_HAVE_ERROR_REPORT
#include <trace/events/error_report.h>
#endif
#ifdef KT_HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif
#ifdef KT_HAVE_THERMAL
#include <linux/thermal.h>
#endif

#include "fire.h"

/* UML has no instruction_pointer_set(). */
static void set_instruction_pointer(struct pt_regs *regs, unsigned long to)
{
#ifdef CONFIG_UML
	instruction_pointer(regs) = to;
#else
	instruction_pointer_set(regs, to);
#endif
}

/* Call only ktape's notifier of a chain. */
static int call_ktape_notifier(struct notifier_block *nb, unsigned long event,
			       void *data)
{
	char name[KSYM_SYMBOL_LEN];

	for (; nb; nb = rcu_dereference_raw(nb->next)) {
		sprint_symbol(name, (unsigned long)nb->notifier_call);
		if (!strstr(name, "[ktape]"))
			continue;
		nb->notifier_call(nb, event, data);
		return 0;
	}
	return -ENOENT;
}

static int on_die(struct notifier_block *nb, unsigned long event, void *data)
{
	return NOTIFY_DONE;
}

/* The first notifier of its chain, from which all others follow. */
static struct notifier_block first_to_die = {
	.notifier_call = on_die,
	.priority = INT_MAX,
};

static int fire_error_die(void)
{
	static struct pt_regs regs; /* UML's are too large for the stack */
	struct die_args die = {
		.regs = &regs,
		.err = 0x77,
		.trapnr = 14,
		.str = "kt-oops at 0xffffffff81234567, 0x1234",
		.signr = 11,
	};

	set_instruction_pointer(&regs, (unsigned long)fire_error_die);
	return call_ktape_notifier(&first_to_die, DIE_OOPS, &die);
}

/* Not a death but a breakpoint. */
static int fire_error_trap(void)
{
	static struct pt_regs regs; /* UML's are too large for the stack */
	struct die_args die = { .regs = &regs, .str = "kt-trap" };

	return call_ktape_notifier(&first_to_die, DIE_OOPS + 1, &die);
}

static int fire_error_panic(void)
{
	return call_ktape_notifier(rcu_dereference_raw(panic_notifier_list.head),
				   0, "kt-panic");
}

static int fire_error_hang(void)
{
	return FIRE(sched_process_hang, (current), struct task_struct *);
}

#ifdef KT_HAVE_ERROR_REPORT
static int fire_error_warn(void)
{
	return FIRE(error_report_end,
		    ((enum error_detector)2, (unsigned long)fire_error_warn),
		    enum error_detector, unsigned long);
}

static int fire_error_kfence(void)
{
	return FIRE(error_report_end, (ERROR_DETECTOR_KFENCE, 0x1234),
		    enum error_detector, unsigned long);
}
#endif

static int fire_error_memory(void)
{
	return FIRE(mc_event,
		    (HW_EVENT_ERR_UNCORRECTED, "kt", "kt-dimm", 5, 2, 1, -1, 3,
		     (unsigned long)0x1122334455ULL, 6, 7, "detail"),
		    unsigned int, const char *, const char *, int, u8, s8, s8,
		    s8, unsigned long, u8, unsigned long, const char *);
}

/*
 * The fifth argument points to a structure that was renamed, so it is a void pointer here.
 * Older kernels do not pass the sixth, which a probe for them ignores.
 */
static int fire_error_pcie(void)
{
	return FIRE(aer_event, ("kt:00.0", 0x4000, 1, 0, NULL, "kt-bus"),
		    const char *, u32, u8, u8, void *, const char *);
}

#ifdef CONFIG_X86_MCE
static int fire_error_mce(void)
{
	static struct mce m = {
		.extcpu = 3,
		.bank = 4,
		.addr = 0x5566778899ULL,
		.status = MCI_STATUS_VAL | MCI_STATUS_UC | MCI_STATUS_PCC | 9,
	};

#ifdef KT_HAVE_MCE_HW_ERR
	static struct mce_hw_err err;

	err.m = m;
	return FIRE(mce_record, (&err), struct mce_hw_err *);
#else
	return FIRE(mce_record, (&m), struct mce *);
#endif
}
#endif

#ifdef KT_HAVE_THERMAL
static int fire_error_trip(void)
{
	static struct thermal_zone_device zone = {
		.id = 6,
		.temperature = 98765,
		.type = "kt-zone",
	};

	return FIRE(thermal_zone_trip, (&zone, 1, THERMAL_TRIP_CRITICAL),
		    struct thermal_zone_device *, int, enum thermal_trip_type);
}
#endif

#ifdef CONFIG_NET
static int fire_error_xmit(void)
{
	return FIRE(net_dev_xmit_timeout, (init_net.loopback_dev, 3),
		    struct net_device *, int);
}
#endif

/* ---- SCSI, whose tracepoints are in a module ------------------------------- */

static struct tracepoint *scsi_error, *scsi_timeout;

static int on_module(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *mod = ((struct tp_module *)data)->mod;
	struct tracepoint *tp;
	unsigned int i;

	for (i = 0; i < mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);
		if (!strcmp(tp->name, "scsi_dispatch_cmd_error"))
			scsi_error = event == MODULE_STATE_COMING ? tp : NULL;
		if (!strcmp(tp->name, "scsi_dispatch_cmd_timeout"))
			scsi_timeout = event == MODULE_STATE_COMING ? tp : NULL;
	}
	return NOTIFY_DONE;
}

static struct notifier_block modules = { .notifier_call = on_module };

static struct scsi_cmnd *scsi_command(void)
{
	static struct scsi_cmnd cmd = { .cmd_len = 6, .result = 0x30000 };
	static struct scsi_device device = { .channel = 1, .id = 2, .lun = 3 };
	static struct Scsi_Host host = { .host_no = 9 };
#ifdef KT_HAVE_SCSI_CDB_APART
	static unsigned char cdb[6];

	cmd.cmnd = cdb;
#endif
	memcpy(cmd.cmnd, "\x08kt-cd", 6);
	device.host = &host;
	cmd.device = &device;
	return &cmd;
}

static int fire_scsi(struct tracepoint *tp, bool timeout)
{
	struct tracepoint_func *f;

	if (!tp)
		return -ENOENT;
	preempt_disable_notrace();
	f = rcu_dereference_sched(tp->funcs);
	for (; f && f->func; f++) {
		if (timeout)
			((void (*)(void *, struct scsi_cmnd *))f->func)(
				f->data, scsi_command());
		else
			((void (*)(void *, struct scsi_cmnd *, int))f->func)(
				f->data, scsi_command(), 0x1055);
	}
	preempt_enable_notrace();
	return 0;
}

static int fire_error_scsi(void)
{
	return fire_scsi(scsi_error, false);
}

static int fire_error_scsi_timeout(void)
{
	return fire_scsi(scsi_timeout, true);
}

const struct fire fire_errors[] = { { "die", fire_error_die },
				    { "trap", fire_error_trap },
				    { "panic", fire_error_panic },
				    { "hang", fire_error_hang },
#ifdef KT_HAVE_ERROR_REPORT
				    { "warn", fire_error_warn },
				    { "kfence", fire_error_kfence },
#endif
				    { "memory", fire_error_memory },
				    { "pcie", fire_error_pcie },
#ifdef CONFIG_X86_MCE
				    { "mce", fire_error_mce },
#endif
#ifdef KT_HAVE_THERMAL
				    { "trip", fire_error_trip },
#endif
#ifdef CONFIG_NET
				    { "xmit", fire_error_xmit },
#endif
				    { "scsi_error", fire_error_scsi },
				    { "scsi_timeout", fire_error_scsi_timeout },
				    {} };

int fire_error_init(void)
{
	int ret = register_die_notifier(&first_to_die);

	if (ret)
		return ret;
	ret = register_tracepoint_module_notifier(&modules);
	if (ret)
		unregister_die_notifier(&first_to_die);
	return ret;
}

void fire_error_exit(void)
{
	unregister_tracepoint_module_notifier(&modules);
	unregister_die_notifier(&first_to_die);
}
