/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read a rig's ring (rig.h) by the protocol of uapi/ktape/abi.h and check every byte
 * of it.
 */
#ifndef _READER_H
#define _READER_H

#include "rig.h"

/**
 * struct reader - a position in a ring and what was read so far
 * @rig: the ring; the reader uses its control page and blocks only
 * @position: where the next record is read
 * @commit: newest commit seen
 * @time: time of the last record, 64 bits
 * @block: position of the last block whose header was read
 * @strict: a skipped number is an error
 * @known: per context: @next is valid
 * @next: per context: expected number of the next record
 * @end: closing members of the last closed block
 * @records: number of records read and accepted
 * @missing: number of skipped record numbers
 * @skipped: bytes overwritten before they were read
 * @rejected: copies discarded because tail had passed them when it was loaded again
 * @extends: number of time extensions
 * @steps: the clock may be set back: accept a low half that stands still
 * @closed: number of checked closing members
 * @on_record: called for each accepted record, or NULL
 * @arg: argument of @on_record
 * @copy: copy of one block
 * @error: first error, empty = none
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
