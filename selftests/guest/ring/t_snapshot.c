// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test snapshot mode: when the ring of one CPU is full, all CPUs stop as of one
 * moment. Everything recorded up to that moment is there, the counts agree, and
 * nothing is lost.
 */
#include <poll.h>

#include "kselftest_harness.h"

#include "kt_ledger.h"
#include "kt_module.h"
#include "kt_ring.h"
#include "kt_session.h"

#define CPUS_MAX 16
#define RING	 65536
#define BLOCK	 4096

FIXTURE(snapshot)
{
	int main, fd, cpus;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_SETUP(snapshot)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_named(self->main, "snap", KTAPE_MODE_SNAPSHOT, RING, BLOCK, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_profile_only(self->fd, KT_OPS(KTAPE_EV_SYS_ENTER_WIDE,
						      KTAPE_EV_SYS_EXIT,
						      KTAPE_EV_SCHED_SWITCH)));
}

FIXTURE_TEARDOWN(snapshot)
{
	kt_expedite(false);
	close(self->fd);
	close(self->main);
}

/* Return the time of the snapshot's end, 0 before it. */
static uint64_t frozen_at(int main)
{
	struct ktape_session_info i;

	return kt_session_info(main, "snap", &i) ? 0 : i.frozen;
}

/* CPU 0 makes many more calls than the others. */
static void mark_unevenly(uint64_t n)
{
	kt_call_marked(n);
	if (sched_getcpu())
		usleep(500);
}

static int wait_full(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, 20000 * kt_scale()) == 1 ? p.revents : -1;
}

/*
 * What a snapshot has. @freezes: records of its end; @time, @first_cpu: its last moment and the
 * CPU whose ring was full, as these say; @latest: time of the last event; @next: number that the
 * next marked call must have as argument, by CPU, and @holes: calls with another one; @events: by
 * CPU.
 */
struct contents {
	uint64_t time, latest, freezes, first_cpu;
	uint64_t next[CPUS_MAX], holes;
	uint64_t events[CPUS_MAX];
};

static void note_snapshot_record(const struct ktape_block *b,
				 const struct kt_rec *r, void *arg)
{
	struct contents *s = arg;
	uint64_t n;

	if (b->kind == KTAPE_RING_CONTROL && r->op == KTAPE_EV_FREEZE) {
		s->time = r->args[0] | (uint64_t)r->args[1] << 32;
		s->first_cpu = r->args[2];
		s->freezes++;
	}
	if (b->kind != KTAPE_RING_EVENT || r->op == KTAPE_TIME_EXTEND)
		return;
	s->events[b->cpu]++;
	if (r->ts > s->latest)
		s->latest = r->ts;
	if (kt_is_marked(r->op, r->blob, &n)) {
		s->holes += s->next[b->cpu] && n != s->next[b->cpu];
		s->next[b->cpu] = n + 1;
	}
}

/* Read the snapshot and compare it with the counts. */
static void check_snapshot(struct __test_metadata *_metadata, int fd, int cpus,
			   struct contents *contents)
{
	struct kt_ledger *l = kt_ledger_new();
	struct kt_buf b = {};

	memset(contents, 0, sizeof(*contents));
	l->next = note_snapshot_record;
	l->arg = contents;
	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, fd));
	EXPECT_EQ(0, kt_ledger_check(l, fd, cpus));
	EXPECT_STREQ("", l->t.error);
	EXPECT_EQ(0, contents->holes);
	kt_buf_free(&b);
	free(l);
}

/*
 * A ring fills up: all rings end at one moment, which the records of the end, the session's
 * status and the control pages say alike.
 */
TEST_F_TIMEOUT(snapshot, full_once, 120)
{
	struct ktape_stats st, again;
	struct contents contents;
	struct kt_map m;
	char some[4096];

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_nonblock(self->fd, true);
	/* Nothing can be read before the snapshot is over. */
	EXPECT_EQ(0, frozen_at(self->main));
	while (read(self->fd, some, sizeof(some)) > 0)
		;
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, mark_unevenly));
	EXPECT_EQ(POLLIN | POLLPRI | POLLHUP, wait_full(self->fd));
	kt_loads_stop(self->load, self->cpus);
	lseek(self->fd, 0, SEEK_SET);
	check_snapshot(_metadata, self->fd, self->cpus, &contents);
	EXPECT_EQ(self->cpus, contents.freezes);
	EXPECT_NE(0, contents.time);
	EXPECT_EQ(frozen_at(self->main), contents.time);
	EXPECT_LT(contents.latest, contents.time);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		ASSERT_EQ(0, kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st));
		EXPECT_EQ(0, kt_lost(&st));
		EXPECT_EQ(contents.events[cpu], kt_sum(st.emitted));
		EXPECT_EQ(0, st.tail);
		ASSERT_EQ(0, kt_map_ring(self->fd, cpu, KTAPE_RING_EVENT, &m));
		EXPECT_EQ(contents.time, kt_load(&m.page->frozen));
		EXPECT_EQ(KTAPE_RING_FLAG_STOPPED | KTAPE_RING_FLAG_FROZEN,
			  kt_load(&m.page->flags));
		if (cpu == (int)contents.first_cpu) {
			/* The other CPUs may have begun only just now. */
			EXPECT_LT(10, contents.events[cpu]);
			EXPECT_LE(RING - BLOCK, st.commit);
		}
		kt_unmap_ring(&m);
	}
	/* No more events are recorded. */
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
	kt_getppids(100);
	ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &again));
	EXPECT_EQ(0, memcmp(&st, &again, sizeof(st)));
}

/* START begins another snapshot, which does not contain the one before. */
TEST_F_TIMEOUT(snapshot, again, 240)
{
	struct ktape_stats before, after;
	uint64_t last = 0;

	kt_expedite(true);
	for (int round = 0; round < 6; round++) {
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &before));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		EXPECT_EQ(0, frozen_at(self->main));
		ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0,
					    mark_unevenly));
		ASSERT_EQ(POLLIN | POLLPRI | POLLHUP, wait_full(self->fd));
		kt_loads_stop(self->load, self->cpus);
		EXPECT_LT(last, frozen_at(self->main));
		last = frozen_at(self->main);
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &after));
		/* It begins with the block after the one that was in use. */
		EXPECT_LE(before.commit, after.floor);
		EXPECT_GT(before.commit + BLOCK, after.floor);
		EXPECT_EQ(0, kt_lost(&after));
	}
}

/*
 * Stopped before it is full, the session is not frozen and continues where it
 * was.
 */
TEST_F(snapshot, stopped_by_hand)
{
	struct pollfd p = { .fd = self->fd, .events = POLLIN | POLLPRI };
	struct ktape_stats before, after;

	if (kt_is_busy())
		SKIP(return, "the calls of ./busy may fill a ring");
	ASSERT_EQ(0, kt_pin(0));
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &before));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		for (int n = 0; n < 20; n++)
			kt_call_marked(n);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &after));
		EXPECT_LT(before.commit, after.commit);
		EXPECT_EQ(0, after.floor);
	}
	EXPECT_EQ(0, frozen_at(self->main));
	ASSERT_EQ(1, poll(&p, 1, 0));
	EXPECT_EQ(POLLIN | POLLHUP, p.revents);
}

/*
 * Events after the snapshot's last moment are cut off at its end. So before it neither read(),
 * which full_once tries, nor poll() nor an ioctl may deal with what is in the rings.
 */
TEST_F(snapshot, nothing_readable_before_the_end)
{
	struct ktape_position pos = { .cpu = 0, .kind = KTAPE_RING_EVENT };
	struct ktape_consumer c = { .size = sizeof(c),
				    .nr = 1,
				    .op = KTAPE_CONSUMER_POSITION,
				    .positions = (uintptr_t)&pos };
	struct pollfd p = { .fd = self->fd, .events = POLLIN };

	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(50);
	EXPECT_EQ(-EINVAL, kt_ioctl(self->fd, KTAPE_IOC_CONSUMER, &c));
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_EQ(-EOPNOTSUPP, kt_control(self->fd, KTAPE_IOC_FLUSH));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	EXPECT_EQ(0, kt_ioctl(self->fd, KTAPE_IOC_CONSUMER, &c));
}

static bool naps;

/*
 * Calls at full speed, or with pauses: emulated CPUs that are all busy share
 * one host CPU in long turns.
 */
static void call_at_a_speed(uint64_t n)
{
	if (n % 32 == 0 && __atomic_load_n(&naps, __ATOMIC_RELAXED))
		usleep(1);
	kt_call_marked(n);
}

/* All CPUs make calls, and STOP comes about when a ring is full, many times. */
TEST_F_TIMEOUT(snapshot, races, 240)
{
	int rounds = 60 / kt_scale() + 4, was_full = 0;
	struct contents contents;
	int fd;

	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, call_at_a_speed));
	for (int round = 0; round < rounds; round++) {
		/* Grace periods between the steps of the end are long or short. */
		const bool expedited = round / 8 % 2;

		kt_expedite(expedited);
		__atomic_store_n(&naps, expedited, __ATOMIC_RELAXED);
		fd = kt_named(self->main, "race", KTAPE_MODE_SNAPSHOT,
			      4 * BLOCK, BLOCK, 0);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, kt_profile_only(fd, KT_OPS(KTAPE_EV_SYS_ENTER_WIDE,
							KTAPE_EV_SYS_EXIT,
							KTAPE_EV_IRQ_HANDLER_ENTRY,
							KTAPE_EV_SCHED_SWITCH)));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		usleep(round % 8 * 300);
		if (round % 3 == 0)
			kt_control(fd, KTAPE_IOC_CLEAR);
		if (round % 2) {
			ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_STOP));
		} else {
			ASSERT_LT(0, wait_full(fd));
		}
		/* What was cleared is missing in the counts: such a snapshot is not read. */
		if (round % 3) {
			check_snapshot(_metadata, fd, self->cpus, &contents);
			was_full += contents.freezes != 0;
			/* One that STOP has ended has no last moment. */
			EXPECT_EQ(true, !contents.freezes ||
						contents.latest < contents.time);
		}
		close(fd);
	}
	kt_loads_stop(self->load, self->cpus);
	TH_LOG("%d rounds, %d of those read were full", rounds, was_full);
	EXPECT_LT(0, was_full);
}

/* A pending end of one snapshot must not end the next one. */
TEST_F_TIMEOUT(snapshot, started_again, 120)
{
	struct ktape_session_info info;
	struct ktape_stats st;

	ASSERT_EQ(0, kt_pin(0));
	for (int round = 0; round < 40; round++) {
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		/* Each takes 80 bytes: they overflow the ring, so an end is pending at STOP. */
		kt_getppids(RING / 64 + round % 8 * 16);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		usleep(5000 * kt_scale());
		ASSERT_EQ(0, kt_stats(self->fd, 0, KTAPE_RING_EVENT, &st));
		ASSERT_EQ(0, kt_session_info(self->main, "snap", &info));
		/*
		 * There is room left, unless other processes made too many
		 * calls.
		 */
		if (st.commit - st.floor < RING / 2) {
			EXPECT_NE(0, info.flags & KTAPE_SESSION_RUNNING);
			EXPECT_EQ(0, info.frozen);
		}
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	}
}

/*
 * The ring of a CPU that is offline at the end is cut as well, and works when
 * the CPU is back.
 */
TEST_F_TIMEOUT(snapshot, hotplug, 120)
{
	struct contents contents;

	if (self->cpus < 2)
		SKIP(return, "needs two CPUs");
	kt_expedite(true);
	for (int round = 0; round < 4; round++) {
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, kt_pin(self->cpus - 1));
		kt_getppids(20);
		ASSERT_EQ(0, kt_pin(0));
		ASSERT_EQ(0, kt_set_online(self->cpus - 1, false));
		/* Each call takes 80 bytes, so they overflow the ring. */
		for (int n = 0; n < RING / 64; n++)
			kt_call_marked(n);
		EXPECT_EQ(POLLIN | POLLPRI | POLLHUP, wait_full(self->fd));
		EXPECT_NE(0, frozen_at(self->main));
		/* The counts are sums over all rounds, so only the first one is compared. */
		if (!round) {
			check_snapshot(_metadata, self->fd, self->cpus - 1,
				       &contents);
			EXPECT_LT(20, contents.events[self->cpus - 1]);
		}
		ASSERT_EQ(0, kt_set_online(self->cpus - 1, true));
	}
}

TEST_HARNESS_MAIN
