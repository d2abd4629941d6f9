// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records what changed in the registry while a session was stopped, when it starts
 * again.  That may be more than a ring holds: each thread that was created or has ended.
 * So it is recorded in pieces: the first one before the start returns, the others by a
 * work item.  Each entry of the registry has the era of its last change; a session knows the
 * era in which it began to miss changes.
 *
 * In discard mode a piece ends when half of the control ring is unread, and the next one
 * begins when readers have read on.  In the other modes a piece is at most an eighth of
 * an event ring, and there is one each quarter of a second: as often as read() delivers
 * all rings.  A snapshot is not read while it records, so it gets the first piece only.
 *
 * A CPU whose rings are not there yet, or could not be made, records no change.  While
 * there is one, the others record every quarter of a second what changed.
 *
 * A session that stops before it has recorded all begins anew at its next start.  What
 * a trace lacks until then is in the checkpoint of its reader.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "names/names.h"
#include "ring/ring.h"
#include "internal.h"

#define PIECE_SOON  max(HZ / 50, 1)	   /* a reader may have read on */
#define PIECE_LATER max(HZ / 4, 1)	   /* read() has delivered all rings */
#define NAME_BYTES  (KTAPE_NAME_SIZE + 64) /* the largest record of a name */
#define PIECE_SHARE 8			   /* of an event ring */

/* A piece: the session, and the names so far, with the last one, which may find no room. */
struct piece {
	const struct kt_session *s;
	unsigned long names;
};

/*
 * Serialises the pieces: a start records the first one, and a work item may run.  While a session
 * records, its pieces change @caught_up and @next_slot; @era, @without and @without_since are
 * changed with kt_session_lock.
 */
static DEFINE_MUTEX(piece_lock);

/* Return true if a CPU records names for the session. */
static bool cpu_records_names(const struct kt_session *s, unsigned int cpu)
{
	const struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);

	return READ_ONCE(c->want[KTAPE_EV_REGISTRY]) & BIT(s->id);
}

/*
 * Note whether a CPU that runs does not record names.  Called with cpus_read_lock() and
 * kt_session_lock.
 */
static void catch_up_find_without(struct kt_session *s)
{
	bool hole = false;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		hole |= !cpu_records_names(s, cpu);
	s->without_since = kt_registry_begin_era();
	WRITE_ONCE(s->without, hole);
}

/* Count one more name of a piece.  Return: whether the piece goes on with it. */
static bool piece_has_room(void *arg)
{
	struct piece *t = arg;
	const struct kt_session *s = t->s;
	const struct kt_ring *r;
	unsigned long most;

	/*
	 * This thread may move to another CPU before it records the name, whose ring is not
	 * checked here.  No harm: the pieces leave about half of each ring.
	 */
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
 * Record the next piece after @delay jiffies: on this CPU, or if it does not record names,
 * on one that does, but not on one that the session's CPU filter excludes.
 */
static void piece_schedule(struct kt_session *s, unsigned long delay)
{
	unsigned int cpu, on = WORK_CPU_UNBOUND;

	kt_session_lock_both();
	if (!cpu_records_names(s, raw_smp_processor_id()))
		for_each_online_cpu(cpu)
			if (cpu_records_names(s, cpu) &&
			    kt_session_records_on(s, cpu))
				on = cpu;
	schedule_delayed_work_on(on, &s->catch_up, delay);
	kt_session_unlock_both();
}

/*
 * All changes were recorded, but a CPU has no rings: record its changes from here, too.  If
 * all CPUs have rings now, this is the last time.
 */
static void catch_up_for_without(struct kt_session *s)
{
	kt_session_lock_both();
	s->era = s->without_since;
	s->next_slot = 0;
	s->caught_up = false;
	catch_up_find_without(s);
	kt_session_unlock_both();
	piece_schedule(s, PIECE_LATER);
}

/* Record a piece.  Called with piece_lock. */
static void piece_record(struct kt_session *s)
{
	struct piece t = { .s = s };

	s->caught_up = kt_registry_record_since(s->id, s->era, &s->next_slot,
						piece_has_room, &t);
	if (s->caught_up && READ_ONCE(s->without))
		return catch_up_for_without(s);
	if (s->caught_up || (s->mode == KTAPE_MODE_SNAPSHOT && t.names))
		return;
	/* A piece without names: readers are slow, or this CPU has no rings. */
	piece_schedule(s, s->mode == KTAPE_MODE_DISCARD && t.names > 1 ?
				  PIECE_SOON :
				  PIECE_LATER);
}

static void catch_up_work(struct work_struct *work)
{
	struct kt_session *s =
		container_of(to_delayed_work(work), struct kt_session, catch_up);

	mutex_lock(&piece_lock);
	/* A CPU may have come online while the session was about to stop. */
	if (READ_ONCE(s->begun))
		piece_record(s);
	mutex_unlock(&piece_lock);
}

/**
 * kt_session_catch_up_init() - prepare a new session
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_catch_up_init(struct kt_session *s)
{
	INIT_DELAYED_WORK(&s->catch_up, catch_up_work);
	s->caught_up = true;
}

/**
 * kt_session_catch_up() - begin to record what changed while the session was stopped
 * @s: the session, which records
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_catch_up(struct kt_session *s)
{
	mutex_lock(&piece_lock);
	s->next_slot = 0;
	kt_session_lock_both();
	catch_up_find_without(s);
	kt_session_unlock_both();
	piece_record(s);
	mutex_unlock(&piece_lock);
}

/**
 * kt_session_cpu_is_without() - note that a CPU which runs may not record changes
 * @s: the session, which records
 *
 * Context: process context with kt_session_lock.
 */
void kt_session_cpu_is_without(struct kt_session *s)
{
	if (s->without)
		return;
	s->without_since = kt_registry_begin_era();
	WRITE_ONCE(s->without, true);
	/* If a piece is being recorded, its work item continues with these changes. */
	schedule_delayed_work(&s->catch_up, PIECE_LATER);
}

/**
 * kt_session_catch_up_end() - record no further pieces, because the session stops
 * @s: the session, which still records
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_catch_up_end(struct kt_session *s)
{
	cancel_delayed_work_sync(&s->catch_up);
}
