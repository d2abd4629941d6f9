// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions that the kernel raises: out of memory, hung tasks, hardware errors,
 * failed requests of block and SCSI devices, die, panic and so on.
 *
 * Most come from tracepoints, die and panic from notifiers.  The table of
 * exceptions in uapi/README.md says which arguments and text each one has.
 * Exceptions that programs and other modules raise are in emit/emit.c.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/edac.h>
#include <linux/kdebug.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>

struct aer_header_log_regs;
struct mce_hw_err;
struct pcie_tlp_log;

#include <ras/ras_event.h>
#include <trace/events/block.h>
#include <trace/events/net.h>
#include <trace/events/oom.h>
#include <trace/events/sched.h>
#include <trace/events/scsi.h>

#ifdef CONFIG_X86_MCE
#include <asm/mce.h>
#include <trace/events/mce.h>
#endif
#ifdef KT_HAVE_ERROR_REPORT
#include <trace/events/error_report.h>
#endif
#ifdef KT_HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

#ifdef KT_HAVE_THERMAL
#include <trace/events/thermal.h>
#endif

#include "emit/emit.h"
#include "event/event.h"
#include "internal.h"

/*
 * Raise an exception.  @text ends in NUL; NULL: the exception has no text.  kt_exception_of()
 * disables preemption itself; only callers of kt_token_func() do so before, because that
 * function needs it, too.
 */
static noinline void exception_raise_of(u32 severity, u32 code, const u32 *args,
					unsigned int nargs, const char *text,
					struct task_struct *other)
{
	kt_exception_of(severity, code, args, nargs, text,
			text ? strnlen(text, KT_TEXT_MAX) : 0, text, other);
}

static void exception_raise(u32 severity, u32 code, const u32 *args,
			    unsigned int nargs, const char *text)
{
	exception_raise_of(severity, code, args, nargs, text, NULL);
}

/* ---- the kernel ---------------------------------------------------------- */

static void notrace probe_mark_victim(void *data, struct task_struct *p, uid_t uid)
{
	const u32 args[] = { p->pid, uid };

	exception_raise_of(KTAPE_SW_SEVERITY2, KTAPE_EXC_OOM, args,
			   ARRAY_SIZE(args), p->comm, p);
}

/* Older kernels pass only the pid: the uid is not known.  The thread may have exited since. */
static void notrace probe_mark_victim_pid(void *data, int pid)
{
	const u32 args[] = { pid, U32_MAX };

	rcu_read_lock();
	exception_raise_of(KTAPE_SW_SEVERITY2, KTAPE_EXC_OOM, args,
			   ARRAY_SIZE(args), NULL,
			   pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID));
	rcu_read_unlock();
}

#ifdef CONFIG_DETECT_HUNG_TASK
static void notrace probe_sched_process_hang(void *data, struct task_struct *p)
{
	const u32 args[] = { p->pid };

	exception_raise_of(KTAPE_SW_SEVERITY2, KTAPE_EXC_HANG, args,
			   ARRAY_SIZE(args), p->comm, p);
}
#endif

#ifdef KT_HAVE_ERROR_REPORT
#define DETECTOR_WARN 2 /* enum error_detector of older kernels lacks it */

/* @id: of a WARN the address of its code, of other detectors an address of data. */
static void notrace probe_error_report_end(void *data, enum error_detector detector,
					   unsigned long id)
{
	u32 token;

	kt_probe_enter();
	token = (u32)detector == DETECTOR_WARN ? kt_token_func(id) :
						 kt_token((const void *)id);
	kt_exception(KTAPE_SW_SEVERITY2,
		     KTAPE_EXC_CODE(KTAPE_MAJOR_REPORT, detector), &token, 1,
		     NULL, 0, false);
	kt_probe_leave();
}
#endif

/* ---- hardware ------------------------------------------------------------ */

static u32 mc_severity(unsigned int type)
{
	switch (type) {
	case HW_EVENT_ERR_INFO:
		return KTAPE_HW_SEVERITY0;
	case HW_EVENT_ERR_CORRECTED:
		return KTAPE_HW_SEVERITY1;
	case HW_EVENT_ERR_FATAL:
		return KTAPE_HW_SEVERITY3;
	default:
		return KTAPE_HW_SEVERITY2;
	}
}

static void notrace probe_mc_event(void *data, const unsigned int type,
				   const char *msg, const char *label,
				   const int count, const u8 controller,
				   const s8 top, const s8 mid, const s8 low,
				   unsigned long address, const u8 grain,
				   unsigned long syndrome, const char *detail)
{
	const u32 args[] = {
		type,
		count,
		controller,
		(u8)top | (u8)mid << 8 | (u8)low << 16,
		kt_token_page(address >> PAGE_SHIFT),
		offset_in_page(address),
	};

	exception_raise(mc_severity(type), KTAPE_EXC_MEMORY, args,
			ARRAY_SIZE(args), label);
}

/* Severities by AER_NONFATAL and so on of linux/aer.h, a header that has moved. */
static const u32 aer_severity[] = {
	KTAPE_HW_SEVERITY2, /* not fatal */
	KTAPE_HW_SEVERITY3, /* fatal */
	KTAPE_HW_SEVERITY1, /* correctable */
};

static void exception_raise_aer(const char *device, u32 status, u8 severity)
{
	exception_raise(severity < ARRAY_SIZE(aer_severity) ?
				aer_severity[severity] :
				KTAPE_HW_SEVERITY2,
			KTAPE_EXC_PCIE, &status, 1, device);
}

static void notrace probe_aer_event(void *data, const char *device,
				    const u32 status, const u8 severity,
				    const u8 valid, struct pcie_tlp_log *tlp)
{
	exception_raise_aer(device, status, severity);
}

/* Newer kernels also pass the name of the bus, which may be CXL. */
static void notrace probe_aer_event_bus(void *data, const char *device,
					const u32 status, const u8 severity,
					const u8 valid, struct pcie_tlp_log *tlp,
					const char *bus)
{
	exception_raise_aer(device, status, severity);
}

static void notrace probe_aer_event_regs(void *data, const char *device,
					 const u32 status, const u8 severity,
					 const u8 valid,
					 struct aer_header_log_regs *tlp)
{
	exception_raise_aer(device, status, severity);
}

#ifdef CONFIG_X86_MCE
static __always_inline void exception_raise_mce(const struct mce *m)
{
	const u32 args[] = {
		m->extcpu,
		m->bank,
		(u32)m->status,
		(u32)(m->status >> 32),
		kt_token_page(m->addr >> PAGE_SHIFT),
		offset_in_page(m->addr),
	};
	u32 severity = KTAPE_HW_SEVERITY1;

	if (m->status & MCI_STATUS_UC)
		severity = m->status & MCI_STATUS_PCC ? KTAPE_HW_SEVERITY3 :
							KTAPE_HW_SEVERITY2;
	kt_exception(severity, KTAPE_EXC_MACHINE_CHECK, args, ARRAY_SIZE(args),
		     NULL, 0, false);
}

#ifdef KT_HAVE_MCE_HW_ERR
static void notrace probe_mce_record(void *data, struct mce_hw_err *err)
{
	exception_raise_mce(&err->m);
}

#define MCE_RECORD_FUNC \
	KT_PROBE_FUNC(NULL, probe_mce_record, mce_record, struct mce_hw_err *)
#else
static void notrace probe_mce_record(void *data, struct mce *m)
{
	exception_raise_mce(m);
}

#define MCE_RECORD_FUNC \
	KT_PROBE_FUNC(NULL, probe_mce_record, mce_record, struct mce *)
#endif
#endif /* CONFIG_X86_MCE */

#ifdef KT_HAVE_THERMAL
static void notrace probe_thermal_zone_trip(void *data,
					    struct thermal_zone_device *tz,
					    int trip, enum thermal_trip_type type)
{
	const u32 args[] = { tz->id, trip, type, tz->temperature };
	u32 severity = KTAPE_HW_SEVERITY0;

	if (type == THERMAL_TRIP_HOT)
		severity = KTAPE_HW_SEVERITY1;
	else if (type == THERMAL_TRIP_CRITICAL)
		severity = KTAPE_HW_SEVERITY3;
	exception_raise(severity, KTAPE_EXC_TRIP, args, ARRAY_SIZE(args), tz->type);
}
#endif

/* ---- devices ------------------------------------------------------------- */

#ifdef KT_HAVE_BLOCK_RQ_ERROR
static void notrace probe_block_rq_error(void *data, struct request *rq,
					 blk_status_t status, unsigned int bytes)
{
	struct gendisk *disk = kt_rq_disk(rq);
	u64 sector = blk_rq_is_passthrough(rq) ? 0 : blk_rq_pos(rq);
	const u32 args[] = {
		disk ? disk_devt(disk) : 0, (u32)sector,
		(u32)(sector >> 32),	    bytes,
		(__force u32)req_op(rq),    (__force u32)status,
	};

	kt_exception(KTAPE_HW_SEVERITY1, KTAPE_EXC_BLOCK, args,
		     ARRAY_SIZE(args), NULL, 0, false);
}
#endif

static __always_inline void exception_raise_scsi(u32 severity, u32 code,
						 struct scsi_cmnd *cmd, u32 result)
{
	const struct scsi_device *device = cmd->device;
	const u32 args[] = { device->host->host_no, device->channel, device->id,
			     (u32)device->lun, result };

	kt_exception(severity, code, args, ARRAY_SIZE(args), cmd->cmnd,
		     cmd->cmd_len, true);
}

static void notrace probe_scsi_dispatch_cmd_error(void *data,
						  struct scsi_cmnd *cmd, int result)
{
	exception_raise_scsi(KTAPE_HW_SEVERITY1, KTAPE_EXC_SCSI_ERROR, cmd, result);
}

static void notrace probe_scsi_dispatch_cmd_timeout(void *data, struct scsi_cmnd *cmd)
{
	exception_raise_scsi(KTAPE_HW_SEVERITY2, KTAPE_EXC_SCSI_TIMEOUT, cmd,
			     cmd->result);
}

static void notrace probe_net_dev_xmit_timeout(void *data,
					       struct net_device *dev, int queue)
{
	const u32 args[] = { kt_netdev_id(dev), queue };

	exception_raise(KTAPE_HW_SEVERITY2, KTAPE_EXC_XMIT_TIMEOUT, args,
			ARRAY_SIZE(args), dev->name);
}

/* ---- die and panic ------------------------------------------------------- */

#define DEATH_TEXT     256 /* bytes of a text that are recorded, at most */
#define ADDRESS_DIGITS 8   /* a number with so many digits can be an address */

/*
 * Copy a text without its large hexadecimal numbers: readers may not see the addresses
 * that texts of the kernel have ("maybe for address 0xffff..."), and the records of an
 * oops have them as tokens.  Return: its length.
 */
static size_t text_hide_addresses(char *to, size_t room, const char *from)
{
	size_t length = strnlen(from, room), begin, end;

	memcpy(to, from, length);
	for (begin = 0; begin < length; begin = end + 1) {
		for (end = begin; end < length && isxdigit(to[end]); end++)
			;
		/* Digits at the end of the room may be the begin of a longer number. */
		if (end - begin >= ADDRESS_DIGITS || (end == room && end > begin))
			memset(to + begin, '*', end - begin);
	}
	return length;
}

static void exception_report_death(u32 code, const u32 *args,
				   unsigned int nargs, const char *text)
{
	char shown[DEATH_TEXT];
	size_t length = text ? text_hide_addresses(shown, sizeof(shown), text) : 0;

	kt_exception(KTAPE_SW_SEVERITY3, code, args, nargs, text ? shown : NULL,
		     length, text);
}

/* The die chain is also called for breakpoints and traps: take only an oops. */
static int exception_on_die(struct notifier_block *nb, unsigned long event,
			    void *data)
{
	const struct die_args *die = data;
	u32 args[4] = {};

	if (event != DIE_OOPS)
		return NOTIFY_DONE;
	kt_probe_enter();
	if (die->regs)
		args[0] = kt_token_func(instruction_pointer(die->regs));
	args[1] = die->trapnr;
	args[2] = die->err;
	args[3] = die->signr;
	exception_report_death(KTAPE_EXC_DIE, args, ARRAY_SIZE(args), die->str);
	kt_probe_leave();
	return NOTIFY_DONE;
}

static int exception_on_panic(struct notifier_block *nb, unsigned long event,
			      void *data)
{
	exception_report_death(KTAPE_EXC_PANIC, NULL, 0, data);
	return NOTIFY_DONE;
}

static struct notifier_block die_notifier = {
	.notifier_call = exception_on_die,
};

static struct notifier_block panic_notifier = {
	.notifier_call = exception_on_panic,
};

/**
 * kt_die_init() - Register the notifiers of oops and panic
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_die_init(void)
{
	int ret = register_die_notifier(&die_notifier);

	if (ret)
		return ret;
	ret = atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	if (ret)
		goto err_die;
	return 0;

err_die:
	unregister_die_notifier(&die_notifier);
	return ret;
}

/**
 * kt_die_exit() - Unregister the notifiers of oops and panic
 *
 * Context: module unload, may sleep.
 */
void kt_die_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_notifier);
	unregister_die_notifier(&die_notifier);
}

/* ---- table --------------------------------------------------------------- */

#define AER const char *, const u32, const u8, const u8

/*
 * The prototypes of some tracepoints differ between kernels.  KT_PROBE_FUNC() is its second
 * argument, a callback, if this kernel has the prototype that follows; else its first one, which is
 * the same for another prototype.  NULL: this kernel has none of them.
 */
struct kt_probe kt_probes_exception[] = {
	{
		.name = "mark_victim",
		.func = KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_mark_victim_pid,
						    mark_victim, int),
				      probe_mark_victim, mark_victim,
				      struct task_struct *, uid_t),
		.events = { KTAPE_EV_EXCEPTION },
	},
	{
		.name = "aer_event",
		.func = KT_PROBE_FUNC(
			KT_PROBE_FUNC(KT_PROBE_FUNC(NULL, probe_aer_event_regs,
						    aer_event, AER,
						    struct aer_header_log_regs *),
				      probe_aer_event, aer_event, AER,
				      struct pcie_tlp_log *),
			probe_aer_event_bus, aer_event, AER,
			struct pcie_tlp_log *, const char *),
		.events = { KTAPE_EV_EXCEPTION },
	},
	KT_PROBE(mc_event, EXCEPTION, probe_mc_event, unsigned int,
		 const char *, const char *, int, u8, s8, s8, s8, unsigned long,
		 u8, unsigned long, const char *),
#ifdef CONFIG_X86_MCE
	{
		.name = "mce_record",
		.func = MCE_RECORD_FUNC,
		.events = { KTAPE_EV_EXCEPTION },
	},
#else
	KT_PROBE_NONE(mce_record, EXCEPTION),
#endif
#ifdef CONFIG_DETECT_HUNG_TASK
	KT_PROBE(sched_process_hang, EXCEPTION, probe_sched_process_hang,
		 struct task_struct *),
#else
	KT_PROBE_NONE(sched_process_hang, EXCEPTION),
#endif
#ifdef KT_HAVE_ERROR_REPORT
	KT_PROBE(error_report_end, EXCEPTION, probe_error_report_end,
		 enum error_detector, unsigned long),
#else
	KT_PROBE_NONE(error_report_end, EXCEPTION),
#endif
#ifdef KT_HAVE_THERMAL
	KT_PROBE(thermal_zone_trip, EXCEPTION, probe_thermal_zone_trip,
		 struct thermal_zone_device *, int, enum thermal_trip_type),
#else
	KT_PROBE_NONE(thermal_zone_trip, EXCEPTION),
#endif
#ifdef KT_HAVE_BLOCK_RQ_ERROR
	KT_PROBE(block_rq_error, EXCEPTION, probe_block_rq_error,
		 struct request *, blk_status_t, unsigned int),
#else
	KT_PROBE_NONE(block_rq_error, EXCEPTION),
#endif
	KT_PROBE(net_dev_xmit_timeout, EXCEPTION, probe_net_dev_xmit_timeout,
		 struct net_device *, int),
	{
		.name = "scsi_dispatch_cmd_error",
		.func = KT_PROBE_FUNC(NULL, probe_scsi_dispatch_cmd_error,
				      scsi_dispatch_cmd_error,
				      struct scsi_cmnd *, int),
		.events = { KTAPE_EV_EXCEPTION },
		.module = "scsi_mod",
	},
	{
		.name = "scsi_dispatch_cmd_timeout",
		.func = KT_PROBE_FUNC(NULL, probe_scsi_dispatch_cmd_timeout,
				      scsi_dispatch_cmd_timeout, struct scsi_cmnd *),
		.events = { KTAPE_EV_EXCEPTION },
		.module = "scsi_mod",
	},
	{}
};
