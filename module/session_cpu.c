// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of a session, CPU by CPU, as CPUs come and go.
 *
 * Rings are made when a CPU comes for the first time and stay until the session
 * ends: those of a CPU that is offline can be read on.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "control.h"
#include "persist.h"
#include "ring_mem.h"
#include "session.h"

/**
 * kt_session_ring() - a ring of a session
 * @s: the session
 * @cpu: any number
 * @kind: any number
 *
 * Context: any.
 * Return: the ring, or NULL if there is none.
 */
struct kt_ring *kt_session_ring(const struct kt_session *s, unsigned int cpu,
				unsigned int kind)
{
	const struct kt_rings *rings;

	if (cpu >= nr_cpu_ids || kind >= KTAPE_RINGS_PER_CPU)
		return NULL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	kind = array_index_nospec(kind, KTAPE_RINGS_PER_CPU);
	/* Pairs with the release in kt_session_make_rings(). */
	rings = smp_load_acquire(&s->rings[cpu]);
	return rings ? rings->ring[kind] : NULL;
}

static void free_rings(struct kt_rings *rings)
{
	unsigned int kind;

	for (kind = 0; rings && kind < KTAPE_RINGS_PER_CPU; kind++)
		kt_ring_free(rings->ring[kind]);
	kfree(rings);
}

static void tell_failed(struct kt_session_config *config,
			const struct kt_ring_spec *spec)
{
	config->failed_cpu = spec->cpu;
	config->failed_kind = spec->kind;
	config->failed_asked = spec->size;
	config->failed_had = spec->had;
}

static void give_rings(const struct kt_session *s, unsigned int cpu,
		       const struct kt_rings *rings)
{
	struct kt_cpu *c = per_cpu_ptr(&kt_cpus, cpu);
	unsigned int kind;

	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
		WRITE_ONCE(c->ring[kind][s->id], rings->ring[kind]);
	kind = s->mode == KTAPE_MODE_DISCARD ? KTAPE_RING_CONTROL :
					       KTAPE_RING_EVENT;
	WRITE_ONCE(c->ring[KT_RING_NAMES][s->id], rings->ring[kind]);
}

/**
 * kt_session_make_rings() - give a CPU its rings
 * @s: the session
 * @cpu: the CPU; nothing happens if it has them
 * @config: filled with what failed, or NULL
 *
 * Context: process context with kt_session_lock, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kt_session_make_rings(struct kt_session *s, unsigned int cpu,
			  struct kt_session_config *config)
{
	struct kt_ring_spec spec = {
		.mode = s->mode,
		.cpu = cpu,
		.account = s->account,
		.owner = &s->owner,
	};
	struct kt_rings *rings;
	struct kt_ring *r;

	if (s->rings[cpu])
		return 0;
	rings = kzalloc(sizeof(*rings), GFP_KERNEL);
	if (!rings)
		return -ENOMEM;
	for (; spec.kind < KTAPE_RINGS_PER_CPU; spec.kind++) {
		spec.size = s->size[spec.kind];
		spec.block_size = s->block_size[spec.kind];
		/* The control ring of a snapshot keeps how it began. */
		if (s->mode == KTAPE_MODE_SNAPSHOT &&
		    spec.kind == KTAPE_RING_CONTROL)
			spec.mode = KTAPE_MODE_DISCARD;
		kt_persist_place(s, &spec);
		r = kt_ring_alloc(&spec);
		if (IS_ERR(r)) {
			if (config)
				tell_failed(config, &spec);
			free_rings(rings);
			return PTR_ERR(r);
		}
		WRITE_ONCE(r->page->flags, s->running ? 0 : KTAPE_RING_FLAG_STOPPED);
		rings->ring[spec.kind] = r;
	}
	/* All or none: a trigger's record goes there without a want bit. */
	give_rings(s, cpu, rings);
	/* Pairs with the acquire in kt_session_ring(). */
	smp_store_release(&s->rings[cpu], rings);
	return 0;
}

/**
 * kt_session_remove_rings() - free all rings
 * @s: the session; none of its want bits has been set for a grace period
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_remove_rings(struct kt_session *s)
{
	unsigned int cpu, kind;

	for_each_possible_cpu(cpu) {
		for (kind = 0; kind < KT_RING_KINDS; kind++)
			per_cpu_ptr(&kt_cpus, cpu)->ring[kind][s->id] = NULL;
		free_rings(s->rings[cpu]);
		s->rings[cpu] = NULL;
	}
}

static int cpuhp_state_prepare, cpuhp_state_online;

/* A CPU without memory for its rings goes unrecorded, and the others say so. */
static void prepare(struct kt_session *s, unsigned int cpu)
{
	bool room = s->rings[cpu] || kt_session_has_room(s);

	if (!room || kt_session_make_rings(s, cpu, NULL)) {
		pr_warn_ratelimited("session %u: no memory for the rings of CPU %u, what it does is not recorded\n",
				    s->id, cpu);
		if (s->running)
			kt_control_without(s, cpu);
		return;
	}
	kt_session_sheds(s);
	kt_want_set(s, cpu);
}

/* On another CPU, before @cpu runs. */
static int cpu_prepare(unsigned int cpu)
{
	unsigned int i;

	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++)
		if (kt_sessions[i])
			prepare(kt_sessions[i], cpu);
	mutex_unlock(&kt_session_lock);
	return 0;
}

static int cpu_change(unsigned int cpu, bool online)
{
	unsigned int i;

	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++)
		if (kt_sessions[i] && kt_sessions[i]->running)
			kt_control_cpu(kt_sessions[i], cpu, online);
	mutex_unlock(&kt_session_lock);
	return 0;
}

static int cpu_online_cb(unsigned int cpu)
{
	return cpu_change(cpu, true);
}

static int cpu_offline_cb(unsigned int cpu)
{
	return cpu_change(cpu, false);
}

/**
 * kt_session_hotplug_init() - follow CPUs as they come and go
 *
 * Context: module load, before the first session.
 * Return: 0 or a negative errno.
 */
int kt_session_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktape:prepare",
					cpu_prepare, NULL);
	if (ret < 0)
		return ret;
	cpuhp_state_prepare = ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ktape:online",
					cpu_online_cb, cpu_offline_cb);
	if (ret < 0) {
		cpuhp_remove_state_nocalls(cpuhp_state_prepare);
		return ret;
	}
	cpuhp_state_online = ret;
	return 0;
}

/**
 * kt_session_hotplug_exit() - no longer follow CPUs
 *
 * Context: module unload, after the last session.
 */
void kt_session_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(cpuhp_state_online);
	cpuhp_remove_state_nocalls(cpuhp_state_prepare);
}
