// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A log in pieces: everything so far onto the disk, and on with the next piece.
 *
 * A piece ends at a block's end in each ring, so that the head of the first
 * block of the next one tells which thread ran; but where only open blocks had
 * something, and cannot be closed, it ends within them.  What control records of
 * earlier pieces have put in force, and all names, are said again at its
 * beginning.  Each stream begins with an empty packet that has the number of
 * the last one before it: what was lost in between is told once, by the first
 * packet behind it.
 */
#include "record/internal.h"

/* Where rings are now.  Their open blocks are closed, if the mode can that. */
static bool set_goals(struct ktape_recorder *rec)
{
	bool closed = !ktape_device_flush(rec->device);

	for (unsigned int i = 0; i < rec->nr_outs; i++)
		rec->outs[i].goal =
			kt_ring_commit(kt_reader_ring(rec->reader, i));
	return closed;
}

/* Are there closed blocks before the goal that were not taken? */
static bool is_behind(struct ktape_recorder *rec)
{
	for (unsigned int i = 0; i < rec->nr_outs; i++) {
		const struct kt_ring *r = kt_reader_ring(rec->reader, i);
		uint64_t goal = rec->outs[i].goal;

		/* The block that has the goal is open, or was then. */
		goal = goal ? goal - 1 : 0;
		if (r->pos < goal - goal % r->block_size)
			return true;
	}
	return false;
}

/* Take all closed blocks up to the goals, and see them written. */
static void bring_in(struct ktape_recorder *rec)
{
	while (!rec->error && is_behind(rec))
		kt_record_step(rec);
	kt_record_settle(rec);
}

/* What open blocks hold. */
static void take_parts(struct ktape_recorder *rec)
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
	bring_in(rec);
	if (!closed)
		take_parts(rec);
	if (!rec->error && rec->ctf)
		err = kt_ctf_sync(rec->ctf);
	return rec->error ? rec->error : err;
}

/* An empty packet in front of each stream that has begun in an earlier piece. */
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

		r->told_before = r->told;
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

/* The piece that is being written ends.  Return: 0 or negative errno. */
static int end_piece(struct ktape_recorder *rec)
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
	return rec->error;
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
	set_goals(rec);
	bring_in(rec);
	if (!rec->error)
		err = end_piece(rec);
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
