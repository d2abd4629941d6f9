/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare a session's counts with those of an independent module, kt_count, which counts
 * the tracepoints by class and CPU without using ktape.
 *
 * kt_count is read before and after each START and STOP, so the session's counts must lie
 * between two differences.
 */
#ifndef _KT_COUNTS_H
#define _KT_COUNTS_H

#include "kt_load.h"

#define KTC_CPUS    16
#define KTC_CLASSES 5
#define KTC_SIGNAL  4 /* index of class signal */

static const unsigned char ktc_classes[KTC_CLASSES] = {
	KTAPE_CLASS_SCHED,   KTAPE_CLASS_IRQ,	 KTAPE_CLASS_SOFTIRQ,
	KTAPE_CLASS_SYSCALL, KTAPE_CLASS_SIGNAL,
};

/* What kt_count counts. */
static const unsigned char ktc_ops[] = {
	KTAPE_EV_SCHED_SWITCH,
	KTAPE_EV_SCHED_WAKING,
	KTAPE_EV_SCHED_WAKEUP,
	KTAPE_EV_IRQ_HANDLER_ENTRY,
	KTAPE_EV_IRQ_HANDLER_EXIT,
	KTAPE_EV_SOFTIRQ_RAISE,
	KTAPE_EV_SOFTIRQ_ENTRY,
	KTAPE_EV_SOFTIRQ_EXIT,
	KTAPE_EV_SYS_ENTER,
	KTAPE_EV_SYS_EXIT,
	KTAPE_EV_SIGNAL_GENERATE,
	KTAPE_EV_SIGNAL_DELIVER,
	0,
};

/* Counts at one moment, or the sum over several recordings. */
struct ktc_counts {
	uint64_t n[KTC_CPUS][KTC_CLASSES];
};

/**
 * struct ktc_counter - counts of a session that is started and stopped repeatedly
 * @before: counts before the last START
 * @started: counts after it
 * @least: the session has counted at least so many
 * @most: the session has counted at most so many
 */
struct ktc_counter {
	struct ktc_counts before, started, least, most;
};

static inline int ktc_read(struct ktc_counts *c)
{
	FILE *f = fopen("/proc/kt_count", "re");
	unsigned long long n[KTC_CLASSES];
	unsigned int cpu;

	memset(c, 0, sizeof(*c));
	if (!f)
		return -errno;
	while (fscanf(f, "%u %llu %llu %llu %llu %llu", &cpu, &n[0], &n[1],
		      &n[2], &n[3], &n[4]) == 1 + KTC_CLASSES)
		for (int i = 0; cpu < KTC_CPUS && i < KTC_CLASSES; i++)
			c->n[cpu][i] = n[i];
	fclose(f);
	return 0;
}

/* Add the difference of two readings. */
static inline void ktc_add(struct ktc_counts *to, const struct ktc_counts *from,
			   const struct ktc_counts *until)
{
	for (int cpu = 0; cpu < KTC_CPUS; cpu++)
		for (int i = 0; i < KTC_CLASSES; i++)
			to->n[cpu][i] += until->n[cpu][i] - from->n[cpu][i];
}

static inline uint64_t ktc_sum(const struct ktc_counts *c)
{
	uint64_t sum = 0;

	for (int cpu = 0; cpu < KTC_CPUS; cpu++)
		for (int i = 0; i < KTC_CLASSES; i++)
			sum += c->n[cpu][i];
	return sum;
}

/* Start the session @fd. Return: 0 or a negative errno. */
static inline int ktc_start(struct ktc_counter *c, int fd)
{
	int ret = ktc_read(&c->before);

	ret = ret ?: kt_control(fd, KTAPE_IOC_START);
	return ret ?: ktc_read(&c->started);
}

/* Stop the session, and add what it has counted since START to both counts. Return: likewise. */
static inline int ktc_stop(struct ktc_counter *c, int fd)
{
	struct ktc_counts stopping, stopped;
	int ret = ktc_read(&stopping);

	ret = ret ?: kt_control(fd, KTAPE_IOC_STOP);
	ret = ret ?: ktc_read(&stopped);
	ktc_add(&c->least, &c->started, &stopping);
	ktc_add(&c->most, &c->before, &stopped);
	return ret;
}

/*
 * Compare the counts of the stopped session. Return: number of CPUs and classes whose
 * counts are wrong.
 */
static inline int ktc_wrong(const struct ktc_counter *c, int fd, int cpus)
{
	struct ktape_stats st;
	int wrong = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		if (kt_stats(fd, cpu, KTAPE_RING_EVENT, &st))
			continue;
		for (int i = 0; i < KTC_CLASSES; i++) {
			uint64_t n = st.emitted[ktc_classes[i]];

			if (n >= c->least.n[cpu][i] && n <= c->most.n[cpu][i])
				continue;
			printf("# cpu %d class %d: %llu emitted, %llu to %llu counted\n",
			       cpu, ktc_classes[i], (unsigned long long)n,
			       (unsigned long long)c->least.n[cpu][i],
			       (unsigned long long)c->most.n[cpu][i]);
			wrong++;
		}
	}
	return wrong;
}

#endif /* _KT_COUNTS_H */
