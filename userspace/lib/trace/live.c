// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A pipe form that comes in once and cannot be sorted as a whole.
 *
 * Packets of all CPUs come in some order.  An event is delivered when every
 * ring that is heard of has sent something later; rings that have been silent
 * while a quarter of the window came in are not waited for, and nothing is when
 * the window is full, nothing comes, or the event came two seconds ago, in which
 * time that the caller took does not count: nothing was read then.  What arrives
 * too late all the same is delivered late and counted.
 *
 * Nothing is read before poll() has told that it is there, so that whoever
 * sends may stop anywhere.
 */
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>

#include "trace/trace.h"

#define WINDOW		(64ULL << 20)
#define IDLE_MS		250
#define AGE_MS		500
#define END_MS		1000	/* to go on with what comes after a wake */

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

/* Begin to read: a ring's device shall tell of less than a whole block. */
void kt_live_begin(struct ktape_trace *t)
{
	struct ktape_watermark w = { .size = sizeof(w), .bytes = 1 };

	t->live = true;
	t->want = KTAPE_BLOCK_HEADER;
	/* Others do not know what that is. */
	ioctl(t->input.fd, KTAPE_IOC_WATERMARK, &w);
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

/* Twice a second what was delivered is shown. */
static void show(struct ktape_trace *t, uint64_t now)
{
	if (now - t->shown_at < AGE_MS)
		return;
	t->shown_at = now;
	if (t->options.idle)
		t->options.idle(t->options.arg);
}

/* Twice a second: what had come by when? */
static void grow_old(struct ktape_trace *t)
{
	uint64_t now = now_ms();

	show(t, now);
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
	return t->nr_heap && (t->idle || t->buffered > window(t) ||
			      t->heap[0]->event.ts <= t->limit);
}

/*
 * Wait for something to come, but with events in hand only for a while.  After
 * a wake whoever sends may be ending too: a pause ends it, or END_MS.
 * Return: 1, 0 if nothing came, or negative errno.
 */
static int wait_input(struct ktape_trace *t)
{
	bool wakes = t->options.wake && !t->woken_at;
	struct pollfd fds[2] = {
		{ .fd = t->input.fd, .events = POLLIN },
		{ .fd = wakes ? t->options.wake : -1, .events = POLLIN },
	};
	int ret = poll(fds, 2, 0);

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
		t->ended = !ret || now_ms() - t->woken_at > END_MS;
	else if (fds[1].revents)
		t->woken_at = now_ms();
	return fds[0].revents != 0;
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
		if (can_deliver(t)) {
			t->left_at = now_ms();
			return 0;
		}
		if (t->input.eof || kt_scan_there(&t->input) >= t->want)
			return 1;
		ret = kt_scan_pending(&t->input) ? 1 : wait_input(t);
		if (ret < 0)
			return ret;
		t->idle = !ret;
		if (ret && !t->ended)
			ret = kt_scan_more(&t->input,
					   kt_max(t->want, t->room));
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
	err = learn(t, data, size);
	if (err)
		return err;
	err = kt_stream_queue(t, s, data, size, found->offset);
	if (!err && !s->in_heap)
		err = kt_merge_add(t, s);
	t->limit = kt_max(sorted_until(t), t->came[KT_AGES - 1]);
	return err;
}

/* Does another packet begin in what has come of the one at the head? */
static bool runs_on(struct ktape_trace *t)
{
	uint64_t there = kt_scan_there(&t->input);
	bool found;

	found = kt_scan_find(&t->input, kt_max(t->probed, 4));
	t->probed = there - KT_PATTERN_SIZE + 1;
	return found;
}

/* The content of the packet at the head is there, or the input has ended. */
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
	t->next_at = found->offset + (found->cut ? found->content
						 : found->size);
	t->step = found->metadata || found->checked || found->cut
			  ? KT_STEP_PASS
			  : KT_STEP_HUNT;
	return ret ? ret : kt_scan_skip(&t->input, found->content);
}

/* What fills a packet up comes and goes. */
static void pass(struct ktape_trace *t)
{
	struct kt_scan *s = &t->input;

	kt_scan_skip(s, kt_min(kt_scan_there(s), t->next_at - s->offset));
	if (s->offset < t->next_at && !s->eof) {
		t->want = 1;
		return;
	}
	kt_scan_judge(s, t->next_at, false);
	t->step = KT_STEP_PACKET;
	t->want = KTAPE_BLOCK_HEADER;
}

/* Where does the next packet begin? */
static void hunt(struct ktape_trace *t)
{
	bool found = kt_scan_hunt(&t->input);

	t->ended = !found && t->input.eof;
	if (t->next_at && (t->ended || found))
		kt_scan_judge(&t->input, t->next_at, found);
	t->step = found ? KT_STEP_PACKET : KT_STEP_HUNT;
	t->want = found ? KTAPE_BLOCK_HEADER : KT_PATTERN_SIZE;
}

static int read_packet(struct ktape_trace *t)
{
	uint64_t there = kt_scan_there(&t->input);
	struct ktape_error error;
	struct kt_found found;
	int ret;

	ret = kt_scan_packet(&t->input, &found, &error);
	if (ret > 0 && there < found.content && !t->input.eof) {
		t->want = there + 1;
		t->room = found.content;
		if (found.metadata || !runs_on(t))
			return 0;
		ret = kt_error(&error, found.offset,
			       "packet runs into the next one");
	} else if (ret > 0) {
		ret = take_packet(t, &found, &error);
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
	t->next_at = 0;	/* it was told already */
	return kt_scan_skip(&t->input, 1);
}

/*
 * One step of reading.  What it wants is there, or the input has ended.
 * Return: 0, also at the end, or negative errno.
 */
int kt_live_pump(struct ktape_trace *t)
{
	switch (t->step) {
	case KT_STEP_PASS:
		pass(t);
		return 0;
	case KT_STEP_HUNT:
		hunt(t);
		return 0;
	default:
		return read_packet(t);
	}
}
