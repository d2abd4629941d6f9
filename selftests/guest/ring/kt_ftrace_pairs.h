/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that ktape and ftrace both record, and the values of them that both have:
 * each record becomes a key by which the two can be compared.  Ftrace has pointers and texts
 * where ktape has tokens and numbers of the registry, and the count of a module's users is
 * read anew by each: these are not compared.
 */
#ifndef _KT_FTRACE_PAIRS_H
#define _KT_FTRACE_PAIRS_H

#include "grow.h"
#include "kt_ftrace.h"
#include "kt_ring.h"

/* ---- which values of an event both have ---------------------------------- */

enum { NONE, ARG, BITS, FIXED };

/**
 * struct value - a value that both tracers record
 * @from: where ktape has it: NONE = there is no value, ARG = in an argument word, BITS = in
 *	dat20, FIXED = in the low bits of dat20, while ftrace has no field for it, because its
 *	event stands for one value only
 * @at: ARG: number of the word; BITS: first bit; FIXED: the value that ftrace's event stands for
 * @bits: number of bits that count, at most 28, so that two values and the opcode fit in a key
 * @field: ftrace's name of it, NULL for FIXED
 */
struct value {
	unsigned char from, at, bits;
	const char *field;
};

/**
 * struct pair - an event of both tracers
 * @op: ktape's opcode
 * @event: ftrace's name
 * @v: values to compare
 */
struct pair {
	unsigned char op;
	const char *event;
	struct value v[2];
};

#define TID(field)                \
	{                         \
		ARG, 0, 28, field \
	}
#define SECOND(field)             \
	{                         \
		ARG, 1, 28, field \
	}
#define THIRD(field)              \
	{                         \
		ARG, 2, 28, field \
	}
#define LOW(bits, field)             \
	{                            \
		BITS, 0, bits, field \
	}
#define FROM(at, bits, field)         \
	{                             \
		BITS, at, bits, field \
	}
#define IPI(reason)                                \
	{                                          \
		FIXED, KTAPE_IPI_##reason, 5, NULL \
	}

/* clang-format off */
static const struct pair pairs[] = {
	{ KTAPE_EV_SCHED_SWITCH, "sched/sched_switch",
	  { TID("prev_pid"), SECOND("next_pid") } },
	{ KTAPE_EV_SCHED_WAKING, "sched/sched_waking",
	  { TID("pid"), FROM(8, 12, "target_cpu") } },
	{ KTAPE_EV_SCHED_WAKEUP, "sched/sched_wakeup",
	  { TID("pid"), FROM(8, 12, "target_cpu") } },
	{ KTAPE_EV_SCHED_WAKEUP_NEW, "sched/sched_wakeup_new",
	  { TID("pid"), FROM(8, 12, "target_cpu") } },
	{ KTAPE_EV_SCHED_MIGRATE_TASK, "sched/sched_migrate_task",
	  { TID("pid"), FROM(8, 12, "dest_cpu") } },
	{ KTAPE_EV_SCHED_PI_SETPRIO, "sched/sched_pi_setprio",
	  { TID("pid"), LOW(8, "oldprio") } },
	{ KTAPE_EV_SCHED_PROCESS_WAIT, "sched/sched_process_wait", { TID("pid") } },
	{ KTAPE_EV_SCHED_STAT_RUNTIME, "sched/sched_stat_runtime",
	  { TID("pid"), SECOND("runtime") } },
	{ KTAPE_EV_PROCESS_FORK, "sched/sched_process_fork",
	  { TID("parent_pid"), SECOND("child_pid") } },
	{ KTAPE_EV_PROCESS_EXEC, "sched/sched_process_exec",
	  { TID("pid"), SECOND("old_pid") } },
	{ KTAPE_EV_PROCESS_EXIT, "sched/sched_process_exit", { TID("pid") } },
	{ KTAPE_EV_PROCESS_FREE, "sched/sched_process_free", { TID("pid") } },
	{ KTAPE_EV_PROCESS_RENAME, "task/task_rename", { TID("pid") } },
	{ KTAPE_EV_SIGNAL_GENERATE, "signal/signal_generate",
	  { TID("pid"), LOW(7, "sig") } },
	{ KTAPE_EV_SIGNAL_DELIVER, "signal/signal_deliver",
	  { LOW(7, "sig"), { ARG, 0, 16, "code" } } },
	{ KTAPE_EV_SYS_ENTER, "raw_syscalls/sys_enter", { LOW(16, "id") } },
	{ KTAPE_EV_SYS_EXIT, "raw_syscalls/sys_exit",
	  { LOW(16, "id"), { ARG, 0, 28, "ret" } } },
	{ KTAPE_EV_IRQ_HANDLER_ENTRY, "irq/irq_handler_entry", { LOW(18, "irq") } },
	{ KTAPE_EV_IRQ_HANDLER_EXIT, "irq/irq_handler_exit",
	  { LOW(18, "irq"), FROM(18, 2, "ret") } },
	{ KTAPE_EV_SOFTIRQ_RAISE, "irq/softirq_raise", { LOW(8, "vec") } },
	{ KTAPE_EV_SOFTIRQ_ENTRY, "irq/softirq_entry", { LOW(8, "vec") } },
	{ KTAPE_EV_SOFTIRQ_EXIT, "irq/softirq_exit", { LOW(8, "vec") } },
	{ KTAPE_EV_TASKLET_ENTRY, "irq/tasklet_entry", {} },
	{ KTAPE_EV_TASKLET_EXIT, "irq/tasklet_exit", {} },
	{ KTAPE_EV_LOCAL_TIMER_ENTRY, "irq_vectors/local_timer_entry",
	  { LOW(8, "vector") } },
	{ KTAPE_EV_LOCAL_TIMER_EXIT, "irq_vectors/local_timer_exit",
	  { LOW(8, "vector") } },
	{ KTAPE_EV_IPI_ENTRY, "irq_vectors/reschedule_entry", { IPI(RESCHEDULE) } },
	{ KTAPE_EV_IPI_EXIT, "irq_vectors/reschedule_exit", { IPI(RESCHEDULE) } },
	{ KTAPE_EV_IPI_ENTRY, "irq_vectors/call_function_entry", { IPI(CALL) } },
	{ KTAPE_EV_IPI_EXIT, "irq_vectors/call_function_exit", { IPI(CALL) } },
	{ KTAPE_EV_IPI_ENTRY, "irq_vectors/call_function_single_entry",
	  { IPI(CALL_SINGLE) } },
	{ KTAPE_EV_IPI_EXIT, "irq_vectors/call_function_single_exit",
	  { IPI(CALL_SINGLE) } },
	{ KTAPE_EV_IPI_ENTRY, "irq_vectors/irq_work_entry", { IPI(IRQ_WORK) } },
	{ KTAPE_EV_IPI_EXIT, "irq_vectors/irq_work_exit", { IPI(IRQ_WORK) } },
	{ KTAPE_EV_IPI_SEND_CPU, "ipi/ipi_send_cpu", { LOW(12, "cpu") } },
	{ KTAPE_EV_IPI_SEND_CPUMASK, "ipi/ipi_send_cpumask", {} },
	{ KTAPE_EV_TIMER_INIT, "timer/timer_init", {} },
	{ KTAPE_EV_TIMER_START, "timer/timer_start", { LOW(20, "flags") } },
	{ KTAPE_EV_TIMER_EXPIRE_ENTRY, "timer/timer_expire_entry", {} },
	{ KTAPE_EV_TIMER_EXPIRE_EXIT, "timer/timer_expire_exit", {} },
	{ KTAPE_EV_TIMER_CANCEL, "timer/timer_cancel", {} },
	{ KTAPE_EV_ITIMER_STATE, "timer/itimer_state", { LOW(2, "which") } },
	{ KTAPE_EV_ITIMER_EXPIRE, "timer/itimer_expire",
	  { TID("pid"), LOW(2, "which") } },
	{ KTAPE_EV_TICK_STOP, "timer/tick_stop",
	  { LOW(1, "success"), FROM(1, 8, "dependency") } },
	{ KTAPE_EV_TIMER_BASE_IDLE, "timer/timer_base_idle",
	  { LOW(1, "is_idle"), FROM(1, 12, "cpu") } },
	{ KTAPE_EV_HRTIMER_INIT, "timer/hrtimer_init", { LOW(5, "clockid") } },
	{ KTAPE_EV_HRTIMER_START, "timer/hrtimer_start", { LOW(8, "mode") } },
	{ KTAPE_EV_HRTIMER_EXPIRE_ENTRY, "timer/hrtimer_expire_entry", {} },
	{ KTAPE_EV_HRTIMER_EXPIRE_EXIT, "timer/hrtimer_expire_exit", {} },
	{ KTAPE_EV_HRTIMER_CANCEL, "timer/hrtimer_cancel", {} },
	{ KTAPE_EV_WORKQUEUE_QUEUE_WORK, "workqueue/workqueue_queue_work", {} },
	{ KTAPE_EV_WORKQUEUE_ACTIVATE_WORK, "workqueue/workqueue_activate_work", {} },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_START, "workqueue/workqueue_execute_start", {} },
	{ KTAPE_EV_WORKQUEUE_EXECUTE_END, "workqueue/workqueue_execute_end", {} },
	{ KTAPE_EV_PAGE_FAULT_USER, "exceptions/page_fault_user",
	  { LOW(16, "error_code"), { ARG, 0, 28, "address" } } },
	{ KTAPE_EV_PAGE_FAULT_KERNEL, "exceptions/page_fault_kernel",
	  { LOW(16, "error_code") } },
	{ KTAPE_EV_MM_PAGE_ALLOC, "kmem/mm_page_alloc",
	  { LOW(5, "order"), FROM(5, 4, "migratetype") } },
	{ KTAPE_EV_MM_PAGE_FREE, "kmem/mm_page_free", { LOW(5, "order") } },
	{ KTAPE_EV_KMALLOC, "kmem/kmalloc",
	  { THIRD("bytes_req"), { ARG, 3, 28, "bytes_alloc" } } },
	{ KTAPE_EV_KFREE, "kmem/kfree", {} },
	{ KTAPE_EV_KMEM_CACHE_ALLOC, "kmem/kmem_cache_alloc",
	  { LOW(20, "bytes_req") } },
	{ KTAPE_EV_KMEM_CACHE_FREE, "kmem/kmem_cache_free", {} },
	{ KTAPE_EV_CONTENTION_BEGIN, "lock/contention_begin", { LOW(8, "flags") } },
	{ KTAPE_EV_CONTENTION_END, "lock/contention_end", { SECOND("ret") } },
	{ KTAPE_EV_BLOCK_RQ_INSERT, "block/block_rq_insert",
	  { SECOND("sector"), { ARG, 3, 28, "bytes" } } },
	{ KTAPE_EV_BLOCK_RQ_ISSUE, "block/block_rq_issue",
	  { SECOND("sector"), { ARG, 3, 28, "bytes" } } },
	{ KTAPE_EV_BLOCK_RQ_COMPLETE, "block/block_rq_complete",
	  { SECOND("sector") } },
	{ KTAPE_EV_BLOCK_RQ_REQUEUE, "block/block_rq_requeue",
	  { SECOND("sector"), { ARG, 3, 28, "bytes" } } },
	{ KTAPE_EV_BLOCK_RQ_MERGE, "block/block_rq_merge",
	  { SECOND("sector"), { ARG, 3, 28, "bytes" } } },
	{ KTAPE_EV_BLOCK_BIO_QUEUE, "block/block_bio_queue", { SECOND("sector") } },
	{ KTAPE_EV_BLOCK_BIO_COMPLETE, "block/block_bio_complete",
	  { SECOND("sector") } },
	{ KTAPE_EV_NET_DEV_QUEUE, "net/net_dev_queue", { THIRD("len") } },
	{ KTAPE_EV_NET_DEV_START_XMIT, "net/net_dev_start_xmit", { THIRD("len") } },
	{ KTAPE_EV_NET_DEV_XMIT, "net/net_dev_xmit", { THIRD("len") } },
	{ KTAPE_EV_NETIF_RECEIVE_SKB, "net/netif_receive_skb", { THIRD("len") } },
	{ KTAPE_EV_NETIF_RX, "net/netif_rx", { THIRD("len") } },
	{ KTAPE_EV_NAPI_POLL, "napi/napi_poll", { SECOND("work"), THIRD("budget") } },
	{ KTAPE_EV_KFREE_SKB, "skb/kfree_skb", {} },
	{ KTAPE_EV_CONSUME_SKB, "skb/consume_skb", {} },
	{ KTAPE_EV_CPU_IDLE, "power/cpu_idle",
	  { LOW(8, "state"), FROM(8, 12, "cpu_id") } },
	{ KTAPE_EV_CPU_IDLE_MISS, "power/cpu_idle_miss",
	  { LOW(7, "state"), FROM(8, 12, "cpu_id") } },
	{ KTAPE_EV_CPU_FREQUENCY, "power/cpu_frequency",
	  { LOW(12, "cpu_id"), { ARG, 0, 28, "state" } } },
	{ KTAPE_EV_SUSPEND_RESUME, "power/suspend_resume",
	  { LOW(1, "start"), { ARG, 0, 28, "val" } } },
	{ KTAPE_EV_RPM_SUSPEND, "rpm/rpm_suspend", { { ARG, 0, 28, "flags" } } },
	{ KTAPE_EV_RPM_RESUME, "rpm/rpm_resume", { { ARG, 0, 28, "flags" } } },
	{ KTAPE_EV_RPM_IDLE, "rpm/rpm_idle", { { ARG, 0, 28, "flags" } } },
	{ KTAPE_EV_RPM_RETURN_INT, "rpm/rpm_return_int", { { ARG, 0, 28, "ret" } } },
	{ KTAPE_EV_WAKEUP_SOURCE_ACTIVATE, "power/wakeup_source_activate",
	  { { ARG, 0, 28, "state" } } },
	{ KTAPE_EV_WAKEUP_SOURCE_DEACTIVATE, "power/wakeup_source_deactivate",
	  { { ARG, 0, 28, "state" } } },
	{ KTAPE_EV_CPUHP_ENTER, "cpuhp/cpuhp_enter", { LOW(12, "cpu"), SECOND("idx") } },
	{ KTAPE_EV_CPUHP_EXIT, "cpuhp/cpuhp_exit", { LOW(12, "cpu"), SECOND("idx") } },
	{ KTAPE_EV_CONSOLE, "printk/console", {} },
	{ KTAPE_EV_MODULE_LOAD, "module/module_load", { { ARG, 0, 28, "taints" } } },
	{ KTAPE_EV_MODULE_FREE, "module/module_free", {} },
	{ KTAPE_EV_MODULE_GET, "module/module_get", {} },
	{ KTAPE_EV_MODULE_PUT, "module/module_put", {} },
};
/* clang-format on */

#define PAIRS (sizeof(pairs) / sizeof(*pairs))

/* ---- both recordings ------------------------------------------------------ */

/**
 * struct item - a record, reduced to what both tracers have
 * @key: opcode and two values of 28 bits, see key_of()
 * @ts: time
 * @level: context, of ftrace's only
 */
struct item {
	uint64_t key, ts;
	unsigned char level;
};

struct items {
	struct item *v;
	size_t nr, room;
};

static void add_item(struct items *items, uint64_t key, uint64_t ts, int level)
{
	GROW(items->v, items->nr, items->room);
	items->v[items->nr++] = (struct item){ key, ts, level };
}

static uint64_t key_of(unsigned int op, const uint64_t *value)
{
	return (uint64_t)op << 56 | value[0] << 28 | value[1];
}

static uint64_t masked(uint64_t value, int bits)
{
	return value & ((1ULL << bits) - 1);
}

/**
 * struct known - what the running kernel has of a pair
 * @id: number of ftrace's format, -1 = not compared
 * @field: where its values are
 */
static struct known {
	int id;
	struct ktf_field field[2];
} known[PAIRS];

/*
 * Pairs by the number of ftrace's format, and by opcode: index + 1, 0 = none. The pairs of an
 * opcode that has several differ only in the value of FIXED, which ktape's record has itself:
 * by_op has the last of them.
 */
static unsigned char by_id[65536], by_op[KTAPE_OPCODES];

/*
 * Find what both tracers can record here. A value that this kernel's ftrace does not store
 * is left out of both. Return: number of pairs.
 */
static int find_known_pairs(void)
{
	int nr = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		const struct pair *p = &pairs[i];

		known[i].id = kt_available(p->op) ? ktf_id(p->event) : -1;
		/* From 6.13 on a call may be preempted between the two tracers' records. */
		if (!kt_kernel_is_before(6, 13) && !strncmp(p->event, "raw_sys", 7))
			known[i].id = -1;
		if (known[i].id < 0)
			continue;
		for (int v = 0; v < 2; v++)
			if (p->v[v].field)
				known[i].field[v] =
					ktf_field(p->event, p->v[v].field);
		by_id[known[i].id] = i + 1;
		by_op[p->op] = i + 1;
		nr++;
	}
	return nr;
}

static void add_ftrace_event(const struct ktf_event *e, void *arg)
{
	const struct pair *p;
	uint64_t value[2] = {};
	int i = by_id[e->id] - 1;

	if (i < 0)
		return;
	p = &pairs[i];
	for (int v = 0; v < 2; v++) {
		if (p->v[v].from == FIXED)
			value[v] = p->v[v].at;
		else if (known[i].field[v].size)
			value[v] = masked(ktf_value(e, known[i].field[v]),
					  p->v[v].bits);
	}
	add_item(arg, key_of(p->op, value), e->ts, e->level);
}

static void add_ktape_record(const struct kt_rec *r, void *arg)
{
	const struct pair *p;
	uint64_t value[2] = {};
	int i = by_op[r->op] - 1;

	if (i < 0)
		return;
	p = &pairs[i];
	for (int v = 0; v < 2; v++) {
		if (p->v[v].from == FIXED)
			value[v] = masked(r->dat20, p->v[v].bits);
		else if (!known[i].field[v].size)
			continue;
		else if (p->v[v].from == BITS)
			value[v] = masked(r->dat20 >> p->v[v].at, p->v[v].bits);
		else if (p->v[v].at < r->nargs)
			value[v] = masked(r->args[p->v[v].at], p->v[v].bits);
	}
	add_item(arg, key_of(r->op, value), r->ts, 0);
}

#endif /* _KT_FTRACE_PAIRS_H */
