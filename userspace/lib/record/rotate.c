// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Flush a recording, and continue a log in its next piece.
 *
 * A piece ends at the end of a block in each ring, so that the header of the next
 * piece's first block names the running thread.  All rings of a piece should end at one
 * moment, when the kernel closed their open blocks: then the markers and ledgers in the
 * control rings are about the events of the same piece.  If a ring was too full for that,
 * or went on before its position was noted, it is read and the blocks are closed again.
 *
 * The next piece must be readable on its own.  It begins with the session state that
 * earlier control records announced and with all names.  Each stream begins with an
 * empty packet that has the sequence number of the stream's last packet in the earlier
 * piece.  So events lost in between are counted once, in the next packet.
 */
#include "record/internal.h"

#define MOMENTS		10	/* most times that blocks are closed for one piece */

static void note_positions(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++)
		rec->outs[i].goal =
			kt_ring_commit(kt_reader_ring(rec->reader, i));
}

/* Close open blocks if the mode allows it, and note the commit positions as goals. */
static bool set_goals(struct ktape_recorder *rec)
{
	bool closed = !ktape_device_flush(rec->device);

	note_positions(rec);
	return closed;
}

/*
 * As set_goals().  Return: whether all closed blocks before the goals were closed at one
 * moment.  A ring that closed two blocks meanwhile may have closed one of them by itself.
 */
static bool set_goals_at_once(struct ktape_recorder *rec)
{
	bool closed;

	note_positions(rec);
	closed = !ktape_device_flush(rec->device);
	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		uint64_t before = kt_max(rec->outs[i].goal, 1) - 1;
		uint64_t now = kt_ring_commit(r);

		rec->outs[i].goal = now;
		closed &= now <= before - before % r->block_size + 2 * r->block_size;
	}
	return closed;
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

/* Write all closed blocks up to the goals. */
static void write_to_goals(struct ktape_recorder *rec)
{
	while (!rec->error && is_behind(rec))
		kt_record_step(rec);
	kt_record_settle(rec);
}

/* Write the parts of open blocks up to the goals. */
static void write_parts(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs && !rec->error; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		int64_t len = 1;

		while (len > 0 && r->pos < rec->outs[i].goal)
			len = kt_record_copy(rec, i, KTAPE_READ_OPEN);
		if (len < 0)
			kt_record_fail(rec, (int)len);
	}
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
	if (!rec->error && rec->ctf)
		err = kt_ctf_sync(rec->ctf);
	return rec->error ? rec->error : err;
}

/*
 * Write an empty packet for each stream that began in an earlier piece.  Its thread is -1:
 * the checker tells it by that from the empty packet before a ring that was overwritten.
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

		r->reported_before = r->reported;
		rec->outs[i].file = NULL;
		if (!r->ts)
			continue;
		memcpy(head.uuid, ktape_device_features(rec->device)->uuid, 16);
		ktape_build_begin(&b, packet, sizeof(packet), &head);
		ktape_build_end(&b, r->ts, 0);
		err = ktape_ctf_append(rec->ctf, packet, sizeof(packet));
	}
	return err;
}

/* Finish the current piece.  Return: 0 or negative errno. */
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

int ktape_recorder_rotate(struct ktape_recorder *recorder, const char *path)
{
	struct ktape_recorder *rec = recorder;
	unsigned int moments = MOMENTS;
	struct ktape_ctf *next;
	bool at_once;
	int err;

	if (!rec->ctf || !(rec->flags & KTAPE_RECORD_PIECES))
		return -EINVAL;
	err = kt_record_create(rec, path, &next);
	if (err)
		return err;
	do {
		at_once = set_goals_at_once(rec);
		write_to_goals(rec);
	} while (!at_once && !rec->error && --moments);
	if (!rec->error)
		end_piece(rec);
	if (rec->error) {
		kt_ctf_discard(next);
		return rec->error;
	}
	rec->ctf = next;
	rec->piece_records = kt_record_count(rec);
	err = kt_record_restate(rec);
	if (!err)
		err = begin_streams(rec);
	if (err)
		kt_record_fail(rec, err);
	return err;
}
