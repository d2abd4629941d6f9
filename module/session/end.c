// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ends sessions, and takes their rings away from readers afterwards.
 *
 *   end	set gone, stop, wait for irq_work and work items; withdraw the
 *		session and its rings: number and name are free
 *   take	take the rings away from readers and mappings, free them, release
 *		their memory
 *   free	free the structure, with the last descriptor
 *
 * A session ends by DESTROY, or when it has no holder left: no descriptor that may
 * control it, and no name of a session that lingers.  So no descriptor
 * without control rights keeps a session alive, wherever it was passed on to.
 *
 * The rings of a session that has ended stay while it has holders, because these
 * are trusted with its memory.  Other readers have KTAPE_GRACE_MS after the last
 * holder is gone.  A new session that needs the memory, or the persistent region,
 * ends that time at once.
 *
 * After that read() returns -ESTALE, and an access to a mapping is a bus error:
 * the page tables are emptied, so that no mapped page outlives the rings.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "persist/persist.h"
#include "internal.h"

#define GRACE msecs_to_jiffies(KTAPE_GRACE_MS)

/* Number of times that the rings of a session were freed; stored with kt_session_lock held. */
static unsigned int rings_freed;
static DECLARE_WAIT_QUEUE_HEAD(rings_wait);

/*
 * Claim the rings of a session, so that from now on kt_session_ring() finds none.
 * Return: true if the caller is to free them; false: they were taken before, or the
 * session is still being withdrawn.
 */
static bool rings_claim(struct kt_session *s)
{
	bool mine;

	kt_session_enter_any();
	mine = !list_empty(&s->ended) && !s->taken;
	if (mine) {
		down_write(&s->rings_lock);
		/* kt_reader_exit() and poll() have only this lock. */
		spin_lock(&s->reader_lock);
		WRITE_ONCE(s->taken, true);
		spin_unlock(&s->reader_lock);
		up_write(&s->rings_lock);
	}
	kt_session_leave();
	return mine;
}

/* Release the memory of a session whose rings are freed. */
static void rings_unreserve(struct kt_session *s)
{
	kt_session_enter_any();
	if (s->mode == KTAPE_MODE_PERSISTENT)
		kt_persist_close();
	mutex_lock(&kt_session_lock);
	list_del_init(&s->ended);
	WRITE_ONCE(rings_freed, rings_freed + 1);
	mutex_unlock(&kt_session_lock);
	kt_session_leave();
	wake_up_all(&rings_wait);
}

/*
 * Take the rings of a session that has ended away and free them.  The caller keeps
 * the structure alive.  Return: false: there was nothing to take, or another task
 * takes them.
 */
static bool rings_take(struct kt_session *s)
{
	if (!rings_claim(s))
		return false;
	/* A CPU that comes online does not find the session any more. */
	cancel_work_sync(&s->late);
	cancel_delayed_work_sync(&s->catch_up);
	/* A page fault that found a ring before inserted its page before. */
	unmap_mapping_range(&s->mapping, 0, 0, 1);
	kt_owner_wake(&s->owner);
	kt_session_free_rings(s);
	rings_unreserve(s);
	return true;
}

static void session_retire_work(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, retire.work);

	/* DESTROY may still be withdrawing the session. */
	if (!rings_take(s) && !READ_ONCE(s->taken))
		schedule_delayed_work(&s->retire, GRACE);
}

/* The session has ended and has no holder: readers may use the rings for GRACE. */
static void session_retire(struct kt_session *s)
{
	WRITE_ONCE(s->ends_at, jiffies + GRACE);
	schedule_delayed_work(&s->retire, GRACE);
}

/* End a session, unless it has ended.  Return: true if this call did so. */
static bool session_end(struct kt_session *s)
{
	bool first;

	kt_session_enter(s);
	first = !s->gone;
	/* A trigger's work may be waiting for this lock to start the session. */
	WRITE_ONCE(s->gone, true);
	kt_session_stop_locked(s);
	kt_session_leave();
	if (!first)
		return false;
	cancel_delayed_work_sync(&s->watch);
	kt_session_freeze_exit(s);
	kt_session_triggers_exit(s);
	/* Neither a probe nor a trigger opens a block any more. */
	kt_owner_exit(&s->owner);
	kt_session_filters_exit(s);
	kt_session_enter_any();
	kt_session_lock_both();
	kt_sessions[s->id] = NULL;
	list_add_tail(&s->ended, &kt_sessions_ended);
	/* The stop cleared the want bits, so no writer uses the ring pointers. */
	kt_session_withdraw_rings(s);
	kt_session_unlock_both();
	kt_session_leave();
	return true;
}

/* End and free a session without references. */
static void session_free(struct kt_session *s)
{
	session_end(s);
	cancel_delayed_work_sync(&s->retire);
	rings_take(s);
	cancel_delayed_work_sync(&s->wake_again);
	cancel_delayed_work_sync(&s->announce);
	kt_session_dealloc(s);
}

/**
 * kt_session_end_init() - prepare a session for its end
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_end_init(struct kt_session *s)
{
	INIT_LIST_HEAD(&s->ended);
	INIT_DELAYED_WORK(&s->retire, session_retire_work);
	init_rwsem(&s->rings_lock);
	address_space_init_once(&s->mapping);
}

/**
 * kt_session_reclaim() - free the rings of one session that only readers use
 * @persistent: take only a session that has the persistent region
 *
 * If another task is freeing some, wait for that instead.
 *
 * Context: process context without locks, may sleep.
 * Return: true: memory, or the persistent region, was released, or another task is about to
 * release it: try again; false: there is no such session, or the caller was killed.
 */
bool kt_session_reclaim(bool persistent)
{
	unsigned int before = READ_ONCE(rings_freed);
	struct kt_session *s, *found = NULL;
	bool busy = false;

	kt_session_enter_any();
	list_for_each_entry(s, &kt_sessions_ended, ended) {
		if (persistent && s->mode != KTAPE_MODE_PERSISTENT)
			continue;
		busy |= s->taken;
		if (!s->taken && !refcount_read(&s->holders) &&
		    refcount_inc_not_zero(&s->users)) {
			found = s;
			break;
		}
	}
	kt_session_leave();
	if (!found)
		return busy &&
		       !wait_event_killable(rings_wait,
					    READ_ONCE(rings_freed) != before);
	rings_take(found);
	kt_session_put(found);
	return true;
}

/**
 * kt_session_left_ms() - return how long readers still have the rings
 * @s: the session
 *
 * Context: process context with kt_session_control.
 * Return: milliseconds, at least 1; 0: no time runs, because the session lives or is
 * held.
 */
u32 kt_session_left_ms(const struct kt_session *s)
{
	long left;

	if (!delayed_work_pending(&s->retire))
		return 0;
	left = (long)(READ_ONCE(s->ends_at) - jiffies);
	return left > 0 ? max(jiffies_to_msecs(left), 1U) : 1;
}

/**
 * kt_session_number() - return the number of a session
 * @s: the session
 *
 * Context: process context.
 * Return: the number, or KTAPE_SESSION_BY_NAME if it has ended and given it back.
 */
u32 kt_session_number(const struct kt_session *s)
{
	return READ_ONCE(s->gone) ? KTAPE_SESSION_BY_NAME : s->id;
}

/**
 * kt_session_hold() - keep a session from ending, with control rights
 * @s: the session; the caller has a reference
 *
 * Context: any.
 * Return: false: the session has no holder left, and ends.
 */
bool kt_session_hold(struct kt_session *s)
{
	return refcount_inc_not_zero(&s->holders);
}

/**
 * kt_session_unhold() - allow a session to end, and end it with the last holder
 * @s: the session; the caller has a reference
 *
 * Context: process context, may sleep.
 */
void kt_session_unhold(struct kt_session *s)
{
	if (!refcount_dec_and_test(&s->holders))
		return;
	session_end(s);
	session_retire(s);
}

/**
 * kt_session_put() - drop a reference, and free the session with the last one
 * @s: the session
 *
 * Context: process context, may sleep.
 */
void kt_session_put(struct kt_session *s)
{
	if (refcount_dec_and_test(&s->users))
		session_free(s);
}

/**
 * kt_session_end() - end a session: stop it, and take its name and number away
 * @s: the session; the caller has a reference
 *
 * Context: process context, may sleep.
 * Return: 0; -EBUSY: session 0 belongs to the module; -ENOENT: the session has
 * ended before.
 */
int kt_session_end(struct kt_session *s)
{
	if (!s->id)
		return -EBUSY;
	if (!session_end(s))
		return -ENOENT;
	if (s->lingers) {
		kt_session_unhold(s);
		kt_session_put(s);
	}
	return 0;
}

/**
 * kt_session_end_all() - end and free all sessions
 *
 * Context: module unload; no file is open.
 */
void kt_session_end_all(void)
{
	unsigned int i;

	/* Session 0 was created first and is freed last. */
	for (i = KT_SESSIONS; i-- > 0;)
		if (kt_sessions[i])
			session_free(kt_sessions[i]);
}

/**
 * kt_session_rings_get() - keep the rings of a session from being taken away
 * @s: the session; the caller has a reference
 *
 * Until kt_session_rings_put() the caller must not access user memory, and not
 * wait for a reader or a writer.
 *
 * Context: process context, may sleep; also a page fault.
 * Return: false: they were taken away, and there is nothing to put.
 */
bool kt_session_rings_get(struct kt_session *s)
{
	down_read(&s->rings_lock);
	if (likely(!s->taken))
		return true;
	up_read(&s->rings_lock);
	return false;
}

/**
 * kt_session_rings_put() - allow the rings of a session to be taken away
 * @s: the session
 *
 * Context: process context.
 */
void kt_session_rings_put(struct kt_session *s)
{
	up_read(&s->rings_lock);
}
