// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compare a session's counts with those of an independent module, kt_count
 * (kt_counts.h), which is read before and after START and STOP: each count must
 * lie between the differences. Signals have hardly another sender than this
 * program, so theirs are known almost exactly. What the module ktape_nest emits
 * in tasks, interrupts and a sink must be counted exactly.
 */
#include <signal.h>

#include "kselftest_harness.h"

#include "kt_counts.h"
#include "kt_fire.h"
#include "kt_ledger.h"
#include "kt_load.h"

#define SIGNALS 200
#define OTHERS	2 /* signals of other senders around START and STOP, per CPU */

static volatile sig_atomic_t taken;

static void counter_signal(int number)
{
	taken += number == SIGUSR1;
}

/* Return a counter of ktape_nest; 0: it is not loaded. */
static uint64_t nest_counter(const char *name)
{
	unsigned long long n = 0;
	char path[100];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/ktape_nest/parameters/%s", name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

FIXTURE(counter)
{
	int fd, cpus;
	struct ktc_counter counter; /* sums over all recordings */
	uint64_t nested;	    /* events that ktape_nest has emitted */
};

FIXTURE_VARIANT(counter)
{
	uint32_t mode;
	uint64_t ring;
};

FIXTURE_VARIANT_ADD(counter, overwrite){ KTAPE_MODE_OVERWRITE, 65536 };
FIXTURE_VARIANT_ADD(counter, discard){ KTAPE_MODE_DISCARD, 65536 };
FIXTURE_VARIANT_ADD(counter, discard_large){ KTAPE_MODE_DISCARD, 8 << 20 };

FIXTURE_SETUP(counter)
{
	struct sigaction action = { .sa_handler = counter_signal };
	/* What ktape_nest emits, and what kt_count counts. */
	unsigned char ops[1 + sizeof(ktc_ops)] = { KTAPE_EV_TRACE_EVENT };

	self->cpus = kt_online_cpus();
	ASSERT_LE(self->cpus, KTC_CPUS);
	sigaction(SIGUSR1, &action, NULL);
	kt_rmmod("kt_count");
	ASSERT_EQ(0, kt_insmod("/tests/kt_count.ko", ""));
	memcpy(ops + 1, ktc_ops, sizeof(ktc_ops));
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
static void cause_all_classes(FIXTURE_DATA(counter) * self)
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
 * Check the session's counts: all lie between the readings. The readings of
 * signals may differ by OTHERS: when a process ends just then, the kernel
 * signals its parent. Return: number of errors.
 */
static int check_counter(FIXTURE_DATA(counter) * self,
			 struct __test_metadata *_metadata)
{
	const struct ktc_counter *c = &self->counter;
	int wrong = ktc_wrong(c, self->fd, self->cpus);
	uint64_t user = 0;

	for (int cpu = 0; cpu < self->cpus; cpu++) {
		struct ktape_stats st;

		if (!kt_stats(self->fd, cpu, KTAPE_RING_EVENT, &st))
			user += st.emitted[KTAPE_CLASS_USER];
		/* The program busy, which loads all CPUs, has children that exit, and timers. */
		if (kt_is_busy() || c->most.n[cpu][KTC_SIGNAL] <=
					    c->least.n[cpu][KTC_SIGNAL] + OTHERS)
			continue;
		TH_LOG("cpu %d: others have sent signals", cpu);
		wrong++;
	}
	if (user != self->nested)
		TH_LOG("%llu of the user emitted, %llu counted",
		       (unsigned long long)user, (unsigned long long)self->nested);
	return wrong + (user != self->nested);
}

/* Record once, with @middle between START and STOP. Return: 0, -errno, or the errors. */
static int record_counted_span(FIXTURE_DATA(counter) * self,
			       struct __test_metadata *_metadata,
			       int (*middle)(FIXTURE_DATA(counter) * self))
{
	struct ktc_counter *c = &self->counter;
	struct ktc_counts now;
	uint64_t uncertain;
	int ret = ktc_start(c, self->fd);

	cause_all_classes(self);
	if (!ret && middle)
		ret = middle(self);
	/*
	 * The readings must be close: the uncertain events around START and
	 * STOP are the smaller part, however long START takes.
	 */
	uncertain = ktc_sum(&c->started) - ktc_sum(&c->before);
	for (int i = 0; i < 20; i++) {
		cause_all_classes(self);
		ktc_read(&now);
		if (ktc_sum(&now) - ktc_sum(&c->started) > 10 * uncertain)
			break;
	}
	ret = ret ?: ktc_stop(c, self->fd);
	return ret ?: check_counter(self, _metadata);
}

static int hotplug_last_cpu(FIXTURE_DATA(counter) * self)
{
	int cpu = self->cpus - 1, ret;

	if (!cpu)
		return 0;
	ret = kt_set_online(cpu, false);
	cause_all_classes(self);
	return ret ?: kt_set_online(cpu, true);
}

static int load_nest_module(FIXTURE_DATA(counter) * self)
{
	int ret = kt_insmod("/tests/ktape_nest.ko", "");

	self->nested += nest_counter("in_tasks") +
			nest_counter("in_interrupts") + nest_counter("in_sinks");
	kt_rmmod("ktape_nest");
	return ret;
}

/*
 * Record plainly, repeatedly, with a CPU that is hotplugged, and with nested
 * writers.
 */
TEST_F_TIMEOUT(counter, agrees, 1800)
{
	static int (*const middles[])(FIXTURE_DATA(counter) * self) = {
		NULL, load_nest_module, hotplug_last_cpu,
		NULL, load_nest_module,
	};
	uint64_t width = 0, total = 0;
	size_t at, nr = kt_scale() > 1 ? 3 : sizeof(middles) / sizeof(*middles);

	for (at = 0; at < nr; at++)
		ASSERT_EQ(0, record_counted_span(self, _metadata, middles[at]))
		{
			TH_LOG("span %zu", at);
		}
	total = ktc_sum(&self->counter.most);
	width = total - ktc_sum(&self->counter.least);
	TH_LOG("%llu events, %llu of them at starts and stops; %llu nested",
	       (unsigned long long)total, (unsigned long long)width,
	       (unsigned long long)self->nested);
	/* Otherwise the comparison would prove little. */
	EXPECT_LT(width * 4, total);
	EXPECT_LT(1000, self->nested);
}

TEST_HARNESS_MAIN
