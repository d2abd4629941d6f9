// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: how they come and go, and what they do that may sleep.
 *
 *   firing	irq_work -> work: one after the other, without the writer
 *   removing	out of the list, synchronize_rcu(), irq_work_sync(), works
 *
 * The work takes kt_session_control, so it is waited for without it.  It finds the
 * session that it acts on by number and serial with that lock held, and is no
 * user of it: so it never frees one.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "internal.h"

/**
 * struct kt_armed - a trigger and its actions
 * @trigger: what the way of an event sees
 * @s: its session, which waits for the works before it is freed
 * @target: number of the session that it acts on
 * @serial: of that session
 * @notify: the eventfd, or NULL
 * @act: does the actions
 * @snapshot: ends a snapshot
 * @watch: QUIET: looks whether it is
 * @told: QUIET: the match after which silence was told of last
 * @is_told: QUIET: @told counts
 * @snapping: a snapshot is under way
 * @since: trace clock of the firing that began it
 * @deadline: jiffies at which it ends
 * @flags: KTAPE_TRIGGER_DONE, _SHORT
 * @held_ns: how far the rings reached back
 *
 * All but the works' own members is changed with kt_session_control.
 */
struct kt_armed {
	struct kt_trigger trigger;
	struct kt_session *s;
	u32 target;
	u64 serial;
	struct eventfd_ctx *notify;
	struct work_struct act;
	struct delayed_work snapshot;
	struct delayed_work watch;
	unsigned long told;
	bool is_told;
	bool snapping;
	u64 since;
	unsigned long deadline;
	u32 flags;
	u64 held_ns;
};

static struct kt_armed *armed_of(struct kt_trigger *t)
{
	return container_of(t, struct kt_armed, trigger);
}

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

static u64 armed_ticks_to_ns(u64 ticks)
{
	u64 rest, seconds = div64_u64_rem(ticks, kt_clock_hz(), &rest);

	return seconds * NSEC_PER_SEC +
	       div64_u64(rest * NSEC_PER_SEC, kt_clock_hz());
}

/*
 * How far the event rings of a stopped session reach back from @from on: to its
 * last start or clear, or to the block that one of them has as its oldest.
 */
static u64 armed_held_ns(const struct kt_session *s, u64 from)
{
	unsigned int cpu;
	u64 oldest, ns;

	mutex_lock(&kt_session_lock);
	oldest = s->began;
	for_each_possible_cpu(cpu) {
		struct kt_ring *r = kt_session_ring(s, cpu, KTAPE_RING_EVENT);
		unsigned long pos = r ? kt_ring_oldest(r) : 0;
		const struct ktape_block *b;

		/* Nothing went yet: it has all that came since then. */
		if (!r || !READ_ONCE(*kt_word(&r->page->tail)))
			continue;
		b = r->base[(pos >> r->block_shift) & (r->nr_blocks - 1)];
		oldest = max_t(u64, oldest, b->ts_begin);
	}
	mutex_unlock(&kt_session_lock);
	if (oldest >= from)
		return 0;
	ns = armed_ticks_to_ns(from - oldest);
	return min_t(u64, ns, KTAPE_TRIGGER_NS_MAX);
}

/* Does it stop the session of which it takes a snapshot, without delay? */
static bool armed_stops_itself(const struct kt_armed *a)
{
	const u32 both = KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_SNAPSHOT;

	return (a->trigger.spec.actions & both) == both &&
	       a->serial == a->s->serial;
}

/* Of a session that records; with kt_session_control. */
static void armed_stop_now(struct kt_armed *a)
{
	kt_session_stop_locked(a->s);
	a->snapping = false;
	a->held_ns = armed_held_ns(a->s, a->since);
	a->flags |= KTAPE_TRIGGER_DONE;
	if (a->held_ns < a->trigger.spec.before_ns ||
	    (armed_stops_itself(a) && a->trigger.spec.after_ns))
		a->flags |= KTAPE_TRIGGER_SHORT;
}

/* With kt_session_control. Return: was the session stopped for it? */
static bool armed_stop_if_due(struct kt_armed *a)
{
	/* A start ended it, or somebody else the session. */
	if (!a->snapping || !a->s->running)
		return false;
	/* A start ended it, and it began anew meanwhile. */
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

	mutex_lock(&kt_session_control);
	done = armed_stop_if_due(a);
	mutex_unlock(&kt_session_control);
	if (done && a->notify)
		kt_eventfd_signal(a->notify);
}

/* With kt_session_control. Return: was the session stopped for it already? */
static bool armed_begin_snapshot(struct kt_armed *a)
{
	u64 after = a->trigger.spec.after_ns;
	/* Two more: the present one has partly gone by, and division cuts. */
	unsigned long delay = after ? nsecs_to_jiffies(after) + 2 : 0;

	if (a->snapping)
		return false;
	a->since = READ_ONCE(a->trigger.last);
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

/* With kt_session_control. */
static void armed_act_on_target(const struct kt_armed *a)
{
	const struct ktape_trigger *spec = &a->trigger.spec;
	struct kt_session *target = kt_sessions[a->target];

	if (!target || target->serial != a->serial || target->gone)
		return;
	if (spec->actions & KTAPE_TRIGGER_PROFILE)
		kt_session_profile_locked(target, spec->mask);
	if (spec->actions & KTAPE_TRIGGER_START)
		kt_session_start_locked(target);
	/* A snapshot's stop has more to do. */
	if (spec->actions & KTAPE_TRIGGER_STOP && !armed_stops_itself(a))
		kt_session_stop_locked(target);
}

static void armed_act(struct work_struct *work)
{
	struct kt_armed *a = container_of(work, struct kt_armed, act);
	const struct ktape_trigger *spec = &a->trigger.spec;
	bool done = !(spec->actions & KTAPE_TRIGGER_SNAPSHOT);

	mutex_lock(&kt_session_control);
	/* A start since then has forgotten what fired before it. */
	if (!atomic_xchg(&a->trigger.pending, 0)) {
		mutex_unlock(&kt_session_control);
		return;
	}
	if (spec->actions &
	    (KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_PROFILE))
		armed_act_on_target(a);
	if (spec->actions & KTAPE_TRIGGER_SNAPSHOT)
		done = armed_begin_snapshot(a);
	mutex_unlock(&kt_session_control);
	/* A snapshot's end tells of it. */
	if (done && a->notify)
		kt_eventfd_signal(a->notify);
}

static void armed_fired(struct irq_work *irq)
{
	struct kt_trigger *t = container_of(irq, struct kt_trigger, irq);

	queue_work(system_long_wq, &armed_of(t)->act);
}

/* ---- silence --------------------------------------------------------------- */

static unsigned long armed_silence(const struct kt_armed *a)
{
	return max(1UL, nsecs_to_jiffies(a->trigger.spec.duration_ns));
}

/*
 * Nobody writes any more who was not seen before the session became inactive: the
 * grace period of a stop waits for us, too.
 */
static void armed_fire_here(struct kt_armed *a)
{
	preempt_disable();
	if (READ_ONCE(a->s->active))
		kt_trigger_fire(&a->trigger, a->s->id);
	preempt_enable();
}

static void armed_watch(struct work_struct *work)
{
	struct kt_armed *a =
		container_of(to_delayed_work(work), struct kt_armed, watch);
	unsigned long seen = READ_ONCE(a->trigger.seen), since = jiffies - seen;
	unsigned long wait = armed_silence(a);

	if (!READ_ONCE(a->s->active))
		return;
	if (a->is_told && a->told == seen) {
		/* Told already: wait for the next match, and then for silence. */
		wait = wait / 10 + 1;
	} else if (since >= wait) {
		a->told = seen;
		a->is_told = true;
		armed_fire_here(a);
		wait = wait / 10 + 1;
	} else {
		wait -= since;
	}
	queue_delayed_work(system_wq, &a->watch, wait);
}

/* ---- coming and going ------------------------------------------------------ */

/* Anew, as at a start; with kt_session_control. */
static void armed_reset(struct kt_armed *a)
{
	atomic_set(&a->trigger.matches, 0);
	atomic_set(&a->trigger.fired, 0);
	atomic_set(&a->trigger.pending, 0);
	a->snapping = false;
	a->flags = 0;
	a->held_ns = 0;
	a->is_told = false;
	WRITE_ONCE(a->trigger.seen, jiffies);
	if (a->trigger.gates)
		kt_gates_renew(a->trigger.gates);
}

/**
 * kt_session_triggers_arm() - a session starts: its triggers begin anew
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

		/* Not the _sync ones, which would wait for our lock. */
		cancel_delayed_work(&a->snapshot);
		armed_reset(a);
	}
}

/**
 * kt_session_triggers_watch() - a session has started: look out for silence
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
			mod_delayed_work(system_wq, &a->watch,
					 armed_silence(a));
	}
}

/* In the place of those in force; with kt_session_control. */
static void triggers_publish(struct kt_session *s, struct kt_triggers *next)
{
	const struct kt_triggers *old = kt_session_triggers(s);
	unsigned int i;

	for (i = 0; next && i < next->nr; i++)
		kt_trigger_mask(&next->trigger[i]->spec, next->mask);
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	rcu_assign_pointer(kt_triggers[s->id], next);
	kt_want_set_everywhere(s);
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	synchronize_rcu();
	kfree(old);
}

static void armed_free(struct kt_armed *a)
{
	if (!a)
		return;
	/* In this order each finds nobody who would queue it again. */
	cancel_delayed_work_sync(&a->watch);
	irq_work_sync(&a->trigger.irq);
	cancel_work_sync(&a->act);
	cancel_delayed_work_sync(&a->snapshot);
	if (a->notify)
		eventfd_ctx_put(a->notify);
	kt_gates_free(a->trigger.gates);
	kfree(a);
}

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
	INIT_DELAYED_WORK(&a->watch, armed_watch);
	if (spec->when == KTAPE_TRIGGER_LONGER) {
		a->trigger.gates = armed_make_gate(spec);
		if (!a->trigger.gates) {
			kfree(a);
			return NULL;
		}
	}
	armed_reset(a);
	return a;
}

/* With kt_session_control. */
static int armed_find_target(struct kt_armed *a)
{
	const struct ktape_trigger *spec = &a->trigger.spec;
	const struct kt_session *target = a->s;

	if (spec->actions & (KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP |
			     KTAPE_TRIGGER_PROFILE) &&
	    spec->target != KTAPE_TRIGGER_SELF)
		target = kt_sessions[array_index_nospec(spec->target,
							KT_SESSIONS)];
	if (!target || target->gone)
		return -ENOENT;
	a->target = target->id;
	a->serial = target->serial;
	return 0;
}

/* A pair of which a gate holds an event back would never be seen to end. */
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

static int armed_add(struct kt_session *s, struct kt_armed *a)
{
	struct ktape_trigger *spec = &a->trigger.spec;
	const struct kt_triggers *old = kt_session_triggers(s);
	struct kt_triggers *new;
	int ret;

	if (s->gone)
		return -ENOENT;
	if (old && old->nr == KTAPE_TRIGGERS)
		return -ENOSPC;
	if (spec->when == KTAPE_TRIGGER_LONGER &&
	    session_has_gate(s, spec->opcode))
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
	/* CPUs changed one by one: what began meanwhile may have ended. */
	if (a->trigger.gates)
		kt_gates_renew(a->trigger.gates);
	if (s->running && spec->when == KTAPE_TRIGGER_QUIET)
		mod_delayed_work(system_wq, &a->watch, armed_silence(a));
	return 0;
}

/**
 * kt_session_trigger_add() - arm a trigger
 * @s: the session
 * @spec: checked; receives the id
 * @notify: with a reference, which is taken over if this works; or NULL
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM, -ENOENT, -ENOSPC, -EBUSY: see uapi/ktape/trigger.h.
 */
int kt_session_trigger_add(struct kt_session *s, struct ktape_trigger *spec,
			   struct eventfd_ctx *notify)
{
	struct kt_armed *a = armed_make(s, spec);
	int ret;

	if (!a)
		return -ENOMEM;
	a->notify = notify;
	mutex_lock(&kt_session_control);
	ret = armed_add(s, a);
	if (!ret)
		spec->id = a->trigger.spec.id;
	mutex_unlock(&kt_session_control);
	if (ret) {
		a->notify = NULL;
		armed_free(a);
	}
	return ret;
}

/**
 * kt_session_trigger_tell() - tell of a trigger
 * @s: the session
 * @to: with the id; receives all
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOENT.
 */
int kt_session_trigger_tell(struct kt_session *s, struct ktape_trigger *to)
{
	const struct kt_armed *a;
	u32 size = to->size;
	int ret = -ENOENT;

	mutex_lock(&kt_session_control);
	a = armed_find(s, to->id);
	if (a) {
		*to = a->trigger.spec;
		to->size = size;
		to->op = KTAPE_TRIGGER_GET;
		to->eventfd = 0;
		to->matches = atomic_read(&a->trigger.matches);
		to->fired = atomic_read(&a->trigger.fired);
		to->last = READ_ONCE(a->trigger.last);
		to->flags = a->flags;
		to->held_ns = a->held_ns;
		if (a->trigger.gates)
			to->missed = kt_gates_collisions(a->trigger.gates);
		ret = 0;
	}
	mutex_unlock(&kt_session_control);
	return ret;
}

/* Out of the list. Return: NULL and an error, or the trigger, for armed_free(). */
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
 * kt_session_trigger_remove() - disarm a trigger
 * @s: the session
 * @id: which one
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOENT or -ENOMEM.
 */
int kt_session_trigger_remove(struct kt_session *s, u32 id)
{
	struct kt_armed *a;
	int ret;

	mutex_lock(&kt_session_control);
	a = armed_take_out(s, id, &ret);
	mutex_unlock(&kt_session_control);
	armed_free(a);
	return ret;
}

/**
 * kt_session_triggers_exit() - a session ends: so do its triggers
 * @s: the session, stopped and without users
 *
 * Context: process context without any of our locks, may sleep.
 */
void kt_session_triggers_exit(struct kt_session *s)
{
	const struct kt_triggers *all;
	unsigned int i;

	mutex_lock(&kt_session_control);
	all = kt_session_triggers(s);
	/* A CPU that comes looks at it. */
	mutex_lock(&kt_session_lock);
	RCU_INIT_POINTER(kt_triggers[s->id], NULL);
	mutex_unlock(&kt_session_lock);
	mutex_unlock(&kt_session_control);
	if (!all)
		return;
	/* kt_trigger_thread_exits() looks at it without a want bit. */
	synchronize_rcu();
	for (i = 0; i < all->nr; i++)
		armed_free(armed_of(all->trigger[i]));
	kfree(all);
}
