// SPDX-License-Identifier: GPL-2.0-only
/* Allocates what each CPU keeps for its events. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "cpu.h"

struct kt_cpu __percpu *kt_cpus __read_mostly;

/* Aligned so that it is in one cache line. */
DEFINE_PER_CPU(struct kt_now, kt_now) __aligned(32);

/**
 * kt_cpus_init() - Allocate the state of all possible CPUs, each on its node
 *
 * A CPU that comes online later finds its own: no event needs to ask whether it is
 * there.
 *
 * Context: module load, before anything can record or count an event.
 * Return: 0 or -ENOMEM.
 */
int kt_cpus_init(void)
{
	struct kt_cpu *c;
	unsigned int cpu, i;

	kt_cpus = __alloc_percpu(sizeof(*kt_cpus), SMP_CACHE_BYTES);
	if (!kt_cpus) {
		pr_err("no memory for the state of CPUs: %zu bytes of per-CPU memory for each of %u\n",
		       sizeof(*kt_cpus), num_possible_cpus());
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(kt_cpus, cpu);
		c->now = per_cpu_ptr(&kt_now, cpu);
		c->now->mask = KT_MASK_OPEN;
		c->now->steady = KT_NOT_STEADY;
		for (i = KTAPE_OP_EXCEPTION; i < KTAPE_OPCODES; i++)
			c->want[i] = KT_WANT_NONE;
	}
	kt_match_init(kt_cpus->kept);
	return 0;
}

/**
 * kt_cpus_exit() - Free the state of all CPUs
 *
 * Context: module unload; no probe, no other module and no work of this one is left
 * that could look at it, and a grace period has passed since.
 */
void kt_cpus_exit(void)
{
	free_percpu(kt_cpus);
}
