/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Create sessions for chosen events, make counted system calls on chosen CPUs,
 * and read a whole stream into a buffer.
 */
#ifndef _KT_LOAD_H
#define _KT_LOAD_H

#include <pthread.h>
#include <sys/prctl.h>

#include "kt.h"

/* ---- sessions ----------------------------------------------------------- */

#define KT_OPS(...) ((const unsigned char[]){ __VA_ARGS__, 0 })

/*
 * Set the profile to the opcodes in @ops, which ends with 0, without context
 * records.
 */
static inline int kt_profile_only(int fd, const unsigned char *ops)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET,
				   .flags = KTAPE_PROFILE_NO_CONTEXT };

	for (; *ops; ops++)
		kt_ops_add(p.mask, *ops);
	return kt_profile(fd, &p);
}

/*
 * Create a stopped session for @ops. Return: its descriptor or a negative
 * errno.
 */
static inline int kt_session(uint32_t mode, uint64_t ring, uint32_t block,
			     const unsigned char *ops)
{
	int dev = kt_open(O_RDWR), fd, ret;

	if (dev < 0)
		return dev;
	/* Only a session that was made for it records the kernel's log. */
	fd = kt_create_with(dev, mode, ring, block,
			    strchr((const char *)ops, KTAPE_EV_CONSOLE) ?
				    KTAPE_CREATE_LOG :
				    0);
	close(dev);
	if (fd < 0)
		return fd;
	ret = kt_profile_only(fd, ops);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

static inline void kt_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

/* Return the sum of one counter over all classes. */
static inline uint64_t kt_sum(const __u64 *counts)
{
	uint64_t n = 0;

	for (int i = 0; i < KTAPE_CLASSES; i++)
		n += counts[i];
	return n;
}

static inline uint64_t kt_lost(const struct ktape_stats *st)
{
	uint64_t n = 0;

	for (int i = 0; i < KTAPE_LOST_REASONS; i++)
		n += kt_sum(st->lost[i]);
	return n;
}

/* ---- a whole stream ------------------------------------------------------ */

/**
 * struct kt_buf - growing buffer
 * @p: the bytes
 * @len: bytes in use
 * @room: bytes allocated
 */
struct kt_buf {
	char *p;
	size_t len, room;
};

static inline void kt_buf_free(struct kt_buf *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

/*
 * Append one read() of up to @chunk bytes. Return: as read(), or a negative
 * errno.
 */
static inline ssize_t kt_buf_read(struct kt_buf *b, int fd, size_t chunk)
{
	ssize_t n;

	if (b->room - b->len < chunk) {
		size_t room = (b->room + chunk) * 2;
		char *p = realloc(b->p, room);

		if (!p)
			return -ENOMEM;
		b->p = p;
		b->room = room;
	}
	n = read(fd, b->p + b->len, chunk);
	if (n < 0)
		return -errno;
	b->len += n;
	return n;
}

/* Read until read() returns 0 or fails. Return: the last result. */
static inline ssize_t kt_slurp(struct kt_buf *b, int fd, size_t chunk)
{
	ssize_t n;

	do {
		n = kt_buf_read(b, fd, chunk);
	} while (n > 0);
	return n;
}

/* ---- calls --------------------------------------------------------------- */

/* Unlike glibc's fork(), make no other calls in the child. */
static inline pid_t kt_fork_plainly(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* First argument of marked calls; the second argument numbers the calls. */
#define KT_MARK ((unsigned long)0x6b74617065ULL)

/*
 * sys_enter_wide records the argument registers even of a call without
 * arguments.
 */
static inline void kt_call_marked(uint64_t n)
{
	syscall(SYS_getppid, KT_MARK, (unsigned long)n);
}

/* Cause one process_rename on this CPU and, if the name is new, a registry record; nothing else. */
static inline void kt_rename(unsigned int n)
{
	char name[16];

	snprintf(name, sizeof(name), "name-%u", n);
	prctl(PR_SET_NAME, name);
}

/*
 * Return true if the record is the sys_enter_wide of a marked call, whose number *@n gets. Of
 * another sys_enter_wide *@n gets the second argument.
 */
static inline bool kt_is_marked(uint32_t op, const char *blob, uint64_t *n)
{
	uint64_t args[6];

	if (op != KTAPE_EV_SYS_ENTER_WIDE || !blob)
		return false;
	memcpy(args, blob, sizeof(args));
	*n = args[1];
	return args[0] == KT_MARK;
}

/**
 * struct kt_load - a thread that stays on one CPU and calls
 * @thread: the thread
 * @cpu: the CPU
 * @limit: number of calls, 0 = until @stop is set
 * @done: number of calls made; none if the thread cannot go to that CPU
 * @stop: set by the main thread to end the thread
 * @call: function that makes call number n
 */
struct kt_load {
	pthread_t thread;
	int cpu;
	uint64_t limit, done;
	bool stop;
	void (*call)(uint64_t n);
};

static inline void *kt_load_main(void *arg)
{
	struct kt_load *l = arg;

	if (kt_pin(l->cpu))
		return NULL;
	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED) &&
	       (!l->limit || l->done < l->limit))
		l->call(l->done++);
	return NULL;
}

/* Start threads on CPUs 0 to @nr - 1. Return: 0 or -1. */
static inline int kt_loads_start(struct kt_load *l, int nr, uint64_t limit,
				 void (*call)(uint64_t n))
{
	for (int i = 0; i < nr; i++) {
		l[i] = (struct kt_load){ .cpu = i, .limit = limit, .call = call };
		if (pthread_create(&l[i].thread, NULL, kt_load_main, &l[i]))
			return -1;
	}
	return 0;
}

static inline void kt_loads_wait(struct kt_load *l, int nr)
{
	for (int i = 0; i < nr; i++)
		pthread_join(l[i].thread, NULL);
}

static inline void kt_loads_stop(struct kt_load *l, int nr)
{
	for (int i = 0; i < nr; i++)
		__atomic_store_n(&l[i].stop, true, __ATOMIC_RELAXED);
	kt_loads_wait(l, nr);
}

static inline int kt_online_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

#endif /* _KT_LOAD_H */
