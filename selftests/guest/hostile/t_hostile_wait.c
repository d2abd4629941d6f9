// SPDX-License-Identifier: GPL-2.0-only
/*
 * A discard session waits for readers whose opener has control rights, and for no others.
 * If a user without capabilities (a member of the group that may read) reads and then
 * sleeps, no event is lost for want of room.  What that user has read stays in the rings
 * until readers with the right have read it.
 */
#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_member.h"
#include "kt_ring.h"

#define RING   (64 << 10)
#define BLOCK  4096
#define ROUNDS 20
#define CALLS  1500 /* of 8 bytes: less than half of the ring */

FIXTURE(wait)
{
	int root, fd, member;
};

FIXTURE_SETUP(wait)
{
	struct ktape_policy p;
	int dev;

	ASSERT_EQ(0, kt_member_load("size=64K"));
	self->root = kt_open(O_RDWR);
	ASSERT_LE(0, self->root);
	self->fd = kt_named(self->root, "wait", KTAPE_MODE_DISCARD, RING, BLOCK, 0);
	ASSERT_LE(0, self->fd);
	/* Drop no event before a ring is full; evict no consumer because it stands still. */
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_SET, 0, 0, &p));
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER)));
	ASSERT_EQ(0, kt_pin(0));
	dev = kt_member_open(KT_MEMBER);
	ASSERT_LE(0, dev);
	self->member = kt_member_attach(dev, "wait");
	ASSERT_LE(0, self->member);
	kt_nonblock(self->member, true);
	close(dev);
}

FIXTURE_TEARDOWN(wait)
{
	close(self->member);
	close(self->fd);
	close(self->root);
	EXPECT_EQ(0, kt_rmmod_ktape());
}

/* Read what is there now: our own calls go on, so there is no natural end. */
static void read_into_ledger(struct kt_ledger *l, struct kt_buf *b, int fd)
{
	for (int i = 0; i < 10; i++)
		kt_read_and_parse(&l->t, b, fd, 65536);
}

/**
 * struct reported - records of evicted readers, for which the session does not wait any more
 * @nr: number of records
 * @reader: number of the reader, by the last of them
 * @tid: process that made the session wait for it
 * @ms: for how long it had not moved; 0: the session need not wait for it
 */
struct reported {
	uint32_t nr, reader, tid, ms;
};

static void note_evicted_reader(const struct ktape_block *b,
				const struct kt_rec *r, void *arg)
{
	struct reported *t = arg;

	if (r->op != KTAPE_EV_EVICT)
		return;
	*t = (struct reported){ t->nr + 1, r->args[0], r->args[1], r->args[2] };
}

/*
 * Root reads with @flags, each time before the ring is full, while the member has
 * read its first packets and sleeps.  Nothing is lost, and every record arrives.
 */
static void read_beside_member(struct __test_metadata *_metadata,
			       FIXTURE_DATA(wait) * self, uint32_t flags)
{
	struct kt_ledger *l = kt_ledger_new();
	int fd = kt_attach(self->root, "wait", flags);
	struct ktape_reader_info info;
	struct ktape_session_info s;
	struct reported reported = {};
	struct ktape_stats st;
	struct kt_buf b = {};
	uint32_t id;

	l->next = note_evicted_reader;
	l->arg = &reported;
	ASSERT_LE(0, fd);
	kt_nonblock(fd, true);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(100);
	for (int i = 0; i < 10; i++)
		kt_buf_read(&b, self->member, 65536);
	kt_buf_free(&b);
	ASSERT_EQ(0, kt_reader_info(self->member, 0, KTAPE_RING_EVENT, &info));
	EXPECT_LE(100, info.records);
	EXPECT_EQ(KTAPE_READER_READS, info.flags);
	id = info.id;
	for (int i = 0; i < ROUNDS; i++) {
		read_into_ledger(l, &b, fd);
		kt_getppids(CALLS);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, fd));
	EXPECT_STREQ("", l->t.error);
	EXPECT_LE(0, kt_ledger_check(l, fd, kt_online_cpus()));
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(0, kt_lost(&st));
	EXPECT_LE(ROUNDS * CALLS, kt_sum(st.emitted));
	ASSERT_EQ(0, kt_reader_info(fd, 0, KTAPE_RING_EVENT, &info));
	EXPECT_EQ(kt_sum(st.emitted), info.records);
	EXPECT_EQ(0, info.lapped);

	/* The member is reported in the trace of each CPU and in the list. */
	EXPECT_EQ(kt_online_cpus(), reported.nr);
	EXPECT_EQ(id, reported.reader);
	EXPECT_EQ(getpid(), reported.tid);
	EXPECT_EQ(0, reported.ms);
	ASSERT_EQ(0, kt_session_info(self->root, "wait", &s));
	EXPECT_EQ(1, s.evicted);

	/* The member goes on behind a gap; what it did not get is counted as lapped. */
	kt_buf_free(&b);
	EXPECT_EQ(0, kt_slurp(&b, self->member, 65536));
	ASSERT_EQ(0, kt_reader_info(self->member, 0, KTAPE_RING_EVENT, &info));
	EXPECT_EQ(KTAPE_READER_EVICTED, info.flags);
	EXPECT_EQ(id, info.id);
	EXPECT_LT(0, info.records);
	EXPECT_LT(0, info.lapped);
	EXPECT_EQ(kt_sum(st.emitted), info.records + info.lapped);
	kt_buf_free(&b);
	close(fd);
	free(l);
}

TEST_F_TIMEOUT(wait, control_descriptor_loses_nothing, 60)
{
	read_beside_member(_metadata, self, 0);
}

/* `cat /dev/ktape` of root: its opener has the right, the descriptor has not. */
TEST_F_TIMEOUT(wait, reading_of_root_loses_nothing, 60)
{
	read_beside_member(_metadata, self, KTAPE_OPEN_READONLY);
}

/* The session waits for a descriptor of root that is open for reading only. */
TEST_F_TIMEOUT(wait, reading_of_root_is_waited_for, 60)
{
	int fd = kt_attach(self->root, "wait", KTAPE_OPEN_READONLY);
	struct ktape_reader_info info;
	struct ktape_stats st;
	struct kt_buf b = {};
	char byte;

	ASSERT_LE(0, fd);
	kt_nonblock(fd, true);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	EXPECT_EQ(1, read(fd, &byte, 1));
	/* The member that is awake makes no room. */
	for (int i = 0; i < ROUNDS; i++) {
		kt_getppids(CALLS);
		for (int k = 0; k < 10; k++)
			kt_buf_read(&b, self->member, 65536);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_stats(fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(0, st.tail);
	EXPECT_EQ(0, st.consumer);
	EXPECT_LT(0, kt_lost(&st));
	kt_buf_free(&b);
	EXPECT_EQ(0, kt_slurp(&b, fd, 65536));
	ASSERT_EQ(0, kt_reader_info(fd, 0, KTAPE_RING_EVENT, &info));
	EXPECT_EQ(KTAPE_READER_READS, info.flags);
	EXPECT_EQ(0, info.lapped);
	EXPECT_EQ(kt_sum(st.emitted) - kt_lost(&st), info.records);
	kt_buf_free(&b);
	close(fd);
}

/* A member alone consumes nothing: what was recorded first stays for root. */
TEST_F_TIMEOUT(wait, member_consumes_nothing, 60)
{
	struct ktape_stats st;
	struct kt_buf b = {};
	struct ktape_policy p;

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 10; k++)
			kt_buf_read(&b, self->member, 65536);
		kt_getppids(CALLS);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	EXPECT_EQ(0, st.tail);
	EXPECT_EQ(0, st.consumer);
	ASSERT_EQ(0, kt_policy(self->fd, KTAPE_POLICY_GET, 0, 0, &p));
	EXPECT_EQ(0, p.evicted);
	kt_buf_free(&b);
}

TEST_HARNESS_MAIN
