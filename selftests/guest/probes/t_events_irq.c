// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test interrupts between CPUs, local timers, soft interrupts and tasklets: the
 * number of events is the number caused, or the number that the kernel counted.
 *
 * The kernel's counts are read before and after START and STOP (a bracket, kt_bracket.h): the
 * number of events has to lie between their differences.  kt_cause() lets a helper module cause
 * events.
 */
#include "kselftest_harness.h"

#include "kt_bracket.h"

#define TIMES	    50
#define MORE	    (TIMES + TIMES / 5) /* caused, where some may be merged */
#define SPINNER	    1			/* CPU of threads that spin */
#define LOCAL_TIMER 236			/* vector of x86 */
#define VEC_TASKLET 6			/* index in vectors[] */
/* generic_smp_call_function_single_interrupt(), cut to the longest name of the registry. */
#define SMP_CALLBACK "generic_smp_call_function_singl"

FIXTURE(irqs)
{
	struct kt_events e;
	int32_t tid;
};

FIXTURE_SETUP(irqs)
{
	self->tid = getpid();
	ASSERT_LE(2, kt_online_cpus());
	ASSERT_GE(CPUS, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(irqs)
{
	kt_events_free(&self->e);
}

/* ---- soft interrupts ------------------------------------------------------------ */

static const char *const vectors[] = { "HI",	  "TIMER", "NET_TX",
				       "NET_RX",  "BLOCK", "IRQ_POLL",
				       "TASKLET", "SCHED", "HRTIMER",
				       "RCU" };

static int cause_softirqs(void)
{
	int fd = open("/scratch/softirqs", O_CREAT | O_TRUNC | O_RDWR, 0600);
	char block[4096] = {};

	for (int i = 0; i < TIMES; i++) {
		usleep(2000);
		if (fd >= 0 && write(fd, block, sizeof(block)) > 0)
			fsync(fd);
	}
	close(fd);
	return kt_cause("tasklet", TIMES);
}

/* The numbers must match /proc/softirqs, and each entry has its exit. */
TEST_F_TIMEOUT(irqs, softirqs, 120)
{
	struct bracket b[ARRAY_SIZE(vectors)];
	uint64_t all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		b[i] = (struct bracket){ "/proc/softirqs", vectors[i] };
	ASSERT_STREQ("", record_bracketed(&self->e,
					  KT_OPS(KTAPE_EV_SOFTIRQ_RAISE,
						 KTAPE_EV_SOFTIRQ_ENTRY,
						 KTAPE_EV_SOFTIRQ_EXIT),
					  b, ARRAY_SIZE(vectors), cause_softirqs));
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++)
		for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
			uint64_t in = count_op_records(
				&self->e, KTAPE_EV_SOFTIRQ_ENTRY, i, cpu);

			EXPECT_TRUE(is_between(&b[i], cpu, in))
			{
				TH_LOG("%s on CPU %d: %llu", vectors[i], cpu,
				       (unsigned long long)in);
			}
			EXPECT_TRUE(in_turn(&self->e, KTAPE_EV_SOFTIRQ_ENTRY,
					    KTAPE_EV_SOFTIRQ_EXIT, i, cpu));
			all += in;
		}
	EXPECT_LE(TIMES, count_op_records(&self->e, KTAPE_EV_SOFTIRQ_ENTRY,
					  VEC_TASKLET, 0));
	EXPECT_LE(TIMES, count_op_records(&self->e, KTAPE_EV_SOFTIRQ_RAISE,
					  VEC_TASKLET, 0));
	TH_LOG("%llu soft interrupts", (unsigned long long)all);
}

/*
 * The helper's tasklets, found by their function: each runs on the CPU and in
 * the vector that was asked for.
 */
TEST_F_TIMEOUT(irqs, tasklets, 120)
{
	const struct kt_ev *in, *out;
	bool serving = false;
	int nr = 0;

	if (!kt_available(KTAPE_EV_TASKLET_ENTRY))
		SKIP(return, "the kernel has no tasklet_entry");
	ASSERT_EQ(0, kt_events_start(&self->e, KT_OPS(KTAPE_EV_TASKLET_ENTRY,
						      KTAPE_EV_TASKLET_EXIT,
						      KTAPE_EV_SOFTIRQ_ENTRY,
						      KTAPE_EV_SOFTIRQ_EXIT)));
	ASSERT_EQ(0, kt_cause("tasklet", TIMES));
	ASSERT_STREQ("", kt_events_stop(&self->e));
	for (size_t i = 0; i < self->e.nr; i++) {
		size_t at = i;

		in = &self->e.v[i];
		if (in->cpu == 0 && in->dat20 == VEC_TASKLET)
			serving = in->op == KTAPE_EV_SOFTIRQ_ENTRY;
		if (in->op != KTAPE_EV_TASKLET_ENTRY ||
		    !kt_is_symbol(&self->e, in->arg[1], "kt_cause_tasklet_fn"))
			continue;
		out = kt_next_with(&self->e, &at, KTAPE_EV_TASKLET_EXIT, 0,
				   in->arg[0]);
		ASSERT_NE(NULL, out);
		EXPECT_EQ(in->arg[1], out->arg[1]);
		EXPECT_EQ(0, in->cpu);
		EXPECT_EQ(0, out->cpu);
		EXPECT_TRUE(serving);
		nr++;
	}
	EXPECT_EQ(TIMES, nr);
}

/* ---- a CPU's own timer ----------------------------------------------------------- */

static int cause_ticks(void)
{
	for (int i = 0; i < TIMES; i++)
		usleep(5000);
	return 0;
}

/* The numbers must match /proc/interrupts, and each entry has its exit. */
TEST_F_TIMEOUT(irqs, local_timer, 120)
{
	struct bracket loc = { "/proc/interrupts", "LOC" };

	if (!kt_available(KTAPE_EV_LOCAL_TIMER_ENTRY))
		SKIP(return, "the kernel has no local_timer_entry");
	ASSERT_STREQ("", record_bracketed(&self->e,
					  KT_OPS(KTAPE_EV_LOCAL_TIMER_ENTRY,
						 KTAPE_EV_LOCAL_TIMER_EXIT),
					  &loc, 1, cause_ticks));
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		uint64_t in = count_op_records(&self->e, KTAPE_EV_LOCAL_TIMER_ENTRY,
					       LOCAL_TIMER, cpu);

		EXPECT_TRUE(is_between(&loc, cpu, in))
		{
			TH_LOG("CPU %d: %llu", cpu, (unsigned long long)in);
		}
		EXPECT_TRUE(in_turn(&self->e, KTAPE_EV_LOCAL_TIMER_ENTRY,
				    KTAPE_EV_LOCAL_TIMER_EXIT, LOCAL_TIMER, cpu));
	}
	EXPECT_LE(TIMES, count_op_records(&self->e, KTAPE_EV_LOCAL_TIMER_ENTRY,
					  LOCAL_TIMER, 0));
}

/* ---- interrupts between CPUs ------------------------------------------------------ */

/*
 * Two threads busy on one CPU. The thread with the higher priority runs. The
 * other CPU changes the priority of one thread, which causes a reschedule
 * interrupt each time.
 */
static struct {
	pthread_t thread[2];
	int32_t tid[2];
	int running;
	bool stop, ready[2];
} spin;

static int set_fifo(int32_t tid, int priority)
{
	struct sched_param prio = { .sched_priority = priority };

	return sched_setscheduler(tid, SCHED_FIFO, &prio);
}

/* Return which of the two threads runs, -1: none yet. */
static int running_spinner(void)
{
	return __atomic_load_n(&spin.running, __ATOMIC_RELAXED);
}

/*
 * Report readiness before moving to the CPU, because the second thread does not
 * run there yet.
 */
static void *spinner(void *arg)
{
	intptr_t me = (intptr_t)arg;

	spin.tid[me] = syscall(SYS_gettid);
	__atomic_store_n(&spin.ready[me], true, __ATOMIC_RELEASE);
	kt_pin(SPINNER);
	while (!__atomic_load_n(&spin.stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(&spin.running, me, __ATOMIC_RELAXED);
		kt_pause();
	}
	return NULL;
}

/* Start one or two of them, the second below the first.  Return: 0, or -1 if that failed. */
static int start_spinners(int nr)
{
	memset(&spin, 0, sizeof(spin));
	spin.running = -1;
	for (intptr_t i = 0; i < nr; i++) {
		if (pthread_create(&spin.thread[i], NULL, spinner, (void *)i))
			return -1;
		while (!__atomic_load_n(&spin.ready[i], __ATOMIC_ACQUIRE))
			usleep(1000);
		if (set_fifo(spin.tid[i], i ? 5 : 10))
			return -1;
		while (!i && running_spinner())
			kt_pause();
	}
	return 0;
}

static void stop_spinners(int nr)
{
	spin.stop = true;
	for (int i = 0; i < nr; i++)
		pthread_join(spin.thread[i], NULL);
}

static int cause_reschedules(void)
{
	int ret = start_spinners(2);

	/* A CPU that already has its reschedule flag set gets no interrupt. */
	for (int i = 0; i < MORE && !ret; i++) {
		/*
		 * The first thread is at 10. The second one goes above and
		 * below.
		 */
		ret = set_fifo(spin.tid[1], i % 2 ? 5 : 20);
		while (!ret && running_spinner() != !(i % 2))
			kt_pause();
	}
	stop_spinners(2);
	return ret;
}

static int cause_irq_work_ipis(void)
{
	return kt_cause("irq_work", TIMES);
}

/* A CPU that has a call from another CPU pending gets no second interrupt. */
static int cause_calls(void)
{
	return kt_cause("call", MORE);
}

static int cause_single_calls(void)
{
	int ret = start_spinners(1);

	/* An idle CPU may poll and need no interrupt. */
	ret = ret ? ret : kt_cause("call_single", MORE);
	stop_spinners(1);
	return ret;
}

/* Only x86 distinguishes a call of one CPU from a call of several; both have one line. */
#if defined(__x86_64__) || defined(__i386__)
#define CALL_SINGLE KTAPE_IPI_CALL_SINGLE
#define OTHER_CALL  KTAPE_IPI_CALL_SINGLE
#else
#define CALL_SINGLE KTAPE_IPI_CALL
#define OTHER_CALL  0
#endif

FIXTURE(ipi)
{
	struct kt_events e;
};

FIXTURE_VARIANT(ipi)
{
	const char *line;	/* last words in /proc/interrupts */
	uint32_t reason, other; /* /proc/interrupts counts both in that line */
	int cpu;		/* that gets at least TIMES of them */
	int (*cause)(void);
};

/* clang-format off */
FIXTURE_VARIANT_ADD(ipi, reschedule)
{
	"Rescheduling interrupts", KTAPE_IPI_RESCHEDULE, 0, SPINNER, cause_reschedules
};
FIXTURE_VARIANT_ADD(ipi, irq_work)
{
	"IRQ work interrupts", KTAPE_IPI_IRQ_WORK, 0, 0, cause_irq_work_ipis
};
FIXTURE_VARIANT_ADD(ipi, call)
{
	"Function call interrupts", KTAPE_IPI_CALL, OTHER_CALL, 2, cause_calls
};
FIXTURE_VARIANT_ADD(ipi, call_single)
{
	"Function call interrupts", CALL_SINGLE, KTAPE_IPI_CALL, SPINNER,
	cause_single_calls
};
/* clang-format on */

FIXTURE_SETUP(ipi)
{
	ASSERT_LE(3, kt_online_cpus());
	ASSERT_GE(CPUS, kt_online_cpus());
	ASSERT_EQ(0, kt_pin(0));
	ASSERT_EQ(0, kt_cause_load());
}

FIXTURE_TEARDOWN(ipi)
{
	kt_events_free(&self->e);
}

/* The numbers must match /proc/interrupts, and each entry has its exit. */
TEST_F_TIMEOUT(ipi, counted, 120)
{
	struct bracket b = { "/proc/interrupts", variant->line };
	uint64_t in, both;

	if (!KT_X86 && !kt_available(KTAPE_EV_IPI_ENTRY))
		SKIP(return, "the kernel has no ipi_entry");
	ASSERT_STREQ("", record_bracketed(&self->e,
					  KT_OPS(KTAPE_EV_IPI_ENTRY, KTAPE_EV_IPI_EXIT),
					  &b, 1, variant->cause));
	for (int cpu = 0; cpu < kt_online_cpus(); cpu++) {
		in = count_op_records(&self->e, KTAPE_EV_IPI_ENTRY,
				      variant->reason, cpu);
		both = in;
		if (variant->other && variant->other != variant->reason)
			both += count_op_records(&self->e, KTAPE_EV_IPI_ENTRY,
						 variant->other, cpu);
		EXPECT_TRUE(is_between(&b, cpu, both))
		{
			TH_LOG("CPU %d: %llu", cpu, (unsigned long long)both);
		}
		EXPECT_TRUE(in_turn(&self->e, KTAPE_EV_IPI_ENTRY,
				    KTAPE_EV_IPI_EXIT, variant->reason, cpu));
	}
	in = count_op_records(&self->e, KTAPE_EV_IPI_ENTRY, variant->reason,
			      variant->cpu);
	EXPECT_LE(TIMES, in);
	TH_LOG("%llu on CPU %d", (unsigned long long)in, variant->cpu);
}

/* ARM reports interrupts to other CPUs by a tracepoint of its own. */
TEST_F_TIMEOUT(irqs, raised, 120)
{
	uint64_t n = 0;

	if (!kt_available(KTAPE_EV_IPI_RAISE))
		SKIP(return, "the kernel has no ipi_raise");
	ASSERT_STREQ("", record_bracketed(&self->e, KT_OPS(KTAPE_EV_IPI_RAISE),
					  NULL, 0, cause_reschedules));
	for (size_t i = 0; i < self->e.nr; i++) {
		const struct kt_ev *v = &self->e.v[i];

		n += v->op == KTAPE_EV_IPI_RAISE && !v->cpu &&
		     v->dat20 == KTAPE_IPI_RESCHEDULE &&
		     kt_u64(v->arg) == 1ULL << SPINNER;
	}
	EXPECT_LE(TIMES, n);
}

/* ---- senders ----------------------------------------------------------------------- */

/*
 * Count what this thread sent with a callback to one CPU (number @to) or to a
 * mask of CPUs (of those in @to), between the first and the last event with the
 * callback @mark; these two count if @callback is the same pointer. A CPU that
 * has the same call from another CPU pending is left out of the mask. The words
 * of the record are the mask, if it has one, the function that sent, and the
 * callback.
 */
static int sent(const struct kt_events *e, const char *mark,
		const char *callback, uint32_t op, uint64_t to)
{
	int word = op == KTAPE_EV_IPI_SEND_CPU ? 0 : 2;
	int n = 0, n_at_mark = 0;
	bool begun = false;

	for (size_t i = 0; i < e->nr; i++) {
		const struct kt_ev *v = &e->v[i];
		bool is_to = word ? !(kt_u64(v->arg) & ~to) : v->dat20 == to;

		if (v->op == KTAPE_EV_IPI_SEND_CPU &&
		    kt_is_symbol(e, v->arg[1], mark)) {
			begun = true;
			n_at_mark = n + (mark == callback);
		}
		n += begun && v->op == op && v->tid == getpid() && is_to &&
		     kt_symbol(e, v->arg[word])[0] &&
		     kt_is_symbol(e, v->arg[word + 1], callback);
	}
	return n_at_mark;
}

static const char mark[] = "kt_cause_irq_fn";

/*
 * START and STOP send interrupts too, so only the events between the two marks
 * count.
 */
static const char *record_sent(struct kt_events *e, int (*cause)(void))
{
	if (kt_events_start(e, KT_OPS(KTAPE_EV_IPI_SEND_CPU, KTAPE_EV_IPI_SEND_CPUMASK,
				      KTAPE_EV_SCHED_SWITCH)))
		return "START failed";
	if (cause_irq_work_ipis() || cause() || cause_irq_work_ipis())
		return "cause failed";
	return kt_events_stop(e);
}

TEST_F_TIMEOUT(irqs, sent_to_many, 120)
{
	int n;

	if (!kt_available(KTAPE_EV_IPI_SEND_CPUMASK))
		SKIP(return, "the kernel has no ipi_send_cpumask");
	ASSERT_STREQ("", record_sent(&self->e, cause_calls));
	EXPECT_EQ(2 * TIMES, sent(&self->e, mark, mark, KTAPE_EV_IPI_SEND_CPU, 0));
	/*
	 * If only one CPU remains in the mask, the kernel uses the call for one
	 * CPU.
	 */
	n = sent(&self->e, mark, SMP_CALLBACK, KTAPE_EV_IPI_SEND_CPUMASK,
		 (1ULL << kt_online_cpus()) - 2);
	EXPECT_LE(TIMES, n);
	EXPECT_LE(n, MORE);
}

TEST_F_TIMEOUT(irqs, sent_to_one, 120)
{
	int n;

	if (!kt_available(KTAPE_EV_IPI_SEND_CPU))
		SKIP(return, "the kernel has no ipi_send_cpu");
	ASSERT_STREQ("", record_sent(&self->e, cause_single_calls));
	EXPECT_EQ(2 * TIMES, sent(&self->e, mark, mark, KTAPE_EV_IPI_SEND_CPU, 0));
	/* A wake-up of a thread on that CPU looks the same. */
	n = sent(&self->e, mark, SMP_CALLBACK, KTAPE_EV_IPI_SEND_CPU, SPINNER);
	EXPECT_LE(TIMES, n);
	EXPECT_LE(n, MORE + 10);
	TH_LOG("%d to CPU %d", n, SPINNER);
}

KT_CAUSE_MAIN
