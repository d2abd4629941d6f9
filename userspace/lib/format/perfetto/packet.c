// SPDX-License-Identifier: LGPL-2.1-or-later
/* Packets of a Perfetto trace, and the bundle of events of each CPU. */
#include "internal.h"

#define HEADS_MAX \
	64 /* bytes around a bundle's events, or before the fields of a packet */

/*
 * Put the sequence of a packet.  The first packet of PF_SEQUENCE_FTRACE clears what a reader knows
 * of the sequence; the others need what came before, such as interned symbols.
 */
static char *put_sequence(struct perfetto *pf, char *p, uint32_t sequence)
{
	uint32_t flags = PF_SEQ_NEEDED;

	p = pf_number(p, PF_PACKET_SEQUENCE_ID, sequence);
	if (pf->machine)
		p = pf_number(p, PF_PACKET_MACHINE, pf->machine);
	if (sequence != PF_SEQUENCE_FTRACE)
		return p;
	if (!pf->begun)
		flags = PF_SEQ_CLEARED;
	pf->begun = true;
	return pf_number(p, PF_PACKET_SEQUENCE_FLAGS, flags);
}

/**
 * pf_packet() - begin a packet other than a bundle
 * @pf: trace being written
 * @sequence_id: PF_SEQUENCE_*
 * @room: bytes that its fields may take, less than PF_MESSAGE_MAX
 *
 * Only one packet can be open at a time; @pf->packet points to it.
 *
 * Return: where its fields go, or NULL: the sink has failed.
 */
char *pf_packet(struct perfetto *pf, uint32_t sequence_id, size_t room)
{
	char *p = kt_sink_room(pf->s, room + HEADS_MAX);

	if (!p)
		return NULL;
	pf->packet = pf_open(p, PF_TRACE_PACKET);
	return put_sequence(pf, pf->packet, sequence_id);
}

/**
 * pf_packet_done() - end the packet that pf_packet() began
 * @pf: trace being written
 * @p: end of its last field
 *
 * The sink fails if the packet, or a message inside it, is longer than its length field
 * can hold: a reader would take its end for other messages.
 */
void pf_packet_done(struct perfetto *pf, char *p)
{
	if ((size_t)(p - pf->packet) > PF_MESSAGE_MAX) {
		pf->s->error = kt_sink_fail(pf->s, "a packet is too long");
		return;
	}
	kt_sink_done(pf->s, pf_close(pf->packet, p));
}

/* As pf_packet(), for @room of at most PF_LONG_MAX bytes. */
char *pf_packet_long(struct perfetto *pf, uint32_t sequence_id, size_t room)
{
	char *p = kt_sink_room(pf->s, room + HEADS_MAX);

	if (!p)
		return NULL;
	pf->packet = pf_open_long(p, PF_TRACE_PACKET);
	return put_sequence(pf, pf->packet, sequence_id);
}

/* End the packet that pf_packet_long() began, as pf_packet_done(). */
void pf_packet_long_done(struct perfetto *pf, char *p)
{
	if ((size_t)(p - pf->packet) > PF_LONG_MAX) {
		pf->s->error = kt_sink_fail(pf->s, "a packet is too long");
		return;
	}
	kt_sink_done(pf->s, pf_close_long(pf->packet, p));
}

/**
 * pf_flush() - write the bundle of a CPU, unless it is empty and no loss is to be told
 * @pf: trace being written
 * @cpu: CPU that has a bundle, which is empty then
 */
void pf_flush(struct perfetto *pf, uint32_t cpu)
{
	struct pf_cpu *c = pf->cpus[cpu];
	char heads[HEADS_MAX], *p = heads, *to;
	size_t head, bundle;

	if (!c->len && !c->gap)
		return;
	p = pf_number(p, PF_BUNDLE_CPU, cpu);
	if (c->gap)
		p = pf_number(p, PF_BUNDLE_LOST, 1);
	head = (size_t)(p - heads);
	bundle = head + c->len;
	to = kt_sink_room(pf->s, bundle + 2 * HEADS_MAX);
	if (!to) {
		/* The sink has failed.  Empty the bundle: callers still fill it. */
		c->len = 0;
		return;
	}
	/* The length of the packet includes the sequence fields: make those first. */
	p = put_sequence(pf, heads + head, PF_SEQUENCE_FTRACE);
	p = pf_varint(p, PF_PACKET_FTRACE_EVENTS << 3 | 2);
	p = pf_varint(p, bundle);
	to = pf_varint(to, PF_TRACE_PACKET << 3 | 2);
	to = pf_varint(to, (size_t)(p - heads) + c->len);
	to = kt_put_mem(to, heads + head, (size_t)(p - heads) - head);
	to = kt_put_mem(to, heads, head);
	to = kt_put_mem(to, c->buf, c->len);
	kt_sink_done(pf->s, to);
	c->len = 0;
	c->gap = false;
}
