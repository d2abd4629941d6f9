/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Filters, gates, rate limits, call stacks and run-time probes of a session.
 *
 * An event that the profile lets through is recorded if every filter that is in
 * force and that has to do with the event lets it through too.  What a filter
 * holds back is counted as filtered, what a rate limit drops as lost.
 */
#ifndef _KTAPE_FILTER_H
#define _KTAPE_FILTER_H

#include <ktape/abi.h>

/**
 * enum ktape_filter_kind - what a filter looks at, and its entries
 * @KTAPE_FILTER_CPU: __u64 words, bit n is CPU n.  Part of the want bits: events
 *	of other CPUs are not even counted, but for pairs with a gate or with a
 *	trigger, of which those are filtered
 * @KTAPE_FILTER_SYSCALL: __u64[KTAPE_FILTER_SYSCALL_WORDS], bit n is system call
 *	n, bit 512 + n is n of the 32-bit table; higher numbers pass, but
 *	not 0xffff: a number that is lost, as that of a return from a signal
 *	handler
 * @KTAPE_FILTER_IRQ: __u64[KTAPE_FILTER_IRQ_WORDS], bit n is interrupt n; higher
 *	numbers pass
 * @KTAPE_FILTER_SOFTIRQ: __u64[1], bit n is vector n
 * @KTAPE_FILTER_SIGNAL: __u64[1], bit n - 1 is signal n
 * @KTAPE_FILTER_PID: struct ktape_filter_pid[], at most KTAPE_FILTER_PIDS: the
 *	thread that runs passes, or the other thread of the event does: it is one
 *	of these, if there are any but exceptions, and it is no exception
 * @KTAPE_FILTER_CGROUP: __s32[], at most 8 descriptors of cgroup v2 folders: the
 *	thread is in one of them or below; GET tells their numbers as __u64[]
 * @KTAPE_FILTER_UID: __u32[], at most 16: the thread's real uid in the caller's
 *	user name space
 * @KTAPE_FILTER_SEVERITY: __u32[1]: exceptions of this level (0 to 3) and above
 * @KTAPE_FILTER_GATE: struct ktape_filter_gate[], each pair at most once
 * @KTAPE_FILTER_RATE: struct ktape_filter_rate[], each opcode at most once, at
 *	most KTAPE_FILTER_RATES
 * @KTAPE_FILTER_STACK: __u64[KTAPE_MASK_WORDS], bit n: each event n that is
 *	recorded is followed by the kernel's call stack
 * @KTAPE_FILTER_KINDS: how many kinds there are
 *
 * Words that are not given are zero.  PID, CGROUP and UID look at one thread,
 * which has to pass all of them: the one that runs (in an interrupt, whom that
 * interrupted), or else the other one that the event is about.
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

#define KTAPE_FILTER_SYSCALL_WORDS	16
#define KTAPE_FILTER_IRQ_WORDS		64
#define KTAPE_FILTER_PIDS		1024
#define KTAPE_FILTER_CGROUPS		8
#define KTAPE_FILTER_UIDS		16
#define KTAPE_FILTER_RATES		32
#define KTAPE_STACK_FRAMES		16

/* Flags of struct ktape_filter_pid. */
#define KTAPE_PID_THREADS	(1U << 0)	/* all threads of its process */
#define KTAPE_PID_CHILDREN	(1U << 1)	/* what these fork, and so on */
#define KTAPE_PID_EXCEPT	(1U << 2)	/* these do not pass */

/**
 * struct ktape_filter_pid - a thread of the pid filter
 * @pid: in the caller's pid name space; GET tells 0 for a thread that has ended
 *	or has no number there
 * @flags: KTAPE_PID_*; threads and children that are there are taken as well,
 *	children with all their threads
 *
 * A thread that KTAPE_PID_EXCEPT names is held back whatever else names it.  If
 * all entries are such, every other thread passes, idle CPUs too.
 */
struct ktape_filter_pid {
	__s32 pid;
	__u32 flags;
};

/**
 * enum ktape_gate - pairs of events of which a gate lets only long ones through
 * @KTAPE_GATE_SYSCALL: sys_enter and sys_exit, fast or wide; the span has no
 *	arguments of the call
 * @KTAPE_GATE_IRQ: irq_handler_entry and exit
 * @KTAPE_GATE_SOFTIRQ: softirq_entry and exit
 * @KTAPE_GATE_TIMER: timer_expire_entry and exit
 * @KTAPE_GATE_HRTIMER: hrtimer_expire_entry and exit
 * @KTAPE_GATE_WORK: workqueue_execute_start and end
 * @KTAPE_GATES: how many there are
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
 * @ns: pairs that took at least so long become one span record at their end,
 *	shorter ones are filtered; at most an hour
 *
 * Both events of the pair have to be in the profile.  A pair that was open when
 * the gate was set or replaced is recorded as far as it is not over.
 */
struct ktape_filter_gate {
	__u32 gate;
	__u32 reserved;
	__u64 ns;
};

/**
 * struct ktape_filter_rate - a rate limit of one event
 * @opcode: which event
 * @per_second: at most so many in a second of each CPU
 */
struct ktape_filter_rate {
	__u32 opcode;
	__u32 per_second;
};

/**
 * enum ktape_filter_op - what to do with a filter
 * @KTAPE_FILTER_GET: only tell
 * @KTAPE_FILTER_SET: put it in force, in place of the one before [W]
 * @KTAPE_FILTER_OFF: take it away [W]
 */
enum ktape_filter_op {
	KTAPE_FILTER_GET = 0,
	KTAPE_FILTER_SET = 1,
	KTAPE_FILTER_OFF = 2
};

/**
 * struct ktape_filter - one filter of the session, as a whole
 * @size: of the structure
 * @op: enum ktape_filter_op
 * @kind: enum ktape_filter_kind
 * @nr: SET: entries at @entries; GET: in: room there; out: how many there are
 * @entries: pointer to entries, by kind
 * @active: in: zero; out: 1 while it is in force
 * @generation: in: zero; out: counts the changes of profile and filters
 * @collisions: in: zero; out: since SET: GATE: pairs that were recorded as pairs,
 *	because the table of open pairs had no room; PID: threads that could not
 *	be followed
 *
 * OFF takes neither @nr nor @entries.  GET fills as many entries as there is room
 * for.  SET checks all entries before anything changes (EINVAL; ESRCH: no such
 * process; EBADF, EOPNOTSUPP: no such cgroup; EBUSY: GATE, and a trigger of the
 * session waits for a long one of the pair, see ktape/trigger.h).  A SET of no
 * entries lets nothing through that it looks at, but for GATE, RATE and STACK, for
 * which it is the same as OFF.
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
 * @KTAPE_PROBE_GET: tell what the slot holds
 * @KTAPE_PROBE_ADD: add a probe to a free slot, told in @opcode [W]
 * @KTAPE_PROBE_REMOVE: remove it [W]
 */
enum ktape_probe_op {
	KTAPE_PROBE_GET = 0,
	KTAPE_PROBE_ADD = 1,
	KTAPE_PROBE_REMOVE = 2
};

#define KTAPE_PROBE_RETURN	(1U << 0)	/* at the return of the function */
#define KTAPE_PROBE_ARGS_MAX	4
#define KTAPE_PROBE_SYMBOL	64
#define KTAPE_PROBES		15

/**
 * struct ktape_probe - a probe at a function of the kernel
 * @size: of the structure
 * @op: enum ktape_probe_op
 * @opcode: ADD: out; else in: KTAPE_OP_PROBE to KTAPE_OP_PROBE + 14
 * @flags: KTAPE_PROBE_RETURN
 * @nargs: arguments to record, at most 4; of a return probe 0 or 1, the value
 * @reserved: zero
 * @offset: bytes from the symbol; zero for a return probe
 * @hits: out: how often it was hit and recorded, while any session wanted it
 * @missed: out: how often it was hit and could not be recorded: within another
 *	probe, within the reading of the trace clock, or at too many calls at once
 * @symbol: ends in NUL
 *
 * Arguments and values that are addresses in the kernel are recorded as tokens.
 *
 * Probes are the module's, not the session's: they stay until they are removed
 * and are recorded by each session that has them in its profile.  ENOENT: no
 * such symbol; EINVAL: the kernel refuses a probe there; EPERM: locked down;
 * ENOSPC: no free slot; ENODEV: the kernel has no kprobes; EBUSY: REMOVE while
 * a session has it in its profile; EOPNOTSUPP: arguments cannot be had on this
 * architecture.  ADD takes zero as @opcode, GET and REMOVE take zero as all but
 * @opcode; GET of a free slot tells an empty symbol, REMOVE of one is ENOENT.
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
