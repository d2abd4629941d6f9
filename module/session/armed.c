// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resets the triggers of a session that starts, and checks for silence, the condition of
 * QUIET triggers.  What a trigger does when it fires: trigger.c.
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "armed.h"

/*
 * Return the jiffies without a match that count as silence, rounded up.  One more,
 * because the match may have come at the end of its jiffy.
 */
unsigned long kt_armed_silence(const struct kt_armed *a)
{
	return nsecs_to_jiffies(a->trigger.spec.duration_ns - 1) + 2;
}

/*
 * Fire from a work item if there was no match after the one at @match.  With preemption
 * disabled, the grace period of a stop waits for the record, as it does for the records
 * of probes.
 *
 * The session may have been stopped and started since the work item found the silence.
 * A start updates @seen before it sets @active, so load them in reverse order.
 */
static void armed_fire_here(struct kt_armed *a, unsigned long match)
{
	preempt_disable();
	/* Pairs with the release in kt_session_start_locked(). */
	if (smp_load_acquire(&a->s->active) && READ_ONCE(a->trigger.seen) == match)
		kt_trigger_fire(&a->trigger, a->s->id);
	preempt_enable();
}

/*
 * The work item of a QUIET trigger: fire it after a silence, and come back later.  Once it
 * has fired, look for the next match each tenth of the duration: the silence after that
 * match cannot be over before.
 */
void kt_armed_watch(struct work_struct *work)
{
	struct kt_armed *a =
		container_of(to_delayed_work(work), struct kt_armed, watch);
	unsigned long match = READ_ONCE(a->trigger.seen), since = jiffies - match;
	unsigned long wait = kt_armed_silence(a);

	/* The session has stopped: its next start begins again. */
	if (!READ_ONCE(a->s->active))
		return;
	/*
	 * kt_armed_reset() may run now.  A start updates @seen, so comparing it with
	 * @fired_at shows a reset.
	 */
	if (READ_ONCE(a->has_fired) && a->fired_at == match) {
		/* The trigger fired for this silence: wait for the next match. */
		wait = wait / 10 + 1;
	} else if (since >= wait) {
		a->fired_at = match;
		WRITE_ONCE(a->has_fired, true);
		armed_fire_here(a, match);
		wait = wait / 10 + 1;
	} else {
		wait -= since;
	}
	queue_delayed_work(system_wq, &a->watch, wait);
}

/*
 * Reset counts and state, as at a start.  Called with kt_session_control, or before the trigger
 * is added to its session.
 */
void kt_armed_reset(struct kt_armed *a)
{
	atomic_set(&a->trigger.matches, 0);
	atomic_set(&a->trigger.fired, 0);
	atomic_set(&a->trigger.pending, 0);
	a->snapping = false;
	a->flags = 0;
	a->held_ns = 0;
	WRITE_ONCE(a->has_fired, false);
	WRITE_ONCE(a->trigger.seen, jiffies);
	if (a->trigger.gates)
		kt_gates_renew(a->trigger.gates);
}

/**
 * kt_session_triggers_arm() - reset the triggers of a session that starts
 * @s: the session, stopped
 *
 * Context: process context with kt_session_control.
 */
void kt_session_triggers_arm(struct kt_session *s)
{
	const struct kt_triggers *all = kt_session_triggers(s);
	unsigned int i;

	for (i = 0; all && i < all->nr; i++) {
		struct kt_armed *a = armed_of(all->trigger[i]);

		/* Not cancel_delayed_work_sync(): the work takes our lock. */
		cancel_delayed_work(&a->snapshot);
		kt_armed_reset(a);
	}
}

/**
 * kt_session_triggers_watch() - begin to check for silence after a start
 * @s: the session
 *
 * Context: process context with kt_session_control.
 */
void kt_session_triggers_watch(struct kt_session *s)
{
	const struct kt_triggers *all = kt_session_triggers(s);
	unsigned int i;

	for (i = 0; all && i < all->nr; i++) {
		struct kt_armed *a = armed_of(all->trigger[i]);

		if (a->trigger.spec.when == KTAPE_TRIGGER_QUIET)
			mod_delayed_work(system_wq, &a->watch, kt_armed_silence(a));
	}
}
