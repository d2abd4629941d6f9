// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test full rings: discard mode sheds the least important classes first, and a
 * snapshot ends at one moment and is cut there.
 *
 * The rig is a ring with its memory, and a writer whose records are numbered in each context, so
 * that the reader finds any that is missing or damaged.
 */
#include "reader.h"
#include "tap.h"

#define BLOCK_SIZE 4096UL
#define BLOCKS	   16
#define SIZE	   (BLOCK_SIZE * BLOCKS)
#define TURN	   (1ULL << 32) /* range of the clock's low half */

/* Contexts of the rig, by priority of their classes: events of NEVER are never shed. */
enum { NEVER = 0, PRIORITY1 = 2, PRIORITY0 = 3 };

/* A class may pass its mark by so many bytes: the header of a block, and some records. */
#define MARK_SLACK (KTAPE_BLOCK_HEADER + 64)

static struct rig rig;
static struct reader reader;

static void begin_full_ring(unsigned int mode, unsigned long start)
{
	kt_shim_time = 1000;
	rig_again(&rig, mode, start);
	reader_start(&reader, &rig);
	rig.ring.shed_at[0] = SIZE / 4 * 3;
	rig.ring.shed_at[1] = SIZE / 8 * 7;
}

static void emit_in_context(unsigned int context, unsigned int number)
{
	while (number--) {
		kt_shim_time++;
		rig_emit(&rig, context, 1);
	}
}

static u64 shed(unsigned int context)
{
	return rig.page->lost[KTAPE_LOST_SHED][rig_class(context)];
}

static void check_full_settled(void)
{
	check(reader_poll(&reader), "%s", reader.error);
	check_equal((unsigned long)rig.page->commit, rig.ring.write);
	check_equal((unsigned long)reader.position, rig.ring.write);
	check_equal(kt_ring_emitted(rig.page), rig_written(&rig));
	check_equal(reader.records + rig_lost(&rig), rig_written(&rig));
	check(rig_guards_hold(&rig), "written outside the blocks");
}

/* Each class stops at its mark, and its events are counted as shed. */
static void test_shed(void)
{
	unsigned int mix;

	begin_full_ring(KTAPE_MODE_DISCARD, 0);
	for (mix = 0; mix < 9000; mix++) {
		emit_in_context(PRIORITY0, 1);
		if (shed(PRIORITY0) == 1 && !tap_why[0])
			check(rig.ring.write > SIZE / 4 * 3 &&
				      rig.ring.write <= SIZE / 4 * 3 + MARK_SLACK,
			      "priority 0 went at %lu", rig.ring.write);
		emit_in_context(PRIORITY1, 1);
		emit_in_context(NEVER, 1);
	}
	check(shed(PRIORITY0) > shed(PRIORITY1),
	      "the least important class is not shed first");
	check(shed(PRIORITY1) > 0, "priority 1 was not shed");
	check_equal(shed(NEVER), 0);
	check_equal(rig.page->commit, SIZE);
	check_equal(kt_ring_lost(rig.page, KTAPE_LOST_FULL),
		    rig.page->lost[KTAPE_LOST_FULL][rig_class(NEVER)]);
	check(kt_ring_lost(rig.page, KTAPE_LOST_FULL) > 0, "it was not full");
	check_full_settled();
}

/* A class alone reaches its own mark and no further. */
static void test_shed_marks(void)
{
	static const struct {
		unsigned int context;
		unsigned long most;
	} marks[] = {
		{ PRIORITY0, SIZE / 4 * 3 },
		{ PRIORITY1, SIZE / 8 * 7 },
		{ NEVER, SIZE },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		begin_full_ring(KTAPE_MODE_DISCARD, 0);
		emit_in_context(marks[i].context, 6000);
		check(rig.page->commit >= marks[i].most &&
			      rig.page->commit <= marks[i].most + MARK_SLACK,
		      "priority %u ends at %llu", i, rig.page->commit);
		/* NEVER is lost because the ring is full. */
		check(shed(marks[i].context) == rig_lost(&rig) ||
			      marks[i].context == NEVER,
		      "lost for another reason");
		check_full_settled();
	}
}

/* When readers catch up, nothing is shed and the fast path is used again. */
static void test_shed_ends(void)
{
	u64 lost;
	unsigned int round;

	begin_full_ring(KTAPE_MODE_DISCARD, 0);
	for (round = 0; round < 20; round++) {
		emit_in_context(PRIORITY0, 6000);
		lost = rig_lost(&rig);
		check(lost > 0, "nothing was shed in round %u", round);
		check(reader_poll(&reader), "%s", reader.error);
		rig.page->consumer = reader.position & ~(BLOCK_SIZE - 1);
		emit_in_context(PRIORITY0, 100);
		check_equal(rig_lost(&rig), lost);
		check(rig.ring.desc != &rig.ring.stop, "still guarded");
	}
	check_full_settled();
}

/*
 * After a loss no small record may go into the rest of the block: if a lost
 * switch did not fit there, the record would be attributed to the thread before
 * the switch.
 */
static void test_full_parks(void)
{
	unsigned long write;
	u64 lost, opening;

	begin_full_ring(KTAPE_MODE_DISCARD, 0);
	rig.ring.shed_at[0] = ~0UL;
	rig.ring.shed_at[1] = ~0UL;
	do {
		kt_shim_time++;
		rig_emit(&rig, NEVER, 3);
	} while (!rig_lost(&rig));
	write = rig.ring.write;
	check(rig_room(&rig) >= 16, "no small record would fit");
	rig_emit(&rig, NEVER, 0);
	rig_emit(&rig, PRIORITY0, 1);
	rig_emit(&rig, NEVER, 4);
	check_equal(rig.ring.write, write);
	check_equal(rig_lost(&rig), 4);
	check(reader_poll(&reader), "%s", reader.error);
	rig.page->consumer = BLOCK_SIZE;
	opening = rig.opening;
	lost = rig_lost(&rig);
	rig_emit(&rig, NEVER, 0);
	check_equal(rig.opening, opening + 1);
	emit_in_context(NEVER, 10);
	check_equal(rig_lost(&rig), lost);
	check(rig.ring.desc != &rig.ring.stop, "still parked");
	check_full_settled();
}

/* The last free block of a control ring is reserved for the end of a recording. */
static void test_full_reserve(void)
{
	static const u32 modes[] = { KTAPE_MODE_DISCARD, KTAPE_MODE_SNAPSHOT };
	const struct kt_record ledger = { .code = KTAPE_EV_LEDGER };
	unsigned int i, n;
	u64 lost;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		begin_full_ring(modes[i], 0);
		rig.ring.kind = KTAPE_RING_CONTROL;
		rig.ring.shed_at[0] = ~0UL;
		rig.ring.shed_at[1] = ~0UL;
		emit_in_context(NEVER, 6000);
		lost = rig_lost(&rig);
		check(lost > 0, "it was not full");
		check(rig.ring.write <= SIZE - BLOCK_SIZE,
		      "exceptions took the reserve: %lu", rig.ring.write);
		check_equal(rig.filled, 0);
		/* Records of a START, or of a profile that changes repeatedly. */
		kt_ring_write(&rig.ring, &ledger);
		check_equal(rig_lost(&rig), ++lost);
		/* A flush opens the last block, and no other record may use it. */
		kt_ring_flush(&rig.ring);
		check(rig.ring.write > SIZE - BLOCK_SIZE, "no flush");
		emit_in_context(NEVER, 1);
		kt_ring_write(&rig.ring, &ledger);
		lost += 2;
		check_equal(rig_lost(&rig), lost);
		rig.ring.ending = true;
		/* 8 bytes each, enough to fill a block. */
		for (n = 0; n < (BLOCK_SIZE - KTAPE_BLOCK_HEADER) / 8; n++)
			kt_ring_write(&rig.ring, &ledger);
		check_equal(rig_lost(&rig), lost);
		emit_in_context(NEVER, 1);
		check_equal(rig_lost(&rig), lost + 1);
	}
}

/* There is no mark when shedding is off, nor in other modes. */
static void test_shed_never(void)
{
	begin_full_ring(KTAPE_MODE_OVERWRITE, 0);
	emit_in_context(PRIORITY0, 20000);
	check_equal(rig_lost(&rig), 0);
	check(rig.ring.desc != &rig.ring.stop, "overwrite is guarded");
	begin_full_ring(KTAPE_MODE_DISCARD, 0);
	rig.ring.shed_at[0] = ~0UL;
	rig.ring.shed_at[1] = ~0UL;
	emit_in_context(PRIORITY0, 20000);
	check_equal(kt_ring_lost(rig.page, KTAPE_LOST_SHED), 0);
	check_equal(rig.page->commit, SIZE);
	check_equal(rig.opening, BLOCKS);
	check_full_settled();
}

/* The remembered end of a loss must not be one from long ago. */
static void test_shed_old_end(void)
{
	begin_full_ring(KTAPE_MODE_DISCARD, 0);
	emit_in_context(PRIORITY0, 1000);
	/* As with 32-bit positions half a turn later. */
	rig.ring.stop.end = rig.ring.write + (1UL << (sizeof(long) * 8 - 2));
	emit_in_context(PRIORITY0, 6000);
	check(shed(PRIORITY0) > 0, "nothing was shed");
	check_full_settled();
}

/*
 * The first record without room sets the end; that record and all later ones
 * are not recorded, and count neither as emitted nor as lost.
 */
static void test_full_snapshot(void)
{
	u64 written, full;

	begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
	do {
		emit_in_context(NEVER, 1);
	} while (!rig.filled);
	full = kt_shim_time;
	check_equal(rig.ring.filling, KT_FILLED);
	check_equal(rig.ring.full, full);
	written = rig_written(&rig) - 1;
	check_equal(kt_ring_emitted(rig.page), written);
	emit_in_context(PRIORITY0, 500);
	check_equal(rig.ring.full, full);
	check_equal(rig_lost(&rig), 0);
	check_equal(kt_ring_emitted(rig.page), written);
	check_equal(rig.page->tail, 0);
	check_equal(rig.opening, BLOCKS);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.records, written);
	/* As if a nested context with a later time had set the end first. */
	rig.ring.full = kt_shim_time + 500;
	rig_emit(&rig, NEVER, 1);
	check_equal(rig.ring.full, kt_shim_time);
	/* As if an outer context were just storing its time. */
	rig.ring.filling = KT_FILLING;
	rig.ring.full = 7;
	emit_in_context(NEVER, 1);
	check_equal(rig.ring.full, 7);
}

/* CLEAR makes room: recording continues at the floor. */
static void test_snapshot_again(void)
{
	u64 commit;

	begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
	emit_in_context(NEVER, 1000);
	commit = rig.page->commit;
	rig.page->floor = commit;
	while (!rig.filled)
		emit_in_context(NEVER, 1);
	check(rig.page->commit >= commit + SIZE - 2 * BLOCK_SIZE,
	      "full at %llu", rig.page->commit);
	check(rig.page->commit <= commit + SIZE, "beyond the floor");
	check(rig.page->tail <= commit, "the snapshot was overwritten");
}

/* Cut off the last @number 16-byte records of context NEVER. */
static void cut_last_records(unsigned int number, unsigned long position)
{
	rig.seq[NEVER] -= number;
	rig.page->emitted[rig_class(NEVER)] -= number;
	kt_ring_halt(&rig.ring);
	kt_ring_cut(&rig.ring, position);
}

/* Records after a cut follow the remaining ones, in the same block or the next. */
static void test_full_cut(void)
{
	unsigned int before, gone;
	unsigned long position;

	for (before = 1; before < 600; before += 7) {
		for (gone = 0; gone < 600; gone += 67) {
			begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
			emit_in_context(NEVER, before);
			position = rig.ring.write;
			emit_in_context(NEVER, gone);
			cut_last_records(gone, position);
			check_equal(rig.page->commit, position);
			check_equal(rig.ring.write, position);
			emit_in_context(NEVER, 700);
			check_full_settled();
			check_equal(reader.records, before + 700);
		}
	}
}

/* A renewed ring continues at positions that no reader has seen. */
static void renewed_from(unsigned long start)
{
	unsigned long position, end;
	unsigned int gone;

	for (gone = 0; gone < 3000; gone += 271) {
		begin_full_ring(KTAPE_MODE_SNAPSHOT, start);
		/* The highest position before a cut: clears, not cuts, have led to @start. */
		rig.ring.above = 0;
		emit_in_context(NEVER, 100);
		position = rig.ring.write;
		emit_in_context(NEVER, gone);
		end = rig.ring.write;
		cut_last_records(gone, position);
		check_full_settled();
		kt_ring_renew(&rig.ring);
		check_equal(rig.ring.write,
			    gone ? ALIGN(end, BLOCK_SIZE) : position);
		check_equal((unsigned long)rig.page->commit, rig.ring.write);
		emit_in_context(NEVER, 700);
		check_full_settled();
		check_equal(reader.records, 800);
		check_equal(rig.filled, 0);
		kt_ring_renew(&rig.ring);
		emit_in_context(NEVER, 1);
		check_full_settled();
	}
}

static void test_cut_renewed(void)
{
	static const unsigned long starts[] = {
		0, SIZE, 1UL << 30, 0x90000000UL, 0xfffff000UL,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		renewed_from(starts[i]);
}

/* The cut removes a time extension: the next record writes another one. */
static void test_cut_extension(void)
{
	unsigned long position;

	begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
	emit_in_context(NEVER, 10);
	position = rig.ring.write;
	kt_shim_time += TURN;
	emit_in_context(NEVER, 1);
	cut_last_records(1, position);
	emit_in_context(NEVER, 1);
	check_full_settled();
	check_equal(reader.extends, 1);
	check_equal(reader.time, kt_shim_time);
}

/* Find the position of many moments in rings of every shape. */
static void test_cut_found(void)
{
	static u64 times[4096];
	unsigned int round, nr, kept, i;
	unsigned long oldest;
	struct kt_cut c;
	u64 moment, events;

	for (round = 0; round < 2000 && !tap_why[0]; round++) {
		begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
		nr = 1 + round * 37 % 3500;
		for (i = 0; i < nr; i++) {
			/*
			 * Several records with one time, some after a whole
			 * turn of the clock.
			 */
			kt_shim_time += (i * 7 + round) % 3;
			if ((i + round) % 997 == 5)
				kt_shim_time += TURN;
			times[i] = kt_shim_time;
			rig_emit(&rig, NEVER, 1);
		}
		check_equal(rig.filled, 0);
		moment = times[(u64)round * 7919 % nr] + round % 2;
		for (kept = 0; kept < nr && times[kept] < moment; kept++)
			;
		oldest = 0;
		memset(&c, 0, sizeof(c));
		kt_cut_begin(&c, &rig.ring, oldest, moment);
		while (kt_cut_step(&c))
			;
		for (events = 0, i = 0; i < KTAPE_OPCODES; i++)
			events += c.events[i];
		check_equal(events, nr - kept);
		check_equal(events, c.events[RIG_OPCODE + 1]);
		cut_last_records(nr - kept, c.position);
		check(reader_poll(&reader), "%s", reader.error);
		check_equal(reader.records, kept);
		check(!kept || reader.time < moment, "a later record is left");
		kt_shim_time += TURN * (round % 2);
		emit_in_context(NEVER, 300);
		check_full_settled();
		check_equal(reader.records, kept + 300);
	}
}

/* Cleared records are neither counted nor restored. */
static void test_cut_cleared(void)
{
	unsigned long floor;
	struct kt_cut c;
	u64 moment;

	begin_full_ring(KTAPE_MODE_SNAPSHOT, 0);
	emit_in_context(NEVER, 100);
	moment = kt_shim_time;
	emit_in_context(NEVER, 400);
	floor = rig.ring.write;
	emit_in_context(NEVER, 500);
	memset(&c, 0, sizeof(c));
	kt_cut_begin(&c, &rig.ring, floor, moment);
	while (kt_cut_step(&c))
		;
	check_equal(c.position, floor);
	check_equal(c.events[RIG_OPCODE + 1], 500);
}

static const struct tap_test tests[] = {
	{ "shed: the least important first", test_shed },
	{ "shed: each class to its mark", test_shed_marks },
	{ "shed: ends when readers catch up", test_shed_ends },
	{ "full: nothing fits after a loss", test_full_parks },
	{ "full: what the end of a recording needs", test_full_reserve },
	{ "shed: not in other modes, nor when off", test_shed_never },
	{ "shed: no end of long ago", test_shed_old_end },
	{ "snapshot: full once, at the earliest time", test_full_snapshot },
	{ "snapshot: room again after clearing", test_snapshot_again },
	{ "cut: records go on behind it", test_full_cut },
	{ "cut: renewed above what was published", test_cut_renewed },
	{ "cut: with a time extension", test_cut_extension },
	{ "cut: found where the moment is", test_cut_found },
	{ "cut: not below what was cleared", test_cut_cleared },
};

int main(int argc, char **argv)
{
	rig_make(&rig, BLOCK_SIZE, BLOCKS, KTAPE_MODE_OVERWRITE, 0);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
