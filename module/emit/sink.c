// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registration of sinks: functions of other modules that are called for records,
 * in the context in which the record is made.
 *
 * event/event.c has the union of the masks and the pointer to sinks_call().  An
 * event that a sink wants leaves the fast path (KT_WANT_CHECK): others cost nothing
 * more.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>

#include <ktape/kernel.h>

#include "event/event.h"
#include "filter/filter.h"
#include "emit.h"

#define SINKS 8

/*
 * A sink that emits an event that it wants is called recursively.  Nested contexts
 * alone do not reach this depth, so a deeper call is recursion and is dropped.
 */
#define SINK_DEPTH 8

/* Serializes changes of sinks[] and of the mask that is made from it. */
static DEFINE_MUTEX(sink_lock);
static struct ktape_sink *sinks[SINKS];
static void (*sinks_changed)(void);
static DEFINE_PER_CPU(int, sink_depth);

static void sinks_update_mask(void)
{
	u64 mask[KTAPE_MASK_WORDS] = {};
	unsigned int i, word;

	for (i = 0; i < SINKS; i++)
		for (word = 0; sinks[i] && word < KTAPE_MASK_WORDS; word++)
			mask[word] |= sinks[i]->mask[word];
	kt_sink_mask_set(mask);
}

/*
 * May a sink want this event?  Not a record that is about one session, nor one
 * that exists only because of a session's filter.
 */
static bool sink_may_want(unsigned int opcode)
{
	if (opcode < KTAPE_OP_EXCEPTION)
		return opcode == KTAPE_EV_REGISTRY || opcode == KTAPE_EV_CONTEXT;
	return opcode != KTAPE_EV_KERNEL_STACK && opcode != KTAPE_EV_MISSED &&
	       kt_gates_end_of(opcode) == opcode;
}

static int sink_add(struct ktape_sink *sink)
{
	unsigned int i, place = SINKS;

	for (i = 0; i < SINKS; i++) {
		if (sinks[i] == sink)
			return -EEXIST;
		if (!sinks[i])
			place = i;
	}
	if (place == SINKS)
		return -ENOSPC;
	/* Pairs with the dependency from the pointer in sinks_call(). */
	smp_store_release(&sinks[place], sink);
	sinks_update_mask();
	return 0;
}

static bool sink_remove(const struct ktape_sink *sink)
{
	unsigned int i;

	for (i = 0; i < SINKS; i++) {
		if (sinks[i] != sink)
			continue;
		WRITE_ONCE(sinks[i], NULL);
		sinks_update_mask();
		return true;
	}
	return false;
}

/**
 * ktape_sink_register() - Have a function called for events
 * @sink: the function and its events; must stay valid until it is unregistered
 *
 * Context: process context, may sleep.
 * Return: 0; -EDEADLK if a sink calls this; -EINVAL if there is no function or an
 * opcode does not exist; -EOPNOTSUPP if the mask has an event that is not passed to
 * sinks; -EEXIST if @sink is registered; -ENOSPC if 8 sinks are registered.
 */
int ktape_sink_register(struct ktape_sink *sink)
{
	unsigned int i;
	int ret;

	if (kt_sink_runs())
		return -EDEADLK;
	if (!sink->event)
		return -EINVAL;
	for (i = 0; i < KTAPE_OPCODES; i++) {
		if (!(sink->mask[i / 64] >> (i % 64) & 1))
			continue;
		if (!kt_event_opcode_exists(i))
			return -EINVAL;
		if (!sink_may_want(i))
			return -EOPNOTSUPP;
	}
	mutex_lock(&sink_lock);
	ret = sink_add(sink);
	mutex_unlock(&sink_lock);
	if (!ret)
		sinks_changed();
	return ret;
}
EXPORT_SYMBOL_GPL(ktape_sink_register);

/**
 * ktape_sink_unregister() - Stop calling a function
 * @sink: the sink; nothing happens if it is not registered
 *
 * When this returns the function is not running and will not be called again.
 *
 * Context: process context, may sleep.
 */
void ktape_sink_unregister(struct ktape_sink *sink)
{
	bool found;

	mutex_lock(&sink_lock);
	found = sink_remove(sink);
	mutex_unlock(&sink_lock);
	if (!found)
		return;
	sinks_changed();
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ktape_sink_unregister);

/* Call the sinks that want a record.  Context: any, preemption disabled. */
static void sinks_call(const struct kt_record *rec)
{
	const u32 opcode = rec->code & (KTAPE_OPCODES - 1);
	const struct ktape_record view = {
		.opcode = opcode,
		.dat20 = rec->code >> 8 & KTAPE_DAT20_MASK,
		.nargs = rec->nargs,
		.size = rec->blob ? rec->size : 0,
		.args = rec->args,
		.blob = rec->blob,
	};
	struct ktape_sink *sink;
	unsigned int i;

	if (this_cpu_inc_return(sink_depth) > SINK_DEPTH)
		goto out;
	for (i = 0; i < SINKS; i++) {
		/* Pairs with the release in sink_add(). */
		sink = READ_ONCE(sinks[i]);
		if (sink && sink->mask[opcode / 64] >> (opcode % 64) & 1)
			sink->event(sink, &view);
	}
out:
	this_cpu_dec(sink_depth);
}

/**
 * kt_sink_runs() - Check whether a sink called this code
 *
 * A sink runs with preemption disabled, so no other task is on its CPU meanwhile.  In
 * an interrupt on that CPU this is true as well; names and sinks are not changed there.
 *
 * Context: any.
 * Return: true or false.
 */
bool kt_sink_runs(void)
{
	return this_cpu_read(sink_depth);
}

/* When a module is unloaded, remove the sinks that it did not unregister. */
static int sink_module_event(struct notifier_block *nb, unsigned long event,
			     void *data)
{
	bool found = false;
	unsigned int i;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&sink_lock);
	for (i = 0; i < SINKS; i++)
		if (sinks[i] && sinks[i]->owner == data)
			found |= sink_remove(sinks[i]);
	mutex_unlock(&sink_lock);
	if (found) {
		sinks_changed();
		synchronize_rcu();
	}
	return NOTIFY_OK;
}

static struct notifier_block sink_module_notifier = {
	.notifier_call = sink_module_event,
};

/**
 * kt_sink_init() - Accept sinks, and watch for modules that are unloaded
 * @on_change: called when the set of events that sinks want may have changed
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_sink_init(void (*on_change)(void))
{
	sinks_changed = on_change;
	kt_sink_set(sinks_call);
	return register_module_notifier(&sink_module_notifier);
}

/**
 * kt_sink_exit() - Stop watching for modules that are unloaded
 *
 * Context: module unload.  No sink is registered: a module with a sink holds a
 * reference to this module.
 */
void kt_sink_exit(void)
{
	unregister_module_notifier(&sink_module_notifier);
}
