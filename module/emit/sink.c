// SPDX-License-Identifier: GPL-2.0-only
/*
 * Upcalls to other modules, in the context in which a record is made.
 *
 * A sink says which events it wants.  An event that a sink wants takes the way
 * for several sessions (KT_ROUTE_MANY), so that nobody else pays for it.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>

#include <ktape/kernel.h>

#include "event/event.h"
#include "filter/filter.h"
#include "sink.h"

#define SINKS		8

/*
 * A sink that emits what it wants would be called without end.  Contexts nest
 * less deep than this; what is deeper is such a sink.
 */
#define DEPTH		8

u64 kt_sink_mask[KTAPE_MASK_WORDS];

/* Protects the places and the mask against each other. */
static DEFINE_MUTEX(sink_lock);
static struct ktape_sink *sinks[SINKS];
static void (*changed)(void);
static DEFINE_PER_CPU(int, depth);

static void update_mask(void)
{
	u64 mask[KTAPE_MASK_WORDS] = {};
	unsigned int i, word;

	for (i = 0; i < SINKS; i++)
		for (word = 0; sinks[i] && word < KTAPE_MASK_WORDS; word++)
			mask[word] |= sinks[i]->mask[word];
	for (word = 0; word < KTAPE_MASK_WORDS; word++)
		WRITE_ONCE(kt_sink_mask[word], mask[word]);
}

/* Sessions write of themselves, and what only their filters make. */
static bool is_told(unsigned int opcode)
{
	if (opcode < KTAPE_OP_EXCEPTION)
		return opcode == KTAPE_EV_REGISTRY ||
		       opcode == KTAPE_EV_CONTEXT;
	return opcode != KTAPE_EV_KERNEL_STACK &&
	       kt_gates_end_of(opcode) == opcode;
}

static int add(struct ktape_sink *sink)
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
	/* Pairs with the dependency from the pointer in kt_sink_call(). */
	smp_store_release(&sinks[place], sink);
	update_mask();
	return 0;
}

static bool remove(const struct ktape_sink *sink)
{
	unsigned int i;

	for (i = 0; i < SINKS; i++) {
		if (sinks[i] != sink)
			continue;
		WRITE_ONCE(sinks[i], NULL);
		update_mask();
		return true;
	}
	return false;
}

/**
 * ktape_sink_register() - have a function called for events
 * @sink: who wants what; has to live until it is unregistered
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL: no function, or an opcode that does not exist; -EOPNOTSUPP:
 * one that sinks are not told of; -EEXIST; -ENOSPC: there are 8.
 */
int ktape_sink_register(struct ktape_sink *sink)
{
	unsigned int i;
	int ret;

	if (!sink->event)
		return -EINVAL;
	for (i = 0; i < KTAPE_OPCODES; i++) {
		if (!(sink->mask[i / 64] >> (i % 64) & 1))
			continue;
		if (!kt_event_opcode_exists(i))
			return -EINVAL;
		if (!is_told(i))
			return -EOPNOTSUPP;
	}
	mutex_lock(&sink_lock);
	ret = add(sink);
	mutex_unlock(&sink_lock);
	if (!ret)
		changed();
	return ret;
}
EXPORT_SYMBOL_GPL(ktape_sink_register);

/**
 * ktape_sink_unregister() - no longer call a function
 * @sink: the sink; nothing happens if it is not registered
 *
 * When this returns the function does not run and will not be called.
 *
 * Context: process context, may sleep.
 */
void ktape_sink_unregister(struct ktape_sink *sink)
{
	bool found;

	mutex_lock(&sink_lock);
	found = remove(sink);
	mutex_unlock(&sink_lock);
	if (!found)
		return;
	changed();
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(ktape_sink_unregister);

/**
 * kt_sink_call() - tell the sinks of a record
 * @rec: the record
 *
 * Context: any, preemption disabled.
 */
void kt_sink_call(const struct kt_record *rec)
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

	if (this_cpu_inc_return(depth) > DEPTH)
		goto out;
	for (i = 0; i < SINKS; i++) {
		/* Pairs with the release in add(). */
		sink = READ_ONCE(sinks[i]);
		if (sink && sink->mask[opcode / 64] >> (opcode % 64) & 1)
			sink->event(sink, &view);
	}
out:
	this_cpu_dec(depth);
}

/* A module that goes without a word takes its sinks along. */
static int module_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	bool found = false;
	unsigned int i;

	if (event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mutex_lock(&sink_lock);
	for (i = 0; i < SINKS; i++)
		if (sinks[i] && sinks[i]->owner == data)
			found |= remove(sinks[i]);
	mutex_unlock(&sink_lock);
	if (found) {
		changed();
		synchronize_rcu();
	}
	return NOTIFY_OK;
}

static struct notifier_block module_notifier = {
	.notifier_call = module_event,
};

/**
 * kt_sink_init() - get ready for sinks
 * @on_change: called when the union of what they want may have changed
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int kt_sink_init(void (*on_change)(void))
{
	changed = on_change;
	return register_module_notifier(&module_notifier);
}

/**
 * kt_sink_exit() - no more sinks
 *
 * Context: module unload; whoever has a sink holds the module.
 */
void kt_sink_exit(void)
{
	unregister_module_notifier(&module_notifier);
}
