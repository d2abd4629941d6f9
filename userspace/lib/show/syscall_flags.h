/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the flags that system calls take.  The values are those of x86 and most
 * other machines, independent of the machine that this is built on, because a trace
 * may come from another one.
 */
#ifndef _KT_SYSCALL_FLAGS_H
#define _KT_SYSCALL_FLAGS_H

#include <stdint.h>

#define ALL 0xffffffffU /* the whole value is one of these */

/**
 * struct flag - the name of some bits of a value
 * @value: value of the bits
 * @mask: the bits that are compared, and are removed after a match; a match with ALL is the
 *	only one
 * @name: name of the flag
 *
 * A flag of several bits stands before those that are some of these bits: O_SYNC, O_DSYNC.
 */
struct flag {
	uint32_t value;
	uint32_t mask;
	const char *name;
};

static const struct flag open_flags[] = {
	{ 0, 3, "O_RDONLY" },
	{ 1, 3, "O_WRONLY" },
	{ 2, 3, "O_RDWR" },
	{ 0100, 0100, "O_CREAT" },
	{ 0200, 0200, "O_EXCL" },
	{ 0400, 0400, "O_NOCTTY" },
	{ 01000, 01000, "O_TRUNC" },
	{ 02000, 02000, "O_APPEND" },
	{ 04000, 04000, "O_NONBLOCK" },
	{ 04010000, 04010000, "O_SYNC" },
	{ 010000, 010000, "O_DSYNC" },
	{ 020000, 020000, "O_ASYNC" },
	{ 040000, 040000, "O_DIRECT" },
	{ 0100000, 0100000, "O_LARGEFILE" },
	{ 020200000, 020200000, "O_TMPFILE" },
	{ 0200000, 0200000, "O_DIRECTORY" },
	{ 0400000, 0400000, "O_NOFOLLOW" },
	{ 01000000, 01000000, "O_NOATIME" },
	{ 02000000, 02000000, "O_CLOEXEC" },
	{ 010000000, 010000000, "O_PATH" },
};

/* Arm has other values of O_DIRECT, O_LARGEFILE, O_DIRECTORY, O_NOFOLLOW and so of O_TMPFILE. */
static const struct flag open_flags_arm[] = {
	{ 0, 3, "O_RDONLY" },
	{ 1, 3, "O_WRONLY" },
	{ 2, 3, "O_RDWR" },
	{ 0100, 0100, "O_CREAT" },
	{ 0200, 0200, "O_EXCL" },
	{ 0400, 0400, "O_NOCTTY" },
	{ 01000, 01000, "O_TRUNC" },
	{ 02000, 02000, "O_APPEND" },
	{ 04000, 04000, "O_NONBLOCK" },
	{ 04010000, 04010000, "O_SYNC" },
	{ 010000, 010000, "O_DSYNC" },
	{ 020000, 020000, "O_ASYNC" },
	{ 0200000, 0200000, "O_DIRECT" },
	{ 0400000, 0400000, "O_LARGEFILE" },
	{ 020040000, 020040000, "O_TMPFILE" },
	{ 040000, 040000, "O_DIRECTORY" },
	{ 0100000, 0100000, "O_NOFOLLOW" },
	{ 01000000, 01000000, "O_NOATIME" },
	{ 02000000, 02000000, "O_CLOEXEC" },
	{ 010000000, 010000000, "O_PATH" },
};

static const struct flag access_modes[] = {
	{ 0, ALL, "F_OK" },
	{ 4, 4, "R_OK" },
	{ 2, 2, "W_OK" },
	{ 1, 1, "X_OK" },
};

static const struct flag protections[] = {
	{ 0, ALL, "PROT_NONE" },
	{ 1, 1, "PROT_READ" },
	{ 2, 2, "PROT_WRITE" },
	{ 4, 4, "PROT_EXEC" },
	{ 8, 8, "PROT_SEM" },
	{ 0x1000000, 0x1000000, "PROT_GROWSDOWN" },
	{ 0x2000000, 0x2000000, "PROT_GROWSUP" },
};

static const struct flag map_flags[] = {
	{ 1, 15, "MAP_SHARED" },
	{ 2, 15, "MAP_PRIVATE" },
	{ 3, 15, "MAP_SHARED_VALIDATE" },
	{ 0x10, 0x10, "MAP_FIXED" },
	{ 0x20, 0x20, "MAP_ANONYMOUS" },
	{ 0x40, 0x40, "MAP_32BIT" },
	{ 0x100, 0x100, "MAP_GROWSDOWN" },
	{ 0x800, 0x800, "MAP_DENYWRITE" },
	{ 0x1000, 0x1000, "MAP_EXECUTABLE" },
	{ 0x2000, 0x2000, "MAP_LOCKED" },
	{ 0x4000, 0x4000, "MAP_NORESERVE" },
	{ 0x8000, 0x8000, "MAP_POPULATE" },
	{ 0x10000, 0x10000, "MAP_NONBLOCK" },
	{ 0x20000, 0x20000, "MAP_STACK" },
	{ 0x40000, 0x40000, "MAP_HUGETLB" },
	{ 0x80000, 0x80000, "MAP_SYNC" },
	{ 0x100000, 0x100000, "MAP_FIXED_NOREPLACE" },
};

static const struct flag remap_flags[] = {
	{ 1, 1, "MREMAP_MAYMOVE" },
	{ 2, 2, "MREMAP_FIXED" },
	{ 4, 4, "MREMAP_DONTUNMAP" },
};

static const struct flag sync_flags[] = {
	{ 1, 1, "MS_ASYNC" },
	{ 2, 2, "MS_INVALIDATE" },
	{ 4, 4, "MS_SYNC" },
};

static const struct flag advices[] = {
	{ 0, ALL, "MADV_NORMAL" },	    { 1, ALL, "MADV_RANDOM" },
	{ 2, ALL, "MADV_SEQUENTIAL" },	    { 3, ALL, "MADV_WILLNEED" },
	{ 4, ALL, "MADV_DONTNEED" },	    { 8, ALL, "MADV_FREE" },
	{ 9, ALL, "MADV_REMOVE" },	    { 10, ALL, "MADV_DONTFORK" },
	{ 11, ALL, "MADV_DOFORK" },	    { 12, ALL, "MADV_MERGEABLE" },
	{ 13, ALL, "MADV_UNMERGEABLE" },    { 14, ALL, "MADV_HUGEPAGE" },
	{ 15, ALL, "MADV_NOHUGEPAGE" },	    { 16, ALL, "MADV_DONTDUMP" },
	{ 17, ALL, "MADV_DODUMP" },	    { 18, ALL, "MADV_WIPEONFORK" },
	{ 19, ALL, "MADV_KEEPONFORK" },	    { 20, ALL, "MADV_COLD" },
	{ 21, ALL, "MADV_PAGEOUT" },	    { 22, ALL, "MADV_POPULATE_READ" },
	{ 23, ALL, "MADV_POPULATE_WRITE" }, { 24, ALL, "MADV_DONTNEED_LOCKED" },
	{ 25, ALL, "MADV_COLLAPSE" },
};

/* The low byte is the signal that the parent gets when the child ends. */
static const struct flag clone_flags[] = {
	{ 17, 0xff, "SIGCHLD" },
	{ 0x100, 0x100, "CLONE_VM" },
	{ 0x200, 0x200, "CLONE_FS" },
	{ 0x400, 0x400, "CLONE_FILES" },
	{ 0x800, 0x800, "CLONE_SIGHAND" },
	{ 0x1000, 0x1000, "CLONE_PIDFD" },
	{ 0x2000, 0x2000, "CLONE_PTRACE" },
	{ 0x4000, 0x4000, "CLONE_VFORK" },
	{ 0x8000, 0x8000, "CLONE_PARENT" },
	{ 0x10000, 0x10000, "CLONE_THREAD" },
	{ 0x20000, 0x20000, "CLONE_NEWNS" },
	{ 0x40000, 0x40000, "CLONE_SYSVSEM" },
	{ 0x80000, 0x80000, "CLONE_SETTLS" },
	{ 0x100000, 0x100000, "CLONE_PARENT_SETTID" },
	{ 0x200000, 0x200000, "CLONE_CHILD_CLEARTID" },
	{ 0x400000, 0x400000, "CLONE_DETACHED" },
	{ 0x800000, 0x800000, "CLONE_UNTRACED" },
	{ 0x1000000, 0x1000000, "CLONE_CHILD_SETTID" },
	{ 0x2000000, 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, 0x4000000, "CLONE_NEWUTS" },
	{ 0x8000000, 0x8000000, "CLONE_NEWIPC" },
	{ 0x10000000, 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, 0x40000000, "CLONE_NEWNET" },
	{ 0x80000000, 0x80000000, "CLONE_IO" },
};

static const struct flag at_flags[] = {
	{ 0x100, 0x100, "AT_SYMLINK_NOFOLLOW" },
	{ 0x200, 0x200, "AT_REMOVEDIR" },
	{ 0x400, 0x400, "AT_SYMLINK_FOLLOW" },
	{ 0x800, 0x800, "AT_NO_AUTOMOUNT" },
	{ 0x1000, 0x1000, "AT_EMPTY_PATH" },
	{ 0x2000, 0x2000, "AT_STATX_FORCE_SYNC" },
	{ 0x4000, 0x4000, "AT_STATX_DONT_SYNC" },
};

static const struct flag wait_options[] = {
	{ 1, 1, "WNOHANG" },
	{ 2, 2, "WUNTRACED" },
	{ 4, 4, "WEXITED" },
	{ 8, 8, "WCONTINUED" },
	{ 0x1000000, 0x1000000, "WNOWAIT" },
	{ 0x20000000, 0x20000000, "__WNOTHREAD" },
	{ 0x40000000, 0x40000000, "__WALL" },
	{ 0x80000000, 0x80000000, "__WCLONE" },
};

static const struct flag wait_ids[] = {
	{ 0, ALL, "P_ALL" },
	{ 1, ALL, "P_PID" },
	{ 2, ALL, "P_PGID" },
	{ 3, ALL, "P_PIDFD" },
};

static const struct flag whences[] = {
	{ 0, ALL, "SEEK_SET" },	 { 1, ALL, "SEEK_CUR" },
	{ 2, ALL, "SEEK_END" },	 { 3, ALL, "SEEK_DATA" },
	{ 4, ALL, "SEEK_HOLE" },
};

static const struct flag domains[] = {
	{ 0, ALL, "AF_UNSPEC" },     { 1, ALL, "AF_UNIX" },
	{ 2, ALL, "AF_INET" },	     { 3, ALL, "AF_AX25" },
	{ 10, ALL, "AF_INET6" },     { 16, ALL, "AF_NETLINK" },
	{ 17, ALL, "AF_PACKET" },    { 38, ALL, "AF_ALG" },
	{ 40, ALL, "AF_VSOCK" },     { 29, ALL, "AF_CAN" },
	{ 31, ALL, "AF_BLUETOOTH" }, { 44, ALL, "AF_XDP" },
};

static const struct flag socket_types[] = {
	{ 1, 15, "SOCK_STREAM" },
	{ 2, 15, "SOCK_DGRAM" },
	{ 3, 15, "SOCK_RAW" },
	{ 4, 15, "SOCK_RDM" },
	{ 5, 15, "SOCK_SEQPACKET" },
	{ 10, 15, "SOCK_PACKET" },
	{ 04000, 04000, "SOCK_NONBLOCK" },
	{ 02000000, 02000000, "SOCK_CLOEXEC" },
};

static const struct flag message_flags[] = {
	{ 1, 1, "MSG_OOB" },
	{ 2, 2, "MSG_PEEK" },
	{ 4, 4, "MSG_DONTROUTE" },
	{ 8, 8, "MSG_CTRUNC" },
	{ 0x20, 0x20, "MSG_TRUNC" },
	{ 0x40, 0x40, "MSG_DONTWAIT" },
	{ 0x80, 0x80, "MSG_EOR" },
	{ 0x100, 0x100, "MSG_WAITALL" },
	{ 0x800, 0x800, "MSG_CONFIRM" },
	{ 0x2000, 0x2000, "MSG_ERRQUEUE" },
	{ 0x4000, 0x4000, "MSG_NOSIGNAL" },
	{ 0x8000, 0x8000, "MSG_MORE" },
	{ 0x10000, 0x10000, "MSG_WAITFORONE" },
	{ 0x4000000, 0x4000000, "MSG_ZEROCOPY" },
	{ 0x20000000, 0x20000000, "MSG_FASTOPEN" },
	{ 0x40000000, 0x40000000, "MSG_CMSG_CLOEXEC" },
};

static const struct flag shutdowns[] = {
	{ 0, ALL, "SHUT_RD" },
	{ 1, ALL, "SHUT_WR" },
	{ 2, ALL, "SHUT_RDWR" },
};

static const struct flag futex_ops[] = {
	{ 0, 0x7f, "FUTEX_WAIT" },
	{ 1, 0x7f, "FUTEX_WAKE" },
	{ 2, 0x7f, "FUTEX_FD" },
	{ 3, 0x7f, "FUTEX_REQUEUE" },
	{ 4, 0x7f, "FUTEX_CMP_REQUEUE" },
	{ 5, 0x7f, "FUTEX_WAKE_OP" },
	{ 6, 0x7f, "FUTEX_LOCK_PI" },
	{ 7, 0x7f, "FUTEX_UNLOCK_PI" },
	{ 8, 0x7f, "FUTEX_TRYLOCK_PI" },
	{ 9, 0x7f, "FUTEX_WAIT_BITSET" },
	{ 10, 0x7f, "FUTEX_WAKE_BITSET" },
	{ 11, 0x7f, "FUTEX_WAIT_REQUEUE_PI" },
	{ 12, 0x7f, "FUTEX_CMP_REQUEUE_PI" },
	{ 13, 0x7f, "FUTEX_LOCK_PI2" },
	{ 128, 128, "FUTEX_PRIVATE_FLAG" },
	{ 256, 256, "FUTEX_CLOCK_REALTIME" },
};

static const struct flag fcntl_commands[] = {
	{ 0, ALL, "F_DUPFD" },
	{ 1, ALL, "F_GETFD" },
	{ 2, ALL, "F_SETFD" },
	{ 3, ALL, "F_GETFL" },
	{ 4, ALL, "F_SETFL" },
	{ 5, ALL, "F_GETLK" },
	{ 6, ALL, "F_SETLK" },
	{ 7, ALL, "F_SETLKW" },
	{ 8, ALL, "F_SETOWN" },
	{ 9, ALL, "F_GETOWN" },
	{ 10, ALL, "F_SETSIG" },
	{ 11, ALL, "F_GETSIG" },
	{ 36, ALL, "F_OFD_GETLK" },
	{ 37, ALL, "F_OFD_SETLK" },
	{ 38, ALL, "F_OFD_SETLKW" },
	{ 1024, ALL, "F_SETLEASE" },
	{ 1025, ALL, "F_GETLEASE" },
	{ 1026, ALL, "F_NOTIFY" },
	{ 1030, ALL, "F_DUPFD_CLOEXEC" },
	{ 1031, ALL, "F_SETPIPE_SZ" },
	{ 1032, ALL, "F_GETPIPE_SZ" },
	{ 1033, ALL, "F_ADD_SEALS" },
	{ 1034, ALL, "F_GET_SEALS" },
};

static const struct flag flock_operations[] = {
	{ 1, 1, "LOCK_SH" },
	{ 2, 2, "LOCK_EX" },
	{ 4, 4, "LOCK_NB" },
	{ 8, 8, "LOCK_UN" },
};

static const struct flag epoll_operations[] = {
	{ 1, ALL, "EPOLL_CTL_ADD" },
	{ 2, ALL, "EPOLL_CTL_DEL" },
	{ 3, ALL, "EPOLL_CTL_MOD" },
};

static const struct flag event_flags[] = {
	{ 1, 1, "EFD_SEMAPHORE" },
	{ 04000, 04000, "EFD_NONBLOCK" },
	{ 02000000, 02000000, "EFD_CLOEXEC" },
};

static const struct flag clocks[] = {
	{ 0, ALL, "CLOCK_REALTIME" },
	{ 1, ALL, "CLOCK_MONOTONIC" },
	{ 2, ALL, "CLOCK_PROCESS_CPUTIME_ID" },
	{ 3, ALL, "CLOCK_THREAD_CPUTIME_ID" },
	{ 4, ALL, "CLOCK_MONOTONIC_RAW" },
	{ 5, ALL, "CLOCK_REALTIME_COARSE" },
	{ 6, ALL, "CLOCK_MONOTONIC_COARSE" },
	{ 7, ALL, "CLOCK_BOOTTIME" },
	{ 8, ALL, "CLOCK_REALTIME_ALARM" },
	{ 9, ALL, "CLOCK_BOOTTIME_ALARM" },
	{ 11, ALL, "CLOCK_TAI" },
};

static const struct flag timer_flags[] = {
	{ 1, 1, "TIMER_ABSTIME" },
};

static const struct flag itimers[] = {
	{ 0, ALL, "ITIMER_REAL" },
	{ 1, ALL, "ITIMER_VIRTUAL" },
	{ 2, ALL, "ITIMER_PROF" },
};

static const struct flag mask_hows[] = {
	{ 0, ALL, "SIG_BLOCK" },
	{ 1, ALL, "SIG_UNBLOCK" },
	{ 2, ALL, "SIG_SETMASK" },
};

static const struct flag resources[] = {
	{ 0, ALL, "RLIMIT_CPU" },	{ 1, ALL, "RLIMIT_FSIZE" },
	{ 2, ALL, "RLIMIT_DATA" },	{ 3, ALL, "RLIMIT_STACK" },
	{ 4, ALL, "RLIMIT_CORE" },	{ 5, ALL, "RLIMIT_RSS" },
	{ 6, ALL, "RLIMIT_NPROC" },	{ 7, ALL, "RLIMIT_NOFILE" },
	{ 8, ALL, "RLIMIT_MEMLOCK" },	{ 9, ALL, "RLIMIT_AS" },
	{ 10, ALL, "RLIMIT_LOCKS" },	{ 11, ALL, "RLIMIT_SIGPENDING" },
	{ 12, ALL, "RLIMIT_MSGQUEUE" }, { 13, ALL, "RLIMIT_NICE" },
	{ 14, ALL, "RLIMIT_RTPRIO" },	{ 15, ALL, "RLIMIT_RTTIME" },
};

static const struct flag random_flags[] = {
	{ 1, 1, "GRND_NONBLOCK" },
	{ 2, 2, "GRND_RANDOM" },
	{ 4, 4, "GRND_INSECURE" },
};

static const struct flag memfd_flags[] = {
	{ 1, 1, "MFD_CLOEXEC" }, { 2, 2, "MFD_ALLOW_SEALING" },
	{ 4, 4, "MFD_HUGETLB" }, { 8, 8, "MFD_NOEXEC_SEAL" },
	{ 16, 16, "MFD_EXEC" },
};

static const struct flag policies[] = {
	{ 0, 0xff, "SCHED_OTHER" },
	{ 1, 0xff, "SCHED_FIFO" },
	{ 2, 0xff, "SCHED_RR" },
	{ 3, 0xff, "SCHED_BATCH" },
	{ 5, 0xff, "SCHED_IDLE" },
	{ 6, 0xff, "SCHED_DEADLINE" },
	{ 7, 0xff, "SCHED_EXT" },
	{ 0x40000000, 0x40000000, "SCHED_RESET_ON_FORK" },
};

/* Flags of dup3, which takes only the last one, and of pipe2. */
static const struct flag cloexec_flags[] = {
	{ 0200, 0200, "O_NOTIFICATION_PIPE" },
	{ 04000, 04000, "O_NONBLOCK" },
	{ 040000, 040000, "O_DIRECT" },
	{ 02000000, 02000000, "O_CLOEXEC" },
};

static const struct flag timerfd_flags[] = {
	{ 04000, 04000, "TFD_NONBLOCK" },
	{ 02000000, 02000000, "TFD_CLOEXEC" },
};

static const struct flag timerfd_settings[] = {
	{ 1, 1, "TFD_TIMER_ABSTIME" },
	{ 2, 2, "TFD_TIMER_CANCEL_ON_SET" },
};

static const struct flag epoll_flags[] = {
	{ 02000000, 02000000, "EPOLL_CLOEXEC" },
};

static const struct flag signalfd_flags[] = {
	{ 04000, 04000, "SFD_NONBLOCK" },
	{ 02000000, 02000000, "SFD_CLOEXEC" },
};

static const struct flag inotify_flags[] = {
	{ 04000, 04000, "IN_NONBLOCK" },
	{ 02000000, 02000000, "IN_CLOEXEC" },
};

static const struct flag pidfd_flags[] = {
	{ 0200, 0200, "PIDFD_THREAD" },
	{ 04000, 04000, "PIDFD_NONBLOCK" },
};

static const struct flag access_flags[] = {
	{ 0x100, 0x100, "AT_SYMLINK_NOFOLLOW" },
	{ 0x200, 0x200, "AT_EACCESS" },
	{ 0x1000, 0x1000, "AT_EMPTY_PATH" },
};

static const struct flag name_space_flags[] = {
	{ 0x80, 0x80, "CLONE_NEWTIME" },
	{ 0x200, 0x200, "CLONE_FS" },
	{ 0x400, 0x400, "CLONE_FILES" },
	{ 0x20000, 0x20000, "CLONE_NEWNS" },
	{ 0x40000, 0x40000, "CLONE_SYSVSEM" },
	{ 0x2000000, 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, 0x4000000, "CLONE_NEWUTS" },
	{ 0x8000000, 0x8000000, "CLONE_NEWIPC" },
	{ 0x10000000, 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, 0x40000000, "CLONE_NEWNET" },
};

static const struct flag mount_flags[] = {
	{ 1, 1, "MS_RDONLY" },
	{ 2, 2, "MS_NOSUID" },
	{ 4, 4, "MS_NODEV" },
	{ 8, 8, "MS_NOEXEC" },
	{ 16, 16, "MS_SYNCHRONOUS" },
	{ 32, 32, "MS_REMOUNT" },
	{ 64, 64, "MS_MANDLOCK" },
	{ 128, 128, "MS_DIRSYNC" },
	{ 256, 256, "MS_NOSYMFOLLOW" },
	{ 1024, 1024, "MS_NOATIME" },
	{ 2048, 2048, "MS_NODIRATIME" },
	{ 4096, 4096, "MS_BIND" },
	{ 8192, 8192, "MS_MOVE" },
	{ 16384, 16384, "MS_REC" },
	{ 32768, 32768, "MS_SILENT" },
	{ 0x10000, 0x10000, "MS_POSIXACL" },
	{ 0x20000, 0x20000, "MS_UNBINDABLE" },
	{ 0x40000, 0x40000, "MS_PRIVATE" },
	{ 0x80000, 0x80000, "MS_SLAVE" },
	{ 0x100000, 0x100000, "MS_SHARED" },
	{ 0x200000, 0x200000, "MS_RELATIME" },
	{ 0x800000, 0x800000, "MS_I_VERSION" },
	{ 0x1000000, 0x1000000, "MS_STRICTATIME" },
	{ 0x2000000, 0x2000000, "MS_LAZYTIME" },
};

static const struct flag umount_flags[] = {
	{ 1, 1, "MNT_FORCE" },
	{ 2, 2, "MNT_DETACH" },
	{ 4, 4, "MNT_EXPIRE" },
	{ 8, 8, "UMOUNT_NOFOLLOW" },
};

static const struct flag rename_flags[] = {
	{ 1, 1, "RENAME_NOREPLACE" },
	{ 2, 2, "RENAME_EXCHANGE" },
	{ 4, 4, "RENAME_WHITEOUT" },
};

static const struct flag splice_flags[] = {
	{ 1, 1, "SPLICE_F_MOVE" },
	{ 2, 2, "SPLICE_F_NONBLOCK" },
	{ 4, 4, "SPLICE_F_MORE" },
	{ 8, 8, "SPLICE_F_GIFT" },
};

static const struct flag close_range_flags[] = {
	{ 2, 2, "CLOSE_RANGE_UNSHARE" },
	{ 4, 4, "CLOSE_RANGE_CLOEXEC" },
};

static const struct flag statx_mask[] = {
	{ 0x7ff, 0x7ff, "STATX_BASIC_STATS" },
	{ 1, 1, "STATX_TYPE" },
	{ 2, 2, "STATX_MODE" },
	{ 4, 4, "STATX_NLINK" },
	{ 8, 8, "STATX_UID" },
	{ 16, 16, "STATX_GID" },
	{ 32, 32, "STATX_ATIME" },
	{ 64, 64, "STATX_MTIME" },
	{ 128, 128, "STATX_CTIME" },
	{ 256, 256, "STATX_INO" },
	{ 512, 512, "STATX_SIZE" },
	{ 1024, 1024, "STATX_BLOCKS" },
	{ 2048, 2048, "STATX_BTIME" },
	{ 4096, 4096, "STATX_MNT_ID" },
	{ 8192, 8192, "STATX_DIOALIGN" },
	{ 16384, 16384, "STATX_MNT_ID_UNIQUE" },
	{ 32768, 32768, "STATX_SUBVOL" },
	{ 65536, 65536, "STATX_WRITE_ATOMIC" },
};

static const struct flag fallocate_modes[] = {
	{ 1, 1, "FALLOC_FL_KEEP_SIZE" },
	{ 2, 2, "FALLOC_FL_PUNCH_HOLE" },
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
	{ 1, 1, "RWF_HIPRI" },	  { 2, 2, "RWF_DSYNC" },
	{ 4, 4, "RWF_SYNC" },	  { 8, 8, "RWF_NOWAIT" },
	{ 16, 16, "RWF_APPEND" }, { 32, 32, "RWF_NOAPPEND" },
	{ 64, 64, "RWF_ATOMIC" },
};

static const struct flag lock_flags[] = {
	{ 1, 1, "MLOCK_ONFAULT" },
};

static const struct flag lock_all_flags[] = {
	{ 1, 1, "MCL_CURRENT" },
	{ 2, 2, "MCL_FUTURE" },
	{ 4, 4, "MCL_ONFAULT" },
};

static const struct flag mem_policies[] = {
	{ 0, 0xff, "MPOL_DEFAULT" },
	{ 1, 0xff, "MPOL_PREFERRED" },
	{ 2, 0xff, "MPOL_BIND" },
	{ 3, 0xff, "MPOL_INTERLEAVE" },
	{ 4, 0xff, "MPOL_LOCAL" },
	{ 5, 0xff, "MPOL_PREFERRED_MANY" },
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
	{ 1, 1, "MOUNT_ATTR_RDONLY" },
	{ 2, 2, "MOUNT_ATTR_NOSUID" },
	{ 4, 4, "MOUNT_ATTR_NODEV" },
	{ 8, 8, "MOUNT_ATTR_NOEXEC" },
	{ 16, 16, "MOUNT_ATTR_NOATIME" },
	{ 32, 32, "MOUNT_ATTR_STRICTATIME" },
	{ 128, 128, "MOUNT_ATTR_NODIRATIME" },
	{ 0x100000, 0x100000, "MOUNT_ATTR_IDMAP" },
	{ 0x200000, 0x200000, "MOUNT_ATTR_NOSYMFOLLOW" },
};

static const struct flag xattr_flags[] = {
	{ 1, 1, "XATTR_CREATE" },
	{ 2, 2, "XATTR_REPLACE" },
};

static const struct flag inotify_mask[] = {
	{ 1, 1, "IN_ACCESS" },
	{ 2, 2, "IN_MODIFY" },
	{ 4, 4, "IN_ATTRIB" },
	{ 8, 8, "IN_CLOSE_WRITE" },
	{ 16, 16, "IN_CLOSE_NOWRITE" },
	{ 32, 32, "IN_OPEN" },
	{ 64, 64, "IN_MOVED_FROM" },
	{ 128, 128, "IN_MOVED_TO" },
	{ 256, 256, "IN_CREATE" },
	{ 512, 512, "IN_DELETE" },
	{ 1024, 1024, "IN_DELETE_SELF" },
	{ 2048, 2048, "IN_MOVE_SELF" },
	{ 0x1000000, 0x1000000, "IN_ONLYDIR" },
	{ 0x2000000, 0x2000000, "IN_DONT_FOLLOW" },
	{ 0x4000000, 0x4000000, "IN_EXCL_UNLINK" },
	{ 0x10000000, 0x10000000, "IN_MASK_CREATE" },
	{ 0x20000000, 0x20000000, "IN_MASK_ADD" },
	{ 0x40000000, 0x40000000, "IN_ISDIR" },
	{ 0x80000000, 0x80000000, "IN_ONESHOT" },
};

static const struct flag perf_flags[] = {
	{ 1, 1, "PERF_FLAG_FD_NO_GROUP" },
	{ 2, 2, "PERF_FLAG_FD_OUTPUT" },
	{ 4, 4, "PERF_FLAG_PID_CGROUP" },
	{ 8, 8, "PERF_FLAG_FD_CLOEXEC" },
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
	{ 1, 1, "IORING_ENTER_GETEVENTS" },
	{ 2, 2, "IORING_ENTER_SQ_WAKEUP" },
	{ 4, 4, "IORING_ENTER_SQ_WAIT" },
	{ 8, 8, "IORING_ENTER_EXT_ARG" },
	{ 16, 16, "IORING_ENTER_REGISTERED_RING" },
};

#endif /* _KT_SYSCALL_FLAGS_H */
