// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of a session per CPU, and CPU hotplug.
 *
 * A CPU gets rings in each session when it comes online for the first time.  They
 * stay until the session is freed, so the rings of an offline CPU can be read.
 *
 * Rings are allocated and freed without the locks of the sessions, because that
 * takes seconds for large rings.  They are published to the writers and withdrawn
 * with both locks held.
 *
 * A CPU writes an event to the rings of the sessions whose want bits for it are set there.
 * These bits are set after the rings were published, and are clear before those are withdrawn.
 *
 * A CPU that comes online gets its rings before it runs if they are small, because
 * the kernel holds the hotplug lock meanwhile.  Large ones are made by a work item
 * once it runs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "persist/persist.h"
#include "ring/ring.h"
#include "internal.h"

static void rings_free(struct kt_rings *rings)
{
	unsigned int kind;

	for (kind = 0; rings && kind < KTAPE_RINGS_PER_CPU; kind++)
		kt_ring_free(rings->ring[kind]);
	kfree(rings);
}

/* Report in @config which ring could not be allocated. */
static void rings_note_failure(struct kt_session_config *config,
			       const struct kt_ring_spec *spec)
{
	config->failed_cpu = spec->cpu;
	config->failed_kind = spec->kind;
	config->failed_asked = spec->size;
	config->failed_had = spec->had;
}

/* Store the ring pointers that the writers on a CPU use. */
static void rings_give_to_cpu(const struct kt_session *s, unsigned int cpu,
			      const struct kt_rings *rings)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);
	unsigned int kind;

	for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++) {
		WRITE_ONCE(c->ring[kind][s->id], rings->ring[kind]);
		/* By the want bits of an event that only this session records. */
		WRITE_ONCE(c->alone[kind][BIT(s->id)], rings->ring[kind]);
	}
	/* Names would push out, or keep out, other control records, unless a consumer makes room. */
	kind = s->mode == KTAPE_MODE_DISCARD ? KTAPE_RING_CONTROL : KTAPE_RING_EVENT;
	WRITE_ONCE(c->ring[KT_RING_NAMES][s->id], rings->ring[kind]);
}

/*
 * Allocate the rings of a CPU, which refuse records until the session starts.  @config: filled
 * with what failed; or NULL.  @misses: as in struct kt_ring_spec.
 * Return: the rings; ERR_PTR of -ENOMEM or -EINTR.
 */
static struct kt_rings *rings_make(struct kt_session *s, unsigned int cpu,
				   struct kt_session_config *config,
				   unsigned int *misses)
{
	struct kt_ring_spec spec = {
		.mode = s->mode,
		.cpu = cpu,
		.account = s->account,
		.ops = &kt_event_ring_ops,
		.owner = &s->owner,
		.misses = *misses,
	};
	struct kt_rings *rings = kzalloc(sizeof(*rings), GFP_KERNEL);
	struct kt_ring *r;

	if (!rings)
		return ERR_PTR(-ENOMEM);
	for (; spec.kind < KTAPE_RINGS_PER_CPU; spec.kind++) {
		spec.size = s->size[spec.kind];
		spec.block_size = s->block_size[spec.kind];
		/* The control ring of a snapshot keeps its first records. */
		if (s->mode == KTAPE_MODE_SNAPSHOT && spec.kind == KTAPE_RING_CONTROL)
			spec.mode = KTAPE_MODE_DISCARD;
		if (s->mode == KTAPE_MODE_PERSISTENT)
			kt_persist_place(&spec);
		r = kt_ring_alloc(&spec);
		*misses = spec.misses;
		if (IS_ERR(r)) {
			if (config)
				rings_note_failure(config, &spec);
			rings_free(rings);
			return ERR_CAST(r);
		}
		WRITE_ONCE(r->page->flags, KTAPE_RING_FLAG_STOPPED);
		rings->ring[spec.kind] = r;
	}
	return rings;
}

/**
 * kt_session_make_rings() - allocate rings for all online CPUs that have none
 * @s: the session, not published
 * @config: filled with what failed
 *
 * CPUs may come online and go offline meanwhile.
 *
 * Context: process context without a lock, may sleep.
 * Return: 0; -ENOMEM; -EINTR: the caller was killed.
 */
int kt_session_make_rings(struct kt_session *s, struct kt_session_config *config)
{
	struct kt_rings *rings;
	unsigned int cpu, misses = 0;

	for_each_online_cpu(cpu) {
		if (s->rings[cpu])
			continue;
		rings = rings_make(s, cpu, config, &misses);
		if (IS_ERR(rings))
			return PTR_ERR(rings);
		/* Other tasks read this without a lock: session_ring_bytes(). */
		WRITE_ONCE(s->rings[cpu], rings);
		set_bit(cpu, s->with_rings);
	}
	return 0;
}

/**
 * kt_session_publish_rings() - let writers use the rings of a session
 * @s: the session
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 * Return: true; false: an online CPU has no rings, and nothing was changed.
 */
bool kt_session_publish_rings(struct kt_session *s)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (!s->rings[cpu])
			return false;
	for_each_possible_cpu(cpu)
		if (s->rings[cpu])
			rings_give_to_cpu(s, cpu, s->rings[cpu]);
	return true;
}

/**
 * kt_session_free_rings() - free all rings
 * @s: the session, not published or withdrawn
 *
 * Context: process context, may sleep.
 */
void kt_session_free_rings(struct kt_session *s)
{
	struct kt_rings *rings;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		rings = s->rings[cpu];
		clear_bit(cpu, s->with_rings);
		rings_free(rings);
		/* After the memory is free: session_ring_bytes() counts it. */
		WRITE_ONCE(s->rings[cpu], NULL);
	}
}

/**
 * kt_session_withdraw_rings() - take the rings away from the writers
 * @s: the session; its want bits have been clear for a grace period
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_withdraw_rings(struct kt_session *s)
{
	struct kt_cpu *c;
	unsigned int cpu, kind;

	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(kt_cpus, cpu);
		for (kind = 0; kind < KTAPE_RINGS_PER_CPU; kind++)
			WRITE_ONCE(c->alone[kind][BIT(s->id)], NULL);
		for (kind = 0; kind < KT_RING_KINDS; kind++)
			WRITE_ONCE(c->ring[kind][s->id], NULL);
	}
}

static int cpuhp_state_prepare, cpuhp_state_online;

/* Bytes of rings, of all sessions together, that are made under the hotplug lock. */
#define PREPARE_MAX (32UL << 20)

/*
 * Allocate rings for a CPU that comes online, unless the session has some for it or they
 * exceed what is @left of the bytes that may be made now.
 * Return: the new rings; NULL: there are some; ERR_PTR of -ENOMEM, -EINTR, or -EAGAIN: the
 * work item has to make them.
 */
static struct kt_rings *rings_make_for(struct kt_session *s, unsigned int cpu,
				       u64 *left)
{
	/* Take whole blocks only if they are free: the hotplug lock is held. */
	unsigned int misses = KT_MISSES_SOME_EFFORT;
	u64 bytes = kt_session_cpu_bytes(s);
	bool room;

	if (s->rings[cpu])
		return NULL;
	mutex_lock(&kt_session_lock);
	room = kt_session_has_room(s);
	mutex_unlock(&kt_session_lock);
	if (!room)
		return ERR_PTR(-ENOMEM);
	if (bytes > *left)
		return ERR_PTR(-EAGAIN);
	*left -= bytes;
	return rings_make(s, cpu, NULL, &misses);
}

static void session_warn_without(const struct kt_session *s, unsigned int cpu,
				 int error)
{
	pr_warn_ratelimited(
		"session %u: events of CPU %u are not recorded: %s\n", s->id, cpu,
		error == -EINTR ? "the task that brought it online was killed" :
				  "not enough memory for its rings");
}

/* Record that a CPU is not recorded, or not yet: then let the work item make its rings. */
static void session_prepare_without(struct kt_session *s, unsigned int cpu, int error)
{
	if (error == -EAGAIN) {
		cpumask_set_cpu(cpu, &s->late_cpus);
		queue_work(system_long_wq, &s->late);
	} else {
		session_warn_without(s, cpu, error);
	}
	if (s->running)
		kt_control_other(s, cpu, false);
}

/*
 * Publish new rings of a CPU.  The control rings of the others say that it has got them: a
 * trace may end before the first packet of them.
 */
static void session_give_rings(struct kt_session *s, unsigned int cpu,
			       struct kt_rings *rings)
{
	unsigned int kind;

	for (kind = 0; s->running && kind < KTAPE_RINGS_PER_CPU; kind++)
		WRITE_ONCE(rings->ring[kind]->page->flags, 0);
	/* Both kinds: a trigger writes to the control ring without a want bit. */
	rings_give_to_cpu(s, cpu, rings);
	/* Pairs with the acquire in kt_session_ring(). */
	smp_store_release(&s->rings[cpu], rings);
	set_bit(cpu, s->with_rings);
	if (s->running)
		kt_control_other(s, cpu, true);
	kt_session_set_shedding(s);
}

/* Let a CPU that comes online record into a session. */
static void session_prepare_cpu(struct kt_session *s, unsigned int cpu,
				struct kt_rings *rings)
{
	if (IS_ERR(rings))
		return session_prepare_without(s, cpu, PTR_ERR(rings));
	if (rings)
		session_give_rings(s, cpu, rings);
	else
		kt_session_set_shedding(s);
	kt_want_set(s, cpu);
}

static bool late_is_needed(const struct kt_session *s, unsigned int cpu)
{
	return kt_sessions[s->id] == s && !s->gone && !s->rings[cpu];
}

/*
 * Let a CPU record for which the work item has made rings.  The hotplug lock is free once
 * the CPU runs.  Meanwhile the session may have ended, and the CPU may have gone offline, and
 * even have come back with rings.
 * Return: false: the rings were not needed.
 */
static bool late_publish(struct kt_session *s, unsigned int cpu,
			 struct kt_rings *rings)
{
	bool needed;

	/* Neither a start nor a stop is under way, so @running is @begun. */
	kt_session_enter(s);
	kt_session_lock_both();
	needed = late_is_needed(s, cpu);
	if (needed) {
		session_give_rings(s, cpu, rings);
		/* They count as the session's from here on. */
		WRITE_ONCE(s->making, 0);
		if (s->begun && cpu_online(cpu) && kt_session_records_on(s, cpu))
			kt_control_join(s, cpu);
		else
			kt_want_set(s, cpu);
	}
	WRITE_ONCE(s->making, 0);
	kt_session_unlock_both();
	kt_session_leave();
	return needed;
}

/* Make the rings of one CPU.  @misses: as in struct kt_ring_spec. */
static void late_make(struct kt_session *s, unsigned int cpu, unsigned int *misses)
{
	struct kt_rings *rings = ERR_PTR(-ENOMEM);
	bool needed;

	mutex_lock(&kt_session_lock);
	needed = late_is_needed(s, cpu);
	WRITE_ONCE(s->making, needed && kt_session_has_room(s));
	mutex_unlock(&kt_session_lock);
	if (!needed)
		return;
	if (s->making)
		rings = rings_make(s, cpu, NULL, misses);
	if (!IS_ERR(rings)) {
		if (!late_publish(s, cpu, rings))
			rings_free(rings);
		return;
	}
	mutex_lock(&kt_session_lock);
	WRITE_ONCE(s->making, 0);
	mutex_unlock(&kt_session_lock);
	session_warn_without(s, cpu, PTR_ERR(rings));
}

static void session_late_work(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, late);
	unsigned int cpu, misses = 0;

	for_each_cpu(cpu, &s->late_cpus)
		if (cpumask_test_and_clear_cpu(cpu, &s->late_cpus))
			late_make(s, cpu, &misses);
}

/**
 * kt_session_late_init() - prepare the work item that makes rings of other CPUs
 * @s: the session, zeroed
 *
 * Context: any.
 */
void kt_session_late_init(struct kt_session *s)
{
	INIT_WORK(&s->late, session_late_work);
}

/*
 * Prepare all sessions for a CPU, on another CPU and before @cpu runs.
 *
 * The kernel holds the CPU hotplug lock for writing.  Sessions are published and
 * withdrawn with that lock held for reading, so none comes or goes here.  Tasks
 * that need the lock wait until the rings are allocated.
 *
 * Return: 0: a CPU for whose rings there is no memory comes online without them.
 */
static int rings_cpu_prepare(unsigned int cpu)
{
	struct kt_rings *rings;
	u64 left = PREPARE_MAX;
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++) {
		if (!kt_sessions[i])
			continue;
		rings = rings_make_for(kt_sessions[i], cpu, &left);
		mutex_lock(&kt_session_lock);
		session_prepare_cpu(kt_sessions[i], cpu, rings);
		mutex_unlock(&kt_session_lock);
	}
	/* It runs no known thread yet, so with thread filters its pass mask begins closed. */
	kt_now_prepare(cpu);
	return 0;
}

/* Record on @cpu itself, in all sessions, that it came online or goes offline. */
static int rings_cpu_change(unsigned int cpu, bool online)
{
	unsigned int i;

	mutex_lock(&kt_session_lock);
	for (i = 0; i < KT_SESSIONS; i++) {
		if (!kt_sessions[i] || !kt_sessions[i]->running)
			continue;
		/*
		 * kt_control_join() then writes no more: a CPU that came online is marked
		 * below, one that goes offline when it comes back.
		 */
		cpumask_clear_cpu(cpu, &kt_sessions[i]->joining);
		if (kt_sessions[i]->begun)
			kt_session_missed_record(kt_sessions[i], NULL);
		if (kt_sessions[i]->begun && online &&
		    !kt_session_ring(kt_sessions[i], cpu, 0))
			kt_session_cpu_is_without(kt_sessions[i]);
		/*
		 * A start that waits for its grace period marks this CPU with the
		 * others, and a stop has marked that nothing is recorded.  That a CPU goes
		 * offline is no on-marker, and is written in any case.
		 */
		if (!online || kt_sessions[i]->begun)
			kt_control_cpu(kt_sessions[i], cpu, online);
	}
	mutex_unlock(&kt_session_lock);
	return 0;
}

static int rings_cpu_online(unsigned int cpu)
{
	return rings_cpu_change(cpu, true);
}

static int rings_cpu_offline(unsigned int cpu)
{
	return rings_cpu_change(cpu, false);
}

/**
 * kt_session_hotplug_init() - follow CPU hotplug
 *
 * Context: module load, before the first session.
 * Return: 0 or a negative errno.
 */
int kt_session_hotplug_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "ktape:prepare",
					rings_cpu_prepare, NULL);
	if (ret < 0)
		return ret;
	cpuhp_state_prepare = ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "ktape:online",
					rings_cpu_online, rings_cpu_offline);
	if (ret < 0) {
		cpuhp_remove_state_nocalls(cpuhp_state_prepare);
		return ret;
	}
	cpuhp_state_online = ret;
	return 0;
}

/**
 * kt_session_hotplug_exit() - stop following CPU hotplug
 *
 * Context: module unload, after the last session.
 */
void kt_session_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(cpuhp_state_online);
	cpuhp_remove_state_nocalls(cpuhp_state_prepare);
}
