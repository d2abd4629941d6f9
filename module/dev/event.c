// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls about single events: whether they can be recorded, filters,
 * triggers, probes at run time, and what recording costs.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "event/event.h"
#include "probes/probes.h"
#include "internal.h"

/* ---- availability and cost --------------------------------------------------- */

static const char *const event_reasons[] = {
	[KTAPE_EVENT_UNKNOWN] = "no such event",
	[KTAPE_EVENT_AVAILABLE] = "",
	[KTAPE_EVENT_NO_TRACEPOINT] = "the kernel has no such tracepoint",
	[KTAPE_EVENT_PROTOTYPE] = "the tracepoint has an unknown prototype",
	[KTAPE_EVENT_NO_CONFIG] = "the kernel was built without tracepoints",
	[KTAPE_EVENT_FAILED] = "the probe could not be attached",
	[KTAPE_EVENT_FREE_SLOT] = "a free slot: add a probe to it",
	[KTAPE_EVENT_GONE] = "the probed function's module was unloaded",
	[KTAPE_EVENT_LAYOUT] =
		"the kernel's functions are elsewhere than expected, or unnamed",
	/* KTAPE_EVENT_RIGHTS: log_event_info() sets state and reason. */
};

/*
 * Say whether a session may record the kernel's log, and which restrictions there are.
 * Session 0 never may, but its descriptor is asked what a session of the caller's could.
 */
static void log_event_info(const struct kt_session *s, struct ktape_event_info *e)
{
	const char *reason = "the session was not made for the kernel's log";

	if (s->log) {
		reason = KT_NMI_CONSOLE_WARNS ?
				 "on this kernel, a backtrace in an NMI causes a WARN" :
				 "";
	} else if (s->id || !kt_dev_reads_log()) {
		e->state = KTAPE_EVENT_RIGHTS;
		if (!kt_dev_reads_log())
			reason = "reading the kernel's log needs CAP_SYSLOG";
	} else {
		reason = KT_NMI_CONSOLE_WARNS ?
				 "only in sessions made for it; an NMI backtrace WARNs then" :
				 "only in sessions made for it";
	}
	strscpy(e->reason, reason, sizeof(e->reason));
}

static const char *event_reason(u32 opcode, u32 state)
{
	if (state == KTAPE_EVENT_NO_CONFIG && kt_kprobe_is_slot(opcode))
		return "the kernel was built without kprobes";
	if (state == KTAPE_EVENT_NO_CONFIG && opcode == KTAPE_EV_KERNEL_STACK)
		return "the kernel was built without call stacks";
	return event_reasons[state];
}

/**
 * kt_ioctl_event_info() - return whether an event can be recorded
 * @file: the descriptor
 * @arg: struct ktape_event_info; filled
 *
 * Context: process context, may sleep.
 * Return: 0, also if no event has the opcode: then the state says so; -EINVAL; -ENOENT: the
 * event has no such source.
 */
long kt_ioctl_event_info(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_event_info *e = &arg->event_info;
	bool attached;
	u32 opcode = e->opcode;

	if (opcode >= KTAPE_OPCODES || e->state || e->error || e->attached ||
	    memchr_inv(e->reason, 0, sizeof(e->reason)) ||
	    memchr_inv(e->name, 0, sizeof(e->name)))
		return -EINVAL;
	opcode = array_index_nospec(opcode, KTAPE_OPCODES);
	e->state = KTAPE_EVENT_UNKNOWN;
	if (e->source) {
		if (!kt_probe_source(opcode, e))
			return -ENOENT;
	} else if (kt_event_opcode_exists(opcode) || opcode == KTAPE_TIME_EXTEND) {
		e->state = kt_probe_state(opcode, &e->error, &attached);
		e->attached = attached;
	}
	strscpy(e->reason, event_reason(opcode, e->state), sizeof(e->reason));
	if (opcode == KTAPE_EV_CONSOLE && !e->source &&
	    e->state == KTAPE_EVENT_AVAILABLE)
		log_event_info(kt_file_of(file)->session, e);
	return 0;
}

/**
 * kt_ioctl_cost() - return what recording costs on one CPU
 * @file: the descriptor
 * @arg: struct ktape_cost; filled
 *
 * Context: process context.
 * Return: 0; -EINVAL; -ENXIO: no such CPU.
 */
long kt_ioctl_cost(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_cost *c = &arg->cost;

	if (c->flags || c->reserved)
		return -EINVAL;
	if (c->cpu >= nr_cpu_ids || !cpu_possible(c->cpu))
		return -ENXIO;
	c->cpu = array_index_nospec(c->cpu, nr_cpu_ids);
	kt_cost_read(c);
	return 0;
}

/* ---- filters ----------------------------------------------------------------- */

static int filter_ioctl_set(struct kt_session *s, const struct ktape_filter *f)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[f->kind];
	void *entries = NULL;
	int ret;

	if (f->nr > kind->max)
		return -EINVAL;
	if (f->nr) {
		entries = vmemdup_user(u64_to_user_ptr(f->entries),
				       array_size(f->nr, kind->size));
		if (IS_ERR(entries))
			return PTR_ERR(entries);
	}
	ret = kt_session_filter_set(s, f->kind, entries, f->nr);
	kvfree(entries);
	return ret;
}

static int filter_ioctl_get(struct kt_session *s, struct ktape_filter *f)
{
	const struct kt_filter_kind *kind = &kt_filter_kinds[f->kind];
	u32 room = f->nr;
	void *entries;
	int ret;

	entries = kvcalloc(kind->max, kind->get_size, GFP_KERNEL);
	if (!entries)
		return -ENOMEM;
	ret = kt_session_filter_get(s, f, entries);
	if (!ret && copy_to_user(u64_to_user_ptr(f->entries), entries,
				 array_size(min(room, f->nr), kind->get_size)))
		ret = -EFAULT;
	kvfree(entries);
	return ret;
}

/**
 * kt_ioctl_filter() - get, set or turn off a filter
 * @file: the descriptor
 * @arg: struct ktape_filter; filled with the filter in force
 *
 * Context: process context, may sleep.
 * Return: 0; -EPERM, -EINVAL, -EFAULT, -ENOMEM; -ENODEV: the session has ended; see
 * uapi/ktape/filter.h.
 */
long kt_ioctl_filter(struct file *file, union kt_ioctl_arg *arg)
{
	struct kt_session *s = kt_file_of(file)->session;
	struct ktape_filter *f = &arg->filter;
	int ret;

	if (f->op != KTAPE_FILTER_GET && !kt_dev_may_control(file))
		return -EPERM;
	if (f->op > KTAPE_FILTER_OFF || f->kind >= KTAPE_FILTER_KINDS ||
	    f->active || f->generation || f->collisions ||
	    (f->op == KTAPE_FILTER_OFF && (f->nr || f->entries)))
		return -EINVAL;
	f->kind = array_index_nospec(f->kind, KTAPE_FILTER_KINDS);
	if (f->op == KTAPE_FILTER_GET)
		return filter_ioctl_get(s, f);
	if (f->op == KTAPE_FILTER_SET)
		ret = filter_ioctl_set(s, f);
	else
		ret = kt_session_filter_off(s, f->kind);
	if (!ret)
		kt_session_filter_get(s, f, NULL);
	return ret;
}

/* ---- triggers ---------------------------------------------------------------- */

#define ACTIONS_ON_TARGET \
	(KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | KTAPE_TRIGGER_PROFILE)
#define ACTIONS_ALL                                                      \
	(KTAPE_TRIGGER_MARK | KTAPE_TRIGGER_START | KTAPE_TRIGGER_STOP | \
	 KTAPE_TRIGGER_SNAPSHOT | KTAPE_TRIGGER_PROFILE | KTAPE_TRIGGER_NOTIFY)

/* Is the part of the record that is compared within its word, or in two words that exist? */
static bool trigger_compare_ok(const struct ktape_trigger_compare *c)
{
	unsigned int room = c->word == KTAPE_COMPARE_DAT20 ? 20 : 32;

	if (c->word > KTAPE_COMPARE_DAT20 || !c->width ||
	    (c->op & ~KTAPE_COMPARE_SIGNED) >= KTAPE_COMPARE_OPS)
		return false;
	/* The value is in this argument word and the next one, which has to exist. */
	if (c->width == 64)
		return !c->shift && c->word < KTAPE_COMPARE_DAT20 - 1;
	return c->shift + c->width <= room;
}

static bool trigger_compares_ok(const struct ktape_trigger *t)
{
	u32 i;

	if (t->nr_compares > KTAPE_TRIGGER_COMPARES)
		return false;
	for (i = 0; i < t->nr_compares; i++)
		if (!trigger_compare_ok(&t->compare[i]))
			return false;
	return !memchr_inv(&t->compare[i], 0,
			   sizeof(t->compare) - i * sizeof(t->compare[0]));
}

/*
 * Check when a trigger fires.  LONGER waits for a pair of events and is named by the pair's span,
 * the event that a gate filter records for it.  EVENT and QUIET wait for an event that a profile
 * can enable; those with opcodes below KTAPE_OP_EXCEPTION are control records.
 */
static bool trigger_condition_ok(const struct ktape_trigger *t)
{
	bool timed = t->when != KTAPE_TRIGGER_EVENT;

	if (t->when > KTAPE_TRIGGER_QUIET || !trigger_compares_ok(t))
		return false;
	if (t->when == KTAPE_TRIGGER_LONGER) {
		if (kt_trigger_gate_of(t->opcode) < 0)
			return false;
	} else if (t->opcode < KTAPE_OP_EXCEPTION ||
		   !kt_event_opcode_exists(t->opcode) ||
		   kt_session_is_implied(t->opcode)) {
		return false;
	}
	if (t->when == KTAPE_TRIGGER_QUIET &&
	    (t->nth || t->duration_ns < KTAPE_TRIGGER_QUIET_MIN))
		return false;
	/* Matches and firings are counted in an atomic_t. */
	return t->duration_ns <= KTAPE_TRIGGER_NS_MAX &&
	       timed == !!t->duration_ns && t->nth <= S32_MAX &&
	       t->limit <= S32_MAX;
}

/* Check the members that actions use.  Members that no action uses must be zero. */
static bool trigger_actions_ok(const struct ktape_trigger *t)
{
	if (t->actions & ~ACTIONS_ALL)
		return false;
	if (t->actions & KTAPE_TRIGGER_START && t->actions & KTAPE_TRIGGER_STOP)
		return false;
	if (!(t->actions & KTAPE_TRIGGER_MARK) && t->mark)
		return false;
	if (t->actions & ACTIONS_ON_TARGET ?
		    t->target != KTAPE_TRIGGER_SELF && t->target >= KT_SESSIONS :
		    t->target)
		return false;
	if (!(t->actions & KTAPE_TRIGGER_NOTIFY) && t->eventfd)
		return false;
	if (t->actions & KTAPE_TRIGGER_SNAPSHOT ?
		    t->before_ns > KTAPE_TRIGGER_NS_MAX ||
			    t->after_ns > KTAPE_TRIGGER_NS_MAX :
		    t->before_ns || t->after_ns)
		return false;
	if (t->actions & KTAPE_TRIGGER_PROFILE)
		return kt_session_mask_ok(t->mask);
	return !memchr_inv(t->mask, 0, sizeof(t->mask));
}

static bool trigger_results_are_zero(const struct ktape_trigger *t)
{
	return !t->matches && !t->fired && !t->flags && !t->missed &&
	       !t->last && !t->held_ns;
}

static long trigger_ioctl_add(struct kt_session *s, struct ktape_trigger *t)
{
	struct eventfd_ctx *notify = NULL;
	long ret;

	if (t->id || !trigger_results_are_zero(t) || !trigger_condition_ok(t) ||
	    !trigger_actions_ok(t))
		return -EINVAL;
	/* An inherited descriptor must not control other sessions. */
	if (t->actions & ACTIONS_ON_TARGET && t->target != KTAPE_TRIGGER_SELF) {
		ret = kt_dev_allowed();
		if (ret)
			return ret;
	}
	if (t->actions & KTAPE_TRIGGER_NOTIFY) {
		notify = eventfd_ctx_fdget(t->eventfd);
		if (IS_ERR(notify))
			return PTR_ERR(notify);
	}
	ret = kt_session_trigger_add(s, t, notify);
	if (ret && notify)
		eventfd_ctx_put(notify);
	return ret;
}

/**
 * kt_ioctl_trigger() - get, add or remove a trigger
 * @file: the descriptor
 * @arg: struct ktape_trigger; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL; -EPERM; -ENODEV: ADD, and the session has ended; others are in
 * uapi/ktape/trigger.h.
 */
long kt_ioctl_trigger(struct file *file, union kt_ioctl_arg *arg)
{
	struct kt_session *s = kt_file_of(file)->session;
	struct ktape_trigger *t = &arg->trigger;
	const struct ktape_trigger bare = {
		.size = t->size,
		.op = t->op,
		.id = t->id,
	};

	if (t->op != KTAPE_TRIGGER_GET && !kt_dev_may_control(file))
		return -EPERM;
	if (t->op == KTAPE_TRIGGER_ADD)
		return trigger_ioctl_add(s, t);
	if (memcmp(t, &bare, sizeof(bare)) || t->id >= KTAPE_TRIGGERS)
		return -EINVAL;
	if (t->op == KTAPE_TRIGGER_GET)
		return kt_session_trigger_get(s, t);
	if (t->op == KTAPE_TRIGGER_REMOVE)
		return kt_session_trigger_remove(s, t->id);
	return -EINVAL;
}

/* ---- probes at run time ------------------------------------------------------ */

static long probe_ioctl_add(struct ktape_probe *p)
{
	/* As for kprobes of tracefs and perf. */
	int ret = security_locked_down(LOCKDOWN_KPROBES);

	return ret ?: kt_kprobe_add(p);
}

/* Return true if @p names a slot and all other members are zero. */
static bool probe_names_slot_only(const struct ktape_probe *p)
{
	return kt_kprobe_is_slot(p->opcode) && !p->flags && !p->nargs &&
	       !p->reserved && !p->offset && !p->hits && !p->missed &&
	       !memchr_inv(p->symbol, 0, sizeof(p->symbol));
}

/**
 * kt_ioctl_probe() - get, add or remove a probe at run time
 * @file: the descriptor
 * @arg: struct ktape_probe; filled
 *
 * Context: process context, may sleep.
 * Return: 0; -EPERM; see uapi/ktape/filter.h.
 */
long kt_ioctl_probe(struct file *file, union kt_ioctl_arg *arg)
{
	struct ktape_probe *p = &arg->probe;

	if (p->op != KTAPE_PROBE_GET) {
		if (!kt_dev_may_control(file))
			return -EPERM;
		/* Probes belong to all sessions: the descriptor is not enough. */
		if (!perfmon_capable())
			return -EPERM;
	}
	if (p->op == KTAPE_PROBE_ADD)
		return probe_ioctl_add(p);
	if (p->op > KTAPE_PROBE_REMOVE || !probe_names_slot_only(p))
		return -EINVAL;
	return p->op == KTAPE_PROBE_GET ? kt_kprobe_get(p) :
					  kt_session_remove_probe(p->opcode);
}
