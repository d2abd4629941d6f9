// SPDX-License-Identifier: GPL-2.0-only
/* Test the ring with one context and a clock that the test sets. */
#include "reader.h"
#include "tap.h"

#define BLOCK_SIZE 4096UL
#define BLOCKS	   4
#define SIZE	   (BLOCK_SIZE * BLOCKS)
#define TURN	   (1ULL << 32) /* range of the clock's low half */

static struct rig rig;
static struct reader reader;

static struct ktape_block *block_at(u64 position)
{
	return rig.base[(position / BLOCK_SIZE) & (BLOCKS - 1)];
}

static void begin_test_ring(unsigned int mode, unsigned long start)
{
	kt_shim_time = 1000;
	rig_again(&rig, mode, start);
	reader_start(&reader, &rig);
}

static void emit_records(unsigned int shape, unsigned int number)
{
	while (number--) {
		kt_shim_time++;
		rig_emit(&rig, 0, shape);
	}
}

/* Write 8-byte records until this much room is left in the block. */
static void emit_until(unsigned long room)
{
	do
		emit_records(0, 1);
	while (rig_room(&rig) != room);
}

/* Checks for the end of tests whose ring was read, and is at rest. */
static void check_settled(void)
{
	const struct kt_ring *r = &rig.ring;

	check(reader_poll(&reader), "%s", reader.error);
	check_equal(*kt_word(&rig.page->commit), r->write);
	check_equal(r->committed, r->write);
	check_equal(reader.position, kt_ring_commit(r));
	check(rig.opened >= rig.opening, "%llu opened blocks, reported %llu times",
	      (unsigned long long)rig.opening, (unsigned long long)rig.opened);
	check_equal(kt_ring_emitted(rig.page), rig_written(&rig));
	check(rig_guards_hold(&rig), "written outside the blocks");
}

static void settle_all_read(void)
{
	check_settled();
	if (tap_why[0])
		return;
	check_equal(reader.records + rig_lost(&rig), rig_written(&rig));
	check_equal(reader.skipped, 0);
}

static void test_ring_empty(void)
{
	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	check_equal(rig.page->commit, 0);
	check_equal(rig.page->tail, 0);
	check_equal(kt_ring_flush(&rig.ring), 0);
	check_equal(rig.opening, 0);
	settle_all_read();
}

static void test_header(void)
{
	const struct ktape_block *b = block_at(0);
	const u32 *rec = (const u32 *)(b + 1);

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	kt_shim_time = 0x123456789aULL;
	/* Context 2, three arguments; the rig's ring is the event ring of CPU 3. */
	rig_emit(&rig, 2, 3);
	check_equal(rig.page->commit, KTAPE_BLOCK_HEADER + 24);
	check_equal(b->magic, KTAPE_BLOCK_MAGIC);
	check_equal(b->stream_id, 0);
	check_equal(b->instance, 3);
	check_equal(b->flags, 0);
	check_equal(b->crc32c, 0);
	check_equal(b->reserved0 + b->reserved1 + b->reserved2, 0);
	check_equal(b->ts_begin, 0x123456789aULL);
	check_equal(b->packet_bits, BLOCK_SIZE * 8);
	check_equal(b->seq, 1);
	check_equal(b->cpu, 3);
	check_equal(b->kind, KTAPE_RING_EVENT);
	check_equal(b->sync_clock, b->ts_begin);
	/* Valid only when the block is closed: still what the rig has filled it with. */
	check_equal(b->content_bits, 0xa5a5a5a5a5a5a5a5ULL);
	check_equal(rec[0], 0x3456789a);
	check_equal(rec[1] & 0xff, RIG_OPCODE + 3);
	check_equal(rec[1] >> 26 & 3, 2); /* the context, in dat20 */
	check_equal(rec[1] >> 29, 3);	  /* number of arguments */
	check_equal(rec[2], 0); /* the first one: number of the record */
	check_equal(rec[5], 0); /* padding */
	settle_all_read();
}

static void test_exact_fill(void)
{
	unsigned int shape;

	for (shape = 0; shape < 8; shape++) {
		unsigned long len = KTAPE_RECORD_SIZE(shape);

		begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
		emit_until(len);
		emit_records(shape, 1);
		check_equal(rig.ring.write, BLOCK_SIZE);
		check_equal(rig.page->commit, BLOCK_SIZE);
		check_equal(rig.opening, 1);
		check(reader_poll(&reader), "%s", reader.error);
		emit_records(shape, 1);
		check_equal(rig.opening, 2);
		check_equal(rig.ring.write, BLOCK_SIZE + KTAPE_BLOCK_HEADER + len);
		check_equal(block_at(0)->content_bits, BLOCK_SIZE * 8);
		settle_all_read();
	}
}

static void test_block_change(void)
{
	unsigned long before;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	emit_until(16);
	before = rig.ring.write;
	kt_shim_time = 50000;
	rig_emit(&rig, 0, 3);
	check_equal(block_at(0)->content_bits, before * 8);
	check_equal(block_at(0)->ts_end, 50000);
	check_equal(block_at(0)->discarded, 0);
	/* The event that opens a block does not count for the block before. */
	check_equal(block_at(0)->emitted, rig_written(&rig) - 1);
	check_equal(block_at(BLOCK_SIZE)->ts_begin, 50000);
	check_equal(block_at(BLOCK_SIZE)->seq, 2);
	check_equal(rig.ring.write, BLOCK_SIZE + KTAPE_BLOCK_HEADER + 24);
	settle_all_read();
	check_equal(reader.closed, 1);
}

/* Advance the clock by more than its low half holds, once and many times. */
static void test_time_extension(void)
{
	static const u64 jumps[] = {
		TURN,	    TURN - 1, TURN + 1, 2 * TURN, 5 * TURN + 3,
		TURN << 20, 1,	      TURN / 2, TURN / 2, TURN / 2,
	};
	unsigned int shape, i;

	for (shape = 0; shape < RIG_SHAPES; shape++) {
		/* A blob without arguments has no place for its number. */
		if (shape == RIG_BLOB)
			continue;
		begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
		for (i = 0; i < 40; i++) {
			u64 extends = reader.extends, opened = rig.opened;
			u64 before = kt_shim_time, now;

			now = before + jumps[i % ARRAY_SIZE(jumps)];
			kt_shim_time = now;
			rig_emit(&rig, 0, shape);
			check(reader_poll(&reader), "%s", reader.error);
			check_equal(reader.time, now);
			check_equal(reader.extends - extends,
				    rig.opened == opened &&
					    now >> 32 != before >> 32);
			emit_records(1, 1);
			check(reader_poll(&reader), "%s", reader.error);
			check_equal(reader.time, kt_shim_time);
		}
		settle_all_read();
	}
}

/*
 * Advance the clock when so many bytes are left in the block, for each number
 * of bytes.
 */
static void test_time_extension_at_end(void)
{
	unsigned long room;
	unsigned int shape;

	for (shape = 0; shape < 8; shape++) {
		unsigned long len = KTAPE_RECORD_SIZE(shape);

		for (room = 0; room <= 120; room += 8) {
			bool opens = room < len + KTAPE_TIME_EXTEND_SIZE;

			begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
			emit_until(room);
			kt_shim_time += TURN + 5;
			rig_emit(&rig, 0, shape);
			check_equal(rig.opening, opens ? 2 : 1);
			check(reader_poll(&reader), "%s", reader.error);
			check_equal(reader.time, kt_shim_time);
			check_equal(reader.extends, opens ? 0 : 1);
			emit_records(shape, 3);
			settle_all_read();
		}
	}
}

static void test_too_big(void)
{
	static char bytes[BLOCK_SIZE];
	struct kt_record rec = { .class = 5, .blob = bytes };
	const unsigned long room = BLOCK_SIZE - KTAPE_BLOCK_HEADER;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	rec.code = KT_CODE(7, 0, 1, 0);
	rec.size = (u32)room - 12; /* word, size, bytes: just fits */
	kt_ring_write(&rig.ring, &rec);
	check_equal(rig.ring.write, BLOCK_SIZE);
	check_equal(rig_lost(&rig), 0);
	rec.size++;
	kt_ring_write(&rig.ring, &rec);
	rec.size = ~0U;
	kt_ring_write(&rig.ring, &rec);
	check_equal(rig.ring.write, BLOCK_SIZE);
	check_equal(rig.page->lost[KTAPE_LOST_TOO_BIG][5], 2);
	check_equal(rig_lost(&rig), 2);
	check_equal(rig.page->commit, rig.ring.write);
	/* A blob beside all 7 arguments: 8 + 28 bytes, and 4 for its size. */
	check_equal(KT_BLOB_MAX(BLOCK_SIZE), room - 40);
}

/*
 * The time of a loss is reported once, and again if there was no room for the
 * report.
 */
static void test_ring_losses(void)
{
	const unsigned int class = rig_class(0);
	struct kt_loss taken, again;
	u64 first = 0, lost;

	begin_test_ring(KTAPE_MODE_DISCARD, 0);
	check(!kt_ring_loss_take(&rig.ring, class, &taken),
	      "a loss is pending before the first one");
	while (!rig_lost(&rig)) {
		kt_shim_time++;
		first = kt_shim_time;
		rig_emit(&rig, 0, 1);
	}
	check(rig.ring.lossy, "the ring is not marked as lossy");
	kt_shim_time += 1000;
	rig_emit(&rig, 0, 1);
	lost = rig_lost(&rig);
	check(kt_ring_loss_take(&rig.ring, class, &taken), "no loss is pending");
	check_equal(taken.first, first);
	check_equal(taken.last, first + 1000);
	check_equal(taken.reported, lost);
	check(!kt_ring_loss_take(&rig.ring, class, &again),
	      "the loss is reported twice");
	/* Lose one more, then give the taken loss back: its report had no room. */
	kt_shim_time += 1000;
	rig_emit(&rig, 0, 1);
	kt_ring_loss_back(&rig.ring, class, &taken);
	check(kt_ring_loss_take(&rig.ring, class, &again),
	      "the loss was not restored");
	check_equal(again.first, first);
	check_equal(again.last, first + 2000);
	check_equal(again.reported, lost + 1);
}

/*
 * Discard mode loses exactly the events that do not fit and counts them by
 * reason.
 */
static void test_ring_discard(void)
{
	u64 lost;

	begin_test_ring(KTAPE_MODE_DISCARD, 0);
	emit_records(1, 5000);
	lost = kt_ring_lost(rig.page, KTAPE_LOST_FULL);
	check(lost > 0, "nothing was lost");
	check_equal(rig.page->tail, 0);
	check_equal(rig.opening, BLOCKS);
	check_equal(5000 - lost, BLOCKS * ((BLOCK_SIZE - KTAPE_BLOCK_HEADER) / 16));
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.records, 5000 - lost);

	/* Nothing is written over before a whole block is consumed. */
	rig.page->consumer = BLOCK_SIZE - 1;
	emit_records(1, 1);
	check_equal(kt_ring_lost(rig.page, KTAPE_LOST_FULL), lost + 1);
	rig.page->consumer = BLOCK_SIZE;
	emit_records(1, 1);
	check_equal(kt_ring_lost(rig.page, KTAPE_LOST_FULL), lost + 1);
	check_equal(rig.page->tail, BLOCK_SIZE);
	check_equal(rig.opening, BLOCKS + 1);
	check_equal(block_at(SIZE - BLOCK_SIZE)->discarded, lost + 1);
	check_equal(block_at(SIZE - BLOCK_SIZE)->lost[KTAPE_LOST_FULL], lost + 1);
	settle_all_read();
}

/* A consumer that keeps up loses nothing; one that lags loses a known number. */
static void test_discard_consumer(void)
{
	unsigned int i;

	begin_test_ring(KTAPE_MODE_DISCARD, 0);
	for (i = 0; i < 20000; i++) {
		emit_records(i % 8, 1);
		if (i % 50 == 0) {
			check(reader_poll(&reader), "%s", reader.error);
			rig.page->consumer = reader.position & ~(BLOCK_SIZE - 1);
		}
	}
	check_equal(rig_lost(&rig), 0);
	for (i = 0; i < 20000; i++) {
		emit_records(i % 8, 1);
		if (i % 1500 == 0) {
			check(reader_poll(&reader), "%s", reader.error);
			rig.page->consumer = reader.position & ~(BLOCK_SIZE - 1);
		}
	}
	check(rig_lost(&rig) > 1000, "only %llu lost", rig_lost(&rig));
	settle_all_read();
	check(reader.missing <= rig_lost(&rig), "more missing than lost");
}

/* Overwrite mode: tail is the oldest surviving block, to the byte. */
static void test_ring_overwrite(void)
{
	struct reader late = {};
	u64 block;
	unsigned int i;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	reader_start(&late, &rig);
	for (i = 0; i < 20000; i++) {
		emit_records(i % 8, 1);
		block = (rig.ring.write - 1) & ~(BLOCK_SIZE - 1);
		check_equal(rig.page->tail, block + BLOCK_SIZE < SIZE ?
						    0 :
						    block + BLOCK_SIZE - SIZE);
	}
	check_equal(rig_lost(&rig), 0);
	check(reader_poll(&late), "%s", late.error);
	check_equal(late.skipped, rig.page->tail);
	check_equal(late.position, rig.ring.write);
	check_equal(late.next[0], rig.seq[0]);
	reader_free(&late);
	check_settled();
}

static void test_ring_flush(void)
{
	unsigned int shape;
	u64 write;

	for (shape = 0; shape < 8; shape++) {
		begin_test_ring(KTAPE_MODE_DISCARD, 0);
		emit_records(shape, 3);
		write = rig.ring.write;
		check_equal(kt_ring_flush(&rig.ring), 0);
		check_equal(rig.page->commit, BLOCK_SIZE + KTAPE_BLOCK_HEADER);
		check_equal(block_at(0)->content_bits, write * 8);
		check_equal(block_at(0)->ts_end, kt_shim_time);
		/* An empty block stays open. */
		check_equal(kt_ring_flush(&rig.ring), 0);
		check_equal(rig.page->commit, BLOCK_SIZE + KTAPE_BLOCK_HEADER);
		emit_records(shape, 2);
		settle_all_read();
	}
	/* After 2^32 ticks in an empty block, and at the end of a full one. */
	kt_ring_flush(&rig.ring);
	kt_shim_time += TURN;
	emit_records(3, 1);
	emit_until(0);
	check_equal(kt_ring_flush(&rig.ring), 0);
	check_equal(rig.ring.write & (BLOCK_SIZE - 1), KTAPE_BLOCK_HEADER);
	settle_all_read();
	/* Full, and nothing is consumed: no block can be opened. */
	emit_records(1, 5000);
	settle_all_read();
	check_equal((u64)kt_ring_flush(&rig.ring), (u64)-EAGAIN);
	settle_all_read();
}

/* A stopped ring takes no record, and counts each as lost; it goes on where it has stopped. */
static void test_ring_stop(void)
{
	u64 write;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	emit_records(2, 10);
	write = rig.ring.write;
	rig.page->flags = KTAPE_RING_FLAG_STOPPED;
	kt_ring_halt(&rig.ring);
	emit_records(0, 5);
	emit_records(7, 5);
	check_equal(rig.ring.write, write);
	check_equal((u64)kt_ring_flush(&rig.ring), (u64)-EAGAIN);
	check_equal(rig_lost(&rig), 10);
	settle_all_read();
	rig.page->flags = 0;
	emit_records(1, 5);
	check_equal(rig.opening, 1);
	check_equal(rig_lost(&rig), 10);
	check(rig.ring.desc != &rig.ring.stop, "still halted");
	settle_all_read();
}

/*
 * As seen by a nested context while an outer one still has the oldest block
 * open.
 */
static void test_lapping(void)
{
	u64 owned;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	emit_until(1000);
	check(reader_poll(&reader), "%s", reader.error);
	owned = rig.ring.write;
	rig.ring.committed = owned - 8; /* an outer record is not committed */
	rig.page->commit = owned - 8;
	emit_records(1, 2000);
	check_equal(rig.page->commit, owned - 8);
	check(kt_ring_lost(rig.page, KTAPE_LOST_NESTED) > 0, "no refusal");
	check_equal(rig.opening, BLOCKS);
	check(rig.page->tail <= owned - 8, "tail went past the open record");
	/* The outer writer commits. */
	kt_ring_publish(&rig.ring, owned - 8, owned);
	/* The reader has seen a commit that the test took back since. */
	reader.commit = owned - 8;
	settle_all_read();
}

static void put_blob(u32 size, u32 seq, const unsigned char *bytes)
{
	const struct kt_record rec = {
		.code = KT_CODE(9, seq, 1, 1),
		.class = 1,
		.nargs = 1,
		.size = size,
		.args = &seq,
		.blob = bytes,
	};

	kt_shim_time++;
	kt_ring_write(&rig.ring, &rec);
}

/* Return true if the blob that ends at @write is intact and its padding zero. */
static bool blob_is(u32 size, u32 seq, const unsigned char *bytes)
{
	u64 len = ALIGN(16 + (u64)size, 8), at = rig.ring.write - len;
	const u32 *rec =
		(const void *)((const char *)block_at(at) + at % BLOCK_SIZE);
	const unsigned char *blob = (const unsigned char *)&rec[4];
	u64 i;

	if (rec[1] != KT_CODE(9, seq, 1, 1) || rec[2] != seq || rec[3] != size)
		return false;
	for (i = size; i < len - 16; i++)
		if (blob[i])
			return false;
	return !memcmp(blob, bytes, size);
}

/* Write each blob size at each distance from the end of a block. */
static void test_blobs(void)
{
	static unsigned char bytes[BLOCK_SIZE];
	const unsigned long most = BLOCK_SIZE - KTAPE_BLOCK_HEADER - 16;
	unsigned long size, room, step;
	u32 seq = 0;

	for (size = 0; size < sizeof(bytes); size++)
		bytes[size] = (unsigned char)(size * 7 + 1);
	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	for (size = 0; size <= most; size++) {
		unsigned long len = ALIGN(16 + size, 8);

		/*
		 * All short distances for small blobs, some for large ones.  An open block
		 * has less than 3900 bytes of room.
		 */
		step = size < 100 ? 8 : len > 400 ? len / 3 & ~7UL : 40;
		for (room = 0; room <= len + 32 && room < 3800; room += step) {
			u64 opening;
			bool fits = room >= len;

			emit_until(room);
			opening = rig.opening;
			put_blob((u32)size, seq, bytes);
			check_equal(rig.opening - opening, !fits);
			check(blob_is((u32)size, seq, bytes),
			      "size %lu, room %lu", size, room);
			seq++;
		}
	}
	check(seq > 10000, "only %u", seq);
	check_equal(*kt_word(&rig.page->commit), rig.ring.write);
	check(rig_guards_hold(&rig), "written outside the blocks");
	tap_note("%u records", seq);
}

/* Positions wrap at 32 and at 64 bits. */
static void test_ring_wrap(void)
{
	/* Two rings before the wrap: all blocks are full by then. */
	static const u64 starts[] = {
		(1ULL << 31) - 2 * SIZE,
		(1ULL << 32) - 2 * SIZE,
		(1ULL << 63) - 2 * SIZE,
		0 - 2 * SIZE,
	};
	unsigned int i, n, mode;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		for (mode = 0; mode < 2; mode++) {
			begin_test_ring(mode, starts[i]);
			for (n = 0; n < 20000; n++) {
				emit_records(n % 8, 1);
				if (n % 64)
					continue;
				check(reader_poll(&reader), "%s", reader.error);
				rig.page->consumer = reader.position &
						     ~(BLOCK_SIZE - 1);
			}
			check_equal(rig_lost(&rig), 0);
			check_equal(rig.page->tail,
				    (rig.ring.write & ~(BLOCK_SIZE - 1)) +
					    BLOCK_SIZE - SIZE);
			settle_all_read();
		}
	}
}

/* Write and read some records in an earlier turn of the low half, from @to on. */
static void write_in_earlier_turn(u64 to)
{
	unsigned int i;

	rig_steps = 0;
	kt_shim_time = to;
	for (i = 0; i < 50 && reader_poll(&reader); i++)
		emit_records(i % 8, 20);
}

/*
 * The clock has reached its old time: records take its times again, in the fast
 * path.
 */
static void check_catches_up(u64 latest)
{
	kt_shim_time = latest + 1000;
	emit_records(1, 300);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.time, latest + 1300);
	check(rig.ring.desc != &rig.ring.stop, "records still take the slow path");
}

/*
 * Set the clock back into an earlier turn of its low half.  The writer notices that by the upper
 * half, so no record gets a wrong low half, and the reader need not accept one (@steps).
 */
static void test_step_to_turn(void)
{
	u64 latest;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	kt_shim_time = 6 * TURN + 1000;
	emit_records(1, 100);
	latest = kt_shim_time;
	write_in_earlier_turn(5 * TURN + 50);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.time, latest);
	check_equal(reader.extends, 0);
	check(rig_steps > 0, "the clock step was not reported");
	check_equal(rig_stepped_from, latest);
	check_catches_up(latest);
	if (!tap_why[0])
		settle_all_read();
}

/* Set the clock back before the start of the block, in the same turn. */
static void test_step_before_block(void)
{
	u64 latest;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	reader.steps = true;
	kt_shim_time = 6 * TURN + 100000;
	emit_records(1, 100);
	latest = kt_shim_time;
	write_in_earlier_turn(6 * TURN + 5);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.time, latest);
	check(rig_steps > 0, "the clock step was not reported");
	check_equal(rig_stepped_from, latest);
	check_catches_up(latest);
	if (!tap_why[0])
		settle_all_read();
}

/*
 * Set the clock back by less than the age of the block: times stand still
 * meanwhile.
 */
static void test_step_within_block(void)
{
	u64 latest;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	reader.steps = true;
	kt_shim_time = 6 * TURN + 1000;
	emit_records(1, 100);
	latest = kt_shim_time;
	kt_shim_time = latest - 50;
	emit_records(1, 40);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.time, latest);
	emit_records(1, 20);
	check(reader_poll(&reader), "%s", reader.error);
	check_equal(reader.time, latest + 10);
	check_catches_up(latest);
	if (!tap_why[0])
		settle_all_read();
}

/* Record on a clock step, unless that has caused step after step: a recursion would not end. */
static void emit_on_step(void)
{
	if (rig_steps < 100)
		rig_emit(&rig, 2, 1);
}

/* The report of a clock step causes an interrupt, which is recorded itself. */
static void test_step_recorded(void)
{
	u64 latest;

	begin_test_ring(KTAPE_MODE_OVERWRITE, 0);
	reader.steps = true;
	kt_shim_time = 6 * TURN + 1000;
	emit_records(1, 1);
	latest = kt_shim_time;
	rig_on_step = emit_on_step;
	write_in_earlier_turn(5 * TURN + 50);
	rig_on_step = NULL;
	check_equal(rig_steps, 1);
	check_equal(rig.seq[2], 1);
	check(reader_poll(&reader), "%s", reader.error);
	check_catches_up(latest);
	if (!tap_why[0])
		settle_all_read();
}

static const struct tap_test tests[] = {
	{ "empty ring", test_ring_empty },
	{ "header and first record, member by member", test_header },
	{ "exact fill of a block by each number of arguments", test_exact_fill },
	{ "block change and closing members", test_block_change },
	{ "time extension", test_time_extension },
	{ "time extension near the end of a block", test_time_extension_at_end },
	{ "clock back into an earlier turn", test_step_to_turn },
	{ "clock back before the block's begin", test_step_before_block },
	{ "clock back within the block", test_step_within_block },
	{ "clock back, and its report causes a record", test_step_recorded },
	{ "too big a record", test_too_big },
	{ "discard counts exactly", test_ring_discard },
	{ "losses are reported with their times", test_ring_losses },
	{ "discard with a consumer", test_discard_consumer },
	{ "overwrite: exact tail", test_ring_overwrite },
	{ "flush", test_ring_flush },
	{ "stop and halt", test_ring_stop },
	{ "lapping is refused", test_lapping },
	{ "blobs of every size near a block's end", test_blobs },
	{ "wrapping positions", test_ring_wrap },
};

int main(int argc, char **argv)
{
	rig_make(&rig, BLOCK_SIZE, BLOCKS, KTAPE_MODE_OVERWRITE, 0);
	return tap_main(tests, ARRAY_SIZE(tests), argc, argv);
}
