// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read the packets of one stream, from its own file, from places in a pipe-form file
 * or from a queue in memory, and report the losses that their headers count.
 */
#include <unistd.h>

#include "util/file.h"

#include "stream/packet.h"
#include "trace/trace.h"

#define KINDS	3U	/* kinds of rings */

/* Find a stream of a pipe form by kind and CPU; NULL if there is none yet. */
struct kt_stream *kt_stream_find(const struct ktape_trace *t, uint32_t kind,
				 uint32_t cpu)
{
	if (!t->index || kind >= KINDS || cpu >= KT_CPUS_MAX)
		return NULL;
	return t->index[kind * KT_CPUS_MAX + cpu];
}

static bool add_to_index(struct ktape_trace *t, struct kt_stream *s)
{
	if (s->source == KT_SOURCE_FILE || s->kind >= KINDS ||
	    s->cpu >= KT_CPUS_MAX)
		return true;
	if (!t->index)
		t->index = calloc((size_t)KINDS * KT_CPUS_MAX,
				  sizeof(*t->index));
	if (t->index)
		t->index[s->kind * KT_CPUS_MAX + s->cpu] = s;
	return t->index;
}

/* Report a problem of a stream; the scanner's callback. */
void kt_stream_tell(void *arg, unsigned int kind,
		    const struct ktape_error *error)
{
	struct kt_stream *s = arg;

	kt_notice(s->trace, kind, s, error);
}

/* Add a stream to a trace.  Return: the stream, or NULL if there is no memory. */
struct kt_stream *kt_stream_add(struct ktape_trace *t, enum kt_source source,
				uint32_t kind, uint32_t cpu)
{
	size_t size = (t->nr_streams + 1) * sizeof(*t->streams);
	struct kt_stream **more = realloc(t->streams, size);
	struct kt_stream *s;

	if (!more)
		return NULL;
	t->streams = more;
	more = realloc(t->heap, size);
	if (!more)
		return NULL;
	t->heap = more;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->source = source;
	s->kind = kind;
	s->cpu = cpu;
	s->trace = t;
	s->scan.fd = -1;
	if (!add_to_index(t, s)) {
		free(s);
		return NULL;
	}
	t->streams[t->nr_streams++] = s;
	return s;
}

/* Set the file of a stream.  The stream owns the descriptor from now on. */
void kt_stream_file(struct kt_stream *s, int fd)
{
	kt_scan_init(&s->scan, fd);
	s->scan.uuid = s->trace->info.uuid;
	s->scan.budget = &s->trace->budget;
	s->scan.tell = kt_stream_tell;
	s->scan.arg = s;
}

void kt_stream_free(struct kt_stream *s)
{
	while (s->first) {
		struct kt_queued *q = s->first;

		s->first = q->next;
		free(q);
	}
	kt_lane_free(s->lane);
	kt_scan_free(&s->scan);
	if (s->scan.fd >= 0)
		close(s->scan.fd);
	kt_budget_give(&s->trace->budget, s->buf_size);
	free(s->places);
	free(s->buf);
	free(s);
}

/* Go back to the first packet and forget the counters of earlier ones. */
void kt_stream_forget(struct kt_stream *s)
{
	s->next_place = 0;
	s->taken = false;
	kt_scan_rewind(&s->scan);
	s->begun = false;
	s->broken = false;
	s->hole = false;
	s->looked = false;
	s->cut = false;
	s->gone = false;
}

/* Append the place of a packet in the pipe-form file. */
int kt_stream_place(struct kt_stream *s, uint64_t offset, uint64_t size)
{
	struct kt_budget *budget = &s->trace->budget;
	size_t room = (s->nr_places + 1) * 2;
	size_t need = (room - s->nr_places) * sizeof(*s->places);
	struct kt_packet_place *more;
	int err;

	/* A file of empty packets needs many places: they count against the budget. */
	if (!(s->nr_places & (s->nr_places + 1))) {
		err = kt_budget_take(budget, need);
		if (err)
			return err;
		more = realloc(s->places, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->places = more;
	}
	s->places[s->nr_places].offset = offset;
	s->places[s->nr_places].size = size;
	s->nr_places++;
	return 0;
}

/* Append a copy of a packet to the queue of a live stream. */
int kt_stream_queue(struct ktape_trace *t, struct kt_stream *s,
		    const uint8_t *data, size_t size, uint64_t offset)
{
	struct kt_queued *q = malloc(sizeof(*q) + size);

	if (!q)
		return -ENOMEM;
	q->next = NULL;
	q->offset = offset;
	q->size = size;
	memcpy(q->data, data, size);
	if (s->first)
		s->last->next = q;
	else
		s->first = q;
	s->last = q;
	t->buffered += size;
	return 0;
}

/* Report a problem of a trace, or of stream @s if not NULL, to the caller. */
void kt_notice(struct ktape_trace *t, unsigned int kind, struct kt_stream *s,
	       const struct ktape_error *error)
{
	struct ktape_notice n = { .kind = kind };

	kt_loss_damage(t, s, kind, error);
	if (!t->options.notice)
		return;
	if (s) {
		n.stream = true;
		n.cpu = s->cpu;
		n.ring = s->kind;
	}
	if (error)
		n.error = *error;
	t->options.notice(t->options.arg, &n);
}

/*
 * kt_stream_fetch() and fetch_*(): get the next packet.  Streams may fetch at the same
 * time, each in one thread.
 * Return: 1, 0 at the end, -EAGAIN if the scanner works stepwise, or negative errno.
 */

static int fetch_file(struct kt_stream *s, struct kt_content *content)
{
	struct kt_found *found = &s->found;
	struct ktape_error error;
	int ret = 0;

	if (s->taken)
		ret = kt_scan_leave(&s->scan, found);
	s->taken = false;
	if (ret)
		return ret;
	while ((ret = kt_scan_next(&s->scan, found)) > 0 && found->metadata) {
		kt_error(&error, found->offset, "a stream file contains metadata");
		s->scan.tell(s->scan.arg, KTAPE_NOTICE_CORRUPT, &error);
		ret = kt_scan_leave(&s->scan, found);
		if (!ret && s->scan.stepwise)
			ret = -EAGAIN;
		if (ret)
			return ret;
	}
	if (ret <= 0)
		return ret;
	s->taken = true;
	content->offset = found->offset;
	content->data = kt_scan_head(&s->scan);
	content->len = found->content;
	return 1;
}

static int make_packet_room(struct ktape_trace *t, struct kt_stream *s, uint64_t size)
{
	uint8_t *buf;
	int err;

	if (size <= s->buf_size)
		return 0;
	err = kt_budget_take(&t->budget, size - s->buf_size);
	if (err)
		return err;
	buf = realloc(s->buf, size);
	if (!buf) {
		kt_budget_give(&t->budget, size - s->buf_size);
		return -ENOMEM;
	}
	s->buf = buf;
	s->buf_size = size;
	return 0;
}

static int fetch_list(struct ktape_trace *t, struct kt_stream *s,
		      struct kt_content *content)
{
	const struct kt_packet_place *p = &s->places[s->next_place];
	ssize_t got;
	int err;

	if (s->next_place == s->nr_places)
		return 0;
	s->next_place++;
	err = make_packet_room(t, s, p->size);
	if (err)
		return err;
	got = kt_pread_all(t->input.fd, s->buf, p->size, p->offset);
	if (got < 0)
		return (int)got;
	content->offset = p->offset;
	content->data = s->buf;
	content->len = (size_t)got;
	return 1;
}

static int fetch_queue(struct ktape_trace *t, struct kt_stream *s,
		       struct kt_content *content)
{
	struct kt_queued *q = s->first;

	if (s->in_use && q) {
		s->first = q->next;
		t->buffered -= q->size;
		free(q);
		q = s->first;
	}
	s->in_use = q;
	if (!q)
		return 0;
	content->offset = q->offset;
	content->data = q->data;
	content->len = q->size;
	return 1;
}

static int fetch_slice(struct kt_stream *s, struct kt_content *content)
{
	if (!s->nr_contents)
		return 0;
	s->nr_contents--;
	*content = *s->contents++;
	return 1;
}

int kt_stream_fetch(struct ktape_trace *t, struct kt_stream *s,
		    struct kt_content *content)
{
	switch (s->source) {
	case KT_SOURCE_FILE:
		return fetch_file(s, content);
	case KT_SOURCE_LIST:
		return fetch_list(t, s, content);
	case KT_SOURCE_QUEUE:
		return fetch_queue(t, s, content);
	case KT_SOURCE_SLICE:
		return fetch_slice(s, content);
	}
	return 0;
}

/*
 * Return the reasons for which @count events were lost since the previous packet, as bits,
 * and keep the counts of @head.
 *
 * The empty packet at the beginning of a file has no counts, and the ring may have lost
 * events before the reader attached.  Then only reasons of exactly as many events are theirs.
 */
static uint8_t lost_reasons(struct kt_stream *s, const uint8_t *head,
			    uint64_t count)
{
	uint64_t sum = 0;
	uint8_t reasons = 0;
	bool known;

	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++) {
		uint64_t lost = KT_HEAD64(head, lost[i]);

		if (lost > s->lost[i]) {
			reasons |= (uint8_t)(1U << i);
			sum += lost - s->lost[i];
		}
		s->lost[i] = lost;
	}
	known = s->begun && (s->counted || count == sum);
	s->counted = KT_HEAD64(head, emitted);
	if (!known)
		return 0;
	return count > sum ? reasons | KTAPE_NOTICE_UNREAD : reasons;
}

/*
 * Report the events lost between the previous packet, which is good up to @good, and
 * this packet.
 */
static void account_losses(struct ktape_trace *t, struct kt_stream *s,
			   const uint8_t *head, uint64_t good)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST,
		.stream = true,
		.cpu = s->cpu,
		.ring = s->kind,
		.from = KT_HEAD64(head, ts_begin),
		.to = KT_HEAD64(head, ts_end),
	};
	uint64_t discarded = KT_HEAD64(head, discarded);
	uint64_t seq = KT_HEAD64(head, seq);

	n.count = discarded;
	if (s->begun) {
		n.from = s->ts_end;
		n.count = discarded > s->discarded ? discarded - s->discarded
						   : 0;
		n.packets = seq > s->seq + 1 ? seq - s->seq - 1 : 0;
		/* All events of this packet are there: the loss ends at its begin. */
		if (n.packets && !n.count)
			n.to = kt_max(n.from, s->packet.ts);
	}
	n.reasons = lost_reasons(s, head, n.count);
	kt_loss_packet(t, s, good, &n);
	s->begun = true;
	s->broken = false;
	s->seq = seq;
	s->discarded = discarded;
	s->ts_end = KT_HEAD64(head, ts_end);
	if (n.count || n.packets)
		kt_loss_tell(t, s, &n);
}

/*
 * Go to the next packet that has an event, and read its first event.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_stream_load(struct ktape_trace *t, struct kt_stream *s)
{
	struct kt_content content = { .data = NULL };
	struct ktape_error error;
	const uint8_t *data;
	const char *why;
	uint64_t held, good;
	int ret;

	while ((ret = s->lane ? kt_lane_fetch(t, s, &content) :
				kt_stream_fetch(t, s, &content)) > 0) {
		data = content.data;
		s->offset = content.offset;
		held = s->begun && s->packet.ts > s->ts_end ? s->packet.ts : 0;
		good = kt_loss_good(s);
		ret = kt_packet_begin(&s->packet, data, content.len,
				      t->info.uuid, &error);
		if (!ret) {
			s->kind = s->packet.kind;
			s->cpu = s->packet.cpu;
			s->fresh = true;
			s->packet.ts = kt_begin_held(s->packet.ts, held);
			kt_begin_packet(t, s, data, content.len);
			account_losses(t, s, data, good);
			if (t->packet)
				t->packet(t->packet_arg, s, data);
			ret = kt_packet_read_event(&s->packet, &s->event, &why, &t->info);
			if (ret < 0)
				kt_error(&error, s->packet.at, "%s", why);
		}
		s->filled |= ret > 0;
		if (ret > 0)
			return 1;
		if (ret < 0) {
			s->broken = true;
			error.offset += s->offset;
			kt_notice(t, KTAPE_NOTICE_CORRUPT, s, &error);
		}
	}
	if (!ret)
		kt_loss_stream_end(t, s);
	return ret;
}
