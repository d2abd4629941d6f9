// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test interrupt handlers against the kernel's own counts, and gates. A gate is a filter
 * that records a begin and its end as one event, a span, if they are at least so far apart,
 * here 0 ns. Each pair that the test causes must become one span, and no begin or end be left.
 */
#include <time.h>

#include "kselftest_harness.h"

#include "kt_bracket.h"
#include "kt_filter.h"

#define TIMES	    20
#define IRQS	    64
#define TASKLET	    6
#define HANDLED	    1
#define WAKE_THREAD 2 /* all handlers with PREEMPT_RT */

FIXTURE(spans)
{
	struct kt_events e;
};

FIXTURE_SETUP(spans)
{
	ASSERT_GE(CPUS, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(spans)
{
	kt_events_free(&self->e);
}

/* ---- interrupts of devices ----------------------------------------------------------- */

/* Fill in the interrupt lines with a single handler. Return: their number. */
static int lines_of_irqs(struct bracket *b, char names[IRQS][12])
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024];
	int nr = 0, irq;

	while (f && nr < IRQS && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %d:", &irq) != 1 || strchr(line, ','))
			continue;
		snprintf(names[nr], sizeof(names[nr]), "%d", irq);
		b[nr] = (struct bracket){ "/proc/interrupts", names[nr] };
		nr++;
	}
	if (f)
		fclose(f);
	return nr;
}

/*
 * Interrupts while the disk is read.
 * @b, @nr: the interrupt lines
 * @names: their numbers, as @b has them
 */
FIXTURE(irqs)
{
	struct kt_events e;
	struct bracket b[IRQS];
	char names[IRQS][12];
	int nr;
};

FIXTURE_SETUP(irqs)
{
	if (access("/dev/vdb", R_OK))
		SKIP(return, "no /dev/vdb");
	ASSERT_GE(CPUS, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	self->nr = lines_of_irqs(self->b, self->names);
}

FIXTURE_TEARDOWN(irqs)
{
	kt_events_free(&self->e);
}

/* Each iteration reads a block of the disk. */
static int use_disk(void)
{
	static char block[4096] __attribute__((aligned(4096)));
	int fd = open("/dev/vdb", O_RDONLY | O_DIRECT | O_CLOEXEC), n = 0;

	while (n < TIMES && pread(fd, block, sizeof(block), n * sizeof(block)) ==
				    sizeof(block))
		n++;
	close(fd);
	return n - TIMES;
}

/* Count the exits of an interrupt's handler, whatever it has returned. */
static uint64_t exits(const struct kt_events *e, uint32_t irq, uint32_t cpu)
{
	return count_op_records(e, KTAPE_EV_IRQ_HANDLER_EXIT,
				irq | HANDLED << 18, cpu) +
	       count_op_records(e, KTAPE_EV_IRQ_HANDLER_EXIT,
				irq | WAKE_THREAD << 18, cpu) +
	       count_op_records(e, KTAPE_EV_IRQ_HANDLER_EXIT, irq, cpu);
}

/* The numbers must match /proc/interrupts, and each entry has its exit. */
TEST_F_TIMEOUT(irqs, handlers, 120)
{
	uint64_t all = 0;

	ASSERT_STREQ("", record_bracketed(&self->e,
					  KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY,
						 KTAPE_EV_IRQ_HANDLER_EXIT),
					  self->b, self->nr, use_disk));
	for (int i = 0; i < self->nr; i++)
		for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
			uint32_t irq = atoi(self->names[i]);
			uint64_t in = count_op_records(
				&self->e, KTAPE_EV_IRQ_HANDLER_ENTRY, irq, cpu);
			uint64_t out = exits(&self->e, irq, cpu);

			EXPECT_TRUE(is_between(&self->b[i], cpu, in))
			{
				TH_LOG("interrupt %u on CPU %d: %llu", irq, cpu,
				       (unsigned long long)in);
			}
			/* START or STOP may come between entry and exit. */
			EXPECT_TRUE(in <= out + 1 && out <= in + 1);
			all += in;
		}
	EXPECT_LE(TIMES, all);
	TH_LOG("%llu interrupts", (unsigned long long)all);
}

/* ---- spans ----------------------------------------------------------------------------- */

static int gate_all(int fd)
{
	struct ktape_filter_gate g[KTAPE_GATES] = {};

	for (int i = 0; i < KTAPE_GATES; i++)
		g[i].gate = i;
	return kt_filter_set(fd, KTAPE_FILTER_GATE, g, KTAPE_GATES);
}

/* Count the spans of @op on @cpu whose number, the lowest @bits of dat20, is @nr. */
static uint64_t spans(const struct kt_events *e, uint32_t op, uint32_t nr,
		      uint32_t bits, uint32_t cpu)
{
	uint64_t n = 0;

	for (size_t i = 0; i < e->nr; i++)
		n += e->v[i].op == op && e->v[i].cpu == cpu &&
		     (e->v[i].dat20 & ((1U << bits) - 1)) == nr;
	return n;
}

/*
 * Return true if @n spans agree with the kernel's counts: before START, after it, before STOP and
 * after it. A handler that runs at START or at STOP has no span, so there may be two spans fewer
 * than the kernel counted.
 */
static bool is_about(const struct bracket *b, int cpu, uint64_t n)
{
	return b->at[2].nr[cpu] - b->at[1].nr[cpu] <= n + 2 &&
	       n <= b->at[3].nr[cpu] - b->at[0].nr[cpu];
}

/* The spans must match /proc/interrupts. */
TEST_F_TIMEOUT(irqs, spans, 120)
{
	uint64_t all = 0;

	ASSERT_STREQ("", record_prepared(&self->e,
					 KT_OPS(KTAPE_EV_IRQ_HANDLER_ENTRY,
						KTAPE_EV_IRQ_HANDLER_EXIT),
					 gate_all, self->b, self->nr, use_disk));
	for (int i = 0; i < self->nr; i++)
		for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
			uint64_t n = spans(&self->e, KTAPE_EV_IRQ_SPAN,
					   atoi(self->names[i]), 18, cpu);

			EXPECT_TRUE(is_about(&self->b[i], cpu, n))
			{
				TH_LOG("interrupt %s on CPU %d: %llu",
				       self->names[i], cpu, (unsigned long long)n);
			}
			all += n;
		}
	EXPECT_LE(TIMES, all + 2 * kt_online_cpus());
}

static int cause_tasklets(void)
{
	return kt_cause("tasklet", TIMES);
}

TEST_F_TIMEOUT(spans, softirq, 120)
{
	struct bracket b = { "/proc/softirqs", "TASKLET" };

	ASSERT_STREQ("", record_prepared(&self->e,
					 KT_OPS(KTAPE_EV_SOFTIRQ_ENTRY,
						KTAPE_EV_SOFTIRQ_EXIT),
					 gate_all, &b, 1, cause_tasklets));
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++)
		EXPECT_TRUE(is_about(&b, cpu,
				     spans(&self->e, KTAPE_EV_SOFTIRQ_SPAN,
					   TASKLET, 8, cpu)));
	EXPECT_LE(TIMES, spans(&self->e, KTAPE_EV_SOFTIRQ_SPAN, TASKLET, 8, 0));
}

/* Count the spans whose argument is @value; each must end after its begin. */
static int count_ended_spans(const struct kt_events *e, uint32_t op, uint32_t value)
{
	const struct kt_ev *v;
	size_t at = 0;
	int n = 0;

	while ((v = kt_next_with(e, &at, op, 0, value)))
		n += kt_u64(&v->arg[1]) <= v->ts;
	return n;
}

/* Find the helper's timer by the function with which it was armed. */
TEST_F_TIMEOUT(spans, timer, 120)
{
	const struct kt_ev *v;
	uint32_t token = 0;
	size_t at = 0;

	ASSERT_EQ(0, kt_events_open(&self->e, KT_OPS(KTAPE_EV_TIMER_START,
						     KTAPE_EV_TIMER_EXPIRE_ENTRY,
						     KTAPE_EV_TIMER_EXPIRE_EXIT)));
	ASSERT_EQ(0, gate_all(self->e.fd));
	ASSERT_EQ(0, kt_control(self->e.fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_cause("timer", TIMES));
	/* The function of the last timer may not have returned yet. */
	usleep(20000 * kt_scale());
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while (!token && (v = kt_next_event(&self->e, &at, KTAPE_EV_TIMER_START)))
		if (kt_is_symbol(&self->e, v->arg[1], "kt_cause_timer_fn"))
			token = v->arg[0];
	ASSERT_NE(0, token);
	EXPECT_EQ(TIMES, count_ended_spans(&self->e, KTAPE_EV_TIMER_SPAN, token));
	EXPECT_EQ(0, kt_count_with(&self->e, KTAPE_EV_TIMER_EXPIRE_ENTRY, 0, token));
	EXPECT_EQ(0, kt_count_with(&self->e, KTAPE_EV_TIMER_EXPIRE_EXIT, 0, token));
}

/*
 * Sleep for 20 ms, long enough for the last timer's function to have returned. Return: the
 * time of CLOCK_MONOTONIC at which the timer of this sleep expires, in ns.
 */
static uint64_t sleep_past_timers(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += 20000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* The timers are on our kernel stack; each is identified by its expiry time. */
TEST_F_TIMEOUT(spans, hrtimer, 120)
{
	uint32_t token[TIMES] = {};
	const struct kt_ev *v;
	uint64_t until[TIMES];
	int started = 0, nr;
	size_t at = 0;

	ASSERT_EQ(0,
		  kt_events_open(&self->e, KT_OPS(KTAPE_EV_HRTIMER_START,
						  KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
						  KTAPE_EV_HRTIMER_EXPIRE_EXIT)));
	ASSERT_EQ(0, gate_all(self->e.fd));
	ASSERT_EQ(0, kt_control(self->e.fd, KTAPE_IOC_START));
	for (int i = 0; i < TIMES; i++)
		until[i] = sleep_past_timers();
	/*
	 * Sleep once more, so that the functions of the other timers have
	 * returned.
	 */
	sleep_past_timers();
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_HRTIMER_START)))
		if (started < TIMES && kt_u64(&v->arg[1]) == until[started])
			token[started++] = v->arg[0];
	ASSERT_EQ(TIMES, started);
	/* The last sleep may use the same address, and its end is not recorded. */
	started = kt_count_any(&self->e, KTAPE_EV_HRTIMER_START, token, TIMES);
	nr = kt_count_any(&self->e, KTAPE_EV_HRTIMER_SPAN, token, TIMES);
	EXPECT_LE(started - 1, nr);
	EXPECT_GE(started, nr);
	EXPECT_LE(TIMES, nr);
	EXPECT_EQ(0, kt_count_any(&self->e, KTAPE_EV_HRTIMER_EXPIRE_ENTRY,
				  token, TIMES));
}

TEST_F_TIMEOUT(spans, work, 120)
{
	const struct kt_ev *v;
	size_t at = 0;
	int nr = 0;

	ASSERT_EQ(0, kt_events_open(&self->e,
				    KT_OPS(KTAPE_EV_WORKQUEUE_EXECUTE_START,
					   KTAPE_EV_WORKQUEUE_EXECUTE_END)));
	ASSERT_EQ(0, gate_all(self->e.fd));
	ASSERT_EQ(0, kt_control(self->e.fd, KTAPE_IOC_START));
	ASSERT_EQ(0, kt_cause("work", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	while ((v = kt_next_event(&self->e, &at, KTAPE_EV_WORK_SPAN)))
		nr += kt_is_symbol(&self->e, v->arg[0], "kt_cause_work_fn") &&
		      kt_u64(&v->arg[1]) <= v->ts;
	EXPECT_EQ(TIMES, nr);
}

KT_CAUSE_MAIN
