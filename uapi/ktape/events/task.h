/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/* Scheduler, processes, signals: opcodes 32 to 45, 104 and 105.  Included by ktape/events.h. */

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
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU where it last ran")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKING)

KTAPE_EVENT(34, SCHED_WAKEUP, sched_wakeup, SCHED,
	    "a woken thread stands in a run queue")
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU of the run queue")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKEUP)

KTAPE_EVENT(35, SCHED_WAKEUP_NEW, sched_wakeup_new, SCHED,
	    "a new thread stands in a run queue for the first time")
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
	KTAPE_BITS(CPU, target_cpu, 12, "the CPU of the run queue")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
KTAPE_END(SCHED_WAKEUP_NEW)

KTAPE_EVENT(36, SCHED_MIGRATE_TASK, sched_migrate_task, SCHED,
	    "a thread moves to another CPU")
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
	KTAPE_BITS(CPU, dest_cpu, 12, "CPU that the thread moves to")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(CPU, orig_cpu, "CPU that the thread comes from")
KTAPE_END(SCHED_MIGRATE_TASK)

KTAPE_EVENT(37, SCHED_PI_SETPRIO, sched_pi_setprio, SCHED,
	    "a thread inherits a priority, or gives it back")
	KTAPE_BITS(PRIO, old_prio, 8, "priority of the thread before")
	KTAPE_BITS(PRIO, new_prio, 8, "priority of the thread from now on")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, donor_tid, "thread whose priority it inherits, 0: its own")
KTAPE_END(SCHED_PI_SETPRIO)

KTAPE_EVENT(38, SCHED_PROCESS_WAIT, sched_process_wait, SCHED,
	    "a thread waits for the end of a process")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "thread that is waited for, 0: any")
KTAPE_END(SCHED_PROCESS_WAIT)

KTAPE_EVENT(39, SCHED_STAT_RUNTIME, sched_stat_runtime, SCHED,
	    "time that a thread ran")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(NS, runtime, "since the last such event")
KTAPE_END(SCHED_STAT_RUNTIME)

KTAPE_EVENT(40, PROCESS_FORK, process_fork, PROCESS,
	    "a process or thread was made; its name is in the registry")
	KTAPE_BITS(BOOL, thread, 1, "the child is a thread of its maker's process")
KTAPE_ARGS()
	KTAPE_ARG(TID, parent_tid, "thread that made the new one")
	KTAPE_ARG(TID, child_tid, "the new thread")
	KTAPE_ARG(TID, child_tgid, "the process of the new thread")
KTAPE_END(PROCESS_FORK)

KTAPE_EVENT(41, PROCESS_EXEC, process_exec, PROCESS,
	    "a process started another program; its name is in the registry")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, old_tid, "id of the thread before, if another thread called exec")
KTAPE_END(PROCESS_EXEC)

KTAPE_EVENT(42, PROCESS_EXIT, process_exit, PROCESS, "a thread ends")
	KTAPE_BITS(PRIO, prio, 8, "priority of the thread")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, tgid, "process of the thread")
	KTAPE_ARG(X32, code, "status << 8 | signal")
KTAPE_END(PROCESS_EXIT)

KTAPE_EVENT(43, PROCESS_RENAME, process_rename, PROCESS,
	    "a thread changed its name; the new one is in the registry")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, tgid, "process of the thread")
KTAPE_END(PROCESS_RENAME)

KTAPE_EVENT(44, PROCESS_FREE, process_free, PROCESS,
	    "the task structure of a thread is freed")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(TID, tgid, "process of the thread")
KTAPE_END(PROCESS_FREE)

KTAPE_EVENT(45, SCHED_BLOCKED, sched_blocked, SCHED,
	    "a thread goes to sleep and no signal can wake it")
	KTAPE_BITS(BOOL, io, 1, "it waits for input or output")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the thread")
	KTAPE_ARG(FUNC, caller, "function that put the thread to sleep")
KTAPE_END(SCHED_BLOCKED)

KTAPE_EVENT(104, SIGNAL_GENERATE, signal_generate, SIGNAL, "a signal is sent")
	KTAPE_BITS(SIGNAL, sig, 7, "the signal")
	KTAPE_BITS(BOOL, group, 1, "to the process, else to the thread")
	KTAPE_BITS(U32, result, 3,
		   "0 delivered, 1 ignored, 2 pending, 3 and 4 lost")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "thread that the signal is sent to")
	KTAPE_ARG(S32, code, "si_code")
	KTAPE_ARG(S32, errno, "si_errno")
KTAPE_END(SIGNAL_GENERATE)

KTAPE_EVENT(105, SIGNAL_DELIVER, signal_deliver, SIGNAL,
	    "a thread takes a signal")
	KTAPE_BITS(SIGNAL, sig, 7, "the signal")
KTAPE_ARGS()
	KTAPE_ARG(S32, code, "si_code")
	KTAPE_ARG(X32, flags, "SA_*")
	KTAPE_ARG(PTR, handler, "0 default, 1 ignore, else the handler")
KTAPE_END(SIGNAL_DELIVER)
