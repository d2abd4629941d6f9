// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rights of callers and descriptors.
 *
 * A capability decides, or, with dev_mode=, the permissions of the device node.
 */
#include <linux/capability.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "internal.h"

/*
 * dev_mode= lets the group or others read or write: the permissions of the device
 * node decide, and CAP_PERFMON is not needed.
 */
static bool dev_by_mode;

/**
 * kt_rights_init() - note which rights dev_mode= gives
 * @mode: permissions of the device node
 *
 * Context: module load.
 */
void kt_rights_init(unsigned int mode)
{
	dev_by_mode = mode & 0066;
}

/**
 * kt_dev_opener_may_control() - check whether the opener of a descriptor may control sessions
 * @control: the descriptor may control its session
 *
 * A discard session waits only for readers whose opener has that right, even if it opened the
 * descriptor for reading only, and no quota counts their memory.  Without dev_mode= each
 * opener has it: kt_dev_allowed() has checked the capability.
 *
 * Context: process context of the opener.
 * Return: true or false.
 */
bool kt_dev_opener_may_control(bool control)
{
	return control || !dev_by_mode ||
	       ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/**
 * kt_dev_caller_has_rights() - check whether the caller may use any session, but not lockdown
 *
 * With dev_mode= the kernel has checked the permissions of the node when the
 * caller's descriptor was opened: a descriptor that is passed on passes on the right.
 *
 * Context: process context.
 * Return: true or false.
 */
bool kt_dev_caller_has_rights(void)
{
	return dev_by_mode || perfmon_capable();
}

/**
 * kt_dev_allowed() - check whether the caller may open or create a session
 *
 * Context: process context.
 * Return: 0; -EPERM: no CAP_PERFMON, or lockdown forbids tracing.
 */
int kt_dev_allowed(void)
{
	return kt_dev_caller_has_rights() ?
		       security_locked_down(LOCKDOWN_TRACEFS) :
		       -EPERM;
}

/**
 * kt_dev_reads_log() - check whether the caller may read the kernel's log
 *
 * Modules do not see dmesg_restrict, so the capability is needed even if the kernel
 * lets all users read its log.
 *
 * Context: process context.
 * Return: true if the caller has CAP_SYSLOG.
 */
bool kt_dev_reads_log(void)
{
	return capable(CAP_SYSLOG);
}

/**
 * kt_dev_may_control() - check whether a descriptor may control its session
 * @file: the descriptor
 *
 * Context: any.
 * Return: true if it was opened for writing, by a process with the rights.
 */
bool kt_dev_may_control(const struct file *file)
{
	/* The opener's rights count, not those of a process that inherits the file. */
	return (file->f_mode & FMODE_WRITE) &&
	       (dev_by_mode || file_ns_capable(file, &init_user_ns, CAP_PERFMON) ||
		file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN));
}
