// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run independent readers of the same rings while all CPUs record: what any two
 * of them got must be identical, by read() or from a mapping.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_blocks.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define CPUS_MAX 16
#define READERS	 4

/* System calls, switches, wake-ups, and an occasional new process. */
static void make_mixed_calls(uint64_t n)
{
	syscall(SYS_getppid);
	if (n % 16 == 0)
		sched_yield();
	if (n % 2048 == 0)
		usleep(200);
	if (n % 4096 == 0) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/**
 * struct reader - a thread that reads session 0 to the end
 * @thread: the thread
 * @fd: its descriptor
 * @cpus: number of CPUs
 * @pause_us: its pause after each round
 * @maps: it reads mappings, not by read()
 * @stopped: the session is stopped; a reader of mappings takes the open blocks, too, and ends
 * @t: parse of what read() returned
 * @got: the blocks that it got
 * @lapped: bytes that were overwritten before it read a mapping
 * @error: first error, "" = none
 */
struct reader {
	pthread_t thread;
	int fd, cpus, pause_us;
	bool maps, stopped;
	struct kts *t;
	struct kt_blocks got;
	uint64_t lapped;
	char error[200];
};

static void keep_packet(const struct ktape_block *b, void *arg)
{
	kt_take_packet(b, arg);
}

static void *packet_reader_main(void *arg)
{
	struct reader *r = arg;
	struct kt_buf b = {};
	ssize_t n;

	r->t->packet = keep_packet;
	r->t->arg = &r->got;
	do {
		n = kt_read_and_parse(r->t, &b, r->fd, 100000);
		usleep(r->pause_us);
	} while (n > 0 && !r->t->error[0]);
	snprintf(r->error, sizeof(r->error), "%s", r->t->error);
	if (n || b.len)
		snprintf(r->error, sizeof(r->error), "read: %zd, %zu left", n,
			 b.len);
	kt_buf_free(&b);
	return NULL;
}

static void *mapping_reader_main(void *arg)
{
	struct reader *r = arg;
	uint64_t pos[CPUS_MAX * 2] = {};
	struct kt_map m[CPUS_MAX * 2];
	bool last;
	int i;

	for (i = 0; i < r->cpus * 2; i++)
		if (kt_map_ring(r->fd, i / 2, i % 2, &m[i])) {
			snprintf(r->error, sizeof(r->error), "map %d", i);
			return NULL;
		}
	do {
		last = __atomic_load_n(&r->stopped, __ATOMIC_ACQUIRE);
		for (i = 0; i < r->cpus * 2; i++)
			r->lapped += kt_take_blocks(&m[i], &pos[i], last, &r->got);
		usleep(r->pause_us);
	} while (!last);
	for (i = 0; i < r->cpus * 2; i++)
		kt_unmap_ring(&m[i]);
	return NULL;
}

FIXTURE(readers)
{
	int control, cpus;
	struct kt_load load[CPUS_MAX];
	struct reader r[READERS];
};

FIXTURE_SETUP(readers)
{
	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	self->control = kt_open(O_RDWR);
	ASSERT_GE(self->control, 0);
	ASSERT_EQ(0, kt_profile_ops(self->control, KTAPE_PROFILE_OR,
				    KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT, 0));
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &self->r[i];

		r->cpus = self->cpus;
		r->maps = i % 2;
		r->pause_us = i < 2 ? 1000 : 50000;
		r->t = calloc(1, sizeof(*r->t));
		r->fd = kt_open(O_RDONLY);
		ASSERT_GE(r->fd, 0);
	}
}

FIXTURE_TEARDOWN(readers)
{
	for (int i = 0; i < READERS; i++) {
		close(self->r[i].fd);
		kt_blocks_free(&self->r[i].got);
		free(self->r[i].t);
	}
	close(self->control);
}

static int record_for_readers(FIXTURE_DATA(readers) * self, uint64_t calls)
{
	for (int i = 0; i < READERS; i++) {
		struct reader *r = &self->r[i];

		if (pthread_create(&r->thread, NULL,
				   r->maps ? mapping_reader_main : packet_reader_main,
				   r))
			return -1;
	}
	if (kt_loads_start(self->load, self->cpus, calls, make_mixed_calls))
		return -1;
	kt_loads_wait(self->load, self->cpus);
	if (kt_control(self->control, KTAPE_IOC_STOP))
		return -1;
	for (int i = 0; i < READERS; i++) {
		__atomic_store_n(&self->r[i].stopped, true, __ATOMIC_RELEASE);
		pthread_join(self->r[i].thread, NULL);
		kt_blocks_sort(&self->r[i].got);
	}
	return 0;
}

TEST_F_TIMEOUT(readers, same_bytes, 300)
{
	long least = 1000000, same;

	ASSERT_EQ(0, record_for_readers(self, 40000 / kt_scale()));
	for (int i = 0; i < READERS; i++) {
		EXPECT_STREQ("", self->r[i].error);
		TH_LOG("reader %d, %s: %zu blocks, %llu KiB lapped", i,
		       self->r[i].maps ? "mapped" : "read()", self->r[i].got.nr,
		       (unsigned long long)self->r[i].lapped >> 10);
	}
	for (int i = 0; i < READERS; i++)
		for (int j = 0; j < i; j++) {
			same = kt_blocks_compare(&self->r[i].got, &self->r[j].got);
			EXPECT_LE(0, same)
			{
				const struct kt_block *g =
					&self->r[i].got.v[-1 - same];

				TH_LOG("readers %d and %d: cpu %u kind %u block %llu differs",
				       i, j, g->cpu, g->kind,
				       (unsigned long long)g->block);
			}
			if (same < least)
				least = same;
		}
	TH_LOG("at least %ld whole blocks in common", least);
	/* With few the comparison would prove little. */
	EXPECT_LE(20, least);
}

TEST_HARNESS_MAIN
