/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/*
 * The event table: every class, field type and event of ktape, once.
 *
 * No include guard on purpose: the includer defines the macros that it wants,
 * the others expand to nothing, and all of them are undefined at the end.
 * Kernel tables, decoders, CTF metadata, lists and tests come from here; an
 * event is added by one block in a file of events/ and one probe.
 *
 *   KTAPE_CLASS(number, NAME, name, ring, priority, help)
 *	ring: EVENT or CONTROL.  priority: 0 is shed first, then 1; 2 and 3 never.
 *   KTAPE_TYPE(NAME, words, help)
 *	words: how many 32-bit argument words a value takes.
 *   KTAPE_EVENT(opcode, NAME, name, CLASS, help)   opens a block
 *   KTAPE_BITS(TYPE, field, width, help)           next bits of dat20, low first
 *   KTAPE_VARARGS(spare)                           spare dat20 bits, then p and
 *	nargs become fields, because the number of arguments varies
 *   KTAPE_ARGS()                                   ends the bits
 *   KTAPE_ARG(TYPE, field, help)                   next argument word(s)
 *   KTAPE_REST(TYPE, field, help)                  all nargs argument words
 *   KTAPE_BLOB()                                   p is set: u32 size, then any
 *	number of KTAPE_ARG(...), or of these:
 *   KTAPE_ARRAY(TYPE, field, count, help)          count values, a constant
 *   KTAPE_LIST(TYPE, number, field, help)          u32 number, then so many values
 *   KTAPE_TEXT(field, help)                        size bytes of text
 *   KTAPE_BYTES(field, help)                       size bytes of any content
 *   KTAPE_END(NAME)                                closes the block
 *   KTAPE_ON_REQUEST(NAME)                         event that no preset of events has
 *   KTAPE_IMPLIED(NAME)                            event without a bit in profiles: it is
 *	recorded because of a gate or the stack filter (ktape/filter.h), or with other
 *	control events
 *
 * Opcodes are never renumbered: 0 invalid; 1-15 control, and from 239 down, because
 * these are used up; 16 exception; 17-31 markers and user events; 32-238 kernel
 * events; 240-254 run-time probes; 255 time extension.
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
#ifndef KTAPE_BYTES
#define KTAPE_BYTES(field, help)
#endif
#ifndef KTAPE_LIST
#define KTAPE_LIST(TYPE, number, field, help)
#endif
#ifndef KTAPE_END
#define KTAPE_END(NAME)
#endif
#ifndef KTAPE_ON_REQUEST
#define KTAPE_ON_REQUEST(NAME)
#endif
#ifndef KTAPE_IMPLIED
#define KTAPE_IMPLIED(NAME)
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
KTAPE_CLASS(21, STACK, stack, EVENT, 0, "call stacks of other events")

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
KTAPE_TYPE(PTR, 1, "an object's address as a token, keyed anew at each load")
KTAPE_TYPE(FUNC, 1, "a code address as such a token; its symbol is in the registry")
KTAPE_TYPE(SIGNAL, 1, "signal number")
KTAPE_TYPE(SEVERITY, 1, "enum ktape_severity")
KTAPE_TYPE(MARKER, 1, "id of a marker, KTAPE_OBJ_MARKER")
KTAPE_TYPE(VALUEID, 1, "id of a value, KTAPE_OBJ_VALUE")
KTAPE_TYPE(ISRID, 1, "id of an interrupt routine, KTAPE_OBJ_ISR")
KTAPE_TYPE(DEV, 1, "block device, major << 20 | minor")
KTAPE_TYPE(NETDEV, 1, "index of a network device")
KTAPE_TYPE(IPI, 1, "enum ktape_ipi")
KTAPE_TYPE(FILTER, 1, "enum ktape_filter_kind")

/* ---- events ------------------------------------------------------------ */

#include <ktape/events/control.h>
#include <ktape/events/emit.h>
#include <ktape/events/task.h>
#include <ktape/events/irq.h>
#include <ktape/events/syscall.h>
#include <ktape/events/timer.h>
#include <ktape/events/memory.h>
#include <ktape/events/io.h>
#include <ktape/events/system.h>
#include <ktape/events/probe.h>

/* ---- events that presets or profiles do not have -------------------------- */

KTAPE_ON_REQUEST(SYS_ENTER_WIDE)
KTAPE_ON_REQUEST(SYS_EXIT_WIDE)
KTAPE_ON_REQUEST(SYS_PATH)
KTAPE_ON_REQUEST(SCHED_STAT_RUNTIME)
KTAPE_ON_REQUEST(SCHED_BLOCKED)
KTAPE_ON_REQUEST(MM_PAGE_ALLOC)
KTAPE_ON_REQUEST(MM_PAGE_FREE)
KTAPE_ON_REQUEST(KMALLOC)
KTAPE_ON_REQUEST(KFREE)
KTAPE_ON_REQUEST(KMEM_CACHE_ALLOC)
KTAPE_ON_REQUEST(KMEM_CACHE_FREE)
KTAPE_ON_REQUEST(CONSUME_SKB)
KTAPE_ON_REQUEST(MODULE_GET)
KTAPE_ON_REQUEST(MODULE_PUT)
KTAPE_ON_REQUEST(CONSOLE)

KTAPE_IMPLIED(IRQ_SPAN)
KTAPE_IMPLIED(SOFTIRQ_SPAN)
KTAPE_IMPLIED(SYS_SPAN)
KTAPE_IMPLIED(TIMER_SPAN)
KTAPE_IMPLIED(HRTIMER_SPAN)
KTAPE_IMPLIED(WORK_SPAN)
KTAPE_IMPLIED(KERNEL_STACK)
KTAPE_IMPLIED(MISSED)

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
#undef KTAPE_BYTES
#undef KTAPE_LIST
#undef KTAPE_END
#undef KTAPE_ON_REQUEST
#undef KTAPE_IMPLIED
