// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The native format: packets of each ring, in a directory or as a pipe form.
 *
 * Every event keeps its thread: where the stream before it does not tell who
 * ran (switches were left out), a context record is put in.  That goes into the
 * event ring, which tells it for the control ring of its CPU, too.
 *
 * At the same time a reader takes the control ring first.  What comes there behind
 * another thread in one tick of the clock is moved on to the next.
 */
#include <unistd.h>

#include "util/file.h"

#include "stream/metadata.h"
#include "write/write.h"
#include "format/sink.h"
#include "native.h"

#define PACKET		(64U << 10)
#define PACKET_SMALL	(4U << 10)	/* where there are many streams */
#define MANY		512U
#define RECORD_EXTRA	(KTAPE_TIME_EXTEND_SIZE + 16)
#define KINDS		3
#define TID_NONE	INT32_MIN	/* nothing was told yet */

/**
 * struct stream - packets of one ring
 * @b: the packet
 * @size: room for it
 * @open: one is begun
 * @seq: number of the next one
 * @discarded: events lost so far
 * @untold: no packet has told the last ones of them
 * @lost_to: until when those were lost
 * @ts: of the last record
 * @came: of the last event, before it was moved
 * @least: of an event ring: what comes is not before this, as its control ring
 *	was moved there
 * @known: of an event ring: the first tick of its control ring in which the
 *	reader knows @tid
 * @tid: the thread as a reader knows it; of a control ring, as long as its CPU's
 *	event ring has told none
 */
struct stream {
	struct ktape_builder b;
	size_t size;
	bool open;
	uint64_t seq;
	uint64_t discarded;
	bool untold;
	uint64_t lost_to;
	uint64_t ts;
	uint64_t came;
	uint64_t least;
	uint64_t known;
	int32_t tid;
};

struct native {
	struct ktape_ctf *ctf;		/* or NULL: a pipe form */
	struct stream *streams[KINDS];
	size_t nr[KINDS];
	size_t nr_begun;
};

/* Of each stream a packet is in memory; a record may be larger than most are. */
static size_t packet_size(const struct native *n)
{
	return n->nr_begun > MANY ? PACKET_SMALL : PACKET;
}

static const struct ktape_codec_option options[] = {
	{ "form", "dir|pipe",
	  "a directory, or one file; - is always a pipe form" },
	{ .key = NULL },
};

static int open_pipe(struct kt_sink *s, const char *text, size_t len)
{
	int err = kt_sink_open_file(s);

	if (err)
		return err;
	err = ktape_pipe_metadata(s->fd, s->info->uuid, text, len);
	s->offset += len;
	return err;
}

static int open_output(struct kt_sink *s, bool pipe, const char *text,
		       size_t len)
{
	unsigned int flags = s->flags & KTAPE_SINK_FORCE ? KTAPE_CTF_FORCE : 0;
	struct native *n = s->state;

	if (pipe)
		return open_pipe(s, text, len);
	if (!(s->flags & KTAPE_SINK_IN_PLACE))
		flags |= KTAPE_CTF_STAGED;
	return ktape_ctf_create(s->path, flags, text, len, &n->ctf);
}

/*
 * Heads of packets that are made here count nothing, and events may have been
 * left out: nobody may conclude from this trace that there were none.
 */
static int make_metadata(struct kt_sink *s, char **text, size_t *len)
{
	int err = 0;

	if (s->metadata) {
		*len = s->metadata_len;
		*text = malloc(*len + 1);
		if (!*text)
			return -ENOMEM;
		memcpy(*text, s->metadata, *len);
	} else {
		err = ktape_metadata_format(s->info, text, len);
	}
	if (!err)
		err = ktape_metadata_add(text, len, "converted", "yes");
	if (!err && !s->metadata &&
	    s->flags & (KTAPE_SINK_UNSEALED | KTAPE_SINK_DAMAGED))
		kt_metadata_unseal(*text, len, s->flags & KTAPE_SINK_DAMAGED);
	if (err)
		free(*text);
	return err == -EBADMSG ? kt_sink_fail(s, "the metadata has no env") :
				 err;
}

static int native_begin(struct kt_sink *s)
{
	const char *form = kt_codec_option(&s->options, "form");
	bool pipe = !strcmp(s->path, "-");
	char *text;
	size_t len;
	int err;

	if (form && !strcmp(form, "pipe"))
		pipe = true;
	else if (form && strcmp(form, "dir"))
		return kt_sink_fail(s, "form is dir or pipe");
	else if (form && pipe)
		return kt_sink_fail(s,
				    "a directory cannot go to standard output");
	err = make_metadata(s, &text, &len);
	if (err)
		return err;
	err = open_output(s, pipe, text, len);
	free(text);
	return err;
}

static struct stream *stream_of(struct native *n, unsigned int kind,
				uint32_t cpu)
{
	size_t nr = (size_t)cpu + 1;
	struct stream *more;

	if (kind >= KINDS || cpu >= KT_CPUS_MAX)
		return NULL;
	if (kind == KTAPE_RING_REGISTRY)	/* there is one for all CPUs */
		nr = 1;
	if (nr <= n->nr[kind])
		return &n->streams[kind][nr - 1];
	more = realloc(n->streams[kind], nr * sizeof(*more));
	if (!more)
		return NULL;
	for (size_t i = n->nr[kind]; i < nr; i++)
		more[i] = (struct stream){ .tid = TID_NONE };
	n->streams[kind] = more;
	n->nr[kind] = nr;
	return &more[nr - 1];
}

static int write_packet(struct kt_sink *s, struct stream *st, uint64_t ts_end)
{
	struct native *n = s->state;
	size_t len;
	int err;

	if (!st->open)
		return 0;
	len = ktape_build_end(&st->b, ts_end, st->discarded);
	st->open = false;
	st->untold = false;
	st->seq++;
	s->offset += len;
	err = n->ctf ? ktape_ctf_append(n->ctf, st->b.data, len) :
		       kt_write_all(s->fd, st->b.data, len);
	if (st->size > packet_size(n)) {
		free(st->b.data);
		st->b.data = NULL;
		st->size = 0;
	}
	return err;
}

/* From the record at @ts on, the reader knows that @tid runs. */
static void set_tid(struct stream *st, int32_t tid, uint64_t ts)
{
	if (st->tid == tid)
		return;
	st->tid = tid;
	st->known = ts + 1;
}

/* Begin a packet with room for a record of @need bytes. */
static int open_packet(struct kt_sink *s, struct stream *st, unsigned int kind,
		       uint32_t cpu, const struct ktape_event *e, size_t need)
{
	struct native *n = s->state;
	size_t size =
		kt_max(packet_size(n), kt_align(KTAPE_BLOCK_HEADER + need, 8));
	struct ktape_block head = {
		.ts_begin = e ? e->ts : st->ts,
		.seq = st->seq,
		.discarded = st->discarded,
		.cpu = kind == KTAPE_RING_REGISTRY ? 0 : cpu,
		.kind = kind,
		.context = KTAPE_CTX_CONTINUED,
	};
	uint8_t *data = st->b.data;

	n->nr_begun += !data && !st->seq;
	if (st->size < size) {
		data = realloc(data, size);
		if (!data)
			return -ENOMEM;
		st->size = size;
	}
	memcpy(head.uuid, s->info->uuid, sizeof(head.uuid));
	if (kind != KTAPE_RING_REGISTRY && e) {
		head.tid = e->tid;
		head.context = e->tid < 0 ? KTAPE_CTX_UNKNOWN : KTAPE_CTX_TASK;
		if (kind == KTAPE_RING_EVENT || st->tid < 0)
			set_tid(st, e->tid, e->ts);
	}
	ktape_build_begin(&st->b, data, st->size, &head);
	st->b.data = data;
	st->open = true;
	return 0;
}

static int add_record(struct kt_sink *s, struct stream *st,
		      const struct ktape_event *e, const struct ktape_record *r)
{
	size_t need = 8 + r->nargs * 4U + RECORD_EXTRA +
		      (r->blob ? 4 + (size_t)r->blob_size : 0);
	int err;

	if (need > KT_PACKET_MAX - KTAPE_BLOCK_HEADER)
		return kt_sink_fail(s,
				    "a record is larger than a packet may be");
	if (st->open && st->b.size - st->b.at < need) {
		err = write_packet(s, st, e->ts);
		if (err)
			return err;
	}
	if (!st->open) {
		err = open_packet(s, st, e->kind, e->cpu, e, need);
		if (err)
			return err;
	}
	err = ktape_build_add(&st->b, r);
	st->ts = r->ts;
	if (!err && st->size > packet_size(s->state))
		err = write_packet(s, st, st->ts);
	return err;
}

/* Does the reader know whose the next event of a ring is? */
static bool thread_is_known(const struct stream *st,
			    const struct stream *event_ring,
			    const struct ktape_event *e)
{
	if (e->kind == KTAPE_RING_CONTROL && event_ring->tid != TID_NONE)
		return e->tid == event_ring->tid;
	/* The head of a packet tells, of a control ring the first one. */
	return e->tid == st->tid ||
	       (!st->open && (e->kind == KTAPE_RING_EVENT || st->tid < 0));
}

/*
 * When an event is to be read: behind what the reader has to know by then.  What
 * comes to the control ring untold needs a tick in which it is told.
 */
static uint64_t place_event(const struct stream *own, struct stream *event_ring,
			    const struct ktape_event *e)
{
	uint64_t ts = kt_max(kt_max(e->ts, own->ts), own->least);

	if (e->kind != KTAPE_RING_CONTROL)
		return ts;
	ts = kt_max(ts, event_ring->known);
	if (!thread_is_known(own, event_ring, e))
		ts = kt_max(ts, kt_max(own->ts, event_ring->ts) + 1);
	if (ts > e->ts)
		event_ring->least = ts;
	return ts;
}

/*
 * Tell the reader who runs, where it would think that it is another; for the
 * control ring, a tick earlier.
 */
static int put_context(struct kt_sink *s, const struct stream *own,
		       struct stream *st, const struct ktape_event *e)
{
	const uint32_t args[] = { (uint32_t)e->tid };
	struct ktape_record r = {
		.ts = e->ts,
		.opcode = KTAPE_EV_CONTEXT,
		.nargs = 1,
		.args = args,
		.dat20 = 0xff,
	};
	struct ktape_event at;
	int err;

	/* A switch and a context record tell it themselves. */
	if (e->kind == KTAPE_RING_REGISTRY || e->opcode == KTAPE_EV_CONTEXT ||
	    thread_is_known(own, st, e))
		return 0;
	if (e->kind == KTAPE_RING_CONTROL)
		r.ts--;
	at = *e;
	at.kind = KTAPE_RING_EVENT;
	at.ts = r.ts;
	err = add_record(s, st, &at, &r);
	set_tid(st, e->tid, r.ts);
	return err;
}

/* Who runs after this event. */
static void follow_thread(struct stream *st, const struct ktape_event *e)
{
	if (e->opcode == KTAPE_EV_SCHED_SWITCH && e->nargs == 2)
		set_tid(st, (int32_t)ktape_event_arg(e, 1), e->ts);
	else if (e->opcode == KTAPE_EV_CONTEXT && e->nargs == 1)
		set_tid(st, (int32_t)ktape_event_arg(e, 0), e->ts);
}

/* Write an event of a ring, moved to where it is to be read. */
static int write_event(struct kt_sink *s, struct stream *st,
		       const struct ktape_event *e)
{
	struct stream *event_ring =
		e->kind != KTAPE_RING_CONTROL ?
			st :
			stream_of(s->state, KTAPE_RING_EVENT, e->cpu);
	uint32_t args[KTAPE_NARGS_MAX];
	struct ktape_record r = {
		.args = args,
		.blob = e->blob,
		.blob_size = e->blob_size,
		.dat20 = e->dat20,
		.opcode = e->opcode,
		.nargs = e->nargs,
	};
	struct ktape_event moved;
	int err;

	if (!event_ring)
		return -ENOMEM;
	r.ts = place_event(st, event_ring, e);
	st->came = e->ts;
	if (r.ts != e->ts) {
		moved = *e;
		moved.ts = r.ts;
		e = &moved;
	}
	for (unsigned int i = 0; i < e->nargs; i++)
		args[i] = ktape_event_arg(e, i);
	err = put_context(s, st, event_ring, e);
	if (!err)
		err = add_record(s, st, e, &r);
	if (!err)
		follow_thread(st, e);
	return err;
}

static int native_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct stream *st = stream_of(s->state, e->kind, e->cpu);

	if (!st)
		return -ENOMEM;
	if (e->opcode == KTAPE_TIME_EXTEND)	/* made anew where needed */
		return 0;
	/* Ours would describe it wrongly. */
	if (!e->known && !s->metadata && ktape_event_desc(e->opcode)) {
		kt_sink_miss(s, "events that another table describes", 1);
		return 0;
	}
	if (e->ts < st->came) {
		kt_sink_miss(s, "events whose time goes back", 1);
		return 0;
	}
	return write_event(s, st, e);
}

/*
 * The packet before the gap ends, the count goes into the next one; where
 * nobody knows how many, a packet is missing.
 */
static int native_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct stream *st = stream_of(s->state, n->ring, n->cpu);
	int err;

	if (!st)
		return 0;
	if (!st->open && !st->seq) {	/* a gap in front of all */
		st->ts = kt_max(st->ts, n->from);
		st->came = st->ts;
		err = open_packet(s, st, n->ring, n->cpu, NULL, 0);
		if (err)
			return err;
	}
	err = write_packet(s, st, st->ts);
	st->discarded += n->count;
	st->seq += n->count ? 0 : 1;
	st->untold = true;
	st->lost_to = n->to;
	return err;
}

/* What was lost behind the last event, a packet without any tells. */
static int end_stream(struct kt_sink *s, struct stream *st, unsigned int kind,
		      uint32_t cpu)
{
	int err = write_packet(s, st, st->ts);

	if (err || !st->untold)
		return err;
	err = open_packet(s, st, kind, cpu, NULL, 0);
	return err ? err : write_packet(s, st, kt_max(st->ts, st->lost_to));
}

static int native_end(struct kt_sink *s)
{
	struct native *n = s->state;
	int err = 0, first = 0;

	for (unsigned int kind = KINDS; kind--;) {
		for (size_t cpu = 0; cpu < n->nr[kind]; cpu++) {
			struct stream *st = &n->streams[kind][cpu];

			err = end_stream(s, st, kind, (uint32_t)cpu);
			first = first ? first : err;
		}
	}
	if (!first && n->ctf)
		first = ktape_ctf_commit(n->ctf);
	err = ktape_ctf_close(n->ctf);
	n->ctf = NULL;
	return first ? first : err;
}

static bool native_is_staged(const struct kt_sink *s)
{
	const struct native *n = s->state;

	return n->ctf && kt_stage_is_open(&n->ctf->stage);
}

static void native_close(struct kt_sink *s)
{
	struct native *n = s->state;

	for (unsigned int kind = 0; kind < KINDS; kind++) {
		for (size_t cpu = 0; cpu < n->nr[kind]; cpu++)
			free(n->streams[kind][cpu].b.data);
		free(n->streams[kind]);
	}
	ktape_ctf_close(n->ctf);
}

const struct kt_codec_out kt_native_out = {
	.options = options,
	.size = sizeof(struct native),
	.assumed = true,
	.own_files = true,
	.begin = native_begin,
	.event = native_event,
	.notice = native_notice,
	.end = native_end,
	.is_staged = native_is_staged,
	.close = native_close,
};
