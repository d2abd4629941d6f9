// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare a session's counts with those of an independent module, kt_count,
 * which counts the tracepoints by class and CPU without using ktape.
 *
 * kt_count is read before and after each START and STOP, so the session's
 * counts must lie between two differences. Signals, which only this program
 * sends, and what ktape_nest emits in tasks, interrupts and a sink must be
 * equal.
 */
#include <signal.h>

#include "kselftest_harness.h"

#include "kt_fire.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define CPUS_MAX	16
#define COUNTED		5
#define SIGNALS		200

static const unsigned char classes[COUNTED] = {
	KTAPE_CLASS_SCHED, KTAPE_CLASS_IRQ, KTAPE_CLASS_SOFTIRQ,
	KTAPE_CLASS_SYSCALL, KTAPE_CLASS_SIGNAL,
};
#define SIGNAL_AT	4
#define OTHERS		2	/* signals of other senders, per CPU */

static const unsigned char ops[] = {
	KTAPE_EV_SCHED_SWITCH, KTAPE_EV_SCHED_WAKING, KTAPE_EV_SCHED_WAKEUP,
	KTAPE_EV_IRQ_HANDLER_ENTRY, KTAPE_EV_IRQ_HANDLER_EXIT,
	KTAPE_EV_SOFTIRQ_RAISE, KTAPE_EV_SOFTIRQ_ENTRY, KTAPE_EV_SOFTIRQ_EXIT,
	KTAPE_EV_SYS_ENTER, KTAPE_EV_SYS_EXIT, KTAPE_EV_SIGNAL_GENERATE,
	KTAPE_EV_SIGNAL_DELIVER, KTAPE_EV_TRACE_EVENT, 0,
};

/* Counts at one moment, or the sum over several recordings. */
struct counts {
	uint64_t n[CPUS_MAX][COUNTED];
};

static int read_counts(struct counts *c)
{
	FILE *f = fopen("/proc/kt_count", "re");
	unsigned long long n[COUNTED];
	unsigned int cpu;

	memset(c, 0, sizeof(*c));
	if (!f)
		return -errno;
	while (fscanf(f, "%u %llu %llu %llu %llu %llu", &cpu, &n[0], &n[1],
		      &n[2], &n[3], &n[4]) == 1 + COUNTED)
		for (int i = 0; cpu < CPUS_MAX && i < COUNTED; i++)
			c->n[cpu][i] = n[i];
	fclose(f);
	return 0;
}

static void add(struct counts *to, const struct counts *from,
		const struct counts *until)
{
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		for (int i = 0; i < COUNTED; i++)
			to->n[cpu][i] += until->n[cpu][i] - from->n[cpu][i];
}

/* Return the difference of two readings. */
static uint64_t between(const struct counts *from, const struct counts *until)
{
	struct counts c = {};
	uint64_t sum = 0;

	add(&c, from, until);
	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		for (int i = 0; i < COUNTED; i++)
			sum += c.n[cpu][i];
	return sum;
}

static volatile sig_atomic_t taken;

static void take(int number)
{
	taken += number == SIGUSR1;
}

static uint64_t parameter(const char *name)
{
	unsigned long long n = 0;
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/ktape_nest/parameters/%s",
		 name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

FIXTURE(counter) {
	int fd, cpus;
	struct counts least, most;	/* sums over all recordings */
	uint64_t nested;
};

FIXTURE_VARIANT(counter) {
	uint32_t mode;
	uint64_t ring;
};

FIXTURE_VARIANT_ADD(counter, overwrite) { KTAPE_MODE_OVERWRITE, 65536 };
FIXTURE_VARIANT_ADD(counter, discard) { KTAPE_MODE_DISCARD, 65536 };
FIXTURE_VARIANT_ADD(counter, discard_large) { KTAPE_MODE_DISCARD, 8 << 20 };

FIXTURE_SETUP(counter)
{
	struct sigaction action = { .sa_handler = take };

	self->cpus = kt_cpus();
	ASSERT_LE(self->cpus, CPUS_MAX);
	sigaction(SIGUSR1, &action, NULL);
	kt_rmmod("kt_count");
	ASSERT_EQ(0, kt_insmod("/tests/kt_count.ko", ""));
	self->fd = kt_session(variant->mode, variant->ring, 4096, ops);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(counter)
{
	for (int cpu = 1; cpu < self->cpus; cpu++)
		kt_set_online(cpu, true);
	close(self->fd);
	kt_rmmod("ktape_nest");
	kt_rmmod("kt_count");
}

/* Cause events of every class on every online CPU. */
static void work(FIXTURE_DATA(counter) *self)
{
	for (int cpu = 0; cpu < self->cpus; cpu++) {
		if (kt_pin(cpu))
			continue;
		kt_getppids(300);
		for (int i = 0; i < SIGNALS; i++)
			raise(SIGUSR1);
		usleep(20000);
	}
	kt_pin(0);
}

/*
 * Check the session's counts: all lie between the readings. Events with hardly
 * any other source must be equal, except when a process ends just then and the
 * kernel signals its parent.
 */
static int judge(FIXTURE_DATA(counter) *self, struct __test_metadata *_metadata)
{
	uint64_t user = 0;
	int wrong = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct ktape_stats st;

		if (kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st))
			continue;
		user += st.emitted[KTAPE_CLASS_USER];
		for (int i = 0; i < COUNTED; i++) {
			uint64_t n = st.emitted[classes[i]];
			uint64_t least = self->least.n[cpu][i];
			uint64_t most = self->most.n[cpu][i];

			if (n >= least && n <= most &&
			    (i != SIGNAL_AT || most - least <= OTHERS))
				continue;
			TH_LOG("cpu %d class %d: %llu emitted, %llu to %llu counted",
			       cpu, classes[i], (unsigned long long)n,
			       (unsigned long long)least,
			       (unsigned long long)most);
			wrong++;
		}
	}
	if (user != self->nested)
		TH_LOG("%llu of the user emitted, %llu counted",
		       (unsigned long long)user,
		       (unsigned long long)self->nested);
	return wrong + (user != self->nested);
}

/* Record once, with @middle between START and STOP. */
static int span(FIXTURE_DATA(counter) *self, struct __test_metadata *_metadata,
		int (*middle)(FIXTURE_DATA(counter) *self))
{
	struct counts before, started, stopping, stopped;
	int ret;

	read_counts(&before);
	ret = kt_command(self->fd, KTAPE_IOC_START);
	read_counts(&started);
	work(self);
	if (!ret && middle)
		ret = middle(self);
	/*
	 * The readings must be close: the uncertain events around START and
	 * STOP are the smaller part, however long START takes.
	 */
	for (int i = 0; i < 20; i++) {
		work(self);
		read_counts(&stopping);
		if (between(&started, &stopping) >
		    10 * between(&before, &started))
			break;
	}
	ret = ret ?: kt_command(self->fd, KTAPE_IOC_STOP);
	read_counts(&stopped);
	add(&self->least, &started, &stopping);
	add(&self->most, &before, &stopped);
	return ret ?: judge(self, _metadata);
}

static int with_hotplug(FIXTURE_DATA(counter) *self)
{
	int cpu = self->cpus - 1, ret;

	if (!cpu)
		return 0;
	ret = kt_set_online(cpu, false);
	work(self);
	return ret ?: kt_set_online(cpu, true);
}

static int with_nested(FIXTURE_DATA(counter) *self)
{
	int ret = kt_insmod("/tests/ktape_nest.ko", "");

	self->nested += parameter("in_tasks") + parameter("in_interrupts") +
			parameter("in_sinks");
	kt_rmmod("ktape_nest");
	return ret;
}

/*
 * Record plainly, repeatedly, with a CPU that is hotplugged, and with nested
 * writers.
 */
TEST_F_TIMEOUT(counter, agrees, 180)
{
	static int (*const middles[])(FIXTURE_DATA(counter) *self) = {
		NULL, with_nested, with_hotplug, NULL, with_nested,
	};
	uint64_t width = 0, total = 0;
	size_t at, nr = kt_scale() > 1 ? 3 : sizeof(middles) / sizeof(*middles);

	for (at = 0; at < nr; at++)
		ASSERT_EQ(0, span(self, _metadata, middles[at])) {
			TH_LOG("span %zu", at);
		}
	for (int cpu = 0; cpu < self->cpus; cpu++)
		for (int i = 0; i < COUNTED; i++) {
			width += self->most.n[cpu][i] - self->least.n[cpu][i];
			total += self->most.n[cpu][i];
		}
	TH_LOG("%llu events, %llu of them at starts and stops; %llu nested",
	       (unsigned long long)total, (unsigned long long)width,
	       (unsigned long long)self->nested);
	EXPECT_LT(width * 4, total);
	EXPECT_LT(1000, self->nested);
}

TEST_HARNESS_MAIN
