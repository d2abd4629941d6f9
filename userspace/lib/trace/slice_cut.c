// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cut a trace into slices: find the time at which the next slice ends, and how far each
 * stream is read in it.
 *
 * That needs little of each record: its length and time, a change of the running thread,
 * and whether it is a name.  So one thread can cut for many that read.  It checks
 * everything that could make reading a slice depend on another one: damage, times that go
 * back, records that do not fit.  Before any of these a slice ends, and no further one
 * begins: ktape_trace_next() goes on there.
 */
#include "stream/decode.h"
#include "trace/slice.h"

/* Records that are not only counted: they change something, or may be bad. */
static const bool special[KTAPE_OPCODES] = {
	[0] = true,
	[KTAPE_EV_SCHED_SWITCH] = true,
	[KTAPE_EV_CONTEXT] = true,
	[KTAPE_EV_REGISTRY] = true,
	[KTAPE_TIME_EXTEND] = true,
};

/* Why scanning a stream has ended. */
enum stop {
	STOP_TIME, /* the next record is not before the end of the slice */
	STOP_FULL, /* the slice has enough of this stream */
	STOP_ODD,  /* what follows cannot be in a slice */
	STOP_END   /* the stream has ended */
};

/**
 * struct scan - a stream that is scanned
 * @sl: the slices
 * @c: its cursor, which moves
 * @data: the packet
 * @len: bytes of the packet
 * @word: first word of the record that comes next
 * @size: bytes of that record
 */
struct scan {
	const struct kt_slices *sl;
	struct kt_cursor *c;
	const uint8_t *data;
	uint64_t len;
	uint64_t word;
	uint64_t size;
};

static const struct kt_lane_slot *lane_slot_of(const struct kt_cursor *c,
					       uint64_t slot)
{
	return kt_lane_slot(c->s->lane, (unsigned int)(slot - c->passed));
}

/*
 * Read the head of the next record, without taking it: its word, size, and time.
 * Return: false if it is bad.
 */
static inline bool peek_record(struct scan *x)
{
	struct kt_spot *p = &x->c->then;
	const uint8_t *record = x->data + p->at;
	unsigned int opcode;

	x->word = kt_get64(record);
	x->size = kt_record_length(record, x->word, x->len - p->at);
	opcode = (uint8_t)(x->word >> KTAPE_OPCODE_SHIFT);
	if (!x->size || !opcode)
		return false;
	p->next = kt_record_time(p->ts, x->word);
	return opcode != KTAPE_TIME_EXTEND ||
	       kt_record_extend(p->ts, record, x->word, &p->next);
}

/*
 * Go to the next packet that has a record.  What kt_stream_load() would report, other than
 * losses that the header counts, cannot be in a slice.
 */
static KT_NOINLINE enum stop cut_next_packet(struct scan *x)
{
	const struct ktape_trace *t = x->sl->t;
	struct kt_cursor *c = x->c;
	struct kt_spot *p = &c->then;
	const struct kt_lane_slot *slot;
	struct ktape_packet packet;

	do {
		if (p->slot + 1 - c->passed >= c->s->lane->nr)
			return STOP_ODD;
		slot = lane_slot_of(c, p->slot + 1);
		if (slot->notices || slot->ret < 0 || (!slot->ret && t->missing))
			return STOP_ODD;
		p->slot++;
		if (!slot->ret) {
			p->ended = true;
			p->next = UINT64_MAX;
			return STOP_END;
		}
		if (kt_packet_begin(&packet, slot->data, slot->len,
				    t->info.uuid, NULL) ||
		    packet.truncated || packet.kind != c->s->kind ||
		    packet.cpu != c->s->cpu || packet.ts < p->ts)
			return STOP_ODD;
		p->at = KTAPE_BLOCK_HEADER;
		p->ts = packet.ts;
		p->fresh = true;
		x->data = slot->data;
		x->len = packet.content;
	} while (x->len == KTAPE_BLOCK_HEADER);
	return peek_record(x) ? STOP_TIME : STOP_ODD;
}

/* Note what a special record changes.  Return: false if it cannot be in a slice. */
static KT_NOINLINE bool take_special(struct scan *x)
{
	const uint8_t *args = x->data + x->c->then.at + 8;
	unsigned int opcode = (uint8_t)(x->word >> KTAPE_OPCODE_SHIFT);
	unsigned int nargs = (unsigned int)(x->word >> KTAPE_NARGS_SHIFT);
	unsigned int kind = x->c->s->kind;
	int32_t *tid = &x->c->then.tid;
	struct kt_switch *last = &x->c->then.last;

	if (opcode == KTAPE_TIME_EXTEND)
		return true;
	if (!kt_mask_has(x->sl->t->info.known, opcode) || kind == KTAPE_RING_REGISTRY)
		return true;
	if (opcode == KTAPE_EV_REGISTRY) {
		x->c->names += kind == KTAPE_RING_EVENT;
		return true;
	}
	/* Only event rings have switches; see kt_decoder_packet(). */
	if (kind != KTAPE_RING_EVENT)
		return false;
	if (opcode == KTAPE_EV_SCHED_SWITCH && nargs == 2) {
		*tid = (int32_t)kt_get32(args + 4);
		*last = (struct kt_switch){ (int32_t)kt_get32(args), *tid };
	} else if (opcode == KTAPE_EV_CONTEXT && nargs == 1) {
		*tid = (int32_t)kt_get32(args);
	}
	return true;
}

/* Take the record that comes next.  Return: false if it cannot be in a slice. */
static inline bool pass_cut_record(struct scan *x)
{
	struct kt_cursor *c = x->c;
	struct kt_spot *p = &c->then;

	if (p->fresh && c->s->kind == KTAPE_RING_EVENT)
		p->tid = kt_decoder_begin(x->data, p->tid);
	if (special[(uint8_t)(x->word >> KTAPE_OPCODE_SHIFT)] && !take_special(x))
		return false;
	c->records++;
	c->last = p->next;
	p->ts = p->next;
	p->at += x->size;
	p->fresh = false;
	return true;
}

/*
 * Take records that are only counted, as long as the next one is such a record of the same
 * packet, the time is before @until and the offset before @end.
 */
static inline void skim_records(struct scan *x, uint64_t until, uint64_t end)
{
	struct kt_spot *p = &x->c->then;
	const uint8_t *data = x->data;
	uint64_t at = p->at, ts = p->ts, now = p->next, size = x->size;
	uint64_t word = x->word, nr = 0;

	if (p->fresh || special[(uint8_t)(word >> KTAPE_OPCODE_SHIFT)])
		return;
	end = kt_min(end, x->len - size);
	while (now < until && at < end) {
		uint64_t next = kt_get64(data + at + size);
		uint64_t len = kt_align(8 + (next >> KTAPE_NARGS_SHIFT) * 4,
					KTAPE_RECORD_ALIGN);

		if (special[(uint8_t)(next >> KTAPE_OPCODE_SHIFT)] ||
		    next >> KTAPE_P_SHIFT & 1 || at + size + len >= x->len)
			break;
		at += size;
		size = len;
		word = next;
		ts = now;
		now = kt_record_time(now, next);
		nr++;
	}
	if (!nr)
		return;
	p->at = at;
	p->ts = ts;
	p->next = now;
	x->size = size;
	x->word = word;
	x->c->last = ts;
	x->c->records += nr;
}

/*
 * Move a cursor to its first record that is not before *@until, but over about @bytes at most.
 * If it comes to something that cannot be in a slice, set *@until to a time before that.
 */
static enum stop scan_stream(const struct kt_slices *sl, struct kt_cursor *c,
			     uint64_t *until, size_t bytes)
{
	struct scan x = { .sl = sl, .c = c };
	struct kt_spot *p = &c->then;
	const struct kt_lane_slot *slot;
	enum stop stop = STOP_TIME;
	uint64_t used = 0, from;

	*p = c->here;
	c->last = c->records = c->names = 0;
	if (p->ended)
		return STOP_END;
	slot = lane_slot_of(c, p->slot);
	x.data = slot->data;
	x.len = KT_HEAD64(x.data, content_bits) / 8;
	if (!peek_record(&x))
		stop = STOP_ODD;
	while (stop == STOP_TIME && p->next < *until) {
		if (used >= bytes || c->names == sl->max_names)
			return STOP_FULL;
		from = p->at;
		skim_records(&x, *until, from + kt_min(bytes - used, x.len));
		used += p->at - from;
		if (p->next >= *until)
			break;
		used += x.size;
		if (!pass_cut_record(&x)) {
			*until = p->next;
			return STOP_ODD;
		}
		if (p->at == x.len)
			stop = cut_next_packet(&x);
		else if (!peek_record(&x))
			stop = STOP_ODD;
	}
	/* Leave out the last record: its reader reads on and would find what comes next. */
	if (stop == STOP_ODD)
		*until = c->last;
	return stop;
}

/* Return the time before which the next slice has to end. */
static uint64_t limit_slice(const struct kt_slices *sl)
{
	const struct ktape_trace *t = sl->t;

	/* End before a loss that waits: it is reported before the first event after it. */
	return t->reported_losses < t->nr_losses ?
		       t->losses[t->reported_losses].at :
		       UINT64_MAX;
}

/*
 * Find the end of the next slice, and move the cursors there: to kt_cursor.then.
 * Return: the number of records in the slice; 0 = there cannot be one.
 */
uint64_t kt_slice_cut(struct kt_slices *sl)
{
	uint64_t until, records = 0;

	if (sl->t->far_freq != sl->t->info.freq)
		kt_far_set(sl->t);
	/* Times that do not fit in ns are reported once (far.c), so they are in no slice. */
	until = kt_min(limit_slice(sl), sl->t->far_from);

	for (size_t i = 0; i < sl->nr; i++) {
		struct kt_cursor *c = &sl->cursors[(sl->leader + i) % sl->nr];
		/*
		 * The leader is scanned first and sets the end.  The limit of the others is higher:
		 * where one reaches it, the end moves and those before it are scanned again.
		 */
		size_t bytes = i ? sl->bytes * KT_SLICE_MORE : sl->bytes;
		enum stop stop = scan_stream(sl, c, &until, bytes);

		if (stop == STOP_FULL)
			until = kt_min(until, c->then.next);
		/* Scan it again below, up to the @until that is right for all streams. */
		if (stop == STOP_ODD)
			c->last = UINT64_MAX;
	}
	for (size_t i = 0; i < sl->nr; i++) {
		struct kt_cursor *c = &sl->cursors[i];

		if (c->last >= until &&
		    scan_stream(sl, c, &until, SIZE_MAX) == STOP_ODD)
			return 0;
		records += c->records;
	}
	return records;
}

static int add_content(struct kt_slice *slice, const struct kt_lane_slot *slot)
{
	size_t max = slice->max_contents ? slice->max_contents * 2 : 16;
	struct kt_content *more;

	if (slice->nr_contents == slice->max_contents) {
		more = realloc(slice->contents, max * sizeof(*more));
		if (!more)
			return -ENOMEM;
		slice->contents = more;
		slice->max_contents = max;
	}
	slice->contents[slice->nr_contents++] =
		(struct kt_content){ slot->data, slot->len, slot->offset };
	return 0;
}

/* Add the records of one stream.  Return: 0 or -ENOMEM. */
static int add_share(struct kt_slices *sl, struct kt_slice *slice,
		     struct kt_cursor *c)
{
	struct kt_share *share = &slice->shares[slice->nr_shares++];
	uint64_t end = c->then.slot + !c->then.ended;
	int err = 0;

	*share = (struct kt_share){
		.cursor = c,
		.from = c->here,
		.to = c->then.slot,
		.tid = sl->t->decoder->tid[c->s->cpu],
		.last = sl->t->decoder->last[c->s->cpu],
		.first = slice->nr_contents,
	};
	for (uint64_t i = c->here.slot; i < end && !err; i++)
		err = add_content(slice, lane_slot_of(c, i));
	share->nr = slice->nr_contents - share->first;
	if (!err && !c->then.ended)
		slice->contents[slice->nr_contents - 1].len = c->then.at;
	return err;
}

/* Describe the slice that was cut for its reader.  Return: 0 or -ENOMEM. */
int kt_slice_build(struct kt_slices *sl, struct kt_slice *slice)
{
	int err = 0;

	slice->error = 0;
	slice->nr_shares = 0;
	slice->nr_contents = 0;
	slice->nr_notices = 0;
	slice->first_name = sl->nr_names;
	for (size_t i = 0; i < sl->nr && !err; i++)
		if (sl->cursors[i].records)
			err = add_share(sl, slice, &sl->cursors[i]);
	if (!err)
		err = kt_names_collect(sl);
	slice->end_name = sl->nr_names;
	return err;
}
