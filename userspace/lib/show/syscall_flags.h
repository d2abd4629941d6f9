/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the flags that system calls take.  The values are those of x86 and most
 * other machines, independent of the machine that this is built on, because a trace
 * may come from another one.
 */
#ifndef _KT_SYSCALL_FLAGS_H
#define _KT_SYSCALL_FLAGS_H

#include <stdint.h>

#define ALL	0xffffffffU	/* the whole value is one of these */

/**
 * struct flag - the name of some bits of a value
 * @value: value of the bits
 * @mask: the bits that are compared, and are removed after a match
 * @name: name of the flag
 */
struct flag {
	uint32_t value;
	uint32_t mask;
	const char *name;
};

static const struct flag open_flags[] = {
	{ 0, 3, "O_RDONLY" }, { 1, 3, "O_WRONLY" }, { 2, 3, "O_RDWR" },
	{ 0100, 0100, "O_CREAT" }, { 0200, 0200, "O_EXCL" },
	{ 0400, 0400, "O_NOCTTY" }, { 01000, 01000, "O_TRUNC" },
	{ 02000, 02000, "O_APPEND" }, { 04000, 04000, "O_NONBLOCK" },
	{ 04010000, 04010000, "O_SYNC" }, { 010000, 010000, "O_DSYNC" },
	{ 020000, 020000, "O_ASYNC" }, { 040000, 040000, "O_DIRECT" },
	{ 0100000, 0100000, "O_LARGEFILE" },
	{ 020200000, 020200000, "O_TMPFILE" },
	{ 0200000, 0200000, "O_DIRECTORY" }, { 0400000, 0400000, "O_NOFOLLOW" },
	{ 01000000, 01000000, "O_NOATIME" },
	{ 02000000, 02000000, "O_CLOEXEC" }, { 010000000, 010000000, "O_PATH" },
};

static const struct flag open_flags_arm[] = {
	{ 0, 3, "O_RDONLY" }, { 1, 3, "O_WRONLY" }, { 2, 3, "O_RDWR" },
	{ 0100, 0100, "O_CREAT" }, { 0200, 0200, "O_EXCL" },
	{ 0400, 0400, "O_NOCTTY" }, { 01000, 01000, "O_TRUNC" },
	{ 02000, 02000, "O_APPEND" }, { 04000, 04000, "O_NONBLOCK" },
	{ 04010000, 04010000, "O_SYNC" }, { 010000, 010000, "O_DSYNC" },
	{ 020000, 020000, "O_ASYNC" }, { 0200000, 0200000, "O_DIRECT" },
	{ 0400000, 0400000, "O_LARGEFILE" },
	{ 020040000, 020040000, "O_TMPFILE" },
	{ 040000, 040000, "O_DIRECTORY" }, { 0100000, 0100000, "O_NOFOLLOW" },
	{ 01000000, 01000000, "O_NOATIME" },
	{ 02000000, 02000000, "O_CLOEXEC" }, { 010000000, 010000000, "O_PATH" },
};

static const struct flag access_modes[] = {
	{ 0, ALL, "F_OK" }, { 4, 4, "R_OK" }, { 2, 2, "W_OK" },
	{ 1, 1, "X_OK" },
};

static const struct flag protections[] = {
	{ 0, ALL, "PROT_NONE" }, { 1, 1, "PROT_READ" }, { 2, 2, "PROT_WRITE" },
	{ 4, 4, "PROT_EXEC" }, { 8, 8, "PROT_SEM" },
	{ 0x1000000, 0x1000000, "PROT_GROWSDOWN" },
	{ 0x2000000, 0x2000000, "PROT_GROWSUP" },
};

static const struct flag map_flags[] = {
	{ 1, 15, "MAP_SHARED" }, { 2, 15, "MAP_PRIVATE" },
	{ 3, 15, "MAP_SHARED_VALIDATE" }, { 0x10, 0x10, "MAP_FIXED" },
	{ 0x20, 0x20, "MAP_ANONYMOUS" }, { 0x40, 0x40, "MAP_32BIT" },
	{ 0x100, 0x100, "MAP_GROWSDOWN" }, { 0x800, 0x800, "MAP_DENYWRITE" },
	{ 0x1000, 0x1000, "MAP_EXECUTABLE" }, { 0x2000, 0x2000, "MAP_LOCKED" },
	{ 0x4000, 0x4000, "MAP_NORESERVE" }, { 0x8000, 0x8000, "MAP_POPULATE" },
	{ 0x10000, 0x10000, "MAP_NONBLOCK" }, { 0x20000, 0x20000, "MAP_STACK" },
	{ 0x40000, 0x40000, "MAP_HUGETLB" }, { 0x80000, 0x80000, "MAP_SYNC" },
	{ 0x100000, 0x100000, "MAP_FIXED_NOREPLACE" },
};

static const struct flag remap_flags[] = {
	{ 1, 1, "MREMAP_MAYMOVE" }, { 2, 2, "MREMAP_FIXED" },
	{ 4, 4, "MREMAP_DONTUNMAP" },
};

static const struct flag sync_flags[] = {
	{ 1, 1, "MS_ASYNC" }, { 2, 2, "MS_INVALIDATE" }, { 4, 4, "MS_SYNC" },
};

static const struct flag advices[] = {
	{ 0, ALL, "MADV_NORMAL" }, { 1, ALL, "MADV_RANDOM" },
	{ 2, ALL, "MADV_SEQUENTIAL" }, { 3, ALL, "MADV_WILLNEED" },
	{ 4, ALL, "MADV_DONTNEED" }, { 8, ALL, "MADV_FREE" },
	{ 9, ALL, "MADV_REMOVE" }, { 10, ALL, "MADV_DONTFORK" },
	{ 11, ALL, "MADV_DOFORK" }, { 12, ALL, "MADV_MERGEABLE" },
	{ 13, ALL, "MADV_UNMERGEABLE" }, { 14, ALL, "MADV_HUGEPAGE" },
	{ 15, ALL, "MADV_NOHUGEPAGE" }, { 16, ALL, "MADV_DONTDUMP" },
	{ 17, ALL, "MADV_DODUMP" }, { 18, ALL, "MADV_WIPEONFORK" },
	{ 19, ALL, "MADV_KEEPONFORK" }, { 20, ALL, "MADV_COLD" },
	{ 21, ALL, "MADV_PAGEOUT" }, { 22, ALL, "MADV_POPULATE_READ" },
	{ 23, ALL, "MADV_POPULATE_WRITE" }, { 24, ALL, "MADV_DONTNEED_LOCKED" },
	{ 25, ALL, "MADV_COLLAPSE" },
};

static const struct flag clone_flags[] = {
	{ 17, 0xff, "SIGCHLD" }, { 0x100, 0x100, "CLONE_VM" },
	{ 0x200, 0x200, "CLONE_FS" }, { 0x400, 0x400, "CLONE_FILES" },
	{ 0x800, 0x800, "CLONE_SIGHAND" }, { 0x1000, 0x1000, "CLONE_PIDFD" },
	{ 0x2000, 0x2000, "CLONE_PTRACE" }, { 0x4000, 0x4000, "CLONE_VFORK" },
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
	{ 0x200, 0x200, "AT_REMOVEDIR" }, { 0x400, 0x400, "AT_SYMLINK_FOLLOW" },
	{ 0x800, 0x800, "AT_NO_AUTOMOUNT" },
	{ 0x1000, 0x1000, "AT_EMPTY_PATH" },
	{ 0x2000, 0x2000, "AT_STATX_FORCE_SYNC" },
	{ 0x4000, 0x4000, "AT_STATX_DONT_SYNC" },
};

static const struct flag wait_options[] = {
	{ 1, 1, "WNOHANG" }, { 2, 2, "WUNTRACED" }, { 4, 4, "WEXITED" },
	{ 8, 8, "WCONTINUED" }, { 0x1000000, 0x1000000, "WNOWAIT" },
	{ 0x20000000, 0x20000000, "__WNOTHREAD" },
	{ 0x40000000, 0x40000000, "__WALL" },
	{ 0x80000000, 0x80000000, "__WCLONE" },
};

static const struct flag wait_ids[] = {
	{ 0, ALL, "P_ALL" }, { 1, ALL, "P_PID" }, { 2, ALL, "P_PGID" },
	{ 3, ALL, "P_PIDFD" },
};

static const struct flag whences[] = {
	{ 0, ALL, "SEEK_SET" }, { 1, ALL, "SEEK_CUR" }, { 2, ALL, "SEEK_END" },
	{ 3, ALL, "SEEK_DATA" }, { 4, ALL, "SEEK_HOLE" },
};

static const struct flag domains[] = {
	{ 0, ALL, "AF_UNSPEC" }, { 1, ALL, "AF_UNIX" }, { 2, ALL, "AF_INET" },
	{ 3, ALL, "AF_AX25" }, { 10, ALL, "AF_INET6" },
	{ 16, ALL, "AF_NETLINK" }, { 17, ALL, "AF_PACKET" },
	{ 38, ALL, "AF_ALG" }, { 40, ALL, "AF_VSOCK" }, { 29, ALL, "AF_CAN" },
	{ 31, ALL, "AF_BLUETOOTH" }, { 44, ALL, "AF_XDP" },
};

static const struct flag socket_types[] = {
	{ 1, 15, "SOCK_STREAM" }, { 2, 15, "SOCK_DGRAM" },
	{ 3, 15, "SOCK_RAW" }, { 4, 15, "SOCK_RDM" },
	{ 5, 15, "SOCK_SEQPACKET" }, { 10, 15, "SOCK_PACKET" },
	{ 04000, 04000, "SOCK_NONBLOCK" },
	{ 02000000, 02000000, "SOCK_CLOEXEC" },
};

static const struct flag message_flags[] = {
	{ 1, 1, "MSG_OOB" }, { 2, 2, "MSG_PEEK" }, { 4, 4, "MSG_DONTROUTE" },
	{ 8, 8, "MSG_CTRUNC" }, { 0x20, 0x20, "MSG_TRUNC" },
	{ 0x40, 0x40, "MSG_DONTWAIT" }, { 0x80, 0x80, "MSG_EOR" },
	{ 0x100, 0x100, "MSG_WAITALL" }, { 0x800, 0x800, "MSG_CONFIRM" },
	{ 0x2000, 0x2000, "MSG_ERRQUEUE" }, { 0x4000, 0x4000, "MSG_NOSIGNAL" },
	{ 0x8000, 0x8000, "MSG_MORE" }, { 0x10000, 0x10000, "MSG_WAITFORONE" },
	{ 0x4000000, 0x4000000, "MSG_ZEROCOPY" },
	{ 0x20000000, 0x20000000, "MSG_FASTOPEN" },
	{ 0x40000000, 0x40000000, "MSG_CMSG_CLOEXEC" },
};

static const struct flag shutdowns[] = {
	{ 0, ALL, "SHUT_RD" }, { 1, ALL, "SHUT_WR" }, { 2, ALL, "SHUT_RDWR" },
};

static const struct flag futex_ops[] = {
	{ 0, 0x7f, "FUTEX_WAIT" }, { 1, 0x7f, "FUTEX_WAKE" },
	{ 2, 0x7f, "FUTEX_FD" }, { 3, 0x7f, "FUTEX_REQUEUE" },
	{ 4, 0x7f, "FUTEX_CMP_REQUEUE" }, { 5, 0x7f, "FUTEX_WAKE_OP" },
	{ 6, 0x7f, "FUTEX_LOCK_PI" }, { 7, 0x7f, "FUTEX_UNLOCK_PI" },
	{ 8, 0x7f, "FUTEX_TRYLOCK_PI" }, { 9, 0x7f, "FUTEX_WAIT_BITSET" },
	{ 10, 0x7f, "FUTEX_WAKE_BITSET" },
	{ 11, 0x7f, "FUTEX_WAIT_REQUEUE_PI" },
	{ 12, 0x7f, "FUTEX_CMP_REQUEUE_PI" }, { 13, 0x7f, "FUTEX_LOCK_PI2" },
	{ 128, 128, "FUTEX_PRIVATE_FLAG" },
	{ 256, 256, "FUTEX_CLOCK_REALTIME" },
};

static const struct flag fcntl_commands[] = {
	{ 0, ALL, "F_DUPFD" }, { 1, ALL, "F_GETFD" }, { 2, ALL, "F_SETFD" },
	{ 3, ALL, "F_GETFL" }, { 4, ALL, "F_SETFL" }, { 5, ALL, "F_GETLK" },
	{ 6, ALL, "F_SETLK" }, { 7, ALL, "F_SETLKW" }, { 8, ALL, "F_SETOWN" },
	{ 9, ALL, "F_GETOWN" }, { 10, ALL, "F_SETSIG" },
	{ 11, ALL, "F_GETSIG" }, { 36, ALL, "F_OFD_GETLK" },
	{ 37, ALL, "F_OFD_SETLK" }, { 38, ALL, "F_OFD_SETLKW" },
	{ 1024, ALL, "F_SETLEASE" }, { 1025, ALL, "F_GETLEASE" },
	{ 1026, ALL, "F_NOTIFY" }, { 1030, ALL, "F_DUPFD_CLOEXEC" },
	{ 1031, ALL, "F_SETPIPE_SZ" }, { 1032, ALL, "F_GETPIPE_SZ" },
	{ 1033, ALL, "F_ADD_SEALS" }, { 1034, ALL, "F_GET_SEALS" },
};

static const struct flag flock_operations[] = {
	{ 1, 1, "LOCK_SH" }, { 2, 2, "LOCK_EX" }, { 4, 4, "LOCK_NB" },
	{ 8, 8, "LOCK_UN" },
};

static const struct flag epoll_operations[] = {
	{ 1, ALL, "EPOLL_CTL_ADD" }, { 2, ALL, "EPOLL_CTL_DEL" },
	{ 3, ALL, "EPOLL_CTL_MOD" },
};

static const struct flag event_flags[] = {
	{ 1, 1, "EFD_SEMAPHORE" }, { 04000, 04000, "EFD_NONBLOCK" },
	{ 02000000, 02000000, "EFD_CLOEXEC" },
};

static const struct flag clocks[] = {
	{ 0, ALL, "CLOCK_REALTIME" }, { 1, ALL, "CLOCK_MONOTONIC" },
	{ 2, ALL, "CLOCK_PROCESS_CPUTIME_ID" },
	{ 3, ALL, "CLOCK_THREAD_CPUTIME_ID" },
	{ 4, ALL, "CLOCK_MONOTONIC_RAW" }, { 5, ALL, "CLOCK_REALTIME_COARSE" },
	{ 6, ALL, "CLOCK_MONOTONIC_COARSE" }, { 7, ALL, "CLOCK_BOOTTIME" },
	{ 8, ALL, "CLOCK_REALTIME_ALARM" }, { 9, ALL, "CLOCK_BOOTTIME_ALARM" },
	{ 11, ALL, "CLOCK_TAI" },
};

static const struct flag timer_flags[] = {
	{ 1, 1, "TIMER_ABSTIME" },
};

static const struct flag itimers[] = {
	{ 0, ALL, "ITIMER_REAL" }, { 1, ALL, "ITIMER_VIRTUAL" },
	{ 2, ALL, "ITIMER_PROF" },
};

static const struct flag mask_hows[] = {
	{ 0, ALL, "SIG_BLOCK" }, { 1, ALL, "SIG_UNBLOCK" },
	{ 2, ALL, "SIG_SETMASK" },
};

static const struct flag resources[] = {
	{ 0, ALL, "RLIMIT_CPU" }, { 1, ALL, "RLIMIT_FSIZE" },
	{ 2, ALL, "RLIMIT_DATA" }, { 3, ALL, "RLIMIT_STACK" },
	{ 4, ALL, "RLIMIT_CORE" }, { 5, ALL, "RLIMIT_RSS" },
	{ 6, ALL, "RLIMIT_NPROC" }, { 7, ALL, "RLIMIT_NOFILE" },
	{ 8, ALL, "RLIMIT_MEMLOCK" }, { 9, ALL, "RLIMIT_AS" },
	{ 10, ALL, "RLIMIT_LOCKS" }, { 11, ALL, "RLIMIT_SIGPENDING" },
	{ 12, ALL, "RLIMIT_MSGQUEUE" }, { 13, ALL, "RLIMIT_NICE" },
	{ 14, ALL, "RLIMIT_RTPRIO" }, { 15, ALL, "RLIMIT_RTTIME" },
};

static const struct flag random_flags[] = {
	{ 1, 1, "GRND_NONBLOCK" }, { 2, 2, "GRND_RANDOM" },
	{ 4, 4, "GRND_INSECURE" },
};

static const struct flag memfd_flags[] = {
	{ 1, 1, "MFD_CLOEXEC" }, { 2, 2, "MFD_ALLOW_SEALING" },
	{ 4, 4, "MFD_HUGETLB" }, { 8, 8, "MFD_NOEXEC_SEAL" },
	{ 16, 16, "MFD_EXEC" },
};

static const struct flag policies[] = {
	{ 0, 0xff, "SCHED_OTHER" }, { 1, 0xff, "SCHED_FIFO" },
	{ 2, 0xff, "SCHED_RR" }, { 3, 0xff, "SCHED_BATCH" },
	{ 5, 0xff, "SCHED_IDLE" }, { 6, 0xff, "SCHED_DEADLINE" },
	{ 7, 0xff, "SCHED_EXT" },
	{ 0x40000000, 0x40000000, "SCHED_RESET_ON_FORK" },
};

#endif /* _KT_SYSCALL_FLAGS_H */
