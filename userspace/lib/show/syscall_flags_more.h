/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* More names of flags that system calls take, see syscall_flags.h. */
#ifndef _KT_SYSCALL_FLAGS_MORE_H
#define _KT_SYSCALL_FLAGS_MORE_H

#include "show/syscall_flags.h"

static const struct flag cloexec_flags[] = {
	{ 01000, 01000, "O_TRUNC" }, { 04000, 04000, "O_NONBLOCK" },
	{ 040000, 040000, "O_DIRECT" }, { 02000000, 02000000, "O_CLOEXEC" },
};

static const struct flag timerfd_flags[] = {
	{ 04000, 04000, "TFD_NONBLOCK" },
	{ 02000000, 02000000, "TFD_CLOEXEC" },
};

static const struct flag timerfd_settings[] = {
	{ 1, 1, "TFD_TIMER_ABSTIME" }, { 2, 2, "TFD_TIMER_CANCEL_ON_SET" },
};

static const struct flag epoll_flags[] = {
	{ 02000000, 02000000, "EPOLL_CLOEXEC" },
};

static const struct flag signalfd_flags[] = {
	{ 04000, 04000, "SFD_NONBLOCK" },
	{ 02000000, 02000000, "SFD_CLOEXEC" },
};

static const struct flag inotify_flags[] = {
	{ 04000, 04000, "IN_NONBLOCK" }, { 02000000, 02000000, "IN_CLOEXEC" },
};

static const struct flag pidfd_flags[] = {
	{ 0200, 0200, "PIDFD_THREAD" }, { 04000, 04000, "PIDFD_NONBLOCK" },
};

static const struct flag access_flags[] = {
	{ 0x100, 0x100, "AT_SYMLINK_NOFOLLOW" },
	{ 0x200, 0x200, "AT_EACCESS" }, { 0x1000, 0x1000, "AT_EMPTY_PATH" },
};

static const struct flag name_space_flags[] = {
	{ 0x80, 0x80, "CLONE_NEWTIME" }, { 0x200, 0x200, "CLONE_FS" },
	{ 0x400, 0x400, "CLONE_FILES" }, { 0x20000, 0x20000, "CLONE_NEWNS" },
	{ 0x40000, 0x40000, "CLONE_SYSVSEM" },
	{ 0x2000000, 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, 0x4000000, "CLONE_NEWUTS" },
	{ 0x8000000, 0x8000000, "CLONE_NEWIPC" },
	{ 0x10000000, 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, 0x40000000, "CLONE_NEWNET" },
};

static const struct flag mount_flags[] = {
	{ 1, 1, "MS_RDONLY" }, { 2, 2, "MS_NOSUID" }, { 4, 4, "MS_NODEV" },
	{ 8, 8, "MS_NOEXEC" }, { 16, 16, "MS_SYNCHRONOUS" },
	{ 32, 32, "MS_REMOUNT" }, { 64, 64, "MS_MANDLOCK" },
	{ 128, 128, "MS_DIRSYNC" }, { 256, 256, "MS_NOSYMFOLLOW" },
	{ 1024, 1024, "MS_NOATIME" }, { 2048, 2048, "MS_NODIRATIME" },
	{ 4096, 4096, "MS_BIND" }, { 8192, 8192, "MS_MOVE" },
	{ 16384, 16384, "MS_REC" }, { 32768, 32768, "MS_SILENT" },
	{ 0x10000, 0x10000, "MS_POSIXACL" },
	{ 0x20000, 0x20000, "MS_UNBINDABLE" },
	{ 0x40000, 0x40000, "MS_PRIVATE" }, { 0x80000, 0x80000, "MS_SLAVE" },
	{ 0x100000, 0x100000, "MS_SHARED" },
	{ 0x200000, 0x200000, "MS_RELATIME" },
	{ 0x800000, 0x800000, "MS_I_VERSION" },
	{ 0x1000000, 0x1000000, "MS_STRICTATIME" },
	{ 0x2000000, 0x2000000, "MS_LAZYTIME" },
};

static const struct flag umount_flags[] = {
	{ 1, 1, "MNT_FORCE" }, { 2, 2, "MNT_DETACH" }, { 4, 4, "MNT_EXPIRE" },
	{ 8, 8, "UMOUNT_NOFOLLOW" },
};

static const struct flag rename_flags[] = {
	{ 1, 1, "RENAME_NOREPLACE" }, { 2, 2, "RENAME_EXCHANGE" },
	{ 4, 4, "RENAME_WHITEOUT" },
};

static const struct flag splice_flags[] = {
	{ 1, 1, "SPLICE_F_MOVE" }, { 2, 2, "SPLICE_F_NONBLOCK" },
	{ 4, 4, "SPLICE_F_MORE" }, { 8, 8, "SPLICE_F_GIFT" },
};

static const struct flag close_range_flags[] = {
	{ 2, 2, "CLOSE_RANGE_UNSHARE" }, { 4, 4, "CLOSE_RANGE_CLOEXEC" },
};

static const struct flag statx_mask[] = {
	{ 0x7ff, 0x7ff, "STATX_BASIC_STATS" }, { 1, 1, "STATX_TYPE" },
	{ 2, 2, "STATX_MODE" }, { 4, 4, "STATX_NLINK" }, { 8, 8, "STATX_UID" },
	{ 16, 16, "STATX_GID" }, { 32, 32, "STATX_ATIME" },
	{ 64, 64, "STATX_MTIME" }, { 128, 128, "STATX_CTIME" },
	{ 256, 256, "STATX_INO" }, { 512, 512, "STATX_SIZE" },
	{ 1024, 1024, "STATX_BLOCKS" }, { 2048, 2048, "STATX_BTIME" },
	{ 4096, 4096, "STATX_MNT_ID" }, { 8192, 8192, "STATX_DIOALIGN" },
	{ 16384, 16384, "STATX_MNT_ID_UNIQUE" },
	{ 32768, 32768, "STATX_SUBVOL" },
	{ 65536, 65536, "STATX_WRITE_ATOMIC" },
};

static const struct flag fallocate_modes[] = {
	{ 1, 1, "FALLOC_FL_KEEP_SIZE" }, { 2, 2, "FALLOC_FL_PUNCH_HOLE" },
	{ 4, 4, "FALLOC_FL_NO_HIDE_STALE" },
	{ 8, 8, "FALLOC_FL_COLLAPSE_RANGE" },
	{ 16, 16, "FALLOC_FL_ZERO_RANGE" },
	{ 32, 32, "FALLOC_FL_INSERT_RANGE" },
	{ 64, 64, "FALLOC_FL_UNSHARE_RANGE" },
};

static const struct flag range_flags[] = {
	{ 1, 1, "SYNC_FILE_RANGE_WAIT_BEFORE" },
	{ 2, 2, "SYNC_FILE_RANGE_WRITE" },
	{ 4, 4, "SYNC_FILE_RANGE_WAIT_AFTER" },
};

static const struct flag io_flags[] = {
	{ 1, 1, "RWF_HIPRI" }, { 2, 2, "RWF_DSYNC" }, { 4, 4, "RWF_SYNC" },
	{ 8, 8, "RWF_NOWAIT" }, { 16, 16, "RWF_APPEND" },
	{ 32, 32, "RWF_NOAPPEND" }, { 64, 64, "RWF_ATOMIC" },
};

static const struct flag lock_flags[] = {
	{ 1, 1, "MLOCK_ONFAULT" },
};

static const struct flag lock_all_flags[] = {
	{ 1, 1, "MCL_CURRENT" }, { 2, 2, "MCL_FUTURE" },
	{ 4, 4, "MCL_ONFAULT" },
};

static const struct flag mem_policies[] = {
	{ 0, 0xff, "MPOL_DEFAULT" }, { 1, 0xff, "MPOL_PREFERRED" },
	{ 2, 0xff, "MPOL_BIND" }, { 3, 0xff, "MPOL_INTERLEAVE" },
	{ 4, 0xff, "MPOL_LOCAL" }, { 5, 0xff, "MPOL_PREFERRED_MANY" },
	{ 6, 0xff, "MPOL_WEIGHTED_INTERLEAVE" },
	{ 0x2000, 0x2000, "MPOL_F_NUMA_BALANCING" },
	{ 0x4000, 0x4000, "MPOL_F_RELATIVE_NODES" },
	{ 0x8000, 0x8000, "MPOL_F_STATIC_NODES" },
};

static const struct flag module_flags[] = {
	{ 1, 1, "MODULE_INIT_IGNORE_MODVERSIONS" },
	{ 2, 2, "MODULE_INIT_IGNORE_VERMAGIC" },
	{ 4, 4, "MODULE_INIT_COMPRESSED_FILE" },
};

static const struct flag fs_flags[] = {
	{ 1, 1, "FSOPEN_CLOEXEC" },
};

static const struct flag fs_mount_flags[] = {
	{ 1, 1, "FSMOUNT_CLOEXEC" },
};

static const struct flag mount_attributes[] = {
	{ 1, 1, "MOUNT_ATTR_RDONLY" }, { 2, 2, "MOUNT_ATTR_NOSUID" },
	{ 4, 4, "MOUNT_ATTR_NODEV" }, { 8, 8, "MOUNT_ATTR_NOEXEC" },
	{ 16, 16, "MOUNT_ATTR_NOATIME" }, { 32, 32, "MOUNT_ATTR_STRICTATIME" },
	{ 128, 128, "MOUNT_ATTR_NODIRATIME" },
	{ 0x100000, 0x100000, "MOUNT_ATTR_IDMAP" },
	{ 0x200000, 0x200000, "MOUNT_ATTR_NOSYMFOLLOW" },
};

static const struct flag xattr_flags[] = {
	{ 1, 1, "XATTR_CREATE" }, { 2, 2, "XATTR_REPLACE" },
};

static const struct flag inotify_mask[] = {
	{ 1, 1, "IN_ACCESS" }, { 2, 2, "IN_MODIFY" }, { 4, 4, "IN_ATTRIB" },
	{ 8, 8, "IN_CLOSE_WRITE" }, { 16, 16, "IN_CLOSE_NOWRITE" },
	{ 32, 32, "IN_OPEN" }, { 64, 64, "IN_MOVED_FROM" },
	{ 128, 128, "IN_MOVED_TO" }, { 256, 256, "IN_CREATE" },
	{ 512, 512, "IN_DELETE" }, { 1024, 1024, "IN_DELETE_SELF" },
	{ 2048, 2048, "IN_MOVE_SELF" }, { 0x1000000, 0x1000000, "IN_ONLYDIR" },
	{ 0x2000000, 0x2000000, "IN_DONT_FOLLOW" },
	{ 0x4000000, 0x4000000, "IN_EXCL_UNLINK" },
	{ 0x10000000, 0x10000000, "IN_MASK_CREATE" },
	{ 0x20000000, 0x20000000, "IN_MASK_ADD" },
	{ 0x40000000, 0x40000000, "IN_ISDIR" },
	{ 0x80000000, 0x80000000, "IN_ONESHOT" },
};

static const struct flag perf_flags[] = {
	{ 1, 1, "PERF_FLAG_FD_NO_GROUP" }, { 2, 2, "PERF_FLAG_FD_OUTPUT" },
	{ 4, 4, "PERF_FLAG_PID_CGROUP" }, { 8, 8, "PERF_FLAG_FD_CLOEXEC" },
};

static const struct flag seccomp_flags[] = {
	{ 1, 1, "SECCOMP_FILTER_FLAG_TSYNC" },
	{ 2, 2, "SECCOMP_FILTER_FLAG_LOG" },
	{ 4, 4, "SECCOMP_FILTER_FLAG_SPEC_ALLOW" },
	{ 8, 8, "SECCOMP_FILTER_FLAG_NEW_LISTENER" },
	{ 16, 16, "SECCOMP_FILTER_FLAG_TSYNC_ESRCH" },
	{ 32, 32, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV" },
};

static const struct flag ring_enter_flags[] = {
	{ 1, 1, "IORING_ENTER_GETEVENTS" }, { 2, 2, "IORING_ENTER_SQ_WAKEUP" },
	{ 4, 4, "IORING_ENTER_SQ_WAIT" }, { 8, 8, "IORING_ENTER_EXT_ARG" },
	{ 16, 16, "IORING_ENTER_REGISTERED_RING" },
};

#endif /* _KT_SYSCALL_FLAGS_MORE_H */
