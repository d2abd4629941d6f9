/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers of all guest tests: open the device, issue its ioctls, cause a known
 * number of events. They do not use libktape, so that an error in the library
 * cannot hide an error in the module. Mapped rings and their records are in
 * kt_ring.h.
 */
#ifndef _KT_H
#define _KT_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <ktape/abi.h>

#define KT_DEVICE "/dev/ktape"

/*
 * The harness would end a test after 30 s. A sanitizer kernel on a busy machine
 * needs that long for what takes 1 s elsewhere, and a guest's clock goes on while
 * its host is busy with something else. So the default limit is longer, and the
 * limit that a test asks for is multiplied by KT_PATIENCE. The runner of the guest
 * (guest/boot/run-tests) ends a program that hangs.
 */
#define KT_PATIENCE 5
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT (120 * KT_PATIENCE)
#undef TEST_F_TIMEOUT
#define TEST_F_TIMEOUT(fixture, test, seconds) \
	__TEST_F_IMPL(fixture, test, -1, KT_PATIENCE *(seconds))

/*
 * Return how much slower this kernel is than a stock kernel. Tests divide their
 * number of repetitions by it.
 */
static inline int kt_scale(void)
{
	const char *text = getenv("KTAPE_SCALE");
	int scale = text ? atoi(text) : 1;

	return scale > 0 ? scale : 1;
}

/* ---- system calls: the result or a negative errno ---------------------- */

static inline int kt_open(int flags)
{
	int fd = open(KT_DEVICE, flags | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline int kt_ioctl(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

/* Issue START, STOP, CLEAR or FLUSH. */
static inline int kt_control(int fd, unsigned long cmd)
{
	struct ktape_command c = { .size = sizeof(c) };

	return kt_ioctl(fd, cmd, &c);
}

static inline int kt_features(int fd, struct ktape_features *f)
{
	memset(f, 0, sizeof(*f));
	f->size = sizeof(*f);
	return kt_ioctl(fd, KTAPE_IOC_FEATURES, f);
}

#define KT_REGIONS_MAX 129 /* 64 CPUs with two rings each, and the registry */

/*
 * Read the layout. @entries has room for @nr entries; the module's answer, with
 * its own nr, is in @l.
 */
static inline int kt_layout(int fd, struct ktape_layout *l,
			    struct ktape_layout_entry *entries, uint32_t nr)
{
	memset(l, 0, sizeof(*l));
	l->size = sizeof(*l);
	l->nr = nr;
	l->entries = (uintptr_t)entries;
	return kt_ioctl(fd, KTAPE_IOC_LAYOUT, l);
}

/* Return the number of the session; ~0: failed. */
static inline unsigned int kt_layout_session(int fd)
{
	struct ktape_layout l;

	return kt_layout(fd, &l, NULL, 0) ? ~0U : l.session;
}

/* Create an unnamed session. Return: its descriptor or a negative errno. */
static inline int kt_create_with(int fd, uint32_t mode, uint64_t ring_size,
				 uint32_t block_size, uint32_t flags)
{
	struct ktape_create c = { .size = sizeof(c),
				  .mode = mode,
				  .ring_size = ring_size,
				  .block_size = block_size,
				  .flags = flags };

	return kt_ioctl(fd, KTAPE_IOC_CREATE, &c);
}

static inline int kt_create(int fd, uint32_t mode, uint64_t ring_size,
			    uint32_t block_size)
{
	return kt_create_with(fd, mode, ring_size, block_size, 0);
}

static inline void kt_ops_add(__u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] |= 1ULL << opcode % 64;
}

static inline bool kt_ops_has(const __u64 *mask, unsigned int opcode)
{
	return mask[opcode / 64] >> opcode % 64 & 1;
}

/*
 * Change or read a profile. The module reads op, flags and mask of @p and fills
 * @p with the profile in force.
 */
static inline int kt_profile(int fd, struct ktape_profile *p)
{
	p->size = sizeof(*p);
	p->generation = 0;
	return kt_ioctl(fd, KTAPE_IOC_PROFILE, p);
}

/* Apply SET, OR or ANDNOT to up to three opcodes; 0 stands for no opcode. */
static inline int kt_profile_ops(int fd, uint32_t op, unsigned int a,
				 unsigned int b, unsigned int c)
{
	struct ktape_profile p = { .op = op };

	kt_ops_add(p.mask, a);
	kt_ops_add(p.mask, b);
	kt_ops_add(p.mask, c);
	p.mask[0] &= ~1ULL;
	return kt_profile(fd, &p);
}

static inline int kt_stats(int fd, uint32_t cpu, uint32_t kind,
			   struct ktape_stats *st)
{
	memset(st, 0, sizeof(*st));
	st->size = sizeof(*st);
	st->cpu = cpu;
	st->kind = kind;
	return kt_ioctl(fd, KTAPE_IOC_STATS, st);
}

/* ---- events ------------------------------------------------------------ */

static inline int kt_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* Return true if the program busy keeps all CPUs busy, so that they are hardly ever idle. */
static inline bool kt_is_busy(void)
{
	return getenv("KTAPE_BUSY");
}

/*
 * Make @n system calls: each is one sys_enter and one sys_exit of the calling
 * thread.
 */
static inline void kt_getppids(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

/*
 * Send this process SIGALRM every @us microseconds, or every 30 * @us on a slower kernel.
 * The handler does nothing. 0 stops the signals.
 */
static inline void kt_on_alarm(int sig)
{
}

static inline void kt_alarms(long us)
{
	struct sigaction sa = { .sa_handler = kt_on_alarm, .sa_flags = SA_RESTART };
	/* A system call takes thirty times as long on a sanitizer kernel. */
	const long slower = us * (kt_scale() > 1 ? 30 : 1);
	struct itimerval every = { { 0, slower }, { 0, slower } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* Write @text to a file of /proc or /sys. Return: 0 or a negative errno. */
static inline int kt_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Bring a CPU online or offline. Return: 0 or a negative errno. */
static inline int kt_set_online(int cpu, bool on)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return kt_write_text(path, on ? "1" : "0");
}

/*
 * Return the sum of all lines "@name: NUMBER" of a file, -1 if it has no such
 * line.
 */
static inline long kt_sum_of(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	char line[128], key[64];
	long sum = -1, n;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " %63[^: ]: %ld", key, &n) == 2 &&
		    !strcmp(key, name))
			sum = (sum < 0 ? 0 : sum) + n;
	if (f)
		fclose(f);
	return sum;
}

static inline bool kt_kernel_is_before(unsigned int major, unsigned int minor)
{
	unsigned int is[2] = {};
	struct utsname kernel;

	if (uname(&kernel) || sscanf(kernel.release, "%u.%u", &is[0], &is[1]) != 2)
		return false;
	return is[0] < major || (is[0] == major && is[1] < minor);
}

/* Is the kernel a 32-bit one?  This program may be, on a 64-bit kernel. */
static inline bool kt_kernel_is_32(void)
{
	struct utsname kernel;

	return !uname(&kernel) && sizeof(long) == 4 &&
	       !strstr(kernel.machine, "64");
}

/* The largest ring of this kernel. */
static inline uint64_t kt_ring_max(void)
{
	return kt_kernel_is_32() ? 1ULL << 30 : 1ULL << 31;
}

/*
 * On other architectures a kernel may lack the events of page faults and of interrupts
 * between CPUs, and their tests skip; on x86 such a test fails.
 */
#if defined(__x86_64__) || defined(__i386__)
#define KT_X86 true
#else
#define KT_X86 false
#endif

/* Does the kernel report the end of clone() in the child, too? */
#if defined(__aarch64__) || defined(__arm__)
#define KT_CHILD_RETURNS 0
#else
#define KT_CHILD_RETURNS 1
#endif

/*
 * The kernel's symbol for a system call. These architectures have wrappers, whose names
 * have a prefix (riscv since 6.6).
 */
#if defined(__x86_64__)
#define KT_SYSCALL(name) "__x64_sys_" name
#elif defined(__aarch64__)
#define KT_SYSCALL(name) "__arm64_sys_" name
#elif defined(__riscv)
#define KT_SYSCALL(name) "__riscv_sys_" name
#elif defined(__i386__)
#define KT_SYSCALL(name) "__ia32_sys_" name
#else
#define KT_SYSCALL(name) "sys_" name
#endif

/* Is this a kernel with PREEMPT_RT?  Its build puts that into its version. */
static inline bool kt_is_realtime(void)
{
	struct utsname kernel;

	return !uname(&kernel) && strstr(kernel.version, "PREEMPT_RT");
}

/* Return a line of /proc/meminfo in KiB. @name is like "MemFree". */
static inline long kt_meminfo(const char *name)
{
	return kt_sum_of("/proc/meminfo", name);
}

/*
 * Return the memory in the per-CPU free lists in KiB, for pages of 4 KiB. Freed memory may
 * stay there for a second, up to tens of MiB.
 */
static inline long kt_free_in_lists_kib(void)
{
	return kt_sum_of("/proc/zoneinfo", "count") * 4;
}

/*
 * Return the free memory in KiB, including the pages in the per-CPU free lists.  They are
 * two numbers, read one after the other: read again if pages moved from one to the other.
 */
static inline long kt_free_kib(void)
{
	long lists = kt_free_in_lists_kib(), before, rest;
	int tries = 10;

	do {
		before = lists;
		rest = kt_meminfo("MemFree");
		lists = kt_free_in_lists_kib();
	} while (labs(lists - before) > 256 && tries--);
	return rest + lists;
}

/* Return the state letter of thread @tid from /proc; 0: there is none. */
static inline char kt_thread_state(pid_t tid)
{
	char path[64], text[256] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	state = strrchr(text, ')');
	return state && state[1] ? state[2] : 0;
}

/* Return true if thread @tid is in interruptible sleep. */
static inline bool kt_is_asleep(pid_t tid)
{
	return kt_thread_state(tid) == 'S';
}

/*
 * Execute the pause instruction. An emulated CPU that pauses passes its turn to
 * the next CPU. Without it, CPUs that wait for this one run only when its turn
 * is over, after many thousands of calls.
 */
static inline void kt_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* Return true if this kernel can record the event. */
static inline bool kt_available(unsigned int opcode)
{
	struct ktape_event_info info = { .size = sizeof(info), .opcode = opcode };
	int fd = kt_open(O_RDWR);
	int ret = kt_ioctl(fd, KTAPE_IOC_EVENT_INFO, &info);

	close(fd);
	return !ret && info.state == KTAPE_EVENT_AVAILABLE;
}

#endif /* _KT_H */
