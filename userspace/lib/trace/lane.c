// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read packets of a stream ahead, so that several threads can read and check the packets
 * of several streams at the same time.
 *
 * A lane changes nothing for the reader of the stream: damage that is found while
 * reading ahead is kept with the packet before which it belongs, and reported when the
 * stream gets there.  kt_lane_fill() may run in any thread, in one at a time for each
 * lane.  It takes no memory for the packets of slots, because allocating in many threads
 * takes address space: kt_lane_prepare() does so before.
 */
#include "trace/lane.h"

#define NOTICES_MAX (1U << 16) /* that one slot can keep */
#define SLOTS_MIN   3U /* packets to read ahead, however large they are */
#define ROOM_FACTOR \
	4U /* most times the size of a packet that a slot may have */

/* Something to report. */
struct kt_lane_notice {
	struct kt_lane_notice *next;
	unsigned int kind;
	struct ktape_error error;
};

/* Read a stream through a lane from its next packet on.  Return: 0 or -ENOMEM. */
int kt_lane_new(struct kt_stream *s)
{
	s->lane = calloc(1, sizeof(*s->lane));
	return s->lane ? 0 : -ENOMEM;
}

static void free_notices(struct kt_lane_notice *n)
{
	struct kt_lane_notice *next;

	for (; n; n = next) {
		next = n->next;
		free(n);
	}
}

void kt_lane_free(struct kt_lane *lane)
{
	if (!lane)
		return;
	for (unsigned int i = 0; i < KT_LANE_SLOTS; i++) {
		free_notices(lane->slots[i].notices);
		free(lane->slots[i].data);
	}
	free_notices(lane->notices);
	free(lane);
}

/* Keep what the scanner reports; the scanner's callback while a lane is filled. */
static void keep_lane_notice(void *arg, unsigned int kind,
			     const struct ktape_error *error)
{
	struct kt_lane *lane = arg;
	struct kt_lane_notice *n = NULL;

	if (lane->nr_notices < NOTICES_MAX)
		n = malloc(sizeof(*n));
	if (!n) {
		lane->failed = true;
		return;
	}
	n->next = NULL;
	n->kind = kind;
	n->error = *error;
	if (lane->notices)
		lane->last_notice->next = n;
	else
		lane->notices = n;
	lane->last_notice = n;
	lane->nr_notices++;
}

/*
 * Fetch the packet that comes next, and keep what is reported meanwhile.
 * Return: as kt_stream_fetch(); -ENOMEM also if a notice could not be kept.
 */
static int fetch_next(struct ktape_trace *t, struct kt_stream *s)
{
	struct kt_lane *lane = s->lane;
	int ret;

	if (lane->pending)
		return 1;
	s->scan.report = keep_lane_notice;
	s->scan.arg = lane;
	/* Do not search behind damage, perhaps through all of the file: end with -EAGAIN there. */
	s->scan.stepwise = true;
	ret = kt_stream_fetch(t, s, &lane->content);
	s->scan.report = kt_stream_report;
	s->scan.arg = s;
	s->scan.stepwise = false;
	if (lane->failed)
		ret = -ENOMEM;
	lane->pending = ret > 0;
	return ret;
}

/* Put the packet that was fetched, or @ret in its place, into a free slot. */
static void take_slot(struct kt_lane *lane, int ret)
{
	struct kt_lane_slot *slot =
		&lane->slots[(lane->first + lane->nr) % KT_LANE_SLOTS];

	slot->ret = ret;
	slot->notices = lane->notices;
	lane->notices = NULL;
	lane->nr_notices = 0;
	lane->nr++;
	lane->stopped = ret <= 0;
	lane->pending = false;
	slot->len = 0;
	if (ret <= 0)
		return;
	memcpy(slot->data, lane->content.data, lane->content.len);
	slot->len = lane->content.len;
	slot->offset = lane->content.offset;
	lane->bytes += slot->len;
}

static int make_slot_room(struct kt_lane_slot *slot, size_t size)
{
	uint8_t *data;

	if (slot->room >= size)
		return 0;
	data = realloc(slot->data, size);
	if (!data)
		return -ENOMEM;
	slot->data = data;
	slot->room = size;
	return 0;
}

/*
 * Read a stream through a lane that reads a packet already: the packet moves into the first
 * slot.  Return: 0 or -ENOMEM.
 */
int kt_lane_adopt(struct kt_stream *s)
{
	const uint8_t *from = s->packet.data;
	struct ktape_event *e = &s->event;
	struct kt_lane_slot *slot;

	if (kt_lane_new(s))
		return -ENOMEM;
	slot = &s->lane->slots[0];
	if (make_slot_room(slot, s->packet.content)) {
		kt_lane_free(s->lane);
		s->lane = NULL;
		return -ENOMEM;
	}
	memcpy(slot->data, from, s->packet.content);
	slot->ret = 1;
	slot->len = s->packet.content;
	slot->offset = s->offset;
	s->lane->nr = 1;
	s->lane->bytes = slot->len;
	s->lane->in_use = true;
	s->packet.data = slot->data;
	e->args = slot->data + ((const uint8_t *)e->args - from);
	/* @extra stays: after kt_lane_fill() may have overwritten it, the event is read again. */
	if (e->blob)
		e->blob = slot->data + ((const uint8_t *)e->blob - from);
	return 0;
}

/* Release the buffer of a slot that is not in use. */
static void drop_slot_room(struct kt_lane_slot *slot)
{
	free(slot->data);
	slot->data = NULL;
	slot->room = 0;
}

/* Check whether a slot's buffer fits packets of @size, without wasting much more. */
static bool is_fit(const struct kt_lane_slot *slot, size_t size)
{
	return slot->room >= size && slot->room / ROOM_FACTOR <= size;
}

/* Return the size of the largest packet in the lane. */
static size_t largest_in_lane(const struct kt_lane *lane)
{
	size_t size = lane->pending ? lane->content.len : 0;

	for (unsigned int i = 0; i < lane->nr; i++)
		size = kt_max(size, kt_lane_slot(lane, i)->len);
	return size;
}

/*
 * Return how many slots are needed for @bytes of packets of the largest size, for at
 * least SLOTS_MIN, and for one more than there are.
 */
static unsigned int slots_for(const struct kt_lane *lane, size_t bytes)
{
	size_t size = kt_max(largest_in_lane(lane), KTAPE_BLOCK_HEADER);
	size_t nr = kt_max(kt_max(bytes / size + 1, SLOTS_MIN), lane->nr + 1);

	return (unsigned int)kt_min(nr, KT_LANE_SLOTS);
}

/* Return the bytes that the slots have after kt_lane_prepare(). */
size_t kt_lane_room(const struct kt_lane *lane, size_t bytes)
{
	unsigned int nr = slots_for(lane, bytes);
	size_t size = largest_in_lane(lane), room = 0;

	for (unsigned int i = 0; i < nr; i++) {
		const struct kt_lane_slot *slot = kt_lane_slot(lane, i);

		room += i < lane->nr || is_fit(slot, size) ? slot->room : size;
	}
	return room;
}

/* Give a slot a buffer: if possible that of a slot from @nr on, which needs none. */
static int fit_slot(struct kt_lane *lane, struct kt_lane_slot *slot,
		    unsigned int nr, size_t size)
{
	drop_slot_room(slot);
	for (unsigned int i = nr; i < KT_LANE_SLOTS; i++) {
		struct kt_lane_slot *from =
			&lane->slots[(lane->first + i) % KT_LANE_SLOTS];

		if (!is_fit(from, size))
			continue;
		slot->data = from->data;
		slot->room = from->room;
		from->data = NULL;
		from->room = 0;
		return 0;
	}
	return make_slot_room(slot, size);
}

/*
 * Give slots buffers for the packets that kt_lane_fill() is to read, which are expected to
 * be as large as the largest packet in the lane.  Because slots are used in a circle, each slot
 * would get a buffer in the end; so slots that need none now give theirs away.
 * Return: 0 or -ENOMEM.
 */
int kt_lane_prepare(struct kt_lane *lane, size_t bytes)
{
	unsigned int nr = slots_for(lane, bytes);
	size_t size = largest_in_lane(lane);
	int err = 0;

	for (unsigned int i = lane->nr; i < nr && !err; i++) {
		struct kt_lane_slot *slot =
			&lane->slots[(lane->first + i) % KT_LANE_SLOTS];

		if (!is_fit(slot, size))
			err = fit_slot(lane, slot, nr, size);
	}
	for (unsigned int i = nr; i < KT_LANE_SLOTS; i++)
		drop_slot_room(&lane->slots[(lane->first + i) % KT_LANE_SLOTS]);
	return err;
}

/* Check whether there are enough packets: @bytes of them, and at least SLOTS_MIN. */
static bool is_lane_full(const struct kt_lane *lane, size_t bytes)
{
	return lane->stopped || lane->nr == KT_LANE_SLOTS ||
	       (lane->nr >= SLOTS_MIN && lane->bytes >= bytes);
}

/* Check whether kt_lane_fill() has ended because a slot lacks room. */
bool kt_lane_waits(const struct kt_lane *lane, size_t bytes)
{
	return lane->pending && !is_lane_full(lane, bytes);
}

/* Read packets ahead until there are enough, or until a slot lacks room. */
void kt_lane_fill(struct ktape_trace *t, struct kt_stream *s, size_t bytes)
{
	struct kt_lane *lane = s->lane;
	const struct kt_lane_slot *slot;
	int ret;

	while (!is_lane_full(lane, bytes)) {
		slot = kt_lane_slot(lane, lane->nr);
		ret = fetch_next(t, s);
		if (ret > 0 && slot->room < lane->content.len)
			return;
		take_slot(lane, ret);
	}
}

/* Leave the first @nr packets behind; the stream reads the packet after them. */
void kt_lane_pass(struct kt_lane *lane, unsigned int nr)
{
	while (nr--) {
		lane->bytes -= lane->slots[lane->first].len;
		lane->first = (lane->first + 1) % KT_LANE_SLOTS;
		lane->nr--;
	}
	/* A stream that is read packet by packet needs one buffer only. */
	if (!lane->nr)
		lane->first = 0;
}

/* Report what was found before a slot. */
static void report_slot(struct ktape_trace *t, struct kt_stream *s,
			struct kt_lane_slot *slot)
{
	for (struct kt_lane_notice *n = slot->notices; n; n = n->next)
		kt_notice(t, n->kind, s, &n->error);
	free_notices(slot->notices);
	slot->notices = NULL;
}

/*
 * Go to the next packet, as kt_stream_fetch() does, and report what was found before it.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_lane_fetch(struct ktape_trace *t, struct kt_stream *s,
		  struct kt_content *content)
{
	struct kt_lane *lane = s->lane;
	struct kt_lane_slot *slot;
	int ret;

	do {
		if (lane->in_use)
			kt_lane_pass(lane, 1);
		if (!lane->nr) {
			ret = fetch_next(t, s);
			if (ret > 0 && make_slot_room(&lane->slots[lane->first],
						      lane->content.len))
				return -ENOMEM;
			take_slot(lane, ret);
		}
		slot = &lane->slots[lane->first];
		report_slot(t, s, slot);
		/* Reading ahead has stopped at damage, which is reported now: go on behind it. */
		lane->in_use = slot->ret > 0 || slot->ret == -EAGAIN;
		if (slot->ret == -EAGAIN)
			lane->stopped = false;
	} while (slot->ret == -EAGAIN);
	if (slot->ret <= 0)
		return slot->ret;
	content->data = slot->data;
	content->len = slot->len;
	content->offset = slot->offset;
	return 1;
}
