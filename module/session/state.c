// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all other files of this folder use: the lists of sessions and their locks, the
 * rings of a session, and the memory that rings take.
 */
#include <linux/cpu.h>
#include <linux/highmem.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "ring/ring.h"
#include "internal.h"

DEFINE_MUTEX(kt_session_control);
DEFINE_MUTEX(kt_session_lock);
/*
 * By number: sessions, and those that are still being created, which cannot be found yet.  Sessions
 * that have ended have no number; their rings are about to be freed.
 */
struct kt_session *kt_sessions[KT_SESSIONS];
struct kt_session *kt_sessions_unlisted[KT_SESSIONS];
LIST_HEAD(kt_sessions_ended);

/**
 * kt_session_enter_any() - take kt_session_control, whichever session is busy
 *
 * Context: process context, may sleep.
 */
void kt_session_enter_any(void)
{
	mutex_lock(&kt_session_control);
}

/**
 * kt_session_leave() - release kt_session_control
 *
 * Context: process context, after kt_session_enter() or kt_session_enter_any().
 */
void kt_session_leave(void)
{
	mutex_unlock(&kt_session_control);
}

/**
 * kt_session_lock_both() - take the CPU hotplug lock for reading, and kt_session_lock
 *
 * Context: process context, may sleep.
 */
void kt_session_lock_both(void)
{
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
}

/**
 * kt_session_unlock_both() - release what kt_session_lock_both() took
 *
 * Context: process context.
 */
void kt_session_unlock_both(void)
{
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
}

/**
 * kt_session_ring() - return a ring of a session
 * @s: the session
 * @cpu: any number
 * @kind: any number
 *
 * The ring exists as long as the session has a holder; otherwise while the caller has
 * kt_session_rings_get(), or reader_lock.
 *
 * Context: any.
 * Return: the ring; NULL: no such CPU or kind, the CPU has no rings, or they were
 * taken away.
 */
struct kt_ring *kt_session_ring(const struct kt_session *s, unsigned int cpu,
				unsigned int kind)
{
	const struct kt_rings *rings;

	if (cpu >= nr_cpu_ids || kind >= KTAPE_RINGS_PER_CPU || READ_ONCE(s->taken))
		return NULL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	kind = array_index_nospec(kind, KTAPE_RINGS_PER_CPU);
	/* Pairs with the release in session_give_rings(). */
	rings = smp_load_acquire(&s->rings[cpu]);
	return rings ? rings->ring[kind] : NULL;
}

/**
 * kt_session_next_ring() - find the next ring of a session: see kt_for_each_ring()
 * @s: the session
 * @kinds: bit n: rings of enum ktape_ring_kind n
 * @at: in: number of rings that were passed, 0 at first; out: those up to the result
 *
 * Context: as kt_session_ring().
 * Return: the ring; NULL: there is none left.
 */
struct kt_ring *kt_session_next_ring(const struct kt_session *s,
				     unsigned int kinds, unsigned int *at)
{
	unsigned int cpu, kind;
	struct kt_ring *r;

	while (*at < nr_cpu_ids * KTAPE_RINGS_PER_CPU) {
		cpu = *at / KTAPE_RINGS_PER_CPU;
		kind = (*at)++ % KTAPE_RINGS_PER_CPU;
		r = kinds & BIT(kind) ? kt_session_ring(s, cpu, kind) : NULL;
		if (r)
			return r;
	}
	return NULL;
}

/**
 * kt_session_cpu_bytes() - return the bytes of RAM that the rings of one CPU take
 * @s: the session, or NULL
 *
 * Return: the bytes; 0: none, or they are in the persistent region. Context: any.
 */
u64 kt_session_cpu_bytes(const struct kt_session *s)
{
	/* The persistent region is not RAM that the kernel could use. */
	if (!s || s->mode == KTAPE_MODE_PERSISTENT)
		return 0;
	return (u64)s->size[KTAPE_RING_EVENT] + s->size[KTAPE_RING_CONTROL];
}

/*
 * Return the bytes of a session's rings; with @online, include rings that online
 * CPUs do not have yet.  CPUs that went offline keep their rings.
 *
 * A task that allocates or frees rings stores the pointers without a lock, so
 * such a ring may be counted or not.
 */
static u64 session_ring_bytes(const struct kt_session *s, bool online)
{
	unsigned int cpu, n = 0;

	if (!kt_session_cpu_bytes(s))
		return 0;
	for_each_possible_cpu(cpu)
		n += READ_ONCE(s->rings[cpu]) || (online && cpu_online(cpu));
	/* With @online these CPUs are counted already. */
	if (!online)
		n += READ_ONCE(s->making);
	return kt_session_cpu_bytes(s) * n;
}

/*
 * Return the bytes of the rings of all sessions except @but.
 *
 * An online CPU without rings counts in a session that is being created, because
 * it will get rings.  In a published session it has none for lack of memory, and
 * counts only with @online.
 */
static u64 sessions_ring_bytes(const struct kt_session *but, bool online)
{
	const struct kt_session *s;
	u64 all = 0;
	unsigned int i;

	for (i = 0; i < KT_SESSIONS; i++) {
		if (kt_sessions[i] != but)
			all += session_ring_bytes(kt_sessions[i], online);
		if (kt_sessions_unlisted[i] && kt_sessions_unlisted[i] != but)
			all += session_ring_bytes(kt_sessions_unlisted[i], true);
	}
	list_for_each_entry(s, &kt_sessions_ended, ended)
		all += session_ring_bytes(s, false);
	return all;
}

/**
 * kt_sessions_bytes_allowed() - return the limit for the rings of all sessions
 *
 * Context: any.
 * Return: half of the memory that the kernel can use for rings, which on 32 bits is less
 * than the machine has.
 */
u64 kt_sessions_bytes_allowed(void)
{
	return (u64)(totalram_pages() - totalhigh_pages()) * PAGE_SIZE / 2;
}

/**
 * kt_session_has_room() - check whether one more CPU may get rings
 * @s: the session
 *
 * Context: process context with kt_session_lock.
 * Return: false if all rings together would then exceed half of the memory.
 */
bool kt_session_has_room(const struct kt_session *s)
{
	return !kt_session_cpu_bytes(s) ||
	       kt_session_cpu_bytes(s) + sessions_ring_bytes(NULL, false) <=
		       kt_sessions_bytes_allowed();
}

/**
 * kt_session_check_room() - check the sizes of a new session's rings
 * @s: the session
 * @c: filled on failure
 *
 * Context: process context with kt_session_control or kt_session_lock.
 * Return: 0; -ENOMEM: an event ring is larger than KT_RING_MAX, or the rings of all
 * sessions together would exceed half of the memory.
 */
int kt_session_check_room(const struct kt_session *s, struct kt_session_config *c)
{
	u64 asked = session_ring_bytes(s, true), allowed = 0, others;

	if (s->size[KTAPE_RING_EVENT] <= KT_RING_MAX)
		allowed = kt_sessions_bytes_allowed();
	others = sessions_ring_bytes(s, true);
	if (!asked || asked + others <= allowed)
		return 0;
	c->failed_cpu = -1;
	c->failed_asked = asked;
	c->failed_had = allowed > others ? allowed - others : 0;
	return -ENOMEM;
}

/**
 * kt_session_dealloc() - free the structure of a session
 * @s: the session, without rings and references
 *
 * Context: process context.
 */
void kt_session_dealloc(struct kt_session *s)
{
	bitmap_free(s->with_rings);
	kfree(s);
}
