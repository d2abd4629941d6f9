/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A worker: a thread or a process that runs on a CPU of its own and never sleeps, because it
 * gets its orders through shared memory. It makes calls that must be recorded, or must not,
 * while a test changes whether it passes a filter.
 */
#ifndef _KT_WORKER_H
#define _KT_WORKER_H

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"

#define CPU   1
#define RING  (4UL << 20)
#define CALLS 20

/* Calls that no other process in the guest makes: to be recorded, or not. */
#define YES SYS_getppid
#define NO  SYS_getpgid

/*
 * Set the profile, with context records: without them a CPU does not keep whether the
 * running thread passes the filters, which is what these tests are about.
 */
static inline int set_worker_profile(int fd, const unsigned char *ops)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	for (; *ops; ops++)
		kt_ops_add(p.mask, *ops);
	return kt_profile(fd, &p);
}

static inline int worker_session(const unsigned char *ops)
{
	int fd = kt_session(0, RING, 0, KT_OPS(KTAPE_EV_SYS_ENTER));

	return fd < 0 || set_worker_profile(fd, ops) ? -1 : fd;
}

static inline void make_worker_calls(bool yes)
{
	for (int i = 0; i < CALLS; i++)
		syscall(yes ? YES : NO, 0);
}

/* The calls in a trace. */
struct calls {
	uint64_t yes, no;
};

static inline void count_worker_call(const struct kt_rec *r, struct kt_tally *t)
{
	struct calls *c = t->arg;

	c->yes += r->op == KTAPE_EV_SYS_ENTER && r->dat20 == YES;
	c->no += r->op == KTAPE_EV_SYS_ENTER && r->dat20 == NO;
}

/* Expect a session to have recorded @yes calls that must be, and none that must not. */
static inline void check_worker_calls(struct __test_metadata *_metadata, int fd,
				      struct kt_tally *t, uint64_t yes)
{
	struct calls c = {};

	kt_stop_and_tally(t, fd, count_worker_call, &c);
	EXPECT_EQ(0, t->wrong);
	EXPECT_EQ(yes, c.yes);
	EXPECT_EQ(0, c.no);
}

/* After a fork: make calls in the child, and wait for it in the parent.  Return: its status. */
static inline int call_in_child(pid_t pid, bool yes)
{
	int status = -1;

	if (!pid) {
		make_worker_calls(yes);
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	return status;
}

/* Orders of a worker: do nothing, make calls that must be recorded or must not, end. */
enum { WAIT, CALL_YES, CALL_NO, END };

/**
 * struct worker - a thread or process that follows orders
 * @thread: the thread; not used for a process
 * @tid: its number, 0 until it runs
 * @order: its order, which it sets to WAIT when it is done
 * @cpu: its CPU
 */
struct worker {
	pthread_t thread;
	pid_t tid;
	int order, cpu;
};

static inline void *worker_main(void *arg)
{
	struct worker *w = arg;
	int order;

	kt_pin(w->cpu);
	__atomic_store_n(&w->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	do {
		order = __atomic_load_n(&w->order, __ATOMIC_ACQUIRE);
		if (order == WAIT)
			continue;
		if (order != END)
			make_worker_calls(order == CALL_YES);
		__atomic_store_n(&w->order, WAIT, __ATOMIC_RELEASE);
	} while (order != END);
	return NULL;
}

static inline void give_worker_order(struct worker *w, int order)
{
	__atomic_store_n(&w->order, order, __ATOMIC_RELEASE);
	while (__atomic_load_n(&w->order, __ATOMIC_ACQUIRE) != WAIT)
		sched_yield();
}

/* Return: 0 if the thread runs. */
static inline int start_worker_thread(struct worker *w, int cpu)
{
	*w = (struct worker){ .cpu = cpu };
	if (pthread_create(&w->thread, NULL, worker_main, w))
		return -1;
	while (!__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return 0;
}

static inline void end_worker_thread(struct worker *w)
{
	give_worker_order(w, END);
	pthread_join(w->thread, NULL);
}

/* Start a process; struct worker is in memory that it shares. Return: it, or NULL. */
static inline struct worker *start_worker_process(int cpu)
{
	struct worker *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (w == MAP_FAILED)
		return NULL;
	w->cpu = cpu;
	pid = fork();
	if (!pid) {
		worker_main(w);
		_exit(0);
	}
	while (pid > 0 && !__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return pid > 0 ? w : NULL;
}

static inline void end_worker_process(struct worker *w)
{
	give_worker_order(w, END);
	waitpid(w->tid, NULL, 0);
	munmap(w, sizeof(*w));
}

#endif /* _KT_WORKER_H */
