/* SPDX-License-Identifier: GPL-2.0-only */
/* What the programs in the kernel and their reader share. */
#ifndef _RING_H
#define _RING_H

/* As large as what the floor module stores. */
struct record {
	unsigned long long ns;
	unsigned int event; /* enum event */
	unsigned int pid;   /* thread that it happened in */
	unsigned long long words[2];
};

/* The programs in ring.bpf.c, one for each event. */
/* clang-format off */
#define EVENTS(X)							\
	X(sched_switch) X(sched_waking) X(sched_wakeup) X(sched_wakeup_new)	\
	X(sched_process_fork) X(sched_process_exec) X(sched_process_exit)	\
	X(irq_handler_entry) X(irq_handler_exit)			\
	X(softirq_raise) X(softirq_entry) X(softirq_exit)		\
	X(timer_start) X(timer_expire_entry) X(timer_expire_exit)	\
	X(timer_cancel) X(hrtimer_start) X(hrtimer_expire_entry)	\
	X(hrtimer_expire_exit) X(hrtimer_cancel) X(sys_enter) X(sys_exit)
/* clang-format on */

#define EVENT_NUMBER(name) EVENT_##name,
enum event { EVENTS(EVENT_NUMBER) EVENT_COUNT };

#endif /* _RING_H */
