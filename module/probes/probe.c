// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of all probes: finds their tracepoints by name, attaches the probes
 * whose events a session or sink wants, detaches the others a second later.  A sink is another
 * module that gets events.
 *
 * Attaching and detaching patch the kernel's text and wait for all CPUs.  Detaching
 * late avoids both when a profile turns an event off and soon on again.
 *
 * The callbacks are in the files named after uapi/ktape/events/NAME.h, those for exceptions
 * in exception.c; run-time probes at functions are in kprobe.c.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "event/event.h"
#include "filter/filter.h"
#include "internal.h"
#include "probes.h"

#define DETACH_DELAY HZ

static struct kt_probe *const tables[] = {
	kt_probes_task,	  kt_probes_irq, kt_probes_syscall, kt_probes_timer,
	kt_probes_memory, kt_probes_io,	 kt_probes_system,  kt_probes_exception,
};

/* Protects the rows of tables[] and wanted, the union of all profiles. */
static DEFINE_MUTEX(probe_lock);
static u64 wanted[KTAPE_MASK_WORDS];

#define for_each_probe(p, i)                           \
	for ((i) = 0; (i) < ARRAY_SIZE(tables); (i)++) \
		for ((p) = tables[i]; (p)->name; (p)++)

/* Note since when no session or sink wants a probe.  Called with probe_lock. */
static void probe_note_idle(struct kt_probe *p, bool want)
{
	if (want || !p->attached)
		p->idle = 0;
	else if (!p->idle)
		p->idle = jiffies ?: 1;
}

/* Return the jiffies until an unwanted probe is detached.  Called with probe_lock. */
static unsigned long probe_stays_for(const struct kt_probe *p)
{
	unsigned long since = jiffies - p->idle;

	return since < DETACH_DELAY ? DETACH_DELAY - since : 0;
}

static bool probe_is_wanted(const struct kt_probe *p)
{
	unsigned int i;

	if (p->always)
		return true;
	for (i = 0; i < KT_PROBE_EVENTS && p->events[i]; i++)
		if (wanted[p->events[i] / 64] & BIT_ULL(p->events[i] % 64))
			return true;
	return false;
}

/*
 * Attach a probe, unless it is attached or this kernel has nothing for it: no such tracepoint,
 * or another prototype or layout.
 * Return: 0, also in these cases; else the error, which @p keeps.
 */
static int probe_attach(struct kt_probe *p)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS) || p->attached || !p->tp ||
	    !p->func || p->silent || (p->fits && !p->fits()))
		return 0;
	p->error = p->prepare ? p->prepare() : 0;
	if (p->error)
		return p->error;
	p->error = tracepoint_probe_register_prio(p->tp, p->func, kt_cpus_data(),
						  TRACEPOINT_DEFAULT_PRIO + p->early);
	p->attached = !p->error;
	if (p->attached)
		kt_stack_leave_out(p->tp->iterator);
	return p->error;
}

static void probe_detach(struct kt_probe *p)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS) || !p->attached)
		return;
	tracepoint_probe_unregister(p->tp, p->func, kt_cpus_data());
	p->attached = false;
	p->idle = 0;
}

static void probes_detach_unwanted(struct work_struct *work)
{
	unsigned long again = 0;
	struct kt_probe *p;
	unsigned int i;

	mutex_lock(&probe_lock);
	for_each_probe(p, i) {
		if (!p->idle)
			continue;
		if (probe_stays_for(p))
			again = max(again, probe_stays_for(p));
		else
			probe_detach(p);
	}
	kt_kprobe_drop();
	if (again)
		schedule_delayed_work(to_delayed_work(work), again);
	mutex_unlock(&probe_lock);
}

static DECLARE_DELAYED_WORK(detach_work, probes_detach_unwanted);

static void probe_match_tracepoint(struct tracepoint *tp, void *unused)
{
	struct kt_probe *p;
	unsigned int i;

	for_each_probe(p, i)
		if (!strcmp(p->name, tp->name))
			p->tp = tp;
}

#if defined(CONFIG_MODULES) && defined(CONFIG_TRACEPOINTS)

/*
 * Find a tracepoint in the module that its probe names.  Other modules are not
 * searched: a tracepoint of the same name may have another prototype there.
 */
static struct tracepoint *tracepoint_find_in(const struct module *mod,
					     const char *name)
{
	struct tracepoint *tp;
	unsigned int i;

	for (i = 0; i < mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);
		if (!strcmp(tp->name, name))
			return tp;
	}
	return NULL;
}

/*
 * Attach probes to a module that is loaded, detach them from one that is unloaded.
 *
 * The kernel calls this with its lock of the list of tracepoint modules held, so
 * that lock is outside probe_lock: never (un)register the notifier while holding
 * probe_lock.
 */
static int probe_module_event(struct notifier_block *nb, unsigned long event,
			      void *data)
{
	const struct module *mod = ((struct tp_module *)data)->mod;
	struct tracepoint *tp;
	struct kt_probe *p;
	unsigned int i;

	mutex_lock(&probe_lock);
	for_each_probe(p, i) {
		if (!p->module || strcmp(p->module, mod->name))
			continue;
		tp = tracepoint_find_in(mod, p->name);
		if (event == MODULE_STATE_COMING && tp && !p->tp) {
			p->tp = tp;
			if (probe_is_wanted(p))
				probe_attach(p);
		} else if (event == MODULE_STATE_GOING && tp && p->tp == tp) {
			probe_detach(p);
			p->tp = NULL;
			p->error = 0;
		}
	}
	mutex_unlock(&probe_lock);
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = probe_module_event,
};

/* The kernel reports the modules that are loaded already from within this call. */
static int probes_watch_modules(void)
{
	return register_tracepoint_module_notifier(&module_notifier);
}

/* The kernel reports all loaded modules as going from within this call. */
static void probes_unwatch_modules(void)
{
	unregister_tracepoint_module_notifier(&module_notifier);
}

#else

static int probes_watch_modules(void)
{
	return 0;
}

static void probes_unwatch_modules(void)
{
}

#endif

/**
 * kt_probe_want() - Attach the probes of wanted events, note the others as idle
 * @mask: union of the profiles of all sessions and sinks, bit n is opcode n
 *
 * If a probe cannot be attached, the others still are; kt_probe_state() reports
 * the failed one.
 *
 * Context: process context, may sleep.
 * Return: 0, or the error of the last probe that could not be attached.
 */
int kt_probe_want(const u64 *mask)
{
	struct kt_probe *p;
	unsigned int i;
	int ret = 0;

	mutex_lock(&probe_lock);
	memcpy(wanted, mask, sizeof(wanted));
	for_each_probe(p, i) {
		if (probe_is_wanted(p) && probe_attach(p))
			ret = p->error;
		probe_note_idle(p, probe_is_wanted(p));
	}
	kt_kprobe_want(mask);
	mutex_unlock(&probe_lock);
	/* If the work is queued already, it checks the idle time of each probe. */
	schedule_delayed_work(&detach_work, DETACH_DELAY);
	return ret;
}

static bool probe_records(const struct kt_probe *p, unsigned int opcode)
{
	unsigned int i;

	for (i = 0; i < KT_PROBE_EVENTS && p->events[i]; i++)
		if (p->events[i] == opcode)
			return true;
	return false;
}

static u32 probe_state_of(const struct kt_probe *p)
{
	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		return KTAPE_EVENT_NO_CONFIG;
	if (!p->tp || p->silent)
		return KTAPE_EVENT_NO_TRACEPOINT;
	if (!p->func)
		return KTAPE_EVENT_PROTOTYPE;
	if (p->fits && !p->fits())
		return KTAPE_EVENT_LAYOUT;
	return p->error ? KTAPE_EVENT_FAILED : KTAPE_EVENT_AVAILABLE;
}

/**
 * kt_probe_state() - Say whether an event can be recorded
 * @opcode: opcode of an event that exists
 * @error: receives the negative errno if the state is KTAPE_EVENT_FAILED, else 0
 * @attached: receives whether a probe of the event is attached
 *
 * If several probes record the event, one that is available is enough.  An event
 * without a probe is available.  For a span the state is that of the event that
 * ends its pair.
 *
 * Context: process context, may sleep.
 * Return: enum ktape_event_state.
 */
u32 kt_probe_state(unsigned int opcode, int *error, bool *attached)
{
	/* Programs, modules and notifiers raise exceptions without any probe. */
	bool found = opcode == KTAPE_EV_EXCEPTION;
	u32 state = KTAPE_EVENT_AVAILABLE, this;
	struct kt_probe *p;
	unsigned int i;

	if (kt_kprobe_is_slot(opcode))
		return kt_kprobe_state(opcode, error, attached);
	*error = 0;
	*attached = false;
	if (opcode == KTAPE_EV_KERNEL_STACK && !IS_ENABLED(CONFIG_STACKTRACE))
		return KTAPE_EVENT_NO_CONFIG;
	opcode = kt_gates_end_of(opcode);
	mutex_lock(&probe_lock);
	for_each_probe(p, i) {
		if (!probe_records(p, opcode))
			continue;
		this = probe_state_of(p);
		if (!found || this == KTAPE_EVENT_AVAILABLE) {
			state = this;
			*error = p->error;
		}
		found = true;
		*attached |= p->attached;
	}
	mutex_unlock(&probe_lock);
	return state;
}

/* Sources of exceptions that are notifiers: always available and attached. */
static const char *const exception_notifiers[] = { "die", "panic" };

static bool exception_notifier_source(unsigned int opcode, unsigned int n,
				      struct ktape_event_info *e)
{
	if (opcode != KTAPE_EV_EXCEPTION || n >= ARRAY_SIZE(exception_notifiers))
		return false;
	e->state = KTAPE_EVENT_AVAILABLE;
	e->attached = 1;
	strscpy(e->name, exception_notifiers[n], sizeof(e->name));
	return true;
}

/**
 * kt_probe_source() - Describe one source of an event
 * @opcode: opcode of any event
 * @e: @e->source selects the source, counted from 1; receives state, error,
 *	attached and name
 *
 * Context: process context, may sleep.
 * Return: false if the event has fewer sources, else true.
 */
bool kt_probe_source(unsigned int opcode, struct ktape_event_info *e)
{
	/* Sources to pass over.  What the probes leave of it counts the notifiers. */
	unsigned int n = e->source - 1, i;
	bool found = false;
	struct kt_probe *p;

	mutex_lock(&probe_lock);
	for_each_probe(p, i) {
		if (found || !probe_records(p, opcode) || n--)
			continue;
		found = true;
		e->state = probe_state_of(p);
		e->error = p->error;
		e->attached = p->attached;
		strscpy(e->name, p->name, sizeof(e->name));
	}
	mutex_unlock(&probe_lock);
	return found || exception_notifier_source(opcode, n, e);
}

/**
 * kt_probe_failed() - Say which events lack a source that could not be attached
 * @mask: receives the events, bit n is opcode n
 *
 * Context: process context, may sleep.
 */
void kt_probe_failed(u64 *mask)
{
	struct kt_probe *p;
	unsigned int i, j;

	memset(mask, 0, KTAPE_MASK_WORDS * sizeof(*mask));
	mutex_lock(&probe_lock);
	for_each_probe(p, i)
		for (j = 0; p->error && j < KT_PROBE_EVENTS && p->events[j]; j++)
			mask[p->events[j] / 64] |= BIT_ULL(p->events[j] % 64);
	mutex_unlock(&probe_lock);
}

/**
 * kt_probe_drop_unavailable() - Clear the bits of events that cannot be recorded
 * @mask: bit n is opcode n
 *
 * An event is also not available if one of several sources could not be attached, because
 * the others report only a part of it.
 *
 * Context: process context, may sleep.
 */
void kt_probe_drop_unavailable(u64 *mask)
{
	u64 failed[KTAPE_MASK_WORDS];
	unsigned int i;
	bool attached;
	int error;

	kt_probe_failed(failed);
	for (i = 0; i < KTAPE_MASK_WORDS; i++)
		mask[i] &= ~failed[i];
	for (i = 0; i < KTAPE_OPCODES; i++)
		if (mask[i / 64] & BIT_ULL(i % 64) &&
		    kt_probe_state(i, &error, &attached) != KTAPE_EVENT_AVAILABLE)
			mask[i / 64] &= ~BIT_ULL(i % 64);
}

/**
 * kt_probe_init() - Find the tracepoints, attach the probes that are always needed
 *
 * Context: module load.
 * Return: 0, or the error of a probe or a notifier; then nothing stays attached.
 */
int kt_probe_init(void)
{
	static const u64 nothing[KTAPE_MASK_WORDS];
	int ret;

	if (IS_ENABLED(CONFIG_TRACEPOINTS))
		for_each_kernel_tracepoint(probe_match_tracepoint, NULL)
			;
	ret = kt_die_init();
	if (ret)
		return ret;
	ret = kt_netdev_init();
	if (ret)
		goto err_die;
	ret = probes_watch_modules();
	if (ret)
		goto err_netdev;
	ret = kt_probe_want(nothing);
	if (!ret)
		return 0;
	kt_probe_exit();
	return ret;

err_netdev:
	kt_netdev_exit();
err_die:
	kt_die_exit();
	return ret;
}

/**
 * kt_probe_exit() - Detach all probes and wait until no callback runs
 *
 * Context: module unload, may sleep.
 */
void kt_probe_exit(void)
{
	struct kt_probe *p;
	unsigned int i;

	cancel_delayed_work_sync(&detach_work);
	probes_unwatch_modules();
	kt_netdev_exit();
	kt_die_exit();
	mutex_lock(&probe_lock);
	for_each_probe(p, i)
		probe_detach(p);
	mutex_unlock(&probe_lock);
	kt_kprobe_exit();
	tracepoint_synchronize_unregister();
	/* Newer tracepoints leave preemption on: wait for kt_probe_enter() too. */
	synchronize_rcu();
	kt_irq_exit();
}
