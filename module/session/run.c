// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts, stops, clears and flushes sessions, stops full snapshots, and follows suspend
 * and resume.  Which events a session records: profile.c.  Orders:
 *
 *   start	probes, want bits, synchronize_rcu(), on-markers
 *   stop	off-markers, want bits, synchronize_rcu(), probes
 *
 * Meanwhile @running is true from before the first of these records to after the last one,
 * @active while events are wanted, and @begun while a change (of the profile, of names) is
 * recorded as it happens: from the on-markers to the off-markers.
 *
 * Hits that the kernel misses in between: missed.c.
 *
 * A probe callback runs with preemption disabled.  So after synchronize_rcu() no
 * writer is left that has not seen the new want bits, and once the want bits of
 * a session are clear, commit == write in all of its rings.
 */
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/suspend.h>

#include "event/event.h"
#include "filter/filter.h"
#include "names/names.h"
#include "persist/persist.h"
#include "probes/probes.h"
#include "internal.h"

/* Store KTAPE_RING_FLAG_* into the control pages of all rings. */
static void session_set_flags(struct kt_session *s, u64 flags)
{
	struct kt_ring *r;
	unsigned int at;

	kt_for_each_ring(r, s, KT_RINGS_ALL, at) {
		/*
		 * Pairs with the acquire of flags in readers of mapped
		 * snapshots, which load commit after STOPPED.
		 */
		smp_store_release(kt_word(&r->page->flags), flags);
	}
}

/*
 * Allow (@ending) or forbid records in the last block of discarding control rings:
 * the block is kept free for the records of a stop.
 */
static void session_set_ending(struct kt_session *s, bool ending)
{
	struct kt_ring *r;
	unsigned int at;

	kt_for_each_ring(r, s, BIT(KTAPE_RING_CONTROL), at)
		WRITE_ONCE(r->ending, ending);
}

/* Discard what was recorded.  Called with kt_session_lock. */
static void session_forget(struct kt_session *s)
{
	struct kt_ring *r;
	unsigned int at;
	u64 commit;

	kt_for_each_ring(r, s, KT_RINGS_ALL, at) {
		commit = kt_ring_commit(r);
		kt_ring_set_floor(r, commit);
		spin_lock(&s->reader_lock);
		kt_ring_consume(r, commit);
		spin_unlock(&s->reader_lock);
	}
	s->began = kt_clock();
}

/**
 * kt_session_start_locked() - start recording, unless the session records
 * @s: the session, not busy; may be busy meanwhile
 *
 * Context: process context with kt_session_control, may sleep.
 * Return: 0; -ENODEV: the session was destroyed.
 */
int kt_session_start_locked(struct kt_session *s)
{
	const struct kt_filters *f;
	u64 recordable[KTAPE_MASK_WORDS];

	if (s->gone)
		return -ENODEV;
	if (s->running)
		return 0;
	kt_session_triggers_arm(s);
	kt_session_prepare(s, s->mask, recordable);
	kt_session_lock_both();
	memcpy(s->recordable, recordable, sizeof(s->recordable));
	if (kt_session_renew_snapshot(s))
		session_forget(s);
	session_set_ending(s, false);
	session_set_flags(s, 0);
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	WRITE_ONCE(s->running, true);
	f = kt_session_filters(s);
	kt_filters_renew_gates(f);
	kt_session_missed_begin(s);
	/* While no event is written, the counts in the ledger are exact. */
	kt_control_ledger(s, KT_LEDGER_START);
	kt_control_excluded(s, KTAPE_PHASE_ON);
	/* Pairs with the acquire in armed_fire_here(): the triggers are reset. */
	smp_store_release(&s->active, true);
	kt_session_want(s, f);
	s->began = kt_clock();
	kt_session_synchronize(s);
	/* CPUs started one after the other. */
	kt_session_forget_pairs(s);
	kt_control_session(s, KTAPE_PHASE_ON);
	if (f)
		kt_control_filters(s, KTAPE_PHASE_ON, f, f->kinds);
	kt_control_profile(s, KTAPE_PHASE_ON, s->recordable);
	s->begun = true;
	kt_session_unlock_both();
	kt_session_catch_up(s);
	/* kt_session_prepare() attached the context probe in any case. */
	kt_session_probes(NULL);
	kt_session_watch(s);
	kt_session_triggers_watch(s);
	return 0;
}

/**
 * kt_session_start() - start recording, unless the session records
 * @s: the session
 *
 * Context: process context, may sleep.
 * Return: as kt_session_start_locked().
 */
int kt_session_start(struct kt_session *s)
{
	int ret;

	kt_session_enter(s);
	ret = kt_session_start_locked(s);
	kt_session_leave();
	return ret;
}

/*
 * Stop a session that records, and cut it if it is a full snapshot.  Called with
 * kt_session_control, which may be released meanwhile: see kt_session_synchronize().
 */
static void session_stop_running(struct kt_session *s)
{
	static const u64 nothing[KTAPE_MASK_WORDS];
	u64 failed[KTAPE_MASK_WORDS];
	u32 era;

	kt_session_catch_up_end(s);
	/* This trace reports names that had no room a moment ago. */
	kt_registry_report_no_room();
	kt_probe_failed(failed);
	kt_session_lock_both();
	session_set_ending(s, true);
	s->begun = false;
	kt_session_announce(s);
	kt_control_profile(s, KTAPE_PHASE_OFF, nothing);
	WRITE_ONCE(s->active, false);
	/*
	 * Names that change from here on are of the new era, and the next start records
	 * them again (catch_up.c).  It also has to record what a CPU without rings has
	 * missed, which began earlier.  If this start had not come to its end with that,
	 * the era of the one before stays.
	 */
	era = kt_registry_begin_era();
	if (s->caught_up)
		s->era = s->without ? s->without_since : era;
	s->without = false;
	kt_want_set_everywhere(s);
	kt_session_synchronize(s);
	/* Before the ledger: what is cut from a full snapshot does not count. */
	kt_session_freeze_cut(s);
	kt_session_missed_record(s, failed);
	kt_control_ledger(s, KT_LEDGER_STOP);
	kt_control_session(s, KTAPE_PHASE_OFF);
	kt_control_excluded(s, KTAPE_PHASE_OFF);
	session_set_flags(s, KTAPE_RING_FLAG_STOPPED |
				     (s->frozen ? KTAPE_RING_FLAG_FROZEN : 0));
	/*
	 * Pairs with the read barrier in read_refill(): a reader that sees false
	 * then loads the final commit.
	 */
	smp_store_release(&s->running, false);
	kt_session_unlock_both();
	kt_session_probes(NULL);
	kt_owner_wake(&s->owner);
}

/**
 * kt_session_stop_locked() - stop recording with kt_session_control held
 * @s: the session, not busy; may be busy meanwhile
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_stop_locked(struct kt_session *s)
{
	if (s->running)
		session_stop_running(s);
}

/**
 * kt_session_stop() - stop recording, if the session records
 * @s: the session
 *
 * Afterwards all rings have commit == write, and the counts are exact.
 *
 * Context: process context, may sleep.
 */
void kt_session_stop(struct kt_session *s)
{
	kt_session_enter(s);
	kt_session_stop_locked(s);
	kt_session_leave();
}

/*
 * Stop a full snapshot.  Another task may have stopped and restarted the session since a
 * ring was filled, so check again under the lock.
 */
static void session_full_work(struct work_struct *work)
{
	struct kt_session *s = container_of(work, struct kt_session, freeze);

	kt_session_enter(s);
	if (s->running && kt_session_is_full(s))
		session_stop_running(s);
	kt_session_leave();
}

/* Runs in an interrupt, but stopping a session sleeps and waits for other CPUs. */
static void session_filled(struct irq_work *work)
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
	init_irq_work(&s->owner.filled, session_filled);
	INIT_WORK(&s->freeze, session_full_work);
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

/**
 * kt_session_clear() - discard what was recorded
 * @s: the session
 *
 * Moves the floor of all rings to commit.  Only the writing CPU may move tail.
 *
 * Context: process context.
 */
void kt_session_clear(struct kt_session *s)
{
	mutex_lock(&kt_session_lock);
	session_forget(s);
	mutex_unlock(&kt_session_lock);
}

/**
 * kt_session_flush() - close the open blocks of a discard session
 * @s: the session
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP: the mode is not discard; -EAGAIN: a ring had no room for
 * another block.
 */
int kt_session_flush(struct kt_session *s)
{
	int ret;

	if (s->mode != KTAPE_MODE_DISCARD)
		return -EOPNOTSUPP;
	kt_session_lock_both();
	/*
	 * Readers of a stopped session close the last block in their copy.  While
	 * it starts or stops, this comes before or after that.
	 */
	if (s->begun)
		kt_session_missed_record(s, NULL);
	ret = s->begun ? kt_control_flush(s) : 0;
	kt_session_unlock_both();
	return ret;
}

/**
 * kt_session_resumed() - record how the clocks relate after a suspend
 *
 * clock.c calls it, too: after a step back of the trace clock, or if the kernel has lost its
 * trust in it.
 *
 * Context: process context, may sleep.
 */
void kt_session_resumed(void)
{
	unsigned int i;

	kt_session_lock_both();
	for (i = 0; i < KT_SESSIONS; i++) {
		if (!kt_sessions[i] || !kt_sessions[i]->running)
			continue;
		if (kt_sessions[i]->begun)
			kt_session_missed_record(kt_sessions[i], NULL);
		kt_control_resume(kt_sessions[i]);
	}
	kt_session_unlock_both();
}

/*
 * Forbid hibernation while a session uses the persistent region.  After a sleep,
 * record how the trace clock and the kernel's clocks relate now.
 */
static int session_pm_event(struct notifier_block *nb, unsigned long event,
			    void *data)
{
	int ret;

	switch (event) {
	case PM_HIBERNATION_PREPARE:
		ret = kt_persist_hibernate();
		if (ret)
			return notifier_from_errno(ret);
		fallthrough;
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		kt_clock_may_stop();
		break;
	case PM_POST_HIBERNATION:
		kt_persist_hibernated();
		fallthrough;
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		kt_session_resumed();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block session_pm_notifier = {
	.notifier_call = session_pm_event,
};

/**
 * kt_session_pm_init() - follow suspend, hibernation and resume of the system
 *
 * Context: module load, after kt_persist_init().
 * Return: 0 or a negative errno.
 */
int kt_session_pm_init(void)
{
	return register_pm_notifier(&session_pm_notifier);
}

/**
 * kt_session_pm_exit() - stop following suspend, hibernation and resume
 *
 * Context: module unload, before kt_persist_exit().
 */
void kt_session_pm_exit(void)
{
	unregister_pm_notifier(&session_pm_notifier);
}
