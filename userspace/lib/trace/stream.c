// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read the packets of one stream, and report the losses that their headers count. */
#include <unistd.h>

#include "stream/packet.h"
#include "trace/trace.h"

#define KINDS 3U /* kinds of rings */

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
	if (s->source == KT_SOURCE_FILE || s->kind >= KINDS || s->cpu >= KT_CPUS_MAX)
		return true;
	if (!t->index)
		t->index = calloc((size_t)KINDS * KT_CPUS_MAX, sizeof(*t->index));
	if (t->index)
		t->index[s->kind * KT_CPUS_MAX + s->cpu] = s;
	return t->index;
}

/*
 * Add a stream to a trace, and room for it in the heap.
 * Return: the stream, or NULL if there is no memory.
 */
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
	s->scan.report = kt_stream_report;
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
	s->missing = false;
	s->begin_checked = false;
	s->cut = false;
	s->gone = false;
}

/* Append the place of a packet in the pipe-form file.  Return: 0 or negative errno. */
int kt_stream_place(struct kt_stream *s, uint64_t offset, uint64_t size)
{
	struct kt_budget *budget = &s->trace->budget;
	size_t room = (s->nr_places + 1) * 2;
	size_t need = (room - s->nr_places) * sizeof(*s->places);
	struct kt_packet_place *more;
	int err;

	/*
	 * Room is doubled when there are 0, 1, 3, 7 ... places.  A file of empty packets needs
	 * many: they count against the budget.
	 */
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

/* Append a copy of a packet to the queue of a live stream.  Return: 0 or -ENOMEM. */
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

/*
 * Return the reasons for which @count events were lost since the previous packet, as bits,
 * and keep the counts of @head.  KTAPE_NOTICE_UNREAD is for those that the ring has no reason for:
 * they were overwritten before they were read.
 *
 * The empty packet at the beginning of a file has no counts, and the ring may have lost
 * events before the reader attached.  So after such a packet, reasons are returned only if
 * their counts add up to exactly @count.
 */
static uint8_t lost_reasons(struct kt_stream *s, const uint8_t *head, uint64_t count)
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
 * this packet, whose counters are kept for the next one.
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
		n.count = discarded > s->discarded ? discarded - s->discarded : 0;
		n.packets = seq > s->seq + 1 ? seq - s->seq - 1 : 0;
		/* No event of this packet is missing: the loss ends at its begin. */
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
		kt_loss_report(t, s, &n);
}

/*
 * Go to the next packet that has an event, and read its first event.  Losses, bad packets and the
 * packets without an event on the way are reported and passed over.
 * Return: 1, 0 at the end, or negative errno.
 */
int kt_stream_load(struct ktape_trace *t, struct kt_stream *s)
{
	struct kt_content content = { .data = NULL };
	struct ktape_error error;
	const uint8_t *data;
	const char *why = NULL;
	uint64_t held, good;
	int ret;

	while ((ret = s->lane ? kt_lane_fetch(t, s, &content) :
				kt_stream_fetch(t, s, &content)) > 0) {
		data = content.data;
		s->offset = content.offset;
		/* The clock stepped back in the packet before: its last record is later than its end. */
		held = s->begun && s->packet.ts > s->ts_end ? s->packet.ts : 0;
		good = kt_loss_good(s);
		ret = kt_packet_begin(&s->packet, data, content.len,
				      t->info.uuid, &error);
		if (!ret) {
			s->kind = s->packet.kind;
			s->cpu = s->packet.cpu;
			s->fresh = true;
			/* The packet is not cut off, although the slice may have only its begin. */
			if (s->source == KT_SOURCE_SLICE)
				s->packet.truncated = false;
			s->packet.ts = kt_begin_held(s->packet.ts, held);
			kt_begin_packet(t, s, data, content.len);
			account_losses(t, s, data, good);
			if (t->packet)
				t->packet(t->packet_arg, s, data);
			ret = kt_packet_read_event(&s->packet, &s->event, &why,
						   &t->info);
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
