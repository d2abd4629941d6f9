// SPDX-License-Identifier: GPL-2.0-only
/*
 * Adds and removes triggers and carries out their actions.  Events are compared
 * with conditions in event/trigger.c.
 *
 *   fire	the writer queues an irq_work, which queues a work item, which acts
 *   remove	take out of the list; synchronize_rcu(); armed_free() waits for
 *		the irq_work and the work items
 *
 * armed_act() takes kt_session_control: never call cancel_work_sync() while holding
 * it.  The work item finds its target session by number and serial under that
 * lock and takes no reference, so it never has to destroy a session.
 *
 * That a trigger can act on another session than its own takes 66 lines and 491 bytes of the
 * module: armed_target(), armed_find_target(), armed_enter() with @keeps_control (busy.c), the
 * action START and the check of rights (size -A of the objects of this file, busy.c and
 * dev/event.c, on 6.1, with and without it).  It gives what `ktape trigger -t` does: a small
 * session that waits for the event starts a large one.  t_trigger has the test, and no recipe of
 * ktape-cookbook(7) uses it.
 */
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/jiffies.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "armed.h"

static struct kt_armed *armed_find(const struct kt_session *s, u32 id)
{
	const struct kt_triggers *all = kt_session_triggers(s);
	unsigned int i;

	for (i = 0; all && i < all->nr; i++)
		if (all->trigger[i]->spec.id == id)
			return armed_of(all->trigger[i]);
	return NULL;
}

/* ---- actions --------------------------------------------------------------- */

/* Return the session to act on, or NULL.  Called with kt_session_control. */
static struct kt_session *armed_target(const struct kt_armed *a)
{
	struct kt_session *target = kt_sessions[a->target];

	return target && target->serial == a->serial ? target : NULL;
}

/* Set whether the sessions of a trigger keep kt_session_control: see busy.c. */
static void armed_keep_control(struct kt_armed *a, bool held)
{
	struct kt_session *target = armed_target(a);

	a->s->keeps_control = held;
	if (target)
		target->keeps_control = held;
}

/*
 * Take kt_session_control, and keep it until armed_leave(), while neither the session of
 * a trigger nor its target is busy.
 */
static void armed_enter(struct kt_armed *a)
{
	const struct kt_session *target;

	for (;;) {
		kt_session_enter_any();
		target = armed_target(a);
		if (!a->s->busy && !(target && target->busy))
			break;
		kt_session_wait_busy();
	}
	armed_keep_control(a, true);
}

static void armed_leave(struct kt_armed *a)
{
	armed_keep_control(a, false);
	kt_session_leave();
}

/*
 * Return for how many ns before @from all event rings of a stopped session hold
 * records: since its last start or clear, or, if blocks were overwritten since,
 * since the oldest block of the ring that reaches back least.
 */
static u64 armed_reaches_back_ns(const struct kt_session *s, u64 from)
{
	const struct ktape_block *b;
	struct kt_ring *r;
	u64 oldest, pos, ns;
	unsigned int at;

	mutex_lock(&kt_session_lock);
	oldest = s->began;
	kt_for_each_ring(r, s, BIT(KTAPE_RING_EVENT), at) {
		pos = kt_ring_oldest(r);
		/* Nothing was overwritten: the ring reaches back to s->began. */
		if (!kt_ring_tail(r))
			continue;
		b = r->base[(pos >> r->block_shift) & (r->nr_blocks - 1)];
		oldest = max_t(u64, oldest, b->ts_begin);
	}
	mutex_unlock(&kt_session_lock);
	if (oldest >= from)
		return 0;
	ns = kt_clock_to_ns(from - oldest);
	return min_t(u64, ns, KTAPE_TRIGGER_NS_MAX);
}

/* Return true if the trigger stops its own session and takes a snapshot of it. */
static bool armed_stops_itself(const struct kt_armed *a)
{
	const u32 both = KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_SNAPSHOT;

	return (a->trigger.spec.actions & both) == both && a->serial == a->s->serial;
}

/*
 * Stop the session for a snapshot.  Called with kt_session_control.  The snapshot is SHORT if
 * the rings reach back less than was asked, or if a STOP of the trigger's own session leaves
 * no time after the firing.
 */
static void armed_stop_now(struct kt_armed *a)
{
	kt_session_stop_locked(a->s);
	a->snapping = false;
	a->held_ns = armed_reaches_back_ns(a->s, a->since);
	a->flags |= KTAPE_TRIGGER_DONE;
	if (a->held_ns < a->trigger.spec.before_ns ||
	    (armed_stops_itself(a) && a->trigger.spec.after_ns))
		a->flags |= KTAPE_TRIGGER_SHORT;
}

/*
 * Stop the session if the snapshot has come to its end.  Called with
 * kt_session_control.  Return: true if the session was stopped for the snapshot.
 */
static bool armed_stop_if_due(struct kt_armed *a)
{
	/* A start cancels the snapshot; a stop by another task ends it. */
	if (!a->snapping || !a->s->running)
		return false;
	/* This work was queued for a cancelled snapshot, and another snapshot began. */
	if (time_before(jiffies, a->deadline)) {
		queue_delayed_work(system_long_wq, &a->snapshot,
				   a->deadline - jiffies);
		return false;
	}
	armed_stop_now(a);
	return true;
}

static void armed_end_snapshot(struct work_struct *work)
{
	struct kt_armed *a =
		container_of(to_delayed_work(work), struct kt_armed, snapshot);
	bool done;

	armed_enter(a);
	done = armed_stop_if_due(a);
	armed_leave(a);
	if (done && a->notify)
		kt_eventfd_signal(a->notify);
}

/*
 * Begin a snapshot, whose end is @after_ns later or at once, unless one is under way or the
 * trigger stops itself and the session does not record.  Called with kt_session_control.
 * Return: true if the session was stopped here for the snapshot.
 */
static bool armed_begin_snapshot(struct kt_armed *a)
{
	u64 after = a->trigger.spec.after_ns;
	/* Two more: part of this jiffy is over, and the division rounds down. */
	unsigned long delay = after ? nsecs_to_jiffies(after) + 2 : 0;

	if (a->snapping)
		return false;
	a->since = (u64)atomic64_read(&a->trigger.last);
	if (armed_stops_itself(a)) {
		if (!a->s->running)
			return false;
		armed_stop_now(a);
		return true;
	}
	a->snapping = true;
	a->deadline = jiffies + delay;
	queue_delayed_work(system_long_wq, &a->snapshot, delay);
	return false;
}

/* Start, stop or change the target session.  Called with kt_session_control. */
static void armed_act_on_target(const struct kt_armed *a)
{
	const struct ktape_trigger *spec = &a->trigger.spec;
	struct kt_session *target = armed_target(a);

	if (!target || target->gone)
		return;
	if (spec->actions & KTAPE_TRIGGER_PROFILE)
		kt_session_profile_locked(target, spec->mask);
	if (spec->actions & KTAPE_TRIGGER_START)
		kt_session_start_locked(target);
	/* If armed_stops_itself(), armed_begin_snapshot() stops the session. */
	if (spec->actions & KTAPE_TRIGGER_STOP && !armed_stops_itself(a))
		kt_session_stop_locked(target);
}

static void armed_act(struct work_struct *work)
{
	struct kt_armed *a = container_of(work, struct kt_armed, act);
	const struct ktape_trigger *spec = &a->trigger.spec;
	bool done = !(spec->actions & KTAPE_TRIGGER_SNAPSHOT);

	armed_enter(a);
	/* A start since the firing has reset the trigger. */
	if (!atomic_xchg(&a->trigger.pending, 0)) {
		armed_leave(a);
		return;
	}
	if (spec->actions &
	    (KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_PROFILE))
		armed_act_on_target(a);
	if (spec->actions & KTAPE_TRIGGER_SNAPSHOT)
		done = armed_begin_snapshot(a);
	armed_leave(a);
	/* A snapshot signals the eventfd when it ends. */
	if (done && a->notify)
		kt_eventfd_signal(a->notify);
}

static void armed_fired(struct irq_work *irq)
{
	struct kt_trigger *t = container_of(irq, struct kt_trigger, irq);

	queue_work(system_long_wq, &armed_of(t)->act);
}

/* ---- adding and removing --------------------------------------------------- */

/* Replace the list of triggers; NULL: none.  Called with kt_session_control. */
static void triggers_publish(struct kt_session *s, struct kt_triggers *next)
{
	const struct kt_triggers *old = kt_session_triggers(s);
	unsigned int i;

	for (i = 0; next && i < next->nr; i++)
		kt_trigger_mask(&next->trigger[i]->spec, next->mask);
	kt_session_lock_both();
	rcu_assign_pointer(kt_triggers[s->id], next);
	kt_want_set_everywhere(s);
	kt_session_synchronize(s);
	kt_session_unlock_both();
	kfree(old);
}

static void armed_free(struct kt_armed *a)
{
	if (!a)
		return;
	/* In this order: each step can queue only what comes after it. */
	cancel_delayed_work_sync(&a->watch);
	irq_work_sync(&a->trigger.irq);
	cancel_work_sync(&a->act);
	cancel_delayed_work_sync(&a->snapshot);
	if (a->notify)
		eventfd_ctx_put(a->notify);
	kt_gates_free(a->trigger.gates);
	kfree(a);
}

/* Allocate the table that follows the open pairs of a LONGER trigger. */
static struct kt_gates *armed_make_gate(const struct ktape_trigger *spec)
{
	const struct ktape_filter_gate entry = {
		.gate = kt_trigger_gate_of(spec->opcode),
		.ns = spec->duration_ns,
	};

	return kt_gates_alloc(&entry, 1);
}

static struct kt_armed *armed_make(struct kt_session *s,
				   const struct ktape_trigger *spec)
{
	struct kt_armed *a = kzalloc(sizeof(*a), GFP_KERNEL_ACCOUNT);

	if (!a)
		return NULL;
	a->s = s;
	a->trigger.spec = *spec;
	a->trigger.spec.nth = max(spec->nth, 1U);
	init_irq_work(&a->trigger.irq, armed_fired);
	INIT_WORK(&a->act, armed_act);
	INIT_DELAYED_WORK(&a->snapshot, armed_end_snapshot);
	INIT_DELAYED_WORK(&a->watch, kt_armed_watch);
	if (spec->when == KTAPE_TRIGGER_LONGER) {
		a->trigger.gates = armed_make_gate(spec);
		if (!a->trigger.gates) {
			kfree(a);
			return NULL;
		}
	}
	kt_armed_reset(a);
	return a;
}

/* Find the session to act on.  Called with kt_session_control.  Return: 0 or -ENOENT. */
static int armed_find_target(struct kt_armed *a)
{
	const struct ktape_trigger *spec = &a->trigger.spec;
	const struct kt_session *target = a->s;

	if (spec->actions & (KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP |
			     KTAPE_TRIGGER_PROFILE) &&
	    spec->target != KTAPE_TRIGGER_SELF)
		target = kt_sessions[array_index_nospec(spec->target, KT_SESSIONS)];
	if (!target || target->gone)
		return -ENOENT;
	a->target = target->id;
	a->serial = target->serial;
	return 0;
}

/* Return true if a gate filters events of the pair that a trigger waits for. */
static bool session_has_gate(const struct kt_session *s, u32 span)
{
	const struct kt_filters *f;
	bool has;

	mutex_lock(&kt_session_lock);
	f = kt_session_filters(s);
	has = f && kt_filter_in_force(f, KTAPE_FILTER_GATE) &&
	      kt_gates_have(f->gates, kt_gates_end_of(span));
	mutex_unlock(&kt_session_lock);
	return has;
}

/*
 * Add a trigger to its session, with the lowest id that is free.  Called with
 * kt_session_control.  Return: as kt_session_trigger_add().
 */
static int armed_add(struct kt_session *s, struct kt_armed *a)
{
	struct ktape_trigger *spec = &a->trigger.spec;
	const struct kt_triggers *old = kt_session_triggers(s);
	struct kt_triggers *new;
	int ret;

	if (old && old->nr == KTAPE_TRIGGERS)
		return -ENOSPC;
	if (spec->when == KTAPE_TRIGGER_LONGER && session_has_gate(s, spec->opcode))
		return -EBUSY;
	ret = armed_find_target(a);
	if (ret)
		return ret;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	while (armed_find(s, spec->id))
		spec->id++;
	if (old) {
		new->nr = old->nr;
		memcpy(new->trigger, old->trigger, sizeof(new->trigger));
	}
	new->trigger[new->nr++] = &a->trigger;
	triggers_publish(s, new);
	/*
	 * CPUs changed one by one: the end of a pair may have come on a CPU that did not check
	 * it yet, as in kt_session_start_locked().
	 */
	if (a->trigger.gates)
		kt_gates_renew(a->trigger.gates);
	if (s->running && spec->when == KTAPE_TRIGGER_QUIET)
		mod_delayed_work(system_wq, &a->watch, kt_armed_silence(a));
	return 0;
}

/**
 * kt_session_trigger_add() - add a trigger to a session
 * @s: the session
 * @spec: in: the trigger, checked; out: its id
 * @notify: eventfd with a reference, which this takes over on success; or NULL
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV: the session has ended; -ENOMEM, -ENOENT, -ENOSPC, -EBUSY: see
 * uapi/ktape/trigger.h.
 */
int kt_session_trigger_add(struct kt_session *s, struct ktape_trigger *spec,
			   struct eventfd_ctx *notify)
{
	struct kt_armed *a = armed_make(s, spec);
	int ret;

	if (!a)
		return -ENOMEM;
	a->notify = notify;
	kt_session_enter(s);
	ret = s->gone ? -ENODEV : armed_add(s, a);
	if (!ret)
		spec->id = a->trigger.spec.id;
	kt_session_leave();
	if (ret) {
		a->notify = NULL;
		armed_free(a);
	}
	return ret;
}

/**
 * kt_session_trigger_get() - describe a trigger
 * @s: the session
 * @to: in: size and id; out: all members
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOENT.
 */
int kt_session_trigger_get(struct kt_session *s, struct ktape_trigger *to)
{
	const struct kt_armed *a;
	u32 size = to->size;
	int ret = -ENOENT;

	kt_session_enter(s);
	a = s->gone ? NULL : armed_find(s, to->id);
	if (a) {
		*to = a->trigger.spec;
		to->size = size;
		to->op = KTAPE_TRIGGER_GET;
		to->eventfd = 0;
		to->matches = atomic_read(&a->trigger.matches);
		to->fired = atomic_read(&a->trigger.fired);
		to->last = (u64)atomic64_read(&a->trigger.last);
		to->flags = a->flags;
		to->held_ns = a->held_ns;
		if (a->trigger.gates)
			to->missed = kt_gates_collisions(a->trigger.gates);
		ret = 0;
	}
	kt_session_leave();
	return ret;
}

/*
 * Take a trigger out of the list of its session.
 * Return: the trigger, for armed_free(); NULL: error in @ret.
 */
static struct kt_armed *armed_take_out(struct kt_session *s, u32 id, int *ret)
{
	const struct kt_triggers *old = kt_session_triggers(s);
	struct kt_armed *a = armed_find(s, id);
	struct kt_triggers *new;
	unsigned int i;

	*ret = a ? 0 : -ENOENT;
	if (!a)
		return NULL;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new) {
		*ret = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < old->nr; i++)
		if (old->trigger[i] != &a->trigger)
			new->trigger[new->nr++] = old->trigger[i];
	if (!new->nr) {
		kfree(new);
		new = NULL;
	}
	triggers_publish(s, new);
	return a;
}

/**
 * kt_session_trigger_remove() - remove a trigger
 * @s: the session
 * @id: id of the trigger
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOENT or -ENOMEM.
 */
int kt_session_trigger_remove(struct kt_session *s, u32 id)
{
	struct kt_armed *a;
	int ret;

	kt_session_enter(s);
	ret = -ENOENT;
	a = s->gone ? NULL : armed_take_out(s, id, &ret);
	kt_session_leave();
	armed_free(a);
	return ret;
}

/**
 * kt_session_triggers_exit() - remove all triggers of a session that ends
 * @s: the session, stopped and gone
 *
 * Context: process context without any of our locks, may sleep.
 */
void kt_session_triggers_exit(struct kt_session *s)
{
	const struct kt_triggers *all;
	unsigned int i;

	kt_session_enter_any();
	all = kt_session_triggers(s);
	/* kt_want_set() for a CPU that comes online uses the list. */
	mutex_lock(&kt_session_lock);
	RCU_INIT_POINTER(kt_triggers[s->id], NULL);
	mutex_unlock(&kt_session_lock);
	kt_session_leave();
	if (!all)
		return;
	/* kt_trigger_thread_exits() uses triggers without a want bit. */
	synchronize_rcu();
	for (i = 0; i < all->nr; i++)
		armed_free(armed_of(all->trigger[i]));
	kfree(all);
}
