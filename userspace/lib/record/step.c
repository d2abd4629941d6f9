// SPDX-License-Identifier: LGPL-2.1-or-later
/* A step of the recorder: write what is ready, and report how far each ring was written. */
#include "record/internal.h"

/*
 * Check whether the packets of a ring must be copied into a trace: for compression, for a
 * pipe-form file, and control records of a log, because their state is tracked.  Into a pipe
 * (without @rec->ctf) all are copied.
 */
static bool must_copy(const struct ktape_recorder *rec, unsigned int ring)
{
	const struct kt_ring *r = kt_reader_ring(rec->reader, ring);

	return rec->flags & (KTAPE_RECORD_FILE | KTAPE_RECORD_ZSTD) ||
	       (rec->flags & KTAPE_RECORD_PIECES && r->kind == KTAPE_RING_CONTROL);
}

/*
 * Copy the closed blocks of a ring.  If @parts is set, also copy the published part
 * of the open block.  The loop is bounded, because writing causes new events.
 */
static void drain_copies(struct ktape_recorder *rec, unsigned int ring)
{
	struct kt_ring *r = kt_reader_ring(rec->reader, ring);
	uint64_t blocks = r->data_size / r->block_size;
	int64_t len = 1;

	for (; len > 0 && blocks; blocks--) {
		len = kt_record_copy(rec, ring, 0);
		rec->progress |= len > 0;
	}
	if (!len && rec->parts)
		len = kt_record_copy(rec, ring, KTAPE_READ_OPEN);
	/* Of an open block only a part was read: the session must not reuse it yet. */
	rec->outs[ring].position = r->pos - r->pos % r->block_size;
	if (len < 0)
		kt_record_fail(rec, (int)len);
}

static bool has_moved(const struct kt_out *out)
{
	return (int64_t)(out->position - out->reported) > 0;
}

static void set_reported(struct kt_out *out)
{
	out->reported = out->position;
}

/* Report positions one by one, because one refused position fails the whole call. */
static void report_each(struct ktape_recorder *rec)
{
	const struct ktape_position *p = rec->positions;

	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		if (has_moved(&rec->outs[i]) &&
		    !ktape_device_position(rec->device, p++, 1))
			set_reported(&rec->outs[i]);
	}
}

/*
 * Report to the session up to which position each ring was written, so that the session
 * can reuse the blocks.  The session refuses a position if it has already moved this
 * consumer beyond it.  The next step that writes data reports a later position.
 */
void kt_record_report(struct ktape_recorder *rec)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		const struct kt_out *out = &rec->outs[i];

		if (!has_moved(out))
			continue;
		rec->positions[nr].cpu = r->cpu;
		rec->positions[nr].kind = r->kind;
		rec->positions[nr++].position = out->position;
	}
	if (!nr)
		return;
	if (ktape_device_position(rec->device, rec->positions, nr)) {
		report_each(rec);
		return;
	}
	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		if (has_moved(&rec->outs[i]))
			set_reported(&rec->outs[i]);
	}
}

/* Do kt_record_step().  @wait: milliseconds to wait for a write, if nothing is ready. */
static void record_step(struct ktape_recorder *rec, unsigned int wait)
{
	rec->progress = false;
	for (unsigned int i = 0; i < rec->nr_outs && !rec->error; i++) {
		if (rec->ctf && !must_copy(rec, i))
			kt_record_drain(rec, i);
		else
			drain_copies(rec, i);
	}
	rec->parts = false;
	kt_queue_reap(&rec->queue, rec->progress ? 0 : wait);
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		kt_record_complete(rec, i);
	kt_record_report(rec);
}

/* Begin writing the blocks that are ready, and complete finished writes. */
void kt_record_step(struct ktape_recorder *rec)
{
	record_step(rec, KT_REAP_MS);
}

/* The same without waiting, in the middle of something else. */
void kt_record_poll(struct ktape_recorder *rec)
{
	record_step(rec, 0);
}

/* Wait for all writes in flight, and complete them. */
void kt_record_settle(struct ktape_recorder *rec)
{
	while (rec->queue.in_flight)
		kt_queue_reap(&rec->queue, KT_REAP_MS);
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		kt_record_complete(rec, i);
	kt_record_report(rec);
}
