/* SPDX-License-Identifier: GPL-2.0-only */
/* Upcalls: other modules that want to see records as they are made. */
#ifndef _KT_SINK_H
#define _KT_SINK_H

#include "ring/ring.h"

struct ktape_sink;

extern u64 kt_sink_mask[KTAPE_MASK_WORDS];

int kt_sink_init(void (*on_change)(void));
void kt_sink_exit(void);
void kt_sink_call(const struct kt_record *rec);

/**
 * kt_sink_wants() - does any sink want this event?
 * @opcode: below KTAPE_OPCODES
 *
 * Context: any, preemption disabled.
 * Return: true or false.
 */
static __always_inline bool kt_sink_wants(unsigned int opcode)
{
	return READ_ONCE(kt_sink_mask[opcode / 64]) >> (opcode % 64) & 1;
}

#endif /* _KT_SINK_H */
