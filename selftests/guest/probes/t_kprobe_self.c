// SPDX-License-Identifier: GPL-2.0-only
/*
 * Put probes at functions that recording itself uses: nothing may hang, and no
 * other event may be lost.
 */
#include "kselftest_harness.h"

#include "kt_probe.h"

#define LOAD_CPU 0
#define CALLS	 1000

/* Count in n[0] the calls of getppid(), in n[1] the hits of the probe. */
static void count_getppid(const struct kt_rec *r, void *arg)
{
	long *n = arg;

	n[0] += r->op == KTAPE_EV_SYS_ENTER && (r->dat20 & 0xffff) == SYS_getppid;
	n[1] += r->op == KTAPE_OP_PROBE;
}

FIXTURE(self)
{
	int main, fd;
	struct kt_map m;
};

FIXTURE_VARIANT(self)
{
	const char *symbol;
};

/* The clock, wake-ups, what these call, and the symbol lookup. */
#define VARIANT(symbol)                   \
	FIXTURE_VARIANT_ADD(self, symbol) \
	{                                 \
#symbol                   \
	}
/* clang-format off */
VARIANT(ktime_get_mono_fast_ns);
VARIANT(read_tsc);
VARIANT(read_hpet);
VARIANT(acpi_pm_read);
VARIANT(irq_work_queue);
VARIANT(__irq_work_queue_local);
VARIANT(__wake_up);
VARIANT(_raw_spin_lock_irqsave);
VARIANT(__rcu_read_lock);
VARIANT(sprint_symbol);
VARIANT(__traceiter_sys_enter);
/* clang-format on */

FIXTURE_SETUP(self)
{
	self->main = kt_open(O_RDWR);
	ASSERT_LE(0, self->main);
	self->fd = kt_create(self->main, KTAPE_MODE_OVERWRITE, 16 << 20, 0);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, kt_map_ring(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &self->m));
	ASSERT_EQ(0, kt_pin(LOAD_CPU));
}

FIXTURE_TEARDOWN(self)
{
	kt_unmap_ring(&self->m);
	close(self->fd);
	kt_probe_remove(self->main, KTAPE_OP_PROBE);
	close(self->main);
}

TEST_F_TIMEOUT(self, does_not_hang, 120)
{
	struct ktape_stats st;
	struct ktape_probe p;
	int nr;

	for (uint32_t flags = 0; flags <= KTAPE_PROBE_RETURN; flags++) {
		long n[2] = {}, lost = 0;

		nr = kt_probe_add(self->main, variant->symbol, flags, 1);
		if (nr == -ENOENT || nr == -EINVAL)
			SKIP(return, "no probe at %s here: %d", variant->symbol, nr);
		ASSERT_EQ(KTAPE_OP_PROBE, nr);
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET,
					    KTAPE_EV_SYS_ENTER,
					    KTAPE_EV_SCHED_SWITCH, nr));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_START));
		kt_getppids(CALLS);
		usleep(20000);
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_STOP));
		ASSERT_LE(0, kt_walk(&self->m, count_getppid, n));
		ASSERT_EQ(0, kt_stats(self->fd, LOAD_CPU, KTAPE_RING_EVENT, &st));
		p = kt_probe_get(self->main, nr);
		for (int i = 0; i < KTAPE_LOST_REASONS; i++)
			lost += st.lost[i][KTAPE_CLASS_KPROBE] +
				st.lost[i][KTAPE_CLASS_SYSCALL];
		TH_LOG("%s%s: %ld of %llu hits here, %llu missed, %ld lost",
		       variant->symbol, flags ? ", return" : "", n[1], p.hits,
		       p.missed, lost);
		EXPECT_EQ(CALLS, n[0]);
		EXPECT_EQ(0, lost);
		EXPECT_LE(n[1], (long)p.hits);
		ASSERT_EQ(0, kt_profile_ops(self->fd, KTAPE_PROFILE_SET, 0, 0, 0));
		ASSERT_EQ(0, kt_control(self->fd, KTAPE_IOC_CLEAR));
		ASSERT_EQ(0, kt_probe_remove(self->main, nr));
	}
}

TEST_HARNESS_MAIN
