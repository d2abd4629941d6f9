/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads and processes that act on command: the actors, whose events a thread filter lets
 * pass or not. Each makes a different system call, which identifies its records.
 */
#ifndef _KT_CUE_H
#define _KT_CUE_H

#include <pthread.h>
#include <sys/wait.h>

#include "kt_filter.h"

#define CALLS 100
#define RING  (1U << 20)

/*
 * The actors: the test's own thread, another one, one that a test starts later, a child
 * process, a thread of it, and its child.
 */
enum actor { MAIN, THREAD, LATE, CHILD, CHILDS_THREAD, GRANDCHILD, ACTORS };

/* Their system calls, which no other process in the guest makes. */
static const long calls[ACTORS] = {
	SYS_getppid, SYS_getpgid, SYS_getegid,
	SYS_geteuid, SYS_getgid,  SYS_sched_get_priority_min,
};

static inline void make_actor_calls(enum actor a)
{
	for (int i = 0; i < CALLS; i++)
		syscall(calls[a], 0);
}

/* ---- the actors ---------------------------------------------------------- */

/**
 * struct cue - command channel of an actor
 * @actor: the actor
 * @tid: its thread id in its own pid namespace
 * @to: pipe to the actor; a 0 byte ends it
 * @from: pipe on which the actor confirms each action
 */
struct cue {
	enum actor actor;
	pid_t tid;
	int to[2], from[2];
};

static inline int cue_init(struct cue *c, enum actor a)
{
	c->actor = a;
	return pipe2(c->to, O_CLOEXEC) ?: pipe2(c->from, O_CLOEXEC);
}

/*
 * Run the actor: send its thread id, then act once for each byte received,
 * until a 0 byte.
 */
static inline void run_actor(struct cue *c)
{
	pid_t tid = syscall(SYS_gettid);
	char byte;

	if (write(c->from[1], &tid, sizeof(tid)) != sizeof(tid))
		return;
	while (read(c->to[0], &byte, 1) == 1 && byte) {
		make_actor_calls(c->actor);
		if (write(c->from[1], &byte, 1) != 1)
			return;
	}
}

static inline void *actor_main(void *arg)
{
	run_actor(arg);
	return NULL;
}

/* Start an actor as a thread. Return: 0 if it runs. */
static inline int cue_thread(struct cue *c)
{
	pthread_t t;

	return pthread_create(&t, NULL, actor_main, c) || pthread_detach(t) ||
	       read(c->from[0], &c->tid, sizeof(c->tid)) != sizeof(c->tid);
}

/* Let an actor make its calls, and wait for their end. Return: 0 if it did. */
static inline int cue_act(struct cue *c)
{
	char byte = 1;

	return write(c->to[1], &byte, 1) != 1 || read(c->from[0], &byte, 1) != 1;
}

static inline void cue_end(struct cue *c)
{
	if (write(c->to[1], "", 1) != 1)
		abort();
}

/*
 * Start a child process with a thread and a child of its own. All three get a
 * cue. Return: the child's pid.
 */
static inline pid_t fork_family(struct cue *c)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	pid = fork();
	if (!pid) {
		run_actor(&c[GRANDCHILD]);
		_exit(0);
	}
	if (cue_thread(&c[CHILDS_THREAD]))
		_exit(1);
	run_actor(&c[CHILD]);
	waitpid(pid, NULL, 0);
	/*
	 * End this thread only, because the other thread may not have read the
	 * byte that ends it yet.
	 */
	syscall(SYS_exit, 0);
	abort();
}

static inline void count_actor_calls(const struct kt_rec *r, struct kt_tally *t)
{
	uint64_t *n = t->arg;

	for (int a = 0; a < ACTORS; a++)
		n[a] += r->op == KTAPE_EV_SYS_ENTER &&
			r->dat20 == (uint32_t)calls[a];
}

/* Count the signals SIGUSR1 to this process, and those to others. */
static inline void count_actor_signals(const struct kt_rec *r, struct kt_tally *t)
{
	uint64_t *n = t->arg;

	if (r->op == KTAPE_EV_SIGNAL_GENERATE && (r->dat20 & 127) == SIGUSR1)
		n[(pid_t)r->args[0] != getpid()]++;
}

/* The bit of an actor in a set of actors. */
#define B(a) (1U << (a))

#endif /* _KT_CUE_H */
