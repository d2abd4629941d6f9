// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pipe form that comes in once and cannot be sorted as a whole.
 *
 * Packets of all CPUs come in some order.  An event is delivered when every
 * ring that is heard of has sent something later; rings that have been silent
 * while a quarter of the window came in are not waited for, and nothing is when
 * the window is full or nothing comes.  What arrives too late all the same is
 * delivered late and counted.
 */
#include <poll.h>

#include "trace.h"

#define WINDOW		(64ULL << 20)
#define IDLE_MS		250

static uint64_t window(const struct ktape_trace *t)
{
	return t->options.window ? t->options.window : WINDOW;
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

/* Does more have to come before the event on top can be delivered? */
bool kt_live_wait(struct ktape_trace *t)
{
	struct pollfd p = { .fd = t->input.fd, .events = POLLIN };

	if (t->ended)
		return false;
	if (!t->nr_heap) {
		t->idle = false;
		if (t->options.idle)
			t->options.idle(t->options.arg);
		return true;
	}
	if (t->idle || t->buffered > window(t) ||
	    t->heap[0]->event.ts <= t->limit)
		return false;
	if (t->input.len - t->input.head >= KTAPE_BLOCK_HEADER)
		return true;
	t->idle = poll(&p, 1, IDLE_MS) == 0;
	return !t->idle;
}

/* Names are wanted before the events whose time has come. */
static int learn(struct ktape_trace *t, const uint8_t *data, size_t len)
{
	struct ktape_packet packet;
	struct ktape_event event;
	int err = 0;

	if (!kt_mask_has(t->info.known, KTAPE_EV_REGISTRY) ||
	    ktape_packet_open(&packet, data, len, t->info.uuid, NULL))
		return 0;
	while (!err && ktape_packet_next(&packet, &event, NULL) > 0)
		err = ktape_registry_add(t->registry, &event);
	return err;
}

static int take(struct ktape_trace *t, size_t size, uint64_t offset)
{
	const uint8_t *data = kt_scan_head(&t->input);
	uint32_t kind = KT_HEAD32(data, kind), cpu = KT_HEAD32(data, cpu);
	struct kt_stream *s = kt_stream_find(t, kind, cpu);
	int err;

	if (!s)
		s = kt_stream_add(t, KT_SOURCE_QUEUE, kind, cpu);
	if (!s)
		return -ENOMEM;
	t->received += size;
	s->received = t->received;
	s->queued_until = kt_max(s->queued_until, KT_HEAD64(data, ts_end));
	if (kind != KTAPE_RING_EVENT) {
		err = learn(t, data, size);
		if (err)
			return err;
	}
	err = kt_stream_queue(t, s, data, size, offset);
	if (!err && !s->in_heap)
		err = kt_merge_add(t, s);
	t->limit = sorted_until(t);
	return err;
}

/* Read one packet.  Return: 0, also at the end, or negative errno. */
int kt_live_pump(struct ktape_trace *t)
{
	struct ktape_error error;
	struct kt_found found;
	int64_t there;
	size_t size;
	int ret;

	ret = kt_scan_packet(&t->input, &found, &error);
	if (ret == -EBADMSG) {
		kt_notice(t, t->input.eof ? KTAPE_NOTICE_TRUNCATED
					  : KTAPE_NOTICE_CORRUPT,
			  NULL, &error);
		ret = kt_scan_resync(&t->input, t->info.uuid);
		t->ended = ret == 0;
		return ret < 0 ? ret : 0;
	}
	if (ret <= 0) {
		t->ended = true;
		return ret;
	}
	there = kt_scan_need(&t->input, found.size);
	if (there < 0)
		return (int)there;
	size = kt_min((uint64_t)there, found.size);
	ret = found.metadata ? 0 : take(t, size, found.offset);
	return ret ? ret : kt_scan_skip(&t->input, size);
}
