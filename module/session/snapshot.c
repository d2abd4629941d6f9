// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a full snapshot.
 *
 * A ring without room for a record notes the time and lets the session be
 * stopped, outside the writer's context: irq_work, then a work item.  Meanwhile
 * the other CPUs record on.  When nobody writes any more, the earliest of these
 * times is the end of the snapshot: what has that time or a later one is taken
 * out of the event rings and out of the counts, so that what remains is what was
 * recorded up to one moment, on all CPUs, and the ledger agrees.
 *
 * That turns commit back, once, which is why nobody reads a snapshot before.
 * Control rings are not cut: no exception gets lost.
 */
#include <linux/cpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "internal.h"

static void snapshot_cut_on_cpu(void *info)
{
	const struct kt_cut *c = info;
	u64 *emitted = c->ring->page->emitted;
	unsigned int i;

	kt_ring_cut(c->ring, c->position);
	for (i = 0; i < KTAPE_OPCODES; i++)
		if (c->events[i])
			*kt_word(&emitted[kt_event_class(i)]) -= c->events[i];
}

/* The rings' words are written by their CPU, or by us if it is not there. */
static void snapshot_cut_ring(struct kt_ring *r, u64 time)
{
	/* Too large for a stack, and stopping must not fail. */
	static struct kt_cut c;

	lockdep_assert_held(&kt_session_lock);
	memset(&c, 0, sizeof(c));
	kt_cut_begin(&c, r, kt_ring_oldest(r), time);
	while (kt_cut_step(&c))
		cond_resched();
	if (smp_call_function_single(r->cpu, snapshot_cut_on_cpu, &c, 1))
		snapshot_cut_on_cpu(&c);
	WRITE_ONCE(r->page->frozen, time);
}

/* When, and where first?  Return: 0 if no ring was full. */
static u64 snapshot_find_end(const struct kt_session *s, unsigned int *first)
{
	const struct kt_ring *r;
	unsigned int cpu;
	u64 time = 0;

	for_each_possible_cpu(cpu) {
		r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
		if (!r || r->filling != KT_FILLED || (time && r->full >= time))
			continue;
		time = r->full;
		*first = cpu;
	}
	return time;
}

/**
 * kt_session_freeze_cut() - a session stops: if it is a full snapshot, end it
 * @s: the session; nothing but control records is written to its rings now
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_session_freeze_cut(struct kt_session *s)
{
	unsigned int cpu, first;
	u64 time = snapshot_find_end(s, &first);
	struct kt_ring *r;

	if (!time)
		return;
	for_each_possible_cpu(cpu) {
		r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
		if (r)
			snapshot_cut_ring(r, time);
	}
	s->frozen = time;
	kt_control_freeze(s, time, first);
}

/**
 * kt_session_arm() - a session starts: forget a full snapshot
 * @s: the session, stopped
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_arm(struct kt_session *s)
{
	struct kt_ring *r;
	unsigned int cpu;

	WRITE_ONCE(s->owner.filled_told, false);
	if (!s->frozen)
		return;
	s->frozen = 0;
	for_each_possible_cpu(cpu) {
		r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
		if (!r)
			continue;
		kt_ring_renew(r);
		WRITE_ONCE(r->page->frozen, 0);
	}
	kt_session_forget(s);
}

/**
 * kt_session_is_full() - did a ring of a snapshot find no room?
 * @s: the session
 *
 * Context: process context.
 * Return: true or false.
 */
bool kt_session_is_full(const struct kt_session *s)
{
	const struct kt_ring *r;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
		if (r && READ_ONCE(r->filling) != KT_ROOM)
			return true;
	}
	return false;
}

static void snapshot_freeze_work(struct work_struct *work)
{
	kt_session_stop_full(container_of(work, struct kt_session, freeze));
}

/* Stopping sleeps and waits for other CPUs: not here. */
static void snapshot_filled(struct irq_work *work)
{
	struct kt_owner *owner = container_of(work, struct kt_owner, filled);
	struct kt_session *s = container_of(owner, struct kt_session, owner);

	schedule_work(&s->freeze);
}

/**
 * kt_session_freeze_init() - prepare for being full
 * @s: a new session
 *
 * Context: process context.
 */
void kt_session_freeze_init(struct kt_session *s)
{
	init_irq_work(&s->owner.filled, snapshot_filled);
	INIT_WORK(&s->freeze, snapshot_freeze_work);
}

/**
 * kt_session_freeze_exit() - nothing is under way any more
 * @s: the session, stopped and found by nobody
 *
 * Context: process context without any of our locks, may sleep.
 */
void kt_session_freeze_exit(struct kt_session *s)
{
	irq_work_sync(&s->owner.filled);
	cancel_work_sync(&s->freeze);
}
