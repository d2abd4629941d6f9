// SPDX-License-Identifier: GPL-2.0-only
/*
 * One program for each event, which puts a record of 32 bytes into a BPF ring buffer. None
 * wakes the reader, because the wakeups would be events, too.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "ring.h"

char _license[] SEC("license") = "GPL";

/* The fields of the kernel's types that are used; their offsets come from its BTF. */
struct task_struct {
	int pid;
	int prio;
} __attribute__((preserve_access_index));

struct linux_binprm;
struct irqaction;
struct timer_list;
struct hrtimer;
struct pt_regs;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20); /* ring.c sets the real size */
} ring SEC(".maps");

unsigned long long lost;

static __always_inline int put(enum event event, unsigned long long a,
			       unsigned long long b)
{
	struct record *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->ns = bpf_ktime_get_ns();
	r->event = event;
	r->pid = bpf_get_current_pid_tgid();
	r->words[0] = a;
	r->words[1] = b;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

static __always_inline unsigned long long pair(unsigned int high, unsigned int low)
{
	return (unsigned long long)high << 32 | low;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(sched_switch, _Bool preempt, struct task_struct *prev,
	     struct task_struct *next, unsigned int state)
{
	return put(EVENT_sched_switch, pair(prev->pid, next->pid),
		   pair(state, prev->prio << 16 | next->prio));
}

#define TASK_EVENT(name)                                         \
	SEC("tp_btf/" #name)                                     \
	int BPF_PROG(name, struct task_struct *task)             \
	{                                                        \
		return put(EVENT_##name, task->pid, task->prio); \
	}
TASK_EVENT(sched_waking)
TASK_EVENT(sched_wakeup)
TASK_EVENT(sched_wakeup_new)
TASK_EVENT(sched_process_exit)

SEC("tp_btf/sched_process_fork")
int BPF_PROG(sched_process_fork, struct task_struct *parent, struct task_struct *child)
{
	return put(EVENT_sched_process_fork, parent->pid, child->pid);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(sched_process_exec, struct task_struct *task, int old_pid,
	     struct linux_binprm *bprm)
{
	return put(EVENT_sched_process_exec, task->pid, old_pid);
}

#define NUMBER_EVENT(name, type)                     \
	SEC("tp_btf/" #name)                         \
	int BPF_PROG(name, type number)              \
	{                                            \
		return put(EVENT_##name, number, 0); \
	}
NUMBER_EVENT(softirq_raise, unsigned int)
NUMBER_EVENT(softirq_entry, unsigned int)
NUMBER_EVENT(softirq_exit, unsigned int)

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_handler_entry, int irq, struct irqaction *action)
{
	return put(EVENT_irq_handler_entry, irq, 0);
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_handler_exit, int irq, struct irqaction *action, int done)
{
	return put(EVENT_irq_handler_exit, irq, done);
}

/* A record names a timer by its address. The second argument is a time or a mode. */
#define TIMER_EVENT(name, type)                                         \
	SEC("tp_btf/" #name)                                            \
	int BPF_PROG(name, type *timer)                                 \
	{                                                               \
		return put(EVENT_##name, (unsigned long long)timer, 0); \
	}
TIMER_EVENT(timer_expire_exit, struct timer_list)
TIMER_EVENT(timer_cancel, struct timer_list)
TIMER_EVENT(hrtimer_expire_entry, struct hrtimer)
TIMER_EVENT(hrtimer_expire_exit, struct hrtimer)
TIMER_EVENT(hrtimer_cancel, struct hrtimer)

#define TIMER_VALUE_EVENT(name, type, value)                                 \
	SEC("tp_btf/" #name)                                                 \
	int BPF_PROG(name, type *timer, value second)                        \
	{                                                                    \
		return put(EVENT_##name, (unsigned long long)timer, second); \
	}
TIMER_VALUE_EVENT(timer_start, struct timer_list, unsigned long)
TIMER_VALUE_EVENT(timer_expire_entry, struct timer_list, unsigned long)
TIMER_VALUE_EVENT(hrtimer_start, struct hrtimer, int)

SEC("tp_btf/sys_enter")
int BPF_PROG(sys_enter, struct pt_regs *regs, long id)
{
	return put(EVENT_sys_enter, id, 0);
}

/* Without the number of the call: it is that of the thread's last sys_enter. */
SEC("tp_btf/sys_exit")
int BPF_PROG(sys_exit, struct pt_regs *regs, long result)
{
	return put(EVENT_sys_exit, result, 0);
}
