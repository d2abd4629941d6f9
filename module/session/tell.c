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
 * A session that stops before it has recorded all begins anew at its next start.  What
 * a trace lacks until then is in the checkpoint of its reader.
 */
#include <linux/jiffies.h>
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

/* Return whether the piece goes on with one more name. */
static bool tell_has_room(void *arg)
{
	struct tell *t = arg;
	const struct kt_session *s = t->s;
	const bool waits = s->mode == KTAPE_MODE_DISCARD;
	const struct kt_ring *r;
	unsigned long most;

	/* Another CPU may record the name: half a ring is left on each. */
	r = kt_session_ring(s, raw_smp_processor_id(),
			    waits ? KTAPE_RING_CONTROL : KTAPE_RING_EVENT);
	t->names++;
	if (!r)
		return true;
	if (!waits)
		return t->names * NAME_BYTES <= r->size / PIECE_SHARE;
	/* At least a block, or readers would not be woken. */
	most = max(kt_ring_spare(r) / 2, r->block_size + NAME_BYTES);
	return kt_ring_commit(r) - kt_ring_consumed(r) < most;
}

static void tell_piece(struct kt_session *s)
{
	struct tell t = { .s = s };

	s->told = kt_registry_tell(s->id, s->era, &s->tell_next, tell_has_room,
				   &t);
	if (s->told || s->mode == KTAPE_MODE_SNAPSHOT)
		return;
	/* A piece without names: readers are slow, or there is none. */
	schedule_delayed_work(&s->tell, s->mode == KTAPE_MODE_DISCARD &&
							t.names > 1 ?
						TELL_SOON :
						TELL_LATER);
}

static void tell_work(struct work_struct *work)
{
	tell_piece(container_of(to_delayed_work(work), struct kt_session, tell));
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
	s->tell_next = 0;
	tell_piece(s);
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
