// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes the filters of a session, each kind as a whole.
 *
 *   set	a changed copy, on-markers, the copy is published, routes and want
 *		bits, synchronize_rcu(), what the old one had is given back
 *   off	the same with the off-markers after synchronize_rcu()
 *
 * An on-marker thus comes before the first event that the filter holds back,
 * an off-marker after the last one.
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "control.h"
#include "session.h"
#include "filters.h"

static struct kt_filters *filters_of_session(const struct kt_session *s)
{
	return rcu_dereference_protected(kt_filters[s->id],
					 lockdep_is_held(&kt_session_control));
}

/* A copy to be changed. */
static struct kt_filters *filters_copy(const struct kt_filters *old)
{
	if (old)
		return kmemdup(old, sizeof(*old), GFP_KERNEL_ACCOUNT);
	return kzalloc(sizeof(*old), GFP_KERNEL_ACCOUNT);
}

/* Put @new in force; @old is nobody's afterwards.  NULL: none. */
static void filters_publish(struct kt_session *s, struct kt_filters *new,
			    const struct kt_filters *old, u32 kind, u32 phase)
{
	u64 extra[KTAPE_MASK_WORDS] = {};
	bool on = phase == KTAPE_PHASE_ON;

	/* Switches that are filtered do not tell who runs. */
	kt_mask_set(extra, KTAPE_EV_CONTEXT);
	if (s->running)
		kt_session_probes(extra);
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	if (s->running && on)
		kt_control_filters(s, phase, new, BIT(kind));
	kt_filters_renew_gates(new);
	kt_triggers_renew_gates(kt_session_triggers(s));
	rcu_assign_pointer(kt_filters[s->id], new);
	if (s->running)
		kt_session_want(s);
	synchronize_rcu();
	/* Nobody looks at the old ones any more, which may have held ends back. */
	kt_triggers_renew_gates(kt_session_triggers(s));
	if (s->running && !on)
		kt_control_filters(s, phase, old, BIT(kind));
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	if (s->running)
		kt_session_probes(NULL);
}

static void filters_drop_kind(struct kt_filters *f, u32 kind)
{
	if (f && kt_filter_in_force(f, kind) && kt_filter_kinds[kind].drop)
		kt_filter_kinds[kind].drop(f);
}

static int filters_set(struct kt_session *s, u32 kind, const void *entries,
		       u32 nr)
{
	struct kt_filters *old = filters_of_session(s),
			  *new = filters_copy(old);
	int ret;

	if (!new)
		return -ENOMEM;
	ret = kt_filter_kinds[kind].parse(new, entries, nr);
	if (ret) {
		kfree(new);
		return ret;
	}
	new->kinds |= BIT(kind);
	/* A pair that is held back would never be seen to be long. */
	if (kind == KTAPE_FILTER_GATE &&
	    kt_triggers_follow(kt_session_triggers(s), new->gates)) {
		filters_drop_kind(new, kind);
		kfree(new);
		return -EBUSY;
	}
	new->nr[kind] = nr;
	kt_filter_applies(new);
	filters_publish(s, new, old, kind, KTAPE_PHASE_ON);
	filters_drop_kind(old, kind);
	kfree(old);
	return 0;
}

static int filters_off(struct kt_session *s, u32 kind)
{
	struct kt_filters *old = filters_of_session(s), *new = NULL;

	if (!old || !kt_filter_in_force(old, kind))
		return 0;
	if (old->kinds != BIT(kind)) {
		new = filters_copy(old);
		if (!new)
			return -ENOMEM;
		new->kinds &= ~BIT(kind);
		kt_filter_applies(new);
	}
	filters_publish(s, new, old, kind, KTAPE_PHASE_OFF);
	filters_drop_kind(old, kind);
	kfree(old);
	return 0;
}

/**
 * kt_session_filter_set() - put a filter in force, in place of the one before
 * @s: the session
 * @kind: enum ktape_filter_kind
 * @entries: the entries
 * @nr: how many, at most as the kind has; 0 takes some kinds away
 *
 * Context: process context of the caller whose name spaces count, may sleep.
 * Return: 0; -ENOMEM; what the kind says of the entries; -EBUSY: a gate of a
 * pair for which a trigger of the session waits: then nothing changed.
 */
int kt_session_filter_set(struct kt_session *s, u32 kind, const void *entries,
			  u32 nr)
{
	int ret;

	mutex_lock(&kt_session_control);
	if (nr || !kt_filter_kinds[kind].empty_is_off)
		ret = filters_set(s, kind, entries, nr);
	else
		ret = filters_off(s, kind);
	mutex_unlock(&kt_session_control);
	return ret;
}

/**
 * kt_session_filter_off() - take a filter away, if there is one
 * @s: the session
 * @kind: enum ktape_filter_kind
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kt_session_filter_off(struct kt_session *s, u32 kind)
{
	int ret;

	mutex_lock(&kt_session_control);
	ret = filters_off(s, kind);
	mutex_unlock(&kt_session_control);
	return ret;
}

/**
 * kt_session_filter_tell() - what a filter is
 * @s: the session
 * @to: @to->kind is looked at; nr, active, generation and collisions are filled
 * @entries: zeroed, room for all entries of the kind, or NULL
 *
 * Context: process context, may sleep.
 */
void kt_session_filter_tell(struct kt_session *s, struct ktape_filter *to,
			    void *entries)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[to->kind];
	const struct kt_filters *f;

	mutex_lock(&kt_session_control);
	f = filters_of_session(s);
	to->generation = s->owner.generation;
	to->active = f && kt_filter_in_force(f, to->kind);
	to->nr = to->active ? f->nr[to->kind] : 0;
	if (to->active && kind->collisions)
		to->collisions = kind->collisions(f);
	if (to->nr && entries)
		kind->tell(f, entries);
	mutex_unlock(&kt_session_control);
}

/**
 * kt_session_filters_exit() - free the filters of a session that ends
 * @s: the session, stopped: no probe looks at its filters any more
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_filters_exit(struct kt_session *s)
{
	struct kt_filters *f = filters_of_session(s);
	unsigned int kind;

	mutex_lock(&kt_session_lock);
	RCU_INIT_POINTER(kt_filters[s->id], NULL);
	mutex_unlock(&kt_session_lock);
	/* kt_filter_thread_exits() looks at it without a want bit. */
	if (f)
		synchronize_rcu();
	for (kind = 0; kind < KTAPE_FILTER_KINDS; kind++)
		filters_drop_kind(f, kind);
	kfree(f);
}
