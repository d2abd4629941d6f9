// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test where the pieces of a rotating recording end: the rings of a piece end at one moment,
 * even if the event ring was so full that its open block could not be closed at once.
 * Otherwise the ledger records of a stop, in the control ring, would be in one piece and the
 * last events that they count in the next one.  A piece says where its rings end, also if a
 * block was just full.
 */
#include <ktape.h>

#include "kselftest_harness.h"

#include "kt_load.h"
#include "kt_ring.h"
#include "kt_trigger.h"

#define RING  (32 << 10)
#define BLOCK 4096

FIXTURE(pieces)
{
	struct ktape_device *dev, *session;
	struct ktape_recorder *rec;
	int fd;
};

FIXTURE_SETUP(pieces)
{
	const struct ktape_recorder_options how = {
		.dir = "first",
		.flags = KTAPE_RECORD_PIECES | KTAPE_RECORD_NO_URING,
	};
	struct ktape_create c = { .mode = KTAPE_MODE_DISCARD,
				  .ring_size = RING,
				  .control_size = RING,
				  .block_size = BLOCK };
	char folder[] = "pieces.XXXXXX";

	ASSERT_TRUE(mkdtemp(folder));
	ASSERT_EQ(0, chdir(folder));
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, ktape_device_open(NULL, true, &self->dev));
	ASSERT_EQ(0, ktape_device_create(self->dev, &c, &self->session));
	self->fd = ktape_device_fd(self->session);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_MARK_VALUE)));
	ASSERT_EQ(0, ktape_device_consumer(self->session, true));
	ASSERT_EQ(0, ktape_recorder_open(self->session, &how, &self->rec));
}

FIXTURE_TEARDOWN(pieces)
{
	ktape_recorder_close(self->rec);
	ktape_device_close(self->session);
	ktape_device_close(self->dev);
}

static void print_piece_finding(void *arg, const struct ktape_finding *f)
{
	unsigned int *further = arg;

	printf("# %s: %s\n", ktape_rule_name(f->rule), f->text);
	*further += f->cut || strstr(f->text, "are not in the trace");
}

/*
 * Verify a piece.  @further counts findings that a wrong end causes: ledgers of events that
 * are in another piece, and ends that were cut off.  Return: its records.
 */
static uint64_t verify_piece(struct __test_metadata *_metadata, const char *dir,
			     unsigned int *further)
{
	const struct ktape_verify_options how = { .finding = print_piece_finding,
						  .arg = further };
	struct ktape_verify_cpu cpu = { .cpu = 0 };
	struct ktape_verify *v;
	uint64_t records = 0;

	ASSERT_EQ(0, ktape_verify_open(dir, &how, &v, NULL))
	{
		return 0;
	}
	EXPECT_EQ(0, ktape_verify_run(v));
	for (; ktape_verify_next_cpu(v, &cpu); cpu.cpu++)
		records += cpu.records;
	ktape_verify_close(v);
	return records;
}

/* Fill the event ring.  Return: events that were stored. */
static uint64_t fill_event_ring(int fd)
{
	struct ktape_stats st;

	do {
		kt_write_values(1, 100);
		if (kt_stats(fd, 0, KTAPE_RING_EVENT, &st))
			return 0;
	} while (!kt_lost(&st));
	return kt_sum(st.emitted) - kt_lost(&st);
}

/* Rotate while the event ring is full, after a stop that could not close its block. */
TEST_F(pieces, full_ring)
{
	unsigned int further = 0;
	uint64_t stored;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	stored = fill_event_ring(self->fd);
	ASSERT_LT(0, stored);
	/* The ring has no room for another block. */
	ASSERT_EQ(-EAGAIN, kt_control(self->fd, KTAPE_IOC_FLUSH));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, ktape_recorder_rotate(self->rec, "second"));
	/* Control records come on top. */
	EXPECT_LE(stored, verify_piece(_metadata, "first", &further));
	EXPECT_EQ(0, further);
	kt_write_values(1, 10);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, ktape_recorder_finish(self->rec));
	EXPECT_LE(10, verify_piece(_metadata, "second", &further));
	EXPECT_EQ(0, further);
}

/* Store events until the last one has filled its block.  Return: whether one did. */
static bool fill_event_block(int fd)
{
	struct ktape_stats st;

	for (int i = 0; i < RING / 16; i++) {
		kt_write_values(1, 1);
		if (kt_stats(fd, 0, KTAPE_RING_EVENT, &st) || kt_lost(&st))
			return false;
		if (st.commit % BLOCK == 0)
			return true;
	}
	return false;
}

/* Rotate when a block has just become full and no other is open. */
TEST_F(pieces, full_block)
{
	unsigned int further = 0;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_TRUE(fill_event_block(self->fd));
	ASSERT_EQ(0, ktape_recorder_rotate(self->rec, "second"));
	EXPECT_LT(0, verify_piece(_metadata, "first", &further));
	EXPECT_EQ(0, further);
	/* Nothing was written since, so this piece has nothing of the event ring. */
	ASSERT_EQ(0, ktape_recorder_rotate(self->rec, "third"));
	verify_piece(_metadata, "second", &further);
	EXPECT_EQ(0, further);
	kt_write_values(1, 10);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, ktape_recorder_finish(self->rec));
	EXPECT_LE(10, verify_piece(_metadata, "third", &further));
	EXPECT_EQ(0, further);
}

TEST_HARNESS_MAIN
