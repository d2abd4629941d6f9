/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose event is it?  Asked for each, so it stands here. */
#ifndef _KT_DECODE_H
#define _KT_DECODE_H

#include "stream/packet.h"

/**
 * struct ktape_decoder - the threads of all CPUs
 * @info: of the trace
 * @tid: who runs there, or -1
 */
struct ktape_decoder {
	const struct ktape_info *info;
	int32_t tid[KT_CPUS_MAX];
};

/* decode.c */
void kt_decoder_packet(struct ktape_decoder *d, const uint8_t *head);
void kt_decoder_follow(struct ktape_decoder *d, struct ktape_event *event);

/* Say whose event it is, and follow it if it changes the thread. */
static inline void kt_decoder_event(struct ktape_decoder *d,
				    struct ktape_event *event)
{
	unsigned int opcode = event->opcode;

	event->known = kt_mask_has(d->info->known, opcode);
	if (event->kind == KTAPE_RING_REGISTRY)
		return;
	event->tid = d->tid[event->cpu];
	if ((opcode == KTAPE_EV_SCHED_SWITCH || opcode == KTAPE_EV_CONTEXT) &&
	    event->known)
		kt_decoder_follow(d, event);
}

#endif /* _KT_DECODE_H */
