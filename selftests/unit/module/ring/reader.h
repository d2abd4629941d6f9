/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reader of a rig's ring by the protocol of uapi/ktape/abi.h, which judges
 * every byte that it accepts.
 */
#ifndef _READER_H
#define _READER_H

#include "rig.h"

/**
 * struct reader - a cursor and what was seen
 * @rig: the ring; the reader looks at its control page and blocks only
 * @position: cursor
 * @commit: the newest that was seen
 * @time: of the last record, all 64 bits
 * @block: position of the last block whose header was seen
 * @strict: a number that is passed over is an error
 * @known: for each context, @next is valid
 * @next: for each context, number of the record that is expected
 * @end: of the last closed block: where it ended and what it told then
 * @records: read and accepted
 * @missing: numbers that were passed over
 * @skipped: blocks' worth of bytes that were overwritten before they were read
 * @rejected: copies thrown away at the second look at tail
 * @extends: time extensions seen
 * @steps: the clock is set back: a lower half that goes back is held
 * @closed: closing members checked
 * @on_record: called for each accepted record, or NULL
 * @arg: for @on_record
 * @copy: of one block
 * @error: the first thing that was wrong, or empty
 */
struct reader {
	const struct rig *rig;
	u64 position;
	u64 commit;
	u64 time;
	u64 block;
	bool strict;
	bool steps;
	bool known[RIG_CONTEXTS];
	u32 next[RIG_CONTEXTS];
	struct {
		u64 position;
		u64 time;
		u64 emitted;
		u64 discarded;
	} end;
	u64 records;
	u64 missing;
	u64 skipped;
	u64 rejected;
	u64 extends;
	u64 closed;
	void (*on_record)(struct reader *rd, const u32 *rec, u64 time);
	void *arg;
	unsigned char *copy;
	char error[200];
};

void reader_start(struct reader *rd, const struct rig *rig);
void reader_free(struct reader *rd);
bool reader_poll(struct reader *rd);
bool reader_walk(struct reader *rd);

#endif /* _READER_H */
