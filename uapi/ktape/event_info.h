/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Which events there are on this machine, and if not why.  Part of the contract,
 * included by ktape/abi.h.
 */
#ifndef _KTAPE_EVENT_INFO_H
#define _KTAPE_EVENT_INFO_H

#include <linux/types.h>

/**
 * enum ktape_event_state - whether an event can be recorded
 * @KTAPE_EVENT_UNKNOWN: there is no such opcode
 * @KTAPE_EVENT_AVAILABLE: yes
 * @KTAPE_EVENT_NO_TRACEPOINT: the kernel has no such tracepoint
 * @KTAPE_EVENT_PROTOTYPE: the tracepoint's prototype is not known
 * @KTAPE_EVENT_NO_CONFIG: the kernel was built without it
 * @KTAPE_EVENT_FAILED: attaching failed, see error
 * @KTAPE_EVENT_FREE_SLOT: of a run-time probe that nobody has added
 * @KTAPE_EVENT_GONE: of a run-time probe whose module was unloaded
 */
enum ktape_event_state {
	KTAPE_EVENT_UNKNOWN = 0,
	KTAPE_EVENT_AVAILABLE = 1,
	KTAPE_EVENT_NO_TRACEPOINT = 2,
	KTAPE_EVENT_PROTOTYPE = 3,
	KTAPE_EVENT_NO_CONFIG = 4,
	KTAPE_EVENT_FAILED = 5,
	KTAPE_EVENT_FREE_SLOT = 6,
	KTAPE_EVENT_GONE = 7
};

#define KTAPE_SOURCE_NAME	40

/**
 * struct ktape_event_info - availability of one event, or of one of its sources
 * @size: of the structure
 * @opcode: in: which event
 * @state: enum ktape_event_state
 * @error: negative errno with KTAPE_EVENT_FAILED
 * @attached: 1 while its probe is attached
 * @source: in: 0: the event; n: the n-th source of it, a tracepoint or notifier
 *	(ENOENT: it has less)
 * @reason: text for people, ends in NUL; empty when available
 * @name: of the source, ends in NUL
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

#endif /* _KTAPE_EVENT_INFO_H */
