/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Whether an event can be recorded on this kernel, and why not; why hits of its probe
 * were missed; reasons of inter-processor interrupts.  Part of the contract, included by
 * ktape/abi.h.
 */
#ifndef _KTAPE_EVENT_INFO_H
#define _KTAPE_EVENT_INFO_H

#include <linux/types.h>

/**
 * enum ktape_event_state - whether an event can be recorded
 * @KTAPE_EVENT_UNKNOWN: there is no such opcode
 * @KTAPE_EVENT_AVAILABLE: the event can be recorded
 * @KTAPE_EVENT_NO_TRACEPOINT: the kernel has no such tracepoint
 * @KTAPE_EVENT_PROTOTYPE: the module does not know the tracepoint's prototype
 * @KTAPE_EVENT_NO_CONFIG: the kernel was built without what the event needs
 * @KTAPE_EVENT_FAILED: attaching the probe failed, see @error
 * @KTAPE_EVENT_FREE_SLOT: slot of a run-time probe, and no probe was added
 * @KTAPE_EVENT_GONE: run-time probe of a module that was unloaded
 * @KTAPE_EVENT_LAYOUT: the kernel's functions are not where the event needs them
 * @KTAPE_EVENT_RIGHTS: the session of the descriptor may not record the event, or, for
 *	session 0, the caller may make none that does
 */
enum ktape_event_state {
	KTAPE_EVENT_UNKNOWN = 0,
	KTAPE_EVENT_AVAILABLE = 1,
	KTAPE_EVENT_NO_TRACEPOINT = 2,
	KTAPE_EVENT_PROTOTYPE = 3,
	KTAPE_EVENT_NO_CONFIG = 4,
	KTAPE_EVENT_FAILED = 5,
	KTAPE_EVENT_FREE_SLOT = 6,
	KTAPE_EVENT_GONE = 7,
	KTAPE_EVENT_LAYOUT = 8,
	KTAPE_EVENT_RIGHTS = 9
};

#define KTAPE_SOURCE_NAME 40

/**
 * struct ktape_event_info - availability of one event, or of one of its sources
 *	(EVENT_INFO)
 * @size: bytes of the structure
 * @opcode: in: the event
 * @state: in: zero; out: enum ktape_event_state
 * @error: in: zero; out: negative errno with KTAPE_EVENT_FAILED
 * @attached: in: zero; out: 1 while the probe is attached
 * @source: in: 0 = the event; n = its n-th source, a tracepoint or notifier
 * @reason: out: text for the user, NUL-terminated: why the event is not available, or
 *	a restriction of one that is
 * @name: out: name of the source, NUL-terminated
 *
 * ENOENT: the event has fewer than @source sources.
 */
struct ktape_event_info {
	__u32 size;
	__u32 opcode;
	__u32 state;
	__s32 error;
	__u32 attached;
	__u32 source;
	char reason[64];
	char name[KTAPE_SOURCE_NAME];
};

/**
 * enum ktape_missed - why hits of a probe did not reach the tracer
 * @KTAPE_MISSED_BUSY: the kernel was running the handler of another run-time probe on
 *	the CPU
 * @KTAPE_MISSED_RETURNS: a return probe, and the kernel was following as many calls of
 *	its function as it can
 * @KTAPE_MISSED_REFUSED: the tracer was reading its clock on the CPU, or RCU was not
 *	watching the CPU
 * @KTAPE_MISSED_DETACHED: the probe was not attached, because its module was unloaded or
 *	attaching it failed; nobody counts how often it would have been hit
 * @KTAPE_MISSED_REASONS: number of reasons
 *
 * Such a hit is counted in no ring: it is neither emitted nor lost.
 */
enum ktape_missed {
	KTAPE_MISSED_BUSY = 0,
	KTAPE_MISSED_RETURNS = 1,
	KTAPE_MISSED_REFUSED = 2,
	KTAPE_MISSED_DETACHED = 3,
	KTAPE_MISSED_REASONS = 4
};

/**
 * enum ktape_ipi - reason of an inter-processor interrupt
 * @KTAPE_IPI_OTHER: none of these
 * @KTAPE_IPI_RESCHEDULE: reschedule
 * @KTAPE_IPI_CALL: call a function on several CPUs
 * @KTAPE_IPI_CALL_SINGLE: call a function on one CPU
 * @KTAPE_IPI_IRQ_WORK: run irq_work
 * @KTAPE_IPI_STOP: stop the CPU
 * @KTAPE_IPI_TIMER: broadcast of a timer tick
 */
enum ktape_ipi {
	KTAPE_IPI_OTHER = 0,
	KTAPE_IPI_RESCHEDULE = 1,
	KTAPE_IPI_CALL = 2,
	KTAPE_IPI_CALL_SINGLE = 3,
	KTAPE_IPI_IRQ_WORK = 4,
	KTAPE_IPI_STOP = 5,
	KTAPE_IPI_TIMER = 6
};

#endif /* _KTAPE_EVENT_INFO_H */
