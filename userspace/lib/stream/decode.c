// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Track which thread runs on each CPU.
 *
 * Records do not contain the thread.  The header of each packet names the thread
 * that runs at its beginning; sched_switch and context records, which are in event rings,
 * change it; every event in between belongs to that thread.  The call stack of a switch, which
 * follows it, is that of the thread that left.
 */
#include "stream/decode.h"

int ktape_decoder_new(const struct ktape_info *info, struct ktape_decoder **decoder)
{
	struct ktape_decoder *d = malloc(sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->info = info;
	for (unsigned int i = 0; i < KT_CPUS_MAX; i++) {
		d->tid[i] = -1;
		d->last[i] = (struct kt_switch){ .left = -1, .came = -1 };
	}
	*decoder = d;
	return 0;
}

void ktape_decoder_free(struct ktape_decoder *decoder)
{
	free(decoder);
}

/*
 * Take the thread from the header of a packet, before its first record.
 * Return: true if the thread is that of the first record only, and is to be forgotten
 * after it.
 */
bool kt_decoder_packet(struct ktape_decoder *d, const uint8_t *head)
{
	uint8_t context = head[offsetof(struct ktape_block, context)];
	uint32_t cpu = KT_HEAD32(head, cpu);

	if (KT_HEAD32(head, kind) == KTAPE_RING_REGISTRY || cpu >= KT_CPUS_MAX)
		return false;
	if (KT_HEAD32(head, kind) == KTAPE_RING_EVENT) {
		d->tid[cpu] = kt_decoder_begin(head, d->tid[cpu]);
		return false;
	}
	/*
	 * Switches are in event rings only.  The header of a block of another
	 * ring may name a thread that is just being switched out, while the
	 * switch in the event ring already named its successor.  So the header
	 * is used only if the thread is not known, and only for the packet's first
	 * record, because switches that the trace lacks may follow.
	 */
	/* CONTINUED: the thread is as at the end of the packet before. */
	if (context == KTAPE_CTX_CONTINUED || context == KTAPE_CTX_UNKNOWN ||
	    d->tid[cpu] >= 0)
		return false;
	d->tid[cpu] = (int32_t)KT_HEAD32(head, tid);
	return true;
}

/*
 * Return the thread that left at the last switch, whose call stack follows; -1 if another
 * thread runs since, so that the switch of this call stack is missing.
 */
static int32_t left_thread(const struct ktape_decoder *d, uint32_t cpu)
{
	return d->last[cpu].came == d->tid[cpu] ? d->last[cpu].left : -1;
}

/*
 * Change the running thread at a switch or context record, and give the call stack of a switch the
 * thread that left.  A record with another number of arguments is damaged, and changes nothing.
 */
void kt_decoder_follow(struct ktape_decoder *d, struct ktape_event *event)
{
	int32_t *tid = &d->tid[event->cpu];

	if (event->opcode == KTAPE_EV_KERNEL_STACK) {
		/* The low byte is the opcode of the event that the stack is of. */
		if ((event->dat20 & 0xff) == KTAPE_EV_SCHED_SWITCH)
			event->tid = left_thread(d, event->cpu);
	} else if (event->opcode == KTAPE_EV_SCHED_SWITCH && event->nargs == 2) {
		event->tid = (int32_t)ktape_event_arg(event, 0);
		*tid = (int32_t)ktape_event_arg(event, 1);
		d->last[event->cpu] = (struct kt_switch){
			.left = event->tid,
			.came = *tid,
		};
	} else if (event->opcode == KTAPE_EV_CONTEXT && event->nargs == 1) {
		*tid = (int32_t)ktape_event_arg(event, 0);
	}
}

int ktape_decode_packet(const void *data, size_t len, struct ktape_decoder *decoder,
			const struct ktape_visitor *visitor,
			struct ktape_error *error)
{
	struct ktape_packet packet;
	struct ktape_event event;
	const char *why = NULL;
	bool once;
	int ret;

	ret = ktape_packet_open(&packet, data, len, decoder->info->uuid, error);
	if (ret)
		return ret;
	once = kt_decoder_packet(decoder, data);
	while ((ret = kt_packet_read_event(&packet, &event, &why, decoder->info)) >
	       0) {
		kt_decoder_event(decoder, &event);
		if (once)
			decoder->tid[event.cpu] = -1;
		once = false;
		ret = visitor->event(visitor->arg, &event);
		if (ret)
			return ret;
	}
	/* The packet has no record to which the thread of its header belongs. */
	if (once)
		decoder->tid[KT_HEAD32((const uint8_t *)data, cpu)] = -1;
	return ret < 0 ? kt_error(error, packet.at, "%s", why) : ret;
}
