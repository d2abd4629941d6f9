// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Get the next packet of a stream, from its own file, from places in a pipe-form file, from a
 * queue in memory or from a slice; and report what is wrong with it.
 */
#include "util/file.h"

#include "trace/trace.h"

/*
 * Report a problem of a trace, or of stream @s if not NULL, to the caller, and note damage for the
 * losses that it hides (loss.c).
 */
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

/* Report a problem of a stream; the scanner's callback. */
void kt_stream_report(void *arg, unsigned int kind, const struct ktape_error *error)
{
	struct kt_stream *s = arg;

	kt_notice(s->trace, kind, s, error);
}

/* Leave the packet that was being read, and find the next one.  Metadata in a stream are damage. */
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
		s->scan.report(s->scan.arg, KTAPE_NOTICE_CORRUPT, &error);
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

/* Make a stream's buffer large enough for a packet, out of the trace's budget. */
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

/* Read the next packet from its place; if the file was cut since it was indexed, what is left. */
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

/* Free the packet that was being read, and take the next one. */
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

/*
 * Get the next packet of a stream: @content is valid until the next call for the stream.
 * Streams may fetch at the same time, each in one thread, unless the trace is live (a queue).
 * Return: 1, 0 at the end, -EAGAIN if the scanner works stepwise, or negative errno.
 */
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
