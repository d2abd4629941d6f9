// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cursors: how far each stream of a trace was cut into slices, and the packets that were
 * read ahead of them.
 *
 * While slices are cut, the streams of the trace stand still, and cursors move.  Packets that
 * were read ahead are in lanes, one for each stream (lane.c).  They stay there until the slices
 * that need them were taken.
 */
#include "stream/decode.h"
#include "trace/slice.h"

#define HELD_MAX (128U << 20) /* most bytes of packets of all lanes */

/*
 * Put a cursor where its stream is, and give the stream a lane if it has none.
 * Return: false if that is not possible.
 */
static bool begin_cursor(struct kt_slices *sl, struct kt_cursor *c,
			 struct kt_stream *s)
{
	const struct ktape_trace *t = sl->t;
	uint64_t *seen;

	if (s->missing || s->packet.truncated || s->event.ts < t->last_ts ||
	    s->kind > KTAPE_RING_REGISTRY)
		return false;
	/* Two streams of a ring, which only a damaged trace has. */
	seen = &sl->seen[s->kind][s->cpu / 64];
	if (*seen >> (s->cpu % 64) & 1)
		return false;
	*seen |= 1ULL << (s->cpu % 64);
	if (!s->lane && kt_lane_adopt(s))
		return false;
	if (!s->lane->in_use)
		return false;
	*c = (struct kt_cursor){
		.s = s,
		.here = {
			.at = s->event.offset,
			/* The record that comes next has its time already. */
			.ts = s->event.ts,
			.next = s->event.ts,
			.tid = t->decoder->tid[s->cpu],
			.last = t->decoder->last[s->cpu],
			.fresh = s->fresh,
		},
	};
	return true;
}

/* Put cursors where the streams are.  Return: false if no slices can be cut there. */
bool kt_cursors_begin(struct kt_slices *sl)
{
	const struct ktape_trace *t = sl->t;

	sl->nr = 0;
	sl->leader = 0;
	sl->held = 0;
	sl->last_ts = t->last_ts;
	if (t->has_missing || !t->nr_heap || t->nr_heap > sl->max)
		return false;
	memset(sl->seen, 0, sizeof(sl->seen));
	for (size_t i = 0; i < t->nr_heap; i++) {
		if (!begin_cursor(sl, &sl->cursors[sl->nr], t->heap[i]))
			return false;
		sl->nr++;
	}
	return true;
}

/* Check whether enough packets were read behind the one of a cursor. */
static bool is_ahead(const struct kt_slices *sl, const struct kt_cursor *c)
{
	const struct kt_lane *lane = c->s->lane;
	unsigned int here = (unsigned int)(c->here.slot - c->passed);
	size_t bytes = 0;

	for (unsigned int i = lane->nr - 1; i > here; i--) {
		bytes += kt_lane_slot(lane, i)->len;
		if (bytes >= sl->bytes * KT_SLICE_MORE)
			return true;
	}
	return lane->stopped;
}

/*
 * Read packets ahead of a cursor.
 * Return: 1, 0 if the lane is full of packets that slices need, or -ENOMEM, also where all lanes
 * have HELD_MAX.
 */
static int fill_slice_lane(struct kt_slices *sl, struct kt_cursor *c)
{
	struct kt_lane *lane = c->s->lane;
	size_t want = lane->bytes + 2 * KT_SLICE_MORE * sl->bytes, room;

	do {
		if (lane->nr == KT_LANE_SLOTS)
			return 0;
		room = kt_lane_room(lane, want);
		sl->held += room - c->room;
		c->room = room;
		if (sl->held > HELD_MAX || kt_lane_prepare(lane, want))
			return -ENOMEM;
		kt_lane_fill(sl->t, c->s, want);
	} while (kt_lane_waits(lane, want));
	return 1;
}

/*
 * Read packets ahead of all cursors.
 * Return: 1; 0 if a slice has to be taken first, so that its packets make room; or -ENOMEM.
 */
int kt_cursors_fill(struct kt_slices *sl)
{
	int ret = 1;

	for (size_t i = 0; i < sl->nr && ret > 0; i++) {
		struct kt_cursor *c = &sl->cursors[i];

		if (!c->here.ended && !is_ahead(sl, c))
			ret = fill_slice_lane(sl, c);
	}
	return ret;
}

/* Move the cursors to the end of the slice that was cut. */
void kt_cursors_go(struct kt_slices *sl)
{
	uint64_t most = 0;

	for (size_t i = 0; i < sl->nr; i++) {
		struct kt_cursor *c = &sl->cursors[i];

		c->here = c->then;
		if (c->s->kind == KTAPE_RING_EVENT) {
			sl->t->decoder->tid[c->s->cpu] = c->here.tid;
			sl->t->decoder->last[c->s->cpu] = c->here.last;
		}
		sl->last_ts = kt_max(sl->last_ts, c->last);
		if (c->records > most)
			sl->leader = i;
		most = kt_max(most, c->records);
	}
}

/* Leave the packets behind that only this slice and earlier ones need. */
void kt_cursors_pass(const struct kt_slice *slice)
{
	for (size_t i = 0; i < slice->nr_shares; i++) {
		const struct kt_share *share = &slice->shares[i];
		struct kt_cursor *c = share->cursor;

		kt_lane_pass(c->s->lane, (unsigned int)(share->to - c->passed));
		c->passed = share->to;
	}
}

/*
 * Put the streams of the trace where the cursors are.  No slice is in use any more, so the first
 * slot of each lane is the packet of the cursor.
 */
void kt_cursors_end(struct kt_slices *sl)
{
	for (size_t i = 0; i < sl->nr; i++) {
		const struct kt_cursor *c = &sl->cursors[i];
		struct kt_lane *lane = c->s->lane;
		const struct kt_lane_slot *slot = kt_lane_slot(lane, 0);
		const struct kt_content content = { slot->data, slot->len,
						    slot->offset };

		c->s->in_heap = !c->here.ended;
		lane->in_use = c->s->in_heap;
		if (c->s->in_heap)
			kt_stream_at(c->s, &content, &c->here);
	}
	sl->t->last_ts = sl->last_ts;
	kt_heap_rebuild(sl->t);
}
