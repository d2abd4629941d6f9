/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cause every event that a guest can cause, for t_hostile_leak, which searches the records.
 * The steps are short enough for a ring of 1 MiB: a flood would overwrite what is rare.
 * KT_PATTERN is what kt_leak.h, which has to be included before, searches for.
 */
#ifndef _KT_LEAK_WORK_H
#define _KT_LEAK_WORK_H

#include <poll.h>
#include <pthread.h>
#include <sys/xattr.h>

#include "kt_emit.h"
#include "kt_filter.h"
#include "kt_fire.h"
#include "kt_spawn.h"

#define KT_WORKERS 4

/* ---- threads that call, fault and send signals ----------------------------------- */

static inline bool kt_is_one_byte(ssize_t n)
{
	return n == 1;
}

/*
 * Leave the pattern on the kernel's stack of this thread: poll() copies its list there. It
 * is in no register, which would be recorded.
 */
static inline void kt_fill_stack(void)
{
	static struct pollfd list[] = {
		[0 ... 99] = { .fd = (int)KT_PATTERN,
			       .events = (short)(KT_PATTERN >> 32) },
	};

	poll(list, 100, 0);
}

/*
 * Leave the pattern in objects of the slabs that no memory cgroup pays for; those of messages
 * (kt_fill_slabs()) are paid for, and come from other slabs.  The value of an attribute is
 * copied to such an object before the file refuses it. The next caller on this CPU gets it.
 */
static inline void kt_fill_objects(int fd)
{
	static const size_t sizes[] = { 32,  64,  96,	128, 192,
					256, 512, 1024, 4096 };
	static const uint64_t bytes[512] = { [0 ... 511] = KT_PATTERN };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		fsetxattr(fd, "user.kt", bytes, sizes[i], 0);
}

/* Return: @failed, or NULL if everything worked. */
static inline void *kt_worker_main(void *failed)
{
	char byte;
	int p[2];

	for (int i = 0; i < 40; i++) {
		int f = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bool ok;

		if (m == MAP_FAILED || f < 0 || pipe(p))
			return failed;
		m[0] = m[4096] = 1;
		kt_fill_stack();
		kt_fill_objects(f);
		/* The kernel itself faults on the third page. */
		ok = kt_is_one_byte(read(f, m + 8192, 1)) &&
		     kt_is_one_byte(write(p[1], "x", 1)) &&
		     kt_is_one_byte(read(p[0], &byte, 1));
		munmap(m, 65536);
		close(f);
		close(p[0]);
		close(p[1]);
		if (!ok)
			return failed;
		/* The program has a handler for it, see kt_alarms(). */
		pthread_kill(pthread_self(), SIGALRM);
		usleep(100);
		kt_getppids(50);
	}
	return NULL;
}

/* Run a program with up to two arguments to its end.  Return: 0 or -EIO. */
static inline int kt_step_run(const char *path, const char *a, const char *b)
{
	char *argv[] = { (char *)path, (char *)a, (char *)b, NULL };

	return kt_run(argv, KT_SAME, KT_SAME) ? -EIO : 0;
}

/* ---- steps: each returns 0, or a negative errno -------------------------------- */

static inline int kt_step_workers(void)
{
	pthread_t thread[KT_WORKERS];
	void *failed;
	int ret = 0;

	for (int i = 0; i < KT_WORKERS; i++)
		if (pthread_create(&thread[i], NULL, kt_worker_main, thread))
			return -EAGAIN;
	kt_step_run("/bin/busybox", "true", NULL);
	for (int i = 0; i < KT_WORKERS; i++)
		if (pthread_join(thread[i], &failed) || failed)
			ret = -EIO;
	return ret;
}

/* Modules that call what a guest has no device for. */
static inline int kt_step_fire(void)
{
	static const char *const names[] = {
		"kmalloc",   "cache",	"pages",   "use",    "idle_miss",
		"frequency", "suspend", "console", "rpm",    "wakeup",
		"requeue",   "merge",	"irq",	   "die",    "trap",
		"hang",	     "warn",	"kfence",  "memory", "pcie",
		"mce",	     "trip",	"xmit",
	};
	int ret = kt_fire_load();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !ret; i++) {
		ret = kt_fire(names[i], 3);
		/* Not on this kernel. */
		if (ret == -ENOENT || ret == -EINVAL)
			ret = 0;
	}
	return kt_rmmod("kt_fire") ?: ret;
}

static inline int kt_step_cause(void)
{
	static const char *const causes[] = {
		"timer 3",    "work 3",	       "tasklet 3",
		"irq_work 3", "call_single 3", "call 3",
		"sleep 3",    "io_sleep 3",    "mutex 3",
	};
	int ret = kt_insmod("/tests/kt_cause.ko", "");

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes) && !ret; i++)
		ret = kt_write_text("/sys/module/kt_cause/parameters/run",
				    causes[i]);
	return kt_rmmod("kt_cause") ?: ret;
}

static inline int kt_step_emit(void)
{
	int ret = kt_insmod("/tests/ktape_emit.ko", "");
	int mark = ktape_mark_open();

	ktape_text(mark, "a text");
	ktape_mark(mark, 7, "a mark");
	ktape_value(mark, 7, -5, NULL);
	close(mark);
	return kt_rmmod("ktape_emit") ?: ret;
}

struct kt_lock {
	pthread_mutex_t mutex;
	pid_t tid; /* of the thread that waits for it */
};

static inline void *kt_lock_main(void *arg)
{
	struct sched_param p = { .sched_priority = 1 };
	struct kt_lock *l = arg;

	sched_setscheduler(0, SCHED_FIFO, &p);
	__atomic_store_n(&l->tid, gettid(), __ATOMIC_RELEASE);
	pthread_mutex_lock(&l->mutex);
	pthread_mutex_unlock(&l->mutex);
	return NULL;
}

/* A thread of high priority waits for a lock of this one, whose priority is raised. */
static inline int kt_wait_boosted(void)
{
	struct kt_lock l = {};
	pthread_mutexattr_t a;
	pthread_t t;
	pid_t tid;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&l.mutex, &a);
	pthread_mutex_lock(&l.mutex);
	if (pthread_create(&t, NULL, kt_lock_main, &l))
		return -EAGAIN;
	do {
		usleep(1000);
		tid = __atomic_load_n(&l.tid, __ATOMIC_ACQUIRE);
	} while (!tid || !kt_is_asleep(tid));
	pthread_mutex_unlock(&l.mutex);
	return -pthread_join(t, NULL);
}

static inline int kt_step_tasks(void)
{
	int ret;

	kt_alarms(1000);
	for (unsigned int i = 0; i < 20; i++) {
		kt_rename(i);
		kt_pin(i % kt_online_cpus());
		usleep(2000);
	}
	kt_alarms(0);
	ret = kt_wait_boosted();
	return ret ?: kt_step_run("/bin/busybox", "true", NULL);
}

/* Read a block, past the page cache. */
static inline int kt_read_disk(const char *path)
{
	static char page[4096] __attribute__((aligned(4096)));
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = read(fd, page, sizeof(page)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * Read a block of a disk without requests (brd), if the kernel has it, and one of a disk whose
 * requests an I/O scheduler queues.
 */
static inline int kt_step_devices(void)
{
	int brd = kt_modprobe("brd"), ret = 0;

	if (!access("/dev/ram0", F_OK))
		ret = kt_read_disk("/dev/ram0");
	if (!brd)
		brd = kt_rmmod("brd");
	kt_write_text("/sys/block/vdb/queue/scheduler", "mq-deadline");
	ret = ret ?: kt_read_disk("/dev/vdb");
	kt_write_text("/sys/block/vdb/queue/scheduler", "none");
	if (brd && brd != -ENOENT)
		ret = brd;
	return ret;
}

static inline int kt_step_load(void)
{
	return kt_step_run("/tests/workload", "1", "/scratch");
}

static inline int kt_step_cpus(void)
{
	int ret = kt_set_online(1, false);

	return kt_set_online(1, true) ?: ret;
}

/* What the kernel prints when something is wrong, and what these sysrq keys show. */
static inline int kt_print(const char *keys)
{
	int ret = kt_insmod("/tests/kt_print.ko", "");

	for (const char *key = keys; *key && !ret; key++) {
		const char text[] = { *key, 0 };

		/* All of these need CONFIG_MAGIC_SYSRQ. */
		if (!access("/proc/sysrq-trigger", W_OK))
			ret = kt_write_text("/proc/sysrq-trigger", text);
	}
	return kt_rmmod("kt_print") ?: ret;
}

static inline int kt_step_log(void)
{
	return kt_print("lmwt");
}

/* Without backtraces in NMIs, at which some kernels WARN if the log is recorded. */
static inline int kt_step_log_quiet(void)
{
	return kt_print("mwt");
}

static inline int kt_step_spans(void)
{
	return kt_step_cause() ?: kt_step_devices() ?: kt_step_workers();
}

/**
 * struct kt_step - something that causes events
 * @name: what
 * @cause: causes them
 * @narrow: calls are recorded without their arguments (sys_enter instead of sys_enter_wide)
 * @spans: pairs of events are recorded as spans
 */
struct kt_step {
	const char *name;
	int (*cause)(void);
	bool narrow, spans;
};

static const struct kt_step kt_steps[] = {
	{ "modules", kt_step_fire, false, false },
	{ "timers and work", kt_step_cause, false, false },
	{ "marks", kt_step_emit, true, false },
	{ "tasks", kt_step_tasks, true, false },
	{ "devices", kt_step_devices, false, false },
	{ "load", kt_step_load, false, false },
	{ "CPUs", kt_step_cpus, false, false },
	{ "spans", kt_step_spans, false, true },
	{ "workers", kt_step_workers, false, false },
};

#define KT_STEPS ((int)(sizeof(kt_steps) / sizeof(*kt_steps)))

/* Mostly the last step, which causes most events in a time. */
static inline const struct kt_step *kt_step_of(int round)
{
	return &kt_steps[round % 8 ? KT_STEPS - 1 : round / 8 % KT_STEPS];
}

#endif /* _KT_LEAK_WORK_H */
