// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read one slice: a reader is a trace of its own, whose streams are the slice's packets in
 * memory, and whose names are a view of the trace's.  So the events of a slice are merged
 * and decoded by the same functions as those of a whole trace.
 */
#include "stream/decode.h"
#include "trace/slice.h"

/* Keep what reading a slice reports, until the slice is taken. */
static void keep_slice_notice(void *arg, const struct ktape_notice *n)
{
	const struct kt_reader *r = arg;
	struct kt_slice *slice = r->slice;
	size_t max = slice->max_notices ? slice->max_notices * 2 : 4;
	struct ktape_notice *more;

	if (slice->nr_notices == slice->max_notices) {
		more = realloc(slice->notices, max * sizeof(*more));
		if (!more) {
			slice->error = -ENOMEM;
			return;
		}
		slice->notices = more;
		slice->max_notices = max;
	}
	slice->notices[slice->nr_notices++] = *n;
}

/* Prepare a reader.  Return: 0 or -ENOMEM; kt_reader_close() in any case. */
int kt_reader_open(struct kt_slices *sl, struct kt_reader *r)
{
	struct ktape_trace *t = &r->trace;
	int err;

	r->slices = sl;
	t->info = sl->t->info;
	t->options.notice = sl->t->options.notice ? keep_slice_notice : NULL;
	t->options.arg = r;
	r->streams = calloc(sl->max, sizeof(*r->streams));
	t->streams = calloc(sl->max, sizeof(*t->streams));
	t->heap = calloc(sl->max, sizeof(*t->heap));
	if (!r->streams || !t->streams || !t->heap)
		return -ENOMEM;
	for (size_t i = 0; i < sl->max; i++)
		t->streams[i] = &r->streams[i];
	err = ktape_decoder_new(&sl->t->info, &t->decoder);
	return err ? err : ktape_registry_view(sl->t->registry, &t->registry);
}

void kt_reader_close(struct kt_reader *r)
{
	ktape_decoder_free(r->trace.decoder);
	ktape_registry_free(r->trace.registry);
	free(r->trace.streams);
	free(r->trace.heap);
	free(r->streams);
	*r = (struct kt_reader){ .slices = NULL };
}

/* Put a stream into packet @content of its ring, before the record at @spot. */
void kt_stream_at(struct kt_stream *s, const struct kt_content *content,
		  const struct kt_spot *spot)
{
	const uint8_t *head = content->data;
	const char *why;

	kt_packet_begin(&s->packet, head, content->len, NULL, NULL);
	/* The packet is not cut off, although the slice may have only its begin. */
	s->packet.truncated = false;
	s->offset = content->offset;
	s->fresh = spot->fresh;
	s->begun = true;
	s->broken = false;
	s->filled = true;
	s->seq = KT_HEAD64(head, seq);
	s->discarded = KT_HEAD64(head, discarded);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++)
		s->lost[i] = KT_HEAD64(head, lost[i]);
	s->counted = KT_HEAD64(head, emitted);
	s->ts_end = KT_HEAD64(head, ts_end);
	s->packet.at = spot->at;
	s->packet.ts = spot->ts;
	kt_packet_read_event(&s->packet, &s->event, &why, &s->trace->info);
}

/* Add the names of all slices before the next one.  Return: 0 or -ENOMEM. */
static int learn_slice_names(struct kt_reader *r, const struct kt_slice *slice)
{
	const struct kt_slices *sl = r->slices;
	struct ktape_registry **view = &r->trace.registry;
	int err = 0;

	/*
	 * If this reader has read a later slice before, its view has names that this slice
	 * must not have.
	 */
	if (r->turn != sl->turn || r->applied > slice->first_name) {
		err = ktape_registry_view(sl->t->registry, view);
		r->applied = 0;
	}
	r->turn = err ? 0 : sl->turn;
	while (!err && r->applied < slice->first_name)
		err = ktape_registry_add(*view, &sl->names[r->applied++]->event);
	return err;
}

/* Make stream @i of the reader that of share @i of the slice, at its first record. */
static void begin_share(struct kt_reader *r, size_t i, const struct kt_slice *slice)
{
	const struct kt_share *share = &slice->shares[i];
	const struct kt_content *contents = &slice->contents[share->first];
	struct kt_stream *s = &r->streams[i];

	*s = (struct kt_stream){
		.source = KT_SOURCE_SLICE,
		.kind = share->cursor->s->kind,
		.cpu = share->cursor->s->cpu,
		.trace = &r->trace,
		.contents = contents + 1,
		.nr_contents = share->nr - 1,
		.in_heap = true,
	};
	kt_stream_at(s, contents, &share->from);
	r->trace.decoder->tid[s->cpu] = share->tid;
	r->trace.decoder->last[s->cpu] = share->last;
	r->trace.heap[i] = s;
}

/*
 * Read a slice.  May be called again for the same slice, by any reader.
 * Return: what the caller's work() returned, or negative errno.
 */
int kt_reader_run(struct kt_reader *r, struct kt_slice *slice)
{
	const struct kt_slices_how *how = &r->slices->how;
	struct ktape_trace *t = &r->trace;
	int err;

	r->slice = slice;
	slice->trace = t;
	slice->error = 0;
	slice->nr_notices = 0;
	err = learn_slice_names(r, slice);
	if (!err) {
		for (size_t i = 0; i < slice->nr_shares; i++)
			begin_share(r, i, slice);
		t->nr_streams = t->nr_heap = slice->nr_shares;
		t->current = NULL;
		t->last_ts = 0;
		kt_heap_rebuild(t);
		err = how->work(how->arg, slice);
	}
	if (!err)
		err = slice->error;
	/* After an error it is not known which names were added: @turn 0 makes a new view. */
	r->applied = slice->end_name;
	if (err)
		r->turn = 0;
	return err;
}
