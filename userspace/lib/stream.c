// SPDX-License-Identifier: LGPL-2.1-or-later
/* Packets of one stream, wherever they come from, and what they tell of loss. */
#include <unistd.h>

#include "util/file.h"

#include "trace.h"

struct kt_stream *kt_stream_find(const struct ktape_trace *t, uint32_t kind,
				 uint32_t cpu)
{
	for (size_t i = 0; i < t->nr_streams; i++) {
		if (t->streams[i]->kind == kind && t->streams[i]->cpu == cpu)
			return t->streams[i];
	}
	return NULL;
}

/* Return: the stream, or NULL when there is no memory. */
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
	s->scan.fd = -1;
	t->streams[t->nr_streams++] = s;
	return s;
}

void kt_stream_free(struct kt_stream *s)
{
	while (s->first) {
		struct kt_queued *q = s->first;

		s->first = q->next;
		free(q);
	}
	kt_scan_free(&s->scan);
	if (s->scan.fd >= 0)
		close(s->scan.fd);
	free(s->places);
	free(s->buf);
	free(s);
}

/* Begin again at the first packet, having seen nothing. */
void kt_stream_forget(struct kt_stream *s)
{
	s->next_place = 0;
	s->taken = 0;
	s->scan.offset = 0;
	s->scan.head = 0;
	s->scan.len = 0;
	s->scan.eof = false;
	s->begun = false;
}

int kt_stream_place(struct kt_stream *s, uint64_t offset, uint64_t size)
{
	struct kt_place *more;

	if (!(s->nr_places & (s->nr_places + 1))) {
		more = realloc(s->places,
			       (s->nr_places + 1) * 2 * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->places = more;
	}
	s->places[s->nr_places].offset = offset;
	s->places[s->nr_places].size = size;
	s->nr_places++;
	return 0;
}

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

void kt_notice(struct ktape_trace *t, unsigned int kind,
	       const struct kt_stream *s, const struct ktape_error *error)
{
	struct ktape_notice n = { .kind = kind };

	if (!t->options.notice)
		return;
	if (s) {
		n.cpu = s->cpu;
		n.ring = s->kind;
	}
	if (error)
		n.error = *error;
	t->options.notice(t->options.arg, &n);
}

/* Each of these: 1 with a packet, 0 without, or negative errno. */

static int fetch_file(struct ktape_trace *t, struct kt_stream *s,
		      const uint8_t **data, size_t *len)
{
	struct ktape_error error;
	struct kt_found found;
	int64_t there;
	int ret;

	ret = kt_scan_skip(&s->scan, s->taken);
	s->taken = 0;
	if (ret)
		return ret;
	while ((ret = kt_scan_packet(&s->scan, &found, &error)) != 1 ||
	       found.metadata) {
		if (!ret)
			return 0;
		if (ret < 0 && ret != -EBADMSG)
			return ret;
		if (ret > 0)
			kt_error(&error, found.offset, "metadata in a stream");
		kt_notice(t, s->scan.eof && s->scan.len - s->scan.head <
						    KTAPE_BLOCK_HEADER
				     ? KTAPE_NOTICE_TRUNCATED
				     : KTAPE_NOTICE_CORRUPT,
			  s, &error);
		ret = kt_scan_resync(&s->scan, t->info.uuid);
		if (ret <= 0)
			return ret;
	}
	there = kt_scan_need(&s->scan, found.size);
	if (there < 0)
		return (int)there;
	s->offset = found.offset;
	s->taken = kt_min((uint64_t)there, found.size);
	*data = kt_scan_head(&s->scan);
	*len = s->taken;
	return 1;
}

static int fetch_list(struct ktape_trace *t, struct kt_stream *s,
		      const uint8_t **data, size_t *len)
{
	const struct kt_place *p = &s->places[s->next_place];
	uint8_t *buf;
	ssize_t got;

	if (s->next_place == s->nr_places)
		return 0;
	s->next_place++;
	buf = realloc(s->buf, p->size);
	if (!buf)
		return -ENOMEM;
	s->buf = buf;
	got = kt_pread_all(t->input.fd, buf, p->size, p->offset);
	if (got < 0)
		return (int)got;
	s->offset = p->offset;
	*data = buf;
	*len = (size_t)got;
	return 1;
}

static int fetch_queue(struct ktape_trace *t, struct kt_stream *s,
		       const uint8_t **data, size_t *len)
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
	s->offset = q->offset;
	*data = q->data;
	*len = q->size;
	return 1;
}

static int fetch(struct ktape_trace *t, struct kt_stream *s,
		 const uint8_t **data, size_t *len)
{
	switch (s->source) {
	case KT_SOURCE_FILE:
		return fetch_file(t, s, data, len);
	case KT_SOURCE_LIST:
		return fetch_list(t, s, data, len);
	case KT_SOURCE_QUEUE:
		return fetch_queue(t, s, data, len);
	}
	return 0;
}

/* What was lost between the packet before and this one? */
static void account(struct ktape_trace *t, struct kt_stream *s,
		    const uint8_t *head)
{
	struct ktape_notice n = {
		.kind = KTAPE_NOTICE_LOST,
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
	}
	s->begun = true;
	s->seq = seq;
	s->discarded = discarded;
	s->ts_end = n.to;
	if ((n.count || n.packets) && t->options.notice)
		t->options.notice(t->options.arg, &n);
}

/*
 * Go on to the next packet with an event and read that.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_stream_load(struct ktape_trace *t, struct kt_stream *s)
{
	struct ktape_error error;
	const uint8_t *data = NULL;
	size_t len = 0;
	int ret;

	while ((ret = fetch(t, s, &data, &len)) > 0) {
		ret = ktape_packet_open(&s->packet, data, len, t->info.uuid,
					&error);
		if (!ret) {
			s->kind = s->packet.kind;
			s->cpu = s->packet.cpu;
			s->fresh = true;
			account(t, s, data);
			if (s->packet.truncated) {
				kt_error(&error, len, "the last packet is cut off");
				error.offset += s->offset;
				kt_notice(t, KTAPE_NOTICE_TRUNCATED, s, &error);
			}
			ret = ktape_packet_next(&s->packet, &s->event, &error);
		}
		if (ret > 0)
			return 1;
		if (ret < 0) {
			error.offset += s->offset;
			kt_notice(t, KTAPE_NOTICE_CORRUPT, s, &error);
		}
	}
	return ret;
}
