// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sessions record: profiles, want bits and routes of all CPUs, and the
 * probes that are attached for them.  Probes read only the want bytes to find out
 * which sessions record their event (event/event.h).
 *
 * An event is switched on in this order: probe, want bits, synchronize_rcu(),
 * on-marker; and off in the reverse order, with the off-marker first.
 *
 * Probes are attached and detached with kt_session_control held and none of the
 * inner locks, because the kernel takes the CPU hotplug lock inside.
 */
#include <linux/cpu.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#ifdef KT_HAVE_HEX
#include <linux/hex.h>
#endif

#include "emit/emit.h"
#include "event/event.h"
#include "filter/filter.h"
#include "probes/probes.h"
#include "internal.h"

/**
 * kt_session_mask_ok() - check that all bits of a mask are events that exist
 * @mask: bit n is opcode n
 *
 * Context: any.
 * Return: true if they are.
 */
bool kt_session_mask_ok(const u64 *mask)
{
	unsigned int i;

	for (i = 0; i < KTAPE_OPCODES; i++)
		if (kt_mask_has(mask, i) && !kt_event_opcode_exists(i))
			return false;
	return true;
}

/* Events that are recorded with other events and have no bit in profiles. */
static const u8 implied[] = {
#define KTAPE_IMPLIED(NAME) KTAPE_EV_##NAME,
#include <ktape/events.h>
};

/**
 * kt_session_is_implied() - check whether an event has no bit in profiles
 * @opcode: the event
 *
 * Context: any.
 * Return: true if it is only recorded together with other events.
 */
bool kt_session_is_implied(unsigned int opcode)
{
	return memchr(implied, opcode, sizeof(implied));
}

/* Events that no preset contains, because they are frequent or large. */
static const u8 on_request[] = {
#define KTAPE_ON_REQUEST(NAME) KTAPE_EV_##NAME,
#include <ktape/events.h>
};

/**
 * kt_mask_normalise() - add and remove the events a profile must or cannot have
 * @mask: profile, bit n is opcode n
 *
 * Control events are always recorded, implied events have no bit, and the wide
 * form of a system call event replaces the fast form.
 *
 * Context: any.
 */
void kt_mask_normalise(u64 *mask)
{
	unsigned int i;

	for (i = KTAPE_OP_CONTROL; i < KTAPE_OP_EXCEPTION; i++)
		if (kt_event_opcode_exists(i))
			kt_mask_set(mask, i);
	for (i = 0; i < ARRAY_SIZE(implied); i++)
		kt_mask_clear(mask, implied[i]);
	if (kt_mask_has(mask, KTAPE_EV_SYS_ENTER_WIDE))
		kt_mask_clear(mask, KTAPE_EV_SYS_ENTER);
	if (kt_mask_has(mask, KTAPE_EV_SYS_EXIT_WIDE))
		kt_mask_clear(mask, KTAPE_EV_SYS_EXIT);
}

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

/* Return true if the session records every switch, so that readers know the task. */
static bool session_sees_switches(const struct kt_session *s)
{
	return kt_mask_has(s->mask, KTAPE_EV_SCHED_SWITCH) &&
	       !session_filters_event(s->id, KTAPE_EV_SCHED_SWITCH);
}

/*
 * Context records tell readers which task runs when the session does not record
 * every sched_switch.  They are wanted if the session records anything into its
 * event rings, unless the profile omits them.
 */
static bool session_wants_context(const struct kt_session *s)
{
	unsigned int i;

	if (session_sees_switches(s) || (s->flags & KTAPE_PROFILE_NO_CONTEXT))
		return false;
	for (i = KTAPE_OP_EXCEPTION + 1; i < KTAPE_OPCODES; i++)
		if (kt_mask_has(s->mask, i))
			return true;
	return false;
}

/* A session without the right only counts lines of the log, where that does no harm. */
static bool session_may_want(const struct kt_session *s, unsigned int opcode)
{
	return opcode != KTAPE_EV_CONSOLE || s->log || !KT_NMI_CONSOLE_WARNS;
}

/* Return true if the session wants an event, on CPUs that its CPU filter includes. */
static bool session_wants(const struct kt_session *s, unsigned int opcode)
{
	if (!s->active)
		return false;
	if (opcode == KTAPE_EV_CONTEXT)
		return session_wants_context(s);
	if (!session_may_want(s, opcode))
		return false;
	return kt_mask_has(s->mask, opcode);
}

/**
 * kt_session_records_on() - check the CPU filter of a session
 * @s: the session
 * @cpu: the CPU
 *
 * Context: as kt_want_set().
 * Return: true if there is no CPU filter or if it includes @cpu.
 */
bool kt_session_records_on(const struct kt_session *s, unsigned int cpu)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[s->id]);

	return !f || !kt_filter_in_force(f, KTAPE_FILTER_CPU) ||
	       test_bit(cpu, f->cpus);
}

/*
 * Return true if the session needs an event also on CPUs that its CPU filter
 * excludes.  Names: a thread may be created on one CPU and run on another.  Pairs
 * with a gate or a trigger: a thread may migrate between begin and end.
 */
static bool session_wants_on_all_cpus(const struct kt_session *s,
				      unsigned int opcode)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[s->id]);

	return opcode == KTAPE_EV_REGISTRY ||
	       kt_triggers_pair(rcu_dereference_raw(kt_triggers[s->id]),
				opcode) ||
	       (f && kt_filter_in_force(f, KTAPE_FILTER_GATE) &&
		kt_gates_have(f->gates, opcode));
}

/* Return true if a trigger of the session compares an event. */
static bool session_triggers_on(unsigned int session, unsigned int opcode)
{
	const struct kt_triggers *t = rcu_dereference_raw(kt_triggers[session]);

	return t && kt_triggers_look_at(t, opcode);
}

/*
 * Return true if switches keep the verdict of the session's thread filters up to
 * date on a CPU: the probe of sched_switch is attached for it, and it is told when
 * threads get another cgroup.
 */
static bool session_is_selective(const struct kt_session *s, unsigned int cpu)
{
	const struct kt_filters *f = rcu_dereference_raw(kt_filters[s->id]);

	return f && f->kinds & KT_THREAD_KINDS &&
	       (!kt_filter_in_force(f, KTAPE_FILTER_CGROUP) ||
		kt_probe_tells_cgroups()) &&
	       kt_session_records_on(s, cpu) &&
	       (session_wants(s, KTAPE_EV_SCHED_SWITCH) ||
		session_wants(s, KTAPE_EV_CONTEXT));
}

/* Return true if one of some sessions has a filter of a kind. */
static bool want_filters(unsigned long sessions, unsigned int kind)
{
	const struct kt_filters *f;

	for (; sessions; sessions &= sessions - 1) {
		f = rcu_dereference_raw(kt_filters[__ffs(sessions)]);
		if (f && kt_filter_in_force(f, kind))
			return true;
	}
	return false;
}

/*
 * Return kt_cpu.brief of an event.  sched_blocked is recorded after the switch,
 * but is about the outgoing thread.
 */
static u32 want_brief(const struct kt_cpu *c, unsigned int opcode)
{
	unsigned long left = c->want[opcode];
	const struct kt_filters *f;
	u32 brief = left;

	if (kt_sink_wants(opcode))
		return 0;
	for (; left; left &= left - 1) {
		f = rcu_dereference_raw(kt_filters[__ffs(left)]);
		if (session_triggers_on(__ffs(left), opcode) ||
		    (f && kt_mask_has(f->beyond, opcode)))
			return 0;
		if (!f || !kt_mask_has(f->applies, opcode))
			continue;
		if (!(c->selective & BIT(__ffs(left))) ||
		    opcode == KTAPE_EV_SCHED_BLOCKED)
			return 0;
		brief |= KT_JUDGED;
		if (kt_filter_in_force(f, KTAPE_FILTER_UID))
			brief |= KT_VERDICT_VARIES;
	}
	return brief;
}

/*
 * Return the route of sched_switch.  Its records also keep the verdicts of thread
 * filters up to date, and context records take their place.
 */
static u8 want_switch_route(const struct kt_cpu *c, u8 want, u32 brief,
			    u8 route)
{
	const u8 contexts = c->want[KTAPE_EV_CONTEXT];

	if (c->selective == want && is_power_of_2(want) &&
	    brief == (want | KT_JUDGED) && !(contexts & ~want))
		return KT_ROUTE_SWITCH + __ffs(want);
	if (!want && !c->selective && !kt_sink_wants(KTAPE_EV_SCHED_SWITCH))
		return KT_ROUTE_TELL;
	if (contexts || c->selective)
		return KT_ROUTE_MANY;
	if (want && brief == want && !is_power_of_2(want))
		return KT_ROUTE_IN;
	return route;
}

/*
 * Set the route of an event on one CPU: that of the only session that wants it, if
 * kt_event() may write the record there without further checks, or with no other
 * check than that of a pid or cgroup filter, which closes the route for threads that
 * do not pass; otherwise KT_ROUTE_MANY.
 */
static void want_set_route(struct kt_cpu *c, unsigned int opcode)
{
	u32 brief = want_brief(c, opcode);
	u8 want = c->want[opcode], route = KT_ROUTE_MANY;

	if (is_power_of_2(want) && brief == want)
		route = __ffs(want);
	else if (is_power_of_2(want) && brief == (want | KT_JUDGED))
		route = KT_ROUTE_JUDGED + __ffs(want);
	if (opcode == KTAPE_EV_SCHED_SWITCH)
		route = want_switch_route(c, want, brief, route);
	if (c->brief[opcode] != brief)
		WRITE_ONCE(c->brief[opcode], brief);
	if (c->route[opcode] != route)
		WRITE_ONCE(c->route[opcode], route);
}

/* Set or clear the want bit of a session on one CPU for one event, and its way. */
static void want_set_event(const struct kt_session *s, struct kt_cpu *c,
			   unsigned int opcode, bool here)
{
	u8 old = READ_ONCE(c->want[opcode]), new;

	if (session_wants(s, opcode) &&
	    (here || session_wants_on_all_cpus(s, opcode)))
		new = old | BIT(s->id);
	else
		new = old & ~BIT(s->id);
	if (new != old)
		WRITE_ONCE(c->want[opcode], new);
	want_set_route(c, opcode);
}

/* The ways of the session's events depend on this. */
static void want_set_selective(const struct kt_session *s, unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);

	if (session_is_selective(s, cpu))
		WRITE_ONCE(c->selective, c->selective | BIT(s->id));
	else
		WRITE_ONCE(c->selective, c->selective & ~BIT(s->id));
}

/* Set what a switch needs to know.  It has its ways for all sessions' filters. */
static void want_set_switch(struct kt_cpu *c)
{
	const u8 want = c->want[KTAPE_EV_SCHED_SWITCH];
	const u8 contexts = c->want[KTAPE_EV_CONTEXT];
	u32 only = is_power_of_2(want) ? __ffs(want) : KT_ROUTE_MANY;
	u32 watch = want | contexts;

	want_set_route(c, KTAPE_EV_SCHED_SWITCH);
	/* Context records of all switches, or a session that records none. */
	if (contexts & ~c->selective || c->selective & ~want)
		watch |= KT_WATCH_SLOW;
	if (kt_sink_wants(KTAPE_EV_SCHED_SWITCH) ||
	    (want && !c->brief[KTAPE_EV_SCHED_SWITCH]))
		watch |= KT_WATCH_SLOW;
	if (want_filters(c->selective, KTAPE_FILTER_UID))
		watch |= KT_VERDICT_VARIES;
	if (want_filters(c->selective, KTAPE_FILTER_CGROUP))
		watch |= KT_WATCH_CGROUPS;
	WRITE_ONCE(c->switch_session, only);
	WRITE_ONCE(c->watch, watch);
}

static void want_set_all_of(struct kt_cpu *c)
{
	unsigned int i;

	for (i = 0; i < KTAPE_OPCODES; i++)
		want_set_route(c, i);
	want_set_switch(c);
}

/**
 * kt_want_set() - set and clear the want bits of a session on one CPU
 * @s: the session
 * @cpu: the CPU; nothing happens if it has no rings
 *
 * Context: process context with kt_session_lock, or an interrupt that the holder
 * of kt_session_lock waits for.
 */
void kt_want_set(const struct kt_session *s, unsigned int cpu)
{
	struct kt_cpu *c = per_cpu_ptr(kt_cpus, cpu);
	bool here = kt_session_records_on(s, cpu);
	unsigned int i;

	if (!kt_session_ring(s, cpu, 0))
		return;
	/*
	 * A writer that sees a want bit or a route must see the ring pointers.
	 * Pairs with the address dependencies from want bit and route to the
	 * pointer in kt_event() and kt_event_record().
	 */
	smp_wmb();
	if (s->active)
		want_set_selective(s, cpu);
	for (i = 0; i < KTAPE_OPCODES; i++) {
		if (i != KTAPE_EV_SCHED_SWITCH && i != KTAPE_EV_CONTEXT)
			want_set_event(s, c, i, here);
	}
	/*
	 * A stop clears the bits of a CPU that goes on meanwhile, so what tells its
	 * threads apart is cleared last: no event is recorded after a switch that
	 * is not.  Pairs with the full barrier of a context switch, between the
	 * probes of the switch and those of the incoming thread.
	 */
	smp_wmb();
	want_set_event(s, c, KTAPE_EV_SCHED_SWITCH, here);
	want_set_event(s, c, KTAPE_EV_CONTEXT, here);
	want_set_selective(s, cpu);
	want_set_switch(c);
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

	for_each_possible_cpu(cpu)
		kt_want_set(s, cpu);
}

/**
 * kt_session_want() - apply the profile and filters of a session on all CPUs
 * @s: the session, which records; the probes that it may want are attached
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_session_want(struct kt_session *s)
{
	const bool blind = s->flags & KTAPE_PROFILE_NO_CONTEXT &&
			   !session_sees_switches(s);

	kt_session_sheds(s);
	/*
	 * The task in a block's header is valid only while every switch is
	 * recorded or context records are.  So headers stop naming a task before
	 * the first CPU changes, and start again after the last CPU changed.
	 */
	if (blind)
		WRITE_ONCE(s->owner.no_context, true);
	kt_control_want(s);
	if (!blind)
		WRITE_ONCE(s->owner.no_context, false);
}

/**
 * kt_session_probes() - attach the probes that sessions and sinks want
 * @extra: events that may be wanted soon, bit n is opcode n; or NULL
 *
 * Probes that are no longer wanted are detached later.
 *
 * Context: process context with kt_session_control and none of the inner locks.
 */
void kt_session_probes(const u64 *extra)
{
	u64 mask[KTAPE_MASK_WORDS] = {};
	unsigned int i, j;

	for (i = 0; i < KT_SESSIONS; i++) {
		for (j = 0; kt_sessions[i] && j < KTAPE_OPCODES; j++)
			if (session_wants(kt_sessions[i], j))
				kt_mask_set(mask, j);
	}
	for (i = 0; i < KTAPE_MASK_WORDS; i++)
		mask[i] |= READ_ONCE(kt_sink_mask[i]) | (extra ? extra[i] : 0);
	kt_emit_want(mask);
	/* A probe that cannot be attached shows in the event's state. */
	kt_probe_want(mask);
}

/**
 * kt_session_prepare() - attach the probes of a profile
 * @s: the session
 * @mask: its profile, bit n is opcode n
 * @recordable: out: events of @mask that can be recorded on this kernel, and in @s
 *
 * Context records may be wanted with the profile, so their probe is attached, too.
 *
 * Context: process context with kt_session_control and none of the inner locks.
 */
void kt_session_prepare(const struct kt_session *s, const u64 *mask,
			u64 *recordable)
{
	u64 extra[KTAPE_MASK_WORDS];

	memcpy(extra, mask, sizeof(extra));
	kt_mask_set(extra, KTAPE_EV_CONTEXT);
	if (!session_may_want(s, KTAPE_EV_CONSOLE))
		kt_mask_clear(extra, KTAPE_EV_CONSOLE);
	kt_session_probes(extra);
	memcpy(recordable, mask, sizeof(extra));
	kt_probe_available(recordable);
	if (!s->log)
		kt_mask_clear(recordable, KTAPE_EV_CONSOLE);
}

static void want_set_all_routes(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		want_set_all_of(per_cpu_ptr(kt_cpus, cpu));
}

/**
 * kt_session_sinks() - apply a change of the events that sinks want
 *
 * Context: process context, may sleep.
 */
void kt_session_sinks(void)
{
	mutex_lock(&kt_session_control);
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	want_set_all_routes();
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	kt_session_probes(NULL);
	mutex_unlock(&kt_session_control);
}

/*
 * Change the profile and write the markers of the change.  Called with
 * kt_session_control.
 */
static void profile_change(struct kt_session *s, const u64 *mask, u32 flags)
{
	u64 added = 0, removed = 0, recordable[KTAPE_MASK_WORDS];
	u64 named[KTAPE_MASK_WORDS];
	unsigned int i;

	for (i = 0; i < KTAPE_MASK_WORDS; i++) {
		added |= mask[i] & ~s->mask[i];
		removed |= s->mask[i] & ~mask[i];
	}
	if (s->running)
		kt_session_prepare(s, mask, recordable);
	cpus_read_lock();
	mutex_lock(&kt_session_lock);
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	if (s->running && removed)
		kt_control_profile(s, KTAPE_PHASE_OFF, mask);
	memcpy(s->mask, mask, sizeof(s->mask));
	s->flags = flags;
	if (s->running) {
		/* Under the lock: a CPU that comes online records s->recordable. */
		memcpy(named, s->recordable, sizeof(named));
		memcpy(s->recordable, recordable, sizeof(s->recordable));
		if (added || removed) {
			kt_filters_renew_gates(kt_session_filters(s));
			kt_triggers_renew_gates(kt_session_triggers(s));
		}
		kt_session_want(s);
		synchronize_rcu();
		/* After the grace period: nothing more is missed of what was removed. */
		kt_session_missed_look(s, named, NULL);
		/* As in kt_session_start_locked(): CPUs changed one by one. */
		if (added || removed)
			kt_triggers_renew_gates(kt_session_triggers(s));
		if (added)
			kt_control_profile(s, KTAPE_PHASE_ON, s->recordable);
	}
	mutex_unlock(&kt_session_lock);
	cpus_read_unlock();
	if (s->running)
		kt_session_probes(NULL);
}

/**
 * kt_session_profile_locked() - set the profile with kt_session_control held
 * @s: the session
 * @mask: bit n is opcode n, checked
 *
 * Context: process context with kt_session_control, may sleep.
 */
void kt_session_profile_locked(struct kt_session *s, const u64 *mask)
{
	u64 to[KTAPE_MASK_WORDS];

	memcpy(to, mask, sizeof(to));
	kt_mask_normalise(to);
	profile_change(s, to, s->flags);
}

/**
 * kt_session_profile() - get or change the profile
 * @s: the session
 * @p: in: operation, flags and operand, checked; out: profile in force
 *
 * Context: process context, may sleep.
 */
void kt_session_profile(struct kt_session *s, struct ktape_profile *p)
{
	u64 mask[KTAPE_MASK_WORDS];
	unsigned int i;

	mutex_lock(&kt_session_control);
	for (i = 0; i < KTAPE_MASK_WORDS; i++) {
		if (p->op == KTAPE_PROFILE_SET)
			mask[i] = p->mask[i];
		else if (p->op == KTAPE_PROFILE_OR)
			mask[i] = s->mask[i] | p->mask[i];
		else
			mask[i] = s->mask[i] & ~p->mask[i];
	}
	if (p->op != KTAPE_PROFILE_GET) {
		kt_mask_normalise(mask);
		profile_change(s, mask,
			       p->op == KTAPE_PROFILE_SET ? p->flags :
							    s->flags);
	}
	p->flags = s->flags;
	p->generation = s->owner.generation;
	memcpy(p->mask, s->mask, sizeof(p->mask));
	mutex_unlock(&kt_session_control);
}

/**
 * kt_session_remove_probe() - remove a run-time probe that no profile has
 * @opcode: event of the probe
 *
 * Context: process context, may sleep.
 * Return: 0; -EBUSY: a session has the event in its profile; as
 * kt_kprobe_remove().
 */
int kt_session_remove_probe(unsigned int opcode)
{
	unsigned int i;
	int ret = 0;

	/* Until the probe is removed, no session may add it to its profile. */
	mutex_lock(&kt_session_control);
	for (i = 0; i < KT_SESSIONS; i++)
		if (kt_sessions[i] && kt_mask_has(kt_sessions[i]->mask, opcode))
			ret = -EBUSY;
	if (!ret)
		ret = kt_kprobe_remove(opcode);
	mutex_unlock(&kt_session_control);
	return ret;
}

/**
 * kt_session_parse_profile() - parse the profile of a module parameter
 * @text: none, default, all, or up to 64 hexadecimal digits
 * @mask: filled, bit n is opcode n
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int kt_session_parse_profile(const char *text, u64 *mask)
{
	static const u32 in_default =
		BIT(KTAPE_CLASS_EXCEPTION) | BIT(KTAPE_CLASS_USER) |
		BIT(KTAPE_CLASS_SCHED) | BIT(KTAPE_CLASS_PROCESS) |
		BIT(KTAPE_CLASS_IRQ) | BIT(KTAPE_CLASS_SOFTIRQ);
	bool all = !strcmp(text, "all"), def = !strcmp(text, "default");
	unsigned int i, len;
	int digit;

	memset(mask, 0, KTAPE_MASK_WORDS * sizeof(*mask));
	if (all || def || !strcmp(text, "none")) {
		for (i = 0; i < KTAPE_OPCODES; i++)
			if (kt_event_opcode_exists(i) &&
			    !memchr(on_request, i, sizeof(on_request)) &&
			    i < KTAPE_OP_PROBE &&
			    (all ||
			     (def && BIT(kt_event_class(i)) & in_default)))
				kt_mask_set(mask, i);
		return 0;
	}
	if (text[0] == '0' && (text[1] | 0x20) == 'x')
		text += 2;
	len = strlen(text);
	if (!len || len > KTAPE_OPCODES / 4)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		digit = hex_to_bin(text[len - 1 - i]);
		if (digit < 0)
			return -EINVAL;
		mask[i / 16] |= (u64)digit << (i % 16 * 4);
	}
	return kt_session_mask_ok(mask) ? 0 : -EINVAL;
}
