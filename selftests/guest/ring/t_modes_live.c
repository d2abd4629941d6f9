// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test discard mode with live consumers, the readers for which such a session waits: a million
 * events of all kinds from all CPUs, nested as they come. At STOP records + lost = emitted,
 * exactly, by class, in every count.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_blocks.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define CPUS_MAX 16

static void call_and_fork(uint64_t n)
{
	syscall(SYS_getppid);
	if (n % 8 == 0)
		sched_yield();
	if (n % 1024 == 0)
		usleep(1);
	if (n % 16384 == 0) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static uint64_t count_emitted(int fd, int cpus)
{
	struct ktape_stats st;
	uint64_t n = 0;

	for (int i = 0; i < cpus * 2; i++)
		if (!kt_stats(fd, i / 2, i % 2, &st))
			n += kt_sum(st.emitted);
	return n;
}

FIXTURE(live)
{
	int fd, cpus;
	uint64_t enough;
	struct kt_load load[CPUS_MAX];
};

FIXTURE_SETUP(live)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->enough = 1000000 / kt_scale();
}

FIXTURE_TEARDOWN(live)
{
	close(self->fd);
}

/* All events except the wide forms, which replace the short ones. */
static int record_short_events(int fd)
{
	struct ktape_profile p = { .op = KTAPE_PROFILE_SET };

	for (int op = 1; op < KTAPE_TIME_EXTEND; op++)
		if (kts_shapes[op].name && op != KTAPE_EV_SYS_ENTER_WIDE &&
		    op != KTAPE_EV_SYS_EXIT_WIDE)
			kt_ops_add(p.mask, op);
	return kt_profile(fd, &p);
}

/* Make calls on all CPUs until there are enough events, then STOP. */
static int call_until_enough(FIXTURE_DATA(live) * self)
{
	uint64_t begin = count_emitted(self->fd, self->cpus);

	if (kt_loads_start(self->load, self->cpus, 0, call_and_fork))
		return -1;
	while (count_emitted(self->fd, self->cpus) - begin < self->enough)
		usleep(20000);
	kt_loads_stop(self->load, self->cpus);
	return kt_control(self->fd, KTAPE_IOC_STOP);
}

/**
 * struct consumer - a thread that reads a session with pauses
 * @thread: the thread
 * @fd: the session
 * @cpus: number of CPUs
 * @last: result of its last read()
 * @l: what it has read
 */
struct consumer {
	pthread_t thread;
	int fd, cpus;
	ssize_t last;
	struct kt_ledger *l;
};

static uint64_t count_lost_events(int fd, int cpus)
{
	struct ktape_stats st;
	uint64_t n = 0;

	for (int cpu = 0; cpu < cpus; cpu++)
		if (!kt_stats(fd, cpu, KTAPE_RING_EVENT, &st))
			n += kt_lost(&st);
	return n;
}

static bool is_running(int fd)
{
	struct ktape_layout l;

	return !kt_layout(fd, &l, NULL, 0) && l.running;
}

/* Wait until a ring is full, that is until an event is lost, or until STOP. */
static void wait_for_loss(const struct consumer *c)
{
	uint64_t before = count_lost_events(c->fd, c->cpus);

	while (is_running(c->fd) && count_lost_events(c->fd, c->cpus) == before)
		usleep(10000);
}

/* Read with pauses in which rings fill up. */
static void *read_with_pauses(void *arg)
{
	struct consumer *c = arg;
	struct kt_buf b = {};
	int n = 0;

	do {
		if (n++ % 100 == 0)
			wait_for_loss(c);
		c->last = kt_read_and_parse(&c->l->t, &b, c->fd, 50000);
	} while (c->last > 0 && !c->l->t.error[0]);
	if (b.len)
		kts_bad(&c->l->t, "%zu bytes are no packet", b.len);
	kt_buf_free(&b);
	return NULL;
}

TEST_F_TIMEOUT(live, read_adds_up, 400)
{
	struct consumer c = { .l = kt_ledger_new() };
	int64_t lost;

	self->fd = kt_session(KTAPE_MODE_DISCARD, 262144, 4096,
			      KT_OPS(KTAPE_EV_SCHED_SWITCH));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, record_short_events(self->fd));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	c.fd = self->fd;
	c.cpus = self->cpus;
	ASSERT_EQ(0, pthread_create(&c.thread, NULL, read_with_pauses, &c));
	ASSERT_EQ(0, call_until_enough(self));
	pthread_join(c.thread, NULL);
	EXPECT_EQ(0, c.last);
	EXPECT_STREQ("", c.l->t.error);
	lost = kt_ledger_check(c.l, self->fd, self->cpus);
	EXPECT_STREQ("", c.l->t.error);
	for (int cpu = 0; cpu < self->cpus; cpu++)
		EXPECT_LT(0, c.l->nr[cpu]);
	TH_LOG("%llu events, %lld lost",
	       (unsigned long long)count_emitted(self->fd, self->cpus),
	       (long long)lost);
	EXPECT_LT(0, lost);
	EXPECT_LT(lost, count_emitted(self->fd, self->cpus));
	free(c.l);
}

/**
 * struct mapped - a thread that is a consumer of session 0 by mappings
 * @thread: the thread
 * @fd: its descriptor of the session
 * @cpus: number of CPUs
 * @pause_us: its pause after each round
 * @error: negative: what failed
 * @stopped: the session is stopped; take the open blocks, too, and end
 * @pos: position up to which it has read, by ring: CPU * 2 + kind
 * @lapped: bytes that were overwritten before it read them
 * @got: blocks that it has read
 */
struct mapped {
	pthread_t thread;
	int fd, cpus, pause_us, error;
	bool stopped;
	uint64_t pos[CPUS_MAX * 2], lapped;
	struct kt_blocks got;
};

static int report_mapped_positions(struct mapped *r)
{
	struct ktape_position pos[CPUS_MAX * 2];
	struct ktape_consumer c = { .size = sizeof(c),
				    .nr = r->cpus * 2,
				    .op = KTAPE_CONSUMER_POSITION,
				    .positions = (uintptr_t)pos };

	for (int i = 0; i < r->cpus * 2; i++)
		pos[i] = (struct ktape_position){ .cpu = i / 2,
						  .kind = i % 2,
						  .position = r->pos[i] };
	return kt_ioctl(r->fd, KTAPE_IOC_CONSUMER, &c);
}

static void *mapped_consumer_main(void *arg)
{
	struct mapped *r = arg;
	struct kt_map m[CPUS_MAX * 2];
	bool last;
	int i;

	for (i = 0; i < r->cpus * 2; i++)
		if (kt_map_ring(r->fd, i / 2, i % 2, &m[i]))
			r->error = -1;
	while (!r->error) {
		last = __atomic_load_n(&r->stopped, __ATOMIC_ACQUIRE);
		for (i = 0; i < r->cpus * 2; i++)
			r->lapped +=
				kt_take_blocks(&m[i], &r->pos[i], last, &r->got);
		if (last)
			break;
		r->error = report_mapped_positions(r);
		usleep(r->pause_us);
	}
	for (i = 0; i < r->cpus * 2; i++)
		kt_unmap_ring(&m[i]);
	return NULL;
}

/* Count the records read, by ring and class. */
static int count_records_read(const struct kt_blocks *g,
			      uint64_t n[CPUS_MAX][2][KTAPE_CLASSES])
{
	for (size_t i = 0; i < g->nr; i++) {
		const struct kt_block *got = &g->v[i];
		struct kt_rec r = {};
		size_t at, len;

		for (at = KTAPE_BLOCK_HEADER; at < got->len; at += len) {
			len = kt_decode((const void *)(got->bytes + at),
					got->len - at, &r);
			if (!len)
				return -1;
			if (r.op != KTAPE_TIME_EXTEND)
				n[got->cpu][got->kind][kts_shapes[r.op].class]++;
		}
	}
	return 0;
}

/*
 * Use two mapped consumers, one of them slow: no data of either may be
 * overwritten. Session 0 is in discard mode with small rings (tests.conf). It
 * counts since the module was loaded, and nothing was consumed until now.
 */
TEST_F_TIMEOUT(live, mapped_add_up, 400)
{
	static uint64_t n[CPUS_MAX][2][KTAPE_CLASSES];
	struct ktape_consumer c = { .size = sizeof(c),
				    .op = KTAPE_CONSUMER_REGISTER };
	struct mapped *r = calloc(2, sizeof(*r));
	struct ktape_stats st;
	uint64_t lost = 0;

	for (int i = 0; i < 2; i++) {
		r[i].cpus = self->cpus;
		r[i].pause_us = i ? 10000 : 500;
		r[i].fd = kt_open(O_RDWR);
		ASSERT_GE(r[i].fd, 0);
		ASSERT_EQ(0, kt_ioctl(r[i].fd, KTAPE_IOC_CONSUMER, &c));
	}
	self->fd = kt_open(O_RDWR);
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, record_short_events(self->fd));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&r[i].thread, NULL,
					    mapped_consumer_main, &r[i]));
	ASSERT_EQ(0, call_until_enough(self));
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&r[i].stopped, true, __ATOMIC_RELEASE);
		pthread_join(r[i].thread, NULL);
		EXPECT_EQ(0, r[i].error);
		EXPECT_EQ(0, r[i].lapped);
		kt_blocks_sort(&r[i].got);
	}
	EXPECT_EQ(r[0].got.nr, r[1].got.nr);
	EXPECT_EQ(r[0].got.nr, kt_blocks_compare(&r[0].got, &r[1].got));
	ASSERT_EQ(0, count_records_read(&r[0].got, n));
	for (int i = 0; i < self->cpus * 2; i++) {
		ASSERT_EQ(0, kt_stats(self->fd, i / 2, i % 2, &st));
		for (int class = 0; class < KTAPE_CLASSES; ++class) {
			uint64_t gone = 0;

			for (int why = 0; why < KTAPE_LOST_REASONS; why++)
				gone += st.lost[why][class];
			lost += gone;
			EXPECT_EQ(st.emitted[class], n[i / 2][i % 2][class] + gone)
			{
				TH_LOG("cpu %d kind %d class %d", i / 2, i % 2,
				       class);
			}
		}
	}
	TH_LOG("%zu blocks each, %llu events lost", r[0].got.nr,
	       (unsigned long long)lost);
	EXPECT_LT(0, lost);
	for (int i = 0; i < 2; i++) {
		kt_blocks_free(&r[i].got);
		close(r[i].fd);
	}
	free(r);
}

TEST_HARNESS_MAIN
