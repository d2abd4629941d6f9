/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Ids of user events (opcode 23) that stand for events of other trace formats
 * without a native counterpart: the upper byte is the format, the lower 24 bits
 * are the event of that format.  Only conversions make them: /dev/ktape_mark refuses
 * them, and readers believe them only in a trace that is marked as converted.
 */
#ifndef _KTAPE_FORMATS_H
#define _KTAPE_FORMATS_H

#define KTAPE_FORMAT_ID_MASK  0xff000000U
#define KTAPE_FORMAT_ID_FIRST 0xf0000000U /* ids below belong to programs */

#define KTAPE_FORMAT_ID_TBAND  0xf1000000U /* Tonbandgeraet: id of the event */
#define KTAPE_FORMAT_ID_RKH    0xf2000000U /* RKH trace: its TE_ID */
#define KTAPE_FORMAT_ID_TRACEX 0xf3000000U /* ThreadX TraceX: its number */
#define KTAPE_FORMAT_ID_LINUX \
	0xf4000000U /* tracepoints: a number in the trace */

/*
 * Not an event: those fields of the Linux event in the next record that the event table does
 * not have (uapi/README.md).
 */
#define KTAPE_FORMAT_ID_FIELDS 0xf4ffffffU

#endif /* _KTAPE_FORMATS_H */
