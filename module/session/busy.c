// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control operations that wait for a grace period, or for a walk over all threads.
 *
 * A grace period may take seconds on a busy machine.  An operation that waits for one
 * releases kt_session_control, so that other sessions can be controlled meanwhile, and
 * kt_session_lock and the CPU hotplug lock.  Its session is busy then: no other
 * operation on it begins, and it is not destroyed.
 *
 * The action of a trigger has no reference to the session that it acts on.  So it keeps
 * kt_session_control through its grace period (@keeps_control of struct kt_session).
 */
#include <linux/rcupdate.h>
#include <linux/wait.h>

#include "internal.h"

static DECLARE_WAIT_QUEUE_HEAD(busy_wait);
static unsigned int busy_ends; /* changed with kt_session_control */

/**
 * kt_session_wait_busy() - wait until a session may no longer be busy
 *
 * Releases kt_session_control.  The caller takes it again and checks again.
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_wait_busy(void)
{
	unsigned int ends = busy_ends;

	kt_session_leave();
	wait_event(busy_wait, READ_ONCE(busy_ends) != ends);
}

/**
 * kt_session_enter() - take kt_session_control for an operation on a session
 * @s: the session, to which the caller has a reference; not busy afterwards
 *
 * Context: process context, may sleep.
 */
void kt_session_enter(struct kt_session *s)
{
	kt_session_enter_any();
	while (s->busy) {
		kt_session_wait_busy();
		kt_session_enter_any();
	}
}

/**
 * kt_session_let_go() - release kt_session_control within an operation
 * @s: the session, which is busy until kt_session_go_on()
 *
 * Context: process context with kt_session_control.
 */
void kt_session_let_go(struct kt_session *s)
{
	lockdep_assert_held(&kt_session_control);
	if (s->keeps_control)
		return;
	s->busy = true;
	kt_session_leave();
}

/**
 * kt_session_go_on() - take kt_session_control again
 * @s: the session of kt_session_let_go()
 *
 * Context: process context, may sleep.
 */
void kt_session_go_on(struct kt_session *s)
{
	if (s->keeps_control)
		return;
	kt_session_enter_any();
	s->busy = false;
	WRITE_ONCE(busy_ends, busy_ends + 1);
	wake_up_all(&busy_wait);
}

/**
 * kt_session_synchronize() - wait for a grace period without the locks
 * @s: the session of the operation
 *
 * CPUs may come online and go offline meanwhile.  Afterwards no event is left that has
 * loaded the former want bits of the session.
 *
 * Context: process context with kt_session_control, cpus_read_lock() and
 * kt_session_lock, which are held again afterwards.
 */
void kt_session_synchronize(struct kt_session *s)
{
	kt_session_unlock_both();
	kt_session_let_go(s);
	synchronize_rcu();
	kt_session_go_on(s);
	kt_session_lock_both();
	kt_want_settle(s);
}
