// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read a pipe form from an input that can be read only once, such as a pipe.
 *
 * Packets of all CPUs arrive in any order and cannot be sorted as a whole.  An event
 * is delivered in order once every ring has sent a later packet.  The window is the number of
 * bytes of packets that may wait for that.  A ring does not delay the others if it was silent
 * while a quarter of the window arrived.  Events
 * are delivered without waiting for any ring if
 *
 *	- the window is full,
 *	- no data arrives for IDLE_MS, or
 *	- the event arrived two seconds ago (KT_AGES - 1 half seconds).  The time that the
 *	  caller spends between two events does not count, because nothing is read
 *	  during that time.
 *
 * An event that arrives after a later one was delivered is delivered late and
 * counted.
 *
 * read(2) is called only after poll(2) reported data, so that a sender may pause at
 * any byte without blocking this reader.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>

#include "trace/trace.h"

#define WINDOW	(64ULL << 20) /* unless the caller says another one */
#define IDLE_MS 250
#define AGE_MS	500  /* half a second: between two entries of @came */
#define END_MS	1000 /* longest reading after a wake-up */

static uint64_t window_bytes(const struct ktape_trace *t)
{
	return t->options.window ? t->options.window : WINDOW;
}

static uint64_t live_clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/*
 * Begin reading.  If the input is a ktape device, make poll(2) report a ring as soon as
 * it has one unread byte.
 */
void kt_live_begin(struct ktape_trace *t)
{
	struct ktape_watermark w = { .size = sizeof(w), .bytes = 1 };

	t->live = true;
	t->want = KTAPE_BLOCK_HEADER;
	/* Fails on inputs that are not a ktape device. */
	ioctl(t->input.fd, KTAPE_IOC_WATERMARK, &w);
}

/* Return the time up to which all rings have sent their packets, silent ones excepted. */
static uint64_t sorted_until(const struct ktape_trace *t)
{
	uint64_t until = UINT64_MAX;

	/* A ring is known from its first packet on, so give each ring time to send one. */
	if (t->received < window_bytes(t) / 4)
		return 0;
	for (size_t i = 0; i < t->nr_streams; i++) {
		const struct kt_stream *s = t->streams[i];

		if (s->kind != KTAPE_RING_REGISTRY &&
		    t->received - s->received < window_bytes(t) / 4)
			until = kt_min(until, s->queued_until);
	}
	return until;
}

/* Call the caller's idle() twice a second, so that the caller can flush its output. */
static void call_live_idle(struct ktape_trace *t, uint64_t now)
{
	if (now - t->shown_at < AGE_MS)
		return;
	t->shown_at = now;
	if (t->options.idle)
		t->options.idle(t->options.arg);
}

/* Shift @came each half second, and raise @limit to the oldest entry. */
static void age_events(struct ktape_trace *t)
{
	uint64_t now = live_clock_ms();

	call_live_idle(t, now);
	t->aged_at += t->left_at ? now - t->left_at : 0;
	t->left_at = 0;
	if (now - t->aged_at < AGE_MS)
		return;
	t->aged_at = now;
	memmove(t->came + 1, t->came, (KT_AGES - 1) * sizeof(*t->came));
	t->limit = kt_max(t->limit, t->came[KT_AGES - 1]);
}

static bool can_deliver(const struct ktape_trace *t)
{
	return t->nr_heap && (t->idle || t->buffered > window_bytes(t) ||
			      t->heap[0]->event.ts <= t->limit);
}

/*
 * Wait for data; only for IDLE_MS if there are events to deliver.  After a wake-up the
 * sender may be shutting down and still sending: the trace ends at the first pause, or
 * after END_MS.
 * Return: 1, 0 if no data arrived, or negative errno.
 */
static int wait_live_input(struct ktape_trace *t)
{
	bool wakes = t->options.wake && !t->woken_at;
	struct pollfd fds[2] = {
		{ .fd = t->input.fd, .events = POLLIN },
		{ .fd = wakes ? t->options.wake : -1, .events = POLLIN },
	};
	int ret = poll(fds, 2, 0);

	/* Before it blocks, the caller may flush its output. */
	if (!ret && t->options.idle)
		t->options.idle(t->options.arg);
	while (ret <= 0) {
		ret = poll(fds, 2, t->nr_heap || t->woken_at ? IDLE_MS : -1);
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (!ret)
			break;
	}
	if (t->woken_at)
		t->ended = !ret || live_clock_ms() - t->woken_at > END_MS;
	else if (fds[1].revents)
		t->woken_at = live_clock_ms();
	return fds[0].revents != 0;
}

/*
 * Wait until the earliest event can be delivered or there is data to read.
 * Return: 1 if kt_live_pump() must read first, 0 if the event can be delivered or the
 * trace has ended, or negative errno.
 */
int kt_live_wait(struct ktape_trace *t)
{
	int ret;

	if (!t->nr_heap)
		t->idle = false;
	while (!t->ended) {
		age_events(t);
		if (can_deliver(t)) {
			t->left_at = live_clock_ms();
			return 0;
		}
		if (t->input.eof || kt_scan_there(&t->input) >= t->want)
			return 1;
		ret = kt_scan_pending(&t->input) ? 1 : wait_live_input(t);
		if (ret < 0)
			return ret;
		t->idle = !ret;
		if (ret && !t->ended)
			ret = kt_scan_more(&t->input, kt_max(t->want, t->room));
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Add the names of a packet at once: events before the packet may need the names. */
static int learn_live_names(struct ktape_trace *t, const uint8_t *data, size_t len)
{
	struct ktape_packet packet;
	struct ktape_event event;
	int err = 0;

	if (!kt_mask_has(t->info.known, KTAPE_EV_REGISTRY) ||
	    kt_packet_begin(&packet, data, len, t->info.uuid, NULL))
		return 0;
	while (!err && ktape_packet_next(&packet, &event, NULL) > 0)
		err = ktape_registry_add(t->registry, &event);
	return err;
}

/* Queue the packet at the head. */
static int queue_packet(struct ktape_trace *t, const struct kt_found *found)
{
	const uint8_t *data = kt_scan_head(&t->input);
	uint32_t kind = KT_HEAD32(data, kind), cpu = KT_HEAD32(data, cpu);
	struct kt_stream *s = kt_stream_find(t, kind, cpu);
	size_t size = found->content;
	int err;

	if (!s)
		s = kt_stream_add(t, KT_SOURCE_QUEUE, kind, cpu);
	if (!s)
		return -ENOMEM;
	t->received += size;
	s->received = t->received;
	s->queued_until = kt_max(s->queued_until, KT_HEAD64(data, ts_end));
	t->came[0] = kt_max(t->came[0], s->queued_until);
	err = learn_live_names(t, data, size);
	if (err)
		return err;
	err = kt_stream_queue(t, s, data, size, found->offset);
	if (!err && !s->in_heap)
		err = kt_heap_add(t, s);
	t->limit = kt_max(sorted_until(t), t->came[KT_AGES - 1]);
	return err;
}

/*
 * Check whether another packet begins inside the received part of this one.  Then its size is
 * damaged or its end is missing, and it is not waited for.  Each call searches only what came since
 * the one before, behind @probed.
 */
static bool is_overlapped(struct ktape_trace *t)
{
	uint64_t there = kt_scan_there(&t->input);
	bool found;

	/* From 4 on: behind the packet's own magic number. */
	found = kt_scan_find(&t->input, kt_max(t->probed, 4));
	t->probed = there - KT_PATTERN_SIZE + 1;
	return found;
}

/*
 * Check and queue the packet at the head, which is complete unless the input has ended; metadata
 * are passed over.  Set what comes next: its padding, or a search if its size cannot be trusted.
 * Return: 0, -EBADMSG if it is damaged, or another negative errno.
 */
static int take_live_packet(struct ktape_trace *t, struct kt_found *found,
			    struct ktape_error *error)
{
	int ret = found->metadata ? 1 : kt_scan_check(&t->input, found, error);

	if (ret < 0)
		return ret;
	if (found->cut) {
		kt_error(error, t->input.offset + kt_scan_there(&t->input),
			 "the input ends in the middle of a packet");
		kt_notice(t, KTAPE_NOTICE_TRUNCATED, NULL, error);
	}
	ret = found->metadata ? 0 : queue_packet(t, found);
	t->next_at = found->offset + (found->cut ? found->content : found->size);
	t->step = found->metadata || found->checked || found->cut ? KT_STEP_PASS :
								    KT_STEP_HUNT;
	return ret ? ret : kt_scan_skip(&t->input, found->content);
}

/* Skip the padding of a packet. */
static void pass_padding(struct ktape_trace *t)
{
	struct kt_scan *s = &t->input;

	kt_scan_skip(s, kt_min(kt_scan_there(s), t->next_at - s->offset));
	if (s->offset < t->next_at && !s->eof) {
		t->want = 1;
		return;
	}
	kt_scan_check_size(s, t->next_at, false);
	t->step = KT_STEP_PACKET;
	t->want = KTAPE_BLOCK_HEADER;
}

/* Search for the header of the next packet. */
static void hunt_live_packet(struct ktape_trace *t)
{
	bool found = kt_scan_hunt(&t->input);

	t->ended = !found && t->input.eof;
	if (t->next_at && (t->ended || found))
		kt_scan_check_size(&t->input, t->next_at, found);
	t->step = found ? KT_STEP_PACKET : KT_STEP_HUNT;
	t->want = found ? KTAPE_BLOCK_HEADER : KT_PATTERN_SIZE;
}

/*
 * Take the packet at the head, or ask for more of it in @want and @room.  What is damaged is
 * reported, and the next header searched for.  Return: 0 or negative errno.
 */
static int read_live_packet(struct ktape_trace *t)
{
	uint64_t there = kt_scan_there(&t->input);
	struct ktape_error error;
	struct kt_found found;
	int ret;

	ret = kt_scan_packet(&t->input, &found, &error);
	if (ret > 0 && there < found.content && !t->input.eof) {
		t->want = there + 1;
		t->room = found.content;
		if (found.metadata || !is_overlapped(t))
			return 0;
		ret = kt_error(&error, found.offset,
			       "the packet overlaps the next one");
	} else if (ret > 0) {
		ret = take_live_packet(t, &found, &error);
	}
	t->probed = 0;
	t->room = 0;
	t->want = 0;
	t->ended = !ret && t->input.eof && !there;
	if (ret != -EBADMSG)
		return ret;
	kt_notice(t, found.cut ? KTAPE_NOTICE_TRUNCATED : KTAPE_NOTICE_CORRUPT,
		  NULL, &error);
	t->step = KT_STEP_HUNT;
	t->next_at = 0; /* the damage was reported already */
	return kt_scan_skip(&t->input, 1);
}

/*
 * Do one step of reading.  The @want bytes are present, or the input has ended.
 * Return: 0, also at the end, or negative errno.
 */
int kt_live_pump(struct ktape_trace *t)
{
	switch (t->step) {
	case KT_STEP_PASS:
		pass_padding(t);
		return 0;
	case KT_STEP_HUNT:
		hunt_live_packet(t);
		return 0;
	default:
		return read_live_packet(t);
	}
}
