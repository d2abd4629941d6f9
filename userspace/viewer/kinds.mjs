// SPDX-License-Identifier: GPL-2.0-only
// Kinds and flags of spans, with the numbers of lib/format/html/internal.h.

export const RUN = 0, IRQ = 1, SOFTIRQ = 2, IPI = 3, TICK = 4, ISR = 5, TIMER = 6,
	HRTIMER = 7, LOST = 8, LOSS = 9, ON = 10, WAIT = 11, CALL = 12, WORK = 13,
	MARK = 14, BLOCK = 15, STATE = 16, OFF = 17, FILTER = 18, HELD = 19, QUEUE = 20;

// Groups of rows of a CPU, in "depth" of OFF: see enum html_group.
export const OFF_RUN = 0, OFF_CALLS = 1, OFF_IRQS = 2, OFF_WAKES = 3, OFF_ALL = 4;

export const NO_BEGIN = 1, NO_END = 2, UNSURE = 4, MERGED = 8;

export const WOKEN = 16, READY = 0, PREEMPTED = 9;

// Why a ring lost events: the names of ktape verify, by bit of "b" of LOST, and in words.
// The bits above are the number of missing packets.
export const lostReasons = [["full", "ring full"], ["nested", "nested writers"], ["too_big", "larger than a block"],
	["shed", "shed: of low priority"], ["rate", "rate limit"]];
export const REASON_BITS = 8;
export const UNREAD = 7;	// the bit of events that were overwritten before they were read
export const OVERWRITTEN = 6;	// the bit of those overwritten before the reading began: they are not lost

// What a kind is called, and its colour in style.css.
export const kinds = [
	{ name: "running", colour: "run" },
	{ name: "irq", colour: "irq" },
	{ name: "softirq", colour: "softirq" },
	{ name: "ipi", colour: "irq" },
	{ name: "timer interrupt", colour: "tick" },
	{ name: "isr", colour: "irq" },
	{ name: "timer", colour: "timer" },
	{ name: "hrtimer", colour: "timer" },
	{ name: "lost", colour: "lost" },
	{ name: "lost", colour: "lost" },
	{ name: "running", colour: "run" },
	{ name: "waiting", colour: "blocked" },
	{ name: "system call", colour: "call" },
	{ name: "work", colour: "work" },
	{ name: "mark", colour: "mark" },
	{ name: "block request", colour: "block" },
	{ name: "state", colour: "state" },
	{ name: "not enabled", colour: "off" },
	{ name: "filtered", colour: "filtered" },
	{ name: "filtered", colour: "filtered" },
	{ name: "run queue", colour: "ready" },
];

// Kinds of spans by the names of ktape stats, which member has the key, and what is
// measured.  The value of those with "before" is what passed before such a span began.
export const series = {
	run_queue: { kind: WAIT, runnable: true, help: "from runnable to running" },
	wakeup: { kind: WAIT, runnable: true, help: "from waking up to running" },
	softirq_wait: { kind: SOFTIRQ, key: "a", before: true, help: "from raised to begun" },
	work_wait: { kind: WORK, key: "a", before: true, help: "from queued to begun" },
	timer_late: { kind: TIMER, key: "a", before: true, help: "begun after its time" },
	hrtimer_late: { kind: HRTIMER, key: "a", before: true, help: "begun after its time" },
	block_wait: { kind: BLOCK, key: "a", before: true, help: "from inserted to issued" },
	irq: { kind: IRQ, key: "a", help: "interrupt handlers of devices" },
	ipi: { kind: IPI, key: "a", help: "interrupts from other CPUs" },
	tick: { kind: TICK, key: "a", help: "timer interrupts" },
	softirq: { kind: SOFTIRQ, key: "a", help: "soft interrupts" },
	syscall: { kind: CALL, key: "b", help: "system calls" },
	work: { kind: WORK, key: "a", help: "work items" },
	timer: { kind: TIMER, key: "a", help: "callbacks of timers" },
	hrtimer: { kind: HRTIMER, key: "a", help: "callbacks of timers" },
	block: { kind: BLOCK, key: "a", help: "requests, from issued to completed" },
};

/** Return true if the state of a WAIT is runnable: it waits for a CPU. */
export function isRunnable(state)
{
	return state === WOKEN || state === READY || state === PREEMPTED;
}
