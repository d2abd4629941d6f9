// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test FLUSH, which closes the open blocks of a discard session, CLEAR and the smallest
 * rings while all CPUs record: events that a reader does not get must be counted.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include <ktape/cost.h>

#include "kt_blocks.h"
#include "kt_filter.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define CPUS_MAX 16
#define BLOCK	 4096

/* ---- flush ----------------------------------------------------------------- */

/*
 * Append the blocks of CPU 0 that were closed since *@pos to @g, and advance *@pos. Return:
 * their number, -1 = the ring cannot be mapped.
 */
static size_t take_closed_blocks(int fd, uint64_t *pos, struct kt_blocks *g)
{
	struct kt_map m;
	size_t before = g->nr;

	if (kt_map_ring(fd, 0, KTAPE_RING_EVENT, &m))
		return -1;
	kt_take_blocks(&m, pos, false, g);
	kt_unmap_ring(&m);
	return g->nr - before;
}

/*
 * Return the number of samples of the tracer's cost on CPU 0, of all sessions. Each is a record of
 * an event ring, written at START, and at times when a block is opened.
 */
static uint64_t count_cost_samples(int fd)
{
	struct ktape_cost cost = { .size = sizeof(cost), .cpu = 0 };

	return kt_ioctl(fd, KTAPE_IOC_COST, &cost) ? 0 : cost.samples;
}

TEST(flush_closes_blocks)
{
	struct kt_blocks g = {};
	uint64_t pos = 0, reported;
	int fd, ret = 0;

	kt_pin(0);
	fd = kt_session(KTAPE_MODE_DISCARD, 4 * BLOCK, BLOCK,
			KT_OPS(KTAPE_EV_PROCESS_RENAME));
	ASSERT_GE(fd, 0);
	/* A new kernel worker writes a name, too. */
	ASSERT_EQ(0, kt_filter_pid(fd, getpid(), 0));
	ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
	EXPECT_EQ(0, take_closed_blocks(fd, &pos, &g));
	reported = count_cost_samples(fd);
	EXPECT_LT(0, reported);
	kt_rename(1);
	EXPECT_EQ(0, take_closed_blocks(fd, &pos, &g));
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_FLUSH));
	EXPECT_EQ(1, take_closed_blocks(fd, &pos, &g));
	/* The thread at START, and the rename. */
	EXPECT_LE(KTAPE_BLOCK_HEADER + 32, g.v[0].len);
	/* An empty block stays open. A block with a tracer sample is not empty. */
	EXPECT_EQ(0, kt_control(fd, KTAPE_IOC_FLUSH));
	reported = count_cost_samples(fd) - reported;
	EXPECT_GE(reported, take_closed_blocks(fd, &pos, &g));
	/*
	 * No room for another block, because no consumer has read the first
	 * one.
	 */
	for (int i = 0; i < 4 && !ret; i++) {
		kt_rename(1);
		ret = kt_control(fd, KTAPE_IOC_FLUSH);
	}
	EXPECT_EQ(-EAGAIN, ret);
	take_closed_blocks(fd, &pos, &g);
	EXPECT_EQ(3, g.nr);
	kt_blocks_free(&g);
	close(fd);
}

TEST(flush_needs_discard)
{
	int fd = kt_session(KTAPE_MODE_OVERWRITE, 4 * BLOCK, BLOCK,
			    KT_OPS(KTAPE_EV_PROCESS_RENAME));

	ASSERT_GE(fd, 0);
	EXPECT_EQ(-EOPNOTSUPP, kt_control(fd, KTAPE_IOC_FLUSH));
	close(fd);
}

/* ---- while all CPUs record -------------------------------------------------- */

/**
 * struct order - order of the marked calls, which have a number as argument, as sys_enter_wide
 *	records it: numbers must not go back, whatever was cleared
 * @next: least number of the next call, by CPU
 * @back: calls with a lower number
 * @nr: calls
 */
struct order {
	uint64_t next[CPUS_MAX];
	uint64_t back, nr;
};

static void check_mark_order(const struct ktape_block *b,
			     const struct kt_rec *r, void *arg)
{
	struct order *o = arg;
	uint64_t n;

	if (!kt_is_marked(r->op, r->blob, &n))
		return;
	o->back += n < o->next[b->cpu];
	o->next[b->cpu] = n + 1;
	o->nr++;
}

FIXTURE(storm)
{
	int fd, cpus;
	struct order order;
	struct kt_ledger *l;
	struct kt_buf b;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_VARIANT(storm)
{
	uint32_t mode;
};

FIXTURE_VARIANT_ADD(storm, overwrite){
	.mode = KTAPE_MODE_OVERWRITE,
};

FIXTURE_VARIANT_ADD(storm, discard){
	.mode = KTAPE_MODE_DISCARD,
};

FIXTURE_SETUP(storm)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->l = kt_ledger_new();
	self->l->next = check_mark_order;
	self->l->arg = &self->order;
}

FIXTURE_TEARDOWN(storm)
{
	close(self->fd);
	kt_buf_free(&self->b);
	free(self->l);
}

/*
 * Return how many events of a ring were neither read nor counted as discarded in the packets
 * that were read; -1: failed.
 */
static uint64_t uncounted_of_kind(FIXTURE_DATA(storm) * self, int cpu, int kind)
{
	const struct kts_stream *s = &self->l->t.stream[cpu][kind];
	struct ktape_stats st;

	if (kt_stats(self->fd, cpu, kind, &st))
		return -1;
	return kt_sum(st.emitted) - s->records - s->discarded;
}

/*
 * Start, and read an event of every ring: a reader's losses count from its first
 * packet of a ring on. The descriptor does not block afterwards. Where system calls are
 * recorded, so are the reader's own, and it always finds some; a session of switches may have
 * none left (EAGAIN). Return: 0 or -1.
 */
static int begin_storm(FIXTURE_DATA(storm) * self)
{
	ssize_t n;

	if (kt_control(self->fd, KTAPE_IOC_START) ||
	    kt_loads_start(self->load, self->cpus, 5, kt_call_marked))
		return -1;
	kt_loads_wait(self->load, self->cpus);
	kt_nonblock(self->fd, true);
	for (int i = 0; i < 20; i++) {
		n = kt_read_and_parse(&self->l->t, &self->b, self->fd, 65536);
		if (n == -EAGAIN)
			break;
		if (n <= 0)
			return -1;
	}
	/* The numbers of the next load begin with 0 again. */
	memset(&self->order, 0, sizeof(self->order));
	return 0;
}

/* Return true if the reader missed events of each CPU. */
static bool gaps_everywhere(FIXTURE_DATA(storm) * self)
{
	for (int cpu = 0; cpu < self->cpus; cpu++)
		if (!self->l->t.stream[cpu][KTAPE_RING_EVENT].gaps)
			return false;
	return true;
}

/*
 * Clear, and in a discard session flush, between reads: cleared events are
 * missing and counted. System calls do not nest, so the counts are exact.
 */
TEST_F_TIMEOUT(storm, clear_and_flush, 240)
{
	ssize_t n;

	self->fd = kt_session(variant->mode, 32 * BLOCK, BLOCK,
			      KT_OPS(KTAPE_EV_SYS_ENTER_WIDE));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, begin_storm(self));
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 0, kt_call_marked));
	/* On a busy machine a CPU may not run for a long time. */
	for (int i = 0; i < 500 / kt_scale() || !gaps_everywhere(self); i++) {
		n = kt_read_and_parse(&self->l->t, &self->b, self->fd, 40000);
		ASSERT_LT(0, n);
		ASSERT_STREQ("", self->l->t.error);
		if (i % 5 == 0)
			ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
		if (i % 7 == 0 && variant->mode == KTAPE_MODE_DISCARD)
			kt_control(self->fd, KTAPE_IOC_FLUSH);
	}
	kt_loads_stop(self->load, self->cpus);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	EXPECT_EQ(0, self->order.back);
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct kts_stream *s = &self->l->t.stream[cpu][0];

		EXPECT_EQ(0, uncounted_of_kind(self, cpu, KTAPE_RING_EVENT))
		{
			TH_LOG("cpu %d: %llu records, %llu discarded, %llu gaps",
			       cpu, (unsigned long long)s->records,
			       (unsigned long long)s->discarded,
			       (unsigned long long)s->gaps);
		}
		EXPECT_LT(0, s->gaps);
		EXPECT_LT(0, s->records);
	}
}

static void call_and_yield(uint64_t n)
{
	syscall(SYS_getppid);
	if (n % 4 == 0)
		sched_yield();
	if (n % 128 == 0)
		usleep(1);
}

/* Return true if each load thread has made all its calls. */
static bool loads_are_done(const struct kt_load *l, int nr)
{
	for (int i = 0; i < nr; i++)
		if (__atomic_load_n(&l[i].done, __ATOMIC_RELAXED) < l[i].limit)
			return false;
	return true;
}

static int record_all_events(int fd)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	for (int op = 1; op < KTAPE_TIME_EXTEND; op++)
		if (kts_shapes[op].name)
			kt_ops_add(p.mask, op);
	return kt_profile(fd, &p);
}

/*
 * The counts in a block header are taken before the interrupted contexts have
 * stored their events. There are four contexts (task, soft interrupt, interrupt, NMI), so the
 * counts are off by at most this many.
 */
#define DEPTH 4

/*
 * Four blocks of one page, with every event enabled, and timers and interrupts
 * besides.
 */
TEST_F_TIMEOUT(storm, smallest_rings, 240)
{
	ssize_t n;

	self->fd = kt_session(variant->mode, 4 * BLOCK, BLOCK,
			      KT_OPS(KTAPE_EV_SCHED_SWITCH));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, begin_storm(self));
	/*
	 * Only now: events overwritten before the reader's first packet would
	 * not be counted.
	 */
	ASSERT_EQ(0, record_all_events(self->fd));
	ASSERT_EQ(0, kt_loads_start(self->load, self->cpus, 40000 / kt_scale(),
				    call_and_yield));
	do {
		n = kt_read_and_parse(&self->l->t, &self->b, self->fd, 30000);
		ASSERT_LT(0, n);
		ASSERT_STREQ("", self->l->t.error);
	} while (!loads_are_done(self->load, self->cpus));
	kt_loads_wait(self->load, self->cpus);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	EXPECT_STREQ("", self->l->t.error);
	if (variant->mode == KTAPE_MODE_DISCARD) {
		EXPECT_LE(0, kt_ledger_check(self->l, self->fd, self->cpus));
		EXPECT_STREQ("", self->l->t.error);
		return;
	}
	for (int i = 0; i < self->cpus * 2; i++) {
		struct kts_stream *s = &self->l->t.stream[i / 2][i % 2];
		int64_t off = uncounted_of_kind(self, i / 2, i % 2);

		EXPECT_LE(llabs(off), DEPTH)
		{
			TH_LOG("cpu %d kind %d: %llu gaps", i / 2, i % 2,
			       (unsigned long long)s->gaps);
		}
	}
}

/* ---- open with O_TRUNC ------------------------------------------------------ */

TEST(truncate_clears)
{
	int control = kt_open(O_RDWR), fd;
	struct kt_ledger *l = kt_ledger_new();
	struct order order = {};
	struct kt_buf b = {};

	kt_pin(0);
	l->next = check_mark_order;
	l->arg = &order;
	ASSERT_GE(control, 0);
	ASSERT_EQ(0, kt_profile_ops(control, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_ENTER_WIDE, 0, 0));
	for (int i = 0; i < 100; i++)
		kt_call_marked(i);
	/* Like ": >/dev/ktape" in a shell. */
	fd = open("/dev/ktape", O_WRONLY | O_CREAT | O_TRUNC, 0666);
	ASSERT_GE(fd, 0);
	close(fd);
	for (int i = 100; i < 150; i++)
		kt_call_marked(i);
	ASSERT_EQ(0, kt_control(control, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&l->t, &b, control));
	EXPECT_STREQ("", l->t.error);
	EXPECT_EQ(150, order.next[0]);
	EXPECT_EQ(50, order.nr);
	ASSERT_EQ(0, kt_control(control, KTAPE_IOC_START));
	kt_buf_free(&b);
	free(l);
	close(control);
}

TEST_HARNESS_MAIN
