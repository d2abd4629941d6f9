// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a full snapshot.
 *
 * When a writer finds no room in an event ring, it notes the time and queues an
 * irq_work, which queues a work item, which stops the session.  Until the session
 * has stopped, other CPUs go on recording.
 *
 * Once all writers are done, the earliest of the noted times is the end of the
 * snapshot.  Records of that time and later are cut from the event rings and
 * subtracted from the counts.  What remains is what all CPUs recorded up to one
 * moment, and the ledger agrees with it.
 *
 * The cut moves commit back.  That is the only time that it happens, and the
 * reason why a snapshot cannot be read before it has stopped.  Control rings are
 * not cut, so that no exception gets lost.
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
			kt_count_add(&emitted[kt_event_class(i)],
				     -(long)c->events[i]);
}

/*
 * Cut the records of @time and later from a ring.  Only the owning CPU may store
 * its positions and counts; for a CPU that is offline or excluded, this CPU does.
 */
static void snapshot_cut_ring(const struct kt_session *s, struct kt_ring *r,
			      u64 time)
{
	/* Too large for the stack, and an allocation could fail. */
	static struct kt_cut c;

	lockdep_assert_held(&kt_session_lock);
	memset(&c, 0, sizeof(c));
	kt_cut_begin(&c, r, kt_ring_oldest(r), time);
	while (kt_cut_step(&c))
		cond_resched();
	if (!kt_session_records_on(s, r->cpu) ||
	    smp_call_function_single(r->cpu, snapshot_cut_on_cpu, &c, 1))
		snapshot_cut_on_cpu(&c);
	WRITE_ONCE(r->page->frozen, time);
}

/*
 * Return the time at which the snapshot ends, and in @first the CPU whose ring was
 * full first; 0: no ring was full.
 */
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
 * kt_session_freeze_cut() - cut a session that stops, if it is a full snapshot
 * @s: the session; only control records are written to its rings now
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
			snapshot_cut_ring(s, r, time);
	}
	/* kt_dev_poll() reads it without a lock. */
	WRITE_ONCE(s->frozen, time);
	kt_control_freeze(s, time, first);
}

/**
 * kt_session_arm() - discard a full snapshot before the session starts again
 * @s: the session, stopped
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_arm(struct kt_session *s)
{
	struct kt_ring *r;
	unsigned int cpu;

	WRITE_ONCE(s->owner.filled_queued, false);
	if (!s->frozen)
		return;
	WRITE_ONCE(s->frozen, 0);
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
 * kt_session_is_full() - check whether a writer of a snapshot found no room
 * @s: the session
 *
 * Context: process context.
 * Return: true if a ring is full.
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

/* Runs in an interrupt, but stopping a session sleeps and waits for other CPUs. */
static void snapshot_filled(struct irq_work *work)
{
	struct kt_owner *owner = container_of(work, struct kt_owner, filled);
	struct kt_session *s = container_of(owner, struct kt_session, owner);

	schedule_work(&s->freeze);
}

/**
 * kt_session_freeze_init() - set up the irq_work and work item of a full snapshot
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
 * kt_session_freeze_exit() - wait for the irq_work and the work item
 * @s: the session, stopped; it cannot be found any more
 *
 * Context: process context without any of our locks, may sleep.
 */
void kt_session_freeze_exit(struct kt_session *s)
{
	irq_work_sync(&s->owner.filled);
	cancel_work_sync(&s->freeze);
}
