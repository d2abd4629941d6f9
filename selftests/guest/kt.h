/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest tests share: the device, its ioctls, events that are counted.
 * Needs no library, so that a mistake in libktape cannot hide one in the module.
 * Mapped rings and their records: kt_ring.h.
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
#include <unistd.h>

#include <ktape/abi.h>

#define KT_DEVICE	"/dev/ktape"

/*
 * The harness gives a test 30 s, which a sanitizer kernel on a busy machine
 * needs for what takes one; run-tests ends what hangs.
 */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	120

/* How much slower this kernel is than a stock one: divide what repeats. */
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

/* START, STOP, CLEAR, FLUSH */
static inline int kt_command(int fd, unsigned long cmd)
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

/* @nr in: room in @entries; the answer's members are in @l. */
static inline int kt_layout(int fd, struct ktape_layout *l,
			    struct ktape_layout_entry *entries, uint32_t nr)
{
	memset(l, 0, sizeof(*l));
	l->size = sizeof(*l);
	l->nr = nr;
	l->entries = (uintptr_t)entries;
	return kt_ioctl(fd, KTAPE_IOC_LAYOUT, l);
}

/* A session of one's own: its descriptor or a negative errno. */
static inline int kt_create(int fd, uint32_t mode, uint64_t ring_size,
			    uint32_t block_size)
{
	struct ktape_create c = { .size = sizeof(c),
				  .mode = mode,
				  .ring_size = ring_size,
				  .block_size = block_size };

	return kt_ioctl(fd, KTAPE_IOC_CREATE, &c);
}

static inline void kt_mask_add(__u64 *mask, unsigned int opcode)
{
	mask[opcode / 64] |= 1ULL << opcode % 64;
}

static inline bool kt_mask_has(const __u64 *mask, unsigned int opcode)
{
	return mask[opcode / 64] >> opcode % 64 & 1;
}

/* @p: op, flags and mask are used; filled with what is in force. */
static inline int kt_profile(int fd, struct ktape_profile *p)
{
	p->size = sizeof(*p);
	p->generation = 0;
	return kt_ioctl(fd, KTAPE_IOC_PROFILE, p);
}

/* SET, OR or ANDNOT of up to three opcodes; 0 is none. */
static inline int kt_profile_ops(int fd, uint32_t op, unsigned int a,
				 unsigned int b, unsigned int c)
{
	struct ktape_profile p = { .op = op };

	kt_mask_add(p.mask, a);
	kt_mask_add(p.mask, b);
	kt_mask_add(p.mask, c);
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

/* Each is one sys_enter and one sys_exit of the calling thread. */
static inline void kt_getppids(long n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

/* SIGALRM every @us microseconds, scaled, to no effect; 0 ends it. */
static inline void kt_on_alarm(int sig)
{
}

static inline void kt_alarms(long us)
{
	struct sigaction sa = { .sa_handler = kt_on_alarm,
				.sa_flags = SA_RESTART };
	/* A sanitizer kernel needs thirty times as long for a call. */
	const long slower = us * (kt_scale() > 1 ? 30 : 1);
	struct itimerval every = { { 0, slower }, { 0, slower } };

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
}

/* Into a file of /proc or /sys. Return: 0 or an error. */
static inline int kt_write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* Bring a CPU or take it away. Return: 0 or an error. */
static inline int kt_set_online(int cpu, bool on)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	return kt_write_text(path, on ? "1" : "0");
}

/* The sum of the lines "@name: NUMBER" of a file, -1 if there is none. */
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

/* A line of /proc/meminfo in KiB, like "MemFree". */
static inline long kt_meminfo(const char *name)
{
	return kt_sum_of("/proc/meminfo", name);
}

/* Free memory in KiB, with the pages that each CPU keeps at hand. */
static inline long kt_free_kib(void)
{
	return kt_meminfo("MemFree") + kt_sum_of("/proc/zoneinfo", "count") * 4;
}

/* Does a thread sleep, so that a signal could wake it?  By its number. */
static inline bool kt_is_asleep(pid_t tid)
{
	char path[64], text[256] = "";
	const char *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

/*
 * An emulated CPU that pauses gives its turn to the next one.  Others that wait for
 * this one, or have been woken, would wait until its turn is over otherwise, which
 * is many thousands of calls.
 */
static inline void kt_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

#endif /* _KT_H */
