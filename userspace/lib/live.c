// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pipe form that comes in once and cannot be sorted as a whole.
 *
 * Packets of all CPUs come in some order.  An event is delivered when every
 * ring that is heard of has sent something later; rings that have been silent
 * while a quarter of the window came in are not waited for, and nothing is when
 * the window is full, nothing comes, or the event came two seconds ago.  What
 * arrives too late all the same is delivered late and counted.
 *
 * Nothing is read before poll() has told that it is there, so that whoever
 * sends may stop anywhere.
 */
#include <poll.h>
#include <time.h>

#include "trace.h"

#define WINDOW		(64ULL << 20)
#define IDLE_MS		250
#define AGE_MS		500

static uint64_t window(const struct ktape_trace *t)
{
	return t->options.window ? t->options.window : WINDOW;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Until when has everything come? */
static uint64_t sorted_until(const struct ktape_trace *t)
{
	uint64_t until = UINT64_MAX;

	/* The first round over the rings has to be complete. */
	if (t->received < window(t) / 4)
		return 0;
	for (size_t i = 0; i < t->nr_streams; i++) {
		const struct kt_stream *s = t->streams[i];

		if (s->kind != KTAPE_RING_REGISTRY &&
		    t->received - s->received < window(t) / 4)
			until = kt_min(until, s->queued_until);
	}
	return until;
}

/* Twice a second: what had come by when? */
static void grow_old(struct ktape_trace *t)
{
	uint64_t now = now_ms();

	if (now - t->aged_at < AGE_MS)
		return;
	t->aged_at = now;
	memmove(t->came + 1, t->came, (KT_AGES - 1) * sizeof(*t->came));
	t->limit = kt_max(t->limit, t->came[KT_AGES - 1]);
}

static bool can_deliver(const struct ktape_trace *t)
{
	return t->nr_heap && (t->idle || t->buffered > window(t) ||
			      t->heap[0]->event.ts <= t->limit);
}

/*
 * Wait for something to come, but with events in hand only for a while.
 * Return: 1, 0 if nothing came, or negative errno.
 */
static int wait_input(struct ktape_trace *t)
{
	struct pollfd fds[2] = {
		{ .fd = t->input.fd, .events = POLLIN },
		{ .fd = t->options.wake ? t->options.wake : -1,
		  .events = POLLIN },
	};
	int ret = poll(fds, 2, 0);

	if (!ret && t->options.idle)
		t->options.idle(t->options.arg);
	while (ret <= 0) {
		ret = poll(fds, 2, t->nr_heap ? IDLE_MS : -1);
		if (!ret)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
	}
	t->ended = fds[1].revents;
	return 1;
}

/*
 * Does more have to come before the event on top can be delivered?
 * Return: 1 if kt_live_pump() can go on without waiting, 0 if not, or negative
 * errno.
 */
int kt_live_wait(struct ktape_trace *t)
{
	int ret;

	if (!t->nr_heap)
		t->idle = false;
	while (!t->ended) {
		grow_old(t);
		if (can_deliver(t))
			return 0;
		if (t->input.eof || kt_scan_there(&t->input) >= t->want)
			return 1;
		ret = wait_input(t);
		if (ret < 0)
			return ret;
		t->idle = !ret;
		if (ret && !t->ended)
			ret = kt_scan_more(&t->input, t->want);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Names are wanted before the events whose time has come. */
static int learn(struct ktape_trace *t, const uint8_t *data, size_t len)
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

static int take(struct ktape_trace *t, const struct kt_found *found)
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
	if (kind != KTAPE_RING_EVENT) {
		err = learn(t, data, size);
		if (err)
			return err;
	}
	err = kt_stream_queue(t, s, data, size, found->offset);
	if (!err && !s->in_heap)
		err = kt_merge_add(t, s);
	t->limit = kt_max(sorted_until(t), t->came[KT_AGES - 1]);
	return err;
}

/* The packet at the head is there; go on behind what can be believed of it. */
static int take_packet(struct ktape_trace *t, struct kt_found *found,
		       struct ktape_error *error)
{
	int ret = found->metadata ? 1 : kt_scan_check(&t->input, found, error);

	if (ret < 0)
		return ret;
	if (found->cut) {
		kt_error(error, t->input.offset + kt_scan_there(&t->input),
			 "the last packet is cut off");
		kt_notice(t, KTAPE_NOTICE_TRUNCATED, NULL, error);
	}
	ret = found->metadata ? 0 : take(t, found);
	if (ret)
		return ret;
	t->hunting = !found->metadata && !found->checked && !found->cut;
	t->hunt_end = found->offset + found->size;
	ret = kt_scan_skip(&t->input,
			   t->hunting ? found->content : found->size);
	if (!ret && !t->hunting && !found->cut)
		kt_scan_judge(&t->input, t->hunt_end, false);
	return ret;
}

/* Where does the next packet begin? */
static void hunt(struct ktape_trace *t)
{
	t->hunting = !kt_scan_hunt(&t->input);
	t->want = t->hunting ? KT_PATTERN_SIZE : KTAPE_BLOCK_HEADER;
	t->ended = t->hunting && t->input.eof;
	if (t->hunt_end && (t->ended || !t->hunting))
		kt_scan_judge(&t->input, t->hunt_end, !t->hunting);
}

/*
 * One step: a packet, or where the next one begins.  What is wanted for the
 * step is there, or the input has ended.
 * Return: 0, also at the end, or negative errno.
 */
int kt_live_pump(struct ktape_trace *t)
{
	uint64_t there = kt_scan_there(&t->input);
	struct ktape_error error;
	struct kt_found found;
	int ret;

	if (t->input.eof && !there) {
		t->ended = true;
		return 0;
	}
	if (t->hunting) {
		hunt(t);
		return 0;
	}
	t->want = KTAPE_BLOCK_HEADER;
	ret = kt_scan_packet(&t->input, &found, &error);
	if (ret > 0 && there < found.size && !t->input.eof) {
		t->want = found.size;
		return 0;
	}
	if (ret > 0)
		ret = take_packet(t, &found, &error);
	if (ret != -EBADMSG)
		return ret < 0 ? ret : 0;
	kt_notice(t, found.cut ? KTAPE_NOTICE_TRUNCATED : KTAPE_NOTICE_CORRUPT,
		  NULL, &error);
	t->hunting = true;
	t->hunt_end = 0;	/* it was told already */
	return kt_scan_skip(&t->input, 1);
}
