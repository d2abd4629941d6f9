// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Tracks for Perfetto, and their events.
 *
 *	track id	| enum pf_track 8 | pf_place.whose 24 | pf_place.id 32 |
 *
 * Slices of one track have to nest or follow each other.  Slices of different markers,
 * threads or CPUs overlap, so each marker, thread or CPU has its own track.
 */
#include "internal.h"

static uint64_t track_id(unsigned int kind, uint32_t whose, uint32_t id)
{
	return (uint64_t)kind << 56 | (uint64_t)(whose & 0xffffff) << 32 | id;
}

/**
 * pf_describe() - look up a track, and describe it to the viewer if it is new
 * @pf: trace being written
 * @at: the track
 * @name: its name, which is cut to PF_NAME_BYTES
 * @len: bytes of @name
 * @ts: time of the event, in ticks
 *
 * Return: the track id, also if the sink has failed.
 */
uint64_t pf_describe(struct perfetto *pf, const struct pf_place *at,
		     const char *name, size_t len, uint64_t ts)
{
	uint64_t uuid = track_id(at->kind, at->whose, at->id);
	const struct pf_thread *t = NULL;
	char *p, *m, *inner;

	if (!pf_set_add(pf, &pf->tracks, uuid))
		return uuid;
	if (at->tid > 0)
		t = pf_thread(pf, at->tid, ts);
	p = pf_packet(pf, PF_SEQUENCE_TRACKS, PF_NAME_BYTES + 128);
	if (!p)
		return uuid;
	m = pf_open(p, PF_PACKET_TRACK_DESCRIPTOR);
	p = pf_number(m, PF_TRACK_UUID, uuid);
	p = pf_string(p, PF_TRACK_NAME, name, kt_min(len, PF_NAME_BYTES));
	if (t && t->known) {
		inner = pf_open(p, PF_TRACK_THREAD);
		p = pf_number(inner, PF_TRACK_THREAD_PID, t->tgid);
		p = pf_number(p, PF_TRACK_THREAD_TID, (uint32_t)t->tid);
		p = pf_close(inner, p);
	}
	if (at->counter) {
		inner = pf_open(p, PF_TRACK_COUNTER);
		p = pf_close(inner, inner);
	}
	pf_packet_done(pf, pf_close(m, p));
	return uuid;
}

/**
 * pf_put_event() - write an event on a track
 * @pf: trace being written
 * @uuid: track id from pf_describe()
 * @ts: time, in ticks
 * @type: PF_EVENT_*
 * @name: name; unused for PF_EVENT_VALUE and PF_EVENT_END
 * @len: bytes of @name
 * @value: value for PF_EVENT_VALUE
 */
void pf_put_event(struct perfetto *pf, uint64_t uuid, uint64_t ts,
		  unsigned int type, const char *name, size_t len, int64_t value)
{
	char *p = pf_packet(pf, PF_SEQUENCE_TRACKS, PF_NAME_BYTES + 128), *m;

	if (!p)
		return;
	p = pf_number(p, PF_PACKET_TIMESTAMP, pf_time(pf, ts));
	m = pf_open(p, PF_PACKET_TRACK_EVENT);
	p = pf_number(m, PF_EVENT_TYPE, type);
	p = pf_number(p, PF_EVENT_TRACK, uuid);
	if (type == PF_EVENT_VALUE)
		p = pf_number(p, PF_EVENT_COUNTER, (uint64_t)value);
	else if (type != PF_EVENT_END)
		p = pf_string(p, PF_EVENT_NAME, name, kt_min(len, PF_NAME_BYTES));
	pf_packet_done(pf, pf_close(m, p));
}
