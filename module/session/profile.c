// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sessions record: profiles, and the probes that are attached for them.  Probes
 * read only the want bits to find out which sessions record their event
 * (event/event.h); these are set in want.c.
 *
 * An event is switched on in this order: probe, want bits, synchronize_rcu(),
 * on-marker; and off in this order: off-marker, want bits, synchronize_rcu(), probe.  So
 * the event is wanted on all CPUs all the time between its two markers.
 *
 * Probes are attached and detached with kt_session_control held and none of the
 * inner locks, because the kernel takes the CPU hotplug lock inside.
 */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#ifdef KT_HAVE_HEX
#include <linux/hex.h>
#endif

#include "emit/emit.h"
#include "event/event.h"
#include "filter/filter.h"
#include "names/names.h"
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

/**
 * kt_session_want() - apply the profile and filters of a session on all CPUs
 * @s: the session, which records; the probes that it may want are attached
 * @former: the filters that were in force before, for the CPUs that they include
 *
 * Context: process context with cpus_read_lock() and kt_session_lock.
 */
void kt_session_want(struct kt_session *s, const struct kt_filters *former)
{
	const bool blind = s->flags & KTAPE_PROFILE_NO_CONTEXT &&
			   !kt_session_sees_switches(s);

	kt_session_set_shedding(s);
	/*
	 * The task in a block's header is valid only while every switch is
	 * recorded or context records are.  So headers stop naming a task before
	 * the first CPU changes, and start again after the last CPU changed.
	 */
	if (blind)
		WRITE_ONCE(s->owner.no_context, true);
	kt_control_want(s, former);
	if (!blind)
		WRITE_ONCE(s->owner.no_context, false);
}

/**
 * kt_session_probes() - attach the probes that sessions, and sinks of modules, want
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
			if (kt_session_wants(kt_sessions[i], j))
				kt_mask_set(mask, j);
	}
	for (i = 0; i < KTAPE_MASK_WORDS; i++)
		mask[i] |= READ_ONCE(kt_sink_mask[i]) | (extra ? extra[i] : 0);
	if (memchr_inv(mask, 0, sizeof(mask)))
		kt_symbols_make_room();
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
void kt_session_prepare(const struct kt_session *s, const u64 *mask, u64 *recordable)
{
	u64 extra[KTAPE_MASK_WORDS];

	memcpy(extra, mask, sizeof(extra));
	kt_mask_set(extra, KTAPE_EV_CONTEXT);
	if (!kt_session_may_want(s, KTAPE_EV_CONSOLE))
		kt_mask_clear(extra, KTAPE_EV_CONSOLE);
	kt_session_probes(extra);
	memcpy(recordable, mask, sizeof(extra));
	kt_probe_drop_unavailable(recordable);
	/* Without the right it at most counts lines of the log: no marker names the event. */
	if (!s->log)
		kt_mask_clear(recordable, KTAPE_EV_CONSOLE);
}

/**
 * kt_session_sinks() - apply a change of the events that sinks want
 *
 * Context: process context, may sleep.
 */
void kt_session_sinks(void)
{
	kt_session_enter_any();
	kt_session_lock_both();
	kt_want_renew_everywhere();
	kt_session_unlock_both();
	kt_session_probes(NULL);
	kt_session_leave();
}

/*
 * Change the profile and write the markers of the change.  Called with
 * kt_session_control.
 */
static void profile_change(struct kt_session *s, const u64 *mask, u32 flags)
{
	u64 added = 0, removed = 0, recordable[KTAPE_MASK_WORDS];
	u64 failed[KTAPE_MASK_WORDS];
	unsigned int i;

	for (i = 0; i < KTAPE_MASK_WORDS; i++) {
		added |= mask[i] & ~s->mask[i];
		removed |= s->mask[i] & ~mask[i];
	}
	if (s->running) {
		/* Before kt_session_prepare(), which may attach what could not be attached so far. */
		kt_probe_failed(failed);
		kt_session_prepare(s, mask, recordable);
	}
	kt_session_lock_both();
	WRITE_ONCE(s->owner.generation, s->owner.generation + 1);
	if (s->running && removed)
		kt_control_profile(s, KTAPE_PHASE_OFF, mask);
	memcpy(s->mask, mask, sizeof(s->mask));
	s->flags = flags;
	if (s->running) {
		/* Under the lock: a CPU that comes online records s->recordable. */
		memcpy(s->recordable, recordable, sizeof(s->recordable));
		kt_session_missed_extend(s, recordable);
		/* Pairs of a gate or trigger that are open now began with the former profile. */
		if (added || removed)
			kt_session_forget_pairs(s);
		kt_session_want(s, kt_session_filters(s));
		kt_session_synchronize(s);
		/* After the grace period: nothing more is missed of what was removed. */
		kt_session_missed_record(s, failed);
		memcpy(s->counted, recordable, sizeof(s->counted));
		if (added || removed)
			kt_session_forget_pairs(s);
		if (added)
			kt_control_profile(s, KTAPE_PHASE_ON, s->recordable);
	}
	kt_session_unlock_both();
	if (s->running)
		kt_session_probes(NULL);
}

/**
 * kt_session_profile_locked() - set the profile with kt_session_control held
 * @s: the session, not busy; may be busy meanwhile
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
 * Return: 0; -ENODEV: a change, and the session has ended.
 */
int kt_session_profile(struct kt_session *s, struct ktape_profile *p)
{
	u64 mask[KTAPE_MASK_WORDS];
	unsigned int i;

	kt_session_enter(s);
	if (p->op != KTAPE_PROFILE_GET && s->gone) {
		kt_session_leave();
		return -ENODEV;
	}
	/* GET does not use the mask. */
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
			       p->op == KTAPE_PROFILE_SET ? p->flags : s->flags);
	}
	p->flags = s->flags;
	p->generation = s->owner.generation;
	memcpy(p->mask, s->mask, sizeof(p->mask));
	kt_session_leave();
	return 0;
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
	kt_session_enter_any();
	for (i = 0; i < KT_SESSIONS; i++)
		if (kt_sessions[i] && kt_mask_has(kt_sessions[i]->mask, opcode))
			ret = -EBUSY;
	if (!ret)
		ret = kt_kprobe_remove(opcode);
	kt_session_leave();
	return ret;
}

/**
 * kt_session_parse_profile() - parse the profile of a module parameter
 * @text: none, default, all, or up to 64 hexadecimal digits, perhaps after 0x.  Neither all nor
 *	default has the events of @on_request and of run-time probes
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
			    (all || (def && BIT(kt_event_class(i)) & in_default)))
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
