// SPDX-License-Identifier: GPL-2.0-only
/*
 * The want bits of each CPU, as they follow from the profiles, filters and triggers of
 * all sessions (struct kt_cpu in event/cpu.h).
 *
 * The pass mask of a CPU (struct kt_now there) says which sessions' filters by thread, cgroup
 * and uid, the thread filters, the running thread passes.
 *
 * The want bits of a CPU and what goes with them are its ways (struct kt_ways).  Computing
 * them takes some 25,000 instructions.  The controlling task does that once for all CPUs
 * whose ways are the same, into a plan.  A CPU then stores only what changes.
 *
 * Ways are planned and stored with kt_session_lock held, or in an interrupt that its holder
 * waits for.  So neither the plan nor the ways of a CPU change meanwhile.  What sessions want
 * can also be asked with kt_session_control held, which each change takes as well.
 */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "event/event.h"
#include "filter/filter.h"
#include "probes/probes.h"
#include "internal.h"

/**
 * struct kt_ways - the members of struct kt_cpu that are computed here
 * @want: see struct kt_cpu
 * @selective: its @planned
 */
struct kt_ways {
	unsigned long want[KTAPE_OPCODES];
	u8 selective;
};

/*
 * The plan: how CPUs that have the ways @from get those of @to.  @nr of the opcodes
 * change, sched_switch and context records not counted, which change last.
 * @by_uid and @by_cgroup are those of the selective sessions of @to.  @here: the CPU filter of
 * the session whose bits are set anew includes these CPUs.
 */
static struct {
	struct kt_ways from;
	struct kt_ways to;
	u8 by_uid;
	u8 by_cgroup;
	bool here;
	unsigned int nr;
	u8 opcodes[KTAPE_OPCODES];
} plan;

/*
 * Return true if a filter of the session decides about an event.
 *
 * This also runs in an interrupt that a task with kt_session_lock waits for, so
 * the filters cannot change, but lockdep does not see the lock.
 */
static bool session_filters_event(unsigned int session, unsigned int opcode)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[session]);

	return f && kt_mask_has(f->applies, opcode);
}

/**
 * kt_session_sees_switches() - check whether readers know the task from switches
 * @s: the session
 *
 * Context: with kt_session_control or kt_session_lock, or in an interrupt that a holder of
 * the latter waits for.
 * Return: true if the session records every switch.
 */
bool kt_session_sees_switches(const struct kt_session *s)
{
	return kt_mask_has(s->mask, KTAPE_EV_SCHED_SWITCH) &&
	       !session_filters_event(s->id, KTAPE_EV_SCHED_SWITCH);
}

/*
 * Context records name the task that runs when the session does not record
 * every sched_switch.  They are wanted if the session records anything into its
 * event rings, unless the profile omits them.
 */
static bool session_wants_context(const struct kt_session *s)
{
	unsigned int i;

	if (kt_session_sees_switches(s) || (s->flags & KTAPE_PROFILE_NO_CONTEXT))
		return false;
	for (i = KTAPE_OP_EXCEPTION + 1; i < KTAPE_OPCODES; i++)
		if (kt_mask_has(s->mask, i))
			return true;
	return false;
}

/**
 * kt_session_may_want() - check whether a session may see an event at all
 * @s: the session
 * @opcode: the event
 *
 * A session without the right only counts lines of the log, unless the kernel WARNs then
 * (KT_NMI_CONSOLE_WARNS).
 *
 * Context: any.
 * Return: false if its want bit must stay clear.
 */
bool kt_session_may_want(const struct kt_session *s, unsigned int opcode)
{
	return opcode != KTAPE_EV_CONSOLE || s->log || !KT_NMI_CONSOLE_WARNS;
}

/**
 * kt_session_wants() - check whether a session wants an event
 * @s: the session
 * @opcode: the event
 *
 * Context: as kt_session_sees_switches().
 * Return: true if it does, on CPUs that its CPU filter includes.
 */
bool kt_session_wants(const struct kt_session *s, unsigned int opcode)
{
	if (!s->active)
		return false;
	if (opcode == KTAPE_EV_CONTEXT)
		return session_wants_context(s);
	if (!kt_session_may_want(s, opcode))
		return false;
	return kt_mask_has(s->mask, opcode);
}

/**
 * kt_filters_record_on() - check the CPU filter among some filters
 * @f: the filters, or NULL
 * @cpu: the CPU
 *
 * Context: any; @f is not freed meanwhile.
 * Return: true if there is no CPU filter or if it includes @cpu.
 */
bool kt_filters_record_on(const struct kt_filters *f, unsigned int cpu)
{
	return !f || !kt_filter_in_force(f, KTAPE_FILTER_CPU) ||
	       test_bit(cpu, f->cpus);
}

/**
 * kt_session_records_on() - check the CPU filter of a session
 * @s: the session
 * @cpu: the CPU
 *
 * Context: as kt_session_sees_switches().
 * Return: true if there is no CPU filter or if it includes @cpu.
 */
bool kt_session_records_on(const struct kt_session *s, unsigned int cpu)
{
	return kt_filters_record_on(rcu_dereference_raw(kt_filters[s->id]), cpu);
}

/*
 * Return true if the session needs an event also on CPUs that its CPU filter
 * excludes.  Names: a thread may be created on one CPU and run on another.  Pairs
 * with a gate or a trigger: a thread may migrate between begin and end.
 */
static bool session_wants_on_all_cpus(const struct kt_session *s, unsigned int opcode)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[s->id]);

	return opcode == KTAPE_EV_REGISTRY ||
	       kt_triggers_pair(rcu_dereference_raw(kt_triggers[s->id]), opcode) ||
	       (f && kt_filter_in_force(f, KTAPE_FILTER_GATE) &&
		kt_gates_have(f->gates, opcode));
}

/* Return true if a trigger of the session compares an event. */
static bool session_triggers_on(unsigned int session, unsigned int opcode)
{
	const struct kt_triggers *t = rcu_dereference_raw(kt_triggers[session]);

	return t && kt_triggers_want(t, opcode);
}

/*
 * Return true if switches keep the pass mask of the session's thread filters up to
 * date on a CPU, which the CPU filter includes (@here): the probe of sched_switch is
 * attached for it, and a tracepoint covers each change of a cgroup.
 */
static bool session_is_selective(const struct kt_session *s, bool here)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[s->id]);

	return f && f->kinds & KT_THREAD_KINDS &&
	       (!kt_filter_in_force(f, KTAPE_FILTER_CGROUP) ||
		kt_probe_covers_cgroups()) &&
	       here &&
	       (kt_session_wants(s, KTAPE_EV_SCHED_SWITCH) ||
		kt_session_wants(s, KTAPE_EV_CONTEXT));
}

/* Return those of some sessions that have a filter of a kind. */
static u8 want_filters(unsigned long sessions, unsigned int kind)
{
	const struct kt_filters *f;
	u8 have = 0;

	for (; sessions; sessions &= sessions - 1) {
		f = rcu_dereference_raw(kt_filters[__ffs(sessions)]);
		if (f && kt_filter_in_force(f, kind))
			have |= BIT(__ffs(sessions));
	}
	return have;
}

/*
 * Return true if the pass mask does not say all about an event of a session.
 * sched_blocked is recorded after the switch, but is about the outgoing thread.
 */
static bool want_checks(const struct kt_ways *w, unsigned int session,
			unsigned int opcode)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[session]);

	if (session_triggers_on(session, opcode))
		return true;
	if (!f || !kt_mask_has(f->applies, opcode))
		return false;
	return kt_mask_has(f->beyond, opcode) || !(w->selective & BIT(session)) ||
	       opcode == KTAPE_EV_SCHED_BLOCKED;
}

/*
 * Set the KT_WANT_* bits of an event (event/cpu.h).  Control records below KTAPE_OP_EXCEPTION
 * have none.  KT_WANT_SWITCH: a switch also changes the pass mask, or needs context records.
 */
static void want_set_flags(struct kt_ways *w, unsigned int opcode)
{
	unsigned long left = w->want[opcode] & KT_MASK_SESSIONS;
	unsigned long want = left;

	if (opcode < KTAPE_OP_EXCEPTION)
		return;
	if (!left)
		want |= KT_WANT_NONE;
	else if (left & (left - 1))
		want |= KT_WANT_MANY;
	if (kt_sink_wants(opcode))
		want |= KT_WANT_CHECK;
	for (; left; left &= left - 1)
		if (want_checks(w, __ffs(left), opcode))
			want |= KT_WANT_CHECK;
	if (opcode == KTAPE_EV_SCHED_SWITCH &&
	    (w->selective || w->want[KTAPE_EV_CONTEXT]))
		want |= KT_WANT_SWITCH;
	w->want[opcode] = want;
}

/* Set the want bit of a session for each event that it wants; clear the others. */
static void want_set_session(struct kt_ways *w, const struct kt_session *s, bool here)
{
	unsigned int i;

	for (i = 0; i < KTAPE_OPCODES; i++) {
		w->want[i] &= ~BIT(s->id);
		if (kt_session_wants(s, i) &&
		    (here || session_wants_on_all_cpus(s, i)))
			w->want[i] |= BIT(s->id);
	}
	w->selective &= ~BIT(s->id);
	if (session_is_selective(s, here))
		w->selective |= BIT(s->id);
}

/* ---- the plan, and what CPUs store ------------------------------------------- */

static void ways_load(struct kt_ways *w, const struct kt_cpu *c)
{
	memcpy(w->want, c->want, sizeof(w->want));
	w->selective = c->planned;
}

static bool ways_are(const struct kt_ways *w, const struct kt_cpu *c)
{
	return w->selective == c->planned &&
	       !memcmp(w->want, c->want, sizeof(w->want));
}

static bool is_last(unsigned int opcode)
{
	return opcode == KTAPE_EV_SCHED_SWITCH || opcode == KTAPE_EV_CONTEXT;
}

/* Make the plan for the ways of a CPU, with the bits of @s, if any, set anew. */
static void plan_make(const struct kt_session *s, unsigned int cpu)
{
	struct kt_ways *from = &plan.from, *to = &plan.to;
	unsigned int i;

	ways_load(from, per_cpu_ptr(kt_cpus, cpu));
	memcpy(to, from, sizeof(*to));
	plan.here = s && kt_session_records_on(s, cpu);
	if (s)
		want_set_session(to, s, plan.here);
	for (i = 0; i < KTAPE_OPCODES; i++)
		want_set_flags(to, i);
	plan.by_uid = want_filters(to->selective, KTAPE_FILTER_UID);
	plan.by_cgroup = want_filters(to->selective, KTAPE_FILTER_CGROUP);
	plan.nr = 0;
	for (i = 0; i < KTAPE_OPCODES; i++)
		if (!is_last(i) && to->want[i] != from->want[i])
			plan.opcodes[plan.nr++] = i;
}

static void plan_store(struct kt_cpu *c, unsigned int opcode)
{
	WRITE_ONCE(c->want[opcode], plan.to.want[opcode]);
}

/*
 * Add the sessions that have thread filters now.  kt_want_settle() removes those that have
 * none any more.
 */
static void want_add_filters(struct kt_cpu *c)
{
	WRITE_ONCE(c->by_uid, c->by_uid | plan.by_uid);
	WRITE_ONCE(c->by_cgroup, c->by_cgroup | plan.by_cgroup);
	WRITE_ONCE(c->selective, c->selective | plan.to.selective);
	c->planned = plan.to.selective;
}

/**
 * kt_want_plan() - compute the ways that CPUs get
 * @s: the session
 * @cpu: one of them
 *
 * Context: process context with kt_session_lock.
 */
void kt_want_plan(const struct kt_session *s, unsigned int cpu)
{
	lockdep_assert_held(&kt_session_lock);
	plan_make(s, cpu);
}

/**
 * kt_want_plan_fits() - check whether the plan is one for another CPU, too
 * @s: the session of kt_want_plan()
 * @cpu: the other CPU
 *
 * Context: process context with kt_session_lock.
 * Return: true if kt_want_apply() may be called on @cpu.
 */
bool kt_want_plan_fits(const struct kt_session *s, unsigned int cpu)
{
	return kt_session_records_on(s, cpu) == plan.here &&
	       ways_are(&plan.from, per_cpu_ptr(kt_cpus, cpu));
}

/**
 * kt_want_apply() - give a CPU the ways of the plan
 * @s: the session of kt_want_plan(); nothing happens if it has no rings on @cpu.  NULL: the
 *	plan sets the bits of no session anew
 * @cpu: the CPU, which the plan fits
 *
 * Context: process context with kt_session_lock, or on @cpu in an interrupt that its holder
 * waits for.
 */
void kt_want_apply(const struct kt_session *s, unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);
	unsigned int i;

	if (s && !kt_session_ring(s, cpu, 0))
		return;
	/*
	 * A writer that sees a want bit must see the ring pointers.  Pairs with
	 * the address dependencies from want bits to the pointer in kt_event(),
	 * kt_put() and kt_event_record().
	 */
	smp_wmb();
	/*
	 * Before the want bits: a mask that is computed from here on has the session.  That
	 * of before was closed by kt_now_forget(), or the CPU is not online.
	 */
	want_add_filters(c);
	for (i = 0; i < plan.nr; i++)
		plan_store(c, plan.opcodes[i]);
	/*
	 * A stop clears the bits of a CPU that goes on meanwhile.  So the records that
	 * name its threads are cleared last: otherwise an event could be recorded
	 * after a switch that is not.  Pairs with the full barrier of a context switch,
	 * between the probes of the switch and those of the incoming thread.
	 */
	smp_wmb();
	plan_store(c, KTAPE_EV_SCHED_SWITCH);
	plan_store(c, KTAPE_EV_CONTEXT);
}

/* Remove the session's former thread filters from a CPU.  Return: true if there were any. */
static bool want_settle(const struct kt_session *s, struct kt_cpu *c)
{
	const u8 others = ~BIT(s->id), own = c->planned & BIT(s->id);
	const u8 selective = (c->selective & others) | own;
	const u8 by_uid = (c->by_uid & others) |
			  want_filters(own, KTAPE_FILTER_UID);
	const u8 by_cgroup = (c->by_cgroup & others) |
			     want_filters(own, KTAPE_FILTER_CGROUP);

	if (selective == c->selective && by_uid == c->by_uid &&
	    by_cgroup == c->by_cgroup)
		return false;
	WRITE_ONCE(c->selective, selective);
	WRITE_ONCE(c->by_uid, by_uid);
	WRITE_ONCE(c->by_cgroup, by_cgroup);
	return true;
}

static void settle_mask(void *unused)
{
	kt_now_renew();
}

/**
 * kt_want_settle() - take former thread filters of a session out of the pass masks
 * @s: the session; a grace period has passed since its want bits changed
 *
 * An event loads its want bits first, then the mask.  If the mask let all threads pass
 * at once when a session stops, an event in between would be recorded whatever the
 * session's filter says.  Until then the session stays in @selective, and switches that
 * record nothing for it may leave a mask of another thread: no event has its want bits.
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_want_settle(const struct kt_session *s)
{
	static struct cpumask changed; /* with kt_session_lock */
	unsigned int cpu;

	lockdep_assert_held(&kt_session_lock);
	cpumask_clear(&changed);
	for_each_possible_cpu(cpu)
		/* A CPU that is not online begins with a new mask: kt_now_prepare(). */
		if (want_settle(s, per_cpu_ptr(kt_cpus, cpu)) && cpu_online(cpu))
			cpumask_set_cpu(cpu, &changed);
	on_each_cpu_mask(&changed, settle_mask, NULL, true);
}

/**
 * kt_want_set() - set and clear the want bits of a session on one CPU
 * @s: the session
 * @cpu: the CPU; nothing happens if it has no rings
 *
 * If a thread filter is no longer in force then, kt_want_settle() has to follow.  That is
 * not so for a CPU that comes online: all changes were stored while it was offline, too.
 *
 * Context: process context with kt_session_lock.
 */
void kt_want_set(const struct kt_session *s, unsigned int cpu)
{
	kt_want_plan(s, cpu);
	kt_want_apply(s, cpu);
}

/**
 * kt_want_set_everywhere() - set and clear the want bits of a session on all CPUs
 * @s: the session
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_want_set_everywhere(const struct kt_session *s)
{
	unsigned int cpu;
	bool planned = false;

	for_each_possible_cpu(cpu) {
		if (!planned || !kt_want_plan_fits(s, cpu))
			kt_want_plan(s, cpu);
		planned = true;
		kt_want_apply(s, cpu);
	}
}

/**
 * kt_want_renew_everywhere() - compute the ways of all events on all CPUs again
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_want_renew_everywhere(void)
{
	unsigned int cpu;

	lockdep_assert_held(&kt_session_lock);
	for_each_possible_cpu(cpu) {
		plan_make(NULL, cpu);
		kt_want_apply(NULL, cpu);
	}
}
