/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The event table: every class, field type and event of ktape, once.
 *
 * No include guard on purpose: the includer defines the macros that it wants,
 * the others expand to nothing, and all of them are undefined at the end.
 * Kernel tables, decoders, CTF metadata, lists and tests come from here; an
 * event is added by one block below and one probe.
 *
 *   KTAPE_CLASS(number, NAME, name, ring, priority, help)
 *	ring: EVENT or CONTROL.  priority: 0 is shed first, 3 never.
 *   KTAPE_TYPE(NAME, words, help)
 *	words: how many 32-bit argument words a value takes.
 *   KTAPE_EVENT(opcode, NAME, name, CLASS, help)   opens a block
 *   KTAPE_BITS(TYPE, field, width, help)           next bits of dat20, low first
 *   KTAPE_VARARGS(spare)                           spare dat20 bits, then p and
 *	nargs are told, because the number of arguments varies
 *   KTAPE_ARGS()                                   ends the bits
 *   KTAPE_ARG(TYPE, field, help)                   next argument word(s)
 *   KTAPE_REST(TYPE, field, help)                  all nargs argument words
 *   KTAPE_BLOB()                                   p is set: u32 size, then
 *   KTAPE_ARG(...), KTAPE_ARRAY(TYPE, field, count, help) of fixed size, or
 *   KTAPE_TEXT(field, help)                        size bytes of text
 *   KTAPE_END(NAME)                                closes the block
 *
 * Opcodes are never renumbered: 0 invalid; 1-15 control; 16 exception; 17-31
 * markers and user events; 32-239 kernel events; 240-254 run-time probes; 255
 * time extension.
 */
#ifndef KTAPE_CLASS
#define KTAPE_CLASS(number, NAME, name, ring, priority, help)
#endif
#ifndef KTAPE_TYPE
#define KTAPE_TYPE(NAME, words, help)
#endif
#ifndef KTAPE_EVENT
#define KTAPE_EVENT(opcode, NAME, name, CLASS, help)
#endif
#ifndef KTAPE_BITS
#define KTAPE_BITS(TYPE, field, width, help)
#endif
#ifndef KTAPE_VARARGS
#define KTAPE_VARARGS(spare)
#endif
#ifndef KTAPE_ARGS
#define KTAPE_ARGS()
#endif
#ifndef KTAPE_ARG
#define KTAPE_ARG(TYPE, field, help)
#endif
#ifndef KTAPE_REST
#define KTAPE_REST(TYPE, field, help)
#endif
#ifndef KTAPE_BLOB
#define KTAPE_BLOB()
#endif
#ifndef KTAPE_ARRAY
#define KTAPE_ARRAY(TYPE, field, count, help)
#endif
#ifndef KTAPE_TEXT
#define KTAPE_TEXT(field, help)
#endif
#ifndef KTAPE_END
#define KTAPE_END(NAME)
#endif

/* ---- classes ---------------------------------------------------------- */

KTAPE_CLASS(0, CONTROL, control, CONTROL, 3, "what the tracer did")
KTAPE_CLASS(1, EXCEPTION, exception, CONTROL, 3, "events with a severity")
KTAPE_CLASS(2, USER, user, EVENT, 2, "markers and user events")
KTAPE_CLASS(3, SCHED, sched, EVENT, 2, "scheduler")
KTAPE_CLASS(4, PROCESS, process, EVENT, 2, "life of processes and threads")
KTAPE_CLASS(5, IRQ, irq, EVENT, 1, "hard interrupt handlers")
KTAPE_CLASS(6, SOFTIRQ, softirq, EVENT, 1, "soft interrupts and tasklets")
KTAPE_CLASS(7, IPI, ipi, EVENT, 1, "interrupts between CPUs")
KTAPE_CLASS(8, SYSCALL, syscall, EVENT, 0, "system calls")
KTAPE_CLASS(9, TIMER, timer, EVENT, 0, "timer wheel, interval timers, tick")
KTAPE_CLASS(10, HRTIMER, hrtimer, EVENT, 0, "high-resolution timers")
KTAPE_CLASS(11, WORKQUEUE, workqueue, EVENT, 1, "work items")
KTAPE_CLASS(12, SIGNAL, signal, EVENT, 2, "signals")
KTAPE_CLASS(13, MEMORY, memory, EVENT, 0, "page faults and allocations")
KTAPE_CLASS(14, BLOCK, block, EVENT, 1, "block devices")
KTAPE_CLASS(15, NET, net, EVENT, 0, "network devices")
KTAPE_CLASS(16, POWER, power, EVENT, 1, "idle, frequency, suspend")
KTAPE_CLASS(17, LOCK, lock, EVENT, 0, "lock contention")
KTAPE_CLASS(18, CONSOLE, console, EVENT, 1, "kernel log lines")
KTAPE_CLASS(19, MODULE, module, EVENT, 2, "kernel modules")
KTAPE_CLASS(20, KPROBE, kprobe, EVENT, 1, "probes added at run time")

/* ---- field types ------------------------------------------------------ */

KTAPE_TYPE(U32, 1, "number without sign")
KTAPE_TYPE(S32, 1, "number with sign")
KTAPE_TYPE(X32, 1, "bits, shown in hexadecimal")
KTAPE_TYPE(U64, 2, "number without sign")
KTAPE_TYPE(S64, 2, "number with sign")
KTAPE_TYPE(X64, 2, "bits, shown in hexadecimal")
KTAPE_TYPE(BOOL, 1, "0 or 1")
KTAPE_TYPE(TID, 1, "thread id in the initial pid name space")
KTAPE_TYPE(CPU, 1, "CPU number")
KTAPE_TYPE(PRIO, 1, "kernel priority 0 to 139; 255 is the deadline class")
KTAPE_TYPE(STATE, 1, "thread state, enum ktape_task_state")
KTAPE_TYPE(IRQ, 1, "Linux interrupt number")
KTAPE_TYPE(SOFTIRQ, 1, "soft interrupt vector, 0 to 9")
KTAPE_TYPE(SYSCALL, 1, "system call number; 65535 when it has no 16 bits")
KTAPE_TYPE(CLASSID, 1, "event class")
KTAPE_TYPE(OBJECT, 1, "registry type, enum ktape_object")
KTAPE_TYPE(PHASE, 1, "enum ktape_phase")
KTAPE_TYPE(NS, 2, "nanoseconds")
KTAPE_TYPE(TICKS, 2, "ticks of the trace clock")

/* ---- control: 1 to 15 ------------------------------------------------- */

KTAPE_EVENT(1, CLOCK_SYNC, clock_sync, CONTROL,
	    "one moment on the trace clock and on the system clocks")
	KTAPE_BITS(BOOL, stable, 1, "the kernel trusts the trace clock")
	KTAPE_BITS(U32, reason, 4, "0 start, 1 stop, 2 resume, 3 periodic, 4 CPU")
KTAPE_ARGS()
	KTAPE_ARG(NS, mono, "CLOCK_MONOTONIC")
	KTAPE_ARG(NS, boot, "CLOCK_BOOTTIME")
	KTAPE_ARG(NS, real, "CLOCK_REALTIME")
KTAPE_END(CLOCK_SYNC)

KTAPE_EVENT(2, PROFILE, profile, CONTROL,
	    "the session's profile on this CPU, from now on or until now")
	KTAPE_BITS(PHASE, phase, 2, "on: these events are recorded from here")
KTAPE_ARGS()
	KTAPE_ARG(U32, generation, "counts the changes of the profile")
	KTAPE_BLOB()
	KTAPE_ARRAY(X64, mask, 4, "bit n is opcode n")
KTAPE_END(PROFILE)

KTAPE_EVENT(3, CPU, cpu, CONTROL, "this CPU came or is about to go")
	KTAPE_BITS(BOOL, online, 1, "1 it came, 0 it goes")
KTAPE_ARGS()
	KTAPE_ARG(CPU, cpu, "the CPU")
KTAPE_END(CPU)

KTAPE_EVENT(4, LEDGER, ledger, CONTROL,
	    "exact counts of one class in one ring at a quiesced moment")
	KTAPE_BITS(CLASSID, class, 5, "the class")
	KTAPE_BITS(U32, ring, 3, "enum ktape_ring_kind")
KTAPE_ARGS()
	KTAPE_BLOB()
	KTAPE_ARG(U64, emitted, "events that had their bit set")
	KTAPE_ARG(U64, filtered, "held back by a filter")
	KTAPE_ARG(U64, full, "lost: no room")
	KTAPE_ARG(U64, nested, "lost: contexts nested deeper than the ring")
	KTAPE_ARG(U64, too_big, "lost: larger than a block")
	KTAPE_ARG(U64, shed, "lost: low priority above the watermark")
	KTAPE_ARG(U64, rate, "lost: above the event's rate limit")
KTAPE_END(LEDGER)

KTAPE_EVENT(5, REGISTRY, registry, CONTROL, "an object got or lost its name")
	KTAPE_BITS(OBJECT, type, 8, "kind of object")
	KTAPE_BITS(BOOL, dead, 1, "it is gone")
KTAPE_ARGS()
	KTAPE_ARG(U32, id, "its number within the type")
	KTAPE_ARG(U32, param1, "thread: tgid")
	KTAPE_ARG(X32, param2, "thread: priority | policy << 8 | kernel << 16")
	KTAPE_ARG(TICKS, born, "when it came into being")
	KTAPE_ARG(TICKS, died, "when it went, or 0")
	KTAPE_BLOB()
	KTAPE_TEXT(name, "its name")
KTAPE_END(REGISTRY)

KTAPE_EVENT(6, CONTEXT, context, CONTROL,
	    "the CPU changes to this thread while sched_switch is not recorded")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread that runs from here")
KTAPE_END(CONTEXT)

KTAPE_EVENT(7, SESSION, session, CONTROL, "the session started or stopped")
	KTAPE_BITS(PHASE, phase, 2, "on or off")
KTAPE_ARGS()
	KTAPE_ARG(U32, session, "its number")
	KTAPE_ARG(U32, mode, "enum ktape_mode")
KTAPE_END(SESSION)

/* ---- sched: 32 to 39 -------------------------------------------------- */

KTAPE_EVENT(32, SCHED_SWITCH, sched_switch, SCHED,
	    "the CPU goes from one thread to another")
	KTAPE_BITS(PRIO, prev_prio, 8, "priority of the thread that leaves")
	KTAPE_BITS(PRIO, next_prio, 8, "priority of the thread that comes")
	KTAPE_BITS(STATE, prev_state, 4, "state in which the first leaves")
KTAPE_ARGS()
	KTAPE_ARG(TID, prev_tid, "the thread that leaves")
	KTAPE_ARG(TID, next_tid, "the thread that comes")
KTAPE_END(SCHED_SWITCH)

KTAPE_EVENT(33, SCHED_WAKING, sched_waking, SCHED,
	    "a thread is being woken, seen in the context of the waker")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU where it last ran")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKING)

KTAPE_EVENT(34, SCHED_WAKEUP, sched_wakeup, SCHED,
	    "a woken thread stands in a run queue")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU of the run queue")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKEUP)

KTAPE_EVENT(35, SCHED_WAKEUP_NEW, sched_wakeup_new, SCHED,
	    "a new thread stands in a run queue for the first time")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU of the run queue")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKEUP_NEW)

KTAPE_EVENT(36, SCHED_MIGRATE_TASK, sched_migrate_task, SCHED,
	    "a thread moves to another CPU")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
	KTAPE_BITS(CPU, dest_cpu, 12, "where it goes")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(CPU, orig_cpu, "where it was")
KTAPE_END(SCHED_MIGRATE_TASK)

/* ---- process: 40 to 47 ------------------------------------------------ */

KTAPE_EVENT(40, PROCESS_FORK, process_fork, PROCESS,
	    "a process or thread was made; its name is in the registry")
	KTAPE_BITS(BOOL, thread, 1, "the child is a thread of its maker's process")
KTAPE_ARGS()
	KTAPE_ARG(TID, parent_tid, "the maker")
	KTAPE_ARG(TID, child_tid, "the new thread")
	KTAPE_ARG(TID, child_tgid, "the process of the new thread")
KTAPE_END(PROCESS_FORK)

KTAPE_EVENT(41, PROCESS_EXEC, process_exec, PROCESS,
	    "a process started another program; its name is in the registry")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, old_tid, "its id before, when another thread called exec")
KTAPE_END(PROCESS_EXEC)

KTAPE_EVENT(42, PROCESS_EXIT, process_exit, PROCESS, "a thread ends")
	KTAPE_BITS(PRIO, prio, 8, "its priority")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, tgid, "its process")
	KTAPE_ARG(X32, code, "status << 8 | signal")
KTAPE_END(PROCESS_EXIT)

KTAPE_EVENT(43, PROCESS_RENAME, process_rename, PROCESS,
	    "a thread changed its name; the new one is in the registry")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, tgid, "its process")
KTAPE_END(PROCESS_RENAME)

/* ---- irq and softirq: 48 to 59 ---------------------------------------- */

KTAPE_EVENT(48, IRQ_HANDLER_ENTRY, irq_handler_entry, IRQ,
	    "an interrupt handler starts")
	KTAPE_BITS(IRQ, irq, 18, "the interrupt")
KTAPE_ARGS()
KTAPE_END(IRQ_HANDLER_ENTRY)

KTAPE_EVENT(49, IRQ_HANDLER_EXIT, irq_handler_exit, IRQ,
	    "an interrupt handler returns")
	KTAPE_BITS(IRQ, irq, 18, "the interrupt")
	KTAPE_BITS(U32, ret, 2, "bit 0 handled, bit 1 wake the handler's thread")
KTAPE_ARGS()
KTAPE_END(IRQ_HANDLER_EXIT)

KTAPE_EVENT(52, SOFTIRQ_RAISE, softirq_raise, SOFTIRQ,
	    "a soft interrupt is asked for")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_RAISE)

KTAPE_EVENT(53, SOFTIRQ_ENTRY, softirq_entry, SOFTIRQ,
	    "a soft interrupt starts")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_ENTRY)

KTAPE_EVENT(54, SOFTIRQ_EXIT, softirq_exit, SOFTIRQ,
	    "a soft interrupt is done")
	KTAPE_BITS(SOFTIRQ, vec, 8, "the vector")
KTAPE_ARGS()
KTAPE_END(SOFTIRQ_EXIT)

/* ---- syscall: 60 to 69 ------------------------------------------------ */

KTAPE_EVENT(60, SYS_ENTER, sys_enter, SYSCALL, "a system call starts")
	KTAPE_BITS(SYSCALL, nr, 16, "its number")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
	KTAPE_VARARGS(1)
KTAPE_ARGS()
	KTAPE_REST(S32, full, "the whole number, if large is set")
KTAPE_END(SYS_ENTER)

KTAPE_EVENT(61, SYS_EXIT, sys_exit, SYSCALL, "a system call returns")
	KTAPE_BITS(SYSCALL, nr, 16, "its number")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits")
KTAPE_ARGS()
	KTAPE_ARG(S64, ret, "what it returned, or -errno")
KTAPE_END(SYS_EXIT)

KTAPE_EVENT(62, SYS_ENTER_WIDE, sys_enter_wide, SYSCALL,
	    "a system call starts, with its arguments; takes sys_enter's place")
	KTAPE_BITS(SYSCALL, nr, 16, "its number")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
KTAPE_ARGS()
	KTAPE_ARG(S32, full, "the whole number")
	KTAPE_BLOB()
	KTAPE_ARRAY(X64, args, 6, "its arguments")
KTAPE_END(SYS_ENTER_WIDE)

KTAPE_EVENT(63, SYS_EXIT_WIDE, sys_exit_wide, SYSCALL,
	    "a system call returns, with its arguments; takes sys_exit's place")
	KTAPE_BITS(SYSCALL, nr, 16, "its number")
	KTAPE_BITS(BOOL, compat, 1, "by the 32-bit table")
	KTAPE_BITS(BOOL, x32, 1, "by the x32 table")
	KTAPE_BITS(BOOL, large, 1, "the number has no 16 bits: see full")
KTAPE_ARGS()
	KTAPE_ARG(S32, full, "the whole number")
	KTAPE_BLOB()
	KTAPE_ARG(S64, ret, "what it returned, or -errno")
	KTAPE_ARRAY(X64, args, 6, "its arguments as they are at the end")
KTAPE_END(SYS_EXIT_WIDE)

#undef KTAPE_CLASS
#undef KTAPE_TYPE
#undef KTAPE_EVENT
#undef KTAPE_BITS
#undef KTAPE_VARARGS
#undef KTAPE_ARGS
#undef KTAPE_ARG
#undef KTAPE_REST
#undef KTAPE_BLOB
#undef KTAPE_ARRAY
#undef KTAPE_TEXT
#undef KTAPE_END
