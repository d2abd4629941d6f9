// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk over all threads, in short sections.
 *
 * The place where it goes on is a number, which nobody can take away, in
 * contrast to a thread in a list.  Who is there at the begin and at the end is
 * seen; who comes meanwhile may have a number that was passed already.
 */
#include <linux/idr.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "threads.h"

/* Threads looked at in one section. */
#define AT_ONCE		256U

/**
 * kt_threads_walk() - look at all threads but the idle ones
 * @look: called for each, within a read section of RCU
 * @arg: for @look
 *
 * Context: process context, may sleep.
 */
void kt_threads_walk(void (*look)(struct task_struct *p, void *arg), void *arg)
{
	struct task_struct *p;
	struct pid *pid;
	unsigned int i;
	int nr = 1;

	do {
		pid = NULL;
		rcu_read_lock();
		for (i = 0; i < AT_ONCE; i++, nr++) {
			pid = idr_get_next(&init_pid_ns.idr, &nr);
			if (!pid)
				break;
			p = pid_task(pid, PIDTYPE_PID);
			if (p)
				look(p, arg);
		}
		rcu_read_unlock();
		cond_resched();
	} while (pid);
}
