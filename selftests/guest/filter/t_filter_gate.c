// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test duration gates: a pair of begin and end that is at least as long as the gate
 * becomes one record, a span; a shorter pair is filtered; an event without its
 * counterpart is recorded unchanged. Only the duration of calls that sleep is
 * predictable.
 */
#include <linux/futex.h>
#include <sys/wait.h>

#include "kselftest_harness.h"

#include "kt_filter.h"

#define CALLS	 200
#define NAPS	 8
#define NAP_US	 60000
#define GATE_NS	 30000000ULL
#define HOUR_NS	 (3600ULL * 1000000000)
#define RING	 (4U << 20)
#define CONTROL	 (1U << 20)
#define CHILDREN 400
#define CROWD	 3200 /* threads in a call, for 4096 slots of open pairs */
#define STACK	 4096

/**
 * struct gated - records of the gated pairs
 * @hz: frequency of the clock
 * @ns: threshold of the gate, in ns
 * @enter: sys_enter records by call number
 * @exit: sys_exit records by call number
 * @span: spans by call number
 * @ret0: exits that returned 0, by call number
 * @sum: sum of the return values of spans, by call number
 * @wrong: spans that are too short or end before they start
 */
struct gated {
	uint64_t hz, ns;
	uint64_t enter[512], exit[512], span[512], ret0[512], sum[512];
	uint64_t wrong;
};

static void count_gated_record(const struct kt_rec *r, struct kt_tally *t)
{
	struct gated *s = t->arg;
	uint32_t nr = r->dat20 & 511;
	uint64_t start, ret;

	switch (r->op) {
	case KTAPE_EV_SYS_ENTER:
	case KTAPE_EV_SYS_ENTER_WIDE:
		s->enter[nr]++;
		break;
	case KTAPE_EV_SYS_EXIT:
		memcpy(&ret, r->args, sizeof(ret));
		s->exit[nr]++;
		s->ret0[nr] += !ret;
		break;
	case KTAPE_EV_SYS_EXIT_WIDE:
		s->exit[nr]++;
		break;
	case KTAPE_EV_SYS_SPAN:
		memcpy(&ret, r->args, sizeof(ret));
		memcpy(&start, r->args + 2, sizeof(start));
		s->span[nr]++;
		s->sum[nr] += ret;
		/* The record's end time is read slightly later than the gate's. */
		s->wrong += r->ts < start ||
			    (double)(r->ts - start) / s->hz * 1e9 + 1 < s->ns;
		break;
	}
}

FIXTURE(gate)
{
	int fd;
	struct gated *gated;
	struct kt_tally t;
};

FIXTURE_SETUP(gate)
{
	struct ktape_features f;

	self->fd = kt_session_for_threads(
		RING, CONTROL, KT_OPS(KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT));
	ASSERT_LE(0, self->fd);
	self->gated = calloc(1, sizeof(*self->gated));
	ASSERT_EQ(0, kt_features(self->fd, &f));
	self->gated->hz = f.clock_hz;
}

FIXTURE_TEARDOWN(gate)
{
	free(self->gated);
	close(self->fd);
}

static uint64_t sum_call_counts(const uint64_t *by_number)
{
	uint64_t n = 0;

	for (int i = 0; i < 512; i++)
		n += by_number[i];
	return n;
}

/*
 * Record short calls and naps through a gate.  Each nap has a span; a short call has one only if
 * it was preempted for longer than the gate.  No begin is left alone, and one end is: that of the
 * call that started the session, whose begin was before it.
 */
static void record_calls(struct __test_metadata *_metadata, FIXTURE_DATA(gate) * self)
{
	struct gated *s = self->gated;

	s->ns = GATE_NS;
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, s->ns));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < NAPS; i++) {
		usleep(NAP_US);
		kt_getppids(CALLS / NAPS);
	}
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(0, s->wrong);
	EXPECT_EQ(NAPS, s->span[SYS_clock_nanosleep]);
	EXPECT_EQ(0, s->sum[SYS_clock_nanosleep]);
	EXPECT_GT(CALLS, s->span[SYS_getppid]);
	EXPECT_EQ(0, sum_call_counts(s->enter));
	EXPECT_EQ(1, sum_call_counts(s->exit));
}

TEST_F_TIMEOUT(gate, above_and_below, 60)
{
	struct gated *s = self->gated;
	uint64_t short_ones;

	record_calls(_metadata, self);
	short_ones = s->span[SYS_getppid];
	TH_LOG("%llu naps, %llu calls longer than the gate, %llu filtered",
	       (unsigned long long)s->span[SYS_clock_nanosleep],
	       (unsigned long long)short_ones,
	       (unsigned long long)self->t.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(1, s->exit[SYS_ioctl]);
	/* Filtered are both ends of short calls and the begins of long calls. */
	EXPECT_EQ(self->t.emitted[KTAPE_CLASS_SYSCALL] - sum_call_counts(s->span) - 1,
		  self->t.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_LE(2 * (CALLS - short_ones) + short_ones + NAPS,
		  self->t.filtered[KTAPE_CLASS_SYSCALL]);
	EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_GATE).collisions);
}

/* The lowest gate lets every pair pass, the highest none; without a gate both are recorded. */
TEST_F(gate, lowest_and_highest)
{
	struct gated *s = self->gated;

	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, 0));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, HOUR_NS));
	kt_getppids(CALLS);
	ASSERT_EQ(0, kt_filter_off(self->fd, KTAPE_FILTER_GATE));
	kt_getppids(CALLS);
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(0, s->wrong);
	EXPECT_EQ(CALLS, s->span[SYS_getppid]);
	EXPECT_EQ((uint64_t)CALLS * getppid(), s->sum[SYS_getppid]);
	EXPECT_EQ(CALLS, s->enter[SYS_getppid]);
	EXPECT_EQ(CALLS, s->exit[SYS_getppid]);
	EXPECT_LE(2 * CALLS, self->t.filtered[KTAPE_CLASS_SYSCALL]);
}

/*
 * The end of the call that stops the session is not recorded, so it has no
 * span.
 */
TEST_F(gate, stopped_in_between)
{
	struct gated *s = self->gated;

	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, GATE_NS));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		/* If the begin of STOP were kept, the next end would make a long pair of it. */
		usleep(NAP_US);
	}
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(0, sum_call_counts(s->span));
	EXPECT_EQ(4, s->exit[SYS_ioctl]); /* of the calls that started it */
}

/*
 * A call that ends on an excluded CPU, and, longer than the gate after it began, the end of a call
 * that began there: the two must not become a span, and the end is recorded alone.
 */
TEST_F(gate, excluded_cpu_in_between)
{
	struct gated *s = self->gated;
	const uint64_t here = 1;

	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), 0));
	ASSERT_EQ(0, kt_filter_set(self->fd, KTAPE_FILTER_CPU, &here, 1));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, GATE_NS));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_pin(1));
	usleep(NAP_US);
	ASSERT_EQ(0, kt_pin(0));
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(0, sum_call_counts(s->span));
	EXPECT_EQ(1, s->exit[SYS_sched_setaffinity]);
}

/*
 * A thread that exits in a call must leave no open pair: a new thread that gets
 * its memory returns from clone() without having entered it, and that exit must
 * be an event of its own.
 */
TEST_F_TIMEOUT(gate, thread_exits_in_a_call, 60)
{
	int children = CHILDREN / kt_scale();
	struct gated *s = self->gated;

	ASSERT_EQ(0, kt_filter_pid(self->fd, getpid(), KTAPE_PID_CHILDREN));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, HOUR_NS));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	for (int i = 0; i < children; i++) {
		pid_t pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (!pid) {
			if (i % 2)
				syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
			syscall(SYS_exit_group, 0);
		}
		/* The thread exits before or within its call. */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	EXPECT_EQ(0, self->t.wrong);
	/* The first return of a child counts as that of clone(), or not at all. */
	EXPECT_EQ(KT_CHILD_RETURNS ? children : 0, s->exit[SYS_clone]);
	EXPECT_EQ(KT_CHILD_RETURNS ? children : 0, s->ret0[SYS_clone]);
	EXPECT_EQ(0, sum_call_counts(s->span));
	EXPECT_EQ(0, kt_filter_get(self->fd, KTAPE_FILTER_GATE).collisions);
}

/* ---- more pairs than there is room for ------------------------------------------ */

static int place[2]; /* futexes: threads sleep at the first, those counted at the second */

static void crowd_member(void)
{
	syscall(SYS_futex, &place[0], FUTEX_WAIT, 0, NULL);
	syscall(SYS_exit, 0);
}

/*
 * Wait until @n threads sleep in the call. The kernel moves those that do to the other
 * futex, without waking them, and says how many, so each is counted once.
 */
static void wait_for_crowd(int n)
{
	long moved;

	while (n > 0) {
		moved = syscall(SYS_futex, &place[0], FUTEX_CMP_REQUEUE, 0, n,
				&place[1], 0);
		if (moved < 0)
			_exit(1);
		n -= moved;
		if (!moved)
			usleep(10000);
	}
}

/*
 * Start a process of @n threads that sleep in a call, and report to the pipe @done
 * when all do. They are made by clone() without a library; their stacks stay.
 * Return: its pid.
 */
static pid_t start_crowd(int n, int done)
{
	pid_t pid = fork();
	char *stacks;

	if (pid)
		return pid;
	stacks = mmap(NULL, (size_t)n * STACK, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < n; i++) {
		void *top = stacks + (i + 1) * STACK - 64;

		if (clone((int (*)(void *))crowd_member, top,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
				  CLONE_THREAD | CLONE_SYSVSEM,
			  NULL) < 0)
			_exit(1);
	}
	wait_for_crowd(n);
	if (write(done, &n, sizeof(n)) != sizeof(n))
		_exit(1);
	for (;;)
		pause();
}

/* A begin that finds no free slot is a collision: it is recorded unchanged, and counted. */
TEST_F_TIMEOUT(gate, collisions, 120)
{
	int n = CROWD / (kt_scale() > 1 ? 8 : 1), done[2], got = 0;
	struct gated *s = self->gated;
	uint64_t collisions;
	pid_t pid;

	ASSERT_EQ(0, pipe(done));
	ASSERT_EQ(0, kt_filter_gate(self->fd, KTAPE_GATE_SYSCALL, HOUR_NS));
	ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
	pid = start_crowd(n, done[1]);
	ASSERT_EQ(sizeof(got), read(done[0], &got, sizeof(got)));
	ASSERT_EQ(n, got);
	collisions = kt_filter_get(self->fd, KTAPE_FILTER_GATE).collisions;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	kt_stop_and_tally(&self->t, self->fd, count_gated_record, s);
	TH_LOG("%d threads, %llu collisions, %llu of them sleep", n,
	       (unsigned long long)collisions,
	       (unsigned long long)s->enter[SYS_futex]);
	EXPECT_EQ(0, self->t.wrong);
	EXPECT_EQ(0, sum_call_counts(s->span));
	/* Fewer may all find a free slot. */
	if (n == CROWD)
		EXPECT_LT(0, collisions);
	EXPECT_LE(collisions, sum_call_counts(s->enter));
	EXPECT_EQ(kt_filter_get(self->fd, KTAPE_FILTER_GATE).collisions,
		  sum_call_counts(s->enter));
}

/* ---- interrupts ------------------------------------------------------------------ */

static void sleep_50_times(void)
{
	for (int i = 0; i < 50; i++)
		usleep(1000);
}

/**
 * struct pairs - a kind of pairs that a gate takes
 * @name: its name
 * @gate: the gate
 * @enter: opcode of the begin
 * @exit: opcode of the end
 * @span: opcode of the span
 * @hz: frequency of the clock
 * @wrong: spans that end before they start, or that are longer than a minute
 */
struct pairs {
	const char *name;
	uint32_t gate;
	unsigned char enter, exit, span;
	uint64_t hz, wrong;
};

static void check_pair_span(const struct kt_rec *r, struct kt_tally *t)
{
	struct pairs *p = t->arg;
	uint64_t start;

	if (r->op != p->span)
		return;
	memcpy(&start, r->args + r->nargs - 2, sizeof(start));
	p->wrong += r->ts < start || (r->ts - start) / p->hz > 60;
}

/* Count the begins in a session without a gate. */
static uint64_t count_ungated_begins(const struct pairs *p)
{
	int fd = kt_session(0, RING, 0, KT_OPS(p->enter, p->exit));
	struct kt_tally t;

	kt_control(fd, KTAPE_IOC_START);
	sleep_50_times();
	kt_stop_and_tally(&t, fd, NULL, NULL);
	close(fd);
	return t.op[p->enter];
}

#define PAIRS(gate, enter, exit, span)                                       \
	{                                                                    \
#gate, KTAPE_GATE_##gate, KTAPE_EV_##enter, KTAPE_EV_##exit, \
			KTAPE_EV_##span, 0, 0                                \
	}

TEST_F_TIMEOUT(gate, interrupts_timers_and_work, 120)
{
	struct pairs pairs[] = {
		PAIRS(IRQ, IRQ_HANDLER_ENTRY, IRQ_HANDLER_EXIT, IRQ_SPAN),
		PAIRS(SOFTIRQ, SOFTIRQ_ENTRY, SOFTIRQ_EXIT, SOFTIRQ_SPAN),
		PAIRS(TIMER, TIMER_EXPIRE_ENTRY, TIMER_EXPIRE_EXIT, TIMER_SPAN),
		PAIRS(HRTIMER, HRTIMER_EXPIRE_ENTRY, HRTIMER_EXPIRE_EXIT,
		      HRTIMER_SPAN),
		PAIRS(WORK, WORKQUEUE_EXECUTE_START, WORKQUEUE_EXECUTE_END, WORK_SPAN),
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct pairs *p = &pairs[i];
		uint64_t without = count_ungated_begins(p);
		int class = kts_shapes[p->span].class;
		int fd = kt_session(0, RING, 0, KT_OPS(p->enter, p->exit));

		p->hz = self->gated->hz;
		ASSERT_EQ(0, kt_filter_gate(fd, p->gate, 0));
		ASSERT_EQ(0, kt_control(fd, KTAPE_IOC_START));
		sleep_50_times();
		kt_stop_and_tally(&self->t, fd, check_pair_span, p);
		TH_LOG("%s: %llu spans, %llu begins and %llu ends alone, %llu filtered",
		       p->name, (unsigned long long)self->t.op[p->span],
		       (unsigned long long)self->t.op[p->enter],
		       (unsigned long long)self->t.op[p->exit],
		       (unsigned long long)self->t.filtered[class]);
		EXPECT_EQ(0, self->t.wrong);
		EXPECT_EQ(0, p->wrong);
		EXPECT_EQ(0, self->t.op[p->enter]);
		EXPECT_LE(self->t.op[p->span], self->t.filtered[class]);
		/*
		 * Work items can sleep, so several are open at once; of the
		 * other pairs at most one is open per CPU when the start begins,
		 * and one when it forgets those that are open.
		 */
		if (p->gate != KTAPE_GATE_WORK) {
			EXPECT_GE(2 * kt_online_cpus(), self->t.op[p->exit]);
			EXPECT_GE(self->t.op[p->span] + 2 * kt_online_cpus(),
				  self->t.filtered[class]);
		}
		/*
		 * These sleeps end by an hrtimer, if the kernel has a probe for
		 * it.
		 */
		if (p->gate == KTAPE_GATE_SOFTIRQ ||
		    (p->gate == KTAPE_GATE_HRTIMER && without))
			EXPECT_LT(0, self->t.op[p->span]);
		close(fd);
	}
}

/* The wide events make the same spans. */
TEST_F_TIMEOUT(gate, wide_forms, 60)
{
	struct gated *s = self->gated;

	close(self->fd);
	self->fd = kt_session_for_threads(RING, CONTROL,
					  KT_OPS(KTAPE_EV_SYS_ENTER_WIDE,
						 KTAPE_EV_SYS_EXIT_WIDE));
	ASSERT_LE(0, self->fd);
	record_calls(_metadata, self);
	EXPECT_LE(2 * (CALLS - s->span[SYS_getppid]),
		  self->t.filtered[KTAPE_CLASS_SYSCALL]);
}

TEST_HARNESS_MAIN
