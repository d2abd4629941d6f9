/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The numbers of all ioctls, in one list so that no number is used twice.  Numbers that
 * are missing are not used.  What a command does stands beside its structure, in the
 * headers named below.
 *
 * Each structure begins with its size as the caller knows it.  A shorter one is
 * extended with zeros (less than 8 bytes: EINVAL), a longer one is accepted if its tail
 * is zero and it has at most a page (otherwise E2BIG).  A structure that returns
 * results comes back with the size that the kernel filled.  Unknown flags and non-zero
 * reserved members: EINVAL.  Unknown commands: ENOTTY.  A read-only descriptor gets
 * EPERM for commands and operations that are marked [W].
 *
 * The size in a number is always that of __u32, so that the number stays the
 * same when the structure grows.  A command that writes into its structure,
 * even if only on failure, is _IOWR.  All others are _IOW.
 */
#ifndef _KTAPE_IOCTL_H
#define _KTAPE_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KTAPE_IOC_MAGIC 0xe9

/* /dev/ktape and descriptors of sessions, ktape/abi.h */
#define KTAPE_IOC_FEATURES   _IOWR(KTAPE_IOC_MAGIC, 0, __u32)
#define KTAPE_IOC_LAYOUT     _IOWR(KTAPE_IOC_MAGIC, 1, __u32)
#define KTAPE_IOC_PROFILE    _IOWR(KTAPE_IOC_MAGIC, 2, __u32)
#define KTAPE_IOC_START	     _IOW(KTAPE_IOC_MAGIC, 3, __u32)
#define KTAPE_IOC_STOP	     _IOW(KTAPE_IOC_MAGIC, 4, __u32)
#define KTAPE_IOC_CLEAR	     _IOW(KTAPE_IOC_MAGIC, 5, __u32)
#define KTAPE_IOC_FLUSH	     _IOW(KTAPE_IOC_MAGIC, 6, __u32)
#define KTAPE_IOC_STATS	     _IOWR(KTAPE_IOC_MAGIC, 7, __u32)
#define KTAPE_IOC_CONSUMER   _IOW(KTAPE_IOC_MAGIC, 8, __u32)
#define KTAPE_IOC_EVENT_INFO _IOWR(KTAPE_IOC_MAGIC, 9, __u32)
#define KTAPE_IOC_METADATA   _IOWR(KTAPE_IOC_MAGIC, 10, __u32)
#define KTAPE_IOC_WATERMARK  _IOW(KTAPE_IOC_MAGIC, 11, __u32)
#define KTAPE_IOC_CREATE     _IOWR(KTAPE_IOC_MAGIC, 12, __u32)

/* ktape/filter.h */
#define KTAPE_IOC_FILTER _IOWR(KTAPE_IOC_MAGIC, 13, __u32)
#define KTAPE_IOC_PROBE	 _IOWR(KTAPE_IOC_MAGIC, 14, __u32)

/* ktape/session.h */
#define KTAPE_IOC_SESSIONS _IOWR(KTAPE_IOC_MAGIC, 15, __u32)
#define KTAPE_IOC_OPEN	   _IOW(KTAPE_IOC_MAGIC, 16, __u32)
#define KTAPE_IOC_DESTROY  _IOW(KTAPE_IOC_MAGIC, 17, __u32)
#define KTAPE_IOC_POLICY   _IOWR(KTAPE_IOC_MAGIC, 18, __u32)
#define KTAPE_IOC_READER   _IOWR(KTAPE_IOC_MAGIC, 19, __u32)

/* ktape/trigger.h */
#define KTAPE_IOC_TRIGGER _IOWR(KTAPE_IOC_MAGIC, 20, __u32)

/* ktape/persist.h */
#define KTAPE_IOC_PERSIST_INFO _IOWR(KTAPE_IOC_MAGIC, 24, __u32)
#define KTAPE_IOC_PERSIST_READ _IOWR(KTAPE_IOC_MAGIC, 25, __u32)
#define KTAPE_IOC_PERSIST_DROP _IOW(KTAPE_IOC_MAGIC, 26, __u32)

/* ktape/cost.h */
#define KTAPE_IOC_COST _IOWR(KTAPE_IOC_MAGIC, 28, __u32)

/* /dev/ktape_mark, ktape/mark.h */
#define KTAPE_MARK_IOC_MARK  _IOW(KTAPE_IOC_MAGIC, 64, __u32)
#define KTAPE_MARK_IOC_TRACE _IOW(KTAPE_IOC_MAGIC, 65, __u32)
#define KTAPE_MARK_IOC_NAME  _IOW(KTAPE_IOC_MAGIC, 66, __u32)

#endif /* _KTAPE_IOCTL_H */
