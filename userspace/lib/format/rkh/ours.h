/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How a trace of Linux is told in RKH: what its reader and writer share.
 *
 * An event is a user event with typed arguments: U8 opcode, U16 CPU, OBJ thread,
 * X32 dat20, an X32 each argument, and its buffer in MEM pieces; a loss has the
 * opcode KT_OURS_LOST and two X32, its count.  Numbers of the first kinds of
 * events that come are their own, then it is KT_OURS_EVENT; its TUSR names tell.
 * The stream's own user events, below KT_OURS_EVENT, keep their numbers.
 */
#ifndef _KT_CODEC_RKH_OURS_H
#define _KT_CODEC_RKH_OURS_H

#define KT_OURS_EVENT		16U	/* user event: any event */
#define KT_OURS_LOSS		17U	/* user event: a loss */
#define KT_OURS_FIRST		18U	/* user events of kinds of events */
#define KT_OURS_PREFIX		"kt:"
#define KT_OURS_BLOB		2048U	/* bytes of a buffer that are kept */

/* Addresses that objects get: upper byte, and id. */
#define KT_OURS_TYPE		0xff000000U
#define KT_OURS_ID		0x00ffffffU
#define KT_OURS_THREAD		0x40000000U
#define KT_OURS_IRQ		0x20000000U
#define KT_OURS_SOFTIRQ		0x21000000U
#define KT_OURS_ISR		0x22000000U	/* these: param1 * 4096 + id */
#define KT_OURS_MARKER		0x23000000U
#define KT_OURS_VALUE		0x24000000U
#define KT_OURS_MARKER_GLOBAL	0x25000000U	/* with KTAPE_NAME_GLOBAL */
#define KT_OURS_VALUE_GLOBAL	0x26000000U
#define KT_OURS_PAIR_SHIFT	12
#define KT_OURS_PAIR_MAX	0xfffU	/* of either */
#define KT_OURS_PAIR_ANY	0xfffU	/* of markers: KTAPE_OWNER_ANY */

#endif /* _KT_CODEC_RKH_OURS_H */
