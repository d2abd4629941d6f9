// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tracepoints of Linux that the event table has: by which names LTTng, ftrace and perf
 * call them and their fields, and what becomes of each field.
 */
#include <ktape/abi.h>

#include "tracepoint.h"

#define STATE_PREEMPTED 0x100U /* the highest bit of prev_state since 4.14 */

/*
 * Fields that several tracepoints have.  As struct kt_tp_source: name in the event table, the
 * tracers' names for it, how it is converted, and a second field.
 */
#define TIMER                                       \
	{                                           \
		"timer", "timer", KT_TP_TOKEN, NULL \
	}
#define HRTIMER                                       \
	{                                             \
		"timer", "hrtimer", KT_TP_TOKEN, NULL \
	}
#define WORK                                      \
	{                                         \
		"work", "work", KT_TP_TOKEN, NULL \
	}
#define FUNCTION                                             \
	{                                                    \
		"function", "function", KT_TP_FUNCTION, NULL \
	}
#define CALLER                                              \
	{                                                   \
		"caller", "call_site", KT_TP_FUNCTION, NULL \
	}
#define VEC                                      \
	{                                        \
		"vec", "vec", KT_TP_NUMBER, NULL \
	}
#define TASK                                           \
	{                                              \
		"tid", "tid|pid", KT_TP_THREAD, "comm" \
	}
#define PRIO                                     \
	{                                        \
		"prio", "prio", KT_TP_PRIO, NULL \
	}
#define WOKEN                                                  \
	TASK, PRIO,                                            \
	{                                                      \
		"target_cpu", "target_cpu", KT_TP_NUMBER, NULL \
	}
#define REQUEST                                                \
	{ "dev", "dev", KT_TP_DISK, NULL },                    \
		{ "sector", "sector", KT_TP_NUMBER, NULL },    \
		{ "bytes", "nr_sector", KT_TP_SECTORS, NULL }, \
	{                                                      \
		"op", "rwbs", KT_TP_OP, NULL                   \
	}
#define SKB                                           \
	{ "skb", "skbaddr", KT_TP_TOKEN, NULL },      \
		{ "len", "len", KT_TP_NUMBER, NULL }, \
	{                                             \
		"dev", "name", KT_TP_NETDEV, NULL     \
	}
#define SKB_PROTOCOL                                       \
	SKB,                                               \
	{                                                  \
		"protocol", "protocol", KT_TP_NUMBER, NULL \
	}
#define POINTER                                 \
	{                                       \
		"ptr", "ptr", KT_TP_TOKEN, NULL \
	}
#define GFP                                            \
	{                                              \
		"gfp", "gfp_flags", KT_TP_NUMBER, NULL \
	}
#define STATE_OF_CPU(name)                          \
	{ name, "state", KT_TP_NUMBER, NULL },      \
	{                                           \
		"cpu", "cpu_id", KT_TP_NUMBER, NULL \
	}

/* The first field of a row must be there: without it the event becomes a user event. */
static const struct kt_tp_row rows[] = {
	{ "sched_switch",
	  KTAPE_EV_SCHED_SWITCH,
	  { { "next_tid", "next_tid|next_pid", KT_TP_THREAD, "next_comm" },
	    { "prev_tid", "prev_tid|prev_pid", KT_TP_THREAD, "prev_comm" },
	    { "prev_prio", "prev_prio", KT_TP_PRIO, NULL },
	    { "next_prio", "next_prio", KT_TP_PRIO, NULL },
	    { "prev_state", "prev_state", KT_TP_STATE, NULL } } },
	{ "sched_waking", KTAPE_EV_SCHED_WAKING, { WOKEN } },
	{ "sched_wakeup", KTAPE_EV_SCHED_WAKEUP, { WOKEN } },
	{ "sched_wakeup_new", KTAPE_EV_SCHED_WAKEUP_NEW, { WOKEN } },
	{ "sched_migrate_task",
	  KTAPE_EV_SCHED_MIGRATE_TASK,
	  { TASK,
	    PRIO,
	    { "orig_cpu", "orig_cpu", KT_TP_NUMBER, NULL },
	    { "dest_cpu", "dest_cpu", KT_TP_NUMBER, NULL } } },
	{ "sched_pi_setprio",
	  KTAPE_EV_SCHED_PI_SETPRIO,
	  { TASK,
	    { "old_prio", "oldprio", KT_TP_PRIO, NULL },
	    { "new_prio", "newprio", KT_TP_PRIO, NULL } } },
	{ "sched_process_wait",
	  KTAPE_EV_SCHED_PROCESS_WAIT,
	  { { "tid", "tid|pid", KT_TP_NUMBER, NULL } } },
	{ "sched_stat_runtime",
	  KTAPE_EV_SCHED_STAT_RUNTIME,
	  { TASK, { "runtime", "runtime", KT_TP_NUMBER, NULL } } },
	/* The thread of the first field begins to exist: see KT_TP_THREAD in tracepoint.c. */
	{ "sched_process_fork",
	  KTAPE_EV_PROCESS_FORK,
	  { { "child_tid", "child_tid|child_pid", KT_TP_THREAD, "child_comm" },
	    { "parent_tid", "parent_tid|parent_pid", KT_TP_THREAD, "parent_comm" },
	    { "child_tgid", "child_pid", KT_TP_PROCESS, NULL } } },
	{ "sched_process_exec",
	  KTAPE_EV_PROCESS_EXEC,
	  { { "tid", "tid|pid", KT_TP_NUMBER, NULL },
	    { "old_tid", "old_tid|old_pid", KT_TP_NUMBER, NULL } } },
	{ "sched_process_exit", KTAPE_EV_PROCESS_EXIT, { TASK, PRIO } },
	{ "sched_process_free", KTAPE_EV_PROCESS_FREE, { TASK } },
	{ "task_rename",
	  KTAPE_EV_PROCESS_RENAME,
	  { { "tid", "tid|pid", KT_TP_THREAD, "newcomm" } } },
	{ "signal_generate",
	  KTAPE_EV_SIGNAL_GENERATE,
	  { { "sig", "sig", KT_TP_NUMBER, NULL },
	    { "tid", "tid|pid", KT_TP_THREAD, "comm" },
	    { "errno", "errno", KT_TP_NUMBER, NULL },
	    { "code", "code", KT_TP_NUMBER, NULL },
	    { "group", "group", KT_TP_NUMBER, NULL },
	    { "result", "result", KT_TP_NUMBER, NULL } } },
	{ "signal_deliver",
	  KTAPE_EV_SIGNAL_DELIVER,
	  { { "sig", "sig", KT_TP_NUMBER, NULL },
	    { "code", "code", KT_TP_NUMBER, NULL },
	    { "flags", "sa_flags", KT_TP_NUMBER, NULL },
	    { "handler", "sa_handler", KT_TP_TOKEN, NULL } } },

	{ "irq_handler_entry",
	  KTAPE_EV_IRQ_HANDLER_ENTRY,
	  { { "irq", "irq", KT_TP_IRQ, "name" } } },
	{ "irq_handler_exit",
	  KTAPE_EV_IRQ_HANDLER_EXIT,
	  { { "irq", "irq", KT_TP_IRQ, NULL }, { "ret", "ret", KT_TP_NUMBER, NULL } } },
	{ "softirq_raise|irq_softirq_raise", KTAPE_EV_SOFTIRQ_RAISE, { VEC } },
	{ "softirq_entry|irq_softirq_entry", KTAPE_EV_SOFTIRQ_ENTRY, { VEC } },
	{ "softirq_exit|irq_softirq_exit", KTAPE_EV_SOFTIRQ_EXIT, { VEC } },
	{ "tasklet_entry|irq_tasklet_entry",
	  KTAPE_EV_TASKLET_ENTRY,
	  { { "tasklet", "tasklet", KT_TP_TOKEN, NULL },
	    { "function", "func", KT_TP_FUNCTION, NULL } } },
	{ "tasklet_exit|irq_tasklet_exit",
	  KTAPE_EV_TASKLET_EXIT,
	  { { "tasklet", "tasklet", KT_TP_TOKEN, NULL },
	    { "function", "func", KT_TP_FUNCTION, NULL } } },
	{ "local_timer_entry|x86_irq_vectors_local_timer_entry",
	  KTAPE_EV_LOCAL_TIMER_ENTRY,
	  { { "vector", "vector", KT_TP_NUMBER, NULL } } },
	{ "local_timer_exit|x86_irq_vectors_local_timer_exit",
	  KTAPE_EV_LOCAL_TIMER_EXIT,
	  { { "vector", "vector", KT_TP_NUMBER, NULL } } },

	{ "timer_init", KTAPE_EV_TIMER_INIT, { TIMER } },
	{ "timer_start",
	  KTAPE_EV_TIMER_START,
	  { TIMER,
	    FUNCTION,
	    { "expires_in", "expires|timeout", KT_TP_EXPIRES, "now" },
	    { "flags", "flags", KT_TP_NUMBER, NULL } } },
	{ "timer_expire_entry",
	  KTAPE_EV_TIMER_EXPIRE_ENTRY,
	  { TIMER, FUNCTION, { "late", "now", KT_TP_LATE, "baseclk" } } },
	{ "timer_expire_exit", KTAPE_EV_TIMER_EXPIRE_EXIT, { TIMER } },
	{ "timer_cancel", KTAPE_EV_TIMER_CANCEL, { TIMER } },
	{ "tick_stop|timer_tick_stop",
	  KTAPE_EV_TICK_STOP,
	  { { "success", "success", KT_TP_NUMBER, NULL },
	    { "dependency", "dependency", KT_TP_NUMBER, NULL } } },
	{ "itimer_expire|timer_itimer_expire",
	  KTAPE_EV_ITIMER_EXPIRE,
	  { { "which", "which", KT_TP_NUMBER, NULL },
	    { "tid", "pid", KT_TP_NUMBER, NULL } } },
	{ "hrtimer_init|hrtimer_setup|timer_hrtimer_init",
	  KTAPE_EV_HRTIMER_INIT,
	  { HRTIMER,
	    { "clock", "clockid", KT_TP_NUMBER, NULL },
	    { "mode", "mode", KT_TP_NUMBER, NULL } } },
	{ "hrtimer_start|timer_hrtimer_start",
	  KTAPE_EV_HRTIMER_START,
	  { HRTIMER,
	    { "expires", "softexpires|expires", KT_TP_ARMED, NULL },
	    { "mode", "mode", KT_TP_NUMBER, NULL },
	    { "was_armed", "was_armed", KT_TP_NUMBER, NULL } } },
	{ "hrtimer_expire_entry|timer_hrtimer_expire_entry",
	  KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
	  { HRTIMER, FUNCTION, { "late_ns", "now", KT_TP_LATE_NS, NULL } } },
	{ "hrtimer_expire_exit|timer_hrtimer_expire_exit",
	  KTAPE_EV_HRTIMER_EXPIRE_EXIT,
	  { HRTIMER } },
	{ "hrtimer_cancel|timer_hrtimer_cancel", KTAPE_EV_HRTIMER_CANCEL, { HRTIMER } },
	{ "workqueue_queue_work",
	  KTAPE_EV_WORKQUEUE_QUEUE_WORK,
	  { WORK, FUNCTION, { "req_cpu", "req_cpu", KT_TP_NUMBER, NULL } } },
	{ "workqueue_activate_work", KTAPE_EV_WORKQUEUE_ACTIVATE_WORK, { WORK } },
	{ "workqueue_execute_start",
	  KTAPE_EV_WORKQUEUE_EXECUTE_START,
	  { WORK, FUNCTION } },
	{ "workqueue_execute_end", KTAPE_EV_WORKQUEUE_EXECUTE_END, { WORK, FUNCTION } },

	{ "page_fault_user|x86_exceptions_page_fault_user",
	  KTAPE_EV_PAGE_FAULT_USER,
	  { { "address", "address", KT_TP_NUMBER, NULL },
	    { "error", "error_code", KT_TP_NUMBER, NULL },
	    { "ip", "ip", KT_TP_TOKEN, NULL } } },
	{ "page_fault_kernel|x86_exceptions_page_fault_kernel",
	  KTAPE_EV_PAGE_FAULT_KERNEL,
	  { { "address", "address", KT_TP_NUMBER, NULL },
	    { "error", "error_code", KT_TP_NUMBER, NULL },
	    { "ip", "ip", KT_TP_FUNCTION, NULL } } },
	{ "mm_page_alloc|kmem_mm_page_alloc",
	  KTAPE_EV_MM_PAGE_ALLOC,
	  { { "page", "pfn", KT_TP_TOKEN, NULL },
	    { "order", "order", KT_TP_NUMBER, NULL },
	    { "migratetype", "migratetype", KT_TP_NUMBER, NULL },
	    GFP } },
	{ "mm_page_free|kmem_mm_page_free",
	  KTAPE_EV_MM_PAGE_FREE,
	  { { "page", "pfn", KT_TP_TOKEN, NULL },
	    { "order", "order", KT_TP_NUMBER, NULL } } },
	{ "kmalloc|kmem_kmalloc",
	  KTAPE_EV_KMALLOC,
	  { POINTER,
	    CALLER,
	    GFP,
	    { "bytes", "bytes_req", KT_TP_NUMBER, NULL },
	    { "bytes_alloc", "bytes_alloc", KT_TP_NUMBER, NULL } } },
	{ "kfree|kmem_kfree", KTAPE_EV_KFREE, { POINTER, CALLER } },
	{ "kmem_cache_alloc",
	  KTAPE_EV_KMEM_CACHE_ALLOC,
	  { POINTER, CALLER, GFP, { "bytes", "bytes_req", KT_TP_NUMBER, NULL } } },
	{ "kmem_cache_free", KTAPE_EV_KMEM_CACHE_FREE, { POINTER, CALLER } },
	{ "contention_begin",
	  KTAPE_EV_CONTENTION_BEGIN,
	  { { "lock", "lock_addr", KT_TP_TOKEN, NULL },
	    { "flags", "flags", KT_TP_NUMBER, NULL } } },
	{ "contention_end",
	  KTAPE_EV_CONTENTION_END,
	  { { "lock", "lock_addr", KT_TP_TOKEN, NULL },
	    { "ret", "ret", KT_TP_NUMBER, NULL } } },

	{ "block_rq_insert", KTAPE_EV_BLOCK_RQ_INSERT, { REQUEST } },
	{ "block_rq_issue", KTAPE_EV_BLOCK_RQ_ISSUE, { REQUEST } },
	{ "block_rq_complete", KTAPE_EV_BLOCK_RQ_COMPLETE, { REQUEST } },
	{ "block_rq_requeue", KTAPE_EV_BLOCK_RQ_REQUEUE, { REQUEST } },
	{ "block_rq_merge", KTAPE_EV_BLOCK_RQ_MERGE, { REQUEST } },
	{ "block_bio_queue", KTAPE_EV_BLOCK_BIO_QUEUE, { REQUEST } },
	{ "block_bio_complete", KTAPE_EV_BLOCK_BIO_COMPLETE, { REQUEST } },
	{ "net_dev_queue", KTAPE_EV_NET_DEV_QUEUE, { SKB_PROTOCOL } },
	{ "net_dev_start_xmit", KTAPE_EV_NET_DEV_START_XMIT, { SKB_PROTOCOL } },
	{ "net_dev_xmit",
	  KTAPE_EV_NET_DEV_XMIT,
	  { SKB, { "rc", "rc", KT_TP_NUMBER, NULL } } },
	{ "netif_receive_skb|net_if_receive_skb",
	  KTAPE_EV_NETIF_RECEIVE_SKB,
	  { SKB_PROTOCOL } },
	{ "netif_rx|net_if_rx", KTAPE_EV_NETIF_RX, { SKB_PROTOCOL } },
	{ "napi_poll",
	  KTAPE_EV_NAPI_POLL,
	  { { "work", "work", KT_TP_NUMBER, NULL },
	    { "budget", "budget", KT_TP_NUMBER, NULL },
	    { "dev", "dev_name", KT_TP_NETDEV, NULL } } },
	{ "kfree_skb|skb_kfree",
	  KTAPE_EV_KFREE_SKB,
	  { { "skb", "skbaddr", KT_TP_TOKEN, NULL },
	    { "location", "location", KT_TP_FUNCTION, NULL },
	    { "reason", "reason", KT_TP_NUMBER, NULL } } },
	{ "consume_skb|skb_consume",
	  KTAPE_EV_CONSUME_SKB,
	  { { "skb", "skbaddr", KT_TP_TOKEN, NULL },
	    { "location", "location", KT_TP_FUNCTION, NULL } } },

	{ "cpu_idle|power_cpu_idle", KTAPE_EV_CPU_IDLE, { STATE_OF_CPU("state") } },
	{ "cpu_frequency|power_cpu_frequency",
	  KTAPE_EV_CPU_FREQUENCY,
	  { STATE_OF_CPU("khz") } },
	{ "console|printk_console",
	  KTAPE_EV_CONSOLE,
	  { { "text", "msg", KT_TP_STRING, NULL } } },
	{ "module_load",
	  KTAPE_EV_MODULE_LOAD,
	  { { "name", "name", KT_TP_STRING, NULL },
	    { "taints", "taints", KT_TP_NUMBER, NULL } } },
	{ "module_free",
	  KTAPE_EV_MODULE_FREE,
	  { { "name", "name", KT_TP_STRING, NULL } } },
};

/* Check whether a name is one of "a|b|c". */
bool kt_tp_is_one_of(const char *name, const char *names)
{
	size_t len = strlen(name);

	for (;;) {
		const char *end = strchrnul(names, '|');

		if ((size_t)(end - names) == len && !memcmp(names, name, len))
			return true;
		if (!*end)
			return false;
		names = end + 1;
	}
}

/* Return the row of a tracepoint, NULL if the event table does not have it. */
const struct kt_tp_row *kt_tp_row(const char *name)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(rows); i++) {
		if (kt_tp_is_one_of(name, rows[i].names))
			return &rows[i];
	}
	return NULL;
}

/* ---- states and operations --------------------------------------------------------- */

/* REQ_OP_* of the kernel.  DRV_IN, a request that is passed through, also for what is unknown. */
enum {
	OP_READ = 0,
	OP_WRITE = 1,
	OP_FLUSH = 2,
	OP_DISCARD = 3,
	OP_SECURE_ERASE = 5,
	OP_DRV_IN = 34
};

static const struct {
	char letter;
	uint8_t state;
} letters[] = {
	{ 'R', KTAPE_STATE_R },	     { 'S', KTAPE_STATE_S },
	{ 'D', KTAPE_STATE_D },	     { 'T', KTAPE_STATE_T },
	{ 't', KTAPE_STATE_TRACED }, { 'X', KTAPE_STATE_X },
	{ 'Z', KTAPE_STATE_Z },	     { 'P', KTAPE_STATE_P },
	{ 'I', KTAPE_STATE_I },
};

/*
 * Convert prev_state of sched_switch.  Since 4.14 the kernel records the bits that it
 * shows in /proc: 1, 2, 4, ... 0x80 for S, D, T, t, X, Z, P, I, and above them one bit
 * for a thread that was preempted.
 */
unsigned int kt_tp_state(uint64_t bits)
{
	static const uint8_t states[] = {
		KTAPE_STATE_S, KTAPE_STATE_D, KTAPE_STATE_T, KTAPE_STATE_TRACED,
		KTAPE_STATE_X, KTAPE_STATE_Z, KTAPE_STATE_P, KTAPE_STATE_I,
	};

	for (unsigned int i = 0; i < KT_ARRAY_SIZE(states); i++) {
		if (bits >> i & 1)
			return states[i];
	}
	return bits ? KTAPE_STATE_PREEMPTED : KTAPE_STATE_R;
}

/* Convert a state that is given in letters, "R+" or "S". */
unsigned int kt_tp_state_letters(const char *text, size_t len)
{
	if (len > 1 && text[1] == '+')
		return KTAPE_STATE_PREEMPTED;
	for (size_t i = 0; len && i < KT_ARRAY_SIZE(letters); i++) {
		if (letters[i].letter == *text)
			return letters[i].state;
	}
	return KTAPE_STATE_R;
}

/* Check whether kt_tp_state() says all of @bits: it keeps only one of them. */
bool kt_tp_is_state(uint64_t bits)
{
	return !(bits & (bits - 1)) && bits <= STATE_PREEMPTED;
}

/* Check whether kt_tp_state_letters() says all of a text. */
bool kt_tp_is_state_letter(const char *text, size_t len)
{
	return (len == 1 && strchr("RSDTtXZPI", *text)) ||
	       (len == 2 && !memcmp(text, "R+", 2));
}

/*
 * Convert rwbs: "R", "WS", "FWFS", ...  An 'F' before the letter of an operation flushes before
 * that; without such a letter the flush itself is the operation.
 */
unsigned int kt_tp_op(const char *text, size_t len)
{
	static const struct {
		char letter;
		uint8_t op;
	} ops[] = {
		{ 'R', OP_READ },
		{ 'W', OP_WRITE },
		{ 'D', OP_DISCARD },
	};

	for (size_t i = 0; i < len; i++) {
		for (size_t k = 0; k < KT_ARRAY_SIZE(ops); k++) {
			if (ops[k].letter != text[i])
				continue;
			/* "DE" is a secure erase. */
			return ops[k].op == OP_DISCARD && i + 1 < len &&
					       text[i + 1] == 'E' ?
				       OP_SECURE_ERASE :
				       ops[k].op;
		}
	}
	return len && *text == 'F' ? OP_FLUSH : OP_DRV_IN;
}

/*
 * Convert rwbs of LTTng, which are bits: 1 write, 2 discard, 4 read, 0x80 secure,
 * 0x100 flush.
 */
unsigned int kt_tp_op_bits(uint64_t bits)
{
	if (bits & 2)
		return bits & 0x80 ? OP_SECURE_ERASE : OP_DISCARD;
	if (bits & 1)
		return OP_WRITE;
	if (bits & 4)
		return OP_READ;
	return bits & 0x100 ? OP_FLUSH : OP_DRV_IN;
}

/* Check whether kt_tp_op() says all of a text: other letters are flags of the request. */
bool kt_tp_is_op(const char *text, size_t len)
{
	return (len == 1 && strchr("RWDF", *text)) ||
	       (len == 2 && !memcmp(text, "DE", 2));
}

/* Check whether kt_tp_op_bits() says all of LTTng's bits. */
bool kt_tp_is_op_bits(uint64_t bits)
{
	return bits == 1 || bits == 2 || bits == 4 || bits == 0x82 || bits == 0x100;
}
