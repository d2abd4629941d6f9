/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Filters, gates, rate limits, call stacks and run-time probes.
 *
 * An event of the profile is recorded if it passes every filter in force that
 * applies to it.  Events that a filter holds back are counted as filtered, events
 * that a rate limit drops as lost.
 *
 * [W]: only with a descriptor that may control its session, else EPERM (ktape/ioctl.h).
 */
#ifndef _KTAPE_FILTER_H
#define _KTAPE_FILTER_H

#include <ktape/abi.h>

/**
 * enum ktape_filter_kind - kind of a filter, and its entries
 * @KTAPE_FILTER_CPU: __u64[]: bit n is CPU n.  The filter is part of the want bits,
 *	so events of other CPUs are not even counted.  Exception: pairs with a gate
 *	or a trigger are counted there as filtered
 * @KTAPE_FILTER_SYSCALL: __u64[KTAPE_FILTER_SYSCALL_WORDS]: bit n is system call n,
 *	bit 512 + n is system call n of the 32-bit table.  Higher numbers pass,
 *	except 0xffff: the number is not known, as at the return from a signal
 *	handler
 * @KTAPE_FILTER_IRQ: __u64[KTAPE_FILTER_IRQ_WORDS]: bit n is interrupt n; higher
 *	numbers pass
 * @KTAPE_FILTER_SOFTIRQ: __u64[1]: bit n is vector n
 * @KTAPE_FILTER_SIGNAL: __u64[1]: bit n - 1 is signal n
 * @KTAPE_FILTER_PID: struct ktape_filter_pid[], at most KTAPE_FILTER_PIDS.  The
 *	task must match an include entry (if any exist) and no exclude entry
 * @KTAPE_FILTER_CGROUP: __s32[], at most 8 descriptors of cgroup v2 folders.  The
 *	task must be in one of these or below.  GET returns their ids as __u64[]
 * @KTAPE_FILTER_UID: __u32[], at most 16: real uids in the caller's user name
 *	space.  The task must have one of them
 * @KTAPE_FILTER_SEVERITY: __u32[1]: exceptions of this level (0 to 3) and above
 * @KTAPE_FILTER_GATE: struct ktape_filter_gate[], each pair at most once
 * @KTAPE_FILTER_RATE: struct ktape_filter_rate[], each opcode at most once, at
 *	most KTAPE_FILTER_RATES
 * @KTAPE_FILTER_STACK: __u64[KTAPE_MASK_WORDS]: bit n: record the kernel's call
 *	stack after each event n
 * @KTAPE_FILTER_KINDS: number of kinds
 *
 * Bitmap words that are not given are zero.
 *
 * PID, CGROUP and UID are matched against the running task (in an interrupt: the
 * interrupted task).  If it does not pass all of them, they are matched against
 * the other task that the event is about, if there is one.
 */
enum ktape_filter_kind {
	KTAPE_FILTER_CPU = 0,
	KTAPE_FILTER_SYSCALL = 1,
	KTAPE_FILTER_IRQ = 2,
	KTAPE_FILTER_SOFTIRQ = 3,
	KTAPE_FILTER_SIGNAL = 4,
	KTAPE_FILTER_PID = 5,
	KTAPE_FILTER_CGROUP = 6,
	KTAPE_FILTER_UID = 7,
	KTAPE_FILTER_SEVERITY = 8,
	KTAPE_FILTER_GATE = 9,
	KTAPE_FILTER_RATE = 10,
	KTAPE_FILTER_STACK = 11,
	KTAPE_FILTER_KINDS = 12
};

#define KTAPE_FILTER_SYSCALL_WORDS 16
#define KTAPE_FILTER_IRQ_WORDS	   64
#define KTAPE_FILTER_PIDS	   1024
#define KTAPE_FILTER_CGROUPS	   8
#define KTAPE_FILTER_UIDS	   16
#define KTAPE_FILTER_RATES	   32
#define KTAPE_STACK_FRAMES	   16 /* of a kernel_stack record, at most */
#define KTAPE_STACK_CUT		   (1U << 8) /* its bit cut in dat20 */

/* Flags of struct ktape_filter_pid. */
#define KTAPE_PID_THREADS  (1U << 0) /* all threads of its process */
#define KTAPE_PID_CHILDREN (1U << 1) /* all descendants of these */
#define KTAPE_PID_EXCEPT   (1U << 2) /* exclude instead of include */

/**
 * struct ktape_filter_pid - an entry of the pid filter
 * @pid: thread id in the caller's pid name space; GET returns 0 for a thread that
 *	has ended or has no id there
 * @flags: KTAPE_PID_*; THREADS and CHILDREN include threads and descendants that
 *	exist already, descendants with all their threads
 *
 * An exclude entry takes precedence over include entries.  If there are only
 * exclude entries, all other threads pass, and so do idle CPUs.
 */
struct ktape_filter_pid {
	__s32 pid;
	__u32 flags;
};

/**
 * enum ktape_gate - pairs of events that can have a duration gate
 * @KTAPE_GATE_SYSCALL: sys_enter and sys_exit, fast or wide; the span does not
 *	have the arguments of the call
 * @KTAPE_GATE_IRQ: irq_handler_entry and exit
 * @KTAPE_GATE_SOFTIRQ: softirq_entry and exit
 * @KTAPE_GATE_TIMER: timer_expire_entry and exit
 * @KTAPE_GATE_HRTIMER: hrtimer_expire_entry and exit
 * @KTAPE_GATE_WORK: workqueue_execute_start and end
 * @KTAPE_GATES: number of gates
 */
enum ktape_gate {
	KTAPE_GATE_SYSCALL = 0,
	KTAPE_GATE_IRQ = 1,
	KTAPE_GATE_SOFTIRQ = 2,
	KTAPE_GATE_TIMER = 3,
	KTAPE_GATE_HRTIMER = 4,
	KTAPE_GATE_WORK = 5,
	KTAPE_GATES = 6
};

/**
 * struct ktape_filter_gate - a duration gate
 * @gate: enum ktape_gate
 * @reserved: zero
 * @ns: nanoseconds, at most an hour: pairs that took at least so long become one
 *	span record at their end, shorter pairs are filtered
 *
 * Both events of the pair have to be in the profile.  If a pair is open when the
 * gate is set or replaced, its end is recorded as an ordinary event.
 */
struct ktape_filter_gate {
	__u32 gate;
	__u32 reserved;
	__u64 ns;
};

/**
 * struct ktape_filter_rate - rate limit of one event
 * @opcode: the event
 * @per_second: maximum number per second on each CPU
 */
struct ktape_filter_rate {
	__u32 opcode;
	__u32 per_second;
};

/**
 * enum ktape_filter_op - what to do with a filter
 * @KTAPE_FILTER_GET: only return the filter
 * @KTAPE_FILTER_SET: set it in place of the former one [W]
 * @KTAPE_FILTER_OFF: turn it off [W]
 */
enum ktape_filter_op {
	KTAPE_FILTER_GET = 0,
	KTAPE_FILTER_SET = 1,
	KTAPE_FILTER_OFF = 2
};

/**
 * struct ktape_filter - one filter of the session, as a whole (FILTER)
 * @size: bytes of the structure
 * @op: enum ktape_filter_op
 * @kind: enum ktape_filter_kind
 * @nr: SET: number of entries; GET: in: capacity of @entries, out: number of
 *	entries, even if larger; OFF: zero
 * @entries: SET, GET: pointer to entries of the kind; OFF: zero
 * @active: in: zero; out: 1 while the filter is in force
 * @generation: in: zero; out: number of changes of profile and filters, and of
 *	starts
 * @collisions: in: zero; out: since SET: GATE: pairs that were recorded as two
 *	events, because the table of open pairs was full; PID: threads that could
 *	not be followed
 *
 * SET checks all entries before anything changes.  EINVAL: an entry is invalid;
 * ESRCH: there is no such thread; EBADF, EOPNOTSUPP: there is no such cgroup; EBUSY:
 * GATE, and a trigger of the session waits for the same pair (ktape/trigger.h).  ENODEV,
 * also of GET: the session has ended.
 *
 * After SET without entries, no event to which the filter applies passes.
 * Exception: for GATE, RATE and STACK, SET without entries is the same as OFF.
 */
struct ktape_filter {
	__u32 size;
	__u32 op;
	__u32 kind;
	__u32 nr;
	__u64 entries;
	__u32 active;
	__u32 generation;
	__u64 collisions;
};

/**
 * enum ktape_probe_op - what to do with a run-time probe
 * @KTAPE_PROBE_GET: return the probe of a slot
 * @KTAPE_PROBE_ADD: add a probe to a free slot, and return its @opcode [W]
 * @KTAPE_PROBE_REMOVE: remove the probe of a slot [W]
 */
enum ktape_probe_op {
	KTAPE_PROBE_GET = 0,
	KTAPE_PROBE_ADD = 1,
	KTAPE_PROBE_REMOVE = 2
};

#define KTAPE_PROBE_RETURN   (1U << 0) /* at the return of the function */
#define KTAPE_PROBE_ARGS_MAX 4
#define KTAPE_PROBE_SYMBOL   64
#define KTAPE_PROBES	     15

/**
 * struct ktape_probe - a run-time probe at a function of the kernel (PROBE)
 * @size: bytes of the structure
 * @op: enum ktape_probe_op
 * @opcode: event of the probe's slot, KTAPE_OP_PROBE to KTAPE_OP_PROBE + 14; ADD:
 *	in: zero
 * @flags: KTAPE_PROBE_RETURN
 * @nargs: number of arguments to record, at most 4; return probe: 0, or 1 for the
 *	returned value
 * @reserved: zero
 * @offset: bytes from the symbol; zero for a return probe
 * @hits: out: number of recorded hits while any session wanted the probe
 * @missed: out: number of hits that could not be recorded: inside another probe,
 *	inside the reading of the trace clock, while RCU did not watch the CPU, or with
 *	too many calls at once
 * @symbol: name of the function, NUL-terminated
 *
 * Arguments and values that are kernel addresses are recorded as tokens.
 *
 * Probes belong to the module and not to a session.  They stay until they are
 * removed and are recorded by each session that has them in its profile.
 *
 * GET and REMOVE take zero in all members but @size, @op and @opcode.  GET of a free
 * slot returns an empty symbol.  ENOENT: there is no such symbol, or REMOVE of a
 * free slot; EINVAL: the kernel refuses a probe there; EPERM: no rights, or
 * lockdown; ENOSPC: there is no free slot; ENODEV: the kernel has no kprobes; EBUSY:
 * REMOVE while a session has the event in its profile; EOPNOTSUPP: arguments are not
 * available on this architecture.
 */
struct ktape_probe {
	__u32 size;
	__u32 op;
	__u32 opcode;
	__u32 flags;
	__u32 nargs;
	__u32 reserved;
	__u64 offset;
	__u64 hits;
	__u64 missed;
	char symbol[KTAPE_PROBE_SYMBOL];
};

#endif /* _KTAPE_FILTER_H */
