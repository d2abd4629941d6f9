// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records what changed in the registry while a session was stopped, when it starts
 * again.  That may be more than a ring holds: each thread that was created or has ended.
 * So it is recorded in pieces: the first one before the start returns, the others by a
 * work item.
 *
 * In discard mode a piece ends when half of the control ring is unread, and the next one
 * begins when readers have read on.  In the other modes a piece is at most an eighth of
 * an event ring, and there is one each quarter of a second: as often as read() delivers
 * all rings.  Nobody reads a snapshot while it records, so it gets the first piece only.
 *
 * A CPU whose rings are not there yet, or could not be made, records no change.  While
 * there is one, the others record every quarter of a second what changed.
 *
 * A session that stops before it has recorded all begins anew at its next start.  What
 * a trace lacks until then is in the checkpoint of its reader.
 */
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

#define TELL_SOON	max(HZ / 50, 1)		/* a reader may have read on */
#define TELL_LATER	max(HZ / 4, 1)		/* read() has delivered all rings */
#define NAME_BYTES	(KTAPE_NAME_SIZE + 64)	/* the largest record of a name */
#define PIECE_SHARE	8			/* of an event ring */

/* A piece: the session, and the names that it has so far. */
struct tell {
	const struct kt_session *s;
	unsigned long names;
};

/* Serialises the pieces: a start records the first one, and a work item may run. */
static DEFINE_MUTEX(tell_lock);

/* Does a CPU record names? */
static bool tell_records_on(const struct kt_session *s, unsigned int cpu)
{
	const struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);

	return READ_ONCE(c->want[KTAPE_EV_REGISTRY]) & BIT(s->id);
}

/*
 * Look for a CPU that does not record names although it runs.  Called with cpus_read_lock()
 * and kt_session_lock.
 */
static void tell_find_hole(struct kt_session *s)
{
	bool hole = false;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		hole |= !tell_records_on(s, cpu);
	s->hole_era = kt_registry_era();
	WRITE_ONCE(s->hole, hole);
}

/* Return whether the piece goes on with one more name. */
static bool tell_has_room(void *arg)
{
	struct tell *t = arg;
	const struct kt_session *s = t->s;
	const struct kt_ring *r;
	unsigned long most;

	/* Another CPU may record the name: half a ring is left on each. */
	r = kt_session_ring(s, raw_smp_processor_id(),
			    s->mode == KTAPE_MODE_DISCARD ? KTAPE_RING_CONTROL :
							    KTAPE_RING_EVENT);
	if (!r)
		return false;
	t->names++;
	if (s->mode != KTAPE_MODE_DISCARD)
		return t->names * NAME_BYTES <= r->size / PIECE_SHARE;
	/* At least a block, or readers would not be woken. */
	most = max(kt_ring_spare(r) / 2, r->block_size + NAME_BYTES);
	return kt_ring_commit(r) - kt_ring_consumed(r) < most;
}

/*
 * Let the next piece begin after @delay jiffies: here, or if this CPU does not record names,
 * on one that does.  Excluded CPUs are not disturbed.
 */
static void tell_next_piece(struct kt_session *s, unsigned long delay)
{
	unsigned int cpu, on = WORK_CPU_UNBOUND;

	kt_session_lock_both();
	if (!tell_records_on(s, raw_smp_processor_id()))
		for_each_online_cpu(cpu)
			if (tell_records_on(s, cpu) &&
			    kt_session_records_on(s, cpu))
				on = cpu;
	schedule_delayed_work_on(on, &s->tell, delay);
	kt_session_unlock_both();
}

/*
 * All has been recorded, but a CPU does not record changes: record these, too.  If all CPUs
 * do now, this is the last time.
 */
static void tell_fill_hole(struct kt_session *s)
{
	kt_session_lock_both();
	s->era = s->hole_era;
	s->tell_next = 0;
	s->told = false;
	tell_find_hole(s);
	kt_session_unlock_both();
	tell_next_piece(s, TELL_LATER);
}

/* Record a piece.  Called with tell_lock. */
static void tell_piece(struct kt_session *s)
{
	struct tell t = { .s = s };

	s->told = kt_registry_tell(s->id, s->era, &s->tell_next, tell_has_room,
				   &t);
	if (s->told && READ_ONCE(s->hole))
		return tell_fill_hole(s);
	if (s->told || (s->mode == KTAPE_MODE_SNAPSHOT && t.names))
		return;
	/* A piece without names: readers are slow, or this CPU has no rings. */
	tell_next_piece(s, s->mode == KTAPE_MODE_DISCARD && t.names > 1 ?
				   TELL_SOON :
				   TELL_LATER);
}

static void tell_work(struct work_struct *work)
{
	struct kt_session *s =
		container_of(to_delayed_work(work), struct kt_session, tell);

	mutex_lock(&tell_lock);
	/* A CPU may have come online while the session was about to stop. */
	if (READ_ONCE(s->begun))
		tell_piece(s);
	mutex_unlock(&tell_lock);
}

/**
 * kt_session_tell_init() - prepare a new session
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_tell_init(struct kt_session *s)
{
	INIT_DELAYED_WORK(&s->tell, tell_work);
	s->told = true;
}

/**
 * kt_session_tell() - begin to record what changed while the session was stopped
 * @s: the session, which records
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_tell(struct kt_session *s)
{
	mutex_lock(&tell_lock);
	s->tell_next = 0;
	kt_session_lock_both();
	tell_find_hole(s);
	kt_session_unlock_both();
	tell_piece(s);
	mutex_unlock(&tell_lock);
}

/**
 * kt_session_tell_hole() - note that a CPU which runs may not record changes
 * @s: the session, which records
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_tell_hole(struct kt_session *s)
{
	if (s->hole)
		return;
	s->hole_era = kt_registry_era();
	WRITE_ONCE(s->hole, true);
	/* If a piece is under way, the pieces go on to that. */
	schedule_delayed_work(&s->tell, TELL_LATER);
}

/**
 * kt_session_tell_end() - end that, because the session stops
 * @s: the session, which still records
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_tell_end(struct kt_session *s)
{
	cancel_delayed_work_sync(&s->tell);
}
