// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Flush a recording, and continue a log in its next piece.
 *
 * A piece ends at the end of a block in each ring, so that the header of the next
 * piece's first block names the running thread.  The blocks are closed by one flush: then
 * the markers and ledgers in the control rings are about the events of the same piece.  If
 * a ring was too full for that, or closed a block itself before its position was noted, it
 * is read and the blocks are closed again, a few times.  A session that is stopped closes
 * no block: its rings are read to their ends.  The rings of a CPU that came online since
 * the last check are among them, because the others have no markers for a later piece.
 *
 * The next piece must be readable on its own.  It begins with the session state that
 * earlier control records announced and with all names.  Each stream begins with an
 * empty packet that has the sequence number of the stream's last packet in the earlier
 * piece.  So events lost in between are counted once, in the next packet.
 */
#include "record/internal.h"

#define FLUSHES_MAX 5 /* for one piece */

static void note_positions(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		rec->outs[i].goal = kt_ring_commit(kt_reader_ring(rec->reader, i));
}

/*
 * Look for the rings of CPUs that came online, and make their positions goals as well.
 * Return: whether there are any.
 */
static bool find_rings(struct ktape_recorder *rec)
{
	unsigned int known = rec->nr_outs;
	int err = kt_record_refresh(rec);

	if (err)
		kt_record_fail(rec, err);
	for (unsigned int i = known; i < rec->nr_outs; i++)
		rec->outs[i].goal = kt_ring_commit(kt_reader_ring(rec->reader, i));
	return rec->nr_outs > known;
}

/*
 * Close open blocks, and note the commit positions as goals.
 * Return: false if the blocks stay open, because the mode has no flush or the flush failed.
 */
static bool set_goals(struct ktape_recorder *rec)
{
	bool closed = !ktape_device_flush(rec->device);

	note_positions(rec);
	find_rings(rec);
	return closed;
}

/*
 * Return the number of blocks that were closed between two positions.  A block that is full to its
 * end is not closed yet, so the position there counts as in it.
 */
static uint64_t count_closed(const struct kt_ring *r, uint64_t from, uint64_t to)
{
	return (kt_max(to, 1) - 1) / r->block_size -
	       (kt_max(from, 1) - 1) / r->block_size;
}

/* Return whether the block at a position has no record: a flush does not close it. */
static bool is_block_empty(const struct kt_ring *r, uint64_t position)
{
	return !position || position % r->block_size == KTAPE_BLOCK_HEADER;
}

/*
 * Make the positions after a flush the goals, which are those before it.
 * Return: whether the flush has closed all blocks that were closed meanwhile.  It closes at
 * most one block of a ring, and none without records.  If it closes one of an event ring,
 * it has written a ledger to the control ring of the CPU, and closes a block there, too.
 * If the profile has a run-time probe, it has written to each control ring how many hits
 * were missed, so that also a block without records before is closed.
 */
static bool take_positions(struct ktape_recorder *rec)
{
	const struct kt_ring *events = NULL; /* the ring before, if it had records */
	uint64_t of_events = 0;
	bool same = true;

	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		uint64_t before = rec->outs[i].goal, now = kt_ring_commit(r);
		uint64_t closed = count_closed(r, before, now);
		bool empty = is_block_empty(r, before);

		rec->outs[i].goal = now;
		/* Neither is closed if the CPU is offline. */
		if (r->kind != KTAPE_RING_CONTROL)
			same &= closed <= !empty;
		else if (events && events->cpu == r->cpu)
			same &= closed == of_events;
		else
			same &= closed <= 1;
		of_events = closed;
		events = r->kind == KTAPE_RING_EVENT && !empty ? r : NULL;
	}
	return same;
}

static bool is_rotation_stopped(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		if (!kt_ring_is_stopped(kt_reader_ring(rec->reader, i)))
			return false;
	return true;
}

/* Check whether closed blocks before the goals are still to be read. */
static bool is_behind(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		uint64_t goal = rec->outs[i].goal;

		/* The block that contains the goal was open when the goal was set. */
		goal = goal ? goal - 1 : 0;
		if (r->pos < goal - goal % r->block_size)
			return true;
	}
	return false;
}

/* Read nothing behind the goals, or everything again. */
static void cap_rings(struct ktape_recorder *rec, bool capped)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		struct kt_ring *r = kt_reader_ring(rec->reader, i);

		r->capped = capped;
		r->cap = rec->outs[i].goal;
	}
}

/* Write all closed blocks up to the goals, and no others. */
static void write_to_goals(struct ktape_recorder *rec)
{
	cap_rings(rec, true);
	while (!rec->error && is_behind(rec))
		kt_record_step(rec);
	kt_record_settle(rec);
	cap_rings(rec, false);
}

/* Write the parts of open blocks up to the goals. */
static void write_parts(struct ktape_recorder *rec)
{
	cap_rings(rec, true);
	for (unsigned int i = 0; i < rec->nr_outs && !rec->error; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		int64_t len = 1;

		while (len > 0 && r->pos < rec->outs[i].goal)
			len = kt_record_copy(rec, i, KTAPE_READ_OPEN);
		if (len < 0)
			kt_record_fail(rec, (int)len);
	}
	cap_rings(rec, false);
}

/* If the rings were taken away, the recording has failed, whatever was not read. */
static void check_rotated_rings(struct ktape_recorder *rec)
{
	if (kt_reader_is_gone(rec->reader))
		kt_record_fail(rec, -ESTALE);
}

int ktape_recorder_flush(struct ktape_recorder *recorder)
{
	struct ktape_recorder *rec = recorder;
	bool closed;
	int err = 0;

	closed = set_goals(rec);
	write_to_goals(rec);
	if (!closed)
		write_parts(rec);
	check_rotated_rings(rec);
	if (!rec->error && rec->ctf)
		err = kt_ctf_sync(rec->ctf);
	return rec->error ? rec->error : err;
}

/*
 * Continue the counters of the last packet, so that the events of the next one can be
 * counted.  Not if that was an open block, whose counters may be ahead of its records.  All are
 * of that one packet (@last_emitted): an earlier open one may have counted more than it
 * (@seen_emitted).
 */
static void continue_counts(const struct kt_ring *r, uint8_t *packet)
{
	size_t at = offsetof(struct ktape_block, lost);

	if (!r->seen_closed)
		return;
	KT_HEAD_SET64(packet, emitted, r->last_emitted);
	KT_HEAD_SET64(packet, filtered, r->last_filtered);
	for (unsigned int i = 0; i < KTAPE_LOST_REASONS; i++, at += 8)
		kt_set64(packet + at, r->seen_lost_by[i]);
	ktape_packet_seal(packet);
}

/*
 * Write an empty packet for each stream that began in an earlier piece.  Its thread is -1: by that
 * a reader tells it from the empty packet before a ring whose beginning was overwritten.
 */
static int begin_streams(struct ktape_recorder *rec)
{
	uint8_t packet[KTAPE_BLOCK_HEADER];
	struct ktape_builder b;
	int err = 0;

	for (unsigned int i = 0; i < rec->nr_outs && !err; i++) {
		struct kt_ring *r = kt_reader_ring(rec->reader, i);
		struct ktape_block head = {
			.context = KTAPE_CTX_CONTINUED,
			.tid = -1,
			.seq = r->seq - 1,
			.cpu = r->cpu,
			.kind = r->kind,
			.ts_begin = r->ts,
		};

		/* Packets of a piece do not count losses that earlier pieces have reported. */
		r->reported_before = r->reported;
		rec->outs[i].file = NULL;
		/* It has no packet so far. */
		if (!r->ts)
			continue;
		memcpy(head.uuid, ktape_device_features(rec->device)->uuid, 16);
		ktape_build_begin(&b, packet, sizeof(packet), &head);
		ktape_build_end(&b, r->ts, 0);
		continue_counts(r, packet);
		err = ktape_ctf_append(rec->ctf, packet, sizeof(packet));
	}
	return err;
}

/* Finish the current piece. */
static void end_piece(struct ktape_recorder *rec)
{
	int err;

	kt_record_last_names(rec);
	err = kt_record_redescribe(rec);
	if (err)
		kt_record_fail(rec, err);
	err = ktape_ctf_close(rec->ctf);
	rec->ctf = NULL;
	if (err)
		kt_record_fail(rec, err);
}

/* Return a sum that changes when the session has more room for records. */
static uint64_t sum_of_consumed(struct ktape_recorder *rec)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < rec->nr_outs; i++)
		sum += kt_ring_consumed(kt_reader_ring(rec->reader, i));
	return sum;
}

/*
 * Write everything of a stopped session, whose counts are exact: also how much was cleared
 * unread, which no closed block shows.  Return: false if it was started meanwhile.
 */
static bool write_to_ends(struct ktape_recorder *rec)
{
	bool stopped;

	for (unsigned int i = 0; i < rec->nr_outs; i++)
		kt_ring_end_here(kt_reader_ring(rec->reader, i));
	stopped = is_rotation_stopped(rec);
	if (stopped)
		kt_record_to_ends(rec, true);
	/* The log goes on, behind the ends of kt_ring_end_here(). */
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		kt_reader_ring(rec->reader, i)->limited = false;
	return stopped;
}

/*
 * Write what belongs to the current piece.  If its blocks cannot be closed by one flush in
 * FLUSHES_MAX tries, or the mode has no flush, it ends at the blocks that are closed.
 */
static void write_rest(struct ktape_recorder *rec)
{
	bool same, stopped;
	uint64_t consumed;
	int err;

	for (unsigned int i = 0; i < FLUSHES_MAX; i++) {
		note_positions(rec);
		err = ktape_device_flush(rec->device);
		/* It may have been stopped since: a flush and a stop exclude each other. */
		stopped = is_rotation_stopped(rec);
		/* Soon after it: a block that is closed in between takes another flush. */
		same = take_positions(rec);
		/*
		 * After the check for the stop: then no ring that is new later has records.
		 * It is not known which blocks of a new ring the flush has closed.
		 */
		if (find_rings(rec))
			same = false;
		if (stopped && write_to_ends(rec))
			return;
		if (stopped)
			continue;
		consumed = sum_of_consumed(rec);
		write_to_goals(rec);
		if (rec->error || (!err && same))
			return;
		/* Another consumer may hold the ring, or the mode has no flush. */
		if (err && (err != -EAGAIN || sum_of_consumed(rec) == consumed))
			return;
	}
}

int ktape_recorder_rotate(struct ktape_recorder *recorder, const char *path)
{
	struct ktape_recorder *rec = recorder;
	struct ktape_ctf *next;
	int err;

	if (!rec->ctf || !(rec->flags & KTAPE_RECORD_PIECES))
		return -EINVAL;
	err = kt_record_create(rec, path, &next);
	if (err)
		return err;
	write_rest(rec);
	check_rotated_rings(rec);
	if (!rec->error)
		end_piece(rec);
	if (rec->error) {
		kt_ctf_discard(next);
		return rec->error;
	}
	rec->ctf = next;
	rec->piece_records = kt_record_count(rec);
	err = kt_record_restate(rec);
	/* Its CPUs were listed before the last check for new ones; its end tries again. */
	kt_record_redescribe(rec);
	if (!err)
		err = begin_streams(rec);
	if (!err)
		err = kt_record_restate_cgroups(rec);
	if (err)
		kt_record_fail(rec, err);
	return err;
}
