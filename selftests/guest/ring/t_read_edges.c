// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test corner cases of readers: a full ring that will wake no reader any more,
 * a reader that registers late, and names that must not displace the end of a
 * trace.
 */
#include <poll.h>

#include "kselftest_harness.h"

#include "kt_emit.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define BLOCK 4096
#define SMALL (4 * BLOCK)

static uint64_t lost_of_kind(int fd, uint32_t kind)
{
	struct ktape_stats st;

	return kt_stats(fd, 0, kind, &st) ? 0 : kt_lost(&st);
}

/*
 * The last free block is in use, so no block will be opened and poll() must
 * return.
 */
TEST(full_ring_wakes_poll)
{
	const __u64 marks[] = { 0, 1, 3 * BLOCK, SMALL };
	struct ktape_watermark w = { .size = sizeof(w) };

	kt_pin(0);
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		struct pollfd p = { .events = POLLIN };
		unsigned int n = 0;

		p.fd = kt_session(KTAPE_MODE_DISCARD, SMALL, BLOCK,
				  KT_OPS(KTAPE_EV_PROCESS_RENAME));
		ASSERT_GE(p.fd, 0);
		w.bytes = marks[i];
		ASSERT_EQ(0, kt_ioctl(p.fd, KTAPE_IOC_WATERMARK, &w));
		ASSERT_EQ(0, kt_control(p.fd, KTAPE_IOC_START));
		while (!lost_of_kind(p.fd, KTAPE_RING_EVENT))
			kt_rename(n++);
		EXPECT_EQ(1, poll(&p, 1, 10000))
		{
			TH_LOG("watermark %llu", marks[i]);
		}
		EXPECT_EQ(POLLIN, p.revents);
		close(p.fd);
	}
}

/* Read until there is no more, and parse it. Return: 0, or -1 if there was no packet. */
static int drain_and_parse(struct kts *t, int fd)
{
	struct kt_buf b = {};
	size_t used;

	while (kt_buf_read(&b, fd, 65536) > 0)
		;
	used = kts_feed(t, b.p, b.len);
	kt_buf_free(&b);
	return used ? 0 : -1;
}

/* Data that REGISTER skips are a gap like any other. */
TEST(register_reports_a_gap)
{
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	struct kts *t = calloc(1, sizeof(*t));
	struct kts_stream *s = &t->stream[0][KTAPE_RING_EVENT];
	struct ktape_stats st;
	int fd;

	kt_pin(0);
	fd = kt_session(KTAPE_MODE_OVERWRITE, SMALL, BLOCK,
			KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	kt_nonblock(fd, true);
	for (unsigned int n = 0; n < 100; n++)
		kt_rename(n);
	ASSERT_EQ(0, drain_and_parse(t, fd));
	for (unsigned int n = 0; n < 5000; n++)
		kt_rename(n);
	ASSERT_EQ(0, kt_ioctl(fd, KTAPE_IOC_CONSUMER, &c));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, drain_and_parse(t, fd));
	EXPECT_STREQ("", t->error);
	EXPECT_LE(1, s->gaps);
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(kt_sum(st.emitted), s->records + s->discarded);
	EXPECT_LT(3000, s->discarded);
	close(fd);
	free(t);
}

/**
 * struct end - what is read of CPU 0 up to the end of a session
 * @ledgers: ledger records in the control ring
 * @offs: markers there that an event is off
 * @ons: markers there that an event is on
 * @names: names there
 * @exceptions: exceptions there
 * @event_names: names in the event ring
 */
struct end {
	long ledgers, offs, ons, names, exceptions, event_names;
};

static void count_end_record(const struct ktape_block *b,
			     const struct kt_rec *r, void *arg)
{
	struct end *e = arg;

	if (b->cpu)
		return;
	if (b->kind == KTAPE_RING_EVENT)
		e->event_names += r->op == KTAPE_EV_REGISTRY;
	if (b->kind != KTAPE_RING_CONTROL)
		return;
	e->exceptions += r->op == KTAPE_EV_EXCEPTION;
	e->ons += r->op == KTAPE_EV_PROFILE && (r->dat20 & 3) == KTAPE_PHASE_ON;
	e->ledgers += r->op == KTAPE_EV_LEDGER;
	e->names += r->op == KTAPE_EV_REGISTRY;
	e->offs += r->op == KTAPE_EV_PROFILE && (r->dat20 & 3) == KTAPE_PHASE_OFF;
}

/* Read a stopped session to its end. */
static void read_session_end(struct __test_metadata *_metadata, int fd,
			     struct end *e)
{
	struct kts *t = calloc(1, sizeof(*t));

	t->record = count_end_record;
	t->arg = e;
	ASSERT_EQ(0, drain_and_parse(t, fd));
	EXPECT_STREQ("", t->error);
	free(t);
}

/*
 * More names than fit in the control ring: ledger and markers must be recorded
 * all the same.
 */
TEST(names_leave_room_for_the_end)
{
	struct end e = {};
	int fd;

	kt_pin(0);
	fd = kt_session(KTAPE_MODE_DISCARD, SMALL, BLOCK,
			KT_OPS(KTAPE_EV_PROCESS_FORK));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	for (unsigned int n = 0; !lost_of_kind(fd, KTAPE_RING_CONTROL); n++)
		kt_rename(n);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	read_session_end(_metadata, fd, &e);
	EXPECT_LT(10, e.names);
	EXPECT_EQ(1, e.offs);
	/* At least that of class control, which has lost names. */
	EXPECT_LE(1, e.ledgers);
	close(fd);
}

/* A thread that keeps its name writes no record. */
TEST(name_is_recorded_once)
{
	struct end e = {};
	int fd;

	kt_pin(0);
	fd = kt_session(KTAPE_MODE_DISCARD, 16 * BLOCK, BLOCK, KT_OPS(0));
	ASSERT_GE(fd, 0);
	kt_rename(1);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	for (unsigned int n = 0; n < 100; n++)
		kt_rename(1);
	kt_rename(2);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	read_session_end(_metadata, fd, &e);
	EXPECT_LE(1, e.names);
	/* A few records may be of other threads. */
	EXPECT_GT(80, e.names);
	close(fd);
}

/* In overwrite mode names go to the event ring, so however many come, the control ring stays. */
TEST(names_displace_no_markers)
{
	int fd, mark = ktape_mark_open();
	struct ktape_stats st;
	struct end e = {};

	ASSERT_LE(0, mark);
	kt_pin(0);
	fd = kt_session(KTAPE_MODE_OVERWRITE, SMALL, BLOCK,
			KT_OPS(KTAPE_EV_EXCEPTION));
	ASSERT_GE(fd, 0);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	ASSERT_EQ(0, Trace1(mark, KTAPE_SW_SEVERITY2, 0x77, 1));
	/* Several times as many as would fit in the control ring. */
	for (unsigned int n = 0; n < 10000; n++)
		kt_rename(n);
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_CONTROL, &st));
	EXPECT_EQ(0, st.tail);
	read_session_end(_metadata, fd, &e);
	EXPECT_EQ(1, e.exceptions);
	EXPECT_EQ(1, e.ons);
	EXPECT_EQ(1, e.offs);
	EXPECT_EQ(0, e.names);
	EXPECT_LT(10, e.event_names);
	close(fd);
	close(mark);
}

TEST_HARNESS_MAIN
