/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The tables and their columns, once: PQ_TABLE opens a table, PQ_END closes it.
 *
 *   PQ_TABLE(NAME, name, sorts, help)
 *	sorts: rows are made at the end of what they describe, or at the end of the trace,
 *	so they are put into the order of their time before they are written
 *   PQ_ID(NAME)	the column trace_id, in every table the first one
 *   PQ_TIME(NAME)	the columns trace_id, ts, ts_utc
 *   PQ_COLUMN(NAME, COLUMN, column, TYPE, null, unit, help)
 *	TYPE: of enum kt_pq_type: NAME is a text of which there are few, TEXT any, SAME one that
 *	all rows have, UTC is computed from ts
 *	null: 1 if a row may have no value
 *   PQ_END(NAME)
 *
 * No include guard on purpose: the includer defines the macros that it wants.  Names,
 * types and units are those of ktape-parquet(5), which a test compares with this file:
 * within version 1 columns are only added, at the end of their table.
 */
#ifndef PQ_TABLE
#define PQ_TABLE(NAME, name, sorts, help)
#endif
#ifndef PQ_COLUMN
#define PQ_COLUMN(NAME, COLUMN, column, type, null, unit, help)
#endif
#ifndef PQ_END
#define PQ_END(NAME)
#endif
#define PQ_ID(NAME) \
	PQ_COLUMN(NAME, TRACE_ID, trace_id, SAME, 0, "", "the trace, see capture")
#define PQ_TIME(NAME)                                              \
	PQ_ID(NAME)                                                \
	PQ_COLUMN(NAME, TS, ts, INT64, 0, "ns", "time since boot") \
	PQ_COLUMN(NAME, TS_UTC, ts_utc, UTC, 1, "us",              \
		  "the same as UTC; null: the trace has no date")

PQ_TABLE(PROCESS, process, 0, "a process")
PQ_ID(PROCESS)
PQ_COLUMN(PROCESS, UPID, upid, INT64, 0, "", "number of the process within the trace")
PQ_COLUMN(PROCESS, PID, pid, INT32, 0, "", "process id")
PQ_COLUMN(PROCESS, NAME, name, NAME, 1, "", "last name of its first thread")
PQ_COLUMN(PROCESS, PARENT_UPID, parent_upid, INT64, 1, "", "process that made it")
PQ_COLUMN(PROCESS, CGROUP, cgroup, NAME, 1, "",
	  "control group (version 2), the end of its path")
PQ_END(PROCESS)

PQ_TABLE(THREAD, thread, 0, "a thread")
PQ_ID(THREAD)
PQ_COLUMN(THREAD, UTID, utid, INT64, 0, "",
	  "number of the thread within the trace; 0: idle")
PQ_COLUMN(THREAD, TID, tid, INT32, 0, "", "thread id")
PQ_COLUMN(THREAD, UPID, upid, INT64, 1, "", "its process")
PQ_COLUMN(THREAD, PID, pid, INT32, 1, "", "process id")
PQ_COLUMN(THREAD, NAME, name, NAME, 1, "", "last name of the thread")
PQ_COLUMN(THREAD, KERNEL, is_kernel, BOOL, 1, "", "it is a thread of the kernel")
PQ_COLUMN(THREAD, START_TS, start_ts, INT64, 1, "ns", "time at which it was made")
PQ_COLUMN(THREAD, END_TS, end_ts, INT64, 1, "ns", "time at which it ended")
PQ_COLUMN(THREAD, CGROUP, cgroup, NAME, 1, "",
	  "control group (version 2), the end of its path")
PQ_END(THREAD)

PQ_TABLE(SCHED_SLICE, sched_slice, 1, "a thread runs on a CPU")
PQ_TIME(SCHED_SLICE)
PQ_COLUMN(SCHED_SLICE, DUR, dur, INT64, 1, "ns",
	  "duration; null: it still ran at the end of the trace")
PQ_COLUMN(SCHED_SLICE, CPU, cpu, INT32, 0, "", "the CPU")
PQ_COLUMN(SCHED_SLICE, UTID, utid, INT64, 0, "", "the thread")
PQ_COLUMN(SCHED_SLICE, END_STATE, end_state, NAME, 1, "",
	  "state in which it left; null: the slice was cut")
PQ_COLUMN(SCHED_SLICE, PRIORITY, priority, INT32, 0, "", "kernel priority, 0 to 139")
PQ_END(SCHED_SLICE)

PQ_TABLE(THREAD_STATE, thread_state, 1, "a thread is in a state")
PQ_TIME(THREAD_STATE)
PQ_COLUMN(THREAD_STATE, DUR, dur, INT64, 1, "ns",
	  "duration; null: until the end of the trace")
PQ_COLUMN(THREAD_STATE, UTID, utid, INT64, 0, "", "the thread")
PQ_COLUMN(THREAD_STATE, STATE, state, NAME, 0, "",
	  "Running, R (woken), R+ (preempted), S, D, ...")
PQ_COLUMN(THREAD_STATE, CPU, cpu, INT32, 1, "",
	  "CPU on which it runs, or of the run queue")
PQ_COLUMN(THREAD_STATE, WAKER_UTID, waker_utid, INT64, 1, "",
	  "thread that ended the sleep before")
PQ_COLUMN(THREAD_STATE, BLOCKED, blocked_function, NAME, 1, "",
	  "function that put it to sleep")
PQ_COLUMN(THREAD_STATE, IO_WAIT, io_wait, BOOL, 1, "", "it sleeps for input or output")
PQ_END(THREAD_STATE)

PQ_TABLE(IRQ_SLICE, irq_slice, 1, "a hard interrupt")
PQ_TIME(IRQ_SLICE)
PQ_COLUMN(IRQ_SLICE, DUR, dur, INT64, 0, "ns", "duration")
PQ_COLUMN(IRQ_SLICE, CPU, cpu, INT32, 0, "", "the CPU")
PQ_COLUMN(IRQ_SLICE, KIND, kind, NAME, 0, "", "irq, ipi or tick")
PQ_COLUMN(IRQ_SLICE, IRQ, irq, INT32, 0, "",
	  "number of the interrupt, reason of the IPI, or vector")
PQ_COLUMN(IRQ_SLICE, NAME, name, NAME, 1, "",
	  "name of its first handler, or of the reason")
PQ_END(IRQ_SLICE)

PQ_TABLE(SOFTIRQ_SLICE, softirq_slice, 1, "a soft interrupt")
PQ_TIME(SOFTIRQ_SLICE)
PQ_COLUMN(SOFTIRQ_SLICE, DUR, dur, INT64, 0, "ns", "duration")
PQ_COLUMN(SOFTIRQ_SLICE, CPU, cpu, INT32, 0, "", "the CPU")
PQ_COLUMN(SOFTIRQ_SLICE, VEC, vec, INT32, 0, "", "vector")
PQ_COLUMN(SOFTIRQ_SLICE, NAME, name, NAME, 1, "", "name of the vector")
PQ_COLUMN(SOFTIRQ_SLICE, WAIT, wait, INT64, 1, "ns",
	  "from the first raise to the start")
PQ_END(SOFTIRQ_SLICE)

PQ_TABLE(SYSCALL_SLICE, syscall_slice, 1, "a system call")
PQ_TIME(SYSCALL_SLICE)
PQ_COLUMN(SYSCALL_SLICE, DUR, dur, INT64, 0, "ns", "duration")
PQ_COLUMN(SYSCALL_SLICE, CPU, cpu, INT32, 0, "", "CPU on which it ended")
PQ_COLUMN(SYSCALL_SLICE, UTID, utid, INT64, 0, "", "the thread")
PQ_COLUMN(SYSCALL_SLICE, NR, nr, INT32, 0, "", "number of the call")
PQ_COLUMN(SYSCALL_SLICE, ABI, abi, NAME, 0, "", "its table: native, compat or x32")
PQ_COLUMN(SYSCALL_SLICE, NAME, name, NAME, 1, "", "name of the call")
PQ_COLUMN(SYSCALL_SLICE, RET, ret, INT64, 0, "", "result, or -errno")
PQ_COLUMN(SYSCALL_SLICE, ERROR, error, NAME, 1, "",
	  "name of the error; null: there was none")
PQ_END(SYSCALL_SLICE)

PQ_TABLE(WAKEUP, wakeup, 0, "a thread is woken")
PQ_TIME(WAKEUP)
PQ_COLUMN(WAKEUP, KIND, kind, NAME, 0, "",
	  "waking (by the waker), wakeup or new (in a run queue)")
PQ_COLUMN(WAKEUP, WAKER_UTID, waker_utid, INT64, 1, "",
	  "thread that ran on the CPU of the event")
PQ_COLUMN(WAKEUP, UTID, utid, INT64, 0, "", "thread that is woken")
PQ_COLUMN(WAKEUP, CPU, cpu, INT32, 0, "", "CPU of the event")
PQ_COLUMN(WAKEUP, TARGET_CPU, target_cpu, INT32, 0, "", "CPU of the woken thread")
PQ_COLUMN(WAKEUP, PRIORITY, priority, INT32, 0, "", "priority of the woken thread")
PQ_END(WAKEUP)

PQ_TABLE(EVENT, event, 0, "an event as it was recorded")
PQ_TIME(EVENT)
PQ_COLUMN(EVENT, CPU, cpu, INT32, 0, "", "CPU that recorded it")
PQ_COLUMN(EVENT, UTID, utid, INT64, 1, "", "thread that ran there; null: not known")
PQ_COLUMN(EVENT, CLASS, class, NAME, 1, "", "class of the event")
PQ_COLUMN(EVENT, EVENT, event, NAME, 0, "", "name of the event")
PQ_COLUMN(EVENT, SYMBOL, symbol, NAME, 1, "",
	  "name of the first field that is a function")
PQ_COLUMN(EVENT, OBJECT, object, NAME, 1, "",
	  "name of what the event is about: system call, interrupt, marker, device")
PQ_COLUMN(EVENT, TEXT, text, TEXT, 1, "", "its text")
PQ_COLUMN(EVENT, MORE, more, TEXT, 1, "",
	  "JSON object: all fields, if some have no column, as those that only another tracer has")
PQ_END(EVENT)

PQ_TABLE(MARKER, marker, 0, "a marker of a program")
PQ_TIME(MARKER)
PQ_COLUMN(MARKER, KIND, kind, NAME, 0, "", "mark, begin or end")
PQ_COLUMN(MARKER, DUR, dur, INT64, 1, "ns", "for end: time since its begin")
PQ_COLUMN(MARKER, CPU, cpu, INT32, 0, "", "the CPU")
PQ_COLUMN(MARKER, UTID, utid, INT64, 1, "", "thread that ran there")
PQ_COLUMN(MARKER, TASK, task, BOOL, 0, "", "it belongs to the thread, else to all")
PQ_COLUMN(MARKER, ID, id, INT64, 0, "", "number of the marker")
PQ_COLUMN(MARKER, NAME, name, NAME, 1, "", "name of the marker")
PQ_COLUMN(MARKER, TEXT, text, TEXT, 1, "", "message")
PQ_END(MARKER)

PQ_TABLE(VALUE, value, 0, "a value of a program")
PQ_TIME(VALUE)
PQ_COLUMN(VALUE, VALUE, value, INT64, 0, "", "the value")
PQ_COLUMN(VALUE, CPU, cpu, INT32, 0, "", "the CPU")
PQ_COLUMN(VALUE, UTID, utid, INT64, 1, "", "thread that ran there")
PQ_COLUMN(VALUE, TASK, task, BOOL, 0, "", "it belongs to the thread, else to all")
PQ_COLUMN(VALUE, ID, id, INT64, 0, "", "number of the value")
PQ_COLUMN(VALUE, NAME, name, NAME, 1, "", "name of the value")
PQ_COLUMN(VALUE, TEXT, text, TEXT, 1, "", "message")
PQ_END(VALUE)

PQ_TABLE(LOST, lost, 1, "events that are missing")
PQ_TIME(LOST)
PQ_COLUMN(LOST, TS_END, ts_end, INT64, 0, "ns", "end of the loss")
PQ_COLUMN(LOST, CPU, cpu, INT32, 0, "", "CPU that recorded them")
PQ_COLUMN(LOST, SOURCE, source, NAME, 0, "",
	  "gap (seen in the trace), overwritten (before the ring begins), loss or ledger (told by the module), missed (hits of a probe that did not reach the tracer, on any CPU), evict")
PQ_COLUMN(LOST, RING, ring, NAME, 1, "", "event or control")
PQ_COLUMN(LOST, CLASS, class, NAME, 1, "", "class of the events")
PQ_COLUMN(LOST, REASON, reason, NAME, 1, "",
	  "full, nested, too_big, shed, rate; of missed: busy, returns, refused, detached; packets: whole packets are missing")
PQ_COLUMN(LOST, READER, reader, INT32, 1, "", "for evict: number of the reader")
PQ_COLUMN(LOST, COUNT, count, INT64, 1, "", "number of events; null: not known")
PQ_END(LOST)

PQ_TABLE(CAPTURE, capture, 0, "the trace itself: one row")
PQ_TIME(CAPTURE)
PQ_COLUMN(CAPTURE, CAPTURE_ID, capture_id, NAME, 0, "",
	  "UUID of the recording, of which the trace may be a part")
PQ_COLUMN(CAPTURE, BOOT_ID, boot_id, NAME, 1, "", "boot of the machine")
PQ_COLUMN(CAPTURE, HOST, machine_name, NAME, 0, "", "host name")
PQ_COLUMN(CAPTURE, KERNEL, kernel, NAME, 0, "", "kernel release")
PQ_COLUMN(CAPTURE, TS_END, ts_end, INT64, 0, "ns", "time of the last event")
PQ_COLUMN(CAPTURE, PROFILE, profile, NAME, 1, "",
	  "classes with an event in the last profile, by comma")
PQ_COLUMN(CAPTURE, FILTERS, filters, NAME, 1, "",
	  "kinds of filters in force, by comma")
PQ_COLUMN(CAPTURE, EMITTED, emitted, INT64, 1, "",
	  "events that happened, by the module's ledger")
PQ_COLUMN(CAPTURE, STORED, stored, INT64, 0, "", "events of the trace, without names")
PQ_COLUMN(CAPTURE, FILTERED, filtered, INT64, 1, "",
	  "events that filters held back, by the ledger")
PQ_COLUMN(CAPTURE, LOST, lost, INT64, 0, "", "lost events, as far as counted")
PQ_COLUMN(CAPTURE, GAPS, gaps, INT64, 0, "", "places where events were lost")
PQ_COLUMN(CAPTURE, UNCOUNTED, gaps_uncounted, INT64, 0, "",
	  "gaps whose number of events is not known")
PQ_COLUMN(CAPTURE, CLOCK_STABLE, clock_stable, BOOL, 1, "",
	  "the kernel trusted the trace clock all the time")
PQ_COLUMN(CAPTURE, CONVERTED, converted, BOOL, 0, "",
	  "the input was not recorded by the module itself")
PQ_COLUMN(CAPTURE, VERSION, version, NAME, 0, "",
	  "version of ktape that wrote the tables")
PQ_END(CAPTURE)

PQ_TABLE(CLOCK_SNAPSHOT, clock_snapshot, 1, "a clock at a moment")
PQ_TIME(CLOCK_SNAPSHOT)
PQ_COLUMN(CLOCK_SNAPSHOT, CLOCK, clock, NAME, 0, "", "MONOTONIC, BOOTTIME or REALTIME")
PQ_COLUMN(CLOCK_SNAPSHOT, VALUE, clock_value, INT64, 0, "ns", "its value")
PQ_COLUMN(CLOCK_SNAPSHOT, CPU, cpu, INT32, 1, "",
	  "CPU that read it; null: from the head of the trace")
PQ_END(CLOCK_SNAPSHOT)

PQ_TABLE(SYSINFO, sysinfo, 0, "the machine: one row")
PQ_ID(SYSINFO)
PQ_COLUMN(SYSINFO, HOST, machine_name, NAME, 0, "", "host name")
PQ_COLUMN(SYSINFO, SYSTEM, system, NAME, 0, "", "operating system")
PQ_COLUMN(SYSINFO, RELEASE, release, NAME, 0, "", "kernel release")
PQ_COLUMN(SYSINFO, MACHINE, machine, NAME, 0, "", "architecture, as of uname(2)")
PQ_COLUMN(SYSINFO, CLOCK, clock, NAME, 0, "", "name of the trace clock")
PQ_COLUMN(SYSINFO, FREQUENCY, frequency, INT64, 0, "Hz",
	  "frequency of the trace clock")
PQ_COLUMN(SYSINFO, CPUS, cpus, INT32, 0, "", "CPUs with events")
PQ_END(SYSINFO)

#undef PQ_TABLE
#undef PQ_COLUMN
#undef PQ_END
#undef PQ_ID
#undef PQ_TIME
