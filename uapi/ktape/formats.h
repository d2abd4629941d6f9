/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Events of other trace formats that have no native counterpart: they are user
 * events (opcode 23) whose id says the format in its upper byte and the event of
 * that format in the lower 24 bits.
 */
#ifndef _KTAPE_FORMATS_H
#define _KTAPE_FORMATS_H

#define KTAPE_FORMAT_ID_MASK	0xff000000U
#define KTAPE_FORMAT_ID_FIRST	0xf0000000U	/* ids below are the users' own */

#define KTAPE_FORMAT_ID_TBAND	0xf1000000U	/* Tonbandgeraet: id of the event */
#define KTAPE_FORMAT_ID_RKH	0xf2000000U	/* RKH trace: its TE_ID */
#define KTAPE_FORMAT_ID_TRACEX	0xf3000000U	/* ThreadX TraceX: its number */

#endif /* _KTAPE_FORMATS_H */
