// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run-time probe between the record of a switch and the switch itself, where current is
 * still the outgoing thread, but records belong to the incoming one: the header of a block
 * that the probe opens names that thread, and thread filters match that one.
 */
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"
#include "kt_probe.h"

#define CPU   1
#define RING  (4UL << 20)
#define BLOCK 4096UL
/* They fill about 40 blocks; a hit opens half of them. */
#define TURNS 2000
#define SLOT  KTAPE_OP_PROBE
/* The scheduler calls it after the tracepoint, if the next thread has memory. */
#define INSIDE "switch_mm_irqs_off"

FIXTURE(window)
{
	int dev, fd;
	bool missing;
	pid_t pid[2];
	struct kt_map m;
};

/*
 * Each wakes the other one and sleeps, so that each turn is a switch.  Both are stopped
 * before and after: a thread that exits has no memory, so a switch to it has no hit, but
 * the flush of the TLB at the end of exit_mmap() has one, without a switch.
 */
static void wake_in_turns(int from, int to, bool begins)
{
	char byte = 0;

	kt_pin(CPU);
	raise(SIGSTOP);
	for (int i = 0; i < TURNS; i++) {
		if (begins && write(to, &byte, 1) != 1)
			_exit(1);
		if (read(from, &byte, 1) != 1)
			_exit(1);
		if (!begins && write(to, &byte, 1) != 1)
			_exit(1);
	}
	raise(SIGSTOP);
	_exit(0);
}

FIXTURE_SETUP(window)
{
	int status, pipes[2][2];

	if (kt_online_cpus() < 2)
		SKIP(return, "needs 2 CPUs");
	ASSERT_EQ(0, pipe(pipes[0]) | pipe(pipes[1]));
	self->dev = kt_open(O_RDWR);
	ASSERT_LE(0, self->dev);
	self->fd = kt_create(self->dev, KTAPE_MODE_OVERWRITE, RING, BLOCK);
	ASSERT_LE(0, self->fd);
	self->missing = kt_probe_add(self->dev, INSIDE, 0, 0) != SLOT;
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, SLOT, 0, 0));
	ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_OR,
				    KTAPE_EV_SCHED_SWITCH, 0, 0));
	ASSERT_EQ(0, kt_map_ring(self->fd, CPU, KTAPE_RING_EVENT, &self->m));
	kt_pin(0);
	for (int i = 0; i < 2; i++) {
		self->pid[i] = fork();
		if (!self->pid[i])
			wake_in_turns(pipes[i][0], pipes[!i][1], !i);
		ASSERT_EQ(self->pid[i], waitpid(self->pid[i], &status, WUNTRACED));
	}
	for (int i = 0; i < 4; i++)
		close(pipes[i / 2][i % 2]);
}

FIXTURE_TEARDOWN(window)
{
	for (int i = 0; i < 2 && self->pid[i] > 0; i++) {
		kill(self->pid[i], SIGKILL);
		waitpid(self->pid[i], NULL, 0);
	}
	kt_unmap_ring(&self->m);
	close(self->fd);
	kt_probe_remove(self->dev, SLOT);
	close(self->dev);
}

static int let_them_run(FIXTURE_DATA(window) * self)
{
	int ret = kt_control(self->fd, KTAPE_IOC_START), status;

	for (int i = 0; i < 2; i++)
		kill(self->pid[i], SIGCONT);
	for (int i = 0; i < 2; i++)
		if (waitpid(self->pid[i], &status, WUNTRACED) != self->pid[i] ||
		    !WIFSTOPPED(status))
			ret = ret ?: -ECHILD;
	return ret ?: kt_control(self->fd, KTAPE_IOC_STOP);
}

/**
 * struct seen - what the records of the ring say
 * @m: the ring
 * @only: the thread whose events pass the filter, -1 = no filter
 * @tid: running thread, as records say; 0 = not known yet
 * @opcode: the last record
 * @next: the thread that it switched to
 * @block: block of the last record
 * @switches: switches
 * @hits: hits of the probe
 * @heads: blocks that the probe has opened
 * @wrong: of these, blocks that name another thread, or say that it is unknown
 * @foreign: hits that belong to another thread than @only; without a filter all
 * @missing: switches to @only that no hit follows
 */
struct seen {
	const struct kt_map *m;
	int32_t only, tid, next;
	uint32_t opcode;
	uint64_t block;
	long switches, hits, heads, wrong, foreign, missing;
};

static void look_at_head(struct seen *s, const struct kt_rec *r)
{
	const struct ktape_block *b =
		(const void *)(s->m->data + r->pos / BLOCK * BLOCK % RING);

	if (r->pos / BLOCK == s->block)
		return;
	s->block = r->pos / BLOCK;
	if (r->op != SLOT || !s->tid)
		return;
	s->heads++;
	if (b->tid == s->tid && b->context != KTAPE_CTX_UNKNOWN)
		return;
	if (!s->wrong++)
		printf("# block %llu names thread %d in context %u instead of %d\n",
		       (unsigned long long)s->block, b->tid, b->context, s->tid);
}

static void check_switch_record(const struct kt_rec *r, void *arg)
{
	struct seen *s = arg;

	look_at_head(s, r);
	/* Names, and what the tracer says about itself, may come in between. */
	if (r->op != SLOT && r->op != KTAPE_EV_SCHED_SWITCH &&
	    r->op != KTAPE_EV_CONTEXT)
		return;
	if (s->opcode == KTAPE_EV_SCHED_SWITCH && s->next == s->only)
		s->missing += r->op != SLOT;
	if (r->op == SLOT) {
		s->hits++;
		s->foreign += s->tid != s->only;
	}
	s->opcode = r->op;
	if (r->op == KTAPE_EV_CONTEXT)
		s->tid = (int32_t)r->args[0];
	if (r->op == KTAPE_EV_SCHED_SWITCH) {
		s->next = (int32_t)r->args[1];
		s->tid = s->next;
		s->switches++;
	}
}

TEST_F_TIMEOUT(window, header, 120)
{
	struct seen s = { .m = &self->m, .block = UINT64_MAX, .only = -1 };

	if (self->missing)
		SKIP(return, INSIDE "() cannot be probed");
	ASSERT_EQ(0, let_them_run(self));
	ASSERT_LT(0, kt_walk(&self->m, check_switch_record, &s));
	TH_LOG("%ld switches, %ld hits, %ld blocks opened by hits", s.switches,
	       s.hits, s.heads);
	EXPECT_LT(TURNS, s.hits);
	EXPECT_LT(0, s.heads);
	EXPECT_EQ(0, s.wrong);
}

TEST_F_TIMEOUT(window, filter, 120)
{
	struct seen s = { .m = &self->m, .block = UINT64_MAX };
	struct kt_tally t;

	if (self->missing)
		SKIP(return, INSIDE "() cannot be probed");
	s.only = self->pid[0];
	ASSERT_EQ(0, kt_filter_pid(self->fd, s.only, 0));
	ASSERT_EQ(0, let_them_run(self));
	ASSERT_LT(0, kt_walk(&self->m, check_switch_record, &s));
	TH_LOG("%ld switches, %ld hits, %ld blocks opened by hits", s.switches,
	       s.hits, s.heads);
	EXPECT_LT(TURNS / 2, s.hits);
	EXPECT_EQ(0, s.wrong);
	EXPECT_EQ(0, s.foreign);
	EXPECT_EQ(0, s.missing);
	kt_stop_and_tally(&t, self->fd, NULL, NULL);
	EXPECT_EQ(0, t.wrong);
	EXPECT_LT(0, t.filtered[KTAPE_CLASS_KPROBE]);
}

TEST_HARNESS_MAIN
