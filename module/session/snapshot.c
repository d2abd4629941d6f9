// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a full snapshot.
 *
 * When a writer finds no room in an event ring, it notes the time and queues an
 * irq_work, which queues a work item, which stops the session (run.c).  Until the
 * session has stopped, other CPUs go on recording.
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
static void snapshot_cut_ring(const struct kt_session *s, struct kt_ring *r, u64 time)
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
	unsigned int at;
	u64 time = 0;

	kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at) {
		if (r->filling != KT_FILLED || (time && r->full >= time))
			continue;
		time = r->full;
		*first = r->cpu;
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
	unsigned int at, first;
	u64 time = snapshot_find_end(s, &first);
	struct kt_ring *r;

	if (!time)
		return;
	kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at)
		snapshot_cut_ring(s, r, time);
	/* kt_dev_poll() reads it without a lock. */
	WRITE_ONCE(s->frozen, time);
	kt_control_freeze(s, time, first);
}

/**
 * kt_session_renew_snapshot() - discard a full snapshot before the session starts again
 * @s: the session, stopped
 *
 * Writers may then report a full ring again.
 *
 * Context: process context with kt_session_lock.
 * Return: true: there was one, whose records the caller discards.
 */
bool kt_session_renew_snapshot(struct kt_session *s)
{
	struct kt_ring *r;
	unsigned int at;

	WRITE_ONCE(s->owner.filled_queued, false);
	if (!s->frozen)
		return false;
	WRITE_ONCE(s->frozen, 0);
	kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at) {
		kt_ring_renew(r);
		WRITE_ONCE(r->page->frozen, 0);
	}
	return true;
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
	unsigned int at;

	kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at)
		if (READ_ONCE(r->filling) != KT_ROOM)
			return true;
	return false;
}
