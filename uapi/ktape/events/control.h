/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/*
 * Control: opcodes 1 to 15 and 239.  Included by ktape/events.h.
 *
 * The generation in profile and filter records is that of struct ktape_block: it counts the
 * changes of profile and filters, and starts.
 */

KTAPE_EVENT(1, CLOCK_SYNC, clock_sync, CONTROL,
	    "one moment on the trace clock and on the system clocks")
	KTAPE_BITS(BOOL, stable, 1, "the kernel trusts the trace clock")
	KTAPE_BITS(U32, reason, 4, "0 start, 1 stop, 2 resume, 3 periodic, 4 CPU")
KTAPE_ARGS()
	KTAPE_ARG(NS, mono, "CLOCK_MONOTONIC")
	KTAPE_ARG(NS, boot, "CLOCK_BOOTTIME")
	KTAPE_ARG(NS, real, "CLOCK_REALTIME")
	KTAPE_ARG(X32, clock, "low half of the trace clock at this moment")
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
	KTAPE_BITS(BOOL, online, 1, "1 the CPU came online, 0 it goes offline")
KTAPE_ARGS()
	KTAPE_ARG(CPU, cpu, "the CPU")
KTAPE_END(CPU)

KTAPE_EVENT(4, LEDGER, ledger, CONTROL,
	    "counts of one class in one ring; class control of ring 1 comes last")
	KTAPE_BITS(CLASSID, class, 5, "the class")
	KTAPE_BITS(U32, ring, 3, "enum ktape_ring_kind")
	KTAPE_BITS(U32, moment, 3,
		   "0 stop, 1 start, when they are exact; 2 flush")
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
	KTAPE_BITS(BOOL, dead, 1, "the object has died")
KTAPE_ARGS()
	KTAPE_ARG(U32, id, "number of the object within its type")
	KTAPE_ARG(U32, param1, "thread: tgid")
	KTAPE_ARG(X32, param2, "thread: priority | policy << 8 | kernel << 16")
	KTAPE_ARG(TICKS, born, "time at which the object was made")
	KTAPE_ARG(TICKS, died, "time at which the object died, or 0")
	KTAPE_BLOB()
	KTAPE_TEXT(name, "name of the object")
KTAPE_END(REGISTRY)

KTAPE_EVENT(6, CONTEXT, context, CONTROL,
	    "the CPU changes to this thread while sched_switch is not recorded")
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread that runs from here, -1: not known")
KTAPE_END(CONTEXT)

KTAPE_EVENT(7, SESSION, session, CONTROL, "the session started or stopped")
	KTAPE_BITS(PHASE, phase, 2, "on or off")
KTAPE_ARGS()
	KTAPE_ARG(U32, session, "number of the session")
	KTAPE_ARG(U32, mode, "enum ktape_mode")
KTAPE_END(SESSION)

KTAPE_EVENT(8, FILTER, filter, CONTROL,
	    "the session's filter of this kind, from now on or until now")
	KTAPE_BITS(FILTER, kind, 5, "kind of filter")
	KTAPE_BITS(PHASE, phase, 2, "on: it is in force from here")
KTAPE_ARGS()
	KTAPE_ARG(U32, generation, "counts the changes of profile and filters")
	KTAPE_ARG(U32, entries, "number of entries of the filter")
KTAPE_END(FILTER)

KTAPE_EVENT(9, LOSS, loss, CONTROL,
	    "events of one class that a ring lost, since the last such record")
	KTAPE_BITS(CLASSID, class, 5, "the class")
	KTAPE_BITS(U32, ring, 3, "enum ktape_ring_kind")
KTAPE_ARGS()
	KTAPE_ARG(TICKS, first, "when the first of them was lost")
	KTAPE_ARG(TICKS, last, "when the last of them was lost")
	KTAPE_ARG(U64, count, "number of lost events")
KTAPE_END(LOSS)

KTAPE_EVENT(10, TRACER, tracer, CONTROL,
	    "time that this CPU spent in the tracer, a sample")
KTAPE_ARGS()
	KTAPE_ARG(U32, event, "ticks that the last record of this kind took, or 0")
	KTAPE_ARG(U32, opened, "blocks opened since then")
	KTAPE_ARG(U32, opening, "ticks that opening them took")
KTAPE_END(TRACER)

KTAPE_EVENT(11, TRIGGER, trigger, CONTROL,
	    "a trigger of the session fired: because of the event before it")
	KTAPE_BITS(U32, id, 5, "number of the trigger")
	KTAPE_BITS(U32, when, 3, "enum ktape_trigger_when")
KTAPE_ARGS()
	KTAPE_ARG(U32, opcode, "opcode of the trigger's event")
	KTAPE_ARG(U32, fired, "times that the trigger fired since the session's start")
KTAPE_END(TRIGGER)

KTAPE_EVENT(12, CPU_WITHOUT, cpu_without, CONTROL,
	    "a CPU has no rings, for want of memory: nothing of it is recorded")
KTAPE_ARGS()
	KTAPE_ARG(CPU, cpu, "the CPU, another one than this record's")
KTAPE_END(CPU_WITHOUT)

KTAPE_EVENT(13, CPU_WITH, cpu_with, CONTROL,
	    "a CPU is about to come online for the first time: it has got rings")
KTAPE_ARGS()
	KTAPE_ARG(CPU, cpu, "the CPU, another one than this record's")
KTAPE_END(CPU_WITH)

KTAPE_EVENT(14, EVICT, evict, CONTROL,
	    "the session no longer waits for a reader that stalled")
KTAPE_ARGS()
	KTAPE_ARG(U32, reader, "number of the reader in the session")
	KTAPE_ARG(TID, tid, "the process that made the session wait for it")
	KTAPE_ARG(U32, ms, "for how long it had not moved")
KTAPE_END(EVICT)

KTAPE_EVENT(15, FREEZE, freeze, CONTROL,
	    "a snapshot session was full: its event rings end here")
KTAPE_ARGS()
	KTAPE_ARG(TICKS, time, "from then on nothing is in the event rings")
	KTAPE_ARG(CPU, cpu, "CPU whose ring was full first")
KTAPE_END(FREEZE)

KTAPE_EVENT(239, MISSED, missed, CONTROL,
	    "hits of an event's probe that did not reach the tracer, on any CPU")
	KTAPE_BITS(U32, event, 8, "opcode of that event")
	KTAPE_BITS(U32, reason, 4, "enum ktape_missed")
KTAPE_ARGS()
	KTAPE_ARG(TICKS, first, "when reading the counts began the time before")
	KTAPE_ARG(TICKS, last, "when it ended this time")
	KTAPE_ARG(U64, count, "hits missed in between; 0 of detached: not known")
	KTAPE_ARG(U32, reading, "ticks that it took this time")
KTAPE_END(MISSED)
