/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* clang-format off */
/*
 * Timers and work: opcodes 76 to 100.  Included by ktape/events.h.
 *
 * A span replaces a start and its end if they have a duration gate (ktape/filter.h).
 */

KTAPE_EVENT(76, TIMER_INIT, timer_init, TIMER, "a timer is prepared")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(TIMER_INIT)

KTAPE_EVENT(77, TIMER_START, timer_start, TIMER, "a timer is armed")
	KTAPE_BITS(X32, flags, 20, "low bits of its flags")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(FUNC, function, "function that will run")
	KTAPE_ARG(S32, expires_in, "jiffies from now")
KTAPE_END(TIMER_START)

KTAPE_EVENT(78, TIMER_EXPIRE_ENTRY, timer_expire_entry, TIMER,
	    "a timer's function starts")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(FUNC, function, "function that runs")
	KTAPE_ARG(S32, late, "jiffies since it expired")
KTAPE_END(TIMER_EXPIRE_ENTRY)

KTAPE_EVENT(79, TIMER_EXPIRE_EXIT, timer_expire_exit, TIMER,
	    "a timer's function returns; the timer may have been freed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(TIMER_EXPIRE_EXIT)

KTAPE_EVENT(80, TIMER_CANCEL, timer_cancel, TIMER, "a timer is disarmed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(TIMER_CANCEL)

KTAPE_EVENT(81, ITIMER_STATE, itimer_state, TIMER,
	    "setitimer() arms or disarms")
	KTAPE_BITS(U32, which, 2, "0 real, 1 virtual, 2 prof")
KTAPE_ARGS()
	KTAPE_ARG(U64, expires, "in ns of CPU time; 0 with the real timer")
	KTAPE_ARG(NS, value, "time to the first expiry, 0 disarms")
	KTAPE_ARG(NS, interval, "time between expiries")
KTAPE_END(ITIMER_STATE)

KTAPE_EVENT(82, ITIMER_EXPIRE, itimer_expire, TIMER,
	    "an interval timer expires")
	KTAPE_BITS(U32, which, 2, "0 real, 1 virtual, 2 prof")
KTAPE_ARGS()
	KTAPE_ARG(TID, tid, "the process that gets the signal")
KTAPE_END(ITIMER_EXPIRE)

KTAPE_EVENT(83, TICK_STOP, tick_stop, TIMER,
	    "the tick is to be stopped on this CPU")
	KTAPE_BITS(BOOL, success, 1, "the tick was stopped")
	KTAPE_BITS(X32, dependency, 8, "reason why the tick goes on")
KTAPE_ARGS()
KTAPE_END(TICK_STOP)

KTAPE_EVENT(84, TIMER_BASE_IDLE, timer_base_idle, TIMER,
	    "timers of this CPU become idle or busy")
	KTAPE_BITS(BOOL, idle, 1, "1 idle, 0 busy")
	KTAPE_BITS(CPU, cpu, 12, "CPU of the timers")
KTAPE_ARGS()
KTAPE_END(TIMER_BASE_IDLE)

KTAPE_EVENT(85, TIMER_SPAN, timer_span, TIMER,
	    "a timer's function that took longer than its gate")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(TIMER_SPAN)

KTAPE_EVENT(88, HRTIMER_INIT, hrtimer_init, HRTIMER, "a timer is prepared")
	KTAPE_BITS(U32, clock, 5, "clockid")
	KTAPE_BITS(X32, mode, 8, "enum hrtimer_mode")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(HRTIMER_INIT)

KTAPE_EVENT(89, HRTIMER_START, hrtimer_start, HRTIMER, "a timer is armed")
	KTAPE_BITS(X32, mode, 8, "enum hrtimer_mode")
	KTAPE_BITS(BOOL, was_armed, 1, "the timer was armed, if the kernel says so")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(NS, expires, "at the earliest, on its clock")
KTAPE_END(HRTIMER_START)

KTAPE_EVENT(90, HRTIMER_EXPIRE_ENTRY, hrtimer_expire_entry, HRTIMER,
	    "a timer's function starts")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(FUNC, function, "function that runs")
	KTAPE_ARG(S32, late_ns, "since it could expire; ends at 2^31 - 1")
KTAPE_END(HRTIMER_EXPIRE_ENTRY)

KTAPE_EVENT(91, HRTIMER_EXPIRE_EXIT, hrtimer_expire_exit, HRTIMER,
	    "a timer's function returns; the timer may have been freed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(HRTIMER_EXPIRE_EXIT)

KTAPE_EVENT(92, HRTIMER_CANCEL, hrtimer_cancel, HRTIMER, "a timer is disarmed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
KTAPE_END(HRTIMER_CANCEL)

KTAPE_EVENT(93, HRTIMER_SPAN, hrtimer_span, HRTIMER,
	    "a timer's function that took longer than its gate")
KTAPE_ARGS()
	KTAPE_ARG(PTR, timer, "the timer")
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(HRTIMER_SPAN)

KTAPE_EVENT(96, WORKQUEUE_QUEUE_WORK, workqueue_queue_work, WORKQUEUE,
	    "work is queued")
	KTAPE_BITS(CPU, req_cpu, 16, "for which CPU; 65535: any")
KTAPE_ARGS()
	KTAPE_ARG(PTR, work, "the work item")
	KTAPE_ARG(FUNC, function, "function that will run")
KTAPE_END(WORKQUEUE_QUEUE_WORK)

KTAPE_EVENT(97, WORKQUEUE_ACTIVATE_WORK, workqueue_activate_work, WORKQUEUE,
	    "work may be run")
KTAPE_ARGS()
	KTAPE_ARG(PTR, work, "the work item")
KTAPE_END(WORKQUEUE_ACTIVATE_WORK)

KTAPE_EVENT(98, WORKQUEUE_EXECUTE_START, workqueue_execute_start, WORKQUEUE,
	    "work starts")
KTAPE_ARGS()
	KTAPE_ARG(PTR, work, "the work item")
	KTAPE_ARG(FUNC, function, "function that runs")
KTAPE_END(WORKQUEUE_EXECUTE_START)

KTAPE_EVENT(99, WORKQUEUE_EXECUTE_END, workqueue_execute_end, WORKQUEUE,
	    "work is done; the item may have been freed")
KTAPE_ARGS()
	KTAPE_ARG(PTR, work, "the work item")
	KTAPE_ARG(FUNC, function,
		  "function that ran, 0 if the kernel does not pass it")
KTAPE_END(WORKQUEUE_EXECUTE_END)

KTAPE_EVENT(100, WORK_SPAN, work_span, WORKQUEUE,
	    "work that took longer than its gate")
KTAPE_ARGS()
	KTAPE_ARG(FUNC, function,
		  "function that ran, 0 if the kernel does not pass it")
	KTAPE_ARG(TICKS, start, "time of the start")
KTAPE_END(WORK_SPAN)
