// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leave a CPU idle until the low half of the clock wraps: the times after the
 * pause must be right, by read() and in the mapping, wherever in a block the
 * pause was.
 */
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "kselftest_harness.h"

#include "kt_blocks.h"
#include "kt_ledger.h"
#include "kt_load.h"
#include "now.h"

#define BLOCK 4096
#define CPUS  4
#define ROOM \
	((BLOCK - KTAPE_BLOCK_HEADER) / 8) /* records of 8 bytes in a block */
#define PAUSE_S	  11 /* 32 bits of nanoseconds wrap after 4.3 s */
#define CALLS_MAX (2 * ROOM)
/* The NMI-safe clock and the vDSO's clock may differ slightly. */
#define MONO_SLACK_NS 20000

/*
 * sys_enter takes 8 bytes. Before its pause each CPU writes so many of them, including that of
 * the call that waits. START and the tracer write some more records to the block. So when the
 * CPU pauses, the first block is just begun or a fifth full, or, with the last two numbers, the
 * second block is just begun.
 */
static const int before[CPUS] = { 1, 100, ROOM - 1, ROOM };

/**
 * struct quiet - one CPU: its calls and their records
 * @thread: the thread that makes the calls
 * @cpu: the CPU
 * @calls: number of calls
 * @begin: CLOCK_MONOTONIC before each call
 * @end: CLOCK_MONOTONIC after it
 * @read: times of their records by read()
 * @mapped: times of their records in the mapping
 * @nr_read: number of records by read()
 * @nr_mapped: number of records in the mapping
 * @extends: time extensions in both
 */
struct quiet {
	pthread_t thread;
	int cpu, calls;
	uint64_t begin[CALLS_MAX], end[CALLS_MAX];
	uint64_t read[CALLS_MAX], mapped[CALLS_MAX];
	int nr_read, nr_mapped, extends;
};

static bool go;
static uint32_t pause_is_over; /* a futex */

/* Make calls, with the pause between. Reading the clock by the vDSO makes no system call. */
static void *call_and_pause_main(void *arg)
{
	struct quiet *q = arg;

	kt_pin(q->cpu);
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		;
	for (q->calls = 0; q->calls < before[q->cpu] + 20; q->calls++) {
		if (q->calls == before[q->cpu] - 1)
			syscall(SYS_futex, &pause_is_over, FUTEX_WAIT, 0, NULL);
		q->begin[q->calls] = now_ns();
		syscall(SYS_getppid);
		q->end[q->calls] = now_ns();
	}
	return NULL;
}

static void keep_call_time(struct quiet *q, const struct kt_rec *r,
			   uint64_t *ts, int *nr)
{
	q->extends += r->op == KTAPE_TIME_EXTEND;
	if (r->op == KTAPE_EV_SYS_ENTER && r->dat20 == SYS_getppid && *nr < CALLS_MAX)
		ts[(*nr)++] = r->ts;
}

static void keep_read_call(const struct ktape_block *b, const struct kt_rec *r,
			   void *arg)
{
	struct quiet *q = arg;

	if (b->kind == KTAPE_RING_EVENT && b->cpu < CPUS)
		keep_call_time(&q[b->cpu], r, q[b->cpu].read, &q[b->cpu].nr_read);
}

static void keep_mapped_call(const struct kt_rec *r, void *arg)
{
	struct quiet *q = arg;

	keep_call_time(q, r, q->mapped, &q->nr_mapped);
}

FIXTURE(quiet)
{
	int fd;
	struct ktape_features f;
	struct kt_ledger *l;
	struct kt_buf b;
};

FIXTURE_SETUP(quiet)
{
	if (kt_online_cpus() < CPUS)
		SKIP(return, "needs %d CPUs", CPUS);
	if (kt_is_busy())
		SKIP(return, "no CPU is quiet");
	self->l = kt_ledger_new();
	self->fd = kt_session(KTAPE_MODE_OVERWRITE, 8 * BLOCK, BLOCK,
			      KT_OPS(KTAPE_EV_SYS_ENTER));
	ASSERT_GE(self->fd, 0);
	ASSERT_EQ(0, kt_features(self->fd, &self->f));
}

FIXTURE_TEARDOWN(quiet)
{
	if (!self->l)
		return;
	close(self->fd);
	free(self->l);
	kt_buf_free(&self->b);
}

/*
 * Each record's time must lie between the readings of CLOCK_MONOTONIC around
 * its call. Another trace clock is related to CLOCK_MONOTONIC by the first
 * call, whose readings are as far apart as the result may be wrong; its
 * frequency is known to 1e-4.
 */
static void check_quiet_times(struct __test_metadata *_metadata,
			      const struct quiet *q, const struct ktape_features *f)
{
	bool mono = f->clock == KTAPE_CLOCK_MONO;
	double ns = 1e9 / f->clock_hz, at, slack;
	double shift = mono ? 0 : q->mapped[0] * ns - q->begin[0];

	for (int i = 0; i < q->calls; i++) {
		ASSERT_EQ(q->mapped[i], q->read[i]);
		slack = MONO_SLACK_NS;
		if (!mono)
			slack += q->end[0] - q->begin[0] +
				 (q->end[i] - q->begin[0]) * 1e-4;
		at = q->mapped[i] * ns - shift;
		ASSERT_LE(q->begin[i], at + slack)
		{
			TH_LOG("cpu %d call %d", q->cpu, i);
		}
		ASSERT_GE(q->end[i] + slack, at)
		{
			TH_LOG("cpu %d call %d", q->cpu, i);
		}
	}
}

TEST_F_TIMEOUT(quiet, pause_is_right, 300)
{
	static struct quiet q[CPUS];
	struct kt_map m;

	self->l->next = keep_read_call;
	self->l->arg = q;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		q[cpu].cpu = cpu;
		ASSERT_EQ(0, pthread_create(&q[cpu].thread, NULL,
					    call_and_pause_main, &q[cpu]));
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	__atomic_store_n(&go, true, __ATOMIC_RELEASE);
	sleep(PAUSE_S);
	__atomic_store_n(&pause_is_over, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &pause_is_over, FUTEX_WAKE, INT_MAX);
	for (int cpu = 0; cpu < CPUS; cpu++)
		pthread_join(q[cpu].thread, NULL);
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
	ASSERT_EQ(0, kt_read_and_parse_all(&self->l->t, &self->b, self->fd));
	ASSERT_STREQ("", self->l->t.error);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		ASSERT_EQ(0, kt_map_ring(self->fd, cpu, KTAPE_RING_EVENT, &m));
		ASSERT_LT(0, kt_walk(&m, keep_mapped_call, &q[cpu]));
		EXPECT_EQ(q[cpu].calls, q[cpu].nr_mapped);
		EXPECT_EQ(q[cpu].calls, q[cpu].nr_read);
		TH_LOG("cpu %d: %d time extensions", cpu, q[cpu].extends / 2);
		check_quiet_times(_metadata, &q[cpu], &self->f);
		kt_unmap_ring(&m);
	}
	/* Inside a block only a time extension can express the pause. */
	EXPECT_LT(0, q[1].extends);
}

TEST_HARNESS_MAIN
