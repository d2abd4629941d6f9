// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Write decoded events in the native format (ktape-format(5)), as a directory or
 * as one pipe-form file.  Reading it is stream/'s work; the bytes of packets and
 * files are made by ktape_build_*(), ktape_ctf_*() and ktape_pipe_*().
 *
 *	DIR/metadata   DIR/cpuN   DIR/controlN   DIR/registry	directory
 *	| metadata packet | packets of all rings as they fill |	pipe form
 *
 *	packet	| header, 192 bytes | record | record | ...
 *	record	| time 32 | opcode 8 | dat20 20 | blob? 1 | nargs 3 |
 *		| nargs words | blob size, blob | zeros up to 8 bytes |
 *
 * An event becomes the record that it was, at its own time and in its own ring.
 * The counters of packet headers (emitted, filtered) are not known here and stay
 * zero.  A loss with a count raises the header's count of discarded events; a loss
 * without a count skips a packet number.  Left out and counted are events whose time
 * goes back, events whose opcode has another meaning in the event table of the output than in
 * that of the input, and user events that a reader of the output would take for something else
 * (native_event()).
 *
 * Fields that another tracer's event has beyond the event table go into a record of their own,
 * directly before that of the event and in the same packet.
 *
 * The format has no thread per record: a reader derives it from the packet header
 * and from sched_switch and context records.  Where switches were filtered out, a
 * context record is inserted.  It goes into the event ring, which also sets the
 * thread for the control ring of the same CPU.
 *
 * Of two records with the same time a reader takes the one of the control ring first.
 * A control record that needs a context record is therefore moved to at least one tick
 * after the last record of both rings, and the context record takes the tick before.
 */
#include <unistd.h>

#include <ktape/formats.h>

#include "util/file.h"

#include "stream/event.h"
#include "stream/metadata.h"
#include "stream/packet.h"
#include "write/write.h"
#include "format/writer.h"
#include "native.h"

#define PACKET	     (64U << 10)
#define PACKET_SMALL (4U << 10) /* with more than MANY streams */
#define MANY	     512U
#define RECORD_EXTRA \
	(KTAPE_TIME_EXTEND_SIZE + 16) /* before a record, and more than its padding */
#define KINDS	 3		      /* of rings: enum ktape_ring_kind */
#define TID_NONE INT32_MIN	      /* no record has set the thread yet */

/**
 * struct stream - packets of one ring
 * @b: packet under construction
 * @size: bytes allocated for @b
 * @open: @b has a header
 * @seq: number of the packet in @b, or of the next one if none is open
 * @discarded: events lost in this ring so far
 * @loss_pending: no packet header has the current @discarded yet
 * @lost_to: end of the last loss, in ticks
 * @ts: time of the last record, in ticks
 * @event_ts: time of the last event before place_event() moved it, in ticks
 * @min_ts: event ring: earliest time for the next record, because a control
 *	record of this CPU was moved there
 * @tid_from: event ring: first tick at which a control record has @tid as its
 *	thread
 * @tid: thread that a reader derives for the next record; in a control ring only
 *	used until the event ring of its CPU has one
 * @late: its beginning was overwritten, and it has no record yet; event and control
 *	rings
 */
struct stream {
	struct ktape_builder b;
	size_t size;
	bool open;
	uint64_t seq;
	uint64_t discarded;
	bool loss_pending;
	uint64_t lost_to;
	uint64_t ts;
	uint64_t event_ts;
	uint64_t min_ts;
	uint64_t tid_from;
	int32_t tid;
	bool late;
};

/**
 * struct native - trace being written
 * @ctf: the directory; NULL: pipe form
 * @streams: by kind of ring, streams by CPU
 * @nr: by kind of ring, entries of @streams
 * @nr_begun: streams that have had a packet, without those that began @late
 */
struct native {
	struct ktape_ctf *ctf;
	struct stream *streams[KINDS];
	size_t nr[KINDS];
	size_t nr_begun;
};

/* Return the usual packet size: small with many streams, all of which are in memory. */
static size_t packet_size(const struct native *n)
{
	return n->nr_begun > MANY ? PACKET_SMALL : PACKET;
}

static const struct ktape_codec_option options[] = {
	{ "form", "dir|pipe", "a directory, or one file; - is always a pipe form" },
	{ .key = NULL },
};

/* Begin a pipe form: open the output and write the metadata.  Return: 0 or negative errno. */
static int open_pipe(struct kt_sink *s, const char *text, size_t len)
{
	int err = kt_sink_open_file(s);
	uint8_t *packets;
	size_t size;

	if (err)
		return err;
	err = kt_metadata_packets(s->info->uuid, text, len, &packets, &size);
	if (err)
		return err;
	err = kt_write_all(s->fd, packets, size);
	free(packets);
	s->offset += size;
	return err;
}

static int open_output(struct kt_sink *s, bool pipe, const char *text, size_t len)
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
 * Make the metadata, marked "converted": packet headers have no counters here and
 * events may have been left out, so ktape verify --absent must not prove anything
 * from this trace.  The input's own metadata (@s->metadata) keeps its state; only metadata
 * that is made here could claim a checksum that the inputs did not have.
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
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err == -EBADMSG ?
		       kt_sink_fail(s, "the metadata of the input has no env block, which native needs") :
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
		return kt_sink_fail(s, "form=%s: use form=dir or form=pipe", form);
	else if (form && pipe)
		return kt_sink_fail(
			s, "form=dir cannot go to standard output: use form=pipe or -o DIR");
	err = make_metadata(s, &text, &len);
	if (err)
		return err;
	err = open_output(s, pipe, text, len);
	free(text);
	return err;
}

/* Return the stream of a ring, made if needed; NULL without memory, or for a ring out of range. */
static struct stream *stream_of(struct native *n, unsigned int kind, uint32_t cpu)
{
	size_t nr = (size_t)cpu + 1;
	struct stream *more;

	if (kind >= KINDS || cpu >= KT_CPUS_MAX)
		return NULL;
	if (kind == KTAPE_RING_REGISTRY) /* one for all CPUs */
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

/* Write the open packet, if one is open.  The next one has the next number. */
static int write_packet(struct kt_sink *s, struct stream *st, uint64_t ts_end)
{
	struct native *n = s->state;
	size_t len;
	int err;

	if (!st->open)
		return 0;
	len = ktape_build_end(&st->b, ts_end, st->discarded);
	st->open = false;
	st->loss_pending = false;
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

/*
 * Note that readers derive @tid from the record at @ts on.  Control records have it from the
 * next tick on, because readers take those of the same time first.
 */
static void set_tid(struct stream *st, int32_t tid, uint64_t ts)
{
	if (st->tid == tid)
		return;
	st->tid = tid;
	st->tid_from = ts + 1;
}

/*
 * Begin a packet with room for a record of @need bytes.  @e: its event, whose thread the header
 * names; NULL: the packet has no record.
 */
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
		uint8_t *more = realloc(data, size);

		if (!more)
			return -ENOMEM;
		data = more;
		st->size = size;
	}
	memcpy(head.uuid, s->info->uuid, sizeof(head.uuid));
	if (kind != KTAPE_RING_REGISTRY && e) {
		/* The thread of a switch's call stack does not run any more. */
		const int32_t tid = kt_event_thread_runs(e) ? e->tid :
				    st->tid < 0		    ? -1 :
							      st->tid;

		head.tid = tid;
		head.context = tid < 0 ? KTAPE_CTX_UNKNOWN : KTAPE_CTX_TASK;
		if (kind == KTAPE_RING_EVENT || st->tid < 0)
			set_tid(st, tid, e->ts);
	}
	ktape_build_begin(&st->b, data, st->size, &head);
	st->b.data = data;
	st->open = true;
	return 0;
}

/* Return the most bytes that ktape_build_add() needs for a record. */
static size_t record_room(const struct ktape_record *r)
{
	return 8 + r->nargs * 4U + RECORD_EXTRA +
	       (r->blob ? 4 + (size_t)r->blob_size : 0);
}

/*
 * Add a record, and before it another one to the same packet, which is left out and counted if
 * both do not fit into a packet.  @before: with the extra fields of @e, or NULL.  A record that
 * does not fit by itself fails the conversion.  A packet that was made larger than usual for them
 * is written at once, to free its memory.
 */
static int add_records(struct kt_sink *s, struct stream *st,
		       const struct ktape_event *e,
		       const struct ktape_record *before,
		       const struct ktape_record *r)
{
	size_t need = record_room(r) + (before ? record_room(before) : 0);
	int err;

	if (before && need > KT_PACKET_MAX - KTAPE_BLOCK_HEADER) {
		kt_sink_miss_extra(s, e);
		before = NULL;
		need = record_room(r);
	}
	if (need > KT_PACKET_MAX - KTAPE_BLOCK_HEADER)
		return kt_sink_fail(
			s, "an event of %zu bytes does not fit into a packet of at most %u",
			need, KT_PACKET_MAX);
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
	err = before ? ktape_build_add(&st->b, before) : 0;
	if (!err)
		err = ktape_build_add(&st->b, r);
	st->ts = r->ts;
	if (!err && st->size > packet_size(s->state))
		err = write_packet(s, st, st->ts);
	return err;
}

static int add_record(struct kt_sink *s, struct stream *st,
		      const struct ktape_event *e, const struct ktape_record *r)
{
	return add_records(s, st, e, NULL, r);
}

/* Add the record of an event, behind one with its extra fields if it has any. */
static int add_event(struct kt_sink *s, struct stream *st,
		     const struct ktape_event *e, const struct ktape_record *r)
{
	const uint32_t args[] = { KTAPE_FORMAT_ID_FIELDS, e->opcode };
	const struct ktape_record fields = {
		.ts = r->ts,
		.opcode = KTAPE_EV_USER_EVENT,
		.nargs = KT_ARRAY_SIZE(args),
		.args = args,
		.blob = e->extra,
		.blob_size = e->extra_size,
	};

	return add_records(s, st, e, e->extra && e->extra_size ? &fields : NULL, r);
}

/* Return true if a reader derives the right thread for @e without a context record. */
static bool thread_is_known(const struct stream *st, const struct stream *event_ring,
			    const struct ktape_event *e)
{
	/* The call stack of a switch is of the thread that left: readers know it by the switch. */
	if (!kt_event_thread_runs(e))
		return true;
	/* A context record would let the ring begin before it does. */
	if (e->kind == KTAPE_RING_CONTROL && event_ring->late)
		return true;
	if (e->kind == KTAPE_RING_CONTROL && event_ring->tid != TID_NONE)
		return e->tid == event_ring->tid;
	/* A packet header also sets the thread; in a control ring only the first header does. */
	return e->tid == st->tid ||
	       (!st->open && (e->kind == KTAPE_RING_EVENT || st->tid < 0));
}

/*
 * Return the time for the record of @e.  A control record comes after the record
 * that sets its thread; if a context record is needed, it takes the tick before.  Later
 * records of @event_ring must not come before a control record that is moved (@min_ts).
 */
static uint64_t place_event(const struct stream *own, struct stream *event_ring,
			    const struct ktape_event *e)
{
	uint64_t ts = kt_max(kt_max(e->ts, own->ts), own->min_ts);

	if (e->kind != KTAPE_RING_CONTROL)
		return ts;
	ts = kt_max(ts, event_ring->tid_from);
	if (!thread_is_known(own, event_ring, e))
		ts = kt_max(ts, kt_max(own->ts, event_ring->ts) + 1);
	if (ts > e->ts)
		event_ring->min_ts = ts;
	return ts;
}

/*
 * Insert a context record for the thread of @e if a reader would derive another
 * one.  For a control record it goes a tick earlier, because readers take the
 * control ring first.
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
		.dat20 = 0xff, /* the priority is not known */
	};
	struct ktape_event at;
	int err;

	/* Context records set the thread themselves; the registry has none. */
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

/* Set the thread that readers derive after @e. */
static void follow_thread(struct stream *st, const struct ktape_event *e)
{
	if (e->opcode == KTAPE_EV_SCHED_SWITCH && e->nargs == 2)
		set_tid(st, (int32_t)ktape_event_arg(e, 1), e->ts);
	else if (e->opcode == KTAPE_EV_CONTEXT && e->nargs == 1)
		set_tid(st, (int32_t)ktape_event_arg(e, 0), e->ts);
}

/* Write an event into its ring, at the time that place_event() gives it. */
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
	st->late = false;
	r.ts = place_event(st, event_ring, e);
	st->event_ts = e->ts;
	if (r.ts != e->ts) {
		moved = *e;
		moved.ts = r.ts;
		e = &moved;
	}
	for (unsigned int i = 0; i < e->nargs; i++)
		args[i] = ktape_event_arg(e, i);
	err = put_context(s, st, event_ring, e);
	if (!err)
		err = add_event(s, st, e, &r);
	if (!err)
		follow_thread(st, e);
	return err;
}

static int native_event(struct kt_sink *s, const struct ktape_event *e)
{
	struct stream *st = stream_of(s->state, e->kind, e->cpu);

	if (!st) /* readers deliver no ring out of range */
		return -ENOMEM;
	if (e->opcode == KTAPE_TIME_EXTEND) /* ktape_build_add() inserts its own */
		return 0;
	/* In the output, which is marked "converted", it would be taken for a tracer's event. */
	if (!e->known && e->opcode == KTAPE_EV_USER_EVENT && e->nargs &&
	    ktape_event_arg(e, 0) >= KTAPE_FORMAT_ID_FIRST) {
		kt_sink_miss(s, "user events with ids that no program may use", 1);
		return 0;
	}
	/* A reader would join it with whatever event the output has behind it. */
	if (e->opcode == KTAPE_EV_USER_EVENT && kt_packet_has_fields(e)) {
		kt_sink_miss(s, "fields of other tracers without their event", 1);
		return 0;
	}
	/* The output's metadata is made from our event table, which would misdescribe it. */
	if (!e->known && !s->metadata && ktape_event_desc(e->opcode)) {
		kt_sink_miss(s, "events that the event table describes differently",
			     1);
		return 0;
	}
	if (e->ts < st->event_ts) {
		kt_sink_miss(s, "events whose time goes back", 1);
		return 0;
	}
	return write_event(s, st, e);
}

/*
 * Record a loss: end the packet before it, so that the header of the next one has
 * the count.  If the count is unknown, skip a packet number.  A loss before the first event
 * ends an empty packet, from whose time on events are missing.  Of a ring whose beginning was
 * overwritten this packet is all: its number is 1, so readers see that earlier ones are missing.
 */
static int native_notice(struct kt_sink *s, const struct ktape_notice *n)
{
	struct stream *st;
	int err;

	/* No reader of ours reports such a loss. */
	if (n->ring >= KINDS || n->cpu >= KT_CPUS_MAX)
		return 0;
	st = stream_of(s->state, n->ring, n->cpu);
	if (!st)
		return -ENOMEM;
	/* The number of its first packet, 1, already says that earlier ones are missing. */
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN && n->continued)
		return 0;
	if (!st->open && !st->seq) { /* before the first event */
		st->late = n->reasons & KTAPE_NOTICE_OVERWRITTEN;
		st->seq = st->late;
		st->ts = kt_max(st->ts, n->from);
		st->event_ts = st->ts;
		err = open_packet(s, st, n->ring, n->cpu, NULL, 0);
		if (err)
			return err;
	}
	err = write_packet(s, st, st->ts);
	if (n->reasons & KTAPE_NOTICE_OVERWRITTEN)
		return err;
	st->discarded += n->count;
	st->seq += n->count ? 0 : 1;
	st->loss_pending = true;
	st->lost_to = n->to;
	return err;
}

/* End a stream.  An empty packet reports losses after the last event. */
static int end_stream(struct kt_sink *s, struct stream *st, unsigned int kind,
		      uint32_t cpu)
{
	int err = write_packet(s, st, st->ts);

	if (err || !st->loss_pending)
		return err;
	err = open_packet(s, st, kind, cpu, NULL, 0);
	return err ? err : write_packet(s, st, kt_max(st->ts, st->lost_to));
}

/*
 * End the packets that have records, so that a reader of the growing trace gets them.
 * The registry, the last kind, goes first: names stand before the events that refer to them.
 */
static int native_flush(struct kt_sink *s)
{
	struct native *n = s->state;
	int err = 0;

	for (unsigned int kind = KINDS; kind-- && !err;) {
		for (size_t cpu = 0; cpu < n->nr[kind] && !err; cpu++) {
			struct stream *st = &n->streams[kind][cpu];

			err = write_packet(s, st, st->ts);
		}
	}
	return err;
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

static int native_move(struct kt_sink *s, int folder)
{
	const struct native *n = s->state;

	return kt_ctf_move(n->ctf, folder);
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
	.extra = true,
	.entries = true,
	.own_files = true,
	.begin = native_begin,
	.event = native_event,
	.notice = native_notice,
	.end = native_end,
	.flush = native_flush,
	.is_staged = native_is_staged,
	.move = native_move,
	.close = native_close,
};
