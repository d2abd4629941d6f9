/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Set the thread of events.  Inline, because every event of a trace passes here. */
#ifndef _KT_DECODE_H
#define _KT_DECODE_H

#include <ktape/formats.h>

#include "stream/packet.h"

/**
 * struct kt_switch - the last switch of a CPU
 * @left: the thread that left the CPU
 * @came: the thread that came
 */
struct kt_switch {
	int32_t left;
	int32_t came;
};

/**
 * struct ktape_decoder - the running threads of all CPUs
 * @info: metadata of the trace
 * @tid: thread that runs on each CPU, -1 = not known
 * @last: last switch of each CPU
 */
struct ktape_decoder {
	const struct ktape_info *info;
	int32_t tid[KT_CPUS_MAX];
	struct kt_switch last[KT_CPUS_MAX];
};

/*
 * decode.c.  kt_decoder_packet() returns true if the thread in a header is that of the first record
 * only.  kt_decoder_follow() is for switches, context records and call stacks.
 */
bool kt_decoder_packet(struct ktape_decoder *d, const uint8_t *head);
void kt_decoder_follow(struct ktape_decoder *d, struct ktape_event *event);

/*
 * Return the thread that runs at the begin of an event ring's packet.  @tid: the one that ran at
 * the end of the packet before.
 */
static inline int32_t kt_decoder_begin(const uint8_t *head, int32_t tid)
{
	switch (head[offsetof(struct ktape_block, context)]) {
	case KTAPE_CTX_CONTINUED:
		return tid;
	case KTAPE_CTX_UNKNOWN:
		return -1;
	default:
		return (int32_t)KT_HEAD32(head, tid);
	}
}

/*
 * Check whether a user event has an id that only conversions from other formats write, though
 * the trace is none.  The module refuses such ids, so the event is forged, and the caller must
 * not treat it as an event of that format.
 */
static inline bool kt_decoder_is_forged(const struct ktape_decoder *d,
					const struct ktape_event *event)
{
	return !d->info->converted && event->nargs &&
	       ktape_event_arg(event, 0) >= KTAPE_FORMAT_ID_FIRST;
}

/* Set @known and @tid of an event, and track a change of the running thread. */
static inline void kt_decoder_event(struct ktape_decoder *d, struct ktape_event *event)
{
	unsigned int opcode = event->opcode;

	event->known = kt_mask_has(d->info->known, opcode);
	if (opcode == KTAPE_EV_USER_EVENT && kt_decoder_is_forged(d, event))
		event->known = false;
	if (event->kind == KTAPE_RING_REGISTRY)
		return;
	event->tid = d->tid[event->cpu];
	if ((opcode == KTAPE_EV_SCHED_SWITCH || opcode == KTAPE_EV_CONTEXT ||
	     opcode == KTAPE_EV_KERNEL_STACK) &&
	    event->known)
		kt_decoder_follow(d, event);
}

#endif /* _KT_DECODE_H */
