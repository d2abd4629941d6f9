/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/* The cost of recording.  Part of the contract, see ktape/abi.h. */
#ifndef _KTAPE_COST_H
#define _KTAPE_COST_H

#include <ktape/abi.h>

/**
 * struct ktape_cost - time that one CPU spends on recording, sampled (COST)
 * @size: bytes of the structure
 * @cpu: in: the CPU
 * @flags: zero
 * @reserved: zero
 * @samples: events that were timed since the module was loaded
 * @event_ticks: ticks of the trace clock that these events took, each from its
 *	count as emitted to its publication
 * @opened: blocks that were opened
 * @opening_ticks: ticks that opening these blocks took
 *
 * The total is about @event_ticks / @samples for each event, plus @opening_ticks.
 * ENXIO: there is no such CPU.
 */
struct ktape_cost {
	__u32 size;
	__u32 cpu;
	__u32 flags;
	__u32 reserved;
	__u64 samples;
	__u64 event_ticks;
	__u64 opened;
	__u64 opening_ticks;
};

#endif /* _KTAPE_COST_H */
